/* dependencies.c: the files that a link read, in the order in which it came to them. */
#include "link/dependencies.h"

#include <stdlib.h>
#include <string.h>

#include "assemble/ptxas.h"
#include "base/context.h"
#include "base/memory.h"
#include "link/make_rule.h"

/* The files so far, to name each once. */
struct dependencies {
    struct arena arena;
    struct table seen;
    const char **list;
    size_t count, capacity;
};

static void free_dependencies(void *argument)
{
    struct dependencies *files = argument;

    free(files->list);
    table_free(&files->seen);
    arena_free(&files->arena);
}

/* nvcc's own files between its steps, which are gone when it ends: each would make the rule's
 * target older than a file that is not there. */
static bool is_of_nvcc(const char *path)
{
    return strncmp(basename(path), "tmpxft_", 7) == 0;
}

static void add(struct dependencies *files, const char *path)
{
    struct text key;

    if (!path || !*path || is_of_nvcc(path))
        return;
    key = text_of(path);
    if (table_find(&files->seen, key) != TABLE_NONE)
        return;
    table_add(&files->seen, key, 0);
    ARRAY_PUSH(files->list, files->count, files->capacity) = path;
}

static void collect(struct dependencies *files, const struct link *link,
                    const struct assembler *assembler)
{
    const struct link_request *request = link->request;

    for (size_t i = 0; i < request->response_file_count; i++)
        add(files, request->response_files[i]);
    for (size_t i = 0; i < link->inputs.count; i++)
        add(files, link->inputs.files[i].path);
    for (size_t i = 0; i < link->inputs.thin_files.count; i++)
        add(files, link->inputs.thin_files.list[i]);
    add(files, request->index_file);
    add(files, assembler_file(assembler, &request->assembler));
    add(files, link->nvjitlink.path);
    add(files, link->llvm.path);
}

const char *dependencies_path(const struct link *link, struct arena *arena)
{
    const char *path = link->request->dependency_file;
    char target[ARCH_NAME_SIZE];
    struct buffer name = {0};

    if (!path)
        return NULL;
    arch_name(link->members.arch, target);
    CONTEXT_DEFER(buffer_cleanup, &name);
    while (*path) {
        bool is_target = strncmp(path, "%a", 2) == 0;

        if (is_target)
            buffer_string(&name, target);
        else
            buffer_char(&name, *path);
        path += is_target ? 2 : 1;
    }
    return arena_string(arena, buffer_view(&name));
}

bool dependencies_rule(const struct link *link, const struct assembler *assembler,
                       struct buffer *rule)
{
    const char *target = link->request->dependency_target;
    struct dependencies files = {0};

    CONTEXT_DEFER(free_dependencies, &files);
    collect(&files, link, assembler);
    return make_rule_write(rule, target ? target : link->request->output, files.list, files.count);
}
