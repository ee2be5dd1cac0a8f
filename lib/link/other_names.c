/* other_names.c: symbols of modules and of cubins. */
#include "link/other_names.h"

#include <elf.h>
#include <stdlib.h>

#include "base/memory.h"
#include "diag/diag.h"
#include "ptx/module.h"
#include "ptx/types.h"

static void add(struct other_names *names, struct text name)
{
    size_t count = names->count;

    if (table_add(&names->known, name, (uint32_t)count) == count)
        ARRAY_PUSH(names->list, names->count, names->capacity) = name;
}

static bool add_ptx(struct other_names *names, const char *file, struct text text)
{
    struct module_cursor cursor = {0};
    struct ptx_module module;

    while (cursor.offset < text.size) {
        if (!module_parse_next(&module, &names->arena, file, text, &cursor))
            return false;
        for (size_t i = 0; i < module.item_count; i++)
            if ((module.items[i].kind == PTX_FUNCTION || module.items[i].kind == PTX_VARIABLE) &&
                module.items[i].linkage != PTX_INTERNAL)
                add(names, module.items[i].name);
    }
    return true;
}

static void add_cubin(struct other_names *names, const struct cubin *cubin)
{
    for (size_t i = 1; i < cubin->symbol_count; i++)
        if (cubin->symbols[i].binding != STB_LOCAL)
            add(names, cubin->symbols[i].name);
}

struct collection {
    struct other_names *names;
    const struct link *link;
    bool ok;
};

static enum link_code collect(void *argument)
{
    struct collection *collection = argument;
    struct other_names *names = collection->names;
    const struct link *link = collection->link;
    struct inflation inflation = link->ptx_inflation;

    for (size_t i = 0; i < link->members.count; i++) {
        const struct member *member = &link->members.list[i];
        struct bytes code;

        if (member->role == MEMBER_PTX &&
            !(member_code(member, &inflation, &names->arena, &code) &&
              add_ptx(names, member->name, (struct text){(const char *)code.data, code.size})))
            return LINK_OK;
    }
    for (size_t i = 0; i < link->member_cubin_count; i++)
        add_cubin(names, &link->member_cubins[i]);
    collection->ok = link->lto.ptx.size == 0 || add_ptx(names, "lto.ptx", link->lto.ptx);
    return LINK_OK;
}

bool other_names_collect(struct other_names *names, const struct link *link)
{
    struct collection collection = {names, link, false};

    diag_silence(collect, &collection);
    return collection.ok;
}

void other_names_free(void *argument)
{
    struct other_names *names = argument;

    free(names->list);
    table_free(&names->known);
    arena_free(&names->arena);
}
