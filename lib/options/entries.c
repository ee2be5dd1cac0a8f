/* entries.c: one pass over the assembler's options, which takes out those that select kernels. */
#include "options/consensus.h"

#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "diag/diag.h"

static bool is_option(struct text name, const char *longer, const char *shorter)
{
    return text_equal(name, text_of(longer)) || text_equal(name, text_of(shorter));
}

static bool add_pattern(struct entry_selection *selection, struct arena *arena, struct text text)
{
    struct entry_pattern *pattern = &ARENA_PUSH(
        arena, selection->patterns, selection->pattern_count, selection->pattern_capacity);
    int error = regcomp(&pattern->expression, arena_string(arena, text), REG_EXTENDED | REG_NOSUB);
    char why[128];

    pattern->text = text;
    if (error == 0)
        return true;
    selection->pattern_count--;
    if (error == REG_ESPACE)
        context_raise(LINK_NO_MEMORY);
    regerror(error, &pattern->expression, why, sizeof why);
    return diag_fatal("'%.*s' (-Xptxas --entry-pattern) is no regular expression: %s",
                      TEXT_ARG(text), why);
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
    struct word_list others = {.arena = arena};
    bool ok = true;

    *selection = (struct entry_selection){0};
    for (; ok && words && *words; words++) {
        const char *start = *words + strspn(*words, "-");
        struct text name = {start, strcspn(start, "=")}, value, part;
        bool is_joined = start[name.size] != '\0';
        bool has_value = **words == '-' && (is_joined || words[1]);
        bool is_pattern = has_value && is_option(name, "entry-pattern", "E");

        if (!is_pattern && !(has_value && is_option(name, "entry", "e"))) {
            note_mode(selection, *words, name);
            word_list_add(&others, *words);
            continue;
        }
        value = text_of(is_joined ? start + name.size + 1 : *++words);
        while (ok && text_take_part(&value, &part))
            if (is_pattern)
                ok = add_pattern(selection, arena, part);
            else
                ARENA_PUSH(arena, selection->names, selection->count, selection->capacity) = part;
    }
    selection->others = word_list_end(&others);
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
