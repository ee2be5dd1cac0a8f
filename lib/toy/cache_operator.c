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
static const struct access {
    const char *name;
    uint16_t opcode;
    const char *operators[6]; /* ends with NULL */
} accesses[CACHED_ACCESSES] = {{"load", INDEX_ld, {"ca", "cg", "cs", "lu", "cv"}},
                               {"store", INDEX_st, {"wb", "cg", "cs", "wt"}}};

static bool has_operator(const struct access *access, const char *word)
{
    size_t i = 0;

    while (access->operators[i] && strcmp(access->operators[i], word) != 0)
        i++;
    return access->operators[i] != NULL;
}

bool cache_operator_check(const struct unit *unit)
{
    bool ok = true;

    for (size_t i = 0; i < CACHED_ACCESSES; i++) {
        const char *name = accesses[i].name;
        const char *const words[] = {unit->switches.default_cache[i],
                                     unit->switches.forced_cache[i]};

        for (size_t k = 0; k < 2; k++)
            if (words[k] && !has_operator(&accesses[i], words[k]))
                ok = diag_error("Invalid default cache modifier on %s specified: %s", name,
                                words[k]);
        if (words[0] && words[1])
            diag_warning("Conflicting options force-%s-cache and def-%s-cache specified, ignoring "
                         "def-%s-cache option",
                         name, name, name);
    }
    return ok;
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
                  const char *given, bool is_forced)
{
    bool is_streaming = strcmp(given, "cs") == 0, is_taken = false;
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
    if (is_taken ? !is_forced : count == INSTRUCTION_MODIFIERS)
        return;
    uint16_t *modifiers = arena_alloc(arena, count + 1, sizeof *modifiers);
    unsigned rest = place + is_taken; /* the first word after it */
    memcpy(modifiers, instruction->modifiers, place * sizeof *modifiers);
    modifiers[place] = modifier_find(text_of(given));
    memcpy(&modifiers[place + 1], &instruction->modifiers[rest],
           (count - rest) * sizeof *modifiers);
    instruction->modifiers = modifiers;
    instruction->modifier_count = (uint8_t)(count + !is_taken);
}

void cache_operator_apply(struct body *body, const struct unit *unit)
{
    for (size_t access = 0; access < CACHED_ACCESSES; access++) {
        const char *forced = unit->switches.forced_cache[access];
        const char *given = forced ? forced : unit->switches.default_cache[access];

        for (size_t i = 0; given && i < body->instruction_count; i++)
            if (body->instructions[i].opcode == accesses[access].opcode)
                apply(&body->instructions[i], body->arena, &accesses[access], given,
                      forced != NULL);
    }
}
