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
#include "command/options.h"
#include "command/reporting.h"
#include "completions.h"
#include "help.h"
#include "hostscript.h"
#include "lto/child.h"
#include "pool/jobserver.h"

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

static enum exit_status act(struct options *options, enum options_action action)
{
    switch (action) {
    case OPTIONS_LINK:
        return link_exit_status(link_run(&options->link));
    case OPTIONS_CHUNK:
        return link_exit_status(lone_run(&options->lone));
    case OPTIONS_HELP:
        help_write(stdout);
        return end_printing();
    case OPTIONS_VERSION:
        print_version();
        return end_printing();
    case OPTIONS_TARGETS:
        print_targets();
        return end_printing();
    case OPTIONS_COMPLETIONS:
        completions_write(stdout, options->completions);
        return end_printing();
    case OPTIONS_HOST_SCRIPT:
        return host_script_write(options->host_script, options->link.output)
                   ? end_printing()
                   : EXIT_STATUS_ENVIRONMENT;
    case OPTIONS_WRONG:
        break;
    }
    return EXIT_STATUS_USAGE;
}

/* What the program was called with, and what it will exit with. */
struct command {
    struct options options;
    enum exit_status status;
};

static enum link_code run(void *argument)
{
    struct command *command = argument;
    enum options_action action = options_read(&command->options);

    reporting_set(&command->options);
    reporting_tell_ignored(&command->options);
    command->status = act(&command->options, action);
    return LINK_OK;
}

int main(int argc, char **argv)
{
    struct command command = {.options = {.argc = argc, .argv = argv}};
    enum link_code code;

    if (!standard_open())
        return EXIT_STATUS_ENVIRONMENT;
    if (lto_child_is_wanted(argc, argv))
        _exit(lto_child_run(argv));
    exec_set_own_program();
    memory_keep_freed();
    set_signals();
    reporting_begin(argc, argv, COLOR_AUTO);
    code = context_run(run, &command);
    if (code == LINK_NO_MEMORY) {
        diag_no_memory();
        command.status = EXIT_STATUS_ENVIRONMENT;
    }
    reporting_end(&command.options);
    options_free(&command.options);
    context_shutdown();
    ending_expected();
    return (int)command.status;
}
