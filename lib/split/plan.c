/* plan.c: answers what several files ask of the plan, and keeps sets of symbols (closures). */
#include "split/plan.h"

#include "ptx/module.h"

bool plan_is_whole(const struct plan *plan, uint32_t module)
{
    return plan->program->modules[module]->has_full_debug && !plan->repeats_debug;
}

bool plan_is_unit(const struct plan *plan, uint32_t symbol)
{
    const struct program_symbol *entry = &plan->program->symbols[symbol];

    return entry->is_function && entry->is_live && entry->is_defined &&
           entry->alias_target == NO_SYMBOL && !plan_is_whole(plan, entry->module);
}

bool plan_is_variable(const struct plan *plan, uint32_t symbol)
{
    const struct program_symbol *entry = &plan->program->symbols[symbol];

    return !entry->is_function && entry->is_defined && entry->is_live &&
           !plan_is_whole(plan, entry->module);
}

bool plan_is_one_text(const struct plan *plan)
{
    const struct program *program = plan->program;

    if (program->module_count != 1)
        return false;
    for (size_t i = 0; i < program->symbol_count; i++)
        if (!program->symbols[i].is_live || program->symbols[i].edit_count)
            return false;
    return program->details[0].edit_count == 0;
}

bool plan_is_unchanged(const struct plan *plan)
{
    return plan->chunk_count + plan->whole_count == 1 && plan_is_one_text(plan);
}

uint32_t **plan_members(const struct plan *plan)
{
    size_t count = plan->program->symbol_count;
    uint32_t *next = arena_alloc(plan->arena, count, sizeof *next);
    uint32_t **members = arena_alloc(plan->arena, (size_t)plan->chunk_count + 1, sizeof *members);
    size_t *counts = arena_zalloc(plan->arena, plan->chunk_count, sizeof *counts);

    for (size_t i = 0; i < count; i++)
        if (plan->placements[i].chunk < plan->chunk_count)
            counts[plan->placements[i].chunk]++;
    members[0] = next;
    for (uint32_t c = 0; c < plan->chunk_count; c++) {
        members[c + 1] = next;
        next += counts[c];
    }
    for (uint32_t i = 0; i < count; i++)
        if (plan->placements[i].chunk < plan->chunk_count)
            *members[plan->placements[i].chunk + 1]++ = i;
    return members;
}

struct closure closure_new(const struct plan *plan)
{
    const struct program *program = plan->program;

    return (struct closure){
        .list = arena_alloc(plan->arena, program->symbol_count, sizeof(uint32_t)),
        .stamps = arena_zalloc(plan->arena, program->symbol_count, sizeof(uint32_t)),
        .stamp = 1,
    };
}

void closure_add(struct closure *closure, uint32_t symbol)
{
    if (closure->stamps[symbol] == closure->stamp)
        return;
    closure->stamps[symbol] = closure->stamp;
    closure->list[closure->count++] = symbol;
}

void closure_restart(struct closure *closure)
{
    closure->stamp++;
    closure->count = 0;
}
