/* empty.c: notes and compatibility records, as measured on the output of nvlink 13.0 for inputs
 * without device code. */
#include "cubin/empty.h"

#include <string.h>

#include "cubin/format.h"

#define CUINFO_TYPE  1000u
#define CUDA_VERSION 130u
#define NOTE_OWNER   "NVIDIA Corp"

enum { EMPTY_TKINFO = 1, EMPTY_CUINFO, EMPTY_COMPAT, EMPTY_SECTIONS };

/* Owner, then u16 version 2, u16 SM number, u16 CUDA version, u16 0. */
static struct bytes cuinfo(struct arena *arena, struct arch arch)
{
    uint32_t words[8] = {sizeof NOTE_OWNER, 8, CUINFO_TYPE};
    uint8_t *note = arena_alloc(arena, 1, sizeof words);

    memcpy(&words[3], NOTE_OWNER, sizeof NOTE_OWNER);
    words[6] = 2u | (uint32_t)arch.sm << 16;
    words[7] = CUDA_VERSION;
    memcpy(note, words, sizeof words);
    return (struct bytes){note, sizeof words};
}

static struct bytes compat(struct arena *arena, struct arch arch)
{
    const uint8_t record[4] = {EIFMT_BVAL, COMPAT_SUFFIX_A, arch.suffix == 'a', 0};
    uint8_t *copy = arena_alloc(arena, 1, sizeof record);

    memcpy(copy, record, sizeof record);
    return (struct bytes){copy, sizeof record};
}

static void put(struct cubin *cubin, size_t index, struct text name, uint32_t type, uint64_t flags,
                struct bytes data)
{
    cubin->sections[index] = (struct cubin_section){.name = name,
                                                    .type = type,
                                                    .flags = flags,
                                                    .alignment = 4,
                                                    .size = data.size,
                                                    .data = data};
}

void empty_cubin(struct cubin *cubin, struct arch arch)
{
    bool has_compat = arch.sm >= 90;
    uint32_t class = arch.sm >= 100 ? CUBIN_FLAGS_CLASS_SM100 : CUBIN_FLAGS_CLASS_SM90;

    cubin->name = "lto.cubin";
    cubin->type = ET_REL;
    cubin->flags = class | arch.sm << 8 | (uint32_t)EMPTY_CUINFO << CUBIN_FLAGS_NOTE_SHIFT;
    cubin->sections = arena_zalloc(&cubin->arena, EMPTY_SECTIONS, sizeof *cubin->sections);
    cubin->section_count = has_compat ? EMPTY_SECTIONS : EMPTY_COMPAT;
    cubin->symbols = arena_zalloc(&cubin->arena, 1, sizeof *cubin->symbols);
    cubin->symbol_count = 1;
    cubin->strings = (struct bytes){(const uint8_t *)"", 1};
    put(cubin, EMPTY_TKINFO, TEXT(".note.nv.tkinfo"), SHT_NOTE, 0x2000000, (struct bytes){0});
    put(cubin, EMPTY_CUINFO, TEXT(".note.nv.cuinfo"), SHT_NOTE,
        has_compat ? 0x1000000 | SHF_INFO_LINK : 0x1000000, cuinfo(&cubin->arena, arch));
    if (has_compat)
        put(cubin, EMPTY_COMPAT, TEXT(".nv.compat"), SHT_CUDA_COMPAT, 0,
            compat(&cubin->arena, arch));
}
