/* join_input.h: one chunk's cubin, and what belongs together in it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "cubin/cubin.h"
#include "cubin/mercury.h"

#define JOIN_NONE UINT32_MAX

struct join_block; /* join_blocks.h */

struct join_input_section {
    uint32_t text;              /* the code section it belongs to, 0 = none */
    uint32_t next_owned;        /* the next section of the same code, 0 = none */
    uint32_t function;          /* code: position in the functions' order, or JOIN_NONE */
    uint32_t united;            /* index of the united_section it goes into, or JOIN_NONE */
    uint32_t joined;            /* in the result, 0 = none */
    bool has_symbol;            /* a section symbol stands for it */
    uint32_t first_relocations; /* the first section that relocates it, 0 = none */
    uint32_t next_relocations;  /* a relocation section's: the next of the same target */
    const struct cubin_relocation *relocations; /* of Mercury's sections, too */
    size_t relocation_count;
    uint32_t plain;        /* a twin's: the section that it is the twin of, 0 = not known */
    uint32_t first_object; /* the first symbol that stands in it, section symbols aside; 0 = none */
    struct join_block *blocks; /* united: by rising offset */
    size_t block_count;
};

/* One record of .nv.info. */
struct join_record {
    struct bytes raw;
    uint32_t symbol; /* its first word, 0 = none */
    uint32_t next;   /* next record of the same symbol; JOIN_NONE = none */
};

struct join_input {
    const struct cubin *cubin;
    struct cubin_twins twins;
    uint32_t *entities;    /* by symbol; JOIN_NONE for section symbols */
    uint32_t *next_object; /* by symbol: the next in the same section, 0 = none */
    struct join_input_section *sections;
    struct join_record *records;
    size_t record_count;
    uint32_t *first_record; /* by symbol; JOIN_NONE = none */
};
