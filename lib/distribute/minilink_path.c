/* minilink_path.c: minilink is known by its name alone: its file may be on another machine only. */
#include "distribute/minilink_path.h"

#include <limits.h>
#include <string.h>

#include "os/self_exec.h"

bool minilink_path_is(const char *tool)
{
    return tool && strcmp(basename(tool), "minilink") == 0;
}

const char *minilink_path_here(struct arena *arena)
{
    char path[PATH_MAX];

    return arena_string(arena, text_of(self_exec_path(path)));
}

const char *minilink_path_there(struct arena *arena, const struct distribution *distribution)
{
    return minilink_path_is(distribution->tool) ? distribution->tool : minilink_path_here(arena);
}
