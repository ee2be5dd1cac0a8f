/* scope.h: the names that a chunk declares outside of bodies. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"
#include "ptx/module.h"
#include "language/body.h"

/* A function or variable of the chunk; one entry for all its declarations. */
struct global {
    struct text name;
    const struct ptx_item *item; /* its definition, else its first declaration */
    const char *first;           /* the statement that declares it first */
    uint32_t aliased; /* .alias: index of the function that it stands for; else NO_INDEX */
    bool is_function;
    bool is_defined;  /* defined in this chunk and not dropped by entries.c; true for aliases */
    bool is_selected; /* entries.c: selected functions and aliases of a whole program */
    bool is_used;     /* code, data or an alias refers to it; set while the chunk is assembled */
    bool is_address_taken; /* its address is taken; set like is_used */
    uint32_t object;       /* variables: index in the data's objects */
    uint32_t function;     /* defined functions: index among them */
    uint32_t symbol;       /* index in .symtab; 0 = none */
};

/* Start with {0}. */
struct scope {
    struct arena *arena;
    struct global *globals; /* in order of their first mention; in the arena */
    size_t count;
    struct table names;
};

/* Makes room for the names of `module`, in `arena`. */
void scope_begin(struct scope *scope, struct arena *arena, const struct ptx_module *module);

/* Collects the names of `module`. Reports errors and returns false if a name has two definitions or
 * meanings, or a function that is not `.extern` has no body. */
bool scope_build(struct scope *scope, const struct ptx_module *module);

void scope_free(struct scope *scope);

/* The global called `name`, or NULL. */
struct global *scope_find(const struct scope *scope, struct text name);

/* The function that an alias stands for; any other global itself. */
struct global *scope_target(const struct scope *scope, struct global *global);

/* The function that a symbol of a body means, if the code uses it in one of these ways (a set of
 * enum symbol_use); else NULL. */
struct global *scope_used_function(const struct scope *scope, const struct body_symbol *symbol,
                                   unsigned uses);

/* For struct parse_scope; `argument` is the scope. */
bool scope_lookup(const void *argument, struct body_symbol *symbol);
