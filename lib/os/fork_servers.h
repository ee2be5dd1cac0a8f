/* fork_servers.h: which fork servers there are, and how they are asked. Private to fork_server.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <xxhash.h>

#include "os/fork_server.h"

/* Words of a program that is run as a server. */
#define FORK_MOST_WORDS 256

struct fork_server {
    XXH128_hash_t kind;       /* of jobs that it does */
    int control;              /* our end of the socket; -1 = there is none yet */
    struct exec_child *child; /* NULL when it is not ours */
    bool has_worked;          /* a job has been done by it, or by the one that it is a clone of */
};

/* Takes one for a job: one that waits, else a clone of one that works, else server->control is -1
 * and one may be started. False when none may be used. */
bool fork_servers_take(struct fork_server *server, const struct fork_server_job *job);

/* From now on it can be asked for a clone, if it has been seen to work; until fork_servers_end_job.
 */
void fork_servers_begin_job(const struct fork_server *server);
void fork_servers_end_job(const struct fork_server *server);

/* Has it wait for the next job. False when there are too many. */
bool fork_servers_keep(const struct fork_server *server);

/* Takes any that waits. False when none does. */
bool fork_servers_take_any(struct fork_server *server);

/* Tells all that wait to end. */
void fork_servers_shut_down(void);

/* What a server was started for in vain is run plainly from now on. */
void fork_servers_give_up(XXH128_hash_t kind);

/* Sends a request (fork_serve.h) with descriptors. False with errno. */
bool fork_servers_ask(int control, unsigned char request, const int *descriptors, size_t count);

/* A socket that keeps messages apart; its ends are no standard descriptors. False with errno. */
bool fork_servers_socket(int ends[2]);
