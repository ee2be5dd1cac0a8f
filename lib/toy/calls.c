/* calls.c: bodies as words: "call" and the name behind it, "mma" and its types.
 *
 * The parser has not seen the bodies yet, and need not have: in PTX a call's target is the first
 * word behind `call` that stands in no parentheses, and a register's name tells that it is one by
 * not being a function's. */
#include "toy/calls.h"

#include <string.h>

#include "diag/diag.h"
#include "ptx/lexer.h"

struct reading {
    struct unit *unit;
    struct arena *arena;
    uint32_t *last;    /* of each function: 1 + the caller that it was last noted for */
    uint32_t *callees; /* of the caller at hand */
};

/* What a statement has shown so far. */
struct statement {
    bool is_call;
    bool has_target;
    bool is_mma;
    unsigned parentheses;
};

static void note_target(struct reading *reading, struct caller *caller, uint32_t index,
                        struct text name)
{
    const struct scope *scope = &reading->unit->scope;
    struct global *global = scope_find(scope, name);
    uint32_t callee;

    if (!global || !global->is_function) {
        caller->calls_indirectly = true;
        return;
    }
    callee = scope_target(scope, global)->function;
    if (callee == NO_INDEX || callee >= reading->unit->function_count ||
        reading->last[callee] == index + 1)
        return;
    reading->last[callee] = index + 1;
    reading->callees[caller->callee_count++] = callee;
}

static void take_token(struct reading *reading, struct caller *caller, uint32_t index,
                       struct statement *statement, const struct lexer *lexer, struct token token)
{
    struct text word = lexer_text(lexer, token);

    if (token.kind == TOKEN_MARK) {
        if (token.mark == ';' || token.mark == '{' || token.mark == '}')
            *statement = (struct statement){0};
        statement->parentheses += token.mark == '(';
        statement->parentheses -= token.mark == ')' && statement->parentheses > 0;
        return;
    }
    if (token.kind == TOKEN_DOT && statement->is_mma && text_equal(word, TEXT(".f64")))
        caller->has_double_mma = true;
    if (token.kind != TOKEN_WORD)
        return;
    if (statement->is_call && !statement->has_target && statement->parentheses == 0) {
        statement->has_target = true;
        note_target(reading, caller, index, word);
    }
    statement->is_call |= text_equal(word, TEXT("call"));
    statement->is_mma |= text_equal(word, TEXT("mma")) || text_equal(word, TEXT("wmma"));
}

static void read_body(struct reading *reading, struct caller *caller, uint32_t index)
{
    struct lexer lexer = lexer_at(reading->unit->functions[index].item->function.body, 0);
    struct statement statement = {0};

    for (struct token token; (token = lexer_next(&lexer)).kind != TOKEN_END;)
        take_token(reading, caller, index, &statement, &lexer, token);
    caller->callees =
        arena_copy(reading->arena, reading->callees, caller->callee_count, sizeof *caller->callees);
}

/* Tarjan's search for strongly connected functions, without recursion. */
struct search {
    const struct calls *calls;
    uint32_t *number; /* 0 = not met yet */
    uint32_t *lowest;
    uint32_t *next;  /* of each function on the path: the callee that is looked at next */
    uint32_t *path;  /* from the root to the function at hand */
    uint32_t *stack; /* functions whose ring is not known yet */
    bool *is_stacked;
    uint32_t met, path_count, stack_count, ring_count;
};

static void enter(struct search *search, uint32_t function)
{
    search->number[function] = search->lowest[function] = ++search->met;
    search->stack[search->stack_count++] = function;
    search->is_stacked[function] = true;
    search->path[search->path_count++] = function;
}

static void leave(struct search *search)
{
    uint32_t function = search->path[--search->path_count];
    bool is_ring;

    if (search->path_count) {
        uint32_t caller = search->path[search->path_count - 1];

        if (search->lowest[function] < search->lowest[caller])
            search->lowest[caller] = search->lowest[function];
    }
    if (search->lowest[function] != search->number[function])
        return;
    is_ring = search->stack[search->stack_count - 1] != function;
    search->ring_count += is_ring;
    for (uint32_t member = NO_INDEX; member != function;) {
        member = search->stack[--search->stack_count];
        search->is_stacked[member] = false;
        search->calls->callers[member].ring = is_ring ? search->ring_count : 0;
    }
}

static void step(struct search *search)
{
    uint32_t function = search->path[search->path_count - 1];
    const struct caller *caller = &search->calls->callers[function];
    uint32_t callee;

    if (search->next[function] == caller->callee_count) {
        leave(search);
        return;
    }
    callee = caller->callees[search->next[function]++];
    if (!search->number[callee])
        enter(search, callee);
    else if (search->is_stacked[callee] && search->number[callee] < search->lowest[function])
        search->lowest[function] = search->number[callee];
}

static void find_rings(struct calls *calls, struct arena *arena, size_t count)
{
    struct search search = {.calls = calls};
    uint32_t *numbers = arena_zalloc(arena, count, 5 * sizeof *numbers);

    search.number = numbers;
    search.lowest = numbers + count;
    search.next = numbers + 2 * count;
    search.path = numbers + 3 * count;
    search.stack = numbers + 4 * count;
    search.is_stacked = arena_zalloc(arena, count, sizeof *search.is_stacked);
    for (uint32_t i = 0; i < count; i++) {
        if (!search.number[i])
            enter(&search, i);
        while (search.path_count)
            step(&search);
    }
    calls->ring_count = search.ring_count;
}

void calls_read(struct calls *calls, struct unit *unit)
{
    size_t count = unit->function_count;
    struct reading reading = {.unit = unit, .arena = &unit->arena};

    *calls = (struct calls){.callers = arena_zalloc(&unit->arena, count, sizeof *calls->callers)};
    reading.last = arena_zalloc(&unit->arena, count, sizeof *reading.last);
    reading.callees = arena_alloc(&unit->arena, count, sizeof *reading.callees);
    for (uint32_t i = 0; i < count; i++)
        read_body(&reading, &calls->callers[i], i);
    find_rings(calls, &unit->arena, count);
}

bool calls_may_warn(const struct unit *unit)
{
    struct text text = unit->module.text;

    return text.size && memmem(text.data, text.size, "mma", 3) != NULL;
}

static struct text name_of(const struct unit *unit, size_t function)
{
    return unit->functions[function].item->name;
}

/* One line for a ring: its first functions in the order of the text. */
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

size_t calls_report(const struct calls *calls, struct unit *unit)
{
    uint32_t told = 0; /* rings have their numbers in no order of the text */
    bool *is_told = arena_zalloc(&unit->arena, calls->ring_count + 1, sizeof *is_told);
    size_t count = 0;

    for (size_t i = 0; i < unit->function_count; i++) {
        const struct caller *caller = &calls->callers[i];

        if (caller->calls_indirectly && caller->has_double_mma) {
            diag_info("Function '%.*s' has indirect calls beside mma .f64, which keep the "
                      "scheduler from the tensor cores",
                      TEXT_ARG(name_of(unit, i)));
            count++;
        }
        if (!unit->switches.verbose || !caller->ring || is_told[caller->ring])
            continue;
        is_told[caller->ring] = true;
        told++;
        report_ring(calls, unit, i);
    }
    return count + told;
}
