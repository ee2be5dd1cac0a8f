/* body_steps.h: the steps of compiling a body that have files of their own. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "ptx/module.h"
#include "toy/compile.h"
#include "language/body.h"
#include "toy/scope.h"
#include "toy/switches.h"

/* cache_operator.c: cache operators that options set for loads and stores (minilink-internals(7),
 * Phases, 1 and 16). */

struct cache_operator {
    uint16_t word;  /* in the modifier table; 0 = none was given */
    bool is_forced; /* it replaces the text's; else it counts where the text has none */
};

struct cache_operators {
    struct cache_operator loads, stores;
};

/* Reads the switches. Reports errors in ptxas's wording and returns false for anything that is not
 * a cache operator. */
bool cache_operator_read(struct cache_operators *operators, const struct switches *switches);

/* Applies the operators to the body's loads and stores. */
void cache_operator_apply(struct body *body, const struct cache_operators *operators);

/* call_check.c: checks calls against the prototypes of their callees. */

/* Compares the arguments of each direct call in the body with the function's parameters, and checks
 * that each indirect call names its targets or prototype. Reports errors with their lines and
 * returns false. */
bool call_check(const struct body *body, const struct scope *scope,
                const struct ptx_module *module);

/* frame.c: parameters, local memory, and entry to and return from a function.
 *
 * The call ABI of the built-in assembler. A kernel's parameters are in constant bank 0, from the
 * architecture's parameter base on. A function's frame in local memory begins with its return
 * parameters and parameters, which the caller's `call` reads and fills. Then come the body's
 * `.local` variables, the `.param` variables of its calls, and spilled registers. Parameters
 * declared as registers are passed in the first ones from R4 on, return parameters before the
 * others. A call preserves the caller's other registers. */

/* Adds the parameters of `function` to the empty body, as symbols or registers. Reports an error
 * and returns false for a parameter that cannot be placed in memory. */
bool frame_declare(struct body *body, const struct ptx_module *module,
                   const struct ptx_item *function);

/* After parsing: adds a return if control could run off the end. */
void frame_complete(struct body *body);

/* After allocation: sets the offset of every .param and .local symbol, and the function's
 * parameter_bytes and frame_bytes, spill_bytes among them; a kernel's parameters begin at `base`.
 * Reports an error and returns false if they are too large. */
bool frame_layout(struct body *body, uint32_t base, struct function_code *function);

/* budget.c: how many registers a function may use. */

#define BUDGET_LEAST 24u /* what the ABI needs */
#define BUDGET_MOST  255u

/* Sets a kernel's launch bounds from options if it has none of its own, or replaces them with
 * --override-directive-values. */
void budget_override(struct ptx_performance *performance, const struct switches *switches);

/* The number of general registers that `function` may use on `sm`, at most BUDGET_MOST; `option` is
 * the value of -maxrregcount, 0 = none. Warns if a directive cannot be followed. */
uint32_t budget_of(const struct ptx_item *function, uint32_t sm, uint32_t option);

/* signature.c: function prototypes as the short strings that the linker compares. */

/* The string for a function or a .callprototype, in the arena: "#ii" for int (int). */
struct text signature_of(struct arena *arena, const struct ptx_function *function);

/* registers.c: register allocation for one body. */

/* The lowest register that is allocated: R0 to R3 belong to the ABI. */
#define REGISTERS_FIRST 4u

/* Assigns a physical register to every register of the body by linear scan; 64-bit in aligned
 * pairs, 128-bit in aligned quadruples. At most function->register_limit general registers are
 * used, none of those in `reserved`, count << 16 | first. Parameters have theirs for the whole
 * function. Over the limit, registers are spilled: they are words of the frame, from
 * REGISTERS_SPILLED on, which instructions use in the place of registers. Sets
 * function->register_count and spill_bytes; reports an error and returns false if these are too
 * many. Deterministic, and independent of other functions. */
bool registers_allocate(struct body *body, uint32_t reserved, struct function_code *function);
