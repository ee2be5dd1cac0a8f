/* entries.c: one pass over the assembler's options, which takes out those that select kernels. */
#include "options/entries.h"

#include <string.h>

static bool is_option(struct text name, const char *longer, const char *shorter)
{
    return text_equal(name, text_of(longer)) || text_equal(name, text_of(shorter));
}

static void add_entry_names(struct entry_selection *selection, const char *list)
{
    struct text rest = text_of(list), name;

    while (text_take_part(&rest, &name))
        selection->names[selection->count++] = name;
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

static bool add_patterns(struct entry_selection *selection, const char *list)
{
    struct text rest = text_of(list), text;

    while (text_take_part(&rest, &text)) {
        struct entry_pattern *entry = &selection->patterns[selection->pattern_count];

        *entry = (struct entry_pattern){.text = text};
        if (!pattern_compile(&entry->pattern, text, "-Xptxas --entry-pattern"))
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
        const char *value = start[name.size] ? start + name.size + 1 : words[i + 1];

        bool is_pattern = has_value && is_option(name, "entry-pattern", "E");

        if (is_pattern || (has_value && is_option(name, "entry", "e"))) {
            if (is_pattern)
                ok = add_patterns(selection, value);
            else
                add_entry_names(selection, value);
            i += !start[name.size];
            continue;
        }
        note_mode(selection, words[i], name);
        others[other_count++] = words[i];
    }
    others[other_count] = NULL;
    return ok;
}

bool entries_match(const struct entry_selection *selection, struct text kernel)
{
    for (size_t i = 0; i < selection->pattern_count; i++)
        if (pattern_matches(&selection->patterns[i].pattern, kernel))
            return true;
    return false;
}

void entries_free(struct entry_selection *selection)
{
    for (size_t i = 0; i < selection->pattern_count; i++)
        pattern_free(&selection->patterns[i].pattern);
    selection->pattern_count = 0;
}
