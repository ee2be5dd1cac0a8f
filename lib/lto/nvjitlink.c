/* nvjitlink.c: dlopen, the functions by name, and one run through them.
 *
 * The library exports each function under a name with its version ("__nvJitLinkCreate_13_0"), which
 * the header's inline functions call, and under the plain name ("nvJitLinkCreate"). The versioned
 * one is taken where there is one. Measured on 13.0: `-lto -ptx` gives one PTX module, the bytes
 * that nvlink gets from libnvvm; the PTX's size counts its final NUL. */
#include "lto/nvjitlink.h"

#include "base/descriptor.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The types of inputs (nvJitLinkInputType). */
enum { INPUT_LTOIR = 3, INPUT_FATBIN = 4 };

typedef struct nvJitLink *nvjitlink_handle;

/* nvJitLinkResult is an int-sized enum. */
struct functions {
    int (*version)(unsigned *major, unsigned *minor);
    int (*create)(nvjitlink_handle *handle, uint32_t option_count, const char *const *options);
    int (*add_data)(nvjitlink_handle handle, int type, const void *data, size_t size,
                    const char *name);
    int (*complete)(nvjitlink_handle handle);
    int (*ptx_size)(nvjitlink_handle handle, size_t *size);
    int (*ptx)(nvjitlink_handle handle, char *ptx);
    int (*error_log_size)(nvjitlink_handle handle, size_t *size);
    int (*error_log)(nvjitlink_handle handle, char *log);
    int (*info_log_size)(nvjitlink_handle handle, size_t *size);
    int (*info_log)(nvjitlink_handle handle, char *log);
};

#define ANSWER_MAGIC 0x6b6e6c4au

/* The head of the answer's file; the three texts follow it. */
struct head {
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

/* What a run gathers. */
struct answer {
    struct head head;
    char *errors;
    char *infos;
    char *ptx;
    bool is_out_of_memory;
};

/* The process's exit status. */
static int write_answer(int fd, struct answer *answer)
{
    const struct head *head = &answer->head;
    bool ok = descriptor_write(fd, head, sizeof *head) &&
              descriptor_write(fd, answer->errors, head->error_size) &&
              descriptor_write(fd, answer->infos, head->info_size) &&
              descriptor_write(fd, answer->ptx, head->ptx_size);

    free(answer->errors);
    free(answer->infos);
    free(answer->ptx);
    if (answer->is_out_of_memory)
        return NVJITLINK_NO_MEMORY;
    return !ok;
}

static void set_error(struct answer *answer, const char *text)
{
    free(answer->errors);
    answer->errors = strdup(text ? text : "no reason given");
    answer->is_out_of_memory |= !answer->errors;
    answer->head.error_size = answer->errors ? strlen(answer->errors) : 0;
}

/* The function behind a name, the version's own before the plain one. */
static bool find(void *library, struct answer *answer, const char *name, void *function)
{
    char versioned[64];
    void *address;

    snprintf(versioned, sizeof versioned, "__%s_%u_%u", name, answer->head.major,
             answer->head.minor);
    address = dlsym(library, versioned);
    if (!address)
        address = dlsym(library, name);
    if (!address) {
        char text[128];

        snprintf(text, sizeof text, "it has neither '%s' nor '%s'", versioned, name);
        set_error(answer, text);
        return false;
    }
    memcpy(function, &address, sizeof address); /* POSIX: a function's address fits */
    return true;
}

static bool load(const char *path, struct functions *functions, struct answer *answer)
{
    void *library;

    errno = 0;
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        answer->is_out_of_memory = errno == ENOMEM;
        set_error(answer, dlerror());
        return false;
    }
    if (!find(library, answer, "nvJitLinkVersion", &functions->version))
        return false;
    functions->version(&answer->head.major, &answer->head.minor);
    return find(library, answer, "nvJitLinkCreate", &functions->create) &&
           find(library, answer, "nvJitLinkAddData", &functions->add_data) &&
           find(library, answer, "nvJitLinkComplete", &functions->complete) &&
           find(library, answer, "nvJitLinkGetLinkedPtxSize", &functions->ptx_size) &&
           find(library, answer, "nvJitLinkGetLinkedPtx", &functions->ptx) &&
           find(library, answer, "nvJitLinkGetErrorLogSize", &functions->error_log_size) &&
           find(library, answer, "nvJitLinkGetErrorLog", &functions->error_log) &&
           find(library, answer, "nvJitLinkGetInfoLogSize", &functions->info_log_size) &&
           find(library, answer, "nvJitLinkGetInfoLog", &functions->info_log);
}

/* Copies one of the library's texts, without its final NULs. The result is *code. */
static char *take_text(struct answer *answer, nvjitlink_handle handle,
                       int (*get_size)(nvjitlink_handle, size_t *),
                       int (*get)(nvjitlink_handle, char *), uint64_t *size, int32_t *code)
{
    size_t length = 0;
    char *text;

    *size = 0;
    *code = get_size(handle, &length);
    if (*code || length == 0)
        return NULL;
    text = calloc(length + 1, 1);
    if (!text) {
        answer->is_out_of_memory = true;
        return NULL;
    }
    *code = get(handle, text);
    *size = strlen(text);
    return text;
}

static void run_steps(const struct nvjitlink_job *job, const struct functions *functions,
                      nvjitlink_handle handle, struct answer *answer)
{
    struct head *head = &answer->head;

    head->step = NVJITLINK_ADD;
    for (size_t i = 0; i < job->input_count; i++) {
        const struct nvjitlink_input *input = &job->inputs[i];
        char name[32];

        snprintf(name, sizeof name, NVJITLINK_INPUT_NAME, i);
        head->failed_input = (uint32_t)i;
        head->code = functions->add_data(handle, input->is_fatbin ? INPUT_FATBIN : INPUT_LTOIR,
                                         input->data.data, input->data.size, name);
        if (head->code)
            return;
    }
    head->step = NVJITLINK_COMPLETE;
    head->code = functions->complete(handle);
    if (head->code)
        return;
    head->step = NVJITLINK_PTX;
    answer->ptx = take_text(answer, handle, functions->ptx_size, functions->ptx, &head->ptx_size,
                            &head->code);
    if (head->code == 0 && answer->ptx)
        head->step = NVJITLINK_DONE;
}

int nvjitlink_run(const struct nvjitlink_job *job)
{
    struct answer answer = {.head = {.magic = ANSWER_MAGIC, .step = NVJITLINK_LOAD}};
    struct functions functions;
    nvjitlink_handle handle = NULL;
    int32_t ignored;

    if (!load(job->library, &functions, &answer))
        return write_answer(job->answer, &answer);
    answer.head.step = NVJITLINK_CREATE;
    if (job->input_count == 0) {
        answer.head.step = NVJITLINK_DONE;
        return write_answer(job->answer, &answer);
    }
    answer.head.code = functions.create(&handle, job->option_count, job->options);
    if (answer.head.code == 0)
        run_steps(job, &functions, handle, &answer);
    if (handle) {
        answer.errors = take_text(&answer, handle, functions.error_log_size, functions.error_log,
                                  &answer.head.error_size, &ignored);
        answer.infos = take_text(&answer, handle, functions.info_log_size, functions.info_log,
                                 &answer.head.info_size, &ignored);
    }
    /* The handle is not destroyed: the process ends, and that is where libraries like to crash. */
    return write_answer(job->answer, &answer);
}

static bool read_text(int fd, struct arena *arena, uint64_t *at, uint64_t size, struct text *text)
{
    char *data = arena_alloc(arena, (size_t)size + 1, 1);

    data[size] = '\0';
    *text = (struct text){data, (size_t)size};
    if (!descriptor_read(fd, data, (size_t)size, *at))
        return false;
    *at += size;
    return true;
}

bool nvjitlink_succeeded(int fd)
{
    struct head head;

    return descriptor_read(fd, &head, sizeof head, 0) && head.magic == ANSWER_MAGIC &&
           head.step == NVJITLINK_DONE;
}

bool nvjitlink_read(int fd, struct arena *arena, struct nvjitlink_answer *result)
{
    uint64_t at = sizeof(struct head), rest;
    struct head head;
    struct stat status;

    if (fstat(fd, &status) || status.st_size < (off_t)sizeof head ||
        !descriptor_read(fd, &head, sizeof head, 0) || head.magic != ANSWER_MAGIC ||
        head.step > NVJITLINK_DONE)
        return false;
    rest = (uint64_t)status.st_size - sizeof head;
    if (head.error_size > rest || head.info_size > rest - head.error_size ||
        head.ptx_size != rest - head.error_size - head.info_size)
        return false;
    *result = (struct nvjitlink_answer){
        .step = (enum nvjitlink_step)head.step,
        .code = head.code,
        .failed_input = head.failed_input,
        .major = head.major,
        .minor = head.minor,
    };
    return read_text(fd, arena, &at, head.error_size, &result->errors) &&
           read_text(fd, arena, &at, head.info_size, &result->infos) &&
           read_text(fd, arena, &at, head.ptx_size, &result->ptx);
}

const char *nvjitlink_code_text(int32_t code)
{
    static const char *const texts[] = {
        "success",
        "unrecognized option",
        "option -arch is missing",
        "invalid input",
        "issue during PTX compilation",
        "issue during NVVM compilation",
        "internal error",
        "issue with the thread pool",
        "unrecognized input",
        "finalizer error",
        "null input",
        "incompatible options",
        "incorrect input type",
        "architecture mismatch",
        "outdated library",
        "missing fatbin",
        "unrecognized architecture",
        "unsupported architecture",
        "requires -lto",
    };

    return code >= 0 && (size_t)code < sizeof texts / sizeof *texts ? texts[code] : "unknown error";
}
