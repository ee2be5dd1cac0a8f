/* check_bitstream.c: records in each form that LLVM stores them in, made bit by bit. */
#include "input/bitstream.h"

#include "suite.h"

/* What an abbreviation says of a number, as LLVM's manual numbers it. */
enum { FIXED = 1, VARIABLE, ARRAY, CHARACTERS, BLOB };

#define WIDTH 3 /* of what says what comes next */

enum { DEFINE = 2, PLAIN, FIRST };

static uint8_t bytes[256];
static size_t end; /* bit */
static struct bitstream stream;
static struct bitstream_block block, inner;

void set_up(void)
{
    memset(bytes, 0, sizeof bytes);
    end = 0;
    stream = (struct bitstream){0};
}

static void put(uint64_t number, unsigned width)
{
    for (unsigned i = 0; i < width; i++, end++)
        bytes[end / 8] |= (uint8_t)((number >> i & 1) << end % 8);
}

/* A number in groups of `width` bits, the highest of which says that another group follows. */
static void put_variable(uint64_t number, unsigned width)
{
    uint64_t more = UINT64_C(1) << (width - 1);

    for (; number >= more; number /= more)
        put((number & (more - 1)) | more, width);
    put(number, width);
}

static void put_align(void)
{
    end = (end + 31) / 32 * 32;
}

static void put_encoding(unsigned encoding, uint64_t value)
{
    put(0, 1);
    put(encoding, 3);
    if (encoding == FIXED || encoding == VARIABLE)
        put_variable(value, 5);
}

static void put_literal(uint64_t value)
{
    put(1, 1);
    put_variable(value, 8);
}

/* Begins to define an abbreviation of a record with code 7 and `count` operands behind it. */
static void put_abbreviation(unsigned count)
{
    put(DEFINE, WIDTH);
    put_variable(count + 1, 5);
    put_literal(7);
}

/* A record with one number, to see that it is found. */
static void put_mark(void)
{
    put(PLAIN, WIDTH);
    put_variable(40, 6);
    put_variable(1, 6);
    put_variable(1234567, 6);
}

static void begin(void)
{
    stream.data = (struct bytes){bytes, (end + 7) / 8};
    block = (struct bitstream_block){.width = WIDTH, .end = end};
}

static void check_record(uint64_t code, const uint64_t *values, size_t count)
{
    ck_assert_int_eq(bitstream_next(&stream, &block, &inner), BITSTREAM_RECORD);
    ck_assert_uint_eq(stream.code, code);
    ck_assert_uint_eq(stream.count, count);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(stream.values[i], values[i]);
}

static void check_mark(void)
{
    static const uint64_t value = 1234567;

    check_record(40, &value, 1);
    ck_assert_int_eq(bitstream_next(&stream, &block, &inner), BITSTREAM_END);
    ck_assert(!stream.is_cut);
}

TEST(numbers_are_of_a_width_variable_characters_or_given)
{
    static const uint64_t values[] = {5, 300, 'c', 99};

    put_abbreviation(4);
    put_encoding(FIXED, 3);
    put_encoding(VARIABLE, 4);
    put_encoding(CHARACTERS, 0);
    put_literal(99);
    put(FIRST, WIDTH);
    put(5, 3);
    put_variable(300, 4);
    put(2, 6);
    put_mark();
    begin();
    check_record(7, values, COUNT(values));
    check_mark();
}

/* How the elements of an array are stored, as LLVM stores texts. */
static const struct {
    unsigned encoding;
    uint64_t width;
} elements[] = {{FIXED, 8}, {FIXED, 7}, {VARIABLE, 6}, {CHARACTERS, 0}};

TEST_LOOP(an_array_has_elements_of_each_kind, COUNT(elements))
{
    static const uint64_t values[] = {'b', 'a', 'd'};
    unsigned encoding = elements[_i].encoding;

    put_abbreviation(2);
    put_encoding(ARRAY, 0);
    put_encoding(encoding, elements[_i].width);
    put(FIRST, WIDTH);
    put_variable(COUNT(values), 6);
    for (int i = 0; i < COUNT(values); i++)
        if (encoding == VARIABLE)
            put_variable(values[i], (unsigned)elements[_i].width);
        else if (encoding == FIXED)
            put(values[i], (unsigned)elements[_i].width);
        else
            put(values[i] - 'a', 6);
    put_mark();
    begin();
    check_record(7, values, COUNT(values));
    check_mark();
}

/* They could be any number in a few bits. */
TEST_RANGE(an_array_of_elements_without_a_width_is_not_followed, FIXED, VARIABLE + 1)
{
    put_abbreviation(2);
    put_encoding(ARRAY, 0);
    put_encoding((unsigned)_i, 0);
    put(FIRST, WIDTH);
    put_variable(3, 6);
    put_mark();
    begin();
    ck_assert_int_eq(bitstream_next(&stream, &block, &inner), BITSTREAM_UNKNOWN);
}

/* Its bytes lie between words. */
TEST_RANGE(a_blob_is_passed_over, 0, 9)
{
    static const uint64_t values[] = {5};

    put_abbreviation(2);
    put_encoding(FIXED, 3);
    put_encoding(BLOB, 0);
    put(FIRST, WIDTH);
    put(5, 3);
    put_variable((uint64_t)_i, 6);
    put_align();
    for (int i = 0; i < _i; i++)
        put(0xff, 8);
    put_align();
    put_mark();
    begin();
    check_record(7, values, COUNT(values));
    check_mark();
}

TEST(a_blob_beyond_the_end_is_cut)
{
    put_abbreviation(1);
    put_encoding(BLOB, 0);
    put(FIRST, WIDTH);
    put_variable(5, 6);
    put_align();
    put(0, 32);
    begin();
    ck_assert_int_eq(bitstream_next(&stream, &block, &inner), BITSTREAM_UNKNOWN);
    ck_assert(stream.is_cut);
}
