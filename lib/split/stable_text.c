/* stable_text.c: writes a symbol's text with its marks replaced.
 *
 * Names are the stable ones (naming.c). Files are numbered by first appearance in the chunk, labels
 * by first appearance in the function; strings are named by their contents, and comments are left
 * out. Lines stay where they are, for chunk_origin. File numbers rise without a gap, since ptxas
 * treats them as indexes into its table (measured). */
#include "split/chunk_steps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/memory.h"
#include "base/search.h"
#include "base/table.h"
#include "ptx/lexer.h"
#include "ptx/module.h"

/* The strings of a module's sections. */
struct strings {
    struct table labels;
    struct text *contents; /* of each label: ".b8 95,90,0" */
    size_t count;
    bool is_odd; /* a section has contents other than labels, each with numbers after it */
};

struct stable_text {
    const struct plan *plan;
    uint32_t *order; /* see stable_text_order */
    struct strings *modules;
    uint32_t *numbers; /* of each file in this chunk; 0 = not named yet */
    uint32_t *files;   /* the named files, in order of their numbers */
    uint32_t file_count;
    struct table names;   /* of strings in this chunk, to indices in `strings` */
    struct text *strings; /* malloc'ed: contents */
    struct text *labels;  /* malloc'ed: their names */
    size_t string_count, string_capacity, label_capacity;
};

/* Cuts "{ LABEL: .b8 1,2 LABEL: ... }" into labels and their contents. */
static void read_debug_strings(struct strings *strings, struct arena *arena, struct text section)
{
    struct lexer lexer = lexer_at(section, 0);
    struct token token = lexer_next(&lexer);
    size_t most = 0;

    for (struct lexer look = lexer; lexer_next(&look).kind != TOKEN_END;)
        most += lexer_peek(&look).mark == ':';
    strings->contents = arena_copy(arena, strings->contents, strings->count, sizeof(struct text));
    strings->contents =
        arena_grow(arena, strings->contents, strings->count, &most, sizeof(struct text));
    strings->is_odd |= token.mark != '{';
    while ((token = lexer_next(&lexer)).kind != TOKEN_END && token.mark != '}') {
        struct text *last = strings->count ? &strings->contents[strings->count - 1] : NULL;

        if (token.kind == TOKEN_WORD && lexer_peek(&lexer).mark == ':') {
            lexer_next(&lexer);
            if (table_add(&strings->labels, lexer_text(&lexer, token), (uint32_t)strings->count) !=
                strings->count)
                strings->is_odd = true;
            strings->contents[strings->count++] = (struct text){section.data + lexer.at, 0};
        } else if (last &&
                   (token.kind == TOKEN_DOT || token.kind == TOKEN_NUMBER || token.mark == ',')) {
            last->size = (size_t)(section.data + lexer.at - last->data);
        } else {
            strings->is_odd = true;
        }
    }
}

struct stable_text *stable_text_new(const struct plan *plan)
{
    const struct program *program = plan->program;
    struct stable_text *stable = arena_zalloc(plan->arena, 1, sizeof *stable);

    stable->plan = plan;
    stable->order = arena_alloc(plan->arena, program->symbol_count, sizeof *stable->order);
    stable->modules = arena_zalloc(plan->arena, program->module_count, sizeof *stable->modules);
    stable->numbers = arena_zalloc(plan->arena, program->file_count, sizeof *stable->numbers);
    stable->files = arena_alloc(plan->arena, program->file_count, sizeof *stable->files);
    for (size_t m = 0; m < program->module_count; m++) {
        const struct ptx_module *module = program->modules[m];

        for (size_t i = 0; i < module->item_count; i++)
            if (module->items[i].kind == PTX_SECTION && !module->has_full_debug)
                read_debug_strings(&stable->modules[m], plan->arena, module->items[i].target);
    }
    return stable;
}

void stable_text_free(struct stable_text *stable)
{
    for (size_t m = 0; m < stable->plan->program->module_count; m++)
        table_free(&stable->modules[m].labels);
    table_free(&stable->names);
    free(stable->strings);
    free(stable->labels);
}

void stable_text_start(struct stable_text *stable)
{
    for (uint32_t i = 0; i < stable->file_count; i++)
        stable->numbers[stable->files[i]] = 0;
    stable->file_count = 0;
    stable->string_count = 0;
    table_free(&stable->names);
}

static int compare_plan_names(const void *left, const void *right, void *plan)
{
    return text_compare(plan_name(plan, *(const uint32_t *)left),
                        plan_name(plan, *(const uint32_t *)right));
}

const uint32_t *stable_text_order(struct stable_text *stable, const struct closure *needed)
{
    if (needed->count == 0)
        return stable->order;
    memcpy(stable->order, needed->list, needed->count * sizeof *stable->order);
    qsort_r(stable->order, needed->count, sizeof *stable->order, compare_plan_names,
            (void *)(uintptr_t)stable->plan);
    return stable->order;
}

bool stable_text_has_strings(const struct stable_text *stable, uint32_t module)
{
    return !stable->modules[module].is_odd;
}

static struct text number_text(const struct stable_text *stable, uint32_t number)
{
    static const char digits[] = "0123456789";

    if (number < 10)
        return (struct text){digits + number, 1};
    return text_of(arena_printf(stable->plan->arena, "%" PRIu32, number));
}

static struct text file_number(struct stable_text *stable, uint32_t file)
{
    if (stable->numbers[file] == 0) {
        stable->files[stable->file_count++] = file;
        stable->numbers[file] = stable->file_count;
    }
    return number_text(stable, stable->numbers[file]);
}

/* The chunk's name for a label of the module; empty for one that keeps its name. */
static struct text string_name(struct stable_text *stable, uint32_t module, struct text label)
{
    const struct strings *strings = &stable->modules[module];
    uint32_t at = strings->is_odd ? TABLE_NONE : table_find(&strings->labels, label);
    struct text content, name;
    uint64_t hash;

    if (at == TABLE_NONE)
        return (struct text){0};
    content = strings->contents[at];
    hash = XXH3_64bits(content.data, content.size);
    do {
        name = text_of(arena_printf(stable->plan->arena, "$L__info_string$ml%016" PRIx64, hash++));
        at = table_add(&stable->names, name, (uint32_t)stable->string_count);
    } while (at != stable->string_count && !text_equal(stable->strings[at], content));
    if (at == stable->string_count) {
        ARRAY_RESERVE(stable->labels, stable->label_capacity, stable->string_count + 1);
        stable->labels[stable->string_count] = name;
        ARRAY_PUSH(stable->strings, stable->string_count, stable->string_capacity) = content;
    }
    return stable->labels[at];
}

static struct text comment_text(const struct stable_text *stable, const struct program_mark *mark)
{
    uint32_t lines = lexer_count_lines((struct text){mark->at, mark->size}, 0, mark->size);
    char *blank;

    if (lines == 0)
        return mark->at[1] == '*' ? TEXT(" ") : (struct text){0};
    blank = arena_alloc(stable->plan->arena, lines, 1);
    memset(blank, '\n', lines);
    return (struct text){blank, lines};
}

/* Finds the replacement of a mark in the chunk; false when it is the source's text. */
static bool replace_mark(struct stable_text *stable, uint32_t symbol,
                         const struct program_mark *mark, struct text *replacement)
{
    struct text old = {mark->at, mark->size};

    switch (mark->kind) {
    case MARK_NAME:
        *replacement = plan_name(stable->plan, mark->value);
        break;
    case MARK_FILE:
        *replacement = file_number(stable, mark->value);
        break;
    case MARK_STRING:
        *replacement = string_name(stable, stable->plan->program->symbols[symbol].module, old);
        if (replacement->size == 0)
            return false;
        break;
    case MARK_COUNTER:
        *replacement = number_text(stable, mark->value);
        break;
    default:
        *replacement = comment_text(stable, mark);
        break;
    }
    return !text_equal(*replacement, old);
}

/* The marks and edits of a symbol from a place on. */
struct changes {
    const struct program_symbol *symbol;
    size_t mark, edit;
};

/* Takes the next change before `end`: its place and its replacement. Marks take precedence over
 * edits; edits remain only for two kinds of labels, which are not marked or not known. */
static bool next_change(struct stable_text *stable, uint32_t symbol, struct changes *changes,
                        const char *end, struct text *place, struct text *replacement)
{
    for (;;) {
        const struct program_symbol *entry = changes->symbol;
        const struct program_mark *mark =
            changes->mark < entry->mark_count ? &entry->marks[changes->mark] : NULL;
        const struct program_edit *edit =
            changes->edit < entry->edit_count ? &entry->edits[changes->edit] : NULL;
        bool has_mark = mark && mark->at < end;
        bool has_edit = edit && edit->at < end && (!has_mark || edit->at <= mark->at);
        bool is_edit = has_edit && (!has_mark || edit->at < mark->at);

        if (!has_mark && !has_edit)
            return false;
        changes->edit += has_edit;
        changes->mark += !is_edit;
        if (!is_edit) {
            *place = (struct text){mark->at, mark->size};
            if (replace_mark(stable, symbol, mark, replacement))
                return true;
            is_edit = has_edit && mark->kind == MARK_STRING;
        }
        if (is_edit) {
            *place = (struct text){edit->at, edit->size};
            *replacement = edit->replacement;
            return true;
        }
    }
}

void stable_text_write(struct stable_text *stable, struct writer *writer, uint32_t symbol,
                       struct text text)
{
    const struct program_symbol *entry = &stable->plan->program->symbols[symbol];
    const char *at = text.data, *end = text.data + text.size;
    size_t first_mark = SEARCH_FIRST_NOT(entry->mark_count, i, entry->marks[i].at < at);
    struct changes changes = {entry, first_mark,
                              writer_first_edit(entry->edits, entry->edit_count, at)};
    struct text place, replacement;

    while (next_change(stable, symbol, &changes, end, &place, &replacement)) {
        if (place.data < at)
            continue;
        writer_text(writer, (struct text){at, (size_t)(place.data - at)});
        writer_text(writer, replacement);
        at = place.data + place.size;
    }
    writer_text(writer, (struct text){at, (size_t)(end - at)});
}

void stable_text_finish(struct stable_text *stable, struct writer *writer)
{
    const struct program *program = stable->plan->program;

    for (uint32_t i = 0; i < stable->file_count; i++) {
        writer_printf(writer, ".file\t%" PRIu32 " ", i + 1);
        writer_text(writer, program->files[stable->files[i]].name);
        writer_text(writer, TEXT("\n"));
    }
    if (stable->string_count == 0)
        return;
    writer_text(writer, TEXT(".section .debug_str\n{\n"));
    for (size_t i = 0; i < stable->string_count; i++) {
        writer_printf(writer, "%.*s:", TEXT_ARG(stable->labels[i]));
        writer_text(writer, stable->strings[i]);
        writer_text(writer, TEXT("\n"));
    }
    writer_text(writer, TEXT("}\n"));
}
