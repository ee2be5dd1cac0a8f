/* encode_print.c: one instruction of the built-in code as a line of text: PTX with physical
 * registers. R4 is one register, R4:R5 a pair, R4:R7 a quadruple, P0 a predicate; .+0x40 is a
 * branch target relative to the instruction. */
#include "toy/encode.h"

#include "base/context.h"
#include "base/little.h"
#include "toy/language/opcode.h"

struct printer {
    struct buffer *out;
    struct bytes code;
    size_t offset; /* of the instruction */
    const char *(*symbol)(void *argument, uint64_t offset);
    void *argument;
};

static void print_operand(const struct printer *printer, const struct operand *operand);

static void print_register(struct buffer *out, uint32_t reg)
{
    static const unsigned behind[] = {0, 0, 1, 3}; /* registers after the first, by class */
    uint32_t class = reg >> 8 & 3, number = reg & 0xff;

    buffer_printf(out, "%c%u", class == REGISTER_PREDICATE ? 'P' : 'R', number);
    if (behind[class])
        buffer_printf(out, ":R%u", number + behind[class]);
}

/* Small numbers in decimal, others in hexadecimal. */
static void print_integer(struct buffer *out, int64_t value)
{
    if (value >= -65536 && value <= 65536)
        buffer_printf(out, "%lld", (long long)value);
    else
        buffer_printf(out, "0x%llx", (unsigned long long)value);
}

static void print_immediate(struct buffer *out, const struct operand *operand)
{
    if (operand->immediate_bits == 32)
        buffer_printf(out, "0f%08X", (unsigned)operand->value);
    else if (operand->immediate_bits == 64)
        buffer_printf(out, "0d%016llX", (unsigned long long)operand->value);
    else
        print_integer(out, operand->value);
}

/* The selector after a register: .x, .b0, .b3210. */
static void print_component(struct buffer *out, const struct operand *operand)
{
    unsigned digits = operand->component >> 12;

    if (operand->component == 0)
        return;
    if (operand->component_kind == 'v') {
        buffer_printf(out, ".%c", "xyzw"[(operand->component - 1) & 3]);
        return;
    }
    buffer_printf(out, ".%c", operand->component_kind == 'b' ? 'b' : 'h');
    if (digits == 0)
        buffer_printf(out, "%u", operand->component - 1u);
    while (digits-- > 0)
        buffer_printf(out, "%u", operand->component >> (3 * digits) & 7);
}

static uint64_t field_at(const struct printer *printer, size_t word)
{
    return little_u32(printer->code.data + printer->offset + word + 4);
}

/* Prints the contents of a relocated field without a known name. */
static void print_field(const struct printer *printer, const struct operand *operand)
{
    uint64_t field = field_at(printer, operand->label);

    switch (operand->symbol) {
    case CODE_ADDRESS_PAIR:
        buffer_printf(
            printer->out, "address(0x%llx)",
            (unsigned long long)(field_at(printer, operand->label + CODE_WORD_SIZE) << 32 | field));
        break;
    case CODE_SHARED:
        buffer_printf(printer->out, "shared(0x%llx)", (unsigned long long)field);
        break;
    case CODE_CONSTANT:
        buffer_printf(printer->out, "c[0x%llx][0x%llx]",
                      (unsigned long long)code_field(field, 22, 5),
                      (unsigned long long)code_field(field, 6, 16));
        break;
    default:
        if (field)
            buffer_printf(printer->out, "function(0x%llx)", (unsigned long long)field);
        else
            buffer_string(printer->out, "function()");
    }
}

/* Prints a reference; `value` is its addend, or the offset in the function's own area. */
static void print_reference(const struct printer *printer, const struct operand *operand)
{
    static const char *const areas[] = {
        [CODE_PARAMETER] = "param", [CODE_LOCAL] = "local", [CODE_ARGUMENT] = "argument"};
    const char *name = NULL;

    if (operand->symbol >= CODE_PARAMETER) {
        buffer_printf(printer->out, "%s+0x%llx", areas[operand->symbol],
                      (unsigned long long)operand->value);
        return;
    }
    if (printer->symbol)
        name = printer->symbol(printer->argument, printer->offset + operand->label);
    if (name)
        buffer_string(printer->out, name);
    else
        print_field(printer, operand);
    if (operand->value > 0)
        buffer_char(printer->out, '+');
    if (operand->value)
        print_integer(printer->out, operand->value);
}

static void print_list(const struct printer *printer, const struct operand *operand,
                       const char *brackets)
{
    bool is_pair = operand->kind == OPERAND_VECTOR && operand->component_kind == '|';

    if (!is_pair)
        buffer_char(printer->out, brackets[0]);
    for (uint32_t i = 0; i < operand->element_count; i++) {
        if (i > 0)
            buffer_string(printer->out, is_pair ? "|" : ", ");
        print_operand(printer, &operand->elements[i]);
    }
    if (!is_pair)
        buffer_char(printer->out, brackets[1]);
}

static void print_address(const struct printer *printer, const struct operand *operand)
{
    struct buffer *out = printer->out;

    buffer_char(out, '[');
    if (operand->reg != NO_INDEX)
        print_register(out, operand->reg);
    if (operand->symbol != NO_INDEX)
        print_reference(printer, operand);
    else if (operand->value || operand->reg == NO_INDEX) {
        if (operand->reg != NO_INDEX && operand->value > 0)
            buffer_char(out, '+');
        print_integer(out, operand->value);
    }
    for (uint32_t i = 0; i < operand->element_count; i++) {
        buffer_string(out, ", ");
        print_operand(printer, &operand->elements[i]);
    }
    buffer_char(out, ']');
    if (operand->component_kind == 'u')
        buffer_string(out, ".unified");
}

static void print_label(struct buffer *out, int64_t distance)
{
    uint64_t size = distance < 0 ? 0 - (uint64_t)distance : (uint64_t)distance;

    buffer_printf(out, ".%c0x%llx", distance < 0 ? '-' : '+', (unsigned long long)size);
}

/* Recursion follows groups, whose depth the decoder bounds. */
static void print_operand(const struct printer *printer, const struct operand *operand)
{
    struct buffer *out = printer->out;

    if (operand->is_negated)
        buffer_char(out, '-');
    if (operand->is_inverted)
        buffer_char(out, '!');
    switch (operand->kind) {
    case OPERAND_REGISTER:
        print_register(out, operand->reg);
        print_component(out, operand);
        break;
    case OPERAND_IMMEDIATE:
        print_immediate(out, operand);
        break;
    case OPERAND_SPECIAL:
        buffer_string(out, special_name((uint16_t)operand->label));
        break;
    case OPERAND_SYMBOL:
        print_reference(printer, operand);
        break;
    case OPERAND_ADDRESS:
        print_address(printer, operand);
        break;
    case OPERAND_LABEL:
        print_label(out, operand->value);
        break;
    case OPERAND_VECTOR:
        print_list(printer, operand, "{}");
        break;
    case OPERAND_LIST:
        print_list(printer, operand, "()");
        break;
    case OPERAND_NAME:
        buffer_string(out, "prototype");
        break;
    default:
        buffer_char(out, '_');
    }
}

size_t encode_print(struct bytes code, size_t offset, struct buffer *out,
                    const char *(*symbol)(void *argument, uint64_t offset), void *argument)
{
    struct printer printer = {out, code, offset, symbol, argument};
    struct arena arena = {0};
    struct instruction instruction;
    size_t size = decode_instruction(code, offset, &arena, &instruction);

    CONTEXT_DEFER(arena_cleanup, &arena);
    if (size == 0)
        return 0;
    if (instruction.guard != CODE_NO_GUARD)
        buffer_printf(out, "@%sP%u ", instruction.guard_negated ? "!" : "", instruction.guard);
    buffer_string(out, opcode_get(instruction.opcode)->name);
    for (unsigned i = 0; i < instruction.modifier_count; i++)
        buffer_printf(out, ".%s", modifier_name(instruction.modifiers[i]));
    for (unsigned i = 0; i < instruction.operand_count; i++) {
        buffer_string(out, i ? ", " : " ");
        print_operand(&printer, &instruction.operands[i]);
    }
    return size;
}
