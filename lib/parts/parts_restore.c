/* parts_restore.c: restores the order that one compilation has.
 *
 * libnvJitLink writes declarations, then variables, then functions, each in the order of the linked
 * program: modules in link order, and the definitions of a module in theirs. A part omits symbols
 * that its kernels do not need, and keeps the order of the rest (measured). So the parts' texts are
 * subsequences (rows) of one order, which is merged from them: if one symbol follows another in a
 * part, it also does in the program. Between rows, the order of kernels is known; a function that
 * is in one part only is put as near to its kernels as its neighbours allow. */
#include <stdlib.h>

#include "base/pqueue.h"
#include "base/search.h"
#include "parts/parts_steps.h"

/* The place of a symbol as far as it is known without the rows; most significant member first. */
struct key {
    uint32_t stage;
    uint64_t rank;  /* its own, or that of its nearest neighbour that has one */
    uint32_t side;  /* before that neighbour, at its own place, or after it */
    uint32_t reach; /* order in which it was reached from the kernels */
};

/* The sections of every text, in order. */
enum stage { STAGE_DECLARATIONS, STAGE_VARIABLES, STAGE_FUNCTIONS, STAGES };
enum side { SIDE_BEFORE, SIDE_OWN, SIDE_BEHIND };

/* An item of the text: a version's definition, or a declaration before it. */
struct node {
    struct joined_place place;
    struct key key;
    /* Its own rank, and the nearest ones in the rows, or PARTS_NO_RANK. */
    uint64_t own, before, behind;
    bool is_there;       /* in the text */
    uint32_t waits_for;  /* number of nodes before it in rows that have no place yet */
    uint32_t first_edge; /* edges to nodes after it, or NO_EDGE */
};

#define NO_EDGE UINT32_MAX

/* An edge to the node that directly follows another one in a row. */
struct edge {
    uint32_t node;
    uint32_t next; /* next edge of the same first node, or NO_EDGE */
};

struct restoring {
    struct joining *joining;
    struct node *nodes; /* two for each version: its definition and its declaration */
    uint32_t *row;      /* nodes of the current part */
    size_t row_size;
    struct edge *edges;
    size_t edge_count;
    struct pqueue ready;
};

COMPARISON(compare_nodes, struct node,
           COMPARE(a->key.stage, b->key.stage) ?: COMPARE(a->key.rank, b->key.rank)
               ?: COMPARE(a->key.side, b->key.side) ?: COMPARE(a->key.reach, b->key.reach)
               ?: COMPARE(a, b));

static int leaves_name_before(const void *left, const void *right)
{
    return compare_nodes(left, right) < 0;
}

/* The node of an item in a part's text, or NULL when it is not in the program's text. */
static struct node *find_node(const struct restoring *restoring, uint32_t part,
                              const struct ptx_item *item)
{
    const struct part_entry *entry = NULL;

    if (item->kind == PTX_FUNCTION || item->kind == PTX_VARIABLE)
        entry = parts_entry(restoring->joining, part, item->name);
    if (!entry || !entry->version || !entry->version->is_reached)
        return NULL;
    return &restoring->nodes[2 * entry->version->index + (entry->symbol->is_function &&
                                                          entry->symbol->is_defined &&
                                                          !item->is_definition)];
}

/* Lists the nodes of a part in the order of its text, each once. */
static void read_row(struct restoring *restoring, uint32_t part, uint32_t *stamps)
{
    const struct ptx_module *module = restoring->joining->parts[part].module;

    restoring->row_size = 0;
    for (size_t i = 0; i < module->item_count; i++) {
        struct node *node = find_node(restoring, part, &module->items[i]);
        size_t index = node ? (size_t)(node - restoring->nodes) : 0;

        if (!node || stamps[index] == part + 1)
            continue;
        stamps[index] = part + 1;
        node->is_there = true;
        restoring->row[restoring->row_size++] = (uint32_t)index;
    }
}

/* For each node of the row, records the nearest node of its stage before it, or after it, that has
 * a rank. With several rows the nearest counts. */
static void note_neighbours(struct restoring *restoring, bool is_behind)
{
    uint64_t nearest[STAGES] = {PARTS_NO_RANK, PARTS_NO_RANK, PARTS_NO_RANK};

    for (size_t i = 0; i < restoring->row_size; i++) {
        size_t at = is_behind ? restoring->row_size - 1 - i : i;
        struct node *node = &restoring->nodes[restoring->row[at]];
        uint64_t *known = is_behind ? &node->behind : &node->before;
        uint64_t *here = &nearest[node->key.stage];

        if (node->own != PARTS_NO_RANK)
            *here = node->own;
        else if (*here != PARTS_NO_RANK &&
                 (*known == PARTS_NO_RANK || (is_behind ? *here < *known : *here > *known)))
            *known = *here;
    }
}

/* A function without a rank between kernels of two modules goes to the end of the first module: the
 * library appends a module's own definitions to those that it has already linked. A function
 * between kernels of one module is defined before the kernel that needs it. */
static void set_key(struct node *node)
{
    node->key.reach = node->place.version->position;
    if (node->own != PARTS_NO_RANK) {
        node->key.rank = node->own;
        node->key.side = SIDE_OWN;
    } else if (node->before != PARTS_NO_RANK && node->before >> 32 < node->behind >> 32) {
        node->key.rank = node->before | UINT32_MAX;
        node->key.side = SIDE_BEHIND;
    } else if (node->behind != PARTS_NO_RANK) {
        node->key.rank = node->behind;
        node->key.side = SIDE_BEFORE;
    }
}

static enum stage stage_of(struct joined_place place)
{
    const struct joined_symbol *symbol = place.version->symbol;

    if (!symbol->is_function)
        return STAGE_VARIABLES;
    return symbol->is_defined && !place.is_declaration ? STAGE_FUNCTIONS : STAGE_DECLARATIONS;
}

static void make_nodes(struct restoring *restoring)
{
    struct joining *joining = restoring->joining;
    const struct parts_order *order = joining->request->order;
    size_t count = 2 * joining->version_count;

    restoring->nodes = arena_zalloc(&joining->arena, count, sizeof *restoring->nodes);
    restoring->ready.array = arena_alloc(&joining->arena, count, sizeof(void *));
    for (uint32_t i = 0; i < count; i++) {
        struct node *node = &restoring->nodes[i];

        node->place = (struct joined_place){joining->versions[i / 2], i % 2};
        node->place.version->index = i / 2;
        node->is_there = i % 2 == 0 && node->place.version->is_reached;
        node->key.stage = stage_of(node->place);
        node->own = order->rank(order->argument, node->place.version->symbol->name,
                                node->key.stage == STAGE_DECLARATIONS);
        node->before = node->behind = PARTS_NO_RANK;
        node->first_edge = NO_EDGE;
    }
}

/* Adds edges between adjacent nodes of the same stage in the row. */
static void link_row(struct restoring *restoring)
{
    uint32_t last[STAGES] = {NO_EDGE, NO_EDGE, NO_EDGE};

    for (size_t i = 0; i < restoring->row_size; i++) {
        uint32_t index = restoring->row[i], stage = restoring->nodes[index].key.stage;

        if (last[stage] != NO_EDGE) {
            struct node *node = &restoring->nodes[last[stage]];

            restoring->edges[restoring->edge_count] = (struct edge){index, node->first_edge};
            node->first_edge = (uint32_t)restoring->edge_count++;
            restoring->nodes[index].waits_for++;
        }
        last[stage] = index;
    }
}

static void read_rows(struct restoring *restoring)
{
    struct joining *joining = restoring->joining;
    size_t count = 2 * joining->version_count, most = 0;
    uint32_t *stamps = arena_zalloc(&joining->arena, count, sizeof *stamps);

    for (size_t i = 0; i < joining->part_count; i++)
        most += joining->parts[i].module->item_count;
    restoring->row = arena_alloc(&joining->arena, most, sizeof *restoring->row);
    restoring->edges = arena_alloc(&joining->arena, most, sizeof *restoring->edges);
    for (uint32_t i = 0; i < joining->part_count; i++) {
        read_row(restoring, i, stamps);
        note_neighbours(restoring, false);
        note_neighbours(restoring, true);
        link_row(restoring);
    }
    for (size_t i = 0; i < count; i++)
        set_key(&restoring->nodes[i]);
}

/* Gives the node its place in the program's text. */
static void put_restored(struct restoring *restoring, struct node *node)
{
    struct joining *joining = restoring->joining;

    joining->sequence[joining->sequence_count++] = node->place;
    for (uint32_t i = node->first_edge; i != NO_EDGE; i = restoring->edges[i].next) {
        struct node *follower = &restoring->nodes[restoring->edges[i].node];

        if (--follower->waits_for == 0)
            pqueue_push(&restoring->ready, follower);
    }
}

COMPARISON(compare_pointers, struct node *, compare_nodes(*a, *b));

COMPARISON(compare_reach, struct node *, COMPARE((*a)->key.reach, (*b)->key.reach));

/* Always takes the node with the lowest key of those that can come next. The library may have
 * written private strings in a different order in each part: if rows contradict each other, some
 * nodes wait for ever, and then the whole stage is in the order in which its symbols were reached,
 * each after the symbols that it names. */
static void merge_rows(struct restoring *restoring, struct node **sorted, size_t count)
{
    struct joining *joining = restoring->joining;
    size_t begin = joining->sequence_count;
    struct node *node;

    for (size_t i = 0; i < count; i++)
        if (sorted[i]->waits_for == 0)
            pqueue_push(&restoring->ready, sorted[i]);
    while ((node = pqueue_pop(&restoring->ready)))
        put_restored(restoring, node);
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

void parts_restore(struct joining *joining)
{
    struct restoring restoring = {.joining = joining, .ready.comparator = leaves_name_before};

    make_nodes(&restoring);
    read_rows(&restoring);
    merge_stages(&restoring);
}
