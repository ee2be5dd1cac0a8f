/* modules.c: module ids, and their order as nvlink was measured to write it: the first id of each
 * input, in order; then the inputs' other ids (`ld -r` puts several into one), last first. The
 * toolkit's libraries come after all others wherever they are named. */
#include "input/used.h"

#include <ctype.h>
#include <errno.h>
#include <unistd.h>

#include "base/context.h"
#include "base/memory.h"
#include "diag/diag.h"
#include "input/file.h"
#include "input/hostobj.h"
#include "input/member.h"

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
 * for characters that an identifier cannot have. nvcc -dlink -r names its output in the same way.
 */
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

/* First ids come first, each of the others from the last on; those that are registered are left
 * out. */
static void print_module_ids(const struct modules *modules, struct buffer *list, bool last_first)
{
    struct buffer ids = {0};
    size_t count = 0;

    CONTEXT_DEFER(buffer_cleanup, &ids);
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
