/* check_offload.c: offload binaries of each version, sound and damaged, and what bitcode says. */

#include "input/rawcode.h"
#include "input/hostobj.h"
#include "input_fixture.h"
#include "suite.h"

#define BITCODE "fixtures/bitcode/"

/* Appends a binary with `count` images: their kinds, and bytes that all are the kind's number; each
 * has a triple and an arch. Texts stand behind the lists, and images behind these. */
static void add_binary(struct buffer *buffer, uint32_t version, const uint16_t *kinds, size_t count)
{
    static const char texts[] = "triple\0nvptx64-nvidia-cuda\0arch\0sm_90";
    const size_t places[] = {0, 7, 27, 32}, sizes[] = {6, 19, 4, 5};
    size_t begin = buffer->size, header = version >= 3 ? 40 : 32, pair = version == 1 ? 16 : 24;
    size_t lists = header + 40 * count, strings = lists + 2 * pair * count;
    size_t images = (strings + sizeof texts + 7) / 8 * 8, size = images + 16 * count;

    buffer_zeros(buffer, size);
    fixture_put(buffer, begin, 0xad10ff10u, 4);
    fixture_put(buffer, begin + 4, version, 4);
    fixture_put(buffer, begin + 8, size, 8);
    fixture_put(buffer, begin + 16, header, 8);
    fixture_put(buffer, begin + 24, version == 1 ? 40 : count, 8);
    memcpy(buffer->data + begin + strings, texts, sizeof texts);
    for (size_t i = 0; i < count; i++) {
        size_t entry = begin + header + 40 * i, list = lists + 2 * pair * i;

        fixture_put(buffer, entry, kinds[i], 2);
        fixture_put(buffer, entry + 2, 2, 2);
        fixture_put(buffer, entry + 8, list, 8);
        fixture_put(buffer, entry + 16, 2, 8);
        fixture_put(buffer, entry + 24, images + 16 * i, 8);
        fixture_put(buffer, entry + 32, 16, 8);
        memset(buffer->data + begin + images + 16 * i, kinds[i], 16);
        for (size_t k = 0; k < 2; k++) {
            fixture_put(buffer, begin + list + k * pair, strings + places[2 * k], 8);
            fixture_put(buffer, begin + list + k * pair + 8, strings + places[2 * k + 1], 8);
            if (version > 1)
                fixture_put(buffer, begin + list + k * pair + 16, sizes[2 * k + 1], 8);
        }
    }
}

/* The kinds of the images that were visited. */
struct seen {
    uint16_t kinds[8];
    unsigned count;
};

static bool note(void *argument, const struct offload_image *image)
{
    struct seen *seen = argument;

    ck_assert_uint_eq(image->number, seen->count + 1);
    ck_assert(text_equal(image->triple, TEXT("nvptx64-nvidia-cuda")));
    ck_assert(text_equal(image->arch, TEXT("sm_90")));
    ck_assert(offload_is_device(image));
    ck_assert_uint_eq(image->producer, 2);
    ck_assert_uint_eq(image->data.size, 16);
    ck_assert_uint_eq(image->data.data[15], image->kind);
    seen->kinds[seen->count++] = image->kind;
    return true;
}

TEST_RANGE(images_of_every_version_come_in_order, 1, 4)
{
    static const uint16_t kinds[] = {2, 3, 5};
    uint32_t version = (uint32_t)_i;
    size_t count = version == 1 ? 1 : 3;
    OWNED(buffer) buffer = {0};
    struct seen seen = {0};

    /* Two back to back, and padding behind them. */
    add_binary(&buffer, version, kinds, count);
    add_binary(&buffer, version, kinds, count);
    buffer_zeros(&buffer, 24);
    ck_assert(offload_walk("x", buffer_bytes(&buffer), note, &seen));
    ck_assert_uint_eq(seen.count, 2 * count);
    for (size_t i = 0; i < seen.count; i++)
        ck_assert_uint_eq(seen.kinds[i], kinds[i % count]);
}

/* The numbers of the images that were visited. */
struct numbers {
    unsigned numbers[8], count;
};

static bool note_number(void *argument, const struct offload_image *image)
{
    struct numbers *seen = argument;

    seen->numbers[seen->count++] = image->number;
    return true;
}

static bool ignore(void *argument, const struct offload_image *image)
{
    (void)argument;
    (void)image;
    return true;
}

static bool walk_all(struct bytes data)
{
    return offload_walk("x", data, ignore, NULL);
}

static bool read_all(struct bytes data)
{
    struct bitcode bitcode;

    return bitcode_read(&bitcode, "x", data);
}

/* Reads a copy of exactly that size. */
static bool read_copy(bool (*reader)(struct bytes data), struct bytes data, size_t size,
                      const char *message)
{
    struct bytes copy = fixture_exact(data, size);
    bool ok;

    messages_catch();
    ok = reader(copy);
    ck_assert(ok || messages.errors > 0);
    if (message)
        messages_expect_part(message);
    else
        messages_said();
    fixture_free(copy);
    return ok;
}

static bool walk(struct bytes data, size_t size, const char *message)
{
    return read_copy(walk_all, data, size, message);
}

TEST_RANGE(a_binary_that_is_cut_anywhere_is_an_error, 1, 4)
{
    static const uint16_t kinds[] = {2, 3, 5};
    uint32_t version = (uint32_t)_i;
    OWNED(buffer) buffer = {0};

    add_binary(&buffer, version, kinds, version == 1 ? 1 : 3);
    ck_assert(walk(buffer_bytes(&buffer), buffer.size, NULL));
    for (size_t size = 1; size < buffer.size; size++)
        ck_assert_msg(!walk(buffer_bytes(&buffer), size, NULL), "%zu bytes are taken", size);
}

/* A field of a version 2 binary with two images is overwritten. */
static const struct {
    size_t offset;
    unsigned width;
    uint64_t value;
    const char *message;
} damages[] = {
    {0, 1, 0x11, "expected 10 FF 10 AD and a header of 32 bytes at offset 0"},
    {4, 4, 0, "has version 0; versions 1 to 3 are known"},
    {4, 4, 4, "has version 4; versions 1 to 3 are known"},
    {8, 8, 31, "the header at offset 0 says that it has 31 bytes"},
    {8, 8, UINT64_MAX, "says that it has 18446744073709551615 bytes, but"},
    {16, 8, 1u << 20, "entries are to be 80 bytes at 1048576"},
    {16, 8, UINT64_MAX, "entries are to be 80 bytes at 18446744073709551615"},
    {24, 8, UINT64_MAX / 40 + 2, "entries are to be"},
    {32 + 8, 8, UINT64_MAX, "texts of an image are to be 48 bytes at"},
    {32 + 16, 8, 65, "texts of an image are to be 65 bytes"},
    {32 + 24, 8, UINT64_MAX - 8, "an image are to be 16 bytes at"},
    {32 + 32, 8, 1u << 20, "an image are to be 1048576 bytes at"},
    {112, 8, 1u << 20, "a text's key are to be 1 bytes at 1048576"},
    {112 + 8, 8, 1u << 20, "a text are to be 19 bytes at 1048576"},
    {112 + 16, 8, UINT64_MAX, "a text are to be 18446744073709551615 bytes"},
};

TEST_LOOP(damage_is_told_with_its_place, COUNT(damages))
{
    static const uint16_t kinds[] = {2, 3};
    OWNED(buffer) buffer = {0};

    add_binary(&buffer, 2, kinds, 2);
    fixture_put(&buffer, damages[_i].offset, damages[_i].value, damages[_i].width);
    ck_assert(!walk(buffer_bytes(&buffer), buffer.size, damages[_i].message));
}

TEST(compression_and_trailing_bytes_are_errors)
{
    static const uint16_t kinds[] = {2};
    OWNED(buffer) buffer = {0};

    add_binary(&buffer, 3, kinds, 1);
    buffer_printf(&buffer, "trailing");
    ck_assert(!walk(buffer_bytes(&buffer), buffer.size, "expected 10 FF 10 AD"));
    fixture_put(&buffer, 32, 4096, 8);
    ck_assert(!walk(buffer_bytes(&buffer), buffer.size, "is compressed, which is not supported"));
}

/* Other flags are other things: the second image has one. */
TEST(an_image_whose_flag_says_so_has_no_bytes)
{
    static const uint16_t kinds[] = {2, 3, 5};
    OWNED(buffer) buffer = {0};
    struct numbers numbers = {0};

    add_binary(&buffer, 2, kinds, 3);
    fixture_put(&buffer, 32 + 4, 1, 4);
    fixture_put(&buffer, 32 + 32, UINT64_MAX, 8);
    fixture_put(&buffer, 32 + 40 + 4, 0x100, 4);
    ck_assert(offload_walk("x", buffer_bytes(&buffer), note_number, &numbers));
    ck_assert_uint_eq(numbers.count, 2);
    ck_assert_uint_eq(numbers.numbers[0], 2);
    ck_assert_uint_eq(numbers.numbers[1], 3);
}

TEST(images_that_overlap_are_an_error)
{
    static const uint16_t kinds[] = {2, 3, 5, 2, 3, 5};
    OWNED(buffer) buffer = {0};

    add_binary(&buffer, 2, kinds, 6);
    for (size_t i = 0; i < 6; i++) {
        fixture_put(&buffer, 32 + 40 * i + 24, 0, 8);
        fixture_put(&buffer, 32 + 40 * i + 32, buffer.size, 8);
    }
    ck_assert(!walk(buffer_bytes(&buffer), buffer.size, "images, which overlap, are to be"));
}

/* Each entry: a file, and what it says. */
static const struct {
    const char *path, *producer, *triple;
    unsigned sm;
    bool is_device;
} modules[] = {
    {"fixtures/examples/bitcode/scale.bc", "LLVM16.0.6", "nvptx64-nvidia-cuda", 75, true},
    {BITCODE "helper.22.bc", "LLVM22.1.8", "nvptx64-nvidia-cuda", 90, true},
    {BITCODE "host.bc", "LLVM16.0.6", "x86_64-unknown-linux-gnu", 0, false},
    {BITCODE "features.bc", "LLVM14.0.6", "x86_64-pc-linux-gnu", 0, false},
};

TEST_LOOP(bitcode_says_who_wrote_it_and_what_for, COUNT(modules))
{
    struct bytes data = fixture_read(modules[_i].path);
    struct bitcode bitcode;

    ck_assert(bitcode_is(data));
    ck_assert(bitcode_read(&bitcode, "x", data));
    ck_assert_str_eq(bitcode.producer, modules[_i].producer);
    ck_assert_str_eq(bitcode.triple, modules[_i].triple);
    ck_assert_uint_eq(bitcode.arch.sm, modules[_i].sm);
    ck_assert(bitcode_is_device(&bitcode) == modules[_i].is_device);
    ck_assert(bitcode.code.data == data.data && bitcode.code.size == data.size);
}

/* Reads a copy of exactly that size. */
static bool read_bitcode(struct bytes data, size_t size, const char *message)
{
    return read_copy(read_all, data, size, message);
}

TEST_LOOP(bitcode_that_is_cut_is_an_error, COUNT(modules))
{
    struct bytes data = fixture_read(modules[_i].path);
    size_t taken = 0;

    /* Behind the module stand tables of symbols and strings, whose absence libLLVM reports. */
    for (size_t size = 4; size < data.size; size++)
        taken += read_bitcode(data, size, NULL);
    ck_assert_uint_le(taken, 16);
    ck_assert(!read_bitcode(data, data.size - 1, "there is no whole block"));
    ck_assert(!read_bitcode(data, 4, "it has no module"));
}

TEST_LOOP(any_bits_of_bitcode_may_be_wrong, COUNT(modules))
{
    struct bytes data = fixture_read(modules[_i].path);
    uint8_t *bytes = (uint8_t *)(uintptr_t)data.data;

    for (size_t bit = 32; bit < data.size * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        read_bitcode(data, data.size, NULL);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

TEST(a_wrapper_is_taken_off_and_checked)
{
    struct bytes data = fixture_read(modules[0].path);
    OWNED(buffer) buffer = {0};
    struct bitcode bitcode;

    buffer_zeros(&buffer, 20);
    buffer_append(&buffer, data.data, data.size);
    fixture_put(&buffer, 0, 0x0b17c0deu, 4);
    fixture_put(&buffer, 8, 20, 4);
    fixture_put(&buffer, 12, data.size, 4);
    ck_assert(bitcode_is(buffer_bytes(&buffer)));
    ck_assert(bitcode_read(&bitcode, "x", buffer_bytes(&buffer)));
    ck_assert_uint_eq(bitcode.code.size, data.size);
    ck_assert_str_eq(bitcode.producer, "LLVM16.0.6");
    ck_assert(!read_bitcode(buffer_bytes(&buffer), 19, "its wrapper is cut off"));
    ck_assert(!read_bitcode(buffer_bytes(&buffer), buffer.size - 1, "but the file has"));
    fixture_put(&buffer, 8, 24, 4);
    fixture_put(&buffer, 12, data.size - 4, 4);
    ck_assert(!read_bitcode(buffer_bytes(&buffer), buffer.size, "there is none at offset 24"));
}
