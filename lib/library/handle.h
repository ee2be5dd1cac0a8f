/* handle.h: struct minilink, for the files of this folder. */
#pragma once

#include "base/memory.h"
#include "command/options.h"
#include "diag/diag.h"
#include "minilink/minilink.h"
#include "os/thread.h"

struct minilink {
    struct options options;
    struct arena arena; /* has the caller's words, names and inputs */
    size_t input_count;
    struct minilink_assembler assembler; /* the caller's, when .assemble is set */
    bool is_wrong;                       /* its options are wrong */
    bool is_complete;                    /* successful or not */
    bool was_cancelled;
    struct link_product product;
    struct cancellation stop;
    struct diag_writer writer; /* to the two: */
    struct buffer errors, infos;
    enum diag_severity last; /* of the message before, which notes belong to */
};

/* Calls function(argument) under a recovery point, with messages going to the logs of `link` (or
 * NULL). The calling thread's context, locale and signal mask are its own again when it returns.
 * Messages use the thread's context. Numbers in texts have a decimal point, whatever the program's
 * locale. A write to a file at its size limit, or to a pipe without a reader, must return an error:
 * the signal would end the program. */
enum link_code handle_enter(struct minilink *link, enum link_code (*function)(void *argument),
                            void *argument);

/* The same for a call of the interface: refuses it where too little stack is left. */
int handle_call(struct minilink *link, enum link_code (*function)(void *argument), void *argument);
