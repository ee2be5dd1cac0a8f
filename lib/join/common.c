/* common.c: what both ways to join do alike. */
#include "join/common.h"

void common_order_classes(uint8_t order[CLASS_COUNT], const struct toolkit_facts *toolkit)
{
    static const uint8_t plain[] = {
        CLASS_TABLE,         CLASS_DEBUG,       CLASS_OTHER,
        CLASS_NOTE,          CLASS_INFO,        CLASS_COMPAT,
        CLASS_FUNCTION_INFO, CLASS_CALLGRAPH,   CLASS_PROTOTYPE,
        CLASS_REL_ACTION,    CLASS_RELOCATIONS, CLASS_CONSTANT,
        CLASS_TEXT,          CLASS_GLOBAL_INIT, CLASS_SHARED,
        CLASS_DEBUG_SHARED,  CLASS_GLOBAL,      CLASS_FUNCTION_CONSTANT,
        CLASS_RESERVED,
    };
    size_t count;
    const enum section_class *twins = sections_twin_order(toolkit, &count);

    memcpy(order, plain, sizeof plain);
    for (size_t i = 0; i < count; i++)
        order[sizeof plain + i] = (uint8_t)twins[i];
}

enum section_class common_class_of(const struct cubin_section *section)
{
    const struct section_facts *row = section->facts;
    bool is_mercury = cubin_is_mercury(section);

    if (!row || class_is_in(row->class, CLASSES_OF_MERCURY) != is_mercury)
        return is_mercury ? CLASS_TWIN_OTHER : CLASS_OTHER;
    return section->type == SHT_CUDA_CONSTANT0 ? CLASS_FUNCTION_CONSTANT : row->class;
}

bool common_put_record(struct buffer *to, const struct info_record *record,
                       const struct cubin *cubin, const uint32_t *joined, const bool *bound)
{
    size_t words = info_symbol_words(record), start = to->size, size;
    bool is_externs = record->attribute == EIATTR_EXTERNS, is_whole = true;

    info_put_head(to, record->format, record->attribute, record->value);
    if (record->format != EIFMT_SVAL)
        return true;
    for (size_t i = 0; i < words; i++) {
        uint32_t symbol = info_word(record->payload, i);

        is_whole = is_whole && symbol < cubin->symbol_count && (symbol == 0 || joined[symbol]);
        if (is_whole && !(is_externs && bound && bound[symbol]))
            buffer_u32(to, joined[symbol]);
    }
    buffer_append(to, record->payload.data + words * 4, record->payload.size - words * 4);
    size = to->size - start - 4;
    to->data[start + 2] = (char)(size & 0xff);
    to->data[start + 3] = (char)(size >> 8);
    if (is_whole && !(is_externs && size == 0))
        return true;
    to->size = start;
    return false;
}
