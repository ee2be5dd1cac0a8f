/* check.c: checks that need to know what is live. An extern function that nothing calls may be
 * undefined or have another prototype (measured). */
#include "base/context.h"
#include "base/memory.h"
#include "diag/diag.h"
#include "options/entries.h"
#include "ptx/driver_functions.h"
#include "ptx/link.h"
#include "ptx/types.h"

/* To nvlink, signed, unsigned and untyped bits of one size are the same type; floats are not. */
static unsigned type_class(enum ptx_type type)
{
    switch (type) {
    case PTX_F16:
    case PTX_F16X2:
    case PTX_F32:
    case PTX_F64:
        return 64 + type;
    default:
        return ptx_type_size(type);
    }
}

static bool same_parameter(const struct ptx_parameter *a, const struct ptx_parameter *b)
{
    return type_class(a->type) == type_class(b->type) && a->size == b->size &&
           a->is_array == b->is_array && a->is_return == b->is_return;
}

static bool same_prototype(const struct ptx_item *a, const struct ptx_item *b)
{
    if (a->function.parameter_count != b->function.parameter_count ||
        a->function.return_count != b->function.return_count)
        return false;
    for (uint32_t i = 0; i < a->function.parameter_count; i++)
        if (!same_parameter(&a->function.parameters[i], &b->function.parameters[i]))
            return false;
    return true;
}

/* True unless the module uses or defines the function and its first prototype differs from the
 * definition's. */
static bool is_prototype_known(const struct program *program, const struct program_entry *entry)
{
    const struct program_symbol *symbol = &program->symbols[entry->symbol];

    return entry->item->kind != PTX_FUNCTION || !symbol->is_function || symbol->is_entry ||
           entry->item == symbol->item || (!entry->is_used && !entry->item->is_definition) ||
           same_prototype(entry->item, symbol->item);
}

static bool may_be_undefined(const struct program_symbol *symbol,
                             const struct program_request *request)
{
    const struct ptx_item *item = symbol->item;

    if (symbol->is_defined || request->allow_undefined ||
        (request->provided && table_find(request->provided, symbol->own_name) != TABLE_NONE))
        return true;
    if (symbol->is_function)
        return driver_functions_provides(symbol->own_name);
    /* Textures, samplers and surfaces are bound by the host; nothing defines them. */
    if (ptx_type_is_opaque(item->variable.type))
        return true;
    /* Dynamic shared memory: its size comes with the launch. */
    return item->variable.space == PTX_SPACE_SHARED && item->variable.size == 0 &&
           item->variable.is_array;
}

bool check_lacks_symbols(const struct program *program, const struct program_request *request)
{
    for (size_t i = 0; i < program->symbol_count; i++)
        if (!may_be_undefined(&program->symbols[i], request))
            return true;
    return false;
}

/* What a name given with -Xptxas -e is. */
enum entry_state { ENTRY_UNKNOWN, ENTRY_OTHER, ENTRY_KERNEL };

static void find_entries(struct table *states, const struct program *program)
{
    for (size_t i = 0; i < program->symbol_count; i++) {
        const struct program_symbol *symbol = &program->symbols[i];

        if (symbol->is_defined && table_find(states, symbol->own_name) < ENTRY_KERNEL)
            table_set(states, symbol->own_name, symbol->is_entry ? ENTRY_KERNEL : ENTRY_OTHER);
    }
}

/* Each pattern must select a kernel. */
static bool check_patterns(const struct program *program, const struct program_request *request)
{
    const struct entry_selection *entries = request->entries;
    bool is_good = true;

    for (size_t i = 0; i < entries->pattern_count && request->selects_entries; i++) {
        bool has_matched = false;

        for (size_t j = 0; j < program->symbol_count && !has_matched; j++)
            has_matched =
                program->symbols[j].is_defined && program->symbols[j].is_entry &&
                pattern_matches(&entries->patterns[i].pattern, program->symbols[j].own_name);
        if (!has_matched)
            is_good =
                diag_error("No entry function matches '%.*s', which -Xptxas --entry-pattern gives",
                           TEXT_ARG(entries->patterns[i].text));
    }
    return is_good;
}

/* The message texts are ptxas's. */
static bool check_entries(const struct program *program, const struct program_request *request)
{
    const struct entry_selection *entries = request->entries;
    struct table states = {0};
    bool is_good = true;

    if (!entries || entries->count == 0)
        return !entries || check_patterns(program, request);
    CONTEXT_DEFER(table_cleanup, &states);
    for (size_t i = 0; i < entries->count; i++)
        table_set(&states, entries->names[i], ENTRY_UNKNOWN);
    find_entries(&states, program);
    for (size_t i = 0; i < entries->count; i++) {
        struct text name = entries->names[i];
        uint32_t state = table_find(&states, name);

        if (state == ENTRY_UNKNOWN)
            is_good =
                diag_error("Unknown function %.*s: -Xptxas -e names it, and no PTX defines it",
                           TEXT_ARG(name));
        else if (state == ENTRY_OTHER && request->selects_entries)
            is_good =
                diag_error("Entry function '%.*s' not found: what -Xptxas -e names is no kernel",
                           TEXT_ARG(name));
    }
    return check_patterns(program, request) && is_good;
}

bool check_program(const struct program *program, const struct program_request *request)
{
    bool is_good = check_entries(program, request);
    struct program_fault *faults = NULL;
    size_t count = 0, capacity = 0;

    CONTEXT_DEFER(memory_cleanup, &faults);
    for (uint32_t i = 0; i < program->module_count; i++) {
        const struct program_module *details = &program->details[i];

        for (size_t j = 0; j < details->entry_count; j++) {
            const struct program_entry *entry = &details->entries[j];

            if (entry->symbol == NO_SYMBOL || !entry->item)
                continue;
            if (!is_prototype_known(program, entry))
                ARRAY_PUSH(faults, count, capacity) = (struct program_fault){false, i, entry};
            if (entry->is_used && !may_be_undefined(&program->symbols[entry->symbol], request))
                ARRAY_PUSH(faults, count, capacity) = (struct program_fault){true, i, entry};
        }
    }
    diagnostics_report(program, faults, count, request->members);
    return is_good && count == 0;
}
