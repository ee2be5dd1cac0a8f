/* check.c: checks that need to know what is live. An extern function that nothing calls may be
 * undefined or have another prototype (measured). */
#include "base/context.h"
#include "base/memory.h"
#include "diag/diag.h"
#include "options/consensus.h"
#include "ptx/driver_functions.h"
#include "ptx/link.h"
#include "ptx/types.h"

/* To nvlink, signed, unsigned and untyped bits of one size are the same type; floats are not. */
static unsigned type_class(enum ptx_type type)
{
    bool is_float = type == PTX_F16 || type == PTX_F16X2 || type == PTX_F32 || type == PTX_F64;

    return is_float ? 64 + type : ptx_type_size(type);
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

/* Whether anything of that name, or that a pattern matches, is defined; with `is_kernel`, as one.
 */
static bool defines(const struct program *program, struct text name,
                    const struct entry_pattern *pattern, bool is_kernel)
{
    for (size_t i = 0; i < program->symbol_count; i++) {
        const struct program_symbol *symbol = &program->symbols[i];

        if (symbol->is_defined && (symbol->is_entry || !is_kernel) &&
            (pattern ? entries_pattern_matches(pattern, symbol->own_name)
                     : text_equal(symbol->own_name, name)))
            return true;
    }
    return false;
}

/* Checks what -Xptxas -e and --entry-pattern name. The first two messages are ptxas's. */
static bool check_entries(const struct program *program, const struct program_request *request)
{
    static const struct entry_selection none = {0};
    const struct entry_selection *entries = request->entries ? request->entries : &none;
    bool is_good = true, selects = request->selects_entries;

    for (size_t i = 0; i < entries->count; i++) {
        struct text name = entries->names[i];

        if (!defines(program, name, NULL, false))
            is_good =
                diag_error("Unknown function %.*s: -Xptxas -e names it, and no PTX defines it",
                           TEXT_ARG(name));
        else if (selects && !defines(program, name, NULL, true))
            is_good =
                diag_error("Entry function '%.*s' not found: what -Xptxas -e names is no kernel",
                           TEXT_ARG(name));
    }
    for (size_t i = 0; selects && i < entries->pattern_count; i++)
        if (!defines(program, entries->patterns[i].text, &entries->patterns[i], true))
            is_good =
                diag_error("No entry function matches '%.*s', which -Xptxas --entry-pattern gives",
                           TEXT_ARG(entries->patterns[i].text));
    return is_good;
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
