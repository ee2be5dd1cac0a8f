/* output.h: writing result files so that a reader sees a whole file or none.
 *
 * The bytes go to a temporary beside the target, and only output_commit() gives it the target's
 * name. Symbolic links are followed, as nvlink's open does (measured), and stay. A target that
 * exists and is no regular file (/dev/null, a pipe, the target of a link in /proc) is written
 * directly and never replaced; "-" is standard output. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/text.h"

struct output {
    const char *path;      /* borrowed from the caller until commit or abort */
    char *temporary;       /* malloc'ed; NULL when the target is written directly */
    char *target;          /* the temporary's final name, in the same block */
    struct buffer *memory; /* where the bytes go instead of a file; or NULL */
    int fd;                /* open for reading and writing; -1 = none */
    int slot;              /* of leftover_note() (os/folder.h) */
    uint64_t size;         /* bytes written so far */
};

/* Opens the output for `path`. False, and a fatal diagnostic, on failure. */
bool output_open(struct output *output, const char *path);

/* Begins an output that is appended to `memory` instead of a file. Returns true, as do all later
 * steps. */
bool output_open_memory(struct output *output, struct buffer *memory);

/* Appends `bytes`. False, and a fatal diagnostic, on any error; the output is aborted then. */
bool output_append(struct output *output, struct bytes bytes);

/* Aborts the output and reports that it cannot be written, for the reason `error`, an errno value.
 * Returns false. For callers that write to `fd` themselves. */
bool output_fail(struct output *output, int error);

/* Closes the file, which has no name yet: several outputs that appear together are
 * finished before the first is committed, which then only renames. False, and a fatal diagnostic,
 * on any error; the output is aborted then. */
bool output_finish(struct output *output);

/* Closes the file and gives it its name, without fsync. False, and a fatal diagnostic, on any error
 * (such as no space); nothing is left behind then. The file's mode is 0666 less the umask. */
bool output_commit(struct output *output);

/* Gives up: closes and removes the temporary. Safe on {.fd = -1} and after a commit. */
void output_abort(struct output *output);

/* output_open, output_append, output_commit. */
bool output_write_file(const char *path, struct bytes bytes);
