/* pqueue.c: sift up on push, sift down on pop; the children of i are 2i + 1 and 2i + 2. */
#include "base/pqueue.h"

void pqueue_push(struct pqueue *queue, void *element)
{
    size_t i;

    for (i = queue->count++; i > 0; i = (i - 1) / 2) {
        void *parent = queue->array[(i - 1) / 2];

        if (!queue->comparator(element, parent))
            break;
        queue->array[i] = parent;
    }
    queue->array[i] = element;
}

void *pqueue_pop(struct pqueue *queue)
{
    void *first, *moved;
    size_t i = 0;

    if (queue->count == 0)
        return NULL;
    first = queue->array[0];
    moved = queue->array[--queue->count];
    for (size_t child = 1; child < queue->count; child = 2 * i + 1) {
        if (child + 1 < queue->count &&
            queue->comparator(queue->array[child + 1], queue->array[child]))
            child++;
        if (!queue->comparator(queue->array[child], moved))
            break;
        queue->array[i] = queue->array[child];
        i = child;
    }
    queue->array[i] = moved;
    return first;
}
