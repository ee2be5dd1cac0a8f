/* check_archive.c: archives and host objects, the inputs that contain others. */

#include <limits.h>

#include "base/context.h"
#include "input/file.h"
#include "input/hostobj.h"
#include "input_fixture.h"
#include "suite.h"

/* Lists an archive: "name:size name:size". False when it is damaged. */
static bool list_archive(struct bytes data, struct buffer *list)
{
    struct archive archive;
    struct text name;
    struct bytes contents;

    archive_open(&archive, "lib.a", data);
    while (archive_next(&archive, &name, &contents))
        buffer_printf(list, "%.*s:%zu ", TEXT_ARG(name), contents.size);
    return !archive.is_damaged;
}

/* Walks an archive; the listing and the messages must be as expected. */
static void expect_walk(struct bytes data, bool ok, const char *listing, const char *said)
{
    OWNED(buffer) list = {0};

    messages_catch();
    ck_assert_int_eq(list_archive(data, &list), ok);
    if (said)
        messages_expect(said);
    buffer_char(&list, '\0');
    if (listing)
        ck_assert_str_eq(list.data, listing);
}

/* One member as ar writes it; the first one has the archive's magic in front. */
static void put_member(struct buffer *buffer, const char *name, const char *content)
{
    if (buffer->size == 0)
        buffer_string(buffer, "!<arch>\n");
    buffer_printf(buffer, "%-16s%-12u%-6u%-6u%-8o%-10zu`\n", name, 0u, 0u, 0u, 0644u,
                  strlen(content));
    buffer_string(buffer, content);
    if (strlen(content) % 2)
        buffer_char(buffer, '\n');
}

TEST(members_come_in_order_without_the_tables)
{
    expect_walk(fixture_read(FIXTURES "lib.a"), true, "b.lto.o:12680 c.lto.o:11080 ", "");
}

TEST(an_empty_archive_has_no_members)
{
    expect_walk((struct bytes){(const uint8_t *)"!<arch>\n", 8}, true, "", "");
}

TEST(long_and_bsd_names_and_odd_sizes_are_read)
{
    OWNED(buffer) buffer = {0};

    put_member(&buffer, "//", "a_name_that_is_longer_than_16.o/\n");
    put_member(&buffer, "/0", "odd");
    put_member(&buffer, "#1/8", "longer.ocode");
    put_member(&buffer, "x.o/", "");
    expect_walk(buffer_bytes(&buffer), true, "a_name_that_is_longer_than_16.o:3 longer.o:4 x.o:0 ",
                "");
}

/* Else a table without an end would be searched for each member. */
TEST(a_name_in_the_table_is_no_longer_than_a_path)
{
    OWNED(buffer) buffer = {0}, table = {0};
    struct archive archive;
    struct text name;
    struct bytes contents;

    for (int i = 0; i < 3 * PATH_MAX; i++)
        buffer_char(&table, 'x');
    buffer_char(&table, '\0');
    put_member(&buffer, "//", table.data);
    put_member(&buffer, "/0", "odd");
    archive_open(&archive, "lib.a", buffer_bytes(&buffer));
    ck_assert(archive_next(&archive, &name, &contents));
    ck_assert_uint_eq(name.size, PATH_MAX);
}

TEST(a_last_member_without_its_pad_byte_is_accepted)
{
    OWNED(buffer) buffer = {0};

    put_member(&buffer, "x.o/", "odd");
    buffer.size--;
    expect_walk(buffer_bytes(&buffer), true, "x.o:3 ", "");
}

TEST(thin_archives_in_archives_are_refused)
{
    expect_walk((struct bytes){(const uint8_t *)"!<thin>\nxyz", 11}, false, "",
                "minilink error   : Thin archive 'lib.a' is not supported in an archive: it has "
                "only the names of "
                "its members; make it without ar's option T\n");
}

TEST(what_does_not_begin_as_an_archive_is_damage)
{
    static const char *const texts[] = {"!<arcg>\nxyz", "!<arch>", ""};

    for (size_t i = 0; i < COUNT(texts); i++)
        expect_walk(
            (struct bytes){(const uint8_t *)texts[i], strlen(texts[i])}, false, "",
            "minilink error   : Damaged archive 'lib.a': it does not begin with its magic\n");
}

/* An archive with one good member; the second header stands at offset 70. */
#define SECOND 70

static const struct {
    unsigned offset; /* in the second header */
    const char *bytes;
    size_t size; /* what is left of the archive; 0 = all */
    const char *message;
} damaged[] = {
    {58, "xx", 0, "the member header at offset 70 does not end with its mark"},
    {48, "12a", 0, "the member header at offset 70 has a size that is no number"},
    {48, "-1", 0, "the member header at offset 70 has a size that is no number"},
    {48, "   ", 0, "the member header at offset 70 has a size that is no number"},
    {48, "9999999999", 0, "the member at offset 70 has 9999999999 bytes, but only 4 are left"},
    {0, "y.o/", SECOND + 59, "the member header at offset 70 has 60 bytes, but only 59 are left"},
    {0, "y.o/", SECOND + 63, "the member at offset 70 has 4 bytes, but only 3 are left"},
    {0, "#1/9", 0, "the member header at offset 70 has no valid name"},
    {0, "#1/x", 0, "the member header at offset 70 has no valid name"},
};

TEST_LOOP(damage_is_named_with_its_offset, COUNT(damaged))
{
    OWNED(buffer) buffer = {0};
    struct bytes data;

    put_member(&buffer, "x.o/", "ok");
    put_member(&buffer, "y.o/", "code");
    memcpy(buffer.data + SECOND + damaged[_i].offset, damaged[_i].bytes, strlen(damaged[_i].bytes));
    data = fixture_exact(buffer_bytes(&buffer), damaged[_i].size ? damaged[_i].size : buffer.size);
    expect_walk(
        data, false, "x.o:2 ",
        suite_print("minilink error   : Damaged archive 'lib.a': %s\n", damaged[_i].message));
    fixture_free(data);
}

TEST(a_long_name_beyond_the_table_is_damage)
{
    OWNED(buffer) buffer = {0}, list = {0};

    put_member(&buffer, "//", "short.o/\n");
    put_member(&buffer, "/999", "code");
    messages_catch();
    ck_assert(!list_archive(buffer_bytes(&buffer), &list));
    messages_expect_part("at offset 78");
}

TEST(no_truncation_of_an_archive_passes_unless_between_members)
{
    OWNED(buffer) buffer = {0};

    put_member(&buffer, "x.o/", "ok");
    put_member(&buffer, "y.o/", "code");
    for (size_t size = 0; size < buffer.size; size++) {
        struct bytes cut = fixture_exact(buffer_bytes(&buffer), size);

        expect_walk(cut, size == 8 || size == SECOND, NULL, NULL);
        fixture_free(cut);
    }
}

/* Lists the sections with device code. False when the object is damaged. */
static bool list_sections(struct bytes data, struct buffer *list)
{
    struct hostobj object;
    struct bytes contents;
    const char *section;

    HOSTOBJ_OPEN(&object, "x.o", data);
    while (hostobj_next_code(&object, &section, &contents))
        buffer_printf(list, "%s:%zu ", section, contents.size);
    return !object.is_damaged;
}

/* Walks a host object; listing and messages must be as expected, NULL = anything. */
static void expect_sections(struct bytes data, bool ok, const char *listing, const char *said)
{
    OWNED(buffer) list = {0};

    messages_catch();
    ck_assert_int_eq(list_sections(data, &list), ok);
    if (said)
        messages_expect(said);
    buffer_char(&list, '\0');
    if (listing)
        ck_assert_str_eq(list.data, listing);
}

static const struct {
    const char *file;
    const char *listing;
    bool is_shared;
} objects[] = {
    {"a.lto.o", "__nv_relfatbin:3664 ", false},      {"c.wholeprog.o", ".nv_fatbin:5760 ", false},
    {"abc.reloc.o", "__nv_relfatbin:11280 ", false}, {"hostonly.o", "", false},
    {"b.pie", "__nv_relfatbin:4672 ", false},        {"shared.so", ".nv_fatbin:3664 ", true},
};

TEST_LOOP(fatbin_sections_of_host_objects_are_found, COUNT(objects))
{
    struct bytes data;

    data = fixture_read(suite_print(FIXTURES "%s", objects[_i].file));
    expect_sections(data, true, objects[_i].listing, "");
    ck_assert_int_eq(hostobj_is_shared(data), objects[_i].is_shared);
}

TEST(an_object_that_is_cut_off_is_damage)
{
    expect_sections(
        fixture_read(FIXTURES "bad.trunc4000.o"), false, "",
        "minilink error   : Could not find fatbin in 'x.o': the ELF file is cut off: its "
        "section headers are at offset 11696, but it has 4000 bytes\n");
}

TEST(no_truncation_of_an_object_passes_or_does_harm)
{
    struct bytes data = fixture_read(FIXTURES "hostonly.o");

    for (size_t size = 0; size < data.size; size++) {
        struct bytes cut = fixture_exact(data, size);

        expect_sections(cut, false, NULL, NULL);
        hostobj_is_shared(cut);
        fixture_free(cut);
    }
}

TEST(no_header_byte_of_an_object_can_do_harm)
{
    struct bytes data = fixture_read(FIXTURES "c.lto.o");
    struct bytes copy = fixture_exact(data, data.size);
    uint8_t *bytes = (uint8_t *)(uintptr_t)copy.data;
    Elf64_Ehdr header;

    memcpy(&header, data.data, sizeof header);
    for (size_t i = 0; i < sizeof header + header.e_shnum * 64u; i++) {
        size_t at = i < sizeof header ? i : header.e_shoff + i - sizeof header;
        OWNED(buffer) list = {0};

        bytes[at] = 0xff;
        messages_catch();
        list_sections(copy, &list);
        hostobj_is_shared(copy);
        messages_said();
        bytes[at] = data.data[at];
    }
    fixture_free(copy);
}

/* Changes one field of the section header of __nv_relfatbin. */
static void patch_section(struct bytes data, size_t field, uint64_t value, unsigned width)
{
    Elf64_Ehdr header;
    Elf64_Shdr section, strings;
    uint8_t *bytes = (uint8_t *)(uintptr_t)data.data;

    memcpy(&header, bytes, sizeof header);
    memcpy(&strings, bytes + header.e_shoff + header.e_shstrndx * 64u, sizeof strings);
    for (size_t i = 0; i < header.e_shnum; i++) {
        memcpy(&section, bytes + header.e_shoff + i * 64, sizeof section);
        if (strcmp((char *)bytes + strings.sh_offset + section.sh_name, "__nv_relfatbin") == 0)
            memcpy(bytes + header.e_shoff + i * 64 + field, &value, width);
    }
}

TEST(a_fatbin_section_must_lie_in_the_file)
{
    struct bytes data = fixture_read(FIXTURES "c.lto.o");

    patch_section(data, offsetof(Elf64_Shdr, sh_size), UINT64_MAX, 8);
    messages_catch();
    ck_assert(!list_sections(data, NULL));
    messages_expect_part("has 18446744073709551615 bytes, but the file has 11080");
    patch_section(data, offsetof(Elf64_Shdr, sh_size), 8, 8);
    patch_section(data, offsetof(Elf64_Shdr, sh_type), SHT_NOBITS, 4);
    messages_catch();
    ck_assert(!list_sections(data, NULL));
    messages_expect_part("Could not find fatbin in 'x.o'");
}
