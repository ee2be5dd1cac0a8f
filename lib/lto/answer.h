/* answer.h: the result file of a child that compiles.
 *
 * The libraries that children run are large and not ours: the file is checked like any foreign
 * input. It begins with a head of fixed size; three texts follow. */
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
    enum lto_step step;    /* the last one begun; LTO_STEP_DONE = success */
    int32_t code;          /* of the step that failed: an nvJitLinkResult */
    uint32_t failed_input; /* with LTO_STEP_ADD: index of the input */
    uint32_t major, minor; /* of the library */
    struct text errors;    /* its error log */
    struct text infos;     /* its info log */
    struct text ptx;       /* without final NUL; or LTO-IR */
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

/* An answer that is being built. Start with ANSWER_DRAFT. */
struct answer_draft {
    struct answer_head head; /* its sizes are set by answer_write() */
    struct buffer errors, infos, ptx;
};

#define ANSWER_MAGIC 0x6b6e6c4au
#define ANSWER_DRAFT                                                                               \
    {                                                                                              \
        .head = {.magic = ANSWER_MAGIC, .step = LTO_STEP_LOAD }                                    \
    }

/* Writes the answer, and frees the texts. Returns the process's exit status: 0; 1 when it could not
 * be written. */
int answer_write(int fd, struct answer_draft *draft);

/* Whether an answer of `size` bytes can begin so: its head has the length of each text. */
bool answer_begins(struct bytes head, uint64_t size);

/* True when the file has the answer of a successful run. Raises nothing. */
bool answer_succeeded(int answer);

/* Reads the answer from the file into `arena`. False, with *result zero, when there is no complete
 * answer. */
bool answer_read(int answer, struct arena *arena, struct lto_answer *result);
