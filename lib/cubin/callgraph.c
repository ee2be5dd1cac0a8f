/* callgraph.c: the entries of .nv.callgraph, pairs of 32-bit words in four parts.
 *
 * A pair of 0 and a part's number, -1 to -4, begins the part (format.h has their names). */
#include "cubin/cubin.h"

bool callgraph_next(struct bytes *rest, struct callgraph_entry *entry)
{
    while (rest->size >= 8) {
        entry->first = info_word(*rest, 0);
        entry->second = info_word(*rest, 1);
        rest->data += 8;
        rest->size -= 8;
        if (entry->first != 0 || (int32_t)entry->second >= 0)
            return true;
        entry->part = (int32_t)entry->second;
    }
    return false;
}
