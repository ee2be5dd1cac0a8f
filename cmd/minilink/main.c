/* main.c: command line -> a link of the library -> exit status. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/context.h"
#include "command/completions.h"
#include "diag/diag.h"
#include "facts/targets.h"
#include "library/handle.h"
#include "link/link.h"
#include "link/state.h"
#include "lto/job.h"
#include "os/cleanup.h"
#include "os/exec.h"
#include "os/self_exec.h"
#include "os/folder.h"
#include "os/heap.h"
#include "output/std_streams.h"
#include "pool/jobserver.h"
#include "program.h"

/* Kills children, removes files, and returns jobserver tokens. Everything called here is
 * async-signal-safe. */
static void clean_up(void)
{
    exec_kill_all();
    leftover_remove_all();
    jobserver_return_all();
}

static void set_signals(void)
{
    cleanup_prepare("minilink", clean_up);
    signal(SIGPIPE, SIG_IGN);
    /* Inherited as ignored, it would lose the exit status of ptxas. */
    signal(SIGCHLD, SIG_DFL);
}

static void print_version(const struct link_request *request)
{
    puts("minilink " MINILINK_VERSION ", an open device linker for CUDA code");
    fputs("assemblers:", stdout);
    for (const char *const *name = assembler_names(); *name; name++)
        printf(" %s", *name);
    printf("\nbehaves like: nvlink, Cuda compilation tools, release %s\n",
           state_find_toolkit(request, NULL)->release);
}

static void print_link_targets(const struct link_request *request)
{
    const struct toolkit_facts *toolkit = state_find_toolkit(request, NULL);
    struct arch arch = {0};
    char name[ARCH_NAME_SIZE];

    while (targets_next(&arch, toolkit))
        puts(arch_name(arch, name));
}

static enum exit_status end_printing(void)
{
    return std_streams_flush() ? EXIT_STATUS_OK : EXIT_STATUS_ENVIRONMENT;
}

static enum exit_status act_on_options(struct minilink *link, enum options_action action)
{
    const struct options *options = &link->options;

    switch (action) {
    case OPTIONS_LINK:
        return link_exit_status((enum link_code)minilink_complete(link));
    case OPTIONS_CHUNK:
        return link_exit_status(single_chunk_run(&options->single_chunk));
    case OPTIONS_HELP:
        help_write(stdout);
        return end_printing();
    case OPTIONS_VERSION:
        print_version(&options->link);
        return end_printing();
    case OPTIONS_TARGETS:
        print_link_targets(&options->link);
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

/* The command line's link and action. */
struct command {
    struct minilink *link;
    enum options_action action;
    enum exit_status status;
};

static enum link_code run_minilink(void *argument)
{
    struct command *command = argument;

    command->status = act_on_options(command->link, command->action);
    return LINK_OK;
}

int main(int argc, char **argv)
{
    struct command command = {0};
    enum link_code code;

    if (!std_streams_open())
        return EXIT_STATUS_ENVIRONMENT;
    if (lto_child_is_wanted(argc, argv))
        _exit(lto_child_run(argv));
    if (nvptx_ld_tells(argc, argv))
        return (int)end_printing();
    self_exec_set_program();
    heap_keep_freed();
    set_signals();
    code = (enum link_code)handle_create_command(&command.link, arguments_read,
                                                 &(struct arguments){argc, argv}, &command.action);
    if (code != LINK_NO_MEMORY)
        code = context_run(run_minilink, &command);
    if (code == LINK_NO_MEMORY) {
        diag_no_memory();
        command.status = EXIT_STATUS_ENVIRONMENT;
    }
    if (command.link)
        reporting_end(&command.link->options);
    minilink_destroy(&command.link);
    cleanup_expected();
    return (int)command.status;
}
