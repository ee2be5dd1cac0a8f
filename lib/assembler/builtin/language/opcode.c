/* opcode.c: the tables of opcode_table.def, modifier_table.def and special_table.def. */
#include "assembler/builtin/language/opcode.h"

#include "assembler/builtin/language/words.h"

#define ENTRIES(array) (sizeof(array) / sizeof(array)[0])
#define WORD(name)                                                                                 \
    {                                                                                              \
        name, sizeof(name) - 1                                                                     \
    }

static const struct opcode opcodes[] = {
    {"", 0, 0, 0, 0, 0, 0},
#define OPCODE(name, least, most, results, flags, ptx, sm)                                         \
    {#name, least, most, results, flags, ptx, sm},
#include "assembler/builtin/language/opcode_table.def"
#undef OPCODE
};

static const struct word opcode_words[] = {
    WORD(""),
#define OPCODE(name, ...) WORD(#name),
#include "assembler/builtin/language/opcode_table.def"
#undef OPCODE
};

static const struct word modifier_words[] = {
    WORD(""),
#define MODIFIER(name) WORD(name),
#define TYPE           MODIFIER
#include "assembler/builtin/language/modifier_table.def"
#undef TYPE
#undef MODIFIER
};

static const struct word special_words[] = {
    WORD(""),
#define SPECIAL(name) WORD(name),
#include "assembler/builtin/language/special_table.def"
#undef SPECIAL
};

/* Hash tables of the numbers; test/unit/builtin/check_opcode.c checks them and prints what they
 * should be. */
static const uint16_t opcode_slots[] = {
#include "assembler/builtin/language/opcode_slots.def"
};

static const uint16_t modifier_slots[] = {
#include "assembler/builtin/language/modifier_slots.def"
};

static const uint16_t special_slots[] = {
#include "assembler/builtin/language/special_slots.def"
};

/* At most half full, so that probing is short and always ends. */
#define FITS(slots, words)                                                                         \
    (ENTRIES(slots) >= 2 * ENTRIES(words) && (ENTRIES(slots) & (ENTRIES(slots) - 1)) == 0)

_Static_assert(FITS(opcode_slots, opcode_words), "opcodes fit their slots");
_Static_assert(FITS(modifier_slots, modifier_words), "modifiers fit their slots");
_Static_assert(FITS(special_slots, special_words), "special registers fit their slots");
_Static_assert(ENTRIES(opcodes) <= 1u << 12, "an opcode has 12 bits in the code");
_Static_assert(ENTRIES(modifier_words) <= 1u << 10, "a modifier has 10 bits in the code");
_Static_assert(ENTRIES(special_words) <= 1u << 12, "a special register has 12 bits in the code");

#define LIST(words, slots)                                                                         \
    {                                                                                              \
        words, slots, ENTRIES(slots) - 1, ENTRIES(words)                                           \
    }

static const struct words opcode_list = LIST(opcode_words, opcode_slots);
static const struct words modifier_list = LIST(modifier_words, modifier_slots);
static const struct words special_list = LIST(special_words, special_slots);

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

/* %tid and its like are also read as 16 bits, %gridid as 32 and 64 (measured on ptxas 13.0). */
static bool is_position(const char *name)
{
    static const char *const names[] = {"%tid.", "%ntid.", "%ctaid.", "%nctaid."};

    for (size_t i = 0; i < ENTRIES(names); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* %tid as a whole: the next row is %tid.x. */
static bool is_vector(const char *name)
{
    size_t size = strlen(name);
    const char *next = special_name((uint16_t)(special_find(text_of(name)) + 1));

    return strncmp(next, name, size) == 0 && next[size] == '.';
}

bool opcode_special_fits(const char *name, char class, unsigned bits)
{
    size_t size = strlen(name);
    bool is_wide = (size > 2 && strcmp(name + size - 2, "64") == 0) ||
                   strcmp(name, "%globaltimer") == 0 || strcmp(name, "%current_graph_exec") == 0;

    if (is_vector(name))
        return false;
    if (strcmp(name, "%is_explicit_cluster") == 0)
        return class == 'p';
    if (class == 'p')
        return false;
    if (strcmp(name, "%gridid") == 0)
        return bits == 32 || bits == 64;
    return bits == (is_wide ? 64u : 32u) || (bits == 16 && is_position(name));
}
