/* child.h: the program as a child of itself: one run of libnvJitLink or libLLVM.
 *
 *     minilink --lto-part[=LIBRARY] JOB INPUTS ANSWER [REPORT]
 *
 * LIBRARY is the one that the job names: loaded first, so that a child which is copied for each job
 * (os/fork_server.h) has it.
 * The others are files: /dev/fd/N in a link of this machine, names on another one, where a report
 * (distribute/job_report.h) vouches for the answer. The library is
 * large and not ours; here it may crash, print, or end the process. */
#pragma once

#include <stdbool.h>

/* The first word of the command line. */
#define LTO_CHILD_WORD "--lto-part"

/* True for a command line of that form. */
bool lto_child_is_wanted(int argc, char *const *argv);

/* How it ends. 1 is an answer that could not be written. */
enum lto_child_status {
    LTO_CHILD_ANSWERED = 0, /* be the answer that the library failed */
    LTO_CHILD_NO_MEMORY = 2,
    LTO_CHILD_NO_JOB = 3, /* the files cannot be read, or hold no job: reported */
};

/* Does the job. The caller ends the process with what is returned at once: the library is not
 * unloaded. */
int lto_child_run(char *const *argv);
