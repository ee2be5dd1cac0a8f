/* answer.h: what a child that compiles leaves, in a file.
 *
 * The libraries that children run are large and not ours: whatever stands in the file is checked
 * like any foreign input. The file begins with a head of fixed size; three texts follow it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/text.h"

/* How far the library got. */
enum lto_step {
    LTO_STEP_LOAD, /* the library or one of its functions is missing: `errors` says which */
    LTO_STEP_CREATE,
    LTO_STEP_ADD,
    LTO_STEP_COMPLETE,
    LTO_STEP_PTX,
    LTO_STEP_DONE,
};

struct lto_answer {
    enum lto_step step;    /* the last one begun; LTO_STEP_DONE = all went well */
    int32_t code;          /* of the step that failed: an nvJitLinkResult */
    uint32_t failed_input; /* with LTO_STEP_ADD: index of the input */
    uint32_t major, minor; /* of the library */
    struct text errors;    /* its error log */
    struct text infos;     /* its info log */
    struct text ptx;       /* without final NUL */
};

/* The head of the answer's file. */
struct answer_head {
    uint32_t magic;
    uint32_t step;
    int32_t code;
    uint32_t failed_input;
    uint32_t major;
    uint32_t minor;
    uint64_t error_size;
    uint64_t info_size;
    uint64_t ptx_size;
};

/* What a run gathers. Start with ANSWER_DRAFT. */
struct answer_draft {
    struct answer_head head; /* its sizes are set by answer_write() */
    struct buffer errors, infos, ptx;
};

#define ANSWER_MAGIC 0x6b6e6c4au
#define ANSWER_DRAFT                                                                               \
    {                                                                                              \
        .head = {.magic = ANSWER_MAGIC, .step = LTO_STEP_LOAD }                                    \
    }

/* Writes it, and frees the texts. The process's exit status: 0; 1 when it could not be written. */
int answer_write(int fd, struct answer_draft *draft);

/* Whether an answer of `size` bytes may begin so: its head says how long each text is. */
bool answer_begins(struct bytes head, uint64_t size);

/* True when the file holds the answer of a run in which all went well. Raises nothing. */
bool answer_succeeded(int answer);

/* Reads the answer from the file into `arena`. False, and *result is zero, when there is no whole
 * answer. */
bool answer_read(int answer, struct arena *arena, struct lto_answer *result);
