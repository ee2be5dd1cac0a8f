/* parts_order.c: the order of the joined text, which depends on the program alone: kernels by their
 * names, each behind what it needs, in the order in which its text names it. */
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "input/used.h"
#include "ptx/parts_steps.h"
#include "ptx/types.h"

/* A version that is being looked at, and how many of its references have been. */
struct step {
    uint32_t version;
    uint32_t done;
};

struct arrangement {
    struct joining *joining;
    struct step *steps; /* from a root to the version at hand */
    size_t count;
};

static bool is_data(const struct ptx_item *item)
{
    return item->kind == PTX_VARIABLE && !ptx_type_is_opaque((enum ptx_type)item->variable.type) &&
           (item->variable.space == PTX_SPACE_GLOBAL || item->variable.space == PTX_SPACE_CONST);
}

bool parts_is_hidden(const struct joining *joining, const struct joined_symbol *symbol)
{
    const struct part_entry *entry = &joining->entries[symbol->first_entry];

    return joining->request->used && is_data(entry->item) &&
           !used_names_variable(joining->request->used, entry->name);
}

/* Whether the symbol stays although nothing may refer to it. Of several versions those stay that
 * are still called or named. */
static bool is_root(const struct joining *joining, const struct joined_symbol *symbol)
{
    const struct used_names *used = joining->request->used;

    if (symbol->is_split)
        return false;
    if (!used || symbol->is_entry)
        return true;
    if (symbol->is_function)
        return symbol->is_defined && symbol->linkage != PTX_INTERNAL;
    return symbol->is_defined && is_data(joining->entries[symbol->first_entry].item) &&
           !parts_is_hidden(joining, symbol);
}

static void push(struct arrangement *arrangement, uint32_t version)
{
    if (version == NO_INDEX || arrangement->joining->versions[version].is_reached)
        return;
    arrangement->joining->versions[version].is_reached = true;
    arrangement->steps[arrangement->count++] = (struct step){version, 0};
}

/* All that a version needs has its place: now it gets its own. */
static void place(struct joining *joining, uint32_t index)
{
    struct symbol_version *version = &joining->versions[index];
    const struct joined_symbol *symbol = &joining->symbols[version->symbol];

    if (!symbol->is_defined) {
        joining->externals[joining->external_count++] = index;
    } else if (symbol->is_function) {
        version->position = (uint32_t)joining->function_count;
        joining->functions[joining->function_count++] = index;
    } else {
        joining->variables[joining->variable_count++] = index;
    }
}

static void visit(struct arrangement *arrangement, uint32_t root)
{
    struct joining *joining = arrangement->joining;

    push(arrangement, root);
    while (arrangement->count > 0) {
        struct step *step = &arrangement->steps[arrangement->count - 1];
        const struct symbol_version *version = &joining->versions[step->version];

        if (step->done < version->reference_count) {
            push(arrangement, parts_meant(joining, version, version->references[step->done++]));
        } else {
            arrangement->count--;
            place(joining, step->version);
        }
    }
}

struct root {
    const struct joined_symbol *symbol;
    int rank;
};

static int compare_roots(const void *left, const void *right)
{
    const struct root *a = left, *b = right;
    struct text first = a->symbol->name, second = b->symbol->name;
    int order;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    order = memcmp(first.data, second.data, first.size < second.size ? first.size : second.size);
    return order ? order : (first.size > second.size) - (first.size < second.size);
}

static void visit_roots(struct arrangement *arrangement)
{
    const struct joining *joining = arrangement->joining;
    struct root *roots =
        arena_alloc(&arrangement->joining->arena, joining->symbol_count, sizeof *roots);
    size_t count = 0;

    for (size_t i = 0; i < joining->symbol_count; i++) {
        const struct joined_symbol *symbol = &joining->symbols[i];

        if (is_root(joining, symbol))
            roots[count++] = (struct root){symbol, symbol->is_entry      ? 0
                                                   : symbol->is_function ? 1
                                                                         : 2};
    }
    if (count)
        qsort(roots, count, sizeof *roots, compare_roots);
    for (size_t i = 0; i < count; i++)
        visit(arrangement, roots[i].symbol->address);
}

/* Functions that are named in front of their definitions. */
static void note_declarations(struct joining *joining)
{
    for (size_t i = 0; i < joining->version_count; i++) {
        const struct symbol_version *version = &joining->versions[i];
        bool is_function = joining->symbols[version->symbol].is_function;

        for (uint32_t j = 0; version->is_reached && j < version->reference_count; j++) {
            uint32_t meant = parts_meant(joining, version, version->references[j]);
            struct symbol_version *other = meant == NO_INDEX ? NULL : &joining->versions[meant];

            if (other && joining->symbols[other->symbol].is_function &&
                (!is_function || other->position > version->position))
                other->is_declared = true;
        }
    }
}

void parts_arrange(struct joining *joining)
{
    struct arrangement arrangement = {.joining = joining};
    size_t count = joining->version_count;

    arrangement.steps = arena_alloc(&joining->arena, count, sizeof *arrangement.steps);
    joining->variables = arena_alloc(&joining->arena, count, sizeof *joining->variables);
    joining->functions = arena_alloc(&joining->arena, count, sizeof *joining->functions);
    joining->externals = arena_alloc(&joining->arena, count, sizeof *joining->externals);
    visit_roots(&arrangement);
    note_declarations(joining);
}
