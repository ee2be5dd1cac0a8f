/* nvjitlink.c: loads the library and its functions by name, and runs it once.
 *
 * The library exports each function under a name with its version ("__nvJitLinkCreate_13_0"), which
 * the header's inline functions call, and under the plain name ("nvJitLinkCreate"). The versioned
 * one is used if there is one. Measured: `-lto -ptx` gives one PTX module, the bytes that nvlink
 * gets from libnvvm; the PTX's size includes its final NUL. */
#include "lto/job.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#include "base/context.h"

/* Types of inputs (nvJitLinkInputType). */
enum { INPUT_LTOIR = 3, INPUT_FATBIN = 4 };

typedef struct nvJitLink *nvjitlink_handle;

/* nvJitLinkResult is an int-sized enum. */
struct functions {
    int (*version)(unsigned *major, unsigned *minor);
    int (*create)(nvjitlink_handle *handle, uint32_t option_count, const char *const *options);
    int (*add_data)(nvjitlink_handle handle, int type, const void *data, size_t size,
                    const char *name);
    int (*complete)(nvjitlink_handle handle);
    int (*output_size)(nvjitlink_handle handle, size_t *size); /* PTX, or LTO-IR */
    int (*output)(nvjitlink_handle handle, char *bytes);
    int (*error_log_size)(nvjitlink_handle handle, size_t *size);
    int (*error_log)(nvjitlink_handle handle, char *log);
    int (*info_log_size)(nvjitlink_handle handle, size_t *size);
    int (*info_log)(nvjitlink_handle handle, char *log);
};

static bool find_function(void *library, struct answer_draft *answer, const char *name,
                          void *function)
{
    char versioned[64];
    void *address;

    snprintf(versioned, sizeof versioned, "__%s_%u_%u", name, answer->head.major,
             answer->head.minor);
    address = dlsym(library, versioned);
    if (!address)
        address = dlsym(library, name);
    if (!address) {
        buffer_printf(&answer->errors, "it has neither '%s' nor '%s'", versioned, name);
        return false;
    }
    memcpy(function, &address, sizeof address); /* POSIX: a function pointer fits into a pointer */
    return true;
}

/* A job for this kind of target is to make LTO-IR; others make PTX. */
static bool wants_ltoir(const struct lto_job *job)
{
    for (size_t i = 0; i < job->option_count; i++)
        if (strncmp(job->options[i], LTOIR_TARGET, strlen(LTOIR_TARGET)) == 0)
            return true;
    return false;
}

/* The functions. Those for the result have another name for LTO-IR. */
static const struct {
    const char *name, *for_ltoir;
    size_t place;
} rows[] = {
    {"nvJitLinkCreate", NULL, offsetof(struct functions, create)},
    {"nvJitLinkAddData", NULL, offsetof(struct functions, add_data)},
    {"nvJitLinkComplete", NULL, offsetof(struct functions, complete)},
    {"nvJitLinkGetLinkedPtxSize", "nvJitLinkGetLinkedLTOIRSize",
     offsetof(struct functions, output_size)},
    {"nvJitLinkGetLinkedPtx", "nvJitLinkGetLinkedLTOIR", offsetof(struct functions, output)},
    {"nvJitLinkGetErrorLogSize", NULL, offsetof(struct functions, error_log_size)},
    {"nvJitLinkGetErrorLog", NULL, offsetof(struct functions, error_log)},
    {"nvJitLinkGetInfoLogSize", NULL, offsetof(struct functions, info_log_size)},
    {"nvJitLinkGetInfoLog", NULL, offsetof(struct functions, info_log)},
};

static bool load_functions(const struct lto_job *job, struct functions *functions,
                           struct answer_draft *answer)
{
    void *library;

    errno = 0;
    library = dlopen(job->library, RTLD_NOW | RTLD_LOCAL);
    if (!library && errno == ENOMEM)
        context_raise(LINK_NO_MEMORY);
    if (!library) {
        buffer_string(&answer->errors, dlerror());
        return false;
    }
    if (!find_function(library, answer, "nvJitLinkVersion", &functions->version))
        return false;
    functions->version(&answer->head.major, &answer->head.minor);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool is_ltoir = rows[i].for_ltoir && wants_ltoir(job);

        if (find_function(library, answer, is_ltoir ? rows[i].for_ltoir : rows[i].name,
                          (char *)functions + rows[i].place))
            continue;
        if (is_ltoir)
            buffer_string(&answer->errors, ": that of CUDA 13.4 and later makes LTO-IR");
        return false;
    }
    return true;
}

/* Copies bytes of the library's, or a text without its final NULs. Returns the library's result. */
static int take_linked(struct buffer *bytes, nvjitlink_handle handle,
                       int (*get_size)(nvjitlink_handle, size_t *),
                       int (*get)(nvjitlink_handle, char *), bool is_text)
{
    size_t size = 0;
    int code = get_size(handle, &size);

    if (code || size == 0)
        return code;
    buffer_zeros(bytes, size);
    if (!is_text)
        return get(handle, bytes->data);
    buffer_char(bytes, '\0');
    code = get(handle, bytes->data);
    bytes->size = strlen(bytes->data);
    return code;
}

static void run_steps(const struct lto_job *job, const struct functions *functions,
                      nvjitlink_handle handle, struct answer_draft *answer)
{
    struct answer_head *head = &answer->head;

    head->step = LTO_STEP_ADD;
    for (size_t i = 0; i < job->input_count; i++) {
        const struct lto_input *input = &job->inputs[i];
        char name[32];

        snprintf(name, sizeof name, NVJITLINK_INPUT_NAME, i);
        head->failed_input = (uint32_t)i;
        head->code = functions->add_data(handle, input->is_fatbin ? INPUT_FATBIN : INPUT_LTOIR,
                                         input->data.data, input->data.size, name);
        if (head->code)
            return;
    }
    head->step = LTO_STEP_COMPLETE;
    head->code = functions->complete(handle);
    if (head->code)
        return;
    head->step = LTO_STEP_PTX;
    head->code = take_linked(&answer->ptx, handle, functions->output_size, functions->output,
                             !wants_ltoir(job));
    if (head->code == 0 && answer->ptx.data)
        head->step = LTO_STEP_DONE;
}

/* Tells the file that the loader has taken. */
static void add_loaded_file(struct answer_draft *answer, const struct functions *functions)
{
    Dl_info info;
    void *address;

    memcpy(&address, &functions->version, sizeof address);
    if (dladdr(address, &info) && info.dli_fname)
        buffer_string(&answer->infos, info.dli_fname);
}

int nvjitlink_run(const struct lto_job *job)
{
    struct answer_draft answer = ANSWER_DRAFT;
    struct functions functions;
    nvjitlink_handle handle = NULL;

    if (!load_functions(job, &functions, &answer))
        return answer_write(job->answer, &answer);
    answer.head.step = LTO_STEP_CREATE;
    if (job->input_count == 0) {
        add_loaded_file(&answer, &functions);
        answer.head.step = LTO_STEP_DONE;
        return answer_write(job->answer, &answer);
    }
    answer.head.code = functions.create(&handle, job->option_count, job->options);
    if (answer.head.code == 0)
        run_steps(job, &functions, handle, &answer);
    if (handle) {
        take_linked(&answer.errors, handle, functions.error_log_size, functions.error_log, true);
        take_linked(&answer.infos, handle, functions.info_log_size, functions.info_log, true);
    }
    /* The handle is not destroyed: the process ends now, and libraries tend to crash when they are
     * shut down. */
    return answer_write(job->answer, &answer);
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
