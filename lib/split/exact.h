/* exact.h: chunks that are assembled as whole programs, each with a share of the kernels, and
 * joined to what the assembler would have made of the whole program. Private to split/. */
#pragma once

#include "split/plan.h"
#include "split/writer.h"

/* How the names of closing kernels begin. */
#define CLOSING_STEM "__minilink_closing_"

/* Makes each kernel a unit and every other function one that is copied, and sets plan->is_exact.
 * False, with plan->single_reason set, where the program cannot be divided without changing code.
 */
bool exact_begin(struct plan *plan);

/* True when what the chunks repeat costs little beside what they divide. */
bool exact_is_worth_it(const struct plan *plan);

/* All variables are in every chunk. */
void exact_place_variables(struct plan *plan);

/* closing.c: the kernels that close every chunk; none (NULL) unless the program calls functions of
 * the driver. They name these, so that bank 4 has the same order in all chunks. */
struct closing *closing_new(const struct plan *plan);

/* Sets `chunks`' list of the closing kernels' names. */
void closing_list(const struct closing *closing, struct chunks *chunks);

/* Adds the functions that the closing kernels call. */
void closing_add_functions(const struct closing *closing, struct closure *closure);

/* Writes the closing kernels. */
void closing_write(const struct closing *closing, struct writer *writer);

/* gaps.c: chunks in which each line has the number that it has in the program's only text. */
struct gaps {
    struct text text;
    size_t line_count;
    const char *newlines; /* as many */
    struct text loc;      /* the first ".loc 1 2 3" of the text; empty where it has none */
};

const struct gaps *gaps_new(const struct plan *plan);

/* Writes empty lines in place of a part of the text. */
void gaps_write(const struct gaps *gaps, struct writer *writer, struct text part);

/* Writes what the text has from `at` on, and what is not the program's but makes its tables. */
void gaps_finish(const struct gaps *gaps, struct writer *writer, const char *at);
