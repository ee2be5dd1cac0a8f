/* diagnostics.c: the same notes as for PTX (ptx/diagnostics.c), as far as cubins have the data. */
#include "resolve/resolve_steps.h"

#include "cubin/tool_note.h"
#include "diag/diag.h"
#include "diag/missing.h"
#include "diag/symbol_names.h"
#include "input/contents.h"

/* Most notes of each kind under one message. */
#define MOST_NOTES 3u

struct explainer {
    const struct merging *m;
    struct arena arena;
    struct referrers referrers; /* functions; for data, of which only the cubin is known,
                                   MERGE_NONE */
    struct text *bases;         /* of the names of definitions, by symbol; else empty */
    struct symbol_names names;
};

static void add_referrer(struct explainer *explainer, size_t file, const struct cubin_section *list,
                         uint32_t symbol)
{
    uint32_t by = merging_owner(explainer->m, file, list->info);

    if (by == MERGE_NONE || explainer->m->is_live[by])
        referrers_add(&explainer->referrers, &explainer->arena,
                      (struct referrer){symbol, (uint32_t)file, by});
}

/* Only references from code and data count, although debug sections also name undefined symbols. */
static void find_symbol_references(struct explainer *explainer, const uint32_t *symbols,
                                   size_t count)
{
    const struct merging *m = explainer->m;
    bool *is_missing = arena_zalloc(&explainer->arena, m->symbol_count, sizeof *is_missing);

    for (size_t i = 0; i < count; i++)
        is_missing[symbols[i]] = true;
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_ANY);) {
        const struct cubin *cubin = m->cubins[at.file];

        for (size_t i = 0; i < at.section->relocation_count; i++) {
            uint32_t symbol = merging_symbol(m, at.file, at.section->relocations[i].symbol);

            if (symbol != MERGE_NONE && is_missing[symbol] &&
                (cubin->sections[at.section->info].flags & SHF_ALLOC))
                add_referrer(explainer, at.file, at.section, symbol);
        }
    }
    referrers_sort(&explainer->referrers);
}

static bool is_definition(const struct merged_symbol *symbol)
{
    return symbol->file != MERGE_NONE &&
           (symbol->type == STT_FUNC || symbol->type == STT_CUDA_OBJECT);
}

static void find_symbol_bases(struct explainer *explainer)
{
    const struct merging *m = explainer->m;

    explainer->bases = arena_zalloc(&explainer->arena, m->symbol_count, sizeof *explainer->bases);
    for (size_t i = 0; i < m->symbol_count; i++)
        if (is_definition(&m->symbols[i]))
            explainer->bases[i] = symbol_names_base(m->symbols[i].name, &explainer->arena);
}

static const char *say_symbol_name(struct explainer *explainer, uint32_t symbol)
{
    return symbol_names_say(&explainer->names, explainer->m->symbols[symbol].name,
                            &explainer->arena);
}

static void note(const struct explainer *explainer, const char *format, const char *first,
                 const char *second, const char *third)
{
    if (explainer->names.shown)
        diag_note(format, first, second, third);
}

static void explain_symbol_references(struct explainer *explainer, uint32_t symbol)
{
    const struct merging *m = explainer->m;
    const struct referrers *referrers = &explainer->referrers;
    size_t count = 0;

    for (size_t i = referrers_first(referrers, symbol, 0);
         i < referrers->count && referrers->list[i].symbol == symbol; i++) {
        const struct referrer *reference = &referrers->list[i];
        const char *file = m->cubins[reference->file]->name;

        if (++count > MOST_NOTES)
            continue;
        if (reference->by == MERGE_NONE) {
            note(explainer, "data of '%s' refers to %s%s", file, say_symbol_name(explainer, symbol),
                 "");
        } else {
            const char *by = say_symbol_name(explainer, reference->by);

            note(explainer, "%s of '%s' refers to %s", by, file,
                 say_symbol_name(explainer, symbol));
        }
    }
    if (count > MOST_NOTES && explainer->names.shown)
        diag_note("so do %zu more", count - MOST_NOTES);
}

/* Notes definitions of the same kind with similar names. */
static void explain_near_symbols(struct explainer *explainer, uint32_t symbol)
{
    const struct merging *m = explainer->m;
    struct text name = m->symbols[symbol].name, base = symbol_names_base(name, &explainer->arena);
    size_t count = 0;

    for (uint32_t at = 0; at < m->symbol_count && count < MOST_NOTES && base.size > 0; at++) {
        const struct merged_symbol *other = &m->symbols[at];

        if (at == symbol || !text_equal(explainer->bases[at], base) ||
            other->type != m->symbols[symbol].type)
            continue;
        count++;
        note(explainer, "%s is defined in '%s', %s", say_symbol_name(explainer, at),
             m->cubins[other->file]->name,
             other->binding == STB_LOCAL ? "but local to it"
                                         : missing_difference(name, other->name));
    }
}

static void explain(struct explainer *explainer, uint32_t symbol)
{
    explain_symbol_references(explainer, symbol);
    explain_near_symbols(explainer, symbol);
}

void diagnostics_undefined(const struct merging *m, const uint32_t *symbols, size_t count)
{
    struct explainer explainer = {.m = m};
    size_t explained = diag_room() < count ? diag_room() : count;
    const char **elsewhere;
    struct text *names;

    if (count == 0)
        return;
    CONTEXT_DEFER(arena_cleanup, &explainer.arena);
    names = arena_alloc(&explainer.arena, explained, sizeof *names);
    for (size_t i = 0; i < explained; i++)
        names[i] = m->symbols[symbols[i]].name;
    elsewhere = contents_explain_undefined(m->request->members, names, explained, &explainer.arena);
    find_symbol_references(&explainer, symbols, explained);
    find_symbol_bases(&explainer);
    for (size_t i = 0; i < explained; i++)
        explain(&explainer, symbols[i]);
    symbol_names_find(&explainer.names, &explainer.arena);
    for (size_t i = 0; i < count; i++) {
        const struct merged_symbol *symbol = &m->symbols[symbols[i]];

        diag_refusal("Undefined reference to '%.*s' in '%s'", TEXT_ARG(symbol->name),
                     m->cubins[symbol->first_file]->name);
        if (i >= explained)
            continue;
        explain(&explainer, symbols[i]);
        if (elsewhere[i])
            diag_note("%s", elsewhere[i]);
    }
}

/* Notes the demangled name, if it differs. */
static void note_name(const struct merging *m, struct text name)
{
    const char *shown = symbol_names_shown(&name, 1, &m->image->arena)[0];

    if (*shown != '\'')
        diag_note("that is %s", shown);
}

void diagnostics_again(const struct merging *m, struct text name, const char *here,
                       const char *first)
{
    bool explains = diag_room() > 0;

    diag_error("Multiple definition of '%.*s' in '%s', first defined in '%s'", TEXT_ARG(name), here,
               first);
    if (explains)
        note_name(m, name);
    if (explains && strcmp(here, first) == 0)
        diag_note("'%s' is linked twice", here);
}

/* A function's code or a variable's bytes; empty for a zeroed variable. */
static struct bytes contents_of(const struct merging *m, size_t file, size_t input)
{
    const struct cubin *cubin = m->cubins[file];
    const struct cubin_symbol *symbol = &cubin->symbols[input];
    struct bytes none = {0}, part;

    if (symbol->section >= cubin->section_count || cubin->sections[symbol->section].has_no_bytes)
        return none;
    return bytes_slice(cubin->sections[symbol->section].data, symbol->value, symbol->size, &part)
               ? part
               : none;
}

void diagnostics_same(const struct merging *m, const struct merged_symbol *symbol, size_t file,
                      size_t input)
{
    struct bytes one = contents_of(m, file, input);
    struct bytes other = contents_of(m, symbol->file, symbol->input);
    uint64_t size = m->cubins[file]->symbols[input].size;

    if (m->cubins[file]->symbols[input].section == SECTION_COMMON || size != symbol->size ||
        one.size != other.size || diag_room() == 0 ||
        (one.size > 0 && memcmp(one.data, other.data, one.size) != 0))
        return;
    diag_note("both are the same %llu bytes%s", (unsigned long long)size,
              m->failed ? ""
                        : ": link one of the two files only; what a header defines must be "
                          "inline or static, or extern and defined in one file");
}

void diagnostics_kernel(const struct merging *m, struct text name, const char *here, bool is_kernel,
                        const char *first)
{
    diag_error("Function %s not declared __global__ in all source files",
               symbol_names_quoted(name, &m->image->arena));
    diag_note("it is %s in '%s', and %s in '%s'", is_kernel ? "__global__" : "__device__", here,
              is_kernel ? "__device__" : "__global__", first);
}

/* Measured: "#ilb24" returns 32 bits and takes 64 bits and 24 bytes. */
static bool put_type(struct text *prototype, struct buffer *out)
{
    static const char letters[] = "ihlfdx";
    static const char *const types[] = {".b32", ".f16", ".b64", ".f32", ".f64", ".b128"};
    const char *letter = prototype->size > 0 ? strchr(letters, prototype->data[0]) : NULL;
    size_t size = 1;

    if (prototype->size == 0 || !prototype->data[0])
        return false;
    if (letter) {
        buffer_string(out, types[letter - letters]);
    } else if (prototype->data[0] == 'b') {
        while (size < prototype->size && prototype->data[size] >= '0' &&
               prototype->data[size] <= '9')
            size++;
        buffer_printf(out, size > 1 ? ".b8[%.*s]" : ".b8", (int)size - 1, prototype->data + 1);
    } else if (prototype->data[0] != 'v') {
        return false;
    }
    *prototype = text_drop(*prototype, size);
    return true;
}

/* Appends "(.b32) (.b64, .b8[24])"; a string in another format is copied. */
static void put_prototype(struct text prototype, struct buffer *out)
{
    struct text rest = {prototype.data + 1, prototype.size - 1};
    size_t start;
    bool is_known = prototype.size > 1 && prototype.data[0] == '#';

    buffer_char(out, '(');
    is_known = is_known && put_type(&rest, out);
    buffer_string(out, ") (");
    for (start = out->size; is_known && rest.size > 0;) {
        if (out->size > start)
            buffer_string(out, ", ");
        is_known = put_type(&rest, out);
    }
    buffer_char(out, ')');
    if (is_known)
        return;
    out->size = 0;
    buffer_text(out, prototype);
}

static void note_prototype(const char *file, struct text prototype)
{
    struct buffer shown = {0};

    CONTEXT_DEFER(buffer_cleanup, &shown);
    put_prototype(prototype, &shown);
    diag_note("'%s' has it as .func %.*s", file, TEXT_ARG(buffer_view(&shown)));
}

void diagnostics_prototype(const struct merging *m, struct text name, const char *here,
                           const char *first, struct text prototype, const char *other,
                           struct text other_prototype)
{
    bool explains = diag_room() > 0;

    diag_error("Prototype doesn't match for '%.*s' in '%s', first defined in '%s'", TEXT_ARG(name),
               here, first);
    if (!explains)
        return;
    note_name(m, name);
    note_prototype(here, prototype);
    note_prototype(other, other_prototype);
}

/* Most functions of a recursion that are named. */
#define MOST_NAMED 8u

void diagnostics_recursion(struct merging *m, uint32_t kernel)
{
    const uint32_t *cycle;
    size_t count = reach_find_cycle(m, kernel, &cycle), named = 0;
    struct text names[MOST_NAMED];
    const char **shown;
    struct buffer line = {0};

    for (size_t i = 0; i < count && named < MOST_NAMED; i++)
        if (cycle[i] < m->symbol_count)
            names[named++] = m->symbols[cycle[i]].name;
    if (named == 0)
        return;
    shown = symbol_names_shown(names, named, &m->arena);
    CONTEXT_DEFER(buffer_cleanup, &line);
    for (size_t i = 0, at = 0; i < count && (at < named || cycle[i] >= m->symbol_count); i++)
        buffer_printf(&line, "%s -> ",
                      cycle[i] < m->symbol_count ? shown[at++] : "(a call through a pointer)");
    buffer_string(&line, named < MOST_NAMED ? shown[0] : "...");
    diag_note(
        "the reason is recursion: %.*s; cudaDeviceSetLimit(cudaLimitStackSize, ...) must allow "
        "for its depth",
        TEXT_ARG(buffer_view(&line)));
}

/* The command line of the tool that made a cubin, from its note; empty without one. */
static struct text tool_command(const struct cubin *cubin)
{
    struct bytes rest = cubin->sections[cubin_find_kind(cubin, KIND_TOOLS)].data;
    struct tool_note note = {0};

    tool_note_next(&rest, &note);
    while (note.command.size > 0 && note.command.data[note.command.size - 1] == ' ')
        note.command.size--;
    return note.command;
}

void diagnostics_registers(struct merging *m, uint32_t kernel, uint32_t callee)
{
    const struct merged_symbol *caller = &m->symbols[kernel], *called = &m->symbols[callee];
    const struct text names[] = {caller->name, called->name};
    const char **shown;
    unsigned limit = m->functions[kernel].most_registers;

    if (diag_room() == 0)
        return;
    shown = symbol_names_shown(names, 2, &m->arena);
    diag_note("%s of '%s', assembled with '%.*s', has its limit from there or from "
              "__launch_bounds__",
              shown[0], m->cubins[caller->file]->name,
              TEXT_ARG(tool_command(m->cubins[caller->file])));
    diag_note(
        "%s of '%s', assembled with '%.*s', must be compiled with -maxrregcount=%u or less, or "
        "the kernel with a higher limit; from PTX (-lto, -split-compile-extended) "
        "-Xptxas=-func-maxrregcount=%u makes it fit",
        shown[1], m->cubins[called->file]->name, TEXT_ARG(tool_command(m->cubins[called->file])),
        limit, limit);
}
