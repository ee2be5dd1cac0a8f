/* mode.c: the matrix of modes, and the checks of each.
 *
 * The matrix is that of ptxas 13.0; from 13.3 on -astoolspatch goes with -c. --assyscall, which the
 * description lists with these flags, is not an option of ptxas. */
#include "toy/phases.h"

#include <stddef.h>

#include "diag/diag.h"
#include "ptx/types.h"

static const struct mode modes[] = {
    [MODE_WHOLE_PROGRAM] = {MODE_WHOLE_PROGRAM, "whole program", true, false},
    [MODE_COMPILE_ONLY] = {MODE_COMPILE_ONLY, "compile-only", false, false},
    [MODE_TOOLS_PATCH] = {MODE_TOOLS_PATCH, "tools-patch", false, false},
    [MODE_EXTENSIBLE_WHOLE_PROGRAM] = {MODE_EXTENSIBLE_WHOLE_PROGRAM, "extensible whole program",
                                       true, true},
};

#define C MODE_FLAG_COMPILE_ONLY
#define T MODE_FLAG_TOOLS_PATCH
#define E MODE_FLAG_EXTENSIBLE
#define G MODE_FLAG_DEBUG

/* The first row whose flags are all set decides, or drops a flag and continues with the rest. */
static const struct row {
    unsigned flags;
    unsigned dropped;
    enum mode_kind kind; /* MODE_KINDS: refused */
    const char *message;
} matrix[] = {
    {C | E, E, MODE_KINDS,
     "Conflicting options '--compile-only' and '--extensible-whole-program' specified, ignoring "
     "'--extensible-whole-program' option"},
    {C | T, 0, MODE_KINDS,
     "Conflicting options '--compile-only' and --compile-as-tools-patch specified"},
    {E | T, 0, MODE_KINDS,
     "Conflicting options '--extensible-whole-program' and --compile-as-tools-patch specified"},
    /* QUIRK 1: silently. ptxas then also keeps functions that nothing calls, as under -c. */
    {E | G, 0, MODE_COMPILE_ONLY, NULL},
    {T, 0, MODE_TOOLS_PATCH, NULL},
    {C, 0, MODE_COMPILE_ONLY, NULL},
    {E, 0, MODE_EXTENSIBLE_WHOLE_PROGRAM, NULL},
    {0, 0, MODE_WHOLE_PROGRAM, NULL},
};

#undef C
#undef T
#undef E
#undef G

const struct mode *mode_choose(unsigned flags)
{
    for (const struct row *row = matrix;; row++) {
        if ((flags & row->flags) != row->flags)
            continue;
        flags &= ~row->dropped;
        if (row->dropped) {
            diag_warning("%s", row->message);
        } else if (row->kind == MODE_KINDS) {
            diag_fatal("%s", row->message);
            return NULL;
        } else {
            return &modes[row->kind];
        }
    }
}

enum resource { SHARED_MEMORY, TEXTURES, SURFACES, SAMPLERS, CONSTANTS, RESOURCES };

static enum resource resource_of(const struct ptx_variable *variable)
{
    switch ((enum ptx_type)variable->type) {
    case PTX_TEXREF:
        return TEXTURES;
    case PTX_SURFREF:
        return SURFACES;
    case PTX_SAMPLERREF:
        return SAMPLERS;
    default:
        return variable->space == PTX_SPACE_SHARED  ? SHARED_MEMORY
               : variable->space == PTX_SPACE_CONST ? CONSTANTS
                                                    : RESOURCES;
    }
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

    if (unit->mode->kind != MODE_TOOLS_PATCH)
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

/* Checks variables of bodies, and calls with unknown targets. */
static bool check_patch_results(const struct unit *unit)
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

/* Chunks are compiled in the compile-only mode too, and the division into chunks must not decide
 * whether a link succeeds: registers are only checked if the user has requested the mode. */
bool mode_check_results(struct unit *unit)
{
    if (unit->mode->kind == MODE_TOOLS_PATCH)
        return check_patch_results(unit);
    return unit->mode->kind == MODE_WHOLE_PROGRAM || !unit->switches.compile_only ||
           unit->job->debug || results_check_registers(unit);
}
