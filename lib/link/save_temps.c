/* save_temps.c: writes kept files as carefully as the output: whole or not at all. */
#include "link/stages.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/context.h"
#include "diag/diag.h"
#include "output/output.h"

/* Writes directory/stem.suffix, or directory/stem-index.suffix unless index is SIZE_MAX. */
static bool write_one(const char *directory, const char *stem, size_t index, const char *suffix,
                      struct bytes bytes)
{
    struct arena arena = {0};
    const char *path;

    if (!directory)
        return true;
    if (mkdir(directory, 0777) && errno != EEXIST) {
        diag_fatal("Could not make folder '%s': %s", directory, strerror(errno));
        return diag_blame(LINK_ENVIRONMENT);
    }
    CONTEXT_DEFER(arena_cleanup, &arena);
    path = index == SIZE_MAX ? arena_printf(&arena, "%s/%s.%s", directory, stem, suffix)
                             : arena_printf(&arena, "%s/%s-%zu.%s", directory, stem, index, suffix);
    return output_write_file(path, bytes) || diag_blame(LINK_ENVIRONMENT);
}

bool save_temps_program(const char *directory, const struct program *program, size_t index,
                        struct arch arch)
{
    struct split_request whole = {.wanted = 1, .arch = arch};
    struct chunks chunks = {0};

    if (!directory)
        return true;
    CONTEXT_DEFER(chunks_cleanup, &chunks);
    return split_program(&chunks, program, &whole) &&
           write_one(directory, "linked", index, "ptx", text_bytes(chunks.list[0].text));
}

bool save_temps_lto(const char *directory, const struct lto_result *lto)
{
    for (size_t i = 0; i < lto->part_count && lto->part_count > 1; i++)
        if (!write_one(directory, "lto", i, "ptx", text_bytes(lto->parts[i])))
            return false;
    return write_one(directory, "lto", SIZE_MAX, "ptx", text_bytes(lto->ptx));
}

bool save_temps_bitcode(const char *directory, const struct bitcode_result *bitcode)
{
    bool ok = true;

    for (size_t i = 0; ok && i < bitcode->count; i++)
        ok = write_one(directory, "bitcode", bitcode->count > 1 ? i : SIZE_MAX, "ptx",
                       text_bytes(bitcode->modules[i].ptx));
    return ok;
}

bool save_temps_chunks(const char *directory, const struct chunks *chunks)
{
    bool ok = true;

    for (size_t i = 0; ok && i < chunks->count; i++)
        ok = write_one(directory, "chunk", i, "ptx", text_bytes(chunks->list[i].text));
    return ok;
}

bool save_temps_cubins(const char *directory, const struct cubins *cubins)
{
    bool ok = true;

    for (size_t i = 0; ok && i < cubins->count; i++)
        ok = write_one(directory, "chunk", i, "cubin", chunk_cubin_bytes(&cubins->list[i]));
    return ok;
}

bool save_temps_is_name(const char *name)
{
    static const char *const patterns[] = {"@(linked|lto|bitcode).ptx",
                                           "@(linked|lto|bitcode|chunk)-+([0-9]).ptx",
                                           "chunk-+([0-9]).cubin"};

    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (fnmatch(patterns[i], name, FNM_EXTMATCH) == 0)
            return true;
    return false;
}
