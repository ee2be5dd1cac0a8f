/* job_report.c: one line, followed by the log. */
#include "distribute/distribute.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

/* Room for the line. */
#define LINE_SIZE 160

static const char format[] = "minilink-report 1 %d %s %s %zu\n";

static const char *hash_of(struct bytes bytes, char hash[JOB_REPORT_HASH_SIZE])
{
    XXH128_hash_t value = XXH3_128bits(bytes.data, bytes.size);

    snprintf(hash, JOB_REPORT_HASH_SIZE, "%016llx%016llx", (unsigned long long)value.high64,
             (unsigned long long)value.low64);
    return hash;
}

bool job_report_hash_is(const char *hash, struct bytes bytes)
{
    return strcmp(hash, hash_of(bytes, (char[JOB_REPORT_HASH_SIZE]){0})) == 0;
}

void job_report_write(struct buffer *out, enum link_code code, struct bytes input,
                      struct bytes output, struct text log)
{
    char hashes[2][JOB_REPORT_HASH_SIZE];

    buffer_printf(out, format, (int)code, hash_of(input, hashes[0]), hash_of(output, hashes[1]),
                  log.size);
    buffer_text(out, log);
}

/* The line must be the one that would be written now. */
bool job_report_read(struct job_report *report, struct bytes file)
{
    char line[LINE_SIZE], again[LINE_SIZE];
    const char *end = file.size ? memchr(file.data, '\n', file.size) : NULL;
    size_t size = end ? (size_t)(end + 1 - (const char *)file.data) : LINE_SIZE, log_size;

    if (size >= LINE_SIZE)
        return false;
    memcpy(line, file.data, size);
    line[size] = '\0';
    if (sscanf(line, "minilink-report 1 %9d %32[0-9a-f] %32[0-9a-f] %18zu", &report->code,
               report->input, report->output, &log_size) != 4)
        return false;
    snprintf(again, sizeof again, format, report->code, report->input, report->output, log_size);
    report->log = text_drop((struct text){(const char *)file.data, file.size}, size);
    return strcmp(line, again) == 0 && report->code >= 0 &&
           strlen(report->input) == JOB_REPORT_HASH_SIZE - 1 &&
           strlen(report->output) == JOB_REPORT_HASH_SIZE - 1 && report->log.size == log_size;
}
