/* merged_output.h: looking at what a merge of merge_fixture.h gave: its sections, symbols, records
 * and relocations by name, and what it said. */
#pragma once

#include "merge_fixture.h"

static inline const struct cubin_section *section_at(const char *name, size_t occurrence)
{
    for (size_t i = 1; i < merged->output.section_count; i++)
        if (text_equal(merged->output.sections[i].name, text_of(name)) && occurrence-- == 0)
            return &merged->output.sections[i];
    return NULL;
}

static inline const struct cubin_section *section(const char *name)
{
    const struct cubin_section *found = section_at(name, 0);

    ck_assert_msg(found != NULL, "no section %s", name);
    return found;
}

/* The symbol of that name that is no section symbol, or 0. */
static inline uint32_t symbol_index(const char *name)
{
    for (uint32_t i = 1; i < merged->output.symbol_count; i++)
        if (merged->output.symbols[i].type != STT_SECTION &&
            text_equal(merged->output.symbols[i].name, text_of(name)))
            return i;
    return 0;
}

static inline const struct cubin_symbol *symbol(const char *name)
{
    uint32_t index = symbol_index(name);

    ck_assert_msg(index != 0, "no symbol %s", name);
    return &merged->output.symbols[index];
}

/* The first record of that attribute in `in`; when `of` is given, the one about that symbol. */
static inline bool find_record(const char *in, uint8_t attribute, const char *of,
                               struct info_record *found)
{
    struct bytes rest = section(in)->data;

    while (info_next(&rest, found))
        if (found->attribute == attribute &&
            (!of || info_word(found->payload, 0) == symbol_index(of)))
            return true;
    return false;
}

static inline uint32_t attribute_of(const char *name, uint8_t attribute)
{
    struct info_record record;

    ck_assert_msg(find_record(".nv.info", attribute, name, &record), "%s: %#x", name, attribute);
    return info_word(record.payload, 1);
}

static inline size_t count_relocations(const char *list, uint32_t type, const char *of)
{
    const struct cubin_section *in = section(list);
    size_t count = 0;

    for (size_t i = 0; i < in->relocation_count; i++)
        count += in->relocations[i].type == type && in->relocations[i].symbol == symbol_index(of);
    return count;
}

static inline uint64_t bits(const struct cubin_section *in, size_t offset, unsigned first,
                            unsigned width)
{
    uint64_t half;

    memcpy(&half, in->data.data + offset + first / 64 * 8, 8);
    return half >> first % 64 & ((UINT64_C(1) << width) - 1);
}

static inline void expect_said(const char *text)
{
    buffer_char(&merged->said.text, '\0');
    ck_assert_msg(strstr(merged->said.text.data, text) != NULL, "said: %s", merged->said.text.data);
    merged->said.text.size--;
}

static inline void expect_refused(const char *text)
{
    ck_assert(!merged->ok);
    expect_said(text);
}
