/* shared_place.c: where shared variables lie in the kernels' windows (minilink-cubin(5), merge rule
 * 6).
 *
 * Variables outside kernels' functions come first, because code that several kernels share can only
 * name one address. The order of equal variables is that of nvlink's sort, which also includes
 * variables that are never reached. Measured on nvlink with 700 programs. */

#include "merge/shared_place.h"

/* A place for one variable of each kernel. */
struct slot {
    uint64_t size;
    uint64_t alignment;
    uint64_t offset;
};

/* A bit set of the slots that a kernel uses. */
struct taken {
    uint64_t *words;
    size_t count;
};

struct slots {
    struct shared_planner *planner;
    struct slot *items;
    size_t count;
    struct taken *taken; /* by set of kernels */
    size_t *next;        /* by group of variables: its kernels use all slots before this one */
};

static bool is_defined(const struct merging *m, uint32_t variable)
{
    return m->symbols[variable].file != MERGE_NONE;
}

/* Whether a variable belongs to a kernel's own function. */
static bool belongs_to_kernel(const struct merging *m, uint32_t variable)
{
    uint32_t owner = merging_holder(m, &m->symbols[variable]);

    return owner != MERGE_NONE && merged_is_kernel(&m->symbols[owner]);
}

bool shared_is_common(const struct shared_planner *planner, uint32_t variable)
{
    const struct merging *m = planner->m;
    size_t count;

    shared_users(planner, variable, &count);
    return m->uses.is_shared_named[variable] && is_defined(m, variable) &&
           !belongs_to_kernel(m, variable) && count != 1;
}

/* Lists all shared variables, each at the place of the cubin that defines it, or else of the first
 * that mentions it. */
static size_t list_shared_variables(struct merging *m, uint32_t *variables)
{
    bool *is_seen = arena_zalloc(&m->arena, m->symbol_count, sizeof *is_seen);
    size_t count = 0;

    for (size_t file = 0; file < m->count; file++)
        for (uint32_t i = 1; i < m->cubins[file]->symbol_count; i++) {
            uint32_t symbol = merging_symbol(m, file, i);

            if (symbol == MERGE_NONE || is_seen[symbol] ||
                !merged_is_data(&m->symbols[symbol], STO_CUDA_SHARED) ||
                (is_defined(m, symbol) && m->symbols[symbol].file != file))
                continue;
            is_seen[symbol] = true;
            variables[count++] = symbol;
        }
    return count;
}

/* The first slot that none of the sets of kernels uses; all before `first` are used. */
static size_t find_slot(const struct slots *slots, const uint32_t *sets, size_t count, size_t first)
{
    for (size_t word = first / 64;; word++) {
        uint64_t all = 0;

        for (size_t i = 0; i < count && ~all; i++)
            if (word < slots->taken[sets[i]].count)
                all |= slots->taken[sets[i]].words[word];
        if (~all)
            return word * 64 + (size_t)__builtin_ctzll(~all);
    }
}

static void take_slot(struct slots *slots, uint32_t set, size_t slot)
{
    struct taken *taken = &slots->taken[set];

    if (slot / 64 >= taken->count) {
        size_t count = slot / 64 * 2 + 1;
        uint64_t *words = arena_zalloc(&slots->planner->m->arena, count, sizeof *words);

        if (taken->count)
            memcpy(words, taken->words, taken->count * sizeof *words);
        *taken = (struct taken){words, count};
    }
    taken->words[slot / 64] |= UINT64_C(1) << slot % 64;
}

static size_t place_in_slot(struct slots *slots, uint32_t variable)
{
    const struct merged_symbol *symbol = &slots->planner->m->symbols[variable];
    const struct merged_lists *sets_of = &slots->planner->sets_of;
    uint32_t group = slots->planner->group_of[variable];
    size_t count = group == MERGE_NONE ? 0 : index_lists_count(sets_of, group);
    const uint32_t *sets = count ? sets_of->items + sets_of->first[group] : NULL;
    size_t found = find_slot(slots, sets, count, count ? slots->next[group] : 0);
    struct slot *slot = &slots->items[found];

    if (found == slots->count) {
        slots->count++;
        *slot = (struct slot){0};
    }
    RAISE(slot->size, symbol->size);
    RAISE(slot->alignment, symbol->value);
    for (size_t i = 0; i < count; i++)
        take_slot(slots, sets[i], found);
    if (count)
        slots->next[group] = found + 1;
    slots->planner->has_common = true;
    return found;
}

/* Extends the windows of a group's kernels to the end of its variables. */
static void grow_windows(struct shared_planner *planner, const uint64_t *ends)
{
    const struct merged_lists *users = &planner->kernels_of;

    for (uint32_t group = 0; group < planner->group_count; group++)
        for (uint32_t i = users->first[group]; i < users->first[group + 1]; i++)
            RAISE(planner->windows[users->items[i]].end, ends[group]);
}

/* Sets the addresses of common variables to their slots' offsets. */
static void take_offsets(struct shared_planner *planner, const uint32_t *variables, size_t count,
                         const struct slots *slots, const size_t *slot_of)
{
    struct merging *m = planner->m;
    uint64_t *ends = arena_zalloc(&m->arena, planner->group_count, sizeof *ends);

    for (size_t i = 0; i < count; i++) {
        uint32_t group = planner->group_of[variables[i]];
        uint64_t offset;

        if (!shared_is_common(planner, variables[i]))
            continue;
        offset = m->out->shared.address[variables[i]] = slots->items[slot_of[i]].offset;
        if (group != MERGE_NONE && offset + m->symbols[variables[i]].size > ends[group])
            ends[group] = offset + m->symbols[variables[i]].size;
    }
    grow_windows(planner, ends);
}

/* Places the common ones among sorted variables. */
static void place_common(struct shared_planner *planner, const uint32_t *variables, size_t count)
{
    struct merging *m = planner->m;
    struct slots slots = {
        .planner = planner,
        .items = arena_alloc(&m->arena, count, sizeof *slots.items),
        .taken = arena_zalloc(&m->arena, planner->set_count, sizeof *slots.taken),
        .next = arena_zalloc(&m->arena, planner->group_count, sizeof *slots.next),
    };
    size_t *slot_of = arena_alloc(&m->arena, count, sizeof *slot_of);
    uint64_t end = 0;

    for (size_t i = 0; i < count; i++)
        if (shared_is_common(planner, variables[i]))
            slot_of[i] = place_in_slot(&slots, variables[i]);
    for (size_t i = 0; i < slots.count; i++) {
        slots.items[i].offset = image_align_up(end, slots.items[i].alignment);
        end = slots.items[i].offset + slots.items[i].size;
    }
    take_offsets(planner, variables, count, &slots, slot_of);
}

static bool is_larger(const void *context, uint32_t a, uint32_t b)
{
    const struct merging *m = context;

    return m->symbols[a].size > m->symbols[b].size;
}

/* By descending alignment, then ascending size; true for ties. */
static bool is_stricter(const void *context, uint32_t a, uint32_t b)
{
    const struct merged_symbol *x = &((const struct merging *)context)->symbols[a];
    const struct merged_symbol *y = &((const struct merging *)context)->symbols[b];

    return x->value != y->value ? x->value > y->value : x->size <= y->size;
}

/* Adds those of `variables` that only one kernel reaches. */
static void add_single(const struct shared_planner *planner, struct merged_pairs *single,
                       const uint32_t *variables, size_t count, bool is_own)
{
    const struct merging *m = planner->m;

    for (size_t i = 0; i < count; i++) {
        size_t user_count;
        const uint32_t *kernels = shared_users(planner, variables[i], &user_count);

        if (is_defined(m, variables[i]) && belongs_to_kernel(m, variables[i]) == is_own &&
            user_count == 1)
            index_lists_add(single, kernels[0], variables[i]);
    }
}

/* Places variables of only one kernel: its own, then the others as sorted so far. */
static void place_single(struct shared_planner *planner, const struct merged_lists *lists,
                         uint32_t kernel, uint32_t *scratch)
{
    struct merging *m = planner->m;
    struct shared_window *window = &planner->windows[kernel];
    uint32_t *items = lists->items + lists->first[kernel];
    size_t count = index_lists_count(lists, kernel);

    index_lists_sort_unstably(items, count, scratch, is_stricter, m);
    for (size_t i = 0; i < count; i++) {
        window->end = image_align_up(window->end, m->symbols[items[i]].value);
        m->out->shared.address[items[i]] = window->end;
        window->end += m->symbols[items[i]].size;
    }
}

static void place_shared_variables(struct shared_planner *planner)
{
    struct merging *m = planner->m;
    uint32_t *all = arena_alloc(&m->arena, m->symbol_count, sizeof *all);
    uint32_t *outside = arena_alloc(&m->arena, m->symbol_count, sizeof *outside);
    uint32_t *scratch = arena_alloc(&m->arena, m->symbol_count, sizeof *scratch);
    size_t count = list_shared_variables(m, all);
    size_t outside_count = 0;
    struct merged_pairs single = {.arena = &m->arena};
    struct merged_lists lists;

    for (size_t i = 0; i < count; i++)
        if (!belongs_to_kernel(m, all[i]))
            outside[outside_count++] = all[i];
    index_lists_sort_unstably(outside, outside_count, scratch, is_larger, m);
    place_common(planner, outside, outside_count);
    add_single(planner, &single, all, count, true);
    add_single(planner, &single, outside, outside_count, false);
    lists = index_lists_make(&m->arena, &single, m->out->layout.kernel_count);
    for (uint32_t k = 0; k < m->out->layout.kernel_count; k++)
        place_single(planner, &lists, k, scratch);
}

/* Kernels whose `.extern .shared` arrays share an address form a union-find set: each leads to
 * another of its set, the representative to itself. */
static uint32_t set_of(uint32_t *sets, uint32_t kernel)
{
    while (sets[kernel] != kernel)
        kernel = sets[kernel] = sets[sets[kernel]];
    return kernel;
}

static void unite(uint32_t *sets, const struct merged_lists *users, uint32_t item)
{
    for (uint32_t i = users->first[item]; i < users->first[item + 1]; i++)
        sets[set_of(sets, users->items[i])] = set_of(sets, users->items[users->first[item]]);
}

/* Kernels with one address of `.extern .shared` arrays, and what these need in all of them. */
struct instance {
    uint64_t end;       /* the highest end of the kernels' variables */
    uint64_t alignment; /* the strictest of the arrays */
};

/* By function: the kernels that reach it, if its code names an array. */
static struct merged_lists find_extern_users(const struct shared_planner *planner)
{
    struct merging *m = planner->m;
    struct merged_pairs pairs = {.arena = &m->arena};

    for (uint32_t k = 0; k < m->out->layout.kernel_count; k++) {
        const uint32_t *found;
        size_t count = planner->windows[k].has_extern
                           ? reach_walk(m, m->out->layout.kernels[k], REACHES_SHARED, &found)
                           : 0;

        for (size_t i = 0; i < count; i++) {
            const uint32_t *named = m->uses.shared.items + m->uses.shared.first[found[i]];
            size_t left = index_lists_count(&m->uses.shared, found[i]);

            while (left > 0 && is_defined(m, named[left - 1]))
                left--;
            if (left > 0)
                index_lists_add(&pairs, found[i], k);
        }
    }
    return index_lists_make(&m->arena, &pairs, m->symbol_count);
}

/* By the representatives of sets of kernels. A function's code has one address in all kernels, so
 * their sets are united; under -g those of kernels that see the same array, too. */
static struct instance *find_instances(const struct shared_planner *planner,
                                       const struct merged_lists *users, uint32_t *sets)
{
    struct merging *m = planner->m;
    struct instance *instances =
        arena_zalloc(&m->arena, m->out->layout.kernel_count, sizeof *instances);

    for (uint32_t k = 0; k < m->out->layout.kernel_count; k++)
        sets[k] = k;
    for (uint32_t i = 0; i < m->symbol_count; i++) {
        unite(sets, users, i);
        if (m->request->debug && !is_defined(m, i) && planner->group_of[i] != MERGE_NONE)
            unite(sets, &planner->kernels_of, planner->group_of[i]);
    }
    for (uint32_t k = 0; k < m->out->layout.kernel_count; k++) {
        const struct shared_window *window = &planner->windows[k];
        struct instance *instance = &instances[set_of(sets, k)];

        if (!window->has_extern)
            continue;
        RAISE(instance->end, window->end);
        RAISE(instance->alignment, window->extern_alignment);
    }
    return instances;
}

/* `.extern .shared` arrays all begin behind the window's variables. Measured: nvlink 13.1 to 13.5
 * aligns the address for the array whose instance it made last, and the window's size for those
 * that the kernel reaches: where others are stricter the address is wrong, or the window ends in
 * front of it. Here the address suits all arrays of the instance, and the window reaches up to it;
 * where nvlink is right this is the same. */
static void place_extern(struct shared_planner *planner)
{
    struct merging *m = planner->m;
    uint32_t *sets = arena_alloc(&m->arena, m->out->layout.kernel_count, sizeof *sets);
    const struct merged_lists users = find_extern_users(planner);
    const struct instance *instances = find_instances(planner, &users, sets);
    bool rounds_all = toolkit_does(m->request->toolkit, TOOLKIT_ROUNDS_DYNAMIC_SHARED);

    for (uint32_t k = 0; k < m->out->layout.kernel_count; k++) {
        struct shared_window *window = &planner->windows[k];
        const struct instance *instance = &instances[set_of(sets, k)];

        if (!window->has_extern)
            continue;
        window->extern_address = image_align_up(instance->end, instance->alignment);
        RAISE(window->alignment, window->extern_alignment);
        window->end = image_align_up(instance->end,
                                     rounds_all ? window->alignment : window->extern_alignment);
        RAISE(window->end, window->extern_address);
    }
    for (uint32_t i = 0; i < m->symbol_count; i++)
        if (index_lists_count(&users, i) > 0)
            m->out->shared.extern_address[i] =
                planner->windows[users.items[users.first[i]]].extern_address;
}

void shared_place(struct shared_planner *planner)
{
    place_shared_variables(planner);
    place_extern(planner);
}
