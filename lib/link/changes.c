/* changes.c: which files the tools are, and what becomes of a link that finds a change. */
#include "link/changes.h"

#include <limits.h>

#include "os/self_exec.h"

/* What is kept of a whole link, or of its parts, depends on its inputs; a chunk's text and a part's
 * LTO-IR are in memory. */
static bool holds(const void *watch, enum cache_kind kind)
{
    return watch_holds(watch, kind != CACHE_LINK);
}

void changes_guard_cache(struct link *link)
{
    cache_guard(link->cache, holds, link->watch);
}

void changes_watch_assembler(const struct link *link, const struct assembler *assembler)
{
    watch_add_tool(link->watch, assembler_file(assembler, &link->request->assembler));
}

/* A program finds itself even when its file has been replaced; a library runs what it finds. */
void changes_watch_library(const struct link *link)
{
    char path[PATH_MAX];

    watch_add_tool(link->watch, link->nvjitlink.path);
    watch_add_tool(link->watch, link->llvm.path);
    if ((link->nvjitlink.path || link->llvm.path) && !self_exec_is_program())
        watch_add_tool(link->watch, self_exec_path(path));
}

bool changes_check(const struct link *link)
{
    if (watch_check(link->watch))
        return true;
    cache_take_back(link->cache);
    return diag_blame(LINK_ENVIRONMENT);
}
