/* client.c: a program that was written for nvJitLink. It is compiled with the header of a CUDA
 * toolkit (-DTOOLKIT_HEADER) or with ours, and runs with whichever library the loader finds; or it
 * calls the names of one version of the interface (-DINTERFACE=12_3), as that version's header has
 * them.
 *
 *     client link OUT [OPTION]... -- [TYPE:FILE | TYPE@FILE]...
 *     client ltoir OUT [OPTION]... -- [TYPE:FILE | TYPE@FILE]...
 *     client threads COUNT [OPTION]... -- [TYPE:FILE]...
 *     client stack KIB [OPTION]... -- [TYPE:FILE | TYPE@FILE]...
 *     client nulls
 *     client version
 *     client options [OPTION]...
 *
 * `link` adds what is in the files (`:`) or the files (`@`), completes, and prints the result of
 * each call; what was linked goes to OUT.cubin and OUT.ptx, the logs to OUT.errors and OUT.infos.
 * `ltoir` is `link`, and gets LTO-IR, too, as OUT.ltoir.
 * `threads` makes the same link in several threads at once, prints the result of each, and how many
 * gave the bytes of the first.
 * `stack` is `link` without OUT on a thread with a stack of KIB KiB.
 * `nulls` makes calls that are wrong, and prints their results; `options` creates a link with each
 * of the options beside -arch=sm_90. Each may be several words. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TOOLKIT_HEADER
#include <nvJitLink.h>
#else
#ifdef INTERFACE
/* The header of version 12.3 has nvJitLinkCreate() call __nvJitLinkCreate_12_3(). */
#define PASTE(name, version)        __##name##_##version
#define NAME(name, version)         PASTE(name, version)
#define nvJitLinkCreate             NAME(nvJitLinkCreate, INTERFACE)
#define nvJitLinkDestroy            NAME(nvJitLinkDestroy, INTERFACE)
#define nvJitLinkAddData            NAME(nvJitLinkAddData, INTERFACE)
#define nvJitLinkAddFile            NAME(nvJitLinkAddFile, INTERFACE)
#define nvJitLinkComplete           NAME(nvJitLinkComplete, INTERFACE)
#define nvJitLinkGetLinkedCubinSize NAME(nvJitLinkGetLinkedCubinSize, INTERFACE)
#define nvJitLinkGetLinkedCubin     NAME(nvJitLinkGetLinkedCubin, INTERFACE)
#define nvJitLinkGetLinkedPtxSize   NAME(nvJitLinkGetLinkedPtxSize, INTERFACE)
#define nvJitLinkGetLinkedPtx       NAME(nvJitLinkGetLinkedPtx, INTERFACE)
#define nvJitLinkGetErrorLogSize    NAME(nvJitLinkGetErrorLogSize, INTERFACE)
#define nvJitLinkGetErrorLog        NAME(nvJitLinkGetErrorLog, INTERFACE)
#define nvJitLinkGetInfoLogSize     NAME(nvJitLinkGetInfoLogSize, INTERFACE)
#define nvJitLinkGetInfoLog         NAME(nvJitLinkGetInfoLog, INTERFACE)
#endif
#include "library/nvjitlink/interface.h"
#endif

#define MOST_THREADS 64
#define MOST_WORDS   8

struct input {
    nvJitLinkInputType type;
    int is_file; /* to be added by its name */
    const char *path;
    char *data;
    size_t size;
};

struct task {
    const char **options;
    uint32_t option_count;
    struct input *inputs;
    size_t input_count;
    nvJitLinkResult result; /* of a link in a thread: */
    char *cubin;
    size_t size;
};

static const char *name_of(nvJitLinkResult result)
{
    static const char *const names[] = {
        "SUCCESS",
        "UNRECOGNIZED_OPTION",
        "MISSING_ARCH",
        "INVALID_INPUT",
        "PTX_COMPILE",
        "NVVM_COMPILE",
        "INTERNAL",
        "THREADPOOL",
        "UNRECOGNIZED_INPUT",
        "FINALIZE",
        "NULL_INPUT",
        "INCOMPATIBLE_OPTIONS",
        "INCORRECT_INPUT_TYPE",
        "ARCH_MISMATCH",
        "OUTDATED_LIBRARY",
        "MISSING_FATBIN",
        "UNRECOGNIZED_ARCH",
        "UNSUPPORTED_ARCH",
        "LTO_NOT_ENABLED",
    };

    return (size_t)result < sizeof names / sizeof *names ? names[result] : "unknown";
}

static void die(const char *what, const char *why)
{
    printf("client: %s: %s\n", what, why);
    exit(2);
}

/* With a NUL behind it. */
static char *allocate(size_t size)
{
    char *data = calloc(1, size + 1);

    if (!data)
        die("memory", "there is no more");
    return data;
}

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *data;
    long end = -1;

    if (!file || fseek(file, 0, SEEK_END) || (end = ftell(file)) < 0)
        die(path, "cannot be read");
    rewind(file);
    data = allocate((size_t)end);
    *size = fread(data, 1, (size_t)end, file);
    fclose(file);
    return data;
}

static void write_file(const char *out, const char *what, const char *data, size_t size)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s.%s", out, what);
    file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file))
        die(path, "cannot be written");
}

/* One of the four texts and results that a link gives. */
typedef nvJitLinkResult get_size(nvJitLinkHandle handle, size_t *size);

static nvJitLinkResult get_cubin(nvJitLinkHandle handle, char *data)
{
    return nvJitLinkGetLinkedCubin(handle, data);
}

static char *take(nvJitLinkHandle handle, get_size *ask,
                  nvJitLinkResult (*get)(nvJitLinkHandle, char *), size_t *size,
                  nvJitLinkResult *result)
{
    char *data;

    *size = 0;
    *result = ask(handle, size);
    if (*result != NVJITLINK_SUCCESS)
        return NULL;
    data = allocate(*size);
    *result = get(handle, data);
    return data;
}

static void report(nvJitLinkHandle handle, const char *out, const char *what, get_size *ask,
                   nvJitLinkResult (*get)(nvJitLinkHandle, char *))
{
    nvJitLinkResult result;
    size_t size;
    char *data = take(handle, ask, get, &size, &result);

    printf("%s %s%s\n", what, name_of(result), data && size == 0 ? ", empty" : "");
    if (data && size && strcmp(what, "cubin") != 0 && strcmp(what, "ltoir") != 0 &&
        data[size - 1] != '\0')
        printf("%s has no end\n", what);
    if (data)
        write_file(out, what, data, size);
    free(data);
}

/* Only libraries from 13.2 on have these, and headers as new: they are looked up by name. */
struct ltoir_functions {
    get_size *size;
    nvJitLinkResult (*get)(nvJitLinkHandle, char *);
};

static int find_ltoir(struct ltoir_functions *found)
{
    void *size = dlsym(RTLD_DEFAULT, "nvJitLinkGetLinkedLTOIRSize");
    void *get = dlsym(RTLD_DEFAULT, "nvJitLinkGetLinkedLTOIR");

    memcpy(&found->size, &size, sizeof size);
    memcpy(&found->get, &get, sizeof get);
    return size && get;
}

static void report_ltoir(nvJitLinkHandle handle, const char *out)
{
    struct ltoir_functions functions;

    if (find_ltoir(&functions))
        report(handle, out, "ltoir", functions.size, functions.get);
    else
        printf("ltoir has no function\n");
}

static nvJitLinkResult add(nvJitLinkHandle handle, const struct input *input)
{
    const char *slash = strrchr(input->path, '/');

    if (input->is_file)
        return nvJitLinkAddFile(handle, input->type, input->path);
    return nvJitLinkAddData(handle, input->type, input->data, input->size,
                            slash ? slash + 1 : input->path);
}

static int link_and_report(const struct task *task, const char *out, int wants_ltoir)
{
    nvJitLinkHandle handle = NULL;
    nvJitLinkResult result = nvJitLinkCreate(&handle, task->option_count, task->options);

    printf("create %s\n", name_of(result));
    for (size_t i = 0; i < task->input_count && result == NVJITLINK_SUCCESS; i++)
        printf("add %zu %s\n", i + 1, name_of(add(handle, &task->inputs[i])));
    if (result == NVJITLINK_SUCCESS) {
        printf("complete %s\n", name_of(nvJitLinkComplete(handle)));
        report(handle, out, "cubin", nvJitLinkGetLinkedCubinSize, get_cubin);
        report(handle, out, "ptx", nvJitLinkGetLinkedPtxSize, nvJitLinkGetLinkedPtx);
        if (wants_ltoir)
            report_ltoir(handle, out);
    }
    report(handle, out, "errors", nvJitLinkGetErrorLogSize, nvJitLinkGetErrorLog);
    report(handle, out, "infos", nvJitLinkGetInfoLogSize, nvJitLinkGetInfoLog);
    printf("destroy %s\n", name_of(nvJitLinkDestroy(&handle)));
    if (handle)
        printf("the handle stays\n");
    return 0;
}

/* The result of the first call that fails, or of the last. */
static nvJitLinkResult link_inputs(const struct task *task, nvJitLinkHandle *handle)
{
    nvJitLinkResult result = nvJitLinkCreate(handle, task->option_count, task->options);

    for (size_t i = 0; i < task->input_count && result == NVJITLINK_SUCCESS; i++)
        result = add(*handle, &task->inputs[i]);
    return result == NVJITLINK_SUCCESS ? nvJitLinkComplete(*handle) : result;
}

static void *run_thread(void *argument)
{
    struct task *task = argument;
    nvJitLinkHandle handle = NULL;
    nvJitLinkResult result = link_inputs(task, &handle);

    if (result == NVJITLINK_SUCCESS)
        task->cubin = take(handle, nvJitLinkGetLinkedCubinSize, get_cubin, &task->size, &result);
    task->result = result;
    nvJitLinkDestroy(&handle);
    return NULL;
}

static int link_in_threads(const struct task *task, int count)
{
    pthread_t threads[MOST_THREADS];
    struct task tasks[MOST_THREADS];
    int same = 0;

    if (count < 1 || count > MOST_THREADS)
        die("threads", "too many");
    for (int i = 0; i < count; i++) {
        tasks[i] = *task;
        if (pthread_create(&threads[i], NULL, run_thread, &tasks[i]))
            die("threads", "no more");
    }
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        printf("thread %s\n", name_of(tasks[i].result));
        same += tasks[i].cubin && tasks[i].size == tasks[0].size &&
                memcmp(tasks[i].cubin, tasks[0].cubin, tasks[0].size) == 0;
    }
    for (int i = 0; i < count; i++)
        free(tasks[i].cubin);
    printf("%d of %d the same\n", same, count);
    return same != count;
}

/* Prints the result and the log of errors. */
static void *run_small_thread(void *argument)
{
    nvJitLinkHandle handle = NULL;
    nvJitLinkResult result = link_inputs(argument, &handle), read;
    size_t size;
    char *errors;

    errors = take(handle, nvJitLinkGetErrorLogSize, nvJitLinkGetErrorLog, &size, &read);
    printf("%s\n%s", name_of(result), errors && size ? errors : "");
    free(errors);
    nvJitLinkDestroy(&handle);
    return NULL;
}

static int link_on_stack(struct task *task, size_t size)
{
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, size) != 0)
        die("stack", "no thread may have one of this size");
    if (pthread_create(&thread, &attributes, run_small_thread, task) != 0)
        die("stack", "no thread has one of this size");
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    return 0;
}

static void tell(const char *what, nvJitLinkResult result)
{
    printf("%s: %s\n", what, name_of(result));
}

static nvJitLinkHandle begin(void)
{
    const char *options[] = {"-arch=sm_90"};
    nvJitLinkHandle handle = NULL;

    if (nvJitLinkCreate(&handle, 1, options) != NVJITLINK_SUCCESS)
        die("nvJitLinkCreate", "fails");
    return handle;
}

static void wrong_getters(nvJitLinkHandle handle, const char *what, get_size *ask,
                          nvJitLinkResult (*get)(nvJitLinkHandle, char *))
{
    char buffer[16];
    size_t size = 5;

    printf("%s of no link: %s", what, name_of(ask(NULL, &size)));
    printf(", %s; nowhere: %s", name_of(get(NULL, buffer)), name_of(ask(handle, NULL)));
    printf(", %s; too early: %s", name_of(get(handle, NULL)), name_of(ask(handle, &size)));
    printf(", %s\n", name_of(get(handle, buffer)));
}

static int make_wrong_calls(void)
{
    const char *options[] = {"-arch=sm_90"};
    struct ltoir_functions ltoir;
    nvJitLinkHandle handle = NULL;
    unsigned number = 0;
    int has_version = dlsym(RTLD_DEFAULT, "nvJitLinkVersion") != NULL; /* libraries before 12.3 */

    tell("create nowhere", nvJitLinkCreate(NULL, 1, options));
    tell("create without options", nvJitLinkCreate(&handle, 0, NULL));
    if (has_version)
        tell("create with NULL for options", nvJitLinkCreate(&handle, 1, NULL));
    tell("create with a count of 0", nvJitLinkCreate(&handle, 0, options));
    tell("destroy it", nvJitLinkDestroy(&handle));
    tell("destroy it again", nvJitLinkDestroy(&handle));
    tell("destroy nothing", nvJitLinkDestroy(NULL));
    if (has_version) {
        tell("version", nvJitLinkVersion(NULL, &number));
        tell("version", nvJitLinkVersion(&number, NULL));
    }
    tell("add data to nothing", nvJitLinkAddData(NULL, NVJITLINK_INPUT_PTX, "a", 1, "a"));
    tell("add a file to nothing", nvJitLinkAddFile(NULL, NVJITLINK_INPUT_PTX, "a"));
    tell("complete nothing", nvJitLinkComplete(NULL));
    handle = begin();
    wrong_getters(handle, "cubin", nvJitLinkGetLinkedCubinSize, get_cubin);
    wrong_getters(handle, "PTX", nvJitLinkGetLinkedPtxSize, nvJitLinkGetLinkedPtx);
    if (find_ltoir(&ltoir))
        wrong_getters(handle, "LTO-IR", ltoir.size, ltoir.get);
    wrong_getters(handle, "error log", nvJitLinkGetErrorLogSize, nvJitLinkGetErrorLog);
    wrong_getters(handle, "info log", nvJitLinkGetInfoLogSize, nvJitLinkGetInfoLog);
    tell("add a file without a name", nvJitLinkAddFile(handle, NVJITLINK_INPUT_PTX, NULL));
    tell("add no bytes", nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, "", 0, "a"));
    tell("add NULL, no bytes", nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, NULL, 0, "a"));
    tell("complete", nvJitLinkComplete(handle));
    tell("complete again", nvJitLinkComplete(handle));
    tell("add behind it", nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, "a", 1, "a"));
    tell("the cubin is there", nvJitLinkGetLinkedCubinSize(handle, &(size_t){0}));
    tell("destroy", nvJitLinkDestroy(&handle));
    return 0;
}

static int tell_version(void)
{
    unsigned major = 0, minor = 0;

    tell("version", nvJitLinkVersion(&major, &minor));
    printf("%u.%u\n", major, minor);
    return 0;
}

static int try_options(char *const *words)
{
    for (; *words; words++) {
        const char *options[MOST_WORDS] = {"-arch=sm_90"};
        nvJitLinkHandle handle = NULL;
        uint32_t count = strstr(*words, "-arch") ? 0 : 1;
        char copy[256], *rest = NULL;

        snprintf(copy, sizeof copy, "%s", *words);
        for (char *word = strtok_r(copy, " ", &rest); word && count < MOST_WORDS;
             word = strtok_r(NULL, " ", &rest))
            options[count++] = word;
        printf("%s: %s", *words, name_of(nvJitLinkCreate(&handle, count, options)));
        printf("%s\n", nvJitLinkDestroy(&handle) ? ", no handle" : "");
    }
    return 0;
}

/* OPTION... -- TYPE:FILE... */
static void read_words(struct task *task, char **words, int count)
{
    int i = 0;

    while (i < count && strcmp(words[i], "--") != 0)
        i++;
    task->options = (const char **)(uintptr_t)words;
    task->option_count = (uint32_t)i;
    task->inputs = (struct input *)(void *)allocate((size_t)count * sizeof(struct input));
    for (i++; i < count; i++) {
        struct input *input = &task->inputs[task->input_count++];
        char *end;

        input->type = (nvJitLinkInputType)strtol(words[i], &end, 10);
        input->is_file = *end == '@';
        input->path = end + 1;
        if (!input->is_file)
            input->data = read_file(input->path, &input->size);
    }
}

static void free_task(struct task *task)
{
    for (size_t i = 0; i < task->input_count; i++)
        free(task->inputs[i].data);
    free(task->inputs);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    struct task task = {0};
    int status;

    setvbuf(stdout, NULL, _IONBF, 0);
    if (strcmp(what, "nulls") == 0)
        return make_wrong_calls();
    if (strcmp(what, "version") == 0)
        return tell_version();
    if (strcmp(what, "options") == 0)
        return try_options(argv + 2);
    if (argc < 3)
        die("usage", "client link|ltoir|threads|stack|nulls|version|options ...");
    read_words(&task, argv + 3, argc - 3);
    if (strcmp(what, "link") == 0 || strcmp(what, "ltoir") == 0)
        status = link_and_report(&task, argv[2], strcmp(what, "ltoir") == 0);
    else if (strcmp(what, "threads") == 0)
        status = link_in_threads(&task, atoi(argv[2]));
    else
        status = link_on_stack(&task, (size_t)atoi(argv[2]) * 1024);
    free_task(&task);
    return status;
}
