/* check_blame.c: what is said, and how the program ends, when a page of an input is gone, or when
 * something is written to it. */
#include "input/file.h"
#include "os/cleanup.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

#define SIZE (1u << 20)

/* An input of SIZE bytes loses all of them, and its last byte is read. */
static const struct {
    bool is_removed; /* and not cut off */
    size_t known;    /* so much of it is known to be mapped */
    bool is_other;   /* what is known is another file, which stays as it is */
    const char *said;
    bool is_written; /* a byte is written to the input, which stays as it is */
} inputs[] = {
    {false, SIZE, false, "became shorter while it was read", false},
    {true, SIZE, false, "could not be read", false},
    {false, SIZE / 2, false, "changed while the link ran", false},
    {false, SIZE / 2, true, NULL, false}, /* nobody is to blame */
    {false, SIZE, false, NULL, true},
};

static char path[] = "/tmp/check_blame.XXXXXX";

static struct file_version version_of(const char *name)
{
    struct stat status;

    ck_assert_int_eq(stat(name, &status), 0);
    return file_version_of(&status);
}

static _Noreturn void read_last(int file, int row)
{
    static struct input_file files[2];
    static const struct inputs all = {.files = files, .count = 2};
    const struct rlimit none = {0, 0};
    const char *start;

    if (ftruncate(file, SIZE) != 0)
        _exit(9);
    start = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, file, 0);
    files[1].data = (struct bytes){(const uint8_t *)start, inputs[row].known};
    files[1].path = inputs[row].is_other ? "/proc/self/exe" : path;
    files[1].version = version_of(files[1].path);
    files[1].is_mapped = true;
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGBUS, SIG_DFL); /* a sanitizer's handler would be left alone */
    signal(SIGSEGV, SIG_DFL);
    cleanup_prepare("program", NULL);
    inputs_blame(&all);
    if (inputs[row].is_written)
        *(volatile char *)(uintptr_t)start = 1;
    if (ftruncate(file, 0) != 0 || (inputs[row].is_removed && unlink(path) != 0))
        _exit(9);
    _exit(*(const volatile char *)(start + SIZE - 1));
}

TEST_LOOP(an_input_that_loses_its_pages_is_blamed, COUNT(inputs))
{
    char said[200] = "", expected[200] = "";
    int ends[2], status, file = mkstemp(path);
    pid_t child;

    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(pipe(ends), 0);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        read_last(file, _i);
    }
    close(file);
    close(ends[1]);
    for (size_t got = 0, count = 1; count > 0; got += count) {
        ssize_t more = read(ends[0], said + got, sizeof said - 1 - got);

        count = more > 0 ? (size_t)more : 0;
    }
    close(ends[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    unlink(path);
    if (inputs[_i].said)
        snprintf(expected, sizeof expected, "program fatal   : Input file '%s' %s\n", path,
                 inputs[_i].said);
    ck_assert_str_eq(said, expected);
    if (inputs[_i].said)
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    else
        ck_assert(WIFSIGNALED(status) &&
                  WTERMSIG(status) == (inputs[_i].is_written ? SIGSEGV : SIGBUS));
}
