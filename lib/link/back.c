/* back.c: the stages from the chunks' cubins to the files.
 *
 * What is linked decides what becomes of the cubins: joined into one and merged with those of
 * members, or, where the assembler has made the whole program, taken as they are. */
#include "base/context.h"
#include "base/diag.h"
#include "base/output.h"
#include "cubin/empty.h"
#include "input/modules.h"
#include "join/join.h"
#include "link/finished.h"
#include "link/report.h"
#include "link/stages.h"
#include "link/system.h"

/* What libnvJitLink made went to the assembler as it was, and nothing had to be cut: measured,
 * nvlink merges that cubin as it is, its frames and data in the assembler's order, and its code for
 * other targets with it. */
static bool is_lto_cubin(const struct link *link)
{
    return link->lto_ptx.size > 0 && !state_is_split(link) && link->cubins.count == 1 &&
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
        .abi = request->output_abi,
        .has_index = request->index_file != NULL,
        .output_name = request->output,
        .version = MINILINK_VERSION,
    };
    const struct cubin **cubins;
    size_t count;

    if (middle_is_finished(link))
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

/* Writes the list of module ids, if it is wanted, and the image, behind which alone it appears;
 * NULL = there is none. */
static bool write_with_modules(struct link *link, bool (*write)(const struct link *link))
{
    const char *path = link->request->modules_file;
    struct module_list list = {.output = {.fd = -1, .slot = -1}};
    struct context_cleanup cleanup;
    bool is_listed, ok;

    context_defer(&cleanup, free_module_list, &list);
    is_listed = !path || list_modules(link, &list.text);
    ok = is_listed &&
         (!path || (output_open(&list.output, path) &&
                    output_append(&list.output, buffer_bytes(&list.text)))) &&
         (!write || write(link)) && (!path || output_commit(&list.output, false));
    context_clean(&cleanup);
    return ok || (is_listed && state_environment_failed(link));
}

/* Before anything is written, as a link without it must not leave an output. */
static bool open_times(struct link *link)
{
    return timing_open(&link->timing, link->request->time_file) || state_environment_failed(link);
}

static bool write_times(struct link *link)
{
    const struct link_request *request = link->request;

    return timing_write(&link->timing, request->time_file, request->output, link->members.arch,
                        &link->cubins) ||
           state_environment_failed(link);
}

/* Measured on nvlink 13.0 with -arch=compute_NN, for which nvcc -rdc=true -arch=compute_NN asks it:
 * the inputs are looked through, no program is made, and the only file is the list of module ids.
 * nvcc names no other. */
bool back_end_virtual(struct link *link)
{
    diag_verbose(
        "the target is virtual: no program is linked, the driver compiles the PTX of whole "
        "objects");
    return link->request->dry_run ||
           (diag_error_count() == link->errors_before && open_times(link) &&
            write_with_modules(link, NULL) && write_times(link));
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
    return output_write_file(link->request->output,
                             (struct bytes){(const uint8_t *)text.data, text.size}, false) ||
           state_environment_failed(link);
}

bool back_end_early(struct link *link)
{
    return (link->request->dry_run || emit_ptx(link)) && write_times(link);
}

bool back_merge(struct link *link)
{
    bool ok = merge(link);

    report_image(&link->report);
    ok = ok && (report_callgraph(&link->report, link->request->callgraph) ||
                state_environment_failed(link));
    timing_end(&link->timing, "merge");
    return ok;
}

bool back_write(struct link *link)
{
    bool ok = diag_error_count() == link->errors_before && open_times(link) &&
              write_with_modules(link, write_image);

    timing_end(&link->timing, "write");
    return ok && write_times(link);
}
