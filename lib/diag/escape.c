/* escape.c: escapes what a terminal might obey. */
#include "diag/escape.h"

#define LONGEST_ESCAPE 4u /* bytes of "\x1b" */

struct range {
    uint32_t first;
    uint32_t last;
};

/* Code points that are not shown, though UTF-8 can encode them. */
static const struct range hidden[] = {
    {0x80, 0x9f}, /* control characters, U+009B among them, which begins sequences as ESC [ does */
    {0x2028, 0x202e}, /* line and paragraph separators, and changes of the writing direction */
    {0x2066, 0x2069}, /* the same, isolated */
};

/* The smallest code point that needs as many bytes. */
static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};

static bool is_hidden(uint32_t point)
{
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (point >= hidden[i].first && point <= hidden[i].last)
            return true;
    return false;
}

/* Surrogates, and what is beyond the last plane. */
static bool is_no_character(uint32_t point)
{
    return (point >= 0xd800 && point <= 0xdfff) || point > 0x10ffff;
}

/* The bytes of the character beyond ASCII that `text` begins with, or 0 when it is not UTF-8. */
static size_t sequence_size(struct text text, uint32_t *point)
{
    uint8_t first = (uint8_t)text.data[0];
    size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 0;

    if (size == 0 || size > text.size || first >= 0xf8)
        return 0;
    *point = first & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if (((uint8_t)text.data[i] & 0xc0) != 0x80)
            return 0;
        *point = *point << 6 | ((uint8_t)text.data[i] & 0x3f);
    }
    return *point < smallest[size] || is_no_character(*point) ? 0 : size;
}

size_t escape_character(struct text text)
{
    uint8_t first = (uint8_t)text.data[0];
    uint32_t point = 0;

    if (first >= 0x80) {
        size_t size = sequence_size(text, &point);

        return is_hidden(point) ? 0 : size;
    }
    return (first >= ' ' && first != 0x7f) || first == '\t';
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

    for (size_t at = 0, size; at < text.size; at += size) {
        size = (uint8_t)text.data[at] < 0x80 ? 1 : sequence_size(text_drop(text, at), &point);
        if (size == 0)
            return false;
    }
    return true;
}

static void put_escaped_byte(uint8_t byte, struct buffer *out)
{
    static const char digits[] = "0123456789abcdef";
    char hexadecimal[] = {'\\', 'x', digits[byte >> 4], digits[byte & 15]};

    if (byte == '\n')
        buffer_text(out, TEXT("\\n"));
    else if (byte == '\r')
        buffer_text(out, TEXT("\\r"));
    else
        buffer_append(out, hexadecimal, sizeof hexadecimal);
}

static bool begins_line_end(struct text text)
{
    return text.data[0] == '\n' || text_starts(text, TEXT("\r\n"));
}

static size_t hidden_bytes(struct text text)
{
    size_t count = 0;

    for (size_t at = plain_size(text); at < text.size; at += plain_size(text_drop(text, at))) {
        at++;
        count++;
    }
    return count;
}

static void escape(struct text text, bool keeps_lines, struct buffer *out)
{
    buffer_reserve(out, text.size + hidden_bytes(text) * (LONGEST_ESCAPE - 1));
    while (text.size > 0) {
        size_t size = plain_size(text);

        buffer_append(out, text.data, size);
        text = text_drop(text, size);
        if (text.size == 0)
            return;
        if (keeps_lines && begins_line_end(text))
            buffer_char(out, text.data[0]);
        else
            put_escaped_byte((uint8_t)text.data[0], out);
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
