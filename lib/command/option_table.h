/* option_table.h: every option that minilink knows, once: for the parser, the help and the tests.
 *
 * nvlink's options and their spellings are those of `nvlink --help` (13.0 to 13.5) and the
 * hidden --host-ccbin that nvcc passes. Each has up to two names; one or two dashes are equivalent.
 * A row also says which field of `struct options` its value goes to, so that an option is one row
 * and no code; only the few whose value is more than a field name a function. */
#pragma once

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
    OPTION_SETS,      /* the field becomes `number`; an argument is accepted and ignored */
    OPTION_STRING,    /* const char *: the argument */
    OPTION_NUMBER,    /* the argument, 0 to `most`, times `number` */
    OPTION_LEVEL,     /* the largest of the digits that were given; `number` without one */
    OPTION_CHOICE,    /* the number of the choice that the argument names */
    OPTION_WORDS,     /* const char *const *: the pieces of the argument between `separators`, with
                       * empty ones if `number` says so; those of several options add up */
    OPTION_LIBRARIES, /* such pieces are libraries among the operands */
    OPTION_IGNORED,   /* it has no effect */
    OPTION_FILES, /* none: the reader of the command line replaces the option by the files' words */
    OPTION_SPECIAL, /* what `take` does with it */
};

/* A word that an option may have; a list of them ends with one of NULL. */
struct option_choice {
    const char *word;
    int number;
};

/* Where an option's value goes. Offsets are of fields in `struct options`; the first field belongs
 * to no option, so that 0 means none. */
struct option_effect {
    enum option_kind kind;
    size_t field;
    size_t size;   /* of the field */
    size_t given;  /* of a bool that is set when the option is given; 0 = none */
    size_t number; /* see the kinds */
    int32_t most;
    bool is_apart; /* the argument may not be joined to the short name */
    const char *separators;
    const struct option_choice *choices;
    bool (*take)(struct options *, const struct option_row *, const char *value);
};

struct option_row {
    const char *name;       /* long name, without dashes */
    const char *short_name; /* other name, or NULL */
    const char *argument;   /* its argument's name in --help; NULL = it has none; "[first|...]":
                               optional, `first` by default; "[FILE]": optional, empty by default */
    struct option_effect effect;
    enum option_group group;
    const char *help; /* NULL = hidden */
};

extern const struct option_row option_table[];
extern const size_t option_table_size;

/* The row of an option that is one word, which begins with a dash: "-name" or "--name", perhaps
 * with "=value", or a letter with its value joined ("-lNAME"). nvlink knows no abbreviations. NULL
 * when no row has that name. *value is the value in the word, or NULL. */
const struct option_row *option_table_find(const char *word, const char **value);

/* True when the option must have an argument. */
bool option_takes_argument(const struct option_row *row);

/* The choice of the row whose word is `value`, or NULL. */
const struct option_choice *option_table_choice(const struct option_row *row, const char *value);

/* Reports that `value` is not defined for the row's option. Returns false. */
bool option_table_undefined(const struct option_row *row, const char *value);

/* suggestions.c: messages about wrong options, and notes that help to correct them. */

/* After a message about an option's value: notes what the option takes. */
void suggestions_value(const struct option_row *row);

/* Report what is wrong with `word`, in nvlink's words, with such notes; they return false. */
bool suggestions_unknown(const char *word);
bool suggestions_missing(const char *word, const struct option_row *row);
bool suggestions_unwanted(const char *word);
