/* main.c: command line -> a link -> exit status. */
#include "command/options.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "facts/targets.h"
#include "link/state.h"
#include "lto/job.h"
#include "os/cleanup.h"
#include "os/exec.h"
#include "os/program.h"
#include "os/machine.h"
#include "output/output.h"
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

static enum exit_status act_on_options(const struct options *options, enum options_action action)
{
    switch (action) {
    case OPTIONS_LINK:
        return link_exit_status(link_run(&options->link));
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
    case OPTIONS_HOST_SCRIPT:
        return host_script_write(options->host_script, options->link.output)
                   ? end_printing()
                   : EXIT_STATUS_ENVIRONMENT;
    case OPTIONS_WRONG:
        break;
    }
    return EXIT_STATUS_USAGE;
}

struct command {
    struct options options;
    struct arguments arguments;
    enum exit_status status;
};

static enum link_code run_minilink(void *argument)
{
    struct command *command = argument;
    struct options *options = &command->options;
    enum options_action action = OPTIONS_WRONG;

    reporting_set(options);
    options_begin(options);
    if (arguments_read(options, &command->arguments))
        action = options_end(options);
    if (action != OPTIONS_WRONG) {
        reporting_set(options);
        reporting_tell_ignored(options);
    }
    command->status = act_on_options(options, action);
    return LINK_OK;
}

int main(int argc, char **argv)
{
    struct command command = {.arguments = {argc, argv}};

    if (!std_streams_open())
        return EXIT_STATUS_ENVIRONMENT;
    if (lto_child_is_wanted(argc, argv))
        _exit(lto_child_run(argv));
    if (nvptx_ld_tells(argc, argv))
        return (int)end_printing();
    self_exec_set_program();
    heap_keep_freed();
    set_signals();
    if (context_run(run_minilink, &command) == LINK_NO_MEMORY) {
        diag_no_memory();
        command.status = EXIT_STATUS_ENVIRONMENT;
    }
    reporting_end(&command.options);
    options_free(&command.options);
    exec_reap_all();
    cleanup_expected();
    return (int)command.status;
}

/* _exit() and _Exit() of the program, which plug-ins find before the C library's: the linker
 * exports symbols that the C library has, too. */
__attribute__((visibility("default"))) void _exit(int status)
{
    cleanup_leave(status);
}

__attribute__((visibility("default"))) void _Exit(int status)
{
    cleanup_leave(status);
}
