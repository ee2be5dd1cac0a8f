/* graph_print.c: nodes are functions; edges are direct calls and possible targets of indirect
 * calls. */
#include "merge/merge_steps.h"

#include "base/context.h"
#include "diag/symbol_names.h"
#include "diag/escape.h"

struct printer {
    const struct merging *m;
    struct buffer *out;
    uint32_t *number;   /* by symbol: in the list, from 1; 0 = not in it */
    uint32_t *symbols;  /* by number - 1 */
    struct text *names; /* by number - 1: as shown */
    uint32_t count;
    bool is_dot;
};

/* Escapes characters that would end the line or control a terminal; in a quoted string of Graphviz
 * the quote and the backslash are special, too. */
static void put_function_name(const struct printer *printer, uint32_t symbol)
{
    uint32_t number = printer->number[symbol];
    struct buffer shown = {0};

    CONTEXT_DEFER(buffer_cleanup, &shown);
    escape_text(number ? printer->names[number - 1] : printer->m->symbols[symbol].name, &shown);
    for (size_t i = 0; i < shown.size; i++) {
        if (printer->is_dot && (shown.data[i] == '"' || shown.data[i] == '\\'))
            buffer_char(printer->out, '\\');
        buffer_char(printer->out, shown.data[i]);
    }
}

static void put_edge(const struct printer *printer, uint32_t from, uint32_t to)
{
    if (printer->number[to] == 0)
        return;
    if (printer->is_dot)
        buffer_printf(printer->out, "    f%u -> f%u;\n", printer->number[from],
                      printer->number[to]);
    else
        buffer_printf(printer->out, " %u", printer->number[to]);
}

/* Prints the possible targets of calls through each prototype (all functions with that prototype
 * whose address is taken), then direct calls, last first. */
static void put_edges(const struct printer *printer, uint32_t symbol)
{
    const struct merging *m = printer->m;

    if (m->symbols[symbol].alias != MERGE_NONE) {
        put_edge(printer, symbol, m->symbols[symbol].alias);
        return;
    }
    for (uint32_t i = m->graph.called.first[symbol + 1]; i-- > m->graph.called.first[symbol];) {
        uint32_t prototype = m->graph.called.items[i];

        for (uint32_t k = m->graph.candidates.first[prototype + 1];
             k-- > m->graph.candidates.first[prototype];)
            put_edge(printer, symbol, m->graph.candidates.items[k]);
    }
    for (uint32_t i = m->graph.calls.first[symbol]; i < m->graph.calls.first[symbol + 1]; i++)
        put_edge(printer, symbol, m->graph.calls.items[i]);
}

static uint32_t printed_registers(const struct merging *m, uint32_t symbol)
{
    if (m->symbols[symbol].file == MERGE_NONE || m->symbols[symbol].alias != MERGE_NONE)
        return 0;
    return m->functions[symbol].registers;
}

/* In Graphviz entry points are boxes, and functions whose address is taken have a dashed line. */
static void put_function(const struct printer *printer, uint32_t symbol)
{
    const struct merging *m = printer->m;
    bool is_dot = printer->is_dot, is_kernel = merged_is_kernel(&m->symbols[symbol]);
    bool is_taken = index_lists_count(&m->graph.taken, symbol) > 0;
    uint32_t registers = printed_registers(m, symbol);

    buffer_printf(printer->out, is_dot ? "    f%u [label=\"" : "%u: ", printer->number[symbol]);
    if (!is_dot)
        buffer_printf(printer->out, "%s%s", is_kernel ? "^" : "", is_taken ? "&" : "");
    put_function_name(printer, symbol);
    if (registers)
        buffer_printf(printer->out, is_dot ? "\\n%u registers" : " [%u]", registers);
    if (is_dot)
        buffer_printf(printer->out, "\"%s%s];\n", is_kernel ? ", shape=box" : "",
                      is_taken ? ", style=dashed" : "");
    else
        buffer_string(printer->out, " ->");
    put_edges(printer, symbol);
    if (!is_dot)
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

void graph_print(const struct merging *m, struct buffer *out)
{
    struct printer printer = {.m = m, .out = out, .is_dot = m->request->callgraph == CALLGRAPH_DOT};

    if (printer.is_dot)
        buffer_printf(out, "digraph callgraph {\n    label=\"sm_%u\";\n", m->request->arch.sm);
    else
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
    if (printer.is_dot)
        buffer_string(out, "}\n");
    for (uint32_t i = 0; i < printer.count && !printer.is_dot; i++)
        put_propagated(&printer, printer.symbols[i]);
}
