/* encode_print.c: one instruction of the built-in code as a line of text: PTX with physical
 * registers. R4 is one register, R4:R5 a pair, R4:R7 a quadruple, P0 a predicate, S0 the first word
 * of the frame's spilled registers; .+0x40 is a branch target relative to the instruction.
 *
 * The code is not trusted: numbers are checked against the tables, and an instruction must consist
 * of exactly the words that its head counts. */
#include "toy/encode.h"

#include "language/opcode.h"

struct printer {
    struct buffer *out;
    const uint8_t *words; /* of the instruction */
    size_t offset;        /* of the instruction in the code */
    size_t count;
    size_t at; /* next word */
    const char *(*symbol)(void *argument, uint64_t offset);
    void *argument;
};

static bool print_operand(struct printer *printer, struct code_word word, unsigned depth);

static bool next_word(struct printer *printer, void *word)
{
    if (printer->at >= printer->count)
        return false;
    memcpy(word, printer->words + printer->at++ * CODE_WORD_SIZE, CODE_WORD_SIZE);
    return true;
}

static bool print_register(struct buffer *out, struct code_word word)
{
    static const unsigned behind[] = {0, 0, 1, 3}; /* registers after the first, by class */
    bool is_spilled = word.number >= REGISTERS_SPILLED;
    unsigned number = word.number - (is_spilled ? REGISTERS_SPILLED : 0);
    char letter = is_spilled ? 'S' : word.class == REGISTER_PREDICATE ? 'P' : 'R';

    if (!is_spilled && number + behind[word.class] > (word.class == REGISTER_PREDICATE ? 6 : 254))
        return false;
    buffer_printf(out, "%c%u", letter, number);
    if (behind[word.class])
        buffer_printf(out, ":%c%u", letter, number + behind[word.class]);
    return true;
}

/* Small numbers in decimal, others in hexadecimal. */
static void print_integer(struct buffer *out, int64_t value)
{
    if (value >= -65536 && value <= 65536)
        buffer_printf(out, "%lld", (long long)value);
    else
        buffer_printf(out, "0x%llx", (unsigned long long)value);
}

static bool print_immediate(struct buffer *out, struct code_word word)
{
    if (word.form == 0)
        print_integer(out, word.value);
    else if (word.form == 1)
        buffer_printf(out, "0f%08X", (unsigned)word.value);
    else
        buffer_printf(out, "0d%016llX", (unsigned long long)word.value);
    return word.form <= 2;
}

/* The selector after a register: .x, .b0, .b3210. */
static void print_component(struct buffer *out, struct code_word word)
{
    unsigned component = word.payload & 0xffff, digits = component >> 12;

    if (component == 0)
        return;
    if (word.part == PART_LANE) {
        buffer_printf(out, ".%c", "xyzw"[(component - 1) & 3]);
        return;
    }
    buffer_printf(out, ".%c", word.part == PART_BYTES ? 'b' : 'h');
    if (digits == 0)
        buffer_printf(out, "%u", component - 1u);
    while (digits-- > 0)
        buffer_printf(out, "%u", (unsigned)((uint64_t)component >> (3 * digits) & 7));
}

/* Prints the contents of a relocated field without a known name; `high` is that of the upper half.
 */
static void print_field(struct buffer *out, struct code_word word, uint64_t high)
{
    uint64_t field = word.payload;

    if (word.form == CODE_ADDRESS_PAIR)
        buffer_printf(out, "address(0x%llx)", (unsigned long long)(high << 32 | field));
    else if (word.form == CODE_SHARED)
        buffer_printf(out, "shared(0x%llx)", (unsigned long long)field);
    else if (word.form == CODE_CONSTANT)
        buffer_printf(out, "c[0x%llx][0x%llx]", (unsigned long long)(field >> 22 & 0x1f),
                      (unsigned long long)(field >> 6 & 0xffff));
    else if (field)
        buffer_printf(out, "function(0x%llx)", (unsigned long long)field);
    else
        buffer_string(out, "function()");
}

/* Prints a reference, whose word has been read; its value is an addend, or the offset in the
 * function's own area. */
static bool print_reference(struct printer *printer, struct code_word word)
{
    static const char *const areas[] = {
        [CODE_PARAMETER] = "param", [CODE_LOCAL] = "local", [CODE_ARGUMENT] = "argument"};
    uint64_t place = printer->offset + (printer->at - 1) * CODE_WORD_SIZE;
    struct code_word high = {0};
    const char *name = NULL;

    if (word.form >= CODE_PARAMETER) {
        buffer_printf(printer->out, "%s+0x%llx", areas[word.form], (unsigned long long)word.value);
        return true;
    }
    if (word.form == CODE_ADDRESS_PAIR && (!next_word(printer, &high) || high.kind != CODE_HIGH))
        return false;
    if (printer->symbol)
        name = printer->symbol(printer->argument, place);
    if (name)
        buffer_string(printer->out, name);
    else
        print_field(printer->out, word, high.payload);
    if (word.value > 0)
        buffer_char(printer->out, '+');
    if (word.value)
        print_integer(printer->out, word.value);
    return true;
}

static bool print_next(struct printer *printer, unsigned depth)
{
    struct code_word word;

    return next_word(printer, &word) && print_operand(printer, word, depth);
}

static bool print_elements(struct printer *printer, uint64_t count, const char *separator,
                           unsigned depth)
{
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0)
            buffer_string(printer->out, separator);
        if (!print_next(printer, depth + 1))
            return false;
    }
    return depth <= CODE_DEEPEST_GROUP;
}

static bool print_group(struct printer *printer, struct code_word word, const char *brackets,
                        unsigned depth)
{
    if (word.part == PART_PAIR)
        return print_elements(printer, word.payload, "|", depth);
    buffer_char(printer->out, brackets[0]);
    bool ok = print_elements(printer, word.payload, ", ", depth);
    buffer_char(printer->out, brackets[1]);
    return ok;
}

static bool print_address(struct printer *printer, struct code_word word, unsigned depth)
{
    struct buffer *out = printer->out;
    struct code_word list;

    buffer_char(out, '[');
    if (word.has_register && !print_register(out, word))
        return false;
    if (word.form && !print_reference(printer, word))
        return false;
    if (!word.form && (word.value || !word.has_register)) {
        if (word.has_register && word.value > 0)
            buffer_char(out, '+');
        print_integer(out, word.value);
    }
    if (word.has_elements) {
        buffer_string(out, ", ");
        if (!next_word(printer, &list) || list.kind != CODE_KIND(OPERAND_LIST) ||
            !print_elements(printer, list.payload, ", ", depth))
            return false;
    }
    buffer_string(out, word.part == PART_UNIFIED ? "].unified" : "]");
    return true;
}

/* Recursion ends at the deepest group, or at the last word. */
static bool print_operand(struct printer *printer, struct code_word word, unsigned depth)
{
    struct buffer *out = printer->out;

    if (word.part >= OPERAND_PARTS || depth > CODE_DEEPEST_GROUP)
        return false;
    if (word.is_negated)
        buffer_char(out, '-');
    if (word.is_inverted)
        buffer_char(out, '!');
    switch (word.kind) {
    case CODE_KIND(OPERAND_REGISTER):
        if (!word.has_register || !print_register(out, word))
            return false;
        print_component(out, word);
        return true;
    case CODE_KIND(OPERAND_IMMEDIATE):
        return print_immediate(out, word);
    case CODE_KIND(OPERAND_SPECIAL):
        if (word.payload == 0 || word.payload >= special_words.count)
            return false;
        buffer_string(out, special_name((uint16_t)word.payload));
        return true;
    case CODE_KIND(OPERAND_SYMBOL):
        return word.form && print_reference(printer, word);
    case CODE_KIND(OPERAND_ADDRESS):
        return print_address(printer, word, depth);
    case CODE_KIND(OPERAND_LABEL):
        buffer_printf(out, ".%c0x%llx", word.value < 0 ? '-' : '+',
                      word.value < 0 ? 0 - (unsigned long long)word.value
                                     : (unsigned long long)word.value);
        return true;
    case CODE_KIND(OPERAND_VECTOR):
        return print_group(printer, word, "{}", depth);
    case CODE_KIND(OPERAND_LIST):
        return print_group(printer, word, "()", depth);
    case CODE_KIND(OPERAND_NAME):
        buffer_string(out, "prototype");
        return true;
    case CODE_KIND(OPERAND_SINK):
        buffer_char(out, '_');
        return true;
    default:
        return false;
    }
}

static bool print_name(const struct printer *printer, const struct code_head *head)
{
    size_t end = head->head_words * CODE_WORD_SIZE;
    uint16_t modifier;

    if (head->opcode == 0 || head->opcode >= opcode_words.count)
        return false;
    buffer_string(printer->out, opcode_get(head->opcode)->name);
    for (size_t at = sizeof *head; at < end; at += sizeof modifier) {
        memcpy(&modifier, printer->words + at, sizeof modifier);
        if (modifier == 0)
            break;
        if (modifier >= modifier_words.count)
            return false;
        buffer_printf(printer->out, ".%s", modifier_name(modifier));
    }
    return true;
}

static bool print_instruction(struct printer *printer, const struct code_head *head)
{
    const char *separator = " ";

    printer->at = head->head_words;
    if (printer->at == 0 || printer->at > printer->count)
        return false;
    if (head->is_guarded) {
        buffer_char(printer->out, '@');
        if (!print_next(printer, 0))
            return false;
        buffer_char(printer->out, ' ');
    }
    if (!print_name(printer, head))
        return false;
    for (; printer->at < printer->count; separator = ", ") {
        buffer_string(printer->out, separator);
        if (!print_next(printer, 0))
            return false;
    }
    return true;
}

size_t encode_print(struct bytes code, size_t offset, struct buffer *out,
                    const char *(*symbol)(void *argument, uint64_t offset), void *argument)
{
    struct printer printer = {.out = out, .offset = offset, .symbol = symbol, .argument = argument};
    size_t before = out->size;
    struct code_head head;

    if (offset > code.size || code.size - offset < CODE_WORD_SIZE)
        return 0;
    printer.words = code.data + offset;
    printer.count = (code.size - offset) / CODE_WORD_SIZE;
    memcpy(&head, printer.words, sizeof head);
    if (head.words && head.words <= printer.count) {
        printer.count = head.words;
        if (print_instruction(&printer, &head))
            return printer.count * CODE_WORD_SIZE;
    }
    out->size = before;
    return 0;
}
