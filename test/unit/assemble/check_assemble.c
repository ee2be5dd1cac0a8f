/* check_assemble.c: chunks through the pool with an assembler that does what a test tells it.
 *
 * The chunks are made by hand: line L of chunk C came from line 1000 * C + L of "lib.a(b.o)", but
 * line 13 was written by the splitter. */
#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

#include "assemble/assemble.h"
#include "assemble/internal.h"
#include "base/memory.h"
#include "diag/log_line.h"
#include "messages.h"
#include "pool/pool.h"
#include "split/internal.h"
#include "suite.h"

#define MOST 64

static char texts[MOST][128];
static struct chunk list[MOST];
static struct line_range ranges[MOST][2];
static struct chunk_origins origins[MOST];
static struct chunks chunks = {.list = list, .origins = origins};

/* What the fake assembler shall do with each chunk, by index; all else succeeds. */
enum deed { SUCCEED, FAIL, NO_MEMORY, LIE, WAIT_FOR_CANCEL, REPORT, WARN, WARN_AND_LIE };
static enum deed deeds[MOST];
static const char *logs[MOST];
static atomic_int running, most_running, started, started_order[MOST];
static useconds_t pause_microseconds;
/* How many chunks shall have run at the same time before one ends; on a busy machine a pause is no
 * time in which others are sure to start. */
static int meeting;

static size_t index_of(const struct minilink_job *job)
{
    return (size_t)strtoul(job->ptx + 3, NULL, 10);
}

/* Until the test's own time is over. */
static void wait_for_cancel(const struct minilink_job *job)
{
    while (!__atomic_load_n(job->cancelled, __ATOMIC_RELAXED))
        usleep(1000);
}

static int do_deed(const struct minilink_job *job, struct minilink_result *result, size_t i)
{
    if (logs[i])
        result->log = strdup(logs[i]);
    switch (deeds[i]) {
    case FAIL:
        result->cubin = strdup("half");
        return MINILINK_FAILED;
    case NO_MEMORY:
        result->cubin = strdup("half");
        memory_alloc(SIZE_MAX, 2);
        return MINILINK_OK;
    case LIE:
        return MINILINK_OK;
    case WAIT_FOR_CANCEL:
        wait_for_cancel(job);
        return MINILINK_CANCELLED;
    case REPORT:
        diag_warning("from within %s", job->name);
        break;
    case WARN_AND_LIE:
        return MINILINK_WARNED;
    case WARN:
    case SUCCEED:
        break;
    }
    result->cubin = strdup(job->ptx);
    result->cubin_size = job->ptx_size;
    return deeds[i] == WARN ? MINILINK_WARNED : MINILINK_OK;
}

static atomic_uint told_threads; /* the last job's */

static int fake_assemble(void *state, const struct minilink_job *job,
                         struct minilink_result *result)
{
    size_t i = index_of(job);
    int now, most;

    /* Before it counts as running: who meets the others knows that all of them stand here. */
    atomic_store(&started_order[atomic_fetch_add(&started, 1)], (int)i);
    now = atomic_fetch_add(&running, 1) + 1;
    most = atomic_load(&most_running);
    ck_assert_ptr_eq(state, &running);
    ck_assert_str_eq(job->arch, "sm_90a");
    ck_assert_uint_eq(job->sm, 90);
    ck_assert(job->debug && job->line_info && job->maxrregcount == 77);
    ck_assert_uint_eq(job->mode, MINILINK_MODE_WHOLE);
    atomic_store(&told_threads, job->threads);
    while (now > most && !atomic_compare_exchange_weak(&most_running, &most, now))
        ;
    if (pause_microseconds)
        usleep(pause_microseconds);
    while (atomic_load(&most_running) < meeting)
        usleep(100);
    atomic_fetch_sub(&running, 1);
    return do_deed(job, result, i);
}

static struct assembler fake = {
    .table = {MINILINK_ASSEMBLER_ABI, "fake", "1", fake_assemble, &running}};

/* What every request has; fake_assemble() sees that the job says so. */
#define REQUEST                                                                                    \
    .assembler = &fake, .arch = {90, 'a'}, .mode = MINILINK_MODE_WHOLE, .debug = true,             \
    .line_info = true, .maxrregcount = 77

static void make_chunks(size_t count)
{
    chunks.count = count;
    for (size_t i = 0; i < count; i++) {
        snprintf(texts[i], sizeof texts[i], "// %zu\n", i);
        list[i] = (struct chunk){.index = (uint32_t)i,
                                 .text = text_of(texts[i]),
                                 .weight = 10 * ((i * 7) % count) + 1,
                                 .priority = 10 * ((i * 7) % count) + 1,
                                 .function_count = 1,
                                 .first_function = "work"};
        ranges[i][0] = (struct line_range){1, 12, 1000 * (uint32_t)i + 1, "lib.a(b.o)"};
        ranges[i][1] = (struct line_range){14, 999, 1000 * (uint32_t)i + 14, "lib.a(b.o)"};
        origins[i] = (struct chunk_origins){ranges[i], 2};
        deeds[i] = SUCCEED;
        logs[i] = NULL;
    }
    atomic_store(&started, 0);
    atomic_store(&most_running, 0);
}

static struct cubins cubins;

void tear_down(void)
{
    cubins_free(&cubins);
}

static int run_request(const struct assemble_request *request)
{
    cubins_free(&cubins);
    messages_catch();
    return (int)assemble_chunks(&cubins, &chunks, request);
}

static int run_with(uint32_t threads)
{
    const struct assemble_request request = {REQUEST, .threads = threads,
                                             .limits.jobserver = JOBSERVER_OFF};

    return run_request(&request);
}

static const uint32_t thread_counts[] = {1, 2, 8, 64, 0};

TEST_LOOP(cubins_stand_in_chunk_order_whatever_the_number_of_threads, COUNT(thread_counts))
{
    make_chunks(MOST);
    pause_microseconds = 200;
    ck_assert_int_eq(run_with(thread_counts[_i]), LINK_OK);
    ck_assert_uint_eq(cubins.count, MOST);
    if (thread_counts[_i])
        ck_assert_uint_le(cubins.threads, thread_counts[_i]);
    else /* as many as there are processors */
        ck_assert_uint_eq(cubins.threads, pool_cpu_count() < MOST ? pool_cpu_count() : MOST);
    for (size_t i = 0; i < MOST; i++) {
        ck_assert_str_eq(cubins.list[i].data, texts[i]);
        ck_assert_uint_eq(cubins.list[i].size, strlen(texts[i]));
        ck_assert_uint_ge(cubins.list[i].nanoseconds, 200000);
    }
    messages_expect("");
    cubins_free(&cubins);
    ck_assert_ptr_null(cubins.list);
}

TEST(one_chunk_needs_no_worker)
{
    make_chunks(1);
    ck_assert_int_eq(run_with(8), LINK_OK);
    ck_assert_uint_eq(cubins.threads, 1);
}

/* Inside of a lone chunk: as many as are asked for, or processors, but no more than functions. */
TEST(threads_inside_of_a_chunk_are_told)
{
    static const struct {
        size_t chunks;
        uint32_t functions, wanted, told;
    } rows[] = {{1, 3, 8, 3}, {1, 8, 3, 3}, {1, 0, 8, 1}, {1, 1, 0, 1}, {2, 8, 3, 1}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct assemble_request request = {REQUEST, .threads = 2,
                                                 .limits.jobserver = JOBSERVER_OFF,
                                                 .inner_threads = rows[i].wanted};

        make_chunks(rows[i].chunks);
        list[0].function_count = rows[i].functions;
        ck_assert_int_eq(run_request(&request), LINK_OK);
        ck_assert_uint_eq(told_threads, rows[i].told);
    }
}

TEST(the_costliest_chunk_starts_first)
{
    /* Two workers: the two of five chunks that have priority are the first two, however small. */
    make_chunks(5);
    list[3].priority = UINT64_MAX;
    list[1].priority = (uint64_t)1 << 40;
    meeting = 2;
    ck_assert_int_eq(run_with(2), LINK_OK);
    ck_assert_uint_eq(cubins.threads, 2);
    ck_assert_int_eq(started_order[0] + started_order[1], 3 + 1);
}

TEST(concurrent_api_disabled_means_one_thread)
{
    setenv("LIBNVVM_DISABLE_CONCURRENT_API", "", 1);
    make_chunks(8);
    ck_assert_int_eq(run_with(8), LINK_OK);
    ck_assert_uint_eq(cubins.threads, 1);
    ck_assert_int_eq(most_running, 1);
}

#define FIRST_SAID                                                                                 \
    "minilink info    : three\n"                                                                   \
    "minilink error   : lib.a(b.o):20008: Unknown modifier '.globl'\n"
/* Told under -v, as the error has been. */
#define FIRST_FAILURE                                                                              \
    "minilink error   : elfLink JIT compile failed: chunk 20 of 64, with function 'work', could "  \
    "not be assembled by 'fake' (code 5)\n"

TEST_LOOP(the_first_failing_chunk_fails_the_link_whatever_the_timing, COUNT(thread_counts))
{
    for (int round = 0; round < 20; round++) {
        make_chunks(MOST);
        pause_microseconds = round % 2 ? 0 : 100;
        deeds[63] = deeds[50] = deeds[41] = deeds[20] = FAIL;
        deeds[21] = WAIT_FOR_CANCEL;
        logs[63] = logs[50] = "1:1: error: not shown\n";
        logs[3] = "ptxas info    : three\n";
        logs[20] = "ptxas /dev/fd/3, line 8; error   : Unknown modifier '.globl'\n";
        diag_state_get()->verbose = round % 2 == 0;
        ck_assert_int_eq(run_with(thread_counts[_i]), LINK_FAILED);
        messages_expect(round % 2 ? FIRST_SAID : FIRST_SAID FIRST_FAILURE);
        ck_assert_ptr_null(cubins.list);
        ck_assert_uint_eq(cubins.count, 0);
    }
}

TEST(chunks_behind_a_failure_are_not_started)
{
    make_chunks(MOST);
    deeds[0] = FAIL;
    list[0].priority = UINT64_MAX;
    pause_microseconds = 1000;
    ck_assert_int_eq(run_with(1), LINK_FAILED);
    ck_assert_int_eq(started, 1);

    /* The other worker has one chunk when the first fails, and none after it. */
    make_chunks(MOST);
    deeds[0] = FAIL;
    list[0].priority = UINT64_MAX;
    deeds[1] = WAIT_FOR_CANCEL;
    list[1].priority = UINT64_MAX - 1;
    ck_assert_int_eq(run_with(2), LINK_FAILED);
    ck_assert_int_le(started, 2);
}

TEST(a_running_chunk_behind_a_failure_is_cancelled)
{
    make_chunks(2);
    deeds[0] = FAIL;
    deeds[1] = WAIT_FOR_CANCEL;
    list[1].priority = 1000;
    ck_assert_int_eq(run_with(2), LINK_FAILED);
}

TEST_LOOP(memory_that_runs_out_in_a_worker_is_that_chunks_result, COUNT(thread_counts))
{
    make_chunks(8);
    deeds[5] = NO_MEMORY;
    logs[5] = "5:1: warning: said before\n";
    ck_assert_int_eq(run_with(thread_counts[_i]), LINK_NO_MEMORY);
    messages_expect_part("warning : lib.a(b.o):5005:1: said before\n");
    messages_expect_part("error   : elfLink memory error: chunk 5 of 8");
}

TEST(success_with_or_without_a_warning_needs_a_cubin)
{
    make_chunks(3);
    deeds[1] = WARN;
    ck_assert_int_eq(run_with(2), LINK_OK);
    ck_assert_ptr_nonnull(cubins.list[1].data);
    deeds[1] = WARN_AND_LIE;
    ck_assert_int_eq(run_with(2), LINK_INTERNAL);
    deeds[1] = LIE;
    ck_assert_int_eq(run_with(2), LINK_INTERNAL);
}

TEST_LOOP(what_workers_report_is_counted_once_and_in_chunk_order, COUNT(thread_counts))
{
    uint64_t before = diag_error_count();

    make_chunks(3);
    deeds[0] = deeds[2] = REPORT;
    logs[1] = "ptxas warning : in between\n";
    ck_assert_int_eq(run_with(thread_counts[_i]), LINK_OK);
    messages_expect("minilink warning : from within chunk 0\n"
                    "minilink warning : in between\n"
                    "minilink warning : from within chunk 2\n");
    ck_assert_uint_eq(diag_error_count(), before);

    diag_state_get()->warnings_are_errors = true;
    ck_assert_int_eq(run_with(thread_counts[_i]), LINK_FAILED);
    ck_assert_uint_eq(diag_error_count(), before + 3);
}

TEST_LOOP(what_the_user_does_not_want_to_hear_workers_do_not_say, COUNT(thread_counts))
{
    struct diag_state *state = diag_state_get();

    make_chunks(3);
    deeds[0] = deeds[2] = REPORT;
    logs[1] = "ptxas info    : Used 8 registers\n";
    state->suppress_warnings = true;
    ck_assert_int_eq(run_with(thread_counts[_i]), LINK_OK);
    messages_expect("minilink info    : Used 8 registers\n");
    state->suppress_infos = true;
    ck_assert_int_eq(run_with(thread_counts[_i]), LINK_OK);
    messages_expect("");
    state->suppress_warnings = false;
    state->annotate = true;
    ck_assert_int_eq(run_with(thread_counts[_i]), LINK_OK);
    messages_expect("@W@minilink warning : from within chunk 0\n"
                    "@W@minilink warning : from within chunk 2\n");
}

static const struct {
    const char *line;
    bool known;
    enum diag_severity severity;
    uint32_t number, column;
    const char *text;
} parse_rows[] = {
    {"ptxas /dev/fd/3, line 8; error   : Unknown modifier '.globl'", true, DIAG_ERROR, 8, 0,
     "Unknown modifier '.globl'"},
    {"ptxas a, line 1; b.ptx, line 12; warning : odd name", true, DIAG_WARNING, 12, 0, "odd name"},
    {"ptxas /dev/fd/3, line 6; fatal   : Parsing error near 'ld': syntax error", true, DIAG_FATAL,
     6, 0, "Parsing error near 'ld': syntax error"},
    {"ptxas fatal   : Ptx assembly aborted due to errors", true, DIAG_FATAL, 0, 0,
     "Ptx assembly aborted due to errors"},
    {"ptxas info    : (C7508) Potential Performance Loss", true, DIAG_INFO, 0, 0,
     "(C7508) Potential Performance Loss"},
    {"ptxas warning (C7508): text", true, DIAG_WARNING, 0, 0, "(C7508): text"},
    {"8:5: error: unknown instruction 'foo'", true, DIAG_ERROR, 8, 5, "unknown instruction 'foo'"},
    {"8: warning: whole line", true, DIAG_WARNING, 8, 0, "whole line"},
    {"warning : plain", true, DIAG_WARNING, 0, 0, "plain"},
    {"Segmentation fault", false, DIAG_NOTE, 0, 0, ""},
    {"ptxas", false, DIAG_NOTE, 0, 0, ""},
    {"ptxas /dev/fd/3, line 99999999999; error : too far", false, DIAG_NOTE, 0, 0, ""},
    {"8:5:7: error: one number too many", false, DIAG_NOTE, 0, 0, ""},
    {"error (never closed: text", false, DIAG_NOTE, 0, 0, ""},
    {"", false, DIAG_NOTE, 0, 0, ""},
};

TEST_LOOP(log_lines_are_understood, COUNT(parse_rows))
{
    struct log_line message;
    bool known = log_line_parse(text_of(parse_rows[_i].line), &message);

    ck_assert_int_eq(known, parse_rows[_i].known);
    if (!known)
        return;
    ck_assert_int_eq(message.severity, parse_rows[_i].severity);
    ck_assert_uint_eq(message.line, parse_rows[_i].number);
    ck_assert_uint_eq(message.column, parse_rows[_i].column);
    ck_assert(text_equal(message.text, text_of(parse_rows[_i].text)));
}

/* What ptxas says of two chunks with closing kernels, by which of them. */
static const char *const exact_logs[] = {
    "ptxas info    : 4 bytes gmem\n"
    "ptxas chunk, line 3; warning : of the first\n"
    "ptxas info    : Compiling entry function 'closing_0' for 'sm_90'\n"
    "ptxas info    : Used 1 registers\n"
    "ptxas info    : Compiling entry function 'c' for 'sm_90'\n"
    "    0 bytes stack frame\n"
    "ptxas info    : Compiling entry function 'a' for 'sm_90'\n",
    "ptxas info    : 4 bytes gmem\n"
    "ptxas chunk, line 3; warning : of the second\n"
    "ptxas info    : Compiling entry function 'closing_0' for 'sm_90'\n"
    "ptxas info    : Compiling entry function 'd' for 'sm_90'\n"
    "ptxas info    : Used 9 registers\n"
    "ptxas info    : Compiling entry function 'b' for 'sm_90'\n",
};

/* Chunks with the kernels a to d and the closing kernel closing_0. */
TEST(exact_logs_are_the_program_s)
{
    static struct chunk_symbol symbols[5] = {{.name = {"a", 1}},
                                             {.name = {"b", 1}},
                                             {.name = {"v", 1}},
                                             {.name = {"c", 1}},
                                             {.name = {"d", 1}}};
    static struct chunk_source sources[5] = {
        {.is_kernel = true}, {.is_kernel = true}, {0}, {.is_kernel = true}, {.is_kernel = true}};
    static struct text closing[] = {{"closing_0", 9}};

    make_chunks(2);
    chunks.symbols = symbols;
    chunks.sources = sources;
    chunks.symbol_count = 5;
    chunks.bank4_kernels = closing;
    chunks.bank4_count = 1;
    messages_catch();
    log_replay_exact(&chunks, exact_logs);
    log_replay_exact(&chunks, (const char *const[]){NULL, ""});
    messages_expect("minilink info    : 4 bytes gmem\n"
                    "minilink warning : lib.a(b.o):3: of the first\n"
                    "minilink warning : lib.a(b.o):1003: of the second\n"
                    "minilink info    : Compiling entry function 'd' for 'sm_90'\n"
                    "minilink info    : Used 9 registers\n"
                    "minilink info    : Compiling entry function 'c' for 'sm_90'\n"
                    "minilink note    : 0 bytes stack frame\n"
                    "minilink info    : Compiling entry function 'b' for 'sm_90'\n"
                    "minilink info    : Compiling entry function 'a' for 'sm_90'\n");
}

static const struct {
    const char *log;
    bool failed;
    const char *said;
} replay_rows[] = {
    {NULL, true, ""},
    {"\n\n", true, ""},
    {"8:5: error: unknown instruction 'foo'\n    foo a, b;\n    ^\n9:1: note: see\n", true,
     "minilink error   : lib.a(b.o):1008:5: unknown instruction 'foo'\n    foo a, b;\n        ^\n"
     "minilink note    : lib.a(b.o):1009:1: see\n"},
    {"13:1: error: written by the splitter\n", true,
     "minilink error   : chunk 1:13:1: written by the splitter\n"},
    {"ptxas info    : Function properties for k\n    0 bytes stack frame\r\n", false,
     "minilink info    : Function properties for k\nminilink note    : 0 bytes stack frame\n"},
    {"Segmentation fault\nat nowhere\nptxas info    : then this\nand that\n", true,
     "minilink error   : chunk 1: Segmentation fault\nminilink note    : at nowhere\n"
     "minilink info    : then this\nminilink error   : chunk 1: and that\n"},
    {"hello %s%n", false, "minilink info    : chunk 1: hello %s%n\n"},
};

TEST_LOOP(logs_are_replayed_at_the_users_lines, COUNT(replay_rows))
{
    make_chunks(2);
    messages_catch();
    log_replay(&chunks, &list[1], text_of(replay_rows[_i].log), replay_rows[_i].failed);
    messages_expect(replay_rows[_i].said);
}

/* A fifo as make 4.4 makes it, with `tokens` in it, named in MAKEFLAGS. */
static char fifo[64];

static int make_fifo(const char *tokens)
{
    int fd;

    snprintf(fifo, sizeof fifo, P_tmpdir "/minilink-check-%d", (int)getpid());
    unlink(fifo); /* of a process that had the number before, and was killed */
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    fd = open(fifo, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    ck_assert_int_eq(write(fd, tokens, strlen(tokens)), (ssize_t)strlen(tokens));
    setenv("MAKEFLAGS", suite_print(" -j4 --jobserver-auth=fifo:%s", fifo), 1);
    return fd;
}

static int compare_chars(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}

static void expect_tokens(int fd, const char *tokens)
{
    char back[64] = "";
    ssize_t got = read(fd, back, sizeof back - 1);

    qsort(back, got > 0 ? (size_t)got : 0, 1, compare_chars);
    ck_assert_str_eq(back, tokens);
    close(fd);
    unlink(fifo);
}

static int run_as_client(void)
{
    const struct assemble_request request = {REQUEST, .threads = 16};

    return run_request(&request);
}

TEST(with_a_jobserver_a_chunk_needs_a_token)
{
    int fd = make_fifo("xyz");

    make_chunks(MOST);
    pause_microseconds = 2000;
    meeting = 4; /* three tokens and the link's own */
    ck_assert_int_eq(run_as_client(), LINK_OK);
    ck_assert_int_eq(most_running, 4);
    messages_expect("");
    for (size_t i = 0; i < MOST; i++)
        ck_assert_str_eq(cubins.list[i].data, texts[i]);
    expect_tokens(fd, "xyz");
}

TEST(tokens_come_back_when_a_chunk_fails)
{
    int fd = make_fifo("pq");

    make_chunks(MOST);
    deeds[20] = FAIL;
    deeds[40] = NO_MEMORY;
    ck_assert_int_eq(run_as_client(), LINK_FAILED);
    messages_expect(FIRST_FAILURE);
    expect_tokens(fd, "pq");
}

TEST(without_a_token_chunks_run_one_at_a_time)
{
    int fd = make_fifo("");

    make_chunks(10);
    pause_microseconds = 500;
    ck_assert_int_eq(run_as_client(), LINK_OK);
    ck_assert_int_eq(most_running, 1);
    expect_tokens(fd, "");
}

TEST(a_broken_jobserver_is_one_warning_and_one_chunk_at_a_time)
{
    const struct assemble_request request = {REQUEST, .threads = 16,
                                             .limits.jobserver = JOBSERVER_ON};

    setenv("MAKEFLAGS", " -j4 --jobserver-auth=fifo:/nonexistent", 1);
    make_chunks(10);
    ck_assert_int_eq(run_request(&request), LINK_OK);
    ck_assert_int_eq(most_running, 1);
    messages_expect("minilink warning : Jobserver requested, but an error occurred: No such "
                    "file or directory\n"
                    "minilink note    : One chunk is assembled at a time; prefix the recipe "
                    "with '+' so that make hands its jobserver on\n");
}
