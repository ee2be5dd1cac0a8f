/* save_temps.c: --keep: writes files as carefully as the output: whole or not at all. */
#include "link/stages.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

#include "base/context.h"
#include "diag/diag.h"
#include "output/output.h"

bool save_temps(const struct link *link, const char *stem, size_t index, const char *suffix,
                struct bytes bytes)
{
    const char *folder = link->request->keep;
    struct arena arena = {0};
    const char *path;

    if (!folder)
        return true;
    if (mkdir(folder, 0777) && errno != EEXIST) {
        diag_fatal("Could not make folder '%s': %s", folder, strerror(errno));
        return diag_blame(LINK_ENVIRONMENT);
    }
    CONTEXT_DEFER(arena_cleanup, &arena);
    path = index == SIZE_MAX ? arena_printf(&arena, "%s/%s.%s", folder, stem, suffix)
                             : arena_printf(&arena, "%s/%s-%zu.%s", folder, stem, index, suffix);
    return output_write_file(path, bytes) || diag_blame(LINK_ENVIRONMENT);
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
