/* faults.c: the same notes as for PTX (ptx/faults.c), as far as cubins tell. */
#include "merge/faults.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/near_names.h"
#include "base/spoken.h"
#include "merge/merging_inputs.h"

/* Most notes of each kind under one message. */
#define MOST_NOTES 3u

/* A function whose code names a missing symbol; or a variable, of which is only known in which
 * cubin it is. */
struct reference {
    uint32_t symbol;
    uint32_t by; /* MERGE_NONE: data */
    uint32_t file;
};

struct explainer {
    const struct merging *m;
    struct arena arena;
    struct reference *references; /* sorted, each once */
    size_t reference_count, reference_capacity;
    struct near_names near; /* definitions, by symbol */
    const char *const *spoken;
    uint32_t *name_of; /* by symbol: its number in `spoken`, from 1; 0 = not said yet */
    struct text *names;
    size_t name_count, name_capacity;
};

static void free_explainer(void *argument)
{
    struct explainer *explainer = argument;

    near_names_free(&explainer->near);
    free(explainer->references);
    free(explainer->names);
    arena_free(&explainer->arena);
}

static int compare_references(const void *left, const void *right)
{
    const struct reference *a = left, *b = right;

    if (a->symbol != b->symbol)
        return a->symbol < b->symbol ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->by < b->by ? -1 : a->by > b->by;
}

static void add_reference(struct explainer *explainer, size_t file,
                          const struct cubin_section *list, uint32_t symbol)
{
    uint32_t by = merging_owner(explainer->m, file, list->info);
    size_t count = explainer->reference_count;
    const struct reference added = {symbol, by, (uint32_t)file};

    if (by != MERGE_NONE && !explainer->m->is_live[by])
        return;
    if (count > 0 && compare_references(&explainer->references[count - 1], &added) == 0)
        return;
    ARRAY_PUSH(explainer->references, explainer->reference_count, explainer->reference_capacity) =
        added;
}

/* The references come from code and data; debug sections name what is missing, too. */
static void find_references(struct explainer *explainer, const uint32_t *symbols, size_t count)
{
    const struct merging *m = explainer->m;
    bool *is_missing = arena_zalloc(&explainer->arena, m->symbol_count, sizeof *is_missing);
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        is_missing[symbols[i]] = true;
    for (struct merging_walk at = {0}; merging_next(m, &at);) {
        const struct cubin *cubin = m->cubins[at.file];

        for (size_t i = 0; i < at.section->relocation_count; i++) {
            uint32_t symbol = merging_symbol(m, at.file, at.section->relocations[i].symbol);

            if (symbol != MERGE_NONE && is_missing[symbol] &&
                (cubin->sections[at.section->info].flags & SHF_ALLOC))
                add_reference(explainer, at.file, at.section, symbol);
        }
    }
    if (explainer->reference_count == 0)
        return;
    qsort(explainer->references, explainer->reference_count, sizeof *explainer->references,
          compare_references);
    for (size_t i = 0; i < explainer->reference_count; i++)
        if (i == 0 ||
            compare_references(&explainer->references[i - 1], &explainer->references[i]) != 0)
            explainer->references[kept++] = explainer->references[i];
    explainer->reference_count = kept;
}

static bool is_definition(const struct merged_symbol *symbol)
{
    return symbol->file != MERGE_NONE &&
           (symbol->type == STT_FUNC || symbol->type == STT_CUDA_OBJECT);
}

static void find_bases(struct explainer *explainer)
{
    const struct merging *m = explainer->m;

    near_names_begin(&explainer->near, &explainer->arena, m->symbol_count);
    for (uint32_t i = (uint32_t)m->symbol_count; i-- > 0;)
        if (is_definition(&m->symbols[i]))
            near_names_add(&explainer->near, i, m->symbols[i].name);
}

static size_t first_reference(const struct explainer *explainer, uint32_t symbol)
{
    size_t low = 0, high = explainer->reference_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (explainer->references[middle].symbol < symbol)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Notes that the symbol's name will be said, or says it. */
static const char *say_name(struct explainer *explainer, uint32_t symbol)
{
    if (explainer->spoken)
        return explainer->spoken[explainer->name_of[symbol] - 1];
    if (explainer->name_of[symbol])
        return "";
    ARRAY_PUSH(explainer->names, explainer->name_count, explainer->name_capacity) =
        explainer->m->symbols[symbol].name;
    explainer->name_of[symbol] = (uint32_t)explainer->name_count;
    return "";
}

static void note(const struct explainer *explainer, const char *format, const char *first,
                 const char *second, const char *third)
{
    if (explainer->spoken)
        diag_note(format, first, second, third);
}

static void explain_references(struct explainer *explainer, uint32_t symbol)
{
    const struct merging *m = explainer->m;
    size_t first = first_reference(explainer, symbol), count = 0;

    for (size_t i = first;
         i < explainer->reference_count && explainer->references[i].symbol == symbol; i++) {
        const struct reference *reference = &explainer->references[i];
        const char *file = m->cubins[reference->file]->name;

        if (++count > MOST_NOTES)
            continue;
        if (reference->by == MERGE_NONE)
            note(explainer, "data of '%s' refers to %s%s", file, say_name(explainer, symbol), "");
        else
            note(explainer, "%s of '%s' refers to %s", say_name(explainer, reference->by), file,
                 say_name(explainer, symbol));
    }
    if (count > MOST_NOTES && explainer->spoken)
        diag_note("so do %zu more", count - MOST_NOTES);
}

/* Definitions of its kind that are almost the symbol. */
static void explain_near(struct explainer *explainer, uint32_t symbol)
{
    const struct merging *m = explainer->m;
    struct text name = m->symbols[symbol].name;
    size_t count = 0;

    for (uint32_t at = near_names_first(&explainer->near, name);
         at != NEAR_NONE && count < MOST_NOTES; at = near_names_next(&explainer->near, at)) {
        const struct merged_symbol *other = &m->symbols[at];

        if (at == symbol || other->type != m->symbols[symbol].type)
            continue;
        count++;
        note(explainer, "%s is defined in '%s', %s", say_name(explainer, at),
             m->cubins[other->file]->name,
             other->binding == STB_LOCAL ? "but local to it"
                                         : near_names_difference(name, other->name));
    }
}

static void explain(struct explainer *explainer, uint32_t symbol)
{
    explain_references(explainer, symbol);
    explain_near(explainer, symbol);
}

void faults_undefined(const struct merging *m, const uint32_t *symbols, size_t count)
{
    struct explainer explainer = {.m = m};
    struct context_cleanup cleanup;
    size_t explained = diag_room() < count ? diag_room() : count;

    if (count == 0)
        return;
    context_defer(&cleanup, free_explainer, &explainer);
    explainer.name_of = arena_zalloc(&explainer.arena, m->symbol_count, sizeof *explainer.name_of);
    find_references(&explainer, symbols, explained);
    find_bases(&explainer);
    /* First which names will be said, so that one child demangles them all. */
    for (size_t i = 0; i < explained; i++)
        explain(&explainer, symbols[i]);
    explainer.spoken = spoken_names(explainer.names, explainer.name_count, &explainer.arena);
    for (size_t i = 0; i < count; i++) {
        const struct merged_symbol *symbol = &m->symbols[symbols[i]];

        diag_error("Undefined reference to '%.*s' in '%s'", TEXT_ARG(symbol->name),
                   m->cubins[symbol->first_file]->name);
        if (i < explained)
            explain(&explainer, symbols[i]);
    }
    context_clean(&cleanup);
}

/* What a name stands for, where it stands for something. */
static void note_name(const struct merging *m, struct text name)
{
    const char *spoken = spoken_names(&name, 1, &m->image->arena)[0];

    if (*spoken != '\'')
        diag_note("that is %s", spoken);
}

void faults_again(const struct merging *m, struct text name, const char *here, const char *first)
{
    bool explains = diag_room() > 0;

    diag_error("Multiple definition of '%.*s' in '%s', first defined in '%s'", TEXT_ARG(name), here,
               first);
    if (explains)
        note_name(m, name);
    if (explains && strcmp(here, first) == 0)
        diag_note("'%s' is linked twice", here);
}

void faults_kernel(struct text name, const char *here, bool is_kernel, const char *first)
{
    diag_error("Function '%.*s' not declared __global__ in all source files", TEXT_ARG(name));
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
    *prototype = (struct text){prototype->data + size, prototype->size - size};
    return true;
}

/* "(.b32) (.b64, .b8[24])"; a string of another form as it is. */
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
    struct context_cleanup cleanup;

    context_defer(&cleanup, buffer_cleanup, &shown);
    put_prototype(prototype, &shown);
    diag_note("'%s' has it as .func %.*s", file, TEXT_ARG(buffer_view(&shown)));
    context_clean(&cleanup);
}

void faults_prototype(const struct merging *m, struct text name, const char *here,
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
