/* encode.c: encodes instructions in one pass; distances to labels are filled in at the end.
 * minilink-cubin(5) describes the layout. */
#include "toy/encode.h"

#include "cubin/format.h"
#include "toy/language/opcode.h"

#define ERROR_LIMIT 20u

/* A LABEL word whose distance must be filled in. */
struct fixup {
    size_t word;      /* offset in the buffer */
    uint32_t address; /* of its instruction */
    uint32_t label;
};

struct encoder {
    struct body *body;
    const char *file;
    const struct instruction *instruction; /* the current instruction */
    const struct operand *call_target;     /* of a call, else NULL */
    struct buffer *code;
    size_t start; /* of the function in `code` */
    struct code_relocations *relocations;
    struct fixup *fixups;
    size_t fixup_count;
    size_t fixup_capacity;
    unsigned errors;
};

static void put_operands(struct encoder *encoder, const struct operand *operands, size_t count,
                         size_t slots, unsigned depth);

static void fail(struct encoder *encoder, const char *message)
{
    struct diag_place place = {.file = encoder->file, .line = encoder->instruction->line};

    if (encoder->errors++ < ERROR_LIMIT)
        diag_at(DIAG_ERROR, &place, "Instruction '%s' of '%.*s' cannot be encoded: %s",
                opcode_get(encoder->instruction->opcode)->name, TEXT_ARG(encoder->body->function),
                message);
}

static void put_word(struct encoder *encoder, struct code_word word)
{
    buffer_append(encoder->code, &word, CODE_WORD_SIZE);
}

static void set_slot(struct encoder *encoder, size_t offset, uint32_t slot)
{
    uint8_t bytes[2] = {(uint8_t)slot, (uint8_t)(slot >> 8)};

    memcpy(encoder->code->data + offset, bytes, sizeof bytes);
}

static void add_relocation(struct encoder *encoder, uint32_t type, const struct body_symbol *symbol,
                           int64_t addend)
{
    struct code_relocations *all = encoder->relocations;

    ARENA_PUSH(encoder->body->arena, all->list, all->count, all->capacity) =
        (struct code_relocation){encoder->code->size - encoder->start, type, symbol, addend};
}

/* An allocated register: class in bits 0-1, number in bits 2-9. */
static uint32_t register_bits(const struct encoder *encoder, uint32_t index)
{
    const struct virtual_register *reg = &encoder->body->registers[index];

    return reg->class | (uint32_t)reg->physical << 2;
}

static bool is_plain_register(const struct operand *operand)
{
    return operand->kind == OPERAND_REGISTER && operand->component == 0;
}

static bool is_plain_address(const struct operand *operand)
{
    return operand->kind == OPERAND_ADDRESS && operand->reg != NO_INDEX && operand->value == 0 &&
           operand->element_count == 0 && operand->component_kind == 0;
}

/* The slot of an operand; CODE_LONG if it needs words of its own. */
static uint32_t slot_of(const struct encoder *encoder, const struct operand *operand)
{
    if (is_plain_register(operand))
        return CODE_REGISTER | register_bits(encoder, operand->reg) << 4 |
               (uint32_t)operand->is_negated << 14 | (uint32_t)operand->is_inverted << 15;
    if (is_plain_address(operand))
        return CODE_ADDRESS | register_bits(encoder, operand->reg) << 4;
    if (operand->kind == OPERAND_IMMEDIATE && operand->immediate_bits == 0 &&
        operand->value >= -2048 && operand->value < 2048)
        return CODE_IMMEDIATE | ((uint32_t)operand->value & 0xfff) << 4;
    if (operand->kind == OPERAND_SPECIAL && !operand->is_negated && !operand->is_inverted)
        return CODE_SPECIAL | operand->label << 4;
    if (operand->kind == OPERAND_SINK)
        return CODE_SINK;
    if (operand->kind == OPERAND_NAME)
        return CODE_NAME;
    return CODE_LONG;
}

static uint64_t flag_bits(const struct operand *operand)
{
    return (uint64_t)operand->is_negated << 4 | (uint64_t)operand->is_inverted << 5;
}

static uint64_t part_bits(const struct operand *operand)
{
    uint64_t part = CODE_WHOLE;

    while (code_part_kinds[part] != operand->component_kind)
        part++;
    return part << 8;
}

static enum code_reference reference_of(const struct body_symbol *symbol, bool is_call_target)
{
    static const uint8_t references[] = {
        [PTX_SPACE_PARAM] = CODE_ARGUMENT,
        [PTX_SPACE_LOCAL] = CODE_LOCAL,
        [PTX_SPACE_SHARED] = CODE_SHARED,
        [PTX_SPACE_GLOBAL] = CODE_ADDRESS_PAIR,
        [PTX_SPACE_CONST] = CODE_CONSTANT,
        [PTX_SPACE_TEX] = CODE_CONSTANT, /* identified by a word in bank 0 */
    };

    if (symbol->is_function)
        return is_call_target ? CODE_CALL : CODE_ADDRESS_PAIR;
    if (symbol->space == PTX_SPACE_PARAM && (symbol->is_parameter || symbol->is_return))
        return CODE_PARAMETER;
    return references[symbol->space];
}

/* Appends the word of an address or symbol, its relocations, and its second word. */
static void put_reference(struct encoder *encoder, const struct operand *operand,
                          struct code_word word)
{
    const struct body_symbol *symbol = &encoder->body->symbols[operand->symbol];
    enum code_reference reference = reference_of(symbol, operand == encoder->call_target);

    word.low |= (uint64_t)reference << 24;
    word.high = (uint64_t)operand->value;
    if (reference >= CODE_PARAMETER)
        word.high += symbol->offset;
    else if (reference == CODE_ADDRESS_PAIR)
        add_relocation(encoder, R_CUDA_ABS32_LO_32, symbol, operand->value);
    else
        add_relocation(encoder,
                       reference == CODE_SHARED     ? R_CUDA_ABS32_32
                       : reference == CODE_CONSTANT ? R_CUDA_CONST_FIELD21_38
                                                    : R_CUDA_ABS55_16_34,
                       symbol, operand->value);
    put_word(encoder, word);
    if (reference == CODE_ADDRESS_PAIR) {
        add_relocation(encoder, R_CUDA_ABS32_HI_32, symbol, operand->value);
        put_word(encoder, (struct code_word){CODE_HIGH, 0});
    }
}

/* Writes elements: the first `room` into slots reserved at the end of the code, then packed words,
 * so that all slots are consecutive, then the long elements. */
static void put_elements(struct encoder *encoder, const struct operand *elements, size_t count,
                         size_t room, unsigned depth)
{
    size_t slots = encoder->code->size - 2 * room;
    size_t rest = count > room ? count - room : 0;

    buffer_zeros(encoder->code,
                 (rest + CODE_PACKED_SLOTS - 1) / CODE_PACKED_SLOTS * CODE_WORD_SIZE);
    put_operands(encoder, elements, count, slots, depth);
}

static void put_group(struct encoder *encoder, enum code_kind kind, const struct operand *operand,
                      unsigned depth)
{
    uint64_t low = (uint64_t)kind | part_bits(operand) | (uint64_t)operand->element_count << 32;

    put_word(encoder, (struct code_word){low, 0});
    put_elements(encoder, operand->elements, operand->element_count, CODE_SLOTS, depth);
}

static void put_address(struct encoder *encoder, const struct operand *operand, unsigned depth)
{
    struct code_word word = {CODE_ADDRESS | part_bits(operand), (uint64_t)operand->value};

    if (operand->element_count > CODE_MOST_BASE_ELEMENTS) {
        fail(encoder, "an address has too many elements");
        return;
    }
    word.low |= (uint64_t)operand->element_count << 27;
    if (operand->reg != NO_INDEX)
        word.low |= 1u << 11 | (uint64_t)register_bits(encoder, operand->reg) << 12;
    if (operand->symbol != NO_INDEX)
        put_reference(encoder, operand, word);
    else
        put_word(encoder, word);
    if (operand->element_count)
        put_elements(encoder, operand->elements, operand->element_count, 0, depth);
}

/* A list is in the code once, however many branches use it. */
static void put_targets(struct encoder *encoder, struct label *label)
{
    struct operand table = {.elements = label->targets, .element_count = label->target_count};
    uint32_t here = encoder->instruction->address;

    if (label->holder != NO_INDEX) {
        put_word(encoder, (struct code_word){CODE_LABEL, (uint64_t)label->holder - here});
        return;
    }
    label->holder = here;
    put_group(encoder, CODE_LIST, &table, 1);
}

static void put_label(struct encoder *encoder, uint32_t label, unsigned depth)
{
    if (encoder->body->labels[label].targets && depth == 0) {
        put_targets(encoder, &encoder->body->labels[label]);
        return;
    }
    ARENA_PUSH(encoder->body->arena, encoder->fixups, encoder->fixup_count,
               encoder->fixup_capacity) =
        (struct fixup){encoder->code->size, encoder->instruction->address, label};
    put_word(encoder, (struct code_word){CODE_LABEL, 0});
}

static void put_immediate(struct encoder *encoder, const struct operand *operand)
{
    uint64_t literal = operand->immediate_bits == 32 ? 1 : operand->immediate_bits == 64 ? 2 : 0;

    put_word(encoder, (struct code_word){CODE_IMMEDIATE | literal << 6, (uint64_t)operand->value});
}

/* Appends the words of an operand that does not fit a slot. */
static void put_long(struct encoder *encoder, const struct operand *operand, unsigned depth)
{
    struct code_word word = {0};

    switch (operand->kind) {
    case OPERAND_REGISTER:
        word.low = CODE_REGISTER | flag_bits(operand) | part_bits(operand) | 1u << 11 |
                   (uint64_t)register_bits(encoder, operand->reg) << 12 |
                   (uint64_t)operand->component << 32;
        put_word(encoder, word);
        break;
    case OPERAND_IMMEDIATE:
        put_immediate(encoder, operand);
        break;
    case OPERAND_SPECIAL:
        word.low = CODE_SPECIAL | flag_bits(operand) | (uint64_t)operand->label << 32;
        put_word(encoder, word);
        break;
    case OPERAND_SYMBOL:
        put_reference(encoder, operand, (struct code_word){CODE_SYMBOL, 0});
        break;
    case OPERAND_ADDRESS:
        put_address(encoder, operand, depth + 1);
        break;
    case OPERAND_LABEL:
        put_label(encoder, operand->label, depth);
        break;
    default:
        put_group(encoder, operand->kind == OPERAND_LIST ? CODE_LIST : CODE_VECTOR, operand,
                  depth + 1);
    }
}

/* Fills reserved slots, from offset `slots` of the buffer on; then appends the long operands in
 * order. */
static void put_operands(struct encoder *encoder, const struct operand *operands, size_t count,
                         size_t slots, unsigned depth)
{
    for (size_t i = 0; i < count; i++)
        set_slot(encoder, slots + 2 * i, slot_of(encoder, &operands[i]));
    for (size_t i = 0; i < count; i++)
        if ((uint8_t)encoder->code->data[slots + 2 * i] % 16 == CODE_LONG)
            put_long(encoder, &operands[i], depth);
}

/* The head has up to four operands; if there are more, the fourth and the rest are a group. */
static void put_head_operands(struct encoder *encoder, size_t slots)
{
    const struct operand *operands = encoder->instruction->operands;
    size_t all = encoder->instruction->operand_count;
    size_t count = all <= CODE_SLOTS ? all : CODE_SLOTS - 1;

    encoder->call_target = NULL;
    if (all && opcode_get(encoder->instruction->opcode)->flags & OPCODE_CALL)
        encoder->call_target = &operands[all > 1 && operands[0].kind == OPERAND_LIST];
    put_operands(encoder, operands, count, slots, 0);
    if (all > CODE_SLOTS) {
        struct operand rest = {.elements = encoder->instruction->operands + count,
                               .element_count = (uint32_t)(all - count)};

        set_slot(encoder, slots + 2 * count, CODE_MORE);
        put_group(encoder, CODE_MORE, &rest, 0);
    }
}

static uint64_t guard_bits(const struct encoder *encoder)
{
    const struct instruction *instruction = encoder->instruction;

    if (instruction->guard == NO_INDEX)
        return CODE_NO_GUARD;
    return encoder->body->registers[instruction->guard].physical |
           (uint64_t)instruction->guard_negated << 3;
}

/* Modifiers from `first` on that fit `room`, ten bits each. */
static struct code_word modifier_bits(const struct instruction *instruction, unsigned first,
                                      unsigned room)
{
    unsigned __int128 bits = 0;

    for (unsigned i = 0; i < room && first + i < instruction->modifier_count; i++)
        bits |= (unsigned __int128)instruction->modifiers[first + i] << 10 * i;
    return (struct code_word){(uint64_t)bits, (uint64_t)(bits >> 64)};
}

static void put_instruction(struct encoder *encoder, struct instruction *instruction)
{
    struct buffer *code = encoder->code;
    size_t head = code->size;
    unsigned rest = instruction->modifier_count > CODE_HEAD_MODIFIERS
                        ? instruction->modifier_count - CODE_HEAD_MODIFIERS
                        : 0;
    unsigned words = (rest + CODE_WORD_MODIFIERS - 1) / CODE_WORD_MODIFIERS;
    struct code_word word = modifier_bits(instruction, 0, CODE_HEAD_MODIFIERS);
    size_t size;

    encoder->instruction = instruction;
    instruction->address = (uint32_t)(head - encoder->start);
    word.low =
        word.low << 32 | instruction->opcode | guard_bits(encoder) << 12 | (uint64_t)words << 62;
    put_word(encoder, word);
    for (unsigned i = 0; i < words; i++)
        put_word(encoder, modifier_bits(instruction, CODE_HEAD_MODIFIERS + i * CODE_WORD_MODIFIERS,
                                        CODE_WORD_MODIFIERS));
    put_head_operands(encoder, head + 8);
    size = (code->size - head) / CODE_WORD_SIZE;
    if (size > CODE_MOST_WORDS)
        fail(encoder, "it has too many operands");
    set_slot(encoder, head + 2, (uint32_t)size);
}

static uint64_t address_of(const struct encoder *encoder, uint32_t label)
{
    const struct body *body = encoder->body;
    uint32_t instruction = body->labels[label].instruction;

    return instruction < body->instruction_count ? body->instructions[instruction].address
                                                 : encoder->code->size - encoder->start;
}

static void fill_in_labels(struct encoder *encoder)
{
    for (size_t i = 0; i < encoder->fixup_count; i++) {
        struct fixup fixup = encoder->fixups[i];
        uint64_t distance = address_of(encoder, fixup.label) - fixup.address;

        for (unsigned byte = 0; byte < 8; byte++)
            encoder->code->data[fixup.word + 8 + byte] = (char)(distance >> (8 * byte));
    }
}

bool encode_body(struct body *body, const char *file, struct buffer *code,
                 struct code_relocations *relocations)
{
    struct encoder encoder = {
        .body = body, .file = file, .code = code, .start = code->size, .relocations = relocations};

    for (size_t i = 0; i < body->label_count; i++)
        body->labels[i].holder = NO_INDEX;
    for (size_t i = 0; i < body->instruction_count && encoder.errors < ERROR_LIMIT; i++) {
        put_instruction(&encoder, &body->instructions[i]);
        if (code->size - encoder.start > UINT32_MAX) {
            fail(&encoder, "the function is larger than 4 GiB");
            break;
        }
    }
    if (encoder.errors == 0)
        fill_in_labels(&encoder);
    return encoder.errors == 0;
}
