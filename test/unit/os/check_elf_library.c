/* check_elf_library.c: sections by their names, in objects that libelf's users only look at. */
#include "os/elf_library.h"

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

static bool has_contents(const char *name, const char *contents)
{
    struct bytes found = elf_library_section(buffer_bytes(&object), name);
    struct bytes wanted = contents_of(contents);

    return found.size == wanted.size &&
           (!found.size || !memcmp(found.data, wanted.data, found.size));
}

TEST(the_first_section_of_exactly_that_name_is_found)
{
    ck_assert(has_contents(".rodata", "contents"));
    ck_assert(has_contents(".rodata.str1.1", "before"));
    ck_assert(has_contents(".rodat", ""));
    ck_assert(has_contents(".rodata.str1.10", ""));
}

TEST(no_section_is_found_in_what_is_no_elf_file)
{
    object.data[0] = 0;
    ck_assert(has_contents(".rodata", ""));
    object.size = 0;
    ck_assert(has_contents(".rodata", ""));
}
