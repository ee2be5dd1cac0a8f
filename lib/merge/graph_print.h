/* graph_print.h: the linked program's call graph as text. */
#pragma once

struct buffer;  /* base/buffer.h */
struct merging; /* merge/merging.h */

/* In what form the call graph is wanted. */
enum callgraph_form {
    CALLGRAPH_NONE,
    CALLGRAPH_TEXT,    /* nvlink's */
    CALLGRAPH_MANGLED, /* the same, with names as they are */
    CALLGRAPH_DOT,     /* Graphviz */
};

/* Writes the graph in the form that m->request asks for: nvlink's text (measured on 13.0), with or
 * without demangled names, or Graphviz. Functions have the order and numbers of the symbol table;
 * unlike nvlink's, the list has no empty lines for functions that are gone. Comes after the symbols
 * have their rows. */
void graph_print(const struct merging *m, struct buffer *out);
