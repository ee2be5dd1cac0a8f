/* fork_server.c: the linker's side: starts servers, and has them do jobs. */
#include "os/self_exec.h"
#include "os/fork_server.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "os/capture.h"
#include "os/descriptor.h"
#include "os/fork_serve.h"
#include "os/fork_servers.h"

/* How soon a cancelled job is given up. */
#define TICK_MILLISECONDS 20

/* How long a server may take to end when it is told to. */
#define END_MILLISECONDS 2000

const char *const fork_server_files[] = {"FILE 0", "FILE 1", "FILE 2"};

int fork_server_patience = 2000;

/* Ends a server and what it does. */
static void end(struct fork_server *server)
{
    const int cancelled = 1;
    const struct exec_request request = {.cancelled = &cancelled};
    struct pollfd fd = {.fd = server->control, .events = 0};
    struct exec_result result;

    shutdown(server->control, SHUT_WR);
    if (server->child) {
        exec_finish(server->child, &request, &result);
        free(result.output);
    } else {
        poll(&fd, 1, END_MILLISECONDS); /* until its end of the socket is closed */
    }
    close(server->control);
}

void fork_server_end_all(void)
{
    struct fork_server server;

    fork_servers_shut_down(); /* so that all end at the same time */
    while (fork_servers_take_any(&server))
        end(&server);
}

/* Which of the words that stand for files it is; FORK_FILES = none. */
static size_t file_of(const char *word)
{
    size_t file = 0;

    while (file < FORK_FILES && word != fork_server_files[file])
        file++;
    return file;
}

/* Starts the program, with our end of the socket as its input, where the numbers of its files are
 * held by others. The first of these is the image to preload. */
static bool start_program(struct fork_server *server, const struct fork_server_job *job,
                          int control, const int numbers[FORK_FILES])
{
    char preload[48], variable[96], paths[FORK_FILES][32];
    const char *words[FORK_MOST_WORDS], *const *argv = job->run.argv;
    size_t count = 0;
    const struct exec_request request = {
        .argv = words,
        .variables = {variable, job->is_preloaded ? preload : NULL},
        .large_pages = job->run.large_pages,
        .fixed_addresses = job->run.fixed_addresses,
        .input = control,
        .pass = numbers,
        .pass_count = job->file_count,
        .output_limit = 1,
    };

    snprintf(preload, sizeof preload, "LD_PRELOAD=/dev/fd/%d", numbers[0]);
    snprintf(variable, sizeof variable, "%s= %d", FORK_VARIABLE, fork_server_patience);
    for (size_t i = 0; i < job->file_count; i++) {
        snprintf(variable + strlen(variable), sizeof variable - strlen(variable), " %d",
                 numbers[i]);
        snprintf(paths[i], sizeof paths[i], "/dev/fd/%d", numbers[i]);
    }
    for (; argv[count]; count++)
        words[count] =
            file_of(argv[count]) < FORK_FILES ? paths[file_of(argv[count])] : argv[count];
    words[count] = NULL;
    server->child = exec_start(&request);
    return server->child != NULL;
}

/* It comes away from this process, whose child then ends. False when it did not, or has printed
 * something on its way. */
static bool detach(struct fork_server *server)
{
    const struct exec_request request = {.output_limit = 1};
    struct exec_result result;
    struct exec_child *child = server->child;

    server->child = NULL;
    if (!fork_servers_ask(server->control, FORK_DETACH, NULL, 0))
        shutdown(server->control, SHUT_WR);
    exec_finish(child, &request, &result);
    free(result.output);
    return result.end == EXEC_EXITED && result.code == 0 && result.output_size == 0;
}

/* Files in memory that hold the numbers of a job's files. */
static bool hold_numbers(int numbers[FORK_FILES], const struct fork_server_job *job)
{
    for (size_t i = 0; i < job->file_count; i++) {
        numbers[i] = descriptor_memory_file("minilink-fork-server");
        if (numbers[i] < 0)
            return false;
    }
    return !job->is_preloaded ||
           descriptor_write(numbers[0], fork_server_image, fork_server_image_size);
}

static bool start(struct fork_server *server, const struct fork_server_job *job)
{
    int ends[2], numbers[FORK_FILES] = {-1, -1, -1};
    bool ok;

    if (!fork_servers_socket(ends))
        return false;
    ok = hold_numbers(numbers, job) && start_program(server, job, ends[1], numbers);
    for (size_t i = 0; i < FORK_FILES; i++)
        if (numbers[i] >= 0)
            close(numbers[i]);
    close(ends[1]);
    server->control = ends[0];
    if (!ok)
        close(ends[0]);
    if (!ok || self_exec_is_program() || detach(server))
        return ok;
    end(server);
    return false;
}

/* Follows a job to its end. False when the server has ended; EXEC_EXITED when there is an answer.
 */
static bool follow(const struct fork_server *server, const struct exec_request *request,
                   int printed, struct capture *capture, struct fork_answer *answer,
                   enum exec_end *how)
{
    uint64_t late = clock_now() + (uint64_t)request->timeout * 1000000000u;
    bool is_open = true;

    for (*how = EXEC_EXITED;;) {
        struct pollfd fds[] = {{.fd = server->control, .events = POLLIN},
                               {.fd = is_open ? printed : -1, .events = POLLIN}};

        if (exec_is_cancelled(request))
            *how = EXEC_CANCELLED;
        else if (request->timeout && clock_now() >= late)
            *how = EXEC_TIMED_OUT;
        if (*how != EXEC_EXITED)
            return true;
        poll(fds, 2, TICK_MILLISECONDS); /* a failure is a spurious wake-up */
        if (fds[1].revents)
            is_open = capture_read(capture, printed);
        if (!fds[0].revents)
            continue;
        if (is_open)
            capture_read(capture, printed);
        return recv(server->control, answer, sizeof *answer, 0) == sizeof *answer;
    }
}

/* One job. False when the server has ended, or the copy was killed, or what the program prints
 * before it opens its input is not among what the copy has printed. */
static bool do_job(struct fork_server *server, const struct fork_server_job *job,
                   struct exec_result *result)
{
    const struct exec_request *request = &job->run;
    struct capture capture = {.limit = request->output_limit};
    struct fork_answer answer = {0};
    enum exec_end how = EXEC_EXITED;
    int printed[2], descriptors[1 + FORK_FILES];
    bool ok;

    if (!capture_pipe(printed)) {
        end(server);
        return false;
    }
    descriptors[0] = printed[1];
    memcpy(descriptors + 1, job->files, job->file_count * sizeof(int));
    fork_servers_begin_job(server);
    ok = fork_servers_ask(server->control, FORK_JOB, descriptors, 1 + job->file_count);
    close(printed[1]);
    ok = ok && follow(server, request, printed[0], &capture, &answer, &how) &&
         !(server->child && exec_has_printed(server->child));
    close(printed[0]);
    fork_servers_end_job(server);
    ok = ok && (how != EXEC_EXITED || WIFEXITED(answer.status));
    server->has_worked = true;
    if (!ok || how != EXEC_EXITED || !fork_servers_keep(server))
        end(server);
    if (!ok) {
        free(capture.data);
        return false;
    }
    *result = (struct exec_result){
        .end = how,
        .code = how == EXEC_EXITED ? WEXITSTATUS(answer.status) : (int)request->timeout,
        .output = capture.data,
        .output_size = capture.size,
        .output_cut = capture.cut,
        .peak = answer.peak,
    };
    return true;
}

bool fork_server_run(const struct fork_server_job *job, struct exec_result *result)
{
    struct fork_server server = {0};
    bool is_new;

    if (!fork_servers_take(&server, job))
        return false;
    is_new = server.control < 0;
    if ((!is_new || start(&server, job)) && do_job(&server, job, result))
        return true;
    if (is_new)
        fork_servers_give_up(server.kind);
    return false;
}
