/* text.h: views of bytes that somebody else owns, and numbers in bytes.
 *
 * Everything that is parsed (files, fatbin payloads, PTX, symbol names) stays where it was mapped
 * or inflated; modules pass views, never copies, and never rely on a final NUL. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* For functions like printf: the numbers of the format and of its first value (0: a va_list). */
#define PRINTF(format_, first) __attribute__((format(printf, format_, first)))

/* Characters, not NUL-terminated. */
struct text {
    const char *data;
    size_t size; /* bytes */
};

/* Raw bytes. */
struct bytes {
    const uint8_t *data;
    size_t size; /* bytes */
};

/* A view of a string literal. */
#define TEXT(literal) ((struct text){literal, sizeof(literal) - 1})

/* printf("%.*s", TEXT_ARG(t)); a view beyond INT_MAX is cut. */
#define TEXT_ARG(t) ((t).size > 0x7fffffff ? 0x7fffffff : (int)(t).size), ((t).data ? (t).data : "")

/* A view of a NUL-terminated string; NULL gives the empty view. */
static inline struct text text_of(const char *string)
{
    return (struct text){string, string ? strlen(string) : 0};
}

/* True when both views hold the same characters. */
static inline bool text_equal(struct text a, struct text b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Less than, equal to or greater than 0, by bytes; a prefix comes before the longer text. */
static inline int text_compare(struct text a, struct text b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size ? memcmp(a.data, b.data, size) : 0;

    return order ? order : (a.size > b.size) - (a.size < b.size);
}

/* True when `t` begins with `prefix`. */
static inline bool text_starts(struct text t, struct text prefix)
{
    return t.size >= prefix.size &&
           (prefix.size == 0 || memcmp(t.data, prefix.data, prefix.size) == 0);
}

/* True when `t` ends with `end`. */
static inline bool text_ends(struct text t, struct text end)
{
    return t.size >= end.size &&
           (end.size == 0 || memcmp(t.data + (t.size - end.size), end.data, end.size) == 0);
}

/* The number of line ends in text[from, to). */
static inline uint32_t text_count_lines(struct text text, size_t from, size_t to)
{
    uint32_t lines = 0;

    to = to < text.size ? to : text.size;
    for (; from < to; from++)
        lines += text.data[from] == '\n';
    return lines;
}

/* The number of strings in a list that ends with NULL; 0 for no list. */
static inline size_t string_list_count(const char *const *list)
{
    size_t count = 0;

    while (list && list[count])
        count++;
    return count;
}

/* True when `string` ends with `suffix` and is longer than that. */
static inline bool string_has_suffix(const char *string, const char *suffix)
{
    size_t size = strlen(string), suffix_size = strlen(suffix);

    return size > suffix_size && strcmp(string + size - suffix_size, suffix) == 0;
}

/* isdigit(), independent of the locale. */
static inline bool text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* isspace(), independent of the locale. */
static inline bool text_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* `t` without its first `count` bytes; it must have that many. */
static inline struct text text_drop(struct text t, size_t count)
{
    return (struct text){t.data + count, t.size - count};
}

static inline struct text text_drop_blanks(struct text t)
{
    while (t.size > 0 && (t.data[0] == ' ' || t.data[0] == '\t'))
        t = text_drop(t, 1);
    return t;
}

/* Takes `prefix` off *t. False, with *t unchanged, when it does not begin with that. */
static inline bool text_skip(struct text *t, struct text prefix)
{
    if (!text_starts(*t, prefix))
        return false;
    *t = text_drop(*t, prefix.size);
    return true;
}

/* Takes the first non-empty part off the comma-separated *list. False when there is none. */
static inline bool text_take_part(struct text *list, struct text *part)
{
    while (list->size) {
        const char *comma = memchr(list->data, ',', list->size);

        *part = (struct text){list->data, comma ? (size_t)(comma - list->data) : list->size};
        list->data += part->size + (comma != NULL);
        list->size -= part->size + (comma != NULL);
        if (part->size)
            return true;
    }
    return false;
}

/* Takes the first line, without its line feed, off *text. False when nothing is left. */
static inline bool text_scan_line(struct text *text, struct text *line)
{
    const char *end = text->size ? memchr(text->data, '\n', text->size) : NULL;

    if (text->size == 0)
        return false;
    *line = (struct text){text->data, end ? (size_t)(end - text->data) : text->size};
    *text = text_drop(*text, line->size + (end != NULL));
    return true;
}

/* Takes the decimal digits off the front of *text. A number too large for 64 bits is UINT64_MAX.
 * False when there are none. */
static inline bool text_scan_number(struct text *text, uint64_t *number)
{
    size_t at = 0;

    for (*number = 0; at < text->size && text_is_digit(text->data[at]); at++)
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (unsigned)(text->data[at] - '0'), number))
            *number = UINT64_MAX;
    if (at > 0) /* the data of an empty text may be NULL */
        *text = text_drop(*text, at);
    return at > 0;
}

/* The characters as bytes. */
static inline struct bytes text_bytes(struct text t)
{
    return (struct bytes){(const uint8_t *)t.data, t.size};
}

static inline bool bytes_equal(struct bytes a, struct bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool bytes_are_zero(struct bytes bytes)
{
    for (size_t i = 0; i < bytes.size; i++)
        if (bytes.data[i])
            return false;
    return true;
}

/* The bounds gate for foreign containers: the view of `size` bytes at `offset` inside `whole`.
 * Returns false, and leaves *part alone, when any of it lies outside; no arithmetic can wrap. */
static inline bool bytes_slice(struct bytes whole, uint64_t offset, uint64_t size,
                               struct bytes *part)
{
    if (offset > whole.size || size > whole.size - offset)
        return false;
    *part = (struct bytes){whole.data ? whole.data + offset : NULL, (size_t)size};
    return true;
}

/* Reading little-endian numbers at any alignment. The caller checks that the bytes are there. */
static inline uint16_t little_u16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] | (unsigned)bytes[1] << 8);
}

static inline uint32_t little_u32(const uint8_t *bytes)
{
    return little_u16(bytes) | (uint32_t)little_u16(bytes + 2) << 16;
}

static inline uint64_t little_u64(const uint8_t *bytes)
{
    return little_u32(bytes) | (uint64_t)little_u32(bytes + 4) << 32;
}
