/* builtin.h: the built-in assembler: all of PTX to a cubin whose container is the real one and
 * whose instruction words are our own, so that everything works where CUDA is not installed.
 *
 * Structure of the driver: spec, embedded-ptxas-driver. */
#pragma once

#include "minilink/assembler.h"

/* The assembler's entry in the registry. A function's code, records and symbols depend on nothing
 * but the function's own text and the declarations that it uses: not on its chunk. */
extern const struct minilink_assembler builtin_assembler;
