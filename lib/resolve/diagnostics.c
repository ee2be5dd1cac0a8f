/* diagnostics.c: the same notes as for PTX (ptx/check.c), as far as cubins have the data. */
#include "resolve/internal.h"

#include "diag/symbol_names.h"
#include "input/member.h"
#include "ptx/program.h"

struct explainer {
    const struct merging *m;
    const uint32_t *symbols; /* that are missing */
    struct missing missing;  /* references by functions; by data, of which only the cubin is known,
                                MERGE_NONE */
};

/* Only references from live code and data count; debug sections name undefined symbols, too. */
static void add_references(struct explainer *explainer, const struct merging_walk *at)
{
    const struct merging *m = explainer->m;
    const struct cubin_section *list = at->section;
    uint32_t by;

    if (list->relocation_count == 0 ||
        !(m->cubins[at->file]->sections[list->info].flags & SHF_ALLOC))
        return;
    by = merging_owner(m, at->file, list->info);
    for (size_t i = 0; i < list->relocation_count && (by == MERGE_NONE || m->is_live[by]); i++) {
        uint32_t symbol = merging_symbol(m, at->file, list->relocations[i].symbol);

        if (symbol != MERGE_NONE)
            missing_refer(&explainer->missing,
                          &(struct missing_reference){symbol, (uint32_t)at->file, by});
    }
}

static void find_names(struct explainer *explainer, size_t count)
{
    const struct merging *m = explainer->m;

    missing_begin(&explainer->missing, m->symbol_count);
    for (size_t i = 0; i < count; i++)
        explainer->missing.is_missing[explainer->symbols[i]] = true;
    for (uint32_t i = 0; i < m->symbol_count; i++) {
        const struct merged_symbol *symbol = &m->symbols[i];

        if (symbol->file != MERGE_NONE &&
            (symbol->type == STT_FUNC || symbol->type == STT_CUDA_OBJECT))
            missing_define(&explainer->missing, i, symbol->name);
    }
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_RELOCATIONS);)
        add_references(explainer, &at);
}

static void note_reference(void *argument, const struct missing_reference *reference)
{
    struct explainer *explainer = argument;
    const struct merging *m = explainer->m;
    struct missing *missing = &explainer->missing;
    const char *file = m->cubins[reference->file]->name;
    const char *name = missing_say(missing, m->symbols[reference->symbol].name);

    if (reference->by == MERGE_NONE)
        missing_note(missing, NULL, "data of '%s' refers to %s", file, name);
    else
        missing_note(missing, NULL, "%s of '%s' refers to %s",
                     missing_say(missing, m->symbols[reference->by].name), file, name);
}

static bool note_similar(void *argument, uint32_t symbol, uint32_t definition)
{
    struct explainer *explainer = argument;
    const struct merging *m = explainer->m;
    const struct merged_symbol *other = &m->symbols[definition];

    if (other->type != m->symbols[symbol].type)
        return false;
    missing_note(&explainer->missing, NULL, "%s is defined in '%s', %s",
                 missing_say(&explainer->missing, other->name), m->cubins[other->file]->name,
                 other->binding == STB_LOCAL
                     ? "but local to it"
                     : missing_difference(m->symbols[symbol].name, other->name));
    return true;
}

static void explain(void *argument, size_t i)
{
    struct explainer *explainer = argument;
    uint32_t symbol = explainer->symbols[i];

    missing_explain(&explainer->missing, symbol, MISSING_NONE, explainer->m->symbols[symbol].name);
}

static void report(void *argument, size_t i)
{
    const struct explainer *explainer = argument;
    const struct merged_symbol *symbol = &explainer->m->symbols[explainer->symbols[i]];

    diag_refusal("Undefined reference to '%.*s' in '%s'", TEXT_ARG(symbol->name),
                 explainer->m->cubins[symbol->first_file]->name);
}

static void report_undefined(const struct merging *m, const uint32_t *symbols, size_t count)
{
    struct explainer explainer = {.m = m, .symbols = symbols};
    struct missing *missing = &explainer.missing;
    size_t explained = diag_room() < count ? diag_room() : count;
    struct text *names;

    missing->words =
        (struct missing_words){&explainer, report, explain, note_reference, note_similar};
    CONTEXT_DEFER(arena_cleanup, &missing->arena);
    names = arena_alloc(&missing->arena, explained, sizeof *names);
    for (size_t i = 0; i < explained; i++)
        names[i] = m->symbols[symbols[i]].name;
    find_names(&explainer, explained);
    missing_report(
        missing, count, explained,
        members_explain_undefined(m->request->members, names, explained, &missing->arena));
}

static bool is_missing_symbol(const struct merging *m, uint32_t index)
{
    const struct merged_symbol *symbol = &m->symbols[index];

    if (symbol->file != MERGE_NONE || symbol->common_alignment)
        return false;
    if (symbol->type == STT_FUNC)
        return m->is_live[index] && !program_driver_provides(symbol->name);
    /* The launch gives the size of an unsized shared array (measured). */
    return merged_is_data(symbol, STO_CUDA_GLOBAL) || merged_is_data(symbol, STO_CUDA_CONST) ||
           (merged_is_data(symbol, STO_CUDA_SHARED) && symbol->size > 0);
}

bool diagnostics_undefined(struct merging *m)
{
    uint32_t *missing = arena_alloc(&m->arena, m->symbol_count, sizeof *missing);
    size_t count = 0;

    for (uint32_t i = 0; i < m->symbol_count; i++)
        if (is_missing_symbol(m, i))
            missing[count++] = i;
    if (count)
        report_undefined(m, missing, count);
    return count == 0;
}

/* Notes the demangled name, if it differs. */
static void note_name(const struct merging *m, struct text name)
{
    const char *shown = symbol_names_shown(&name, 1, &m->image->arena)[0];

    if (*shown != '\'')
        diag_note("that is %s", shown);
}

void diagnostics_again(struct merging *m, struct text name, size_t file, size_t first)
{
    bool explains = diag_room() > 0;
    const char *here = m->cubins[file]->name;

    MERGING_ERROR(m, "Multiple definition of '%.*s' in '%s', first defined in '%s'", TEXT_ARG(name),
                  here, m->cubins[first]->name);
    if (explains)
        note_name(m, name);
    if (explains && strcmp(here, m->cubins[first]->name) == 0)
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
                      size_t input, bool had_failed)
{
    struct bytes one = contents_of(m, file, input);
    struct bytes other = contents_of(m, symbol->file, symbol->input);
    uint64_t size = m->cubins[file]->symbols[input].size;

    if (m->cubins[file]->symbols[input].section == SECTION_COMMON || size != symbol->size ||
        one.size != other.size || diag_room() == 0 ||
        (one.size > 0 && memcmp(one.data, other.data, one.size) != 0))
        return;
    diag_note("both are the same %llu bytes%s", (unsigned long long)size,
              had_failed ? ""
                         : ": link one of the two files only; what a header defines must be "
                           "inline or static, or extern and defined in one file");
}

void diagnostics_kernel(struct merging *m, const struct merged_symbol *function, size_t file,
                        bool is_kernel)
{
    MERGING_ERROR(m, "Function %s not declared __global__ in all source files",
                  symbol_names_quoted(function->name, &m->image->arena));
    diag_note("it is %s in '%s', and %s in '%s'", is_kernel ? "__global__" : "__device__",
              m->cubins[file]->name, is_kernel ? "__device__" : "__global__",
              m->cubins[function->first_file]->name);
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

static void note_prototype(const struct merging *m, size_t file, struct text prototype)
{
    LOCAL_BUFFER(shown);

    put_prototype(prototype, &shown);
    diag_note("'%s' has it as .func %.*s", m->cubins[file]->name, TEXT_ARG(buffer_view(&shown)));
}

void diagnostics_prototype(struct merging *m, const struct merged_symbol *function, size_t file,
                           struct text prototype, size_t other, struct text other_prototype)
{
    bool explains = diag_room() > 0;
    uint32_t first = function->file == MERGE_NONE ? function->first_file : function->file;

    MERGING_ERROR(m, "Prototype doesn't match for '%.*s' in '%s', first defined in '%s'",
                  TEXT_ARG(function->name), m->cubins[file]->name, m->cubins[first]->name);
    if (!explains)
        return;
    note_name(m, function->name);
    note_prototype(m, file, prototype);
    note_prototype(m, other, other_prototype);
}
