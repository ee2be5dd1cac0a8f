/* contents.c: looks at the first bytes of inputs, and at the headers of fatbin entries.
 *
 * Fatbins (measured on CUDA's): a header of 16 bytes, its magic first, version and size of the
 * header at bytes 4 and 6, the size of all that follows at 8; then entries, each with its kind at
 * byte 0, the size of its header at 4, that of its payload at 8, the number of its target at 0x1c,
 * and flags with its suffix at 0x28. In an entry of cubins that are compressed together, those
 * headers are records in its own (input/fatbin.h). LTO-IR has ten times the number of its target at
 * byte 0x1a. */
#include "library/nvjitlink/contents.h"

#include <elf.h>

#include "base/little.h"
#include "facts/runs_on.h"
#include "input/fatbin.h"
#include "input/rawcode.h"

#define FATBIN_VERSION 1
#define ENTRY_HEADER   64u
#define PART_HEAD      0x01010002u
#define LTOIR_MAGIC    0x7f4e43edu
#define LTOIR_TARGET   0x1au

static nvJitLinkInputType elf_type(const uint8_t *bytes, size_t size)
{
    uint16_t machine = 0;

    if (size >= sizeof(Elf64_Ehdr))
        memcpy(&machine, bytes + offsetof(Elf64_Ehdr, e_machine), sizeof machine);
    return machine == EM_CUDA ? NVJITLINK_INPUT_CUBIN : NVJITLINK_INPUT_OBJECT;
}

nvJitLinkInputType contents_type(const void *data, size_t size)
{
    const uint8_t *bytes = data;
    const struct text text = {data, size};

    if (text_starts(text, TEXT(ELFMAG)))
        return elf_type(bytes, size);
    if (text_starts(text, TEXT("!<arch>\n")) || text_starts(text, TEXT("!<thin>\n")))
        return NVJITLINK_INPUT_LIBRARY;
    if (size >= FATBIN_HEADER_SIZE && little_u32(bytes) == FATBIN_MAGIC &&
        little_u16(bytes + 4) == FATBIN_VERSION)
        return NVJITLINK_INPUT_FATBIN;
    if (size >= 4 && little_u32(bytes) == LTOIR_MAGIC)
        return NVJITLINK_INPUT_LTOIR;
    if (memmem(bytes, strnlen(data, size), ".version", strlen(".version")))
        return NVJITLINK_INPUT_PTX;
    return NVJITLINK_INPUT_NONE;
}

const char *contents_type_name(nvJitLinkInputType type)
{
    static const char *const names[] = {"nothing known",  "a cubin",      "PTX",
                                        "LTO-IR",         "a fatbin",     "a host object",
                                        "a host library", "an index file"};

    return (size_t)type < sizeof names / sizeof *names ? names[type] : "device code";
}

static bool is_for(uint32_t kind, const uint8_t *head, const struct contents_target *target)
{
    uint64_t flags = little_u64(head + 0x28);
    const struct arch code = {little_u32(head + 0x1c), flags & FATBIN_SUFFIX_A   ? 'a'
                                                       : flags & FATBIN_SUFFIX_F ? 'f'
                                                                                 : 0};

    if (runs_on_is_unknown(code, target->toolkit))
        return false;
    if (kind != FATBIN_ELF)
        return runs_on_ptx(target->arch, code, target->toolkit);
    return runs_on_sass(target->arch, code, target->toolkit) &&
           !runs_on_library_leaves(target->arch, code, true, target->toolkit);
}

static void look_at_code(struct contents *contents, const uint8_t *head,
                         const struct contents_target *target)
{
    uint32_t kind = little_u16(head);

    if (!is_for(kind, head, target))
        return;
    contents->has_ptx |= kind == FATBIN_PTX;
    contents->has_cubin |= kind == FATBIN_ELF;
    contents->has_ltoir |= kind == FATBIN_NVVM;
}

/* `size`: of the header, as far as it is there. Records of parts begin with kind and version, on
 * multiples of 8. */
static void look_at_entry(struct contents *contents, const uint8_t *entry, uint64_t size,
                          const struct contents_target *target)
{
    if (little_u16(entry) != FATBIN_CONCATENATED) {
        look_at_code(contents, entry, target);
        return;
    }
    for (uint64_t at = ENTRY_HEADER; at + ENTRY_HEADER <= size; at += 8)
        if (little_u32(entry + at) == PART_HEAD)
            look_at_code(contents, entry + at, target);
}

/* Looks at the entries of one fatbin, as far as they are intact. */
static void look_at_fatbin(struct contents *contents, const uint8_t *bytes, size_t size,
                           const struct contents_target *target)
{
    uint64_t rest = little_u64(bytes + 8);
    const uint8_t *entry = bytes + FATBIN_HEADER_SIZE;

    contents->fatbin_count++;
    contents->is_cut |= little_u16(bytes + 6) != FATBIN_HEADER_SIZE;
    if (rest > size - FATBIN_HEADER_SIZE) {
        contents->is_cut = true;
        rest = size - FATBIN_HEADER_SIZE;
    }
    while (rest >= ENTRY_HEADER) {
        uint64_t header = little_u32(entry + 4), payload = little_u64(entry + 8);

        look_at_entry(contents, entry, header < rest ? header : rest, target);
        if (header < ENTRY_HEADER || header > rest || payload > rest - header) {
            contents->is_cut = true;
            return;
        }
        entry += header + payload;
        rest -= header + payload;
    }
}

struct contents contents_look(const void *data, size_t size, const struct contents_target *target)
{
    static const uint32_t magic = FATBIN_MAGIC;
    struct contents contents = {0};
    const uint8_t *bytes = data, *found;

    while (size >= FATBIN_HEADER_SIZE && (found = memmem(bytes, size, &magic, sizeof magic))) {
        size -= (size_t)(found - bytes);
        if (size >= FATBIN_HEADER_SIZE)
            look_at_fatbin(&contents, found, size, target);
        bytes = found + sizeof magic;
        size -= sizeof magic;
    }
    return contents;
}

bool contents_takes_cubin(const void *data, size_t size, const struct contents_target *target)
{
    struct arch code;

    return !rawcode_cubin_arch((struct bytes){data, size}, &code) ||
           !runs_on_library_leaves(target->arch, code, false, target->toolkit);
}

unsigned contents_ltoir_target(const void *data, size_t size)
{
    unsigned target = size >= LTOIR_TARGET + sizeof(uint16_t)
                          ? little_u16((const uint8_t *)data + LTOIR_TARGET)
                          : 0;

    return target % 10 == 0 ? target / 10 : 0;
}
