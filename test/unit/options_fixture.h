/* options_fixture.h: options that are read with their messages caught. */
#pragma once

#include "../cmd/minilink/program.h"
#include "messages.h"
#include "suite.h"

static struct options options;

void set_up(void)
{
    memset(&options, 0, sizeof options);
    messages_catch();
}

/* Forgets what was read. */
static inline void forget_options(void)
{
    options_free(&options);
    memset(&options, 0, sizeof options);
}

#define MOST_WORDS 32

/* Reads words that end with NULL as a command line, after what was read before. */
static inline bool read_words(const char *const *words)
{
    static char program[] = "minilink", copies[MOST_WORDS][128], *argv[MOST_WORDS + 1] = {program};
    int count = 1;

    for (; *words; words++, count++)
        argv[count] = strcpy(copies[count], *words);
    argv[count] = NULL;
    return arguments_read(&options, &(struct arguments){count, argv});
}

void tear_down(void)
{
    options_free(&options);
}
