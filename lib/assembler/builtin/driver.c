/* driver.c: one PTX module to one relocatable cubin, phase by phase.
 *
 * A phase is a function here, named by what it does; the description's heading for it stands in the
 * table alone. What is more than a few lines is in a file of its own. Some phases only prepare an
 * optimiser, which this assembler has not: do_nothing() says why. */
#include "assembler/builtin/driver.h"

#include <stdio.h>

#include "assembler/builtin/budget.h"
#include "assembler/builtin/conflicts.h"
#include "assembler/builtin/emit.h"
#include "assembler/builtin/entries.h"
#include "assembler/builtin/kernels.h"
#include "assembler/builtin/language/target.h"
#include "assembler/builtin/mode.h"
#include "assembler/builtin/report.h"
#include "base/clock.h"
#include "base/diag.h"

/* Nobody pays for a clock that was not asked for. */
static uint64_t now(const struct unit *unit)
{
    return unit->switches.phase_trace ? clock_now() : 0;
}

static enum link_code ok_or_failed(bool ok)
{
    return ok ? LINK_OK : LINK_FAILED;
}

static bool fail_at_module(const struct unit *unit, const char *format, const char *argument)
{
    struct diag_place place =
        diag_place_of(unit->module.file, unit->module.whole,
                      (size_t)(unit->module.text.data - unit->module.whole.data));
    diag_at(DIAG_FATAL, &place, format, argument);
    return false;
}

/* Phase 1. What the cache options say is checked here, and kept for phase 16. */
static enum link_code read_options(struct unit *unit)
{
    struct context *context = context_get();
    bool ok = switches_read(&unit->switches, unit->job, &unit->arena);
    context->suppress_warnings |= unit->switches.no_warnings;
    context->warnings_are_errors |= unit->switches.warnings_are_errors;
    return ok && cache_read(&unit->config.cache, &unit->switches) ? LINK_OK : LINK_USAGE;
}

/* Phase 2. The driver looks again before each phase, and kernels.c before each function. */
static enum link_code check_cancellation(struct unit *unit)
{
    return unit_is_cancelled(unit) ? LINK_CANCELLED : LINK_OK;
}

/* Phase 3. The sum, which phase 25 ends; each phase's own time is the driver's. */
static enum link_code start_clock(struct unit *unit)
{
    unit->times.start = now(unit);
    return LINK_OK;
}

/* Phase 4. The file walker parses the text: a chunk is one module. The version tables are constant
 * (target.c) and need no installing. */
static enum link_code parse_module(struct unit *unit)
{
    struct text text = {unit->job->ptx, unit->job->ptx_size};
    size_t offset = 0;
    if (!module_parse(&unit->module, &unit->arena, unit->job->name, text, &offset))
        return LINK_FAILED;
    if (module_at_end(text, offset))
        return LINK_OK;
    struct diag_place place = diag_place_of(unit->job->name, text, offset);
    diag_at(DIAG_ERROR, &place, "Duplicate .version directive");
    return LINK_FAILED;
}

/* In ptxas's words. */
static bool check_fit(const struct unit *unit, struct arch arch)
{
    char name[ARCH_NAME_SIZE];
    const char *target = arch_name(unit->module.target, name);
    switch (target_fit(unit->module.target, arch)) {
    case TARGET_HIGHER:
        return fail_at_module(unit,
                              "SM version specified by .target is higher than default SM version "
                              "assumed ('%s')",
                              unit->job->arch);
    case TARGET_OTHER_CHIP:
        return fail_at_module(
            unit, "PTX with .target '%s' cannot be compiled for another architecture", target);
    case TARGET_FUTURE:
        return fail_at_module(
            unit, "Program with .target '%s' cannot be compiled to future architecture", target);
    case TARGET_OTHER_FAMILY:
        return fail_at_module(unit,
                              "Program with .target '%s' cannot be compiled to different SM-family "
                              "architecture",
                              target);
    case TARGET_FITS:
        break;
    }
    return true;
}

/* Phase 5. */
static enum link_code check_versions(struct unit *unit)
{
    const struct ptx_module *module = &unit->module;
    struct arch arch;
    char text[32];
    uint16_t first = target_first_ptx(module->target);
    if (!arch_parse(text_of(unit->job->arch), "sm_", &arch) || !target_is_compiled_for(arch))
        return ok_or_failed(
            fail_at_module(unit, "Architecture '%s' is not supported", unit->job->arch));
    snprintf(text, sizeof text, "%u.%u", module->version_major, module->version_minor);
    if (!target_ptx_is_known(module->version_major, module->version_minor))
        return ok_or_failed(
            fail_at_module(unit, "Unsupported .version %s; current version is '9.0'", text));
    if (first == 0)
        return ok_or_failed(
            fail_at_module(unit, "Unsupported .target '%s'", arch_name(module->target, text)));
    if (module->version_major * 10 + module->version_minor < first)
        return ok_or_failed(
            fail_at_module(unit, "PTX .version %s does not support its .target", text));
    return ok_or_failed(check_fit(unit, arch));
}

/* Phase 6. Chunks that are to be merged come as jobs for the compile-only mode. */
static enum link_code choose_mode(struct unit *unit)
{
    const struct switches *switches = &unit->switches;
    unsigned flags = 0;
    if (switches->compile_only || unit->job->mode != MINILINK_MODE_WHOLE)
        flags |= MODE_FLAG_COMPILE_ONLY;
    if (switches->tools_patch)
        flags |= MODE_FLAG_TOOLS_PATCH;
    if (switches->extensible)
        flags |= MODE_FLAG_EXTENSIBLE;
    if (switches->debug || unit->job->debug)
        flags |= MODE_FLAG_DEBUG;
    unit->mode = mode_choose(flags);
    return ok_or_failed(unit->mode != NULL);
}

/* Phase 8. They are errors (measured); what only the bodies show comes in phase 24. */
static enum link_code check_patch_code(struct unit *unit)
{
    return ok_or_failed(unit->mode != mode_get(MODE_TOOLS_PATCH) || mode_check_tools_patch(unit));
}

/* Phase 9. There are no modules without ABI any more: ptxas 13.0 refuses -abi=no. */
static enum link_code resolve_conflicts(struct unit *unit)
{
    return conflicts_resolve(unit) ? LINK_OK : LINK_USAGE;
}

/* Phase 10. The names of functions and variables share one table, and aliases are entries of it;
 * the records are an array of as many functions as have a body. */
static enum link_code make_tables(struct unit *unit)
{
    size_t count = 0;
    for (size_t i = 0; i < unit->module.item_count; i++)
        count += unit->module.items[i].kind == PTX_FUNCTION && unit->module.items[i].is_definition;
    scope_begin(&unit->scope, &unit->arena, &unit->module);
    unit->functions = arena_zalloc(&unit->arena, count, sizeof *unit->functions);
    return LINK_OK;
}

/* Phase 11. Walks the module's items, functions and variables first, then aliases of functions,
 * then over all names to see that they are resolved. */
static enum link_code resolve_names(struct unit *unit)
{
    return ok_or_failed(scope_build(&unit->scope, &unit->module));
}

/* Phase 12. The budget is each function's own, which depends on its directives (budget.c), and on
 * options that stand in for them. */
static enum link_code limit_registers(struct unit *unit)
{
    if (unit->module.address_size == 32)
        return ok_or_failed(fail_at_module(
            unit,
            unit->job->sm >= 90 ? "32-Bit ABI (--machine 32 or 32-Bit addressing) is not supported "
                                  "on sm_90 or higher architectures.%s"
                                : "32-Bit compilation is no longer supported%s",
            ""));
    for (size_t i = 0; i < unit->module.item_count; i++) {
        struct ptx_item *item = &unit->module.items[i];
        if (item->kind == PTX_FUNCTION && item->function.is_entry)
            budget_override(&item->function.performance, &unit->switches);
    }
    return LINK_OK;
}

/* Phase 13. ptxas 13.0 has -e, and no -E. */
static enum link_code select_entries(struct unit *unit)
{
    return ok_or_failed(entries_select(unit));
}

/* Phase 14. What is compiled from here on reads this copy of the job and no longer the caller's:
 * with what the switches say applied to it. */
static enum link_code apply_switches(struct unit *unit)
{
    const struct switches *switches = &unit->switches;
    unit->own_job = *unit->job;
    unit->own_job.debug |= switches->debug;
    unit->own_job.line_info |= switches->line_info;
    if (switches->maxrregcount != SWITCH_NOT_GIVEN)
        unit->own_job.maxrregcount = (uint32_t)switches->maxrregcount;
    unit->job = &unit->own_job;
    return LINK_OK;
}

/* Phase 15. */
static enum link_code start_mode(struct unit *unit)
{
    unit->mode->init(unit);
    return LINK_OK;
}

/* Phase 19. The line table is the debug information that there is; the .debug_ sections of the
 * module itself describe code of another encoding and are left out. */
static enum link_code decide_line_table(struct unit *unit)
{
    unit->config.has_lines =
        (unit->job->line_info || unit->job->debug) && !unit->switches.no_debug_info;
    return LINK_OK;
}

/* Phase 21. What the compilation of each function reads; kernels.c adds the memory of its thread.
 */
static enum link_code prepare_functions(struct unit *unit)
{
    uint32_t sm = unit->job->sm;
    unit->config.job = unit->job;
    unit->config.module = &unit->module;
    unit->config.scope = &unit->scope;
    unit->parameter_base = sm >= 100 ? 0x380 : sm >= 90 ? 0x210 : 0x160;
    unit->config.parameter_base = unit->parameter_base;
    unit->mode->begin(unit);
    return LINK_OK;
}

/* Phase 22. The output is a buffer that the caller gets; the file is the linker's to write. */
static enum link_code empty_output(struct unit *unit)
{
    unit->cubin.size = 0;
    unit->code.size = 0;
    return LINK_OK;
}

/* Phase 23. Functions on as many threads as there are; what finishes them, places of variables and
 * sections in order of the text, in one (QUIRK 3). */
static enum link_code compile_functions(struct unit *unit)
{
    enum link_code code = kernels_compile(unit);
    if (code != LINK_OK)
        return code;
    if (!data_build(&unit->data, &unit->arena, &unit->module, &unit->scope, unit->functions,
                    unit->function_count, unit->job->sm))
        return LINK_FAILED;
    emit_unit(unit);
    return LINK_OK;
}

/* Phase 24. What is checked is the mode's affair: registers along calls, patch code's bodies. */
static enum link_code check_and_report(struct unit *unit)
{
    bool ok = unit->mode->finish(unit);
    report_use(unit);
    report_warnings(unit);
    return ok_or_failed(ok);
}

/* Phase 25. The functions' results and the memory of the threads that made them. */
static enum link_code free_functions(struct unit *unit)
{
    kernels_free(unit);
    unit->times.total = unit->times.start ? now(unit) - unit->times.start : 0;
    return LINK_OK;
}

/* Phase 26. All but the cubin. */
static enum link_code free_unit(struct unit *unit)
{
    data_free(&unit->data);
    scope_free(&unit->scope);
    buffer_free(&unit->code);
    image_strings_free(&unit->strings);
    image_free(&unit->image);
    arena_free(&unit->arena);
    return LINK_OK;
}

/* The phases that only prepare an optimiser, or what this assembler does another way.
 *
 * Phase 7: the dummy entry (QUIRK 2) is there for a parser that wants one in each module, and is
 * dropped again. This one takes a module of a header alone, as ptxas 13.0 does.
 *
 * Phase 16: cache operators are the same for all functions, and stand in what phase 21 completes;
 * which loads and stores they are for, cache.c says.
 *
 * Phase 17: ptxas 13.0 (measured) takes both an indirect call beside mma .f64 and mutual recursion
 * without a word.
 *
 * Phase 18: instructions keep the order of the text, so there is no scheduler to choose.
 *
 * Phase 20: R0 to R3 are reserved always (allocate.c), and ptxas 13.0 has no option that reserves
 * more. */
static enum link_code do_nothing(struct unit *unit)
{
    (void)unit;
    return LINK_OK;
}

const struct phase driver_phases[UNIT_PHASES] = {
    {"Option Query and Cache Configuration", read_options, false},
    {"Cancellation Check", check_cancellation, false},
    {"Timing Gate", start_clock, false},
    {"Callback Registration", parse_module, false},
    {"SM Version Validation", check_versions, false},
    {"Mode Flag Dispatch", choose_mode, false},
    {"PTX Header Emission", do_nothing, false},
    {"Tools-Patch Warnings", check_patch_code, false},
    {"Compilation Flag Setup", resolve_conflicts, false},
    {"Hash Maps and Codegen Context", make_tables, false},
    {"Register Callbacks on Module IR", resolve_names, false},
    {"Address Width and Register Budget", limit_registers, false},
    {"Entry Point Collection", select_entries, false},
    {"Transfer State into Codegen Context", apply_switches, false},
    {"init_callback(ctx, entries)", start_mode, false},
    {"Load/Store Cache Mode", do_nothing, false},
    {"Indirect Call and MMA Validation", do_nothing, false},
    {"Scheduling Class Assignment", do_nothing, false},
    {"Debug Info Setup", decide_line_table, false},
    {"Reserved Register Configuration", do_nothing, false},
    {"Build Per-Function Codegen Config and CodegenPipeline", prepare_functions, false},
    {"Output File Setup", empty_output, false},
    {"Per-Function Compile Loop", compile_functions, false},
    {"Post-Compilation Cleanup", check_and_report, false},
    {"Pipeline Config Teardown", free_functions, true},
    {"Final Cleanup", free_unit, true},
};

/* A warning that counts as an error ends the compilation, too. Errors are counted from the start of
 * the job. */
static enum link_code run_phase(struct unit *unit, size_t index)
{
    uint64_t begin = index ? now(unit) : unit->times.begin;
    unit->times.has_run[index] = true;
    enum link_code code = driver_phases[index].run(unit);
    unit->times.phases[index] = now(unit) - begin;
    return code == LINK_OK && diag_error_count() > 0 ? LINK_FAILED : code;
}

static enum link_code run_until_failure(void *argument)
{
    struct unit *unit = argument;
    for (size_t i = 0; i < UNIT_PHASES && !driver_phases[i].is_teardown; i++) {
        if (unit_is_cancelled(unit))
            return LINK_CANCELLED;
        enum link_code code = run_phase(unit, i);
        if (code != LINK_OK)
            return code;
    }
    return LINK_OK;
}

/* One message, so that chunks that are assembled at once do not mix. */
static enum link_code trace(void *argument)
{
    const struct unit *unit = argument;
    diag_info("Phases of '%s':", unit->job->name);
    for (size_t i = 0; i < UNIT_PHASES; i++)
        if (unit->times.has_run[i])
            diag_note("%02zu %-54s %10.3f ms", i + 1, driver_phases[i].name,
                      (double)unit->times.phases[i] / 1e6);
    diag_note("03 to 25 %-48s %10.3f ms", "together", (double)unit->times.total / 1e6);
    return LINK_OK;
}

enum link_code driver_run(struct unit *unit)
{
    unit->times.begin = clock_now();
    enum link_code code = context_run(run_until_failure, unit);
    for (size_t i = 0; i < UNIT_PHASES; i++)
        if (driver_phases[i].is_teardown)
            run_phase(unit, i);
    enum link_code traced = unit->switches.phase_trace ? context_run(trace, unit) : LINK_OK;
    return code == LINK_OK ? traced : code;
}
