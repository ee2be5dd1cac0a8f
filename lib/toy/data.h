/* data.h: the variables of a chunk: their bytes, their places, and the addresses among them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "ptx/module.h"
#include "toy/compile.h"
#include "toy/scope.h"

/* sampler.c: the modes that the initial value of a `.samplerref` variable sets. */

#define SAMPLER_NOT_SAID 0xffu

struct sampler {
    uint8_t values[4];    /* addr_mode_0 to 2, filter_mode; or SAMPLER_NOT_SAID */
    uint8_t unnormalized; /* force_unnormalized_coords: 0, 1 or SAMPLER_NOT_SAID */
};

/* Decodes the initial value of the variable `item` of `module`. Reports an error and returns false
 * if it is malformed. */
bool sampler_decode(struct sampler *sampler, const struct ptx_module *module,
                    const struct ptx_item *item);

enum data_kind {
    DATA_INITIALISED, /* .nv.global.init */
    DATA_CONSTANT,    /* .nv.constant3 */
    DATA_SHARED,      /* .nv_debug.shared: of the module, or of a function that is not a kernel */
    DATA_ZERO,        /* .nv.global */
    DATA_KINDS,
    DATA_KERNEL_SHARED = DATA_KINDS, /* .nv.shared.K */
    DATA_COMMON,                     /* left to the linker */
    DATA_PARAMETER, /* a texture, sampler or surface: its symbol is in the kernel's code section */
    DATA_UNDEFINED,
};

/* A variable, of the module or of a body. */
struct object {
    struct text name;
    uint8_t kind;      /* enum data_kind */
    uint8_t type;      /* of its symbol */
    uint8_t other;     /* st_other */
    uint8_t linkage;   /* enum ptx_linkage */
    uint32_t function; /* DATA_KERNEL_SHARED, DATA_PARAMETER: index of the kernel */
    uint32_t alignment;
    uint64_t size;
    uint64_t offset;              /* in its section */
    uint32_t symbol;              /* index in .symtab */
    struct sampler sampler;       /* of a sampler of the module */
    const struct ptx_item *value; /* the declaration with its initial value; NULL = it has none */
};

/* An address in the bytes of a variable. */
struct data_relocation {
    uint64_t offset; /* in the section */
    uint32_t type;   /* enum cubin_relocation_type */
    uint32_t global; /* the global whose address it is: index in the scope */
    int64_t addend;
};

struct data_section {
    uint64_t size;
    uint32_t alignment; /* 0 while the section is empty */
    uint8_t *bytes;     /* `size` bytes, or NULL if they are not stored */
    struct data_relocation *relocations;
    size_t relocation_count;
    uint32_t section;            /* its index in the image; 0 = it has none */
    uint32_t relocation_section; /* likewise that of its relocations */
};

/* Start with {0}. */
struct data {
    struct object *objects;
    size_t object_count;
    struct data_section sections[DATA_KINDS];
};

/* Places all variables of the module, then those of the bodies of `functions`, and sets their
 * symbols' `object` and the functions' shared sizes. Marks in the scope what initial values refer
 * to. All memory is from `arena`. On failure, reports errors and returns false. */
bool data_build(struct data *data, struct arena *arena, const struct ptx_module *module,
                struct scope *scope, struct function_code *functions, size_t function_count,
                uint32_t sm);
