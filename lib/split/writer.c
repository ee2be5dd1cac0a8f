/* writer.c: appends to the text of a chunk, and notes where its lines come from; in a stable chunk
 * it replaces a text's marks.
 *
 * Names are the stable ones (naming.c). Files are numbered by first appearance in the chunk, labels
 * by first appearance in the function; strings are named by their contents, and comments are left
 * out. Lines stay where they are, for chunk_origin. File numbers rise without a gap, since ptxas
 * treats them as indexes into its table (measured). */
#include "split/internal.h"

#include <inttypes.h>
#include <xxhash.h>

#include "base/search.h"
#include "ptx/lexer.h"

/* Bytes of the sources that stay in memory beside the chunks. */
#define KEPT_BYTES (16u << 20)

void writer_text(struct writer *writer, struct text text)
{
    while (text.size) {
        size_t size = text.size < KEPT_BYTES ? text.size : KEPT_BYTES;

        if (writer->kept == 0 && writer->request->release)
            writer->request->release(writer->request->release_argument);
        buffer_append(&writer->text, text.data, size);
        writer->kept += size;
        if (writer->kept >= KEPT_BYTES)
            writer->kept = 0;
        text = text_drop(text, size);
    }
}

void writer_edited(struct writer *writer, struct text text, const struct program_edit *edits,
                   size_t count)
{
    const char *at = text.data, *end = text.data + text.size;

    for (size_t i = SEARCH_FIRST_NOT(count, k, edits[k].at < at); i < count && edits[i].at < end;
         i++) {
        writer_text(writer, (struct text){at, (size_t)(edits[i].at - at)});
        writer_text(writer, edits[i].replacement);
        at = edits[i].at + edits[i].size;
    }
    writer_text(writer, (struct text){at, (size_t)(end - at)});
}

/* The number of the line that is being written. */
static uint32_t line_here(struct writer *writer)
{
    writer->lines +=
        text_count_lines(buffer_view(&writer->text), writer->counted, writer->text.size);
    writer->counted = writer->text.size;
    return writer->lines + 1;
}

void writer_begin_range(struct writer *writer, const char *member, uint32_t line)
{
    ARRAY_PUSH(writer->ranges, writer->range_count, writer->range_capacity) =
        (struct line_range){line_here(writer), 0, line, member};
}

void writer_end_range(struct writer *writer)
{
    writer->ranges[writer->range_count - 1].last = line_here(writer);
}

struct text writer_finish(struct writer *writer, struct arena *arena, struct chunk_origins *origins)
{
    struct text text = {.size = writer->text.size};
    char *data;

    origins->count = writer->range_count;
    origins->ranges =
        arena_copy(arena, writer->ranges, writer->range_count, sizeof *origins->ranges);
    data = buffer_take(&writer->text, NULL);
    text.data = realloc(data, text.size + 1) ?: data;
    writer->lines = 0;
    writer->counted = writer->range_count = 0;
    return text;
}

void writer_free(struct writer *writer)
{
    buffer_free(&writer->text);
    free(writer->ranges);
}

/* The strings of a module's sections. */
struct strings {
    struct table labels;
    struct text *contents; /* of each label: ".b8 95,90,0" */
    size_t count, capacity;
    bool is_odd; /* a section has contents other than labels, each with numbers after it */
};

struct chunk_string {
    struct text label, content;
};

struct stable_text {
    const struct plan *plan;
    uint32_t *order; /* see stable_text_order */
    struct strings *modules;
    uint32_t *numbers; /* of each file in this chunk; 0 = not named yet */
    uint32_t *files;   /* the named files, in order of their numbers */
    uint32_t file_count;
    struct table names; /* labels of strings in this chunk, to indices in `strings` */
    struct chunk_string *strings;
    size_t string_count, string_capacity;
};

/* Cuts "{ LABEL: .b8 1,2 LABEL: ... }" into labels and their contents. */
static void read_debug_strings(struct strings *strings, struct arena *arena, struct text section)
{
    struct lexer lexer = lexer_at(section, 0);
    struct token token = lexer_next(&lexer);

    strings->is_odd |= token.mark != '{';
    while ((token = lexer_next(&lexer)).kind != TOKEN_END && token.mark != '}') {
        struct text *last = strings->count ? &strings->contents[strings->count - 1] : NULL;

        if (token.kind == TOKEN_WORD && lexer_peek(&lexer).mark == ':') {
            lexer_next(&lexer);
            if (table_add(&strings->labels, lexer_text(&lexer, token), (uint32_t)strings->count) !=
                strings->count)
                strings->is_odd = true;
            ARENA_PUSH(arena, strings->contents, strings->count, strings->capacity) =
                (struct text){section.data + lexer.at, 0};
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
    } while (at != stable->string_count && !text_equal(stable->strings[at].content, content));
    if (at == stable->string_count)
        ARENA_PUSH(stable->plan->arena, stable->strings, stable->string_count,
                   stable->string_capacity) = (struct chunk_string){name, content};
    return stable->strings[at].label;
}

static struct text comment_text(const struct stable_text *stable, const struct program_mark *mark)
{
    uint32_t lines = text_count_lines((struct text){mark->at, mark->size}, 0, mark->size);
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

/* Marks take precedence over edits; edits remain only for two kinds of labels, which are not marked
 * or not known. */
void stable_text_write(struct stable_text *stable, struct writer *writer, uint32_t symbol,
                       struct text text)
{
    const struct program_symbol *entry = &stable->plan->program->symbols[symbol];
    const char *at = text.data, *end = text.data + text.size;
    size_t next_mark = SEARCH_FIRST_NOT(entry->mark_count, i, entry->marks[i].at < at);
    size_t next_edit = SEARCH_FIRST_NOT(entry->edit_count, i, entry->edits[i].at < at);

    for (;;) {
        const struct program_mark *mark =
            next_mark < entry->mark_count ? &entry->marks[next_mark] : NULL;
        const struct program_edit *edit =
            next_edit < entry->edit_count ? &entry->edits[next_edit] : NULL;
        bool has_mark = mark && mark->at < end;
        bool has_edit = edit && edit->at < end && (!has_mark || edit->at <= mark->at);
        struct text place, replacement;

        has_mark &= !has_edit || edit->at == mark->at;
        next_mark += has_mark;
        next_edit += has_edit;
        if (!has_mark && !has_edit)
            break;
        if (has_mark && replace_mark(stable, symbol, mark, &replacement)) {
            place = (struct text){mark->at, mark->size};
        } else if (has_edit && (!has_mark || mark->kind == MARK_STRING)) {
            place = (struct text){edit->at, edit->size};
            replacement = edit->replacement;
        } else {
            continue;
        }
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
        buffer_printf(&writer->text, ".file\t%" PRIu32 " ", i + 1);
        writer_text(writer, program->files[stable->files[i]].name);
        buffer_string(&writer->text, "\n");
    }
    if (stable->string_count == 0)
        return;
    buffer_string(&writer->text, ".section .debug_str\n{\n");
    for (size_t i = 0; i < stable->string_count; i++) {
        buffer_printf(&writer->text, "%.*s:", TEXT_ARG(stable->strings[i].label));
        writer_text(writer, stable->strings[i].content);
        buffer_string(&writer->text, "\n");
    }
    buffer_string(&writer->text, "}\n");
}
