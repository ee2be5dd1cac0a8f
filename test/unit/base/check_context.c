/* Unwinding: recovery points, deferred cleanups, contexts of threads, and messages without memory.
 */
#include "base/memory.h"
#include "base/context.h"
#include "base/text.h"
#include "messages.h"
#include "suite.h"

/* What has been cleaned up, in order. */
struct record {
    char order[16];
    size_t count;
};

struct entry {
    struct record *record;
    char name;
};

static void note(void *argument)
{
    const struct entry *entry = argument;

    entry->record->order[entry->record->count++] = entry->name;
}

static enum link_code raise_behind_three(void *argument)
{
    struct entry entries[] = {{argument, 'a'}, {argument, 'b'}, {argument, 'c'}};

    CONTEXT_DEFER(note, &entries[0]);
    CONTEXT_DEFER(note, &entries[1]);
    CONTEXT_DEFER(note, &entries[2]);
    context_raise(LINK_NO_MEMORY);
}

TEST(raising_cleans_up_newest_first)
{
    struct record record = {0};

    ck_assert_int_eq(context_run(raise_behind_three, &record), LINK_NO_MEMORY);
    ck_assert_str_eq(record.order, "cba");
    ck_assert_ptr_null(context_get()->cleanups);
}

static enum link_code clean_then_raise(void *argument)
{
    struct entry outer = {argument, 'o'}, inner = {argument, 'i'}, between = {argument, '-'};

    CONTEXT_DEFER(note, &outer);
    {
        CONTEXT_DEFER(note, &inner);
    }
    note(&between);
    context_raise(LINK_FAILED);
}

TEST(a_block_cleans_up_as_it_ends_and_once)
{
    struct record record = {0};

    ck_assert_int_eq(context_run(clean_then_raise, &record), LINK_FAILED);
    ck_assert_str_eq(record.order, "i-o");
}

static enum link_code run_inside(void *argument)
{
    struct entry own = {argument, 'x'};

    CONTEXT_DEFER(note, &own);
    ck_assert_int_eq(context_run(raise_behind_three, argument), LINK_NO_MEMORY);
    ck_assert_str_eq(own.record->order, "cba");
    return LINK_OK;
}

TEST(an_inner_raise_leaves_outer_cleanups_alone)
{
    struct record record = {0};

    ck_assert_int_eq(context_run(run_inside, &record), LINK_OK);
    ck_assert_str_eq(record.order, "cbax");
}

static enum link_code raise_behind_inner(void *argument)
{
    struct entry own = {argument, 'x'};

    CONTEXT_DEFER(note, &own);
    ck_assert_int_eq(context_run(raise_behind_three, argument), LINK_NO_MEMORY);
    context_raise(LINK_FAILED);
}

TEST(behind_an_inner_point_the_outer_one_is_raised_to)
{
    struct record record = {0};

    ck_assert_int_eq(context_run(raise_behind_inner, &record), LINK_FAILED);
    ck_assert_str_eq(record.order, "cbax");
    ck_assert_ptr_null(context_get()->recovery);
}

/* How messages look is taken over; errors are the thread's own. */
TEST(what_is_inherited_has_no_errors)
{
    struct diag_state from = {.has_fatal_error = true, .error_count = 3}, *own = diag_state_get();
    struct {
        void *from, *own;
        size_t size;
    } rows[] = {
#define ROW(field) {&from.field, &own->field, sizeof from.field}
        ROW(suppress_infos), ROW(suppress_warnings), ROW(warnings_are_errors),
        ROW(annotate),       ROW(verbose),           ROW(phase),
        ROW(color),          ROW(keeps_mangled),     ROW(format),
        ROW(program),        ROW(report_arch),       ROW(error_limit),
        ROW(event_chunk),
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        *(char *)rows[i].from = 1;
    own->error_count = 7;
    own->has_warning_or_error = own->has_fatal_error = true;
    diag_state_inherit(&from);
    for (size_t i = 0; i < COUNT(rows); i++)
        ck_assert_msg(memcmp(rows[i].own, rows[i].from, rows[i].size) == 0, "row %zu", i);
    ck_assert(!own->has_warning_or_error && !own->has_fatal_error);
    ck_assert_uint_eq(own->error_count, 0);
    memset(own, 0, sizeof *own);
}

/* Leaks here are found by a sanitizer or valgrind. */
static enum link_code raise_with_containers(void *argument)
{
    struct buffer buffer = {0};
    struct table table = {0};
    struct arena arena = {0};
    char *array = NULL;
    size_t count = 0, capacity = 0;

    (void)argument;
    CONTEXT_DEFER(buffer_cleanup, &buffer);
    CONTEXT_DEFER(table_cleanup, &table);
    CONTEXT_DEFER(arena_cleanup, &arena);
    CONTEXT_DEFER(memory_cleanup, &array);
    buffer_string(&buffer, "text");
    table_add(&table, TEXT("name"), 1);
    arena_alloc(&arena, 10, 10);
    for (int i = 0; i < 100; i++)
        ARRAY_PUSH(array, count, capacity) = 'x';
    memory_alloc(SIZE_MAX, 2);
    return LINK_OK;
}

TEST(containers_are_freed_on_the_way)
{
    ck_assert_int_eq(context_run(raise_with_containers, NULL), LINK_NO_MEMORY);
}

static void take_lines(void *argument, int severity, struct text lines)
{
    struct buffer *taken = argument;

    buffer_printf(taken, "%d:%.*s", severity, TEXT_ARG(lines));
}

static enum link_code say_something(void *unused)
{
    (void)unused;
    diag_warning("first");
    diag_note("of it");
    diag_text(TEXT("text\n"));
    context_raise(LINK_FAILED);
}

TEST(a_call_inside_of_another_has_a_state_of_its_own)
{
    OWNED(buffer) outer = {0}, inner = {0};
    const struct diag_writer writers[] = {{take_lines, &outer}, {take_lines, &inner}};
    struct diag_state *state = diag_state_get();
    struct context outside;

    state->writer = &writers[0];
    diag_error("outside");
    outside = *context_get();
    *context_get() = (struct context){0};
    ck_assert_uint_eq(diag_error_count(), 0);
    state->writer = &writers[1];
    ck_assert_int_eq(context_run(say_something, NULL), LINK_FAILED);
    *context_get() = outside;
    ck_assert_uint_eq(diag_error_count(), 1);
    diag_error("again");
    state->writer = NULL;
    ck_assert(text_equal(buffer_view(&outer),
                         TEXT("4:minilink error   : outside\n4:minilink error   : again\n")));
    ck_assert(text_equal(buffer_view(&inner),
                         TEXT("3:minilink warning : first\n1:minilink note    : of it\n0:text\n")));
}

TEST(running_out_of_memory_is_reported_as_a_fatal_error)
{
    messages_catch();
    diag_no_memory();
    messages_expect("minilink fatal   : out of memory\n");
    ck_assert_uint_eq(messages.errors, 1);
    ck_assert(diag_state_get()->has_fatal_error);
}

TEST(werror_makes_errors_of_warnings_but_not_of_cautions)
{
    struct diag_state *state = diag_state_get();

    messages_catch();
    state->warnings_are_errors = true;
    diag_warning("what the user can mend");
    ck_assert_uint_eq(messages.errors, 1);
    diag_caution("what the user cannot");
    diag_note("why");
    ck_assert_uint_eq(messages.errors, 1);
    state->warnings_are_errors = false;
    state->suppress_warnings = true;
    diag_caution("not wanted");
    diag_note("nor this");
    state->suppress_warnings = false;
    messages_expect("minilink error   : what the user can mend\n"
                    "minilink warning : what the user cannot\n"
                    "minilink note    : why\n");
}
