/* dump_modules.c: which objects register which modules, as the host's linker will see it.
 *
 * An object with relocatable device code calls __cudaRegisterLinkedBinary<module id>; the object
 * that nvcc makes of a device link defines that for each object that was linked (measured). An
 * object that no device link knows leaves the symbol undefined. */
#include <elf.h>
#include <string.h>

#include "base/arena.h"
#include "base/context.h"
#include "base/table.h"
#include "dump.h"
#include "input/archive.h"
#include "input/hostobj.h"

#define PREFIX  TEXT("__cudaRegisterLinkedBinary")
#define SYMBOLS ".symtab"

struct module {
    struct text id;
    const char *object;
    bool is_registered; /* here; else it is wanted */
};

struct collection {
    struct arena arena;
    struct module *list;
    size_t count, capacity;
    const char *file, *object;
    struct bytes symbols; /* of the object at hand */
};

/* The symbols come first, then their names. */
static bool take_section(void *argument, const char *section, struct bytes data)
{
    struct collection *all = argument;
    Elf64_Sym symbol;

    if (strcmp(section, SYMBOLS) == 0) {
        all->symbols = data;
        return true;
    }
    for (size_t at = 0; all->symbols.size - at >= sizeof symbol; at += sizeof symbol) {
        struct text name;

        memcpy(&symbol, all->symbols.data + at, sizeof symbol);
        if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || symbol.st_name >= data.size)
            continue;
        name.data = (const char *)data.data + symbol.st_name;
        name.size = strnlen(name.data, data.size - symbol.st_name);
        if (!text_skip(&name, PREFIX) || name.size == 0)
            continue;
        ARENA_PUSH(&all->arena, all->list, all->count, all->capacity) =
            (struct module){name, all->object, symbol.st_shndx != SHN_UNDEF};
    }
    return true;
}

/* The file at hand, or a member of it. */
static bool collect_modules(void *argument, struct text member, struct bytes data)
{
    static const char *const sections[] = {SYMBOLS, ".strtab"};
    struct collection *all = argument;
    enum file_kind kind = file_classify(data);

    all->object = member.data ? arena_printf(&all->arena, "%s(%.*s)", all->file, TEXT_ARG(member))
                              : all->file;
    all->symbols = (struct bytes){0};
    return (kind != FILE_HOST_OBJECT && (member.data || kind != FILE_SHARED_OBJECT)) ||
           hostobj_walk_names(all->object, data, sections, 2, take_section, all);
}

static void print_collection(const struct dump *dump, const struct collection *all,
                             struct table *registered)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].is_registered)
            table_add(registered, all->list[i].id, (uint32_t)i);
    for (size_t i = 0; i < all->count; i++) {
        const struct module *module = &all->list[i];
        uint32_t by = table_find(registered, module->id);

        dump_print(dump, "%s %s %.*s", module->object,
                   module->is_registered ? "registers" : "wants", TEXT_ARG(module->id));
        if (!module->is_registered && by == TABLE_NONE)
            dump_print(dump, ": MISSING: none of these files registers it");
        else if (!module->is_registered)
            dump_print(dump, ", which %s registers", all->list[by].object);
        else if (by != i)
            dump_print(dump, ": TWICE: %s does so, too", all->list[by].object);
        dump_print(dump, "\n");
    }
}

bool dump_modules(const struct dump *dump, const struct inputs *inputs)
{
    struct collection all = {0};
    struct table registered = {0};
    bool ok = true;

    CONTEXT_DEFER(arena_cleanup, &all.arena);
    CONTEXT_DEFER(table_cleanup, &registered);
    for (size_t i = 0; i < inputs->count; i++) {
        all.file = inputs->files[i].path;
        ok &= archive_walk_file(&inputs->files[i], collect_modules, &all);
    }
    print_collection(dump, &all, &registered);
    return ok;
}
