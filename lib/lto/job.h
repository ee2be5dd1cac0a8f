/* job.h: one run of libnvJitLink or libLLVM, in minilink as its own child:
 *
 *     minilink --lto-part[=LIBRARY] JOB INPUTS ANSWER [REPORT]
 *
 * LIBRARY is the job's library. It is loaded first, so that a child which is copied for each job
 * (os/fork_server.h) has it. The others are files: /dev/fd/N in a link on this machine, names on
 * another one, where a report (distribute/result.c) verifies the answer.
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
 * The answer is a head of fixed size, and three texts. The libraries are large and not ours: they
 * may crash, print, or end the process. A job may come from another machine. So both files are
 * checked like any foreign input. */
#pragma once

#include "base/memory.h"
#include "cache/cache.h"

struct member; /* input/member.h */

/* One input; of a job that was read, only the first two are set. */
struct job_input {
    struct bytes data; /* the compiled code; in the file, a fatbin's header comes before it, and is
                          a part of it when it was read */
    bool is_fatbin;    /* one LTO-IR entry in a container; else raw LTO-IR, or bitcode */
    const struct member *member; /* for messages; not in the job */
    struct cache_key key;        /* of the data; valid when the link has a cache */
    uint64_t offset, size;       /* in the file */
};

/* The inputs of a link. */
struct job_inputs {
    const struct job_input *list;
    size_t count;
    bool is_bitcode; /* for libLLVM; else LTO-IR for libnvJitLink */
};

struct lto_job {
    const char *library;  /* path, or a name for the loader to find */
    bool is_llvm;         /* it is libLLVM; else libnvJitLink */
    const char **options; /* of the library, with room for one more */
    uint32_t option_count;
    const struct job_input *inputs; /* none: only load the library and query its version */
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

/* That of the library's toolkit, times ten. */
static inline unsigned answer_version(const struct answer_head *head)
{
    return 10 * head->major + head->minor;
}

/* An answer that was read. */
struct lto_answer {
    struct answer_head head;
    struct text errors; /* the library's error log */
    struct text infos;  /* its info log */
    struct text ptx;    /* without final NUL; or LTO-IR */
};

/* An answer that is being built. Start with {.head.magic = ANSWER_MAGIC}. */
struct answer_draft {
    struct answer_head head; /* its sizes are set by answer_write() */
    struct buffer errors, infos, ptx;
};

#define ANSWER_MAGIC 0x6b6e6c4au

/* Writes the answer, and frees the texts. Returns the process's exit status: 1 if that failed. */
int answer_write(int fd, struct answer_draft *draft);

/* Whether an answer of `size` bytes can begin so: its head has the length of each text. */
bool answer_begins(struct bytes head, uint64_t size);

/* Reads an answer, with views of `bytes` as texts. False, with *answer zero, when they are none. */
bool answer_read(struct lto_answer *answer, struct bytes bytes);

/* Name of an input for the library, by index. All have the same length, since the order in which
 * libnvvm writes private strings depends on memory addresses (measured). */
#define NVJITLINK_INPUT_NAME      NVJITLINK_INPUT_NAME_HEAD "%08zu"
#define NVJITLINK_INPUT_NAME_HEAD "input-"
#define NVJITLINK_INPUT_NAME_SIZE 14u /* of the first hundred million */

/* How -arch= begins in a job whose result is LTO-IR (libnvJitLink 13.4 and later), in place of PTX:
 * it is compiled no further. */
#define LTOIR_TARGET "-arch=lto_"

/* Run the job by libnvJitLink, or by libLLVM (llvm.c). Return the status of answer_write(). Raise
 * LINK_NO_MEMORY when memory runs out on our side, or while loading the library. */
int nvjitlink_run(struct lto_job *job);
int llvm_run(const struct lto_job *job);

/* The nvJitLinkResult that says that a newer toolkit made the LTO-IR; before 13.0 it is one of many
 * reasons for 6, and the log names this call of libnvvm (12.0 to 13.5). */
#define NVJITLINK_CODE_OUTDATED 14
#define OUTDATED_LOG            "nvvmAddNVVMContainerToProgram"

/* The description of an nvJitLinkResult, as in the header; never NULL. */
const char *nvjitlink_code_text(int32_t code);

/* The first word of a child's command line. */
#define LTO_CHILD_WORD "--lto-part"

/* True for a command line of that form. */
bool lto_child_is_wanted(int argc, char *const *argv);

/* Exit statuses. 1 is an answer that could not be written. */
enum lto_child_status {
    LTO_CHILD_ANSWERED = 0, /* also if the answer is an error of the library */
    LTO_CHILD_NO_MEMORY = 2,
    LTO_CHILD_NO_JOB = 3, /* the files cannot be read, or have no job: reported */
};

/* Runs the job. The caller ends the process at once with the status: the library stays loaded. */
int lto_child_run(char *const *argv);
