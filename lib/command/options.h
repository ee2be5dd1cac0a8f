/* options.h: turns nvlink's options, and minilink's own, into a link request. The command reads
 * them by getopt (cmd/minilink/arguments.c), the library, which must not touch getopt's
 * process-wide state, looks them up one by one. */
#pragma once

#include <stdio.h>

#include "assemble/assemble.h"
#include "diag/diag.h"
#include "input/file.h"
#include "link/link.h"
#include "os/file.h"

/* response_file.c: the command line as a list of words, with response files expanded in their
 * place.
 *
 * @file follows GNU's convention (white space separates, quotes and backslash protect, files may
 * name files); a word @name stays as it is when there is no such file. A quote that is not closed
 * is an error, as in nvlink's -optf. */

/* How deep files may name files. */
#define RESPONSE_FILE_DEEPEST 16

/* All response files of one command line. Start with {0}; the caller frees `watch`. */
struct response_file_total {
    const char **files; /* their paths, each as often as it was read; in the arena */
    size_t file_count, file_capacity;
    size_t bytes;
    unsigned depth;     /* how many are being read, each named by the one before */
    struct watch watch; /* which versions of them were read */
    struct file_identity nested[RESPONSE_FILE_DEEPEST]; /* the last one read at each depth */
};

/* Start with {.total = ...}. The list and the words live in the arena. */
struct response_file {
    char **list;
    size_t count;
    size_t capacity;
    struct response_file_total *total;
};

/* Appends a word of a command line, or the words of the file in @file. False when reported. */
bool response_file_add(struct response_file *words, struct arena *arena, char *word);

/* Appends the words of the file `path`. False when reported: no such file, it names itself, nested
 * too deep, too much in all, a quote that is not closed. */
bool response_file_add_file(struct response_file *words, struct arena *arena, const char *path);

enum options_action {
    OPTIONS_LINK,        /* go on and link */
    OPTIONS_HELP,        /* print the help and end */
    OPTIONS_VERSION,     /* print the version and end */
    OPTIONS_TARGETS,     /* print the targets and end */
    OPTIONS_HOST_SCRIPT, /* write the script for the host's linker and end */
    OPTIONS_CHUNK,       /* assemble one chunk, whose request is `single_chunk` */
    OPTIONS_WRONG,       /* a usage error has been reported */
};

/* What --assemble-chunk makes of its input. */
enum chunk_use { ASSEMBLE_NONE, ASSEMBLE_RELOCATABLE, ASSEMBLE_WHOLE };

/* nvlink's words, for compute_NN where code has to be made, and for lto_NN. */
#define VIRTUAL_TARGET                                                                             \
    "Link target of '%s' is virtual target that is not JIT-able; use 'sm_' target instead"

/* -gen-host-linker-script */
enum host_script { HOST_SCRIPT_NONE, HOST_SCRIPT_ABSOLUTE, HOST_SCRIPT_AUGMENTING };

/* --color-diagnostics */
enum color_use { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* An option as it was given. */
struct given_option {
    const struct option_row *row;
    const char *value; /* NULL = it has none */
};

/* What options of one row of the option table have said so far. */
struct option_state {
    const char *last; /* the last value; NULL = none */
    struct word_list words;
};

/* Everything that the options say. Start with {0}; free with options_free. */
struct options {
    struct arena arena; /* has words of response files, and all lists below */
    bool is_in_memory;  /* set by the caller: the result needs no file, and inputs may be added */
    struct given_option *given; /* in their order */
    size_t given_count, given_capacity;
    struct option_state *states; /* of the rows; NULL = no option was given */
    struct link_request link;
    enum host_script host_script;
    enum chunk_use chunk_use; /* --assemble-chunk */
    struct single_chunk_request single_chunk;
    size_t operand_capacity, reproduce_capacity; /* of the lists in `link` */
    struct response_file_total response;         /* files */
    const char *const *reports;                  /* files; ends with NULL; or NULL */
    const char *arch_text;                       /* as given, or NULL */
    bool show_help, show_version, list_targets;
    bool no_cache;
    bool disable_infos, disable_warnings, warnings_are_errors;
    uint32_t cpu_name; /* -cpu-arch: checked, without effect */
    uint8_t verbose;   /* 1 = -v, 2 = -vv */
    bool report_arch, no_demangle;
    bool annotates; /* -Xptxas=--compiler-annotations */
    enum diag_format diagnostics_format;
    enum color_use color;
    size_t error_limit;
    struct diag_tally tally; /* of the messages, for reporting.c */
    char target[ARCH_NAME_SIZE];
};

/* Sets the defaults, and what the environment says. The caller has set is_in_memory. */
void options_begin(struct options *options);

/* Adds an option. `value` may be NULL only for rows without an argument or with an optional one; it
 * must live as long as `options`. False, reported in nvlink's words, when the value is wrong. */
bool options_add(struct options *options, const struct option_row *row, const char *value);

/* Notes the operand `name`, a file or what -l names; it must live as long as `options`. */
void options_add_operand(struct options *options, const char *name, bool is_library);

/* Adds the folders of libraries in `value`, between separators. */
void options_add_library_paths(struct options *options, const char *value, const char *separators);

/* Adds a word, which is copied: "-name" or "-name=value", with one or two dashes, a letter joined
 * with its value ("-lNAME"), or an operand. False, reported, for anything else: a value cannot be
 * the next word, and option files are not read. */
bool options_add_word(struct options *options, const char *word);

/* Checks the options against each other, and returns the action that they ask for. Usage errors are
 * reported in nvlink's words. */
enum options_action options_end(struct options *options);

/* Adds the folders of LIBRARY_PATH, after all other library paths. */
void options_add_environment_paths(struct options *options);

void options_free(struct options *options);

/* reporting.c: how messages are shown, as the command line and the environment say. */

/* Looks among `count` words for the options of the message format, before the words are read, so
 * that messages about them have that format. NULL words are skipped. `color` is the default. */
void reporting_begin(const char *const *words, size_t count, enum color_use color);

/* Sets the thread's state of messages from the options. */
void reporting_set(struct options *options);

/* Reports, under -vv, which options have no effect. */
void reporting_tell_ignored(const struct options *options);

/* Reports what was counted instead of shown, and frees the counts. */
void reporting_end(struct options *options);
