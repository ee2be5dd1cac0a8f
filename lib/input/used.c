/* used.c: collecting names of kernels and variables, and finding one among them; and module ids.
 *
 * A name is looked up once for each length of the patterns' fixed beginnings, so that the cost does
 * not grow with names times patterns; each of its pieces likewise among parts of -kernels-used. */
#include "input/used.h"

#include <ctype.h>
#include <errno.h>
#include <unistd.h>

#include "base/search.h"
#include "diag/diag.h"
#include "input/hostobj.h"
#include "input/member.h"

/* More patterns of one beginning than any compiler writes: the name is then taken to be used. */
#define MOST_TRIED 4096u

/* Order as in enum used_list. */
static const char *const sections[USED_LISTS] = {".nvHRKE", ".nvHRKI", ".nvHRCE",
                                                 ".nvHRCI", ".nvHRDE", ".nvHRDI"};

struct collector {
    struct used_names *used;
    const char *name;    /* of the operand at hand, for messages */
    bool has_lists;      /* the object at hand has some */
    bool all_have;       /* every host object so far has some */
    bool has_other_code; /* there is device code outside of host objects */
    bool lists_kernels;  /* some object of the program itself lists a kernel */
    bool ok;
};

static struct text beginning(struct text pattern)
{
    const char *star = pattern.size ? memchr(pattern.data, '*', pattern.size) : NULL;

    return (struct text){pattern.data, star ? (size_t)(star - pattern.data) : pattern.size};
}

static void add_pattern(struct arena *arena, struct used_set *set, struct used_pattern pattern)
{
    struct text start = {pattern.text.data, pattern.start};

    pattern.next = table_find(&set->starts, start);
    table_set(&set->starts, start, (uint32_t)set->count);
    ARENA_PUSH(arena, set->patterns, set->count, set->capacity) = pattern;
}

static void add_section_names(struct collector *collector, enum used_list list, struct bytes data)
{
    struct used_names *used = collector->used;
    struct used_set *set = list <= USED_INTERNAL_KERNELS ? &used->kernels : &used->variables;

    collector->has_lists = true;
    /* `ld -r` puts padding between the lists of two objects. */
    for (size_t at = 0, size; at < data.size; at += size + 1) {
        struct text name = {(const char *)data.data + at, data.size - at};

        name.size = size = strnlen(name.data, name.size);
        if (size == 0)
            continue;
        add_pattern(
            &used->arena, set,
            (struct used_pattern){.text = name, .start = beginning(name).size, .list = list});
        /* libcudadevrt lists kernels of its own in every link. Measured: they count if the
         * program's lists count, but do not make lists count. */
        collector->lists_kernels |= set == &used->kernels && !members_is_system(collector->name);
    }
}

static void add_object_names(struct collector *collector, struct bytes data)
{
    struct used_set *kernels = &collector->used->kernels;
    size_t first = kernels->count;
    struct hostobj object;
    struct bytes contents;
    const char *section;
    uint64_t code = 0;

    collector->has_lists = false;
    HOSTOBJ_OPEN(&object, collector->name, data);
    for (int list = 0; list < USED_LISTS; list++)
        while (hostobj_next(&object, sections[list], &contents))
            add_section_names(collector, (enum used_list)list, contents);
    while (hostobj_next_code(&object, &section, &contents))
        code += contents.size;
    for (size_t i = first; i < kernels->count; i++)
        kernels->patterns[i].cost = code / (kernels->count - first);
    collector->ok &= !object.is_damaged;
    collector->all_have &= collector->has_lists;
}

static void add_file_names(struct collector *collector, const struct input_file *file)
{
    struct archive archive;
    struct text name;
    struct bytes data;

    collector->name = file->path;
    archive_open_file(&archive, file);
    while (archive_next(&archive, &name, &data)) {
        enum file_kind kind = file_classify(data);

        if (kind == FILE_HOST_OBJECT)
            add_object_names(collector, data);
        collector->has_other_code |=
            file_code_kind(kind) != 0 || kind == FILE_FATBIN || kind == FILE_OFFLOAD;
    }
    collector->ok &= !archive.is_damaged;
}

COMPARISON(by_size, size_t, COMPARE(*a, *b));

/* Lists the lengths of what patterns are looked up by, each once. */
static void list_lengths(struct used_set *set, struct arena *arena)
{
    size_t *lengths = set->lengths = arena_alloc(arena, set->count, sizeof *lengths);

    for (size_t i = 0; i < set->count; i++)
        lengths[i] = set->patterns[i].start;
    SORT(lengths, set->count, by_size);
    for (size_t i = 0; i < set->count; i++)
        if (i == 0 || lengths[i] != lengths[set->length_count - 1])
            lengths[set->length_count++] = lengths[i];
}

static void take_parts(struct used_set *set, struct arena *arena, const char *const *lists)
{
    for (; lists && *lists; lists++) {
        struct text rest = text_of(*lists), part;

        while (text_take_part(&rest, &part))
            add_pattern(arena, set, (struct used_pattern){.text = part, .start = part.size});
    }
}

static void take_wanted(struct used_names *used, const char *const *names)
{
    size_t count = string_list_count(names);
    struct text *wanted = arena_alloc(&used->arena, count, sizeof *wanted);

    used->wanted = wanted;
    used->wanted_count = count;
    for (size_t i = 0; i < count; i++) {
        wanted[i] = text_of(names[i]);
        table_set(&used->wanted_names, wanted[i], 0);
    }
}

bool used_collect(struct used_names *used, const struct inputs *inputs,
                  const struct used_request *request)
{
    struct collector collector = {.used = used, .all_have = true, .ok = true};

    used->is_selection = request->entry_count > 0 || request->matches;
    used->matches = request->matches;
    used->match_argument = request->match_argument;
    for (size_t i = 0; i < request->entry_count; i++)
        table_set(&used->selected, request->entries[i], 0);
    take_wanted(used, request->wanted);
    if (request->kernels || request->variables) {
        take_parts(&used->kernels, &used->arena, request->kernels);
        take_parts(&used->variables, &used->arena, request->variables);
        used->has_parts = used->is_filter = true;
        used->keeps_kernels = request->is_lto && !request->kernels;
    } else if (request->ignore_host_info) {
        used->is_ignored = true;
    } else {
        for (size_t i = 0; i < inputs->count && collector.all_have; i++)
            add_file_names(&collector, &inputs->files[i]);
        used->has_lists = collector.all_have && collector.lists_kernels;
        used->is_filter = used->has_lists && !collector.has_other_code;
    }
    list_lengths(&used->kernels, &used->arena);
    list_lengths(&used->variables, &used->arena);
    return collector.ok;
}

/* Matches the rest of a pattern after its first `*`: each piece must come after the one before it,
 * and the last at the end. */
static bool matches_rest(struct text rest, struct text name)
{
    for (;;) {
        struct text piece = beginning(rest);
        const char *found;

        if (piece.size == rest.size)
            return text_ends(name, piece);
        found = piece.size ? memmem(name.data, name.size, piece.data, piece.size) : name.data;
        if (!found)
            return false;
        name = text_drop(name, (size_t)(found - name.data) + piece.size);
        rest = text_drop(rest, piece.size + 1);
    }
}

/* Whether the name, which begins as the pattern, matches it. */
static bool matches_pattern(const struct used_pattern *pattern, struct text name)
{
    return pattern->start == pattern->text.size
               ? name.size == pattern->start
               : matches_rest(text_drop(pattern->text, pattern->start + 1),
                              text_drop(name, pattern->start));
}

static bool contains_part(const struct used_set *set, struct text name)
{
    for (size_t i = 0; i < set->count; i++)
        if (memmem(name.data, name.size, set->patterns[i].text.data, set->patterns[i].text.size))
            return true;
    return false;
}

/* Whether the name contains a part, or matches a pattern. Tries each part, or each piece of the
 * name, whichever is less work. */
static bool is_listed_name(const struct used_set *set, struct text name, bool are_parts)
{
    size_t tried = 0;

    if (are_parts && set->count <= set->length_count * name.size)
        return contains_part(set, name);
    for (size_t i = 0; i < set->length_count && set->lengths[i] <= name.size; i++) {
        size_t start = set->lengths[i], last = are_parts ? name.size - start : 0;

        for (size_t at = 0; at <= last; at++) {
            uint32_t found = table_find(&set->starts, (struct text){name.data + at, start});

            for (; found != TABLE_NONE; found = set->patterns[found].next)
                if (are_parts || ++tried > MOST_TRIED ||
                    matches_pattern(&set->patterns[found], name))
                    return true;
        }
    }
    return false;
}

bool used_wants(const struct used_names *used, struct text name)
{
    return used->wanted_count && table_find(&used->wanted_names, name) != TABLE_NONE;
}

/* Whether options keep the name, or the lists, if they count. */
static bool is_used_name(const struct used_names *used, const struct used_set *set,
                         struct text name, bool has_lists)
{
    return used_wants(used, name) || (!used->has_parts && !has_lists) ||
           is_listed_name(set, name, used->has_parts);
}

bool used_has_kernel(const struct used_names *used, struct text kernel)
{
    if (used->is_selection && table_find(&used->selected, kernel) == TABLE_NONE &&
        !(used->matches && used->matches(used->match_argument, kernel)))
        return false;
    return used->keeps_kernels || is_used_name(used, &used->kernels, kernel, used->is_filter);
}

bool used_names_kernel(const struct used_names *used, struct text kernel)
{
    if (used->is_selection && table_find(&used->selected, kernel) == TABLE_NONE)
        return false;
    return (used->has_parts && used->kernels.count == 0) ||
           is_used_name(used, &used->kernels, kernel, used->has_lists);
}

bool used_has_variable(const struct used_names *used, struct text variable)
{
    return is_used_name(used, &used->variables, variable, used->is_filter);
}

bool used_names_variable(const struct used_names *used, struct text variable)
{
    return is_used_name(used, &used->variables, variable, used->has_lists);
}

void used_free(struct used_names *used)
{
    table_free(&used->selected);
    table_free(&used->wanted_names);
    table_free(&used->kernels.starts);
    table_free(&used->variables.starts);
    arena_free(&used->arena);
    *used = (struct used_names){0};
}

/* Module ids, and their order as nvlink was measured to write it: the first id of each
 * input, in order; then the inputs' other ids (`ld -r` puts several into one), last first. The
 * toolkit's libraries come after all others wherever they are named. */

#define DEFINED TEXT("def ")

struct module_id {
    struct text text;
    bool is_first; /* of its input */
};

struct modules {
    struct arena arena;
    struct module_id *ids; /* as the inputs have them */
    size_t count, capacity;
    struct table registered;      /* ids that a linked object registers */
    const struct table *compiled; /* files that have no id, see modules_list(); or NULL */
    const char *object;           /* for messages: the operand, or "lib.a(b.o)" */
    bool has_code;                /* the object has relocatable device code */
    bool has_id;                  /* the object's first id is known */
    bool ok;
};

/* What C compilers accept as an identifier, including `$` and letters beyond ASCII: nvcc compiles
 * the list. Measured: nvlink writes any id as it is. */
static bool is_identifier(struct text id)
{
    for (size_t i = 0; i < id.size; i++) {
        unsigned char c = (unsigned char)id.data[i];

        if (c < 0x80 && !isalnum(c) && c != '_' && c != '$')
            return false;
    }
    return id.size > 0;
}

static void add_id(struct modules *modules, struct text id)
{
    ARENA_PUSH(&modules->arena, modules->ids, modules->count, modules->capacity) =
        (struct module_id){id, !modules->has_id};
    modules->has_id = true;
}

static void add_id_string(struct modules *modules, struct text string)
{
    struct text id = string;
    bool is_registered = text_skip(&id, DEFINED);

    if (!is_registered && !modules->has_code)
        return;
    if (!is_identifier(id)) {
        diag_error("Damaged section '%s' of '%s': '%.*s' is no module id (a C identifier)",
                   HOSTOBJ_MODULE_ID, modules->object, TEXT_ARG(id));
        modules->ok = false;
    } else if (is_registered) {
        table_add(&modules->registered, id, 0);
    } else {
        add_id(modules, id);
    }
}

/* Ids are NUL-terminated strings; `ld -r` may have put padding between those of two objects. */
static void add_section_modules(struct modules *modules, struct bytes data)
{
    for (size_t at = 0, size; at < data.size; at += size + 1) {
        const char *string = (const char *)data.data + at;

        size = strnlen(string, data.size - at);
        if (size > 0)
            add_id_string(modules, (struct text){string, size});
    }
}

static void add_object_modules(struct modules *modules, struct bytes data)
{
    struct hostobj object;
    struct bytes contents;

    modules->has_code = modules->has_id = false;
    HOSTOBJ_OPEN(&object, modules->object, data);
    while (hostobj_next(&object, HOSTOBJ_RELOCATABLE, &contents))
        modules->has_code |= contents.size > 0;
    while (hostobj_next(&object, HOSTOBJ_MODULE_ID, &contents))
        add_section_modules(modules, contents);
    modules->ok &= !object.is_damaged;
}

/* A raw file of device code has no id of its own: measured, its absolute path is taken, with '_'
 * for characters that an identifier cannot have. nvcc -dlink -r names its output likewise. */
static void add_path(struct modules *modules, const char *path)
{
    char *folder = path[0] == '/' ? NULL : getcwd(NULL, 0);
    char *id;

    if (path[0] != '/' && !folder && errno == ENOMEM)
        context_raise(LINK_NO_MEMORY);
    CONTEXT_DEFER(memory_cleanup, &folder);
    id = arena_printf(&modules->arena, "%s%s%s", folder ? folder : "", folder ? "/" : "", path);
    for (char *at = id; *at; at++)
        if (!isalnum((unsigned char)*at))
            *at = '_';
    modules->has_id = false;
    add_id(modules, text_of(id));
}

/* Measured: a raw file under another name is not listed. */
static bool has_device_suffix(const char *path)
{
    return string_has_suffix(path, ".cubin") || string_has_suffix(path, ".fatbin") ||
           string_has_suffix(path, ".ptx");
}

static void add_file_modules(struct modules *modules, const struct input_file *file)
{
    struct archive archive;
    struct text member;
    struct bytes data;

    archive_open_file(&archive, file);
    while (archive_next(&archive, &member, &data)) {
        enum file_kind kind = file_classify(data);

        modules->object = archive_object_name(&archive, member, &modules->arena);
        if (kind == FILE_HOST_OBJECT)
            add_object_modules(modules, data);
        else if (!member.data && (kind == FILE_CUBIN || kind == FILE_FATBIN || kind == FILE_PTX) &&
                 has_device_suffix(file->path) &&
                 !(modules->compiled &&
                   table_find(modules->compiled, text_of(file->path)) != TABLE_NONE))
            add_path(modules, file->path);
    }
    modules->ok &= !archive.is_damaged;
}

/* First ids come first, then the others, the last first; registered ones are left out. */
static void print_module_ids(const struct modules *modules, struct buffer *list, bool last_first)
{
    LOCAL_BUFFER(ids);
    size_t count = 0;

    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < modules->count; i++) {
            bool is_reversed = pass == 1 || last_first;
            const struct module_id *id = &modules->ids[is_reversed ? modules->count - 1 - i : i];

            if (id->is_first != (pass == 0) ||
                table_find(&modules->registered, id->text) != TABLE_NONE)
                continue;
            buffer_printf(&ids, "DEFINE_REGISTER_FUNC(%.*s)\n", TEXT_ARG(id->text));
            count++;
        }
    buffer_printf(list, "#define NUM_PRELINKED_OBJECTS %zu\n", count);
    buffer_text(list, buffer_view(&ids));
}

bool modules_list(struct buffer *list, const struct inputs *inputs, const struct table *compiled,
                  bool without_system, bool last_first)
{
    struct modules modules = {.compiled = compiled, .ok = true};

    CONTEXT_DEFER(arena_cleanup, &modules.arena);
    CONTEXT_DEFER(table_cleanup, &modules.registered);
    for (int pass = 0; pass < (without_system ? 1 : 2); pass++)
        for (size_t i = 0; i < inputs->count; i++)
            if (members_is_system(inputs->files[i].path) == (pass == 1))
                add_file_modules(&modules, &inputs->files[i]);
    if (modules.ok)
        print_module_ids(&modules, list, last_first);
    return modules.ok;
}
