/* body_steps.h: the steps of compiling a body that have files of their own. */
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
 * declared as registers are passed the same way: they are loaded from the frame at the entry and
 * stored before each return. A call preserves the caller's registers. */

/* Adds the parameters of `function` to the empty body, as symbols or registers. Reports an error
 * and returns false for a parameter that cannot be placed in memory. */
bool frame_declare(struct body *body, const struct ptx_module *module,
                   const struct ptx_item *function);

/* After parsing: adds the loads and stores of register parameters, and a return if control could
 * run off the end. */
void frame_complete(struct body *body, const struct ptx_item *function);

/* After allocation: sets the offset of every .param and .local symbol, and the function's
 * parameter_bytes and frame_bytes; a kernel's parameters begin at `base`. Reports an error and
 * returns false if they are too large. */
bool frame_layout(struct body *body, uint32_t base, struct function_code *function);

/* signature.c: function prototypes as the short strings that the linker compares. */

/* The string for the head of a function, ".func (...) name (...)", or for a ".callprototype", in
 * the arena: "#ii" for int (int). */
struct text signature_of(struct arena *arena, struct text head);

/* liveness.c: live intervals of a body's registers. */

/* Positions: instruction i reads at 2 * i and writes at 2 * i + 1. A register is live from `start`
 * to `end`, inclusive; start > end for one that does not occur. Two registers whose intervals do
 * not overlap can share a physical register. */
struct interval {
    uint32_t start;
    uint32_t end;
};

/* The interval of every register, in the body's arena. The body has less than 2^30 instructions. */
struct interval *liveness_intervals(const struct body *body);

/* One use of a register in an instruction. A write that may preserve the old value, or part of it
 * (under a guard, of one component, or of an accumulator), counts as a read too. So a register is
 * dead before an instruction that writes it and does not read it. */
struct register_access {
    uint32_t *reg; /* in the instruction: index in body.registers */
    bool is_read;
    bool is_written;
};

/* The accesses of one instruction; reused for the next. Start with {0}. */
struct register_accesses {
    struct register_access *list; /* in the body's arena */
    size_t count;
    size_t capacity;
};

/* Fills `accesses` with those of `instruction`, in any operand; the guard comes last. */
void liveness_accesses(const struct body *body, struct instruction *instruction,
                       struct register_accesses *accesses);

/* rewrite.c: copies a body's instructions and inserts others. */

struct rewrite {
    struct body *body;
    struct instruction *out;
    size_t count;
    size_t capacity;
    uint32_t *moved; /* instruction -> the first of those that replace it */
};

void rewrite_begin(struct rewrite *rewrite, struct body *body);

/* Instructions added from here on replace instruction `index`, so labels before it stand before
 * them. Must be called for each instruction, and for the end, whose index is their number. */
void rewrite_at(struct rewrite *rewrite, size_t index);

/* Adds an unchanged instruction. */
void rewrite_copy(struct rewrite *rewrite, const struct instruction *instruction);

/* Adds `opcode` with modifiers, a list that ends with NULL, and operands, which are copied; its
 * place in the source is that of `like`. The first operand is written, except by stores. */
void rewrite_add(struct rewrite *rewrite, const struct instruction *like, uint16_t opcode,
                 const char *const *modifiers, const struct operand *operands, uint8_t count);

/* Replaces the body's instructions by the new ones and adjusts its labels. */
void rewrite_end(struct rewrite *rewrite);

/* Operands: a register, a number, [symbol + offset]. */
struct operand rewrite_register(uint32_t reg);
struct operand rewrite_immediate(int64_t value);
struct operand rewrite_address(uint32_t symbol, uint64_t offset);

/* allocate.c: register allocation for one body. */

/* The lowest register that is allocated: R0 to R3 belong to the ABI. */
#define ALLOCATE_FIRST 4u

struct allocation {
    uint32_t register_count; /* general registers in use, including the ABI's reserved ones */
    uint32_t spill_bytes;    /* of local frame used for spilled registers */
};

/* Assigns a physical register to every register of the body: liveness over the control-flow graph,
 * then linear scan; 64-bit in aligned pairs, 128-bit in aligned quadruples. At most `budget` (up to
 * 255) general registers are used. Over budget, registers are spilled to `.local` memory, and loads
 * and stores are added to the body. Reports an error and returns false if even that does not fit.
 * Registers in `reserved`, count << 16 | first, are not allocated. Deterministic, and independent
 * of other functions. */
bool allocate_registers(struct body *body, uint32_t budget, uint32_t reserved,
                        struct allocation *result);

/* spill.c: spills registers to local memory, with loads and stores around the instructions that use
 * them. */

/* Memory for a body's spilled registers: a body variable in `.local`. Start with {0}. */
struct spill_area {
    uint32_t symbol; /* index in body.symbols */
    uint32_t size;   /* bytes; 0 = there is none yet */
};

/* Rewrites the body without the registers marked in `is_spilled` (an array as long as
 * body.registers): each has a slot in `area`, is loaded into a new register before an instruction
 * that reads it, and stored after one that writes it. Labels are adjusted. The new registers are
 * appended to body.registers. Reports an error and returns false if the body gets too large. */
bool spill_registers(struct body *body, const bool *is_spilled, struct spill_area *area);
