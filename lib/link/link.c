/* link.c: the whole link on one screen.
 *
 *     inputs -> members -> agreement -> program -> chunks -> cubins -> image -> file
 *
 * Each stage is a module that knows its inputs and outputs only; this file says in which order they
 * run, and what is fixed from there on. A step reports all it finds wrong, then returns false. */
#include "link/link.h"

#include <stdlib.h>

#include "base/context.h"
#include "base/diag.h"
#include "link/keep.h"
#include "link/paths.h"
#include "link/report.h"
#include "link/stages.h"
#include "merge/unified.h"

/* Most chunks that a program is cut into. Fixed, so that the output does not depend on the number
 * of threads; enough to keep a large machine busy. */
#define MOST_CHUNKS 128u

bool has_user_cubins(const struct link *link)
{
    for (size_t i = 0; i < link->members.count; i++)
        if (link->members.list[i].role == MEMBER_CUBIN &&
            (!link->members.list[i].is_system || link->request->keep_system_libraries))
            return true;
    return false;
}

bool is_program(const struct link *link)
{
    return link->request->options.lto && !has_user_cubins(link) && !link->request->relocatable &&
           (link->members.lto_count == 0 || link->members.ptx_count == 0);
}

bool is_split(const struct link *link)
{
    return link->agreement.split_compile_extended != 1 || link->request->chunk_count > 1;
}

bool environment_failed(struct link *link)
{
    link->status = EXIT_STATUS_ENVIRONMENT;
    return false;
}

static void release_inputs(const void *inputs)
{
    inputs_release(inputs);
}

static bool split(struct link *link)
{
    const char *keep = link->request->keep;
    struct split_request wanted = {
        .wanted = !is_split(link) || link->request->emit_ptx    ? 1
                  : link->request->split_policy == SPLIT_KERNEL ? SPLIT_MOST_CHUNKS
                                                                : MOST_CHUNKS,
        .policy = link->request->split_policy,
        .minimum_bytes = link->request->minimum_chunk,
        .arch = link->members.arch,
        .release = release_inputs,
        .release_argument = &link->inputs,
        .explanation = link->request->explain_split ? &link->explanation : NULL,
    };

    if (link->request->chunk_count && !link->request->emit_ptx)
        wanted.wanted = link->request->chunk_count;
    return split_program(&link->chunks, &link->program, &wanted) &&
           ((keep_chunks(keep, &link->chunks) &&
             keep_program(keep, &link->program, link->members.arch)) ||
            environment_failed(link));
}

struct found_ptxas {
    struct buffer tried;
    char *path;
};

static void free_found(void *argument)
{
    struct found_ptxas *found = argument;

    buffer_free(&found->tried);
    free(found->path);
}

/* Whoever has a toolkit and asks for optimised code may expect that it runs. */
static void tell_of_ptxas(const struct assembler_request *request)
{
    struct found_ptxas found = {0};
    struct context_cleanup cleanup;

    context_defer(&cleanup, free_found, &found);
    found.path = ptxas_find(request, &found.tried);
    if (found.path)
        diag_info("The code is the built-in assembler's, which no GPU runs; --assembler=ptxas "
                  "makes a GPU's, with '%s'",
                  found.path);
    context_clean(&cleanup);
}

static bool open_assembler(struct link *link)
{
    const struct link_request *request = link->request;

    if (request->options.lto && !request->assembler.name)
        tell_of_ptxas(&request->assembler);
    return assembler_open(&link->assembler, &link->request->assembler) || environment_failed(link);
}

/* Before anything is written, as a link without it must not leave an output. */
static bool open_times(struct link *link)
{
    return timing_open(&link->timing, link->request->time_file) || environment_failed(link);
}

static bool write_times(struct link *link)
{
    const struct link_request *request = link->request;

    return timing_write(&link->timing, request->time_file, request->output, link->members.arch,
                        &link->cubins) ||
           environment_failed(link);
}

/* Measured on nvlink 13.0 with -arch=compute_NN, for which nvcc -rdc=true -arch=compute_NN asks it:
 * the inputs are looked through, no program is made, and the only file is the list of module ids.
 * nvcc names no other. */
static bool link_virtual(struct link *link)
{
    diag_verbose(
        "the target is virtual: no program is linked, the driver compiles the PTX of whole "
        "objects");
    return link->request->dry_run || (diag_error_count() == link->errors_before &&
                                      open_times(link) && write_modules(link) && write_times(link));
}

/* Before anything is written. */
static bool check_paths(struct link *link)
{
    if (paths_check(link->request, &link->inputs))
        return true;
    link->status = EXIT_STATUS_USAGE;
    return false;
}

static enum link_code run(void *argument)
{
    struct link *link = argument;
    const struct link_request *request = link->request;
    const struct library_search libraries = {
        .paths = request->library_paths,
        .count = request->library_path_count,
        .from_compiler = request->from_compiler,
    };
    bool has_ptx;
    bool ok;

    timing_start(&link->timing);
    entries_read(&link->entries, &link->entries_arena, request->assembler_options);
    ok = unified_check_index(request->index_file) &&
         inputs_open(&link->inputs, request->operands, request->operand_count, &libraries) &&
         check_paths(link);
    timing_end(&link->timing, "open");
    /* From here on no input file is opened. */

    ok = ok && select_members(link);
    report_members(&link->members);
    timing_end(&link->timing, "select");
    /* Which code takes part, and the target, are settled. */

    if (request->is_virtual)
        return ok && link_virtual(link) ? LINK_OK : LINK_FAILED;
    ok = ok && consensus_reach(&link->agreement, &link->members, &request->options);
    if (ok)
        report_agreement(&link->agreement);
    timing_end(&link->timing, "agree");
    /* No option value changes any more. */

    ok = ok && compile_lto(link);
    if (link->members.lto_count)
        timing_end(&link->timing, "lto");
    /* LTO-IR has become PTX. */

    has_ptx = link->members.ptx_count + link->members.lto_count > 0;
    ok = ok && read_members(link) && (!has_ptx || link_program(link));
    if (ok)
        drop_system(link);
    timing_end(&link->timing, "link");
    /* Phase I is over: the program's symbols are resolved. */

    ok = ok && (!has_ptx || split(link));
    report_chunks(&link->chunks, &link->program);
    ok = ok && (report_explanation(buffer_view(&link->explanation)) || environment_failed(link));
    free_program(link);
    timing_end(&link->timing, "split");
    inputs_release(&link->inputs);
    /* Chunk contents and order are fixed: the output depends neither on the number of workers nor
     * on which of them ends first. */
    if (ok && request->emit_ptx)
        ok = request->dry_run || emit_ptx(link);
    if (ok && (request->dry_run || request->emit_ptx))
        ok = write_times(link);
    if (!ok || request->dry_run || request->emit_ptx)
        return ok ? LINK_OK : LINK_FAILED;

    ok = !has_ptx || (open_assembler(link) && assemble(link));
    report_assembly(&link->cubins, &link->assembler);
    timing_end(&link->timing, "assemble");
    chunks_free_texts(&link->chunks);
    /* Phase II is over: one thread again, and the jobserver has its tokens back. */

    ok = ok && merge(link);
    report_image(&link->report);
    ok = ok && (report_callgraph(&link->report, request->callgraph) || environment_failed(link));
    timing_end(&link->timing, "merge");
    /* The layout is final. */

    ok = ok && diag_error_count() == link->errors_before && open_times(link) && write_outputs(link);
    timing_end(&link->timing, "write");
    ok = ok && write_times(link);
    return ok ? LINK_OK : LINK_FAILED;
}

static void free_all(struct link *link)
{
    timing_close(&link->timing);
    merge_report_free(&link->report);
    image_free(&link->image);
    for (size_t i = 0; i < link->member_cubin_count; i++)
        cubin_free(&link->member_cubins[i]);
    cubin_free(&link->joined);
    for (size_t i = 0; i < link->chunk_cubin_count; i++)
        cubin_free(&link->chunk_cubins[i]);
    arena_free(&link->cubin_arena);
    cubins_free(&link->cubins);
    assembler_close(&link->assembler);
    chunks_free(&link->chunks);
    buffer_free(&link->explanation);
    table_free(&link->system_names);
    program_free(&link->program);
    arena_free(&link->entries_arena);
    arena_free(&link->sources_arena);
    free(link->lto_library);
    used_free(&link->used);
    members_free(&link->members);
    inputs_close(&link->inputs);
}

enum exit_status link_run(const struct link_request *request)
{
    struct link link = {
        .request = request, .errors_before = diag_error_count(), .status = EXIT_STATUS_ERROR};
    enum link_code code = context_run(run, &link);
    enum exit_status status = link.status;

    if (code == LINK_NO_MEMORY)
        diag_no_memory();
    free_all(&link);
    if (code == LINK_NO_MEMORY || code == LINK_ENVIRONMENT)
        return EXIT_STATUS_ENVIRONMENT;
    if (code == LINK_OK && diag_error_count() == link.errors_before)
        return EXIT_STATUS_OK;
    return status;
}
