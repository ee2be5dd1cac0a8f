/* access.c: the walk over an instruction's operands.
 *
 * The instruction's form says how many operands are written, counted from the front. An address is
 * read wherever it stands. */
#include "toy/body_steps.h"

struct walk {
    struct arena *arena;
    struct register_accesses *accesses;
    bool is_guarded; /* what is written may keep its old value */
};

static void add(struct walk *walk, uint32_t *reg, bool is_read, bool is_written)
{
    struct register_accesses *accesses = walk->accesses;
    ARENA_PUSH(walk->arena, accesses->list, accesses->count, accesses->capacity) =
        (struct register_access){.reg = reg, .is_read = is_read, .is_written = is_written};
}

/* Lists and vectors nest by a few levels only: the parser sees to that. */
static void visit(struct walk *walk, struct operand *operand, bool is_read, bool is_written)
{
    if (operand->kind == OPERAND_ADDRESS) {
        is_read = true;
        is_written = false;
    }
    if ((operand->kind == OPERAND_REGISTER || operand->kind == OPERAND_ADDRESS) &&
        operand->reg != NO_INDEX)
        add(walk, &operand->reg, is_read || walk->is_guarded || operand->component != 0,
            is_written);
    for (uint32_t i = 0; i < operand->element_count; i++)
        visit(walk, &operand->elements[i], is_read, is_written);
}

void access_collect(const struct body *body, struct instruction *instruction,
                    struct register_accesses *accesses)
{
    struct walk walk = {body->arena, accesses, instruction->guard != NO_INDEX};
    accesses->count = 0;
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        bool is_read = i >= instruction->results || (i == 0 && instruction->is_accumulate);
        visit(&walk, &instruction->operands[i], is_read, i < instruction->results);
    }
    if (instruction->guard != NO_INDEX)
        add(&walk, &instruction->guard, true, false);
}
