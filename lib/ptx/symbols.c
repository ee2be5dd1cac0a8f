/* symbols.c: resolves each name of each module to a definition.
 *
 * The rules and messages are nvlink's (measured): of two weak definitions the first wins, a strong
 * one beats weak and common ones, of common ones the largest wins; two strong ones are an error.
 * Sizes, spaces and prototypes must agree. */
#include <stdlib.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/search.h"
#include "diag/diag.h"
#include "ptx/declaration.h"
#include "ptx/link.h"
#include "ptx/module.h"
#include "ptx/source_place.h"
#include "ptx/types.h"

/* A symbol during resolution. */
struct candidate {
    struct program_symbol symbol;
    uint32_t first_module; /* the first that names it, for messages */
    const struct ptx_item *first_item;
};

struct resolver {
    struct program *program;
    struct table globals;         /* to indexes in `candidates` */
    struct candidate *candidates; /* malloc'ed */
    size_t count;
    size_t capacity;
    bool takes_first; /* of several definitions */
    bool failed;
};

static const char *file_of(const struct program *program, uint32_t module)
{
    return program->modules[module]->file;
}

static bool is_symbol_item(const struct ptx_item *item)
{
    return item->kind == PTX_FUNCTION || item->kind == PTX_VARIABLE || item->kind == PTX_ALIAS;
}

static bool has_opaque_type(const struct ptx_item *item)
{
    return item->kind == PTX_VARIABLE && ptx_type_is_opaque(item->variable.type);
}

static bool merge_item(struct arena *arena, const struct ptx_module *module,
                       struct program_entry *entry, const struct ptx_item *item)
{
    bool is_alias = item->kind == PTX_ALIAS;
    bool is_again = entry->alias ? is_alias || item->is_definition
                                 : is_alias && entry->item && entry->item->is_definition;
    const char *fault =
        entry->item && !is_alias ? declaration_clash(arena, entry->item, item) : NULL;

    entry->is_global |= !is_alias && (item->linkage != PTX_INTERNAL || has_opaque_type(item));
    if (!fault && is_again)
        fault = arena_printf(arena, "Duplicate definition of '%.*s'", TEXT_ARG(item->name));
    if (fault) {
        const struct diag_place place = source_ptx_place(module, item, item->name.data);

        diag_at(DIAG_ERROR, &place, "%s", fault);
        return false;
    }
    if (is_alias)
        entry->alias = item;
    else if (!item->is_definition && !entry->declaration)
        entry->declaration = item;
    if (!is_alias && (!entry->item || item->is_definition))
        entry->item = item;
    return true;
}

/* The entries of one module, in the order in which their names appear. */
static bool collect_module_entries(struct program *program, size_t index)
{
    const struct ptx_module *module = program->modules[index];
    struct program_module *details = &program->details[index];
    size_t most = 0;
    bool is_good = true;

    for (size_t i = 0; i < module->item_count; i++)
        most += is_symbol_item(&module->items[i]);
    details->entries = arena_zalloc(&program->arena, most, sizeof *details->entries);
    for (size_t i = 0; i < module->item_count; i++) {
        const struct ptx_item *item = &module->items[i];
        uint32_t at;

        if (!is_symbol_item(item))
            continue;
        at = table_add(&details->names, item->name, (uint32_t)details->entry_count);
        if (at == details->entry_count) {
            details->entries[details->entry_count++] =
                (struct program_entry){.name = item->name, .symbol = NO_SYMBOL};
            scan_filter_add(details, item->name);
        }
        is_good &= merge_item(&program->arena, module, &details->entries[at], item);
    }
    return is_good;
}

static void report_mismatch(struct resolver *resolver, const char *what,
                            const struct candidate *candidate, uint32_t module)
{
    diag_error("%s doesn't match for '%.*s' in '%s', first specified in '%s'", what,
               TEXT_ARG(candidate->symbol.own_name), file_of(resolver->program, module),
               file_of(resolver->program, candidate->first_module));
    resolver->failed = true;
}

static void report_definitions(struct resolver *resolver, const struct ptx_item *item,
                               uint32_t module, const struct ptx_item *first, uint32_t first_module)
{
    if (resolver->takes_first) {
        diag_warning(
            "Multiple definition of '%.*s' in '%s', first defined in '%s': the first counts",
            TEXT_ARG(item->name), file_of(resolver->program, module),
            file_of(resolver->program, first_module));
        return;
    }
    diagnostics_report_again(resolver->program, first, first_module, item, module);
    resolver->failed = true;
}

/* A texture, sampler or surface may be defined any number of times, but only as the same kind. */
static void check_opaque(struct resolver *resolver, const struct candidate *candidate,
                         const struct ptx_item *item, uint32_t module)
{
    if (item->variable.type == candidate->first_item->variable.type)
        return;
    if (has_opaque_type(item))
        report_definitions(resolver, item, module, candidate->first_item, candidate->first_module);
    else
        report_mismatch(resolver, "Memory space", candidate, module);
}

/* Checks the properties that all declarations of a variable must share. */
static void check_variables(struct resolver *resolver, const struct candidate *candidate,
                            const struct ptx_item *item, uint32_t module)
{
    const struct ptx_variable *first = &candidate->first_item->variable;
    const struct ptx_variable *second = &item->variable;
    bool is_common = item->linkage == PTX_COMMON || candidate->symbol.linkage == PTX_COMMON ||
                     candidate->first_item->linkage == PTX_COMMON;

    if (has_opaque_type(candidate->first_item) || has_opaque_type(item)) {
        check_opaque(resolver, candidate, item, module);
        return;
    }
    if (first->space != second->space)
        report_mismatch(resolver, "Memory space", candidate, module);
    if (first->is_managed != second->is_managed)
        report_mismatch(resolver, "Managed attribute", candidate, module);
    if (!is_common && first->size && second->size && first->size != second->size)
        report_mismatch(resolver, "Size", candidate, module);
}

static void check_common(struct resolver *resolver, const struct ptx_item *common,
                         uint32_t common_module, const struct ptx_item *definition)
{
    if (common->variable.size <= definition->variable.size)
        return;
    diag_error("Common symbol '%.*s' in file '%s' has larger size than initialization",
               TEXT_ARG(common->name), file_of(resolver->program, common_module));
    resolver->failed = true;
}

/* Rank of an item's definition of its symbol. */
static int strength_of_linkage(enum ptx_linkage linkage, bool is_defined)
{
    if (!is_defined)
        return 0;
    return linkage == PTX_COMMON ? 1 : linkage == PTX_WEAK ? 2 : 3;
}

/* Of declarations that define nothing, one with a size wins, then the strictest alignment. */
static bool says_more(const struct ptx_item *new, const struct ptx_item *old)
{
    if (new->kind != PTX_VARIABLE)
        return false;
    if ((new->variable.size == 0) != (old->variable.size == 0))
        return new->variable.size != 0;
    return new->variable.alignment > old->variable.alignment;
}

static bool is_winner(struct resolver *resolver, const struct candidate *candidate,
                      const struct ptx_item *item, int new, uint32_t module)
{
    int old = strength_of_linkage(candidate->symbol.linkage, candidate->symbol.is_defined);

    if (new == 3 && old == 3) {
        if (!has_opaque_type(item))
            report_definitions(resolver, item, module, candidate->symbol.item,
                               candidate->symbol.module);
        return false;
    }
    if (new == 1 && old == 3)
        check_common(resolver, item, module, candidate->symbol.item);
    if (new == 3 && old == 1)
        check_common(resolver, candidate->symbol.item, candidate->symbol.module, item);
    if (new == 1 && old == 1)
        return item->variable.size > candidate->symbol.item->variable.size;
    if (new == 0 && old == 0)
        return says_more(item, candidate->symbol.item);
    return new > old;
}

static void take_definition(struct program_symbol *symbol, const struct program_entry *entry,
                            uint32_t module, bool is_defined)
{
    const struct ptx_item *item = entry->item;

    symbol->item = item;
    symbol->own_name = entry->name;
    symbol->name = symbol->own_name;
    symbol->module = module;
    symbol->is_defined = is_defined;
    symbol->linkage = is_defined ? item->linkage : (uint8_t)PTX_EXTERN;
    if (symbol->linkage == PTX_INTERNAL && has_opaque_type(item))
        symbol->linkage = PTX_VISIBLE;
    symbol->is_function = item->kind == PTX_FUNCTION;
    symbol->is_entry = symbol->is_function && item->function.is_entry;
}

static struct candidate *new_candidate(struct resolver *resolver, const struct program_entry *entry,
                                       uint32_t module)
{
    struct candidate *candidate =
        &ARRAY_PUSH(resolver->candidates, resolver->count, resolver->capacity);

    *candidate = (struct candidate){.first_module = module, .first_item = entry->item};
    candidate->symbol.alias_target = NO_SYMBOL;
    return candidate;
}

static void check_symbol_kinds(struct resolver *resolver, const struct candidate *candidate,
                               const struct ptx_item *item, uint32_t module)
{
    if (candidate->first_item->kind != item->kind) {
        report_mismatch(resolver, "Memory space", candidate, module);
    } else if (item->kind == PTX_VARIABLE) {
        check_variables(resolver, candidate, item, module);
    } else if (candidate->first_item->function.is_entry != item->function.is_entry) {
        diagnostics_report_kernel(resolver->program, candidate->first_item, candidate->first_module,
                                  item, module);
        resolver->failed = true;
    }
}

static void resolve_entry(struct resolver *resolver, struct program_entry *entry, uint32_t module)
{
    bool is_defined = entry->alias || entry->item->is_definition;
    struct candidate *candidate;
    uint32_t at = TABLE_NONE;

    if (entry->is_global)
        at = table_add(&resolver->globals, entry->name, (uint32_t)resolver->count);
    if (at == TABLE_NONE || at == resolver->count) {
        entry->symbol = (uint32_t)resolver->count;
        candidate = new_candidate(resolver, entry, module);
        take_definition(&candidate->symbol, entry, module, is_defined);
    } else {
        entry->symbol = at;
        candidate = &resolver->candidates[at];
        check_symbol_kinds(resolver, candidate, entry->item, module);
        if (candidate->first_item->kind == entry->item->kind &&
            is_winner(resolver, candidate, entry->item,
                      strength_of_linkage(entry->item->linkage, is_defined), module))
            take_definition(&candidate->symbol, entry, module, is_defined);
    }
    if (entry->item->kind == PTX_VARIABLE &&
        entry->item->variable.alignment > candidate->symbol.alignment)
        candidate->symbol.alignment = entry->item->variable.alignment;
}

static void resolve_module(struct resolver *resolver, uint32_t module)
{
    struct program_module *details = &resolver->program->details[module];

    for (size_t i = 0; i < details->entry_count; i++) {
        struct program_entry *entry = &details->entries[i];

        if (entry->item) {
            resolve_entry(resolver, entry, module);
            continue;
        }
        diag_error("Alias '%.*s' in '%s' is not declared as a function", TEXT_ARG(entry->name),
                   file_of(resolver->program, module));
        resolver->failed = true;
    }
}

/* The program's symbol order: modules, then items. */
static int compare_program_order(const void *left, const void *right)
{
    const struct candidate *a = *(const struct candidate *const *)left;
    const struct candidate *b = *(const struct candidate *const *)right;

    return COMPARE(a->symbol.module, b->symbol.module) ?: COMPARE(a->symbol.item, b->symbol.item);
}

static void order_symbols(struct resolver *resolver)
{
    struct program *program = resolver->program;
    const struct candidate **order =
        arena_alloc(&program->arena, resolver->count, sizeof(struct candidate *));
    uint32_t *places = arena_alloc(&program->arena, resolver->count, sizeof *places);

    for (size_t i = 0; i < resolver->count; i++)
        order[i] = &resolver->candidates[i];
    qsort(order, resolver->count, sizeof *order, compare_program_order);
    program->symbols = arena_alloc(&program->arena, resolver->count, sizeof *program->symbols);
    program->symbol_count = resolver->count;
    for (size_t i = 0; i < resolver->count; i++) {
        program->symbols[i] = order[i]->symbol;
        places[order[i] - resolver->candidates] = (uint32_t)i;
    }
    for (size_t i = 0; i < program->module_count; i++)
        for (size_t j = 0; j < program->details[i].entry_count; j++)
            if (program->details[i].entries[j].symbol != NO_SYMBOL)
                program->details[i].entries[j].symbol =
                    places[program->details[i].entries[j].symbol];
}

static bool connect_aliases(struct program *program)
{
    bool is_good = true;

    for (size_t i = 0; i < program->module_count; i++) {
        struct program_module *details = &program->details[i];

        for (size_t j = 0; j < details->entry_count; j++) {
            const struct program_entry *entry = &details->entries[j];
            const struct program_entry *target;
            uint32_t at;

            if (!entry->alias || entry->symbol == NO_SYMBOL)
                continue;
            at = table_find(&details->names, entry->alias->target);
            target = at == TABLE_NONE ? NULL : &details->entries[at];
            if (!target || !target->item || target->item->kind != PTX_FUNCTION ||
                !target->item->is_definition)
                is_good = diag_error(
                    "Alias '%.*s' in '%s' is of '%.*s', which is no function defined there",
                    TEXT_ARG(entry->name), program->modules[i]->file,
                    TEXT_ARG(entry->alias->target));
            else if (program->symbols[entry->symbol].module == i)
                program->symbols[entry->symbol].alias_target = target->symbol;
        }
    }
    return is_good;
}

bool symbols_resolve(struct program *program, const struct program_request *request)
{
    struct resolver resolver = {.program = program, .takes_first = request->takes_first};

    CONTEXT_DEFER(table_cleanup, &resolver.globals);
    CONTEXT_DEFER(memory_cleanup, &resolver.candidates);
    for (size_t i = 0; i < program->module_count; i++)
        resolver.failed |= !collect_module_entries(program, i);
    for (size_t i = 0; i < program->module_count; i++)
        resolve_module(&resolver, (uint32_t)i);
    order_symbols(&resolver);
    resolver.failed |= !connect_aliases(program);
    return !resolver.failed;
}
