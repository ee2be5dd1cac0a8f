/* cache_operator.c: finds the loads and stores that an option's operator applies to.
 *
 * Measured on ptxas by comparing the code with that of the same instruction with an operator: an
 * option applies to weak `ld` and `st` of .global and generic addresses without L1 modifiers; an
 * operator in the text overrides a default and is overridden by a forced one; for `ld.nc` only .cs
 * changes the code. ptxas also applies options to `ldu`, but PTX has no word for that. */
#include "toy/cache_operator.h"

#include <string.h>

#include "base/arena.h"
#include "diag/diag.h"
#include "language/opcode.h"

static const char *const load_operators[] = {"ca", "cg", "cs", "lu", "cv", NULL};
static const char *const store_operators[] = {"wb", "cg", "cs", "wt", NULL};

static bool has_word(const char *const *list, const char *word)
{
    while (*list && strcmp(*list, word) != 0)
        list++;
    return *list != NULL;
}

/* Reads the two options of one kind of access, "load" or "store". */
static bool read_access(const char *kind, const char *const *operators, const char *by_default,
                        const char *forced, struct cache_operator *result)
{
    bool ok = true;
    const char *const given[] = {by_default, forced};
    for (size_t i = 0; i < 2; i++) {
        if (!given[i])
            continue;
        if (!has_word(operators, given[i]))
            ok = diag_error("Invalid default cache modifier on %s specified: %s", kind, given[i]);
        result->word = modifier_find(text_of(given[i]));
        result->mode = i == 1 ? CACHE_FORCED : result->word ? CACHE_BY_DEFAULT : CACHE_AS_WRITTEN;
    }
    if (by_default && forced)
        diag_warning("Conflicting options force-%s-cache and def-%s-cache specified, ignoring "
                     "def-%s-cache option",
                     kind, kind, kind);
    return ok;
}

bool cache_operator_read(struct cache_operators *operators, const struct switches *switches)
{
    bool ok = read_access("load", load_operators, switches->default_load_cache,
                          switches->forced_load_cache, &operators->loads);
    return read_access("store", store_operators, switches->default_store_cache,
                       switches->forced_store_cache, &operators->stores) &&
           ok;
}

/* Words that exempt an access: another memory, an ordering, or an L1 modifier. */
static bool is_exempt(const char *word)
{
    static const char *const starts[] = {"volatile", "relaxed", "acquire", "release", "mmio",
                                         "shared",   "local",   "const",   "param",   "L1::"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(word, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* Place of the operator, present or not: after the state space, or before the types. */
struct place {
    unsigned index;
    bool is_taken;
    bool is_exempt;
};

static struct place find_place(const struct instruction *instruction, const char *const *operators,
                               const char *mode)
{
    struct place place = {0};
    for (unsigned i = 0; i < instruction->modifier_count; i++) {
        const char *word = modifier_name(instruction->modifiers[i]);
        place.is_exempt |= is_exempt(word) || (!strcmp(word, "nc") && strcmp(mode, "cs") != 0);
        if (has_word(operators, word)) {
            place.index = i;
            place.is_taken = true;
        } else if (!place.is_taken && (!strcmp(word, "weak") || !strcmp(word, "global"))) {
            place.index = i + 1;
        }
    }
    return place;
}

static void apply(struct instruction *instruction, struct arena *arena,
                  const char *const *operators, const struct cache_operator *given)
{
    if (given->mode == CACHE_AS_WRITTEN)
        return;
    struct place place = find_place(instruction, operators, modifier_name(given->word));
    size_t count = instruction->modifier_count;
    size_t rest = place.index + place.is_taken; /* the first word after it */
    if (place.is_exempt || (place.is_taken && given->mode != CACHE_FORCED))
        return;
    if (!place.is_taken && count == INSTRUCTION_MODIFIERS)
        return; /* no load or store that the parser accepts has so many words */
    uint16_t *modifiers = arena_alloc(arena, count + 1, sizeof *modifiers);
    memcpy(modifiers, instruction->modifiers, place.index * sizeof *modifiers);
    modifiers[place.index] = given->word;
    memcpy(&modifiers[place.index + 1], &instruction->modifiers[rest],
           (count - rest) * sizeof *modifiers);
    instruction->modifiers = modifiers;
    instruction->modifier_count = (uint8_t)(count + !place.is_taken);
}

void cache_operator_apply(struct body *body, const struct cache_operators *operators)
{
    for (size_t i = 0; i < body->instruction_count; i++) {
        struct instruction *instruction = &body->instructions[i];
        if (instruction->opcode == INDEX_ld)
            apply(instruction, body->arena, load_operators, &operators->loads);
        else if (instruction->opcode == INDEX_st)
            apply(instruction, body->arena, store_operators, &operators->stores);
    }
}
