/* options.c: one table row per option; getopt's list and the help are made from the table.
 *
 * Operands are read in their place among the options, since --arch, --kind and --options apply to
 * the inputs after them. */
#include "minifat.h"

#include <getopt.h>
#include <stdlib.h>

#include "diag/diag.h"

/* getopt's code of the first row; others follow. Letters stand for themselves. */
#define FIRST_ROW 256

/* A word that an option may have. */
struct choice {
    const char *word;
    unsigned number;
};

struct option_row {
    const char *name;
    char letter;          /* short name, or 0 */
    const char *argument; /* what the help calls it; NULL = none */
    const char *help;
    enum { TAKES_FLAG, TAKES_STRING, TAKES_TEXT, TAKES_ARCH, TAKES_NUMBER } kind;
    size_t field;                 /* its offset in struct options */
    const struct choice *choices; /* the values that it may have; ends with a NULL; or NULL */
    enum options_action action;   /* of an option that takes nothing: what it asks for */
};

static bool take_value(struct options *options, const struct option_row *row, const char *value)
{
    void *field = (char *)options + row->field;
    const struct choice *choice = row->choices;

    while (choice && choice->word && strcmp(choice->word, value) != 0)
        choice++;
    if (choice && !choice->word)
        return false;
    switch (row->kind) {
    case TAKES_FLAG:
        *(bool *)field = true;
        break;
    case TAKES_STRING:
        *(const char **)field = value;
        break;
    case TAKES_TEXT:
        *(struct text *)field = text_of(value);
        break;
    case TAKES_ARCH:
        return arch_parse(text_of(value), "sm_", field);
    case TAKES_NUMBER: /* an enum, which has the size of an unsigned */
        memcpy(field, &choice->number, sizeof choice->number);
    }
    return true;
}

/* clang-format off */
#define CHOICES(name, ...) static const struct choice name[] = {__VA_ARGS__, {NULL, 0}}
CHOICES(formats, {"fatbin", FORMAT_FATBIN}, {"object", FORMAT_OBJECT}, {"offload", FORMAT_OFFLOAD});
CHOICES(sections, {HOSTOBJ_RELOCATABLE, 0}, {HOSTOBJ_WHOLE_PROGRAM, 0}, {OFFLOAD_SECTION, 0});
CHOICES(machines, {"x86_64", HOSTOBJ_X86_64}, {"aarch64", HOSTOBJ_AARCH64});
CHOICES(kinds, {"ptx", FATBIN_PTX}, {"elf", FATBIN_ELF}, {"nvvm", FATBIN_NVVM});
CHOICES(compressions, {"none", PACK_STORED}, {"lz4", PACK_LZ4}, {"zstd", PACK_ZSTD});

#define TAKES(how, name, ...) .kind = TAKES_##how, .field = offsetof(struct options, name), __VA_ARGS__
static const struct option_row table[] = {
    {"output", 'o', "FILE", "what to write; the suffix .fatbin, .offload or .o decides the format", TAKES(STRING, output)},
    {"format", 0, "KIND", "fatbin, offload (clang's offload binaries), or object, which carries one of them",
     TAKES(NUMBER, format, formats)},
    {"section", 0, "NAME",
     "host objects: " HOSTOBJ_RELOCATABLE " (default), " HOSTOBJ_WHOLE_PROGRAM " or " OFFLOAD_SECTION,
     TAKES(STRING, section, sections)},
    {"machine", 0, "x86_64|aarch64",
     "host objects: whose linker takes it; by default the machine's that minifat runs on", TAKES(NUMBER, machine, machines)},
    {"arch", 0, "sm_NN[a|f]", "architecture of the inputs behind it; PTX, cubins and bitcode say it themselves",
     TAKES(ARCH, next.request.arch)},
    {"kind", 0, "ptx|elf|nvvm", "what the inputs behind it are; by default their content tells",
     TAKES(NUMBER, next.request.kind, kinds)},
    {"options", 0, "STRING", "option string of the PTX and NVVM entries behind it", TAKES(TEXT, next.options)},
    {"ident", 0, "STRING", "source file name in every entry", TAKES(TEXT, pack.identity)},
    {"debug", 'g', NULL, "mark the entries as compiled for debugging", TAKES(FLAG, pack.debug)},
    {"32", 0, NULL, "mark the entries as 32-bit code", TAKES(FLAG, pack.is_32bit)},
    {"compress", 0, "none|lz4|zstd", "compress PTX and cubins; by default PTX by zstd, cubins only with --debug",
     TAKES(NUMBER, pack.compression, compressions)},
    {"concat", 0, NULL, "compress cubins together, those for sm_100 and later apart from older ones; 13.4 and later read it",
     TAKES(FLAG, pack.concatenates)},
    {"help", 'h', NULL, "this help", .action = OPTIONS_HELP},
    {"version", 'V', NULL, "the version", .action = OPTIONS_VERSION},
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
    } suffixes[] = {
        {".fatbin", FORMAT_FATBIN}, {".offload", FORMAT_OFFLOAD}, {".o", FORMAT_OBJECT}};

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (options->format == FORMAT_BY_SUFFIX &&
            string_has_suffix(options->output, suffixes[i].suffix))
            options->format = suffixes[i].format;
    if (options->format == FORMAT_BY_SUFFIX)
        return diag_fatal(
            "the suffix of '%s' is none of .fatbin, .offload and .o; use option --format",
            options->output);
    if (options->section && options->format != FORMAT_OBJECT)
        return diag_fatal("option '--section' is for host objects only");
    if (options->machine != HOSTOBJ_OWN && options->format != FORMAT_OBJECT)
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

static bool settle_options(struct options *options)
{
    if (options->input_count == 0)
        return diag_fatal("No input files specified; use option --help for more information");
    if (!options->output)
        return diag_fatal("Must specify output file with -o option");
    if (!settle_format(options))
        return false;
    if (!options->section)
        options->section = HOSTOBJ_RELOCATABLE;
    options->is_offload =
        options->format == FORMAT_OFFLOAD || strcmp(options->section, OFFLOAD_SECTION) == 0;
    if (options->is_offload && !check_offload(options))
        return false;
    if (options->pack.concatenates && options->pack.compression == PACK_STORED)
        return diag_fatal("option '--concat' is for compressed cubins, not with '--compress=none'");
    for (size_t i = 0; i < options->input_count; i++)
        options->inputs[i].request.is_32bit = options->pack.is_32bit;
    return true;
}

/* `code` is ':' or '?', as getopt returns it for a missing argument or anything else wrong. */
static enum options_action report_wrong(int code, const char *word)
{
    if (code == ':')
        diag_fatal("Missing argument for option '%s'", word);
    else if (optopt > 0 && optopt < FIRST_ROW)
        diag_fatal("Unknown option '-%c'", optopt);
    else
        diag_fatal(optopt ? "Option '%.*s' takes no argument" : "Unknown option '%.*s'",
                   (int)strcspn(word, "="), word);
    return OPTIONS_WRONG;
}

static const struct option_row *row_of(int code)
{
    size_t row = 0;

    if (code >= FIRST_ROW)
        return &table[code - FIRST_ROW];
    while (table[row].letter != code)
        row++;
    return &table[row];
}

/* "-" in front: operands are returned in their place, as code 1; ":": no messages. */
static void make_getopt_lists(struct option *list, char *letters)
{
    *letters++ = '-';
    *letters++ = ':';
    for (size_t i = 0; i < ROWS; i++) {
        list[i] =
            (struct option){table[i].name, table[i].argument ? required_argument : no_argument,
                            NULL, FIRST_ROW + (int)i};
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
        const struct option_row *row;

        if (code == 1) {
            add_input_path(options, optarg);
            continue;
        }
        if (code == ':' || code == '?')
            return report_wrong(code, argv[optind - 1]);
        row = row_of(code);
        if (row->action)
            return row->action;
        if (!take_value(options, row, optarg)) {
            diag_fatal("Value '%s' is not defined for option '%s'", optarg, row->name);
            return OPTIONS_WRONG;
        }
    }
    while (optind < argc)
        add_input_path(options, argv[optind++]);
    return settle_options(options) ? OPTIONS_PACK : OPTIONS_WRONG;
}

void options_free(struct options *options)
{
    for (size_t i = 0; i < options->input_count; i++)
        inspect_free(&options->inputs[i].image);
    free(options->inputs);
    *options = (struct options){0};
}
