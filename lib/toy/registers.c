/* registers.c: live intervals and linear scan (Poletto and Sarkar, 1999), in the order of the text.
 *
 * Registers R0 to R3 belong to the ABI (R1 is the stack pointer; minilink-internals(7), Phases, 20:
 * at least four registers are reserved), so allocation begins at R4.
 *
 * Where nothing jumps back, a register is live from its first to its last mention. A jump back to a
 * label in its interval makes that last as long as the loop. A value can also come round from the
 * end of a loop to before its first mention, unless that is a write which nothing jumps over: then
 * the whole loop is in the interval, with all that overlap it. */
#include "toy/body_steps.h"

#include "base/search.h"
#include "language/opcode.h"

#define MOST_REGISTERS    255u
#define PREDICATES        7u
#define MOST_SPILLED      65000u /* words: numbers have 16 bits */
#define MOST_INSTRUCTIONS (1u << 29)

/* For hostile control flow the work is bounded linearly in the text: registers that are left when
 * the bound is reached count as live everywhere, which is correct but wasteful. */
#define WORK_PER_INSTRUCTION UINT64_C(256)

/* Special owners: the register is free, or must not be allocated. */
#define FREE     NO_INDEX
#define RESERVED (NO_INDEX - 1)

/* Instruction i reads at 2 * i and writes at 2 * i + 1. A register is live from `start` to `end`,
 * inclusive. Two registers whose intervals do not overlap can share a physical register. */
struct interval {
    uint32_t start, end;
    uint32_t reg;
    bool is_carried; /* its first mention may find a value */
};

/* An instruction with a label, and the first and last that jump there. */
struct target {
    uint32_t at, first, last;
};

/* Instructions [begin, end] between which control goes round. */
struct loop {
    uint32_t begin, end;
};

struct flow {
    struct target *targets; /* by place */
    size_t target_count;
    struct loop *loops; /* by place, apart from each other */
    size_t loop_count;
    uint64_t work;
};

/* The physical registers of one kind, general or predicate. */
struct bank {
    uint32_t first; /* the lowest that may be allocated */
    uint32_t end;
    uint32_t used;                      /* highest in use + 1 */
    uint32_t owner[MOST_REGISTERS + 1]; /* index of the interval that has it */
};

struct scan {
    struct body *body;
    struct interval *intervals; /* by start */
    struct bank general, predicate;
    uint32_t spilled; /* words of the frame */
};

COMPARISON(compare_targets, struct target, COMPARE(a->at, b->at));

COMPARISON(compare_intervals, struct interval,
           COMPARE(a->start, b->start) ?: COMPARE(a->reg, b->reg));

static void add_jump(struct target *target, struct target jump)
{
    target->first = jump.first < target->first ? jump.first : target->first;
    target->last = jump.last > target->last ? jump.last : target->last;
}

/* For each label the jumps to it; those through a list are first noted at the list's label. */
static struct target *note_jumps(const struct body *body)
{
    struct target *targets = arena_alloc(body->arena, body->label_count, sizeof *targets);

    for (size_t i = 0; i < body->label_count; i++)
        targets[i] = (struct target){body->labels[i].instruction, UINT32_MAX, 0};
    for (uint32_t i = 0; i < body->instruction_count; i++) {
        const struct instruction *instruction = &body->instructions[i];

        if (opcode_get(instruction->opcode)->flags & (OPCODE_BRANCH | OPCODE_INDEXED))
            for (unsigned k = 0; k < instruction->operand_count; k++)
                if (instruction->operands[k].kind == OPERAND_LABEL)
                    add_jump(&targets[instruction->operands[k].label], (struct target){0, i, i});
    }
    for (size_t i = 0; i < body->label_count; i++)
        for (uint32_t k = 0; k < body->labels[i].target_count; k++)
            if (body->labels[i].targets[k].kind == OPERAND_LABEL)
                add_jump(&targets[body->labels[i].targets[k].label], targets[i]);
    return targets;
}

static struct flow read_flow(const struct body *body)
{
    struct flow flow = {.targets = note_jumps(body)};

    for (size_t i = 0; i < body->label_count; i++)
        if (flow.targets[i].first != UINT32_MAX)
            flow.targets[flow.target_count++] = flow.targets[i];
    SORT(flow.targets, flow.target_count, compare_targets);
    flow.loops = arena_alloc(body->arena, flow.target_count, sizeof *flow.loops);
    for (size_t i = 0; i < flow.target_count; i++) {
        const struct target *target = &flow.targets[i];
        struct loop *last = flow.loop_count ? &flow.loops[flow.loop_count - 1] : NULL;

        if (target->last < target->at)
            continue;
        if (!last || last->end < target->at)
            flow.loops[flow.loop_count++] = (struct loop){target->at, target->last};
        else if (last->end < target->last)
            last->end = target->last;
    }
    return flow;
}

static void mention(struct interval *interval, uint32_t position, bool may_find_value)
{
    if (position < interval->start) {
        interval->start = position;
        interval->is_carried = may_find_value;
    }
    interval->end = position > interval->end ? position : interval->end;
}

/* An instruction's form determines how many leading operands are written. An address is always
 * read. A write that may preserve the old value, or part of it (under a guard, of one component, or
 * of an accumulator), is a read too. The parser limits the nesting of lists and vectors. */
static void mention_operand(struct interval *intervals, const struct operand *operand,
                            uint32_t instruction, bool is_read, bool is_written)
{
    bool is_register = operand->kind == OPERAND_REGISTER, is_address;

    is_address = operand->kind == OPERAND_ADDRESS;
    is_read |= is_address || (is_register && operand->component != 0);
    is_written &= !is_address;
    if ((is_register || is_address) && operand->reg != NO_INDEX) {
        if (is_read)
            mention(&intervals[operand->reg], 2 * instruction, true);
        if (is_written)
            mention(&intervals[operand->reg], 2 * instruction + 1, false);
    }
    for (uint32_t i = 0; i < operand->element_count; i++)
        mention_operand(intervals, &operand->elements[i], instruction, is_read, is_written);
}

static void mention_all(const struct body *body, struct interval *intervals)
{
    for (uint32_t i = 0; i < body->instruction_count; i++) {
        const struct instruction *instruction = &body->instructions[i];
        bool is_guarded = instruction->guard != NO_INDEX;

        if (is_guarded)
            mention(&intervals[instruction->guard], 2 * i, true);
        for (unsigned k = instruction->results; k < instruction->operand_count; k++)
            mention_operand(intervals, &instruction->operands[k], i, true, false);
        for (unsigned k = 0; k < instruction->results && k < instruction->operand_count; k++)
            mention_operand(intervals, &instruction->operands[k], i,
                            is_guarded || (k == 0 && instruction->is_accumulate), true);
    }
}

/* Extends an interval by the loops that lead into it. */
static void extend(struct flow *flow, struct interval *interval)
{
    uint32_t start = interval->start / 2, end = interval->end / 2;
    size_t first = SEARCH_FIRST_NOT(flow->target_count, index, flow->targets[index].at <= start);
    size_t loop = SEARCH_FIRST_NOT(flow->loop_count, index, flow->loops[index].end < start);

    for (size_t i = first; i < flow->target_count && flow->targets[i].at <= end; i++) {
        end = flow->targets[i].last > end ? flow->targets[i].last : end;
        interval->is_carried |= flow->targets[i].first < start;
        flow->work++;
    }
    if (end > interval->end / 2)
        interval->end = 2 * end + 1;
    if (!interval->is_carried || loop == flow->loop_count || flow->loops[loop].begin > start)
        return;
    interval->start = 2 * flow->loops[loop].begin;
    if (interval->end < 2 * flow->loops[loop].end + 1)
        interval->end = 2 * flow->loops[loop].end + 1;
}

static struct interval *find_intervals(const struct body *body, size_t *count)
{
    struct interval *all = arena_alloc(body->arena, body->register_count, sizeof *all);
    struct flow flow = read_flow(body);

    for (uint32_t i = 0; i < body->register_count; i++)
        all[i] = (struct interval){.start = UINT32_MAX, .end = 0, .reg = i};
    mention_all(body, all);
    *count = 0;
    for (size_t i = 0; i < body->register_count; i++) {
        struct interval interval = all[i];

        if (interval.start > interval.end)
            continue;
        if (flow.work <= WORK_PER_INSTRUCTION * body->instruction_count)
            extend(&flow, &interval);
        else
            interval =
                (struct interval){0, 2 * (uint32_t)body->instruction_count, interval.reg, true};
        all[(*count)++] = interval;
    }
    SORT(all, *count, compare_intervals);
    return all;
}

static uint32_t width_of(const struct scan *scan, uint32_t index)
{
    uint8_t class = scan->body->registers[scan->intervals[index].reg].class;

    return class == REGISTER_64 ? 2 : class == REGISTER_128 ? 4 : 1;
}

static void set_owner(struct bank *bank, uint32_t place, uint32_t width, uint32_t owner)
{
    for (uint32_t i = 0; i < width; i++)
        bank->owner[place + i] = owner;
}

/* Frees the places of all intervals that end before `position`. */
static void advance(const struct scan *scan, struct bank *bank, uint32_t position)
{
    for (uint32_t i = bank->first; i < bank->end; i++)
        if (bank->owner[i] < RESERVED && scan->intervals[bank->owner[i]].end < position)
            bank->owner[i] = FREE;
}

/* When a place, which is aligned to its width, is free: never for a reserved one (0), now (at the
 * end of time), or when the first of the intervals in it ends. */
static uint32_t place_end(const struct scan *scan, const struct bank *bank, uint32_t place,
                          uint32_t width)
{
    uint32_t end = UINT32_MAX;

    for (uint32_t i = 0; i < width; i++) {
        uint32_t owner = bank->owner[place + i];
        uint32_t its_end = owner == FREE       ? UINT32_MAX
                           : owner == RESERVED ? 0
                                               : scan->intervals[owner].end;

        end = its_end < end ? its_end : end;
    }
    return end;
}

/* The lowest free place; else that whose interval lasts longest, *end. A single register is placed
 * next to one in use if that does not increase the number of registers, so that pairs stay free. */
static uint32_t find_place(const struct scan *scan, const struct bank *bank, uint32_t width,
                           uint32_t *end)
{
    uint32_t best = bank->first;

    *end = 0;
    for (uint32_t place = bank->first; place + width <= bank->end; place += width) {
        uint32_t its_end = place_end(scan, bank, place, width), next = place ^ 1;

        if (its_end == UINT32_MAX && width == 1 && place < bank->used && next >= bank->first &&
            next < bank->end && bank->owner[next] < RESERVED) {
            *end = its_end;
            return place;
        }
        if (its_end > *end) {
            *end = its_end;
            best = place;
        }
    }
    return best;
}

static void spill(struct scan *scan, uint32_t index)
{
    uint32_t width = width_of(scan, index);
    uint32_t word = (scan->spilled + width - 1) / width * width;

    scan->body->registers[scan->intervals[index].reg].physical =
        (uint16_t)(REGISTERS_SPILLED + word);
    scan->spilled = word + width;
}

static void place_interval(struct scan *scan, uint32_t index)
{
    struct virtual_register *reg = &scan->body->registers[scan->intervals[index].reg];
    struct bank *bank = reg->class == REGISTER_PREDICATE ? &scan->predicate : &scan->general;
    uint32_t width = width_of(scan, index), end, place;

    advance(scan, bank, scan->intervals[index].start);
    place = find_place(scan, bank, width, &end);
    if (end <= scan->intervals[index].end) {
        spill(scan, index);
        return;
    }
    for (uint32_t i = 0; i < width; i++) {
        uint32_t owner = bank->owner[place + i];

        if (owner == FREE)
            continue;
        set_owner(bank, scan->body->registers[scan->intervals[owner].reg].physical,
                  width_of(scan, owner), FREE);
        spill(scan, owner);
    }
    reg->physical = (uint16_t)place;
    set_owner(bank, place, width, index);
    bank->used = place + width > bank->used ? place + width : bank->used;
}

/* Marks those of its registers that are in `reserved`, count << 16 | first, as not available. */
static void begin_bank(struct bank *bank, uint32_t first, uint32_t end, uint32_t reserved)
{
    uint32_t from = reserved & 0xffff, to = from + (reserved >> 16);

    *bank = (struct bank){.first = first, .end = end};
    for (uint32_t i = first; i < end; i++)
        bank->owner[i] = i >= from && i < to ? RESERVED : FREE;
}

bool registers_allocate(struct body *body, uint32_t budget, uint32_t reserved,
                        struct allocation *result)
{
    struct scan scan = {.body = body};
    size_t count;

    budget = budget > MOST_REGISTERS ? MOST_REGISTERS : budget;
    if (body->instruction_count > MOST_INSTRUCTIONS)
        return diag_error("Function '%.*s' is too large", TEXT_ARG(body->function));
    scan.intervals = find_intervals(body, &count);
    begin_bank(&scan.general, REGISTERS_FIRST, budget, reserved);
    begin_bank(&scan.predicate, 0, PREDICATES, 0);
    for (uint32_t i = 0; i < count; i++) {
        if (scan.spilled > MOST_SPILLED)
            return diag_error("Function '%.*s' is too large to be compiled with so few registers",
                              TEXT_ARG(body->function));
        place_interval(&scan, i);
    }
    result->register_count =
        scan.general.used > REGISTERS_FIRST ? scan.general.used : REGISTERS_FIRST;
    result->spill_bytes = scan.spilled * 4;
    return true;
}
