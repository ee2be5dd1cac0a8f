/* response_file.c: response files: words between blanks, with quotes and backslashes, and files
 * that name files. */
#include "command/options.h"

#include <errno.h>

/* A limit for files of which each names the next one several times. */
#define MOST_READ 65536u
/* No sane command line is longer; guards against reading a device. */
#define LONGEST_MIB 64u
#define LONGEST     ((size_t)LONGEST_MIB << 20)

static void close_response_file(void *file)
{
    fclose(file);
}

/* Appends the file to the empty `text`, up to one byte more than `most`. */
static bool read_words(const char *path, struct buffer *text, size_t most, struct watch *watch)
{
    FILE *file = fopen(path, "re");
    struct stat status = {0};
    char block[4096];
    size_t got;

    if (!file && errno == ENOMEM)
        context_raise(LINK_NO_MEMORY);
    if (!file)
        return false;
    CONTEXT_DEFER(close_response_file, file);
    fstat(fileno(file), &status);
    while (text->size <= most && (got = fread(block, 1, sizeof block, file)) > 0)
        buffer_append(text, block, got);
    if (ferror(file))
        return false;
    if (S_ISREG(status.st_mode)) { /* of a pipe there is no version */
        const struct file_version version = file_version_of(&status);

        watch_add(watch, path, &version);
    }
    return true;
}

/* Reads a file within the limits for all files of a command line. */
static bool read_within_limits(struct response_file_total *total, struct arena *arena,
                               const char *path, struct buffer *text)
{
    if (total->file_count == MOST_READ)
        diag_fatal("More than %u response files are read, the last one '%s': do they name each "
                   "other?",
                   MOST_READ, path);
    else if (!read_words(path, text, LONGEST - total->bytes, &total->watch))
        diag_fatal("Could not open options file '%s': %s", path, strerror(errno));
    else if (text->size > LONGEST - total->bytes)
        diag_fatal("Response files have more than %u MiB, with '%s'", LONGEST_MIB, path);
    else if (text->size > 0 && memchr(text->data, '\0', text->size))
        diag_fatal("Options file '%s' is no text: it has a NUL", path);
    else {
        total->bytes += text->size;
        ARENA_PUSH(arena, total->files, total->file_count, total->file_capacity) = path;
        return true;
    }
    return false;
}

/* Takes the first word off *text. *stray is a quote that is not closed, or a backslash with nothing
 * after it; else 0. */
static void take_file_word(struct text *text, struct buffer *word, char *stray)
{
    char quote = 0;

    word->size = 0;
    *stray = 0;
    for (; text->size && (quote || !text_is_space(*text->data)); *text = text_drop(*text, 1)) {
        char c = *text->data;
        bool is_escape = c == '\\' && quote != '\'';

        if (is_escape && text->size == 1) {
            *stray = c;
        } else if (is_escape) {
            *text = text_drop(*text, 1);
            buffer_char(word, *text->data);
        } else if (quote && c == quote) {
            quote = 0;
        } else if (!quote && (c == '"' || c == '\'')) {
            quote = c;
        } else {
            buffer_char(word, c);
        }
    }
    if (quote)
        *stray = quote;
}

/* The word at `start` would contain all that follows it. nvlink's words. */
static bool report_stray(char stray, const char *path, struct text text, size_t start)
{
    const struct diag_place at = diag_place_of(path, text, start);
    const struct diag_place place = diag_place_find(&at);

    return diag_fatal(
        "Stray '%c' character in options file '%s': %s, in the word that begins in line %u", stray,
        path, stray == '\\' ? "nothing follows the backslash" : "the quote is not closed",
        place.line);
}

bool response_file_add(struct response_file *words, struct arena *arena, char *word)
{
    struct stat status;

    if (word[0] == '@' && word[1] && stat(word + 1, &status) == 0)
        return response_file_add_file(words, arena, word + 1);
    ARENA_PUSH(arena, words->list, words->count, words->capacity) = word;
    return true;
}

static bool add_file_words(struct response_file *words, struct arena *arena, struct text text,
                           const char *path)
{
    struct text rest = text;
    LOCAL_BUFFER(word);
    char stray;

    while (rest.size) {
        size_t start = text.size - rest.size;

        if (text_is_space(*rest.data)) {
            rest = text_drop(rest, 1);
            continue;
        }
        take_file_word(&rest, &word, &stray);
        if (stray)
            return report_stray(stray, path, text, start);
        if (!response_file_add(words, arena, arena_string(arena, buffer_view(&word))))
            return false;
    }
    return true;
}

/* Whether the file, which is to be read at this depth, is being read at a lesser one. */
static bool names_itself(struct response_file_total *total, const char *path)
{
    struct file_identity *own = &total->nested[total->depth];
    struct stat status = {0};

    *own = stat(path, &status) == 0 ? file_identity_of(&status) : (struct file_identity){0};
    for (unsigned i = 0; i < total->depth; i++)
        if (file_identity_equal(total->nested[i], *own))
            return true;
    return false;
}

bool response_file_add_file(struct response_file *words, struct arena *arena, const char *path)
{
    struct response_file_total *total = words->total;
    LOCAL_BUFFER(text);
    bool ok;

    if (total->depth == RESPONSE_FILE_DEEPEST)
        return diag_fatal("Response files are nested deeper than %u at '%s'", RESPONSE_FILE_DEEPEST,
                          path);
    if (names_itself(total, path))
        return diag_fatal("Options file '%s' names itself, directly or by other files", path);
    ok = read_within_limits(total, arena, path, &text);
    total->depth++;
    ok = ok && add_file_words(words, arena, buffer_view(&text), path);
    total->depth--;
    return ok;
}
