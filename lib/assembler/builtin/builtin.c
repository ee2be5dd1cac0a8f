/* builtin.c: the driver of the built-in assembler: one PTX module to one relocatable cubin.
 *
 * Follows the phases of the embedded driver (spec: embedded-ptxas-driver); those that only concern
 * its optimiser, its timers or its callbacks have nothing to do here. Everything that a chunk needs
 * is in one struct unit, which is freed whatever happens, running out of memory included. */
#include "assembler/builtin/builtin.h"

#include <stdlib.h>

#include "assembler/builtin/emit.h"
#include "assembler/builtin/kernels.h"
#include "assembler/builtin/unit.h"
#include "base/context.h"
#include "base/diag.h"

#define PROGRAM "builtin"

static bool fail_at_module(const struct unit *unit, const char *format, const char *argument)
{
    struct diag_place place =
        diag_place_of(unit->module.file, unit->module.whole,
                      (size_t)(unit->module.text.data - unit->module.whole.data));
    diag_at(DIAG_FATAL, &place, format, argument);
    return false;
}

static bool is_cancelled(const struct unit *unit)
{
    return unit->job->cancelled && __atomic_load_n(unit->job->cancelled, __ATOMIC_RELAXED);
}

/* Phase 4 -- Callback Registration: the file walker parses the text. A chunk is one module. */
static bool parse_module(struct unit *unit)
{
    struct text text = {unit->job->ptx, unit->job->ptx_size};
    size_t offset = 0;
    if (!module_parse(&unit->module, &unit->arena, unit->job->name, text, &offset))
        return false;
    if (module_at_end(text, offset))
        return true;
    struct diag_place place = diag_place_of(unit->job->name, text, offset);
    diag_at(DIAG_ERROR, &place, "Duplicate .version directive");
    return false;
}

/* Phase 5 -- SM Version Validation. */
static bool check_architecture(const struct unit *unit)
{
    struct arch arch;
    char name[ARCH_NAME_SIZE];
    const struct arch target = unit->module.target;
    if (!arch_parse(text_of(unit->job->arch), "sm_", &arch) || arch.sm < 75)
        return fail_at_module(unit, "Architecture '%s' is not supported", unit->job->arch);
    if (target.sm > arch.sm)
        return fail_at_module(unit,
                              "SM version specified by .target is higher than default SM version "
                              "assumed ('%s')",
                              unit->job->arch);
    /* sm_90a code runs on sm_90a only; sm_100f code on sm_100f, sm_100a, sm_103f... */
    bool is_fit = target.suffix == 0 ||
                  (target.suffix == 'a' ? arch_equal(target, arch)
                                        : arch.suffix != 0 && target.sm / 10 == arch.sm / 10);
    if (!is_fit)
        return fail_at_module(unit,
                              "PTX with .target '%s' cannot be compiled to architecture of "
                              "another family",
                              arch_name(target, name));
    return true;
}

/* Phase 12 -- Address Width and Register Budget; the budget is each function's own (budget.c). */
static bool check_address_width(struct unit *unit)
{
    if (unit->job->sm >= 90 && unit->module.address_size == 32)
        return fail_at_module(unit, "32-bit address mode unsupported on SM90+%s", "");
    unit->parameter_base = unit->job->sm >= 100 ? 0x380 : unit->job->sm >= 90 ? 0x210 : 0x160;
    return true;
}

/* Phase 13 -- Entry Point Collection: all functions that the module defines. */
static void collect_functions(struct unit *unit)
{
    unit->functions = arena_zalloc(&unit->arena, unit->scope.count, sizeof *unit->functions);
    for (size_t i = 0; i < unit->module.item_count; i++) {
        const struct ptx_item *item = &unit->module.items[i];
        if (item->kind != PTX_FUNCTION || !item->is_definition)
            continue;
        struct global *global = scope_find(&unit->scope, item->name);
        if (!global || global->item != item)
            continue;
        global->function = (uint32_t)unit->function_count;
        unit->functions[unit->function_count].global = (uint32_t)(global - unit->scope.globals);
        unit->functions[unit->function_count++].item = item;
    }
}

static void report_function(const struct unit *unit, const struct function_code *function)
{
    struct text name = function->item->name;
    if (function->item->function.is_entry)
        diag_info("Compiling entry function '%.*s' for '%s'", TEXT_ARG(name), unit->job->arch);
    diag_info("Function properties for %.*s: %u bytes stack frame, %u bytes spilled",
              TEXT_ARG(name), function->frame_bytes, function->spill_bytes);
    if (function->item->function.is_entry)
        diag_info("Used %u registers, used %u barriers, %llu bytes smem", function->register_count,
                  function->barrier_count, (unsigned long long)function->shared_bytes);
}

/* What ptxas prints under -v. */
static void report_use(const struct unit *unit)
{
    uint64_t globals =
        unit->data.sections[DATA_INITIALISED].size + unit->data.sections[DATA_ZERO].size;
    if (!unit->switches.verbose)
        return;
    diag_info("%llu bytes gmem, %llu bytes cmem[3]", (unsigned long long)globals,
              (unsigned long long)unit->data.sections[DATA_CONSTANT].size);
    for (size_t i = 0; i < unit->function_count; i++)
        report_function(unit, &unit->functions[i]);
}

/* What the job and the switches both may say. */
static void apply_switches(struct unit *unit)
{
    const struct switches *switches = &unit->switches;
    struct context *context = context_get();
    unit->own_job = *unit->job;
    unit->own_job.debug |= switches->debug;
    unit->own_job.line_info |= switches->line_info;
    if (switches->maxrregcount)
        unit->own_job.maxrregcount = switches->maxrregcount;
    unit->job = &unit->own_job;
    context->suppress_warnings |= switches->no_warnings;
    context->warnings_are_errors |= switches->warnings_are_errors;
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

/* False when a warning counts as an error. */
static bool warn(const struct unit *unit)
{
    uint64_t errors = diag_error_count();
    for (size_t i = 0; i < unit->function_count; i++)
        warn_of_function(&unit->switches, &unit->functions[i]);
    return diag_error_count() == errors;
}

static enum link_code run_phases(void *argument)
{
    struct unit *unit = argument;
    /* Phase 2 -- Cancellation Check. */
    if (is_cancelled(unit))
        return LINK_CANCELLED;
    if (!switches_read(&unit->switches, unit->job))
        return LINK_FAILED;
    apply_switches(unit);
    if (!parse_module(unit) || !check_architecture(unit))
        return LINK_FAILED;
    /* Phase 10 -- Hash Maps and Codegen Context; Phase 11 -- Register Callbacks on Module IR. */
    if (!scope_build(&unit->scope, &unit->arena, &unit->module) || !check_address_width(unit))
        return LINK_FAILED;
    collect_functions(unit);
    /* Phase 23 -- Per-Function Compile Loop. */
    enum link_code code = kernels_compile(unit);
    if (code != LINK_OK)
        return code;
    /* Phase 23, codegen_finalize: sections and records. */
    if (!data_build(&unit->data, &unit->arena, &unit->module, &unit->scope, unit->functions,
                    unit->function_count, unit->job->sm))
        return LINK_FAILED;
    if (!emit_unit(unit))
        return LINK_FAILED;
    report_use(unit);
    return warn(unit) ? LINK_OK : LINK_FAILED;
}

/* Phase 26 -- Final Cleanup. */
static void free_unit(struct unit *unit)
{
    data_free(&unit->data);
    scope_free(&unit->scope);
    buffer_free(&unit->code);
    buffer_free(&unit->cubin);
    image_strings_free(&unit->strings);
    image_free(&unit->image);
    kernels_free(unit);
    arena_free(&unit->arena);
}

/* What is handed to the caller; made under a recovery point of its own. */
struct answer {
    struct unit *unit;
    struct diag_sink *sink;
    struct minilink_result *result;
    enum link_code code;
};

static enum link_code give_answer(void *argument)
{
    struct answer *answer = argument;
    if (answer->sink->text.size)
        answer->result->log = buffer_take(&answer->sink->text, NULL);
    if (answer->code == LINK_OK)
        answer->result->cubin = buffer_take(&answer->unit->cubin, &answer->result->cubin_size);
    return answer->code;
}

/* How the thread reports: the log has one form, whatever the user wants to see in the end. */
struct reporting {
    struct diag_sink *sink;
    const char *program;
    const char *suffix;
    const char *report_arch;
    uint64_t error_count;
    bool gnu_format;
    bool annotate;
    bool suppress_warnings;
    bool warnings_are_errors;
};

static struct reporting set_reporting(const struct reporting *wanted)
{
    struct context *context = context_get();
    struct reporting old = {
        .sink = context->sink,
        .program = context->program,
        .suffix = context->suffix,
        .report_arch = context->report_arch,
        .error_count = context->error_count,
        .gnu_format = context->gnu_format,
        .annotate = context->annotate,
        .suppress_warnings = context->suppress_warnings,
        .warnings_are_errors = context->warnings_are_errors,
    };
    context->sink = wanted->sink;
    context->program = wanted->program;
    context->suffix = wanted->suffix;
    context->report_arch = wanted->report_arch;
    context->error_count = wanted->error_count;
    context->gnu_format = wanted->gnu_format;
    context->annotate = wanted->annotate;
    context->suppress_warnings = wanted->suppress_warnings;
    context->warnings_are_errors = wanted->warnings_are_errors;
    return old;
}

static int assemble(void *state, const struct minilink_job *job, struct minilink_result *result)
{
    (void)state;
    struct diag_sink sink = {0};
    const struct context *context = context_get();
    const struct reporting log = {.sink = &sink,
                                  .program = PROGRAM,
                                  .gnu_format = true,
                                  .suppress_warnings = context->suppress_warnings,
                                  .warnings_are_errors = context->warnings_are_errors};
    const struct reporting outer = set_reporting(&log);
    struct unit unit = {.job = job};
    struct answer answer = {.unit = &unit, .sink = &sink, .result = result};
    answer.code = context_run(run_phases, &unit);
    set_reporting(&outer);
    enum link_code code = context_run(give_answer, &answer);
    free_unit(&unit);
    diag_sink_free(&sink);
    return (int)code;
}

const struct minilink_assembler builtin_assembler = {
    .abi = MINILINK_ASSEMBLER_ABI,
    .name = PROGRAM,
    .version = "encoding 1",
    .assemble = assemble,
};
