/* bitcode_steps.h: what bitcode.c shares with the files of its steps. Private to them. */
#pragma once

#include "base/table.h"
#include "lto/bitcode.h"
#include "lto/part.h"

/* bitcode_join.c: joins the PTX of a program's parts, each of which defines some of it, into one
 * module in `arena`. What has a name in `internal` was made visible for the parts alone. False, and
 * an error, when a text is no PTX. */
bool bitcode_join(struct text *ptx, struct arena *arena, const struct text *parts, size_t count,
                  const struct table *internal);

/* One call of bitcode_compile. */
struct bitcode_compilation {
    const struct bitcode_request *request;
    struct bitcode_result *result;
    struct arena *texts; /* for what is made */
    struct arena *names;
    const struct member **members; /* as the inputs */
    size_t *firsts;                /* input of each part; one more stands behind the last */
    bool is_parted;                /* what runs are parts of the program, all made of all members */
    struct parts_run run;
};

/* The part's only member; with several "bitcode.ptx(a.bc+b.bc)", in `arena`. */
const char *bitcode_name_part(const struct bitcode_compilation *compilation, size_t part,
                              struct arena *arena);

/* Reports the child that failed, and the modules that it was working on. */
void bitcode_report_failed(struct bitcode_compilation *compilation, size_t index);

/* What the library said to a child, and what came of it. */
void bitcode_report_part(struct bitcode_compilation *compilation, size_t index);
