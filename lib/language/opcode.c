/* opcode.c: the tables of opcode_table.def, modifier_table.def and special_table.def. */
#include "language/opcode.h"

#include "base/edit_distance.h"

#define ENTRIES(array) (sizeof(array) / sizeof(array)[0])

static const struct opcode opcodes[] = {
    {"", 0, 0, 0, 0},
#define OPCODE(name, flags, ptx, sm)      {#name, INDEX_##name, flags, ptx, sm},
#define LIKE(name, other, flags, ptx, sm) {#name, INDEX_##other, flags, ptx, sm},
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
#define SPECIAL(name) TEXT(name),
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

bool modifier_is_type(uint16_t index)
{
    return index < ENTRIES(types) && types[index].bits != 0;
}

const struct type *modifier_type(struct text name)
{
    return &types[modifier_find(name)];
}

const char *special_name(uint16_t index)
{
    return words_name(&special_words, index);
}

/* %tid and similar registers may also be read as 16 bits, %gridid as 32 and 64 (measured). */
static bool is_position(const char *name)
{
    static const char *const names[] = {"%tid.", "%ntid.", "%ctaid.", "%nctaid."};

    for (size_t i = 0; i < ENTRIES(names); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Whether it is a whole vector like %tid: then the next row is %tid.x. */
static bool is_vector(const char *name)
{
    size_t size = strlen(name);
    const char *next = special_name((uint16_t)(words_find(&special_words, text_of(name)) + 1));

    return strncmp(next, name, size) == 0 && next[size] == '.';
}

bool opcode_special_fits(const char *name, char class, unsigned bits)
{
    bool is_wide = text_ends(text_of(name), TEXT("64")) || strcmp(name, "%globaltimer") == 0 ||
                   strcmp(name, "%current_graph_exec") == 0;

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
