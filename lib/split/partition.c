/* partition.c: distributes units to chunks.
 *
 * Small units stay in program order: neighbours call the same functions, which are then copied into
 * few chunks. (1,000 kernels of 20 modules in 118 chunks had 10 % of copies when distributed by
 * weight, and 2 % in order.) Large units are distributed by longest processing time first: the
 * heaviest unit goes to the lightest chunk. Ties are broken by program order and chunk number, so
 * that the result depends only on the program. */
#include "base/search.h"
#include "split/internal.h"

/* Starting ptxas costs as much as assembling some 13 KB of text (test/bench/cost.sh), or 40 KB of
 * kernels that assemble quickly. A chunk's size is this step times the number of chunks. So a small
 * program has few chunks, which matters because processors idle while one large chunk is assembled
 * (8 kernels of 47 KB took 0.17 s in two chunks, and 0.29 s in one). A large program keeps all
 * processors busy anyway; its larger chunks spend less on starting ptxas. Up to four chunks have
 * this size each. */
#define SIZE_STEP  16384u
#define FEW_CHUNKS 4u

/* Units of at most this part of a chunk can stay in order: no chunk is much above its share. */
#define SMALL_PART 4u

/* Chunks of edited kernels are cut into about this many pieces. More of them take longer after the
 * first edit of a kernel, as each starts an assembler, and less after the next ones. */
#define EDITED_PARTS 4u

static void find_units(struct plan *plan)
{
    plan->unit_count = 0;
    for (uint32_t i = 0; i < plan->program->symbol_count; i++)
        if (plan_is_leader(plan, i))
            plan->units[plan->unit_count++] = i;
}

/* The weight is stored beside the index, since the comparison has no access to the plan. */
struct weighed {
    uint64_t weight;
    uint32_t symbol;
};

COMPARISON(compare_weighed, struct weighed,
           COMPARE(b->weight, a->weight) ?: COMPARE(a->symbol, b->symbol));

/* Bytes of all chunks before a chunk. From this many chunks on, sizes fall from 3/2 of the mean to
 * 1/2: a worker that finishes early finds small chunks at the end, so that all processors stay busy
 * even if the chunks are only a few more than the processors. */
#define TAPERED_CHUNKS 8u

static uint64_t bytes_before(uint64_t total, uint64_t chunk, uint64_t count)
{
    if (chunk == 0 || count < TAPERED_CHUNKS)
        return total * chunk / count;
    return total * (3 * (count - 1) * chunk - chunk * (chunk - 1)) / (2 * count * (count - 1));
}

/* Lays all units out in a row and puts each into the chunk in which its middle falls. False when
 * units are large. */
static bool deal_in_order(struct plan *plan)
{
    uint64_t total = 0, heaviest = 0, before = 0;
    uint32_t chunk = 0;

    for (size_t i = 0; i < plan->unit_count; i++) {
        uint64_t weight = plan->placements[plan->units[i]].weight;

        total += weight;
        if (weight > heaviest)
            heaviest = weight;
    }
    if (plan->chunk_count == 1 || heaviest > total / plan->chunk_count / SMALL_PART)
        return false;
    for (size_t i = 0; i < plan->unit_count; i++) {
        struct placement *placement = &plan->placements[plan->units[i]];
        uint64_t middle = before + placement->weight / 2;

        while (chunk + 1 < plan->chunk_count &&
               middle >= bytes_before(total, chunk + 1, plan->chunk_count))
            chunk++;
        placement->chunk = chunk;
        plan->loads[chunk] += placement->weight;
        before += placement->weight;
    }
    return true;
}

/* The heaviest first, each into the lightest chunk so far, at most SPLIT_MOST_CHUNKS in all. */
static void deal_by_weight(struct plan *plan)
{
    struct weighed *order = arena_alloc(plan->arena, plan->unit_count, sizeof *order);

    for (size_t i = 0; i < plan->unit_count; i++)
        order[i] = (struct weighed){plan->placements[plan->units[i]].weight, plan->units[i]};
    SORT(order, plan->unit_count, compare_weighed);
    for (size_t i = 0; i < plan->unit_count; i++) {
        uint32_t lightest = 0;

        for (uint32_t c = 1; c < plan->chunk_count; c++)
            if (plan->loads[c] < plan->loads[lightest])
                lightest = c;
        plan->placements[order[i].symbol].chunk = lightest;
        plan->loads[lightest] += order[i].weight;
    }
}

static void deal_units(struct plan *plan)
{
    plan->loads = arena_zalloc(plan->arena, plan->chunk_count, sizeof *plan->loads);
    if (!deal_in_order(plan))
        deal_by_weight(plan);
    plan_follow_leaders(plan);
}

/* Distributes everything again, without replicated functions. */
static void give_up_replication(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->program->symbol_count; i++)
        plan->placements[i].is_replicated = false;
    find_units(plan);
    deal_units(plan);
}

/* Places replicated functions once, those that add most first, until the growth fits. */
static void bound_growth(struct plan *plan)
{
    size_t count = plan->program->symbol_count;
    struct weighed *order = arena_alloc(plan->arena, count, sizeof *order);
    size_t replicated = 0;
    uint64_t growth = 0;

    if (!plan_count_copies(plan))
        give_up_replication(plan);
    for (uint32_t i = 0; i < count; i++) {
        const struct placement *placement = &plan->placements[i];

        if (!placement->is_replicated)
            continue;
        order[replicated] = (struct weighed){plan_added_bytes(placement), i};
        growth += order[replicated++].weight;
    }
    SORT(order, replicated, compare_weighed);
    for (size_t i = 0; i < replicated && growth > plan_largest_growth(plan); i++) {
        struct placement *placement = &plan->placements[order[i].symbol];

        growth -= order[i].weight;
        placement->is_replicated = false;
        placement->chunk = placement->lightest;
    }
}

/* Gives idle threads smaller chunks, down to a size at which starting ptxas is not yet half of the
 * work: this costs more processor time in all but ends earlier. A small program gets chunks of half
 * a step, whose work takes about as long as the start (measured: 12 ms), since nothing else can be
 * done meanwhile. Only used if the result does not depend on the number of chunks. */
static uint64_t count_for_threads(const struct plan *plan, uint64_t count)
{
    uint64_t most = plan->total_weight / (2 * SIZE_STEP);
    uint64_t small = plan->total_weight / (SIZE_STEP / 2);

    if (small > 2 * FEW_CHUNKS)
        small = 2 * FEW_CHUNKS;
    if (most < small)
        most = small;
    if (most > plan->request->threads)
        most = plan->request->threads;
    return most > count ? most : count;
}

static uint64_t count_by_size(struct plan *plan)
{
    uint64_t count = plan->total_weight / SIZE_STEP;

    plan->minimum_bytes = plan->request->minimum_bytes;
    if (plan->minimum_bytes)
        return plan->total_weight / plan->minimum_bytes;
    plan->minimum_bytes = SIZE_STEP;
    if (count <= FEW_CHUNKS)
        return count_for_threads(plan, count);
    count = FEW_CHUNKS;
    while ((count + 1) * (count + 1) * SIZE_STEP <= plan->total_weight && count < SPLIT_MOST_CHUNKS)
        count++;
    /* Few chunks are of equal size; with two threads, an odd number would leave one chunk over. */
    if (count < TAPERED_CHUNKS && count != plan->request->threads)
        count += count % 2;
    count = count_for_threads(plan, count);
    plan->minimum_bytes = plan->total_weight / count;
    return count;
}

static uint32_t choose_count(struct plan *plan, uint64_t most)
{
    const struct split_request *request = plan->request;
    uint64_t by_size = count_by_size(plan);

    plan->most_by_size = by_size;
    plan->most_by_units = plan->unit_count;
    if (plan->single_reason)
        return 1;
    if (most <= 1)
        plan->single_reason = "one chunk was asked for";
    else if (plan->function_count <= 1)
        plan->single_reason =
            plan->function_count ? "it has only one function" : "it has no function";
    else if (by_size <= 1 && request->policy != SPLIT_KERNEL)
        plan->single_reason = "it is too small to be worth splitting";
    else if (plan->unit_count <= 1)
        plan->single_reason = "its functions belong together";
    if (plan->single_reason)
        return 1;
    if (request->policy == SPLIT_STABLE)
        return (uint32_t)most;
    if (most > by_size && request->policy != SPLIT_KERNEL)
        most = by_size;
    if (most > plan->unit_count)
        most = plan->unit_count;
    return (uint32_t)most;
}

/* Cuts the chunks of edited kernels once more, as long as copies add no more than these kernels
 * have. An edit of one of them then reassembles few others, on several threads at once. The other
 * chunks stay unchanged. */
static void divide_edited(struct plan *plan, uint32_t most)
{
    const struct table *edited = plan->request->edited;

    if (!edited)
        return;
    for (uint32_t i = 0; i < plan->program->symbol_count; i++) {
        struct placement *placement = &plan->placements[i];

        placement->is_edited = table_find(edited, plan_name(plan, i)) != TABLE_NONE;
        plan->edited_weight += placement->is_edited ? placement->weight : 0;
    }
    for (plan->edited_parts = EDITED_PARTS; plan->edited_parts > 1; plan->edited_parts /= 2) {
        content_cut(plan, most);
        if (!plan_exact_waste(plan))
            return;
    }
    content_cut(plan, most);
}

/* Makes as many chunks as the program's size is worth, unless copies of functions would add too
 * much, or one kernel is nearly all: then half as many, and so on. Under SPLIT_STABLE names decide
 * the cuts, and pieces become twice as large instead. */
static void make_exact(struct plan *plan, uint32_t wanted)
{
    bool is_stable = plan->request->policy == SPLIT_STABLE;
    const char *waste = NULL;
    uint32_t most;

    plan->edited_parts = 1;
    find_units(plan);
    most = plan->chunk_count = choose_count(plan, wanted);
    for (; most > 1; most = is_stable ? plan->chunk_count - 1 : most / 2) {
        plan->chunk_count = most;
        if (is_stable)
            content_cut(plan, most);
        else
            deal_units(plan);
        waste = plan->chunk_count > 1 ? plan_exact_waste(plan) : NULL;
        if (plan->chunk_count > 1 && !waste) {
            divide_edited(plan, most);
            return;
        }
    }
    plan->chunk_count = 1;
    if (!plan->single_reason)
        plan->single_reason = is_stable ? "it is too small to be worth splitting" : waste;
}

void partition_make(struct plan *plan)
{
    uint32_t wanted =
        plan->request->wanted < SPLIT_MOST_CHUNKS ? plan->request->wanted : SPLIT_MOST_CHUNKS;

    plan->units = arena_alloc(plan->arena, plan->program->symbol_count, sizeof *plan->units);
    if (plan->request->is_exact && wanted > 1 && plan_begin_exact(plan)) {
        make_exact(plan, wanted);
        if (plan->chunk_count > 1)
            return;
        plan->is_exact = false;
    }
    plan_make_units(plan, wanted,
                    plan->request->policy == SPLIT_STABLE
                        ? content_cut_piece(plan) / 2
                        : plan->total_weight / (wanted ? wanted : 1));
    find_units(plan);
    plan->chunk_count = choose_count(plan, wanted);
    if (plan->request->policy == SPLIT_STABLE && plan->chunk_count > 1) {
        naming_make(plan);
        content_cut(plan, plan->chunk_count);
        if (plan->chunk_count > 1)
            return;
        plan->single_reason = "it is too small to be worth splitting";
    }
    if (plan->chunk_count == 1) {
        plan->names = NULL;
        plan_make_units(plan, 1, plan->total_weight);
        find_units(plan);
    }
    deal_units(plan);
    if (plan->chunk_count > 1)
        bound_growth(plan);
}
