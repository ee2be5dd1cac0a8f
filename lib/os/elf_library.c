/* elf_library.c: libelf's version and fill byte are per process, its last error per thread. */
#include "os/elf_library.h"

#include <gelf.h>
#include <libelf.h>
#include <pthread.h>
#include <string.h>

#include "base/context.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* libelf fills with zeros by default; a program that uses minilink as a library may have set
 * another byte. */
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

static struct bytes find_raw_section(Elf *elf, struct bytes file, const char *name)
{
    struct bytes contents = {0};
    Elf_Scn *place = NULL;
    size_t names;
    GElf_Shdr header;

    if (elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names) != 0)
        return contents;
    while ((place = elf_nextscn(elf, place)) && gelf_getshdr(place, &header)) {
        const char *own = elf_strptr(elf, names, header.sh_name);

        if (own && strcmp(own, name) == 0 && header.sh_type != SHT_NOBITS) {
            bytes_slice(file, header.sh_offset, header.sh_size, &contents);
            break;
        }
    }
    return contents;
}

struct bytes elf_library_section(struct bytes file, const char *name)
{
    struct bytes contents = {0};
    Elf *elf;

    elf_library_begin();
    /* libelf does not write to memory that it was given to read. */
    elf = elf_memory((char *)(uintptr_t)file.data, file.size);
    if (!elf) {
        elf_library_failure();
        return contents;
    }
    contents = find_raw_section(elf, file, name);
    elf_end(elf);
    return contents;
}
