/* parts_order.c: selects the contents of the joined text, and their order: that of one compilation
 * (parts_restore.c), or one that depends only on the program: kernels sorted by name, each after
 * the symbols that it needs, in the order in which its text names them. */
#include <string.h>

#include "base/search.h"
#include "input/used.h"
#include "parts/parts_steps.h"
#include "ptx/types.h"

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

enum { STAGE_DECLARED_ONLY, STAGE_VARIABLES, STAGE_FUNCTIONS, STAGES };

/* Sorts externally defined symbols by name: the order in which they were found depends on the
 * functions. */
static void order_by_program(struct joining *joining)
{
    for (int stage = 0; stage < STAGES; stage++) {
        for (size_t i = 0; i < joining->reached_count; i++) {
            const struct joined_symbol *symbol = joining->reached[i]->symbol;
            int own = !symbol->is_defined   ? STAGE_DECLARED_ONLY
                      : symbol->is_function ? STAGE_FUNCTIONS
                                            : STAGE_VARIABLES;

            if (own == stage)
                joining->sequence[joining->sequence_count++] =
                    (struct joined_place){.version = joining->reached[i]};
        }
        if (stage == STAGE_DECLARED_ONLY)
            SORT(joining->sequence, joining->sequence_count, compare_names);
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

static bool is_declaration_place(struct joined_place place)
{
    const struct joined_symbol *symbol = place.version->symbol;

    return place.is_declaration || (symbol->is_function && !symbol->is_defined);
}

/* Adds the missing declarations after the existing ones. Undefined functions are always declared.
 */
static void add_declarations(struct joining *joining)
{
    struct joined_place *list = joining->sequence, *made;
    size_t count = joining->sequence_count, heads = 0, made_count;

    for (size_t i = 0; i < count; i++)
        if (!list[i].is_declaration)
            list[i].version->line = (uint32_t)i;
    note_declarations(joining);
    for (size_t i = 0; i < count; i++) {
        if (list[i].is_declaration)
            list[i].version->is_declared = false;
        heads = is_declaration_place(list[i]) ? i + 1 : heads;
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
        parts_restore(joining);
    else
        order_by_program(joining);
    add_declarations(joining);
}
