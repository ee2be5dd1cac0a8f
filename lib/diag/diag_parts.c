/* diag_parts.c: places in texts, messages in each form, and counts. */
#include "diag/internal.h"

#include <stdlib.h>
#include <xxhash.h>

#include "diag/escape.h"
#include "diag/json_tree.h"

/* Columns of longer lines, which nobody reads, are not counted. */
#define LONGEST_LINE 65536u

/* Most bytes of a source line that are shown. */
#define SHOWN_COLUMNS 200u

/* The beginning of a message: the severity as in nvlink, gcc and JSON; the mark for programs that
 * read messages, as in ptxas; and the colour, as in gcc and clang. */
static const struct {
    const char *nvlink, *gnu, *json, *mark, *colour;
} forms[] = {
    [DIAG_NOTE] = {"note    ", "note", "note", "@O@", "\033[1;36m"},
    [DIAG_INFO] = {"info    ", "info", "info", "@I@", "\033[1;36m"},
    [DIAG_WARNING] = {"warning ", "warning", "warning", "@W@", "\033[1;35m"},
    [DIAG_ERROR] = {"error   ", "error", "error", "@E@", "\033[1;31m"},
    [DIAG_FATAL] = {"fatal   ", "fatal error", "fatal", "@E@", "\033[1;31m"},
};

#define PLACE_COLOUR "\033[1m"
#define CARET_COLOUR "\033[1;32m"
#define NO_COLOUR    "\033[m"

static void put_coloured(struct buffer *line, const struct diag_state *state, const char *colour,
                         const char *text)
{
    if (state->color)
        buffer_string(line, colour);
    buffer_string(line, text);
    if (state->color)
        buffer_string(line, NO_COLOUR);
}

/* A file's name may hold anything. */
static void put_place(struct buffer *line, const struct diag_state *state,
                      const struct diag_place *place)
{
    if (state->color)
        buffer_string(line, PLACE_COLOUR);
    escape_text(text_of(place->file), line);
    if (place->line)
        buffer_printf(line, ":%u", place->line);
    if (place->line && place->column)
        buffer_printf(line, ":%u", place->column);
    buffer_string(line, ":");
    if (state->color)
        buffer_string(line, NO_COLOUR);
    buffer_char(line, ' ');
}

static struct text shown_part(struct text source)
{
    return (struct text){source.data, source.size > SHOWN_COLUMNS ? SHOWN_COLUMNS : source.size};
}

/* The source line, cut to what a terminal shows, and a caret; tabs stay tabs and other characters
 * one column wide, so that it is under the right one. */
static void put_caret(struct buffer *line, const struct diag_state *state,
                      const struct diag_place *place)
{
    struct text source = shown_part(place->source_line);
    size_t size;

    if (source.size == 0 || place->column == 0 || place->column > source.size + 1)
        return;
    buffer_string(line, "    ");
    for (size_t at = 0; at < source.size; at += size ? size : 1) {
        size = escape_character((struct text){source.data + at, source.size - at});
        buffer_append(line, size ? source.data + at : "?", size ? size : 1);
    }
    buffer_string(line, "\n    ");
    for (size_t at = 0; at + 1 < place->column && at < source.size; at += size ? size : 1) {
        size = escape_character((struct text){source.data + at, source.size - at});
        buffer_char(line, source.data[at] == '\t' ? '\t' : ' ');
    }
    put_coloured(line, state, CARET_COLOUR, "^");
    buffer_char(line, '\n');
}

static void put_message_text(struct buffer *line, const struct diag_state *state,
                             enum diag_severity severity, const struct diag_place *place,
                             struct text body)
{
    const char *program = state->program ? state->program : "minilink";
    bool is_gnu = state->format == DIAG_FORM_GNU;

    if (state->annotate)
        buffer_string(line, forms[severity].mark);
    if (is_gnu && place)
        put_place(line, state, place);
    else
        buffer_printf(line, is_gnu ? "%s: " : "%s ", program);
    put_coloured(line, state, forms[severity].colour,
                 is_gnu ? forms[severity].gnu : forms[severity].nvlink);
    buffer_string(line, ": ");
    if (!is_gnu && place)
        put_place(line, state, place);
    buffer_text(line, body);
    if (state->report_arch && severity != DIAG_NOTE)
        buffer_printf(line, " (target: %s)", state->report_arch);
    buffer_char(line, '\n');
    if (place)
        put_caret(line, state, place);
}

static void set_place(json_t *object, const struct diag_place *place)
{
    struct text source = shown_part(place->source_line);

    json_tree_set_string(object, "file", place->file);
    if (place->line)
        json_tree_set_number(object, "line", place->line);
    if (place->line && place->column)
        json_tree_set_number(object, "column", place->column);
    if (source.size > 0)
        json_tree_set_text(object, "source", source);
}

static void put_json(struct buffer *line, const struct diag_state *state,
                     enum diag_severity severity, const struct diag_place *place, struct text body)
{
    json_t *object = json_tree_begin();

    CONTEXT_DEFER(json_tree_end, object);
    json_tree_set_string(object, "program", state->program ? state->program : "minilink");
    json_tree_set_string(object, "severity", forms[severity].json);
    json_tree_set(object, "text", json_tree_exact(body));
    if (place)
        set_place(object, place);
    if (severity != DIAG_NOTE)
        json_tree_set_string(object, "target", state->report_arch);
    json_tree_print(object, JSON_TREE_MESSAGE, line);
}

void diag_form_message(struct buffer *line, const struct diag_state *state,
                       enum diag_severity severity, const struct diag_place *place,
                       struct text body)
{
    if (place && !place->file)
        place = NULL;
    if (state->format == DIAG_FORM_JSON)
        put_json(line, state, severity, place, body);
    else
        put_message_text(line, state, severity, place, body);
}

void diag_form_text(struct buffer *line, struct text text)
{
    struct text own;

    while (text_scan_line(&text, &own)) {
        json_t *object = json_tree_begin();

        CONTEXT_DEFER(json_tree_end, object);
        json_tree_set_string(object, "severity", "text");
        json_tree_set_text(object, "text", own);
        json_tree_print(object, JSON_TREE_MESSAGE, line);
    }
}

struct diag_place diag_place_of(const char *file, struct text text, size_t offset)
{
    return diag_place_behind(file, text, offset, 0, 1);
}

struct diag_place diag_place_behind(const char *file, struct text text, size_t offset,
                                    size_t known_offset, uint32_t known_line)
{
    struct diag_place place = {.file = file, .text = text};

    place.offset = offset < text.size ? offset : text.size;
    place.known_line = known_offset <= place.offset ? known_line : 1;
    place.known_offset = known_offset <= place.offset ? known_offset : 0;
    return place;
}

static size_t line_end(struct text text, size_t at)
{
    while (at < text.size && text.data[at] != '\n' && text.data[at] != '\r')
        at++;
    return at;
}

/* Sets the column and the source line; neither when the line begins too far away. */
static void find_columns(struct diag_place *found, struct text text, size_t offset)
{
    size_t least = offset > LONGEST_LINE ? offset - LONGEST_LINE : 0;
    const char *before = offset > least ? memrchr(text.data + least, '\n', offset - least) : NULL;
    size_t start = before ? (size_t)(before - text.data) + 1 : 0;

    if (!before && least > 0)
        return;
    if (text.size > start + LONGEST_LINE)
        text.size = start + LONGEST_LINE;
    found->column = (uint32_t)(offset - start + 1);
    found->source_line = (struct text){text.data + start, line_end(text, offset) - start};
}

struct diag_place diag_place_find(const struct diag_place *place)
{
    struct diag_place found = {.file = place->file};

    if (place->line || !place->text.data)
        return *place;
    found.line =
        place->known_line + text_count_lines(place->text, place->known_offset, place->offset);
    find_columns(&found, place->text, place->offset);
    return found;
}

/* Appends the text without quoted parts, and with 0 for every number. */
static void put_frame(struct buffer *frame, struct text body)
{
    for (size_t i = 0; i < body.size; i++) {
        char c = body.data[i];

        buffer_char(frame, text_is_digit(c) ? '0' : c);
        while (text_is_digit(c) && i + 1 < body.size && text_is_digit(body.data[i + 1]))
            i++;
        if (c == '\'') {
            const char *end = memchr(body.data + i + 1, '\'', body.size - i - 1);

            i = end ? (size_t)(end - body.data) : i;
        }
    }
}

uint64_t diag_tally_family(const struct diag_state *state, enum diag_severity severity,
                           struct text body)
{
    LOCAL_BUFFER(frame);
    uint64_t key;

    if (severity != DIAG_WARNING || !state->tally || !state->tally->folds)
        return 0;
    put_frame(&frame, body);
    key = XXH3_64bits(frame.data, frame.size);
    return key ? key : 1;
}

static struct diag_family *find_family(struct diag_tally *tally, uint64_t key)
{
    for (size_t i = 0; i < tally->family_count; i++)
        if (tally->families[i].key == key)
            return &tally->families[i];
    ARRAY_PUSH(tally->families, tally->family_count, tally->family_capacity) =
        (struct diag_family){.key = key};
    return &tally->families[tally->family_count - 1];
}

static bool admit_warning(struct diag_tally *tally, uint64_t key, struct text body)
{
    struct diag_family *family = find_family(tally, key);

    if (++family->count <= DIAG_UNFOLDED)
        return true;
    if (!family->text)
        family->text = memory_copy_string(body.data, body.size);
    return false;
}

bool diag_tally_admit(struct diag_state *state, enum diag_severity severity, uint64_t family,
                      struct text body)
{
    struct diag_tally *tally = state->tally;
    bool is_shown = true;

    if (!tally || severity == DIAG_NOTE)
        return true;
    if (severity == DIAG_ERROR)
        is_shown = tally->errors++ < tally->error_limit || tally->error_limit == 0;
    else if (family)
        is_shown = admit_warning(tally, family, body);
    state->continuation = !is_shown;
    return is_shown;
}

void diag_tally_free(struct diag_tally *tally)
{
    for (size_t i = 0; i < tally->family_count; i++)
        free(tally->families[i].text);
    free(tally->families);
    *tally = (struct diag_tally){0};
}
