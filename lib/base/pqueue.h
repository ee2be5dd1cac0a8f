/* pqueue.h: a binary heap of pointers. */
#pragma once

#include <stddef.h>

/* Start with {.array = ..., .comparator = ...}. */
struct pqueue {
    void **array; /* the caller's, with room for all elements; array[0] leaves next */
    size_t count;
    /* Non-zero when `a` leaves before `b`. A strict order: of two different elements exactly one
     * leaves before the other. */
    int (*comparator)(const void *a, const void *b);
};

/* Adds an element, in O(log n). */
void pqueue_push(struct pqueue *queue, void *element);

/* Removes and returns the first element, in O(log n); NULL when there is none. */
void *pqueue_pop(struct pqueue *queue);
