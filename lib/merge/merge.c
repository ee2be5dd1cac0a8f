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

static bool place_and_relocate(struct merging *m)
{
    notes_add(m);
    mercury_begin(m);
    if (!layout_sections(m) || !shared_layout_reserved(m) || !texture_layout(m) ||
        !constants_layout(m) || !shared_layout(m))
        return false;
    layout_fill(m);
    debug_registers_clear(m);
    constants_fill(m);
    mercury_pair(m);
    return relocations_make(m);
}

/* Measured: nvlink writes these bytes into .nv.rel.action of every executable, on every
 * architecture up to sm_90; how the driver uses them is not known. */
static const uint8_t rel_action[] = {0x73, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x25, 0, 0x05, 0x36};

/* From here on no section is added. */
static void order(struct merging *m)
{
    attributes_add_sections(m);
    graph_add_sections(m);
    if (!m->request->relocatable && !merging_is_mercury(m))
        layout_set(m, layout_make(m, CLASS_REL_ACTION, MERGE_NONE),
                   (struct bytes){rel_action, sizeof rel_action});
    mercury_add_sections(m);
    creation_order(m);
    ordering_sections(m);
    symtab_assign(m);
}

static void warn_of_stacks(struct merging *m)
{
    const struct layout *layout = &m->out->layout;
    size_t unbounded = 0, count = 0;
    bool folds;

    if (m->request->relocatable || m->request->suppress_stack_warning)
        return;
    for (size_t i = 0; i < layout->kernel_count; i++)
        unbounded += reach_is_unbounded(m, layout->kernels[i]);
    folds = diag_folds() && unbounded > DIAG_UNFOLDED;
    for (size_t i = 0; i < layout->kernel_count && count < (folds ? 1 : unbounded); i++) {
        if (!reach_is_unbounded(m, layout->kernels[i]))
            continue;
        diag_warning("Stack size for entry function '%.*s' cannot be statically determined",
                     TEXT_ARG(m->symbols[layout->kernels[i]].name));
        if (count++ == 0)
            reach_explain_cycle(m, layout->kernels[i]);
    }
    if (folds)
        diag_note("nor that of %zu more entry functions; -v names them", unbounded - 1);
}

/* From here on every symbol and section has its number. */
static bool encode(struct merging *m)
{
    build_tables(m);
    graph_encode(m);
    mercury_encode(m);
    warn_of_stacks(m);
    symtab_encode(m);
    if (attributes_encode(m))
        relocations_write(m);
    return !m->failed;
}

bool merge_cubins(struct image *image, const struct cubin *const *cubins, size_t count,
                  const struct merge_request *request, struct merge_report *report)
{
    struct placing out = {0};
    struct merging m = {
        .request = request, .cubins = cubins, .count = count, .image = image, .out = &out};

    CONTEXT_DEFER(arena_cleanup, &m.arena);
    CONTEXT_DEFER(names_cleanup, &out.names);
    CONTEXT_DEFER(table_cleanup, &out.section_names);
    CONTEXT_DEFER(memory_cleanup, &out.relocations.items);
    CONTEXT_DEFER(memory_cleanup, &out.sections);
    image_begin(image, request->relocatable ? ET_REL : ET_EXEC, 0);
    if (!program_resolve(&m) || !place_and_relocate(&m))
        return false;
    order(&m);
    if (!encode(&m))
        return false;
    build_image(&m);
    if (report)
        report_fill(report, &m);
    return true;
}
