/* results.c: what the mode asks of the functions: that kernels have enough registers for those that
 * they reach, by calls and by addresses, and that code for tools to patch in has no resources of
 * its own; the output of -v and the remarks about each function.
 *
 * Measured on ptxas, -c: the kernel's limit matters, not its use. ptxas reports every pair of
 * kernel and function; here each function is reported once, with the kernel of the lowest limit, so
 * that the call graph is walked once for any number of kernels. */
#include "toy/internal.h"

#include "base/search.h"

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
bool results_check_patch(struct unit *unit)
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

/* The same in phase 24: variables of bodies, and calls with unknown targets. */
static bool check_patch(const struct unit *unit)
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

/* Sets the kernel of the functions that `kernel` reaches and that have none yet. */
static void mark_reached(const struct unit *unit, struct function_code *kernel,
                         struct function_code **work)
{
    size_t count = 0;

    if (kernel->kernel)
        return;
    kernel->kernel = kernel;
    work[count++] = kernel;
    while (count) {
        const struct function_code *code = work[--count];

        for (size_t i = 0; i < code->symbol_count; i++) {
            struct global *global =
                scope_used_function(&unit->scope, &code->symbols[i], USE_CALLED | USE_ADDRESS);
            struct function_code *function = global ? global->target->function : NULL;

            if (!function || function->kernel)
                continue;
            function->kernel = kernel;
            work[count++] = function;
        }
    }
}

/* A function runs with the registers of the kernel that called it. Chunks are compiled in the
 * compile-only mode too, and the division into chunks must not decide whether a link succeeds:
 * registers are only checked if the user has requested the mode. */
static bool check_registers(struct unit *unit)
{
    size_t count = unit->function_count;
    struct function_code *functions = unit->functions;
    struct function_code **work = arena_alloc(&unit->arena, count, sizeof *work);
    bool is_good = true;

    if (unit->mode == MODE_WHOLE_PROGRAM || !unit->switches.compile_only || unit->job.debug)
        return true;
    for (uint32_t limit = 0; limit <= REGISTERS_MOST; limit++)
        for (size_t i = 0; i < count; i++)
            if (functions[i].item->function.is_entry && functions[i].register_limit == limit)
                mark_reached(unit, &functions[i], work);
    for (size_t i = 0; i < count; i++) {
        const struct function_code *function = &functions[i], *kernel = function->kernel;

        if (kernel && function->register_count > kernel->register_limit)
            is_good =
                diag_error("Entry function '%.*s' with max regcount of %u calls function '%.*s' "
                           "with regcount of %u",
                           TEXT_ARG(kernel->item->name), kernel->register_limit,
                           TEXT_ARG(function->item->name), function->register_count);
    }
    return is_good;
}

static void report_owner(const struct unit *unit, const struct function_code *function)
{
    struct text name = function->item->name;

    if (function->item->function.is_entry)
        diag_info("Compiling entry function '%.*s' for '%s'", TEXT_ARG(name), unit->job.arch);
    diag_info("Function properties for %.*s: %u bytes stack frame, %u bytes spilled",
              TEXT_ARG(name), function->frame_bytes, function->spill_bytes);
    if (function->item->function.is_entry)
        diag_info("Used %u registers, used %u barriers, %llu bytes smem", function->register_count,
                  function->barrier_count, (unsigned long long)function->shared_bytes);
}

static void report_use(const struct unit *unit)
{
    uint64_t globals =
        unit->data.sections[DATA_INITIALISED].size + unit->data.sections[DATA_ZERO].size;

    if (!unit->switches.verbose)
        return;
    diag_info("%llu bytes gmem, %llu bytes cmem[3]", (unsigned long long)globals,
              (unsigned long long)unit->data.sections[DATA_CONSTANT].size);
    for (size_t i = 0; i < unit->owner_count; i++)
        report_owner(unit, &unit->owners[i]);
}

static void warn_of_function(const struct switches *switches, const struct function_code *function)
{
    struct text name = function->item->name;

    if (switches->warn_on_spills && function->spill_bytes)
        diag_warning("Registers are spilled to local memory in function '%.*s', %u bytes",
                     TEXT_ARG(name), function->spill_bytes);
    if (switches->warn_on_local_memory && function->frame_bytes)
        diag_warning("Local memory used for function '%.*s', size of stack frame: %u bytes",
                     TEXT_ARG(name), function->frame_bytes);
}

uint32_t results_callee(void *unit, uint32_t function, uint32_t position)
{
    const struct unit *chunk = unit;
    const struct function_code *code = &chunk->functions[function];
    struct global *callee;

    if (position >= code->symbol_count)
        return COMPONENTS_END;
    callee = scope_used_function(&chunk->scope, &code->symbols[position], USE_CALLED);
    return callee && callee->target->function
               ? (uint32_t)(callee->target->function - chunk->functions)
               : function;
}

/* Reports a ring: the first of its functions in the order of the text. */
static void report_ring(void *argument, const uint32_t *members, size_t count, const bool *is_open)
{
    const struct unit *unit = argument;
    uint32_t first = UINT32_MAX, second = UINT32_MAX;

    (void)is_open;
    for (size_t i = 0; i < count; i++)
        if (members[i] < first) {
            second = first;
            first = members[i];
        } else if (members[i] < second) {
            second = members[i];
        }
    if (count > 1)
        diag_info("Functions '%.*s' and '%.*s'%s call each other",
                  TEXT_ARG(unit->functions[first].item->name),
                  TEXT_ARG(unit->functions[second].item->name), count > 2 ? " and more" : "");
}

static void report_calls(struct unit *unit)
{
    for (size_t i = 0; i < unit->function_count; i++)
        if (unit->functions[i].calls_indirectly && unit->functions[i].has_double_mma)
            diag_info("Function '%.*s' has indirect calls beside mma .f64, which keep the "
                      "scheduler from the tensor cores",
                      TEXT_ARG(unit->functions[i].item->name));
    if (unit->switches.verbose)
        components_find(
            &(struct components_graph){unit, unit->function_count, results_callee, report_ring},
            &unit->arena);
}

bool results_report(struct unit *unit)
{
    bool is_good = unit->mode == MODE_TOOLS_PATCH ? check_patch(unit) : check_registers(unit);

    report_calls(unit);
    report_use(unit);
    for (size_t i = 0; i < unit->function_count; i++)
        warn_of_function(&unit->switches, &unit->functions[i]);
    return is_good;
}
