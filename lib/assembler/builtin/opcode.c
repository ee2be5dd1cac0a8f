/* opcode.c: the tables of opcode_table.def, modifier_table.def and special_table.def. */
#include "assembler/builtin/opcode.h"

#include "assembler/builtin/words.h"

#define ENTRIES(array) (sizeof(array) / sizeof(array)[0])
#define WORD(name)                                                                                 \
    {                                                                                              \
        name, sizeof(name) - 1                                                                     \
    }

static const struct opcode opcodes[] = {
    {"", 0, 0, 0, 0, 0, 0},
#define OPCODE(name, least, most, results, flags, ptx, sm)                                         \
    {#name, least, most, results, flags, ptx, sm},
#include "assembler/builtin/opcode_table.def"
#undef OPCODE
};

static const struct word opcode_words[] = {
    WORD(""),
#define OPCODE(name, ...) WORD(#name),
#include "assembler/builtin/opcode_table.def"
#undef OPCODE
};

static const struct word modifier_words[] = {
    WORD(""),
#define MODIFIER(name) WORD(name),
#include "assembler/builtin/modifier_table.def"
#undef MODIFIER
};

static const struct word special_words[] = {
    WORD(""),
#define SPECIAL(name) WORD(name),
#include "assembler/builtin/special_table.def"
#undef SPECIAL
};

/* Sorted numbers; test/check_opcode.c checks them and prints what they should be. */
static const uint16_t opcode_order[] = {
#include "assembler/builtin/opcode_order.def"
};

static const uint16_t modifier_order[] = {
#include "assembler/builtin/modifier_order.def"
};

static const uint16_t special_order[] = {
#include "assembler/builtin/special_order.def"
};

_Static_assert(ENTRIES(opcode_order) + 1 == ENTRIES(opcode_words), "every opcode is sorted");
_Static_assert(ENTRIES(modifier_order) + 1 == ENTRIES(modifier_words), "every modifier is sorted");
_Static_assert(ENTRIES(special_order) + 1 == ENTRIES(special_words), "every special is sorted");
_Static_assert(ENTRIES(opcodes) <= 1u << 12, "an opcode has 12 bits in the code");
_Static_assert(ENTRIES(modifier_words) <= 1u << 10, "a modifier has 10 bits in the code");
_Static_assert(ENTRIES(special_words) <= 1u << 12, "a special register has 12 bits in the code");

static const struct words opcode_list = {opcode_words, opcode_order, ENTRIES(opcode_words)};
static const struct words modifier_list = {modifier_words, modifier_order, ENTRIES(modifier_words)};
static const struct words special_list = {special_words, special_order, ENTRIES(special_words)};

uint16_t opcode_count(void)
{
    return ENTRIES(opcodes);
}

const struct opcode *opcode_get(uint16_t index)
{
    return &opcodes[index < ENTRIES(opcodes) ? index : 0];
}

uint16_t opcode_find(struct text name)
{
    return words_find(&opcode_list, name);
}

const char *opcode_nearest(struct text name)
{
    return words_nearest(&opcode_list, name);
}

uint16_t modifier_count(void)
{
    return modifier_list.count;
}

const char *modifier_name(uint16_t index)
{
    return modifier_words[index < modifier_list.count ? index : 0].name;
}

uint16_t modifier_find(struct text name)
{
    return words_find(&modifier_list, name);
}

const char *modifier_nearest(struct text name)
{
    return words_nearest(&modifier_list, name);
}

uint16_t special_count(void)
{
    return special_list.count;
}

const char *special_name(uint16_t index)
{
    return special_words[index < special_list.count ? index : 0].name;
}

uint16_t special_find(struct text name)
{
    return words_find(&special_list, name);
}

const char *special_nearest(struct text name)
{
    return words_nearest(&special_list, name);
}
