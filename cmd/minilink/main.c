/* main.c: command line -> link request -> exit status. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/context.h"
#include "base/diag.h"
#include "base/exec.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/standard.h"
#include "hostscript.h"
#include "options.h"
#include "pool/jobserver.h"

/* How long a worker that has crashed waits for the link thread to end the program. */
#define CRASH_SECONDS 2

/* SIGINT, SIGTERM, SIGHUP, SIGXFSZ, and those of a crash, of a plug-in's code perhaps: children,
 * temporaries and jobserver tokens go first, then the signal does what it would have done.
 * Everything called here is async-signal-safe. Only the link thread may look at the tokens; a
 * worker that has crashed hands its signal over. */
static void on_signal(int number)
{
    if (gettid() != getpid()) {
        const struct timespec pause = {.tv_sec = CRASH_SECONDS};

        tgkill(getpid(), getpid(), number);
        nanosleep(&pause, NULL);
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    exec_kill_all();
    output_remove_temporaries();
    jobserver_return_all();
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT,  SIGTERM, SIGHUP, SIGXFSZ, SIGABRT,
                                  SIGSEGV, SIGBUS,  SIGFPE, SIGILL};
    struct sigaction action = {.sa_handler = on_signal};

    /* Not reset by the first: the link thread must still be able to catch what a worker hands over.
     */
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction old;

        /* nohup and background jobs have them ignored, and sanitizers catch crashes: leave that so.
         */
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
    /* Inherited as ignored, it would lose the exit status of ptxas. */
    signal(SIGCHLD, SIG_DFL);
}

static void set_reporting(const struct options *options)
{
    static char target[ARCH_NAME_SIZE + sizeof " (target: )"];
    struct context *context = context_get();
    char name[ARCH_NAME_SIZE];

    context->suppress_infos = options->disable_infos;
    context->suppress_warnings = options->disable_warnings;
    context->warnings_are_errors = options->warnings_are_errors;
    context->verbose = options->verbose;
    context->gnu_format = options->gnu_format;
    if (options->report_arch && options->link.arch.sm) {
        snprintf(target, sizeof target, " (target: %s)", arch_name(options->link.arch, name));
        context->report_arch = target;
    }
    for (size_t i = 0; i < options->ignored_count; i++)
        diag_verbose("option '%s' has no effect", options->ignored[i]);
}

static void print_version(void)
{
    puts("minilink " MINILINK_VERSION ", an open device linker for CUDA code");
    fputs("assemblers:", stdout);
    for (const char *const *name = assembler_names(); *name; name++)
        printf(" %s", *name);
    puts("\nbehaves like: nvlink, Cuda compilation tools, release 13.0, V13.0.88");
}

static enum link_status end_printing(void)
{
    return standard_flush() ? LINK_STATUS_OK : LINK_STATUS_ENVIRONMENT;
}

static enum link_code run(void *argument)
{
    struct options *options = argument;
    enum link_status status = LINK_STATUS_USAGE;
    enum options_action action = options_read(options);

    set_reporting(options);
    if (action == OPTIONS_LINK)
        status = link_run(&options->link);
    else if (action == OPTIONS_HELP)
        options_help(stdout);
    else if (action == OPTIONS_VERSION)
        print_version();
    if (action == OPTIONS_HELP || action == OPTIONS_VERSION)
        status = end_printing();
    if (action == OPTIONS_HOST_SCRIPT)
        status = host_script_write(options->host_script, options->link.output)
                     ? end_printing()
                     : LINK_STATUS_ENVIRONMENT;
    options->status = status;
    return LINK_OK;
}

int main(int argc, char **argv)
{
    struct options options = {.argc = argc, .argv = argv};
    enum link_code code;

    if (!standard_open())
        return LINK_STATUS_ENVIRONMENT;
    memory_keep_freed();
    catch_signals();
    code = context_run(run, &options);
    if (code == LINK_NO_MEMORY) {
        diag_no_memory();
        options.status = LINK_STATUS_ENVIRONMENT;
    }
    options_free(&options);
    context_shutdown();
    return (int)options.status;
}
