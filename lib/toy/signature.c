/* signature.c: prototype strings.
 *
 * Measured on ptxas: `#`, a letter for the return parameter or `v`, and a letter for each
 * parameter. Letters go by size: b 1, h 2, i 4, l 8, x 16 bytes; f and d for .f32 and .f64; for an
 * array the number of elements follows, 0 for a variable number: "#vib0". A vector counts as one
 * integer of its size. Whether a parameter is a register makes no difference. */
#include "toy/body_steps.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "ptx/lexer.h"
#include "ptx/types.h"

struct parameter {
    enum ptx_type type;
    uint32_t lanes;
    bool is_array;
    uint64_t count;
};

/* Longest form of one parameter: a letter, 20 digits and the NUL that sprintf writes. */
#define MOST_CHARACTERS 22u

struct signature {
    struct lexer lexer;
    char *out;
    size_t size;
};

static char letter_of(const struct parameter *parameter)
{
    if (parameter->lanes == 1 && parameter->type == PTX_F32)
        return 'f';
    if (parameter->lanes == 1 && parameter->type == PTX_F64)
        return 'd';
    switch (ptx_type_size(parameter->type) * parameter->lanes) {
    case 1:
        return 'b';
    case 2:
        return 'h';
    case 8:
        return 'l';
    case 16:
        return 'x';
    default:
        return 'i';
    }
}

static void put(struct signature *signature, const struct parameter *parameter)
{
    signature->out[signature->size++] = letter_of(parameter);
    if (parameter->is_array)
        signature->size +=
            (size_t)sprintf(signature->out + signature->size, "%" PRIu64, parameter->count);
}

static void read_word(struct parameter *parameter, struct text word)
{
    if (ptx_type_find(word) != PTX_NO_TYPE)
        parameter->type = ptx_type_find(word);
    else if (text_equal(word, TEXT(".v2")))
        parameter->lanes = 2;
    else if (text_equal(word, TEXT(".v4")))
        parameter->lanes = 4;
}

static void read_dimension(struct signature *signature, struct parameter *parameter)
{
    struct token token = lexer_next(&signature->lexer);
    uint64_t size = 0;
    if (token.kind == TOKEN_NUMBER)
        lexer_number(lexer_text(&signature->lexer, token), &size, NULL);
    parameter->count = parameter->is_array ? parameter->count * size : size;
    parameter->is_array = true;
}

/* Reads one list of parameters, after its opening parenthesis. */
static void read_list(struct signature *signature)
{
    struct parameter parameter = {.lanes = 1};
    for (;;) {
        struct token token = lexer_next(&signature->lexer);
        if (token.kind == TOKEN_DOT) {
            read_word(&parameter, lexer_text(&signature->lexer, token));
        } else if (token.mark == '[') {
            read_dimension(signature, &parameter);
        } else if (token.mark == ',' || token.mark == ')' || token.kind == TOKEN_END) {
            if (parameter.type != PTX_NO_TYPE)
                put(signature, &parameter);
            parameter = (struct parameter){.lanes = 1};
        }
        if (token.mark == ')' || token.kind == TOKEN_END)
            return;
    }
}

struct text signature_of(struct arena *arena, struct text head)
{
    struct signature signature = {.lexer = lexer_at(head, 0)};
    /* A parameter takes more characters in the text than in the string, except for its number. */
    signature.out = arena_alloc(arena, head.size + MOST_CHARACTERS, 2);
    signature.out[signature.size++] = '#';
    bool has_name = false;
    bool is_attribute = false;
    for (struct token token; (token = lexer_next(&signature.lexer)).kind != TOKEN_END;) {
        if (token.kind == TOKEN_WORD && !has_name) {
            has_name = true;
            if (signature.size == 1)
                signature.out[signature.size++] = 'v';
        } else if (token.mark == '(' && is_attribute) {
            while ((token = lexer_next(&signature.lexer)).kind != TOKEN_END && token.mark != ')')
                ;
        } else if (token.mark == '(') {
            read_list(&signature);
        }
        is_attribute = token.kind == TOKEN_DOT &&
                       text_equal(lexer_text(&signature.lexer, token), TEXT(".attribute"));
    }
    return (struct text){signature.out, signature.size};
}
