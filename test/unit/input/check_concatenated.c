/* check_concatenated.c: fatbin entries that hold several cubins, sound and damaged. */
#include "input/fatbin.h"
#include "input/rawcode.h"
#include "input_fixture.h"
#include "suite.h"

#define ZSTD_PARTS FIXTURES "concat.fatbin"     /* PTX, three cubins, two with .nv.compat */
#define LZ4_PARTS  FIXTURES "concat_lz4.fatbin" /* two cubins */
#define TABLE      (16u + 64u)                  /* of LZ4_PARTS */
#define RECORD     (TABLE + 8u)

static struct fatbin fatbin;
static struct fatbin_entry entry;

static enum fatbin_result open_and_read(struct bytes data)
{
    size_t size;

    return fatbin_open(&fatbin, "X", data, &size) ? fatbin_next(&fatbin, &entry) : FATBIN_DAMAGED;
}

/* Reads all there is; inflates what can be, and checks that heads are what the code begins with. */
static enum fatbin_result read_all(struct bytes data)
{
    struct inflation inflation = {0};
    OWNED(arena) arena = {0};
    enum fatbin_result result = open_and_read(data);

    for (; result == FATBIN_ENTRY; result = fatbin_next(&fatbin, &entry)) {
        struct bytes code;
        uint8_t head[64];
        size_t size = inflate_head(&entry, head, sizeof head);

        if (!inflate_entry(&entry, "X(1.1)", &inflation, &arena, &code))
            continue;
        ck_assert_uint_le(size, code.size);
        ck_assert(!size || memcmp(head, code.data, size) == 0);
    }
    return result;
}

static const struct {
    const char *path;
    unsigned number, part;
    struct arch arch;
    uint64_t flags;
} parts[] = {
    {ZSTD_PARTS, 1, 0, {75, 0}, FATBIN_ZSTD},
    {ZSTD_PARTS, 2, 1, {75, 0}, FATBIN_ZSTD},
    {ZSTD_PARTS, 2, 2, {80, 0}, FATBIN_ZSTD},
    {ZSTD_PARTS, 2, 3, {90, 0}, FATBIN_ZSTD},
    {ZSTD_PARTS, 3, 1, {100, 0}, FATBIN_ZSTD | FATBIN_BLOB},
    {ZSTD_PARTS, 3, 2, {120, 0}, FATBIN_ZSTD | FATBIN_BLOB},
    {LZ4_PARTS, 1, 1, {75, 0}, FATBIN_LZ4},
    {LZ4_PARTS, 1, 2, {80, 0}, FATBIN_LZ4},
};

TEST(each_part_is_an_entry_with_a_cubin_for_its_target)
{
    struct inflation inflation = {0};
    OWNED(arena) arena = {0};

    for (int i = 0; i < COUNT(parts); i++) {
        struct bytes code;
        struct arch arch;
        uint8_t head[64];

        if (i == 0 || parts[i].path != parts[i - 1].path)
            ck_assert_int_eq(open_and_read(fixture_read(parts[i].path)), FATBIN_ENTRY);
        else
            ck_assert_int_eq(fatbin_next(&fatbin, &entry), FATBIN_ENTRY);
        ck_assert_uint_eq(entry.number, parts[i].number);
        ck_assert_uint_eq(entry.part, parts[i].part);
        ck_assert(arch_equal(entry.arch, parts[i].arch));
        ck_assert_uint_eq(entry.flags, FATBIN_64BIT | FATBIN_LINUX | parts[i].flags);
        ck_assert(text_equal(entry.identity, parts[i].path[22] == '.' ? TEXT("k.cu") : TEXT("")));
        ck_assert_uint_eq(entry.options.size, 0);
        if (!parts[i].part)
            continue;
        ck_assert_uint_eq(entry.kind, FATBIN_ELF);
        ck_assert_uint_eq(inflate_head(&entry, head, sizeof head), sizeof head);
        ck_assert(inflate_entry(&entry, "X", &inflation, &arena, &code));
        ck_assert_mem_eq(head, code.data, sizeof head);
        ck_assert(rawcode_cubin_arch(code, &arch) && arch_equal(arch, parts[i].arch));
    }
}

/* What the fields of an entry, of its table and of its first record are to be, by their offset in
 * LZ4_PARTS. */
static const struct {
    size_t at;
    unsigned width;
    uint64_t value;
    const char *message;
} damage[] = {
    {16 + 0x14, 4, 60, "offset of the table of parts at offset 36 is 60, expected at most 192"},
    {16 + 0x14, 4, 193, "offset of the table of parts at offset 36 is 193, expected at most 192"},
    {16 + 0x10, 4, 1153, "compressed size at offset 32 is 1153, expected at most 1152"},
    {TABLE, 4, 0, "number of parts at offset 80 is 0, expected 1 to 64"},
    {TABLE, 4, 65, "number of parts at offset 80 is 65, expected 1 to 64"},
    {TABLE + 4, 4, 7, "size of the table of parts at offset 84 is 7, expected at most 136"},
    {TABLE + 4, 4, 137, "size of the table of parts at offset 84 is 137, expected at most 136"},
    {TABLE + 4, 4, 71, "a part's record at offset 88 has at least 64 bytes, but only 63 are left"},
    {TABLE, 4, 1, "the table of parts ends at offset 216, but record 1 at 152"},
    {RECORD, 2, 1, "kind of a part at offset 88 is 1, expected one of cubins, 2"},
    {RECORD + 2, 2, 0x0102, "version of a part at offset 90 is 258, expected exactly 257"},
    {RECORD + 4, 4, 5505, "offset of a part at offset 92 is 5505, expected at most 5504"},
    {RECORD + 8, 8, 0, "size of a part at offset 96 is 0, expected 1 to 5504"},
    {RECORD + 8, 8, UINT64_MAX,
     "size of a part at offset 96 is 18446744073709551615, expected 1 to 5504"},
    {RECORD + 0x14, 4, 129,
     "offset of the option descriptor at offset 108 is 129 with length 8, beyond the header's 128 "
     "bytes"},
    {RECORD + 0x1c, 4, 0, "SM number at offset 116 is 0, expected at least 10"},
    {RECORD + 0x20, 8, (UINT64_C(64) << 32) | 64,
     "the table of parts ends at offset 216, but record 1 at 224"},
    {RECORD + 0x28, 8, 0x8011, "flags of a part at offset 128 is 32785, expected none of 40960"},
};

TEST_LOOP(a_damaged_table_is_named_with_offset_and_values, COUNT(damage))
{
    struct bytes file = fixture_read(LZ4_PARTS), data = fixture_exact(file, file.size);
    uint8_t *bytes = (uint8_t *)(uintptr_t)data.data;

    for (unsigned i = 0; i < damage[_i].width; i++)
        bytes[damage[_i].at + i] = (uint8_t)(damage[_i].value >> (8 * i));
    messages_catch();
    ck_assert_int_eq(open_and_read(data), FATBIN_DAMAGED);
    messages_expect(
        suite_print("minilink error   : Damaged fatbin 'X', entry 1: %s\n", damage[_i].message));
    fixture_free(data);
}

static const char *const files[] = {ZSTD_PARTS, LZ4_PARTS};

TEST_LOOP(no_byte_of_a_header_can_do_harm, COUNT(files))
{
    static const uint8_t values[] = {0x00, 0x01, 0x07, 0x40, 0x7f, 0x80, 0xff};
    struct bytes file = fixture_read(files[_i]), data = fixture_exact(file, file.size);
    uint8_t *bytes = (uint8_t *)(uintptr_t)data.data;

    for (size_t at = 0; at < (_i ? RECORD + 128 : 720); at++) {
        for (size_t i = 0; i < sizeof values; i++) {
            bytes[at] = values[i];
            messages_catch();
            read_all(data);
            messages_said();
            bytes[at] = file.data[at];
        }
    }
    fixture_free(data);
}

/* Without compression, which fatbinary refuses to make, a part is a view. */
TEST(parts_of_a_stored_payload_are_views)
{
    struct bytes file = fixture_read(LZ4_PARTS), data = fixture_exact(file, file.size);
    uint8_t *bytes = (uint8_t *)(uintptr_t)data.data;

    bytes[16 + 0x10] = bytes[16 + 0x11] = bytes[16 + 0x29] = 0;
    bytes[RECORD + 4] = 100;
    bytes[RECORD + 8] = 200;
    bytes[RECORD + 9] = 0;
    ck_assert_int_eq(open_and_read(data), FATBIN_ENTRY);
    ck_assert_uint_eq(entry.part, 1);
    ck_assert_uint_eq(entry.part_size, 0);
    ck_assert_ptr_eq(entry.payload.data, data.data + RECORD + 128 + 100);
    ck_assert_uint_eq(entry.payload.size, 200);
    fixture_free(data);
}

/* What is no zstd frame, and an LZ4 block that is damaged before the part. */
TEST_LOOP(a_part_that_the_payload_lacks_is_an_error, 2)
{
    struct bytes file = fixture_read(files[_i]), data = fixture_exact(file, file.size), code;
    uint8_t *bytes = (uint8_t *)(uintptr_t)data.data;
    struct inflation inflation = {0};
    OWNED(arena) arena = {0};

    ck_assert_int_eq(open_and_read(data), FATBIN_ENTRY);
    while (entry.part != 2)
        ck_assert_int_eq(fatbin_next(&fatbin, &entry), FATBIN_ENTRY);
    memset(bytes + (entry.payload.data - data.data) + (_i ? entry.payload.size / 3 : 0), 0xff, 100);
    messages_catch();
    ck_assert(!inflate_entry(&entry, "X(2.2)", &inflation, &arena, &code));
    messages_expect("minilink error   : Uncompress failed for 'X(2.2)': its 2816 bytes at 2688 of "
                    "the uncompressed payload cannot be read, which is damaged\n");
    fixture_free(data);
}

/* Of a part that is far into what few bytes claim to hold, nothing is inflated to see its head. */
TEST(no_head_is_looked_for_far_behind_few_bytes)
{
    uint8_t head[64];

    ck_assert_int_eq(open_and_read(fixture_read(LZ4_PARTS)), FATBIN_ENTRY);
    ck_assert_uint_eq(inflate_head(&entry, head, sizeof head), sizeof head);
    entry.part_offset = 64 * entry.payload.size + (1 << 17);
    ck_assert_uint_eq(inflate_head(&entry, head, sizeof head), 0);
}

/* The whole payload counts, since all of it before the part is inflated. */
TEST(the_whole_payload_counts_for_the_limit)
{
    struct inflation inflation = {.limit = 6000, .option = "--x"};
    OWNED(arena) arena = {0};
    struct bytes code;

    ck_assert_int_eq(open_and_read(fixture_read(LZ4_PARTS)), FATBIN_ENTRY);
    ck_assert(inflate_entry(&entry, "X(1.1)", &inflation, &arena, &code));
    ck_assert_uint_eq(inflation.used, 5504);
    ck_assert_int_eq(fatbin_next(&fatbin, &entry), FATBIN_ENTRY);
    messages_catch();
    ck_assert(!inflate_entry(&entry, "X(1.2)", &inflation, &arena, &code));
    messages_expect("minilink error   : Uncompress failed for 'X(1.2)': with its 5504 bytes more "
                    "than 6000 would be decompressed in all, which is the limit; --x moves it\n");
}
