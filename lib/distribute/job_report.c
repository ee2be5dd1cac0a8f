/* job_report.c: one line, followed by the log. */
#include "distribute/job_report.h"

#include <limits.h>
#include <stdio.h>
#include <xxhash.h>

#include "base/text.h"

static const char format[] = "minilink-report 1 ";

const char *job_report_hash(struct bytes bytes, char hash[JOB_REPORT_HASH_SIZE])
{
    XXH128_hash_t value = XXH3_128bits(bytes.data, bytes.size);

    snprintf(hash, JOB_REPORT_HASH_SIZE, "%016llx%016llx", (unsigned long long)value.high64,
             (unsigned long long)value.low64);
    return hash;
}

void job_report_write(struct buffer *out, const struct job_report *report)
{
    buffer_printf(out, "%s%d %s %s %zu\n", format, report->code, report->input, report->output,
                  report->log.size);
    buffer_text(out, report->log);
}

/* Removes a number and the character after it from *rest. */
static bool take_job_number(struct text *rest, struct text end, uint64_t *number)
{
    return text_scan_number(rest, number) && text_skip(rest, end);
}

static bool take_hash(struct text *rest, char hash[JOB_REPORT_HASH_SIZE])
{
    const size_t size = JOB_REPORT_HASH_SIZE - 1;

    if (rest->size <= size || rest->data[size] != ' ')
        return false;
    for (size_t i = 0; i < size; i++)
        if (!memchr("0123456789abcdef", rest->data[i], 16))
            return false;
    memcpy(hash, rest->data, size);
    hash[size] = '\0';
    *rest = text_drop(*rest, size + 1);
    return true;
}

bool job_report_read(struct job_report *report, struct bytes file)
{
    struct text rest = {(const char *)file.data, file.size};
    uint64_t code, size;

    if (!text_skip(&rest, TEXT(format)) || !take_job_number(&rest, TEXT(" "), &code) ||
        code > INT_MAX || !take_hash(&rest, report->input) || !take_hash(&rest, report->output) ||
        !take_job_number(&rest, TEXT("\n"), &size) || rest.size != size)
        return false;
    report->code = (int)code;
    report->log = rest;
    return true;
}
