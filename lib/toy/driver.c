/* driver.c: the built-in assembler: compiles one PTX module to one cubin, phase by phase.
 *
 * Each phase is a function here, or in the file that does its work; only the table has the
 * description's number and heading for it. All state of a chunk is in one struct unit, which the
 * last phases free in any case, even if memory runs out. */
#include "toy/internal.h"

#include <stdio.h>

#include "base/clock.h"
#include "diag/events.h"
#include "pool/dispatch.h"
#include "toy/builtin.h"

static bool fail_at_module(const struct unit *unit, const char *format, const char *argument)
{
    const struct diag_place place =
        diag_place_of(unit->module.file, unit->module.whole,
                      (size_t)(unit->module.text.data - unit->module.whole.data));

    return diag_at(DIAG_FATAL, &place, format, argument);
}

/* Phase 1. Cache options are checked here, and kept for phase 16. */
static bool read_options(struct unit *unit)
{
    struct diag_state *state = diag_state_get();
    bool ok = switches_read(unit);

    state->suppress_warnings |= unit->switches.no_warnings;
    state->warnings_are_errors |= unit->switches.warnings_are_errors;
    return ok && compile_check_caches(&unit->switches);
}

/* Phase 2. The driver checks again before each phase, and before each function. */
static bool check_cancellation(struct unit *unit)
{
    return !unit_is_cancelled(unit);
}

/* The linker takes over directives that it does not know; whoever compiles them must know them. */
static bool knows_directives(const struct unit *unit)
{
    bool ok = true;

    for (size_t i = 0; i < unit->module.item_count; i++) {
        const struct ptx_item *item = &unit->module.items[i];

        if (item->kind != PTX_FUNCTION || item->function.performance.unknown.size == 0)
            continue;
        const struct diag_place place = source_ptx_place(&unit->module, item, item->text.data);

        ok = diag_at(DIAG_ERROR, &place, "Unknown directive of '%.*s':%.*s", TEXT_ARG(item->name),
                     TEXT_ARG(item->function.performance.unknown));
    }
    return ok;
}

/* Phase 4. The file walker parses the text: a chunk is one module. The version tables are constant
 * and need not be installed. */
static bool parse_module(struct unit *unit)
{
    struct text text = {unit->job.ptx, unit->job.ptx_size};
    struct module_cursor cursor = {0};

    if (!module_parse(&unit->module, &unit->arena, unit->job.name, text, &cursor))
        return false;
    if (module_at_end(text, cursor.offset))
        return knows_directives(unit);
    struct diag_place place = diag_place_of(unit->job.name, text, cursor.offset);
    return diag_at(DIAG_ERROR, &place, "Duplicate .version directive");
}

/* Every .target with every --gpu-name was measured, of sm_107 with ptxas 13.5. The old name of a
 * target with a suffix is taken for the new one. */
static bool check_target(const struct unit *unit, struct arch arch)
{
    struct arch target = unit->module.target;
    char name[ARCH_NAME_SIZE];
    const char *fault;

    arch_name(target, name);
    if (target.suffix)
        target.sm = (uint16_t)runs_on_number(target.sm, toolkits_newest());
    if (runs_on_ptx(arch, target, toolkits_newest()))
        return true;
    if (target.sm > arch.sm)
        return fail_at_module(
            unit,
            "SM version specified by .target is higher than default SM version assumed ('%s')",
            unit->job.arch);
    if (target.suffix == 'f')
        fault = "Program with .target '%s' cannot be compiled to different SM-family architecture";
    else if (target.sm < arch.sm)
        fault = "Program with .target '%s' cannot be compiled to future architecture";
    else
        fault = "PTX with .target '%s' cannot be compiled for another architecture";
    return fail_at_module(unit, fault, name);
}

/* PTX of a CUDA that is not known yet is compiled as far as its instructions are known. */
static bool is_of_newer(const struct unit *unit)
{
    return toolkits_ptx_is_newer(unit->module.version_major, unit->module.version_minor);
}

/* Phase 5. */
static bool check_versions(struct unit *unit)
{
    const struct ptx_module *module = &unit->module;
    unsigned version = module->version_major * 10u + module->version_minor;
    struct arch arch;
    char text[32];
    const struct target_name *target = targets_find_name(module->target);

    if (!arch_parse(text_of(unit->job.arch), "sm_", &arch) || !targets_know(arch, NULL))
        return fail_at_module(unit, "Architecture '%s' is not supported", unit->job.arch);
    snprintf(text, sizeof text, "%u.%u", module->version_major, module->version_minor);
    if (!toolkits_ptx_is_known(module->version_major, module->version_minor) && !is_of_newer(unit))
        return fail_at_module(unit, "Unsupported .version %s", text);
    if (!target)
        return fail_at_module(unit, "Unsupported .target '%s'", arch_name(module->target, text));
    if (version < target->first_ptx)
        return fail_at_module(unit, "PTX .version %s does not support its .target", text);
    return check_target(unit, arch);
}

/* Phase 10. Functions, variables and aliases share one table of names; the records are an array
 * with one entry for each function with a body. */
static bool make_tables(struct unit *unit)
{
    size_t count = 0;

    for (size_t i = 0; i < unit->module.item_count; i++)
        count += unit->module.items[i].kind == PTX_FUNCTION && unit->module.items[i].is_definition;
    unit->scope.globals =
        arena_alloc(&unit->arena, unit->module.item_count, sizeof *unit->scope.globals);
    unit->functions = arena_zalloc(&unit->arena, count, sizeof *unit->functions);
    return true;
}

/* Phase 12. Each function has its own budget, from its directives (allocate.c) or from options. */
static bool limit_registers(struct unit *unit)
{
    if (unit->module.address_size == 32)
        return fail_at_module(
            unit,
            targets_have(unit->job.sm, TARGET_HAS_FORM_90)
                ? "32-Bit ABI (--machine 32 or 32-Bit addressing) is not supported "
                  "on sm_90 or higher architectures.%s"
                : "32-Bit compilation is no longer supported%s",
            "");
    for (size_t i = 0; i < unit->module.item_count; i++) {
        struct ptx_item *item = &unit->module.items[i];

        if (item->kind == PTX_FUNCTION && item->function.is_entry)
            allocate_override(&item->function.performance, &unit->switches);
    }
    return true;
}

/* Phase 14. The unit's copy of the job is all that compilation reads of it. */
static bool apply_switches(struct unit *unit)
{
    unit->job.debug |= unit->switches.debug;
    if (unit->switches.maxrregcount != SWITCH_NOT_GIVEN)
        unit->job.maxrregcount = (uint32_t)unit->switches.maxrregcount;
    return true;
}

/* Phase 15. In all modes: makes a record for each function of phase 13, in order of the text. */
static bool make_records(struct unit *unit)
{
    for (size_t i = 0; i < unit->module.item_count; i++) {
        const struct ptx_item *item = &unit->module.items[i];

        if (item->kind != PTX_FUNCTION || !item->is_definition)
            continue;
        struct global *global = scope_find(&unit->scope, item->name);
        if (!global || global->item != item || !global->is_defined)
            continue;
        global->function = &unit->functions[unit->function_count++];
        *global->function = (struct function_code){.unit = unit, .item = item, .global = global};
    }
    return true;
}

/* Phase 20. R0 to R3 are always reserved; ptxas has no option to reserve more, but minilink has. */
static bool reserve_registers(struct unit *unit)
{
    uint32_t first = (uint32_t)unit->switches.first_reserved;
    uint32_t count = (uint32_t)unit->switches.reserved_count;

    first = first < REGISTERS_FIRST ? REGISTERS_FIRST : first;
    unit->reserved_registers = count << 16 | first;
    return true;
}

/* Phase 21. Sets what the compilation of each function reads. */
static bool prepare_functions(struct unit *unit)
{
    unit->parameter_base = targets_find(unit->job.sm)->parameters;
    /* Patch code may use only the registers that the ABI leaves it. */
    if (unit->mode == MODE_TOOLS_PATCH)
        unit->job.maxrregcount = REGISTERS_LEAST;
    return true;
}

static enum link_code compile_one(void *argument)
{
    struct function_code *function = argument;
    uint64_t start = events_clock(), cpu = start ? clock_thread() : 0;
    bool ok;

    if (unit_is_cancelled(function->unit))
        return LINK_CANCELLED;
    ok = compile_function(function->unit, function);
    if (start)
        events_record(&(struct event){.kind = EVENT_FUNCTION,
                                      .name = function->item->name,
                                      .start = start,
                                      .cpu = clock_thread() - cpu,
                                      .bytes = function->item->text.size,
                                      .state = ok ? NULL : "failed"});
    return ok ? LINK_OK : LINK_FAILED;
}

/* A task of one worker: the function, and those after it up to the end of the batch. */
static void run_batch(void *first)
{
    struct function_code *function = first;

    do
        function->outcome =
            diag_collect(compile_one, function, function->unit->messages, &function->messages);
    while (!function++->ends_batch);
}

/* Bytes of PTX for a batch. Dynamic scheduling: just enough to be worth a task. Static: an equal
 * share for each thread. */
static size_t batch_size(const struct unit *unit, uint32_t threads)
{
    size_t total = 0;

    if (unit->switches.dynamic_scheduling)
        return (size_t)unit->switches.minimum_section;
    for (size_t i = 0; i < unit->function_count; i++)
        total += unit->functions[i].item->text.size;
    return total / threads + 1;
}

/* Cuts the functions into batches of at least `least` bytes, and makes a task of each. */
static size_t make_batches(struct unit *unit, size_t least, struct pool_task *tasks)
{
    size_t count = unit->function_count, made = 0;

    for (size_t begin = 0, end; begin < count; begin = end) {
        size_t size = 0;

        for (end = begin; end < count && (end == begin || size < least); end++)
            size += unit->functions[end].item->text.size;
        unit->functions[end - 1].ends_batch = true;
        tasks[made] = (struct pool_task){run_batch, &unit->functions[begin],
                                         size < UINT32_MAX ? (uint32_t)size : UINT32_MAX, 0};
        made++;
    }
    return made;
}

/* The per-function loop, in one thread or on several: minilink-internals(7), Functions of one
 * chunk. Each function is a work item; small ones are batched. The results are the same for any
 * number of threads, byte for byte and message for message. Fails if the job is cancelled, or, with
 * errors in the functions' order, if a function cannot be assembled. */
static bool compile_all(struct unit *unit)
{
    size_t count = unit->function_count;
    uint32_t threads = count > 1 ? switches_threads(unit) : 1;
    struct dispatch_request wanted = {.tasks =
                                          arena_alloc(&unit->arena, count, sizeof *wanted.tasks),
                                      .threads = threads,
                                      .jobserver = (enum jobserver_use)unit->job.jobserver};
    bool ok = true, has_memory = true;

    unit->messages = diag_state_get();
    wanted.count = make_batches(unit, batch_size(unit, threads), wanted.tasks);
    dispatch_run(&wanted);
    for (size_t i = 0; i < count; i++) {
        diag_replay(&unit->functions[i].messages);
        ok &= unit->functions[i].outcome == LINK_OK;
        unit->has_kernel |= unit->functions[i].item->function.is_entry;
        unit->uses_textures |= unit->functions[i].uses_textures;
        has_memory &= unit->functions[i].outcome != LINK_NO_MEMORY;
    }
    if (!has_memory && !unit_is_cancelled(unit))
        context_raise(LINK_NO_MEMORY);
    return ok;
}

/* Phase 23. Compiles functions on all threads; then places variables and sections, in order of the
 * text, on one thread (QUIRK 3). */
static bool compile_functions(struct unit *unit)
{
    if (!compile_all(unit)) {
        if (is_of_newer(unit) && !unit_is_cancelled(unit))
            diag_note("the built-in assembler knows PTX up to %u.%u, and this is PTX %u.%u: "
                      "--assembler=ptxas runs a toolkit's",
                      toolkits_newest()->ptx / 10u, toolkits_newest()->ptx % 10u,
                      unit->module.version_major, unit->module.version_minor);
        return false;
    }
    if (!data_build(unit))
        return false;
    unit->obstacle = "it was not asked for";
    if (unit->switches.executable && unit->mode == MODE_WHOLE_PROGRAM)
        unit->obstacle = program_emit(unit);
    if (unit->obstacle)
        emit_relocatable(unit);
    return true;
}

/* Phase 25. */
static bool free_functions(struct unit *unit)
{
    for (size_t i = 0; i < unit->function_count; i++) {
        diag_sink_free(&unit->functions[i].messages);
        arena_free(&unit->functions[i].arena);
    }
    return true;
}

/* Phase 26. Frees all but the cubin. */
static bool free_unit(struct unit *unit)
{
    table_free(&unit->scope.names);
    buffer_free(&unit->code);
    image_strings_free(&unit->strings);
    image_free(&unit->image);
    arena_free(&unit->arena);
    return true;
}

/* Without rows: 3 (Timing Gate: run_phase() reads the clock), 7 (PTX Header Emission: the parser
 * needs no placeholder entry), 16 (Load/Store Cache Mode: phase 1 has it), 17 (Indirect Call and
 * MMA Validation: phase 24, when calls are known), 18 (Scheduling Class Assignment: instructions
 * keep the order of the text), 19 (Debug Info Setup: there is none; the module's own .debug_
 * sections describe code of another encoding), 22 (Output File Setup: the output is a buffer). */
const struct phase driver_phases[DRIVER_PHASES] = {
    {1, "Option Query and Cache Configuration", read_options, LINK_USAGE},
    {2, "Cancellation Check", check_cancellation, LINK_CANCELLED},
    {4, "Callback Registration", parse_module, LINK_FAILED},
    {5, "SM Version Validation", check_versions, LINK_FAILED},
    {6, "Mode Flag Dispatch", switches_choose_mode, LINK_FAILED},
    {8, "Tools-Patch Warnings", results_check_patch, LINK_FAILED},
    {9, "Compilation Flag Setup", switches_resolve, LINK_USAGE},
    {10, "Hash Maps and Codegen Context", make_tables, LINK_FAILED},
    {11, "Register Callbacks on Module IR", scope_build, LINK_FAILED},
    {12, "Address Width and Register Budget", limit_registers, LINK_FAILED},
    {13, "Entry Point Collection", scope_select, LINK_FAILED},
    {14, "Transfer State into Codegen Context", apply_switches, LINK_FAILED},
    {15, "init_callback(ctx, entries)", make_records, LINK_FAILED},
    {20, "Reserved Register Configuration", reserve_registers, LINK_FAILED},
    {21, "Build Per-Function Codegen Config and CodegenPipeline", prepare_functions, LINK_FAILED},
    {23, "Per-Function Compile Loop", compile_functions, LINK_FAILED},
    {24, "Post-Compilation Cleanup", results_report, LINK_FAILED},
    {25, "Pipeline Config Teardown", free_functions, LINK_OK},
    {26, "Final Cleanup", free_unit, LINK_OK},
};

/* A warning that is treated as an error ends the compilation too. Errors are counted from the start
 * of the job. */
static enum link_code run_phase(struct unit *unit, size_t index)
{
    uint64_t begin = clock_now();

    unit->phases[index].has_run = true;
    bool ok = driver_phases[index].run(unit);
    unit->phases[index].nanoseconds = clock_now() - begin;
    if (ok)
        return diag_error_count() > 0 ? LINK_FAILED : LINK_OK;
    return unit_is_cancelled(unit) ? LINK_CANCELLED : driver_phases[index].failure;
}

static enum link_code run_until_failure(void *argument)
{
    struct unit *unit = argument;

    for (size_t i = 0; i < DRIVER_PHASES && driver_phases[i].failure != LINK_OK; i++) {
        if (unit_is_cancelled(unit))
            return LINK_CANCELLED;
        enum link_code code = run_phase(unit, i);
        if (code != LINK_OK)
            return code;
    }
    return LINK_OK;
}

static const char *const mode_names[] = {
    [MODE_WHOLE_PROGRAM] = "whole program",
    [MODE_COMPILE_ONLY] = "compile-only",
    [MODE_TOOLS_PATCH] = "tools-patch",
    [MODE_EXTENSIBLE_WHOLE_PROGRAM] = "extensible whole program",
};

/* One message, so that traces of chunks that are assembled in parallel are not mixed. */
static void trace(const struct unit *unit)
{
    diag_info("Phases of '%s':", unit->job.name);
    for (size_t i = 0; i < DRIVER_PHASES; i++)
        if (unit->phases[i].has_run)
            diag_note("%02u %-54s %10.3f ms", driver_phases[i].number, driver_phases[i].name,
                      (double)unit->phases[i].nanoseconds / 1e6);
    if (unit->mode)
        diag_note("mode: %s", mode_names[unit->mode]);
    if (unit->switches.executable && unit->obstacle)
        diag_note("no executable: %s", unit->obstacle);
}

/* Runs all phases, and gives the caller their result. */
static enum link_code run_all(void *argument)
{
    struct unit *unit = argument;
    struct diag_state *state = diag_state_get();
    enum link_code code = context_run(run_until_failure, unit);

    for (size_t i = 0; i < DRIVER_PHASES; i++)
        if (driver_phases[i].failure == LINK_OK)
            run_phase(unit, i);
    if (unit->switches.phase_trace)
        trace(unit);
    if (code == LINK_OK && state->has_warning_or_error)
        code = state->has_fatal_error ? LINK_FAILED : LINK_WARNED;
    if (state->sink->text.size)
        unit->result->log = buffer_take(&state->sink->text, NULL);
    if (code == LINK_OK || code == LINK_WARNED)
        unit->result->cubin = buffer_take(&unit->cubin, &unit->result->cubin_size);
    return code;
}

/* Writes messages into the log, whose format does not depend on the user's output options. */
static void report_into(struct diag_state *state, struct diag_sink *log)
{
    state->sink = log;
    state->program = BUILTIN_NAME;
    state->report_arch = NULL;
    state->error_count = 0;
    state->format = DIAG_FORM_GNU;
    state->color = state->annotate = false;
    state->has_warning_or_error = state->has_fatal_error = false;
}

static int assemble(void *unused, const struct minilink_job *job, struct minilink_result *result)
{
    struct diag_sink sink = {0};
    struct diag_state *state = diag_state_get();
    struct diag_state outer = *state;
    struct unit unit = {.job = *job, .result = result};

    (void)unused;
    report_into(state, &sink);
    enum link_code code = context_run(run_all, &unit);
    outer.event_thread = state->event_thread; /* belongs to the thread once it is set */
    *state = outer;
    buffer_free(&unit.cubin);
    diag_sink_free(&sink);
    return (int)code;
}

const struct minilink_assembler builtin_assembler = {
    .abi = MINILINK_ASSEMBLER_ABI,
    .name = BUILTIN_NAME,
    .version = BUILTIN_VERSION,
    .assemble = assemble,
};
