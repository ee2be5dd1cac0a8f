/* merge.c: merges relocatable cubins into one image, step by step, and makes its sections of the
 * merged ones: sh_link, sh_info and flags, and the tables.
 *
 * The steps share struct merging, which resolve/program.c fills in first; each reports all its
 * errors before it fails. The rules were measured on nvlink; each step's file states its own. */
#include "merge/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

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

#define FIRST_NUMBER_OF_SYMTAB 5u /* in older nvlinks */

static bool place_and_relocate(struct merging *m)
{
    notes_add(m);
    mercury_begin(m);
    if (!layout_sections(m) || !shared_layout_reserved(m) || !texture_layout(m) ||
        !constants_layout(m) || !shared_layout(m))
        return false;
    layout_fill(m);
    mercury_clear_registers(m);
    constants_fill(m);
    mercury_pair(m);
    return relocate(m);
}

/* Measured: nvlink writes these bytes into .nv.rel.action of every executable, on every
 * architecture up to sm_90 (libnvJitLink from 12.2 on); how the driver uses them is not known. */
static const uint8_t rel_action[] = {0x73, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x25, 0, 0x05, 0x36};

static void order(struct merging *m)
{
    size_t size;

    attributes_add_sections(m);
    callgraph_add_sections(m);
    if (!m->request->relocatable && !merging_is_mercury(m) &&
        toolkit_is_in(m->request->toolkit, sections_of_class(CLASS_REL_ACTION)->toolkits))
        layout_set(m, layout_make(m, CLASS_REL_ACTION, MERGE_NONE),
                   (struct bytes){rel_action, sizeof rel_action});
    mercury_add_sections(m);
    /* No section is added from here on: the tables that follow get the rest of the array. */
    size = m->out->section_count * sizeof *m->out->sections;
    m->out->sections = realloc(m->out->sections, size) ?: m->out->sections;
    creation_order(m);
    ordering_sections(m);
    symtab_assign(m);
}

static void warn_of_stacks(struct merging *m)
{
    const uint32_t *kernels = m->out->kernels;
    size_t unbounded = 0, count = 0;
    bool folds;

    if (m->request->relocatable || m->request->suppress_stack_warning)
        return;
    for (size_t i = 0; i < m->out->kernel_count; i++)
        unbounded += reach_is_unbounded(m, kernels[i]);
    folds = diag_folds() && unbounded > DIAG_UNFOLDED;
    for (size_t i = 0; i < m->out->kernel_count && count < (folds ? 1 : unbounded); i++) {
        if (!reach_is_unbounded(m, kernels[i]))
            continue;
        diag_warning("Stack size for entry function '%.*s' cannot be statically determined",
                     TEXT_ARG(m->symbols[kernels[i]].name));
        if (count++ == 0)
            reach_explain_cycle(m, kernels[i]);
    }
    if (folds)
        diag_note("nor that of %zu more entry functions; -v names them", unbounded - 1);
}

static uint32_t find_index(const struct merging *m, const struct section_facts *facts)
{
    uint32_t section = table_find(&m->out->section_names, facts->name);

    return section == TABLE_NONE ? 0 : m->out->sections[section].index;
}

static uint32_t link_of(const struct merging *m, const struct merged_section *section)
{
    switch (section->facts ? section->facts->link : SECTION_LINK_NOTHING) {
    case SECTION_LINK_STRINGS:
        return ORDERING_STRTAB;
    case SECTION_LINK_SYMBOLS:
        return merging_does(m, TOOLKIT_LINKS_BEFORE_ORDERING) ? FIRST_NUMBER_OF_SYMTAB
                                                              : ORDERING_SYMTAB;
    case SECTION_LINK_TWIN_SYMBOLS:
        return m->out->sections[m->out->twin_symtab].index;
    case SECTION_LINK_NOTES:
        return section->facts == notes_target(m)
                   ? find_index(m, sections_of_kind(KIND_TOOLS, false))
                   : 0;
    default:
        return 0;
    }
}

/* The highest byte of code's sh_info. */
static uint32_t high_byte_of_info(const struct merging *m, const struct merged_section *code)
{
    uint32_t needed = m->reach[code->function].registers;
    bool is_raised =
        attributes_are_summed(m, code->function) && needed > m->functions[code->function].registers;

    return is_raised && merging_does(m, TOOLKIT_WRITES_PLAIN_HEADERS) ? needed & 0xff
                                                                      : code->info_high;
}

static uint32_t info_of(const struct merging *m, const struct merged_section *section)
{
    uint32_t text =
        section->function == MERGE_NONE ? MERGE_NONE : m->out->text_of[section->function];

    switch (section->class) {
    case CLASS_TEXT:
    case CLASS_TWIN_TEXT:
        return m->out->rows.of_symbol[section->function] | high_byte_of_info(m, section) << 24;
    case CLASS_NOTE:
        return section->flags & SHF_INFO_LINK ? find_index(m, sections_of_class(CLASS_COMPAT)) : 0;
    case CLASS_RELOCATIONS:
    case CLASS_TWIN_RELOCATIONS:
        return m->out->sections[section->target].index;
    case CLASS_TWIN_SYMTAB:
        return (uint32_t)m->out->rows.first_global;
    default:
        if (text != MERGE_NONE && merged_is_twin(section->class))
            text = m->out->sections[text].twin;
        return text == MERGE_NONE ? 0 : m->out->sections[text].index;
    }
}

/* A section whose sh_info section is gone loses SHF_INFO_LINK, and only code is executable. */
static uint64_t image_flags_of(const struct merging *m, const struct merged_section *section,
                               uint32_t info)
{
    uint64_t flags = section->flags;

    /* The sh_info of code is a symbol, even if a damaged input's flags say otherwise. */
    if (info == 0 || section->class == CLASS_TEXT || section->class == CLASS_TWIN_TEXT ||
        merging_does(m, TOOLKIT_WRITES_PLAIN_HEADERS))
        flags &= ~(uint64_t)SHF_INFO_LINK;
    if (section->class != CLASS_TEXT)
        return flags & ~(uint64_t)SHF_EXECINSTR;
    flags &= ~(uint64_t)CUBIN_OLD_BARRIERS;
    if (m->abi == CUBIN_OLD_ABI_VERSION)
        flags |= (uint64_t)attributes_barriers(m, section->function) << CUBIN_OLD_BARRIERS_SHIFT &
                 CUBIN_OLD_BARRIERS;
    return flags;
}

/* The image's section whose bytes this twin shares, or 0 (measured: the file has them once). */
static uint32_t shared_with(const struct merging *m, const struct merged_section *section)
{
    bool is_data = section->class == CLASS_TWIN_DEBUG || section->class == CLASS_TWIN_CONSTANT ||
                   section->class == CLASS_TWIN_GLOBAL_INIT;
    const struct merged_section *plain;

    if (!is_data || section->target == MERGE_NONE)
        return 0;
    plain = &m->out->sections[section->target];
    if (plain->size != section->size || section->size == 0 || !plain->data || !section->data ||
        memcmp(plain->data, section->data, section->size) != 0)
        return 0;
    return plain->index;
}

static void add_to_image(struct merging *m, const struct merged_section *section)
{
    bool has_no_bytes = section->class >= CLASS_SHARED;
    uint32_t name = section->header_name ?: names_put(m, NAMES_SHSTRTAB, section->name);
    uint32_t info = info_of(m, section);

    image_add_section(m->image, &(struct image_section){
                                    .name = section->name,
                                    .name_offset = name,
                                    .type = section->type,
                                    .flags = image_flags_of(m, section, info),
                                    .alignment = section->alignment,
                                    .entry_size = section->entry_size,
                                    .size = section->size,
                                    .has_no_bytes = has_no_bytes,
                                    .data = has_no_bytes ? NULL : section->data,
                                    .shares = shared_with(m, section),
                                    .link = link_of(m, section),
                                    .info = info,
                                });
}

static void add_table(struct merging *m, unsigned table, uint32_t link)
{
    const struct section_facts *row = ordering_table(table);
    uint32_t index = image_add_made(m->image, row, link);

    m->image->sections[index].name_offset = names_put(m, NAMES_SHSTRTAB, row->name);
}

/* Begins m->image with its tables. */
static void build_tables(struct merging *m)
{
    bool is_extended = ordering_is_extended(m);

    add_table(m, ORDERING_SHSTRTAB, 0);
    add_table(m, ORDERING_STRTAB, 0);
    add_table(m, ORDERING_SYMTAB, ORDERING_STRTAB);
    if (is_extended)
        add_table(m, ORDERING_INDICES, ORDERING_SYMTAB);
    image_begin_symbols(m->image, is_extended ? ORDERING_INDICES : 0, m->out->rows.count, NULL,
                        &m->out->table);
}

static void set_header(struct merging *m)
{
    struct arch arch = m->request->arch;
    uint32_t note = find_index(m, notes_target(m));

    if (m->abi == CUBIN_OLD_ABI_VERSION) {
        m->image->toolkit = m->toolkit;
        m->image->flags = arch.sm | arch.sm << CUBIN_OLD_FLAGS_VIRTUAL_SHIFT |
                          CUBIN_OLD_FLAGS_TEXMODE | CUBIN_OLD_FLAGS_64BIT |
                          (arch.suffix == 'a' ? CUBIN_OLD_FLAGS_SUFFIX_A : 0);
        return;
    }
    m->image->flags =
        (m->cubins[0]->flags & CUBIN_FLAGS_MERGEABLE & ~CUBIN_FLAGS_SM_MASK) |
        arch.sm << CUBIN_FLAGS_SM_SHIFT | CUBIN_FLAGS_NOTE(note) |
        (merging_is_first_mercury(m) && arch.suffix == 'a' ? CUBIN_FLAGS_SUFFIX_A : 0);
}

/* Adds the sections to m->image and lays it out. */
static void build_image(struct merging *m)
{
    struct image *image = m->image;

    set_header(m);
    ARRAY_RESERVE(image->sections, image->section_capacity,
                  image->section_count + m->out->order_count);
    for (size_t i = 0; i < m->out->order_count; i++)
        add_to_image(m, &m->out->sections[m->out->order[i]]);
    mercury_encode_symbols(m);
    image_take_strings(image, ORDERING_SHSTRTAB, &m->out->names.tables[NAMES_SHSTRTAB]);
    image_take_strings(image, ORDERING_STRTAB, &m->out->names.tables[NAMES_STRTAB]);
    image_layout(image);
}

/* From here on every symbol and section has its number. */
static bool encode(struct merging *m)
{
    build_tables(m);
    callgraph_encode(m);
    mercury_encode(m);
    warn_of_stacks(m);
    symtab_encode(m);
    if (attributes_encode(m))
        layout_write_relocations(m);
    /* They are written, and the image's sections take as much memory. */
    free(m->out->relocations.items);
    m->out->relocations.items = NULL;
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
    CONTEXT_DEFER(frames_restore, &m);
    image_begin(image, request->relocatable ? ET_REL : ET_EXEC, 0);
    if (!resolve_program(&m) || !place_and_relocate(&m))
        return false;
    order(&m);
    if (!encode(&m))
        return false;
    build_image(&m);
    if (report)
        report_fill(report, &m);
    return true;
}
