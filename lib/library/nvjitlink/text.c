/* text.c: texts and lists of words that grow. */
#include "library/nvjitlink/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "minilink "

/* Room for `size` bytes more, and a NUL. */
static bool log_reserve(struct log *log, size_t size)
{
    size_t room = log->room ? log->room : 256;
    char *data;

    if (log->is_lost || size > SIZE_MAX / 4 - log->size)
        return false;
    while (room < log->size + size + 1)
        room *= 2;
    data = room == log->room ? log->data : realloc(log->data, room);
    if (!data)
        return false;
    log->data = data;
    log->room = room;
    return true;
}

void log_add(struct log *log, const char *data, size_t size)
{
    if (size == 0)
        return;
    if (!log_reserve(log, size)) {
        log->is_lost = true;
        return;
    }
    memcpy(log->data + log->size, data, size);
    log->size += size;
    log->data[log->size] = '\0';
}

/* malloc'ed; NULL without memory for it. */
static char *print(const char *format, va_list arguments)
{
    char *text;

    return vasprintf(&text, format, arguments) < 0 ? NULL : text;
}

void log_printf(struct log *log, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    text = print(format, arguments);
    va_end(arguments);
    if (text)
        log_add(log, text, strlen(text));
    else
        log->is_lost = true;
    free(text);
}

void log_add_messages(struct log *log, const char *lines)
{
    while (*lines) {
        size_t size = strcspn(lines, "\n"), skip = 0;

        size += lines[size] == '\n';
        if (strncmp(lines, PROGRAM, strlen(PROGRAM)) == 0)
            skip = strlen(PROGRAM);
        log_add(log, lines + skip, size - skip);
        lines += size;
    }
}

void log_free(struct log *log)
{
    free(log->data);
    *log = (struct log){0};
}

static bool words_reserve(struct words *words)
{
    size_t room = words->room ? words->room * 2 : 16;
    const char **list;

    if (words->count < words->room)
        return true;
    list = realloc(words->list, room * sizeof *list);
    if (!list)
        return false;
    words->list = list;
    words->room = room;
    return true;
}

void words_add(struct words *words, const char *format, ...)
{
    va_list arguments;
    char *word;

    va_start(arguments, format);
    word = print(format, arguments);
    va_end(arguments);
    if (!word || !words_reserve(words)) {
        free(word);
        words->is_lost = true;
        return;
    }
    words->list[words->count++] = word;
}

void words_free(struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free((char *)(uintptr_t)words->list[i]);
    free(words->list);
    *words = (struct words){0};
}
