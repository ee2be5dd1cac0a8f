/* consensus.h: combining the options that LTO members were compiled with, which they carry as text,
 * with the command line, by a state machine per option (minilink-internals(7), Value consensus). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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

/* Reading one member's option string as nvlink reads it (embedded.c).
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

/* The result; options/forward.h passes it to other programs. Start with {0}. */
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
