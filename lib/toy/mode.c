/* mode.c: the choice of the mode, and the checks of each.
 *
 * The choice is that of ptxas 13.0; from 13.3 on -astoolspatch goes with -c. --assyscall, which the
 * description lists with these flags, is not an option of ptxas. */
#include "toy/phases.h"

#include <stddef.h>

#include "diag/diag.h"
#include "ptx/module.h"

const char *const mode_names[] = {
    [MODE_WHOLE_PROGRAM] = "whole program",
    [MODE_COMPILE_ONLY] = "compile-only",
    [MODE_TOOLS_PATCH] = "tools-patch",
    [MODE_EXTENSIBLE_WHOLE_PROGRAM] = "extensible whole program",
};

#define CONFLICT(first, second) "Conflicting options " first " and " second " specified"
#define C                       "'--compile-only'"
#define E                       "'--extensible-whole-program'"
#define T                       "--compile-as-tools-patch"

bool mode_choose(struct unit *unit)
{
    bool is_patch = unit->switches.tools_patch, is_extensible = unit->switches.extensible;
    bool is_debug = unit->switches.debug || unit->job->debug;
    bool is_merged = unit->job->mode != MINILINK_MODE_WHOLE && !is_extensible && !is_patch;
    bool is_compile_only = unit->switches.compile_only || is_merged;

    if (is_compile_only && is_extensible) {
        diag_warning(CONFLICT(C, E) ", ignoring " E " option");
        is_extensible = false;
    }
    if (is_patch && (is_compile_only || is_extensible))
        return diag_fatal("%s", is_compile_only ? CONFLICT(C, T) : CONFLICT(E, T));
    /* QUIRK 1: silently. ptxas then also keeps functions that nothing calls, as under -c. */
    is_compile_only |= is_extensible && is_debug;
    unit->mode = is_patch          ? MODE_TOOLS_PATCH
                 : is_compile_only ? MODE_COMPILE_ONLY
                 : is_extensible   ? MODE_EXTENSIBLE_WHOLE_PROGRAM
                                   : MODE_WHOLE_PROGRAM;
    return true;
}

enum resource { SHARED_MEMORY, TEXTURES, SURFACES, SAMPLERS, CONSTANTS, RESOURCES };

static enum resource resource_of(const struct ptx_variable *variable)
{
    return variable->type == PTX_TEXREF          ? TEXTURES
           : variable->type == PTX_SURFREF       ? SURFACES
           : variable->type == PTX_SAMPLERREF    ? SAMPLERS
           : variable->space == PTX_SPACE_SHARED ? SHARED_MEMORY
           : variable->space == PTX_SPACE_CONST  ? CONSTANTS
                                                 : RESOURCES;
}

#define NOT_ALLOWED                                                                                \
    "is not allowed when command line option '--compile-as-tools-patch' is specified"

static bool report_resources(const bool has[RESOURCES])
{
    static const char *const names[RESOURCES] = {"shared memory", "textures", "surfaces",
                                                 "samplers", "constants"};
    bool is_good = true;

    for (size_t i = 0; i < RESOURCES; i++)
        if (has[i])
            is_good = diag_error("Allocating additional %s " NOT_ALLOWED, names[i]);
    return is_good;
}

/* Declarations count (measured): an .extern variable is a resource of the program too. */
bool mode_check_tools_patch(struct unit *unit)
{
    bool has[RESOURCES + 1] = {false};
    bool has_entry = false;

    if (unit->mode != MODE_TOOLS_PATCH)
        return true;
    for (size_t i = 0; i < unit->module.item_count; i++) {
        const struct ptx_item *item = &unit->module.items[i];

        if (item->kind == PTX_VARIABLE)
            has[resource_of(&item->variable)] = true;
        has_entry |= item->kind == PTX_FUNCTION && item->function.is_entry;
    }
    if (has_entry)
        diag_error("Entry function " NOT_ALLOWED);
    return report_resources(has) && !has_entry;
}

bool mode_check_patch(const struct unit *unit)
{
    bool has[RESOURCES] = {false};
    bool is_indirect = false;
    bool is_address_taken = false;

    for (size_t i = 0; i < unit->function_count; i++) {
        const struct function_code *function = &unit->functions[i];

        is_indirect |= function->signature_count != 0;
        for (size_t k = 0; k < function->symbol_count; k++) {
            const struct body_symbol *symbol = &function->symbols[k];

            has[SHARED_MEMORY] |= symbol->is_body_variable && symbol->space == PTX_SPACE_SHARED;
            has[CONSTANTS] |= symbol->is_body_variable && symbol->space == PTX_SPACE_CONST;
        }
    }
    for (size_t i = 0; i < unit->scope.count; i++)
        is_address_taken |=
            unit->scope.globals[i].is_function && unit->scope.globals[i].is_address_taken;
    if (is_indirect)
        diag_fatal("Using indirect function calls " NOT_ALLOWED);
    else if (is_address_taken)
        diag_fatal("Taking address of device functions " NOT_ALLOWED);
    return report_resources(has) && !is_indirect && !is_address_taken;
}
