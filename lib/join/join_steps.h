/* join_steps.h: the steps of join_cubins(), in their order. */
#pragma once

#include <stdbool.h>

struct image_strings; /* cubin/image.h */
struct join;

/* join_mercury.c: whether the second form of the code, from sm_100 on, can be joined too; else it
 * is left out, with a warning that says why. */
void join_find_twins(struct join *join);

/* join_resolve.c: what each symbol stands for, which definition is kept, which section belongs to
 * which function. False, and errors, when two chunks define the same. */
bool join_resolve(struct join *join);

/* join_fold.c: copies of a local function that came out identical become one. */
void join_fold(struct join *join);

/* join_order.c: the kept functions in program order, and who refers to what first. */
void join_order(struct join *join);

/* join_unite.c: the sections that several functions share, and where each piece of them goes. */
void join_unite_sections(struct join *join);

/* join_relocations.c: the relocations of united sections. */
void join_gather_relocations(struct join *join);

/* join_graph.c: call graph and prototypes. */
void join_gather_graph(struct join *join);

/* join_sections.c: makes the joined sections, without what refers to symbols. */
void join_make_sections(struct join *join);

/* join_mercury.c: the twins of united data, beside those; and Mercury's own symbol table. */
void join_unite_twins(struct join *join);
void join_fill_twins(struct join *join, struct image_strings *strings);

/* join_symbols.c: makes the joined symbol table. False, and an error, when the cubin has too many
 * sections for it. */
bool join_make_symbols(struct join *join);

/* join_contents.c: fills in what refers to symbols: info records, call graph, prototypes, and by
 * join_fill_relocations() (join_relocations.c) relocations. */
void join_fill_sections(struct join *join);
void join_fill_relocations(struct join *join);
