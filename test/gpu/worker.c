/* worker.c: requests and answers go through a socket. */
#include "worker.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_SECONDS 4u /* for one launch; those that end take milliseconds */
#define NO_GPU       77

const char worker_lost[] = "timeout";

struct request {
    size_t image;
    struct shape shape;
    unsigned block;
};

/* Before the bytes of the memory and of the text. */
struct answer {
    int error;
    char reason[sizeof((struct outcome *)0)->reason];
    const char *step; /* a constant, which has the same address in both processes */
    size_t memory_size;
    size_t text_size;
};

static bool send_all(int socket, const void *data, size_t size)
{
    const char *rest = data;

    while (size > 0) {
        ssize_t sent = send(socket, rest, size, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        rest += sent;
        size -= (size_t)sent;
    }
    return true;
}

static bool receive_all(int socket, void *data, size_t size)
{
    return size == 0 || recv(socket, data, size, MSG_WAITALL) == (ssize_t)size;
}

static bool receive_buffer(int socket, struct buffer *buffer, size_t size)
{
    buffer_zeros(buffer, size);
    return receive_all(socket, buffer->data, size);
}

/* The worker's life. The driver is opened here and not before: it does not work in a process whose
 * parent has opened it. */
static void serve(const struct images *images, int socket)
{
    static struct request request;
    struct driver driver;
    driver_context context;
    const char *why;
    int device;
    struct outcome outcome = {0};

    if (!driver_open(&driver, &device, &why)) {
        printf("no GPU: %s\n", why);
        fflush(stdout);
        _exit(NO_GPU);
    }
    outcome.error = driver.context_create(&context, 0, device);
    if (outcome.error) {
        printf("no GPU: no context: %s\n", driver_error(&driver, outcome.error));
        fflush(stdout);
        _exit(NO_GPU);
    }
    while (!outcome.error && receive_all(socket, &request, sizeof request)) {
        struct answer answer;

        alarm(MOST_SECONDS);
        kernel_run(&driver, &outcome, images, request.image, &request.shape, request.block);
        alarm(0);
        answer = (struct answer){.error = outcome.error,
                                 .step = outcome.step,
                                 .memory_size = outcome.memory.size,
                                 .text_size = outcome.text.size};
        snprintf(answer.reason, sizeof answer.reason, "%s", driver_error(&driver, outcome.error));
        if (!send_all(socket, &answer, sizeof answer) ||
            !send_all(socket, outcome.memory.data, outcome.memory.size) ||
            !send_all(socket, outcome.text.data, outcome.text.size))
            return;
        outcome_free(&outcome);
    }
}

static void start(struct worker *worker)
{
    int sockets[2];

    fflush(stdout);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0 ||
        (worker->process = fork()) < 0) {
        perror("gpu_launch");
        exit(2);
    }
    if (worker->process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(sockets[0]);
        serve(worker->images, sockets[1]);
        _exit(0);
    }
    close(sockets[1]);
    worker->socket = sockets[0];
}

void worker_stop(struct worker *worker)
{
    int status = 0;

    if (!worker->process)
        return;
    close(worker->socket);
    waitpid(worker->process, &status, 0);
    worker->process = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_GPU)
        exit(NO_GPU);
}

void worker_launch(struct worker *worker, struct outcome *outcome, size_t image,
                   const struct shape *shape, unsigned block)
{
    static struct request request;
    struct answer answer;

    request = (struct request){.image = image, .shape = *shape, .block = block};
    if (!worker->process)
        start(worker);
    if (send_all(worker->socket, &request, sizeof request) &&
        receive_all(worker->socket, &answer, sizeof answer) &&
        receive_buffer(worker->socket, &outcome->memory, answer.memory_size) &&
        receive_buffer(worker->socket, &outcome->text, answer.text_size)) {
        outcome->error = answer.error;
        memcpy(outcome->reason, answer.reason, sizeof outcome->reason);
        outcome->step = answer.step;
    } else {
        outcome->error = -1;
        outcome->step = worker_lost;
    }
    if (outcome->error)
        worker_stop(worker);
}
