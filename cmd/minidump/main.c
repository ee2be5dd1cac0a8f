/* main.c: command line -> files -> text. */
#include <getopt.h>
#include <stdio.h>

#include "diag/diag.h"
#include "link/link.h"
#include "os/cleanup.h"
#include "output/output.h"
#include "dump.h"

struct command {
    int argc;
    char **argv;
    struct dump dump;
    struct inputs inputs; /* one file at a time */
    enum exit_status status;
};

enum { OPTION_ARCH = 1024, OPTION_LIMIT, OPTION_HELP, OPTION_VERSION };

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
    {{"decompression-limit", required_argument, NULL, OPTION_LIMIT},
     "most MiB that one file's entries may give"},
    {{"help", no_argument, NULL, OPTION_HELP}, "this help"},
    {{"version", no_argument, NULL, OPTION_VERSION}, "the version"},
};
#define ROWS (sizeof table / sizeof *table)

static void print_help(void)
{
    puts("Usage: minidump [options] FILE...\n\n"
         "Shows host objects, archives, fatbins and cubins as text; everything by default.\n"
         "Options are taken with one dash, too.\n");
    for (size_t i = 0; i < ROWS; i++)
        printf("  --%-20s %s\n", table[i].option.name, table[i].help);
}

static bool read_dump_limit(struct dump *dump, const char *word)
{
    struct text rest = text_of(word);
    uint64_t mebibytes;
    bool is_number = text_scan_number(&rest, &mebibytes) && rest.size == 0;

    dump->inflation_limit = mebibytes << 20;
    return (is_number && mebibytes > 0 && mebibytes <= INT32_MAX) ||
           diag_fatal("Value '%s' is not defined for option 'decompression-limit'", word);
}

/* Reads the value of an option; an option without one is a part to print. */
static bool take_dump_option(struct dump *dump, int code)
{
    if (code == OPTION_ARCH)
        return arch_parse(text_of(optarg), "sm_", &dump->arch) ||
               diag_fatal("Value '%s' is not defined for option 'arch'", optarg);
    if (code == OPTION_LIMIT)
        return read_dump_limit(dump, optarg);
    dump->parts |= (unsigned)code;
    return true;
}

/* `code` is ':' for a missing argument, or '?' for anything else that is wrong. */
static bool report_wrong_option(int code, const char *word)
{
    int name_length = (int)strcspn(word, "=");

    if (code == ':')
        return diag_fatal("Missing argument for option '%s'", word);
    if (optopt)
        return diag_fatal("Option '%.*s' takes no argument", name_length, word);
    return diag_fatal("Unknown option '%.*s'", name_length, word);
}

/* Without letters every word is an option's name, and getopt has moved past it when it returns; it
 * would not move past a word with an unknown letter. False when there is nothing more to do;
 * command->status says how it ended. */
static bool read_dump_options(struct command *command)
{
    struct option list[ROWS + 1] = {0};
    int code;

    for (size_t i = 0; i < ROWS; i++)
        list[i] = table[i].option;
    opterr = 0;
    command->status = EXIT_STATUS_USAGE;
    while ((code = getopt_long_only(command->argc, command->argv, ":", list, NULL)) != -1) {
        if (code == OPTION_HELP || code == OPTION_VERSION) {
            if (code == OPTION_HELP)
                print_help();
            else
                puts("minidump " MINILINK_VERSION);
            command->status = EXIT_STATUS_OK;
            return false;
        }
        if (code == '?' || code == ':')
            return report_wrong_option(code, command->argv[optind - 1]);
        if (!take_dump_option(&command->dump, code))
            return false;
    }
    return optind < command->argc ||
           diag_fatal("No input files specified; use option --help for more information");
}

static bool print_inputs(struct command *command)
{
    bool ok = true;

    for (int i = optind; i < command->argc; i++) {
        const struct input_operand operand = {.name = command->argv[i]};

        ok &= inputs_open(&command->inputs, &operand, 1, NULL) &&
              dump_file(&command->dump, &command->inputs);
        inputs_close(&command->inputs);
    }
    return ok;
}

static enum link_code run_minidump(void *argument)
{
    struct command *command = argument;

    if (read_dump_options(command)) {
        if (command->dump.parts == 0)
            command->dump.parts = DUMP_ALL;
        command->status = print_inputs(command) ? EXIT_STATUS_OK : EXIT_STATUS_ERROR;
    }
    if (!std_streams_flush())
        command->status = EXIT_STATUS_ENVIRONMENT;
    return LINK_OK;
}

int main(int argc, char **argv)
{
    struct command command = {.argc = argc, .argv = argv, .dump = {.out = stdout}};

    if (!std_streams_open())
        return EXIT_STATUS_ENVIRONMENT;
    cleanup_prepare("minidump", NULL);
    diag_state_get()->program = "minidump";
    if (context_run(run_minidump, &command) == LINK_NO_MEMORY) {
        diag_no_memory();
        command.status = EXIT_STATUS_ENVIRONMENT;
    }
    inputs_close(&command.inputs);
    cleanup_expected();
    return (int)command.status;
}
