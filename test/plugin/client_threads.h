/* client_threads.h: threads as ptxas and libnvvm have them, for tests: all work at once, or, for a
 * client of a jobserver, as many as there are bytes in the pipe that MAKEFLAGS names, and one more.
 * SAMPLE_LOG is noted when each begins to work and ends. */
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CLIENT_MOST 64

static struct {
    pthread_mutex_t mutex;
    bool is_client, is_implicit_held;
    int read_fd, write_fd;
    long milliseconds; /* that a thread works */
} client = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void client_sleep(long milliseconds)
{
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};

    nanosleep(&time, NULL);
}

/* One write, as other processes write to the file as well. */
static void client_note(const char *what, const char *end)
{
    const char *path = getenv("SAMPLE_LOG");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    struct timespec now;
    char line[64];

    if (fd < 0)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(line, sizeof line, "%s thread %lld%s\n", what,
             (long long)now.tv_sec * 1000000000 + now.tv_nsec, end);
    if (write(fd, line, strlen(line)) < 0)
        abort();
    close(fd);
}

/* 0 = the implicit token; -1 = there is none now. Else the byte. */
static int client_try_token(void)
{
    struct pollfd fd = {.fd = client.read_fd, .events = POLLIN};
    unsigned char byte;
    int token = -1;

    pthread_mutex_lock(&client.mutex);
    if (!client.is_implicit_held) {
        client.is_implicit_held = true;
        token = 0;
    } else if (poll(&fd, 1, 0) == 1 && read(client.read_fd, &byte, 1) == 1) {
        token = byte;
    }
    pthread_mutex_unlock(&client.mutex);
    return token;
}

static void client_give_back(int token)
{
    const unsigned char byte = (unsigned char)token;

    pthread_mutex_lock(&client.mutex);
    if (token == 0)
        client.is_implicit_held = false;
    else if (write(client.write_fd, &byte, 1) != 1)
        abort();
    pthread_mutex_unlock(&client.mutex);
}

static void *client_work(void *unused)
{
    int token = 0;

    while (client.is_client && (token = client_try_token()) < 0)
        client_sleep(1);
    client_note("start", "");
    client_sleep(client.milliseconds);
    client_note("end", " 0");
    if (client.is_client)
        client_give_back(token);
    return unused;
}

/* Has `count` threads work for some milliseconds each. False when they should be a client's, and
 * there is no jobserver. */
static bool client_threads(int count, bool is_client, long milliseconds)
{
    const char *flags = is_client ? getenv("MAKEFLAGS") : NULL;
    const char *auth = flags ? strstr(flags, "--jobserver-auth=") : NULL;
    pthread_t threads[CLIENT_MOST];

    client.is_client = is_client;
    client.milliseconds = milliseconds;
    if (is_client &&
        (!auth || sscanf(auth, "--jobserver-auth=%d,%d", &client.read_fd, &client.write_fd) != 2 ||
         fcntl(client.read_fd, F_GETFD) < 0))
        return false;
    count = count < CLIENT_MOST ? count : CLIENT_MOST;
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, client_work, NULL))
            abort();
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return true;
}
