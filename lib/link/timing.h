/* timing.h: how long each stage of a link took, for -time.
 *
 * The file is nvlink's: comma-separated, appended to, with a heading when it is empty; "-" is the
 * standard output, and links are followed as those of other outputs are. One row per stage, and one
 * per chunk (measured on nvlink 13.0 -time). */
#ifndef MINILINK_LINK_TIMING_H
#define MINILINK_LINK_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assemble/assemble.h"
#include "base/arch.h"

#define TIMING_STAGES 10

/* Start with {0}, then timing_start(). */
struct timing {
    uint64_t started; /* monotonic clock, nanoseconds */
    struct {
        const char *stage;
        uint64_t nanoseconds;
    } rows[TIMING_STAGES];
    size_t count;
    bool is_open; /* the file, as fd */
    int fd;
};

/* Starts the clock of the first stage. */
void timing_start(struct timing *timing);

/* Ends a stage, and starts the next one. `stage` must live as long as `timing`. Stages beyond
 * TIMING_STAGES have no row. */
void timing_end(struct timing *timing, const char *stage);

/* Opens the file `path` for the rows; does nothing when it is NULL. False, and a fatal diagnostic,
 * when that cannot be: so that it can be known before anything is written. */
bool timing_open(struct timing *timing, const char *path);

/* Appends all rows to the file `path`, which is opened if it is not open yet; does nothing when it
 * is NULL. False, and a fatal diagnostic, when that cannot be. */
bool timing_write(struct timing *timing, const char *path, const char *output, struct arch arch,
                  const struct cubins *cubins);

/* Closes the file if it is open. */
void timing_close(struct timing *timing);

#endif
