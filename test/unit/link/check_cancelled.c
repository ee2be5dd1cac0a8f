/* check_cancelled.c: a link that nobody wants any more ends before its next stage. */
#include <stdbool.h>

#include "minilink/minilink.h"
#include "observe/observe.h"
#include "suite.h"

static const char program[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                              ".visible .entry k()\n{\n\tret;\n}\n";

/* After each of these stages the link looks whether it is wanted before it goes on. */
static const char *const stages[] = {"agree", "link", "split", "assemble", "merge"};

static struct minilink *job;
static const char *last; /* stage after which the link is cancelled */
static bool is_early, has_ended, has_gone_on;

void __wrap_observe_stage(struct observation *observation, const char *stage,
                          struct observe_work work);

/* Called where a stage ends. */
void __wrap_observe_stage(struct observation *observation, const char *stage,
                          struct observe_work work)
{
    (void)observation;
    (void)work;
    has_gone_on |= has_ended && strcmp(stage, "assemble") != 0; /* which then assembles nothing */
    if (last && strcmp(stage, last) == 0) {
        has_ended = true;
        minilink_cancel(job);
    }
}

static int complete(const char *stage)
{
    static const char *const options[] = {"-arch=sm_90", "--assembler=builtin"};
    int code;

    last = stage;
    ck_assert_int_eq(minilink_create(&job, options, COUNT(options)), MINILINK_OK);
    ck_assert_int_eq(
        minilink_add_data(job, MINILINK_INPUT_PTX, program, sizeof program - 1, "program"),
        MINILINK_OK);
    if (is_early) {
        has_ended = true;
        minilink_cancel(job);
    }
    code = minilink_complete(job);
    ck_assert_int_eq(minilink_cubin(job, NULL) != NULL, code == MINILINK_OK);
    minilink_destroy(&job);
    return code;
}

TEST_LOOP(a_link_ends_cancelled_after_each_stage, COUNT(stages))
{
    ck_assert_int_eq(complete(stages[_i]), MINILINK_CANCELLED);
    ck_assert(has_ended);
    ck_assert(!has_gone_on);
}

TEST(a_link_that_was_cancelled_before_does_not_begin)
{
    is_early = true;
    ck_assert_int_eq(complete(NULL), MINILINK_CANCELLED);
    ck_assert(!has_gone_on);
}

TEST(a_link_that_is_wanted_is_complete)
{
    ck_assert_int_eq(complete(NULL), MINILINK_OK);
}
