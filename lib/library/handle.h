/* handle.h: what a link of minilink.h is made of, for the files of this folder. */
#ifndef MINILINK_LIBRARY_HANDLE_H
#define MINILINK_LIBRARY_HANDLE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/context.h"
#include "base/diag.h"
#include "base/stop.h"
#include "command/options.h"
#include "link/product.h"
#include "minilink/minilink.h"

struct minilink {
    struct options options;
    struct arena arena; /* has what callers gave: words, names, inputs */
    size_t input_count;
    struct minilink_assembler assembler; /* the caller's, when .assemble is set */
    bool is_wrong;                       /* its options are */
    bool is_complete;                    /* successful or not */
    struct link_product product;
    struct stop stop;
    struct diag_writer writer; /* to the two: */
    struct buffer errors, infos;
    enum diag_severity last; /* of the message before, which notes belong to */
};

/* Calls function(argument) for `link`, with its messages going to its logs, under a recovery point.
 * The thread is as before when this returns. MINILINK_NO_MEMORY when memory runs out. */
int handle_call(struct minilink *link, enum link_code (*function)(void *argument), void *argument);

#endif
