/* stored.c: cuts the string into words, and sorts out those that change no code. */
#include "options/consensus.h"

#include <string.h>

#define COMPILE_ONLY 0

static const struct remark {
    const char *name;
    const char *short_name;
    unsigned remark;  /* enum stored_remark, or COMPILE_ONLY */
    const char *word; /* as stored_finish() writes it */
} remarks[] = {
    {"compile-only", "c", COMPILE_ONLY, NULL},
    {"generate-line-info", "lineinfo", STORED_LINE_INFO, "-lineinfo"},
    {"verbose", "v", STORED_VERBOSE, "-v"},
    {"disable-warnings", "w", STORED_NO_WARNINGS, "-w"},
};

#define REMARKS (sizeof remarks / sizeof *remarks)

static const struct remark *find_remark(const char *word)
{
    const char *name = word + strspn(word, "-");

    for (size_t i = 0; i < REMARKS && name > word; i++)
        if (strcmp(name, remarks[i].name) == 0 || strcmp(name, remarks[i].short_name) == 0)
            return &remarks[i];
    return NULL;
}

struct stored_options stored_read(struct arena *arena, struct text options)
{
    struct stored_options stored = {0};
    char *copy = arena_string(arena, options), *rest = copy, *word;

    stored.words = arena_zalloc(arena, strlen(copy) / 2 + 2 + REMARKS, sizeof *stored.words);
    while ((word = strtok_r(rest, " \t", &rest))) {
        const struct remark *remark = find_remark(word);

        if (remark)
            stored.remarks |= remark->remark;
        else
            stored.words[stored.count++] = word;
    }
    return stored;
}

bool stored_are_equal(const struct stored_options *a, const struct stored_options *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (strcmp(a->words[i], b->words[i]) != 0)
            return false;
    return a->count == b->count;
}

void stored_unite(struct stored_options *a, const struct stored_options *b)
{
    unsigned both = a->remarks & b->remarks & STORED_NO_WARNINGS;

    a->remarks = ((a->remarks | b->remarks) & ~(unsigned)STORED_NO_WARNINGS) | both;
}

void stored_finish(struct stored_options *options)
{
    for (size_t i = 0; i < REMARKS; i++)
        if (options->remarks & remarks[i].remark)
            options->words[options->count++] = remarks[i].word;
}
