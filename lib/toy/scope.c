/* scope.c: the names of a module, and which of its functions are compiled.
 *
 * Declarations and definitions of one name are one entry: PTX declares names before use and may
 * repeat declarations; a variable may be `.extern` first and defined later. ptxas refuses a
 * function that is declared without `.extern` and has no body, even an unused one (measured),
 * because the linker would find no definition.
 *
 * What is compiled, measured on ptxas: without -c, functions that no kernel reaches are dropped
 * regardless of linkage, but under -g all are kept. With -c, --entry changes nothing, but the names
 * must exist (those of variables are accepted). Without -c, ptxas crashes on an alias or a
 * variable. ptxas also drops functions that only initial values refer to; here they are kept, since
 * the reference has to be written. */
#include "toy/internal.h"

#include "language/syntax.h"
#include "ptx/declaration.h"
#include "ptx/lexer.h"

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

/* Functions whose bodies have not been looked through yet. */
struct walk {
    const struct scope *scope;
    struct global **work;
    size_t work_count;
};

static void select_function(struct walk *walk, struct global *global)
{
    struct global *target = global->target;
    bool is_new = !target->is_selected && target->is_defined;

    target->is_selected = true;
    global->is_selected = true;
    if (is_new)
        walk->work[walk->work_count++] = target;
}

/* A local name that hides a name of the module is taken for it: selecting one function too many
 * does no harm. */
static void select_named(struct walk *walk, struct text text)
{
    struct lexer lexer = lexer_at(text, 0);

    for (struct token token; (token = lexer_next(&lexer)).kind != TOKEN_END;) {
        if (token.kind != TOKEN_WORD)
            continue;
        struct global *global = scope_find(walk->scope, lexer_text(&lexer, token));
        if (global && global->is_function)
            select_function(walk, global);
    }
}

static bool select_entries(struct walk *walk, const struct unit *unit)
{
    bool ok = true;

    for (struct text list = unit->switches.entries, word; text_take_part(&list, &word);) {
        struct global *global = scope_find(&unit->scope, word);

        if (global->is_function && global->is_defined && global->item->function.is_entry)
            select_function(walk, global);
        else
            ok = diag_error("Entry function '%.*s' not found", TEXT_ARG(word));
    }
    return ok;
}

/* Whether it is selected although nothing has named it: kernels without --entry, and functions that
 * a later link may call. */
static bool is_root(const struct unit *unit, const struct global *global)
{
    if (!global->is_function)
        return false;
    if (global->item->function.is_entry)
        return unit->switches.entries.size == 0;
    return unit->mode == MODE_EXTENSIBLE_WHOLE_PROGRAM && global->is_defined &&
           global->item->linkage != PTX_INTERNAL;
}

static bool select_program(struct unit *unit)
{
    struct walk walk = {.scope = &unit->scope,
                        .work = arena_alloc(&unit->arena, unit->scope.count, sizeof *walk.work)};

    if (!select_entries(&walk, unit))
        return false;
    for (size_t i = 0; i < unit->scope.count; i++)
        if (is_root(unit, &unit->scope.globals[i]))
            select_function(&walk, &unit->scope.globals[i]);
    for (size_t i = 0; i < unit->module.item_count; i++) /* variables are never dropped */
        if (unit->module.items[i].kind == PTX_VARIABLE)
            select_named(&walk, unit->module.items[i].variable.initialiser);
    while (walk.work_count)
        select_named(&walk, walk.work[--walk.work_count]->item->function.body);
    for (size_t i = 0; i < unit->scope.count; i++) {
        struct global *global = &unit->scope.globals[i];

        if (!global->is_function || global->is_selected)
            continue;
        global->is_defined = false;
        global->target = global;
    }
    return true;
}

bool scope_select(struct unit *unit)
{
    bool is_program =
        unit->mode == MODE_WHOLE_PROGRAM || unit->mode == MODE_EXTENSIBLE_WHOLE_PROGRAM;

    for (struct text list = unit->switches.entries, word; text_take_part(&list, &word);)
        if (!scope_find(&unit->scope, word))
            return diag_fatal("Unknown function %.*s", TEXT_ARG(word));
    return !is_program || unit->job.debug || unit->switches.debug || select_program(unit);
}
