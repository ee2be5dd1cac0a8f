/* job_report.h: what minilink, as a tool on another machine, says of its job beside the cubin.
 *
 * A line
 *     minilink-report 1 CODE INPUT OUTPUT BYTES
 * and the log of BYTES bytes behind it: the result code, XXH3-128 of what it has read and of what
 * it has written (32 hexadecimal digits each; of nothing where nothing was written). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/text.h"

/* Room for a hash in hexadecimal digits. */
#define JOB_REPORT_HASH_SIZE 33

/* A view into the file, or what one is made of. */
struct job_report {
    int code; /* enum link_code */
    char input[JOB_REPORT_HASH_SIZE], output[JOB_REPORT_HASH_SIZE];
    struct text log;
};

/* XXH3-128 of the bytes, in hexadecimal digits. Returns `hash`. */
const char *job_report_hash(struct bytes bytes, char hash[JOB_REPORT_HASH_SIZE]);

void job_report_write(struct buffer *out, const struct job_report *report);

/* False for bytes that are no whole report. */
bool job_report_read(struct job_report *report, struct bytes file);
