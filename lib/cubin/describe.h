/* describe.h: all that must be equal in two functions that are one, as bytes: the contents,
 * relocations and records of their sections. A symbol is described by the caller, who knows what it
 * stands for. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cubin/cubin.h"

/* A description under construction; `to` grows. */
struct description {
    struct buffer *to;
    const struct cubin *cubin; /* of the function */
    /* Appends what the cubin's symbol stands for. */
    void (*put_symbol)(void *argument, uint32_t symbol);
    void *argument;
    const bool *is_bound; /* by symbol: it is not external to the program, although an EXTERNS
                             record has it; NULL = all are external */
};

/* Appends the bytes and how many they are. */
void describe_bytes(struct buffer *to, struct bytes bytes);

/* A record, without symbols of EXTERNS that are bound; nothing if none is left. */
void describe_record(const struct description *description, const struct info_record *record);

/* A section of the function: its header without name and links, and contents. Not in it: indices of
 * sections and symbols, but those of relocations and records. */
void describe_section(const struct description *description, const struct cubin_section *section);
