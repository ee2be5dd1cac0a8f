/* check_bitcode.c: records in each form that LLVM stores them in, made bit by bit: the producer of
 * bitcode is the text of such a record. */
#include "input/rawcode.h"

#include "messages.h"
#include "suite.h"

/* What an abbreviation says of a number, as LLVM's manual numbers it. */
enum { FIXED = 1, VARIABLE, ARRAY, CHARACTERS, BLOB };

#define WIDTH 3 /* of what says what comes next */

enum { END, BLOCK, DEFINE, PLAIN, FIRST };

static uint8_t bytes[256];
static size_t end, words; /* the bit, and where the block's size goes */
static struct bitcode bitcode;

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

static void begin_block(unsigned id)
{
    put(BLOCK, 2);
    put_variable(id, 8);
    put_variable(WIDTH, 4);
    put_align();
    words = end;
    put(0, 32);
}

static void end_block(void)
{
    put(END, WIDTH);
    put_align();
    bytes[words / 8] = (uint8_t)((end - words) / 32 - 1);
}

/* Begins an identification block. */
void set_up(void)
{
    memset(bytes, 0, sizeof bytes);
    end = 0;
    put(0xdec04342, 32);
    begin_block(13);
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

/* Begins to define an abbreviation of the producer's record with `count` operands behind its code.
 */
static void put_abbreviation(unsigned count)
{
    put(DEFINE, WIDTH);
    put_variable(count + 1, 5);
    put_literal(1);
}

/* A plain record of the producer. */
static void put_mark(void)
{
    put(PLAIN, WIDTH);
    put_variable(1, 6);
    put_variable(2, 6);
    put_variable('o', 6);
    put_variable('k', 6);
}

/* Ends the block, and adds a module with nothing in it. */
static bool read_all(void)
{
    end_block();
    begin_block(8);
    end_block();
    messages_catch();
    return bitcode_read(&bitcode, "x.bc", (struct bytes){bytes, end / 8});
}

/* The record so far is read, and what follows it is found. */
static void expect_producer(const char *producer)
{
    uint8_t before[sizeof bytes];
    size_t at = end, size = words;

    memcpy(before, bytes, sizeof bytes);
    ck_assert(read_all());
    ck_assert_str_eq(bitcode.producer, producer);
    memcpy(bytes, before, sizeof bytes);
    end = at;
    words = size;
    put_mark();
    ck_assert(read_all());
    ck_assert_str_eq(bitcode.producer, "ok");
}

TEST(numbers_are_of_a_width_variable_characters_or_given)
{
    put_abbreviation(4);
    put_encoding(FIXED, 7);
    put_encoding(VARIABLE, 4);
    put_encoding(CHARACTERS, 0);
    put_literal('!');
    put(FIRST, WIDTH);
    put('a', 7);
    put_variable('b', 4);
    put(2, 6);
    expect_producer("abc!");
}

/* How the elements of an array are stored, as LLVM stores texts. */
static const struct {
    unsigned encoding;
    uint64_t width;
} elements[] = {{FIXED, 8}, {FIXED, 7}, {VARIABLE, 6}, {CHARACTERS, 0}};

TEST_LOOP(an_array_has_elements_of_each_kind, COUNT(elements))
{
    unsigned encoding = elements[_i].encoding;

    put_abbreviation(2);
    put_encoding(ARRAY, 0);
    put_encoding(encoding, elements[_i].width);
    put(FIRST, WIDTH);
    put_variable(3, 6);
    for (const char *c = "bad"; *c; c++)
        if (encoding == VARIABLE)
            put_variable((uint64_t)*c, (unsigned)elements[_i].width);
        else if (encoding == FIXED)
            put((uint64_t)*c, (unsigned)elements[_i].width);
        else
            put((uint64_t)(*c - 'a'), 6);
    expect_producer("bad");
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
    ck_assert(read_all());
    ck_assert_str_eq(bitcode.producer, "");
}

/* Its bytes lie between words. */
TEST_RANGE(a_blob_is_passed_over, 0, 9)
{
    put_abbreviation(2);
    put_encoding(FIXED, 8);
    put_encoding(BLOB, 0);
    put(FIRST, WIDTH);
    put('x', 8);
    put_variable((uint64_t)_i, 6);
    put_align();
    for (int i = 0; i < _i; i++)
        put(0xff, 8);
    put_align();
    expect_producer("x");
}

TEST(a_blob_beyond_the_end_is_cut)
{
    put_abbreviation(1);
    put_encoding(BLOB, 0);
    put(FIRST, WIDTH);
    put_variable(255, 6);
    put_align();
    ck_assert(!read_all());
    messages_expect("minilink error   : Damaged LLVM bitcode 'x.bc': the block at offset 4 cannot "
                    "be read\n");
}
