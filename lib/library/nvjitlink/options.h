/* options.h: options of nvJitLink, as words of minilink. */
#pragma once

#include "base/arch.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/word_list.h"
#include "library/nvjitlink/interface.h"

/* sm_NN, compute_NN, lto_NN. */
enum target_kind { TARGET_REAL, TARGET_PTX, TARGET_LTOIR };

struct settings {
    unsigned version;        /* of the interface: 135; 129: a cubin's form is CUDA 12's */
    struct arch arch;        /* sm 0: not set */
    enum target_kind kind;   /* of the last -arch */
    unsigned target_changes; /* how often -arch was given with another target than before */
    bool is_nvvm70;          /* -nvvm-version=nvvm70 */
    bool is_latest;          /* -nvvm-latest */
    bool is_fast;            /* -fast-compile */
    bool is_lto;
    bool is_ptx;
    bool is_timed;
    bool is_verbose;
    bool is_relocatable;
    bool is_debug;
    bool has_lines;
    bool has_no_cache;
    bool is_split;             /* -split-compile-extended */
    bool drops_variables;      /* -optimize-unused-variables */
    int level;                 /* of optimisation; -1 = not set */
    bool names_kernels;        /* -kernels-used */
    bool names_variables;      /* -variables-used */
    bool has_ptxas_options;    /* which may make ptxas print something */
    struct word_list assembly; /* of the program and of each input that is PTX */
    struct word_list program;  /* of the program alone */
    char *library;             /* the libnvJitLink for LTO-IR, malloc'ed, or NULL */
    char *ptxas;               /* see toolkit_ptxas() */
};

/* Reads `count` options into settings of zeros, with copies in `arena`. Not NVJITLINK_SUCCESS:
 * `errors` says what is wrong with the first wrong option. Some options without use are accepted,
 * but mentioned there, too. */
nvJitLinkResult settings_read(struct settings *settings, struct arena *arena,
                              const char *const *options, uint32_t count, struct buffer *errors);

/* What a minilink link is for. */
enum purpose {
    FOR_NOTHING,      /* without any words */
    FOR_PROGRAM,      /* the whole link */
    FOR_OPEN_PROGRAM, /* the same, of PTX, with undefined symbols */
    FOR_INPUT,        /* the relocatable cubin of one input */
    FOR_CHECK,        /* looks at one cubin */
    FOR_LTOIR,        /* LTO-IR */
};

/* Adds the words of minilink_create(). */
void settings_words(const struct settings *settings, enum purpose purpose, struct word_list *words);
