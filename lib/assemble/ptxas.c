/* ptxas.c: finds ptxas, asks for its version, and runs it for a chunk.
 *
 * ptxas is run with `-c`, except for whole programs, and with its input and output in memory.
 * Measured on ptxas: it opens its input three times and reads it from the start each time, and
 * writes its output by open(O_WRONLY|O_CREAT|O_TRUNC) and one write, with no rename and no other
 * file. So /dev/fd/N of a memfd works for both, the bytes are those of a file, and the name shows
 * only in messages ("ptxas /dev/fd/3, line 8; error   : ..."). It exits with 255 on any error. */
#include "assemble/internal.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diag/diag.h"
#include "facts/targets.h"
#include "os/file.h"
#include "os/fork_server.h"
#include "pool/jobserver.h"

char *ptxas_find(const struct assembler_request *request, struct toolkit_search *search)
{
    const struct toolkit_request toolkit = {.file = request->ptxas_path,
                                            .cuda_path = request->cuda_path,
                                            .nvvm_path = request->nvvm_path};

    return toolkit_find_ptxas(&toolkit, search);
}

bool ptxas_open(struct ptxas *ptxas, const struct assembler_request *request)
{
    struct toolkit_search search = {0};

    CONTEXT_DEFER(toolkit_search_cleanup, &search);
    ptxas->timeout = request->timeout;
    ptxas->path = ptxas_find(request, &search);
    ptxas->place = search.why;
    if (ptxas->path)
        return true;
    diag_fatal("Could not find ptxas (looked for %.*s)", TEXT_ARG(buffer_view(&search.tried)));
    diag_note("Set CUDA_HOME, or use --ptxas= or --cuda-path=; --assembler=builtin needs none");
    return false;
}

/* The last two lines of its output. */
static char *read_ptxas_version(const struct exec_result *result)
{
    struct text output = {result->output, result->output_size}, line, release = {0}, build = {0};
    struct buffer version = {0};

    while (text_scan_line(&output, &line)) {
        while (line.size > 0 && strchr(" \r", line.data[line.size - 1]))
            line.size--;
        if (line.size == 0)
            continue;
        release = build;
        build = line;
    }
    buffer_printf(&version, "%.*s; %.*s", TEXT_ARG(release), TEXT_ARG(build));
    return version.data;
}

/* Malloc'ed, or NULL with the reason in `why`; for workers, too. */
static char *ask_ptxas_version(const struct ptxas *ptxas, char *why, size_t size)
{
    const char *const argv[] = {ptxas->path, "--version", NULL};
    const struct exec_request request = {.argv = argv, .output_limit = 4096};
    struct exec_result result;
    char end[128];

    exec_run(&request, &result);
    if (result.end == EXEC_NOT_STARTED && result.code == ENOMEM)
        context_raise(LINK_NO_MEMORY);
    CONTEXT_DEFER(memory_cleanup, &result.output);
    if (!exec_describe_end(&result, end, sizeof end))
        return read_ptxas_version(&result);
    snprintf(why, size, "Could not ask '%s' for its version: it %s", ptxas->path, end);
    return NULL;
}

void ptxas_tell(struct ptxas *ptxas)
{
    if (ptxas->place)
        diag_verbose("ptxas '%s': %s", ptxas->path, ptxas->place);
    ptxas->place = NULL;
}

const char *ptxas_version(struct ptxas *ptxas)
{
    char why[PATH_MAX + 256];

    if (!ptxas->version)
        ptxas->version = ask_ptxas_version(ptxas, why, sizeof why);
    if (!ptxas->version)
        diag_fatal("%s", why);
    return ptxas->version;
}

void ptxas_close(struct ptxas *ptxas)
{
    free(ptxas->path);
    free(ptxas->version);
    *ptxas = (struct ptxas){0};
}

const char *const *ptxas_options(struct arena *arena, const struct minilink_job *job)
{
    struct word_list words = {.arena = arena};

    if (job->mode != MINILINK_MODE_WHOLE)
        word_list_add(&words, "-c");
    word_list_printf(&words, "-arch=%s", job->arch);
    word_list_add(&words, "-m64");
    if (job->debug)
        word_list_add(&words, "-g");
    if (job->line_info)
        word_list_add(&words, "-lineinfo");
    if (job->maxrregcount)
        word_list_printf(&words, "-maxrregcount=%u", job->maxrregcount);
    word_list_add_all(&words, job->options);
    return word_list_end(&words);
}

/* The command line of ptxas for the job, with one more option (NULL = none) and its files. */
static const char *const *command_of(struct arena *arena, const struct ptxas *ptxas,
                                     const struct minilink_job *job, const char *option,
                                     const char *input, const char *output)
{
    struct word_list words = {.arena = arena};

    word_list_add(&words, ptxas->path);
    word_list_add_all(&words, ptxas_options(arena, job));
    if (option)
        word_list_add(&words, option);
    word_list_add_all(&words, (const char *[]){input, "-o", output, NULL});
    return word_list_end(&words);
}

/* Most bytes of messages that are kept of one chunk. */
#define LOG_LIMIT (1u << 20)

/* Largest cubin that is accepted; a real one is a few MiB. */
#define CUBIN_LIMIT ((off_t)2 << 30)

/* Longest text for a fork server. A copy starts some milliseconds faster, but its heap has no large
 * pages: from about 40 KB on it takes longer than a ptxas of its own (13.0 and 13.5). */
#define SERVED_TEXT (32u << 10)

/* Measured on ptxas 11.8 to 13.5: with -g it writes the last parts of its files' names into
 * .note.nv.tkinfo. Here these are numbers of descriptors, which must not depend on what else is
 * open. The child has its files under these numbers then. */
#define SHOWN_INPUT  62
#define SHOWN_OUTPUT 63

static bool shows_names(const struct minilink_job *job)
{
    bool shows = job->debug;

    for (size_t i = 0; !shows && job->options && job->options[i]; i++)
        shows = strcmp(job->options[i], "-g") == 0 ||
                strncmp(job->options[i], "--device-debug", strlen("--device-debug")) == 0;
    return shows;
}

/* One run, and the resources that it holds. */
struct run {
    struct ptxas *ptxas;
    const struct minilink_job *job;
    struct minilink_result *result;
    struct arena arena;
    const struct child_tokens *tokens; /* for its threads; NULL = they are not counted */
    int input, output;                 /* in memory; -1 = none */
};

/* Appends a line in ptxas's own form to the log. If memory runs out, the log is unchanged. */
static void append_log(char **log, const char *severity, const char *text)
{
    const char *before = *log ? *log : "";
    size_t size = strlen(before);
    char *grown;

    if (asprintf(&grown, "%s%sptxas %s: %s\n", before, size && before[size - 1] != '\n' ? "\n" : "",
                 severity, text) < 0)
        return;
    free(*log);
    *log = grown;
}

static int fail_run(const struct run *run, const char *what)
{
    char text[256];

    if (errno == ENOMEM || errno == ENOSPC) /* the memory file has no room */
        return MINILINK_NO_MEMORY;
    snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
    append_log(&run->result->log, "fatal   ", text);
    return MINILINK_ENVIRONMENT;
}

/* Takes the output: an ELF file that can be linked further, or the whole program's. */
static int take_cubin(struct run *run)
{
    struct minilink_result *result = run->result;
    struct stat status;
    Elf64_Ehdr header;

    if (fstat(run->output, &status))
        return fail_run(run, "Could not read the output of ptxas");
    if (status.st_size < (off_t)sizeof header || status.st_size > CUBIN_LIMIT) {
        append_log(&result->log, "fatal   ",
                   arena_printf(&run->arena,
                                "'%s' reports success, but the %lld bytes it wrote for "
                                "%s are no cubin",
                                run->ptxas->path, (long long)status.st_size, run->job->name));
        return MINILINK_FAILED;
    }
    result->cubin = malloc((size_t)status.st_size);
    if (!result->cubin)
        return MINILINK_NO_MEMORY;
    result->cubin_size = (size_t)status.st_size;
    if (!descriptor_read(run->output, result->cubin, result->cubin_size, 0))
        return fail_run(run, "Could not read the output of ptxas");
    memcpy(&header, result->cubin, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
        (header.e_type == ET_REL ||
         (run->job->mode == MINILINK_MODE_WHOLE && header.e_type == ET_EXEC)))
        return MINILINK_OK;
    return MINILINK_NOT_RELOCATABLE;
}

/* Whether it was ptxas that failed, and not some other program of that name: ptxas prints its error
 * in its own form, or can report its version. If not, the reason replaces the output. */
static bool is_ptxas(struct run *run, const struct exec_result *ended)
{
    struct minilink_result *result = run->result;
    char why[PATH_MAX + 256], *version;

    if (run->ptxas->version || ended->end == EXEC_TIMED_OUT) /* asking would time out too */
        return true;
    if (ended->output &&
        (strncmp(ended->output, "ptxas ", 6) == 0 || strstr(ended->output, "\nptxas ")))
        return true;
    version = ask_ptxas_version(run->ptxas, why, sizeof why);
    if (version) {
        free(version);
        return true;
    }
    free(result->log);
    result->log = NULL;
    append_log(&result->log, "fatal   ", why);
    return false;
}

static void run_plainly(struct run *run, struct exec_request request, struct exec_result *ended)
{
    const struct child_tokens *tokens = run->tokens;
    const int pass[] = {run->input, run->output, tokens ? tokens->fds[0] : -1,
                        tokens ? tokens->fds[1] : -1};
    const int pass_as[] = {shows_names(run->job) ? SHOWN_INPUT : pass[0],
                           shows_names(run->job) ? SHOWN_OUTPUT : pass[1], pass[2], pass[3]};

    request.argv = command_of(&run->arena, run->ptxas, run->job, tokens ? "--jobserver" : NULL,
                              arena_printf(&run->arena, "/dev/fd/%d", pass_as[0]),
                              arena_printf(&run->arena, "/dev/fd/%d", pass_as[1]));
    request.pass = pass;
    request.pass_as = pass_as;
    request.pass_count = tokens ? 4 : 2;
    request.variables[0] = tokens ? tokens->flags : NULL;
    exec_run(&request, ended);
}

/* A job for a fork server, with the settings of `run`; the words are in `arena`. */
static struct fork_server_job served_job(struct arena *arena, const struct ptxas *ptxas,
                                         const struct minilink_job *job, struct exec_request run)
{
    run.argv = command_of(arena, ptxas, job, NULL, fork_server_files[0], fork_server_files[1]);
    return (struct fork_server_job){.run = run, .file_count = 2, .is_preloaded = true};
}

void ptxas_start_ahead(const struct ptxas *ptxas, const struct minilink_job *job)
{
    LOCAL_ARENA(arena);
    struct fork_server_job served;

    served = served_job(&arena, ptxas, job, (struct exec_request){.large_pages = true});
    served.is_repeated = true;
    fork_server_start(&served);
}

/* Runs the job in a copy of a ptxas. One that takes jobserver tokens is started with their
 * descriptors, so no copy can be used. */
static bool run_copy(struct run *run, const struct exec_request *request, struct exec_result *ended)
{
    const int files[] = {run->input, run->output};
    struct fork_server_job job;

    if (run->tokens || shows_names(run->job) || run->job->ptx_size > SERVED_TEXT)
        return false;
    job = served_job(&run->arena, run->ptxas, run->job, *request);
    job.files = files;
    return fork_server_run(&job, ended);
}

static int call_ptxas(struct run *run)
{
    struct exec_request request = {.large_pages = true,
                                   .output_limit = LOG_LIMIT,
                                   .timeout = run->ptxas->timeout,
                                   .cancelled = run->job->cancelled};
    struct minilink_result *result = run->result;
    struct exec_result ended;
    char end[128];

    if (!run_copy(run, &request, &ended))
        run_plainly(run, request, &ended);
    result->log = ended.output;
    if (ended.output_cut)
        append_log(&result->log, "warning ", "there were more messages than are shown");
    if (ended.end == EXEC_CANCELLED)
        return MINILINK_CANCELLED;
    if (ended.end == EXEC_NOT_STARTED && ended.code == ENOMEM)
        return MINILINK_NO_MEMORY;
    if (exec_describe_end(&ended, end, sizeof end)) {
        if (!is_ptxas(run, &ended))
            return MINILINK_ENVIRONMENT;
        /* With its usual status ptxas has reported the error itself. */
        if (ended.end != EXEC_EXITED || ended.output_size == 0)
            append_log(&result->log, "fatal   ",
                       arena_printf(&run->arena, "'%s' %s", run->ptxas->path, end));
        /* It could not start, or reached the file size limit. */
        if (ended.end == EXEC_NOT_STARTED || (ended.end == EXEC_SIGNALED && ended.code == SIGXFSZ))
            return MINILINK_ENVIRONMENT;
        return ended.end == EXEC_EXITED ? MINILINK_FAILED : MINILINK_INTERNAL;
    }
    return take_cubin(run);
}

/* Makes the memory files. False with errno when that fails. */
static bool make_memory(struct run *run)
{
    run->input = descriptor_memory_file("minilink-ptx");
    run->output = descriptor_memory_file("minilink-cubin");
    return run->input >= 0 && run->output >= 0 &&
           (!shows_names(run->job) || (descriptor_move_up(&run->input, SHOWN_OUTPUT + 1) &&
                                       descriptor_move_up(&run->output, SHOWN_OUTPUT + 1)));
}

static void end_run(void *argument)
{
    struct run *run = argument;

    if (run->input >= 0)
        close(run->input);
    if (run->output >= 0)
        close(run->output);
    arena_free(&run->arena);
}

static bool has_tokens(struct run *run)
{
    if (child_tokens_threads(run->job->options) == 1 || !child_tokens_get() ||
        !toolkit_does(toolkits_find(toolkit_version_of(run->ptxas->path).number),
                      TOOLKIT_ASSEMBLES_WITH_TOKENS))
        return true;
    run->tokens = child_tokens_get();
    for (int i = 0; i < 2 && run->tokens && shows_names(run->job); i++)
        if (run->tokens->fds[i] == SHOWN_INPUT || run->tokens->fds[i] == SHOWN_OUTPUT)
            run->tokens = NULL;
    errno = run->tokens ? run->tokens->error : 0;
    return errno == 0;
}

static int assemble_job(struct ptxas *ptxas, const struct minilink_job *job,
                        struct minilink_result *result)
{
    struct run run = {.ptxas = ptxas, .job = job, .result = result, .input = -1, .output = -1};

    CONTEXT_DEFER(end_run, &run);
    if (!has_tokens(&run))
        return fail_run(&run, "Could not hand tokens of the jobserver to ptxas");
    if (!make_memory(&run) || !descriptor_write(run.input, job->ptx, job->ptx_size))
        return fail_run(&run, "Could not hand the chunk to ptxas");
    return call_ptxas(&run);
}

/* Whether the user has given options and none of them names a symbol in the PTX. */
static bool has_general_options(const struct minilink_job *job)
{
    for (size_t i = 0; job->options && job->options[i]; i++) {
        const char *option = job->options[i];

        if (strncmp(option, "-e", 2) == 0 || strncmp(option, "--entry", 7) == 0)
            return false;
    }
    return job->options && job->options[0];
}

/* Assembles an empty module. */
static int try_options(struct ptxas *ptxas, const struct minilink_job *job,
                       const char *const *options)
{
    struct minilink_job trial = *job;
    struct minilink_result result = {.size = sizeof result};
    const char *last = strstr(job->ptx, ".address_size"); /* after .version and .target */
    int code;

    trial.ptx_size = last ? (size_t)(strchrnul(last, '\n') - job->ptx) : 0;
    trial.options = options;
    code = assemble_job(ptxas, &trial, &result);
    free(result.cubin);
    free(result.log);
    return code;
}

/* Whether ptxas rejects the options: with them it cannot even assemble an empty module. */
static bool are_options_wrong(struct ptxas *ptxas, const struct minilink_job *job,
                              const struct minilink_result *failed)
{
    static const char *const none[] = {NULL};

    return has_general_options(job) && !(failed->log && strstr(failed->log, ", line ")) &&
           try_options(ptxas, job, job->options) == MINILINK_FAILED &&
           try_options(ptxas, job, none) == MINILINK_OK;
}

int ptxas_assemble(void *state, const struct minilink_job *job, struct minilink_result *result)
{
    int code = assemble_job(state, job, result);

    return code == MINILINK_FAILED && are_options_wrong(state, job, result) ? MINILINK_USAGE : code;
}
