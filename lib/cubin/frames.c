/* frames.c: reads the headers of entries and checks them against the section's end. */
#include "cubin/frames.h"

#include <string.h>

#include "base/text.h"

#define HEAD_SIZE (FRAMES_CIE_POINTER + 8u)

/* The bytes of the entry at `at`, or 0. */
static size_t entry_size(struct bytes data, size_t at)
{
    uint32_t escape;
    uint64_t length;

    if (at >= data.size || data.size - at < HEAD_SIZE)
        return 0;
    memcpy(&escape, data.data + at, sizeof escape);
    length = little_u64(data.data + at + sizeof escape);
    if (escape != UINT32_MAX || length < 8 || length > data.size - at - FRAMES_CIE_POINTER)
        return 0;
    return (size_t)length + FRAMES_CIE_POINTER;
}

bool frames_next(struct bytes data, size_t *at, struct frame *frame)
{
    size_t common = entry_size(data, *at);
    size_t own = common ? entry_size(data, *at + common) : 0;

    if (own < FRAMES_ADDRESS + 8 || little_u64(data.data + *at + FRAMES_CIE_POINTER) != UINT64_MAX)
        return false;
    *frame = (struct frame){.begin = *at, .fde = *at + common, .end = *at + common + own};
    frame->cie = little_u64(data.data + frame->fde + FRAMES_CIE_POINTER);
    *at = frame->end;
    return frame->cie != UINT64_MAX;
}
