/* observe.h: what a link tells of itself to those who asked: --time-trace, --report, --map, --stats
 * and -time.
 *
 * Stages hand over facts as they come by them; what the link frees before its end is copied. At the
 * end they are written. Nothing here changes the link or its output. Where nobody asked, the
 * observation is NULL, and every function that takes one returns at once. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assemble/assemble.h"
#include "input/file.h"
#include "input/member.h"
#include "merge/merge.h"
#include "minilink/assembler.h"
#include "observe/request.h"
#include "options/consensus.h"
#include "ptx/program.h"
#include "split/split.h"

/* What link it is. */
struct observe_link {
    const char *output;  /* its path, or NULL */
    const char *version; /* minilink's */
};

struct observation;

/* Opens an observation for the calling thread, NULL where nothing is asked for. Raises
 * LINK_NO_MEMORY. */
struct observation *observe_open(const struct observe_request *request,
                                 const struct observe_link *link);

/* Frees it; what is not written by then is given up. */
void observe_close(struct observation *observation);

/* The end of a stage, and the beginning of the next: what it worked on. The names are literals. */
struct observe_work {
    uint64_t items;
    const char *unit; /* "files", "chunks"; NULL = nothing can be counted */
    uint64_t bytes;   /* 0 = not known */
};
void observe_stage(struct observation *observation, const char *stage, struct observe_work work);

/* Facts, in the order of the stages. All but the image's may be left out. */
void observe_inputs(struct observation *observation, const struct inputs *inputs);
void observe_members(struct observation *observation, const struct members *members);
void observe_agreement(struct observation *observation, const struct agreement *agreement,
                       const struct members *members);
/* Comes when it is known which members take part. */
void observe_program(struct observation *observation, const struct program *program,
                     const struct members *members);
void observe_chunks(struct observation *observation, const struct chunks *chunks);
/* `version` is the assembler's, or NULL. */
void observe_cubins(struct observation *observation, const struct cubins *cubins,
                    const char *assembler, const char *version);

/* True when the merge must tell where everything went (struct merge_request). */
bool observe_wants_places(const struct observation *observation);

/* The result: report->places says where things went in it, by the numbers of the cubins;
 * cubins[joined] is made of the chunks (SIZE_MAX: none is). Without cubins it is what the assembler
 * made of the chunk, where everything has the name that it has there. */
void observe_image(struct observation *observation, const struct merge_report *report,
                   const struct cubin *const *cubins, size_t count, size_t joined);

/* Opens the files, before the link writes its output: what cannot be opened is known then. False,
 * and a fatal diagnostic. */
bool observe_prepare(struct observation *observation);

/* Fills them with all that was asked for. False, and a fatal diagnostic, when something could not
 * be written. */
bool observe_fill(struct observation *observation);

/* Gives them their names. False, and a fatal diagnostic, when that cannot be. */
bool observe_commit(struct observation *observation);
