/* ptxas_ahead.c: starts the child on a pipe, which a file with the text replaces later. */
#include "assemble/ptxas_ahead.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assemble/ptxas.h"
#include "base/context.h"
#include "os/descriptor.h"
#include "os/fork_server.h"

/* Largest pipe without privileges. For larger texts the start-up time does not matter. */
#define MOST_TEXT ((size_t)1 << 20)

#define MOST_OUTPUT (1u << 20)

struct ptxas_ahead {
    struct exec_child *child;
    char *told; /* words_of_job() of the job that it was started for */
    int gate;   /* the descriptor that it opens: the pipe's read end, then the file with the text */
    int read_end;  /* duplicate of the read end, so that the pipe always has a reader */
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

static const char *words_of_job(struct arena *arena, const struct minilink_job *job)
{
    const char *const *options = ptxas_options(arena, job);
    const char *words = "";

    for (size_t i = 0; options[i]; i++)
        words = arena_printf(arena, "%s%s\n", words, options[i]);
    return words;
}

/* False when descriptors run out, or the pipe cannot hold the largest text. */
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

static void start_ahead(struct ptxas_ahead *ahead, const char *const *argv)
{
    const int pass[] = {ahead->output};
    const struct exec_request request = {.argv = argv,
                                         .large_pages = true,
                                         .pass = pass,
                                         .pass_count = 1,
                                         .output_limit = MOST_OUTPUT};

    ahead->child = exec_start(&request);
}

void ptxas_ahead_start(struct ptxas *ptxas, const struct minilink_job *job)
{
    struct ptxas_ahead *ahead;
    struct arena arena = {0};

    if (ptxas->ahead)
        return;
    CONTEXT_DEFER(arena_cleanup, &arena);
    /* From the second link of a process on, a fork server is faster. */
    if (fork_server_pays(
            ptxas_command(&arena, ptxas, job, NULL, fork_server_files[0], fork_server_files[1])))
        return;
    ahead = malloc(sizeof *ahead);
    if (!ahead)
        return;
    *ahead = (struct ptxas_ahead){.gate = -1, .read_end = -1, .write_end = -1, .output = -1};
    ptxas->ahead = ahead; /* so that it is freed whatever happens */
    ahead->told = strdup(words_of_job(&arena, job));
    if (ahead->told && open_files(ahead))
        start_ahead(ahead,
                    ptxas_command(&arena, ptxas, job, NULL, ahead->input_path, ahead->output_path));
    if (!ahead->child)
        ptxas_ahead_drop(ptxas);
}

/* Takes the started ptxas, so that no other thread can. */
static struct ptxas_ahead *take_ahead(struct ptxas *ptxas)
{
    return __atomic_exchange_n(&ptxas->ahead, NULL, __ATOMIC_SEQ_CST);
}

static void drop_ahead(struct ptxas_ahead *ahead)
{
    const int cancelled = 1;
    const struct exec_request request = {.cancelled = &cancelled};
    struct exec_result ended;

    if (ahead->child) {
        exec_finish(ahead->child, &request, &ended);
        free(ended.output);
    }
    free_ahead(ahead);
}

void ptxas_ahead_drop(struct ptxas *ptxas)
{
    struct ptxas_ahead *ahead = take_ahead(ptxas);

    if (ahead)
        drop_ahead(ahead);
}

static bool is_for_job(const struct ptxas_ahead *ahead, const struct minilink_job *job)
{
    struct arena arena = {0};

    CONTEXT_DEFER(arena_cleanup, &arena);
    return job->ptx_size <= MOST_TEXT && strcmp(words_of_job(&arena, job), ahead->told) == 0;
}

/* From here on the name leads to the file; a child that has opened the pipe reads the same text
 * from it, as the pipe holds all of it. */
static bool hand_over_input(struct ptxas_ahead *ahead, const struct minilink_job *job, int input)
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
    struct ptxas_ahead *ahead = take_ahead(ptxas);
    bool ok;

    if (!ahead)
        return false;
    if (!is_for_job(ahead, job) || !hand_over_input(ahead, job, input)) {
        drop_ahead(ahead);
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
