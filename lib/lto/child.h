/* child.h: minilink as its own child: one run of libnvJitLink or libLLVM.
 *
 *     minilink --lto-part[=LIBRARY] JOB INPUTS ANSWER [REPORT]
 *
 * LIBRARY is the job's library. It is loaded first, so that a child which is copied for each job
 * (os/fork_server.h) has it. The others are files: /dev/fd/N in a link on this machine, names on
 * another one, where a report (distribute/job_report.c) verifies the answer. The library is large
 * and not ours; in a child it may crash, print, or end the process. */
#pragma once

#include <stdbool.h>

/* The first word of the command line. */
#define LTO_CHILD_WORD "--lto-part"

/* True for a command line of that form. */
bool lto_child_is_wanted(int argc, char *const *argv);

/* Exit statuses. 1 is an answer that could not be written. */
enum lto_child_status {
    LTO_CHILD_ANSWERED = 0, /* also if the answer is an error of the library */
    LTO_CHILD_NO_MEMORY = 2,
    LTO_CHILD_NO_JOB = 3, /* the files cannot be read, or have no job: reported */
};

/* Runs the job. The caller ends the process at once with the returned status: the library is not
 * unloaded. */
int lto_child_run(char *const *argv);
