/* parser.c: consumes tokens, and reports what was expected instead. */
#include "ptx/internal.h"

/* The largest alignment that a variable or parameter may request: ptxas 13.0 and 13.5 take 2^31,
 * too, but no section of a cubin is read that has a larger one than this. */
#define LARGEST_ALIGNMENT (1u << 20)

/* No object is larger than the address space of a GPU; the limit keeps all sums in 64 bits. */
#define LARGEST_OBJECT (UINT64_C(1) << 48)

void parser_next(struct parser *parser)
{
    if (parser->failed)
        return;
    parser->last_end = parser->token.offset + parser->token.size;
    parser->token = lexer_next(&parser->lexer);
}

void parser_recover(struct parser *parser)
{
    if (parser->failed)
        parser->token = parser->resume;
    parser->failed = false;
}

struct text parser_text(const struct parser *parser)
{
    return lexer_text(&parser->lexer, parser->token);
}

struct text parser_from(const struct parser *parser, size_t start)
{
    size_t end = parser->last_end > start ? parser->last_end : start;

    return (struct text){parser->lexer.text.data + start, end - start};
}

bool parser_at_mark(const struct parser *parser, char mark)
{
    return parser->token.kind == TOKEN_MARK && parser->token.mark == mark;
}

bool parser_at_dot(const struct parser *parser, const char *word)
{
    return parser->token.kind == TOKEN_DOT && text_equal(parser_text(parser), text_of(word));
}

void parser_fail(struct parser *parser, size_t place, const char *format, ...)
{
    struct diag_place where = diag_place_behind(parser->module->file, parser->module->whole, place,
                                                parser->counted, parser->line);
    const char *message;
    va_list arguments;

    if (parser->failed)
        return;
    parser->failed = true;
    parser->resume = parser->token;
    parser->token = (struct token){.offset = parser->token.offset, .kind = TOKEN_END};
    if (++parser->errors > PARSER_MOST_ERRORS && parser->is_body)
        return;
    va_start(arguments, format);
    message = arena_vprintf(parser->arena, format, arguments);
    va_end(arguments);
    if (where.file)
        diag_at(DIAG_ERROR, &where, "%s", message);
    if (parser->errors == PARSER_MOST_ERRORS && parser->is_body)
        diag_note("too many errors in '%.*s'", TEXT_ARG(parser->function));
}

static void fail_in_comment(struct parser *parser, size_t place)
{
    parser_fail(parser, place, "this comment does not end");
}

bool parser_is_unended(const struct parser *parser)
{
    size_t size = parser->token.offset - parser->last_end;
    bool begins = parser->token.kind == TOKEN_DOT ||
                  (parser->is_body && (parser->token.kind == TOKEN_WORD ||
                                       (parser->token.mark && strchr("@{}", parser->token.mark))));

    return begins && size > 0 && memchr(parser->lexer.text.data + parser->last_end, '\n', size);
}

void parser_braces(struct parser *parser, const char *what, struct text name)
{
    if (parser->failed)
        return;
    if (lexer_skip_braces(&parser->lexer)) {
        parser->token = (struct token){.offset = parser->lexer.at, .kind = TOKEN_MARK};
        parser_next(parser);
    } else if (parser->lexer.at < parser->lexer.text.size) {
        fail_in_comment(parser, parser->lexer.at);
    } else if (what) {
        parser_fail(parser, parser->token.offset, "%s '%.*s' does not end", what, TEXT_ARG(name));
    } else {
        parser_fail(parser, parser->token.offset, "'{' without '}'");
    }
}

void parser_expected(struct parser *parser, const char *what)
{
    struct text found = parser_text(parser);
    size_t place = parser->token.offset;

    for (size_t i = 0; i < found.size; i++)
        if (i == 60 || (unsigned char)found.data[i] < ' ' || (unsigned char)found.data[i] > '~')
            found.size = i;
    if (text_starts(text_of(what), TEXT("';'")) && parser_is_unended(parser))
        parser_fail(parser, parser->last_end, "';' is missing at the end of the line");
    else if (parser->token.kind == TOKEN_END)
        parser_fail(parser, place, "expected %s, not the end of the %s", what,
                    parser->is_body ? "body" : "text");
    else if (text_starts(found, TEXT("/*")))
        fail_in_comment(parser, place);
    else if (found.size == 0)
        parser_fail(parser, place, "expected %s", what);
    else
        parser_fail(parser, place, "expected %s, not '%.*s'", what, TEXT_ARG(found));
}

bool parser_skip(struct parser *parser, char mark)
{
    bool is_here = parser_at_mark(parser, mark);

    if (is_here)
        parser_next(parser);
    return is_here;
}

void parser_mark(struct parser *parser, char mark)
{
    const char what[] = {'\'', mark, '\'', '\0'};

    if (parser_skip(parser, mark))
        return;
    if (mark == ';' && parser_is_unended(parser))
        parser_report(parser, parser->last_end, "';' is missing at the end of the line");
    else
        parser_expected(parser, what);
}

struct text parser_word(struct parser *parser, const char *what)
{
    struct text word = parser_text(parser);

    if (parser->token.kind != TOKEN_WORD) {
        parser_expected(parser, what);
        return (struct text){0};
    }
    parser_next(parser);
    return word;
}

uint64_t parser_number(struct parser *parser, uint64_t largest, const char *what)
{
    uint64_t value = 0;

    if (parser->token.kind != TOKEN_NUMBER || !lexer_integer(parser_text(parser), &value))
        parser_expected(parser, what);
    else if (value > largest)
        parser_fail(parser, parser->token.offset, "%s is too large", what);
    parser_next(parser);
    return parser->failed ? 0 : value;
}

uint64_t parser_count(struct parser *parser, uint64_t largest, const char *what)
{
    if (!lexer_is(&parser->lexer, parser->token, TEXT("WARP_SZ")))
        return parser_number(parser, largest, what);
    parser_next(parser);
    return LEXER_WARP_SIZE;
}

void parser_strings(struct parser *parser)
{
    do {
        if (parser->token.kind != TOKEN_STRING)
            parser_expected(parser, "a string");
        parser_next(parser);
    } while (parser_skip(parser, ','));
}

uint32_t parser_alignment(struct parser *parser)
{
    size_t place;
    uint64_t value;

    parser_next(parser);
    place = parser->token.offset;
    value = parser_number(parser, LARGEST_ALIGNMENT, "an alignment");
    if (value == 0 || (value & (value - 1)) != 0)
        parser_fail(parser, place, "alignment is not a power of two");
    return (uint32_t)value;
}

uint64_t parser_dimensions(struct parser *parser, struct ptx_dimensions *found, bool *is_open)
{
    uint64_t count = 1;
    size_t capacity = 0;

    while (parser_skip(parser, '[')) {
        bool is_first = found->count == 0;
        uint64_t size = PTX_OPEN;

        if (!is_first || !parser_at_mark(parser, ']'))
            size = parser_count(parser, LARGEST_OBJECT, "an array size");
        /* With an initial value ptxas treats 0 as a missing size (measured). */
        if (is_first && (size == 0 || size == PTX_OPEN))
            *is_open = true;
        else if (__builtin_mul_overflow(count, size, &count) || count > LARGEST_OBJECT)
            parser_fail(parser, parser->last_end - 1, "array is too large");
        ARENA_PUSH(parser->arena, found->sizes, found->count, capacity) = size;
        parser_mark(parser, ']');
    }
    return count;
}

void parser_type(struct parser *parser, uint8_t *type, uint8_t *vector, const char *what)
{
    struct text word = parser_text(parser);

    *vector = text_equal(word, TEXT(".v2")) ? 2 : text_equal(word, TEXT(".v4")) ? 4 : 1;
    if (*vector > 1)
        parser_next(parser);
    *type = (uint8_t)ptx_type_find(parser_text(parser));
    if (parser->token.kind != TOKEN_DOT || *type == PTX_NO_TYPE)
        parser_expected(parser, what);
    parser_next(parser);
}

uint32_t parser_line(const struct parser *parser)
{
    return parser->line +
           text_count_lines(parser->lexer.text, parser->counted, parser->token.offset);
}

void parser_add(struct parser *parser, const struct ptx_item *item, size_t start)
{
    struct ptx_item *added;

    if (parser->failed)
        return;
    added = &ARRAY_PUSH(parser->items, parser->item_count, parser->item_capacity);
    parser->line += text_count_lines(parser->lexer.text, parser->counted, start);
    if (start > parser->counted)
        parser->counted = start;
    *added = *item;
    added->line = parser->line;
    added->text = parser_from(parser, start);
}

enum ptx_space parser_space(const struct parser *parser)
{
    return parser->token.kind == TOKEN_DOT ? ptx_space_find(parser_text(parser)) : PTX_SPACE_NONE;
}
