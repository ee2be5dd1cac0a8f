/* bodies.h: what the tests of the body parser and of the encoder share: parsing a text with symbols
 * by their first letter (fixtures/instructions/README), and catching messages. */
#pragma once

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "language/body.h"

struct parsed {
    struct arena arena;
    struct body body;
    struct diag_sink messages;
    bool ok;
};

static inline bool bodies_lookup(const void *argument, struct body_symbol *symbol)
{
    (void)argument;
    symbol->is_function = symbol->name.data[0] == 'f';
    switch (symbol->name.data[0]) {
    case 'f':
    case 'g':
        symbol->space = PTX_SPACE_GLOBAL;
        return true;
    case 'c':
        symbol->space = PTX_SPACE_CONST;
        return true;
    case 's':
        symbol->space = PTX_SPACE_SHARED;
        return true;
    case 't':
        symbol->space = PTX_SPACE_TEX;
        return true;
    default:
        return false;
    }
}

/* Parses a body with two parameters, kernel_param_0 and _1; messages are kept. */
static inline void bodies_parse(struct parsed *parsed, struct text text)
{
    struct parse_scope scope = {
        .file = "test.ptx", .whole = text, .first_line = 1, .lookup = bodies_lookup};
    struct body_symbol *parameters;

    *parsed = (struct parsed){0};
    parameters = arena_zalloc(&parsed->arena, 2, sizeof *parameters);
    for (unsigned i = 0; i < 2; i++)
        parameters[i] =
            (struct body_symbol){.name = text_of(i ? "kernel_param_1" : "kernel_param_0"),
                                 .is_body_variable = true,
                                 .is_parameter = true,
                                 .space = PTX_SPACE_PARAM,
                                 .size = 8,
                                 .offset = 0x210 + 8 * i};
    parsed->body = (struct body){.arena = &parsed->arena,
                                 .declared = &parsed->arena,
                                 .function = TEXT("kernel"),
                                 .symbols = parameters,
                                 .symbol_count = 2};
    diag_state_get()->sink = &parsed->messages;
    parsed->ok = parse_body(&parsed->body, text, &scope);
    diag_state_get()->sink = NULL;
}

static inline void bodies_free(struct parsed *parsed)
{
    arena_free(&parsed->arena);
    diag_sink_free(&parsed->messages);
}

/* Gives every register a physical one: its number modulo what its class has. */
static inline void bodies_allocate(struct body *body)
{
    static const unsigned first[] = {0, 4, 4, 4}, width[] = {1, 1, 2, 4},
                          room[] = {7, 250, 124, 62};
    unsigned used[REGISTER_CLASSES] = {0};

    for (size_t i = 0; i < body->register_count; i++) {
        unsigned class = body->registers[i].class;

        body->registers[i].physical =
            (uint16_t)(first[class] + used[class]++ % room[class] * width[class]);
    }
}
