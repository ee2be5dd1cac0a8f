/* join_blocks.h: sections that all functions share, united from those of the chunks, and the blocks
 * that they are cut into so that each can stand where the unsplit program has it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct cubin;
struct cubin_relocation;
struct join;

/* A piece of a section that moves as a whole: an object, objects that overlap, a function's frame
 * description, or all of one chunk's section. */
struct join_block {
    uint32_t cubin;
    uint32_t section;
    uint64_t offset; /* in that section */
    uint64_t size;
    uint64_t alignment;
    uint32_t symbol; /* one that stands in it; 0 = none */
    bool is_kept;
    uint32_t rank; /* sort key, highest part first */
    uint64_t order;
    uint64_t tie;
    uint64_t placed; /* offset in the joined section */
};

/* A relocation of a united section; its symbol is still the chunk's. */
struct join_relocation {
    uint64_t offset; /* in the joined section */
    uint32_t type;
    uint32_t cubin;
    uint32_t symbol;
    bool is_in_place; /* goes into the REL section, not the RELA one */
    int64_t addend;
};

/* Sections of all chunks that become one. */
struct united_section {
    struct text name;
    uint32_t cubin; /* where the first of them stands */
    uint32_t section;
    uint64_t alignment;
    uint64_t size;
    bool is_shared;    /* objects without a place: only their sizes count */
    bool is_frames;    /* .debug_frame */
    bool is_copied;    /* Mercury's twin of data: its blocks are where the data's are */
    bool is_whole;     /* concatenated section by section, since its objects cannot be told apart */
    bool has_in_place; /* it has REL relocations, so addends of 0 go there (measured, before sm_90)
                        */
    struct join_block **blocks; /* kept ones, in the result's order */
    size_t block_count, block_capacity;
    uint8_t *data;                       /* or NULL without contents */
    uint32_t joined;                     /* section in the result */
    struct join_relocation *relocations; /* those in place first, each kind by falling offset */
    size_t relocation_count, relocation_capacity;
    size_t in_place_count;
};

/* Cuts section `section` of chunk `cubin` into blocks that can move alone. False when that cannot
 * be: bytes other than padding, or relocations, lie outside of them. */
bool join_blocks(struct join *join, uint32_t cubin, uint32_t section);

/* Makes all of the section one block. */
void join_blocks_whole(struct join *join, uint32_t cubin, uint32_t section);

/* The block around `offset`, or NULL. */
struct join_block *join_blocks_at(const struct join *join, uint32_t cubin, uint32_t section,
                                  uint64_t offset);

/* The offset in the joined section of byte `offset` of a chunk's united section. */
uint64_t join_blocks_translate(const struct join *join, uint32_t cubin, uint32_t section,
                               uint64_t offset);

/* A relocation's addend, which in a REL section of data stands in the field. */
int64_t join_addend(const struct cubin *cubin, uint32_t section,
                    const struct cubin_relocation *relocation);
