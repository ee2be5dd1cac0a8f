/* builtin.h: the built-in assembler: assembles all of PTX to cubins in the real container format,
 * with minilink's own instruction encoding, so that everything works without CUDA.
 *
 * minilink-internals(7), EMBEDDED DRIVER, describes its structure. */
#pragma once

#include "minilink/assembler.h"

#define BUILTIN_NAME    "builtin"
#define BUILTIN_VERSION "encoding 3"

/* The assembler's entry in the registry. A function's code, records and symbols depend only on its
 * own text and the declarations that it uses, not on its chunk. */
extern const struct minilink_assembler builtin_assembler;
