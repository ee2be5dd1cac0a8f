/* report.h: what minilink, as a tool on another machine, says of its job beside the cubin.
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
#define REPORT_HASH_SIZE 33

/* A view into the file, or what one is made of. */
struct report {
    int code; /* enum link_code */
    char input[REPORT_HASH_SIZE], output[REPORT_HASH_SIZE];
    struct text log;
};

/* XXH3-128 of the bytes, in hexadecimal digits. Returns `hash`. */
const char *report_hash(struct bytes bytes, char hash[REPORT_HASH_SIZE]);

void report_write(struct buffer *out, const struct report *report);

/* False for bytes that are no whole report. */
bool report_read(struct report *report, struct bytes file);
