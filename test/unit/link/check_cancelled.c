/* check_cancelled.c: a link that nobody wants any more ends when its next stage would begin. */
#include <stdbool.h>

#include "minilink/minilink.h"
#include "suite.h"

static const char program[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                              ".visible .entry k()\n{\n\tret;\n}\n";

/* As they are told to those who look on. */
static const char *const stages[] = {"reading",    "linking", "splitting",
                                     "assembling", "merging", "writing"};

static struct minilink *job;
static const char *last; /* stage that begins */
static bool has_begun, has_gone_on;

void __wrap_progress_stage(const char *doing, size_t items, uint64_t weight);

/* Called where a stage begins, before the link looks whether it is wanted. */
void __wrap_progress_stage(const char *doing, size_t items, uint64_t weight)
{
    (void)items;
    (void)weight;
    has_gone_on |= has_begun;
    if (last && strcmp(doing, last) == 0) {
        has_begun = true;
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
    code = minilink_complete(job);
    ck_assert_int_eq(minilink_cubin(job, NULL) != NULL, code == MINILINK_OK);
    minilink_destroy(&job);
    return code;
}

TEST_LOOP(a_link_ends_cancelled_at_each_stage, COUNT(stages))
{
    ck_assert_int_eq(complete(stages[_i]), MINILINK_CANCELLED);
    ck_assert(has_begun);
    ck_assert(!has_gone_on);
}

TEST(a_link_that_is_wanted_is_complete)
{
    ck_assert_int_eq(complete(NULL), MINILINK_OK);
}
