/* pqueue.h: a binary heap of pointers.
 *
 * Not thread-safe: the pool calls it with its mutex held. For the same reason, running out of
 * memory is a return value here, never a jump. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Start with {.comparator = ...}. */
struct pqueue {
    void **array;    /* the heap; array[0] leaves next */
    size_t count;    /* elements in it */
    size_t capacity; /* elements that fit */
    /* Non-zero when `a` leaves before `b`. A strict order: of two different elements exactly one
     * leaves before the other. */
    int (*comparator)(const void *a, const void *b);
};

/* Adds an element, in O(log n). False when memory runs out; the queue is then unchanged. */
bool pqueue_push(struct pqueue *queue, void *element);

/* Removes and returns the first element, in O(log n); NULL when there is none. */
void *pqueue_pop(struct pqueue *queue);

/* Frees the queue's memory, not its elements. For CONTEXT_DEFER, too. */
void pqueue_free(void *queue);
