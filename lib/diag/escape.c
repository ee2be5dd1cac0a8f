/* escape.c: escapes what a terminal might obey. */
#include "diag/escape.h"

/* Code points that are not shown, though UTF-8 can encode them. */
static const struct {
    uint32_t first, last;
} hidden[] = {
    {0, 8},           /* control characters but for the tab */
    {0xa, 0x1f},      /* more of them */
    {0x7f, 0x9f},     /* and U+009B, which begins sequences as ESC [ does */
    {0x2028, 0x202e}, /* line and paragraph separators, and changes of the writing direction */
    {0x2066, 0x2069}, /* the same, isolated */
};

/* The bytes of the UTF-8 character that `text` begins with, or 0 when it is none: not the shortest
 * form, a surrogate, or beyond the last plane. */
static size_t utf8_size(struct text text, uint32_t *point)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t first = (uint8_t)text.data[0];
    size_t size = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 0;

    if (size == 0 || size > text.size || first >= 0xf8)
        return 0;
    *point = size == 1 ? first : first & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if (((uint8_t)text.data[i] & 0xc0) != 0x80)
            return 0;
        *point = *point << 6 | ((uint8_t)text.data[i] & 0x3f);
    }
    return *point < smallest[size] || *point >> 11 == 0x1b || *point > 0x10ffff ? 0 : size;
}

size_t escape_character(struct text text)
{
    uint32_t point;
    size_t size;

    if (text.data[0] >= ' ' && text.data[0] < 0x7f)
        return 1;
    size = utf8_size(text, &point);
    for (size_t i = 0; size && i < sizeof hidden / sizeof *hidden; i++)
        if (point >= hidden[i].first && point <= hidden[i].last)
            return 0;
    return size;
}

/* How many of the bytes that `text` begins with are shown as they are. */
static size_t plain_size(struct text text)
{
    size_t at = 0, size;

    while (at < text.size && (size = escape_character(text_drop(text, at))) > 0)
        at += size;
    return at;
}

bool escape_is_plain(struct text text)
{
    return plain_size(text) == text.size;
}

bool escape_is_utf8(struct text text)
{
    uint32_t point;
    size_t at = 0, size;

    while (at < text.size && (size = utf8_size(text_drop(text, at), &point)) > 0)
        at += size;
    return at == text.size;
}

static void escape(struct text text, bool keeps_lines, struct buffer *out)
{
    while (text.size > 0) {
        size_t size = plain_size(text);

        buffer_append(out, text.data, size);
        text = text_drop(text, size);
        if (text.size == 0)
            return;
        if (keeps_lines && (text.data[0] == '\n' || text_starts(text, TEXT("\r\n"))))
            buffer_char(out, text.data[0]);
        else if (text.data[0] == '\n' || text.data[0] == '\r')
            buffer_string(out, text.data[0] == '\n' ? "\\n" : "\\r");
        else
            buffer_printf(out, "\\x%02x", (uint8_t)text.data[0]);
        text = text_drop(text, 1);
    }
}

void escape_text(struct text text, struct buffer *out)
{
    escape(text, false, out);
}

void escape_lines(struct text text, struct buffer *out)
{
    escape(text, true, out);
}

void escape_vprintf(struct buffer *out, const char *format, va_list arguments)
{
    LOCAL_BUFFER(plain);
    bool ends_line = text_ends(text_of(format), TEXT("\n"));

    buffer_vprintf(&plain, format, arguments);
    plain.size -= ends_line;
    escape_text(buffer_view(&plain), out);
    if (ends_line)
        buffer_char(out, '\n');
}

void escape_printf(struct buffer *out, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    escape_vprintf(out, format, arguments);
    va_end(arguments);
}
