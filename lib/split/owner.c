/* owner.c: which chunk defines each variable and alias, and which internal symbols other chunks
 * need.
 *
 * A variable has one owner, the lowest chunk that uses it; in a stable split it is a chunk without
 * code, so that the variable's linkage does not depend on its users. Elsewhere it is extern. Shared
 * variables of a fixed size are laid out separately for each kernel, and so are weak in every chunk
 * that uses them, as NVIDIA's own splitter makes them; common ones and dynamic shared memory merge
 * by themselves. */
#include "split/internal.h"

static void note_use(struct plan *plan, uint32_t symbol, uint32_t chunk)
{
    struct placement *placement = &plan->placements[symbol];

    placement->has_users |= placement->first_user != CHUNK_NONE && placement->first_user != chunk;
    if (chunk < placement->first_user)
        placement->first_user = chunk;
}

static void note_references(struct plan *plan, uint32_t user, uint32_t chunk)
{
    const struct program_symbol *symbol = &plan->program->symbols[user];

    for (uint32_t i = 0; i < symbol->reference_count; i++)
        note_use(plan, symbol->references[i], chunk);
}

/* Notes the symbols that functions in ordinary chunks name. */
static void note_functions(struct plan *plan)
{
    uint32_t **members = plan_members(plan);
    struct closure closure = closure_new(plan);

    for (uint32_t i = 0; i < plan->program->symbol_count; i++)
        plan->placements[i].copies = 0;
    for (uint32_t c = 0; c < plan->chunk_count; c++) {
        closure_of_chunk(&closure, plan, members, c);
        for (size_t i = 0; i < closure.count; i++) {
            plan->placements[closure.list[i]].copies +=
                plan->placements[closure.list[i]].is_replicated;
            note_references(plan, closure.list[i], c);
        }
    }
}

/* Whole modules: they own what they define, and users of what else they name. */
static void note_whole_modules(struct plan *plan)
{
    for (uint32_t w = 0; w < plan->whole_count; w++) {
        uint32_t module = plan->whole_modules[w];
        const struct program_module *details = &plan->program->details[module];

        for (size_t i = 0; i < details->entry_count; i++) {
            uint32_t symbol = details->entries[i].symbol;

            if (symbol == NO_SYMBOL)
                continue;
            if (plan->program->symbols[symbol].module == module &&
                plan->program->symbols[symbol].is_defined)
                plan->placements[symbol].chunk = plan->chunk_count + w;
            if (details->entries[i].is_used)
                note_use(plan, symbol, plan->chunk_count + w);
        }
    }
}

static bool is_ordinary_alias(const struct plan *plan, uint32_t symbol)
{
    const struct program_symbol *entry = &plan->program->symbols[symbol];

    return entry->alias_target != NO_SYMBOL && entry->is_live &&
           !plan_is_whole(plan, entry->module);
}

/* Finds the owners of the variables that functions use, then of those that initial values name. */
static void find_variable_owners(struct plan *plan)
{
    size_t count = plan->program->symbol_count;
    uint32_t *queue = arena_alloc(plan->arena, count, sizeof *queue);
    size_t queued = 0, next = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct placement *placement = &plan->placements[i];

        if (!plan_is_variable(plan, i) || placement->first_user == CHUNK_NONE)
            continue;
        placement->chunk = placement->first_user < plan->chunk_count ? placement->first_user : 0;
        queue[queued++] = i;
    }
    for (uint32_t i = 0; i <= count; i++) {
        for (; next < queued; next++) {
            const struct program_symbol *symbol = &plan->program->symbols[queue[next]];

            for (uint32_t j = 0; j < symbol->reference_count; j++) {
                uint32_t used = symbol->references[j];

                if (!plan_is_variable(plan, used) || plan->placements[used].chunk != CHUNK_NONE)
                    continue;
                plan->placements[used].chunk = plan->placements[queue[next]].chunk;
                queue[queued++] = used;
            }
        }
        /* Unreferenced variables go into the first chunk. */
        if (i < count && plan_is_variable(plan, i) && plan->placements[i].chunk == CHUNK_NONE) {
            plan->placements[i].chunk = 0;
            queue[queued++] = i;
        }
    }
}

/* Notes uses that depend on owners: initial values and aliases. */
static void note_placed(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->program->symbol_count; i++) {
        uint32_t target = plan->program->symbols[i].alias_target;

        if (plan_is_variable(plan, i)) {
            note_references(plan, i, plan->placements[i].chunk);
        } else if (is_ordinary_alias(plan, i)) {
            plan->placements[i].chunk = plan->placements[target].chunk;
            note_use(plan, target, plan->placements[target].chunk);
        }
    }
}

static void replicate_variables(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->program->symbol_count; i++) {
        const struct program_symbol *symbol = &plan->program->symbols[i];
        struct placement *placement = &plan->placements[i];
        bool is_shared = !symbol->is_function && symbol->item->variable.space == PTX_SPACE_SHARED;

        if (!plan_is_variable(plan, i) ||
            !(placement->has_users || (plan->names && placement->first_user != CHUNK_NONE)))
            continue;
        if (is_shared || symbol->linkage == PTX_COMMON) {
            placement->is_replicated = true;
            placement->chunk = CHUNK_NONE;
        }
    }
}

static void promote_internal(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->program->symbol_count; i++) {
        const struct program_symbol *symbol = &plan->program->symbols[i];
        struct placement *placement = &plan->placements[i];

        if (placement->chunk == CHUNK_NONE || symbol->linkage != PTX_INTERNAL)
            continue;
        if ((plan->names && !symbol->is_function) || placement->has_users ||
            (placement->first_user != CHUNK_NONE && placement->first_user != placement->chunk))
            placement->is_promoted = true;
    }
    /* An alias has the binding of its target function (measured). */
    for (uint32_t i = 0; i < plan->program->symbol_count; i++) {
        uint32_t target = plan->program->symbols[i].alias_target;

        if (target != NO_SYMBOL && plan->placements[i].is_promoted &&
            plan->program->symbols[target].linkage == PTX_INTERNAL)
            plan->placements[target].is_promoted = true;
    }
}

/* Puts all variables into every chunk of an exact split. */
static void place_in_all(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->program->symbol_count; i++) {
        struct placement *placement = &plan->placements[i];

        placement->is_promoted = false;
        if (!plan_is_variable(plan, i))
            continue;
        placement->chunk = CHUNK_NONE;
        placement->is_replicated = true;
    }
}

void owner_find(struct plan *plan)
{
    note_functions(plan);
    note_whole_modules(plan);
    if (!plan->names)
        find_variable_owners(plan);
    note_placed(plan);
    replicate_variables(plan);
    promote_internal(plan);
    if (plan->is_exact)
        place_in_all(plan);
}
