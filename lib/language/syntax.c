/* syntax.c: matches an instruction's words with the rows of syntax_table.def.
 *
 * A row's words are a sequence of items; an item is a choice of words, `a|b`, that is optional if a
 * `?` follows. `v2+b64` in a choice are words that come together; a word in capitals is a name of
 * syntax_sets.def. Dots begin the items of the instruction's name. A row with several sequences has
 * semicolons between them. The rows of an opcode are
 * adjacent, so a binary search finds them; the first that matches is used. */
#include "language/syntax.h"

#include "base/search.h"

const struct syntax_row syntax_rows[] = {
#define SYNTAX(opcode, words, operands, ptx, target)                                               \
    {INDEX_##opcode, words, operands, {ptx, target}},
#include "language/syntax_table.def"
#undef SYNTAX
};

const size_t syntax_row_count = sizeof syntax_rows / sizeof syntax_rows[0];

static const struct {
    struct text name;
    const char *words;
} sets[] = {
#define SET(name, words) {TEXT(#name), words},
#include "language/syntax_sets.def"
#undef SET
};

static const struct {
    struct need need;
    const char *words;
} needs[] = {
#define NEEDS(ptx, target, words) {{ptx, target}, words},
#include "language/syntax_needs.def"
#undef NEEDS
};

/* Kinds of words that keep their order among each other. */
enum order { ORDER_NONE, ORDER_TYPE, ORDER_LAYOUT, ORDER_SPACE, ORDERS };

/* The instruction's words, and which of them the items so far have matched. */
struct fitting {
    const uint16_t *modifiers;
    const struct text *names; /* of the words */
    size_t count;
    uint32_t taken;
    uint16_t last[ORDERS]; /* by kind: 1 + place of the last one taken */
    size_t name_count;     /* words of the instruction's name so far */
    const char *misplaced; /* the first of these that does not stand where the name has it */
};

const char *syntax_set(struct text name)
{
    if (name.size == 0 || name.data[0] < 'A' || name.data[0] > 'Z')
        return NULL;
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        if (text_equal(sets[i].name, name))
            return sets[i].words;
    return NULL;
}

/* Cuts the text before the first `mark`; *rest begins after it. */
static struct text cut(struct text *rest, char mark)
{
    const char *end = memchr(rest->data, mark, rest->size);
    struct text head = {rest->data, end ? (size_t)(end - rest->data) : rest->size};

    rest->data += head.size + (end != NULL);
    rest->size -= head.size + (end != NULL);
    return head;
}

static enum order order_of(uint16_t modifier)
{
    const char *name = modifier_name(modifier);

    if (modifier_type(modifier)->bits)
        return ORDER_TYPE;
    if (strcmp(name, "row") == 0 || strcmp(name, "col") == 0)
        return ORDER_LAYOUT;
    return strcmp(name, "global") == 0 || strncmp(name, "shared", 6) == 0 ? ORDER_SPACE
                                                                          : ORDER_NONE;
}

/* Modifier `i` is the next of its kind, or its kind has no order. */
static bool is_next(const struct fitting *fitting, size_t i, enum order order)
{
    if (order == ORDER_NONE)
        return true;
    for (size_t k = fitting->last[order]; k < i; k++)
        if (!(fitting->taken >> k & 1) && order_of(fitting->modifiers[k]) == order)
            return false;
    return true;
}

/* ptxas accepts these twice, with the effect of one: .sat.sat. */
static bool may_be_double(struct text word)
{
    static const struct text words[] = {TEXT("sat"),  TEXT("approx"),  TEXT("uni"),
                                        TEXT("sync"), TEXT("aligned"), TEXT("ftz")};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (text_equal(word, words[i]))
            return true;
    return false;
}

static bool take_word(struct fitting *fitting, struct text word)
{
    for (size_t i = 0; i < fitting->count; i++) {
        if ((fitting->taken >> i & 1) || !text_equal(fitting->names[i], word))
            continue;
        enum order order = order_of(fitting->modifiers[i]);

        if (order && i < fitting->last[order])
            continue;
        if (!is_next(fitting, i, order))
            return false;
        fitting->taken |= 1u << i;
        fitting->last[order] = (uint16_t)(i + 1);
        if (may_be_double(word))
            for (size_t k = i + 1; k < fitting->count; k++)
                fitting->taken |= (uint32_t)text_equal(fitting->names[k], word) << k;
        return true;
    }
    return false;
}

/* Takes all words of `v2+b64`, or none. */
static bool take_group(struct fitting *fitting, struct text group)
{
    struct fitting before = *fitting;

    while (group.size) {
        if (!take_word(fitting, cut(&group, '+'))) {
            *fitting = before;
            return false;
        }
    }
    return true;
}

/* Of the choices that fit, the one that takes the most words: `v4+b32` rather than `b32`. */
static bool take_choice(struct fitting *fitting, struct text choice, unsigned depth)
{
    struct fitting best = *fitting;
    bool found = false;

    while (choice.size) {
        struct text group = cut(&choice, '|');
        struct fitting attempt = *fitting;
        const char *set = depth == 0 ? syntax_set(group) : NULL;

        if (set ? take_choice(&attempt, text_of(set), 1) : take_group(&attempt, group)) {
            if (!found || __builtin_popcount(attempt.taken) > __builtin_popcount(best.taken))
                best = attempt;
            found = true;
        }
    }
    *fitting = best;
    return found;
}

/* Takes a word of each item of `a.b|c`. */
static bool take_name(struct fitting *fitting, struct text name)
{
    while (name.size) {
        uint32_t before = fitting->taken;
        size_t place;

        if (!take_choice(fitting, cut(&name, '.'), 0))
            return false;
        place = (size_t)__builtin_ctz(fitting->taken ^ before);
        if (place != fitting->name_count++ && !fitting->misplaced)
            fitting->misplaced = fitting->names[place].data;
    }
    return true;
}

static bool fits(struct text rest, struct fitting *fitting)
{
    while (rest.size) {
        struct text item = cut(&rest, ' ');
        bool is_optional = item.size && item.data[item.size - 1] == '?';
        bool is_name;

        item.size -= is_optional;
        is_name = text_skip(&item, TEXT("."));
        if (!(is_name ? take_name(fitting, item) : take_choice(fitting, item, 0)) && !is_optional)
            return false;
    }
    return fitting->taken == (1u << fitting->count) - 1;
}

/* The opcode's first row, or the one behind `after`; NULL if there is none. */
static const struct syntax_row *next_row(uint16_t opcode, const struct syntax_row *after)
{
    uint16_t own = opcode_get(opcode)->rows;
    size_t at = after ? (size_t)(after - syntax_rows) + 1
                      : SEARCH_FIRST_NOT(syntax_row_count, i, syntax_rows[i].opcode < own);

    return at < syntax_row_count && syntax_rows[at].opcode == own ? &syntax_rows[at] : NULL;
}

bool syntax_find(struct syntax *syntax, uint16_t opcode, const uint16_t *modifiers, size_t count,
                 const struct syntax_row *after)
{
    struct text names[INSTRUCTION_MODIFIERS];

    if (count > INSTRUCTION_MODIFIERS)
        return false;
    for (size_t i = 0; i < count; i++)
        names[i] = text_of(modifier_name(modifiers[i]));
    while ((after = next_row(opcode, after))) {
        struct text rest = text_of(after->words), words;

        do {
            struct fitting fitting = {.modifiers = modifiers, .names = names, .count = count};

            rest = text_drop_blanks(rest);
            words = cut(&rest, ';');
            if (!fits(words, &fitting))
                continue;
            *syntax = (struct syntax){.row = after, .words = words, .misplaced = fitting.misplaced};
            syntax_rule_read(syntax, opcode, modifiers, count);
            return true;
        } while (rest.size);
    }
    return false;
}

void syntax_note_results(const struct syntax *syntax, struct instruction *instruction)
{
    uint8_t results = 0;

    while (results < syntax->rule_count && (syntax->rules[results].flags & RULE_WRITTEN))
        results++;
    instruction->results = results;
    instruction->is_accumulate = results && (syntax->rules[0].flags & RULE_ACCUMULATES);
}

/* True if the word is among these, or at depth 0 in one of the sets among them. */
static bool has_word(const char *words, struct text word, unsigned depth)
{
    for (const char *at = words; *at;) {
        struct text one = {at, strcspn(at, " .|?+;")};
        const char *set = depth == 0 ? syntax_set(one) : NULL;

        if (set ? has_word(set, word, 1) : text_equal(one, word))
            return true;
        at += one.size + (at[one.size] != '\0');
    }
    return false;
}

bool syntax_has_word(uint16_t opcode, const char *modifier)
{
    const struct syntax_row *row = NULL;

    while ((row = next_row(opcode, row)))
        if (has_word(row->words, text_of(modifier), 0))
            return true;
    return false;
}

/* "100f": the targets with a suffix in sm_100's family, from sm_100 on; a family has all digits but
 * the last in common. "90a": that target alone. */
static bool one_fits(struct text word, struct arch target, unsigned version)
{
    bool is_before = text_skip(&word, TEXT("<"));
    uint64_t sm;

    text_scan_number(&word, &sm);
    if (is_before && text_skip(&word, TEXT(".")))
        return version < sm * 10 + (unsigned)(word.data[0] - '0');
    if (is_before)
        return target.sm < sm;
    if (word.size == 0)
        return target.sm >= sm;
    if (word.data[0] == 'f')
        return target.suffix != 0 && target.sm >= sm && target.sm / 10 == sm / 10;
    return target.suffix == 'a' && target.sm == sm;
}

bool syntax_target_fits(const char *expression, struct arch target, unsigned version)
{
    struct text rest = text_of(expression);

    if (rest.size == 0)
        return true;
    while (rest.size)
        if (one_fits(cut(&rest, ' '), target, version))
            return true;
    return false;
}

struct need syntax_word_need(uint16_t modifier)
{
    const char *name = modifier_name(modifier);
    size_t size = strlen(name);

    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        const char *words = needs[i].words, *at = words;

        while ((at = strstr(at, name)) && ((at > words && at[-1] != ' ') || at[size] > ' '))
            at++;
        if (at)
            return needs[i].need;
    }
    return (struct need){0, ""};
}
