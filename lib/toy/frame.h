/* frame.h: parameters, local memory and the way into and out of a function.
 *
 * The call ABI of the built-in assembler. A kernel's parameters stand in constant bank 0, from the
 * architecture's parameter base on. A function's frame in local memory begins with its own return
 * parameters and parameters, which the caller's `call` fills and reads; behind them stand the
 * body's `.local` variables, the `.param` variables of its calls, and spilled registers. Parameters
 * declared as registers travel the same way: they are loaded from the frame at the entry and stored
 * before each return. A call keeps the caller's registers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ptx/module.h"
#include "toy/language/body.h"

struct frame {
    uint32_t parameter_bytes; /* of a kernel, without what precedes them in the bank */
    uint32_t frame_bytes;     /* of local memory */
};

/* Enters the parameters of `function` into the empty body, as symbols or registers. False, and an
 * error, for a parameter that has no place in memory. */
bool frame_declare(struct body *body, const struct ptx_module *module,
                   const struct ptx_item *function);

/* After parsing: adds the loads and stores of register parameters, and a return where control would
 * run off the end. */
void frame_complete(struct body *body, const struct ptx_item *function);

/* After allocation: sets the offset of every .param and .local symbol; a kernel's parameters begin
 * at `base`. False, and an error, when they are too large. */
bool frame_layout(struct body *body, const struct ptx_item *function, uint32_t base,
                  struct frame *frame);
