/* parts_restore.c: the order of the joined text that one compilation has.
 *
 * libnvJitLink writes what is declared, then variables, then functions, each in the order of the
 * linked program: modules in the order of the link, what they define in theirs. A part leaves out
 * what its kernels do not need, and keeps the order of the rest (measured on 13.0). So the texts of
 * the parts are rows of one order, which is put together again: what stands behind something else
 * in a part stands behind it in the program. Between rows it is known which kernels come first; a
 * function that only one part has stands as near to its kernels as its neighbours allow. */
#include <stdlib.h>

#include "base/context.h"
#include "base/search.h"
#include "lto/parts_steps.h"
#include "pool/pqueue.h"

/* Where something belongs as far as is known without the rows; members in falling weight. */
struct key {
    uint32_t stage;
    uint32_t module; /* its own rank, or that of its nearest neighbour of those that have one */
    uint32_t place;
    uint32_t side;  /* in front of that neighbour, at its own place, or behind it */
    uint32_t reach; /* in which order it is found from the kernels */
};

/* What every text has in this order. */
enum stage { STAGE_DECLARATIONS, STAGE_VARIABLES, STAGE_FUNCTIONS, STAGES };
enum side { SIDE_BEFORE, SIDE_OWN, SIDE_BEHIND };

/* Something that stands in the text: a version's definition, or a declaration in front of it. */
struct node {
    struct joined_place place;
    struct key key;
    struct parts_rank before, behind; /* nearest ranks in the rows; see has_* */
    bool has_before, has_behind;
    bool is_there;      /* it is in the text */
    uint32_t waits_for; /* so many that stand in front of it in rows have no place yet */
};

struct restoring {
    struct joining *joining;
    struct node *nodes;  /* two for each version: its definition and its declaration */
    uint32_t *row;       /* nodes of all parts, those of one behind each other */
    size_t *row_ends;    /* by part */
    uint32_t *starts;    /* by node: its followers in `followers` */
    uint32_t *followers; /* nodes */
    struct pqueue *ready;
};

static int compare_keys(const struct key *a, const struct key *b)
{
    const uint32_t first[] = {a->stage, a->module, a->place, a->side, a->reach};
    const uint32_t second[] = {b->stage, b->module, b->place, b->side, b->reach};

    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (first[i] != second[i])
            return first[i] < second[i] ? -1 : 1;
    return 0;
}

static int compare_nodes(const void *left, const void *right)
{
    const struct node *a = left, *b = right;
    int order = compare_keys(&a->key, &b->key);

    return order ? order : (a > b) - (a < b);
}

static int leaves_before(const void *left, const void *right)
{
    return compare_nodes(left, right) < 0;
}

static int compare_ranks(struct parts_rank a, struct parts_rank b)
{
    if (a.module != b.module)
        return a.module < b.module ? -1 : 1;
    return a.place < b.place ? -1 : a.place > b.place;
}

static bool rank_of(const struct restoring *restoring, const struct node *node,
                    struct parts_rank *rank)
{
    const struct joining *joining = restoring->joining;
    const struct parts_order *order = joining->request->order;
    const struct joined_symbol *symbol =
        &joining->symbols[joining->versions[node->place.version].symbol];

    *rank = order->rank(order->argument, symbol->name, node->key.stage == STAGE_DECLARATIONS);
    return compare_ranks(*rank, PARTS_NO_RANK) != 0;
}

/* The node of an item in a part's text, or NULL when it does not come into the program's. */
static struct node *find_node(const struct restoring *restoring, const struct part *part,
                              const struct ptx_item *item)
{
    const struct joining *joining = restoring->joining;
    const struct joined_symbol *symbol;
    uint32_t at, version;

    if (item->kind != PTX_FUNCTION && item->kind != PTX_VARIABLE)
        return NULL;
    at = table_find(&part->names, item->name);
    if (at == TABLE_NONE || joining->entries[at].symbol == NO_INDEX)
        return NULL;
    version = joining->entries[at].version;
    if (version == NO_INDEX || !joining->versions[version].is_reached)
        return NULL;
    symbol = &joining->symbols[joining->entries[at].symbol];
    return &restoring->nodes[2 * version +
                             (symbol->is_function && symbol->is_defined && !item->is_definition)];
}

/* Lists the nodes of a part in the order of its text, each once. */
static size_t read_row(struct restoring *restoring, size_t part, size_t count, uint32_t *stamps)
{
    const struct ptx_module *module = restoring->joining->parts[part].module;

    for (size_t i = 0; i < module->item_count; i++) {
        struct node *node =
            find_node(restoring, &restoring->joining->parts[part], &module->items[i]);
        size_t index = node ? (size_t)(node - restoring->nodes) : 0;

        if (!node || stamps[index] == part + 1)
            continue;
        stamps[index] = (uint32_t)part + 1;
        node->is_there = true;
        restoring->row[count++] = (uint32_t)index;
    }
    return count;
}

static void read_rows(struct restoring *restoring)
{
    struct joining *joining = restoring->joining;
    uint32_t *stamps = arena_zalloc(&joining->arena, 2 * joining->version_count, sizeof *stamps);
    size_t most = 0, count = 0;

    for (size_t i = 0; i < joining->part_count; i++)
        most += joining->parts[i].module->item_count;
    restoring->row = arena_alloc(&joining->arena, most, sizeof *restoring->row);
    restoring->row_ends =
        arena_alloc(&joining->arena, joining->part_count, sizeof *restoring->row_ends);
    for (size_t i = 0; i < joining->part_count; i++)
        restoring->row_ends[i] = count = read_row(restoring, i, count, stamps);
}

/* The last that has a rank in front of each node in any row, of its stage. */
static void look_back(struct restoring *restoring, size_t begin, size_t end)
{
    struct parts_rank last[STAGES], rank;
    bool has_last[STAGES] = {false};

    for (size_t i = begin; i < end; i++) {
        struct node *node = &restoring->nodes[restoring->row[i]];
        uint32_t stage = node->key.stage;

        if (rank_of(restoring, node, &rank)) {
            last[stage] = rank;
            has_last[stage] = true;
        } else if (has_last[stage] &&
                   (!node->has_before || compare_ranks(last[stage], node->before) > 0)) {
            node->before = last[stage];
            node->has_before = true;
        }
    }
}

/* The first behind it. */
static void look_ahead(struct restoring *restoring, size_t begin, size_t end)
{
    struct parts_rank next[STAGES], rank;
    bool has_next[STAGES] = {false};

    for (size_t i = end; i-- > begin;) {
        struct node *node = &restoring->nodes[restoring->row[i]];
        uint32_t stage = node->key.stage;

        if (rank_of(restoring, node, &rank)) {
            next[stage] = rank;
            has_next[stage] = true;
        } else if (has_next[stage] &&
                   (!node->has_behind || compare_ranks(next[stage], node->behind) < 0)) {
            node->behind = next[stage];
            node->has_behind = true;
        }
    }
}

/* What has no rank. A function between kernels of two modules closes the first: what a module
 * defines for itself the library appends to what it has linked. One between kernels of one module
 * is defined ahead of who needs it. */
static void place_between(struct node *node)
{
    if (node->has_before && (!node->has_behind || node->before.module < node->behind.module)) {
        node->key.module = node->before.module;
        node->key.place = UINT32_MAX;
        node->key.side = SIDE_BEHIND;
    } else if (node->has_behind) {
        node->key.module = node->behind.module;
        node->key.place = node->behind.place;
        node->key.side = SIDE_BEFORE;
    }
}

static enum stage stage_of(const struct restoring *restoring, const struct node *node)
{
    const struct joining *joining = restoring->joining;
    const struct joined_symbol *symbol =
        &joining->symbols[joining->versions[node->place.version].symbol];

    if (!symbol->is_function)
        return STAGE_VARIABLES;
    return symbol->is_defined && !node->place.is_declaration ? STAGE_FUNCTIONS : STAGE_DECLARATIONS;
}

static void set_key(struct restoring *restoring, struct node *node)
{
    struct parts_rank rank;

    node->key.reach = restoring->joining->versions[node->place.version].position;
    if (rank_of(restoring, node, &rank)) {
        node->key.module = rank.module;
        node->key.place = rank.place;
        node->key.side = SIDE_OWN;
    } else {
        place_between(node);
    }
}

static void make_nodes(struct restoring *restoring)
{
    struct joining *joining = restoring->joining;
    size_t count = 2 * joining->version_count;

    restoring->nodes = arena_zalloc(&joining->arena, count, sizeof *restoring->nodes);
    for (uint32_t i = 0; i < count; i++) {
        restoring->nodes[i].place = (struct joined_place){i / 2, i % 2};
        restoring->nodes[i].is_there = i % 2 == 0 && joining->versions[i / 2].is_reached;
        restoring->nodes[i].key.stage = stage_of(restoring, &restoring->nodes[i]);
    }
    read_rows(restoring);
    for (size_t i = 0, begin = 0; i < joining->part_count; begin = restoring->row_ends[i++]) {
        look_back(restoring, begin, restoring->row_ends[i]);
        look_ahead(restoring, begin, restoring->row_ends[i]);
    }
    for (size_t i = 0; i < count; i++)
        set_key(restoring, &restoring->nodes[i]);
}

static void link_nodes(struct restoring *restoring, uint32_t *next, uint32_t first, uint32_t second)
{
    if (!restoring->followers) {
        next[first + 1]++;
        return;
    }
    restoring->followers[next[first]++] = second;
    restoring->nodes[second].waits_for++;
}

/* Who stands directly behind whom in a row, of what belongs together: counted first. */
static void link_rows(struct restoring *restoring, uint32_t *next)
{
    size_t i = 0;

    for (size_t part = 0; part < restoring->joining->part_count; part++) {
        uint32_t last[STAGES] = {NO_INDEX, NO_INDEX, NO_INDEX};

        for (; i < restoring->row_ends[part]; i++) {
            uint32_t node = restoring->row[i], stage = restoring->nodes[node].key.stage;

            if (last[stage] != NO_INDEX)
                link_nodes(restoring, next, last[stage], node);
            last[stage] = node;
        }
    }
}

static void find_followers(struct restoring *restoring)
{
    struct arena *arena = &restoring->joining->arena;
    size_t node_count = 2 * restoring->joining->version_count;
    uint32_t *next;

    restoring->starts = arena_zalloc(arena, node_count + 2, sizeof *restoring->starts);
    next = restoring->starts + 1;
    link_rows(restoring, next);
    for (size_t i = 1; i <= node_count; i++)
        next[i] += next[i - 1];
    restoring->followers = arena_alloc(arena, next[node_count], sizeof *restoring->followers);
    link_rows(restoring, next);
}

static void offer(struct restoring *restoring, struct node *node)
{
    if (!pqueue_push(restoring->ready, node))
        context_raise(LINK_NO_MEMORY);
}

/* Gives the node its place in the program's text. */
static void put(struct restoring *restoring, struct node *node)
{
    struct joining *joining = restoring->joining;
    size_t index = (size_t)(node - restoring->nodes);

    joining->sequence[joining->sequence_count++] = node->place;
    for (uint32_t i = restoring->starts[index]; i < restoring->starts[index + 1]; i++) {
        struct node *follower = &restoring->nodes[restoring->followers[i]];

        if (--follower->waits_for == 0)
            offer(restoring, follower);
    }
}

static int compare_pointers(const void *left, const void *right)
{
    return compare_nodes(*(struct node *const *)left, *(struct node *const *)right);
}

static int compare_reach(const void *left, const void *right)
{
    const struct node *a = *(struct node *const *)left, *b = *(struct node *const *)right;

    return a->key.reach < b->key.reach ? -1 : a->key.reach > b->key.reach;
}

/* Of what may come next, always that with the lowest key. The library may have put private strings
 * in another order in each part: rows that contradict each other leave some waiting for ever, and
 * then all of the stage stand as they were reached, each behind what it names. */
static void merge_rows(struct restoring *restoring, struct node **sorted, size_t count)
{
    struct joining *joining = restoring->joining;
    size_t begin = joining->sequence_count;
    struct node *node;

    for (size_t i = 0; i < count; i++)
        if (sorted[i]->waits_for == 0)
            offer(restoring, sorted[i]);
    while ((node = pqueue_pop(restoring->ready)))
        put(restoring, node);
    if (joining->sequence_count - begin == count)
        return;
    qsort(sorted, count, sizeof *sorted, compare_reach);
    for (size_t i = 0; i < count; i++)
        joining->sequence[begin + i] = sorted[i]->place;
    joining->sequence_count = begin + count;
}

static void merge_stages(struct restoring *restoring)
{
    size_t node_count = 2 * restoring->joining->version_count, count = 0, end;
    struct node **sorted = arena_alloc(&restoring->joining->arena, node_count, sizeof *sorted);

    for (size_t i = 0; i < node_count; i++)
        if (restoring->nodes[i].is_there)
            sorted[count++] = &restoring->nodes[i];
    SORT(sorted, count, compare_pointers);
    for (size_t i = 0; i < count; i = end) {
        for (end = i; end < count && sorted[end]->key.stage == sorted[i]->key.stage; end++)
            ;
        merge_rows(restoring, sorted + i, end - i);
    }
}

static void free_ready(void *argument)
{
    pqueue_destroy(((struct restoring *)argument)->ready);
}

void parts_restore(struct joining *joining)
{
    struct restoring restoring = {.joining = joining};

    make_nodes(&restoring);
    find_followers(&restoring);
    restoring.ready = pqueue_create(leaves_before, 0);
    if (!restoring.ready)
        context_raise(LINK_NO_MEMORY);
    CONTEXT_DEFER(free_ready, &restoring);
    merge_stages(&restoring);
}
