/* job_fixture.h: one job for the built-in assembler, and what became of it; for one test program.
 */
#pragma once

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cubin/cubin.h"
#include "toy/builtin.h"
#include "chunk_job.h"

#define MOST_OPTIONS 8
#define HEADER       ".version 8.0\n.target sm_80\n.address_size 64\n"

struct outcome {
    int code;
    struct minilink_result result;
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

static inline void release(struct outcome *outcome)
{
    free(outcome->result.cubin);
    free(outcome->result.log);
}

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
    struct cubin cubin;
    struct buffer names = {0};
    ck_assert(cubin_read(&cubin, "cubin",
                         (struct bytes){outcome->result.cubin, outcome->result.cubin_size}));
    for (uint32_t i = 1; i < cubin.section_count; i++)
        if (cubin_is_text(&cubin.sections[i]))
            buffer_printf(&names, "%.*s ", (int)cubin.sections[i].name.size - 6,
                          cubin.sections[i].name.data + 6);
    cubin_free(&cubin);
    buffer_char(&names, '\0');
    return buffer_take(&names, NULL);
}
