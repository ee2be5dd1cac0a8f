/* merge.h: merges relocatable cubins into one image, by nvlink's rules (minilink-cubin(5) states
 * them). What changed between toolkits is a row of facts.
 *
 * Loaded sections and relocation types that are not listed in facts/ are refused by name. Mercury
 * twins, the second form of code in cubins from sm_100 on, are merged too, or left out with a
 * warning (mercury.c). */
#pragma once

#include <stdbool.h>

#include "cubin/cubin.h"
#include "cubin/image.h"
#include "resolve/request.h"

/* One function of the image, for -v and reports. */
struct kernel_report {
    struct text name;
    bool is_kernel; /* else a device function */
    uint32_t registers;
    uint32_t barriers;
    uint32_t stack;     /* bytes; UINT32_MAX = cannot be determined */
    uint32_t frame;     /* bytes of `stack` that are the function's own */
    uint32_t shared;    /* bytes, including those reserved for the driver */
    uint32_t reserved;  /* bytes of `shared` that are reserved for the driver */
    uint32_t constant0; /* bytes of bank 0: parameters */
    uint32_t constant2; /* bytes of bank 2: the assembler's own constants */
    uint32_t textures;  /* references, each with a word in bank 0 */
    uint32_t surfaces;
    uint32_t samplers;
    uint64_t code; /* bytes */
    uint32_t file; /* the defining cubin, and the symbol there */
    uint32_t input;
};

/* A section of the image. */
struct merge_section {
    struct text name;
    uint64_t offset; /* in the file */
    uint64_t size;
    uint64_t alignment;
    bool has_no_bytes;
    uint32_t kernel; /* its function, in merge_report.kernels; MERGE_NO_FILE = none */
};

/* Place in the image of contents of a cubin's section. */
struct merge_piece {
    uint32_t file;
    uint32_t input;   /* section of that cubin */
    uint32_t section; /* of the image */
    uint64_t offset;  /* in that section */
    uint64_t size;    /* bytes */
};

/* A function or variable of the image, whether or not the symbol table has it. */
struct merge_name {
    struct text name;
    uint64_t value;
    uint64_t size;
    uint32_t section; /* of the image; 0 = undefined, or without a place */
    uint32_t file;    /* the defining cubin; MERGE_NO_FILE = none */
    uint32_t input;   /* its symbol there */
    uint8_t type;     /* STT_* */
    uint8_t binding;  /* STB_* */
};

/* A call; caller and callee are indices in merge_report.kernels. */
struct merge_call {
    uint32_t from;
    uint32_t to;
    bool is_indirect; /* a possible call through a pointer */
};

/* Why a function is not in the image. */
enum merge_reason {
    MERGE_UNREACHED,  /* nothing that is kept needs it */
    MERGE_CAME_LATER, /* an earlier cubin's definition was kept */
    MERGE_GAVE_WAY,   /* it is weak and another cubin's definition is strong */
};

struct merge_drop {
    struct text name;
    uint32_t file;
    uint32_t input;
    bool is_kernel;
    enum merge_reason reason;
};

#define MERGE_NO_FILE UINT32_MAX

/* Filled in for merge_request.wants_places. */
struct merge_places {
    uint16_t type;                  /* ET_EXEC or ET_REL */
    uint64_t file_size;             /* bytes */
    struct merge_section *sections; /* [0] is the null section */
    size_t section_count;
    struct merge_piece *pieces; /* ordered by cubin, then by section */
    size_t piece_count;
    struct merge_name *names; /* ordered by the first cubin that names them */
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

/* Merges `count` cubins (at least 1; see cubin_make_empty()), in that order, into *image and lays
 * it out. Errors and warnings have nvlink's wording; a step reports all its errors before it fails.
 * `report` may be NULL. The image has views into the cubins. */
bool merge_cubins(struct image *image, const struct cubin *const *cubins, size_t count,
                  const struct merge_request *request, struct merge_report *report);

void merge_report_free(struct merge_report *report);

/* Whether the file at `path` may be an index of functions and data with `.attribute(.unified(N,
 * N))` (-uidx), which is an ELF file; NULL means no index. The format of such files is not public,
 * and nothing in CUDA 13.0 writes one, so programs with unified symbols cannot be linked. For a
 * file that cannot be an index, reports nvlink's fatal error and returns false. */
bool merge_check_index(const char *path);
