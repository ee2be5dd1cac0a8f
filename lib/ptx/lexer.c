/* lexer.c: a table of byte classes decides by a token's first byte what it is; the rest of the
 * token is a run of one class. Each byte is looked at once, which allows gigabytes per second. */
#include "ptx/lexer.h"

#include <stdlib.h>

enum byte_class {
    CLASS_BAD,
    CLASS_BLANK, /* NUL too: fatbin payloads are padded with NULs */
    CLASS_WORD,
    CLASS_DIGIT,
    CLASS_DOT,
    CLASS_QUOTE,
    CLASS_SLASH,
    CLASS_MARK,
};

static const uint8_t classes[256] = {
    ['\0'] = CLASS_BLANK,        ['\t' ... '\r'] = CLASS_BLANK,
    [' '] = CLASS_BLANK,         ['A' ... 'Z'] = CLASS_WORD,
    ['a' ... 'z'] = CLASS_WORD,  ['_'] = CLASS_WORD,
    ['$'] = CLASS_WORD,          ['%'] = CLASS_WORD,
    ['0' ... '9'] = CLASS_DIGIT, ['.'] = CLASS_DOT,
    ['"'] = CLASS_QUOTE,         ['/'] = CLASS_SLASH,
    ['!'] = CLASS_MARK,          ['&'] = CLASS_MARK,
    ['(' ... '-'] = CLASS_MARK, /* ( ) * + , - */
    [':' ... '@'] = CLASS_MARK, /* : ; < = > ? @ */
    ['['] = CLASS_MARK,          ['\\'] = CLASS_MARK,
    [']'] = CLASS_MARK,          ['^'] = CLASS_MARK,
    ['{' ... '~'] = CLASS_MARK,  ['#'] = CLASS_MARK,
};

const bool lexer_continues[256] = {
    ['A' ... 'Z'] = true, ['a' ... 'z'] = true, ['0' ... '9'] = true, ['_'] = true, ['$'] = true,
};

/* Bytes at which lexer_skip_braces must stop. */
static const bool stops[256] = {['{'] = true, ['}'] = true, ['"'] = true, ['/'] = true};

/* One branch for four bytes is twice as fast as one for each. */
static inline bool any_stops(const uint8_t *four)
{
    return stops[four[0]] | stops[four[1]] | stops[four[2]] | stops[four[3]];
}

static inline uint8_t byte_at(const struct lexer *lexer, size_t at)
{
    return at < lexer->text.size ? (uint8_t)lexer->text.data[at] : 0;
}

struct lexer lexer_at(struct text text, size_t offset)
{
    return (struct lexer){text, offset < text.size ? offset : text.size};
}

/* The end of the run of word bytes from `at`. */
static inline size_t word_end(const struct lexer *lexer, size_t at)
{
    const char *data = lexer->text.data;
    size_t size = lexer->text.size;

    while (at < size && lexer_continues[(uint8_t)data[at]])
        at++;
    return at;
}

/* The offset after the comment that begins at `at`; `at` when none does, SIZE_MAX if not closed. */
static size_t comment_end(const struct lexer *lexer, size_t at)
{
    const char *data = lexer->text.data;
    size_t size = lexer->text.size;
    const char *end;

    if (byte_at(lexer, at + 1) == '/') {
        end = memchr(data + at, '\n', size - at);
        return end ? (size_t)(end - data) : size;
    }
    if (byte_at(lexer, at + 1) != '*')
        return at;
    for (at += 2; at < size; at = (size_t)(end - data) + 1) {
        end = memchr(data + at, '*', size - at);
        if (!end)
            return SIZE_MAX;
        if (byte_at(lexer, (size_t)(end - data) + 1) == '/')
            return (size_t)(end - data) + 2;
    }
    return SIZE_MAX;
}

/* The offset after the closing quote of the string at `at`; 0 when its line ends first. */
static size_t string_end(const struct lexer *lexer, size_t at)
{
    const char *data = lexer->text.data;
    size_t size = lexer->text.size;

    for (at++; at < size && data[at] != '\n'; at++) {
        if (data[at] == '"')
            return at + 1;
        if (data[at] == '\\')
            at++;
    }
    return 0;
}

/* The end of the number at `at`, with word characters that follow, which lexer_number checks. */
static size_t number_end(const struct lexer *lexer, size_t at)
{
    uint8_t next;

    while (text_is_digit((char)byte_at(lexer, at)))
        at++;
    next = byte_at(lexer, at + 1);
    if (byte_at(lexer, at) == '.' && (text_is_digit((char)next) || !lexer_continues[next]))
        for (at++; text_is_digit((char)byte_at(lexer, at));)
            at++;
    next = byte_at(lexer, at + 1);
    if ((byte_at(lexer, at) | 0x20) == 'e' && (next == '-' || next == '+'))
        at += 2;
    return word_end(lexer, at);
}

/* The offset after a dotted word; `::` joins two parts of one (.shared::cta, .L2::cache_hint), and
 * behind it a colon two numbers (.sp::2:4, PTX ISA 9.4). */
static size_t dot_end(const struct lexer *lexer, size_t at)
{
    at = word_end(lexer, at + 1);
    while (byte_at(lexer, at) == ':' && byte_at(lexer, at + 1) == ':' &&
           lexer_continues[byte_at(lexer, at + 2)]) {
        at = word_end(lexer, at + 2);
        if (text_is_digit((char)byte_at(lexer, at - 1)) && byte_at(lexer, at) == ':' &&
            text_is_digit((char)byte_at(lexer, at + 1)))
            at = word_end(lexer, at + 1);
    }
    return at;
}

#define SIZE_MASK ((UINT64_C(1) << 48) - 1)

static struct token token_to(struct lexer *lexer, size_t start, size_t end, enum token_kind kind)
{
    lexer->at = end;
    return (struct token){start, (end - start) & SIZE_MASK, (uint8_t)kind,
                          kind == TOKEN_MARK ? lexer->text.data[start] : 0};
}

struct token lexer_next(struct lexer *lexer)
{
    const char *data = lexer->text.data;
    size_t size = lexer->text.size;

    for (size_t at = lexer->at, end; at < size; at = end) {
        end = at + 1;
        switch (classes[(uint8_t)data[at]]) {
        case CLASS_BLANK:
            break;
        case CLASS_WORD:
            return token_to(lexer, at, word_end(lexer, end), TOKEN_WORD);
        case CLASS_DIGIT:
            return token_to(lexer, at, number_end(lexer, at), TOKEN_NUMBER);
        case CLASS_DOT:
            end = dot_end(lexer, at);
            return token_to(lexer, at, end, end > at + 1 ? TOKEN_DOT : TOKEN_BAD);
        case CLASS_QUOTE:
            end = string_end(lexer, at);
            return token_to(lexer, at, end ? end : at + 1, end ? TOKEN_STRING : TOKEN_BAD);
        case CLASS_SLASH:
            end = comment_end(lexer, at);
            if (end == SIZE_MAX)
                return token_to(lexer, at, size, TOKEN_BAD);
            if (end > at)
                break;
            return token_to(lexer, at, at + 1, TOKEN_MARK);
        case CLASS_MARK:
            return token_to(lexer, at, end, TOKEN_MARK);
        default:
            return token_to(lexer, at, end, TOKEN_BAD);
        }
    }
    return token_to(lexer, size, size, TOKEN_END);
}

struct token lexer_peek(const struct lexer *lexer)
{
    struct lexer copy = *lexer;

    return lexer_next(&copy);
}

size_t lexer_quoted_end(struct text text, size_t at)
{
    struct lexer lexer = {text, at};
    size_t end = at;

    if (text.data[at] == '"')
        end = string_end(&lexer, at);
    else if (text.data[at] == '/')
        end = comment_end(&lexer, at);
    if (end == SIZE_MAX)
        return text.size;
    return end > at ? end : at + 1;
}

bool lexer_skip_braces(struct lexer *lexer)
{
    const char *data = lexer->text.data;
    size_t size = lexer->text.size;
    size_t at = lexer->at, depth = 1;

    while (depth > 0) {
        while (at + 4 <= size && !any_stops((const uint8_t *)data + at))
            at += 4;
        while (at < size && !stops[(uint8_t)data[at]])
            at++;
        if (at == size || (data[at] == '/' && comment_end(lexer, at) == SIZE_MAX)) {
            lexer->at = at;
            return false;
        }
        depth += data[at] == '{';
        depth -= data[at] == '}';
        at = lexer_quoted_end(lexer->text, at);
    }
    lexer->at = at;
    return true;
}

static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
        return (unsigned)((c | 0x20) - 'a') + 10;
    return 99;
}

static struct constant read_digits(struct text digits, unsigned base, enum constant_kind kind)
{
    struct constant constant = {.kind = digits.size ? (uint8_t)kind : CONSTANT_NONE};

    for (size_t i = 0; i < digits.size; i++) {
        unsigned digit = digit_value(digits.data[i]);

        if (digit >= base)
            return (struct constant){0};
        if (__builtin_mul_overflow(constant.bits, (uint64_t)base, &constant.bits) ||
            __builtin_add_overflow(constant.bits, (uint64_t)digit, &constant.bits))
            constant.kind = CONSTANT_TOO_LARGE;
    }
    if (constant.kind == CONSTANT_SIGNED && constant.bits > INT64_MAX)
        constant.kind = CONSTANT_UNSIGNED;
    return constant;
}

static struct constant read_decimal_float(struct text number)
{
    struct constant constant = {.kind = CONSTANT_DOUBLE};
    char copy[128];
    char *end;
    double parsed;

    if (number.size >= sizeof copy)
        return (struct constant){0};
    memcpy(copy, number.data, number.size);
    copy[number.size] = '\0';
    parsed = strtod(copy, &end);
    if (*end != '\0')
        return (struct constant){0};
    memcpy(&constant.bits, &parsed, sizeof parsed);
    return constant;
}

struct constant lexer_number(struct text number)
{
    bool has_prefix = number.size > 2 && number.data[0] == '0';
    bool has_suffix = number.size > 1 && number.data[number.size - 1] == 'U';
    enum constant_kind kind = has_suffix ? CONSTANT_UNSIGNED : CONSTANT_SIGNED;
    struct text bits = text_drop(number, has_prefix ? 2 : 0), digits = bits;

    digits.size -= has_suffix;
    switch (has_prefix ? number.data[1] | 0x20 : 0) {
    case 'f':
        return bits.size == 8 ? read_digits(bits, 16, CONSTANT_SINGLE) : (struct constant){0};
    case 'd':
        return bits.size == 16 ? read_digits(bits, 16, CONSTANT_DOUBLE) : (struct constant){0};
    case 'x':
        return read_digits(digits, 16, kind);
    case 'b':
        return read_digits(digits, 2, kind);
    }
    for (size_t i = 0; i < number.size; i++)
        if (number.data[i] == '.' || (number.data[i] | 0x20) == 'e')
            return read_decimal_float(number);
    number.size -= has_suffix;
    return read_digits(number, number.size > 1 && number.data[0] == '0' ? 8 : 10, kind);
}

bool lexer_integer(struct text word, uint64_t *value)
{
    struct constant constant = lexer_number(word);

    *value = constant.bits;
    return constant.kind == CONSTANT_SIGNED || constant.kind == CONSTANT_UNSIGNED;
}
