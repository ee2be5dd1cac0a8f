/* option_table.h: every option that minilink knows, once: for the parser, the help and the tests.
 *
 * nvlink's options and their spellings are those of `nvlink --help` 13.0 and the hidden
 * --host-ccbin that nvcc passes. Each has up to two names; one or two dashes are alike. A row also
 * says which field of `struct options` its value goes to, so that an option is one row and no code;
 * only the few whose value is more than a field name a function. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag/diag.h"

struct options;
struct option_row;

/* The headings of the help, in its order; nvlink's own options come first. */
enum option_group {
    GROUP_FILES,
    GROUP_CODE,
    GROUP_MESSAGES,
    GROUP_NO_EFFECT,
    GROUP_ASSEMBLER, /* from here on they are minilink's */
    GROUP_SYMBOLS,
    GROUP_LTO,
    GROUP_SPLITTING,
    GROUP_CACHE,
    GROUP_RUNNING,
    GROUP_DIAGNOSTICS,
    GROUP_REPORTS,
    GROUP_BUILDING,
    GROUP_COUNT
};

/* How the help writes the option's name: "-" for nvlink's, "--" for minilink's own. */
const char *option_dashes(enum option_group group);

/* How an option's value becomes its field's. */
enum option_kind {
    OPTION_SETS,      /* the field becomes `number`; an argument is taken and left alone */
    OPTION_STRING,    /* const char *: the argument */
    OPTION_NUMBER,    /* the argument, 0 to `most`, times `number` */
    OPTION_LEVEL,     /* the largest of the digits that were given; `number` without one */
    OPTION_CHOICE,    /* the number of the one of `choices` that the argument is */
    OPTION_LIST,      /* struct word_list: the pieces of a comma list */
    OPTION_WORDS,     /* struct word_list: words for another program, between commas and blanks */
    OPTION_WORD,      /* struct word_list: the argument as it is, once for each option; `number`:
                       * may be joined to the short name */
    OPTION_JOINED,    /* struct buffer: comma lists add up, each with a comma behind it */
    OPTION_LIBRARIES, /* the pieces of a comma list are libraries among the operands */
    OPTION_IGNORED,   /* struct word_list: the option's name; it has no other effect */
    OPTION_FILES, /* none: who reads the command line puts the files' words in the option's place */
    OPTION_SPECIAL, /* what `take` does with it */
};

/* A word that an option may have; a list of them ends with one of NULL. */
struct option_choice {
    const char *word;
    int number;
};

/* Where an option's value goes. Offsets are of fields in `struct options`; the first field is none
 * of an option, so that 0 is no field. */
struct option_effect {
    enum option_kind kind;
    size_t field;
    size_t size;   /* of the field */
    size_t given;  /* of a bool that notes that the option was given; 0 = nothing asks */
    size_t number; /* see the kinds */
    int32_t most;
    const struct option_choice *choices;
    bool (*take)(struct options *, const struct option_row *, const char *value);
};

/* What an option is to the key of a link, by which its result is found in the cache. */
enum option_key {
    KEY_REFUSES, /* a link with the option is not kept */
    KEY_COUNTS,  /* what comes out, or what is said, may depend on it */
    KEY_IGNORES, /* the link finds out by itself what it leads to; or it says how the link runs, how
                  * messages look, and where what is written goes */
};

struct option_row {
    const char *name;       /* long name, without dashes */
    const char *short_name; /* other name, or NULL */
    const char *argument;   /* what --help calls its argument; NULL = it has none; "[first|...]":
                               it may be missing, and is `first` then; "[FILE]": and is empty */
    struct option_effect effect;
    enum option_group group;
    enum option_key key;
    const char *help; /* NULL = hidden */
};

/* Reports a wrong command line (a format and its arguments); false, for the caller to return. */
#define USAGE(...) (diag_fatal(__VA_ARGS__), false)

extern const struct option_row option_table[];
extern const size_t option_table_size;

/* The row of an option that is one word, which begins with a dash: "-name" or "--name", perhaps
 * with "=value", or a letter with its value joined ("-lNAME"). nvlink knows no abbreviations. NULL
 * when no row has that name. *value is what the word has of a value, or NULL. */
const struct option_row *option_table_find(const char *word, const char **value);

/* True when the option cannot be without its argument. */
bool option_takes_argument(const struct option_row *row);

/* The choice of the row whose word is `value`, or NULL. */
const struct option_choice *option_table_choice(const struct option_row *row, const char *value);
