/* decode.c: the inverse of encode.c, for untrusted input: numbers are checked against the tables,
 * and an instruction must consist of exactly the words that its head counts. */
#include "toy/encode.h"

#include "base/little.h"
#include "toy/language/opcode.h"

struct decoder {
    const uint8_t *words; /* of the instruction */
    size_t count;
    size_t at; /* next word */
    struct arena *arena;
};

const uint8_t code_part_kinds[] = {[CODE_WHOLE] = 0,    [CODE_LANE] = 'v', [CODE_BYTES] = 'b',
                                   [CODE_HALVES] = 'h', [CODE_PAIR] = '|', [CODE_UNIFIED] = 'u'};

static bool decode_elements(struct decoder *decoder, struct operand *owner, size_t room,
                            unsigned depth);

uint64_t code_field(uint64_t half, unsigned bit, unsigned size)
{
    return half >> bit & ((UINT64_C(1) << size) - 1);
}

static struct code_word word_at(const struct decoder *decoder, size_t index)
{
    const uint8_t *bytes = decoder->words + index * CODE_WORD_SIZE;

    return (struct code_word){little_u64(bytes), little_u64(bytes + 8)};
}

static bool next_word(struct decoder *decoder, struct code_word *word)
{
    if (decoder->at >= decoder->count)
        return false;
    *word = word_at(decoder, decoder->at++);
    return true;
}

/* Class in bits 0-1, number in 2-9, as made by register_bits() of encode.c. */
static bool set_register(struct operand *operand, uint64_t bits)
{
    uint32_t class = bits & 3, number = (uint32_t)(bits >> 2 & 0xff);

    operand->reg = class << 8 | number;
    return class == REGISTER_PREDICATE ? number <= 6 : number <= 255 - (1u << (class - 1));
}

/* The word that a slot is the short form of; its kind alone for SINK and NAME, which only slots
 * have.
 */
static struct code_word word_of_slot(uint32_t slot)
{
    uint64_t kind = slot & 15, payload = slot >> 4;

    switch (kind) {
    case CODE_REGISTER:
        return (struct code_word){
            kind | code_field(slot, 14, 2) << 4 | 1u << 11 | code_field(slot, 4, 10) << 12, 0};
    case CODE_ADDRESS:
        return (struct code_word){kind | 1u << 11 | code_field(slot, 4, 10) << 12, 0};
    case CODE_IMMEDIATE:
        return (struct code_word){kind, (payload ^ 0x800) - 0x800};
    case CODE_SPECIAL:
        return (struct code_word){kind | payload << 32, 0};
    default:
        return (struct code_word){kind, 0};
    }
}

static bool decode_part(struct code_word word, struct operand *operand)
{
    uint64_t part = code_field(word.low, 8, 3);

    if (part >= CODE_PARTS)
        return false;
    operand->component_kind = code_part_kinds[part];
    return true;
}

/* Decodes reference and offset of a SYMBOL or ADDRESS, and the word for the upper half. */
static bool decode_reference(struct decoder *decoder, struct code_word word,
                             struct operand *operand)
{
    uint64_t reference = code_field(word.low, 24, 3);
    struct code_word high;

    operand->value = (int64_t)word.high;
    if (reference == CODE_NO_REFERENCE)
        return operand->kind == OPERAND_ADDRESS;
    operand->symbol = (uint32_t)reference;
    operand->label = (uint32_t)((decoder->at - 1) * CODE_WORD_SIZE);
    return reference != CODE_ADDRESS_PAIR ||
           (next_word(decoder, &high) && (high.low & 15) == CODE_HIGH);
}

static bool decode_address(struct decoder *decoder, struct code_word word, struct operand *operand,
                           unsigned depth)
{
    operand->kind = OPERAND_ADDRESS;
    if (code_field(word.low, 11, 1) && !set_register(operand, code_field(word.low, 12, 10)))
        return false;
    if (!decode_reference(decoder, word, operand))
        return false;
    operand->element_count = (uint32_t)code_field(word.low, 27, 5);
    return operand->element_count == 0 || decode_elements(decoder, operand, 0, depth);
}

static bool decode_group(struct decoder *decoder, struct code_word word, enum operand_kind kind,
                         struct operand *operand, unsigned depth)
{
    operand->kind = (uint8_t)kind;
    operand->element_count = (uint32_t)code_field(word.low, 32, 32);
    return decode_elements(decoder, operand, CODE_SLOTS, depth);
}

static bool decode_register(struct code_word word, struct operand *operand)
{
    operand->kind = OPERAND_REGISTER;
    operand->component = (uint16_t)code_field(word.low, 32, 16);
    return set_register(operand, code_field(word.low, 12, 10));
}

static bool decode_special(struct code_word word, struct operand *operand)
{
    operand->kind = OPERAND_SPECIAL;
    operand->label = (uint32_t)code_field(word.low, 32, 32);
    return operand->label > 0 && operand->label < special_words.count;
}

static bool decode_immediate(struct code_word word, struct operand *operand)
{
    uint64_t literal = code_field(word.low, 6, 2);

    operand->kind = OPERAND_IMMEDIATE;
    operand->immediate_bits = literal == 1 ? 32 : literal == 2 ? 64 : 0;
    operand->value = (int64_t)word.high;
    return literal < 3;
}

/* Decodes an operand from its slot or, if that is LONG, from words of its own. */
static bool decode_operand(struct decoder *decoder, uint32_t slot, struct operand *operand,
                           unsigned depth)
{
    bool is_long = slot == CODE_LONG;
    struct code_word word = word_of_slot(slot);

    *operand = (struct operand){
        .kind = OPERAND_SINK, .reg = NO_INDEX, .symbol = NO_INDEX, .label = NO_INDEX};
    if (is_long && (!next_word(decoder, &word) || !decode_part(word, operand)))
        return false;
    operand->is_negated = code_field(word.low, 4, 1);
    operand->is_inverted = code_field(word.low, 5, 1);
    switch (word.low & 15) {
    case CODE_REGISTER:
        return decode_register(word, operand);
    case CODE_IMMEDIATE:
        return decode_immediate(word, operand);
    case CODE_SPECIAL:
        return decode_special(word, operand);
    case CODE_ADDRESS:
        return decode_address(decoder, word, operand, depth + 1);
    case CODE_SINK:
        return !is_long;
    case CODE_NAME:
        operand->kind = OPERAND_NAME;
        return !is_long;
    case CODE_SYMBOL:
        operand->kind = OPERAND_SYMBOL;
        return is_long && decode_reference(decoder, word, operand);
    case CODE_LABEL:
        operand->kind = OPERAND_LABEL;
        operand->value = (int64_t)word.high;
        return is_long;
    case CODE_VECTOR:
        return is_long && decode_group(decoder, word, OPERAND_VECTOR, operand, depth + 1);
    case CODE_LIST:
        return is_long && decode_group(decoder, word, OPERAND_LIST, operand, depth + 1);
    default:
        return false;
    }
}

static uint32_t slot_at(const uint8_t *slots, size_t index)
{
    return slots[2 * index] | (uint32_t)slots[2 * index + 1] << 8;
}

static bool decode_operands(struct decoder *decoder, const uint8_t *slots, struct operand *list,
                            size_t count, unsigned depth)
{
    for (size_t i = 0; i < count; i++)
        if (!decode_operand(decoder, slot_at(slots, i), &list[i], depth))
            return false;
    return true;
}

/* Decodes the elements of a group or address whose last word has been read: `room` slots are at its
 * end, packed words after it. There are no more elements than slots, so memory stays in proportion.
 */
static bool decode_elements(struct decoder *decoder, struct operand *owner, size_t room,
                            unsigned depth)
{
    size_t slots = room + (decoder->count - decoder->at) * CODE_PACKED_SLOTS;
    const uint8_t *first = decoder->words + decoder->at * CODE_WORD_SIZE - 2 * room;
    size_t count = owner->element_count;

    if (count > slots || depth > CODE_DEEPEST_GROUP)
        return false;
    if (count > room)
        decoder->at += (count - room + CODE_PACKED_SLOTS - 1) / CODE_PACKED_SLOTS;
    owner->elements = arena_alloc(decoder->arena, count, sizeof *owner->elements);
    return decode_operands(decoder, first, owner->elements, count, depth);
}

static uint16_t modifier_at(struct code_word word, unsigned bit)
{
    return (uint16_t)(((unsigned __int128)word.high << 64 | word.low) >> bit & 0x3ff);
}

/* Collects modifiers up to the first 0. */
static bool decode_modifiers(struct decoder *decoder, struct code_word head,
                             struct instruction *result)
{
    unsigned words = (unsigned)(head.low >> 62);
    struct code_word word = {head.low >> 32 & 0x3fffffff, 0};
    unsigned room = CODE_HEAD_MODIFIERS;
    uint16_t *modifiers = arena_alloc(decoder->arena, INSTRUCTION_MODIFIERS, sizeof *modifiers);

    result->modifiers = modifiers;
    for (unsigned i = 0; i <= words; i++) {
        for (unsigned j = 0; j < room; j++) {
            uint16_t modifier = modifier_at(word, 10 * j);

            if (modifier == 0)
                continue;
            if (modifier >= modifier_words.count || result->modifier_count == INSTRUCTION_MODIFIERS)
                return false;
            modifiers[result->modifier_count++] = modifier;
        }
        room = CODE_WORD_MODIFIERS;
        if (i < words && !next_word(decoder, &word))
            return false;
    }
    return true;
}

/* Decodes the group after the head's long operands if its fourth slot is MORE. */
static bool decode_more(struct decoder *decoder, struct operand *rest)
{
    struct code_word word = {0};

    return next_word(decoder, &word) && (word.low & 15) == CODE_MORE &&
           code_field(word.low, 32, 32) <= UINT8_MAX - CODE_SLOTS &&
           decode_group(decoder, word, OPERAND_LIST, rest, 0);
}

/* Decodes the operands of the head: its slots up to the first empty one, and the group of MORE. */
static bool decode_head_operands(struct decoder *decoder, struct instruction *result)
{
    const uint8_t *slots = decoder->words + 8;
    struct operand first[CODE_SLOTS];
    struct operand rest = {0};
    size_t count = 0;

    while (count < CODE_SLOTS && slot_at(slots, count) != CODE_NONE &&
           slot_at(slots, count) != CODE_MORE)
        count++;
    if (!decode_operands(decoder, slots, first, count, 0))
        return false;
    if (count < CODE_SLOTS && slot_at(slots, count) == CODE_MORE && !decode_more(decoder, &rest))
        return false;
    result->operand_count = (uint8_t)(count + rest.element_count);
    result->operands = arena_alloc(decoder->arena, result->operand_count, sizeof *result->operands);
    memcpy(result->operands, first, count * sizeof *first);
    if (rest.element_count)
        memcpy(result->operands + count, rest.elements, rest.element_count * sizeof *first);
    return true;
}

size_t decode_instruction(struct bytes code, size_t offset, struct arena *arena,
                          struct instruction *result)
{
    struct decoder decoder = {.at = 1, .arena = arena};
    struct code_word head;

    *result = (struct instruction){0};
    if (offset > code.size || code.size - offset < CODE_WORD_SIZE)
        return 0;
    decoder.words = code.data + offset;
    head = word_at(&decoder, 0);
    decoder.count = code_field(head.low, 16, 16);
    result->opcode = (uint16_t)code_field(head.low, 0, 12);
    result->guard = (uint32_t)code_field(head.low, 12, 3);
    result->guard_negated = code_field(head.low, 15, 1);
    if (decoder.count == 0 || decoder.count > (code.size - offset) / CODE_WORD_SIZE ||
        result->opcode == 0 || result->opcode >= opcode_words.count)
        return 0;
    if (!decode_modifiers(&decoder, head, result) || !decode_head_operands(&decoder, result) ||
        decoder.at != decoder.count)
        return 0;
    return decoder.count * CODE_WORD_SIZE;
}
