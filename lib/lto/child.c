/* child.c: the child that runs a job: maps two files, runs libnvJitLink or libLLVM (llvm.c), and
 * writes a third file. And the only code that uses libnvJitLink's public C interface (nvJitLink.h
 * of the toolkit).
 *
 * The library exports each function under a name with its version ("__nvJitLinkCreate_13_0"), which
 * the header's inline functions call, and under the plain name ("nvJitLinkCreate"). The versioned
 * one is used if there is one. Measured: `-lto -ptx` gives one PTX module, the bytes that nvlink
 * gets from libnvvm; the PTX's size includes its final NUL. */
#include "lto/job.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "diag/diag.h"
#include "distribute/distribute.h"
#include "facts/targets.h"
#include "os/file.h"
#include "os/fork_server.h"
#include "os/program.h"
#include "os/toolkit.h"
#include "output/output.h"
#include "pool/jobserver.h"

/* Types of inputs (nvJitLinkInputType). */
enum { INPUT_LTOIR = 3, INPUT_FATBIN = 4 };

typedef struct nvJitLink *nvjitlink_handle;

/* nvJitLinkResult is an int-sized enum. */
struct functions {
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

static void *find_versioned(void *library, const struct answer_head *head, const char *name)
{
    char versioned[64];

    snprintf(versioned, sizeof versioned, "__%s_%u_%u", name, head->major, head->minor);
    return dlsym(library, versioned);
}

/* 12.0 to 12.2 do not tell their version, but have names of all up to it (measured). */
static void find_version(void *library, struct answer_head *head)
{
    void *address = dlsym(library, "nvJitLinkVersion");
    int (*version)(unsigned *major, unsigned *minor);

    memcpy(&version, &address, sizeof address);
    if (version) {
        version(&head->major, &head->minor);
        return;
    }
    head->major = 12;
    head->minor = 2;
    while (head->minor > 0 && !find_versioned(library, head, "nvJitLinkCreate"))
        head->minor--;
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
    find_version(library, &answer->head);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool is_ltoir = rows[i].for_ltoir && wants_ltoir(job);
        const char *name = is_ltoir ? rows[i].for_ltoir : rows[i].name;
        void *address = find_versioned(library, &answer->head, name) ?: dlsym(library, name);

        if (!address) {
            buffer_printf(&answer->errors, "it has no function '%s'%s", name,
                          is_ltoir ? ": that of CUDA 13.4 and later makes LTO-IR" : "");
            return false;
        }
        /* POSIX: a function pointer fits into a pointer */
        memcpy((char *)functions + rows[i].place, &address, sizeof address);
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
        const struct job_input *input = &job->inputs[i];
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

/* Adds a line of the file for such an option: for "ek=a,bc" it is "EK: 1:a 2:bc ". A name with a
 * blank or a line's end, which no symbol has, would end there, and its rest be read as a list. */
static void add_list(struct buffer *file, const char *list)
{
    while (*list && *list++ != '=')
        buffer_char(file, (char)toupper(list[-1]));
    buffer_string(file, ": ");
    for (size_t size; *(list += strspn(list, ",")); list += size + strcspn(list + size, ",")) {
        size = strcspn(list, ", \t\n\v\f\r");
        if (!list[size] || list[size] == ',')
            buffer_printf(file, "%zu:%.*s ", size, (int)size, list);
    }
    buffer_char(file, '\n');
}

static void move_lists(struct lto_job *job)
{
    static const char head[] = "-Xnvvm=-host-ref-";
    static char option[64];
    const char *const *word = job->options, *const *end = word + job->option_count;
    struct buffer file = {0}; /* freed by the process's end */
    int fd = descriptor_memory_file("minilink-lists");

    for (job->option_count = 0; word < end; word++)
        if (strncmp(*word, head, strlen(head)) == 0)
            add_list(&file, *word + strlen(head));
        else
            job->options[job->option_count++] = *word;
    if (fd < 0 || !descriptor_write(fd, file.data, file.size))
        context_raise(LINK_NO_MEMORY);
    snprintf(option, sizeof option, "%sfile=/dev/fd/%d", head, fd);
    if (file.size)
        job->options[job->option_count++] = option;
}

/* Tells the file that the loader has taken. */
static void add_loaded_file(struct answer_draft *answer, const struct functions *functions)
{
    Dl_info info;
    void *address;

    memcpy(&address, &functions->create, sizeof address);
    if (dladdr(address, &info) && info.dli_fname)
        buffer_string(&answer->infos, info.dli_fname);
}

int nvjitlink_run(struct lto_job *job)
{
    struct answer_draft answer = {.head.magic = ANSWER_MAGIC};
    const struct toolkit_facts *toolkit;
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
    toolkit = toolkits_find(answer_version(&answer.head));
    if (toolkit_does(toolkit, TOOLKIT_READS_LISTS))
        move_lists(job);
    /* Limits libnvvm's threads to the link's tokens for it (measured; the result stays the same).
     * It is not part of the job, which is the same without make. */
    if (child_tokens_are_here() && toolkit_does(toolkit, TOOLKIT_COMPILES_WITH_TOKENS))
        job->options[job->option_count++] = "-Xnvvm=-jobserver";
    answer.head.code = functions.create(&handle, job->option_count, job->options);
    if (answer.head.code == 0)
        run_steps(job, &functions, handle, &answer);
    if (handle) {
        take_linked(&answer.errors, handle, functions.error_log_size, functions.error_log, true);
        take_linked(&answer.infos, handle, functions.info_log_size, functions.info_log, true);
    }
    /* The handle is not destroyed: the process ends now, and libraries tend to crash then. */
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

enum { WORD = 1, JOB, INPUTS, ANSWER, REPORT };

struct child {
    char *const *argv;
    struct bytes job; /* mapped */
    int status;
};

bool lto_child_is_wanted(int argc, char *const *argv)
{
    return (argc == REPORT || argc == REPORT + 1) &&
           strncmp(argv[WORD], LTO_CHILD_WORD, strlen(LTO_CHILD_WORD)) == 0;
}

/* The file stays mapped until the process ends. */
static bool map_file(struct bytes *bytes, const char *path)
{
    return file_map(bytes, path) || diag_fatal("Could not read '%s': %s", path, strerror(errno));
}

static enum link_code run_job(void *argument)
{
    struct child *child = argument;
    char *const *argv = child->argv;
    struct arena arena = {0}; /* freed by the process's end */
    struct bytes inputs;
    struct lto_job job;

    if (!map_file(&child->job, argv[JOB]) || !map_file(&inputs, argv[INPUTS]) ||
        !job_read(&job, &arena, argv[JOB], child->job, inputs))
        return LINK_FAILED;
    job.answer = open(argv[ANSWER], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (job.answer < 0) {
        diag_fatal("Could not open '%s': %s", argv[ANSWER], strerror(errno));
        return LINK_FAILED;
    }
    child->status = job.is_llvm ? llvm_run(&job) : nvjitlink_run(&job);
    return LINK_OK;
}

/* Writes a report that verifies the answer, for a link that gets it from a machine that may die. */
static enum link_code write_answer_report(void *argument)
{
    const struct child *child = argument;
    enum link_code code = child->status == LTO_CHILD_ANSWERED    ? LINK_OK
                          : child->status == LTO_CHILD_NO_MEMORY ? LINK_NO_MEMORY
                                                                 : LINK_ENVIRONMENT;
    struct buffer text = {0};
    struct bytes answer;

    if (!map_file(&answer, child->argv[ANSWER]))
        return LINK_FAILED;
    job_report_write(&text, code, child->job, answer, TEXT(""));
    return output_write_file(child->argv[REPORT], buffer_bytes(&text)) ? LINK_OK : LINK_FAILED;
}

int lto_child_run(char *const *argv)
{
    struct child child = {.argv = argv, .status = LTO_CHILD_NO_JOB};
    enum link_code code;

    /* On this machine, the parent has done that. */
    if (argv[REPORT])
        self_exec_fix_addresses(argv);
    prctl(PR_SET_NAME, "minilink"); /* self_exec_file() starts it as "exe" */
    no_driver_load();
    if (argv[WORD][strlen(LTO_CHILD_WORD)] == '=')
        dlopen(argv[WORD] + strlen(LTO_CHILD_WORD "="), RTLD_NOW | RTLD_LOCAL);
    fork_serve_if_wanted();
    code = context_run(run_job, &child);
    if (code == LINK_NO_MEMORY)
        child.status = LTO_CHILD_NO_MEMORY;
    if (argv[REPORT] && code != LINK_FAILED && context_run(write_answer_report, &child) != LINK_OK)
        child.status = LTO_CHILD_NO_JOB;
    fork_serve_end(child.status);
    if (getenv(EXEC_SAYS_END))
        exec_say_end(child.status);
    return child.status;
}
