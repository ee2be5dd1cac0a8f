/* back.c: the stages from the chunks on.
 *
 * What is linked decides how chunks are assembled, each as a whole program or to be merged, and
 * what becomes of their cubins: joined into one and merged with those of members, or, where the
 * assembler has made the whole program, taken as they are. */
#include "base/context.h"
#include "base/diag.h"
#include "base/output.h"
#include "cubin/empty.h"
#include "input/modules.h"
#include "join/join.h"
#include "link/finished.h"
#include "link/keep.h"
#include "link/stages.h"
#include "link/system.h"
#include "options/forward.h"

/* Writes the program as one module. Debug sections that describe all of a module cannot share a
 * text with another one. */
bool emit_ptx(struct link *link)
{
    struct text text;

    if (link->chunks.count != 1 || link->member_cubin_count > 0) {
        diag_fatal("-emit-ptx: the program cannot be one PTX module: %s",
                   link->member_cubin_count > 0 ? "some members have machine code only"
                                                : "several modules have debug sections (-G)");
        return false;
    }
    text = link->chunks.list[0].text;
    link->status = EXIT_STATUS_ENVIRONMENT;
    return output_write_file(link->request->output,
                             (struct bytes){(const uint8_t *)text.data, text.size}, false);
}

/* LTO-IR that holds nothing. Measured: nvlink then merges what ptxas -c makes of nothing; but where
 * lists have dropped all that there was, the program is a whole one. */
static bool is_void(const struct link *link)
{
    return link->lto_ptx.size > 0 && link->chunks.symbol_count == 0 && !link->used.has_lists &&
           !link->used.has_parts;
}

static bool is_whole(const struct link *link)
{
    return is_program(link) && !is_void(link) && !link->is_in_parts &&
           link->members.cubin_count == 0 && !is_split(link) && link->chunks.count == 1;
}

/* Of the kernels that the options name, a chunk has some only; they have been selected before. */
static const char *const *assembler_options(struct link *link)
{
    const struct link_request *request = link->request;
    const char *const *given =
        link->chunks.count > 1 ? link->entries.others : request->assembler_options;

    if (!link->assembler.ptxas.path)
        return given;
    given = forward_to_ptxas(&link->cubin_arena, &link->agreement, &request->options, given,
                             is_whole(link));
    for (size_t i = 0; given[i]; i++)
        diag_verbose("ptxas is given %s", given[i]);
    return given;
}

static bool is_finished(const struct link *link)
{
    return link->cubins.count == 1 && is_whole(link) &&
           finished_is((struct bytes){link->cubins.list[0].data, link->cubins.list[0].size});
}

/* The assembler has made a whole program of another form than is wanted. Only a merge changes it.
 */
static bool is_of_other_form(const struct link *link)
{
    const struct chunk_cubin *cubin = link->cubins.list;

    return is_finished(link) &&
           !finished_has_abi((struct bytes){cubin->data, cubin->size}, link->request->output_abi);
}

/* Which of the three dispatch paths (minilink-internals(7), Dispatch paths) the link takes decides
 * the mode; assemble_chunks() finds the number of threads. */
bool assemble(struct link *link)
{
    const struct link_request *request = link->request;
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
        .options = assembler_options(link),
        .jobserver = request->jobserver,
    };
    int code;

    code = assemble_chunks(&link->cubins, &link->chunks, &wanted);
    if (code == LINK_NO_MEMORY)
        context_raise(LINK_NO_MEMORY);
    if (code == LINK_OK && is_of_other_form(link)) {
        cubins_free(&link->cubins);
        link->is_in_parts = true;
        return assemble(link);
    }
    if (code == LINK_ENVIRONMENT)
        environment_failed(link);
    return code == LINK_OK &&
           (keep_cubins(request->keep, &link->cubins) || environment_failed(link));
}

/* What libnvJitLink made went to the assembler as it was, and nothing had to be cut: measured,
 * nvlink merges that cubin as it is, its frames and data in the assembler's order, and its code for
 * other targets with it. */
static bool is_lto_cubin(const struct link *link)
{
    return link->lto_ptx.size > 0 && !is_split(link) && link->cubins.count == 1 &&
           link->chunks.list[0].is_unchanged;
}

static bool read_lto_cubin(struct link *link)
{
    const struct chunk_cubin *from = link->cubins.list;

    return cubin_read(&link->joined, "lto.cubin", (struct bytes){from->data, from->size});
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
 * it. libcudadevrt is nvcc's to name, the user's own code is the user's. */
static void warn_of_mixture(const struct link *link)
{
    static const char text[] = "'%s' is machine code for a GPU, linked with code of the built-in "
                               "assembler: no machine runs the result";
    struct text note = TEXT(".note.minilink");
    const char *own = NULL, *system = NULL;

    if (link->cubins.count == 0 || !cubin_section_find(&link->joined, note))
        return;
    for (size_t i = 0; i < link->member_cubin_count && !own; i++) {
        const char *name = link->member_cubins[i].name;

        if (cubin_section_find(&link->member_cubins[i], note))
            continue;
        *(members_is_system(name) ? &system : &own) = name;
    }
    if (own)
        diag_warning(text, own);
    else if (system)
        diag_caution(text, system);
}

/* A whole program that the assembler made an executable of is the link's result as it is. */
static bool take_finished(struct link *link)
{
    struct chunk_cubin *cubin = link->cubins.list;

    link->finished = cubin;
    return finished_take(cubin->data, cubin->size, "chunk 0", &link->chunks, &link->report);
}

bool merge(struct link *link)
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
        .abi = request->output_abi,
        .has_index = request->index_file != NULL,
        .output_name = request->output,
        .version = MINILINK_VERSION,
    };
    const struct cubin **cubins;
    size_t count;

    if (is_finished(link))
        return take_finished(link);
    if (is_lto_cubin(link) ? !read_lto_cubin(link) : !read_chunks(link))
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

static bool list_modules(const struct link *link, struct buffer *list)
{
    bool is_lto = link->members.lto_count > 0 && link->members.cubin_count == 0 &&
                  !link->request->relocatable;

    return modules_list(list, &link->inputs, link->is_system_unused, is_lto);
}

/* Writes the list of module ids, if it is wanted, and then what `write` does, behind which alone it
 * appears. */
static bool write_with_modules(struct link *link, bool (*write)(const struct link *link))
{
    const char *path = link->request->modules_file;
    struct module_list list = {.output = {.fd = -1, .slot = -1}};
    struct context_cleanup cleanup;
    bool ok;

    context_defer(&cleanup, free_module_list, &list);
    ok = !path || list_modules(link, &list.text);
    if (ok)
        link->status = EXIT_STATUS_ENVIRONMENT;
    ok = ok &&
         (!path || (output_open(&list.output, path) &&
                    output_append(&list.output, buffer_bytes(&list.text)))) &&
         write(link) && (!path || output_commit(&list.output, false));
    context_clean(&cleanup);
    return ok;
}

bool write_outputs(struct link *link)
{
    return write_with_modules(link, write_image);
}

static bool write_nothing(const struct link *link)
{
    (void)link;
    return true;
}

bool write_modules(struct link *link)
{
    return write_with_modules(link, write_nothing);
}
