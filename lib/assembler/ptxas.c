/* ptxas.c: ptxas, with `-c` but for whole programs, its input and its output in memory.
 *
 * Measured on ptxas 13.0: it opens its input three times and reads it from the start each time, and
 * writes its output by open(O_WRONLY|O_CREAT|O_TRUNC) and one write, with no rename and no file
 * beside it; so /dev/fd/N of a memfd serves for both, the bytes are those of a file, and the name
 * shows only in messages ("ptxas /dev/fd/3, line 8; error   : ..."). It exits with 255 on any
 * error. */
#include "assembler/ptxas.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assembler/registry.h"
#include "base/buffer.h"
#include "base/context.h"
#include "base/diag.h"
#include "base/exec.h"
#include "base/memory.h"

/* Most bytes of messages that are kept of one chunk. */
#define LOG_LIMIT (1u << 20)

/* Largest cubin that is taken over; a real one is a few MiB. */
#define CUBIN_LIMIT ((off_t)2 << 30)

static bool is_program(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* "<folder>/<inside>ptxas" when that is a program, else NULL, and a line in `tried`. */
static char *try_folder(struct buffer *tried, struct text folder, const char *inside)
{
    struct buffer path = {0};

    /* In one allocation, so that nothing is lost when there is no memory for it. */
    buffer_printf(&path, "%.*s/%sptxas", TEXT_ARG(folder), inside);
    if (is_program(path.data))
        return path.data;
    buffer_free(&path);
    buffer_printf(tried, "%s'%.*s/%sptxas'", tried->size ? ", " : "", TEXT_ARG(folder), inside);
    return NULL;
}

/* nvcc hands on the folder of its own toolkit: "<toolkit>/nvvm". */
static char *try_nvvm(struct buffer *tried, const char *nvvm)
{
    struct text path = text_of(nvvm);

    while (path.size > 1 && path.data[path.size - 1] == '/')
        path.size--;
    while (path.size > 0 && path.data[path.size - 1] != '/')
        path.size--;
    return path.size > 1 ? try_folder(tried, (struct text){path.data, path.size - 1}, "bin/")
                         : NULL;
}

static char *try_path(struct buffer *tried)
{
    const char *cursor = getenv("PATH");
    char *found = NULL;

    while (cursor && !found) {
        size_t size = strcspn(cursor, ":");

        found = try_folder(tried, size ? (struct text){cursor, size} : TEXT("."), "");
        cursor = cursor[size] ? cursor + size + 1 : NULL;
    }
    return found;
}

char *ptxas_find(const struct assembler_request *request, struct buffer *tried)
{
    const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
    char *found = NULL;

    if (request->ptxas_path) {
        if (is_program(request->ptxas_path))
            return memory_copy_string(request->ptxas_path, strlen(request->ptxas_path));
        buffer_printf(tried, "'%s'", request->ptxas_path);
        return NULL;
    }
    if (request->cuda_path)
        return try_folder(tried, text_of(request->cuda_path), "bin/");
    if (request->nvvm_path)
        found = try_nvvm(tried, request->nvvm_path);
    for (size_t i = 0; i < 2 && !found; i++) {
        const char *folder = getenv(variables[i]);

        if (folder && *folder)
            found = try_folder(tried, text_of(folder), "bin/");
    }
    return found ? found : try_path(tried);
}

static char *find_or_report(const struct assembler_request *request)
{
    struct buffer tried = {0};
    struct context_cleanup cleanup;
    char *found;

    context_defer(&cleanup, buffer_cleanup, &tried);
    found = ptxas_find(request, &tried);
    if (!found) {
        diag_fatal("Could not find ptxas (looked for %.*s)", TEXT_ARG(buffer_view(&tried)));
        diag_note("Set CUDA_HOME, or use --ptxas= or --cuda-path=; --assembler=builtin needs none");
    }
    context_clean(&cleanup);
    return found;
}

/* Drops the last line of *text and returns it. */
static struct text take_last_line(struct text *text)
{
    size_t end, start;

    while (text->size > 0 && strchr(" \r\n", text->data[text->size - 1]))
        text->size--;
    end = start = text->size;
    while (start > 0 && text->data[start - 1] != '\n')
        start--;
    text->size = start;
    return (struct text){text->data + start, end - start};
}

/* How a run ended, in words, or NULL when it ended well. */
static const char *describe_end(const struct exec_result *result, char *text, size_t size)
{
    if (result->end == EXEC_SIGNALED)
        snprintf(text, size, "killed by signal %d (%s)", result->code, strsignal(result->code));
    else if (result->end == EXEC_NOT_STARTED)
        snprintf(text, size, "could not be run: %s", strerror(result->code));
    else if (result->end == EXEC_CANCELLED)
        snprintf(text, size, "was cancelled");
    else if (result->end == EXEC_TIMED_OUT)
        snprintf(text, size, "killed, as it took more than %d s (--assembler-timeout)",
                 result->code);
    else if (result->code != 0)
        snprintf(text, size, "ended with status %d", result->code);
    else
        return NULL;
    return text;
}

/* The words are not changed by posix_spawn; its type only cannot say so. */
static char *word(const char *string)
{
    union {
        const char *in;
        char *out;
    } both = {.in = string};

    return both.out;
}

static char *ask_version(const char *path)
{
    char *const argv[] = {word(path), (char[]){"--version"}, NULL};
    const struct exec_request request = {.argv = argv, .output_limit = 4096};
    struct exec_result result;
    struct buffer version = {0};
    struct context_cleanup cleanup;
    struct text output, build, release;
    char end[128];

    exec_run(&request, &result);
    if (result.end == EXEC_NOT_STARTED && result.code == ENOMEM)
        context_raise(LINK_NO_MEMORY);
    context_defer(&cleanup, memory_cleanup, &result.output);
    if (describe_end(&result, end, sizeof end)) {
        diag_fatal("Could not ask '%s' for its version: it %s", path, end);
        context_clean(&cleanup);
        return NULL;
    }
    output = (struct text){result.output ? result.output : "", result.output_size};
    build = take_last_line(&output);
    release = take_last_line(&output);
    buffer_printf(&version, "%.*s; %.*s", TEXT_ARG(release), TEXT_ARG(build));
    context_clean(&cleanup);
    return version.data;
}

/* A program of the name `word` on PATH, as posix_spawn wants it; NULL, reported, when there is
 * none.
 */
static char *find_launcher(struct text word)
{
    struct buffer path = {0};
    const char *cursor = getenv("PATH");

    if (memchr(word.data, '/', word.size))
        return memory_copy_string(word.data, word.size);
    while (cursor) {
        size_t size = strcspn(cursor, ":");

        path.size = 0;
        buffer_printf(&path, "%.*s/%.*s", (int)size, cursor, TEXT_ARG(word));
        if (is_program(path.data))
            return path.data;
        cursor = cursor[size] ? cursor + size + 1 : NULL;
    }
    buffer_free(&path);
    diag_fatal("Could not find the assembler launcher '%.*s' on PATH", TEXT_ARG(word));
    return NULL;
}

/* Cuts --assembler-launcher at blanks. */
static bool read_launcher(struct ptxas *ptxas, const char *words)
{
    size_t count = 0, capacity = 0;

    for (words += strspn(words, " \t"); *words; words += strspn(words, " \t")) {
        struct text word = {words, strcspn(words, " \t")};
        char *copy = count == 0 ? find_launcher(word) : memory_copy_string(word.data, word.size);

        if (!copy)
            return false;
        /* Room for this word and the NULL; the list is whole after each. */
        ARRAY_RESERVE(ptxas->launcher, capacity, count + 2);
        ptxas->launcher[count++] = copy;
        ptxas->launcher[count] = NULL;
        words += word.size;
    }
    return true;
}

bool ptxas_open(struct ptxas *ptxas, const struct assembler_request *request)
{
    ptxas->timeout = request->timeout;
    if (request->launcher && !read_launcher(ptxas, request->launcher))
        return false;
    ptxas->path = find_or_report(request);
    if (ptxas->path)
        ptxas->version = ask_version(ptxas->path);
    return ptxas->version != NULL;
}

void ptxas_close(struct ptxas *ptxas)
{
    for (size_t i = 0; ptxas->launcher && ptxas->launcher[i]; i++)
        free(ptxas->launcher[i]);
    free(ptxas->launcher);
    free(ptxas->path);
    free(ptxas->version);
    *ptxas = (struct ptxas){0};
}

/* A command line in one block: pointers, and room for the words that are made here. */
struct command {
    char input[32], output[32], arch[64], registers[48];
    char *argv[];
};

static size_t count_words(const char *const *words)
{
    size_t count = 0;

    while (words && words[count])
        count++;
    return count;
}

/* NULL when memory runs out. The order of the options shows in the cubin's notes, and is nvlink's.
 */
static struct command *make_command(const struct ptxas *ptxas, const struct minilink_job *job,
                                    int input, int output)
{
    size_t launcher = count_words((const char *const *)ptxas->launcher);
    size_t options = count_words(job->options), n = 0;
    struct command *command =
        calloc(1, sizeof *command + (launcher + options + 12) * sizeof *command->argv);

    if (!command)
        return NULL;
    snprintf(command->input, sizeof command->input, "/dev/fd/%d", input);
    snprintf(command->output, sizeof command->output, "/dev/fd/%d", output);
    snprintf(command->arch, sizeof command->arch, "-arch=%s", job->arch);
    for (size_t i = 0; i < launcher; i++)
        command->argv[n++] = ptxas->launcher[i];
    command->argv[n++] = ptxas->path;
    if (job->mode != MINILINK_MODE_WHOLE)
        command->argv[n++] = word("-c");
    command->argv[n++] = command->arch;
    if (job->machine64)
        command->argv[n++] = word("-m64");
    if (job->debug)
        command->argv[n++] = word("-g");
    if (job->line_info)
        command->argv[n++] = word("-lineinfo");
    if (job->maxrregcount) {
        snprintf(command->registers, sizeof command->registers, "-maxrregcount=%u",
                 job->maxrregcount);
        command->argv[n++] = command->registers;
    }
    for (size_t i = 0; i < options; i++)
        command->argv[n++] = word(job->options[i]);
    command->argv[n++] = command->input;
    command->argv[n++] = word("-o");
    command->argv[n++] = command->output;
    return command;
}

/* Appends a line in ptxas's own form to the log. Without memory for it the log stays as it is. */
static void append_log(char **log, const char *severity, const char *text)
{
    size_t size = *log ? strlen(*log) : 0;
    bool needs_newline = size > 0 && (*log)[size - 1] != '\n';
    char *grown = realloc(*log, size + strlen(severity) + strlen(text) + 16);

    if (!grown)
        return;
    sprintf(grown + size, "%sptxas %s: %s\n", needs_newline ? "\n" : "", severity, text);
    *log = grown;
}

static int fail(struct minilink_result *result, const char *what)
{
    char text[256];

    if (errno == ENOMEM || errno == ENOSPC) /* of a memory file */
        return MINILINK_NO_MEMORY;
    snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
    append_log(&result->log, "fatal   ", text);
    return MINILINK_ENVIRONMENT;
}

static bool write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, data, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        data += written;
        size -= (size_t)written;
    }
    return true;
}

static bool read_all(int fd, char *data, size_t size)
{
    size_t at = 0;

    while (at < size) {
        ssize_t got = pread(fd, data + at, size - at, (off_t)at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += (size_t)got;
    }
    return true;
}

/* Takes over what was written: an ELF file that can be linked further, or the whole program's. */
static int take_cubin(int fd, uint32_t mode, struct minilink_result *result)
{
    struct stat status;
    Elf64_Ehdr header;

    if (fstat(fd, &status))
        return fail(result, "Could not read the output of ptxas");
    if (status.st_size < (off_t)sizeof header || status.st_size > CUBIN_LIMIT) {
        append_log(&result->log, "fatal   ", "no cubin was written");
        return MINILINK_FAILED;
    }
    result->cubin = malloc((size_t)status.st_size);
    if (!result->cubin)
        return MINILINK_NO_MEMORY;
    result->cubin_size = (size_t)status.st_size;
    if (!read_all(fd, result->cubin, result->cubin_size))
        return fail(result, "Could not read the output of ptxas");
    memcpy(&header, result->cubin, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
        (header.e_type == ET_REL || (mode == MINILINK_MODE_WHOLE && header.e_type == ET_EXEC)))
        return MINILINK_OK;
    return MINILINK_NOT_RELOCATABLE;
}

/* True when it could not start, or may not write as much as it has to. */
static bool is_environment(const struct exec_result *ended)
{
    return ended->end == EXEC_NOT_STARTED ||
           (ended->end == EXEC_SIGNALED && ended->code == SIGXFSZ);
}

static int run(const struct ptxas *ptxas, const struct minilink_job *job, int input, int output,
               struct minilink_result *result)
{
    const int pass[] = {input, output};
    struct command *command = make_command(ptxas, job, input, output);
    struct exec_request request = {.pass = pass,
                                   .pass_count = 2,
                                   .output_limit = LOG_LIMIT,
                                   .timeout = ptxas->timeout,
                                   .cancelled = job->cancelled};
    struct exec_result ended;
    char end[128];

    if (!command)
        return MINILINK_NO_MEMORY;
    request.argv = command->argv;
    exec_run(&request, &ended);
    free(command);
    result->log = ended.output;
    if (ended.output_cut)
        append_log(&result->log, "warning ", "there were more messages than are shown");
    if (ended.end == EXEC_CANCELLED)
        return MINILINK_CANCELLED;
    if (ended.end == EXEC_NOT_STARTED && ended.code == ENOMEM)
        return MINILINK_NO_MEMORY;
    if (describe_end(&ended, end, sizeof end)) {
        /* With its usual status it has said itself what is wrong. */
        if (ended.end != EXEC_EXITED || ended.output_size == 0)
            append_log(&result->log, "fatal   ", end);
        return is_environment(&ended) ? MINILINK_ENVIRONMENT : MINILINK_FAILED;
    }
    return take_cubin(output, job->mode, result);
}

int ptxas_assemble(void *state, const struct minilink_job *job, struct minilink_result *result)
{
    int input = exec_memory_file("minilink-ptx"), output = exec_memory_file("minilink-cubin");
    int code;

    if (input < 0 || output < 0 || !write_all(input, job->ptx, job->ptx_size))
        code = fail(result, "Could not hand the chunk to ptxas");
    else
        code = run(state, job, input, output, result);
    if (input >= 0)
        close(input);
    if (output >= 0)
        close(output);
    return code;
}
