/* child.c: maps two files, runs the library, and writes a third file. */
#include "lto/job.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "diag/diag.h"
#include "distribute/distribute.h"
#include "lto/llvm.h"
#include "os/descriptor.h"
#include "os/exec.h"
#include "os/fork_serve.h"
#include "os/no_driver.h"
#include "os/self_exec.h"
#include "output/output.h"
#include "pool/child_tokens.h"

enum { WORD = 1, JOB, INPUTS, ANSWER, REPORT };

struct child {
    char *const *argv;
    struct bytes job; /* mapped */
    int status;
};

bool lto_child_is_wanted(int argc, char *const *argv)
{
    return (argc == REPORT || argc == REPORT + 1) &&
           strncmp(argv[WORD], LTO_CHILD_WORD, strlen(LTO_CHILD_WORD)) == 0;
}

static bool failed(const char *what, const char *path)
{
    return diag_fatal("Could not %s '%s': %s", what, path, strerror(errno));
}

/* The file stays mapped until the process ends. */
static bool map(struct bytes *bytes, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return failed("open", path);
    if (!descriptor_map(fd, bytes))
        return failed("read", path);
    close(fd);
    return true;
}

static enum link_code run(void *argument)
{
    struct child *child = argument;
    char *const *argv = child->argv;
    struct arena arena = {0}; /* freed by the process's end */
    struct bytes inputs;
    struct lto_job job;

    if (!map(&child->job, argv[JOB]) || !map(&inputs, argv[INPUTS]) ||
        !job_read(&job, &arena, argv[JOB], child->job, inputs))
        return LINK_FAILED;
    /* Limits libnvvm's threads to the link's tokens for it (measured; the result stays the same).
     * It is not part of the job, which is the same without make. */
    if (child_tokens_are_here() && !job.is_llvm)
        job.options[job.option_count++] = "-Xnvvm=-jobserver";
    job.answer = open(argv[ANSWER], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (job.answer < 0) {
        failed("open", argv[ANSWER]);
        return LINK_FAILED;
    }
    child->status = job.is_llvm ? llvm_run(&job) : nvjitlink_run(&job);
    return LINK_OK;
}

/* Writes a report that verifies the answer, for a link that gets it from a machine that may die. */
static enum link_code write_answer_report(void *argument)
{
    const struct child *child = argument;
    enum link_code code = child->status == LTO_CHILD_ANSWERED    ? LINK_OK
                          : child->status == LTO_CHILD_NO_MEMORY ? LINK_NO_MEMORY
                                                                 : LINK_ENVIRONMENT;
    struct buffer text = {0};
    struct bytes answer;

    if (!map(&answer, child->argv[ANSWER]))
        return LINK_FAILED;
    job_report_write(&text, code, child->job, answer, TEXT(""));
    return output_write_file(child->argv[REPORT], buffer_bytes(&text)) ? LINK_OK : LINK_FAILED;
}

int lto_child_run(char *const *argv)
{
    struct child child = {.argv = argv, .status = LTO_CHILD_NO_JOB};
    enum link_code code;

    /* On this machine, the parent has done that. */
    if (argv[REPORT])
        self_exec_fix_addresses(argv);
    prctl(PR_SET_NAME, "minilink"); /* self_exec_file() starts it as "exe" */
    no_driver_load();
    if (argv[WORD][strlen(LTO_CHILD_WORD)] == '=')
        dlopen(argv[WORD] + strlen(LTO_CHILD_WORD "="), RTLD_NOW | RTLD_LOCAL);
    fork_serve_if_wanted();
    code = context_run(run, &child);
    if (code == LINK_NO_MEMORY)
        child.status = LTO_CHILD_NO_MEMORY;
    if (argv[REPORT] && code != LINK_FAILED && context_run(write_answer_report, &child) != LINK_OK)
        child.status = LTO_CHILD_NO_JOB;
    fork_serve_end(child.status);
    if (getenv(EXEC_SAYS_END))
        exec_say_end(child.status);
    return child.status;
}
