/* plan.c: what several files ask of the plan, sets of symbols (closures), and which functions must,
 * should and may be in one chunk.
 *
 * Small internal functions that are only called are replicated. They keep their linkage, so that
 * their callers get the same code as in an unsplit compile (promotion was measured to cost
 * registers). Other internal functions with a single user join its unit. All others are units of
 * their own, including large shared functions: their copies would multiply the work. */
#include "split/internal.h"

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

/* Largest function that is replicated, in bytes of text. */
#define LARGEST_REPLICA 4096u

/* If all copies together would be many times the text, nothing is replicated. */
#define HOPELESS_GROWTH(total) (32 * (total))

/* A unit may always grow to this size, whatever the chunks' average: it costs about as much as
 * starting the assembler twice. */
#define SMALL_UNIT 24576u

static bool may_replicate(const struct plan *plan, uint32_t symbol)
{
    const struct program_symbol *entry = &plan->program->symbols[symbol];

    return plan_is_unit(plan, symbol) && !entry->is_entry && entry->linkage == PTX_INTERNAL &&
           !entry->is_address_taken && !entry->has_body_variables && !entry->is_recursive &&
           plan->placements[symbol].weight <= LARGEST_REPLICA;
}

/* Adds the replicated functions that the symbols from number `next` of the closure on need,
 * directly or through others. */
static void add_replicas(const struct plan *plan, struct closure *closure, size_t next)
{
    for (; next < closure->count; next++) {
        const struct program_symbol *entry = &plan->program->symbols[closure->list[next]];

        for (uint32_t i = 0; i < entry->reference_count; i++)
            if (plan->placements[entry->references[i]].is_replicated)
                closure_add(closure, entry->references[i]);
    }
}

void closure_of_chunk(struct closure *closure, const struct plan *plan, uint32_t **members,
                      uint32_t chunk)
{
    closure_restart(closure);
    for (const uint32_t *member = members[chunk]; member < members[chunk + 1]; member++)
        closure_add(closure, *member);
    add_replicas(plan, closure, 0);
}

/* Replicable functions that only each other reach would be in no chunk, so they become units. */
static void place_unreached(struct plan *plan)
{
    size_t count = plan->program->symbol_count;
    struct closure closure = closure_new(plan);

    for (uint32_t i = 0; i < count; i++)
        if (plan_is_unit(plan, i) && !plan->placements[i].is_replicated)
            closure_add(&closure, i);
    add_replicas(plan, &closure, 0);
    for (uint32_t i = 0; i < count; i++) {
        if (!plan->placements[i].is_replicated || closure.stamps[i] == closure.stamp)
            continue;
        plan->placements[i].is_replicated = false;
        closure_add(&closure, i);
        add_replicas(plan, &closure, closure.count - 1);
    }
}

#define SEVERAL_USERS (NO_SYMBOL - 1)

/* For each function, the only symbol that names it; or NO_SYMBOL, or SEVERAL_USERS. */
static uint32_t *find_single_users(const struct plan *plan)
{
    const struct program *program = plan->program;
    uint32_t *users = arena_alloc(plan->arena, program->symbol_count, sizeof *users);

    for (size_t i = 0; i < program->symbol_count; i++)
        users[i] = NO_SYMBOL;
    for (uint32_t i = 0; i < program->symbol_count; i++)
        for (uint32_t j = 0; j < program->symbols[i].reference_count; j++) {
            uint32_t used = program->symbols[i].references[j];

            if (used != i)
                users[used] = users[used] == NO_SYMBOL ? i : SEVERAL_USERS;
        }
    return users;
}

static uint32_t leader_of(struct plan *plan, uint32_t symbol)
{
    struct placement *placements = plan->placements;

    while (placements[symbol].unit != symbol) {
        placements[symbol].unit = placements[placements[symbol].unit].unit;
        symbol = placements[symbol].unit;
    }
    return symbol;
}

/* An internal function with a single user joins its unit, unless the unit grows too large. */
static void join_single_users(struct plan *plan, uint64_t largest)
{
    uint32_t *users = find_single_users(plan);

    for (uint32_t i = 0; i < plan->program->symbol_count; i++) {
        const struct program_symbol *symbol = &plan->program->symbols[i];
        uint32_t from, to;

        if (!plan_is_unit(plan, i) || symbol->is_entry || symbol->linkage != PTX_INTERNAL ||
            plan->placements[i].is_replicated || users[i] >= SEVERAL_USERS ||
            !plan_is_unit(plan, users[i]) || plan->placements[users[i]].is_replicated)
            continue;
        from = leader_of(plan, i);
        to = leader_of(plan, users[i]);
        if (from == to || plan->placements[from].weight + plan->placements[to].weight > largest)
            continue;
        plan->placements[from].unit = to;
        plan->placements[to].weight += plan->placements[from].weight;
    }
}

void plan_make_units(struct plan *plan, uint32_t wanted, uint64_t largest)
{
    for (uint32_t i = 0; i < plan->program->symbol_count; i++) {
        plan->placements[i].weight = plan->program->symbols[i].item->text.size;
        plan->placements[i].unit = i;
        plan->placements[i].is_replicated = wanted > 1 && may_replicate(plan, i);
    }
    if (wanted > 1)
        place_unreached(plan);
    join_single_users(plan, largest > SMALL_UNIT ? largest : SMALL_UNIT);
    for (uint32_t i = 0; i < plan->program->symbol_count; i++)
        plan->placements[i].unit = leader_of(plan, i);
}

bool plan_is_leader(const struct plan *plan, uint32_t symbol)
{
    return plan_is_unit(plan, symbol) && !plan->placements[symbol].is_replicated &&
           plan->placements[symbol].unit == symbol;
}

void plan_follow_leaders(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->program->symbol_count; i++)
        if (plan_is_unit(plan, i) && !plan->placements[i].is_replicated)
            plan->placements[i].chunk = plan->placements[plan->placements[i].unit].chunk;
}

bool plan_count_copies(struct plan *plan)
{
    uint32_t **members = plan_members(plan);
    struct closure closure = closure_new(plan);
    uint64_t most = HOPELESS_GROWTH(plan->total_weight);
    uint64_t copied = 0;

    for (uint32_t i = 0; i < plan->program->symbol_count; i++)
        plan->placements[i].copies = 0;
    plan->largest_load = 0;
    for (uint32_t c = 0; c < plan->chunk_count && copied <= most; c++) {
        uint64_t before = copied;

        closure_of_chunk(&closure, plan, members, c);
        for (size_t i = 0; i < closure.count; i++) {
            struct placement *placement = &plan->placements[closure.list[i]];

            if (!placement->is_replicated)
                continue;
            copied += placement->weight;
            if (placement->copies++ == 0 ||
                (plan->loads && plan->loads[c] < plan->loads[placement->lightest]))
                placement->lightest = c;
        }
        if (plan->loads && plan->loads[c] + copied - before > plan->largest_load)
            plan->largest_load = plan->loads[c] + copied - before;
    }
    return copied <= most;
}
