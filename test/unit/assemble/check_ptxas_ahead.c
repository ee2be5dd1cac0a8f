/* Tests of a ptxas that is started before its text is there. A script plays it; it notes what it is
 * told to read, reads that twice, and writes an ELF header with the text behind it. */
#include <unistd.h>

#include "assemble/ptxas.h"
#include "assemble/ptxas_ahead.h"
#include "files.h"
#include "suite.h"

#define HEADER_SIZE 64u

static char folder[64], script[96], version[] = "known";
static struct ptxas ptxas;
static struct minilink_result result;
static volatile int cancelled;
static const char *const no_options[] = {NULL};
static const char *const other_options[] = {"-O1", NULL};

static char *in_folder(const char *name)
{
    return suite_print("%s/%s", folder, name);
}

void set_up(void)
{
    strcpy(folder, "/tmp/check_ptxas_ahead.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(script, sizeof script, "%s/ptxas", folder);
    ptxas = (struct ptxas){.path = script, .version = version};
}

void tear_down(void)
{
    ptxas_ahead_drop(&ptxas);
    files_remove_folder(folder);
    free(result.cubin);
    free(result.log);
}

/* `before`: what the script does before it opens its input, whose name is $1. */
static void write_script(const char *before, const char *behind)
{
    FILE *file = fopen(script, "we");

    ck_assert_ptr_nonnull(file);
    fprintf(file,
            "#!/bin/sh\nwhile [ $# -gt 3 ]; do shift; done\ncd %s\n%s\nexec 4< \"$1\"\n"
            "echo \"$1\" >> told\ntouch opened\ncat <&4 > first\ncat \"$1\" > second\n"
            "cmp -s first second || exit 9\n%s\n"
            "{ printf '\\177ELF\\002\\001\\001A\\010\\0\\0\\0\\0\\0\\0\\0\\001\\0\\276\\0'\n"
            "printf '%%044d' 0; cat first; } > \"$3\"\n",
            folder, before, behind);
    fchmod(fileno(file), 0755);
    fclose(file);
}

static struct minilink_job job_of(const char *text, const char *const *options)
{
    return (struct minilink_job){.size = sizeof(struct minilink_job),
                                 .name = "chunk 0",
                                 .ptx = text,
                                 .ptx_size = strlen(text),
                                 .arch = "sm_90",
                                 .options = options,
                                 .cancelled = &cancelled};
}

static void start(void)
{
    struct minilink_job job = job_of("", no_options);

    ptxas_ahead_start(&ptxas, &job);
    ck_assert_ptr_nonnull(ptxas.ahead);
}

static int assemble(const char *text, const char *const *options)
{
    struct minilink_job job = job_of(text, options);

    result = (struct minilink_result){.size = sizeof result};
    return ptxas_assemble(&ptxas, &job, &result);
}

static void wait_until_opened(void)
{
    const struct timespec moment = {0, 2000000};

    while (access(in_folder("opened"), F_OK) != 0)
        nanosleep(&moment, NULL);
}

static void expect_text(const char *text)
{
    ck_assert_uint_eq(result.cubin_size, HEADER_SIZE + strlen(text));
    ck_assert_int_eq(memcmp(result.cubin + HEADER_SIZE, text, strlen(text)), 0);
}

/* What the last run was told to read begins with that. */
static void expect_told(const char *beginning)
{
    FILE *file = fopen(in_folder("told"), "re");
    char line[256] = "";

    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file))
        ;
    fclose(file);
    ck_assert_msg(strncmp(line, beginning, strlen(beginning)) == 0, "%s", line);
}

static char *make_text(size_t size)
{
    char *text = malloc(size + 1);

    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i < size; i++)
        text[i] = (char)('a' + i % 23);
    text[size] = '\0';
    return text;
}

/* The size of a pipe as it is made is 64 KiB. */
static const size_t sizes[] = {10, 300000, (size_t)1 << 20};

TEST_LOOP(who_waits_for_the_text_reads_all_of_it, 3)
{
    FREED char *text = make_text(sizes[_i]);

    write_script("", "");
    start();
    wait_until_opened();
    ck_assert_int_eq(assemble(text, no_options), MINILINK_OK);
    expect_text(text);
    expect_told("/proc/");
}

TEST_LOOP(who_comes_late_reads_the_same, 3)
{
    FREED char *text = make_text(sizes[_i]);

    write_script("while [ -p \"$1\" ]; do sleep 0.01; done", "");
    start();
    ck_assert_int_eq(assemble(text, no_options), MINILINK_OK);
    expect_text(text);
    expect_told("/proc/");
}

TEST(other_words_and_longer_texts_are_for_another_run)
{
    FREED char *text = make_text(((size_t)1 << 20) + 1);

    write_script("", "");
    start();
    wait_until_opened();
    ck_assert_int_eq(assemble("text", other_options), MINILINK_OK);
    expect_text("text");
    expect_told("/dev/fd/");
    ck_assert_ptr_null(ptxas.ahead);
    free(result.cubin);
    start();
    ck_assert_int_eq(assemble(text, no_options), MINILINK_OK);
    expect_text(text);
    expect_told("/dev/fd/");
}

TEST(the_second_job_is_another_run)
{
    write_script("", "");
    start();
    ck_assert_int_eq(assemble("one", no_options), MINILINK_OK);
    expect_told("/proc/");
    free(result.cubin);
    ck_assert_int_eq(assemble("two", no_options), MINILINK_OK);
    expect_text("two");
    expect_told("/dev/fd/");
}

TEST_LOOP(failures_and_messages_are_those_of_an_ordinary_run, 3)
{
    static const char *const behind[] = {"case $1 in /proc/*) exit 7;; esac",
                                         "case $1 in /proc/*) kill -9 $$;; esac",
                                         "echo \"ptxas $1, line 2; warning : odd\""};

    write_script("", behind[_i]);
    start();
    ck_assert_int_eq(assemble("text", no_options), MINILINK_OK);
    expect_text("text");
    expect_told("/dev/fd/");
    if (_i == 2)
        ck_assert_int_eq(strncmp(result.log, "ptxas /dev/fd/", 14), 0);
    else
        ck_assert_ptr_null(result.log);
}

TEST(a_job_that_is_given_up_is_not_begun_again)
{
    write_script("", "");
    start();
    wait_until_opened();
    unlink(in_folder("told"));
    cancelled = 1;
    ck_assert_int_eq(assemble("text", no_options), MINILINK_CANCELLED);
    cancelled = 0;
    ck_assert_int_ne(access(in_folder("told"), F_OK), 0);
}

TEST(what_no_job_takes_is_gone_with_the_assembler)
{
    int before = files_count_open();

    write_script("", "");
    start();
    wait_until_opened();
    ptxas_ahead_drop(&ptxas);
    ck_assert_ptr_null(ptxas.ahead);
    ck_assert_int_eq(files_count_open(), before);
    start();
    ck_assert_int_eq(assemble("one", no_options), MINILINK_OK);
    ck_assert_int_eq(files_count_open(), before);
}
