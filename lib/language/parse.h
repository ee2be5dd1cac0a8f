/* parse.h: parses a function body's text into instructions. */
#pragma once

#include <stdbool.h>

#include "base/arch.h"
#include "language/body.h"

/* The context of a body. `lookup` finds a module-level symbol of the chunk by symbol->name: true if
 * there is one, with `is_function`, `space` and `global` set. */
struct parse_scope {
    const char *file;    /* for messages */
    struct text whole;   /* the chunk's text; the body is a view of it, for places in messages */
    uint32_t first_line; /* of the body's first byte in `whole`, from 1 */
    uint16_t version;    /* of PTX, 10 * major + minor; 0 = all are allowed */
    struct arch target;  /* of the module; sm 0 = all are allowed */
    bool (*lookup)(const void *argument, struct body_symbol *symbol);
    const void *argument;
};

/* Parses `text`, "{ ... }", into *body (the caller has set arena and function, and may have added
 * the parameters as symbols or registers). Errors are reported with their place, up to a limit;
 * false if there was one. */
bool parse_body(struct body *body, struct text text, const struct parse_scope *scope);
