/* parts_text.c: renders a part's text of a variable or function with the program's names.
 *
 * Measured on libnvvm: beside names of module level, two compilations of a function differ in
 * numbers that count through the whole text: the function's in $L__BB7_2 and __local_depot7, the
 * call's in prototype_12, and those in comments. They are replaced by numbers that count in the
 * function, so that its text does not depend on other functions. */
#include <inttypes.h>
#include <stdio.h>

#include "base/search.h"
#include "parts/internal.h"
#include "ptx/lexer.h"

/* State of the reader of a text. */
struct reading {
    struct joining *joining;
    struct rendering *rendering; /* the joining's */
    uint32_t part;
    const struct part_entry
        *own; /* in its function's head, where a name is no reference; else NULL */
    struct lexer lexer;
    size_t copied;   /* the text has been rendered up to here */
    size_t last_end; /* end of the previous token, */
    char last_mark;  /* and its character if it is a mark */
    bool is_guard;   /* after @ */
    bool is_start;   /* the next token begins a statement */
    bool is_call;    /* after `call`, before its target: the first word at depth 0 */
    size_t depth;    /* of parentheses behind `call` */
};

/* Renders the rest of the text up to `at`. */
static void copy_to(struct reading *reading, size_t at)
{
    if (at > reading->copied)
        buffer_append(&reading->rendering->text, reading->lexer.text.data + reading->copied,
                      at - reading->copied);
    reading->copied = at;
}

/* Renders the text up to `at`, then `with` in place of what follows up to `end`. */
static void replace_part(struct reading *reading, size_t at, size_t end, struct text with)
{
    copy_to(reading, at);
    buffer_text(&reading->rendering->text, with);
    reading->copied = end;
}

static void replace_number(struct reading *reading, size_t at, size_t end, uint32_t number)
{
    char digits[sizeof "4294967295"];

    snprintf(digits, sizeof digits, "%" PRIu32, number);
    replace_part(reading, at, end, text_of(digits));
}

/* The symbol's name in references from an entry's part. */
static struct text name_for(const struct part_entry *entry, bool is_call)
{
    const struct symbol_version *version = is_call ? entry->version : entry->symbol->address;

    return entry->symbol->is_split && version ? version->name : entry->symbol->name;
}

/* "$L__BB7_2" and "__local_depot7": the function's number becomes 0. */
static bool renumber_function(struct reading *reading, struct token token, struct text word)
{
    static const struct text beginnings[] = {TEXT("$L__BB"), TEXT("__local_depot")};
    struct text beginning = beginnings[word.data[0] == '_'];
    size_t end = beginning.size;

    if (!text_starts(word, beginning))
        return false;
    while (end < word.size && text_is_digit(word.data[end]))
        end++;
    replace_number(reading, token.offset + beginning.size, token.offset + end, 0);
    return true;
}

/* Renumbers other words with a number: each kind is counted in the order of the body. */
static void renumber(struct reading *reading, struct token token, struct text word)
{
    struct rendering *rendering = reading->rendering;
    struct text kind = word;
    uint32_t next, number;

    while (kind.size && text_is_digit(kind.data[kind.size - 1]))
        kind.size--;
    next = table_add(&rendering->counters, kind, 0);
    number = table_add(&rendering->numbered, word, next);
    if (number == next)
        table_set(&rendering->counters, kind, next + 1);
    replace_number(reading, token.offset + kind.size, token.offset + word.size, number);
}

static void render_local(struct reading *reading, struct token token, struct text word)
{
    if (!strchr("$_p", word.data[0]) || renumber_function(reading, token, word) ||
        !text_is_digit(word.data[word.size - 1]))
        return;
    if (text_starts(word, TEXT("$L")) || text_starts(word, TEXT("prototype_")))
        renumber(reading, token, word);
}

static void render_entry(struct reading *reading, struct token token, struct part_entry *entry,
                         bool is_call)
{
    struct rendering *rendering = reading->rendering;
    struct joined_symbol *symbol = entry->symbol;
    struct text name = entry->replacement;

    if (entry == reading->own) {
        name = name_for(entry, true);
    } else if (symbol) {
        is_call &= symbol->is_function;
        entry->is_address_taken |= !is_call;
        if (symbol->stamps[is_call] != rendering->stamp)
            ARENA_PUSH(&reading->joining->arena, rendering->references, rendering->reference_count,
                       rendering->reference_capacity) = (struct joined_reference){symbol, is_call};
        symbol->stamps[is_call] = rendering->stamp;
        name = name_for(entry, is_call);
    }
    if (!text_equal(name, entry->name))
        replace_part(reading, token.offset, token.offset + token.size, name);
}

/* The file number behind `.loc` or `inlined_at`. */
static void render_file(struct reading *reading)
{
    const struct joined_part *part = &reading->joining->parts[reading->part];
    struct token token = lexer_peek(&reading->lexer);
    size_t low;
    uint64_t own;

    if (token.kind != TOKEN_NUMBER || !lexer_integer(lexer_text(&reading->lexer, token), &own))
        return;
    reading->lexer.at = token.offset + token.size;
    low = SEARCH_FIRST_NOT(part->file_count, at, part->files[at].own < own);
    if (low < part->file_count && part->files[low].own == own && part->files[low].number != own)
        replace_number(reading, token.offset, reading->lexer.at, part->files[low].number);
}

static void render_word(struct reading *reading, struct token token)
{
    struct text word = lexer_text(&reading->lexer, token);
    bool is_target = reading->is_call && reading->depth == 0;
    struct part_entry *entry;

    reading->is_call &= !is_target;
    if (word.data[0] == '%')
        return;
    if (!is_target && reading->is_start && text_equal(word, TEXT("call"))) {
        reading->is_call = true;
        reading->depth = 0;
        return;
    }
    entry = parts_entry(reading->joining, reading->part, word);
    if (entry)
        render_entry(reading, token, entry, is_target);
    else if (text_equal(word, TEXT("inlined_at")))
        render_file(reading);
    else
        render_local(reading, token, word);
}

/* For a variable that is moved out of the body: continues after its declaration. */
static bool skip_lifted(struct reading *reading, size_t at)
{
    const struct joining *joining = reading->joining;
    struct text name, statement;

    if (!joining->lifted.count || !parts_demoted(reading->lexer.text, at, &name, &statement) ||
        table_find(&joining->lifted, name) == TABLE_NONE)
        return false;
    reading->copied = (size_t)(statement.data + statement.size - reading->lexer.text.data);
    reading->lexer.at = reading->copied;
    return true;
}

/* Leaves out comments and empty lines. True when the current token is left out, too. */
static bool render_gap(struct reading *reading, struct token token)
{
    struct text text = reading->lexer.text;
    size_t line = token.offset; /* after the last line end */
    unsigned lines = 0;
    bool has_comment = false, is_demoted = false;

    for (size_t at = reading->last_end, next; at < token.offset; at = next) {
        next = text.data[at] == '/' ? lexer_quoted_end(text, at) : at + 1;
        if (text.data[at] == '/') {
            has_comment = true;
            is_demoted |= text_starts(text_drop(text, at), TEXT(PARTS_DEMOTED));
        } else if (text.data[at] == '\n') {
            lines++;
            line = next;
        }
    }
    if (lines < 2 && !has_comment)
        return false;
    copy_to(reading, reading->last_end);
    if (is_demoted && skip_lifted(reading, token.offset))
        return true;
    buffer_char(&reading->rendering->text, lines ? '\n' : ' ');
    reading->copied = line;
    return false;
}

static void render_token(struct reading *reading, struct token token)
{
    const char *gap = reading->lexer.text.data + reading->last_end;
    bool was_guard = reading->is_guard;

    /* Statements begin after a mark, a guard, or a line's end. */
    if ((reading->last_mark && strchr(";{}:", reading->last_mark)) ||
        memchr(gap, '\n', token.offset - reading->last_end))
        reading->is_start = true;
    if (token.kind == TOKEN_WORD) {
        render_word(reading, token);
    } else if (token.kind == TOKEN_DOT && reading->is_start) {
        reading->rendering->has_shared |= lexer_is(&reading->lexer, token, TEXT(".shared"));
        if (lexer_is(&reading->lexer, token, TEXT(".loc")))
            render_file(reading);
    }
    reading->is_call &= token.mark != ';';
    reading->depth += token.mark == '(';
    reading->depth -= token.mark == ')' && reading->depth > 0;
    reading->is_guard = token.mark == '@' || (was_guard && token.mark == '!');
    reading->is_start = was_guard && !token.mark;
    reading->last_mark = token.mark;
}

static void render_text(struct joining *joining, const struct part_entry *own, bool is_head,
                        struct text text)
{
    struct reading reading = {.joining = joining,
                              .rendering = &joining->rendering,
                              .part = own->part,
                              .own = is_head ? own : NULL,
                              .lexer = lexer_at(text, 0),
                              .last_mark = ';'};
    struct token token;

    while ((token = lexer_next(&reading.lexer)).kind != TOKEN_END) {
        if (!render_gap(&reading, token))
            render_token(&reading, token);
        reading.last_end = reading.lexer.at;
    }
    copy_to(&reading, reading.last_end);
}

void parts_render(struct joining *joining, const struct part_entry *entry)
{
    const struct ptx_item *item = entry->item;
    struct rendering *rendering = &joining->rendering;
    struct buffer *text = &rendering->text;

    text->size = 0;
    rendering->has_shared = false;
    rendering->stamp++;
    rendering->reference_count = 0;
    table_free(&rendering->numbered);
    table_free(&rendering->counters);
    if (item->kind == PTX_FUNCTION) {
        const char *behind = item->function.head.data + item->function.head.size;
        const char *end = item->text.data + item->text.size;

        render_text(joining, entry, true, item->function.head);
        rendering->head_size = text->size;
        render_text(joining, entry, false, (struct text){behind, (size_t)(end - behind)});
        return;
    }
    buffer_text(text, item->variable.prefix);
    buffer_char(text, ' ');
    render_text(joining, entry, true, item->variable.declarator);
    if (item->variable.initialiser.size) {
        buffer_string(text, " = ");
        render_text(joining, entry, false, item->variable.initialiser);
    }
    buffer_char(text, ';');
}
