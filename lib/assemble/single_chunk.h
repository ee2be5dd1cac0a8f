/* single_chunk.h: assembles one chunk from a file to a file: what minilink does on another machine.
 *
 * minilink(1), Distributors: --assemble-chunk. The cubin is the one that the link itself would have
 * made; a report (distribute/job_report.c) has the messages. */
#pragma once

#include "assemble/assembler.h"
#include "base/arch.h"
#include "base/context.h"

struct single_chunk_request {
    const char *input;  /* PTX */
    const char *output; /* the cubin */
    const char *report; /* the report; NULL = print the messages */
    struct assembler_request assembler;
    const char *version; /* --assembler-version: required version; NULL = any */
    struct arch arch;
    uint32_t mode; /* enum minilink_mode */
    bool debug, line_info;
    uint32_t maxrregcount;
    const char *const *options; /* ends with NULL */
};

/* Assembles the chunk. LINK_OK, or why not, which has been reported. */
enum link_code single_chunk_run(const struct single_chunk_request *request);
