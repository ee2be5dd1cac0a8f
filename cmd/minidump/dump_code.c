/* dump_code.c: built-in code as text. NVIDIA's code is not decoded: only its size is told. */
#include "dump.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/context.h"
#include "base/search.h"
#include "toy/encode.h"

/* The relocations of one section, by rising offset. */
struct targets {
    const struct cubin *cubin;
    struct cubin_relocation *list;
    size_t count;
    char name[256]; /* of the last target found */
};

static int compare_offsets(const void *left, const void *right)
{
    const struct cubin_relocation *a = left, *b = right;

    return (a->offset > b->offset) - (a->offset < b->offset);
}

static const char *find_target(void *argument, uint64_t offset)
{
    struct targets *targets = argument;
    struct cubin_relocation key = {.offset = offset};
    const struct cubin_relocation *found;

    found = targets->count
                ? bsearch(&key, targets->list, targets->count, sizeof key, compare_offsets)
                : NULL;
    if (!found)
        return NULL;
    snprintf(targets->name, sizeof targets->name, "%.*s",
             TEXT_ARG(targets->cubin->symbols[found->symbol].name));
    return targets->name;
}

static size_t target_of(const struct cubin *cubin, size_t section)
{
    return cubin->sections[section].relocation_count ? cubin->sections[section].info : 0;
}

/* Lists of relocations per target section, so that no section's are searched for. */
static struct targets *collect(const struct cubin *cubin, struct arena *arena)
{
    struct targets *all = arena_zalloc(arena, cubin->section_count, sizeof *all);

    for (size_t i = 1; i < cubin->section_count; i++)
        all[target_of(cubin, i)].count += cubin->sections[i].relocation_count;
    for (size_t i = 0; i < cubin->section_count; i++) {
        all[i].list = arena_alloc(arena, all[i].count, sizeof *all[i].list);
        all[i].count = 0;
        all[i].cubin = cubin;
    }
    for (size_t i = 1; i < cubin->section_count; i++) {
        const struct cubin_section *section = &cubin->sections[i];
        struct targets *targets = &all[target_of(cubin, i)];

        for (size_t r = 0; r < section->relocation_count; r++)
            targets->list[targets->count++] = section->relocations[r];
    }
    for (size_t i = 1; i < cubin->section_count; i++)
        SORT(all[i].list, all[i].count, compare_offsets);
    return all;
}

static void print_function(const struct dump *dump, const struct cubin_section *section,
                           struct targets *targets)
{
    struct buffer line = {0};

    CONTEXT_DEFER(buffer_cleanup, &line);
    dump_print(dump, "code %.*s:\n", TEXT_ARG(section->name));
    for (size_t offset = 0; offset < section->data.size;) {
        size_t size;

        line.size = 0;
        size = encode_print(section->data, offset, &line, find_target, targets);
        if (size == 0) {
            dump_print(dump, "  %04zx: (no instruction)\n", offset);
            break;
        }
        dump_print(dump, "  %04zx: %.*s\n", offset, TEXT_ARG(buffer_view(&line)));
        offset += size;
    }
}

void dump_code(const struct dump *dump, const struct cubin *cubin)
{
    bool is_builtin = cubin_section_find(cubin, TEXT(".note.minilink")) != 0;
    struct arena arena = {0};
    struct targets *all;

    CONTEXT_DEFER(arena_cleanup, &arena);
    all = collect(cubin, &arena);
    for (size_t i = 1; i < cubin->section_count; i++) {
        const struct cubin_section *section = &cubin->sections[i];

        if (!text_starts(section->name, TEXT(".text.")))
            continue;
        if (is_builtin)
            print_function(dump, section, &all[i]);
        else
            dump_print(dump, "code %.*s: %zu bytes for a GPU, not decoded\n",
                       TEXT_ARG(section->name), section->data.size);
    }
}
