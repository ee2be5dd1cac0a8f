/* callgraph.c: .nv.callgraph and .nv.prototype of the whole program, with the functions in the
 * order of the cubins' symbols (measured), and the call graph as text. */
#include "merge/internal.h"

#include "diag/escape.h"
#include "diag/symbol_names.h"

/* Whether the graph has a function: a live one, or an alias (TOOLKIT_LISTS_ALIASES). */
static bool is_listed(const struct merging *m, uint32_t symbol)
{
    return m->is_live[symbol] ||
           (m->symbols[symbol].alias != MERGE_NONE && !m->request->relocatable &&
            merging_does(m, TOOLKIT_LISTS_ALIASES));
}

/* A prototype is written for functions whose address is not taken (measured). */
static bool has_written_prototype(const struct merging *m, uint32_t symbol)
{
    return is_listed(m, symbol) && index_lists_count(&m->graph.taken, symbol) == 0 &&
           !mercury_lacks(m, symbol);
}

void callgraph_add_sections(struct merging *m)
{
    layout_make(m, CLASS_CALLGRAPH, MERGE_NONE);
    for (size_t i = 0; i < m->graph.declared.count; i++) {
        if (!has_written_prototype(m, m->graph.declared.items[i].from))
            continue;
        layout_make(m, CLASS_PROTOTYPE, MERGE_NONE);
        break;
    }
}

/* Lists what a function calls. Before that, if `is_possible`, the possible targets of its calls
 * through each prototype: all functions with that prototype whose address is taken; last first. */
static void list_calls(const struct merging *m, uint32_t symbol, bool is_possible,
                       struct buffer *list)
{
    const struct call_graph *graph = &m->graph;
    uint32_t last = is_possible ? graph->called.first[symbol + 1] : graph->called.first[symbol];

    for (uint32_t i = last; i-- > graph->called.first[symbol];) {
        uint32_t prototype = graph->called.items[i];

        for (uint32_t k = graph->candidates.first[prototype + 1];
             k-- > graph->candidates.first[prototype];)
            buffer_u32(list, graph->candidates.items[k]);
    }
    for (uint32_t i = graph->calls.first[symbol]; i < graph->calls.first[symbol + 1]; i++)
        buffer_u32(list, graph->calls.items[i]);
}

static void put_graph_pair(struct buffer *out, uint32_t first, uint32_t second)
{
    buffer_u32(out, first);
    buffer_u32(out, second);
}

/* One part: the list of every function with one of the first `end` rows, in the order of the
 * cubins' symbols; lists is NULL for calls. */
static void encode_part(struct merging *m, struct buffer *out, int part,
                        const struct merged_lists *lists, size_t end)
{
    bool has_strings = part == CALLGRAPH_ADDRESS || part == CALLGRAPH_INDIRECT;
    bool lacks_undefined = !lists && merging_does(m, TOOLKIT_OMITS_CALLS_OF_UNDEFINED);
    LOCAL_BUFFER(list);

    put_graph_pair(out, 0, (uint32_t)part);
    for (uint32_t symbol = 0; symbol < m->symbol_count; symbol++) {
        uint32_t row = m->out->rows.of_symbol[symbol];

        if (row == 0 || row >= end || !is_listed(m, symbol))
            continue;
        list.size = 0;
        if (lists)
            buffer_append(&list, lists->items + lists->first[symbol],
                          index_lists_count(lists, symbol) * sizeof *lists->items);
        else
            list_calls(m, symbol, merging_does(m, TOOLKIT_LISTS_POSSIBLE_CALLS), &list);
        for (size_t i = 0; i < list.size / sizeof(uint32_t); i++) {
            uint32_t item = info_word(buffer_bytes(&list), i);

            if (!has_strings && (!m->is_live[item] || m->out->rows.of_symbol[item] >= end ||
                                 (lacks_undefined && m->symbols[item].file == MERGE_NONE)))
                continue;
            put_graph_pair(out, row,
                           !has_strings ? m->out->rows.of_symbol[item]
                           : m->graph.prototypes[item].data
                               ? names_put(m, NAMES_STRTAB, m->graph.prototypes[item])
                               : 0);
        }
    }
}

/* Of prototypes whose registers differ, as those of CUDA 12.4 and of 13 do, the last is written.
 * Measured with nvlink 13.0 and 13.5. */
static void encode_prototypes(struct merging *m, struct buffer *out)
{
    uint32_t *last = merging_none(m, m->symbol_count);

    for (size_t i = 0; i < m->graph.declared.count; i++)
        last[m->graph.declared.items[i].from] = m->graph.declared.items[i].to;
    for (uint32_t symbol = 0; symbol < m->symbol_count; symbol++)
        if (last[symbol] != MERGE_NONE && has_written_prototype(m, symbol))
            put_graph_pair(out, m->out->rows.of_symbol[symbol],
                           names_put(m, NAMES_STRTAB, m->graph.prototypes[last[symbol]]));
}

static void encode_calls(struct merging *m, struct buffer *out, size_t end)
{
    out->size = 0;
    encode_part(m, out, CALLGRAPH_DIRECT, NULL, end);
    encode_part(m, out, CALLGRAPH_ADDRESS, &m->graph.taken, end);
    encode_part(m, out, CALLGRAPH_INDIRECT, &m->graph.called, end);
    encode_part(m, out, CALLGRAPH_CANDIDATE, &m->graph.references, end);
}

static void set_class_contents(struct merging *m, enum section_class class,
                               const struct buffer *contents)
{
    for (uint32_t i = m->out->classes.first[class]; i < m->out->classes.first[class + 1]; i++)
        layout_set(m, m->out->classes.items[i], buffer_bytes(contents));
}

void callgraph_encode(struct merging *m)
{
    LOCAL_BUFFER(prototypes);
    LOCAL_BUFFER(calls);

    encode_calls(m, &calls, m->out->rows.count);
    encode_prototypes(m, &prototypes);
    set_class_contents(m, CLASS_CALLGRAPH, &calls);
    set_class_contents(m, CLASS_PROTOTYPE, &prototypes);
    if (!m->out->has_twins)
        return;
    if (m->out->is_plain_only)
        encode_calls(m, &calls, m->out->rows.twin_count);
    set_class_contents(m, CLASS_TWIN_CALLGRAPH, &calls);
    set_class_contents(m, CLASS_TWIN_PROTOTYPE, &prototypes);
}

/* Prints the graph: nodes are functions; edges are calls, also possible indirect ones. */
struct printer {
    const struct merging *m;
    struct buffer *out;
    uint32_t *number;   /* by symbol: in the list, from 1; 0 = not in it */
    uint32_t *symbols;  /* by number - 1 */
    struct text *names; /* by number - 1: as shown */
    uint32_t count;
};

/* Escapes characters that would end the line or control a terminal. */
static void put_function_name(const struct printer *printer, uint32_t symbol)
{
    uint32_t number = printer->number[symbol];

    escape_text(number ? printer->names[number - 1] : printer->m->symbols[symbol].name,
                printer->out);
}

static void put_edges(const struct printer *printer, uint32_t symbol)
{
    const struct merging *m = printer->m;
    LOCAL_BUFFER(list);

    if (m->symbols[symbol].alias != MERGE_NONE)
        buffer_u32(&list, m->symbols[symbol].alias);
    else
        list_calls(m, symbol, true, &list);
    for (size_t i = 0; i < list.size / sizeof(uint32_t); i++) {
        uint32_t to = printer->number[info_word(buffer_bytes(&list), i)];

        if (to)
            buffer_printf(printer->out, " %u", to);
    }
}

static void put_function(const struct printer *printer, uint32_t symbol)
{
    const struct merging *m = printer->m;
    bool is_kernel = merged_is_kernel(&m->symbols[symbol]);
    bool is_taken = index_lists_count(&m->graph.taken, symbol) > 0;
    bool is_own = m->symbols[symbol].file != MERGE_NONE && m->symbols[symbol].alias == MERGE_NONE;
    uint32_t registers = is_own ? m->functions[symbol].registers : 0;

    buffer_printf(printer->out, "%u: %s%s", printer->number[symbol], is_kernel ? "^" : "",
                  is_taken ? "&" : "");
    put_function_name(printer, symbol);
    if (registers)
        buffer_printf(printer->out, " [%u]", registers);
    buffer_string(printer->out, " ->");
    put_edges(printer, symbol);
    buffer_char(printer->out, '\n');
}

/* For a kernel with more registers than it needs itself, prints the function that needs them. */
static void put_propagated(const struct printer *printer, uint32_t symbol)
{
    const struct merging *m = printer->m;
    const struct reach *reach = &m->reach[symbol];

    if (!merged_is_kernel(&m->symbols[symbol]) ||
        reach->registers <= m->functions[symbol].registers)
        return;
    buffer_printf(printer->out, "regcount %u for ", reach->registers);
    put_function_name(printer, reach->dearest);
    buffer_string(printer->out, " propagated to entry ");
    put_function_name(printer, symbol);
    buffer_char(printer->out, '\n');
}

static void number_functions(struct printer *printer)
{
    const struct merging *m = printer->m;
    struct arena *arena = &m->image->arena;

    printer->number = arena_zalloc(arena, m->symbol_count, sizeof *printer->number);
    printer->symbols = arena_alloc(arena, m->out->rows.count, sizeof *printer->symbols);
    printer->names = arena_alloc(arena, m->out->rows.count, sizeof *printer->names);
    for (size_t row = 0; row < m->out->rows.count; row++) {
        uint32_t symbol = m->out->rows.symbols[row];

        if (symbol == MERGE_NONE || m->symbols[symbol].type != STT_FUNC ||
            m->out->rows.of_symbol[symbol] == 0)
            continue;
        printer->names[printer->count] = m->symbols[symbol].name;
        printer->symbols[printer->count] = symbol;
        printer->number[symbol] = ++printer->count;
    }
    if (m->request->callgraph != CALLGRAPH_MANGLED)
        symbol_names_demangle(printer->names, printer->count, arena);
}

void callgraph_print(const struct merging *m, struct buffer *out)
{
    struct printer printer = {.m = m, .out = out};

    buffer_printf(out,
                  "callgraph for sm_%u:\n"
                  "# A: s -> B // s (number A) potentially calls B\n"
                  "# s [N]     // s uses N registers\n"
                  "# ^s        // s is entry point\n"
                  "# &s        // s has address taken\n",
                  m->request->arch.sm);
    number_functions(&printer);
    for (uint32_t i = 0; i < printer.count; i++)
        put_function(&printer, printer.symbols[i]);
    for (uint32_t i = 0; i < printer.count; i++)
        put_propagated(&printer, printer.symbols[i]);
}
