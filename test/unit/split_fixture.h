/* split_fixture.h: a program and its chunks; for one test program. */
#pragma once

#include "ptx/module.h"
#include "split/split.h"
#include "messages.h"
#include "suite.h"

#define HEADER ".version 8.0\n.target sm_90\n.address_size 64\n"

static struct program program;
static struct chunks chunks;
static struct arena lists; /* what a test lists of its chunks */

void set_up(void)
{
    messages_catch();
}

static void release(void)
{
    chunks_free(&chunks);
    program_free(&program);
}

void tear_down(void)
{
    release();
    arena_free(&lists);
}

/* Links and splits. */
static void split_sources(const struct program_source *sources, size_t count,
                          const struct split_request *request)
{
    struct program_request link = {.arch = {90, 0},
                                   .allow_undefined = !request->is_exact,
                                   .wants_marks = request->policy == SPLIT_STABLE};

    release();
    ck_assert_msg(program_link(&program, sources, count, &link), "%s", messages_said());
    split_program(&chunks, &program, request);
    ck_assert_uint_ge(chunks.count, 1);
}

/* The same for one module. */
static void split_one(struct text text, const struct split_request *request)
{
    split_sources(&(struct program_source){"a.ptx", text}, 1, request);
}

/* Appends kernels of 1 KiB each. */
static void put_kernels(struct buffer *text, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        buffer_printf(text, ".visible .entry k%03u() { %*s }\n", i, 1024 - 27, "ret;");
}
