/* stage_merge.c: from the chunks' cubins to one image.
 *
 * Depending on the inputs, the chunks' cubins are joined into one and merged with those of members,
 * or, if the assembler made the whole program, used unchanged. */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cubin/contents.h"
#include "diag/diag.h"
#include "facts/targets.h"
#include "join/join.h"
#include "link/internal.h"
#include "output/output.h"

/* Whether a group's only chunk is libnvJitLink's PTX, unchanged. Measured: nvlink merges its cubin
 * unchanged: frames and data in the assembler's order, and code for other targets included. */
static bool is_lto_cubin(const struct link *link, const struct group *group,
                         const struct chunk_program *program)
{
    return group->has_lto && link->lto.ptx.size > 0 && !state_is_split(link) &&
           program->count == 1 && link->cut.chunks.list[program->first].is_unchanged;
}

/* The error itself is reported by the reader or by the merge; -v adds its code. */
static void tell_code(const struct link *link, size_t index, enum link_code code)
{
    const struct assembled *assembled = &link->assembled;

    if (diag_state_get()->verbose)
        diag_error("%s: the cubin of chunk %zu of %zu, made by '%s', cannot be linked (code %d)",
                   assembler_code_text((int)code), index, assembled->cubins.count,
                   assembled->assembler.table.name, (int)code);
}

static bool lacks_array_alignment(const struct cubin_symbol *symbol)
{
    return symbol->section == SHN_UNDEF && symbol->type == STT_CUDA_OBJECT &&
           (symbol->other & STO_CUDA_SPACE) == STO_CUDA_SHARED && symbol->value == 0;
}

/* Dynamic shared arrays: ptxas up to 13.0 does not write their alignment, which the PTX has.
 * (nvlink aligns them to 16 bytes whatever they need.) */
static void align_dynamic_arrays(struct cubin *joined, const struct chunk_symbol *symbols,
                                 size_t count)
{
    LOCAL_TABLE(alignments);
    size_t first = 1;

    while (first < joined->symbol_count && !lacks_array_alignment(&joined->symbols[first]))
        first++;
    if (first >= joined->symbol_count)
        return;
    for (size_t i = 0; i < count; i++)
        if (symbols[i].alignment)
            table_set(&alignments, symbols[i].own_name, symbols[i].alignment);
    for (size_t i = first; i < joined->symbol_count; i++) {
        struct cubin_symbol *symbol = &joined->symbols[i];
        uint32_t alignment =
            lacks_array_alignment(symbol) ? table_find(&alignments, symbol->name) : TABLE_NONE;

        if (alignment != TABLE_NONE)
            symbol->value = alignment;
    }
}

static bool read_chunk_cubins(struct link *link)
{
    const struct cubins *cubins = &link->assembled.cubins;
    const char **names = chunk_names(&link->cut.chunks, &link->arena);
    struct merged *merged = &link->merged;
    bool ok = true;

    merged->chunk_cubins = arena_zalloc(&link->arena, cubins->count, sizeof *merged->chunk_cubins);
    for (size_t i = 0; i < cubins->count; i++) {
        if (!cubin_read(&merged->chunk_cubins[merged->chunk_cubin_count++], names[i],
                        chunk_cubin_bytes(&cubins->list[i]))) {
            tell_code(link, i, LINK_CUBIN);
            ok = false;
        } else if (!runs_on_sass(link->members.arch,
                                 (struct arch){CUBIN_FLAGS_SM(merged->chunk_cubins[i].flags), 0},
                                 link->toolkit)) {
            tell_code(link, i, LINK_WRONG_TARGET);
        }
    }
    return ok;
}

/* The name in messages of a group's cubin: "lto.cubin(a.o(2)+b.o(1))"; where there are several
 * groups, of one PTX member's the member's name. */
static const char *cubin_name(const struct link *link, const struct group *group,
                              struct arena *arena)
{
    const struct name_list list = groups_names(link, group);

    if (link->group_count > 1 && list.count == 1 && !group->has_lto)
        return list.names[0];
    return name_list_text("lto.cubin", &list, arena);
}

/* Makes one cubin of those of a group's chunks. */
static bool join_group_chunks(struct link *link, size_t index)
{
    const struct chunks *chunks = &link->cut.chunks;
    struct merged *merged = &link->merged;
    const struct group *group = &link->groups[index];
    const struct chunk_program *program = &chunks->programs[index];
    const struct chunk_symbol *symbols = chunks->symbols + program->first_symbol;
    struct cubin *joined = &merged->joined[merged->joined_count++];
    const struct cubin **views = arena_alloc(&link->arena, program->count, sizeof *views);
    bool ok = true;

    if (is_lto_cubin(link, group, program)) {
        *joined = merged->chunk_cubins[program->first];
        merged->chunk_cubins[program->first] = (struct cubin){0};
    } else {
        for (size_t i = 0; i < program->count; i++)
            views[i] = &merged->chunk_cubins[program->first + i];
        ok = join_cubins(joined, views, program->count, symbols, program->symbol_count,
                         !state_is_split(link) && !state_assembles_by(link, "builtin"));
        if (ok)
            align_dynamic_arrays(joined, symbols, program->symbol_count);
    }
    joined->name = cubin_name(link, group, &link->arena);
    return ok;
}

static bool join_groups(struct link *link)
{
    bool ok = read_chunk_cubins(link);

    for (size_t i = 0; i < link->cut.chunks.program_count && ok; i++)
        ok = join_group_chunks(link, i);
    return ok;
}

/* The built-in assembler's code can be linked with GPU code, but nothing can run the result. For
 * libcudadevrt, which nvcc names and not the user, this is a caution. */
static void warn_of_mixture(const struct link *link)
{
    static const char text[] = "'%s' is machine code for a GPU, linked with code of the built-in "
                               "assembler: no machine runs the result";
    const char *own = NULL, *system = NULL;

    if (link->merged.joined_count == 0 || !cubin_find_kind(link->merged.joined, KIND_BUILTIN))
        return;
    for (size_t i = 0; i < link->cubin_count && !own; i++) {
        const char *name = link->cubins[i].cubin.name;

        if (cubin_find_kind(&link->cubins[i].cubin, KIND_BUILTIN))
            continue;
        *(members_is_system(name) ? &system : &own) = name;
    }
    if (own)
        diag_warning(text, own);
    else if (system)
        diag_caution(text, system);
}

/* Takes an executable that the assembler made of the whole program as the link's result. */
static bool take_finished(struct link *link)
{
    const struct chunk_cubin *cubin = stage_program_cubin(link);
    const struct chunks *chunks = &link->cut.chunks;
    struct merged *merged = &link->merged;

    merged->finished = cubin;
    if (!whole_program_take(cubin->data, cubin->size, chunk_names(chunks, &link->arena)[0], chunks,
                            &merged->report))
        return false;
    observe_image(link->observation, &merged->report, &(struct observe_merged){0});
    return true;
}

static bool merge_all(struct link *link)
{
    const struct link_request *request = link->request;
    struct merged *merged = &link->merged;
    struct merge_request wanted = request->merge;
    struct observe_merged observed;
    const struct cubin **cubins;
    bool is_told;
    size_t count;

    if (stage_is_finished(link))
        return take_finished(link);
    merged->joined = arena_zalloc(&link->arena, link->group_count + 1, sizeof *merged->joined);
    if (!join_groups(link))
        return false;
    warn_of_mixture(link);
    wanted.arch = link->members.arch;
    wanted.toolkit = link->toolkit;
    wanted.debug = link->agreement.debug;
    wanted.used = &link->used;
    wanted.members = &link->members;
    wanted.made = merged->joined;
    wanted.made_count = merged->joined_count;
    wanted.wants_places = observe_wants_places(link->observation);
    wanted.keep_exported = state_keeps_exported(link);
    wanted.has_index = request->index_file != NULL;
    wanted.output_name = request->output;
    wanted.version = MINILINK_VERSION;
    is_told = diag_state_get()->verbose || wanted.wants_places ||
              wanted.callgraph != CALLGRAPH_NONE || request->product;
    cubins = arena_alloc(&link->arena, link->cubin_count + link->group_count + 1, sizeof *cubins);
    count = member_cubins_order(cubins, link, merged->joined, merged->joined_count);
    if (count == 0) {
        cubins[count++] = &merged->joined[merged->joined_count++];
        cubin_make_empty(merged->joined, link->members.arch, link->toolkit);
    }
    if (!merge_cubins(&merged->image, cubins, count, &wanted, is_told ? &merged->report : NULL))
        return false;
    observed = (struct observe_merged){cubins, count, wanted.made, wanted.made_count};
    observe_image(link->observation, &merged->report, &observed);
    /* The image has views of their bytes, and its writer takes as much memory as their tables. */
    for (size_t i = 0; i < link->cubin_count; i++)
        cubin_free(&link->cubins[i].cubin);
    return true;
}

static struct observe_work merge_work(const struct link *link)
{
    const struct cubins *cubins = &link->assembled.cubins;
    struct observe_work work = {cubins->count + link->cubin_count, "cubins", 0};

    for (size_t i = 0; i < cubins->count; i++)
        work.bytes += cubins->list[i].size;
    for (size_t i = 0; i < link->members.count; i++)
        if (link->members.list[i].role == MEMBER_CUBIN)
            work.bytes += link->members.list[i].entry.payload.size;
    return work;
}

/* The call graph, where nvlink prints it. */
static bool print_callgraph(const struct merge_report *report)
{
    if (report->callgraph.size == 0)
        return true;
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

/* What was removed, and, in the words and order of `nvlink -v`, memory and kernels: the last kernel
 * first; for a stack of unknown size (recursion) the kernel's own frame; for targets from sm_100
 * on, neither constants nor the driver's share of shared memory. */
static void tell_image(const struct merge_report *report, struct arch arch)
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

bool stage_merge(struct link *link)
{
    bool ok = merge_all(link);

    ok = ok && (print_callgraph(&link->merged.report) || diag_blame(LINK_ENVIRONMENT));
    if (ok && (diag_state_get()->verbose > 1 || state_has_merge(link)))
        tell_image(&link->merged.report, link->members.arch);
    observe_stage(link->observation, "merge", merge_work(link));
    return ok;
}
