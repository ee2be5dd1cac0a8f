/* check_exec.c: assemblers that are other programs or shared objects.
 *
 * ptxas is played by a shell script that each test writes: it finds its PTX in "$in" and writes to
 * "$out". The smallest cubin that is taken is made with printf. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assemble/internal.h"
#include "os/exec.h"
#include "os/program.h"
#include "files.h"
#include "messages.h"
#include "suite.h"

static char folder[64], script[96];

#define WRITE_CUBIN                                                                                \
    "printf '\\177ELF\\002\\001\\001A\\010\\0\\0\\0\\0\\0\\0\\0\\001\\0\\276\\0' > $out\n"         \
    "printf '%0200d' 0 >> $out\n"

/* Seconds: a child that is waited for takes a thousand. */
#define LONG_BEFORE_THE_END 500

static double seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void set_up(void)
{
    strcpy(folder, P_tmpdir "/minilink-exec-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(script, sizeof script, "%s/ptxas", folder);
}

static struct minilink_result result;

static void free_result(void)
{
    free(result.cubin);
    free(result.log);
    result = (struct minilink_result){.size = sizeof result};
}

void tear_down(void)
{
    free_result();
    files_remove_folder(folder);
}

static void write_script_at(const char *path, const char *body)
{
    FILE *file = fopen(path, "we");

    ck_assert_ptr_nonnull(file);
    fprintf(file,
            "#!/bin/sh\nall=\"$*\"\n"
            "while [ $# -gt 1 ]; do [ \"$1\" = -o ] && out=$2; prev=$1; shift; done\n"
            "in=$(echo \"$all\" | sed 's/.* \\(\\/dev\\/fd\\/[0-9]*\\) -o.*/\\1/')\n%s",
            body);
    fchmod(fileno(file), 0755);
    fclose(file);
}

static volatile int cancelled;
static uint32_t mode;
static char known_version[] = "release 13; Build 1";
static struct ptxas ptxas = {.path = script, .version = known_version};
static const char *const plain_options[] = {"-O2", "a b", NULL};
static const char *const *options = plain_options;
static const char *ptx = ".version 8.0\nthe text";

static int assemble(const char *body)
{
    const struct minilink_job job = {.size = sizeof job,
                                     .name = "chunk 0",
                                     .ptx = ptx,
                                     .ptx_size = strlen(ptx),
                                     .arch = "sm_90a",
                                     .sm = 90,
                                     .debug = 1,
                                     .line_info = 1,
                                     .mode = mode,
                                     .maxrregcount = 32,
                                     .options = options,
                                     .cancelled = &cancelled};

    if (body)
        write_script_at(script, body);
    free_result();
    return ptxas_assemble(&ptxas, &job, &result);
}

TEST(a_chunk_goes_in_and_a_cubin_comes_out)
{
    int before = files_count_open();

    ck_assert_int_eq(assemble(WRITE_CUBIN), MINILINK_OK);
    ck_assert_uint_eq(result.cubin_size, 220);
    ck_assert_int_eq(memcmp(result.cubin, "\177ELF", 4), 0);
    ck_assert_ptr_null(result.log);
    ck_assert_int_eq(files_count_open(), before);
}

/* What the script does, and what comes of it: the code and the log. */
static void expect(const char *body, int code, const char *log)
{
    ck_assert_int_eq(assemble(body), code);
    ck_assert_pstr_eq(result.log, log);
}

/* The same, when the log is `said` and, behind it, how the script ended. */
static void expect_end(const char *body, int code, const char *said, const char *end)
{
    char log[256];

    snprintf(log, sizeof log, "%sptxas fatal   : '%s' %s\n", said, script, end);
    expect(body, code, log);
}

TEST(the_child_sees_the_options_and_the_text)
{
    expect("echo \"$all\" | sed 's/[0-9]* -o.*//'; cat $in; exit 3\n", MINILINK_FAILED,
           "-c -arch=sm_90a -m64 -g -lineinfo -maxrregcount=32 -O2 a b "
           "/dev/fd/\n.version 8.0\nthe text");
}

/* What the child finds in a variable of its environment. */
static void expect_variable(const char *value)
{
    expect("echo \"$GLIBC_TUNABLES\"; exit 3\n", MINILINK_FAILED, value);
}

TEST(the_child_gets_large_pages_unless_the_user_says_something_of_memory)
{
    unsetenv("GLIBC_TUNABLES");
    expect_variable("glibc.malloc.hugetlb=1:glibc.malloc.top_pad=16777216\n");
    ck_assert_ptr_null(getenv("GLIBC_TUNABLES"));
    setenv("GLIBC_TUNABLES", "glibc.malloc.perturb=1", 1);
    expect_variable("glibc.malloc.perturb=1\n");
}

TEST(the_child_gets_no_descriptor_of_ours_but_those_named)
{
    int other = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 50);
    char body[96];

    ck_assert_int_ge(other, 50);
    snprintf(body, sizeof body, "[ -e /proc/$$/fd/%d ] && exit 9; [ -e $in ] && exit 8\n", other);
    expect_end(body, MINILINK_FAILED, "", "ended with status 8");
    close(other);
}

/* An executable as ptxas writes it without -c. */
#define WRITE_EXECUTABLE                                                                           \
    "printf '\\177ELF\\002\\001\\001A\\010\\0\\0\\0\\0\\0\\0\\0\\002\\0\\276\\0' > $out\n"         \
    "printf '%0200d' 0 >> $out\n"

TEST(a_whole_program_is_assembled_without_c_and_may_be_executable)
{
    ck_assert_int_eq(assemble(WRITE_EXECUTABLE), MINILINK_NOT_RELOCATABLE);
    mode = MINILINK_MODE_WHOLE;
    ck_assert_int_eq(assemble(WRITE_EXECUTABLE), MINILINK_OK);
    expect("echo \"$all\" | cut -c1-13; exit 3\n", MINILINK_FAILED, "-arch=sm_90a \n");
}

TEST(a_chunk_that_takes_too_long_is_killed_with_its_children)
{
    char expected[256], *log = NULL;

    /* On a busy machine a child may not have come far when its time is over: then it gets more. */
    for (ptxas.timeout = 1; ptxas.timeout <= 64 && !log; ptxas.timeout *= 4) {
        double start = seconds();

        ck_assert_int_eq(assemble("echo before; sleep 1000 & sleep 1000\n"), MINILINK_INTERNAL);
        ck_assert(seconds() - start < LONG_BEFORE_THE_END);
        snprintf(expected, sizeof expected,
                 "before\nptxas fatal   : '%s' was killed, as it took more than %d s "
                 "(--timeout)\n",
                 script, (int)ptxas.timeout);
        if (strncmp(result.log, "before\n", 7) == 0)
            log = strdup(result.log);
    }
    ck_assert_ptr_nonnull(log);
    ck_assert_str_eq(log, expected);
    free(log);
    ptxas.timeout = 10000;
    ck_assert_int_eq(assemble(WRITE_CUBIN), MINILINK_OK);
}

/* What a call may do: return, crash, print, stay. */
static int call_ways(void *argument)
{
    switch (*(const char *)argument) {
    case 'c':
        abort();
    case 'p':
        if (write(STDOUT_FILENO, "out ", 4) != 4 || write(STDERR_FILENO, "err", 3) != 3)
            return 9;
        return 0;
    case 's':
        pause();
        return 0;
    default:
        *(char *)argument = 'x'; /* in its own copy of our memory */
        return 42;
    }
}

TEST_LOOP(a_call_runs_in_a_process_of_its_own, 4)
{
    static const struct {
        char way;
        enum exec_end end;
        int code;
        const char *output;
        unsigned timeout;
    } ways[] = {
        {'r', EXEC_EXITED, 42, NULL, 10000},
        {'c', EXEC_SIGNALED, SIGABRT, NULL, 10000},
        {'p', EXEC_EXITED, 0, "out err", 10000},
        {'s', EXEC_TIMED_OUT, 1, NULL, 1},
    };
    char way = ways[_i].way;
    const struct exec_request request = {
        .call = call_ways, .argument = &way, .output_limit = 100, .timeout = ways[_i].timeout};
    struct exec_result ended;

    exec_run(&request, &ended);
    ck_assert_int_eq(ended.end, ways[_i].end);
    ck_assert_int_eq(ended.code, ways[_i].code);
    ck_assert_pstr_eq(ended.output, ways[_i].output);
    ck_assert_int_eq(way, ways[_i].way);
    free(ended.output);
}

/* A child that prints, says its end or only closes its output, and is there still. */
static int stay_behind(void *argument)
{
    if (write(STDOUT_FILENO, "out", 3) != 3)
        return 9;
    if (*(const bool *)argument) {
        exec_say_end(7);
        pause();
    }
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    usleep(100000);
    return 5;
}

TEST_LOOP(a_child_that_says_its_end_is_not_waited_for, 3)
{
    static const struct {
        bool is_said, is_heard;
        enum exec_end end;
        int code;
    } ways[] = {
        {true, true, EXEC_EXITED, 7},
        {false, true, EXEC_EXITED, 5},
        {true, false, EXEC_TIMED_OUT, 1},
    };
    bool is_said = ways[_i].is_said, is_left = is_said && ways[_i].is_heard;
    const struct exec_request request = {.call = stay_behind,
                                         .argument = &is_said,
                                         .output_limit = 100,
                                         .says_end = ways[_i].is_heard,
                                         .timeout = ways[_i].is_heard ? 10000 : 1};
    struct exec_result ended;

    exec_run(&request, &ended);
    ck_assert_int_eq(ended.end, ways[_i].end);
    ck_assert_int_eq(ended.code, ways[_i].code);
    ck_assert_uint_gt(ended.peak, 0);
    if (ways[_i].is_heard)
        ck_assert_pstr_eq(ended.output, "out");
    free(ended.output);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), is_left ? 0 : -1);
    exec_reap_all();
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}

static int say_and_end(void *unused)
{
    (void)unused;
    exec_say_end(0);
    return 0;
}

/* More than the table of children has room for. */
TEST(children_that_are_gone_make_room)
{
    const struct exec_request request = {
        .call = say_and_end, .output_limit = 100, .says_end = true, .timeout = 10000};

    for (int i = 0; i < 2100; i++) {
        struct exec_result ended;

        exec_run(&request, &ended);
        ck_assert_int_eq(ended.end, EXEC_EXITED);
        free(ended.output);
    }
    exec_reap_all();
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}

/* The personality in which a child of a thread runs, by its own word: 0040000 is without
 * randomization. */
static void run_shell(bool is_fixed, const char *text, struct exec_result *ended)
{
    char command[128];
    const char *const argv[] = {"/bin/sh", "-c", command, NULL};
    const struct exec_request request = {
        .argv = argv, .output_limit = 100, .fixed_addresses = is_fixed};

    snprintf(command, sizeof command, "%s", text);
    exec_run(&request, ended);
    ck_assert_int_eq(ended->end, EXEC_EXITED);
    ck_assert_int_eq(ended->code, 0);
}

TEST(addresses_are_fixed_where_that_is_asked_for)
{
    static const char text[] = "cat /proc/self/personality";
    unsigned long before = (unsigned long)personality(0xffffffff);
    struct exec_result fixed, other;
    bool is_allowed = personality(before | ADDR_NO_RANDOMIZE) >= 0;

    personality(before);
    run_shell(true, text, &fixed);
    run_shell(false, text, &other);
    if (is_allowed)
        ck_assert_uint_ne(strtoul(fixed.output, NULL, 16) & ADDR_NO_RANDOMIZE, 0);
    ck_assert_uint_eq(strtoul(other.output, NULL, 16), before);
    ck_assert_int_eq(personality(0xffffffff), (int)before);
    free(fixed.output);
    free(other.output);
}

TEST(the_peak_of_memory_is_told)
{
    struct exec_result small, large;

    run_shell(false, ":", &small);
    run_shell(false, "x=$(head -c 50000000 /dev/zero | tr '\\0' x)", &large);
    ck_assert_uint_gt(small.peak, 0);
    ck_assert_uint_gt(large.peak, 50000000);
    free(small.output);
    free(large.output);
}

TEST(the_own_program_has_a_path)
{
    char path[PATH_MAX];

    self_exec_set_program();
    ck_assert_ptr_eq(self_exec_path(path), path);
    ck_assert_str_eq(strrchr(path, '/'), "/check_exec");
}

/* A file that takes the program's place is not run; but under valgrind the link leads to that. */
TEST(the_own_program_is_run_whatever_takes_its_place)
{
    static const char link[] = "/proc/self/exe";
    char path[PATH_MAX];
    struct stat running, named;

    self_exec_set_program();
    ck_assert_int_eq(stat(link, &running), 0);
    ck_assert_int_eq(stat(self_exec_path(path), &named), 0);
    ck_assert_str_eq(self_exec_file(path), running.st_ino == named.st_ino ? link : path);
}

TEST(how_the_script_ended_is_told_behind_what_it_said)
{
    expect("echo 'ptxas fatal   : no' >&2; exit 255\n", MINILINK_FAILED, "ptxas fatal   : no\n");
    ck_assert_ptr_null(result.cubin);
    expect_end("exit 7\n", MINILINK_FAILED, "", "ended with status 7");
    expect_end("printf half; kill -SEGV $$\n", MINILINK_INTERNAL, "half\n",
               "was killed by signal 11 (Segmentation fault)");
    expect_end("printf half; kill -XFSZ $$\n", MINILINK_ENVIRONMENT, "half\n",
               "was killed by signal 25 (File size limit exceeded)");
    expect_end("exit 0\n", MINILINK_FAILED, "",
               "reports success, but the 0 bytes it wrote for chunk 0 are no cubin");
    ck_assert_int_eq(assemble("printf '%0100d' 0 > $out\n"), MINILINK_NOT_RELOCATABLE);
    unlink(script);
    expect_end(NULL, MINILINK_ENVIRONMENT, "", "could not be run: No such file or directory");
}

TEST(endless_output_is_cut_and_does_not_block)
{
    ck_assert_int_eq(assemble("yes 0123456789abcdef | head -c 3000000; exit 1\n"), MINILINK_FAILED);
    ck_assert_uint_gt(strlen(result.log), 1 << 20);
    ck_assert_uint_lt(strlen(result.log), (1 << 20) + 100);
    ck_assert_ptr_nonnull(
        strstr(result.log, "\nptxas warning : there were more messages than are shown\n"));
}

/* A program that takes no option and assembles nothing with one. */
#define TAKES_NO_OPTION                                                                            \
    "case \"$all\" in *-foo*) echo 'ptxas fatal   : no -foo' >&2; exit 255 ;; esac\n"              \
    "grep -q wrong $in && { echo 'ptxas fatal   : wrong' >&2; exit 255; }\n" WRITE_CUBIN           \
    "exit 0\n"

TEST(wrong_options_are_told_from_wrong_code)
{
    static const char *const foo[] = {"-foo", NULL}, *const fine[] = {"-fine", NULL};

    options = foo;
    expect(TAKES_NO_OPTION, MINILINK_USAGE, "ptxas fatal   : no -foo\n");
    options = fine;
    ck_assert_int_eq(assemble(TAKES_NO_OPTION), MINILINK_OK);
    ptx = ".version 8.0\n.target sm_90\n.address_size 64\nwrong\n";
    ck_assert_int_eq(assemble(TAKES_NO_OPTION), MINILINK_FAILED);
}

/* Once the child has made the file "started". */
static void *cancel_later(void *argument)
{
    char started[96];

    (void)argument;
    snprintf(started, sizeof started, "%s/started", folder);
    while (access(started, F_OK) != 0)
        usleep(1000);
    unlink(started);
    __atomic_store_n(&cancelled, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

TEST(cancelling_kills_the_child_and_its_children)
{
    double start = seconds();
    pthread_t canceller;
    char body[256];

    snprintf(body, sizeof body,
             "trap '' TERM INT; sleep 1000 & echo $!; : > %s/started; sleep 1000; wait\n", folder);
    pthread_create(&canceller, NULL, cancel_later, NULL);
    ck_assert_int_eq(assemble(body), MINILINK_CANCELLED);
    pthread_join(canceller, NULL);
    ck_assert(seconds() - start < LONG_BEFORE_THE_END);
    ck_assert_ptr_nonnull(result.log);
    files_await_end(strtol(result.log, NULL, 10));
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
    ck_assert_int_eq(assemble(NULL), MINILINK_CANCELLED);
}

TEST(a_grandchild_that_keeps_the_pipe_is_not_waited_for)
{
    double start = seconds();

    ck_assert_int_eq(assemble(WRITE_CUBIN "sleep 1000 &\n"), MINILINK_OK);
    ck_assert(seconds() - start < LONG_BEFORE_THE_END);
}

static void *kill_all_later(void *argument)
{
    (void)argument;
    usleep(100000);
    exec_kill_all();
    return NULL;
}

TEST(kill_all_ends_every_child_and_lets_none_start)
{
    double start = seconds();
    pthread_t killer;

    pthread_create(&killer, NULL, kill_all_later, NULL);
    ck_assert_int_eq(assemble("sleep 1000\n"), MINILINK_CANCELLED);
    pthread_join(killer, NULL);
    ck_assert_int_eq(assemble("sleep 1000\n"), MINILINK_CANCELLED);
    ck_assert(seconds() - start < LONG_BEFORE_THE_END);
}

TEST(blocked_signals_and_closed_standard_files_do_not_matter)
{
    sigset_t all;
    int saved = dup(0);

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    close(0);
    expect_end("cat; " WRITE_CUBIN "kill -TERM $$\n", MINILINK_INTERNAL, "",
               "was killed by signal 15 (Terminated)");
    dup2(saved, 0);
}

TEST(no_more_descriptors_is_a_failure_with_a_reason)
{
    struct rlimit limit;
    rlim_t before;

    write_script_at(script, "exit 0\n");
    getrlimit(RLIMIT_NOFILE, &limit);
    before = limit.rlim_cur;
    limit.rlim_cur = 3;
    setrlimit(RLIMIT_NOFILE, &limit);
    ck_assert_int_eq(assemble(NULL), MINILINK_ENVIRONMENT);
    limit.rlim_cur = before;
    setrlimit(RLIMIT_NOFILE, &limit);
    ck_assert_str_eq(result.log,
                     "ptxas fatal   : Could not hand the chunk to ptxas: Too many open files\n");
}

/* Opens it and asks for its version. */
static bool open_with(struct assembler *assembler, const struct assembler_request *request)
{
    messages_catch();
    return assembler_open(assembler, request) && assembler_version(assembler);
}

TEST(ptxas_is_found_by_option_variable_and_path)
{
    char bin[96];
    struct assembler_request requests[] = {{.name = "ptxas", .ptxas_path = script},
                                           {.name = "ptxas", .cuda_path = folder},
                                           {.name = "ptxas"},
                                           {.name = "ptxas"},
                                           {.name = "ptxas"}};

    write_script_at(script, "echo Copyright; echo release 13; echo 'Build 1'; echo\n");
    snprintf(bin, sizeof bin, "%s/bin", folder);
    mkdir(bin, 0700);
    snprintf(bin, sizeof bin, "%s/bin/ptxas", folder);
    write_script_at(bin, "echo release 14; echo 'Build 2'\n");
    for (int i = 0; i < 5; i++) {
        struct assembler assembler = {0};
        char path[256];

        snprintf(path, sizeof path, "%s:/usr/bin:/bin", i == 4 ? folder : "/nonexistent");
        unsetenv("CUDA_HOME");
        unsetenv("CUDA_PATH");
        if (i == 2 || i == 3)
            setenv(i == 2 ? "CUDA_HOME" : "CUDA_PATH", folder, 1);
        setenv("PATH", path, 1);
        ck_assert(open_with(&assembler, &requests[i]));
        ck_assert_str_eq(assembler.table.name, "ptxas");
        ck_assert_str_eq(assembler_version(&assembler),
                         i == 0 || i == 4 ? "release 13; Build 1" : "release 14; Build 2");
        messages_expect("");
        assembler_close(&assembler);
    }
}

TEST_LOOP(an_assembler_that_is_not_there_says_where_it_was_looked_for, 8)
{
    static const struct {
        struct assembler_request request;
        const char *said;
    } rows[] = {
        {{.name = "ptxas", .ptxas_path = "/nonexistent/x"}, "(looked for '/nonexistent/x')"},
        {{.name = "ptxas", .cuda_path = "/nonexistent"}, "'/nonexistent/bin/ptxas'"},
        {{.name = "ptxas", .ptxas_path = "/bin/false"}, "it ended with status 1"},
        {{.name = "ptxas"}, "'/n1/bin/ptxas', '/n2/ptxas', './ptxas', '/n3/ptxas'"},
        {{.name = "plugin:/nonexistent.so"}, "Could not load assembler plug-in"},
        {{.name = "plugin:"}, "Unknown assembler 'plugin:'"},
        {{.name = "plugin:libm.so.6"}, "exports no 'minilink_assembler'"},
        {{.name = "nvcc"}, "Unknown assembler 'nvcc'; known are builtin, ptxas and plugin:PATH"},
    };
    struct assembler assembler = {0};

    setenv("CUDA_HOME", "/n1", 1);
    unsetenv("CUDA_PATH");
    setenv("PATH", "/n2::/n3", 1);
    ck_assert(!open_with(&assembler, &rows[_i].request));
    ck_assert_int_eq(strncmp(messages_said(), "minilink fatal   : ", 19), 0);
    messages_expect_part(rows[_i].said);
    assembler_close(&assembler);
}

TEST(whoever_fails_without_a_word_of_ptxas_is_asked_whether_it_is_one)
{
    ptxas.version = NULL;
    ck_assert_int_eq(assemble("exit 3\n"), MINILINK_ENVIRONMENT);
    ck_assert_ptr_nonnull(strstr(result.log, "Could not ask '"));
    ck_assert_ptr_nonnull(strstr(result.log, "for its version: it ended with status 3\n"));
    ck_assert_int_eq(assemble("[ $1 = --version ] && exit; exit 3\n"), MINILINK_FAILED);
    ck_assert_ptr_nonnull(strstr(result.log, "' ended with status 3\n"));
    expect("echo 'ptxas fatal   : no'; exit 3\n", MINILINK_FAILED, "ptxas fatal   : no\n");
}

TEST(the_sample_plugin_assembles_fails_and_logs)
{
    const char *build = getenv("BUILD");
    char name[512], log[96];
    struct assembler_request request = {.name = name};
    struct assembler assembler = {0};
    struct minilink_job job = {.size = sizeof job,
                               .name = "chunk 4",
                               .ptx = "some text",
                               .ptx_size = 9,
                               .arch = "sm_100",
                               .sm = 100,
                               .cancelled = &cancelled};
    OWNED(buffer) text;

    snprintf(name, sizeof name, "plugin:%s/sample-plugin.so", build ? build : "build");
    ck_assert(open_with(&assembler, &request));
    snprintf(log, sizeof log, "%s/log", folder);
    setenv("SAMPLE_LOG", log, 1);
    free_result();
    ck_assert_int_eq(assembler.table.assemble(assembler.table.state, &job, &result), MINILINK_OK);
    ck_assert_int_eq(memcmp(result.cubin, "\177ELF", 4), 0);
    setenv("SAMPLE_FAIL", "text", 1);
    free_result();
    ck_assert_int_eq(assembler.table.assemble(assembler.table.state, &job, &result),
                     MINILINK_FAILED);
    ck_assert_ptr_nonnull(result.log);
    text = files_load(log);
    ck_assert(text_starts(buffer_view(&text), TEXT("start chunk 4 ")));
    assembler_close(&assembler);
}

TEST(every_code_has_a_text_and_every_assembler_a_name)
{
    for (int code = -1; code < 70; code++)
        ck_assert_ptr_nonnull(assembler_code_text(code));
    ck_assert_str_eq(assembler_code_text(8), "elfLink error cubin not relocatable");
    ck_assert_str_eq(assembler_names()[0], "builtin");
    ck_assert_ptr_null(assembler_names()[3]);
}
