/* shared_users.c: variables that the same functions name are reached by the same kernels, so these
 * are stored once per group of variables: a table of every kernel and every variable would take too
 * much memory. */

#include "base/context.h"
#include "merge/shared_place.h"

/* Properties of a group's variables that its kernels' windows take over. */
struct group {
    uint64_t alignment;        /* the strictest of those that are defined */
    uint64_t extern_alignment; /* the strictest of those that are not defined; 0 = there is none */
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

static void join_group(struct group *group, const struct merged_symbol *variable)
{
    if (variable->file == MERGE_NONE) {
        RAISE(group->extern_alignment, shared_extern_alignment(variable));
        return;
    }
    group->has_variables = true;
    RAISE(group->alignment, variable->value);
}

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

        if (count == 0)
            continue;
        group_of[i] = number_of_list(grouping, list, count, grouping->count);
        if (group_of[i] == grouping->count) {
            grouping->count++;
            for (size_t k = 0; k < count; k++)
                index_lists_add(&grouping->pairs, list[k], group_of[i]);
        }
        join_group(&grouping->groups[group_of[i]], &m->symbols[i]);
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
    window->has_extern |= added->extern_alignment > 0;
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

    for (uint32_t k = 0; k < m->out->layout.kernel_count; k++) {
        const uint32_t *found;
        size_t count = reach_walk(m, m->out->layout.kernels[k], REACHES_SHARED, &found);

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
    const struct merged_lists groups_of = index_lists_invert(
        &m->arena, &planner->kernels_of, grouping->count, m->out->layout.kernel_count);

    grouping->pairs.count = 0;
    table_free(&grouping->table);
    for (uint32_t k = 0; k < m->out->layout.kernel_count; k++) {
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
