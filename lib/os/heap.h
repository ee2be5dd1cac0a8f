/* heap.h: how a program's memory comes from the kernel. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Large pages of the heap. */
struct heap_range {
    uintptr_t begin;
    size_t pages;
};

/* For a program that does one thing and ends: what is freed is kept for the next allocation instead
 * of being given back to the kernel, which would have to clear it again page by page (a quarter of
 * the time of assembling). Call it first of all; a library must not. */
void heap_keep_freed(void);

/* Says that about so many bytes are going to be needed. Such a program then takes them in pages of
 * 2 MB, where the kernel has some: each page of 4 KB costs a fault (a fifth of a large merge's
 * time). Other threads take theirs from there from then on. Does nothing elsewhere, or for few;
 * called while there is one thread. Returns where they are, which may be nowhere. */
struct heap_range heap_expect(size_t bytes);

/* Gets one of `parts` parts of these pages from the kernel, which clears them: a large merge's
 * threads share that. Changes nothing in them. */
void heap_prepare(const struct heap_range *range, size_t part, size_t parts);

/* Bytes of the process's memory, as the kernel counts them; 0 where it does not tell. */
struct heap_use {
    uint64_t mapped; /* its address space */
    uint64_t resident;
};

struct heap_use heap_use(void);
