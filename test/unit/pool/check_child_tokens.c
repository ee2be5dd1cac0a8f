/* Tests of the tokens that a link hands to programs with threads. */
#include <unistd.h>

#include "pool/jobserver.h"
#include "pool/internal.h"
#include "suite.h"

#define THREADS_OF(...) child_tokens_threads((const char *const[]){__VA_ARGS__, NULL})

TEST(words_say_how_many_threads_a_program_may_have)
{
    uint32_t processors = (uint32_t)pool_cpu_count();

    ck_assert_uint_eq(child_tokens_threads(NULL), 1);
    ck_assert_uint_eq(THREADS_OF(NULL), 1);
    ck_assert_uint_eq(THREADS_OF("-O3", "-split"), 1);
    ck_assert_uint_eq(THREADS_OF("--split-compile=1"), 1);
    ck_assert_uint_eq(THREADS_OF("--split-compile=6", "-v"), 6);
    ck_assert_uint_eq(THREADS_OF("-split-compile=0x10"), 16);
    ck_assert_uint_eq(THREADS_OF("-v", "--split-compile", "5"), 5);
    ck_assert_uint_eq(THREADS_OF("--split-compile"), 1);
    ck_assert_uint_eq(THREADS_OF("-Xnvvm=-split-compile=3", "-split-compile=2"), 3);
    ck_assert_uint_eq(THREADS_OF("-split-compile=0"), processors);
    ck_assert_uint_eq(THREADS_OF("-optf=words"), processors);
    ck_assert_uint_eq(THREADS_OF("--options-file=words"), processors);
}

/* The child reads MAKEFLAGS as any client does, and finds the tokens in the pipe. */
TEST(a_child_finds_its_tokens)
{
    struct child_tokens tokens;
    struct jobserver_auth auth;
    char bytes[4];

    child_tokens_open(&tokens);
    ck_assert_int_eq(tokens.error, 0);
    ck_assert_int_eq(strncmp(tokens.flags, "MAKEFLAGS=", 10), 0);
    ck_assert_int_eq(jobserver_parse(tokens.flags + 10, &auth), JOBSERVER_OK);
    ck_assert(auth.kind == JOBSERVER_PIPE && auth.read_fd == tokens.fds[0] &&
              auth.write_fd == tokens.fds[1]);
    ck_assert(child_tokens_give(&tokens) && child_tokens_give(&tokens));
    ck_assert_uint_eq(tokens.given, 2);
    ck_assert_int_eq(read(auth.read_fd, bytes, sizeof bytes), 2);
    child_tokens_close(&tokens);
    ck_assert_int_eq(read(auth.read_fd, bytes, 1), -1);
    child_tokens_close(&tokens);
}

TEST(only_a_child_has_flags_of_the_links_own)
{
    struct child_tokens tokens;

    child_tokens_open(&tokens);
    setenv("MAKEFLAGS", tokens.flags + 10, 1);
    ck_assert(child_tokens_are_here());
    child_tokens_close(&tokens);
    setenv("MAKEFLAGS", " -j4 --jobserver-auth=3,4", 1);
    ck_assert(!child_tokens_are_here());
    setenv("MAKEFLAGS", "kw -j --jobserver-auth=3,4", 1);
    ck_assert(!child_tokens_are_here());
    unsetenv("MAKEFLAGS");
    ck_assert(!child_tokens_are_here());
}

TEST(tokens_are_of_the_thread_that_runs_the_child)
{
    const struct child_tokens tokens = {.fds = {-1, -1}};

    ck_assert_ptr_null(child_tokens_get());
    ck_assert_ptr_null(child_tokens_set(&tokens));
    ck_assert_ptr_eq(child_tokens_get(), &tokens);
    ck_assert_ptr_eq(child_tokens_set(NULL), &tokens);
    ck_assert_ptr_null(child_tokens_get());
}
