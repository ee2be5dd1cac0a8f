/* entries.c: one pass over the assembler's options: -e goes, with its names; -c is noted. */
#include "options/entries.h"

#include <string.h>

static bool is_option(struct text name, const char *longer, const char *shorter)
{
    return text_equal(name, text_of(longer)) || text_equal(name, text_of(shorter));
}

static void add_names(struct entry_selection *selection, const char *list)
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

void entries_read(struct entry_selection *selection, struct arena *arena, const char *const *words)
{
    size_t word_count, other_count = 0;
    size_t most = most_names(words, &word_count);
    const char **others = arena_alloc(arena, word_count + 1, sizeof *others);

    *selection = (struct entry_selection){.others = others};
    selection->names = arena_alloc(arena, most, sizeof *selection->names);
    for (size_t i = 0; i < word_count; i++) {
        const char *start = words[i] + strspn(words[i], "-");
        struct text name = {start, strcspn(start, "=")};

        if (*words[i] == '-' && is_option(name, "entry", "e") &&
            (start[name.size] || words[i + 1])) {
            add_names(selection, start[name.size] ? start + name.size + 1 : words[++i]);
            continue;
        }
        if (*words[i] == '-' && is_option(name, "compile-only", "c"))
            selection->is_compile_only = true;
        others[other_count++] = words[i];
    }
    others[other_count] = NULL;
}
