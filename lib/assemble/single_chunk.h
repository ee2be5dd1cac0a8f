/* single_chunk.h: one chunk from a file to a file: what minilink does on another machine.
 *
 * minilink(1), Distributors: --assemble-chunk. The cubin is that which the link would have made by
 * itself, and a report (distribute/job_report.h) has the messages. */
#pragma once

#include "assemble/assembler.h"
#include "base/arch.h"
#include "base/context.h"

struct single_chunk_request {
    const char *input;  /* PTX */
    const char *output; /* the cubin */
    const char *report; /* the report; NULL = what it would say is printed */
    struct assembler_request assembler;
    const char *version; /* --assembler-version: what the assembler must be; NULL = any */
    struct arch arch;
    uint32_t mode; /* enum minilink_mode */
    bool debug, line_info;
    uint32_t maxrregcount;
    const char *const *options; /* ends with NULL */
};

/* Assembles the chunk. LINK_OK, or why not, which has been reported. */
enum link_code single_chunk_run(const struct single_chunk_request *request);
