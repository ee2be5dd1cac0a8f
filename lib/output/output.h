/* output.h: result files, of which readers see all or nothing, tar files, and standard streams. */
#pragma once

#include <stdbool.h>

#include "base/memory.h"

/* An output's bytes go to a temporary beside the target, and only output_commit() gives it the
 * target's name. Symbolic links are followed, as nvlink's open does (measured), and stay. A target
 * that exists and is no regular file (/dev/null, a pipe, the target of a link in /proc) is written
 * directly and never replaced; "-" is standard output.
 *
 * Steps return false, after a fatal diagnostic, on any error, such as no space. The output is
 * aborted then: nothing is left behind. */
struct output {
    const char *path;      /* borrowed from the caller until commit or abort */
    char *temporary;       /* malloc'ed; NULL when the target is written directly */
    char *target;          /* the temporary's final name, in the same block */
    struct buffer *memory; /* where the bytes go instead of a file; or NULL */
    int fd;                /* open for reading and writing; -1 = none */
    int slot;              /* of leftover_note() (os/file.h) */
    uint64_t size;         /* bytes written so far */
};

bool output_open(struct output *output, const char *path);

/* Begins an output that is appended to `memory` instead of a file. No step fails then. */
bool output_open_memory(struct output *output, struct buffer *memory);

bool output_append(struct output *output, struct bytes bytes);

/* Aborts the output and reports that it cannot be written, for the reason `error`, an errno value.
 * Returns false. For callers that write to `fd` themselves. */
bool output_fail(struct output *output, int error);

/* Closes the file, which has no name yet: several outputs that appear together are
 * finished before the first is committed, which then only renames. */
bool output_finish(struct output *output);

/* Closes the file and gives it its name, without fsync. The file's mode is 0666 less the umask. */
bool output_commit(struct output *output);

/* Gives up: closes and removes the temporary. Safe on {.fd = -1} and after a commit. */
void output_abort(struct output *output);

/* output_open, output_append, output_commit. */
bool output_write_file(const char *path, struct bytes bytes);

/* Opens /dev/null on standard descriptors that are closed, before any other file can take their
 * numbers: with a jobserver's pipe as standard error, messages would become tokens. Standard output
 * is opened so that writing fails, as on a closed one. False on failure. */
bool std_streams_open(void);

/* Whether messages, on standard error, go to a terminal. */
bool std_streams_shows_messages(void);

/* Prints `text` on standard output, at once. False, and a fatal diagnostic, when not all of it
 * could be written. */
bool std_streams_print(struct text text);

/* Writes out what stdio still holds. False when anything printed before could not be written;
 * reported by a fatal diagnostic, except for a reader that has gone, like head. */
bool std_streams_flush(void);

/* A tar file (tar.c). Entries have no owner and no time: the same contents give the same bytes. */
struct tar;

/* Begins the file `path`, which appears with tar_commit. NULL, and a fatal diagnostic, when
 * libarchive cannot be loaded, or the file cannot be created. */
struct tar *tar_open(const char *path);

/* Adds a regular file. False, and a fatal diagnostic, when it cannot be written. */
bool tar_add(struct tar *tar, const char *name, struct bytes data);

/* Ends the file and gives it its name. False, and a fatal diagnostic, on any error. */
bool tar_commit(struct tar *tar);

/* Removes what was not committed, and frees all. Accepts NULL. */
void tar_close(struct tar *tar);
