/* job.h: the job of a child that runs libnvJitLink or libLLVM, as two files.
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
 * offset, size */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"

/* The place of one input in the inputs' file. */
struct job_input {
    const char *name;  /* for messages; not in the job */
    struct bytes data; /* the compiled code; in the file, a fatbin's header comes before it */
    uint64_t offset;
    uint64_t size;
    bool is_fatbin; /* one LTO-IR entry in a container; else raw LTO-IR, or bitcode */
};

/* An input of a job that was read. */
struct lto_input {
    struct bytes data; /* a fatbin with one LTO-IR entry, raw LTO-IR, or LLVM bitcode */
    bool is_fatbin;
};

struct lto_job {
    const char *library;        /* path, or a name for the loader to find */
    bool is_llvm;               /* it is libLLVM; else libnvJitLink */
    const char *const *options; /* of the library */
    uint32_t option_count;
    const struct lto_input *inputs; /* none: only load the library and query its version */
    size_t input_count;
    int answer; /* descriptor of an empty file */
};

/* The inputs of a link. */
struct job_inputs {
    const struct job_input *list;
    size_t count;
    bool is_bitcode; /* for libLLVM; else LTO-IR for libnvJitLink */
};

/* The job's words, in `arena`. `options` ends with NULL, and may be NULL. Without inputs, the
 * library is only loaded. */
struct text job_write(struct arena *arena, const char *library, const char *const *options,
                      const struct job_inputs *inputs);

/* The value of a word "key=value" with the given key, or NULL. */
const char *job_value(const char *word, const char *key);

/* Reads a job, except its answer. Its words are views of `words`, its inputs of `inputs`, and its
 * lists live in `arena`. False, reported under the name `path`, when it is not a valid job. */
bool job_read(struct lto_job *job, struct arena *arena, const char *path, struct bytes words,
              struct bytes inputs);
