/* describe.c: serialises what two equal functions have in common. Every list is preceded by its
 * length or ended by a mark, so that different functions never have one description. */
#include "cubin/describe.h"

void describe_bytes(struct buffer *to, struct bytes bytes)
{
    buffer_u64(to, bytes.size);
    buffer_append(to, bytes.data, bytes.size);
}

static bool is_left_out(const struct description *description, const struct info_record *record,
                        size_t word)
{
    return record->attribute == EIATTR_EXTERNS && description->is_bound &&
           description->is_bound[info_word(record->payload, word)];
}

void describe_record(const struct description *description, const struct info_record *record)
{
    size_t words = info_symbol_words(record), kept = 0;
    struct bytes rest = record->payload;

    for (size_t i = 0; i < words; i++)
        kept += !is_left_out(description, record, i);
    if (record->attribute == EIATTR_EXTERNS && kept == 0)
        return;
    info_put_head(description->to, record->format, record->attribute, record->value);
    buffer_u32(description->to, (uint32_t)kept);
    for (size_t i = 0; i < words; i++)
        if (!is_left_out(description, record, i))
            description->put_symbol(description->argument, info_word(record->payload, i));
    bytes_slice(rest, words * 4, rest.size - words * 4, &rest);
    describe_bytes(description->to, rest);
}

static void describe_relocations(const struct description *description,
                                 const struct cubin_section *list)
{
    buffer_u64(description->to, list->relocation_count);
    for (size_t i = 0; i < list->relocation_count; i++) {
        const struct cubin_relocation *relocation = &list->relocations[i];

        buffer_u64(description->to, relocation->offset);
        buffer_u32(description->to, relocation->type);
        buffer_u64(description->to, (uint64_t)relocation->addend);
        description->put_symbol(description->argument, relocation->symbol);
    }
}

void describe_section(const struct description *description, const struct cubin_section *section)
{
    struct buffer *to = description->to;
    struct bytes data = section->data;
    struct info_record record;

    buffer_u32(to, section->type);
    buffer_u64(to, section->flags);
    buffer_u64(to, section->alignment);
    buffer_u32(to, cubin_is_text(section) ? section->info >> 24 : 0); /* number of registers */
    switch (section->type) {
    case SHT_CUDA_INFO:
    case SHT_CUDA_MERC_INFO:
        while (info_next(&data, &record))
            describe_record(description, &record);
        buffer_u32(to, 0); /* no record begins with 0 */
        break;
    case SHT_REL:
    case SHT_RELA:
    case SHT_CUDA_MERC_RELA:
        describe_relocations(description, section);
        break;
    case SHT_CUDA_CAPMERC: /* begins with the index of the code section */
        bytes_slice(data, 4, data.size - 4, &data);
        describe_bytes(to, data);
        break;
    default:
        buffer_u64(to, section->size);
        describe_bytes(to, data);
    }
}
