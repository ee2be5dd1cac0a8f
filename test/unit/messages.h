/* messages.h: what a test makes of the messages that are reported. */
#pragma once

#include <check.h>

#include "diag/diag.h"

/* Those that were caught last. */
static struct diag_sink messages;

/* From now on messages are collected and not printed. */
static inline void messages_catch(void)
{
    diag_sink_free(&messages);
    diag_state_get()->sink = &messages;
}

/* Ends that, and returns what was said. */
static inline const char *messages_said(void)
{
    diag_state_get()->sink = NULL;
    if (messages.text.size == 0 || messages.text.data[messages.text.size - 1] != '\0')
        buffer_char(&messages.text, '\0');
    return messages.text.data;
}

/* The same, and asserts that `expected` is all that was said. */
static inline void messages_expect(const char *expected)
{
    ck_assert_str_eq(messages_said(), expected);
}

/* The same, when what was said only has to contain `part`. */
static inline void messages_expect_part(const char *part)
{
    const char *said = messages_said();

    ck_assert_msg(strstr(said, part) != NULL, "'%s' not found in: %s", part, said);
}
