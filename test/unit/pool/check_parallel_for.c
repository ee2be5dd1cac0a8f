/* check_parallel_for.c: every item once, messages in the order of the items, failures raised. */
#include "pool/dispatch.h"

#include <stdatomic.h>
#include <unistd.h>

#include "messages.h"
#include "suite.h"

#define ITEMS 1000u

struct loop {
    atomic_uint seen[ITEMS];
    atomic_uint parts;
    size_t failing; /* this item raises; ITEMS = none */
};

static void visit(void *argument, size_t part, size_t first, size_t last)
{
    struct loop *loop = argument;

    atomic_fetch_add(&loop->parts, 1);
    ck_assert_uint_lt(part, PARALLEL_MOST_PARTS);
    for (size_t i = first; i < last; i++) {
        if (i == loop->failing)
            context_raise(LINK_ENVIRONMENT);
        atomic_fetch_add(&loop->seen[i], 1);
        if (i % 100 == 0)
            diag_error("item %zu", i);
    }
}

static void check_loop(uint32_t threads, size_t least, unsigned parts)
{
    struct parallel_limits limits = {.threads = threads, .jobserver = JOBSERVER_OFF};
    struct loop loop = {.failing = ITEMS};

    messages_catch();
    parallel_for(&limits, ITEMS, least, visit, &loop);
    ck_assert_uint_eq(loop.parts, parts);
    for (size_t i = 0; i < ITEMS; i++)
        ck_assert_uint_eq(loop.seen[i], 1);
    ck_assert_uint_eq(messages.errors, 10);
    ck_assert_uint_eq(messages.message_count, 10);
    for (size_t at = 0, i = 0; i < messages.message_count; at = messages.messages[i++].end) {
        char wanted[64];
        int size = snprintf(wanted, sizeof wanted, "item %zu\n", i * 100);

        ck_assert_ptr_nonnull(
            memmem(messages.text.data + at, messages.messages[i].end - at, wanted, (size_t)size));
    }
}

TEST(each_item_comes_once_and_messages_in_order)
{
    check_loop(1, 1, 1);
    check_loop(0, 1, 1);
    check_loop(2, 1, 2);
    check_loop(7, 1, 7);
    check_loop(1000, 1, PARALLEL_MOST_PARTS);
}

TEST(few_items_are_one_part)
{
    check_loop(8, 300, 3);
    check_loop(8, ITEMS + 1, 1);
}

static enum link_code run_failing(void *argument)
{
    static const struct parallel_limits limits = {.threads = 4, .jobserver = JOBSERVER_OFF};

    parallel_for(&limits, ITEMS, 1, visit, argument);
    return LINK_OK;
}

/* What parts before it said is heard; the others have run. */
TEST(what_a_part_raises_is_raised)
{
    struct loop loop = {.failing = 300};

    messages_catch();
    ck_assert_int_eq(context_run(run_failing, &loop), LINK_ENVIRONMENT);
    ck_assert_uint_eq(messages.errors, 3);
    ck_assert_uint_eq(loop.seen[299], 1);
    ck_assert_uint_eq(loop.seen[300], 0);
    ck_assert_uint_eq(loop.seen[500], 1);
}
