/* fuzz_body.c: any bytes as a function body, then as code. What parses must encode and decode
 * again. */
#include "toy/encode.h"
#include "language/body.h"
#include "fuzz.h"

static bool lookup(const void *argument, struct body_symbol *symbol)
{
    char first = symbol->name.data[0];

    (void)argument;
    symbol->is_function = first == 'f';
    symbol->space = first == 'c'   ? PTX_SPACE_CONST
                    : first == 's' ? PTX_SPACE_SHARED
                                   : PTX_SPACE_GLOBAL;
    return first != '%';
}

static void allocate(struct body *body)
{
    for (size_t i = 0; i < body->register_count; i++)
        body->registers[i].physical =
            (uint16_t)(body->registers[i].class == REGISTER_PREDICATE ? i % 7 : i % 60 * 4);
}

/* Code that encode_body made is decoded whole; any other bytes are survived. */
static void print(struct bytes code, bool is_ours)
{
    struct buffer out = {0};
    size_t at = 0, step;

    while (at < code.size) {
        step = encode_print(code, at, &out, NULL, NULL);
        if (is_ours && step == 0)
            abort();
        at += step ? step : CODE_WORD_SIZE;
        out.size = 0;
    }
    buffer_free(&out);
}

static void fuzz(struct bytes rest)
{
    struct arena arena = {0};
    struct text text = {(const char *)rest.data, rest.size};
    struct body body = {.arena = &arena, .declared = &arena, .function = TEXT("fuzzed")};
    struct parse_scope scope = {.file = "fuzz", .whole = text, .first_line = 1, .lookup = lookup};
    struct code_relocations relocations = {0};
    struct buffer code = {0};

    if (parse_body(&body, text, &scope)) {
        allocate(&body);
        if (encode_body(&body, "fuzz", &code, &relocations))
            print(buffer_bytes(&code), true);
    } else if (fuzz_errors() == 0) {
        abort(); /* a failure without a message */
    }
    print(rest, false);
    buffer_free(&code);
    arena_free(&arena);
}
