/* form.c: form_table.def, whose rows are in the order of the opcodes: a binary search finds those
 * of one opcode, and of these the first that applies counts. */
#include "toy/language/form.h"

#include "base/search.h"
#include "toy/language/opcode.h"

struct form_row {
    uint16_t opcode;
    const char *words; /* dot-separated */
    struct form form;
};

static const struct form_row rows[] = {
#define FORM(opcode, words, least, most, results, flags)                                           \
    {INDEX_##opcode, words, {least, most, results, flags}},
#include "toy/language/form_table.def"
#undef FORM
};

#define ROWS (sizeof rows / sizeof rows[0])

/* The next of the dotted words; NULL at the end. */
static const char *next_word(const char **rest, size_t *size)
{
    const char *word = *rest;

    if (!*word)
        return NULL;
    *size = strcspn(word, ".");
    *rest = word + *size + (word[*size] == '.');
    return word;
}

/* True when the row's words are among the modifiers, in this order. */
static bool applies(const char *words, const uint16_t *modifiers, size_t count)
{
    size_t at = 0, size;
    const char *word;

    while ((word = next_word(&words, &size))) {
        const char *name = "";

        while (at < count) {
            name = modifier_name(modifiers[at++]);
            if (strncmp(name, word, size) == 0 && name[size] == '\0')
                break;
            name = "";
        }
        if (!*name)
            return false;
    }
    return true;
}

/* The first row of the opcode, or of one behind it. */
static size_t first_row(uint16_t opcode)
{
    return SEARCH_FIRST_NOT(ROWS, i, rows[i].opcode < opcode);
}

struct form form_of(uint16_t opcode, const uint16_t *modifiers, size_t count)
{
    const struct opcode *entry = opcode_get(opcode);

    if (entry->flags & OPCODE_FORMS)
        for (size_t i = first_row(opcode); i < ROWS && rows[i].opcode == opcode; i++)
            if (applies(rows[i].words, modifiers, count))
                return rows[i].form;
    return (struct form){entry->least_operands, entry->most_operands, entry->results, 0};
}

struct form form_of_instruction(const struct instruction *instruction)
{
    struct form form =
        form_of(instruction->opcode, instruction->modifiers, instruction->modifier_count);

    if ((opcode_get(instruction->opcode)->flags & OPCODE_CALL) && instruction->operand_count >= 2 &&
        instruction->operands[0].kind == OPERAND_LIST)
        form.results = 1;
    return form;
}

struct form form_complete(struct instruction *instruction)
{
    struct form form = form_of_instruction(instruction);

    instruction->results = form.results;
    instruction->is_accumulate = form.flags & FORM_ACCUMULATES;
    return form;
}

struct instruction form_instruction(struct arena *arena, uint16_t opcode,
                                    const char *const *modifiers, const struct operand *operands,
                                    uint8_t operand_count)
{
    struct instruction made = {.opcode = opcode,
                               .operand_count = operand_count,
                               .guard = NO_INDEX,
                               .operands =
                                   arena_copy(arena, operands, operand_count, sizeof *operands)};
    uint16_t numbers[INSTRUCTION_MODIFIERS];

    for (; modifiers[made.modifier_count]; made.modifier_count++)
        numbers[made.modifier_count] = modifier_find(text_of(modifiers[made.modifier_count]));
    made.modifiers = arena_copy(arena, numbers, made.modifier_count, sizeof *numbers);
    form_complete(&made);
    return made;
}

size_t form_count(void)
{
    return ROWS;
}

const char *form_words(size_t index, uint16_t *opcode, struct form *form)
{
    if (index >= ROWS)
        return NULL;
    *opcode = rows[index].opcode;
    *form = rows[index].form;
    return rows[index].words;
}
