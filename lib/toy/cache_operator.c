/* cache_operator.c: finds the loads and stores that an option's operator applies to.
 *
 * Measured on ptxas by comparing the code with that of the same instruction with an operator: an
 * option applies to weak `ld` and `st` of .global and generic addresses without L1 modifiers; an
 * operator in the text overrides a default and is overridden by a forced one; for `ld.nc` only .cs
 * changes the code. ptxas also applies options to `ldu`, but PTX has no word for that. */
#include "toy/phases.h"

#include "diag/diag.h"
#include "language/opcode.h"

/* A kind of access, and its operators. */
struct access {
    const char *name;
    const char *operators[6]; /* ends with NULL */
};

static const struct access load_access = {"load", {"ca", "cg", "cs", "lu", "cv"}};
static const struct access store_access = {"store", {"wb", "cg", "cs", "wt"}};

static bool has_operator(const struct access *access, const char *word)
{
    size_t i = 0;

    while (access->operators[i] && strcmp(access->operators[i], word) != 0)
        i++;
    return access->operators[i] != NULL;
}

static bool read_option(const struct access *access, const char *word, bool is_forced,
                        struct cache_operator *result)
{
    if (!word)
        return true;
    *result = (struct cache_operator){modifier_find(text_of(word)), is_forced};
    return has_operator(access, word) ||
           diag_error("Invalid default cache modifier on %s specified: %s", access->name, word);
}

static bool read_access(const struct access *access, const char *by_default, const char *forced,
                        struct cache_operator *result)
{
    bool ok = read_option(access, by_default, false, result);

    ok &= read_option(access, forced, true, result);
    if (by_default && forced)
        diag_warning("Conflicting options force-%s-cache and def-%s-cache specified, ignoring "
                     "def-%s-cache option",
                     access->name, access->name, access->name);
    return ok;
}

bool cache_operator_read(struct unit *unit)
{
    const struct switches *switches = &unit->switches;
    bool ok = read_access(&load_access, switches->default_load_cache, switches->forced_load_cache,
                          &unit->loads);

    return read_access(&store_access, switches->default_store_cache, switches->forced_store_cache,
                       &unit->stores) &&
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

/* The operator stands, or is put, after the state space, or before the types. */
static void apply(struct instruction *instruction, struct arena *arena, const struct access *access,
                  struct cache_operator given)
{
    bool is_streaming = strcmp(modifier_name(given.word), "cs") == 0, is_taken = false;
    unsigned count = instruction->modifier_count, place = 0;

    for (unsigned i = 0; i < count; i++) {
        const char *word = modifier_name(instruction->modifiers[i]);

        if (is_exempt(word) || (!strcmp(word, "nc") && !is_streaming))
            return;
        if (has_operator(access, word)) {
            place = i;
            is_taken = true;
        } else if (!is_taken && (!strcmp(word, "weak") || !strcmp(word, "global"))) {
            place = i + 1;
        }
    }
    /* No load or store that the parser accepts has as many words as an instruction may have. */
    if (is_taken ? !given.is_forced : count == INSTRUCTION_MODIFIERS)
        return;
    uint16_t *modifiers = arena_alloc(arena, count + 1, sizeof *modifiers);
    unsigned rest = place + is_taken; /* the first word after it */
    memcpy(modifiers, instruction->modifiers, place * sizeof *modifiers);
    modifiers[place] = given.word;
    memcpy(&modifiers[place + 1], &instruction->modifiers[rest],
           (count - rest) * sizeof *modifiers);
    instruction->modifiers = modifiers;
    instruction->modifier_count = (uint8_t)(count + !is_taken);
}

void cache_operator_apply(struct body *body, const struct unit *unit)
{
    for (size_t i = 0; i < body->instruction_count; i++) {
        struct instruction *instruction = &body->instructions[i];

        if (instruction->opcode == INDEX_ld && unit->loads.word)
            apply(instruction, body->arena, &load_access, unit->loads);
        else if (instruction->opcode == INDEX_st && unit->stores.word)
            apply(instruction, body->arena, &store_access, unit->stores);
    }
}
