/* opcode.c: the tables of opcode_table.def, modifier_table.def and special_table.def. */
#include "toy/language/opcode.h"

#include "toy/language/words.h"

#define ENTRIES(array) (sizeof(array) / sizeof(array)[0])
static const struct opcode opcodes[] = {
    {"", 0, 0, 0, 0, 0, 0},
#define OPCODE(name, least, most, results, flags, ptx, sm)                                         \
    {#name, least, most, results, flags, ptx, sm},
#include "toy/language/opcode_table.def"
#undef OPCODE
};

static const struct text opcode_words[] = {
    TEXT(""),
#define OPCODE(name, ...) TEXT(#name),
#include "toy/language/opcode_table.def"
#undef OPCODE
};

static const struct text modifier_words[] = {
    TEXT(""),
#define MODIFIER(name) TEXT(name),
#define TYPE           MODIFIER
#include "toy/language/modifier_table.def"
#undef TYPE
#undef MODIFIER
};

static const struct text special_words[] = {
    TEXT(""),
#define SPECIAL(name) TEXT(name),
#include "toy/language/special_table.def"
#undef SPECIAL
};

_Static_assert(ENTRIES(opcodes) <= 1u << 12, "an opcode has 12 bits in the code");
_Static_assert(ENTRIES(modifier_words) <= 1u << 10, "a modifier has 10 bits in the code");
_Static_assert(ENTRIES(special_words) <= 1u << 12, "a special register has 12 bits in the code");

static const struct words opcode_list = {opcode_words, ENTRIES(opcode_words)};
static const struct words modifier_list = {modifier_words, ENTRIES(modifier_words)};
static const struct words special_list = {special_words, ENTRIES(special_words)};

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
    return words_name(&modifier_list, index);
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
    return words_name(&special_list, index);
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
