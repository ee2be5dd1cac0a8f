/* verbose.c: prints one line per fact, in nvlink's words if nvlink prints it too. */
#include "link/stages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "diag/diag.h"
#include "facts/targets.h"
#include "options/consensus.h"
#include "output/std_streams.h"

static const char *kind_name(uint32_t kind)
{
    switch (kind) {
    case FATBIN_PTX:
        return "PTX";
    case FATBIN_ELF:
        return "ELF";
    case FATBIN_NVVM:
        return "LTO-IR";
    case FATBIN_BITCODE:
        return "LLVM bitcode";
    default:
        return "unknown kind";
    }
}

void verbose_members(const struct members *members)
{
    char arch[ARCH_NAME_SIZE];

    if (members->arch.sm)
        diag_verbose("target %s", arch_name(members->arch, arch));
    for (size_t i = 0; i < members->count; i++) {
        const struct member *member = &members->list[i];

        diag_verbose("member %s: %s for %s, %s%s%s", member->name, kind_name(member->entry.kind),
                     arch_name(member->entry.arch, arch), member_role_name(member->role),
                     member->reason ? ": " : "", member->reason ? member->reason : "");
    }
}

void verbose_agreement(const struct agreement *agreement)
{
    static const char *const states[] = {"none", "absent", "present", "mixed", "conflict"};

    for (size_t i = 0; i < EMBEDDED_COUNT; i++) {
        const struct consensus *consensus = &agreement->embedded[i];
        const char *name = embedded_name((enum embedded_option)i);

        if (consensus->state >= CONSENSUS_PRESENT)
            diag_verbose("option %s: %s, value %" PRId32, name, states[consensus->state],
                         consensus->value);
        else if (consensus->state == CONSENSUS_ABSENT)
            diag_verbose("option %s: %s", name, states[consensus->state]);
    }
    if (agreement->split_compile != 1)
        diag_verbose("in force: -split-compile=%" PRId32, agreement->split_compile);
    if (agreement->split_compile_extended != 1)
        diag_verbose("in force: -split-compile-extended=%" PRId32,
                     agreement->split_compile_extended);
    if (agreement->maxrregcount)
        diag_verbose("in force: -maxrregcount=%" PRId32, agreement->maxrregcount);
}

void verbose_program(const struct program *program)
{
    diag_verbose("Phase I: %zu modules, %zu symbols, %zu functions removed, PTX ISA %u.%u",
                 program->module_count, program->symbol_count, program->dropped_functions,
                 program->version_major, program->version_minor);
}

void verbose_chunks(const struct chunks *chunks, const char *sequential_reason)
{
    if (chunks->count == 0)
        return;
    if (chunks->count > 1 && sequential_reason)
        diag_verbose("Phase II, Concurrent=No: %s", sequential_reason);
    else
        diag_verbose("Phase II, Concurrent=%s%s%s", chunks->count > 1 ? "Yes" : "No",
                     chunks->single_reason ? ": " : "",
                     chunks->single_reason ? chunks->single_reason : "");
    for (size_t i = 0; i < chunks->count; i++) {
        const struct chunk *chunk = &chunks->list[i];

        diag_verbose("chunk %zu: %" PRIu32 " functions (%" PRIu32 " replicas), %zu bytes, first %s",
                     i, chunk->function_count, chunk->replica_count, chunk->text.size,
                     chunk->first_function ? chunk->first_function : "(none)");
    }
}

void verbose_assembly(const struct cubins *cubins, struct assembler *assembler)
{
    const char *version;

    if (cubins->count == 0 || diag_state_get()->verbose < 2)
        return;
    version = assembler_version(assembler);
    if (!version)
        return;
    if (cubins->threads)
        diag_verbose("assembler %s %s, %zu chunks on %" PRIu32 " threads", assembler->table.name,
                     version, cubins->count, cubins->threads);
    else
        diag_verbose("assembler %s %s, %zu chunks elsewhere", assembler->table.name, version,
                     cubins->count);
}

bool verbose_cache(struct cache *cache)
{
    struct buffer text = {0};

    CONTEXT_DEFER(buffer_cleanup, &text);
    cache_describe(cache, &text);
    return std_streams_print(buffer_view(&text));
}

bool verbose_callgraph(const struct merge_report *report, enum callgraph_form form)
{
    if (report->callgraph.size == 0)
        return true;
    if (form == CALLGRAPH_DOT)
        return std_streams_print(buffer_view(&report->callgraph));
    return diag_text(buffer_view(&report->callgraph)) ||
           diag_fatal("Could not write to the standard error output: %s", strerror(errno));
}

/* Prints one line of nvlink's, some parts of which are optional. */
static void report_kernel(const struct kernel_report *kernel, bool is_mercury)
{
    char banks[64] = "", references[96] = "";
    int size = 0;

    if (!is_mercury && kernel->constant0)
        size += snprintf(banks, sizeof banks, ", %" PRIu32 " bytes cmem[0]", kernel->constant0);
    if (!is_mercury && kernel->constant2)
        snprintf(banks + size, sizeof banks - (size_t)size, ", %" PRIu32 " bytes cmem[2]",
                 kernel->constant2);
    size = 0;
    if (kernel->textures)
        size += snprintf(references, sizeof references, ", %" PRIu32 " textures", kernel->textures);
    if (kernel->surfaces)
        size += snprintf(references + size, sizeof references - (size_t)size,
                         ", %" PRIu32 " surfaces", kernel->surfaces);
    if (kernel->samplers)
        snprintf(references + size, sizeof references - (size_t)size, ", %" PRIu32 " samplers",
                 kernel->samplers);
    diag_summary("Function properties for '%.*s':", TEXT_ARG(kernel->name));
    /* nvlink's last number is the size of .nv.local, which cubins of this ABI do not have. */
    diag_summary("used %" PRIu32 " registers, used %" PRIu32 " barriers, %" PRIu32
                 " stack, %" PRIu32 " bytes smem%s, 0 bytes lmem%s",
                 kernel->registers, kernel->barriers,
                 kernel->stack == UINT32_MAX ? kernel->frame : kernel->stack,
                 kernel->shared - (is_mercury ? kernel->reserved : 0), banks, references);
}

void verbose_image(const struct merge_report *report, struct arch arch)
{
    /* Measured: nvlink reports neither constants nor the driver's reserve for them. */
    bool is_mercury = targets_have(arch.sm, TARGET_HAS_MERCURY);

    for (size_t i = 0; i < report->dead_functions; i++)
        diag_verbose("removed unused function '%s'", report->dead_names[i]);
    if (report->constant3_bytes && !is_mercury)
        diag_summary("%" PRIu64 " bytes gmem, %" PRIu64 " bytes cmem[3]", report->global_bytes,
                     report->constant3_bytes);
    else
        diag_summary("%" PRIu64 " bytes gmem", report->global_bytes);
    for (size_t i = report->kernel_count; i-- > 0;)
        if (report->kernels[i].is_kernel)
            report_kernel(&report->kernels[i], is_mercury);
}
