/* allocate.c: registers and memory of a function.
 *
 * Register limits, measured on ptxas: .maxnreg has precedence, then the number of blocks that must
 * fit on a multiprocessor with its 65536 registers (whole warps, rounded down to a multiple of 8),
 * and -maxrregcount only applies to functions without either. No limit is below 24. Options for
 * launch bounds apply to kernels without such directives; values that are not numbers, and a number
 * of blocks without a number of threads, are silently ignored.
 *
 * Registers: live intervals and linear scan (Poletto and Sarkar, 1999), in the order of the text.
 * Where nothing jumps back, a register is live from its first to its last mention. In a loop this
 * holds if nothing jumps to between them and the first is a write; else the register is live in the
 * whole loop, with all loops that overlap it.
 *
 * Memory: before the body is parsed, the parameters become symbols, or registers if they are
 * declared as such. After allocation, when spills are known, every symbol gets its offset. */
#include "toy/internal.h"

#include "base/search.h"
#include "language/syntax.h"
#include "ptx/declaration.h"
#include "ptx/lexer.h"

#define REGISTERS_PER_SM  65536u
#define WARP              32u
#define PREDICATES        7u
#define MOST_SPILLED      65000u /* words: numbers have 16 bits */
#define MOST_INSTRUCTIONS (1u << 29)

#define MOST_PARAMETER_BYTES 0x7ffcu   /* measured on ptxas for sm_90 */
#define MOST_FRAME_BYTES     0xfffff0u /* local memory of a thread: the range of a 24-bit address */
#define FRAME_ALIGNMENT      8u
#define SPILL_ALIGNMENT      16u

static uint32_t clamp(const struct ptx_item *function, uint32_t registers)
{
    if (registers < REGISTERS_LEAST) {
        diag_warning(
            "For entry %.*s adjusting per thread register count of %u to lower bound of %u",
            TEXT_ARG(function->name), registers, REGISTERS_LEAST);
        return REGISTERS_LEAST;
    }
    return registers > REGISTERS_MOST ? REGISTERS_MOST : registers;
}

/* Registers per thread if `blocks` blocks of `threads` threads must fit. */
static uint32_t from_threads(const struct ptx_item *function, uint64_t threads, uint32_t sm)
{
    uint64_t blocks = function->function.performance.minnctapersm, most = targets_find(sm)->threads;
    if (threads > most)
        return REGISTERS_MOST;
    if (blocks && blocks * threads > most) {
        diag_warning("Value of threads per SM for entry %.*s is out of range. .minnctapersm will "
                     "be ignored",
                     TEXT_ARG(function->name));
        blocks = 0;
    }
    uint64_t warps = (threads + WARP - 1) / WARP * (blocks ? blocks : 1);
    uint64_t registers = REGISTERS_PER_SM / (warps * WARP) / 8 * 8;
    return clamp(function, registers > REGISTERS_MOST ? REGISTERS_MOST : (uint32_t)registers);
}

uint32_t allocate_limit(const struct ptx_item *function, uint32_t sm, uint32_t option)
{
    const struct ptx_performance *performance = &function->function.performance;
    uint64_t threads = ptx_promised_threads(performance);
    if (performance->maxnreg)
        return clamp(function, performance->maxnreg);
    if (performance->minnctapersm && !threads)
        diag_warning(".minnctapersm of '%.*s' is ignored when neither .maxntid nor .reqntid is "
                     "specified",
                     TEXT_ARG(function->name));
    if (threads)
        return from_threads(function, threads, sm);
    if (option == 0 || option > REGISTERS_MOST)
        return REGISTERS_MOST;
    return option < REGISTERS_LEAST ? REGISTERS_LEAST : option;
}

static uint32_t dimension_of(struct text text)
{
    uint64_t value;
    bool is_number = lexer_integer(text, &value) && value <= UINT32_MAX;
    return is_number ? (uint32_t)value : 0;
}

void allocate_override(struct ptx_performance *performance, const struct switches *switches)
{
    bool overrides = switches->override_directives;
    struct text list = switches->maxntid, word;
    if (text_take_part(&list, &word) && dimension_of(word) &&
        (overrides || !ptx_promised_threads(performance)))
        for (size_t i = 0; i < 3; i++) {
            uint32_t dimension = i == 0 || text_take_part(&list, &word) ? dimension_of(word) : 1;
            performance->maxntid[i] = dimension ? dimension : 1;
        }
    if (switches->minnctapersm > 0 && ptx_promised_threads(performance) &&
        (overrides || !performance->minnctapersm))
        performance->minnctapersm = (uint32_t)switches->minnctapersm;
    if (overrides && switches->maxrregcount != SWITCH_NOT_GIVEN)
        performance->maxnreg = (uint32_t)switches->maxrregcount;
}

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
    uint32_t used;                     /* highest in use + 1 */
    uint32_t free[REGISTERS_MOST + 1]; /* the position from which each is free */
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

bool allocate_registers(struct body *body, uint32_t reserved, struct function_code *function)
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

/* A texture, sampler or surface parameter has no place among the others. */
static void declare(struct body *body, const struct ptx_parameter *parameter)
{
    bool is_opaque = ptx_type_is_opaque(parameter->type);

    if (parameter->is_register)
        body->registers[body->register_count++] =
            (struct virtual_register){.name = parameter->name,
                                      .class = parameter->size <= 4   ? REGISTER_32
                                               : parameter->size <= 8 ? REGISTER_64
                                                                      : REGISTER_128,
                                      .bits = (uint8_t)(parameter->size * 8),
                                      .is_parameter = true};
    else
        body->symbols[body->symbol_count++] =
            (struct body_symbol){.name = parameter->name,
                                 .is_body_variable = true,
                                 .is_parameter = true,
                                 .is_return = parameter->is_return,
                                 .space = is_opaque ? PTX_SPACE_TEX : PTX_SPACE_PARAM,
                                 .alignment = parameter->alignment,
                                 .size = is_opaque ? 0 : parameter->size,
                                 .type = parameter->type};
}

static bool check_parameter(const struct body *body, const struct ptx_module *module,
                            const struct ptx_parameter *parameter, bool is_entry)
{
    const struct ptx_item item = {
        .name = parameter->name,
        .variable = {.space = parameter->is_register ? PTX_SPACE_REG : PTX_SPACE_PARAM,
                     .type = parameter->type,
                     .vector = parameter->vector,
                     .is_array = parameter->is_array,
                     .size = parameter->size},
    };
    const char *fault = declaration_fault(body->arena, &item,
                                          is_entry               ? DECLARATION_KERNEL_PARAMETER
                                          : parameter->is_return ? DECLARATION_RETURN_PARAMETER
                                                                 : DECLARATION_FUNCTION_PARAMETER,
                                          module->texmode_independent);

    return !fault || diag_error("%s", fault);
}

bool allocate_parameters(struct body *body, const struct ptx_module *module,
                         const struct ptx_item *function)
{
    uint32_t count = function->function.parameter_count;
    body->symbols = arena_alloc(body->arena, count, sizeof *body->symbols);
    body->registers = arena_alloc(body->arena, count, sizeof *body->registers);
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_parameter *parameter = &function->function.parameters[i];
        if (!check_parameter(body, module, parameter, function->function.is_entry))
            return false;
        declare(body, parameter);
    }
    return true;
}

/* Places the symbols of a kind from *end on; false if they do not fit. */
static bool place_all(struct body *body, bool is_parameter, bool is_return, uint64_t *end)
{
    for (size_t i = 0; i < body->symbol_count; i++) {
        struct body_symbol *symbol = &body->symbols[i];

        if (!symbol->is_body_variable ||
            (symbol->space != PTX_SPACE_PARAM && symbol->space != PTX_SPACE_LOCAL) ||
            symbol->is_parameter != is_parameter || symbol->is_return != is_return)
            continue;
        symbol->offset = image_align_up(*end, symbol->alignment);
        *end = symbol->offset + symbol->size;
        if (symbol->size > UINT32_MAX || *end > UINT32_MAX)
            return false;
    }
    return true;
}

bool allocate_frame(struct body *body, uint32_t base, struct function_code *function)
{
    bool is_entry = function->item->function.is_entry;
    uint64_t parameters = base;
    uint64_t end = 0;
    bool fits = place_all(body, true, false, is_entry ? &parameters : &end) &&
                place_all(body, true, true, &end);
    if (is_entry && (!fits || parameters - base > MOST_PARAMETER_BYTES))
        return diag_error(
            "Entry function '%.*s' uses too much parameter space (0x%llx bytes, 0x%x max)",
            TEXT_ARG(body->function), (unsigned long long)(parameters - base),
            MOST_PARAMETER_BYTES);
    fits = fits && place_all(body, false, false, &end);
    if (function->spill_bytes)
        end = image_align_up(end, SPILL_ALIGNMENT) + function->spill_bytes;
    end = image_align_up(end, FRAME_ALIGNMENT);
    if (!fits || end > MOST_FRAME_BYTES)
        return diag_error("Function '%.*s' uses too much local memory (0x%llx bytes, 0x%x max)",
                          TEXT_ARG(body->function), (unsigned long long)end, MOST_FRAME_BYTES);
    function->parameter_bytes = (uint32_t)(parameters - base);
    function->frame_bytes = (uint32_t)end;
    return true;
}
