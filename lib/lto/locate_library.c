/* locate_library.c: whether LTO-IR is linked, and with which library. */
#include <string.h>

#include "base/buffer.h"
#include "base/context.h"
#include "base/memory.h"
#include "diag/diag.h"
#include "lto/job.h"
#include "lto/lto.h"
#include "lto/lto_steps.h"
#include "lto/part.h"

/* Names for the loader, where no file is found. */
static const char *const loader_names[] = {"libnvJitLink.so.13", "libnvJitLink.so.12",
                                           "libnvJitLink.so"};

/* Whether the loader finds a library of that name, asked of a child. */
static bool can_load(const char *name)
{
    const struct lto_request link = {0};
    struct parts_run run = {.link = &link, .inputs_fd = lto_inputs_open()};
    bool ok;

    CONTEXT_DEFER(parts_end, &run);
    parts_make(&run, 1);
    run.list->job = job_write(&run.arena, name, NULL, &run.inputs);
    ok = parts_run(&run, &run.arena) == 1;
    return ok;
}

static char *find_library(const struct toolkit_request *toolkit, struct buffer *tried)
{
    char *found = toolkit_find_nvjitlink(toolkit, tried);
    size_t count = sizeof loader_names / sizeof *loader_names;

    if (found || toolkit->file || toolkit->cuda_path)
        return found;
    for (size_t i = 0; i < count; i++)
        if (can_load(loader_names[i]))
            return memory_copy_string(loader_names[i], strlen(loader_names[i]));
    buffer_string(tried, tried->size ? ", the loader's folders" : "the loader's folders");
    return NULL;
}

bool lto_find(char **library, enum lto_source source, const struct toolkit_request *toolkit)
{
    struct buffer tried = {0};

    *library = NULL;
    if (source == LTO_SOURCE_PTX) {
        diag_info("LTO-IR is not linked (--lto-source=ptx): PTX beside it takes its place, without "
                  "optimisation across modules");
        return true;
    }
    CONTEXT_DEFER(buffer_cleanup, &tried);
    *library = find_library(toolkit, &tried);
    if (!*library && (source == LTO_SOURCE_LTOIR || toolkit->file)) {
        diag_fatal("Could not find libnvJitLink (looked in %.*s)", TEXT_ARG(buffer_view(&tried)));
        diag_note("Set CUDA_HOME, or use --cuda-path= or --nvjitlink=");
    } else if (!*library) {
        diag_info(
            "LTO-IR is not linked, as no CUDA toolkit with libnvJitLink was found: PTX beside "
            "it takes its place, without optimisation across modules");
        diag_verbose("libnvJitLink was looked for in %.*s", TEXT_ARG(buffer_view(&tried)));
    }
    return *library || (source != LTO_SOURCE_LTOIR && !toolkit->file);
}
