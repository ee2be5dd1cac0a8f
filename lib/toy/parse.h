/* parse.h: a function body's text to instructions. */
#pragma once

#include <stdbool.h>

#include "base/arch.h"
#include "toy/language/body.h"

/* What the body may refer to. `lookup` finds a module-level symbol of the chunk by symbol->name:
 * true when there is one, with `is_function`, `space` and `global` set. */
struct parse_scope {
    const char *file;  /* for messages */
    struct text whole; /* the chunk's text; the body is a view inside it, so places can be found */
    uint32_t first_line; /* of the body's first byte in `whole`, from 1 */
    uint16_t version;    /* of PTX, 10 * major + minor; 0 = all are allowed */
    struct arch target;  /* of the module; sm 0 = all are allowed */
    bool (*lookup)(const void *argument, struct body_symbol *symbol);
    const void *argument;
};

/* Parses `text`, "{ ... }", into *body (arena and function are set by the caller; the parameters
 * may have been entered as symbols, or as registers, already). Errors are reported with their
 * place, up to a limit; false when there was one. */
bool parse_body(struct body *body, struct text text, const struct parse_scope *scope);
