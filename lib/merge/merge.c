/* merge.c: merges relocatable cubins into one image, step by step.
 *
 * The steps share struct merging, which resolve/program.c fills in first; each reports all its
 * errors before it fails. The rules were measured on nvlink; each step's file states its own. */
#include "merge/merge_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/context.h"
#include "base/memory.h"
#include "diag/diag.h"

bool merge_check_index(const char *path)
{
    char start[SELFMAG];
    ssize_t got;
    int fd;

    if (!path)
        return true;
    /* Do not block on a pipe without a writer. */
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return diag_fatal("Could not open input file '%s': %s", path, strerror(errno));
    got = TEMP_FAILURE_RETRY(read(fd, start, sizeof start));
    close(fd);
    if (got <= 0)
        return diag_fatal("Could not read file '%s'", path);
    return (got >= SELFMAG && memcmp(start, ELFMAG, SELFMAG) == 0) ||
           diag_fatal("'%s' is not uidx input", path);
}

static bool place_program(struct merging *m)
{
    notes_add(m);
    mercury_begin(m);
    return layout_sections(m) && shared_layout_reserved(m) && texture_layout(m) &&
           constants_layout(m) && shared_layout(m);
}

static bool relocate(struct merging *m)
{
    layout_fill(m);
    debug_registers_clear(m);
    constants_fill(m);
    mercury_pair(m);
    if (!relocations_make(m))
        return false;
    relocations_add_twins(m);
    return true;
}

/* The same in every executable; how the driver uses it is not known. */
static void add_action(struct merging *m)
{
    uint32_t added = layout_make(m, CLASS_REL_ACTION);

    layout_set(m, &m->out->sections[added], (struct bytes){format_rel_action, NV_REL_ACTION_SIZE});
}

/* From here on no section is added. */
static void order(struct merging *m)
{
    attributes_add_sections(m);
    graph_add_sections(m);
    if (!m->request->relocatable && !merging_is_mercury(m))
        add_action(m);
    mercury_add_sections(m);
    creation_order(m);
    ordering_sections(m);
    symtab_assign(m);
}

static size_t count_unbounded(const struct merging *m)
{
    size_t count = 0;

    for (size_t i = 0; i < m->out->layout.kernel_count; i++)
        count += reach_is_unbounded(m, m->out->layout.kernels[i]);
    return count;
}

static void warn_of_stacks(struct merging *m)
{
    bool folds = diag_folds() && count_unbounded(m) > DIAG_UNFOLDED;
    size_t count = 0;

    if (m->request->relocatable || m->request->suppress_stack_warning)
        return;
    for (size_t i = 0; i < m->out->layout.kernel_count; i++) {
        uint32_t kernel = m->out->layout.kernels[i];

        if (!reach_is_unbounded(m, kernel) || (++count > 1 && folds))
            continue;
        diag_warning("Stack size for entry function '%.*s' cannot be statically determined",
                     TEXT_ARG(m->symbols[kernel].name));
        if (count == 1)
            diagnostics_recursion(m, kernel);
    }
    if (count > 1 && folds)
        diag_note("nor that of %zu more entry functions; -v names them", count - 1);
}

static void encode_names(void *merging)
{
    build_names(merging);
}

static void encode_contents(void *merging)
{
    if (attributes_encode(merging))
        relocations_write(merging);
}

/* From here on every symbol and section has its number. Names and symbols go into tables of their
 * own, contents into sections. */
static bool encode(struct merging *m)
{
    build_tables(m);
    graph_encode(m);
    mercury_encode(m);
    warn_of_stacks(m);
    spread_both(&m->request->spread, m->out->order_count >= IMAGE_WORTH_A_THREAD, encode_names,
                encode_contents, m);
    return !m->failed;
}

bool merge_cubins(struct image *image, const struct cubin *const *cubins, size_t count,
                  const struct merge_request *request, struct merge_report *report)
{
    struct placing out = {0};
    struct merging m = {
        .request = request, .cubins = cubins, .count = count, .image = image, .out = &out};

    CONTEXT_DEFER(arena_cleanup, &m.arena);
    CONTEXT_DEFER(image_strings_cleanup, &out.strings);
    CONTEXT_DEFER(image_strings_cleanup, &out.section_strings);
    CONTEXT_DEFER(table_cleanup, &out.section_names);
    CONTEXT_DEFER(memory_cleanup, &out.relocations.items);
    CONTEXT_DEFER(memory_cleanup, &out.sections);
    image_begin(image, request->relocatable ? ET_REL : ET_EXEC, 0);
    if (!program_resolve(&m) || !place_program(&m) || !relocate(&m))
        return false;
    order(&m);
    if (!encode(&m))
        return false;
    build_image(&m);
    if (report)
        report_fill(report, &m);
    return true;
}
