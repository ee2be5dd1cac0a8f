/* cross_reference.h: who names what: --trace-symbol, --cref and --why-live. Private to observe/.
 *
 * Symbols that are visible between members are one node by their name; others are nodes of their
 * own. What PTX names is known from the linked program, what machine code does from its
 * relocations. */
#pragma once

#include "observe/facts.h"

struct cross_reference;

/* True when somebody asks for it. */
bool cross_reference_is_wanted(const struct observe_request *request);

/* Notes what the program's modules, and the cubins of members, define and name. */
void cross_reference_add_program(struct observation *observation, const struct program *program);
void cross_reference_add_cubin(struct observation *observation, const struct cubin *cubin);

/* Appends what was asked for. */
void cross_reference_print(struct observation *observation, struct buffer *out);

void cross_reference_free(struct cross_reference *cross);
