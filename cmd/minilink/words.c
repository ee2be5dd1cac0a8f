/* words.c: response files. */
#include "words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/context.h"
#include "base/diag.h"
#include "base/memory.h"

/* A file that names itself must end somewhere. */
#define DEEPEST 16u
/* No sane command line is longer; guards against reading a device. */
#define LONGEST ((size_t)64 << 20)

static void close_file(void *file)
{
    fclose(file);
}

static bool read_file(const char *path, struct buffer *text)
{
    FILE *file = fopen(path, "re");
    struct context_cleanup cleanup;
    char block[4096];
    size_t got;

    if (!file && errno == ENOMEM)
        context_raise(LINK_NO_MEMORY);
    if (!file)
        return false;
    context_defer(&cleanup, close_file, file);
    while ((got = fread(block, 1, sizeof block, file)) > 0 && text->size < LONGEST)
        buffer_append(text, block, got);
    got = (size_t)ferror(file);
    context_clean(&cleanup);
    return got == 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/* Takes the next word off text[*at]; false at the end. */
static bool next_word(struct text text, size_t *at, struct buffer *word)
{
    char quote = 0;

    word->size = 0;
    while (*at < text.size && is_blank(text.data[*at]))
        ++*at;
    if (*at == text.size)
        return false;
    for (; *at < text.size && (quote || !is_blank(text.data[*at])); ++*at) {
        char c = text.data[*at];

        if (c == '\\' && quote != '\'' && *at + 1 < text.size)
            buffer_char(word, text.data[++*at]);
        else if (quote && c == quote)
            quote = 0;
        else if (!quote && (c == '"' || c == '\''))
            quote = c;
        else
            buffer_char(word, c);
    }
    return true;
}

static bool add_word(struct words *words, struct arena *arena, char *word)
{
    struct stat status;

    if (word[0] == '@' && word[1] && stat(word + 1, &status) == 0)
        return words_add_file(words, arena, word + 1);
    ARRAY_PUSH(words->list, words->count, words->capacity) = word;
    return true;
}

bool words_add(struct words *words, struct arena *arena, char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!add_word(words, arena, list[i]))
            return false;
    return true;
}

bool words_add_file(struct words *words, struct arena *arena, const char *path)
{
    struct buffer text = {0}, word = {0};
    struct context_cleanup cleanups[2];
    size_t at = 0;
    bool ok;

    if (words->depth == DEEPEST) {
        diag_fatal("Response files are nested deeper than %u at '%s'", DEEPEST, path);
        return false;
    }
    context_defer(&cleanups[0], buffer_cleanup, &text);
    context_defer(&cleanups[1], buffer_cleanup, &word);
    ok = read_file(path, &text);
    if (!ok)
        diag_fatal("Could not open options file '%s'", path);
    words->depth++;
    while (ok && next_word(buffer_view(&text), &at, &word))
        ok = add_word(words, arena, arena_string(arena, buffer_view(&word)));
    words->depth--;
    context_clean(&cleanups[1]);
    context_clean(&cleanups[0]);
    return ok;
}

void words_free(struct words *words)
{
    free(words->list);
    *words = (struct words){0};
}

void words_cleanup(void *words)
{
    words_free(words);
}
