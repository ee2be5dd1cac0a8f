/* pqueue.c: sift up on push, sift down on pop; the children of i are 2i + 1 and 2i + 2. */
#include "pool/pqueue.h"

#include <stdint.h>
#include <stdlib.h>

static bool grow_queue(struct pqueue *queue)
{
    size_t capacity = queue->capacity ? queue->capacity * 2 : 16;
    void **array;

    if (queue->capacity > SIZE_MAX / sizeof *array / 2)
        return false;
    array = realloc(queue->array, capacity * sizeof *array);
    if (!array)
        return false;
    queue->array = array;
    queue->capacity = capacity;
    return true;
}

bool pqueue_push(struct pqueue *queue, void *element)
{
    size_t i;

    if (queue->count == queue->capacity && !grow_queue(queue))
        return false;
    for (i = queue->count++; i > 0; i = (i - 1) / 2) {
        void *parent = queue->array[(i - 1) / 2];

        if (!queue->comparator(element, parent))
            break;
        queue->array[i] = parent;
    }
    queue->array[i] = element;
    return true;
}

/* The child of i that leaves first; `count` when there is none. */
static size_t first_child(const struct pqueue *queue, size_t i)
{
    size_t left = 2 * i + 1, right = left + 1;

    if (left >= queue->count)
        return queue->count;
    if (right < queue->count && queue->comparator(queue->array[right], queue->array[left]))
        return right;
    return left;
}

void *pqueue_pop(struct pqueue *queue)
{
    void *first, *moved;
    size_t i = 0;

    if (queue->count == 0)
        return NULL;
    first = queue->array[0];
    moved = queue->array[--queue->count];
    for (size_t child = first_child(queue, i); child < queue->count;
         child = first_child(queue, i)) {
        if (!queue->comparator(queue->array[child], moved))
            break;
        queue->array[i] = queue->array[child];
        i = child;
    }
    queue->array[i] = moved;
    return first;
}

void pqueue_free(void *queue)
{
    free(((struct pqueue *)queue)->array);
}
