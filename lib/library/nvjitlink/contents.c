/* contents.c: looks at the first bytes of inputs, and at the entries of fatbins.
 *
 * LTO-IR has ten times the number of its target at byte 0x1a (measured). */
#include "library/nvjitlink/link.h"

#include "base/text.h"
#include "diag/diag.h"
#include "facts/targets.h"
#include "input/fatbin.h"
#include "input/file.h"
#include "input/rawcode.h"

#define FATBIN_VERSION 1
#define LTOIR_TARGET   0x1au

nvJitLinkInputType contents_type(struct bytes data)
{
    static const nvJitLinkInputType types[] = {
        [FILE_CUBIN] = NVJITLINK_INPUT_CUBIN,          [FILE_HOST_OBJECT] = NVJITLINK_INPUT_OBJECT,
        [FILE_SHARED_OBJECT] = NVJITLINK_INPUT_OBJECT, [FILE_ARCHIVE] = NVJITLINK_INPUT_LIBRARY,
        [FILE_LTOIR] = NVJITLINK_INPUT_LTOIR,          [FILE_FATBIN] = NVJITLINK_INPUT_FATBIN,
    };
    enum file_kind kind = file_classify(data);

    if (kind == FILE_FATBIN &&
        (data.size < FATBIN_HEADER_SIZE || little_u16(data.data + 4) != FATBIN_VERSION))
        return NVJITLINK_INPUT_NONE;
    if (kind < sizeof types / sizeof *types && types[kind])
        return types[kind];
    return memmem(data.data, strnlen((const char *)data.data, data.size), ".version",
                  strlen(".version"))
               ? NVJITLINK_INPUT_PTX
               : NVJITLINK_INPUT_NONE;
}

const char *contents_type_name(nvJitLinkInputType type)
{
    static const char *const names[] = {"nothing known",  "a cubin",      "PTX",
                                        "LTO-IR",         "a fatbin",     "a host object",
                                        "a host library", "an index file"};

    return (size_t)type < sizeof names / sizeof *names ? names[type] : "device code";
}

static bool is_for(const struct fatbin_entry *entry, const struct contents_target *target)
{
    if (runs_on_is_unknown(entry->arch, target->toolkit))
        return false;
    if (entry->kind != FATBIN_ELF)
        return runs_on_ptx(target->arch, entry->arch, target->toolkit);
    return runs_on_sass(target->arch, entry->arch, target->toolkit) &&
           !runs_on_library_leaves(target->arch, entry->arch, true, target->toolkit);
}

/* Looks at the entries of the fatbin at the beginning of `data`, as far as they are intact. */
static void look_at_fatbin(struct contents *contents, struct bytes data,
                           const struct contents_target *target)
{
    enum fatbin_result result = FATBIN_DAMAGED;
    struct fatbin_entry entry;
    struct fatbin fatbin;
    size_t size;

    contents->fatbin_count++;
    if (fatbin_open(&fatbin, "", data, &size))
        while ((result = fatbin_next(&fatbin, &entry)) == FATBIN_ENTRY) {
            bool fits = is_for(&entry, target);

            contents->has_ptx |= fits && entry.kind == FATBIN_PTX;
            contents->has_cubin |= fits && entry.kind == FATBIN_ELF;
            contents->has_ltoir |= fits && entry.kind == FATBIN_NVVM;
        }
    contents->is_cut |= result == FATBIN_DAMAGED;
}

struct contents contents_look(struct bytes data, const struct contents_target *target)
{
    static const uint32_t magic = FATBIN_MAGIC;
    struct contents contents = {0};
    const uint8_t *end = data.data + data.size, *found;

    DIAG_SILENCE();
    while ((found = memmem(data.data, data.size, &magic, sizeof magic)) &&
           (size_t)(end - found) >= FATBIN_HEADER_SIZE) {
        look_at_fatbin(&contents, (struct bytes){found, (size_t)(end - found)}, target);
        found += sizeof magic;
        data = (struct bytes){found, (size_t)(end - found)};
    }
    return contents;
}

bool contents_takes_cubin(struct bytes data, const struct contents_target *target)
{
    struct arch code;

    return !rawcode_cubin_arch(data, &code) ||
           !runs_on_library_leaves(target->arch, code, false, target->toolkit);
}

unsigned contents_ltoir_target(struct bytes data)
{
    unsigned target =
        data.size >= LTOIR_TARGET + sizeof(uint16_t) ? little_u16(data.data + LTOIR_TARGET) : 0;

    return target % 10 == 0 ? target / 10 : 0;
}
