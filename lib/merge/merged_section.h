/* merged_section.h: the sections of the image while it is made, and what goes into them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* What kind of section, in the order in which nvlink writes them. */
enum merged_class {
    CLASS_DEBUG,
    CLASS_NOTE,
    CLASS_INFO,
    CLASS_COMPAT,
    CLASS_FUNCTION_INFO,
    CLASS_CALLGRAPH,
    CLASS_PROTOTYPE,
    CLASS_REL_ACTION,
    CLASS_RELOCATIONS,
    CLASS_CONSTANT, /* of the program */
    CLASS_FUNCTION_CONSTANT,
    CLASS_TEXT,
    CLASS_GLOBAL_INIT,
    CLASS_TWIN_TEXT, /* Mercury's (mercury.h), up to CLASS_TWIN_SYMTAB; behind everything else */
    CLASS_TWIN_DEBUG,
    CLASS_TWIN_INFO,
    CLASS_TWIN_FUNCTION_INFO,
    CLASS_TWIN_RELOCATIONS,
    CLASS_TWIN_CONSTANT,
    CLASS_TWIN_FUNCTION_CONSTANT,
    CLASS_TWIN_GLOBAL_INIT,
    CLASS_TWIN_RESERVED,
    CLASS_TWIN_INDICES,
    CLASS_TWIN_SYMTAB,
    CLASS_SHARED, /* this and what follows: no bytes */
    CLASS_DEBUG_SHARED,
    CLASS_RESERVED, /* shared memory, but the driver's */
    CLASS_GLOBAL,
    CLASS_COUNT, /* also of a section that is not written: its contents went into others */
};

/* A section that will be written. */
struct merged_section {
    struct text name;
    uint64_t flags;
    uint64_t alignment;
    uint64_t size;
    const uint8_t *data; /* size bytes: a view into a cubin, or `own` */
    uint8_t *own;        /* a copy in the image's arena that may be changed, or NULL */
    enum merged_class class;
    uint32_t type;
    uint32_t entry_size;
    uint32_t function; /* the symbol it belongs to, or MERGE_NONE */
    uint32_t target;   /* relocations: the merged section they apply to */
    uint32_t bank;     /* constants: the bank's number */
    uint32_t file;     /* info sections: the cubin and its section that they come from */
    uint32_t input;
    uint32_t name_offset; /* in .strtab */
    uint8_t info_high;    /* .text: bits 24-31 of sh_info, kept from the input */
};

/* Where an input section's contents went. */
struct merged_place {
    uint32_t section; /* MERGE_NONE: dropped */
    uint64_t offset;
};

/* A section's contents that stand in another one's. */
struct merged_copy {
    uint32_t from;
    uint32_t to;
    uint64_t offset;
};

/* A relocation that stays. */
struct merged_relocation {
    uint64_t offset;
    int64_t addend;
    uint32_t type;
    uint32_t list;   /* the merged section of relocations that it belongs to */
    uint32_t symbol; /* MERGE_NONE: `section` instead */
    uint32_t section;
};

/* All lists' together, in reading order (relocations.h). */
struct merged_relocations {
    struct merged_relocation *items;
    size_t count;
    size_t capacity;
};

static inline bool merged_is_twin(enum merged_class class)
{
    return class >= CLASS_TWIN_TEXT && class <= CLASS_TWIN_SYMTAB;
}

/* offset rounded up to a multiple of alignment, a power of two or 0. */
static inline uint64_t merged_align(uint64_t offset, uint64_t alignment)
{
    return alignment > 1 ? (offset + alignment - 1) & ~(alignment - 1) : offset;
}
