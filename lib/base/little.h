/* little.h: reading little-endian numbers from bytes of any alignment. The caller has checked that
 * the bytes are there. */
#pragma once

#include <stdint.h>

static inline uint16_t little_u16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] | (unsigned)bytes[1] << 8);
}

static inline uint32_t little_u32(const uint8_t *bytes)
{
    return little_u16(bytes) | (uint32_t)little_u16(bytes + 2) << 16;
}

static inline uint64_t little_u64(const uint8_t *bytes)
{
    return little_u32(bytes) | (uint64_t)little_u32(bytes + 4) << 32;
}
