/* dump_modules.c: which objects register which modules, as the host's linker will see it.
 *
 * An object with relocatable device code calls __cudaRegisterLinkedBinary<module id>; the object
 * that nvcc makes of a device link defines that for each object that was linked (measured). An
 * object that no device link knows leaves the symbol undefined. */
#include <elf.h>
#include <string.h>

#include "base/memory.h"
#include "base/context.h"
#include "base/text.h"
#include "dump.h"
#include "input/file.h"
#include "input/hostobj.h"

#define PREFIX TEXT("__cudaRegisterLinkedBinary")

struct module {
    struct text id;
    const char *object;
    bool is_registered; /* here; else it is wanted */
};

struct collection {
    struct arena arena;
    struct module *list;
    size_t count, capacity;
};

static bool collect_object(struct collection *all, const char *name, struct bytes data)
{
    struct bytes symbols = {0}, names = {0};
    struct hostobj object;
    Elf64_Sym symbol;

    HOSTOBJ_OPEN(&object, name, data);
    hostobj_find(&object, ".symtab", &symbols);
    hostobj_find(&object, ".strtab", &names);
    for (size_t at = 0; symbols.size - at >= sizeof symbol; at += sizeof symbol) {
        struct text id;

        memcpy(&symbol, symbols.data + at, sizeof symbol);
        if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || symbol.st_name >= names.size)
            continue;
        id.data = (const char *)names.data + symbol.st_name;
        id.size = strnlen(id.data, names.size - symbol.st_name);
        if (!text_skip(&id, PREFIX) || id.size == 0)
            continue;
        ARENA_PUSH(&all->arena, all->list, all->count, all->capacity) =
            (struct module){id, name, symbol.st_shndx != SHN_UNDEF};
    }
    return !object.is_damaged;
}

static bool collect_modules(struct collection *all, const struct input_file *file)
{
    struct archive archive;
    struct text member;
    struct bytes data;
    bool ok = true;

    archive_open_file(&archive, file);
    while (ok && archive_next(&archive, &member, &data)) {
        enum file_kind kind = file_classify(data);

        if (kind == FILE_HOST_OBJECT || (kind == FILE_SHARED_OBJECT && !member.data))
            ok = collect_object(all, archive_object_name(&archive, member, &all->arena), data);
    }
    return ok && !archive.is_damaged;
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
    for (size_t i = 0; i < inputs->count; i++)
        ok &= collect_modules(&all, &inputs->files[i]);
    print_collection(dump, &all, &registered);
    return ok;
}
