/* body_steps.h: the steps of a body's phases that have files of their own. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "ptx/module.h"
#include "toy/compile.h"
#include "toy/language/body.h"
#include "toy/scope.h"

/* call_check.c: calls against the prototypes of what they call. */

/* Compares the arguments of each direct call in the body with the parameters of the function, and
 * sees that each indirect call says what it calls. False, and errors with their lines. */
bool call_check(const struct body *body, const struct scope *scope,
                const struct ptx_module *module);

/* frame.c: parameters, local memory and the way into and out of a function.
 *
 * The call ABI of the built-in assembler. A kernel's parameters stand in constant bank 0, from the
 * architecture's parameter base on. A function's frame in local memory begins with its own return
 * parameters and parameters, which the caller's `call` fills and reads; behind them stand the
 * body's `.local` variables, the `.param` variables of its calls, and spilled registers. Parameters
 * declared as registers travel the same way: they are loaded from the frame at the entry and stored
 * before each return. A call keeps the caller's registers. */

/* Enters the parameters of `function` into the empty body, as symbols or registers. False, and an
 * error, for a parameter that has no place in memory. */
bool frame_declare(struct body *body, const struct ptx_module *module,
                   const struct ptx_item *function);

/* After parsing: adds the loads and stores of register parameters, and a return where control would
 * run off the end. */
void frame_complete(struct body *body, const struct ptx_item *function);

/* After allocation: sets the offset of every .param and .local symbol, and the function's
 * parameter_bytes and frame_bytes; a kernel's parameters begin at `base`. False, and an error, when
 * they are too large. */
bool frame_layout(struct body *body, uint32_t base, struct function_code *function);

/* signature.c: function prototypes as the short strings that the linker compares. */

/* The string for the head of a function, ".func (...) name (...)", or for a ".callprototype", in
 * the arena: "#ii" for int (int). */
struct text signature_of(struct arena *arena, struct text head);

/* liveness.c: from where to where each register of a body holds a value that is still needed. */

/* Positions: instruction i reads at 2 * i and writes at 2 * i + 1. A register must be kept from
 * `start` to `end`, both included; start > end for one that does not occur. Two registers whose
 * intervals do not meet can share a place. */
struct interval {
    uint32_t start;
    uint32_t end;
};

/* The interval of every register, in the body's arena. The body has less than 2^30 instructions. */
struct interval *liveness_intervals(const struct body *body);

/* One place in an instruction that names a register. A write that may leave the old value, or a
 * part of it, counts as a read too: under a guard, of one component, or of an accumulator. So a
 * register is dead before an instruction that writes it and does not read it. */
struct register_access {
    uint32_t *reg; /* in the instruction: index in body.registers */
    bool is_read;
    bool is_written;
};

/* The accesses of one instruction; reused from one to the next. Start with {0}. */
struct register_accesses {
    struct register_access *list; /* in the body's arena */
    size_t count;
    size_t capacity;
};

/* Fills `accesses` with those of `instruction`, wherever among its operands they stand; the guard's
 * last. */
void liveness_accesses(const struct body *body, struct instruction *instruction,
                       struct register_accesses *accesses);

/* rewrite.c: a body's instructions copied with others in between. */

struct rewrite {
    struct body *body;
    struct instruction *out;
    size_t count;
    size_t capacity;
    uint32_t *moved; /* instruction -> the first of those that stand for it */
};

void rewrite_begin(struct rewrite *rewrite, struct body *body);

/* What is added from here on stands for instruction `index`, or for the end, whose index is their
 * number: labels there stand before it. Called for each. */
void rewrite_at(struct rewrite *rewrite, size_t index);

/* Adds an instruction as it is. */
void rewrite_copy(struct rewrite *rewrite, const struct instruction *instruction);

/* Adds `opcode` with modifiers, a list that ends with NULL, and these operands, which are copied;
 * its place in the source is that of `like`. It writes its first operand, unless it is a store. */
void rewrite_add(struct rewrite *rewrite, const struct instruction *like, uint16_t opcode,
                 const char *const *modifiers, const struct operand *operands, uint8_t count);

/* Gives the body the new instructions and moves its labels along. */
void rewrite_end(struct rewrite *rewrite);

/* Operands: a register, a number, [symbol + offset]. */
struct operand rewrite_register(uint32_t reg);
struct operand rewrite_immediate(int64_t value);
struct operand rewrite_address(uint32_t symbol, uint64_t offset);

/* allocate.c: register allocation for one body. */

/* The lowest register that is given away: R0 to R3 belong to the ABI. */
#define ALLOCATE_FIRST 4u

struct allocation {
    uint32_t register_count; /* general registers in use, the ABI's reserved ones among them */
    uint32_t spill_bytes;    /* of local frame used for spilled registers */
};

/* Gives every register of the body a physical one: liveness over the control-flow graph, then
 * linear scan; 64-bit in aligned pairs, 128-bit in aligned quadruples. `budget` is the most general
 * registers that may be used (at most 255). Over budget, registers are spilled to `.local` memory:
 * the body gets the loads and stores. False, and an error, when even that does not fit.
 * Registers that `reserved`
 * names, count << 16 | first, are given to nobody. Deterministic, and independent of other
 * functions. */
bool allocate_registers(struct body *body, uint32_t budget, uint32_t reserved,
                        struct allocation *result);

/* spill.c: registers for which there is no room: each lives in local memory, and is loaded and
 * stored around the instructions that use it. */

/* Where a body's spilled registers are kept: a body variable in `.local`. Start with {0}. */
struct spill_area {
    uint32_t symbol; /* index in body.symbols */
    uint32_t size;   /* bytes; 0 = there is none yet */
};

/* Rewrites the body so that the registers marked in `is_spilled` (an array as long as
 * body.registers) occur no more: each has a slot in `area`, is loaded into a new register before an
 * instruction that reads it and stored behind one that writes it. Labels are moved along. The new
 * registers stand at the end of body.registers. False, and an error, when the body gets too large.
 */
bool spill_registers(struct body *body, const bool *is_spilled, struct spill_area *area);
