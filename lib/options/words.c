/* words.c: options as words of other programs: those of the assembler that select kernels, those
 * that the link hands on, and those that were stored with PTX. */
#include "options/consensus.h"

#include <stdlib.h>

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

void forward_value(struct word_list *words, const char *name, const char *value)
{
    if (value && *value)
        word_list_printf(words, "%s=%s", name, value);
}

static void add_split_compile(struct word_list *words, int32_t value)
{
    if (value != 1)
        word_list_printf(words, "-split-compile=%d", (int)value);
}

static void add_ofast_compile(struct word_list *words, const struct option_request *request)
{
    if (request->ofast_compile && strcmp(request->ofast_compile, "0") != 0)
        forward_value(words, "-Ofc", request->ofast_compile);
}

/* Measured on 13.0 and 13.5: 1 gives different PTX than all greater values. So that the output
 * depends neither on the machine nor on --threads, 0 (all CPUs) and limits are 2 or more. */
void forward_split(struct word_list *words, const struct agreement *agreement, int32_t most)
{
    int32_t value = agreement->split_compile_extended != 1 ? agreement->split_compile_extended
                                                           : agreement->split_compile;

    if (value != 1 && (value <= 0 || value > most))
        value = most < 2 ? 2 : most;
    add_split_compile(words, value);
}

void forward_latest(struct word_list *words, const struct option_request *request)
{
    if (request->nvvm_latest)
        word_list_add(words, "-nvvm-version=nvvm-latest"); /* 12.8 to 13.5 have it */
}

void forward_agreed(struct word_list *words, const struct agreement *agreement,
                    const struct option_request *request)
{
    if (agreement->debug)
        word_list_add(words, "-g");
    if (agreement->line_info)
        word_list_add(words, "-lineinfo");
    if (agreement->maxrregcount > 0)
        word_list_printf(words, "-maxrregcount=%d", (int)agreement->maxrregcount);
    add_ofast_compile(words, request);
    forward_latest(words, request);
}

static bool gives_value(const char *const *given, const char *name)
{
    for (size_t length = strlen(name); *given; given++)
        if (strncmp(*given, name, length) == 0 && (*given)[length] == '=')
            return true;
    return false;
}

/* The names of libnvvm; only that of -fma differs from nvcc's. */
void forward_arithmetic(struct word_list *words, const struct agreement *agreement,
                        const char *const *given)
{
    static const char *const names[] = {[EMBEDDED_FTZ] = "-ftz",
                                        [EMBEDDED_PREC_DIV] = "-prec-div",
                                        [EMBEDDED_PREC_SQRT] = "-prec-sqrt",
                                        [EMBEDDED_FMAD] = "-fma"};

    for (int option = EMBEDDED_FTZ; option <= EMBEDDED_FMAD; option++)
        if (consensus_has_one_value(&agreement->embedded[option]) &&
            !gives_value(given, names[option]))
            word_list_printf(words, "%s=%d", names[option], (int)agreement->embedded[option].value);
}

const char *const *forward_to_ptxas(struct arena *arena, const struct agreement *agreement,
                                    const struct option_request *request, const char *const *given,
                                    bool has_threads)
{
    struct word_list words = {.arena = arena};

    add_ofast_compile(&words, request);
    if (has_threads)
        add_split_compile(&words, agreement->split_compile);
    word_list_add_all(&words, given);
    return word_list_end(&words);
}

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
