/* layout.h: which sections the output has, and where the inputs' contents go in them. */
#pragma once

#include "merge/merging.h"

/* Where contents and code went. */
struct layout {
    const struct merged_place *places; /* by input section */
    const uint32_t *text_of;           /* by symbol: the merged section of a function's code */
    const uint32_t *kernels;           /* symbols, in order of their code */
    size_t kernel_count;
};

/* Adds code, data and debug sections to m->sections, fills m->layout, and gives symbols their
 * section and value. False, and errors, for contents that do not fit or cannot be merged. */
bool layout_sections(struct merging *m);

/* Gives every section with bytes its contents: a view of the only input, or a copy of all. */
void layout_fill(struct merging *m);

/* The contents of a merged section as a copy that may be changed, in the image's arena or one that
 * becomes part of it. */
uint8_t *layout_writable(struct merging *m, uint32_t section, struct arena *arena);

/* Adds a section; its index. */
uint32_t layout_add(struct merging *m, const struct merged_section *section);

/* made_sections.c: adds one that the link makes itself, the program's or of a function, with what
 * all of the class have. */
uint32_t layout_make(struct merging *m, enum merged_class class);
uint32_t layout_make_of(struct merging *m, enum merged_class class, struct text name,
                        uint32_t function);
