/* opcode.c: the tables of opcode_table.def, modifier_table.def and special_table.def. */
#include "language/syntax.h"

#include "base/search.h"

#define ENTRIES(array) (sizeof(array) / sizeof(array)[0])

static const struct opcode opcodes[] = {
    {"", 0, 0, {0, "0"}},
#define OPCODE(name, flags, ptx, sm)      {#name, INDEX_##name, flags, {ptx, #sm}},
#define LIKE(name, other, flags, ptx, sm) {#name, INDEX_##other, flags, {ptx, #sm}},
#include "language/opcode_table.def"
#undef LIKE
#undef OPCODE
};

static const struct text opcode_names[] = {
    TEXT(""),
#define OPCODE(name, ...) TEXT(#name),
#define LIKE              OPCODE
#include "language/opcode_table.def"
#undef LIKE
#undef OPCODE
};

static const struct text modifier_names[] = {
    TEXT(""),
#define WORD(name)      TEXT(name),
#define TYPE(name, ...) TEXT(name),
#include "language/modifier_table.def"
#undef TYPE
#undef WORD
};

static const struct type types[] = {
    {0, 0, 0},
#define TYPE(name, class, bits, matrix_bits) {class, bits, matrix_bits},
#define WORD(name)                           {0, 0, 0},
#include "language/modifier_table.def"
#undef WORD
#undef TYPE
};

static const struct text special_names[] = {
    TEXT(""),
#define SPECIAL(name, sizes) TEXT(name),
#include "language/special_table.def"
#undef SPECIAL
};

static const uint8_t special_sizes[] = {
    0,
#define SPECIAL(name, sizes) sizes,
#include "language/special_table.def"
#undef SPECIAL
};

_Static_assert(ENTRIES(opcodes) <= 1u << 12, "an opcode has 12 bits in the code");
_Static_assert(ENTRIES(modifier_names) <= 1u << 10, "a modifier has 10 bits in the code");
_Static_assert(ENTRIES(special_names) <= 1u << 12, "a special register has 12 bits in the code");

const struct words opcode_words = {opcode_names, ENTRIES(opcode_names)};
const struct words modifier_words = {modifier_names, ENTRIES(modifier_names)};
const struct words special_words = {special_names, ENTRIES(special_names)};

/* A linear search: the tables are short. */
uint16_t words_find(const struct words *words, struct text name)
{
    for (uint16_t i = 1; i < words->count; i++)
        if (text_equal(words->list[i], name))
            return i;
    return 0;
}

const char *words_name(const struct words *words, uint16_t number)
{
    return words->list[number < words->count ? number : 0].data;
}

const char *words_nearest(const struct words *words, struct text name)
{
    size_t best = (name.size < 3 ? 1 : name.size / 3) + 1;
    const char *result = NULL;

    for (uint16_t i = 1; i < words->count && name.size > 0; i++) {
        size_t edits = edit_distance(name, words->list[i], best);

        if (edits < best) {
            best = edits;
            result = words->list[i].data;
        }
    }
    return result;
}

const struct opcode *opcode_get(uint16_t index)
{
    return &opcodes[index < ENTRIES(opcodes) ? index : 0];
}

const char *modifier_name(uint16_t index)
{
    return words_name(&modifier_words, index);
}

uint16_t modifier_find(struct text name)
{
    return words_find(&modifier_words, name);
}

const struct type *modifier_type(uint16_t index)
{
    return &types[index < ENTRIES(types) ? index : 0];
}

bool special_fits(uint16_t index, char class, unsigned bits)
{
    return special_sizes[index] & (class == 'p' ? 1 : bits);
}
