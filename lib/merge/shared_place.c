/* shared_place.c: where shared variables lie in the kernels' windows (minilink-cubin(5), merge rule
 * 6).
 *
 * Variables outside kernels' functions come first, because code that several kernels share can only
 * name one address. The order of equal variables is that of nvlink's sort, which also includes
 * variables that are never reached. Measured on nvlink with 700 programs. */
#include "merge/shared_place.h"

/* Variables that the same functions name are reached by the same kernels, so these are stored once
 * per group of variables: a table of every kernel and every variable would take too much memory.
 * A group's kernels' windows take over these properties. */
struct group {
    uint64_t alignment;        /* the strictest of variables that are defined */
    uint64_t extern_alignment; /* the strictest of those that are not; 0 = there is none */
    bool has_variables;        /* some are defined */
};

struct grouping {
    struct shared_planner *planner;
    struct merged_lists groups_of; /* by symbol: groups whose variables the function names */
    struct group *groups;
    uint32_t count;
    struct merged_pairs pairs, extern_pairs;
    struct table table; /* groups by their functions' numbers, then sets by their groups' */
};

/* The index of a list of numbers in the table: `next` if it is new. */
static uint32_t number_of_list(struct grouping *grouping, const uint32_t *list, size_t count,
                               uint32_t next)
{
    struct text key = {(const char *)list, count * sizeof *list};

    return table_add(&grouping->table, key, next);
}

static void find_variable_groups(struct grouping *grouping)
{
    struct merging *m = grouping->planner->m;
    const struct merged_lists functions = /* by symbol: those that name the variable */
        index_lists_invert(&m->arena, &m->uses.shared, m->symbol_count, m->symbol_count);
    uint32_t *group_of = merging_none(m, m->symbol_count);

    grouping->groups = arena_zalloc(&m->arena, m->symbol_count, sizeof *grouping->groups);
    for (uint32_t i = 0; i < m->symbol_count; i++) {
        const uint32_t *list = functions.items + functions.first[i];
        size_t count = index_lists_count(&functions, i);
        struct group *group;

        if (count == 0)
            continue;
        group_of[i] = number_of_list(grouping, list, count, grouping->count);
        if (group_of[i] == grouping->count) {
            grouping->count++;
            for (size_t k = 0; k < count; k++)
                index_lists_add(&grouping->pairs, list[k], group_of[i]);
        }
        group = &grouping->groups[group_of[i]];
        if (m->symbols[i].file == MERGE_NONE)
            RAISE(group->extern_alignment, shared_extern_alignment(&m->symbols[i]));
        else
            RAISE(group->alignment, m->symbols[i].value);
        group->has_variables |= m->symbols[i].file != MERGE_NONE;
    }
    grouping->groups_of = index_lists_make(&m->arena, &grouping->pairs, m->symbol_count);
    grouping->pairs.count = 0;
    grouping->planner->group_of = group_of;
    grouping->planner->group_count = grouping->count;
}

/* Adds the group to what the kernel reaches, unless it was the last kernel to reach it. */
static void add_group(struct grouping *grouping, uint32_t group, uint32_t kernel, uint32_t *last)
{
    const struct group *added = &grouping->groups[group];
    struct shared_window *window = &grouping->planner->windows[kernel];

    if (*last == kernel)
        return;
    *last = kernel;
    RAISE(window->extern_alignment, added->extern_alignment);
    window->has_variables |= added->has_variables;
    RAISE(window->alignment, added->alignment);
    index_lists_add(&grouping->pairs, group, kernel);
}

static void find_group_kernels(struct grouping *grouping)
{
    struct shared_planner *planner = grouping->planner;
    struct merging *m = planner->m;
    const struct merged_lists *groups_of = &grouping->groups_of;
    uint32_t *last =
        merging_none(m, grouping->count); /* by group: the kernel that was last to reach it */

    for (uint32_t k = 0; k < m->out->kernel_count; k++) {
        const uint32_t *found;
        size_t count = reach_walk(m, m->out->kernels[k], REACHES_SHARED, &found);

        planner->windows[k].alignment = 1;
        for (size_t i = 0; i < count; i++) {
            bool names_extern = false;

            for (uint32_t g = groups_of->first[found[i]]; g < groups_of->first[found[i] + 1]; g++) {
                uint32_t group = groups_of->items[g];

                names_extern |= grouping->groups[group].extern_alignment > 0;
                add_group(grouping, group, k, &last[group]);
            }
            if (names_extern)
                index_lists_add(&grouping->extern_pairs, found[i], k);
        }
    }
    planner->kernels_of = index_lists_make(&m->arena, &grouping->pairs, grouping->count);
    planner->extern_users = index_lists_make(&m->arena, &grouping->extern_pairs, m->symbol_count);
}

/* Kernels that reach the same groups always use the same slots, so they form one set. */
static void find_sets(struct grouping *grouping)
{
    struct shared_planner *planner = grouping->planner;
    struct merging *m = planner->m;
    const struct merged_lists groups_of =
        index_lists_invert(&m->arena, &planner->kernels_of, grouping->count, m->out->kernel_count);

    grouping->pairs.count = 0;
    table_free(&grouping->table);
    for (uint32_t k = 0; k < m->out->kernel_count; k++) {
        const uint32_t *list = groups_of.items + groups_of.first[k];
        size_t count = index_lists_count(&groups_of, k);

        if (count == 0 ||
            number_of_list(grouping, list, count, planner->set_count) != planner->set_count)
            continue;
        for (size_t i = 0; i < count; i++)
            index_lists_add(&grouping->pairs, list[i], planner->set_count);
        planner->set_count++;
    }
    planner->sets_of = index_lists_make(&m->arena, &grouping->pairs, grouping->count);
}

void shared_users_find(struct shared_planner *planner)
{
    struct grouping grouping = {.planner = planner,
                                .pairs = {.arena = &planner->m->arena},
                                .extern_pairs = {.arena = &planner->m->arena}};

    CONTEXT_DEFER(table_cleanup, &grouping.table);
    find_variable_groups(&grouping);
    find_group_kernels(&grouping);
    find_sets(&grouping);
}

const uint32_t *shared_users(const struct shared_planner *planner, uint32_t variable, size_t *count)
{
    uint32_t group = planner->group_of[variable];

    *count = group == MERGE_NONE ? 0 : index_lists_count(&planner->kernels_of, group);
    return *count ? planner->kernels_of.items + planner->kernels_of.first[group] : NULL;
}

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

struct variables {
    uint32_t *items;
    size_t count;
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
 * that mentions it: those of kernels' functions in `own`, others in `outside`. */
static void list_shared_variables(struct merging *m, struct variables *own,
                                  struct variables *outside)
{
    bool *is_seen = arena_zalloc(&m->arena, m->symbol_count, sizeof *is_seen);

    for (size_t file = 0; file < m->count; file++)
        for (uint32_t i = 1; i < m->cubins[file]->symbol_count; i++) {
            uint32_t symbol = merging_symbol(m, file, i);
            struct variables *list;

            if (symbol == MERGE_NONE || is_seen[symbol] ||
                !merged_is_data(&m->symbols[symbol], STO_CUDA_SHARED) ||
                (is_defined(m, symbol) && m->symbols[symbol].file != file))
                continue;
            is_seen[symbol] = true;
            list = belongs_to_kernel(m, symbol) ? own : outside;
            list->items[list->count++] = symbol;
        }
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
    return found;
}

/* Sets the addresses of common variables, which are the numbers of their slots so far, to the
 * slots' offsets, and extends the windows of each group's kernels to the end of its variables. */
static void take_offsets(struct shared_planner *planner, const struct variables *variables,
                         const struct slots *slots)
{
    struct merging *m = planner->m;
    const struct merged_lists *users = &planner->kernels_of;
    uint64_t *ends = arena_zalloc(&m->arena, planner->group_count, sizeof *ends);

    for (size_t i = 0; i < variables->count; i++) {
        uint32_t variable = variables->items[i], group = planner->group_of[variable];
        uint64_t *address = &m->out->shared.address[variable];

        if (!shared_is_common(planner, variable))
            continue;
        *address = slots->items[*address].offset;
        if (group != MERGE_NONE)
            RAISE(ends[group], *address + m->symbols[variable].size);
    }
    for (uint32_t group = 0; group < planner->group_count; group++)
        for (uint32_t i = users->first[group]; i < users->first[group + 1]; i++)
            RAISE(planner->windows[users->items[i]].end, ends[group]);
}

/* Places the common ones among sorted variables. */
static void place_common(struct shared_planner *planner, const struct variables *variables)
{
    struct merging *m = planner->m;
    struct slots slots = {
        .planner = planner,
        .items = arena_alloc(&m->arena, variables->count, sizeof *slots.items),
        .taken = arena_zalloc(&m->arena, planner->set_count, sizeof *slots.taken),
        .next = arena_zalloc(&m->arena, planner->group_count, sizeof *slots.next),
    };
    uint64_t end = 0;

    for (size_t i = 0; i < variables->count; i++)
        if (shared_is_common(planner, variables->items[i]))
            m->out->shared.address[variables->items[i]] =
                place_in_slot(&slots, variables->items[i]);
    for (size_t i = 0; i < slots.count; i++) {
        slots.items[i].offset = image_align_up(end, slots.items[i].alignment);
        end = slots.items[i].offset + slots.items[i].size;
    }
    take_offsets(planner, variables, &slots);
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
                       const struct variables *variables)
{
    for (size_t i = 0; i < variables->count; i++) {
        size_t count;
        const uint32_t *kernels = shared_users(planner, variables->items[i], &count);

        if (is_defined(planner->m, variables->items[i]) && count == 1)
            index_lists_add(single, kernels[0], variables->items[i]);
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

/* Kernels whose `.extern .shared` arrays share an address form a union-find set: each leads to
 * another of its set, the representative to itself. */
static struct shared_window *instance_of(struct shared_planner *planner, uint32_t kernel)
{
    struct shared_window *windows = planner->windows;

    while (windows[kernel].instance != kernel)
        kernel = windows[kernel].instance = windows[windows[kernel].instance].instance;
    return &windows[kernel];
}

static void unite(struct shared_planner *planner, const struct merged_lists *users, uint32_t item)
{
    for (uint32_t i = users->first[item]; i < users->first[item + 1]; i++)
        instance_of(planner, users->items[i])->instance =
            instance_of(planner, users->items[users->first[item]])->instance;
}

/* A function's code has one address in all kernels, so their sets are united; under -g those of
 * kernels that see the same array, too. */
static void find_instances(struct shared_planner *planner)
{
    struct merging *m = planner->m;

    for (uint32_t k = 0; k < m->out->kernel_count; k++)
        planner->windows[k].instance = k;
    for (uint32_t i = 0; i < m->symbol_count; i++) {
        unite(planner, &planner->extern_users, i);
        if (m->request->debug && !is_defined(m, i) && planner->group_of[i] != MERGE_NONE)
            unite(planner, &planner->kernels_of, planner->group_of[i]);
    }
    for (uint32_t k = 0; k < m->out->kernel_count; k++) {
        const struct shared_window *window = &planner->windows[k];
        struct shared_window *instance = instance_of(planner, k);

        if (!window->extern_alignment)
            continue;
        RAISE(instance->instance_end, window->end);
        RAISE(instance->instance_alignment, window->extern_alignment);
    }
}

/* `.extern .shared` arrays all begin behind the window's variables. Measured: nvlink 13.1 to 13.5
 * aligns the address for the array whose instance it made last, and the window's size for those
 * that the kernel reaches: where others are stricter the address is wrong, or the window ends in
 * front of it. Here the address suits all arrays of the instance, and the window reaches up to it;
 * where nvlink is right this is the same. */
static void place_extern(struct shared_planner *planner)
{
    struct merging *m = planner->m;
    const struct merged_lists *users = &planner->extern_users;
    bool rounds_all = merging_does(m, TOOLKIT_ROUNDS_DYNAMIC_SHARED);

    find_instances(planner);
    for (uint32_t k = 0; k < m->out->kernel_count; k++) {
        struct shared_window *window = &planner->windows[k];
        const struct shared_window *instance = instance_of(planner, k);

        if (!window->extern_alignment)
            continue;
        window->extern_address =
            image_align_up(instance->instance_end, instance->instance_alignment);
        RAISE(window->alignment, window->extern_alignment);
        window->end = image_align_up(instance->instance_end,
                                     rounds_all ? window->alignment : window->extern_alignment);
        RAISE(window->end, window->extern_address);
    }
    for (uint32_t i = 0; i < m->symbol_count; i++)
        if (index_lists_count(users, i) > 0)
            m->out->shared.extern_address[i] =
                planner->windows[users->items[users->first[i]]].extern_address;
}

void shared_place(struct shared_planner *planner)
{
    struct merging *m = planner->m;
    uint32_t *scratch = arena_alloc(&m->arena, m->symbol_count, sizeof *scratch);
    struct variables own = {arena_alloc(&m->arena, m->symbol_count, sizeof *own.items), 0};
    struct variables outside = {arena_alloc(&m->arena, m->symbol_count, sizeof *own.items), 0};
    struct merged_pairs single = {.arena = &m->arena};
    struct merged_lists lists;

    list_shared_variables(m, &own, &outside);
    index_lists_sort_unstably(outside.items, outside.count, scratch, is_larger, m);
    place_common(planner, &outside);
    add_single(planner, &single, &own);
    add_single(planner, &single, &outside);
    lists = index_lists_make(&m->arena, &single, m->out->kernel_count);
    for (uint32_t k = 0; k < m->out->kernel_count; k++)
        place_single(planner, &lists, k, scratch);
    place_extern(planner);
}
