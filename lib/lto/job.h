/* job.h: what a child that runs libnvJitLink or libLLVM is given, and what it leaves.
 *
 * The inputs are concatenated in one file, which all children of a link share. The job is a list of
 * words, each with a final NUL, so that any name can be in one (minilink-internals(7), LTO in
 * parts). It does not have the inputs' names, so that the same program in another folder is the
 * same job:
 *
 *     format=1
 *     library=/usr/local/cuda/lib64/libnvJitLink.so      or llvm=/usr/lib/libLLVM.so.19.1
 *     option=-arch=sm_90          one for each option, in order
 *     input=fatbin 0 5981         one for each input, in order: form (fatbin, ltoir, bitcode),
 *                                 offset, size
 *
 * The answer is a head of fixed size, and three texts. The libraries are large and not ours, and a
 * job may come from another machine: both are checked like any foreign input. */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "base/text.h"

struct member; /* input/member.h */

/* The place of one input in the inputs' file. */
struct job_input {
    const struct member *member; /* for messages; not in the job */
    struct bytes data; /* the compiled code; in the file, a fatbin's header comes before it */
    uint64_t offset;
    uint64_t size;
    bool is_fatbin; /* one LTO-IR entry in a container; else raw LTO-IR, or bitcode */
};

/* The inputs of a link. */
struct job_inputs {
    const struct job_input *list;
    size_t count;
    bool is_bitcode; /* for libLLVM; else LTO-IR for libnvJitLink */
};

/* An input of a job that was read. */
struct lto_input {
    struct bytes data; /* a fatbin with one LTO-IR entry, raw LTO-IR, or LLVM bitcode */
    bool is_fatbin;
};

struct lto_job {
    const char *library;  /* path, or a name for the loader to find */
    bool is_llvm;         /* it is libLLVM; else libnvJitLink */
    const char **options; /* of the library, with room for one more */
    uint32_t option_count;
    const struct lto_input *inputs; /* none: only load the library and query its version */
    size_t input_count;
    int answer; /* descriptor of an empty file */
};

/* The job's words, in `arena`. `options` ends with NULL, and may be NULL. */
struct text job_write(struct arena *arena, const char *library, const char *const *options,
                      const struct job_inputs *inputs);

/* The value of a word "key=value" with the given key, or NULL. */
const char *job_value(const char *word, const char *key);

/* Reads a job, except its answer. Its words are views of `words`, its inputs of `inputs`, and its
 * lists live in `arena`. False, reported under the name `path`, when it is not a valid job. */
bool job_read(struct lto_job *job, struct arena *arena, const char *path, struct bytes words,
              struct bytes inputs);

/* How far the library got. */
enum lto_step {
    LTO_STEP_LOAD, /* the library or one of its functions is missing: `errors` says which */
    LTO_STEP_CREATE,
    LTO_STEP_ADD,
    LTO_STEP_COMPLETE,
    LTO_STEP_PTX,
    LTO_STEP_DONE,
};

/* The head of the answer's file. */
struct answer_head {
    uint32_t magic;
    uint32_t step;         /* enum lto_step: the last one begun; LTO_STEP_DONE = success */
    int32_t code;          /* of the step that failed: an nvJitLinkResult */
    uint32_t failed_input; /* with LTO_STEP_ADD: index of the input */
    uint32_t major, minor; /* of the library */
    uint64_t error_size, info_size, ptx_size;
};

/* An answer that was read. */
struct lto_answer {
    struct answer_head head;
    struct text errors; /* the library's error log */
    struct text infos;  /* its info log */
    struct text ptx;    /* without final NUL; or LTO-IR */
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

/* Reads an answer, whose texts are views of `bytes`. False, with *answer zero, when they are none.
 */
bool answer_read(struct lto_answer *answer, struct bytes bytes);
