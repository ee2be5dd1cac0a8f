/* text.h: texts and lists of words that grow. When memory runs out, that is noted, and what was to
 * be added is left out. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Starts as {0}. A NUL that is not counted follows the text, once there is one. */
struct log {
    char *data;
    size_t size, room;
    bool is_lost; /* memory ran out */
};

void log_add(struct log *log, const char *data, size_t size);
void log_printf(struct log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds lines of a log of minilink's, without the name of the program in front of them. */
void log_add_messages(struct log *log, const char *lines);

void log_free(struct log *log);

/* Starts as {0}. The words are the list's own. */
struct words {
    const char **list;
    size_t count, room;
    bool is_lost;
};

void words_add(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
void words_free(struct words *words);
