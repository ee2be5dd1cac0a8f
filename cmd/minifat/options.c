/* options.c: one table row per option; getopt's list and the help are made from the table.
 *
 * Operands are read in their place among the options, since --arch, --kind and --options apply to
 * the inputs after them. */
#include "options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diag/diag.h"
#include "hostobj.h"

enum option_id {
    OPTION_ARCH = 256,
    OPTION_KIND,
    OPTION_OPTIONS,
    OPTION_IDENT,
    OPTION_DEBUG,
    OPTION_32,
    OPTION_COMPRESS,
    OPTION_CONCAT,
    OPTION_OUTPUT,
    OPTION_FORMAT,
    OPTION_SECTION,
    OPTION_MACHINE,
    OPTION_HELP,
    OPTION_VERSION,
};

struct option_row {
    const char *name;
    char letter;          /* short name, or 0 */
    const char *argument; /* what the help calls it; NULL = none */
    enum option_id id;
    const char *help;
};

/* clang-format off */
static const struct option_row table[] = {
    {"output", 'o', "FILE", OPTION_OUTPUT,
     "what to write; the suffix .fatbin, .offload or .o decides the format"},
    {"format", 0, "KIND", OPTION_FORMAT,
     "fatbin, offload (clang's offload binaries), or object, which carries one of them"},
    {"section", 0, "NAME", OPTION_SECTION,
     "host objects: " HOSTOBJ_RELOCATABLE " (default), " HOSTOBJ_WHOLE_PROGRAM " or " HOSTOBJ_OFFLOAD},
    {"machine", 0, "x86_64|aarch64", OPTION_MACHINE,
     "host objects: whose linker takes it; by default the machine's that minifat runs on"},
    {"arch", 0, "sm_NN[a|f]", OPTION_ARCH,
     "architecture of the inputs behind it; PTX, cubins and bitcode say it themselves"},
    {"kind", 0, "ptx|elf|nvvm", OPTION_KIND,
     "what the inputs behind it are; by default their content tells"},
    {"options", 0, "STRING", OPTION_OPTIONS,
     "option string of the PTX and NVVM entries behind it"},
    {"ident", 0, "STRING", OPTION_IDENT, "source file name in every entry"},
    {"debug", 'g', NULL, OPTION_DEBUG, "mark the entries as compiled for debugging"},
    {"32", 0, NULL, OPTION_32, "mark the entries as 32-bit code"},
    {"compress", 0, "none|lz4|zstd", OPTION_COMPRESS,
     "compress PTX and cubins; by default PTX by zstd, cubins only with --debug"},
    {"concat", 0, NULL, OPTION_CONCAT,
     "compress cubins together, those for sm_100 and later apart from older ones; 13.4 and later read it"},
    {"help", 'h', NULL, OPTION_HELP, "this help"},
    {"version", 'V', NULL, OPTION_VERSION, "the version"},
};
/* clang-format on */
#define ROWS (sizeof table / sizeof *table)

void options_help(FILE *out)
{
    fputs(
        "Usage: minifat [options] [--arch=sm_NN] FILE... -o OUTPUT\n\n"
        "Packs PTX, cubins and LTO-IR into a fatbin, or PTX, cubins and LLVM bitcode into offload\n"
        "binaries, one entry for each FILE; bare, or in a host object.\n\n",
        out);
    for (size_t i = 0; i < ROWS; i++) {
        char name[64];

        snprintf(name, sizeof name, "%s%s%s", table[i].name, table[i].argument ? "=" : "",
                 table[i].argument ? table[i].argument : "");
        fprintf(out, "  %c%c%c --%-22s %s\n", table[i].letter ? '-' : ' ',
                table[i].letter ? table[i].letter : ' ', table[i].letter ? ',' : ' ', name,
                table[i].help);
    }
}

/* Index of `value` in a list of words that ends with NULL; -1, and an error, when it is not there.
 */
static int choose_word(const char *option, const char *value, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0)
            return i;
    diag_fatal("Value '%s' is not defined for option '%s'", value, option);
    return -1;
}

static bool take_arch(struct options *options, const char *value)
{
    return arch_parse(text_of(value), "sm_", &options->next.request.arch) ||
           diag_fatal("Value '%s' is not defined for option 'arch'", value);
}

static bool take_fat_choice(struct options *options, enum option_id id, const char *value)
{
    static const char *const kinds[] = {"ptx", "elf", "nvvm", NULL};
    static const enum fatbin_kind kind_numbers[] = {FATBIN_PTX, FATBIN_ELF, FATBIN_NVVM};
    static const char *const compressions[] = {"none", "lz4", "zstd", NULL};
    static const enum pack_compression compression_numbers[] = {PACK_STORED, PACK_LZ4, PACK_ZSTD};
    static const char *const formats[] = {"fatbin", "object", "offload", NULL};
    static const enum options_format format_numbers[] = {FORMAT_FATBIN, FORMAT_OBJECT,
                                                         FORMAT_OFFLOAD};
    static const char *const machines[] = {"x86_64", "aarch64", NULL};
    static const char *const sections[] = {HOSTOBJ_RELOCATABLE, HOSTOBJ_WHOLE_PROGRAM,
                                           HOSTOBJ_OFFLOAD, NULL};
    int choice;

    if (id == OPTION_KIND) {
        choice = choose_word("kind", value, kinds);
        options->next.request.kind = choice < 0 ? 0 : kind_numbers[choice];
    } else if (id == OPTION_COMPRESS) {
        choice = choose_word("compress", value, compressions);
        options->pack.compression = choice < 0 ? 0 : compression_numbers[choice];
    } else if (id == OPTION_FORMAT) {
        choice = choose_word("format", value, formats);
        options->format = choice < 0 ? FORMAT_BY_SUFFIX : format_numbers[choice];
    } else if (id == OPTION_MACHINE) {
        choice = choose_word("machine", value, machines);
        options->has_machine = true;
        options->machine = choice == 1 ? HOSTOBJ_AARCH64 : HOSTOBJ_X86_64;
    } else {
        choice = choose_word("section", value, sections);
        options->section = choice < 0 ? NULL : sections[choice];
    }
    return choice >= 0;
}

static bool take_fat_option(struct options *options, enum option_id id, const char *value)
{
    switch (id) {
    case OPTION_ARCH:
        return take_arch(options, value);
    case OPTION_OPTIONS:
        options->next.options = text_of(value);
        return true;
    case OPTION_IDENT:
        options->pack.identity = text_of(value);
        return true;
    case OPTION_DEBUG:
        options->pack.debug = true;
        return true;
    case OPTION_32:
        options->pack.is_32bit = true;
        return true;
    case OPTION_CONCAT:
        options->pack.concatenates = true;
        return true;
    case OPTION_OUTPUT:
        options->output = value;
        return true;
    default:
        return take_fat_choice(options, id, value);
    }
}

static void add_input_path(struct options *options, const char *path)
{
    options->next.path = path;
    ARRAY_PUSH(options->inputs, options->input_count, options->input_capacity) = options->next;
}

static bool settle_format(struct options *options)
{
    static const struct {
        const char *suffix;
        enum options_format format;
    } formats[] = {{".fatbin", FORMAT_FATBIN}, {".offload", FORMAT_OFFLOAD}, {".o", FORMAT_OBJECT}};

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (options->format == FORMAT_BY_SUFFIX &&
            string_has_suffix(options->output, formats[i].suffix))
            options->format = formats[i].format;
    if (options->format == FORMAT_BY_SUFFIX)
        return diag_fatal(
            "the suffix of '%s' is none of .fatbin, .offload and .o; use option --format",
            options->output);
    if (options->section && options->format != FORMAT_OBJECT)
        return diag_fatal("option '--section' is for host objects only");
    if (options->has_machine && options->format != FORMAT_OBJECT)
        return diag_fatal("option '--machine' is for host objects only");
    return true;
}

/* Offload binaries cannot store what these options say. */
static bool check_offload(const struct options *options)
{
    const struct pack_request *pack = &options->pack;
    bool is_said = pack->compression != PACK_DEFAULT || pack->identity.size > 0 || pack->debug ||
                   pack->is_32bit || pack->concatenates;

    for (size_t i = 0; i < options->input_count; i++)
        is_said |= options->inputs[i].options.size > 0;
    return !is_said ||
           diag_fatal("options '--options', '--ident', '--debug', '--32', '--compress' and "
                      "'--concat' are for fatbins, not for offload binaries");
}

static enum options_action settle_options(struct options *options)
{
    if (options->input_count == 0) {
        diag_fatal("No input files specified; use option --help for more information");
        return OPTIONS_WRONG;
    }
    if (!options->output) {
        diag_fatal("Must specify output file with -o option");
        return OPTIONS_WRONG;
    }
    if (!settle_format(options))
        return OPTIONS_WRONG;
    if (!options->section)
        options->section = HOSTOBJ_RELOCATABLE;
    if (!options->has_machine)
        options->machine = HOSTOBJ_OWN;
    options->is_offload =
        options->format == FORMAT_OFFLOAD || strcmp(options->section, HOSTOBJ_OFFLOAD) == 0;
    if (options->is_offload && !check_offload(options))
        return OPTIONS_WRONG;
    if (options->pack.concatenates && options->pack.compression == PACK_STORED) {
        diag_fatal("option '--concat' is for compressed cubins, not with '--compress=none'");
        return OPTIONS_WRONG;
    }
    for (size_t i = 0; i < options->input_count; i++)
        options->inputs[i].request.is_32bit = options->pack.is_32bit;
    return OPTIONS_PACK;
}

/* `code` is ':' or '?', as getopt returns it for a missing argument or anything else wrong. */
static enum options_action report_wrong(int code, const char *word)
{
    if (code == ':')
        diag_fatal("Missing argument for option '%s'", word);
    else if (optopt >= OPTION_ARCH)
        diag_fatal("Option '%.*s' takes no argument", (int)strcspn(word, "="), word);
    else if (optopt > 0)
        diag_fatal("Unknown option '-%c'", optopt);
    else
        diag_fatal("Unknown option '%.*s'", (int)strcspn(word, "="), word);
    return OPTIONS_WRONG;
}

/* A long option's code is its id, a short one's its letter. */
static enum option_id id_of(int code)
{
    for (size_t i = 0; i < ROWS; i++)
        if (table[i].letter == code)
            return table[i].id;
    return (enum option_id)code;
}

/* "-" in front: operands are returned in their place, as code 1; ":": no messages. */
static void make_getopt_lists(struct option *list, char *letters)
{
    *letters++ = '-';
    *letters++ = ':';
    for (size_t i = 0; i < ROWS; i++) {
        list[i] =
            (struct option){table[i].name, table[i].argument ? required_argument : no_argument,
                            NULL, (int)table[i].id};
        if (table[i].letter)
            *letters++ = table[i].letter;
        if (table[i].letter && table[i].argument)
            *letters++ = ':';
    }
    *letters = '\0';
}

enum options_action options_read(struct options *options, int argc, char **argv)
{
    struct option list[ROWS + 1] = {0};
    char letters[2 * ROWS + 3];
    int code;

    make_getopt_lists(list, letters);
    opterr = 0;
    while ((code = getopt_long(argc, argv, letters, list, NULL)) != -1) {
        enum option_id id = id_of(code);

        if (code == ':' || code == '?')
            return report_wrong(code, argv[optind - 1]);
        if (id == OPTION_HELP)
            return OPTIONS_HELP;
        if (id == OPTION_VERSION)
            return OPTIONS_VERSION;
        if (code == 1)
            add_input_path(options, optarg);
        else if (!take_fat_option(options, id, optarg))
            return OPTIONS_WRONG;
    }
    while (optind < argc)
        add_input_path(options, argv[optind++]);
    return settle_options(options);
}

void options_free(struct options *options)
{
    free(options->inputs);
    *options = (struct options){0};
}
