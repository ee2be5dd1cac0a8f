/* log_line.c: the forms of a line, tried one after the other. */
#include "diag/log_line.h"

static const struct {
    struct text name;
    enum diag_severity severity;
} severities[] = {
    {TEXT("fatal error"), DIAG_FATAL}, {TEXT("fatal"), DIAG_FATAL},
    {TEXT("error"), DIAG_ERROR},       {TEXT("warning"), DIAG_WARNING},
    {TEXT("warn"), DIAG_WARNING},      {TEXT("info"), DIAG_INFO},
    {TEXT("note"), DIAG_NOTE},         {TEXT("advisory"), DIAG_WARNING},
};

static bool skip_number(struct text *text, uint32_t *number)
{
    uint64_t value;

    if (!text_scan_number(text, &value) || value > UINT32_MAX)
        return false;
    *number = (uint32_t)value;
    return true;
}

bool log_line_parse_severity(struct text line, struct log_line *parsed)
{
    for (size_t i = 0; i < sizeof severities / sizeof severities[0]; i++) {
        struct text rest = line, number;

        if (!text_skip(&rest, severities[i].name))
            continue;
        number = rest = text_drop_blanks(rest);
        if (text_starts(rest, TEXT("("))) {
            const char *end = memchr(rest.data, ')', rest.size < 16 ? rest.size : 16);

            if (!end)
                continue;
            rest = text_drop_blanks(text_drop(rest, (size_t)(end - rest.data) + 1));
        }
        if (!text_skip(&rest, TEXT(":")))
            continue;
        parsed->severity = severities[i].severity;
        parsed->text = text_starts(number, TEXT("(")) ? number : text_drop_blanks(rest);
        return true;
    }
    return false;
}

/* Reads what follows "ptxas ". A file name may hold anything, so the last ", line " counts. */
static bool parse_ptxas(struct text line, struct log_line *parsed)
{
    const struct text mark = TEXT(", line ");

    if (log_line_parse_severity(line, parsed))
        return true;
    for (const char *at = line.data;
         (at = memmem(at, (size_t)(line.data + line.size - at), mark.data, mark.size)) != NULL;
         at++) {
        struct text rest = text_drop(line, (size_t)(at - line.data) + mark.size);

        if (!skip_number(&rest, &parsed->line) || !text_skip(&rest, TEXT(";")))
            continue;
        if (log_line_parse_severity(text_drop_blanks(rest), parsed))
            return true;
    }
    return false;
}

/* Reads "LINE:COLUMN: severity: text" and "LINE: severity: text". */
static bool parse_place(struct text line, struct log_line *parsed)
{
    if (!skip_number(&line, &parsed->line) || !text_skip(&line, TEXT(":")))
        return false;
    if (skip_number(&line, &parsed->column) && !text_skip(&line, TEXT(":")))
        return false;
    return log_line_parse_severity(text_drop_blanks(line), parsed);
}

bool log_line_parse(struct text line, struct log_line *parsed)
{
    struct text rest = line;

    *parsed = (struct log_line){.severity = DIAG_NOTE};
    if (text_skip(&rest, TEXT("ptxas ")) ? parse_ptxas(text_drop_blanks(rest), parsed)
                                         : parse_place(line, parsed))
        return true;
    parsed->line = parsed->column = 0;
    return log_line_parse_severity(line, parsed);
}
