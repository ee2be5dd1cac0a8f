/* check_fatbin.c: the container and its compressed payloads, sound and damaged. */
#include <lz4.h>
#include <zstd.h>

#include "input/fatbin.h"
#include "input_fixture.h"
#include "suite.h"

static struct fatbin fatbin;
static struct fatbin_entry last_entry;

/* Reads the container at data[0] to its end or first damage; returns how many entries came. */
static unsigned read_all(struct bytes data, enum fatbin_result *last)
{
    size_t size;
    unsigned count = 0;

    *last = FATBIN_DAMAGED;
    if (!fatbin_open(&fatbin, "x.fatbin", data, &size))
        return 0;
    ck_assert_uint_ge(size, FATBIN_HEADER_SIZE);
    ck_assert_uint_le(size, data.size);
    while ((*last = fatbin_next(&fatbin, &last_entry)) == FATBIN_ENTRY) {
        ck_assert(last_entry.payload.data >= data.data);
        ck_assert(last_entry.payload.data + last_entry.payload.size <= data.data + data.size);
        count++;
    }
    return count;
}

/* Finds the first container in a file. */
static struct bytes find_container(struct bytes file)
{
    static const uint8_t magic[] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
    const uint8_t *at = memmem(file.data, file.size, magic, sizeof magic);

    ck_assert_ptr_nonnull(at);
    return (struct bytes){at, file.size - (size_t)(at - file.data)};
}

/* Opens the first container of a file and reads its first last_entry. Returns the container's size.
 */
static size_t open_first(const char *path)
{
    size_t size;

    ck_assert(fatbin_open(&fatbin, path, find_container(fixture_read(path)), &size));
    ck_assert_int_eq(fatbin_next(&fatbin, &last_entry), FATBIN_ENTRY);
    return size;
}

TEST(entries_of_a_real_container_have_all_fields)
{
    ck_assert_uint_eq(open_first(FIXTURES "a.lto.fatbin"), 3664);
    ck_assert_uint_eq(last_entry.kind, FATBIN_PTX);
    ck_assert_uint_eq(last_entry.version, 0x0101);
    ck_assert_uint_eq(last_entry.major, 9);
    ck_assert_uint_eq(last_entry.minor, 0);
    ck_assert(arch_equal(last_entry.arch, (struct arch){90, 0}));
    ck_assert_uint_eq(last_entry.flags, FATBIN_64BIT | FATBIN_LINUX | FATBIN_ZSTD);
    ck_assert_ptr_eq(last_entry.whole.data, fatbin.bytes.data + 16);
    ck_assert_uint_eq(last_entry.number, 1);
    ck_assert_uint_eq(last_entry.payload.size, 586);
    ck_assert_uint_eq(last_entry.uncompressed_size, 1466);
    ck_assert(text_equal(last_entry.options, TEXT("--compile-only  ")));
    ck_assert_uint_eq(last_entry.identity.size, 0);
    ck_assert_int_eq(fatbin_next(&fatbin, &last_entry), FATBIN_ENTRY);
    ck_assert_uint_eq(last_entry.kind, FATBIN_NVVM);
    ck_assert_uint_eq(last_entry.major, 1);
    ck_assert_uint_eq(last_entry.minor, 65);
    ck_assert(last_entry.flags & FATBIN_SCRAMBLED);
    ck_assert(text_equal(last_entry.options, TEXT("-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 ")));
    ck_assert_int_eq(fatbin_next(&fatbin, &last_entry), FATBIN_END);
    ck_assert_int_eq(fatbin_next(&fatbin, &last_entry), FATBIN_END);
}

/* Sizes in all fixtures leave out the NUL that follows; one that counts it is meant
 * the same. */
TEST(a_string_may_end_with_its_nul)
{
    struct bytes original = find_container(fixture_read(FIXTURES "a.lto.fatbin"));
    struct bytes copy = fixture_exact(original, original.size);
    uint8_t *header = (uint8_t *)(uintptr_t)copy.data + FATBIN_HEADER_SIZE;
    size_t size;

    header[header[0x14] + 4]++; /* in the option descriptor: length of the string */
    ck_assert(fatbin_open(&fatbin, "copy", copy, &size));
    ck_assert_int_eq(fatbin_next(&fatbin, &last_entry), FATBIN_ENTRY);
    ck_assert(text_equal(last_entry.options, TEXT("--compile-only  ")));
    fixture_free(copy);
}

/* As in the static libraries of CUDA 11.8 (libcufft_static.a). */
TEST(a_string_that_is_nowhere_is_empty)
{
    struct bytes data = fixture_read(FIXTURES "a.lto.fatbin");
    uint8_t *header = (uint8_t *)(uintptr_t)data.data + FATBIN_HEADER_SIZE;
    size_t size;

    memset(header + header[0x14], 0, 8);
    ck_assert(fatbin_open(&fatbin, "x", data, &size));
    ck_assert_int_eq(fatbin_next(&fatbin, &last_entry), FATBIN_ENTRY);
    ck_assert_uint_eq(last_entry.options.size, 0);
}

TEST(identity_and_debug_flag_are_read)
{
    open_first(FIXTURES "a.direct_ident.fatbin");
    ck_assert(text_equal(last_entry.identity, TEXT("myident")));
    ck_assert(text_starts(last_entry.options, TEXT("-O1")));
    ck_assert(last_entry.flags & FATBIN_DEBUG);
}

TEST(an_empty_container_has_no_entries)
{
    enum fatbin_result last;

    ck_assert_uint_eq(read_all(fixture_read(FIXTURES "empty.fatbin"), &last), 0);
    ck_assert_int_eq(last, FATBIN_END);
}

TEST(a_binary_blob_is_no_option_string)
{
    open_first(FIXTURES "c.sm100a.o");
    ck_assert_uint_eq(last_entry.kind, FATBIN_ELF);
    ck_assert(last_entry.flags & FATBIN_BLOB);
    ck_assert_uint_eq(last_entry.options.size, 0);
    ck_assert(arch_equal(last_entry.arch, (struct arch){100, 'a'}));
}

static const struct {
    const char *file;
    const char *message;
} damaged_files[] = {
    {"bad.trunc10.fatbin",
     "Damaged fatbin 'X': the header at offset 0 has 16 bytes, but only 10 are there"},
    {"bad.trunc40.fatbin", "Damaged fatbin 'X': the header at offset 8 says that 3648 bytes "
                           "follow, but only 24 are there"},
    {"bad.trunc96.fatbin", "Damaged fatbin 'X': the header at offset 8 says that 3648 bytes "
                           "follow, but only 80 are there"},
    {"bad.trunc200.fatbin", "Damaged fatbin 'X': the header at offset 8 says that 3648 bytes "
                            "follow, but only 184 are there"},
    {"bad.trunc1000.fatbin", "Damaged fatbin 'X': the header at offset 8 says that 3648 bytes "
                             "follow, but only 984 are there"},
    {"bad.magic.fatbin",
     "fatbin wrong format? 'X': magic at offset 0 is 0x00000000, expected 0xba55ed50"},
    {"bad.version.fatbin", "Damaged fatbin 'X': version at offset 4 is 2, expected 1"},
    {"bad.hdrsize.fatbin", "Damaged fatbin 'X': header size at offset 6 is 32, expected 16"},
    {"bad.size_huge.fatbin", "Damaged fatbin 'X': the header at offset 8 says that 1099511627776 "
                             "bytes follow, but only 3648 are there"},
};

TEST_LOOP(a_damaged_file_is_refused_with_what_is_wrong_in_it, COUNT(damaged_files))
{
    struct bytes data;
    size_t size;

    data = fixture_read(suite_print(FIXTURES "%s", damaged_files[_i].file));
    messages_catch();
    ck_assert(!fatbin_open(&fatbin, "X", data, &size));
    messages_expect(suite_print("minilink error   : %s\n", damaged_files[_i].message));
}

/* One field of the first entry of a.lto.fatbin overwritten; that entry begins at 16, its header has
 * 96 bytes and its payload 592. */
static const struct {
    unsigned offset;
    unsigned width;
    uint64_t value;
    const char *message;
} damaged_fields[] = {
    {0x04, 4, 63, "header size at offset 20 is 63, expected at least 64"},
    {0x04, 4, 100, "header size at offset 20 is 100, expected a multiple of 8"},
    {0x04, 4, 0xfffffff8, "header size at offset 20 is 4294967288, expected at most 3648"},
    {0x08, 8, 591, "payload size at offset 24 is 591, expected a multiple of 8"},
    {0x08, 8, UINT64_MAX - 7,
     "payload size at offset 24 is 18446744073709551608, expected at most 3552"},
    {0x10, 4, 593, "compressed size at offset 32 is 593, expected at most 592"},
    {0x10, 4, 0, "compressed size at offset 32 is 0, expected at least 1"},
    {0x14, 4, 60, "offset of the option descriptor at offset 36 is 60, expected at least 64"},
    {0x14, 4, 92,
     "offset of the option descriptor at offset 36 is 92 with length 8, beyond the header's 96 "
     "bytes"},
    {0x40, 4, 8, "offset of the option string at offset 36 is 8, expected at least 64"},
    {0x44, 4, 25,
     "offset of the option string at offset 36 is 72 with length 25, beyond the header's 96 bytes"},
    {0x44, 4, UINT32_MAX,
     "offset of the option string at offset 36 is 72 with length 4294967295, beyond the header's "
     "96 bytes"},
    {0x1c, 4, 0, "SM number at offset 44 is 0, expected at least 10"},
    {0x1c, 4, 0x1005a, "SM number at offset 44 is 65626, expected at most 999"},
    {0x20, 4, 1, "offset of the source name at offset 48 is 1, expected at least 64"},
    {0x20, 8, (UINT64_C(33) << 32) | 64,
     "offset of the source name at offset 48 is 64 with length 33, beyond the header's 96 bytes"},
    {0x28, 8, 0xa011,
     "flags at offset 56 are 0xa011 with compressed size 586, expected one of LZ4 (0x2000) and "
     "zstd (0x8000)"},
    {0x28, 8, 0x11,
     "flags at offset 56 are 0x11 with compressed size 586, expected one of LZ4 (0x2000) and zstd "
     "(0x8000)"},
    {0x28, 8, 0x308011, "flags at offset 56 are 0x308011, with both suffix a and suffix f"},
    {0x38, 8, 0, "uncompressed size at offset 72 is 0, expected at least 1"},
};

TEST_LOOP(a_damaged_field_is_named_with_offset_and_values, COUNT(damaged_fields))
{
    struct bytes data = fixture_read(FIXTURES "a.lto.fatbin");
    uint8_t *bytes = (uint8_t *)(uintptr_t)data.data;
    size_t size;

    for (unsigned i = 0; i < damaged_fields[_i].width; i++)
        bytes[16 + damaged_fields[_i].offset + i] = (uint8_t)(damaged_fields[_i].value >> (8 * i));
    messages_catch();
    ck_assert(fatbin_open(&fatbin, "X", data, &size));
    ck_assert_int_eq(fatbin_next(&fatbin, &last_entry), FATBIN_DAMAGED);
    messages_expect(suite_print("minilink error   : Damaged fatbin 'X', entry 1: %s\n",
                                damaged_fields[_i].message));
}

TEST(an_entry_header_that_is_cut_off_is_damage)
{
    OWNED(buffer) buffer = {0};
    size_t begin = fixture_begin(&buffer);
    enum fatbin_result last;

    fixture_add(&buffer, &(struct fixture_entry){FATBIN_PTX, 80, 0, ".version 8.0", NULL});
    buffer_zeros(&buffer, 63);
    fixture_end(&buffer, begin);
    messages_catch();
    ck_assert_uint_eq(read_all(buffer_bytes(&buffer), &last), 1);
    ck_assert_int_eq(last, FATBIN_DAMAGED);
    messages_expect("minilink error   : Damaged fatbin 'x.fatbin', entry 2: the header at offset "
                    "96 has at least 64 bytes, but only 63 are left\n");
}

TEST(unknown_kinds_and_versions_are_passed_on)
{
    OWNED(buffer) buffer = {0};
    size_t begin = fixture_begin(&buffer), size;

    fixture_add(&buffer, &(struct fixture_entry){0x41, 5000, UINT64_MAX, "?", NULL});
    fixture_add(&buffer, &(struct fixture_entry){FATBIN_PTX, 80, 0, "text", NULL});
    fixture_put(&buffer, begin + 16 + 72 + 2, 0x0102, 2);
    fixture_end(&buffer, begin);
    ck_assert(fatbin_open(&fatbin, "x", buffer_bytes(&buffer), &size));
    ck_assert_int_eq(fatbin_next(&fatbin, &last_entry), FATBIN_ENTRY);
    ck_assert_uint_eq(last_entry.kind, 0x41);
    ck_assert_uint_eq(last_entry.arch.sm, 0);
    ck_assert_int_eq(fatbin_next(&fatbin, &last_entry), FATBIN_ENTRY);
    ck_assert_uint_eq(last_entry.version, 0x0102);
    ck_assert_int_eq(fatbin_next(&fatbin, &last_entry), FATBIN_END);
}

TEST(no_truncation_is_read_beyond_or_accepted)
{
    struct bytes data = fixture_read(FIXTURES "a.direct_ident.fatbin");
    enum fatbin_result last;

    for (size_t size = 0; size < data.size; size++) {
        struct bytes cut = fixture_exact(data, size);

        messages_catch();
        read_all(cut, &last);
        ck_assert_int_eq(last, FATBIN_DAMAGED);
        messages_said();
        fixture_free(cut);
    }
}

/* Inflates whatever entries a container has; the results do not matter, only that they are bounded.
 */
static void inflate_all(struct bytes data)
{
    struct inflation inflation = {0};
    OWNED(arena) arena = {0};
    struct bytes code;
    uint8_t head[64];
    size_t size;

    if (fatbin_open(&fatbin, "x", data, &size))
        while (fatbin_next(&fatbin, &last_entry) == FATBIN_ENTRY) {
            inflate_head(&last_entry, head, sizeof head);
            inflate_entry(&last_entry, "x(1)", &inflation, &arena, &code);
        }
}

TEST(no_header_byte_can_do_harm)
{
    static const uint8_t values[] = {0x00, 0x01, 0x07, 0x40, 0x7f, 0x80, 0xff};
    struct bytes data = fixture_read(FIXTURES "a.direct_ident.fatbin");
    struct bytes copy = fixture_exact(data, data.size);
    uint8_t *bytes = (uint8_t *)(uintptr_t)copy.data;
    enum fatbin_result last;

    for (size_t at = 0; at < 16 + 96 + 32; at++) {
        for (size_t i = 0; i < sizeof values; i++) {
            bytes[at] = values[i];
            messages_catch();
            read_all(copy, &last);
            inflate_all(copy);
            messages_said();
            bytes[at] = data.data[at];
        }
    }
    fixture_free(copy);
}

/* The entry of `kind` in an object of the given compression mode, inflated. */
static struct bytes inflate_fixture(const char *path, uint16_t kind, struct arena *arena)
{
    struct inflation inflation = {0};
    struct bytes code;
    uint8_t head[64];

    open_first(path);
    while (last_entry.kind != kind)
        ck_assert_int_eq(fatbin_next(&fatbin, &last_entry), FATBIN_ENTRY);
    ck_assert(inflate_entry(&last_entry, path, &inflation, arena, &code));
    ck_assert_uint_eq(inflate_head(&last_entry, head, sizeof head), sizeof head);
    ck_assert_mem_eq(head, code.data, sizeof head);
    return fixture_exact(code, code.size);
}

TEST(every_compression_mode_gives_the_same_code)
{
    static const char *const modes[] = {"speed", "balance", "size", "default"};
    static const uint16_t kinds[] = {FATBIN_ELF, FATBIN_PTX};

    for (size_t k = 0; k < 2; k++) {
        OWNED(arena) arena = {0};
        struct bytes stored = inflate_fixture(FIXTURES "a.cm_none.o", kinds[k], &arena);

        /* Stored PTX is padded to 8 bytes. */
        while (kinds[k] == FATBIN_PTX && stored.data[stored.size - 2] == '\0')
            stored.size--;
        for (size_t i = 0; i < 4; i++) {
            struct bytes code;

            code = inflate_fixture(suite_print(FIXTURES "a.cm_%s.o", modes[i]), kinds[k], &arena);
            ck_assert_uint_eq(code.size, stored.size);
            ck_assert_mem_eq(code.data, stored.data, code.size);
            fixture_free(code);
        }
        fixture_free(stored);
    }
}

static uint8_t packed[1 << 16];

/* An entry whose payload is 1000 letters, compressed. */
static struct fatbin_entry packed_entry(uint64_t method)
{
    char letters[1000];
    struct fatbin_entry entry = {.kind = FATBIN_PTX, .flags = method, .uncompressed_size = 1000};

    for (unsigned i = 0; i < sizeof letters; i++)
        letters[i] = (char)('a' + i * i / 7 % 26);
    if (method == FATBIN_LZ4)
        entry.payload.size =
            (size_t)LZ4_compress_default(letters, (char *)packed, sizeof letters, sizeof packed);
    else
        entry.payload.size = ZSTD_compress(packed, sizeof packed, letters, sizeof letters, 3);
    entry.payload.data = packed;
    return entry;
}

static void expect_inflate_error(const struct fatbin_entry *entry, const char *message)
{
    struct inflation inflation = {0};
    OWNED(arena) arena = {0};
    struct bytes code;

    messages_catch();
    ck_assert(!inflate_entry(entry, "a.o(1)", &inflation, &arena, &code));
    messages_expect_part(message);
}

TEST(a_stated_size_must_be_the_real_one)
{
    struct fatbin_entry lz4 = packed_entry(FATBIN_LZ4), zstd;

    lz4.uncompressed_size = 1001;
    expect_inflate_error(&lz4, "Uncompress failed for 'a.o(1)': the LZ4 block gives 1000 bytes, "
                               "expected 1001");
    lz4.uncompressed_size = 999;
    expect_inflate_error(&lz4, "the LZ4 block is damaged near byte");
    zstd = packed_entry(FATBIN_ZSTD);
    zstd.uncompressed_size = 1001;
    expect_inflate_error(&zstd, "its stated size is 1001 bytes, but its");
    zstd.uncompressed_size = 999;
    expect_inflate_error(&zstd, "the zstd frame is damaged: Destination buffer is too small");
}

TEST(bombs_are_refused_before_memory_is_taken)
{
    struct fatbin_entry lz4 = packed_entry(FATBIN_LZ4);

    lz4.uncompressed_size = INFLATE_MAXIMUM + 1;
    expect_inflate_error(&lz4, "its stated size is 1073741825 bytes, the limit is 1073741824");
    lz4.uncompressed_size = lz4.payload.size * 255 + 1;
    expect_inflate_error(&lz4, "compressed bytes hold at most");
}

TEST(many_entries_together_are_bounded_too)
{
    struct fatbin_entry zstd = packed_entry(FATBIN_ZSTD), lz4 = packed_entry(FATBIN_LZ4);
    struct fatbin_entry stored = {.kind = FATBIN_PTX, .payload = lz4.payload};
    struct inflation inflation = {.limit = 2500, .option = "--limit"};
    OWNED(arena) arena = {0};
    struct bytes code;

    lz4 = packed_entry(FATBIN_LZ4);
    ck_assert(inflate_entry(&lz4, "a.o(1)", &inflation, &arena, &code));
    zstd = packed_entry(FATBIN_ZSTD);
    ck_assert(inflate_entry(&zstd, "a.o(2)", &inflation, &arena, &code));
    messages_catch();
    ck_assert(!inflate_entry(&zstd, "a.o(3)", &inflation, &arena, &code));
    messages_expect_part("Uncompress failed for 'a.o(3)': with its 1000 bytes more than 2500 "
                         "would be decompressed in all, which is the limit; --limit moves it");
    ck_assert_uint_eq(inflation.used, 2000);
    /* What is stored takes no memory. */
    ck_assert(inflate_entry(&stored, "a.o(4)", &inflation, &arena, &code));
    inflation.limit = 0;
    ck_assert(inflate_entry(&zstd, "a.o(5)", &inflation, &arena, &code));
}

TEST(a_zstd_frame_without_content_size_is_bounded_by_its_blocks)
{
    struct inflation inflation = {0};
    struct fatbin_entry entry = {.kind = FATBIN_PTX, .flags = FATBIN_ZSTD};
    ZSTD_CCtx *context = ZSTD_createCCtx();
    OWNED(arena) arena = {0};
    char zeros[1000] = {0};
    struct bytes code;

    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    entry.payload =
        (struct bytes){packed, ZSTD_compress2(context, packed, sizeof packed, zeros, sizeof zeros)};
    ZSTD_freeCCtx(context);
    entry.uncompressed_size = 1000;
    ck_assert(inflate_entry(&entry, "a", &inflation, &arena, &code));
    ck_assert_uint_eq(code.size, 1000);
    entry.uncompressed_size = 1 << 29;
    expect_inflate_error(&entry, "compressed bytes hold at most");
    entry.uncompressed_size = 1001;
    expect_inflate_error(&entry, "the zstd frame gives 1000 bytes, expected 1001");
}

TEST_LOOP(no_damaged_byte_of_a_payload_can_do_harm, 2)
{
    struct inflation inflation = {0};
    struct fatbin_entry entry = packed_entry(_i ? FATBIN_ZSTD : FATBIN_LZ4);
    struct bytes original = fixture_exact(entry.payload, entry.payload.size);
    OWNED(arena) arena = {0};
    uint8_t head[64];

    for (size_t at = 0; at < entry.payload.size; at++) {
        struct bytes copy = fixture_exact(original, original.size), code;

        ((uint8_t *)(uintptr_t)copy.data)[at] ^= 0xff;
        entry.payload = copy;
        messages_catch();
        inflate_entry(&entry, "a", &inflation, &arena, &code);
        inflate_head(&entry, head, sizeof head);
        messages_said();
        fixture_free(copy);
    }
    fixture_free(original);
}

TEST(lto_ir_is_never_inflated)
{
    struct fatbin_entry entry = packed_entry(FATBIN_ZSTD);
    uint8_t head[64];

    entry.flags |= FATBIN_SCRAMBLED;
    entry.kind = FATBIN_NVVM;
    expect_inflate_error(&entry, "it is LTO-IR that only NVIDIA's libraries read");
    ck_assert_uint_eq(inflate_head(&entry, head, sizeof head), 0);
}
