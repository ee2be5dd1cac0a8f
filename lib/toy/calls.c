/* calls.c: scans bodies for words: "call" and the name after it, "mma" and its types.
 *
 * Bodies have not been parsed yet, and need not be: in PTX a call's target is the first word after
 * `call` outside of parentheses, and a name that is not a function's is a register's. */
#include "toy/phases.h"

#include "base/components.h"
#include "diag/diag.h"
#include "ptx/lexer.h"

/* Facts about a function from its text. */
struct caller {
    uint32_t *callees; /* functions of the chunk that it calls by name, each once; in the arena */
    size_t callee_count, callee_capacity;
    bool calls_indirectly;
    bool has_double_mma; /* mma .f64 */
    uint32_t ring; /* functions that call each other, directly or indirectly, have the same number
                      other than 0; a function that only calls itself has 0 */
};

struct calls {
    struct unit *unit;
    struct caller *callers; /* one for each of unit->functions */
    uint32_t *last;         /* by function: 1 + the last caller that it was noted for */
    uint32_t ring_count;
};

/* Facts from the current statement so far. */
struct statement {
    bool is_call;
    bool has_target;
    bool is_mma;
    unsigned parentheses;
};

static void note_target(struct calls *calls, uint32_t index, struct text name)
{
    const struct scope *scope = &calls->unit->scope;
    struct global *global = scope_find(scope, name);
    struct caller *caller = &calls->callers[index];
    uint32_t callee;

    if (!global || !global->is_function) {
        caller->calls_indirectly = true;
        return;
    }
    callee = scope_target(scope, global)->function;
    if (callee >= calls->unit->function_count || calls->last[callee] == index + 1)
        return;
    calls->last[callee] = index + 1;
    ARENA_PUSH(&calls->unit->arena, caller->callees, caller->callee_count,
               caller->callee_capacity) = callee;
}

static void take_token(struct calls *calls, uint32_t index, struct statement *statement,
                       struct token token, struct text word)
{
    if (token.kind == TOKEN_MARK) {
        if (token.mark == ';' || token.mark == '{' || token.mark == '}')
            *statement = (struct statement){0};
        statement->parentheses += token.mark == '(';
        statement->parentheses -= token.mark == ')' && statement->parentheses > 0;
        return;
    }
    if (token.kind == TOKEN_DOT && statement->is_mma && text_equal(word, TEXT(".f64")))
        calls->callers[index].has_double_mma = true;
    if (token.kind != TOKEN_WORD)
        return;
    if (statement->is_call && !statement->has_target && statement->parentheses == 0) {
        statement->has_target = true;
        note_target(calls, index, word);
    }
    statement->is_call |= text_equal(word, TEXT("call"));
    statement->is_mma |= text_equal(word, TEXT("mma")) || text_equal(word, TEXT("wmma"));
}

static void read_body(struct calls *calls, uint32_t index)
{
    struct lexer lexer = lexer_at(calls->unit->functions[index].item->function.body, 0);
    struct statement statement = {0};

    for (struct token token; (token = lexer_next(&lexer)).kind != TOKEN_END;)
        take_token(calls, index, &statement, token, lexer_text(&lexer, token));
}

static uint32_t callee_at(void *argument, uint32_t function, uint32_t position)
{
    const struct caller *caller = &((const struct calls *)argument)->callers[function];

    return position < caller->callee_count ? caller->callees[position] : COMPONENTS_END;
}

static void add_ring(void *argument, const uint32_t *members, size_t count, const bool *is_open)
{
    struct calls *calls = argument;

    (void)is_open;
    if (count < 2)
        return;
    calls->ring_count++;
    for (size_t i = 0; i < count; i++)
        calls->callers[members[i]].ring = calls->ring_count;
}

static struct calls read_bodies(struct unit *unit)
{
    size_t count = unit->function_count;
    struct calls calls = {.unit = unit,
                          .callers = arena_zalloc(&unit->arena, count, sizeof *calls.callers),
                          .last = arena_zalloc(&unit->arena, count, sizeof *calls.last)};

    for (uint32_t i = 0; i < count; i++)
        read_body(&calls, i);
    components_find(&(struct components_graph){&calls, count, callee_at, add_ring}, &unit->arena);
    return calls;
}

static struct text name_of(const struct unit *unit, size_t function)
{
    return unit->functions[function].item->name;
}

/* Reports one line for a ring: its first functions in the order of the text. */
static void report_ring(const struct calls *calls, const struct unit *unit, size_t first)
{
    uint32_t ring = calls->callers[first].ring;
    size_t second = first + 1, count = 2;

    while (calls->callers[second].ring != ring)
        second++;
    for (size_t i = second + 1; i < unit->function_count; i++)
        count += calls->callers[i].ring == ring;
    diag_info("Functions '%.*s' and '%.*s'%s call each other", TEXT_ARG(name_of(unit, first)),
              TEXT_ARG(name_of(unit, second)), count > 2 ? " and more" : "");
}

void calls_report(struct unit *unit)
{
    struct calls calls = read_bodies(unit);
    bool *is_told; /* needed since rings are not numbered in the text's order */

    is_told = arena_zalloc(&unit->arena, calls.ring_count + 1, sizeof *is_told);
    for (size_t i = 0; i < unit->function_count; i++) {
        const struct caller *caller = &calls.callers[i];

        if (caller->calls_indirectly && caller->has_double_mma)
            diag_info("Function '%.*s' has indirect calls beside mma .f64, which keep the "
                      "scheduler from the tensor cores",
                      TEXT_ARG(name_of(unit, i)));
        if (!unit->switches.verbose || !caller->ring || is_told[caller->ring])
            continue;
        is_told[caller->ring] = true;
        report_ring(&calls, unit, i);
    }
}
