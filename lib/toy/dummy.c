/* dummy.c: QUIRK 2 of the description: whatever the module has, what is parsed and checked has an
 * entry, also where only the header is there. Nothing of it is left behind phase 13. */
#include "toy/dummy.h"

#include <string.h>

static bool has_name(const struct ptx_module *module)
{
    for (size_t i = 0; i < module->item_count; i++)
        if (text_equal(module->items[i].name, TEXT(DUMMY_NAME)))
            return true;
    return false;
}

static struct text header(struct unit *unit)
{
    const struct ptx_module *module = &unit->module;
    char target[ARCH_NAME_SIZE];

    return text_of(arena_printf(&unit->arena,
                                "\t.version %u.%u\n"
                                "\t.target %s\n"
                                "\t.address_size %u\n"
                                "\t.entry " DUMMY_NAME " { ret; }\n",
                                module->version_major, module->version_minor,
                                arch_name(module->target, target), module->address_size));
}

bool dummy_add(struct unit *unit)
{
    struct ptx_module *module = &unit->module, made = {0};
    struct ptx_item *items;
    size_t offset = 0;

    if (has_name(module))
        return true;
    if (!module_parse(&made, &unit->arena, unit->job->name, header(unit), &offset))
        return false;
    items = arena_alloc(&unit->arena, module->item_count + 1, sizeof *items);
    if (module->item_count)
        memcpy(items, module->items, module->item_count * sizeof *items);
    items[module->item_count] = made.items[made.item_count - 1];
    unit->dummy = &items[module->item_count++];
    module->items = items;
    return true;
}

void dummy_remove(struct unit *unit)
{
    if (!unit->dummy)
        return;
    /* The last item is the last global, too. */
    unit->scope.count--;
    unit->module.item_count--;
    unit->dummy = NULL;
}
