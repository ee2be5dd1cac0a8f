/* frame.c: a function's memory, in three steps. Before its body is parsed, the parameters become
 * symbols, or registers if they are declared as such. After parsing, the loads and stores for those
 * registers are added. After allocation, when spills are known, every symbol gets its offset. */
#include "toy/body_steps.h"

#include "cubin/image.h"
#include "ptx/declaration.h"
#include "ptx/types.h"
#include "language/opcode.h"

/* Measured on ptxas for sm_90. */
#define MOST_PARAMETER_BYTES 0x7ffcu

/* Local memory of a thread: the range of a 24-bit stack address. */
#define MOST_FRAME_BYTES 0xfffff0u
#define FRAME_ALIGNMENT  8u
#define SPILL_ALIGNMENT  16u

static uint8_t class_of_size(uint64_t size)
{
    return size <= 4 ? REGISTER_32 : size <= 8 ? REGISTER_64 : REGISTER_128;
}

/* A texture, sampler or surface parameter has no place among the others. */
static struct body_symbol symbol_of(const struct ptx_parameter *parameter)
{
    bool is_opaque = ptx_type_is_opaque(parameter->type);
    return (struct body_symbol){.name = parameter->name,
                                .is_body_variable = true,
                                .is_parameter = true,
                                .is_return = parameter->is_return,
                                .space = is_opaque ? PTX_SPACE_TEX : PTX_SPACE_PARAM,
                                .alignment = parameter->alignment,
                                .size = is_opaque ? 0 : parameter->size,
                                .type = parameter->type};
}

static void declare(struct body *body, const struct ptx_parameter *parameter)
{
    if (!parameter->is_register) {
        body->symbols[body->symbol_count++] = symbol_of(parameter);
        return;
    }
    struct virtual_register reg = {.name = parameter->name,
                                   .class = class_of_size(parameter->size),
                                   .bits = (uint8_t)(parameter->size * 8)};
    if (parameter->type == PTX_PRED) {
        reg.class = REGISTER_PREDICATE;
        reg.bits = 1;
    }
    body->registers[body->register_count++] = reg;
}

static bool check_parameter(const struct body *body, const struct ptx_module *module,
                            const struct ptx_parameter *parameter, bool is_entry)
{
    struct variable_declaration declaration = {
        .name = parameter->name,
        .role = is_entry               ? DECLARATION_KERNEL_PARAMETER
                : parameter->is_return ? DECLARATION_RETURN_PARAMETER
                                       : DECLARATION_FUNCTION_PARAMETER,
        .space = parameter->is_register ? PTX_SPACE_REG : PTX_SPACE_PARAM,
        .type = parameter->type,
        .vector = parameter->vector,
        .is_array = parameter->is_array,
        .is_sized = parameter->size > 0,
        .is_independent = module->texmode_independent,
    };
    const char *fault = declaration_fault(body->arena, &declaration);

    return !fault || diag_error("%s", fault);
}

bool frame_declare(struct body *body, const struct ptx_module *module,
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

/* The body's instructions with those that pass the register parameters: frame_declare() has made
 * these the first registers, in this order; their places in the frame are the symbols from `symbol`
 * on. */
struct passing {
    struct body *body;
    uint32_t count;
    uint32_t symbol;
    struct instruction *out;
    size_t out_count, out_capacity;
};

static void put(struct passing *passing, struct instruction instruction)
{
    ARENA_PUSH(passing->body->arena, passing->out, passing->out_count, passing->out_capacity) =
        instruction;
}

/* ld.param %r, [place]  or  st.param [place], %r; predicates as bytes. */
static void pass(struct passing *passing, uint32_t index, bool is_store, uint32_t line)
{
    struct arena *arena = passing->body->arena;
    const struct virtual_register *reg = &passing->body->registers[index];
    const char *type = reg->class == REGISTER_128  ? "b128"
                       : reg->class == REGISTER_64 ? "b64"
                       : reg->bits == 16           ? "b16"
                       : reg->bits == 32           ? "b32"
                                                   : "b8";
    const uint16_t modifiers[] = {modifier_find(TEXT("param")), modifier_find(text_of(type))};
    struct operand operands[2] = {0};

    operands[is_store] =
        (struct operand){.kind = OPERAND_REGISTER, .reg = index, .symbol = NO_INDEX};
    operands[!is_store] = (struct operand){
        .kind = OPERAND_ADDRESS, .reg = NO_INDEX, .symbol = passing->symbol + index};
    put(passing,
        (struct instruction){.opcode = is_store ? INDEX_st : INDEX_ld,
                             .modifier_count = 2,
                             .modifiers = arena_copy(arena, modifiers, 2, sizeof *modifiers),
                             .operand_count = 2,
                             .operands = arena_copy(arena, operands, 2, sizeof *operands),
                             .results = !is_store,
                             .guard = NO_INDEX,
                             .line = line});
}

static void pass_all(struct passing *passing, bool is_return, uint32_t line)
{
    for (uint32_t i = 0; i < passing->count; i++)
        if (passing->body->symbols[passing->symbol + i].is_return == is_return)
            pass(passing, i, is_return, line);
}

/* Adds a symbol for every register parameter, after the body's symbols. */
static void place_passed(struct passing *passing, const struct ptx_item *function)
{
    struct body *body = passing->body;
    size_t capacity = body->symbol_count;

    passing->symbol = (uint32_t)body->symbol_count;
    for (uint32_t i = 0; i < function->function.parameter_count; i++) {
        const struct ptx_parameter *parameter = &function->function.parameters[i];
        struct body_symbol symbol = symbol_of(parameter);

        if (!parameter->is_register)
            continue;
        if (parameter->type == PTX_PRED)
            symbol.size = symbol.alignment = 1;
        ARENA_PUSH(body->arena, body->symbols, body->symbol_count, capacity) = symbol;
        passing->count++;
    }
}

static bool runs_off_the_end(const struct body *body)
{
    if (body->instruction_count == 0)
        return true;
    const struct instruction *last = &body->instructions[body->instruction_count - 1];
    if (!(opcode_get(last->opcode)->flags & OPCODE_ENDS) || last->guard != NO_INDEX)
        return true;
    for (size_t i = 0; i < body->label_count; i++)
        if (body->labels[i].instruction >= body->instruction_count)
            return true;
    return false;
}

void frame_complete(struct body *body, const struct ptx_item *function)
{
    struct passing passing = {.body = body};
    size_t count = body->instruction_count;
    bool needs_return = runs_off_the_end(body);
    uint32_t line = count ? body->instructions[0].line : 0;
    uint32_t *moved; /* instruction -> the first of those that stand for it */

    place_passed(&passing, function);
    if (passing.count == 0 && !needs_return)
        return;
    moved = arena_alloc(body->arena, count + 1, sizeof *moved);
    pass_all(&passing, false, line);
    for (size_t i = 0; i <= count; i++) {
        struct instruction instruction = {.opcode = INDEX_ret, .guard = NO_INDEX, .line = line};

        moved[i] = (uint32_t)passing.out_count;
        if (i < count)
            instruction = body->instructions[i];
        else if (!needs_return)
            break;
        line = instruction.line;
        if (instruction.opcode == INDEX_ret)
            pass_all(&passing, true, line);
        put(&passing, instruction);
    }
    for (size_t i = 0; i < body->label_count; i++)
        body->labels[i].instruction = moved[body->labels[i].instruction];
    body->instructions = passing.out;
    body->instruction_count = passing.out_count;
}

/* Places one symbol at *end, aligned; false if it does not fit. */
static bool place(struct body_symbol *symbol, uint64_t *end)
{
    symbol->offset = image_align_up(*end, symbol->alignment);
    *end = symbol->offset + symbol->size;
    return symbol->size <= UINT32_MAX && *end <= UINT32_MAX;
}

static bool place_all(struct body *body, bool is_parameter, bool is_return, uint64_t *end)
{
    for (size_t i = 0; i < body->symbol_count; i++) {
        struct body_symbol *symbol = &body->symbols[i];
        if (!symbol->is_body_variable ||
            (symbol->space != PTX_SPACE_PARAM && symbol->space != PTX_SPACE_LOCAL) ||
            symbol->is_parameter != is_parameter || symbol->is_return != is_return)
            continue;
        if (!place(symbol, end))
            return false;
    }
    return true;
}

bool frame_layout(struct body *body, uint32_t base, struct function_code *function)
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
