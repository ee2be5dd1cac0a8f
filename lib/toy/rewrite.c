/* rewrite.c: inserts loads and stores that are not in the text: of parameters (frame.c) and spilled
 * registers (spill.c). */
#include "toy/body_steps.h"

#include "toy/language/opcode.h"

void rewrite_begin(struct rewrite *rewrite, struct body *body)
{
    *rewrite = (struct rewrite){.body = body};
    rewrite->moved = arena_alloc(body->arena, body->instruction_count + 1, sizeof(uint32_t));
}

void rewrite_at(struct rewrite *rewrite, size_t index)
{
    rewrite->moved[index] = (uint32_t)rewrite->count;
}

void rewrite_copy(struct rewrite *rewrite, const struct instruction *instruction)
{
    ARENA_PUSH(rewrite->body->arena, rewrite->out, rewrite->count, rewrite->capacity) =
        *instruction;
}

void rewrite_add(struct rewrite *rewrite, const struct instruction *like, uint16_t opcode,
                 const char *const *modifiers, const struct operand *operands, uint8_t count)
{
    struct arena *arena = rewrite->body->arena;
    struct instruction made = {.opcode = opcode,
                               .operand_count = count,
                               .guard = NO_INDEX,
                               .results = opcode != INDEX_st,
                               .line = like->line,
                               .loc = like->loc,
                               .operands = arena_copy(arena, operands, count, sizeof *operands)};
    uint16_t numbers[INSTRUCTION_MODIFIERS] = {0};

    for (; modifiers[made.modifier_count]; made.modifier_count++)
        numbers[made.modifier_count] = modifier_find(text_of(modifiers[made.modifier_count]));
    made.modifiers = arena_copy(arena, numbers, made.modifier_count, sizeof *numbers);
    rewrite_copy(rewrite, &made);
}

void rewrite_end(struct rewrite *rewrite)
{
    struct body *body = rewrite->body;

    for (size_t i = 0; i < body->label_count; i++)
        body->labels[i].instruction = rewrite->moved[body->labels[i].instruction];
    body->instructions = rewrite->out;
    body->instruction_count = rewrite->count;
}

struct operand rewrite_register(uint32_t reg)
{
    return (struct operand){.kind = OPERAND_REGISTER, .reg = reg, .symbol = NO_INDEX};
}

struct operand rewrite_immediate(int64_t value)
{
    return (struct operand){
        .kind = OPERAND_IMMEDIATE, .reg = NO_INDEX, .symbol = NO_INDEX, .value = value};
}

struct operand rewrite_address(uint32_t symbol, uint64_t offset)
{
    return (struct operand){
        .kind = OPERAND_ADDRESS, .reg = NO_INDEX, .symbol = symbol, .value = (int64_t)offset};
}
