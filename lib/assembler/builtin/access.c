/* access.c: the walk over an instruction's operands.
 *
 * The opcode table says how many operands are written, counted from the front. Three cases need
 * more: a call's results are the list that stands before the target, if there is one; an address is
 * read wherever it stands; and the accumulators of wgmma are read as well as written. */
#include "assembler/builtin/access.h"

#include "assembler/builtin/opcode.h"

/* Vectors stand in lists and addresses, and nothing stands in vectors. */
#define MOST_NESTING 4

struct walk {
    struct arena *arena;
    struct register_accesses *accesses;
    bool keeps_old; /* what is written is read too */
};

static void add(struct walk *walk, uint32_t *reg, bool is_read, bool is_written)
{
    struct register_accesses *accesses = walk->accesses;
    if (accesses->count == accesses->capacity) {
        size_t capacity = accesses->capacity ? accesses->capacity * 2 : 32;
        struct register_access *list = arena_alloc(walk->arena, capacity, sizeof *list);
        if (accesses->count)
            memcpy(list, accesses->list, accesses->count * sizeof *list);
        accesses->list = list;
        accesses->capacity = capacity;
    }
    accesses->list[accesses->count++] =
        (struct register_access){.reg = reg, .is_read = is_read, .is_written = is_written};
}

static void visit(struct walk *walk, struct operand *operand, bool is_result, unsigned nesting)
{
    bool is_written = is_result && operand->kind != OPERAND_ADDRESS;
    if (operand->kind == OPERAND_REGISTER && operand->reg != NO_INDEX)
        add(walk, &operand->reg, !is_written || walk->keeps_old || operand->component != 0,
            is_written);
    else if (operand->kind == OPERAND_ADDRESS && operand->reg != NO_INDEX)
        add(walk, &operand->reg, true, false);
    if (nesting == MOST_NESTING)
        return;
    for (uint32_t i = 0; i < operand->element_count; i++)
        visit(walk, &operand->elements[i], is_written, nesting + 1);
}

void access_collect(const struct body *body, struct instruction *instruction,
                    struct register_accesses *accesses)
{
    const struct opcode *opcode = opcode_get(instruction->opcode);
    bool is_accumulating = text_equal(text_of(opcode->name), TEXT("wgmma"));
    struct walk walk = {body->arena, accesses, instruction->guard != NO_INDEX || is_accumulating};
    unsigned results = opcode->results;
    if (opcode->flags & OPCODE_CALL)
        results = instruction->operand_count && instruction->operands[0].kind == OPERAND_LIST;
    accesses->count = 0;
    for (unsigned i = 0; i < instruction->operand_count; i++)
        visit(&walk, &instruction->operands[i], i < results, 0);
    if (instruction->guard != NO_INDEX)
        add(&walk, &instruction->guard, true, false);
}
