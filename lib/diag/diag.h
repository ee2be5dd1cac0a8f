/* diag.h: every message that the program prints to its user, in nvlink's form:
 *
 *     minilink warning : SM Arch ('sm_80') not found in 'a.o'
 *
 * with the severity padded to eight characters. Texts follow nvlink's where it has one, so that
 * scripts which look for them go on working. The place that knows what is wrong reports it; callers
 * only pass the failure on.
 *
 * Each thread reports through its own context (context.h). With a sink set there, messages are
 * collected and printed later, in an order that does not depend on timing. Only the link thread may
 * print. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/context.h"
#include "base/text.h"
#include "diag/diag_state.h"

/* The numbers are those of the description (minilink-internals(7), Messages). */
enum diag_severity {
    DIAG_TEXT = 0, /* none: a text that goes where messages go */
    DIAG_NOTE = 1, /* explains the message before it; shown whenever that one is */
    DIAG_INFO = 2,
    DIAG_WARNING = 3,
    DIAG_ERROR = 4,
    DIAG_FATAL = 5,
};

/* A message in a sink. */
struct diag_message {
    size_t end;      /* of its lines in the sink's text */
    uint64_t family; /* 0, or the same number for warnings that say the same (diag_tally.h) */
    enum diag_severity severity;
};

/* Messages of one worker, waiting for their turn. Start with {0}. */
struct diag_sink {
    struct buffer text; /* whole lines, formatted */
    struct diag_message *messages;
    size_t message_count, message_capacity;
    uint64_t errors;   /* errors and fatal errors, those beyond the limit among them */
    uint64_t admitted; /* errors that are kept; fatal ones are not limited */
    uint64_t beyond;   /* errors beyond state->error_limit: counted only */
};

/* What is counted instead of shown. Start with the two limits, and 0 for the others. */
struct diag_tally {
    uint64_t error_limit; /* so many errors are shown; 0 = all */
    bool folds;           /* of warnings that say the same, three are shown */
    uint64_t errors;
    struct diag_family *families;
    size_t family_count, family_capacity;
};

/* A place in a text. `file` is what the user knows it by: "a.o", "lib.a(b.o):2". */
struct diag_place {
    const char *file;
    uint32_t line;           /* from 1; 0 = unknown */
    uint32_t column;         /* from 1, in bytes; 0 = unknown */
    struct text source_line; /* shown with a caret under `column`; empty = not shown */
    /* Made by diag_place_of(): line, column and source line of this byte are looked up when the
     * message is shown, from another byte on whose line is known. */
    struct text text;
    size_t offset, known_offset;
    uint32_t known_line;
};

/* Messages without a place in a text; `format` is a sentence without a newline. A message is
 * dropped when the thread's flags suppress its severity; -Werror makes a warning an error. */
void diag_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void diag_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A warning of what is not the user's doing and what no change to the inputs or options mends: the
 * machine's (a jobserver that is gone), or the link's own (what an output lacks beside nvlink's).
 * -Werror leaves it a warning. */
void diag_caution(const char *format, ...) __attribute__((format(printf, 1, 2)));

void diag_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An error that ends the link. Does not itself end anything: the caller returns failure. */
void diag_fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "out of memory", as an error that ends the link. Needs no memory itself, so that it may be called
 * where nothing can be raised. */
void diag_no_memory(void);

/* One more line that belongs to the message just reported (and is dropped with it). */
void diag_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An info that is shown under -v, where nvlink has the same one under -v: nothing else is printed
 * there, so that the logs of both can be compared. As there, -disable-infos does not drop it. */
void diag_summary(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An info of minilink's own, which is shown under -vv only. */
void diag_verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A message about a place in a text: "file:line:column: text", the line and a caret under it. */
void diag_at(enum diag_severity severity, const struct diag_place *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Notes which kind of failure it is that has been reported, for the exit status. Returns false. */
bool diag_blame(enum link_code code);

/* The kind that was noted last by the calling thread. */
enum link_code diag_blamed(void);

/* A text of whole lines that is no message but goes where messages go, as it is. False, with errno
 * set, when it cannot be written, which nobody may be left to be told. */
bool diag_text(struct text text);

/* A message that was shown before, in another link (diag_record.h): it is shown now, whatever the
 * flags say, and stays what it is. */
void diag_again(enum diag_severity severity, const struct diag_place *place, struct text body);

/* The place of byte `offset` in `text`; for an offset beyond the end, of the last line. The text is
 * read when a message about the place is shown or kept, from its beginning to the offset. */
struct diag_place diag_place_of(const char *file, struct text text, size_t offset);

/* The same where the line of an earlier byte is known, so that only what is between is read: for
 * texts of which many places may be reported. A known byte behind the offset is of no use, and is
 * ignored. */
struct diag_place diag_place_behind(const char *file, struct text text, size_t offset,
                                    size_t known_offset, uint32_t known_line);

/* The place with its line, column and source line, which is a part of its text. Without a column
 * and a source line when that line is very long. */
struct diag_place diag_place_find(const struct diag_place *place);

/* Runs function(argument) in the calling thread under a recovery point, with the reporting flags of
 * `parent` and its messages going to `sink`; what was raised is the result. The thread's counts of
 * errors stay as they are: the sink's are added when it is replayed. */
enum link_code diag_collect(enum link_code (*function)(void *argument), void *argument,
                            const struct diag_state *parent, struct diag_sink *sink);

/* The same, and drops the messages: for what is tried, and told of by the caller if at all. What
 * was raised is raised again. */
void diag_silence(enum link_code (*function)(void *argument), void *argument);

/* Prints what a sink has collected, adds its errors to the calling thread's, and empties it. */
void diag_replay(struct diag_sink *sink);

/* Frees a sink's memory. */
void diag_sink_free(struct diag_sink *sink);

/* So many warnings that say the same are shown. */
#define DIAG_UNFOLDED 3

/* Whether of warnings that say the same some are counted only. */
bool diag_folds(void);

/* How many more errors are shown and deserve notes that take work: no more than a hundred do. */
size_t diag_room(void);

/* Tells, as notes, how much was not shown. For the end of the link. */
void diag_tally_end(struct diag_tally *tally);

void diag_tally_free(struct diag_tally *tally);

/* Errors (fatal ones too) that the calling thread has reported or replayed. */
uint64_t diag_error_count(void);
