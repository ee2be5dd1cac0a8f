/* entries.c: selects the functions of a whole program.
 *
 * Measured on ptxas: without -c, functions that no kernel reaches are dropped regardless of
 * linkage, but under -g all are kept. With -c, --entry changes nothing, but the names must exist
 * (those of variables are accepted). Without -c, ptxas crashes on an alias or a variable. ptxas
 * also drops functions that only initial values refer to; here they are kept, since the reference
 * has to be written. */
#include "toy/phases.h"

#include "diag/diag.h"
#include "ptx/lexer.h"
#include "ptx/module.h"

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

static bool check_names(const struct unit *unit)
{
    for (struct text list = unit->switches.entries, word; text_take_part(&list, &word);)
        if (!scope_find(&unit->scope, word))
            return diag_fatal("Unknown function %.*s", TEXT_ARG(word));
    return true;
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

bool entries_select(struct unit *unit)
{
    bool is_program =
        unit->mode == MODE_WHOLE_PROGRAM || unit->mode == MODE_EXTENSIBLE_WHOLE_PROGRAM;

    return check_names(unit) &&
           (!is_program || unit->job->debug || unit->switches.debug || select_program(unit));
}
