/* encode_print.c: one instruction of the built-in code as a line of text: PTX with physical
 * registers. R4 is one register, R4:R5 a pair, R4:R7 a quadruple, P0 a predicate, S0 the first word
 * of the frame's spilled registers; .+0x40 is a branch target relative to the instruction.
 *
 * The code is not trusted: numbers are checked against the tables, and an instruction must consist
 * of exactly the words that its head counts. What is printed of one that does not is taken back. */
#include "toy/encode.h"

#include "language/syntax.h"

struct printer {
    struct buffer *out;
    const uint8_t *words; /* of the instruction */
    size_t offset;        /* of the instruction in the code */
    size_t count;
    size_t at;      /* next word */
    unsigned depth; /* of groups in groups */
    bool is_wrong;  /* the words are no instruction */
    const char *(*symbol)(void *argument, uint64_t offset);
    void *argument;
};

static void print_operand(struct printer *printer);

/* The next word; one of no kind behind the last. */
static struct code_word next_word(struct printer *printer)
{
    struct code_word word = {0};

    printer->is_wrong |= printer->at >= printer->count;
    if (!printer->is_wrong)
        memcpy(&word, printer->words + printer->at++ * CODE_WORD_SIZE, CODE_WORD_SIZE);
    return word;
}

static void print_register(struct printer *printer, struct code_word word)
{
    static const unsigned behind[] = {0, 0, 1, 3}; /* registers after the first, by class */
    bool is_spilled = word.number >= REGISTERS_SPILLED;
    unsigned number = word.number - (is_spilled ? REGISTERS_SPILLED : 0);
    unsigned last = number + behind[word.class];
    char letter = is_spilled ? 'S' : word.class == REGISTER_PREDICATE ? 'P' : 'R';

    printer->is_wrong |= !is_spilled && last > (word.class == REGISTER_PREDICATE ? 6 : 254);
    buffer_printf(printer->out, "%c%u", letter, number);
    if (last > number)
        buffer_printf(printer->out, ":%c%u", letter, last);
}

/* Small numbers in decimal, others in hexadecimal. */
static void print_integer(struct buffer *out, int64_t value)
{
    if (value >= -65536 && value <= 65536)
        buffer_printf(out, "%lld", (long long)value);
    else
        buffer_printf(out, "0x%llx", (unsigned long long)value);
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

/* Prints the contents of a relocated field without a known name; `high`: of the upper half. */
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
static void print_reference(struct printer *printer, struct code_word word)
{
    static const char *const areas[] = {
        [CODE_PARAMETER] = "param", [CODE_LOCAL] = "local", [CODE_ARGUMENT] = "argument"};
    uint64_t place = printer->offset + (printer->at - 1) * CODE_WORD_SIZE;
    struct code_word high = {.kind = CODE_HIGH};
    const char *name = NULL;

    if (word.form >= CODE_PARAMETER) {
        buffer_printf(printer->out, "%s+0x%llx", areas[word.form], (unsigned long long)word.value);
        return;
    }
    if (word.form == CODE_ADDRESS_PAIR)
        high = next_word(printer);
    printer->is_wrong |= high.kind != CODE_HIGH;
    if (printer->symbol && !printer->is_wrong)
        name = printer->symbol(printer->argument, place);
    if (name)
        buffer_string(printer->out, name);
    else
        print_field(printer->out, word, high.payload);
    if (word.value > 0)
        buffer_char(printer->out, '+');
    if (word.value)
        print_integer(printer->out, word.value);
}

static void print_elements(struct printer *printer, uint64_t count, const char *begin,
                           const char *separator, const char *end)
{
    printer->is_wrong |= ++printer->depth > CODE_DEEPEST_GROUP && count > 0;
    buffer_string(printer->out, begin);
    for (uint64_t i = 0; i < count && !printer->is_wrong; i++) {
        buffer_string(printer->out, i ? separator : "");
        print_operand(printer);
    }
    buffer_string(printer->out, end);
    printer->depth--;
}

static void print_address(struct printer *printer, struct code_word word)
{
    struct buffer *out = printer->out;

    buffer_char(out, '[');
    if (word.has_register)
        print_register(printer, word);
    if (word.form) {
        print_reference(printer, word);
    } else if (word.value || !word.has_register) {
        buffer_string(out, word.has_register && word.value > 0 ? "+" : "");
        print_integer(out, word.value);
    }
    if (word.has_elements) {
        struct code_word list = next_word(printer);

        printer->is_wrong |= list.kind != CODE_KIND(OPERAND_LIST);
        print_elements(printer, list.payload, ", ", ", ", "");
    }
    buffer_string(out, word.part == PART_UNIFIED ? "].unified" : "]");
}

static void print_immediate(struct buffer *out, struct code_word word)
{
    if (word.form == 0)
        print_integer(out, word.value);
    else if (word.form == 1)
        buffer_printf(out, "0f%08X", (unsigned)word.value);
    else
        buffer_printf(out, "0d%016llX", (unsigned long long)word.value);
}

/* Prints the operand that begins with the next word. */
static void print_operand(struct printer *printer)
{
    struct buffer *out = printer->out;
    struct code_word word = next_word(printer);

    printer->is_wrong |= word.part >= OPERAND_PARTS;
    buffer_string(out, word.is_negated ? "-" : "");
    buffer_string(out, word.is_inverted ? "!" : "");
    switch (word.kind) {
    case CODE_KIND(OPERAND_REGISTER):
        printer->is_wrong |= !word.has_register;
        print_register(printer, word);
        print_component(out, word);
        break;
    case CODE_KIND(OPERAND_IMMEDIATE):
        printer->is_wrong |= word.form > 2;
        print_immediate(out, word);
        break;
    case CODE_KIND(OPERAND_SPECIAL):
        printer->is_wrong |= word.payload == 0 || word.payload >= special_words.count;
        buffer_string(out,
                      printer->is_wrong ? "" : words_name(&special_words, (uint16_t)word.payload));
        break;
    case CODE_KIND(OPERAND_SYMBOL):
        printer->is_wrong |= !word.form;
        print_reference(printer, word);
        break;
    case CODE_KIND(OPERAND_ADDRESS):
        print_address(printer, word);
        break;
    case CODE_KIND(OPERAND_LABEL):
        buffer_printf(out, ".%c0x%llx", word.value < 0 ? '-' : '+',
                      word.value < 0 ? 0 - (unsigned long long)word.value
                                     : (unsigned long long)word.value);
        break;
    case CODE_KIND(OPERAND_VECTOR):
    case CODE_KIND(OPERAND_LIST):
        if (word.part == PART_PAIR)
            print_elements(printer, word.payload, "", "|", "");
        else if (word.kind == CODE_KIND(OPERAND_LIST))
            print_elements(printer, word.payload, "(", ", ", ")");
        else
            print_elements(printer, word.payload, "{", ", ", "}");
        break;
    case CODE_KIND(OPERAND_NAME):
        buffer_string(out, "prototype");
        break;
    case CODE_KIND(OPERAND_SINK):
        buffer_char(out, '_');
        break;
    default:
        printer->is_wrong = true;
    }
}

static void print_name(struct printer *printer, const struct code_head *head)
{
    size_t end = head->head_words * CODE_WORD_SIZE;
    uint16_t modifier = 1;

    printer->is_wrong |= head->opcode == 0 || head->opcode >= opcode_words.count;
    if (!printer->is_wrong)
        buffer_string(printer->out, opcode_get(head->opcode)->name);
    for (size_t at = sizeof *head; at < end && !printer->is_wrong; at += sizeof modifier) {
        memcpy(&modifier, printer->words + at, sizeof modifier);
        if (modifier == 0)
            break;
        printer->is_wrong |= modifier >= modifier_words.count;
        if (!printer->is_wrong)
            buffer_printf(printer->out, ".%s", modifier_name(modifier));
    }
}

static void print_instruction(struct printer *printer, const struct code_head *head)
{
    const char *separator = " ";

    printer->at = head->head_words;
    printer->is_wrong = printer->at == 0 || printer->at > printer->count;
    if (head->is_guarded) {
        buffer_char(printer->out, '@');
        print_operand(printer);
        buffer_char(printer->out, ' ');
    }
    print_name(printer, head);
    for (; printer->at < printer->count && !printer->is_wrong; separator = ", ") {
        buffer_string(printer->out, separator);
        print_operand(printer);
    }
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
    memcpy(&head, printer.words, sizeof head);
    printer.count = head.words;
    if (head.words > (code.size - offset) / CODE_WORD_SIZE)
        return 0;
    print_instruction(&printer, &head);
    if (!printer.is_wrong)
        return printer.count * CODE_WORD_SIZE;
    out->size = before;
    return 0;
}
