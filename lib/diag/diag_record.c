/* diag_record.c: each message is its severity, line and column, then its text and the place's two
 * texts, each after its length; numbers are little-endian. */
#include "diag/diag_parts.h"

static void put_text_record(struct buffer *bytes, struct text text)
{
    buffer_u64(bytes, text.size);
    buffer_text(bytes, text);
}

void diag_record_add(struct diag_record *record, enum diag_severity severity,
                     const struct diag_place *place, struct text body)
{
    struct buffer *bytes = &record->bytes;

    buffer_u32(bytes, (uint32_t)severity);
    buffer_u32(bytes, place ? place->line : DIAG_NO_PLACE);
    buffer_u32(bytes, place ? place->column : 0);
    put_text_record(bytes, body);
    put_text_record(bytes, place ? text_of(place->file) : (struct text){0});
    put_text_record(bytes, place ? place->source_line : (struct text){0});
}

static bool take_bytes(struct bytes *rest, void *to, size_t size)
{
    if (rest->size < size)
        return false;
    memcpy(to, rest->data, size);
    rest->data += size;
    rest->size -= size;
    return true;
}

static bool take_text_record(struct bytes *rest, struct text *text)
{
    uint64_t size;

    if (!take_bytes(rest, &size, sizeof size) || size > rest->size)
        return false;
    *text = (struct text){(const char *)rest->data, (size_t)size};
    rest->data += size;
    rest->size -= (size_t)size;
    return true;
}

bool diag_record_take(struct bytes *rest, struct diag_recorded *message)
{
    return take_bytes(rest, &message->severity, 4) && take_bytes(rest, &message->line, 4) &&
           take_bytes(rest, &message->column, 4) && take_text_record(rest, &message->body) &&
           take_text_record(rest, &message->file) &&
           take_text_record(rest, &message->source_line) && message->severity >= DIAG_NOTE &&
           message->severity <= DIAG_WARNING;
}
