/* options_fixture.h: options that are read with their messages caught. */
#pragma once

#include <string.h>

#include "base/context.h"
#include "command/options.h"
#include "diag/diag.h"
#include "suite.h"

static struct diag_sink sink;
static struct options options;

void set_up(void)
{
    memset(&sink, 0, sizeof sink);
    memset(&options, 0, sizeof options);
    diag_state_get()->sink = &sink;
}

/* Forgets what was read. */
static inline void forget_options(void)
{
    options_free(&options);
    memset(&options, 0, sizeof options);
}

void tear_down(void)
{
    diag_state_get()->sink = NULL;
    diag_sink_free(&sink);
    options_free(&options);
}
