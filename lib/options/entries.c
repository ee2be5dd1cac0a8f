/* entries.c: one pass over the assembler's options, which takes out those that select kernels. */
#include "options/entries.h"

#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "diag/diag.h"

static bool is_option(struct text name, const char *longer, const char *shorter)
{
    return text_equal(name, text_of(longer)) || text_equal(name, text_of(shorter));
}

/* Most names that the words can hold: each ends with its word or a comma. */
static size_t most_names(const char *const *words, size_t *word_count)
{
    size_t most = 0;

    for (*word_count = 0; words && words[*word_count]; ++*word_count) {
        most++;
        for (const char *c = words[*word_count]; *c; c++)
            most += *c == ',';
    }
    return most;
}

static bool compile_pattern(struct entry_pattern *pattern)
{
    char *copy = memory_copy_string(pattern->text.data, pattern->text.size);
    int error = regcomp(&pattern->expression, copy, REG_EXTENDED | REG_NOSUB);
    char why[128];

    free(copy);
    if (error == 0)
        return true;
    if (error == REG_ESPACE)
        context_raise(LINK_NO_MEMORY);
    regerror(error, &pattern->expression, why, sizeof why);
    return diag_fatal("'%.*s' (-Xptxas --entry-pattern) is no regular expression: %s",
                      TEXT_ARG(pattern->text), why);
}

bool entries_pattern_matches(const struct entry_pattern *pattern, struct text name)
{
    char *copy = memory_copy_string(name.data, name.size);
    int error = regexec(&pattern->expression, copy, 0, NULL, 0);

    free(copy);
    if (error == REG_ESPACE)
        context_raise(LINK_NO_MEMORY);
    return error == 0;
}

static bool add_patterns(struct entry_selection *selection, struct text list)
{
    struct text text;

    while (text_take_part(&list, &text)) {
        struct entry_pattern *pattern = &selection->patterns[selection->pattern_count];

        pattern->text = text;
        if (!compile_pattern(pattern))
            return false;
        selection->pattern_count++;
    }
    return true;
}

static void note_mode(struct entry_selection *selection, const char *word, struct text name)
{
    if (*word != '-')
        return;
    selection->is_compile_only |= is_option(name, "compile-only", "c");
    selection->is_patch |= is_option(name, "compile-as-tools-patch", "astoolspatch");
    selection->is_extensible |= is_option(name, "extensible-whole-program", "ewp");
}

bool entries_read(struct entry_selection *selection, struct arena *arena, const char *const *words)
{
    size_t word_count, other_count = 0;
    size_t most = most_names(words, &word_count);
    const char **others = arena_alloc(arena, word_count + 1, sizeof *others);
    bool ok = true;

    *selection = (struct entry_selection){.others = others};
    selection->names = arena_alloc(arena, most, sizeof *selection->names);
    selection->patterns = arena_alloc(arena, most, sizeof *selection->patterns);
    for (size_t i = 0; ok && i < word_count; i++) {
        const char *start = words[i] + strspn(words[i], "-");
        struct text name = {start, strcspn(start, "=")};
        bool has_value = *words[i] == '-' && (start[name.size] || words[i + 1]);
        struct text value = text_of(start[name.size] ? start + name.size + 1
                                    : has_value      ? words[i + 1]
                                                     : "");

        if (has_value && is_option(name, "entry-pattern", "E")) {
            ok = add_patterns(selection, value);
            i += !start[name.size];
        } else if (has_value && is_option(name, "entry", "e")) {
            while (text_take_part(&value, &selection->names[selection->count]))
                selection->count++;
            i += !start[name.size];
        } else {
            note_mode(selection, words[i], name);
            others[other_count++] = words[i];
        }
    }
    others[other_count] = NULL;
    return ok;
}

bool entries_match(const struct entry_selection *selection, struct text kernel)
{
    for (size_t i = 0; i < selection->pattern_count; i++)
        if (entries_pattern_matches(&selection->patterns[i], kernel))
            return true;
    return false;
}

void entries_free(struct entry_selection *selection)
{
    for (size_t i = 0; i < selection->pattern_count; i++)
        regfree(&selection->patterns[i].expression);
    selection->pattern_count = 0;
}
