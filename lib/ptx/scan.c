/* scan.c: which module-level names a text uses, and which of its words must be replaced.
 *
 * Bodies are not parsed. A word that begins a statement is an opcode or a label; any other may be a
 * name. A body may declare a name that hides one of the module; the two are treated as one. That
 * can keep an unneeded symbol alive, but does no other harm: where the name is replaced, its
 * declaration in the body is replaced too.
 *
 * Marks are places in a text that the code does not depend on. NVIDIA's compilers number the
 * functions of a module, and with them labels and stack frames ($L__BB12_3, __local_depot12), count
 * calls in comments and labels of prototypes (prototype_7), and name parameters after their
 * function. So one more kernel changes the text of every kernel after it. A split with stable
 * chunks rewrites these places. */
#include "base/search.h"
#include "ptx/internal.h"

/* The scanner's position in a statement. */
struct statement {
    bool at_start; /* the next word is an opcode or label */
    bool in_guard; /* between @ and the predicate */
    bool is_call;
    bool has_target; /* the call's target has been seen */
    size_t parentheses;
    size_t braces; /* of vectors and initialisers, not of blocks */
};

static struct program_entry *find_named_entry(const struct scan *scan, struct text name)
{
    const struct program_module *module = &scan->program->details[scan->module];
    uint32_t index = table_find(&module->names, name);

    return index == TABLE_NONE ? NULL : &module->entries[index];
}

static const struct text counted[] = {
    TEXT("$L__BB"), TEXT("$L__tmp"), TEXT("$L_brx_"), TEXT("__local_depot"), TEXT("prototype_"),
};

/* Splits a label into the front, up to its first number's end, and the number. False: none. */
static bool find_counter(struct text word, struct text *front, struct text *number)
{
    if (word.data[0] != '$' && word.data[0] != '_' && word.data[0] != 'p')
        return false;
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        size_t end = counted[i].size;

        if (!text_starts(word, counted[i]))
            continue;
        while (end < word.size && text_is_digit(word.data[end]))
            end++;
        *front = (struct text){word.data, end};
        *number = (struct text){word.data + counted[i].size, end - counted[i].size};
        return number->size > 0 && (end == word.size || word.data[end] == '_');
    }
    return false;
}

bool scan_is_counted(struct text word)
{
    struct text front, number;

    return word.size && find_counter(word, &front, &number);
}

static void add_mark(struct scan *scan, struct text place, enum program_mark_kind kind,
                     uint32_t value)
{
    ARENA_PUSH(&scan->program->arena, scan->owner->marks, scan->owner->mark_count,
               scan->mark_capacity) =
        (struct program_mark){place.data, place.size, value, (uint8_t)kind};
}

/* True for "<function>_param_3". */
static bool is_body_parameter(const struct scan *scan, struct text word)
{
    struct text name = scan->owner->own_name;

    return word.size > name.size && word.data[name.size] == '_' && text_starts(word, name) &&
           text_starts(text_drop(word, name.size), TEXT("_param_"));
}

static void mark_word(struct scan *scan, struct text word, uint32_t symbol)
{
    struct text front, number;

    if (symbol != NO_SYMBOL)
        add_mark(scan, word, MARK_NAME, symbol);
    else if (is_body_parameter(scan, word))
        add_mark(scan, (struct text){word.data, scan->owner->own_name.size}, MARK_NAME,
                 (uint32_t)(scan->owner - scan->program->symbols));
    else if (!scan->keeps_counters && find_counter(word, &front, &number))
        add_mark(scan, number, MARK_COUNTER,
                 table_add(&scan->counters, front, (uint32_t)scan->counters.count));
}

static void add_edit(struct scan *scan, struct text place, struct text replacement)
{
    ARENA_PUSH(&scan->program->arena, scan->owner->edits, scan->owner->edit_count,
               scan->edit_capacity) = (struct program_edit){place.data, place.size, replacement};
}

static void add_symbol_reference(struct scan *scan, uint32_t symbol)
{
    scan->owner->is_recursive |= &scan->program->symbols[symbol] == scan->owner;
    if (scan->stamps[symbol] == scan->stamp)
        return;
    scan->stamps[symbol] = scan->stamp;
    ARENA_PUSH(&scan->program->arena, scan->owner->references, scan->owner->reference_count,
               scan->reference_capacity) = symbol;
}

/* What a text does with a symbol that it names; where it has none, it only has the name. */
enum use { USE_NONE, USE_CALL, USE_ADDRESS };

/* Notes a word that may be a module-level name. */
static void note_word(struct scan *scan, struct text word, enum use use)
{
    struct program_entry *entry = scan->labels ? NULL : find_named_entry(scan, word);

    if (scan->wants_marks && !scan->labels)
        mark_word(scan, word, entry ? entry->symbol : NO_SYMBOL);
    if (!entry)
        return;
    if (entry->replacement.size)
        add_edit(scan, word, entry->replacement);
    if (entry->symbol == NO_SYMBOL || use == USE_NONE)
        return;
    entry->is_used = true;
    if (use == USE_ADDRESS)
        scan->program->symbols[entry->symbol].is_address_taken = true;
    add_symbol_reference(scan, entry->symbol);
}

/* The file number at the lexer's place, after `.loc` or `inlined_at`. */
static void renumber_file(struct scan *scan, struct text number)
{
    const struct program_module *module = &scan->program->details[scan->module];
    size_t low;
    uint64_t value;

    if (scan->labels || !lexer_integer(number, &value))
        return;
    low = SEARCH_FIRST_NOT(module->file_count, i, module->files[i].own < value);
    if (low == module->file_count || module->files[low].own != value)
        return;
    if (scan->wants_marks)
        add_mark(scan, number, MARK_FILE, module->files[low].index);
    if (module->files[low].number == value)
        return;
    add_edit(scan, number,
             text_of(arena_printf(&scan->program->arena, "%u", module->files[low].number)));
}

/* "1 2 3": file, line and column. */
static bool scan_position(struct scan *scan, struct lexer *lexer)
{
    bool renumbers = scan->program->details[scan->module].renumbers_files || scan->wants_marks;

    for (int i = 0; i < 3; i++) {
        struct token token = lexer_peek(lexer);

        if (token.kind != TOKEN_NUMBER)
            return false;
        if (i == 0 && renumbers)
            renumber_file(scan, lexer_text(lexer, token));
        lexer->at = token.offset + token.size;
    }
    return true;
}

/* Behind `.loc`: "1 2 3[, function_name LABEL[+N], inlined_at 1 2 3]". No semicolon ends it. */
static void scan_loc(struct scan *scan, struct lexer *lexer)
{
    if (!scan_position(scan, lexer))
        return;
    while (lexer_peek(lexer).mark == ',') {
        struct token word;

        lexer_next(lexer);
        word = lexer_next(lexer);
        if (lexer_is(lexer, word, TEXT("inlined_at"))) {
            scan_position(scan, lexer);
            continue;
        }
        word = lexer_peek(lexer); /* after `function_name` */
        if (word.kind != TOKEN_WORD)
            continue;
        note_word(scan, lexer_text(lexer, word), USE_CALL);
        if (scan->wants_marks && !scan->labels)
            add_mark(scan, lexer_text(lexer, word), MARK_STRING, 0);
        lexer_next(lexer);
        if (lexer_peek(lexer).mark == '+') {
            lexer_next(lexer);
            lexer_next(lexer);
        }
    }
}

/* Notes the properties of the function that a statement's first directive shows. */
static void note_directive(struct scan *scan, struct text word)
{
    bool is_data = text_equal(word, TEXT(".global")) || text_equal(word, TEXT(".const"));

    scan->owner->has_body_data |= is_data;
    scan->owner->has_body_variables |= is_data || text_equal(word, TEXT(".shared"));
    scan->owner->calls_indirectly |=
        text_equal(word, TEXT(".callprototype")) || text_equal(word, TEXT(".calltargets"));
}

static void scan_mark(struct statement *statement, char mark)
{
    bool opens_block = mark == '{' && statement->at_start;

    if (mark == '(')
        statement->parentheses++;
    else if (mark == ')' && statement->parentheses > 0)
        statement->parentheses--;
    else if (mark == '@' && statement->at_start)
        statement->in_guard = true;
    else if (mark == '{' && !opens_block)
        statement->braces++;
    else if (mark == '}' && statement->braces > 0)
        statement->braces--;
    else if (mark == ';' || mark == '}' || opens_block)
        *statement = (struct statement){.at_start = true};
}

/* True for a label with the name of another module's symbol: it must be renamed when both are in
 * one chunk (measured on ptxas: "Label expected"). */
static bool is_label_clash(const struct scan *scan, struct text word)
{
    return scan->taken && table_find(scan->taken, word) != TABLE_NONE &&
           !find_named_entry(scan, word);
}

/* In the second pass: a label's new name. */
static void rename_label(struct scan *scan, struct text word)
{
    if (scan->labels && table_find(scan->labels, word) != TABLE_NONE)
        add_edit(scan, word,
                 text_of(arena_printf(&scan->program->arena, "%.*s$mll", TEXT_ARG(word))));
}

/* Returns true when the word is a label to rename. */
static bool scan_word(struct scan *scan, struct statement *statement, const struct lexer *lexer,
                      struct text word)
{
    bool is_target;

    if (statement->at_start && !statement->in_guard) {
        if (lexer_peek(lexer).mark == ':') {
            rename_label(scan, word);
            if (scan->wants_marks && !scan->labels)
                mark_word(scan, word, NO_SYMBOL);
            return !scan->labels && is_label_clash(scan, word);
        }
        statement->at_start = false;
        statement->is_call = text_equal(word, TEXT("call"));
        return false;
    }
    if (statement->in_guard) {
        statement->in_guard = false;
        statement->at_start = true;
    }
    is_target = statement->is_call && !statement->has_target && statement->parentheses == 0;
    if (is_target)
        statement->has_target = true;
    rename_label(scan, word);
    note_word(scan, word, is_target ? USE_CALL : USE_ADDRESS);
    return false;
}

static void scan_dot(struct scan *scan, struct statement *statement, struct lexer *lexer,
                     struct text word)
{
    if (text_equal(word, TEXT(".loc"))) {
        scan_loc(scan, lexer);
        return;
    }
    note_directive(scan, word);
    statement->at_start = false;
}

COMPARISON(compare_edits, struct program_edit, COMPARE(a->at, b->at));

/* Marks the comments in what stands between two tokens: in all else there are blanks only. */
static void mark_comments(struct scan *scan, struct text gap)
{
    for (size_t at = 0, end; at < gap.size; at = end) {
        end = lexer_quoted_end(gap, at);
        if (end > at + 1)
            add_mark(scan, (struct text){gap.data + at, end - at}, MARK_COMMENT, 0);
    }
}

/* One pass over a body; adds labels to rename to *clashes. Most words are registers, which are
 * passed over unless a name of the module begins with a percent sign, too. */
static void scan_statements(struct scan *scan, struct text body, struct table *clashes)
{
    bool has_percent = scan->program->details[scan->module].has_percent;
    struct statement statement = {.at_start = true};
    struct lexer lexer = lexer_at(body, 0);
    struct token token;

    do {
        size_t end = lexer.at;
        struct text word;

        token = lexer_next(&lexer);
        word = lexer_text(&lexer, token);
        if (scan->wants_marks && !scan->labels)
            mark_comments(scan, (struct text){body.data + end, token.offset - end});
        if (token.kind == TOKEN_MARK)
            scan_mark(&statement, token.mark);
        else if (token.kind == TOKEN_DOT && statement.at_start)
            scan_dot(scan, &statement, &lexer, word);
        else if (token.kind == TOKEN_WORD &&
                 (word.data[0] != '%' || has_percent || statement.at_start) &&
                 scan_word(scan, &statement, &lexer, word))
            table_add(clashes, word, 0);
    } while (token.kind != TOKEN_END);
}

static void scan_body(struct scan *scan, struct text body)
{
    LOCAL_TABLE(clashes);
    size_t first = scan->owner->edit_count;

    scan_statements(scan, body, &clashes);
    if (clashes.count) {
        scan->labels = &clashes;
        scan_statements(scan, body, NULL);
        scan->labels = NULL;
        SORT(scan->owner->edits + first, scan->owner->edit_count - first, compare_edits);
    }
}

static void scan_words(struct scan *scan, struct text text, enum use use)
{
    const struct program_module *module = &scan->program->details[scan->module];
    struct lexer lexer = lexer_at(text, 0);
    struct token token;

    if (use == USE_NONE && !module->has_replacements && !scan->wants_marks)
        return;
    while ((token = lexer_next(&lexer)).kind != TOKEN_END)
        if (token.kind == TOKEN_WORD)
            note_word(scan, lexer_text(&lexer, token), use);
}

void scan_item(struct scan *scan, const struct ptx_item *item)
{
    scan->stamp++;
    if (scan->counters.count)
        table_free(&scan->counters);
    if (item->kind == PTX_FUNCTION) {
        scan_words(scan, item->function.head, USE_NONE);
        scan_body(scan, item->function.body);
    } else if (item->kind == PTX_VARIABLE) {
        scan_words(scan, item->variable.declarator, USE_NONE);
        scan_words(scan, item->variable.initialiser, USE_ADDRESS);
    } else if (item->kind == PTX_SECTION || item->kind == PTX_ALIAS) {
        scan_words(scan, item->text, USE_NONE);
    }
}
