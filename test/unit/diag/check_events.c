/* check_events.c: what threads record ends up in rows, sorted, and costs a link nothing. */
#include "diag/events.h"

#include <pthread.h>

#include "base/clock.h"
#include "diag/diag.h"
#include "suite.h"

struct worker {
    const struct diag_state *parent;
    unsigned number; /* 0 = no worker of a pool */
    uint32_t chunk;
    const char *name;
    uint64_t start, end;
    size_t count;
};

static void *work(void *argument)
{
    const struct worker *worker = argument;
    char name[24];

    if (worker->number) {
        snprintf(name, sizeof name, "minilink-%u", worker->number);
        pthread_setname_np(pthread_self(), name);
    }
    diag_state_inherit(worker->parent);
    events_chunk(worker->chunk);
    for (size_t i = 0; i < worker->count; i++)
        events_record(&(struct event){.kind = EVENT_CHUNK,
                                      .name = text_of(worker->name),
                                      .start = worker->start + i,
                                      .end = worker->end + i});
    return NULL;
}

static void run(struct worker *workers, size_t count)
{
    pthread_t threads[8];

    for (size_t i = 0; i < count; i++) {
        workers[i].parent = diag_state_get();
        if (!workers[i].count)
            workers[i].count = 1;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static struct arena arena;
static struct events events;

static void read_and_close(struct event_log *log)
{
    events_read(log, &arena, &events);
    for (size_t i = 0; i < events.count; i++)
        events.list[i].event.name = arena_text(&arena, events.list[i].event.name);
    events_close(log);
}

static const struct logged_event *find(const char *name)
{
    for (size_t i = 0; i < events.count; i++)
        if (text_equal(events.list[i].event.name, text_of(name)))
            return &events.list[i];
    ck_abort_msg("no event '%s'", name);
}

static const char *row_of(const char *name)
{
    return events.rows[find(name)->row].name;
}

TEST(without_a_log_nothing_is_recorded)
{
    ck_assert(!events_are_on());
    ck_assert_uint_eq(events_clock(), 0);
    events_record(&(struct event){.kind = EVENT_CHUNK, .name = TEXT("a")});
    events_count("tokens", 1);
    events_count_memory();
    events_chunk(3);
    read_and_close(events_open());
    ck_assert_uint_eq(events.count, 0);
    ck_assert(!events_are_on());
    ck_assert_uint_eq(events_clock(), 0);
}

TEST(each_thread_has_a_row_named_after_what_it_is)
{
    struct event_log *log = events_open();
    struct worker workers[] = {{.number = 2, .chunk = 7, .name = "second", .start = 10, .end = 20},
                               {.number = 1, .chunk = 4, .name = "first", .start = 10, .end = 30}};

    run(workers, 2);
    events_record(&(struct event){.kind = EVENT_STAGE, .name = TEXT("own"), .start = 5, .end = 40});
    read_and_close(log);
    ck_assert_uint_eq(events.count, 3);
    ck_assert_uint_eq(events.row_count, 3);
    ck_assert_str_eq(events.rows[0].name, "link");
    ck_assert_str_eq(events.rows[1].name, "worker 1");
    ck_assert_str_eq(events.rows[2].name, "worker 2");
    ck_assert_str_eq(row_of("own"), "link");
    ck_assert_str_eq(row_of("first"), "worker 1");
    ck_assert_str_eq(row_of("second"), "worker 2");
    ck_assert(!events.rows[0].is_worker && events.rows[1].is_worker);
    ck_assert_uint_eq(find("first")->event.chunk, 5);
    ck_assert_uint_eq(find("second")->event.chunk, 8);
    ck_assert_uint_eq(find("own")->event.chunk, 0);
    /* Sorted by start, the longer first: a slice stands in front of those inside it. */
    ck_assert(text_equal(events.list[0].event.name, TEXT("own")));
    ck_assert(text_equal(events.list[1].event.name, TEXT("first")));
}

TEST(workers_of_one_number_share_a_row_unless_they_run_at_once)
{
    struct event_log *log = events_open();
    struct worker early[] = {{.number = 1, .name = "early", .start = 10, .end = 20}};
    struct worker late[] = {{.number = 1, .name = "late", .start = 20, .end = 30}};
    struct worker nested[] = {{.number = 1, .name = "nested", .start = 12, .end = 14}};

    run(early, 1);
    run(late, 1);
    run(nested, 1);
    read_and_close(log);
    ck_assert_str_eq(row_of("early"), "worker 1");
    ck_assert_str_eq(row_of("late"), "worker 1");
    ck_assert_str_eq(row_of("nested"), "worker 1 (2)");
}

TEST(what_happens_apart_from_threads_never_overlaps_in_a_row)
{
    struct event_log *log = events_open();
    static const uint64_t times[][2] = {{10, 50}, {20, 30}, {30, 40}, {50, 60}};
    char name[] = "a";

    for (size_t i = 0; i < 4; i++, name[0]++)
        events_record(&(struct event){.kind = "part",
                                      .name = text_of(name),
                                      .start = times[i][0],
                                      .end = times[i][1],
                                      .is_apart = true});
    read_and_close(log);
    ck_assert_str_eq(row_of("a"), "part 1");
    ck_assert_str_eq(row_of("b"), "part 2");
    ck_assert_str_eq(row_of("c"), "part 2");
    ck_assert_str_eq(row_of("d"), "part 1");
}

/* Names are copied. */
TEST(many_and_long_names_are_kept)
{
    struct event_log *log = events_open();
    char name[32], *longest = malloc(300000);

    memset(longest, 'x', 300000);
    events_record(&(struct event){.kind = "kind", .name = {longest, 300000}, .start = 1});
    memset(longest, 'y', 300000);
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "name %u", i);
        events_record(&(struct event){.kind = "kind", .name = text_of(name), .start = 2 + i});
    }
    read_and_close(log);
    ck_assert_uint_eq(events.count, 5001);
    ck_assert_uint_eq(events.lost, 0);
    ck_assert_uint_eq(events.list[0].event.name.size, 300000);
    ck_assert_int_eq(events.list[0].event.name.data[299999], 'x');
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "name %u", i);
        ck_assert(text_equal(events.list[1 + i].event.name, text_of(name)));
    }
    free(longest);
}

TEST(counters_and_clocks)
{
    uint64_t before = clock_now();
    struct event_log *log = events_open();
    uint64_t start = events_clock();

    events_count("tokens", 3);
    events_count_memory();
    events_record(&(struct event){.kind = "kind", .name = TEXT("now"), .start = start});
    read_and_close(log);
    ck_assert_uint_ge(events.start, before);
    ck_assert_uint_ge(start, events.start);
    ck_assert_uint_ge(find("now")->event.end, start);
    ck_assert_uint_eq(find("tokens")->event.bytes, 3);
    ck_assert_str_eq(find("tokens")->event.kind, EVENT_COUNTER);
    ck_assert_uint_gt(find("memory")->event.bytes, 4096);
}

/* Under the thread sanitizer, this is what shows a race. */
TEST(threads_record_at_the_same_time)
{
    struct event_log *log = events_open();
    struct worker workers[8];

    for (unsigned i = 0; i < 8; i++)
        workers[i] =
            (struct worker){.number = i + 1, .name = "same", .start = 1, .end = 2, .count = 1000};
    run(workers, 8);
    read_and_close(log);
    ck_assert_uint_eq(events.count, 8000);
    ck_assert_uint_eq(events.row_count, 8);
}

void tear_down(void)
{
    arena_free(&arena);
}
