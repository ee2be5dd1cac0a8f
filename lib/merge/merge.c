/* merge.c: relocatable cubins to one image, stage by stage.
 *
 * The stages share struct merging; each reports all that it finds wrong before it fails. Rules as
 * measured on nvlink 13.0, where each stage's file states its own. */
#include "merge/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/diag.h"
#include "base/memory.h"
#include "merge/attributes.h"
#include "merge/callgraph.h"
#include "merge/constants.h"
#include "merge/frames.h"
#include "merge/graph.h"
#include "merge/layout.h"
#include "merge/limits.h"
#include "merge/mercury.h"
#include "merge/mercury_constants.h"
#include "merge/mercury_relocate.h"
#include "merge/merging.h"
#include "merge/notes.h"
#include "merge/ordering.h"
#include "merge/preserve.h"
#include "merge/reach.h"
#include "merge/relocate.h"
#include "merge/relocations.h"
#include "merge/resolve.h"
#include "merge/shared.h"
#include "merge/symtab.h"
#include "merge/texture.h"
#include "merge/unified.h"

/* nvlink's last words when definitions contradict each other. */
static bool give_up(void)
{
    diag_fatal("merge_elf failed");
    return false;
}

/* Code for an older target of the same major number is taken too (measured: nvlink 13.0 links sm_80
 * code for sm_86, and writes the target's number); the rest of the flags must agree. */
static bool is_for_target(const struct merging *m, const struct cubin *cubin)
{
    uint32_t sm = CUBIN_FLAGS_SM(cubin->flags);
    uint32_t other = CUBIN_FLAGS_MERGEABLE & ~CUBIN_FLAGS_SM_MASK;

    return sm / 10 == m->request->arch.sm / 10 && sm <= m->request->arch.sm &&
           ((cubin->flags ^ m->cubins[0]->flags) & other) == 0;
}

/* All inputs are relocatable, for the target, and of one kind. */
static bool check_inputs(struct merging *m)
{
    char arch[ARCH_NAME_SIZE];
    size_t symbols = 0;
    size_t sections = 0;

    for (size_t file = 0; file < m->count; file++) {
        const struct cubin *cubin = m->cubins[file];

        symbols += cubin->symbol_count;
        sections += cubin->section_count;
        if (cubin->type != ET_REL) {
            diag_error("Input file '%s' is not a relocatable cubin", cubin->name);
            m->failed = true;
        } else if (!is_for_target(m, cubin)) {
            diag_fatal("Input file '%s' arch does not match target '%s'", cubin->name,
                       arch_name(m->request->arch, arch));
            m->failed = true;
        }
    }
    if (symbols >= MERGE_NONE / 2 || sections >= MERGE_NONE / 2) {
        diag_error("Too many symbols or sections to merge");
        m->failed = true;
    }
    if (!m->failed)
        preserve_warn(m);
    return !m->failed && unified_check(m);
}

/* The same contents in every executable up to sm_90; what the driver does with them is not known.
 */
static void add_rel_action(struct merging *m)
{
    if (m->request->relocatable || merging_is_mercury(m))
        return;
    layout_add(m, &(struct merged_section){
                      .class = CLASS_REL_ACTION,
                      .name = TEXT(".nv.rel.action"),
                      .type = SHT_CUDA_RELOCINFO,
                      .alignment = 8,
                      .entry_size = 8,
                      .size = NV_REL_ACTION_SIZE,
                      .data = format_rel_action,
                      .function = MERGE_NONE,
                      .target = MERGE_NONE,
                  });
}

static bool gather(struct merging *m)
{
    struct merged_function *functions = attributes_gather(m);

    shared_gather(m, functions);
    texture_gather(m, functions);
    constants_gather(m, functions);
    m->functions = functions;
    reach_summarize(m);
    return m->request->relocatable || limits_check_registers(m);
}

static bool find_live(struct merging *m)
{
    reach_mark_live(m);
    return m->request->relocatable || resolve_check_undefined(m);
}

static bool place(struct merging *m)
{
    m->cubins = frames_prune(m);
    notes_add(m);
    mercury_begin(m);
    return layout_sections(m) && texture_layout(m) && constants_layout(m) && shared_layout(m);
}

static bool relocate(struct merging *m)
{
    layout_fill(m);
    constants_fill(m);
    mercury_pair(m);
    mercury_constants(m);
    mercury_relocate(m);
    if (!relocate_sections(m))
        return false;
    mercury_add_lists(m);
    return true;
}

/* From here on no section is added. */
static bool order(struct merging *m)
{
    attributes_add_sections(m);
    graph_add_sections(m);
    add_rel_action(m);
    mercury_add_sections(m);
    ordering_sections(m);
    preserve_symbols(m);
    symtab_assign(m);
    return true;
}

/* From here on every symbol and section has its number. */
static bool encode(struct merging *m)
{
    graph_encode(m);
    mercury_encode(m);
    attributes_warn(m);
    return attributes_encode(m) && relocations_encode(m);
}

static uint32_t find_index(const struct merging *m, struct text name)
{
    uint32_t section = table_find(&m->section_names, name);

    return section == TABLE_NONE ? 0 : m->sections[section].index;
}

static uint32_t link_of(const struct merging *m, const struct merged_section *section)
{
    if (merging_is_twin(section->class))
        return mercury_link(m, section);
    switch (section->class) {
    case CLASS_TEXT:
    case CLASS_RELOCATIONS:
    case CLASS_INFO:
    case CLASS_FUNCTION_INFO:
    case CLASS_CALLGRAPH:
    case CLASS_PROTOTYPE:
        return ORDERING_SYMTAB;
    case CLASS_NOTE:
        return text_equal(section->name, TEXT(".note.nv.cuinfo"))
                   ? find_index(m, TEXT(".note.nv.tkinfo"))
                   : 0;
    default:
        return 0;
    }
}

static uint32_t info_of(const struct merging *m, const struct merged_section *section)
{
    if (merging_is_twin(section->class))
        return mercury_info(m, section);
    if (section->class == CLASS_TEXT)
        return m->rows->of_symbol[section->function] | section->info_high << 24;
    if (section->class == CLASS_NOTE)
        return section->flags & SHF_INFO_LINK ? find_index(m, TEXT(".nv.compat")) : 0;
    if (section->target != MERGE_NONE)
        return m->sections[section->target].index;
    if (section->function != MERGE_NONE && m->text_of[section->function] != MERGE_NONE)
        return m->sections[m->text_of[section->function]].index;
    return 0;
}

/* A section that belonged to one that is gone belongs to none, and only code is executable. */
static uint64_t flags_of(const struct merged_section *section, uint32_t info)
{
    uint64_t flags = section->flags;

    /* The sh_info of code is a symbol, whatever a damaged input says. */
    if (info == 0 || section->class == CLASS_TEXT || section->class == CLASS_TWIN_TEXT)
        flags &= ~(uint64_t)SHF_INFO_LINK;
    if (section->class != CLASS_TEXT)
        flags &= ~(uint64_t)SHF_EXECINSTR;
    return flags;
}

static void add_to_image(struct merging *m, const struct merged_section *section)
{
    bool has_no_bytes = section->class >= CLASS_SHARED;
    uint32_t info = info_of(m, section);

    image_add_section(m->image, &(struct image_section){
                                    .name = section->name,
                                    .type = section->type,
                                    .flags = flags_of(section, info),
                                    .alignment = section->alignment,
                                    .entry_size = section->entry_size,
                                    .size = section->size,
                                    .has_no_bytes = has_no_bytes,
                                    .data = has_no_bytes ? NULL : section->data,
                                    .shares = mercury_shared(m, section),
                                    .link = link_of(m, section),
                                    .info = info,
                                });
}

static void add_tables(struct merging *m)
{
    static const struct image_section tables[] = {
        {.name = {".shstrtab", 9}, .type = SHT_STRTAB, .alignment = 1},
        {.name = {".strtab", 7}, .type = SHT_STRTAB, .alignment = 1},
        {.name = {".symtab", 7}, .type = SHT_SYMTAB, .alignment = 8, .link = ORDERING_STRTAB},
        {.name = {".symtab_shndx", 13},
         .type = SHT_SYMTAB_SHNDX,
         .alignment = 4,
         .entry_size = sizeof(Elf32_Word),
         .link = ORDERING_SYMTAB},
    };
    size_t count = ordering_is_extended(m) ? ORDERING_INDICES : ORDERING_INDICES - 1;

    for (size_t i = 0; i < count; i++)
        image_add_section(m->image, &tables[i]);
}

static void build_image(struct merging *m)
{
    struct image_section *strtab;
    uint32_t note = find_index(m, TEXT(".note.nv.cuinfo"));

    m->image->flags = (m->cubins[0]->flags & CUBIN_FLAGS_MERGEABLE & ~CUBIN_FLAGS_SM_MASK) |
                      m->request->arch.sm << CUBIN_FLAGS_SM_SHIFT | note << CUBIN_FLAGS_NOTE_SHIFT;
    add_tables(m);
    for (size_t i = 0; i < m->order_count; i++)
        add_to_image(m, &m->sections[m->order[i]]);
    table_reserve(&m->strings.offsets, m->order_count + m->rows->count);
    for (size_t i = 0; i < m->order_count; i++)
        image_string(&m->strings, m->sections[m->order[i]].name);
    symtab_encode(m);
    mercury_encode_symbols(m);
    strtab = &m->image->sections[ORDERING_STRTAB];
    strtab->size = m->strings.bytes.size;
    strtab->data =
        memcpy(arena_alloc(&m->image->arena, strtab->size, 1), m->strings.bytes.data, strtab->size);
    image_set_section_names(m->image, ORDERING_SHSTRTAB);
    image_layout(m->image);
}

/* The bytes of bank 0, which hold a kernel's parameters. */
static void report_constants(const struct merging *m, struct merge_report *report,
                             const uint32_t *entry_of)
{
    for (size_t i = 0; i < m->section_count; i++) {
        const struct merged_section *section = &m->sections[i];

        if (section->class == CLASS_CONSTANT && section->bank == 3)
            report->constant3_bytes += section->size;
        else if (section->class == CLASS_GLOBAL || section->class == CLASS_GLOBAL_INIT)
            report->global_bytes += section->size;
        else if (section->class == CLASS_FUNCTION_CONSTANT && section->bank == 0)
            report->kernels[entry_of[section->function]].constant0 += (uint32_t)section->size;
    }
}

static void report_function(const struct merging *m, struct merge_report *report, uint32_t function)
{
    const struct merged_symbol *symbol = &m->symbols[function];
    const struct merged_function *facts = &m->functions[function];
    const struct reach *reach = &m->reach[function];
    bool is_kernel = merged_is_kernel(symbol);
    bool is_bounded = !(reach->flags & REACHES_CYCLE) && reach->stack < UINT32_MAX;
    uint32_t shared = m->shared->section_of[function];

    report->kernels[report->kernel_count++] = (struct kernel_report){
        .name = arena_text(&report->arena, symbol->name),
        .is_kernel = is_kernel,
        .registers = is_kernel ? reach->registers : facts->registers,
        .barriers = is_kernel ? reach->barriers : facts->barriers,
        .stack = is_bounded ? (uint32_t)reach->stack : UINT32_MAX,
        .shared = shared == MERGE_NONE ? 0 : (uint32_t)m->sections[shared].size,
    };
}

static void report_dead(const struct merging *m, struct merge_report *report)
{
    report->dead_names = arena_alloc(&report->arena, m->symbol_count, sizeof *report->dead_names);
    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct merged_symbol *symbol = &m->symbols[i];

        if (symbol->type == STT_FUNC && symbol->file != MERGE_NONE && !m->is_live[i] &&
            symbol->alias == MERGE_NONE)
            report->dead_names[report->dead_functions++] =
                arena_string(&report->arena, symbol->name);
    }
}

static void fill_report(struct merging *m, struct merge_report *report)
{
    uint32_t *entry_of = arena_zalloc(&m->arena, m->symbol_count, sizeof *entry_of);

    report->kernels = arena_alloc(&report->arena, m->order_count, sizeof *report->kernels);
    for (size_t i = 0; i < m->order_count; i++) {
        const struct merged_section *section = &m->sections[m->order[i]];

        if (section->class != CLASS_TEXT)
            continue;
        entry_of[section->function] = (uint32_t)report->kernel_count;
        report_function(m, report, section->function);
    }
    if (report->kernel_count > 0)
        report_constants(m, report, entry_of);
    report_dead(m, report);
    if (m->request->callgraph != CALLGRAPH_NONE)
        callgraph_print(m, &report->callgraph);
}

static void free_merging(void *argument)
{
    struct merging *m = argument;

    buffer_free(&m->scratch);
    free(m->sections);
    relocations_free(&m->relocations);
    table_free(&m->section_names);
    image_strings_free(&m->strings);
    arena_free(&m->arena);
}

bool merge_cubins(struct image *image, const struct cubin *const *cubins, size_t count,
                  const struct merge_request *request, struct merge_report *report)
{
    struct merging m = {.request = request, .cubins = cubins, .count = count, .image = image};
    struct context_cleanup cleanup;
    bool ok;

    context_defer(&cleanup, free_merging, &m);
    image_begin(image, request->relocatable ? ET_REL : ET_EXEC, 0);
    ok = check_inputs(&m) &&
         ((resolve_symbols(&m) && limits_check_parameters(&m) && graph_read(&m)) || give_up()) &&
         find_live(&m);
    /* From here on it is known what stays. */
    ok = ok && gather(&m) && place(&m) && relocate(&m) && order(&m) && encode(&m);
    if (ok) {
        build_image(&m);
    }
    if (ok && report)
        fill_report(&m, report);
    context_clean(&cleanup);
    return ok;
}

void merge_report_free(struct merge_report *report)
{
    buffer_free(&report->callgraph);
    arena_free(&report->arena);
    *report = (struct merge_report){0};
}
