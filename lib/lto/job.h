/* job.h: what a child that runs libnvJitLink, or libLLVM, is told, as two files.
 *
 * The inputs stand one behind the other in a file of their own, which all children of a link share.
 * The job is a list of words, each with a NUL behind it, so that any name may stand in one
 * (minilink-internals(7), LTO in parts). The inputs' names are no part of it, so that the same
 * program in another folder is the same job:
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

/* Where one input stands in the file of all. */
struct job_input {
    const char *name;  /* for messages; the job does not have it */
    struct bytes data; /* what is compiled; a fatbin's header stands in front of it in the file */
    uint64_t offset;
    uint64_t size;
    bool is_fatbin; /* one LTO-IR entry in a container; else raw LTO-IR, or bitcode */
};

/* One of a job that was read. */
struct lto_input {
    struct bytes data; /* a fatbin with one LTO-IR entry, raw LTO-IR, or LLVM bitcode */
    bool is_fatbin;
};

struct lto_job {
    const char *library;        /* path, or a name for the loader to find */
    bool is_llvm;               /* it is libLLVM; else libnvJitLink */
    const char *const *options; /* of the library */
    uint32_t option_count;
    const struct lto_input *inputs; /* none: only load the library and ask its version */
    size_t input_count;
    int answer; /* descriptor of an empty file */
};

/* The inputs of a link. */
struct job_inputs {
    const struct job_input *list;
    size_t count;
    bool is_bitcode; /* for libLLVM; else LTO-IR for libnvJitLink */
};

/* The job's words, in `arena`. `options` ends with NULL, and may be NULL. No input: the library is
 * only to be loaded. */
struct text job_write(struct arena *arena, const char *library, const char *const *options,
                      const struct job_inputs *inputs);

/* The value of a word "key=value" with that key, or NULL. */
const char *job_value(const char *word, const char *key);

/* Reads a job: all but its answer. Its words are views of `words`, its inputs of `inputs`, and its
 * lists live in `arena`. False, reported under the name `path`, when it is none. */
bool job_read(struct lto_job *job, struct arena *arena, const char *path, struct bytes words,
              struct bytes inputs);
