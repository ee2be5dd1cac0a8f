/* job_report.h: the report that minilink, as a tool on another machine, writes beside the cubin.
 *
 * It has a line
 *     minilink-report 1 CODE INPUT OUTPUT BYTES
 * followed by the log of BYTES bytes. CODE is the result code; INPUT and OUTPUT are XXH3-128 of the
 * bytes read and written (32 hexadecimal digits each; of nothing if nothing was written). */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"
#include "base/text.h"

/* Room for a hash in hexadecimal digits. */
#define JOB_REPORT_HASH_SIZE 33

/* Views into a report's file, or the data for a new one. */
struct job_report {
    int code; /* enum link_code */
    char input[JOB_REPORT_HASH_SIZE], output[JOB_REPORT_HASH_SIZE];
    struct text log;
};

/* XXH3-128 of the bytes, in hexadecimal digits. Returns `hash`. */
const char *job_report_hash(struct bytes bytes, char hash[JOB_REPORT_HASH_SIZE]);

void job_report_write(struct buffer *out, const struct job_report *report);

/* False when the bytes are not a complete report. */
bool job_report_read(struct job_report *report, struct bytes file);
