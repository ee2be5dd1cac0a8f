/* info.c: the records of .nv.info, .nv.info.F and .nv.compat.
 *
 * Each is four bytes, u8 format, u8 attribute and u16; for SVAL the u16 counts the payload bytes
 * that follow, for HVAL it is the value, for BVAL its low byte is, and NVAL has none. */
#include "base/little.h"
#include "cubin/cubin.h"
#include "cubin/format.h"

bool info_next(struct bytes *rest, struct info_record *record)
{
    const uint8_t *at = rest->data;
    uint16_t value;
    size_t size = 4;

    if (rest->size < size)
        return false;
    value = little_u16(at + 2);
    *record = (struct info_record){.format = at[0], .attribute = at[1], .value = value};
    if (at[0] == EIFMT_SVAL) {
        size += value;
        if (rest->size < size)
            return false;
        record->value = 0;
        record->payload = (struct bytes){at + 4, value};
    }
    rest->data += size;
    rest->size -= size;
    return true;
}

size_t info_symbol_words(const struct info_record *record)
{
    if (record->format != EIFMT_SVAL)
        return 0;
    switch (record->attribute) {
    case EIATTR_REGCOUNT:
    case EIATTR_FRAME_SIZE:
    case EIATTR_MIN_STACK_SIZE:
    case EIATTR_MAX_STACK_SIZE:
    case EIATTR_PARAM_CBANK:
    case EIATTR_SAMPLER_INIT:
    case EIATTR_SAMPLER_FORCE_UNNORMALIZED:
        return record->payload.size < 4 ? 0 : 1;
    case EIATTR_KPARAM_INFO:
    case EIATTR_KPARAM_INFO_V2:
        /* The symbol of a parameter that is a texture, sampler or surface reference; else 0. */
        return info_word(record->payload, 0) ? 1 : 0;
    case EIATTR_EXTERNS:
        return record->payload.size / 4;
    default:
        return 0;
    }
}

uint32_t info_word(struct bytes payload, size_t index)
{
    return index < payload.size / 4 ? little_u32(payload.data + index * 4) : 0;
}
