/* options.h: nvlink's command line, and minilink's own options, to a link request; for the command
 * and for the library, whose options are the same. */
#ifndef MINILINK_COMMAND_OPTIONS_H
#define MINILINK_COMMAND_OPTIONS_H

#include <stdbool.h>

#include "assemble/lone.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/context.h"
#include "base/diag.h"
#include "command/words.h"
#include "link/link.h"

enum options_action {
    OPTIONS_LINK,        /* go on and link */
    OPTIONS_HELP,        /* print the help and end */
    OPTIONS_VERSION,     /* print the version and end */
    OPTIONS_TARGETS,     /* print the targets and end */
    OPTIONS_COMPLETIONS, /* print a shell's completions and end */
    OPTIONS_HOST_SCRIPT, /* write the script for the host's linker and end */
    OPTIONS_CHUNK,       /* assemble one chunk, whose request is `lone` */
    OPTIONS_WRONG,       /* a usage error has been reported */
};

/* What --assemble-chunk makes of its input. */
enum chunk_use { ASSEMBLE_NONE, ASSEMBLE_RELOCATABLE, ASSEMBLE_WHOLE };

/* nvlink's words, for compute_NN where code has to be made, and for lto_NN. */
#define VIRTUAL_TARGET                                                                             \
    "Link target of '%s' is virtual target that is not JIT-able; use 'sm_' target instead"

/* --completions, -gen-host-linker-script */
enum shell { SHELL_NONE, SHELL_BASH, SHELL_ZSH, SHELL_FISH };
enum host_script { HOST_SCRIPT_NONE, HOST_SCRIPT_ABSOLUTE, HOST_SCRIPT_AUGMENTING };

/* --color */
enum color_use { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Words that options add up to; `list` is malloc'ed. */
struct word_list {
    const char **list;
    size_t count, capacity;
};

/* Everything that the command line says. Start with {0}; free with options_free. */
struct options {
    struct arena arena; /* owns words of response files and all lists below */
    int argc;           /* set by the caller */
    char **argv;
    bool is_in_memory; /* set by the caller: the result needs no file, and inputs may be added */
    struct link_request link;
    enum host_script host_script;
    enum chunk_use chunk_use; /* --assemble-chunk */
    struct lone_request lone;
    struct word_list distributor_arguments;
    struct input_operand *operands;
    size_t operand_count, operand_capacity;
    struct reproduce_word *reproduce_words; /* link.reproduce_word_count of them */
    size_t reproduce_capacity;
    struct words_total response; /* files */
    struct word_list library_paths;
    struct word_list assembler_options, nvvm_options;
    struct word_list reports;                   /* files */
    struct buffer kernels_used, variables_used; /* each option's list, and a comma */
    struct word_list ignored;                   /* accepted options without effect, for -vv */
    const char *arch_text;                      /* as given, or NULL */
    bool show_help, show_version, list_targets;
    bool no_cache;
    enum shell completions;
    bool disable_infos, disable_warnings, warnings_are_errors;
    uint8_t verbose; /* 1 = -v, 2 = -vv */
    bool report_arch, no_demangle;
    bool annotates; /* -Xptxas=--compiler-annotations */
    enum diag_format diagnostics_format;
    enum color_use color;
    size_t error_limit;
    struct diag_tally tally; /* of the messages, for reporting.h */
    char target[ARCH_NAME_SIZE];
};

/* Reads the words of the command line (argc, argv), response files (@file, -optf) among them, in
 * order. Usage errors are reported in nvlink's words. */
enum options_action options_read(struct options *options);

/* Hands operands and library paths to the request, behind all that were added to them. */
void options_set_inputs(struct options *options);

void options_free(struct options *options);

#endif
