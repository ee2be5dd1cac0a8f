/* callers.c: which functions a kernel reaches, by calls and by addresses.
 *
 * Measured on ptxas 13.0, -c: what counts is the kernel's limit, not what it uses. ptxas tells
 * every pair of kernel and function; here each function is told once, with the kernel that has
 * least, so that a call graph is walked once however many kernels there are. */
#include "toy/phases.h"

#include "diag/diag.h"
#include "toy/budget.h"

struct walk {
    const struct unit *unit;
    uint32_t *kernels; /* of each function: index + 1 of the tightest kernel that reaches it */
    uint32_t *work;
    size_t work_count;
};

static void reach(struct walk *walk, uint32_t function, uint32_t kernel)
{
    if (function == NO_INDEX || walk->kernels[function])
        return;
    walk->kernels[function] = kernel + 1;
    walk->work[walk->work_count++] = function;
}

static void reach_from(struct walk *walk, uint32_t kernel)
{
    const struct scope *scope = &walk->unit->scope;
    reach(walk, kernel, kernel);
    while (walk->work_count) {
        const struct function_code *code = &walk->unit->functions[walk->work[--walk->work_count]];
        for (size_t i = 0; i < code->symbol_count; i++) {
            if (!code->symbols[i].is_function || !(code->uses[i] & (USE_CALLED | USE_ADDRESS)))
                continue;
            struct global *global = scope_find(scope, code->symbols[i].name);
            if (global)
                reach(walk, scope_target(scope, global)->function, kernel);
        }
    }
}

/* Kernels with few registers first. */
static void reach_all(struct walk *walk)
{
    const struct unit *unit = walk->unit;
    for (uint32_t limit = 0; limit <= BUDGET_MOST; limit++)
        for (size_t i = 0; i < unit->function_count; i++)
            if (unit->functions[i].item->function.is_entry &&
                unit->functions[i].register_limit == limit)
                reach_from(walk, (uint32_t)i);
}

static bool report(const struct walk *walk)
{
    bool is_good = true;
    for (size_t i = 0; i < walk->unit->function_count; i++) {
        if (!walk->kernels[i])
            continue;
        const struct function_code *function = &walk->unit->functions[i];
        const struct function_code *kernel = &walk->unit->functions[walk->kernels[i] - 1];
        if (function->register_count <= kernel->register_limit)
            continue;
        diag_error("Entry function '%.*s' with max regcount of %u calls function '%.*s' with "
                   "regcount of %u",
                   TEXT_ARG(kernel->item->name), kernel->register_limit,
                   TEXT_ARG(function->item->name), function->register_count);
        is_good = false;
    }
    return is_good;
}

bool callers_check(struct unit *unit)
{
    size_t count = unit->function_count;
    struct walk walk = {.unit = unit,
                        .kernels = arena_zalloc(&unit->arena, count, sizeof *walk.kernels),
                        .work = arena_alloc(&unit->arena, count, sizeof *walk.work)};
    reach_all(&walk);
    return report(&walk);
}
