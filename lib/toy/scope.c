/* scope.c: merges declarations and definitions of one name into one entry.
 *
 * PTX declares names before use and may repeat declarations; a variable may be `.extern` first and
 * defined later. ptxas refuses a function that is declared without `.extern` and has no body, even
 * an unused one (measured), because the linker would find no definition. */
#include "toy/phases.h"

#include "diag/diag.h"
#include "ptx/declaration.h"
#include "ptx/module.h"
#include "language/opcode.h"

static bool say(const struct unit *unit, const struct ptx_item *item, const char *message)
{
    return diag_at(DIAG_ERROR, &(struct diag_place){.file = unit->module.file, .line = item->line},
                   "%s", message);
}

/* `format` has a place for the item's name. */
static bool fail(struct unit *unit, const struct ptx_item *item, const char *format)
{
    return say(unit, item, arena_printf(&unit->arena, format, TEXT_ARG(item->name)));
}

static bool add_item(struct unit *unit, const struct ptx_item *item)
{
    struct scope *scope = &unit->scope;
    if (item->name.data[0] == '%' && words_find(&special_words, item->name))
        return fail(unit, item, "Inconsistent redefinition of variable '%.*s'");
    uint32_t index = table_add(&scope->names, item->name, (uint32_t)scope->count);
    struct global *global = &scope->globals[index];
    bool is_function = item->kind == PTX_FUNCTION;
    if (index == scope->count) {
        *global = (struct global){.name = item->name,
                                  .item = item,
                                  .first = item->text.data,
                                  .target = global,
                                  .is_function = is_function,
                                  .is_defined = item->is_definition,
                                  .object = NO_INDEX};
        scope->count++;
        return true;
    }
    const char *fault = declaration_clash(&unit->arena, global->item, item);
    if (fault)
        return say(unit, item, fault);
    if (!item->is_definition)
        return true;
    global->item = item;
    global->is_defined = true;
    return true;
}

static bool add_alias(struct unit *unit, const struct ptx_item *item)
{
    struct scope *scope = &unit->scope;
    struct global *alias = scope_find(scope, item->name);
    struct global *target = scope_find(scope, item->target);
    if (!alias || !alias->is_function)
        return fail(unit, item, "Alias '%.*s' is not declared as a function");
    if (alias->is_defined)
        return fail(unit, item, "Duplicate definition of '%.*s'");
    if (!target || !target->is_function || !target->is_defined || target->target != target)
        return fail(unit, item, "Alias '%.*s' stands for a function that is not defined");
    const struct ptx_item *function = target->item;
    if (function->function.is_entry || alias->item->function.is_entry)
        return fail(unit, item, "Cannot define alias to entry function '%.*s'");
    if (function->linkage == PTX_WEAK)
        return fail(unit, function, "Function '%.*s' with .weak scope cannot be aliased");
    const char *difference = declaration_difference(&alias->item->function, &function->function);
    if (difference)
        return say(unit, item,
                   arena_printf(&unit->arena,
                                "Mismatch in prototype of alias '%.*s' and aliasee '%.*s'. %s "
                                "differ(s)",
                                TEXT_ARG(item->name), TEXT_ARG(item->target), difference));
    alias->target = target;
    alias->is_defined = true;
    return true;
}

bool scope_build(struct unit *unit)
{
    const struct ptx_module *module = &unit->module;
    struct scope *scope = &unit->scope;
    bool is_good = true;
    for (size_t i = 0; i < module->item_count; i++) {
        const struct ptx_item *item = &module->items[i];
        if (item->kind == PTX_FUNCTION || item->kind == PTX_VARIABLE)
            is_good &= add_item(unit, item);
    }
    for (size_t i = 0; i < module->item_count; i++)
        if (module->items[i].kind == PTX_ALIAS)
            is_good &= add_alias(unit, &module->items[i]);
    for (size_t i = 0; i < scope->count; i++) {
        const struct global *global = &scope->globals[i];
        if (global->is_function && !global->is_defined && global->item->linkage != PTX_EXTERN)
            is_good &= fail(unit, global->item, "Unresolved extern function '%.*s'");
    }
    return is_good;
}

struct global *scope_find(const struct scope *scope, struct text name)
{
    uint32_t index = table_find(&scope->names, name);
    return index >= scope->count ? NULL : &scope->globals[index];
}

struct global *scope_used_function(const struct scope *scope, const struct body_symbol *symbol,
                                   unsigned uses)
{
    return symbol->is_function && (symbol->uses & uses) ? &scope->globals[symbol->global] : NULL;
}

bool scope_lookup(const void *argument, struct body_symbol *symbol)
{
    const struct scope *scope = argument;
    const struct global *global = scope_find(scope, symbol->name);
    if (!global)
        return false;
    symbol->global = (uint32_t)(global - scope->globals);
    symbol->is_function = global->is_function;
    symbol->space = PTX_SPACE_GLOBAL;
    if (!global->is_function)
        symbol->space = ptx_type_is_opaque(global->item->variable.type)
                            ? (uint8_t)PTX_SPACE_TEX
                            : global->item->variable.space;
    return true;
}
