/* used.c: collecting names of kernels, and finding a kernel among them.
 *
 * A name is looked up once for each length that the fixed beginnings of the patterns have, so that
 * the cost does not grow with kernels times patterns; the parts of -kernels-used likewise. */
#include "input/used.h"

#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "input/archive.h"
#include "input/hostobj.h"
#include "input/member.h"

/* More patterns of one beginning than any compiler writes: the kernel is then taken to be used. */
#define MOST_TRIED 4096u

struct used_pattern {
    struct text text;
    uint32_t next; /* the one before it with the same beginning, or TABLE_NONE */
};

struct collector {
    struct used_kernels *used;
    const char *name;   /* of the operand at hand, for messages */
    bool has_lists;     /* the object at hand has */
    bool all_have;      /* every object so far has */
    bool lists_kernels; /* some object of the program itself lists a kernel */
    bool ok;
};

static struct text beginning(struct text pattern)
{
    const char *star = pattern.size ? memchr(pattern.data, '*', pattern.size) : NULL;

    return (struct text){pattern.data, star ? (size_t)(star - pattern.data) : pattern.size};
}

static void add_pattern(struct used_kernels *used, struct text text)
{
    struct used_pattern *pattern = &ARRAY_PUSH(used->patterns, used->count, used->capacity);

    *pattern = (struct used_pattern){text, table_find(&used->starts, beginning(text))};
    table_set(&used->starts, beginning(text), (uint32_t)used->count - 1);
}

static bool add_names(void *argument, const char *section, struct bytes data)
{
    struct collector *collector = argument;

    collector->has_lists = true;
    if (strncmp(section, ".nvHRK", 6) != 0)
        return true;
    /* `ld -r` puts padding between the lists of two objects. */
    for (size_t at = 0, size; at < data.size; at += size + 1) {
        const char *string = (const char *)data.data + at;

        size = strnlen(string, data.size - at);
        if (size == 0)
            continue;
        add_pattern(collector->used, (struct text){string, size});
        /* libcudadevrt lists kernels of its own in every link. Measured: where the program's lists
         * count they do, but they make no lists count. */
        collector->lists_kernels |= !members_is_system(collector->name);
    }
    return true;
}

static void add_object(struct collector *collector, struct bytes data)
{
    static const char *const sections[] = {".nvHRKE", ".nvHRKI", ".nvHRDE",
                                           ".nvHRDI", ".nvHRCE", ".nvHRCI"};

    collector->has_lists = false;
    if (!hostobj_walk_names(collector->name, data, sections, sizeof sections / sizeof *sections,
                            add_names, collector))
        collector->ok = false;
    collector->all_have &= collector->has_lists;
}

static bool add_archive_member(void *argument, struct text name, struct bytes data)
{
    struct collector *collector = argument;
    enum file_kind kind = file_classify(data);

    (void)name;
    if (kind == FILE_HOST_OBJECT)
        add_object(collector, data);
    else if (kind == FILE_CUBIN || kind == FILE_FATBIN || kind == FILE_PTX || kind == FILE_LTOIR)
        collector->all_have = false;
    return true;
}

static void add_file(struct collector *collector, const struct input_file *file)
{
    collector->name = file->path;
    switch (file->kind) {
    case FILE_HOST_OBJECT:
        add_object(collector, file->data);
        break;
    case FILE_ARCHIVE:
        collector->ok &= archive_walk(file->path, file->data, add_archive_member, collector);
        break;
    case FILE_CUBIN:
    case FILE_FATBIN:
    case FILE_PTX:
    case FILE_LTOIR:
        collector->all_have = false;
        break;
    default:
        break;
    }
}

static int by_size(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;

    return (a > b) - (a < b);
}

/* Sorts the lengths and leaves each once; returns how many there are. */
static size_t make_distinct(size_t *lengths, size_t count)
{
    size_t kept = 0;

    if (count)
        qsort(lengths, count, sizeof *lengths, by_size);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || lengths[i] != lengths[kept - 1])
            lengths[kept++] = lengths[i];
    return kept;
}

static void list_lengths(struct used_kernels *used)
{
    used->lengths = arena_alloc(&used->arena, used->count, sizeof *used->lengths);
    for (size_t i = 0; i < used->count; i++)
        used->lengths[i] = beginning(used->patterns[i].text).size;
    used->length_count = make_distinct(used->lengths, used->count);
}

static void take_parts(struct used_kernels *used, const char *list)
{
    struct text rest = text_of(list), part;
    size_t most = 1;

    for (const char *c = list ? list : ""; *c; c++)
        most += *c == ',';
    used->parts = arena_alloc(&used->arena, most, sizeof *used->parts);
    used->lengths = arena_alloc(&used->arena, most, sizeof *used->lengths);
    while (text_take_part(&rest, &part)) {
        used->lengths[used->part_count] = part.size;
        used->parts[used->part_count++] = part;
        table_set(&used->part_names, part, 0);
    }
    used->length_count = make_distinct(used->lengths, used->part_count);
}

bool used_collect(struct used_kernels *used, const struct inputs *inputs,
                  const struct used_request *request)
{
    struct collector collector = {.used = used, .all_have = true, .ok = true};

    used->is_selection = request->entry_count > 0;
    for (size_t i = 0; i < request->entry_count; i++)
        table_set(&used->selected, request->entries[i], 0);
    if (request->kernels || request->variables) {
        take_parts(used, request->kernels);
        used->is_filter = true;
        return true;
    }
    if (request->ignore_host_info)
        return true;
    for (size_t i = 0; i < inputs->count && collector.all_have; i++)
        add_file(&collector, &inputs->files[i]);
    list_lengths(used);
    used->is_filter = collector.all_have && collector.lists_kernels;
    return collector.ok;
}

/* What stands behind a pattern's first `*`: each piece somewhere behind the one before it, the last
 * at the end. */
static bool matches_rest(struct text rest, struct text name)
{
    for (;;) {
        struct text piece = beginning(rest);
        const char *found;

        if (piece.size == rest.size)
            return name.size >= piece.size &&
                   (piece.size == 0 ||
                    memcmp(name.data + name.size - piece.size, piece.data, piece.size) == 0);
        found = piece.size ? memmem(name.data, name.size, piece.data, piece.size) : name.data;
        if (!found)
            return false;
        name.size -= (size_t)(found - name.data) + piece.size;
        name.data = found + piece.size;
        rest = (struct text){rest.data + piece.size + 1, rest.size - piece.size - 1};
    }
}

static bool matches(struct text pattern, size_t start, struct text name)
{
    if (start == pattern.size)
        return name.size == start;
    return matches_rest((struct text){pattern.data + start + 1, pattern.size - start - 1},
                        (struct text){name.data + start, name.size - start});
}

static bool is_listed(const struct used_kernels *used, struct text kernel)
{
    for (size_t i = 0; i < used->length_count && used->lengths[i] <= kernel.size; i++) {
        size_t start = used->lengths[i], tried = 0;
        uint32_t at = table_find(&used->starts, (struct text){kernel.data, start});

        for (; at != TABLE_NONE; at = used->patterns[at].next)
            if (++tried > MOST_TRIED || matches(used->patterns[at].text, start, kernel))
                return true;
    }
    return false;
}

/* One look for every piece of the name that is as long as a part. */
static bool has_piece(const struct used_kernels *used, struct text kernel)
{
    for (size_t i = 0; i < used->length_count && used->lengths[i] <= kernel.size; i++)
        for (size_t start = 0; start + used->lengths[i] <= kernel.size; start++)
            if (table_find(&used->part_names,
                           (struct text){kernel.data + start, used->lengths[i]}) != TABLE_NONE)
                return true;
    return false;
}

/* The kernel's name contains a part: asked of each part, or of each piece of the name, whichever
 * is less work. */
static bool has_part(const struct used_kernels *used, struct text kernel)
{
    if (used->part_count > used->length_count * kernel.size)
        return has_piece(used, kernel);
    for (size_t i = 0; i < used->part_count; i++)
        if (memmem(kernel.data, kernel.size, used->parts[i].data, used->parts[i].size))
            return true;
    return false;
}

bool used_has(const struct used_kernels *used, struct text kernel)
{
    if (used->is_selection && table_find(&used->selected, kernel) == TABLE_NONE)
        return false;
    if (!used->is_filter)
        return true;
    if (used->count)
        return is_listed(used, kernel);
    return has_part(used, kernel);
}

void used_free(struct used_kernels *used)
{
    table_free(&used->selected);
    table_free(&used->starts);
    table_free(&used->part_names);
    free(used->patterns);
    arena_free(&used->arena);
    *used = (struct used_kernels){0};
}
