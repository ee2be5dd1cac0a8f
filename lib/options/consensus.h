/* consensus.h: the options that members were compiled with, which they carry as text, combined with
 * those of the command line, by a state machine per option (minilink-internals(7), Value
 * consensus); and what other programs are given of them. */
#pragma once

#include <regex.h>

#include "input/member.h"

/* The states of minilink-internals(7), Value consensus, with the same numbers. */
enum consensus_state {
    CONSENSUS_NONE = 0,     /* no member has been seen */
    CONSENSUS_ABSENT = 1,   /* members seen, none has the option */
    CONSENSUS_PRESENT = 2,  /* all have it, with one value */
    CONSENSUS_MIXED = 3,    /* some have it, with one value; some do not */
    CONSENSUS_CONFLICT = 4, /* two different values */
};

/* One option's state; start with {0}. */
struct consensus {
    enum consensus_state state;
    int32_t value; /* in states PRESENT, MIXED, CONFLICT: the first value seen */
};

/* Whether those that have it agree. */
static inline bool consensus_has_one_value(const struct consensus *consensus)
{
    return consensus->state == CONSENSUS_PRESENT || consensus->state == CONSENSUS_MIXED;
}

/* Whether a member takes part: all LTO-IR does, even if nothing refers to it (measured). */
static inline bool consensus_has(const struct member *member)
{
    return member->entry.kind == FATBIN_NVVM && member->role != MEMBER_UNUSED;
}

/* Takes one more member into account. */
void consensus_add(struct consensus *consensus, bool found, int32_t value);

/* The options that members embed. */
enum embedded_option {
    EMBEDDED_LINE_INFO, /* -generate-line-info */
    EMBEDDED_MAXREG,    /* -maxreg N */
    EMBEDDED_FTZ,       /* -ftz=N */
    EMBEDDED_PREC_DIV,
    EMBEDDED_PREC_SQRT,
    EMBEDDED_FMAD,
    EMBEDDED_SPLIT_COMPILE, /* -split-compile N */
    EMBEDDED_COUNT,
};

/* Reading one member's option string as nvlink reads it.
 *
 * Measured: a substring search, the first match counts; `-split-compile ` and `-maxreg ` with one
 * blank, `-ftz=`, `-prec_div=`, `-prec_sqrt=`, `-fmad=` with an equals sign, then a number as atoi
 * reads it (white space, sign, digits), cut to 32 bits: "2x" is 2, "abc" is 0, "4294967298" is 2,
 * and "99999999999999999999" is -1, the cut end of the 64-bit range. `-generate-line-info` has no
 * value. A NUL in the string ends it.
 *
 * Looks for `option` in `options`. True when it is there, with its number in *value (1 for
 * -generate-line-info). Never reads beyond options.size. */
bool embedded_find(struct text options, enum embedded_option option, int32_t *value);

extern const struct embedded_row {
    const char *name;     /* as nvlink prints it in messages: "-maxrregcount", "-prec-div" */
    const char *spelling; /* in the string, cicc's: "-maxreg ", "-prec_div=" */
    bool has_value;
} embedded_table[EMBEDDED_COUNT];

/* What the command line says. */
struct option_request {
    bool has_split_compile;
    int32_t split_compile; /* 1 = off, 0 = number of CPUs */
    bool has_split_compile_extended;
    int32_t split_compile_extended; /* 1 = off, 0 = number of CPUs */
    bool has_maxrregcount;
    int32_t maxrregcount;
    bool line_info;
    bool debug;                /* -g */
    bool lto;                  /* -lto or -dlto */
    bool nvvm_latest;          /* -nvvm-latest */
    const char *ofast_compile; /* -Ofc value, or NULL */
};

/* The result. Start with {0}. */
struct agreement {
    struct consensus embedded[EMBEDDED_COUNT]; /* over all members, before the command line */
    int32_t split_compile;          /* value in force; 1 = off, 0 = number of CPUs; 1 too when the
                                       extended one wins. Members may declare any number. */
    int32_t split_compile_extended; /* value in force */
    int32_t maxrregcount;           /* of LTO-IR, or the command line's; 0 = no limit */
    bool line_info;
    bool debug;
};

/* Combines the option strings of all members that have LTO-IR for the target with the command line.
 * What a difference means:
 * - line info: all are built with it;
 * - maxreg: members whose LTO-IR is linked (-lto, no PTX beside it) are built with the value that
 *   some of them have; the command line's maxrregcount beats them all. Two values are fatal;
 * - ftz, prec-div, prec-sqrt, fmad: two values are fatal among members whose LTO-IR is linked.
 *   Where PTX is linked, it is compiled with each member's own values, of maxreg too, or has them
 *   among its stored options, and an info says so;
 * - split-compile only steers threads: two values give a warning and the command line's value; with
 *   -Werror they are fatal. One value beats the command line.
 * Checks in nvlink's order: line info, maxreg, ftz, prec-div, prec-sqrt, fmad, split-compile, the
 * clash of the two split options. Prints nvlink's messages; a difference is followed by a note per
 * member with its value. False when it is fatal. */
bool consensus_reach(struct agreement *agreement, const struct members *members,
                     const struct option_request *request);

/* words.c: the kernels that -Xptxas -e names.
 *
 * ptxas looks for them in the one module that it is given. A chunk has only some of them, so the
 * link selects them itself. Measured on nvlink: under -lto, where all code comes from LTO-IR,
 * kernels that are not named are dropped, split or not; relocatable code keeps all. */

/* An extended regular expression of POSIX, and its text. */
struct entry_pattern {
    struct text text;
    regex_t expression;
};

struct entry_selection {
    struct text *names; /* each once or several times, as given */
    size_t count, capacity;
    struct entry_pattern *patterns; /* of minilink's own --entry-pattern, and -E */
    size_t pattern_count, pattern_capacity;
    const char *const *others; /* the words that are not about entries; ends with NULL */
    bool is_compile_only;      /* -c is among them */
    bool is_patch;             /* -astoolspatch: functions alone, which nothing calls */
    bool is_extensible;        /* -ewp: exported symbols stay */
};

/* Reads the assembler's options `words` (ends with NULL, or is NULL): --entry, and -e, with a list
 * of names after `=` or in the next word, and --entry-pattern, and -E, with a list of expressions.
 * The result refers to the words, and to `arena`; entries_free frees the rest. False, and an error,
 * when an expression is invalid. */
bool entries_read(struct entry_selection *selection, struct arena *arena, const char *const *words);

/* True when the pattern matches the name or a part of it. Raises LINK_NO_MEMORY. */
bool entries_pattern_matches(const struct entry_pattern *pattern, struct text name);

/* True when some pattern matches the kernel's name. */
bool entries_match(const struct entry_selection *selection, struct text kernel);

void entries_free(struct entry_selection *selection);

/* The options agreed on as words for libnvJitLink and ptxas (minilink-internals(7),
 * Option forwarding). The spellings are those of libnvJitLink, which hands them to libnvvm, and of
 * ptxas; members carry cicc's. */

/* Appends "name=value"; nothing when the value is NULL or empty. */
void forward_value(struct word_list *words, const char *name, const char *value);

/* These three append options for libnvJitLink, each only if it changes a default. -split-compile:
 * the value of -split-compile-extended, which wins, or that of -split-compile; libnvvm may use up
 * to `most` threads. */
void forward_split(struct word_list *words, const struct agreement *agreement, int32_t most);

/* -nvvm-latest. */
void forward_latest(struct word_list *words, const struct option_request *request);

/* -g, -lineinfo, -maxrregcount, -Ofc and -nvvm-latest. */
void forward_agreed(struct word_list *words, const struct agreement *agreement,
                    const struct option_request *request);

/* -ftz, -prec-div, -prec-sqrt and -fma, if the members that have them agree, but for those of
 * `given`, the words of -Xnvvm. Measured: nvlink leaves the arithmetic to what the LTO-IR says,
 * unless there is any -Xnvvm. */
void forward_arithmetic(struct word_list *words, const struct agreement *agreement,
                        const char *const *given);

/* The options of ptxas besides those that every assembler gets: -Ofc and, for a whole program
 * (several chunks are parallel enough) by a ptxas that has it, -split-compile, as nvlink gives
 * them; then the words of `given` (-Xptxas; ends with NULL, or is NULL). In `arena`; ends with
 * NULL. */
const char *const *forward_to_ptxas(struct arena *arena, const struct agreement *agreement,
                                    const struct option_request *request, const char *const *given,
                                    bool has_threads);

/* The options of ptxas that a compiler stored with PTX in a fatbin.
 *
 * Measured on nvcc 13.0 and 13.5: -maxrregcount, the words of -Xptxas, -lineinfo, -G, -fmad=false,
 * -split-compile and -device-stack-protector are stored, after `--compile-only`. nvlink 11.8 to
 * 13.5 cuts the string at blanks and tabs, knows no quotes, and assembles the member with its words
 * before those of the command line. LTO-IR has options of another form. */

/* Words that change only tables of lines and messages. They do not keep PTX from being assembled
 * together, in one text. */
enum stored_remark {
    STORED_LINE_INFO = 1,
    STORED_VERBOSE = 2,
    STORED_NO_WARNINGS = 4,
};

struct stored_options {
    const char **words; /* all others, but --compile-only: the link decides about that; end with
                           NULL */
    size_t count;       /* of the words */
    unsigned remarks;   /* set of enum stored_remark */
};

/* Reads a member's string; a NUL ends it. The words are in `arena`, with room for the remarks'. */
struct stored_options stored_read(struct arena *arena, struct text options);

/* Whether both make the same code. */
bool stored_are_equal(const struct stored_options *a, const struct stored_options *b);

/* Options for PTX with `a` and PTX with `b`, which are equal, in one text: with tables of lines and
 * -v's messages if either has them, without warnings if both have none. */
void stored_unite(struct stored_options *a, const struct stored_options *b);

/* Appends the remarks' words; then the list is complete. */
void stored_finish(struct stored_options *options);
