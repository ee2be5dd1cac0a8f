/* merge.h: relocatable cubins to one image, by the rules that nvlink 13.0 was measured to follow
 * (minilink-cubin(5) states them).
 *
 * Not supported, and refused by name: loaded sections and relocation types that are not listed in
 * format.h. The second form of code that cubins hold from sm_100 on is merged too, or left out with
 * a warning (mercury.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arch.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "cubin/cubin.h"
#include "cubin/image.h"
#include "merge/output_forms.h"
#include "pool/spread.h"

struct members;    /* input/member.h */
struct renames;    /* base/renames.h */
struct used_names; /* input/used.h */

struct merge_request {
    struct arch arch;
    bool debug;                    /* -g: nothing is dead, all debug sections are kept */
    bool relocatable;              /* -r */
    const struct used_names *used; /* which kernels live, unless debug or relocatable; NULL = all */
    const struct members *members; /* all that the inputs have, for notes; may be NULL */
    const struct renames *renames; /* of references, but those of `made`; may be NULL */
    const struct cubin *made;      /* of the chunks */
    uint32_t *fit;    /* where kernels call functions with more registers than they may have, the
                         least that one may is put here, and that is no error yet; or NULL */
    bool fold;        /* functions that are the same become one, but for debug and relocatable */
    bool takes_first; /* of several definitions, with a warning */
    bool suppress_stack_warning; /* -suppress-stack-size-warning */
    bool keep_exported;          /* functions that another link may call stay: -ewp */
    bool preserve_relocations;   /* -preserve-relocs: those that are resolved are listed too */
    bool strip_debug;            /* what only debuggers and profilers read is left out */
    bool sass_only;              /* Mercury's second form of the code is left out */
    bool wants_places;           /* the report says where everything went */
    bool has_index;              /* -uidx: an index of unified symbols was given */
    enum callgraph_form callgraph;
    enum merge_abi abi;
    struct spread spread;    /* threads; the image is the same for any number */
    const char *output_name; /* base name of the output, for the tool note under -g */
    const char *version;     /* minilink's version, for the tool note */
};

/* What the link made, for -v and reports. */
struct kernel_report {
    struct text name;
    bool is_kernel; /* else a device function */
    uint32_t registers;
    uint32_t barriers;
    uint32_t stack;     /* bytes; UINT32_MAX = cannot be determined */
    uint32_t frame;     /* bytes of it that are the function's own */
    uint32_t shared;    /* bytes, with the driver's reserve */
    uint32_t reserved;  /* how many of them are the driver's */
    uint32_t constant0; /* bytes of bank 0: parameters */
    uint32_t constant2; /* bytes of bank 2: the assembler's own constants */
    uint32_t textures;  /* references, each with a word in bank 0 */
    uint32_t surfaces;
    uint32_t samplers;
    uint64_t code; /* bytes */
    uint32_t file; /* the cubin that it comes from, and its symbol there */
    uint32_t input;
};

/* A section of the image. */
struct merge_section {
    struct text name;
    uint64_t offset; /* in the file */
    uint64_t size;
    uint64_t alignment;
    bool has_no_bytes;
    uint32_t kernel; /* whose it is, as a number in merge_report.kernels; MERGE_NO_FILE = none's */
};

/* Where contents of a cubin's section went. */
struct merge_piece {
    uint32_t file;
    uint32_t input;   /* section of that cubin */
    uint32_t section; /* of the image */
    uint64_t offset;  /* in it */
    uint64_t size;    /* bytes */
};

/* A function or variable of the image, whether or not the symbol table has it. */
struct merge_name {
    struct text name;
    uint64_t value;
    uint64_t size;
    uint32_t section; /* of the image; 0 = none: it is undefined, or no place */
    uint32_t file;    /* that defines it; MERGE_NO_FILE = none */
    uint32_t input;   /* its number there */
    uint8_t type;     /* STT_* */
    uint8_t binding;  /* STB_* */
};

/* Who calls whom, by numbers in merge_report.kernels. */
struct merge_call {
    uint32_t from;
    uint32_t to;
    bool is_indirect; /* it may, through a pointer */
};

/* Why a function is not in the image. */
enum merge_reason {
    MERGE_UNREACHED,  /* nothing that stays needs it */
    MERGE_CAME_LATER, /* another cubin's definition, seen earlier, counts */
    MERGE_GAVE_WAY,   /* another cubin's is strong, it is weak */
    MERGE_FOLDED,     /* another function is the same */
};

struct merge_drop {
    struct text name;
    uint32_t file;
    uint32_t input;
    bool is_kernel;
    enum merge_reason reason;
    struct text kept; /* the definition's name that stands in its place, if any does */
};

#define MERGE_NO_FILE UINT32_MAX

/* Filled in for merge_request.wants_places. */
struct merge_places {
    uint16_t type;                  /* ET_EXEC or ET_REL */
    uint64_t file_size;             /* bytes */
    struct merge_section *sections; /* [0] is the null section */
    size_t section_count;
    struct merge_piece *pieces; /* by cubin, and in it by section */
    size_t piece_count;
    struct merge_name *names; /* in the order of the cubins that name them first */
    size_t name_count;
    struct merge_call *calls; /* by caller */
    size_t call_count;
    struct merge_drop *drops;
    size_t drop_count;
};

/* Start with {0}. */
struct merge_report {
    struct arena arena;
    struct kernel_report *kernels; /* in the order of the symbols; device functions among them */
    size_t kernel_count;
    uint64_t global_bytes;    /* .nv.global and .nv.global.init */
    uint64_t constant3_bytes; /* user constants */
    struct buffer callgraph;  /* in the form that was asked for */
    size_t dead_functions;
    const char **dead_names;
    struct merge_places places;
};

/* True when code for `sm` may be merged for a target: measured, nvlink 13.0 takes that for an older
 * one of the same major number, too, and writes the target's number. */
static inline bool merge_takes_code(uint32_t sm, struct arch target)
{
    return sm / 10 == target.sm / 10 && sm <= target.sm;
}

/* Merges `count` cubins (at least 1; see empty.h), in that order, into *image and lays it out.
 * Errors and warnings in nvlink's words; all errors of a step are reported before it fails.
 * `report` may be NULL. The image has views into the cubins. */
bool merge_cubins(struct image *image, const struct cubin *const *cubins, size_t count,
                  const struct merge_request *request, struct merge_report *report);

void merge_report_free(struct merge_report *report);

/* Whether the file at `path` may be an index of functions and data with `.attribute(.unified(N,
 * N))` (-uidx), which is an ELF file; NULL is none. What such a file holds is not public, and
 * nothing in CUDA 13.0 makes one, so that programs with unified symbols cannot be linked; they, and
 * files that cannot be an index, are told as nvlink does. False, and a fatal diagnostic in nvlink's
 * words, otherwise. */
bool merge_check_index(const char *path);
