/* missing.c: collects references and names; what is similar is searched for. */
#include "diag/symbol_names.h"

#include "base/search.h"

/* Most notes of each kind under one message. */
#define MOST_NOTES 3u

COMPARISON(compare_references, struct missing_reference,
           COMPARE(a->symbol, b->symbol) ?: COMPARE(a->file, b->file) ?: COMPARE(a->by, b->by));

void missing_begin(struct missing *missing, size_t count)
{
    missing->is_missing = arena_zalloc(&missing->arena, count, sizeof *missing->is_missing);
    missing->bases = arena_zalloc(&missing->arena, count, sizeof *missing->bases);
    missing->symbol_count = count;
}

void missing_define(struct missing *missing, uint32_t symbol, struct text name)
{
    missing->bases[symbol] = symbol_names_base(name, &missing->arena);
}

void missing_refer(struct missing *missing, const struct missing_reference *reference)
{
    size_t count = missing->reference_count;

    /* References to a symbol from one place are often adjacent. */
    if (missing->is_missing[reference->symbol] &&
        (count == 0 || compare_references(&missing->references[count - 1], reference) != 0))
        ARENA_PUSH(&missing->arena, missing->references, missing->reference_count,
                   missing->reference_capacity) = *reference;
}

static void sort_references(struct missing *missing)
{
    struct missing_reference *list = missing->references;
    size_t kept = 0;

    SORT(list, missing->reference_count, compare_references);
    for (size_t i = 0; i < missing->reference_count; i++)
        if (kept == 0 || compare_references(&list[kept - 1], &list[i]) != 0)
            list[kept++] = list[i];
    missing->reference_count = kept;
}

void missing_report(struct missing *missing, size_t count, size_t explained,
                    const char *const *elsewhere)
{
    sort_references(missing);
    for (size_t i = 0; i < explained; i++)
        missing->words.explain(missing->words.argument, i);
    missing->shown = symbol_names_shown(missing->names, missing->name_count, &missing->arena);
    for (size_t i = 0; i < count; i++) {
        missing->words.report(missing->words.argument, i);
        if (i >= explained)
            continue;
        missing->words.explain(missing->words.argument, i);
        if (elsewhere[i])
            diag_note("%s", elsewhere[i]);
    }
}

void missing_explain(struct missing *missing, uint32_t symbol, uint32_t file, struct text name)
{
    const struct missing_reference key = {symbol, file == MISSING_NONE ? 0 : file, 0};
    const struct missing_reference *list = missing->references;
    struct text base = symbol_names_base(name, &missing->arena);
    size_t first =
        SEARCH_FIRST_NOT(missing->reference_count, at, compare_references(&list[at], &key) < 0);
    size_t count = 0, nears = 0;

    for (size_t i = first; i < missing->reference_count && list[i].symbol == symbol &&
                           (file == MISSING_NONE || list[i].file == file);
         i++)
        if (++count <= MOST_NOTES)
            missing->words.refer(missing->words.argument, &list[i]);
    if (count > MOST_NOTES)
        missing_note(missing, NULL, "so do %zu more", count - MOST_NOTES);
    for (uint32_t i = 0; base.size > 0 && i < missing->symbol_count && nears < MOST_NOTES; i++)
        nears += i != symbol && text_equal(missing->bases[i], base) &&
                 missing->words.resemble(missing->words.argument, symbol, i);
}

const char *missing_say(struct missing *missing, struct text name)
{
    if (missing->shown)
        return missing->shown[missing->said++];
    ARENA_PUSH(&missing->arena, missing->names, missing->name_count, missing->name_capacity) = name;
    return "";
}

void missing_note(struct missing *missing, const struct diag_place *place, const char *format, ...)
{
    va_list arguments;

    if (!missing->shown)
        return;
    va_start(arguments, format);
    diag_at(DIAG_NOTE, place, "%s", arena_vprintf(&missing->arena, format, arguments));
    va_end(arguments);
}

const char *missing_difference(struct text missing, struct text defined)
{
    bool is_c = !text_starts(missing, TEXT("_Z"));
    bool is_other_c = !text_starts(symbol_names_part(defined), TEXT("_Z"));

    if (is_c == is_other_c)
        return "with other parameters";
    return is_c ? "as C++ does: is an extern \"C\" missing?" : "as C does (extern \"C\")";
}
