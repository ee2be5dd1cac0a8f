/* elf_file.c: reads ELF's structures by libelf, and checks what it leaves to its callers. */
#include "os/elf_file.h"

#include <pthread.h>

#include "base/context.h"

void elf_file_close(void *argument)
{
    struct elf_file *file = argument;

    elf_end(file->elf);
    file->elf = NULL;
}

/* False; a lack of memory is raised. */
static bool give_up(struct elf_file *file)
{
    elf_file_close(file);
    elf_library_failure();
    return false;
}

bool elf_file_open(struct elf_file *file, struct bytes data)
{
    elf_library_begin();
    /* libelf does not write to memory that it was given to read. */
    *file =
        (struct elf_file){.data = data, .elf = elf_memory((char *)(uintptr_t)data.data, data.size)};
    if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &file->header))
        return give_up(file);
    return true;
}

/* Beyond the end of a file libelf finds no sections, and reports nothing. It reads all at once. */
bool elf_file_find_sections(struct elf_file *file)
{
    size_t count, names, size = gelf_fsize(file->elf, ELF_T_SHDR, 1, EV_CURRENT);
    struct bytes part;
    GElf_Shdr header;

    if (file->header.e_shoff == 0)
        return true;
    if (elf_getshdrnum(file->elf, &count) != 0 || count == 0 || count > file->data.size / size ||
        !bytes_slice(file->data, file->header.e_shoff, count * size, &part) ||
        !gelf_getshdr(elf_getscn(file->elf, 0), &header))
        return give_up(file);
    file->section_count = count;
    if (elf_getshdrstrndx(file->elf, &names) == 0 &&
        gelf_getshdr(elf_getscn(file->elf, names), &header))
        elf_file_contents(file, &header, &file->names);
    elf_library_failure();
    return true;
}

bool elf_file_next(struct elf_file *file, GElf_Shdr *section)
{
    file->last = file->elf ? elf_nextscn(file->elf, file->last) : NULL;
    return gelf_getshdr(file->last, section) != NULL;
}

/* By libelf, names of many sections in a table without an end would each be searched to it. */
bool elf_file_has_name(const struct elf_file *file, const GElf_Shdr *section, const char *name)
{
    size_t size = strlen(name) + 1;
    struct bytes part;

    return bytes_slice(file->names, section->sh_name, size, &part) &&
           memcmp(part.data, name, size) == 0;
}

bool elf_file_contents(const struct elf_file *file, const GElf_Shdr *section,
                       struct bytes *contents)
{
    return section->sh_type != SHT_NOBITS &&
           bytes_slice(file->data, section->sh_offset, section->sh_size, contents);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* libelf fills with zeros by default; a program that has minilink as a library may differ. */
static void begin_libelf(void)
{
    elf_version(EV_CURRENT);
    elf_fill(0);
}

void elf_library_begin(void)
{
    pthread_once(&once, begin_libelf);
    elf_errno();
}

/* libelf's error number for a lack of memory is not public; its text is. */
const char *elf_library_failure(void)
{
    int code = elf_errno();
    const char *why = code ? elf_errmsg(code) : NULL;

    if (why && strcmp(why, "out of memory") == 0)
        context_raise(LINK_NO_MEMORY);
    return why;
}
