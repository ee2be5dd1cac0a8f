/* main.c: command line -> files -> text. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/context.h"
#include "base/diag.h"
#include "base/ending.h"
#include "base/standard.h"
#include "dump.h"
#include "link/link.h"

struct command {
    int argc;
    char **argv;
    struct dump dump;
    struct inputs inputs; /* one file at a time */
    enum exit_status status;
};

enum { OPTION_ARCH = 1024, OPTION_HELP, OPTION_VERSION };

static const struct {
    struct option option;
    const char *help;
} table[] = {
    {{"fatbin", no_argument, NULL, DUMP_FATBIN}, "containers and the headers of their entries"},
    {{"members", no_argument, NULL, DUMP_MEMBERS}, "what would take part in a link, and why"},
    {{"ptx", no_argument, NULL, DUMP_PTX}, "PTX texts"},
    {{"sections", no_argument, NULL, DUMP_SECTIONS}, "sections of cubins"},
    {{"symbols", no_argument, NULL, DUMP_SYMBOLS}, "symbols of cubins"},
    {{"relocs", no_argument, NULL, DUMP_RELOCATIONS}, "relocations of cubins"},
    {{"info", no_argument, NULL, DUMP_INFO}, "attribute records of cubins"},
    {{"callgraph", no_argument, NULL, DUMP_CALLGRAPH}, "call graph and prototypes of cubins"},
    {{"disasm", no_argument, NULL, DUMP_DISASSEMBLY}, "built-in code as text"},
    {{"arch", required_argument, NULL, OPTION_ARCH}, "target for --members, e.g. --arch=sm_90"},
    {{"help", no_argument, NULL, OPTION_HELP}, "this help"},
    {{"version", no_argument, NULL, OPTION_VERSION}, "the version"},
};
#define ROWS (sizeof table / sizeof *table)

static void print_help(void)
{
    puts("Usage: minidump [options] FILE...\n\n"
         "Shows host objects, archives, fatbins and cubins as text; everything by default.\n");
    for (size_t i = 0; i < ROWS; i++)
        printf("  --%-12s %s\n", table[i].option.name, table[i].help);
}

static bool read_arch(struct dump *dump, const char *text)
{
    if (arch_parse(text_of(text), "sm_", &dump->arch))
        return true;
    diag_fatal("Value '%s' is not defined for option 'arch'", text);
    return false;
}

/* False when there is nothing more to do; command->status says how it ended. */
static bool read_options(struct command *command)
{
    struct option list[ROWS + 1] = {0};
    int code;

    for (size_t i = 0; i < ROWS; i++)
        list[i] = table[i].option;
    opterr = 0;
    command->status = EXIT_STATUS_USAGE;
    while ((code = getopt_long(command->argc, command->argv, "", list, NULL)) != -1) {
        if (code == OPTION_HELP || code == OPTION_VERSION) {
            if (code == OPTION_HELP)
                print_help();
            else
                puts("minidump " MINILINK_VERSION);
            command->status = EXIT_STATUS_OK;
            return false;
        }
        if (code == '?') {
            diag_fatal("Unknown option '%s'", command->argv[optind - 1]);
            return false;
        }
        if (code == OPTION_ARCH) {
            if (!read_arch(&command->dump, optarg))
                return false;
        } else {
            command->dump.parts |= (unsigned)code;
        }
    }
    if (optind == command->argc)
        diag_fatal("No input files specified; use option --help for more information");
    return optind < command->argc;
}

static bool dump_files(struct command *command)
{
    bool ok = true;

    for (int i = optind; i < command->argc; i++) {
        struct input_operand operand = {.name = command->argv[i]};

        ok &= inputs_open(&command->inputs, &operand, 1, NULL) &&
              dump_file(&command->dump, &command->inputs);
        inputs_close(&command->inputs);
    }
    return ok;
}

static enum link_code run(void *argument)
{
    struct command *command = argument;

    if (read_options(command)) {
        if (command->dump.parts == 0)
            command->dump.parts = DUMP_ALL;
        command->status = dump_files(command) ? EXIT_STATUS_OK : EXIT_STATUS_ERROR;
    }
    if (!standard_flush())
        command->status = EXIT_STATUS_ENVIRONMENT;
    return LINK_OK;
}

int main(int argc, char **argv)
{
    struct command command = {.argc = argc, .argv = argv, .dump = {.out = stdout}};

    if (!standard_open())
        return EXIT_STATUS_ENVIRONMENT;
    ending_prepare("minidump", NULL);
    context_get()->program = "minidump";
    if (context_run(run, &command) == LINK_NO_MEMORY) {
        diag_no_memory();
        command.status = EXIT_STATUS_ENVIRONMENT;
    }
    inputs_close(&command.inputs);
    context_shutdown();
    ending_expected();
    return (int)command.status;
}
