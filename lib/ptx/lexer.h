/* lexer.h: splits PTX text into tokens, in one pass and without copies.
 *
 * A token is a place in the text: offset, size and kind. Comments, blanks and NULs (payloads are
 * padded with NULs) separate tokens. `ld.global.u32` is three tokens, a word and two dotted words;
 * a caller that needs to know whether tokens touch compares offsets. The lexer's only state is its
 * position, so it can start anywhere between two tokens. */
#pragma once

#include <stdbool.h>

#include "base/text.h"

enum token_kind {
    TOKEN_END,  /* end of the text; size 0, offset = size of the text */
    TOKEN_WORD, /* name, label, opcode, register: [A-Za-z_$%] and then letters, digits, _ and $ */
    TOKEN_DOT,  /* .word: directive, type, modifier, component; may have `::` and begin with a digit
                 */
    TOKEN_NUMBER, /* begins with a digit: 12 0x1f 017 0b11 12U 1.5 2e-3 0f3F800000 0d... 9.0 */
    TOKEN_STRING, /* "...", quotes among its bytes; ends before a line's end when it is not closed
                   */
    TOKEN_MARK,   /* one punctuation character, which is in `mark` */
    TOKEN_BAD,    /* a byte that PTX does not allow, or a comment or string that is not closed */
};

/* Two words, so that it is passed in registers. */
struct token {
    uint64_t offset;    /* in the lexer's text */
    uint64_t size : 48; /* bytes */
    uint8_t kind;       /* enum token_kind */
    char mark;          /* TOKEN_MARK: its character; else 0 */
};

_Static_assert(sizeof(struct token) == 16, "a token fits two registers");

struct lexer {
    struct text text;
    size_t at; /* where the search for the next token begins */
};

/* A lexer that begins at `offset` of `text`, which must lie between two tokens. Token offsets count
 * from the start of `text`, so that they also hold when only a part of it is read. */
struct lexer lexer_at(struct text text, size_t offset);

/* The next token; at the end of the text TOKEN_END, every time. */
struct token lexer_next(struct lexer *lexer);

/* The next token without moving on. */
struct token lexer_peek(const struct lexer *lexer);

/* The bytes that continue a word: letters, digits, `_` and `$`. (`%` can only begin one.) */
extern const bool lexer_continues[256];

/* The view of a token. */
static inline struct text lexer_text(const struct lexer *lexer, struct token token)
{
    return (struct text){lexer->text.data + token.offset, token.size};
}

/* True when the token's bytes are exactly `expected`. */
static inline bool lexer_is(const struct lexer *lexer, struct token token, struct text expected)
{
    return token.kind != TOKEN_END && text_equal(lexer_text(lexer, token), expected);
}

/* With lexer->at after an opening brace: moves after the brace that closes it. Skips strings and
 * comments and looks at nothing else, so it runs at memory speed. False when there is no closing
 * brace: at the end of the text, or at a comment that is not closed. */
bool lexer_skip_braces(struct lexer *lexer);

/* The offset after the string or comment that begins at `at`; at + 1 when none does. */
size_t lexer_quoted_end(struct text text, size_t at);

enum constant_kind {
    CONSTANT_NONE,      /* no number, or a digit too large for its base */
    CONSTANT_TOO_LARGE, /* an integer beyond 64 bits */
    CONSTANT_SIGNED,    /* 12, 0x1f, 017, 0b11 */
    CONSTANT_UNSIGNED,  /* the same with U, or if it needs all 64 bits */
    CONSTANT_SINGLE,    /* 0f: the bit pattern of a float */
    CONSTANT_DOUBLE,    /* 0d, 1.5, 2e-3: the bit pattern of a double */
};

struct constant {
    uint64_t bits;
    uint8_t kind; /* enum constant_kind */
};

/* The value of a TOKEN_NUMBER. */
struct constant lexer_number(struct text number);

/* Its value if it is an integer, else false. */
bool lexer_integer(struct text word, uint64_t *value);

/* Threads of a warp: the value of the word WARP_SZ. */
#define LEXER_WARP_SIZE 32u
