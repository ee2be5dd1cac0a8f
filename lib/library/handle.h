/* handle.h: what a link of minilink.h is made of, for the files of this folder. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/context.h"
#include "command/options.h"
#include "diag/diag.h"
#include "minilink/minilink.h"
#include "os/cancellation.h"

struct minilink {
    struct options options;
    bool is_command;    /* results are files, and messages are printed as they come */
    struct arena arena; /* has what callers gave: words, names, inputs */
    size_t input_count;
    struct minilink_assembler assembler; /* the caller's, when .assemble is set */
    bool is_wrong;                       /* its options are */
    bool is_complete;                    /* successful or not */
    struct link_product product;
    struct cancellation stop;
    struct diag_writer writer; /* to the two: */
    struct buffer errors, infos;
    enum diag_severity last; /* of the message before, which notes belong to */
};

/* Calls function(argument) for `link`, with its messages going to its logs, under a recovery point.
 * The thread is as before when this returns. MINILINK_NO_MEMORY when memory runs out. */
int handle_call(struct minilink *link, enum link_code (*function)(void *argument), void *argument);

/* Adds options and operands of its own to `options`, which has begun. False when one of them is
 * wrong, which has been reported. */
typedef bool handle_reader(struct options *options, const void *argument);

/* The link of the command, whose options `read` adds, called with `argument`. It can be completed
 * when *action, which is what they ask for, is OPTIONS_LINK. Else as minilink_create(), but that
 * *link is NULL only when there is no memory for it. */
int handle_create_command(struct minilink **link, handle_reader *read, const void *argument,
                          enum options_action *action);
