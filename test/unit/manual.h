/* manual.h: the table of the language as a part of a manual page, and as a fuzzer's dictionary. */
#ifndef MINILINK_TEST_MANUAL_H
#define MINILINK_TEST_MANUAL_H

#include "assembler/builtin/language/opcode.h"
#include "assembler/builtin/language/syntax.h"
#include "base/buffer.h"

/* Behind this line of man/minilink-ptx.5 stands what manual_table() makes. */
#define MANUAL_MARK ".\\\" The rest is made by: build/tool_verdict --manual\n"

static inline void manual_text(struct buffer *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '-' || *text == '\\')
            buffer_char(out, '\\');
        buffer_char(out, *text);
    }
}

/* One paragraph for each opcode, a line for each of its forms. */
static inline void manual_table(struct buffer *out)
{
    const char *words, *operands, *target;
    uint16_t opcode, ptx, last = 0;

    for (uint16_t i = 0; (words = syntax_row(i, &opcode, &operands, &ptx, &target)); i++) {
        const struct opcode *entry = opcode_get(opcode);

        if (opcode != last)
            buffer_printf(out, ".TP\n.B %s\nPTX %u.%u, sm_%u\n", entry->name, entry->least_ptx / 10,
                          entry->least_ptx % 10, entry->least_sm);
        last = opcode;
        buffer_string(out, ".br\n\\&");
        manual_text(out, *words ? words : "(no modifier)");
        buffer_string(out, " : ");
        manual_text(out, *operands ? operands : "(no operand)");
        if (ptx)
            buffer_printf(out, " ; PTX %u.%u", ptx / 10u, ptx % 10u);
        if (*target)
            buffer_printf(out, " ; sm %s", target);
        buffer_char(out, '\n');
    }
}

/* Every word as libFuzzer's -dict wants it. */
static inline void manual_dictionary(struct buffer *out)
{
    for (uint16_t i = 1; i < opcode_count(); i++)
        buffer_printf(out, "\"%s\"\n", opcode_get(i)->name);
    for (uint16_t i = 1; i < modifier_count(); i++)
        buffer_printf(out, "\".%s\"\n", modifier_name(i));
    for (uint16_t i = 1; i < special_count(); i++)
        buffer_printf(out, "\"%s\"\n", special_name(i));
}

#endif
