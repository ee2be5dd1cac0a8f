/* registers.c: live intervals and linear scan (Poletto and Sarkar, 1999), in the order of the text.
 *
 * Registers R0 to R3 belong to the ABI (R1 is the stack pointer; minilink-internals(7), Phases, 20:
 * at least four registers are reserved), so allocation begins at R4.
 *
 * Where nothing jumps back, a register is live from its first to its last mention. In a loop this
 * holds if nothing jumps to between them and the first is a write; else the register is live in the
 * whole loop, with all loops that overlap it. */
#include "toy/phases.h"

#include "base/search.h"
#include "language/opcode.h"

#define PREDICATES        7u
#define MOST_SPILLED      65000u /* words: numbers have 16 bits */
#define MOST_INSTRUCTIONS (1u << 29)

/* Instruction i reads at 2 * i and writes at 2 * i + 1. A register is live from `start` to `end`,
 * inclusive. Two registers whose intervals do not overlap can share a physical register. */
struct interval {
    uint32_t start, end;
    uint32_t reg;
    bool is_carried; /* its first mention may find a value */
};

/* The flow around an instruction. */
struct place {
    uint32_t block;      /* number of instructions so far that something jumps to */
    uint32_t begin, end; /* of the loops around it; without loops, this instruction */
};

/* The physical registers of one kind, general or predicate. */
struct bank {
    uint32_t first; /* the lowest that may be allocated */
    uint32_t end;
    uint32_t used;                  /* highest in use + 1 */
    uint32_t free[BUDGET_MOST + 1]; /* the position from which each is free */
};

COMPARISON(compare_intervals, struct interval,
           COMPARE(a->start, b->start) ?: COMPARE(a->reg, b->reg));

/* By label, 1 + the last instruction that jumps there; 0 = none. Jumps through a list are first
 * noted at the list's label. */
static uint32_t *last_jumps(const struct body *body)
{
    uint32_t *last = arena_zalloc(body->arena, body->label_count, sizeof *last);

    for (uint32_t i = 0; i < body->instruction_count; i++) {
        const struct instruction *instruction = &body->instructions[i];

        if (opcode_get(instruction->opcode)->flags & (OPCODE_BRANCH | OPCODE_INDEXED))
            for (unsigned k = 0; k < instruction->operand_count; k++)
                if (instruction->operands[k].kind == OPERAND_LABEL)
                    last[instruction->operands[k].label] = i + 1;
    }
    for (size_t i = 0; i < body->label_count; i++)
        for (uint32_t k = 0; k < body->labels[i].target_count; k++) {
            const struct operand *target = &body->labels[i].targets[k];

            if (target->kind == OPERAND_LABEL)
                RAISE(last[target->label], last[i]);
        }
    return last;
}

/* The flow around each instruction. */
static struct place *read_flow(const struct body *body)
{
    uint32_t count = (uint32_t)body->instruction_count, begin = 0, end = 0, block = 0;
    struct place *places = arena_zalloc(body->arena, count + 1, sizeof *places);
    const uint32_t *last = last_jumps(body);

    for (size_t i = 0; i < body->label_count; i++)
        if (!body->labels[i].targets)
            RAISE(places[body->labels[i].instruction].end, last[i]);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t back = places[i].end; /* 1 + the last instruction that jumps here; 0 = none */

        if (back > i && i >= end)
            begin = i;
        RAISE(end, back);
        block += back != 0;
        places[i] = (struct place){.block = block, .begin = i < end ? begin : i, .end = i};
    }
    for (uint32_t i = count; i-- > 1;)
        if (places[i].begin < i)
            places[i - 1].end = places[i].end;
    return places;
}

static void mention(struct interval *interval, uint32_t position, bool may_find_value)
{
    if (position < interval->start) {
        interval->start = position;
        interval->is_carried = may_find_value;
    }
    RAISE(interval->end, position);
}

/* An instruction's form determines how many leading operands are written. An address is always
 * read. A write that may preserve the old value, or part of it (under a guard, of one component, or
 * of an accumulator), is a read too. The parser limits the nesting of lists and vectors. */
static void mention_operand(struct interval *intervals, const struct operand *operand,
                            uint32_t instruction, bool is_read, bool is_written)
{
    bool is_address = operand->kind == OPERAND_ADDRESS;

    if ((is_address || operand->kind == OPERAND_REGISTER) && operand->reg != NO_INDEX) {
        if (is_read || is_address || operand->component != 0)
            mention(&intervals[operand->reg], 2 * instruction, true);
        if (is_written && !is_address)
            mention(&intervals[operand->reg], 2 * instruction + 1, false);
    }
    for (uint32_t i = 0; i < operand->element_count; i++)
        mention_operand(intervals, &operand->elements[i], instruction, is_read || is_address,
                        is_written && !is_address);
}

static void mention_all(const struct body *body, struct interval *intervals)
{
    for (uint32_t i = 0; i < body->instruction_count; i++) {
        const struct instruction *instruction = &body->instructions[i];
        bool is_guarded = instruction->guard != NO_INDEX;

        if (is_guarded)
            mention(&intervals[instruction->guard], 2 * i, true);
        for (unsigned k = 0; k < instruction->operand_count; k++) {
            bool is_written = k < instruction->results;

            mention_operand(intervals, &instruction->operands[k], i,
                            !is_written || is_guarded || (k == 0 && instruction->is_accumulate),
                            is_written);
        }
    }
}

/* Extends the interval to the loops around its ends, if its value may go round them. */
static void extend(struct interval *interval, const struct place *places)
{
    const struct place *first = &places[interval->start / 2], *last = &places[interval->end / 2];

    if (!interval->is_carried && first->block == last->block)
        return;
    if (first->begin < interval->start / 2)
        interval->start = 2 * first->begin;
    if (last->end > interval->end / 2)
        interval->end = 2 * last->end + 1;
}

/* The intervals of the registers that the body mentions, and of its parameters, by start. */
static struct interval *find_intervals(const struct body *body, size_t *count)
{
    struct interval *all = arena_alloc(body->arena, body->register_count, sizeof *all);
    const struct place *places = read_flow(body);

    for (uint32_t i = 0; i < body->register_count; i++)
        all[i] = body->registers[i].is_parameter
                     ? (struct interval){.start = 0, .end = UINT32_MAX - 1, .reg = i}
                     : (struct interval){.start = UINT32_MAX, .end = 0, .reg = i};
    mention_all(body, all);
    *count = 0;
    for (size_t i = 0; i < body->register_count; i++) {
        if (all[i].start > all[i].end)
            continue;
        if (!body->registers[i].is_parameter)
            extend(&all[i], places);
        all[(*count)++] = all[i];
    }
    SORT(all, *count, compare_intervals);
    return all;
}

/* Gives the interval the lowest registers, aligned to their number, that are free from its start
 * on; NO_INDEX if there are none. */
static uint32_t take_place(struct bank *bank, uint32_t width, const struct interval *interval)
{
    for (uint32_t place = bank->first; place + width <= bank->end; place += width) {
        uint32_t i = 0;

        while (i < width && bank->free[place + i] <= interval->start)
            i++;
        if (i < width)
            continue;
        while (i-- > 0)
            bank->free[place + i] = interval->end + 1;
        RAISE(bank->used, place + width);
        return place;
    }
    return NO_INDEX;
}

bool registers_allocate(struct body *body, uint32_t reserved, struct function_code *function)
{
    static const uint8_t widths[] = {1, 1, 2, 4}; /* by class */
    struct bank general = {
        .first = REGISTERS_FIRST, .end = function->register_limit, .used = REGISTERS_FIRST};
    struct bank predicate = {.end = PREDICATES};
    uint32_t first = reserved & 0xffff, spilled = 0;
    size_t count;

    if (body->instruction_count > MOST_INSTRUCTIONS)
        return diag_error("Function '%.*s' is too large", TEXT_ARG(body->function));
    const struct interval *intervals = find_intervals(body, &count);
    for (uint32_t i = first; i < first + (reserved >> 16) && i < general.end; i++)
        general.free[i] = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        struct virtual_register *reg = &body->registers[intervals[i].reg];
        struct bank *bank = reg->class == REGISTER_PREDICATE ? &predicate : &general;
        uint32_t width = widths[reg->class];
        uint32_t place = take_place(bank, width, &intervals[i]);

        reg->physical = (uint16_t)place;
        if (place != NO_INDEX)
            continue;
        spilled = (spilled + width - 1) / width * width;
        reg->physical = (uint16_t)(REGISTERS_SPILLED + spilled);
        spilled += width;
        if (spilled > MOST_SPILLED)
            return diag_error("Function '%.*s' is too large to be compiled with so few registers",
                              TEXT_ARG(body->function));
    }
    function->register_count = general.used;
    function->spill_bytes = spilled * 4;
    return true;
}
