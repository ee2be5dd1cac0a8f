/* ptxas_ahead.c: a pipe that becomes a file. */
#include "assemble/ptxas_ahead.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "assemble/ptxas.h"
#include "base/context.h"
#include "os/descriptor.h"
#include "os/fork_server.h"

/* What a pipe may hold without privileges. Larger texts take so long that the start is nothing. */
#define MOST_TEXT ((size_t)1 << 20)

#define MOST_OUTPUT (1u << 20)

struct ptxas_ahead {
    struct exec_child *child;
    char *told;    /* its words but for the files, each with a newline */
    int gate;      /* what it opens: the pipe's end for reading, then the file with the text */
    int read_end;  /* that end again, so that writing never finds the pipe without a reader */
    int write_end; /* closed when the text is in the pipe */
    int output;
    char input_path[64], output_path[32];
};

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void free_ahead(struct ptxas_ahead *ahead)
{
    close_one(&ahead->gate);
    close_one(&ahead->read_end);
    close_one(&ahead->write_end);
    close_one(&ahead->output);
    free(ahead->told);
    free(ahead);
}

/* What the job's ptxas is told beside its files; malloc'ed, or NULL. */
static char *words_of(const char *const *words)
{
    size_t size = 1;
    char *text, *end;

    for (size_t i = 0; words[i]; i++)
        size += strlen(words[i]) + 1;
    end = text = malloc(size);
    if (!text)
        return NULL;
    *text = '\0';
    for (size_t i = 0; words[i]; i++)
        end = stpcpy(stpcpy(end, words[i]), "\n");
    return text;
}

/* False when there are no descriptors, or the pipe cannot hold what may come. */
static bool open_files(struct ptxas_ahead *ahead)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC))
        return false;
    ahead->gate = fds[0];
    ahead->write_end = fds[1];
    ahead->read_end = fcntl(ahead->gate, F_DUPFD_CLOEXEC, 3);
    ahead->output = descriptor_memory_file("minilink-cubin");
    snprintf(ahead->input_path, sizeof ahead->input_path, "/proc/%ld/fd/%d", (long)getpid(),
             ahead->gate);
    snprintf(ahead->output_path, sizeof ahead->output_path, "/dev/fd/%d", ahead->output);
    return ahead->read_end >= 0 && ahead->output >= 0 && ahead->output > 2 &&
           fcntl(ahead->write_end, F_SETPIPE_SZ, (int)MOST_TEXT) >= (int)MOST_TEXT;
}

static void start(struct ptxas_ahead *ahead, struct ptxas *ptxas, const char **argv, size_t count)
{
    const int pass[] = {ahead->output};
    const struct exec_request request = {.argv = argv,
                                         .large_pages = true,
                                         .pass = pass,
                                         .pass_count = 1,
                                         .output_limit = MOST_OUTPUT};

    ahead->told = words_of(argv);
    ptxas_name_files(argv, count, ahead->input_path, ahead->output_path);
    if (ahead->told)
        ahead->child = exec_start(&request);
    if (ahead->child)
        ptxas->ahead = ahead;
    else
        free_ahead(ahead);
}

/* Not by the first link of a process. */
static bool is_quicker_served(const char **argv, size_t count)
{
    bool pays;

    ptxas_name_files(argv, count, fork_server_files[0], fork_server_files[1]);
    pays = fork_server_pays(argv);
    argv[count] = NULL;
    return pays;
}

void ptxas_ahead_start(struct ptxas *ptxas, const struct minilink_job *job)
{
    struct ptxas_ahead *ahead;
    struct arena arena = {0};
    const char **argv;
    size_t count;

    if (ptxas->ahead)
        return;
    CONTEXT_DEFER(arena_cleanup, &arena);
    argv = ptxas_command(&arena, ptxas, job, &count);
    ahead = is_quicker_served(argv, count) ? NULL : malloc(sizeof *ahead);
    if (ahead) {
        *ahead = (struct ptxas_ahead){.gate = -1, .read_end = -1, .write_end = -1, .output = -1};
        if (open_files(ahead))
            start(ahead, ptxas, argv, count);
        else
            free_ahead(ahead);
    }
}

/* Takes it away from other threads. */
static struct ptxas_ahead *take(struct ptxas *ptxas)
{
    return __atomic_exchange_n(&ptxas->ahead, NULL, __ATOMIC_SEQ_CST);
}

static void drop(struct ptxas_ahead *ahead)
{
    const int cancelled = 1;
    const struct exec_request request = {.cancelled = &cancelled};
    struct exec_result ended;

    exec_finish(ahead->child, &request, &ended);
    free(ended.output);
    free_ahead(ahead);
}

void ptxas_ahead_drop(struct ptxas *ptxas)
{
    struct ptxas_ahead *ahead = take(ptxas);

    if (ahead)
        drop(ahead);
}

static bool is_for(const struct ptxas_ahead *ahead, const struct ptxas *ptxas,
                   const struct minilink_job *job)
{
    struct arena arena = {0};
    size_t count;
    char *words;
    bool is_same;

    CONTEXT_DEFER(arena_cleanup, &arena);
    words = words_of(ptxas_command(&arena, ptxas, job, &count));
    is_same = words && strcmp(words, ahead->told) == 0;
    free(words);
    return is_same && job->ptx_size <= MOST_TEXT;
}

/* From here on the name is the file; a child that has opened the pipe reads the same from there,
 * which holds all of it. */
static bool hand_over(struct ptxas_ahead *ahead, const struct minilink_job *job, int input)
{
    bool ok = dup3(input, ahead->gate, O_CLOEXEC) >= 0 &&
              descriptor_write(ahead->write_end, job->ptx, job->ptx_size);

    close_one(&ahead->write_end);
    return ok;
}

static bool has_ended_well(const struct ptxas_ahead *ahead, const struct exec_result *ended)
{
    return ended->end == EXEC_EXITED && ended->code == 0 &&
           !(ended->output && strstr(ended->output, ahead->input_path));
}

bool ptxas_ahead_take(struct ptxas *ptxas, const struct minilink_job *job, int input, int *output,
                      const struct exec_request *request, struct exec_result *ended)
{
    struct ptxas_ahead *ahead = take(ptxas);
    bool ok;

    if (!ahead)
        return false;
    if (!is_for(ahead, ptxas, job) || !hand_over(ahead, job, input)) {
        drop(ahead);
        return false;
    }
    exec_finish(ahead->child, request, ended);
    ok = has_ended_well(ahead, ended);
    if (ok) {
        close(*output);
        *output = ahead->output;
        ahead->output = -1;
    } else {
        free(ended->output);
    }
    free_ahead(ahead);
    return ok;
}
