/* report.c: what the link made, as -v and the drivers of other programs want to know it. */
#include "merge/merge_steps.h"

#include "merge/graph_print.h"
#include "merge/layout.h"
#include "merge/ordering.h"
#include "merge/reach.h"
#include "merge/shared.h"
#include "merge/texture.h"

static void report_shared(const struct merging *m, struct kernel_report *kernel,
                          const struct merged_section *section)
{
    kernel->shared = (uint32_t)section->size;
    kernel->reserved = m->request->relocatable ? 0 : (uint32_t)shared_reserved_bytes(m);
}

/* The banks of functions, and what belongs to the program. */
static void report_data(const struct merging *m, struct merge_report *report,
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
        else if (section->class == CLASS_FUNCTION_CONSTANT && section->bank == 2)
            report->kernels[entry_of[section->function]].constant2 += (uint32_t)section->size;
        else if (section->class == CLASS_SHARED && section->function != MERGE_NONE)
            report_shared(m, &report->kernels[entry_of[section->function]], section);
    }
}

static void report_function(const struct merging *m, struct merge_report *report, uint32_t function)
{
    const struct merged_symbol *symbol = &m->symbols[function];
    const struct merged_function *facts = &m->functions[function];
    const struct reach *reach = &m->reach[function];
    bool is_summed = merged_is_kernel(symbol) && !m->request->relocatable;
    struct kernel_report *kernel = &report->kernels[report->kernel_count++];

    *kernel = (struct kernel_report){
        .name = arena_text(&report->arena, symbol->name),
        .is_kernel = merged_is_kernel(symbol),
        .registers = is_summed ? reach->registers : facts->registers,
        .barriers = is_summed ? reach->barriers : facts->barriers,
        .stack = m->request->relocatable           ? 0
                 : reach_is_unbounded(m, function) ? UINT32_MAX
                                                   : (uint32_t)reach->stack,
        .frame = m->request->relocatable ? 0 : facts->frame,
        .code = m->sections[m->layout->text_of[function]].size,
        .file = symbol->file,
        .input = symbol->input,
    };
    texture_count(m, function, kernel);
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

void report_fill(struct merge_report *report, struct merging *m)
{
    uint32_t *entry_of = arena_zalloc(&m->arena, m->symbol_count, sizeof *entry_of);
    uint32_t *functions = arena_alloc(&m->arena, m->section_count, sizeof *functions);
    size_t count = ordering_functions(m, functions);

    report->kernels = arena_alloc(&report->arena, count, sizeof *report->kernels);
    for (size_t i = 0; i < count; i++) {
        entry_of[functions[i]] = (uint32_t)report->kernel_count;
        report_function(m, report, functions[i]);
    }
    report_data(m, report, entry_of);
    report_dead(m, report);
    if (m->request->wants_places)
        report_places_fill(report, m, entry_of);
    if (m->request->callgraph != CALLGRAPH_NONE)
        graph_print(m, &report->callgraph);
}

void merge_report_free(struct merge_report *report)
{
    buffer_free(&report->callgraph);
    arena_free(&report->arena);
    *report = (struct merge_report){0};
}
