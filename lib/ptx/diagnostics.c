/* diagnostics.c: messages about symbols, with the notes that explain them.
 *
 * Look-ups for notes are made only for messages that are shown, and for all of these at once: one
 * pass over the program, and one child that demangles all names. */
#include <string.h>

#include "base/context.h"
#include "diag/demangle.h"
#include "diag/diag.h"
#include "diag/missing.h"
#include "diag/symbol_names.h"
#include "input/contents.h"
#include "ptx/link.h"
#include "ptx/module.h"
#include "ptx/source_place.h"

/* Most notes of each kind under one message. */
#define MOST_NOTES 3u

/* Most bytes of a prototype that are shown. */
#define LONGEST_HEAD 400u

struct explainer {
    struct arena arena;
    const struct program *program;
    struct referrers referrers; /* live symbols that name missing ones */
    struct text *bases;         /* of the names of definitions, by symbol; else empty */
    struct symbol_names names;
};

static void find_fault_references(struct explainer *explainer, const struct program_fault *faults,
                                  size_t count)
{
    const struct program *program = explainer->program;
    bool *is_missing = arena_zalloc(&explainer->arena, program->symbol_count, sizeof *is_missing);

    for (size_t i = 0; i < count; i++)
        is_missing[faults[i].entry->symbol] = faults[i].is_undefined;
    for (uint32_t i = 0; i < program->symbol_count; i++) {
        const struct program_symbol *symbol = &program->symbols[i];

        for (uint32_t j = 0; symbol->is_live && j < symbol->reference_count; j++)
            if (is_missing[symbol->references[j]])
                referrers_add(&explainer->referrers, &explainer->arena,
                              (struct referrer){symbol->references[j], symbol->module, i});
    }
    referrers_sort(&explainer->referrers);
}

static void find_program_bases(struct explainer *explainer)
{
    const struct program *program = explainer->program;

    explainer->bases =
        arena_zalloc(&explainer->arena, program->symbol_count, sizeof *explainer->bases);
    for (size_t i = 0; i < program->symbol_count; i++)
        if (program->symbols[i].is_defined)
            explainer->bases[i] =
                symbol_names_base(program->symbols[i].own_name, &explainer->arena);
}

static const char *say_program_name(struct explainer *explainer, struct text name)
{
    return symbol_names_say(&explainer->names, name, &explainer->arena);
}

/* Notes the symbols that refer to it in the message's module. */
static void explain_fault_references(struct explainer *explainer, const struct program_fault *fault)
{
    const struct program *program = explainer->program;
    const struct referrers *referrers = &explainer->referrers;
    size_t first = referrers_first(referrers, fault->entry->symbol, fault->module), count = 0;

    for (size_t i = first;
         i < referrers->count && referrers->list[i].symbol == fault->entry->symbol &&
         referrers->list[i].file == fault->module;
         i++) {
        const struct program_symbol *by = &program->symbols[referrers->list[i].by];
        struct diag_place place;
        const char *name, *meaning;

        if (++count > MOST_NOTES)
            continue;
        place = source_place(program->modules[by->module], by->item,
                             source_find(by->item, fault->entry->name), &explainer->arena);
        name = say_program_name(explainer, by->own_name);
        meaning = say_program_name(explainer, fault->entry->name);
        if (explainer->names.shown)
            diag_at(DIAG_NOTE, &place, "%s refers to %s", name, meaning);
    }
    if (count > MOST_NOTES && explainer->names.shown)
        diag_note("so do %zu more", count - MOST_NOTES);
}

/* Mangled names of static functions have an L: _ZL6helperi is static, _Z6helperi is not. */
static bool is_static_of(struct text name, struct text other)
{
    return name.size + 1 == other.size && other.size > 2 && other.data[2] == 'L' &&
           text_starts(other, TEXT("_Z")) && text_starts(name, TEXT("_Z")) &&
           text_equal((struct text){name.data + 2, name.size - 2},
                      (struct text){other.data + 3, other.size - 3});
}

static const char *difference_of_names(struct text name, struct text other)
{
    struct text part = demangle_part(other);

    if (text_equal(name, part) && other.size == part.size)
        return "but not .visible";
    if (text_equal(name, part) || is_static_of(name, part))
        return "but static";
    return missing_difference(name, other);
}

static void explain_near_faults(struct explainer *explainer, const struct program_fault *fault)
{
    const struct program *program = explainer->program;
    struct text name = fault->entry->name, base = symbol_names_base(name, &explainer->arena);
    size_t count = 0;

    for (uint32_t at = 0; at < program->symbol_count && count < MOST_NOTES && base.size > 0; at++) {
        const struct program_symbol *symbol = &program->symbols[at];
        const struct ptx_module *module = program->modules[symbol->module];
        struct diag_place place;
        const char *shown;

        if (at == fault->entry->symbol || !text_equal(explainer->bases[at], base) ||
            symbol->is_function != program->symbols[fault->entry->symbol].is_function)
            continue;
        count++;
        place = source_place(module, symbol->item, NULL, &explainer->arena);
        shown = say_program_name(explainer, symbol->own_name);
        if (explainer->names.shown)
            diag_at(DIAG_NOTE, &place, "%s is defined in '%s', %s", shown, module->file,
                    difference_of_names(name, symbol->own_name));
    }
}

/* The function's head on one line, as in ".func (.param .b32 r) f (.param .b32 a)". */
static const char *head_text(struct explainer *explainer, const struct ptx_item *item)
{
    struct text head = item->function.head;
    bool is_cut = head.size > LONGEST_HEAD;
    char *text;
    size_t size = 0;

    if (is_cut)
        head.size = LONGEST_HEAD;
    text = arena_alloc(&explainer->arena, head.size, 1);
    for (size_t i = 0; i < head.size; i++) {
        bool is_blank = strchr(" \t\r\n", head.data[i]) != NULL;

        if (!is_blank)
            text[size++] = head.data[i];
        else if (size > 0 && text[size - 1] != ' ')
            text[size++] = ' ';
    }
    while (size > 0 && text[size - 1] == ' ')
        size--;
    return arena_printf(&explainer->arena, "%.*s%s", (int)size, text, is_cut ? "..." : "");
}

static void explain_prototype(struct explainer *explainer, const struct ptx_item *item,
                              uint32_t module)
{
    const struct diag_place place = {.file = explainer->program->modules[module]->file,
                                     .line = item->line};
    const char *name = say_program_name(explainer, item->name);

    if (explainer->names.shown)
        diag_at(DIAG_NOTE, &place, "%s is %s as %s", name,
                item->is_definition ? "defined" : "declared", head_text(explainer, item));
}

static void explain_fault(struct explainer *explainer, const struct program_fault *fault)
{
    const struct program_symbol *symbol = &explainer->program->symbols[fault->entry->symbol];

    if (fault->is_undefined) {
        explain_fault_references(explainer, fault);
        explain_near_faults(explainer, fault);
    } else {
        explain_prototype(explainer, fault->entry->item, fault->module);
        explain_prototype(explainer, symbol->item, symbol->module);
    }
}

/* For each fault: the unused host object that defines the missing symbol, or NULL. */
static const char **find_elsewhere(struct explainer *explainer, const struct program_fault *faults,
                                   size_t count, const struct members *members)
{
    struct text *names = arena_alloc(&explainer->arena, count, sizeof *names);
    const char **elsewhere = arena_zalloc(&explainer->arena, count, sizeof *elsewhere);
    const char **notes;
    size_t missing = 0;

    for (size_t i = 0; i < count; i++)
        if (faults[i].is_undefined)
            names[missing++] = faults[i].entry->name;
    notes = contents_explain_undefined(members, names, missing, &explainer->arena);
    for (size_t i = 0; i < count; i++)
        if (faults[i].is_undefined)
            elsewhere[i] = *notes++;
    return elsewhere;
}

static void report_fault(const struct program *program, const struct program_fault *fault)
{
    const struct program_symbol *symbol = &program->symbols[fault->entry->symbol];
    uint32_t first = symbol->module < fault->module ? symbol->module : fault->module;
    uint32_t second = symbol->module < fault->module ? fault->module : symbol->module;

    if (fault->is_undefined)
        diag_refusal("Undefined reference to '%.*s' in '%s'", TEXT_ARG(fault->entry->name),
                     program->modules[fault->module]->file);
    else
        diag_error("Prototype doesn't match for '%.*s' in '%s', first defined in '%s'",
                   TEXT_ARG(fault->entry->name), program->modules[second]->file,
                   program->modules[first]->file);
}

void diagnostics_report(const struct program *program, const struct program_fault *faults,
                        size_t count, const struct members *members)
{
    struct explainer explainer = {.program = program};
    const char **elsewhere;
    size_t explained = diag_room() < count ? diag_room() : count;

    if (count == 0)
        return;
    CONTEXT_DEFER(arena_cleanup, &explainer.arena);
    find_fault_references(&explainer, faults, explained);
    find_program_bases(&explainer);
    elsewhere = find_elsewhere(&explainer, faults, explained, members);
    for (size_t i = 0; i < explained; i++)
        explain_fault(&explainer, &faults[i]);
    symbol_names_find(&explainer.names, &explainer.arena);
    for (size_t i = 0; i < count; i++) {
        report_fault(program, &faults[i]);
        if (i >= explained)
            continue;
        explain_fault(&explainer, &faults[i]);
        if (elsewhere[i])
            diag_note("%s", elsewhere[i]);
    }
}

void diagnostics_report_again(const struct program *program, const struct ptx_item *first,
                              uint32_t first_module, const struct ptx_item *second,
                              uint32_t second_module)
{
    bool explains = diag_room() > 0;
    struct explainer explainer = {.program = program};
    struct diag_place here, there;
    const char *name;

    diag_error("Multiple definition of '%.*s' in '%s', first defined in '%s'",
               TEXT_ARG(second->name), program->modules[second_module]->file,
               program->modules[first_module]->file);
    if (!explains)
        return;
    CONTEXT_DEFER(arena_cleanup, &explainer.arena);
    name = symbol_names_shown(&second->name, 1, &explainer.arena)[0];
    here = source_place(program->modules[second_module], second, NULL, &explainer.arena);
    there = source_place(program->modules[first_module], first, NULL, &explainer.arena);
    if (here.line == there.line && strcmp(here.file, there.file) == 0) {
        diag_at(DIAG_NOTE, &here, "%s is defined here, and '%s' is linked twice", name,
                program->modules[first_module]->file);
    } else {
        diag_at(DIAG_NOTE, &here, "%s is defined here", name);
        diag_at(DIAG_NOTE, &there, "and first here, in '%s'", program->modules[first_module]->file);
        if (text_equal(first->text, second->text))
            diag_note("both are the same text: link one of the two files only; what a header "
                      "defines must be inline or static, or extern and defined in one file");
    }
}

static void note_kind(const struct program *program, const struct ptx_item *item, uint32_t module)
{
    const struct diag_place place = {.file = program->modules[module]->file, .line = item->line};

    diag_at(DIAG_NOTE, &place, "'%.*s' is %s here (%s)", TEXT_ARG(item->name),
            item->function.is_entry ? "__global__" : "__device__",
            item->function.is_entry ? ".entry" : ".func");
}

void diagnostics_report_kernel(const struct program *program, const struct ptx_item *first,
                               uint32_t first_module, const struct ptx_item *second,
                               uint32_t second_module)
{
    struct arena arena = {0};

    CONTEXT_DEFER(arena_cleanup, &arena);
    diag_error("Function %s not declared __global__ in all source files",
               symbol_names_quoted(second->name, &arena));
    note_kind(program, second, second_module);
    note_kind(program, first, first_module);
}
