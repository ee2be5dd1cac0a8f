/* link.c: the whole link on one screen.
 *
 *     inputs -> members -> agreement -> program -> chunks -> cubins -> image -> file
 *
 * Each stage is a module that knows its inputs and outputs only; this file owns every stage's
 * result and says what is fixed from there on. A step reports all it finds wrong, then returns
 * false. */
#include "link.h"

#include <stdlib.h>

#include "base/context.h"
#include "base/diag.h"
#include "base/output.h"
#include "cubin/cubin.h"
#include "cubin/empty.h"
#include "cubin/finished.h"
#include "cubin/image.h"
#include "cubin/join.h"
#include "cubin/merge.h"
#include "cubin/unified.h"
#include "input/member.h"
#include "input/modules.h"
#include "input/used.h"
#include "keep.h"
#include "options/forward.h"
#include "pool/assemble.h"
#include "ptx/program.h"
#include "report.h"
#include "split/split.h"
#include "system.h"
#include "timing.h"

/* Most chunks that a program is cut into. Fixed, so that the output does not depend on the number
 * of threads; enough to keep a large machine busy. */
#define MOST_CHUNKS 128u

/* Results of all stages, in order. */
struct link {
    const struct link_request *request;
    struct inputs inputs;
    struct members members;
    struct used_kernels used;
    struct agreement agreement;
    char *lto_library;   /* libnvJitLink, where LTO-IR is linked */
    struct text lto_ptx; /* what it made of the LTO-IR, in sources_arena */
    struct arena sources_arena;
    struct program program;
    struct chunks chunks;
    struct buffer explanation; /* of the chunks */
    struct assembler assembler;
    struct cubins cubins;
    struct arena cubin_arena;
    struct cubin *member_cubins; /* of the members with that role, read */
    size_t member_cubin_count;
    struct table system_names;  /* functions that libcudadevrt defines */
    bool has_system;            /* libcudadevrt is among the inputs, and may be left out */
    bool is_system_unused;      /* ... and was */
    struct cubin *chunk_cubins; /* cubins.count of them, read */
    size_t chunk_cubin_count;
    struct cubin joined;                /* the program's chunks as one cubin */
    const struct chunk_cubin *finished; /* the whole link in one executable cubin, or NULL */
    struct image image;
    struct merge_report report;
    struct timing timing;
    uint64_t errors_before;  /* of the thread: a warning may have become an error, too */
    enum link_status status; /* of a failure that is not an ordinary link error */
};

static bool is_split(const struct link *link)
{
    return link->agreement.split_compile_extended != 1 || link->request->chunk_count > 1;
}

/* Only -lto asks for optimisation across modules. */
static bool find_lto(struct link *link)
{
    const struct link_request *request = link->request;
    const struct toolkit_request toolkit = {
        .nvjitlink = request->nvjitlink,
        .cuda_path = request->assembler.cuda_path,
        .nvvm_path = request->assembler.nvvm_path,
    };

    return !request->options.lto || !members_have_lto(&link->members) ||
           lto_find(&link->lto_library, request->lto_source, &toolkit);
}

static bool select_members(struct link *link)
{
    const struct link_request *request = link->request;
    const struct option_request *options = &request->options;
    const struct used_request used = {.kernels = request->kernels_used,
                                      .variables = request->variables_used,
                                      .ignore_host_info = request->ignore_host_info};
    struct member_request wanted = {
        .arch = request->arch,
        .prefer_ptx = options->lto || request->chunk_count > 1 ||
                      (options->has_split_compile_extended && options->split_compile_extended != 1),
        .suppress_arch_warning = request->suppress_arch_warning,
    };

    if (!members_collect(&link->members, &link->inputs) || !find_lto(link))
        return false;
    wanted.link_lto = link->lto_library != NULL;
    wanted.prefer_ptx &= !wanted.link_lto; /* as nvlink: machine code stays what it is */
    if (!members_select(&link->members, &wanted))
        return false;
    if (options->lto)
        lto_warn_useless(&link->members);
    return lto_refuse_alone(&link->members) && used_collect(&link->used, &link->inputs, &used);
}

/* Reads the members that are cubins already. */
static bool read_members(struct link *link)
{
    const struct link_request *request = link->request;
    bool ok = true;

    link->member_cubins =
        arena_zalloc(&link->cubin_arena, link->members.cubin_count, sizeof *link->member_cubins);
    for (size_t i = 0; i < link->members.count; i++) {
        const struct member *member = &link->members.list[i];
        struct cubin *cubin = &link->member_cubins[link->member_cubin_count];
        struct bytes code;

        if (member->role != MEMBER_CUBIN)
            continue;
        if (!member_code(member, &link->cubin_arena, &code)) {
            ok = false;
            continue;
        }
        link->member_cubin_count++;
        ok &= cubin_read(cubin, member->name, code);
        if (!member->is_system || request->keep_system_libraries)
            continue;
        link->has_system = true;
        system_add_names(&link->system_names, cubin);
    }
    return ok;
}

/* Whether cubins take part that may be left out no more. */
static bool has_user_cubins(const struct link *link)
{
    for (size_t i = 0; i < link->members.count; i++)
        if (link->members.list[i].role == MEMBER_CUBIN &&
            !(link->has_system && link->members.list[i].is_system))
            return true;
    return false;
}

static bool compile_lto(struct link *link)
{
    const struct lto_request wanted = {
        .library = link->lto_library,
        .members = &link->members,
        .agreement = &link->agreement,
        .options = &link->request->options,
        .nvvm_options = link->request->nvvm_options,
        .kernels_used = link->request->kernels_used,
        .variables_used = link->request->variables_used,
        .thread_limit = link->request->thread_limit,
        .relocatable = link->request->relocatable,
    };

    return link->members.lto_count == 0 ||
           lto_compile(&link->lto_ptx, &link->sources_arena, &wanted);
}

static bool link_program(struct link *link)
{
    const struct member *member = link->members.list;
    struct program_source *sources =
        arena_zalloc(&link->sources_arena, link->members.ptx_count + 1, sizeof *sources);
    struct program_request wanted = {
        .arch = link->members.arch,
        .keep_dead = link->agreement.debug || link->request->relocatable,
        .allow_undefined = has_user_cubins(link) || link->request->relocatable,
        .used = &link->used,
        .provided = &link->system_names,
    };
    size_t count = 0;

    if (link->lto_ptx.size)
        sources[count++] = (struct program_source){.name = "lto.ptx", .text = link->lto_ptx};
    for (size_t i = 0; i < link->members.count; i++, member++) {
        struct bytes code;

        if (member->role != MEMBER_PTX)
            continue;
        if (!member_code(member, &link->sources_arena, &code))
            return false;
        sources[count++] = (struct program_source){.name = member->name,
                                                   .text = {(const char *)code.data, code.size}};
    }
    return program_link(&link->program, sources, count, &wanted);
}

/* Drops libcudadevrt when nothing calls it. */
static void drop_system(struct link *link)
{
    size_t kept = 0, at = 0;

    if (!link->has_system || system_is_called_by_program(&link->system_names, &link->program))
        return;
    for (size_t i = 0; i < link->member_cubin_count; i++)
        if (system_is_called_by_cubin(&link->system_names, &link->member_cubins[i]))
            return;
    for (size_t i = 0; i < link->members.count; i++) {
        struct member *member = &link->members.list[i];
        struct cubin *cubin = &link->member_cubins[at];

        if (member->role != MEMBER_CUBIN)
            continue;
        at++;
        if (member->is_system) {
            diag_verbose("member %s is left out: nothing calls it", member->name);
            cubin_free(cubin);
            member->role = MEMBER_UNUSED;
            link->members.cubin_count--;
        } else {
            link->member_cubins[kept++] = *cubin;
        }
    }
    link->member_cubin_count = kept;
    link->is_system_unused = true;
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
           keep_chunks(keep, &link->chunks) &&
           keep_program(keep, &link->program, link->members.arch);
}

/* Writes the program as one module. Debug sections that describe all of a module cannot share a
 * text with another one. */
static bool emit_ptx(struct link *link)
{
    struct text text;

    if (link->chunks.count != 1 || link->member_cubin_count > 0) {
        diag_fatal("-emit-ptx: the program cannot be one PTX module: %s",
                   link->member_cubin_count > 0 ? "some members have machine code only"
                                                : "several modules have debug sections (-G)");
        return false;
    }
    text = link->chunks.list[0].text;
    link->status = LINK_STATUS_ENVIRONMENT;
    return output_write_file(link->request->output,
                             (struct bytes){(const uint8_t *)text.data, text.size}, false);
}

/* Measured on nvlink 13.0: only under -lto does a link that is neither split nor relocatable, and
 * has neither machine code nor PTX beside LTO-IR, assemble in whole-program mode; PTX is assembled
 * with -c otherwise. */
static bool is_whole(const struct link *link)
{
    return link->request->options.lto && !is_split(link) && link->chunks.count == 1 &&
           link->members.cubin_count == 0 && !link->request->relocatable &&
           (link->members.lto_count == 0 || link->members.ptx_count == 0);
}

/* Which of the three dispatch paths (spec: nvlink-split-compilation, Dispatch Paths) the link takes
 * decides the mode; assemble_chunks() finds the number of threads. */
static bool assemble(struct link *link)
{
    const struct link_request *request = link->request;
    const char *const *options = link->assembler.ptxas.path
                                     ? forward_to_ptxas(&link->agreement, &request->options,
                                                        request->assembler_options, is_whole(link))
                                     : request->assembler_options;
    struct assemble_request wanted = {
        .assembler = &link->assembler.table,
        .arch = link->members.arch,
        .threads = is_split(link) ? (uint32_t)link->agreement.split_compile_extended : 1,
        .inner_threads = (uint32_t)link->agreement.split_compile,
        .thread_limit = request->thread_limit,
        .stack_bytes = request->worker_stack,
        .keep_going = request->keep_going,
        .mode = is_whole(link) ? MINILINK_MODE_WHOLE : MINILINK_MODE_RELOCATABLE,
        .debug = link->agreement.debug,
        /* LTO-IR's PTX has its .loc directives, and nvlink gives no -lineinfo for it. */
        .line_info = link->agreement.line_info && link->members.lto_count == 0,
        .maxrregcount = (uint32_t)link->agreement.maxrregcount,
        .options = options,
        .jobserver = request->jobserver,
    };
    int code;

    code = assemble_chunks(&link->cubins, &link->chunks, &wanted);
    if (code == LINK_NO_MEMORY)
        context_raise(LINK_NO_MEMORY);
    return code == LINK_OK && keep_cubins(request->keep, &link->cubins);
}

/* Reads the chunks' cubins and joins them. */
static bool read_chunks(struct link *link)
{
    const struct cubin **views;
    bool ok = true;

    link->chunk_cubins =
        arena_zalloc(&link->cubin_arena, link->cubins.count, sizeof *link->chunk_cubins);
    views = arena_alloc(&link->cubin_arena, link->cubins.count, sizeof *views);
    for (size_t i = 0; i < link->cubins.count; i++) {
        const struct chunk_cubin *from = &link->cubins.list[i];

        views[i] = &link->chunk_cubins[link->chunk_cubin_count++];
        ok &= cubin_read(&link->chunk_cubins[i], arena_printf(&link->cubin_arena, "chunk %zu", i),
                         (struct bytes){from->data, from->size});
    }
    return ok && (link->cubins.count == 0 ||
                  join_cubins(&link->joined, views, link->cubins.count, link->chunks.symbols,
                              link->chunks.symbol_count));
}

/* Built-in code and a GPU's can be linked, which is good for trying things out, but nothing runs
 * it. */
static void warn_of_mixture(const struct link *link)
{
    struct text note = TEXT(".note.minilink");

    if (link->chunk_cubin_count == 0 || !cubin_section_find(&link->joined, note))
        return;
    for (size_t i = 0; i < link->member_cubin_count; i++) {
        if (cubin_section_find(&link->member_cubins[i], note))
            continue;
        diag_warning(
            "'%s' is machine code for a GPU, linked with code of the built-in assembler: no "
            "machine runs the result",
            link->member_cubins[i].name);
        return;
    }
}

/* A whole program that the assembler made an executable of is the link's result as it is. */
static bool take_finished(struct link *link)
{
    struct chunk_cubin *cubin = link->cubins.list;

    link->finished = cubin;
    return finished_take(cubin->data, cubin->size, "chunk 0", &link->chunks, &link->report);
}

static bool is_finished(const struct link *link)
{
    return link->cubins.count == 1 && is_whole(link) &&
           finished_is((struct bytes){link->cubins.list[0].data, link->cubins.list[0].size});
}

static bool merge(struct link *link)
{
    const struct link_request *request = link->request;
    struct merge_request wanted = {
        .arch = link->members.arch,
        .debug = link->agreement.debug,
        .callgraph = request->callgraph,
        .used = &link->used,
        .relocatable = request->relocatable,
        .suppress_stack_warning = request->suppress_stack_warning,
        .preserve_relocations = request->preserve_relocations,
        .has_index = request->index_file != NULL,
        .output_name = request->output,
        .version = MINILINK_VERSION,
    };
    const struct cubin **cubins;
    size_t count;

    if (is_finished(link))
        return take_finished(link);
    if (!read_chunks(link))
        return false;
    warn_of_mixture(link);
    cubins = arena_alloc(&link->cubin_arena, link->member_cubin_count + 1, sizeof *cubins);
    count = system_order_cubins(cubins, &link->members, link->member_cubins,
                                link->cubins.count ? &link->joined : NULL);
    if (count == 0) {
        empty_cubin(&link->joined, link->members.arch);
        cubins[count++] = &link->joined;
    }
    return merge_cubins(&link->image, cubins, count, &wanted, &link->report);
}

static bool open_assembler(struct link *link)
{
    link->status = LINK_STATUS_ENVIRONMENT;
    if (!assembler_open(&link->assembler, &link->request->assembler))
        return false;
    link->status = LINK_STATUS_ERROR;
    return true;
}

/* The list of module ids on its way to its file. */
struct module_list {
    struct buffer text;
    struct output output;
};

static void free_module_list(void *argument)
{
    struct module_list *list = argument;

    output_abort(&list->output);
    buffer_free(&list->text);
}

static bool write_image(const struct link *link)
{
    const char *path = link->request->output;
    const struct chunk_cubin *finished = link->finished;

    return finished ? output_write_file(path, (struct bytes){finished->data, finished->size}, false)
                    : image_write(&link->image, path);
}

/* The list of module ids is complete before the image appears, and appears only behind it. */
static bool write_outputs(struct link *link)
{
    const char *path = link->request->modules_file;
    struct module_list list = {.output = {.fd = -1, .slot = -1}};
    struct context_cleanup cleanup;
    bool ok;

    context_defer(&cleanup, free_module_list, &list);
    ok = !path || modules_list(&list.text, &link->inputs, link->is_system_unused);
    if (ok)
        link->status = LINK_STATUS_ENVIRONMENT;
    ok = ok &&
         (!path || (output_open(&list.output, path) &&
                    output_append(&list.output, buffer_bytes(&list.text)))) &&
         write_image(link) && (!path || output_commit(&list.output, false));
    context_clean(&cleanup);
    return ok;
}

static bool write_times(const struct link *link)
{
    const struct link_request *request = link->request;

    return timing_write(&link->timing, request->time_file, request->output, link->members.arch,
                        &link->cubins);
}

static enum link_code run(void *argument)
{
    struct link *link = argument;
    const struct link_request *request = link->request;
    bool has_ptx;
    bool ok;

    timing_start(&link->timing);
    ok = unified_check_index(request->index_file) &&
         inputs_open(&link->inputs, request->operands, request->operand_count,
                     request->library_paths, request->library_path_count);
    timing_end(&link->timing, "open");
    /* From here on no input file is opened. */

    ok = ok && select_members(link);
    report_members(&link->members);
    timing_end(&link->timing, "select");
    /* Which code takes part, and the target, are settled. */

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
    report_explanation(buffer_view(&link->explanation));
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
    report_callgraph(&link->report, request->callgraph);
    timing_end(&link->timing, "merge");
    /* The layout is final. */

    ok = ok && diag_error_count() == link->errors_before && write_outputs(link);
    timing_end(&link->timing, "write");
    ok = ok && write_times(link);
    return ok ? LINK_OK : LINK_FAILED;
}

static void free_all(struct link *link)
{
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
    arena_free(&link->sources_arena);
    agreement_free(&link->agreement);
    free(link->lto_library);
    used_free(&link->used);
    members_free(&link->members);
    inputs_close(&link->inputs);
}

enum link_status link_run(const struct link_request *request)
{
    struct link link = {
        .request = request, .errors_before = diag_error_count(), .status = LINK_STATUS_ERROR};
    enum link_code code = context_run(run, &link);
    enum link_status status = link.status;

    if (code == LINK_NO_MEMORY)
        diag_no_memory();
    free_all(&link);
    if (code == LINK_NO_MEMORY)
        return LINK_STATUS_ENVIRONMENT;
    if (code == LINK_OK && diag_error_count() == link.errors_before)
        return LINK_STATUS_OK;
    return status;
}
