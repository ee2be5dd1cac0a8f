/* parts_order.c: selects the contents of the joined text, and their order: that of one compilation,
 * or one that depends only on the program: kernels sorted by name, each after the symbols that it
 * needs, in the order in which its text names them.
 *
 * libnvJitLink writes declarations, then variables, then functions, each in the order of the linked
 * program: modules in link order, and the definitions of a module in theirs. A part omits symbols
 * that its kernels do not need, and keeps the order of the rest (measured). So the parts' texts are
 * subsequences (rows) of one order, which is merged from them: if one symbol follows another in a
 * part, it also does in the program. Between rows, the order of kernels is known; a function that
 * is in one part only is put as near to its kernels as its neighbours allow. */
#include <string.h>

#include "base/search.h"
#include "input/used.h"
#include "parts/internal.h"
#include "ptx/module.h"

/* A version on the walk, and how many of its references have been followed. */
struct step {
    struct symbol_version *version;
    uint32_t done;
};

static bool is_data(const struct ptx_item *item)
{
    return item->kind == PTX_VARIABLE && !ptx_type_is_opaque((enum ptx_type)item->variable.type) &&
           (item->variable.space == PTX_SPACE_GLOBAL || item->variable.space == PTX_SPACE_CONST);
}

bool parts_is_hidden(const struct joining *joining, const struct joined_symbol *symbol)
{
    const struct part_entry *entry = symbol->first_entry;

    return joining->request->used && is_data(entry->item) &&
           !used_names_variable(joining->request->used, entry->name);
}

/* Whether the symbol stays even if nothing refers to it. Of several versions, those that are still
 * called or named stay. */
static bool is_root(const struct joining *joining, const struct joined_symbol *symbol)
{
    const struct used_names *used = joining->request->used;

    if (symbol->is_split)
        return false;
    if (!used || symbol->is_entry)
        return true;
    if (symbol->is_function)
        return symbol->is_defined && symbol->linkage != PTX_INTERNAL;
    return symbol->is_defined && is_data(symbol->first_entry->item) &&
           !parts_is_hidden(joining, symbol);
}

/* Reaches a version and what it needs, each after the versions that it needs. `steps` has room for
 * the way from it to the current version. */
static void visit(struct joining *joining, struct step *steps, struct symbol_version *version)
{
    size_t count = 0;

    do {
        struct step *step;

        if (version && !version->is_reached) {
            version->is_reached = true;
            steps[count++] = (struct step){version, 0};
        }
        if (count == 0)
            return;
        step = &steps[count - 1];
        version = step->version;
        if (step->done < version->reference_count) {
            version = parts_meant(joining, version, version->references[step->done++]);
        } else {
            version->position = (uint32_t)joining->reached_count;
            joining->reached[joining->reached_count++] = version;
            count--;
        }
    } while (count > 0);
}

struct root {
    const struct joined_symbol *symbol;
    int class;     /* kernels, functions, variables */
    uint64_t rank; /* of a kernel, if the order is that of one compilation */
};

COMPARISON(compare_roots, struct root,
           COMPARE(a->class, b->class) ?: COMPARE(a->rank, b->rank)
               ?: text_compare(a->symbol->name, b->symbol->name));

static void visit_roots(struct joining *joining)
{
    const struct parts_order *order = joining->request->order;
    struct root *roots = arena_alloc(&joining->arena, joining->symbol_count, sizeof *roots);
    struct step *steps = arena_alloc(&joining->arena, joining->version_count, sizeof *steps);
    size_t count = 0;

    for (size_t i = 0; i < joining->symbol_count; i++) {
        const struct joined_symbol *symbol = joining->symbols[i];

        if (!is_root(joining, symbol))
            continue;
        roots[count] = (struct root){.symbol = symbol,
                                     .class = symbol->is_entry      ? 0
                                              : symbol->is_function ? 1
                                                                    : 2};
        if (order && symbol->is_entry)
            roots[count].rank = order->rank(order->argument, symbol->name, false);
        count++;
    }
    SORT(roots, count, compare_roots);
    for (size_t i = 0; i < count; i++)
        visit(joining, steps, roots[i].symbol->address);
}

COMPARISON(compare_names, struct joined_place, text_compare(a->version->name, b->version->name));

/* The sections of every text, in order. */
enum stage { STAGE_DECLARATIONS, STAGE_VARIABLES, STAGE_FUNCTIONS, STAGES };

/* Sorts externally defined symbols by name: they were found in the order of the functions. */
static void order_by_program(struct joining *joining)
{
    for (int stage = 0; stage < STAGES; stage++) {
        for (size_t i = 0; i < joining->reached_count; i++) {
            const struct joined_symbol *symbol = joining->reached[i]->symbol;
            int own = !symbol->is_defined   ? STAGE_DECLARATIONS
                      : symbol->is_function ? STAGE_FUNCTIONS
                                            : STAGE_VARIABLES;

            if (own == stage)
                joining->sequence[joining->sequence_count++] =
                    (struct joined_place){.version = joining->reached[i]};
        }
        if (stage == STAGE_DECLARATIONS)
            SORT(joining->sequence, joining->sequence_count, compare_names);
    }
}

enum side { SIDE_BEFORE, SIDE_OWN, SIDE_BEHIND };

/* What a stage has of a version: its definition, or a declaration before it. */
struct node {
    struct joined_place place;
    const struct row *row; /* the last one that it is in; NULL: it is not in the stage */
    /* Its own rank, and the nearest ones in the rows, or PARTS_NO_RANK. */
    uint64_t own, before, behind;
    /* Its place as far as it is known without the rows: before or after a neighbour with the rank,
     * or at its own. */
    uint64_t rank;
    enum side side;
    uint32_t waits_for; /* rows in which nodes before it have no place yet */
};

/* The nodes of a part in the order of its text, each once. */
struct row {
    struct node **nodes;
    size_t count;
    size_t done; /* how many have their place */
};

struct restoring {
    struct joining *joining;
    enum stage stage;
    struct node *nodes; /* of each reached version, in that order */
    struct row *rows;   /* of each part, and behind them that of variables that left all bodies */
};

static enum stage stage_of(const struct ptx_item *item)
{
    if (item->kind == PTX_VARIABLE)
        return STAGE_VARIABLES;
    if (item->kind == PTX_FUNCTION)
        return item->is_definition ? STAGE_FUNCTIONS : STAGE_DECLARATIONS;
    return STAGES;
}

/* The lowest place comes first; of equals, what was reached first from the kernels. */
static int compare_nodes(const struct node *a, const struct node *b)
{
    return COMPARE(a->rank, b->rank) ?: COMPARE(a->side, b->side) ?: COMPARE(a, b);
}

COMPARISON(compare_pointers, struct node *const, compare_nodes(*a, *b));

static void add_node(struct restoring *restoring, struct row *row, struct symbol_version *version)
{
    const struct parts_order *order = restoring->joining->request->order;
    struct node *node = &restoring->nodes[version->position];
    bool is_declaration = restoring->stage == STAGE_DECLARATIONS;

    if (node->row == row)
        return;
    if (!node->row)
        *node = (struct node){
            .place = {version, is_declaration && version->symbol->is_defined},
            .own = order->rank(order->argument, version->symbol->name, is_declaration),
            .before = PARTS_NO_RANK,
            .behind = PARTS_NO_RANK,
        };
    node->row = row;
    node->waits_for++;
    row->nodes[row->count++] = node;
}

/* For each node of the row, records the nearest node before it, or after it, that has a rank. With
 * several rows the nearest counts. */
static void note_neighbours(const struct row *row, bool is_behind)
{
    uint64_t nearest = PARTS_NO_RANK;

    for (size_t i = 0; i < row->count; i++) {
        struct node *node = row->nodes[is_behind ? row->count - 1 - i : i];
        uint64_t *known = is_behind ? &node->behind : &node->before;

        if (node->own != PARTS_NO_RANK)
            nearest = node->own;
        else if (nearest != PARTS_NO_RANK &&
                 (*known == PARTS_NO_RANK || (is_behind ? nearest < *known : nearest > *known)))
            *known = nearest;
    }
}

static void read_row(struct restoring *restoring, uint32_t part)
{
    const struct ptx_module *module = &restoring->joining->parts[part].module;
    struct row *row = &restoring->rows[part];

    row->nodes = arena_alloc(&restoring->joining->arena, module->item_count, sizeof *row->nodes);
    for (size_t i = 0; i < module->item_count; i++) {
        const struct ptx_item *item = &module->items[i];
        const struct part_entry *entry = stage_of(item) == restoring->stage
                                             ? parts_entry(restoring->joining, part, item->name)
                                             : NULL;

        if (entry && entry->version && entry->version->is_reached)
            add_node(restoring, row, entry->version);
    }
    note_neighbours(row, false);
    note_neighbours(row, true);
}

/* A function without a rank between kernels of two modules goes to the end of the first module: the
 * library appends a module's own definitions to those that it has already linked. A function
 * between kernels of one module is defined before the kernel that needs it. */
static void set_rank(struct node *node)
{
    if (node->own != PARTS_NO_RANK) {
        node->rank = node->own;
        node->side = SIDE_OWN;
    } else if (node->before != PARTS_NO_RANK && node->before >> 32 < node->behind >> 32) {
        node->rank = node->before | UINT32_MAX;
        node->side = SIDE_BEHIND;
    } else if (node->behind != PARTS_NO_RANK) {
        node->rank = node->behind;
    }
}

static void read_rows(struct restoring *restoring)
{
    struct joining *joining = restoring->joining;
    size_t count = joining->reached_count;
    struct row *loose;

    restoring->nodes = arena_zalloc(&joining->arena, count, sizeof *restoring->nodes);
    restoring->rows =
        arena_zalloc(&joining->arena, joining->part_count + 1, sizeof *restoring->rows);
    for (uint32_t i = 0; i < joining->part_count; i++)
        read_row(restoring, i);
    loose = &restoring->rows[joining->part_count];
    loose->nodes = arena_alloc(&joining->arena, count, sizeof *loose->nodes);
    for (size_t i = 0; i < count; i++) {
        if (!restoring->nodes[i].row &&
            stage_of(joining->reached[i]->entry->item) == restoring->stage)
            add_node(restoring, loose, joining->reached[i]);
        set_rank(&restoring->nodes[i]);
    }
    SORT(loose->nodes, loose->count, compare_pointers);
}

/* The row's first node without a place, or NULL. */
static struct node *head_of(const struct row *row)
{
    return row->done < row->count ? row->nodes[row->done] : NULL;
}

/* Of the nodes that can come next, the one with the lowest place; NULL = none. There are few parts,
 * so looking at each costs less than a heap. */
static struct node *find_next(const struct restoring *restoring)
{
    struct node *next = NULL;

    for (size_t i = 0; i <= restoring->joining->part_count; i++) {
        struct node *head = head_of(&restoring->rows[i]);

        if (head && head->waits_for == 0 && (!next || compare_nodes(head, next) < 0))
            next = head;
    }
    return next;
}

/* The row's first node without a place waits for it in other rows only. */
static void free_head(struct row *row)
{
    if (head_of(row))
        head_of(row)->waits_for--;
}

static void put_next(struct restoring *restoring, const struct node *next)
{
    struct joining *joining = restoring->joining;

    joining->sequence[joining->sequence_count++] = next->place;
    for (size_t i = 0; i <= joining->part_count; i++) {
        struct row *row = &restoring->rows[i];

        if (head_of(row) != next)
            continue;
        row->done++;
        free_head(row);
    }
}

/* The library may have written private strings in a different order in each part: if rows
 * contradict each other, some nodes wait for ever, and then the whole stage is in the order in
 * which its symbols were reached, each after the symbols that it names. */
static void merge_rows(struct restoring *restoring)
{
    struct joining *joining = restoring->joining;
    size_t begin = joining->sequence_count;
    const struct node *next;
    bool is_contradicted = false;

    for (size_t i = 0; i <= joining->part_count; i++)
        free_head(&restoring->rows[i]);
    while ((next = find_next(restoring)))
        put_next(restoring, next);
    for (size_t i = 0; i <= joining->part_count; i++)
        is_contradicted |= head_of(&restoring->rows[i]) != NULL;
    if (is_contradicted)
        joining->sequence_count = begin;
    for (size_t i = 0; is_contradicted && i < joining->reached_count; i++)
        if (restoring->nodes[i].row)
            joining->sequence[joining->sequence_count++] = restoring->nodes[i].place;
}

/* Sets `sequence` to the order that reached versions have in one compilation. */
static void order_by_rows(struct joining *joining)
{
    struct restoring restoring = {.joining = joining};

    for (restoring.stage = 0; restoring.stage < STAGES; restoring.stage++) {
        read_rows(&restoring);
        merge_rows(&restoring);
    }
}

/* Marks functions that are named before their definitions. */
static void note_declarations(struct joining *joining)
{
    for (size_t i = 0; i < joining->version_count; i++) {
        const struct symbol_version *version = joining->versions[i];

        for (uint32_t j = 0; version->is_reached && j < version->reference_count; j++) {
            struct symbol_version *meant = parts_meant(joining, version, version->references[j]);

            if (meant && meant->symbol->is_function &&
                (!version->symbol->is_function || meant->line > version->line))
                meant->is_declared = true;
        }
    }
}

/* Adds the missing declarations after the existing ones. Undefined functions always have one. */
static void add_declarations(struct joining *joining)
{
    struct joined_place *list = joining->sequence, *made;
    size_t count = joining->sequence_count, heads = 0, made_count;

    for (size_t i = 0; i < count; i++)
        if (!list[i].is_declaration)
            list[i].version->line = (uint32_t)i;
    note_declarations(joining);
    for (size_t i = 0; i < count; i++) {
        const struct joined_symbol *symbol = list[i].version->symbol;

        if (list[i].is_declaration)
            list[i].version->is_declared = false;
        if (list[i].is_declaration || (symbol->is_function && !symbol->is_defined))
            heads = i + 1;
    }
    made = arena_alloc(&joining->arena, 2 * count, sizeof *made);
    if (heads)
        memcpy(made, list, heads * sizeof *made);
    made_count = heads;
    for (size_t i = heads; i < count; i++)
        if (list[i].version->is_declared && list[i].version->symbol->is_defined)
            made[made_count++] = (struct joined_place){list[i].version, true};
    for (size_t i = heads; i < count; i++)
        made[made_count++] = list[i];
    joining->sequence = made;
    joining->sequence_count = made_count;
}

void parts_arrange(struct joining *joining)
{
    size_t count = joining->version_count;

    joining->reached = arena_alloc(&joining->arena, count, sizeof *joining->reached);
    joining->sequence = arena_alloc(&joining->arena, 2 * count, sizeof *joining->sequence);
    visit_roots(joining);
    if (joining->request->order)
        order_by_rows(joining);
    else
        order_by_program(joining);
    add_declarations(joining);
}
