/* fork_serve.h: the server's side of fork_server.h: in this program where it is a child of itself,
 * and in programs of others, by os/preload. */
#pragma once

/* The number that the job's file with this index gets; -1 = there is none, or this process is no
 * server, or a copy that has its job. Allocates nothing. */
int fork_serve_number(int file);

/* Waits for jobs, and copies the process for each. Returns in copies, whose files, standard input
 * and output are the job's; the process itself ends here. Allocates nothing: what a copy allocates
 * stands where it would in a process of its own. */
void fork_serve(void);

/* The same where this process was started as a server; else does nothing. */
void fork_serve_if_wanted(void);
