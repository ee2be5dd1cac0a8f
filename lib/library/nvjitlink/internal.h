/* internal.h: struct nvJitLink, for the files of this folder. */
#pragma once

#include "facts/targets.h"
#include "base/memory.h"
#include "library/nvjitlink/interface.h"
#include "minilink/minilink.h"

/* The type of an input by its first bytes; text is PTX when it has a .version.
 * NVJITLINK_INPUT_NONE: unknown. */
nvJitLinkInputType contents_type(struct bytes data);

/* The name of a type, "a cubin". */
const char *contents_type_name(nvJitLinkInputType type);

/* What fatbins in an input have for a target. */
struct contents {
    size_t fatbin_count; /* relocatable or not */
    bool has_ptx;
    bool has_cubin;
    bool has_ltoir;
    bool is_cut; /* a fatbin or an entry is cut off or damaged */
};

/* What code must be for. */
struct contents_target {
    struct arch arch;
    const struct toolkit_facts *toolkit; /* the one whose library is followed */
};

/* Looks for fatbins anywhere in a fatbin, host object or archive, and at their entries. */
struct contents contents_look(struct bytes data, const struct contents_target *target);

/* True if a bare cubin's target is one that the library takes. (Whether the link takes it is
 * another question.) */
bool contents_takes_cubin(struct bytes data, const struct contents_target *target);

/* The number of the target that LTO-IR was made for, or 0 if its header does not say. */
unsigned contents_ltoir_target(struct bytes data);

/* options.c: options of nvJitLink, as words of minilink. */

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

struct input {
    enum minilink_input type;
    struct bytes data; /* none: `name` is a file, a thin archive */
    const char *name;
};

struct nvJitLink {
    struct arena arena; /* has words of options, and all else that lives as long as the link */
    struct settings settings;
    nvJitLinkResult created;       /* the result of creating it */
    struct minilink *link;         /* NULL when that failed */
    struct minilink *open;         /* with -ptx: a second link, which permits undefined symbols */
    struct minilink *result;       /* the one of these two that has succeeded, or NULL */
    struct minilink *ltoir;        /* the one whose output is LTO-IR, when it has been asked for */
    struct minilink *trial;        /* a link that checks one input, during one call */
    struct contents_target target; /* of the link, and the toolkit whose library is followed */
    size_t input_count;            /* for names */
    bool has_input;                /* there is something to link */
    struct input *waiting;         /* LTO-IR, for nvJitLinkComplete() and for LTO-IR */
    size_t waiting_count, waiting_capacity;
    bool has_ltoir;      /* some input has */
    bool has_other_code; /* some input has no LTO-IR */
    bool is_complete;    /* successful or not */
    struct buffer errors, infos;
    uint64_t start; /* clock_now() when a time was last reported */
};

/* inputs.c: adds inputs, by links of minilink. */

/* Appends a line to the error log. Returns `result`. */
nvJitLinkResult link_fail(struct nvJitLink *link, nvJitLinkResult result, const char *format, ...)
    PRINTF(3, 4);

/* NVJITLINK_SUCCESS when inputs may still be added; otherwise reports an error. */
nvJitLinkResult link_check_open(struct nvJitLink *link);

/* Creates a minilink link for that purpose, in the place of one that *made may be. If the result is
 * not MINILINK_OK, the error log says why, and *made is NULL. */
int link_begin(struct nvJitLink *link, struct minilink **made, const struct settings *settings,
               enum purpose purpose);

/* Append minilink's logs to the link's, without the program's name at the beginning of each line.
 * Infos that contain `but` are left out (NULL = none are). */
void link_take_errors(struct nvJitLink *link, const struct minilink *made);
void link_take_infos(struct nvJitLink *link, const struct minilink *made, const char *but);

/* Adds an input to a link of minilink, whose code is returned. */
int input_add_to(struct minilink *made, const struct input *input);

/* Adds an input, or a file. */
nvJitLinkResult input_add(struct nvJitLink *link, nvJitLinkInputType type, struct bytes data,
                          const char *name);
nvJitLinkResult input_add_file(struct nvJitLink *link, nvJitLinkInputType type, const char *path);

/* Adds a cubin without any code, where there is no input. */
nvJitLinkResult input_add_nothing(struct nvJitLink *link);

/* Passes on the waiting inputs. */
nvJitLinkResult input_hand_on_waiting(struct nvJitLink *link);

/* toolkit.c: where the libnvJitLink and the ptxas of a CUDA toolkit are. */

/* NVIDIA's library, for the LTO-IR that it alone reads: the file that MINILINK_NVJITLINK names;
 * else the one whose place this library has in a Python environment (minilink-shim(1)); else the
 * first that os/toolkit.h finds without options, or that is in a folder of LD_LIBRARY_PATH. Never
 * this library, under whatever name and in whatever copy. The path is malloc'ed; NULL when there is
 * none. If MINILINK_NVJITLINK names another file, `errors` says so.
 */
char *toolkit_library(struct buffer *errors);

/* The ptxas of such an environment; else that of the toolkit of `library` (or NULL), if minilink
 * would find none by itself, since no variable leads to it. The path is malloc'ed; NULL when
 * minilink finds one, or there is none. */
char *toolkit_ptxas(const char *library);
