/* manual.h: the table of the language as a part of a manual page, and as a fuzzer's dictionary. */
#pragma once

#include <stdio.h>

#include "language/syntax.h"

/* Behind this line of man/minilink-ptx.5 stands what manual_table() makes. */
#define MANUAL_MARK ".\\\" The rest is made by: build/tool_verdict --manual\n"

/* The text, and where it is long, places to break it: behind bars, which a formatted line may end
 * with, too. `column` is how much the page's line at hand has. */
static inline void manual_text(struct buffer *out, const char *text, size_t *column)
{
    for (; *text; text++) {
        size_t before = out->size;

        if (*text == ' ' && *column > 60) {
            /* A blank is a line's end in the page, too. */
            buffer_string(out, "\n\\&");
            *column = 2;
            continue;
        }
        if (*text == '-' || *text == '\\')
            buffer_char(out, '\\');
        buffer_char(out, *text);
        if (*text == '|')
            buffer_string(out, "\\:");
        *column += out->size - before;
        if (*text == '|' && *column > 60) {
            buffer_string(out, "\\c\n");
            *column = 0;
        }
    }
}

/* The names of the opcodes that have the rows of this one, their PTX version and target. */
static inline void manual_names(struct buffer *out, uint16_t opcode)
{
    const struct opcode *entry = opcode_get(opcode);

    buffer_printf(out, ".TP\n.B %s", entry->name);
    for (uint16_t i = (uint16_t)(opcode + 1); i < opcode_words.count; i++)
        if (opcode_get(i)->rows == opcode)
            buffer_printf(out, ", %s", opcode_get(i)->name);
    buffer_printf(out, "\nPTX %u.%u, sm_%s\n", entry->need.ptx / 10, entry->need.ptx % 10,
                  entry->need.target);
}

static inline void manual_form(struct buffer *out, const struct syntax_row *row, const char *words)
{
    size_t column = 2;

    buffer_string(out, ".br\n\\&");
    manual_text(out, *words ? words : "(no modifier)", &column);
    manual_text(out, " : ", &column);
    manual_text(out, *row->operands ? row->operands : "(no operand)", &column);
    if (row->need.ptx) {
        char text[32];

        snprintf(text, sizeof text, " ; PTX %u.%u", row->need.ptx / 10u, row->need.ptx % 10u);
        manual_text(out, text, &column);
    }
    if (*row->need.target) {
        manual_text(out, " ; sm ", &column);
        manual_text(out, row->need.target, &column);
    }
    buffer_char(out, '\n');
}

/* One paragraph for opcodes that have the same forms, a line for each form. */
static inline void manual_table(struct buffer *out)
{
    uint16_t last = 0;

    for (size_t i = 0; i < syntax_row_count; i++) {
        const struct syntax_row *row = &syntax_rows[i];

        if (row->opcode != last)
            manual_names(out, row->opcode);
        last = row->opcode;
        for (const char *at = row->words, *next; at; at = next ? next + 2 : NULL) {
            char words[512];

            next = strchr(at, ';');
            snprintf(words, sizeof words, "%.*s", next ? (int)(next - at) : -1, at);
            manual_form(out, row, words);
        }
    }
}

/* Every word as libFuzzer's -dict wants it. */
static inline void manual_dictionary(struct buffer *out)
{
    for (uint16_t i = 1; i < opcode_words.count; i++)
        buffer_printf(out, "\"%s\"\n", opcode_get(i)->name);
    for (uint16_t i = 1; i < modifier_words.count; i++)
        buffer_printf(out, "\".%s\"\n", modifier_name(i));
    for (uint16_t i = 1; i < special_words.count; i++)
        buffer_printf(out, "\"%s\"\n", words_name(&special_words, i));
}
