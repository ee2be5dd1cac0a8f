/* nvjitlink.h: NVIDIA's libnvJitLink through its public C interface (nvJitLink.h of the toolkit).
 *
 * The only place that knows that interface. nvjitlink_run() is meant to be run in a process of its
 * own (child.h): the library is large and not ours; it may crash, end the process, or print. Its
 * answer goes to a file, which nvjitlink_read() checks like any foreign input. */
#ifndef MINILINK_LTO_NVJITLINK_H
#define MINILINK_LTO_NVJITLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"

/* What the library is told an input's name is, by its index: each as long as any other, since the
 * order in which libnvvm 13.0 puts private strings depends on where it finds memory (measured). */
#define NVJITLINK_INPUT_NAME      "input-%08zu"
#define NVJITLINK_INPUT_NAME_SIZE 15 /* with the NUL, for the first hundred million */

struct nvjitlink_input {
    struct bytes data; /* a fatbin with one LTO-IR entry, or raw LTO-IR */
    bool is_fatbin;
};

struct nvjitlink_job {
    const char *library;        /* path, or a name for the loader to find */
    const char *const *options; /* of nvJitLinkCreate */
    uint32_t option_count;
    const struct nvjitlink_input *inputs; /* none: only load the library and ask its version */
    size_t input_count;
    int answer; /* descriptor of an empty file */
};

/* How far the library got. */
enum nvjitlink_step {
    NVJITLINK_LOAD, /* the library or one of its functions is missing: `errors` says which */
    NVJITLINK_CREATE,
    NVJITLINK_ADD,
    NVJITLINK_COMPLETE,
    NVJITLINK_PTX,
    NVJITLINK_DONE,
};

struct nvjitlink_answer {
    enum nvjitlink_step step; /* the last one begun; NVJITLINK_DONE = all went well */
    int32_t code;             /* of the step that failed: an nvJitLinkResult */
    uint32_t failed_input;    /* with NVJITLINK_ADD: index of the input */
    uint32_t major, minor;    /* of the library */
    struct text errors;       /* its error log */
    struct text infos;        /* its info log */
    struct text ptx;          /* without final NUL */
};

#define NVJITLINK_NO_MEMORY 2

/* Does the job. 0; 1 when no answer could be written; NVJITLINK_NO_MEMORY when memory ran out on
 * our side of the library, or in loading it. */
int nvjitlink_run(const struct nvjitlink_job *job);

/* True when the file holds the answer of a run in which all went well. Raises nothing. */
bool nvjitlink_succeeded(int answer);

/* Reads the answer from the file into `arena`. False when there is no whole answer. */
bool nvjitlink_read(int answer, struct arena *arena, struct nvjitlink_answer *result);

/* The name of an nvJitLinkResult, as the header explains it; never NULL. */
const char *nvjitlink_code_text(int32_t code);

#endif
