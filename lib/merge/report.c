/* report.c: what the link made, as -v and the drivers of other programs want to know it. */
#include "merge/report.h"

#include "base/memory.h"
#include "merge/graph_print.h"
#include "merge/reach.h"
#include "merge/shared.h"

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

void report_fill(struct merge_report *report, struct merging *m)
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
        graph_print(m, &report->callgraph);
}

void merge_report_free(struct merge_report *report)
{
    buffer_free(&report->callgraph);
    arena_free(&report->arena);
    *report = (struct merge_report){0};
}
