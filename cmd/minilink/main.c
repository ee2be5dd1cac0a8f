/* main.c: command line -> link request -> exit status. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/context.h"
#include "base/diag.h"
#include "base/ending.h"
#include "base/exec.h"
#include "base/folder.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/standard.h"
#include "hostscript.h"
#include "lto/child.h"
#include "options.h"
#include "pool/jobserver.h"
#include "reporting.h"

/* Children, files, and jobserver tokens. Everything called here is async-signal-safe. */
static void clean_up(void)
{
    progress_wipe();
    exec_kill_all();
    output_remove_temporaries();
    cache_remove_temporaries();
    folder_remove_all();
    jobserver_return_all();
}

static void set_signals(void)
{
    ending_prepare("minilink", clean_up);
    signal(SIGPIPE, SIG_IGN);
    /* Inherited as ignored, it would lose the exit status of ptxas. */
    signal(SIGCHLD, SIG_DFL);
}

static void print_version(void)
{
    puts("minilink " MINILINK_VERSION ", an open device linker for CUDA code");
    fputs("assemblers:", stdout);
    for (const char *const *name = assembler_names(); *name; name++)
        printf(" %s", *name);
    puts("\nbehaves like: nvlink, Cuda compilation tools, release 13.0, V13.0.88");
}

static void print_targets(void)
{
    struct arch arch = {0};
    char name[ARCH_NAME_SIZE];

    while (arch_next(&arch))
        puts(arch_name(arch, name));
}

static enum exit_status end_printing(void)
{
    return standard_flush() ? EXIT_STATUS_OK : EXIT_STATUS_ENVIRONMENT;
}

static enum exit_status assemble_chunk(const struct lone_request *request)
{
    enum link_code code = lone_run(request);

    return code == LINK_OK            ? EXIT_STATUS_OK
           : code == LINK_ENVIRONMENT ? EXIT_STATUS_ENVIRONMENT
                                      : EXIT_STATUS_ERROR;
}

static enum link_code run(void *argument)
{
    struct options *options = argument;
    enum exit_status status = EXIT_STATUS_USAGE;
    enum options_action action = options_read(options);

    reporting_set(options);
    if (action == OPTIONS_LINK)
        status = link_run(&options->link);
    else if (action == OPTIONS_CHUNK)
        status = assemble_chunk(&options->lone);
    else if (action == OPTIONS_HELP)
        options_help(stdout);
    else if (action == OPTIONS_VERSION)
        print_version();
    else if (action == OPTIONS_TARGETS)
        print_targets();
    else if (action == OPTIONS_COMPLETIONS)
        completions_write(stdout, options->completions);
    if (action == OPTIONS_HELP || action == OPTIONS_VERSION || action == OPTIONS_TARGETS ||
        action == OPTIONS_COMPLETIONS)
        status = end_printing();
    if (action == OPTIONS_HOST_SCRIPT)
        status = host_script_write(options->host_script, options->link.output)
                     ? end_printing()
                     : EXIT_STATUS_ENVIRONMENT;
    options->status = status;
    return LINK_OK;
}

int main(int argc, char **argv)
{
    struct options options = {.argc = argc, .argv = argv};
    enum link_code code;

    if (!standard_open())
        return EXIT_STATUS_ENVIRONMENT;
    if (lto_child_is_wanted(argc, argv))
        _exit(lto_child_run(argv));
    memory_keep_freed();
    set_signals();
    reporting_begin(argc, argv);
    code = context_run(run, &options);
    if (code == LINK_NO_MEMORY) {
        diag_no_memory();
        options.status = EXIT_STATUS_ENVIRONMENT;
    }
    reporting_end();
    options_free(&options);
    context_shutdown();
    ending_expected();
    return (int)options.status;
}
