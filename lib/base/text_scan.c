/* text_scan.c: digits are those of no locale. */
#include "base/text_scan.h"

bool text_scan_line(struct text *text, struct text *line)
{
    const char *end = text->size ? memchr(text->data, '\n', text->size) : NULL;

    if (text->size == 0)
        return false;
    *line = (struct text){text->data, end ? (size_t)(end - text->data) : text->size};
    *text = text_drop(*text, line->size + (end != NULL));
    return true;
}

bool text_scan_number(struct text *text, uint64_t *number)
{
    size_t at = 0;

    for (*number = 0; at < text->size && text_is_digit(text->data[at]); at++)
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (unsigned)(text->data[at] - '0'), number))
            *number = UINT64_MAX;
    if (at > 0) /* an empty text may have no data to go on from */
        *text = text_drop(*text, at);
    return at > 0;
}
