/* report.c: fills in the report for -v and for callers of the library. */
#include "merge/internal.h"

/* Reports the banks of functions, and the program's data. `kernel_of`: by symbol, the index in
 * report->kernels of a function with code. */
static void report_data(const struct merging *m, struct merge_report *report,
                        const uint32_t *kernel_of)
{
    for (size_t i = 0; i < m->out->section_count; i++) {
        const struct merged_section *section = &m->out->sections[i];
        struct kernel_report *kernel =
            section->function == MERGE_NONE ? NULL : &report->kernels[kernel_of[section->function]];

        if (section->class == CLASS_CONSTANT && section->bank == 3)
            report->constant3_bytes += section->size;
        else if (section->class == CLASS_GLOBAL || section->class == CLASS_GLOBAL_INIT)
            report->global_bytes += section->size;
        else if (merged_is_bank(section, 0))
            kernel->constant0 += (uint32_t)section->size;
        else if (merged_is_bank(section, CONSTANTS_BANK))
            kernel->constant2 += (uint32_t)section->size;
        else if (section->class == CLASS_SHARED && kernel) {
            kernel->shared = (uint32_t)section->size;
            kernel->reserved = m->request->relocatable ? 0 : (uint32_t)shared_reserved_bytes(m);
        }
    }
}

static void report_function(const struct merging *m, struct merge_report *report, uint32_t function)
{
    const struct merged_symbol *symbol = &m->symbols[function];
    const struct merged_function *facts = &m->functions[function];
    const struct reach *reach = &m->reach[function];
    struct kernel_report *kernel = &report->kernels[report->kernel_count++];

    *kernel = (struct kernel_report){
        .name = arena_text(&report->arena, symbol->name),
        .is_kernel = merged_is_kernel(symbol),
        .registers = attributes_are_summed(m, function) ? reach->registers : facts->registers,
        .barriers = attributes_barriers(m, function),
        .stack = m->request->relocatable           ? 0
                 : reach_is_unbounded(m, function) ? UINT32_MAX
                                                   : (uint32_t)reach->stack,
        .frame = m->request->relocatable ? 0 : facts->frame,
        .code = m->out->sections[m->out->text_of[function]].size,
        .file = symbol->file,
        .input = symbol->input,
    };
    if (!texture_has_words(m, function))
        return;
    kernel->textures = m->out->textures.counts[STT_CUDA_TEXTURE];
    kernel->surfaces = m->out->textures.counts[STT_CUDA_SURFACE];
    kernel->samplers = m->out->textures.counts[STT_CUDA_SAMPLER];
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

static bool has_code(const struct merging *m, uint32_t symbol)
{
    return m->symbols[symbol].type == STT_FUNC && m->symbols[symbol].alias == MERGE_NONE &&
           m->out->text_of[symbol] != MERGE_NONE && m->is_live[symbol];
}

static void fill_sections(const struct merging *m, struct merge_report *report,
                          const uint32_t *kernel_of)
{
    const struct image *image = m->image;
    struct merge_places *places = &report->places;

    places->type = image->type;
    places->file_size = image->file_size;
    places->section_count = image->section_count;
    places->sections = arena_alloc(&report->arena, image->section_count, sizeof *places->sections);
    for (size_t i = 0; i < image->section_count; i++)
        places->sections[i] = (struct merge_section){
            .name = image->sections[i].name,
            .offset = image->sections[i].offset,
            .size = image->sections[i].size,
            .alignment = image->sections[i].alignment,
            .has_no_bytes = image->sections[i].has_no_bytes,
            .kernel = MERGE_NO_FILE,
        };
    for (size_t i = 0; i < m->out->order_count; i++) {
        const struct merged_section *section = &m->out->sections[m->out->order[i]];
        uint32_t function = section->function;

        if (function == MERGE_NONE && section->target != MERGE_NONE)
            function = m->out->sections[section->target].function; /* relocations of its code */
        if (function != MERGE_NONE && has_code(m, function))
            places->sections[m->out->sections[m->out->order[i]].index].kernel = kernel_of[function];
    }
}

/* Mercury's twins of data are listed too, although they share the bytes of the data in the file. */
static void fill_pieces(const struct merging *m, struct merge_report *report)
{
    struct merge_places *places = &report->places;

    places->pieces = arena_alloc(&report->arena, m->section_base[m->count], sizeof *places->pieces);
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_ANY);) {
        const struct merged_place *place = merging_place(m, at.file, at.index);

        if (place->section == MERGE_NONE || m->out->sections[place->section].index == 0 ||
            at.section->size == 0)
            continue;
        places->pieces[places->piece_count++] =
            (struct merge_piece){.file = (uint32_t)at.file,
                                 .input = at.index,
                                 .section = m->out->sections[place->section].index,
                                 .offset = place->offset,
                                 .size = at.section->size};
    }
}

/* Includes internal variables, which the symbol table omits. */
static void fill_names(const struct merging *m, struct merge_report *report)
{
    struct merge_places *places = &report->places;

    places->names = arena_alloc(&report->arena, m->symbol_count, sizeof *places->names);
    for (uint32_t i = 0; i < m->symbol_count; i++) {
        const struct placed_symbol *placed = &m->out->placed[i];
        const struct merged_symbol *symbol = &m->symbols[i];
        bool is_dead = symbol->type == STT_FUNC && !m->is_live[i];
        bool has_place = placed->section != MERGE_NONE && !is_dead;
        uint32_t section = has_place ? m->out->sections[placed->section].index : 0;

        if (section == 0 && m->out->rows.of_symbol[i] == 0)
            continue;
        places->names[places->name_count++] = (struct merge_name){
            .name = arena_text(&report->arena, placed->name.size ? placed->name : symbol->name),
            .value = placed->value,
            .size = symbol->size,
            .section = section,
            .file = symbol->file,
            .input = symbol->input,
            .type = symbol->type,
            .binding = symbol->binding,
        };
    }
}

/* Adds a call, of functions by their symbols, if the callee has code. */
static void add_call(const struct merging *m, struct merge_report *report, size_t *capacity,
                     const uint32_t *kernel_of, struct merge_call call)
{
    uint32_t to = merging_canonical(m, call.to);

    if (!has_code(m, to))
        return;
    call.from = kernel_of[call.from];
    call.to = kernel_of[to];
    ARENA_PUSH(&report->arena, report->places.calls, report->places.call_count, *capacity) = call;
}

static void fill_calls(const struct merging *m, struct merge_report *report,
                       const uint32_t *kernel_of)
{
    const struct call_graph *graph = &m->graph;
    size_t capacity = 0;

    for (size_t i = 0; i < m->out->order_count; i++) {
        const struct merged_section *section = &m->out->sections[m->out->order[i]];
        uint32_t from = section->function;

        if (section->class != CLASS_TEXT || from == MERGE_NONE || !has_code(m, from))
            continue;
        for (uint32_t k = graph->calls.first[from + 1]; k-- > graph->calls.first[from];)
            add_call(m, report, &capacity, kernel_of,
                     (struct merge_call){from, graph->calls.items[k], false});
        for (uint32_t k = graph->called.first[from]; k < graph->called.first[from + 1]; k++) {
            uint32_t prototype = graph->called.items[k];

            for (uint32_t c = graph->candidates.first[prototype];
                 c < graph->candidates.first[prototype + 1]; c++)
                add_call(m, report, &capacity, kernel_of,
                         (struct merge_call){from, graph->candidates.items[c], true});
        }
    }
}

/* Adds the function that a cubin's symbol defines, unless it is in the image. */
static void add_drop(const struct merging *m, struct merge_report *report, uint32_t file,
                     uint32_t input)
{
    const struct cubin_symbol *symbol = &m->cubins[file]->symbols[input];
    uint32_t merged = merging_symbol(m, file, input);
    enum merge_reason reason;

    if (symbol->type != STT_FUNC || symbol->section == SHN_UNDEF || merged == MERGE_NONE)
        return;
    if (overridden_has_lost(m, file, input))
        reason = MERGE_CAME_LATER;
    else if (overridden_replaced(m, file, input, merged))
        reason = MERGE_GAVE_WAY;
    else if (!m->is_live[merged] && m->symbols[merged].alias == MERGE_NONE)
        reason = MERGE_UNREACHED;
    else
        return;
    report->places.drops[report->places.drop_count++] =
        (struct merge_drop){.name = arena_text(&report->arena, symbol->name),
                            .file = file,
                            .input = input,
                            .is_kernel = (symbol->other & STO_CUDA_ENTRY) != 0,
                            .reason = reason};
}

static void fill_drops(const struct merging *m, struct merge_report *report)
{
    report->places.drops =
        arena_alloc(&report->arena, m->symbol_base[m->count], sizeof *report->places.drops);
    for (uint32_t file = 0; file < m->count; file++)
        for (uint32_t i = 1; i < m->cubins[file]->symbol_count; i++)
            add_drop(m, report, file, i);
}

void report_fill(struct merge_report *report, struct merging *m)
{
    uint32_t *entry_of = arena_zalloc(&m->arena, m->symbol_count, sizeof *entry_of);
    uint32_t *functions = arena_alloc(&m->arena, m->out->section_count, sizeof *functions);
    size_t count = ordering_functions(m, functions);

    report->kernels = arena_alloc(&report->arena, count, sizeof *report->kernels);
    for (size_t i = 0; i < count; i++) {
        entry_of[functions[i]] = (uint32_t)report->kernel_count;
        report_function(m, report, functions[i]);
    }
    report_data(m, report, entry_of);
    report_dead(m, report);
    if (m->request->wants_places) {
        fill_sections(m, report, entry_of);
        fill_pieces(m, report);
        fill_names(m, report);
        fill_calls(m, report, entry_of);
        fill_drops(m, report);
    }
    if (m->request->callgraph != CALLGRAPH_NONE)
        callgraph_print(m, &report->callgraph);
}

void merge_report_free(struct merge_report *report)
{
    buffer_free(&report->callgraph);
    arena_free(&report->arena);
    *report = (struct merge_report){0};
}
