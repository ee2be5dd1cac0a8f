/* join_symbols.h: names, bindings and joined symbols of what the chunks' symbols stand for. */
#pragma once

#include <stdint.h>

#include "base/text.h"

struct join;

/* What the user called it. */
struct text join_own_name(const struct join *join, uint32_t entity);

/* Its binding for the user: of a promoted symbol the one that the program gave it. */
uint8_t join_own_binding(const struct join *join, uint32_t entity);

/* The joined symbol for a chunk's symbol; 0 for one that was dropped. After join_make_symbols. */
uint32_t join_symbol_of(const struct join *join, uint32_t cubin, uint32_t symbol);
