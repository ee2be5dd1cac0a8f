/* symbols.c: resolves each name of each module to a definition.
 *
 * The rules and messages are nvlink's (measured): of two weak definitions the first wins, a strong
 * one beats weak and common ones, of common ones the largest wins; two strong ones are an error.
 * Sizes, spaces and prototypes must agree. */
#include "base/search.h"
#include "ptx/declaration.h"
#include "ptx/internal.h"

struct resolver {
    struct program *program;
    struct table globals; /* to indexes in the program's symbols */
    bool takes_first;     /* of several definitions */
    bool failed;
};

static const char *file_of(const struct resolver *resolver, uint32_t module)
{
    return resolver->program->modules[module]->file;
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
            details->has_percent |= item->name.data[0] == '%';
        }
        is_good &= merge_item(&program->arena, module, &details->entries[at], item);
    }
    return is_good;
}

static void report_mismatch(struct resolver *resolver, const char *what,
                            const struct program_symbol *symbol, uint32_t module)
{
    resolver->failed = !diag_error("%s doesn't match for '%.*s' in '%s', first specified in '%s'",
                                   what, TEXT_ARG(symbol->own_name), file_of(resolver, module),
                                   file_of(resolver, symbol->first_module));
}

static void report_definitions(struct resolver *resolver, const struct ptx_item *item,
                               uint32_t module, const struct ptx_item *first, uint32_t first_module)
{
    if (resolver->takes_first) {
        diag_warning(
            "Multiple definition of '%.*s' in '%s', first defined in '%s': the first counts",
            TEXT_ARG(item->name), file_of(resolver, module), file_of(resolver, first_module));
        return;
    }
    check_report_again(resolver->program, first, first_module, item, module);
    resolver->failed = true;
}

/* Checks the properties that all declarations of a variable must share. A texture, sampler or
 * surface may be defined any number of times, but only as the same kind. */
static void check_variables(struct resolver *resolver, const struct program_symbol *symbol,
                            const struct ptx_item *item, uint32_t module)
{
    const struct ptx_variable *first = &symbol->first_item->variable, *second = &item->variable;
    bool is_common = item->linkage == PTX_COMMON || symbol->linkage == PTX_COMMON ||
                     symbol->first_item->linkage == PTX_COMMON;

    if (ptx_type_is_opaque(first->type) || ptx_type_is_opaque(second->type)) {
        if (first->type != second->type && ptx_type_is_opaque(second->type))
            report_definitions(resolver, item, module, symbol->first_item, symbol->first_module);
        else if (first->type != second->type)
            report_mismatch(resolver, "Memory space", symbol, module);
        return;
    }
    if (first->space != second->space)
        report_mismatch(resolver, "Memory space", symbol, module);
    if (first->is_managed != second->is_managed)
        report_mismatch(resolver, "Managed attribute", symbol, module);
    if (!is_common && first->size && second->size && first->size != second->size)
        report_mismatch(resolver, "Size", symbol, module);
}

static void check_symbol_kinds(struct resolver *resolver, const struct program_symbol *symbol,
                               const struct ptx_item *item, uint32_t module)
{
    if (symbol->first_item->kind != item->kind) {
        report_mismatch(resolver, "Memory space", symbol, module);
    } else if (item->kind == PTX_VARIABLE) {
        check_variables(resolver, symbol, item, module);
    } else if (symbol->first_item->function.is_entry != item->function.is_entry) {
        check_report_kernel(resolver->program, symbol->first_item, symbol->first_module, item,
                            module);
        resolver->failed = true;
    }
}

static void check_common(struct resolver *resolver, const struct ptx_item *common,
                         uint32_t common_module, const struct ptx_item *definition)
{
    if (common->variable.size > definition->variable.size)
        resolver->failed =
            !diag_error("Common symbol '%.*s' in file '%s' has larger size than initialization",
                        TEXT_ARG(common->name), file_of(resolver, common_module));
}

/* Rank of a definition of a symbol. */
enum strength { UNDEFINED, COMMON, WEAK, STRONG };

static enum strength strength_of_linkage(enum ptx_linkage linkage, bool is_defined)
{
    if (!is_defined)
        return UNDEFINED;
    return linkage == PTX_COMMON ? COMMON : linkage == PTX_WEAK ? WEAK : STRONG;
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

static bool is_winner(struct resolver *resolver, const struct program_symbol *symbol,
                      const struct ptx_item *item, bool is_defined, uint32_t module)
{
    enum strength new = strength_of_linkage(item->linkage, is_defined);
    enum strength old = strength_of_linkage(symbol->linkage, symbol->is_defined);

    if (new == STRONG && old == STRONG && !has_opaque_type(item))
        report_definitions(resolver, item, module, symbol->item, symbol->module);
    if (new == COMMON && old == STRONG)
        check_common(resolver, item, module, symbol->item);
    if (new == STRONG && old == COMMON)
        check_common(resolver, symbol->item, symbol->module, item);
    if (new == COMMON && old == COMMON)
        return item->variable.size > symbol->item->variable.size;
    if (new == UNDEFINED && old == UNDEFINED)
        return says_more(item, symbol->item);
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

static void resolve_entry(struct resolver *resolver, struct program_entry *entry, uint32_t module)
{
    struct program *program = resolver->program;
    bool is_defined = entry->alias || entry->item->is_definition;
    struct program_symbol *symbol;

    entry->symbol = (uint32_t)program->symbol_count;
    if (entry->is_global)
        entry->symbol = table_add(&resolver->globals, entry->name, entry->symbol);
    if (entry->symbol == program->symbol_count) {
        symbol = &program->symbols[program->symbol_count++];
        *symbol = (struct program_symbol){.number = entry->symbol,
                                          .first_module = module,
                                          .first_item = entry->item,
                                          .alias_target = NO_SYMBOL};
        take_definition(symbol, entry, module, is_defined);
    } else {
        symbol = &program->symbols[entry->symbol];
        check_symbol_kinds(resolver, symbol, entry->item, module);
        if (symbol->first_item->kind == entry->item->kind &&
            is_winner(resolver, symbol, entry->item, is_defined, module))
            take_definition(symbol, entry, module, is_defined);
    }
    if (entry->item->kind == PTX_VARIABLE)
        RAISE(symbol->alignment, entry->item->variable.alignment);
}

static void resolve_module(struct resolver *resolver, uint32_t module)
{
    struct program_module *details = &resolver->program->details[module];

    for (size_t i = 0; i < details->entry_count; i++) {
        struct program_entry *entry = &details->entries[i];

        if (entry->item)
            resolve_entry(resolver, entry, module);
        else
            resolver->failed = !diag_error("Alias '%.*s' in '%s' is not declared as a function",
                                           TEXT_ARG(entry->name), file_of(resolver, module));
    }
}

COMPARISON(compare_program_order, struct program_symbol,
           COMPARE(a->module, b->module) ?: COMPARE(a->item, b->item));

/* The program's symbol order: modules, then items. */
static void order_symbols(struct program *program)
{
    uint32_t *places = arena_alloc(&program->arena, program->symbol_count, sizeof *places);

    SORT(program->symbols, program->symbol_count, compare_program_order);
    for (size_t i = 0; i < program->symbol_count; i++)
        places[program->symbols[i].number] = (uint32_t)i;
    for (size_t i = 0; i < program->module_count; i++)
        for (size_t j = 0; j < program->details[i].entry_count; j++)
            if (program->details[i].entries[j].symbol != NO_SYMBOL)
                program->details[i].entries[j].symbol =
                    places[program->details[i].entries[j].symbol];
}

static void connect_aliases(struct resolver *resolver, uint32_t module)
{
    struct program *program = resolver->program;
    const struct program_module *details = &program->details[module];

    for (size_t i = 0; i < details->entry_count; i++) {
        const struct program_entry *entry = &details->entries[i];
        const struct program_entry *target;
        uint32_t at;

        if (!entry->alias || entry->symbol == NO_SYMBOL)
            continue;
        at = table_find(&details->names, entry->alias->target);
        target = at == TABLE_NONE ? NULL : &details->entries[at];
        if (!target || !target->item || target->item->kind != PTX_FUNCTION ||
            !target->item->is_definition)
            resolver->failed = !diag_error(
                "Alias '%.*s' in '%s' is of '%.*s', which is no function defined there",
                TEXT_ARG(entry->name), file_of(resolver, module), TEXT_ARG(entry->alias->target));
        else if (program->symbols[entry->symbol].module == module)
            program->symbols[entry->symbol].alias_target = target->symbol;
    }
}

bool symbols_resolve(struct program *program, const struct program_request *request)
{
    struct resolver resolver = {.program = program, .takes_first = request->takes_first};
    size_t most = 0;

    CONTEXT_DEFER(table_cleanup, &resolver.globals);
    for (size_t i = 0; i < program->module_count; i++) {
        resolver.failed |= !collect_module_entries(program, i);
        most += program->details[i].entry_count;
    }
    program->symbols = arena_alloc(&program->arena, most, sizeof *program->symbols);
    for (uint32_t i = 0; i < program->module_count; i++)
        resolve_module(&resolver, i);
    order_symbols(program);
    for (uint32_t i = 0; i < program->module_count; i++)
        connect_aliases(&resolver, i);
    return !resolver.failed;
}
