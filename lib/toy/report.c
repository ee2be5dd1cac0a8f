/* report.c: frame, spills, registers, barriers and memory of each function, as ptxas -v tells them,
 * and its warnings of spills and of local memory. */
#include "toy/phases.h"

#include "diag/diag.h"

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

void report_use(const struct unit *unit)
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

void report_warnings(const struct unit *unit)
{
    for (size_t i = 0; i < unit->function_count; i++)
        warn_of_function(&unit->switches, &unit->functions[i]);
}
