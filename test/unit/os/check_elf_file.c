/* check_elf_file.c: sections by their names. */
#include "os/elf_file.h"

#include "base/context.h"
#include "host_object.h"
#include "suite.h"

static struct buffer object;

static struct bytes contents_of(const char *text)
{
    return (struct bytes){(const uint8_t *)text, strlen(text)};
}

void set_up(void)
{
    struct object_section sections[] = {
        {".rodata.str1.1", contents_of("before")},
        {".rodata", contents_of("contents")},
        {".rodata", contents_of("again")},
    };

    object_make(&object, sections, COUNT(sections));
}

void tear_down(void)
{
    buffer_free(&object);
}

/* Whether the first section of that name has these contents; NULL = there is none. */
static bool has_contents(const char *name, const char *contents)
{
    struct elf_file file = {0};
    struct bytes found;
    GElf_Shdr section;

    CONTEXT_DEFER(elf_file_close, &file);
    ck_assert(elf_file_open(&file, buffer_bytes(&object)) && elf_file_find_sections(&file));
    while (elf_file_next(&file, &section))
        if (elf_file_has_name(&file, &section, name))
            return contents && elf_file_contents(&file, &section, &found) &&
                   bytes_equal(found, contents_of(contents));
    return !contents;
}

TEST(the_first_section_of_exactly_that_name_is_found)
{
    ck_assert(has_contents(".rodata", "contents"));
    ck_assert(has_contents(".rodata.str1.1", "before"));
    ck_assert(has_contents(".rodat", NULL));
    ck_assert(has_contents(".rodata.str1.10", NULL));
}

TEST(numbers_of_sections_beyond_the_headers_are_in_the_first)
{
    Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)object.data;
    Elf64_Shdr *first = (Elf64_Shdr *)(void *)(object.data + header->e_shoff);

    first->sh_size = header->e_shnum;
    first->sh_link = header->e_shstrndx;
    header->e_shnum = 0;
    header->e_shstrndx = SHN_XINDEX;
    ck_assert(has_contents(".rodata", "contents"));
}

TEST(a_file_without_section_headers_has_no_sections)
{
    Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)object.data;

    header->e_shoff = header->e_shnum = 0;
    ck_assert(has_contents(".rodata", NULL));
}

TEST(other_files_and_those_that_are_cut_off_are_refused)
{
    struct bytes whole = buffer_bytes(&object);
    struct elf_file file = {0};

    CONTEXT_DEFER(elf_file_close, &file);
    for (size_t size = 0; size < whole.size; size++, elf_file_close(&file))
        ck_assert(!elf_file_open(&file, (struct bytes){whole.data, size}) ||
                  !elf_file_find_sections(&file) ||
                  size >= file.header.e_shoff + file.header.e_shnum * sizeof(Elf64_Shdr));
    object.data[0] = 0;
    ck_assert(!elf_file_open(&file, whole));
}
