/* encode.c: encodes instructions in one pass; distances to labels are filled in at the end. */
#include "toy/encode.h"

#include "cubin/format.h"
#include "language/syntax.h"

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
    struct code_relocations *relocations;
    struct fixup *fixups;
    size_t fixup_count;
    size_t fixup_capacity;
};

static void put_operand(struct encoder *encoder, const struct operand *operand, bool is_inner);

static bool fail(const struct encoder *encoder, const char *message)
{
    struct diag_place place = {.file = encoder->file, .line = encoder->instruction->line};

    return diag_at(DIAG_ERROR, &place, "Instruction '%s' of '%.*s' cannot be encoded: %s",
                   opcode_get(encoder->instruction->opcode)->name,
                   TEXT_ARG(encoder->body->function), message);
}

static void put_word(struct encoder *encoder, struct code_word word)
{
    buffer_append(encoder->code, &word, CODE_WORD_SIZE);
}

static void add_relocation(struct encoder *encoder, uint32_t type, const struct operand *operand)
{
    struct code_relocations *all = encoder->relocations;

    ARENA_PUSH(encoder->body->arena, all->list, all->count, all->capacity) =
        (struct code_relocation){encoder->code->size, type,
                                 &encoder->body->symbols[operand->symbol], operand->value};
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

/* The word of an operand, but for references and labels. */
static struct code_word word_of(const struct encoder *encoder, const struct operand *operand)
{
    bool is_address = operand->kind == OPERAND_SYMBOL || operand->kind == OPERAND_ADDRESS;
    struct code_word word = {.kind = CODE_KIND(operand->kind) & 15u,
                             .is_negated = operand->is_negated,
                             .is_inverted = operand->is_inverted,
                             .part = operand->part & 7u,
                             .form = operand->immediate_bits / 32 & 7u,
                             .has_elements = is_address && operand->element_count > 0,
                             .value = operand->value};

    if (operand->reg != NO_INDEX && operand->kind <= OPERAND_ADDRESS) {
        const struct virtual_register *reg = &encoder->body->registers[operand->reg];

        word.has_register = true;
        word.class = reg->class & 3u;
        word.number = reg->physical;
    }
    if (operand->kind == OPERAND_REGISTER)
        word.payload = operand->component;
    else if (operand->kind == OPERAND_SPECIAL)
        word.payload = operand->label;
    else if (!is_address)
        word.payload = operand->element_count;
    return word;
}

/* Appends the word of an address or symbol, its relocations, and its second word. */
static void put_reference(struct encoder *encoder, const struct operand *operand,
                          struct code_word word)
{
    static const uint32_t relocations[] = {[CODE_ADDRESS_PAIR] = R_CUDA_ABS32_LO_32,
                                           [CODE_SHARED] = R_CUDA_ABS32_32,
                                           [CODE_CONSTANT] = R_CUDA_CONST_FIELD21_38,
                                           [CODE_CALL] = R_CUDA_ABS55_16_34};
    const struct body_symbol *symbol = &encoder->body->symbols[operand->symbol];
    enum code_reference reference = reference_of(symbol, operand == encoder->call_target);

    word.form = reference & 7;
    if (reference >= CODE_PARAMETER)
        word.value = (int64_t)((uint64_t)word.value + symbol->offset);
    else
        add_relocation(encoder, relocations[reference], operand);
    put_word(encoder, word);
    if (reference == CODE_ADDRESS_PAIR) {
        add_relocation(encoder, R_CUDA_ABS32_HI_32, operand);
        put_word(encoder, (struct code_word){.kind = CODE_HIGH});
    }
}

/* Appends the elements, behind a word that counts them if they have none yet. */
static void put_elements(struct encoder *encoder, const struct operand *elements, uint32_t count,
                         bool is_list)
{
    if (is_list)
        put_word(encoder, (struct code_word){.kind = CODE_KIND(OPERAND_LIST), .payload = count});
    for (uint32_t i = 0; i < count; i++)
        put_operand(encoder, &elements[i], true);
}

/* A list of targets is in the code once, however many branches use it. */
static void put_label(struct encoder *encoder, uint32_t index, bool is_inner)
{
    struct label *label = &encoder->body->labels[index];
    struct code_word word = {.kind = CODE_KIND(OPERAND_LABEL)};
    uint32_t here = encoder->instruction->address;

    if (!label->targets || is_inner) {
        ARENA_PUSH(encoder->body->arena, encoder->fixups, encoder->fixup_count,
                   encoder->fixup_capacity) = (struct fixup){encoder->code->size, here, index};
    } else if (label->holder == NO_INDEX) {
        label->holder = here;
        put_elements(encoder, label->targets, label->target_count, true);
        return;
    } else {
        word.value = (int64_t)label->holder - here;
    }
    put_word(encoder, word);
}

static void put_operand(struct encoder *encoder, const struct operand *operand, bool is_inner)
{
    struct code_word word = word_of(encoder, operand);

    if (operand->kind == OPERAND_LABEL) {
        put_label(encoder, operand->label, is_inner);
        return;
    }
    if (operand->symbol != NO_INDEX)
        put_reference(encoder, operand, word);
    else
        put_word(encoder, word);
    put_elements(encoder, operand->elements, operand->element_count, word.has_elements);
}

/* Appends the head, whose number of words is not known yet, and the modifiers. */
static void put_head(struct buffer *code, const struct instruction *instruction)
{
    size_t size = sizeof(struct code_head) + instruction->modifier_count * sizeof(uint16_t);
    unsigned words = (unsigned)((size + CODE_WORD_SIZE - 1) / CODE_WORD_SIZE);
    struct code_head head = {.opcode = instruction->opcode & 0xfffu,
                             .is_guarded = instruction->guard != NO_INDEX,
                             .head_words = words & 7u};

    buffer_append(code, &head, sizeof head);
    buffer_append(code, instruction->modifiers, size - sizeof head);
    buffer_append(code, (char[CODE_WORD_SIZE]){0}, words * CODE_WORD_SIZE - size);
}

static bool put_instruction(struct encoder *encoder, struct instruction *instruction)
{
    struct buffer *code = encoder->code;
    size_t at = code->size, words;
    const struct operand *operands = instruction->operands;
    const struct operand guard = {.kind = OPERAND_REGISTER,
                                  .reg = instruction->guard,
                                  .symbol = NO_INDEX,
                                  .is_inverted = instruction->guard_negated};

    encoder->instruction = instruction;
    encoder->call_target = NULL;
    if (instruction->operand_count && opcode_get(instruction->opcode)->flags & OPCODE_CALL)
        encoder->call_target =
            &operands[instruction->operand_count > 1 && operands[0].kind == OPERAND_LIST];
    instruction->address = (uint32_t)at;
    put_head(code, instruction);
    if (instruction->guard != NO_INDEX)
        put_operand(encoder, &guard, false);
    for (unsigned i = 0; i < instruction->operand_count; i++)
        put_operand(encoder, &operands[i], false);
    words = (code->size - at) / CODE_WORD_SIZE;
    if (words > CODE_MOST_WORDS)
        return fail(encoder, "it has too many operands");
    memcpy(code->data + at + offsetof(struct code_head, words),
           &(uint16_t){words & CODE_MOST_WORDS}, sizeof(uint16_t));
    return code->size <= UINT32_MAX || fail(encoder, "the function is larger than 4 GiB");
}

static void fill_in_labels(struct encoder *encoder)
{
    const struct body *body = encoder->body;

    for (size_t i = 0; i < encoder->fixup_count; i++) {
        struct fixup fixup = encoder->fixups[i];
        uint32_t target = body->labels[fixup.label].instruction;
        uint64_t address = target < body->instruction_count ? body->instructions[target].address
                                                            : encoder->code->size;
        uint64_t distance = address - fixup.address;

        memcpy(encoder->code->data + fixup.word + offsetof(struct code_word, value), &distance,
               sizeof distance);
    }
}

bool encode_body(struct body *body, const char *file, struct buffer *code,
                 struct code_relocations *relocations)
{
    struct encoder encoder = {.body = body, .file = file, .code = code, .relocations = relocations};

    for (size_t i = 0; i < body->label_count; i++)
        body->labels[i].holder = NO_INDEX;
    for (size_t i = 0; i < body->instruction_count; i++)
        if (!put_instruction(&encoder, &body->instructions[i]))
            return false;
    fill_in_labels(&encoder);
    return true;
}
