/* job_fixture.h: one job for the built-in assembler, and what became of it: a cubin that is read
 * back, or messages; for one test program. */
#pragma once

#include "cubin/cubin.h"
#include "toy/builtin.h"
#include "chunk_job.h"
#include "suite.h"

#define MOST_OPTIONS 8
#define HEADER       ".version 8.0\n.target sm_80\n.address_size 64\n"

struct outcome {
    int code;
    struct minilink_result result;
    struct cubin cubin; /* if the result has one */
};

static inline struct minilink_job job_of(const char *ptx, const char *arch,
                                         const char *const *options)
{
    struct minilink_job job = chunk_job(ptx, arch);
    /* Whoever runs the tests may be a make with -j. */
    job.jobserver = MINILINK_JOBSERVER_OFF;
    job.mode = MINILINK_MODE_WHOLE;
    job.options = options;
    return job;
}

static inline struct outcome assemble(const struct minilink_job *job)
{
    struct outcome outcome = {.result = {.size = sizeof outcome.result}};
    outcome.code = builtin_assembler.assemble(builtin_assembler.state, job, &outcome.result);
    if (outcome.result.cubin)
        ck_assert(cubin_read(&outcome.cubin, "cubin",
                             (struct bytes){outcome.result.cubin, outcome.result.cubin_size}));
    return outcome;
}

/* Assembles in whole-program mode. */
static inline struct outcome assemble_with(const char *ptx, const char *arch,
                                           const char *const *options)
{
    struct minilink_job job = job_of(ptx, arch, options);
    return assemble(&job);
}

static inline const char *log_of(const struct outcome *outcome)
{
    return outcome->result.log ? outcome->result.log : "";
}

static inline void outcome_free(struct outcome *outcome)
{
    if (outcome->result.cubin)
        cubin_free(&outcome->cubin);
    free(outcome->result.cubin);
    free(outcome->result.log);
}

#define OWNED_OUTCOME OWNED(outcome)

/* Whether there is a cubin; with warnings it is a success of another number. */
static inline bool has_succeeded(const struct outcome *outcome)
{
    bool has_warnings = strstr(log_of(outcome), "warning: ") != NULL;

    return outcome->code == (has_warnings ? MINILINK_WARNED : MINILINK_OK) && outcome->result.cubin;
}

/* A message of NULL: any, or none. */
static inline void expect(const struct outcome *outcome, int code, const char *message)
{
    ck_assert_msg(code == MINILINK_OK ? has_succeeded(outcome) : outcome->code == code,
                  "code %d instead of %d\n%s", outcome->code, code, log_of(outcome));
    if (message)
        ck_assert_msg(strstr(log_of(outcome), message) != NULL, "%s\ninstead of\n%s",
                      log_of(outcome), message);
}

/* Options as one text, with a blank between two. */
struct option_words {
    char text[256];
    const char *list[MOST_OPTIONS + 1];
};

static inline const char *const *split(struct option_words *words, const char *options)
{
    size_t count = 0;
    ck_assert_uint_lt(strlen(options), sizeof words->text);
    strcpy(words->text, options);
    for (char *word = strtok(words->text, " "); word; word = strtok(NULL, " ")) {
        ck_assert_uint_lt(count, MOST_OPTIONS);
        words->list[count++] = word;
    }
    words->list[count] = NULL;
    return words->list;
}

static inline struct outcome run(const char *ptx, const char *options)
{
    struct option_words words;
    return assemble_with(ptx, "sm_90", split(&words, options));
}

/* The names of the functions that have code, each with a blank behind it, in order. */
static inline char *functions_of(const struct outcome *outcome)
{
    struct buffer names = {0};
    for (uint32_t i = 1; i < outcome->cubin.section_count; i++) {
        const struct cubin_section *section = &outcome->cubin.sections[i];

        if (cubin_is_text(section))
            buffer_printf(&names, "%.*s ", (int)section->name.size - 6, section->name.data + 6);
    }
    return buffer_take(&names, NULL);
}

static inline bool has_section(const struct outcome *outcome, const char *name)
{
    return cubin_section_find(&outcome->cubin, text_of(name)) != 0;
}

static inline const struct cubin_section *section(const struct outcome *outcome, const char *name)
{
    ck_assert_msg(has_section(outcome, name), "no section %s", name);
    return &outcome->cubin.sections[cubin_section_find(&outcome->cubin, text_of(name))];
}

static inline const struct cubin_symbol *symbol(const struct outcome *outcome, const char *name)
{
    for (size_t i = 1; i < outcome->cubin.symbol_count; i++)
        if (text_equal(outcome->cubin.symbols[i].name, text_of(name)) &&
            outcome->cubin.symbols[i].type != STT_SECTION)
            return &outcome->cubin.symbols[i];
    ck_abort_msg("no symbol %s", name);
    return NULL;
}

static inline struct text symbol_name(const struct outcome *outcome, uint64_t index)
{
    return outcome->cubin.symbols[index].name;
}

/* The first record of that attribute in a section. */
static inline bool find_record(const struct outcome *outcome, const char *name, uint8_t attribute,
                               struct info_record *record)
{
    struct bytes rest = section(outcome, name)->data;

    while (info_next(&rest, record))
        if (record->attribute == attribute)
            return true;
    return false;
}
