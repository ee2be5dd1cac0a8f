/* tool_changing: links of a file that somebody else writes to at the same time.
 *
 *     tool_changing COUNT SEED [PIECE]
 *
 * Runs in a folder of its own, with minilink on PATH. Two versions of a program, of the same size,
 * are linked COUNT times while a writer puts one in the place of the other: in place, in pieces of
 * PIECE bytes, between which it pauses now and then (0, the default: all at once), or by rename, at
 * random moments. Then COUNT / 10 files that nobody has written to for a while, which minilink
 * maps, are linked while each is overwritten once, with its mtime set back, or cut short. Every
 * link gives one version's output, or the error that names the file and nothing else; and a later
 * link with the cache that all of them have used gives the output of what it reads. Status 0 when
 * all of that held.
 *
 * Nobody can tell a file whose writer stands still for long from one that is complete. Where the
 * scheduler keeps the writer in the middle of a file for longer than minilink waits for one
 * (50 ms, os/file.c), the output of what the file held meanwhile is right, too. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "random.h"

#define KERNELS  20
#define SETTLED  2200000 /* microseconds after which a file's times tell of every write */
#define LONGEST  4000    /* pause of the writer, in microseconds */
#define PATIENCE 40      /* milliseconds that minilink waits for a writer at the least */
#define MOST     64      /* mixtures, and outputs of neither version, that are remembered */
#define NAME     "in.ptx"
#define OUTPUT   "out.cubin"
#define MESSAGES "messages"

struct contents {
    char *data;
    size_t size;
};

struct odd_output {
    struct contents contents;
    const char *input;
    unsigned link;
};

static struct contents versions[2], outputs[2];
static struct contents mixtures[MOST]; /* what the file held while its writer stood still */
static struct odd_output odd_outputs[MOST];
static unsigned mixture_count, odd_output_count;
static uint64_t seed, pauses;
static size_t piece;
static atomic_bool is_over;
static unsigned failures, same[2], errors;

static void pause_for(uint32_t microseconds)
{
    const struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000L};

    nanosleep(&time, NULL);
}

static void die(const char *what)
{
    fprintf(stderr, "tool_changing: %s: %s\n", what, strerror(errno));
    exit(2);
}

static bool read_file(const char *path, struct contents *contents)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;

    *contents = (struct contents){0};
    if (fd < 0)
        return false;
    if (fstat(fd, &status))
        die(path);
    contents->size = (size_t)status.st_size;
    contents->data = calloc(contents->size + 1, 1);
    if (read(fd, contents->data, contents->size) != (ssize_t)contents->size)
        die(path);
    close(fd);
    return true;
}

static int64_t milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void remember_mixture(int fd)
{
    struct contents *mixture = &mixtures[mixture_count];

    if (mixture_count == MOST)
        return;
    mixture->size = versions[0].size;
    mixture->data = calloc(mixture->size, 1);
    if (pread(fd, mixture->data, mixture->size, 0) != (ssize_t)mixture->size)
        die("what the writer has left");
    mixture_count++;
}

static void write_pieces(const char *path, const struct contents *contents, size_t size)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    int64_t last = milliseconds();

    if (fd < 0)
        die(path);
    for (size_t at = 0; at < contents->size; at += size) {
        if (at > 0 && random_below(&pauses, 100) == 0)
            pause_for(random_below(&pauses, LONGEST));
        if (at > 0 && milliseconds() - last >= PATIENCE)
            remember_mixture(fd);
        if (write(fd, contents->data + at,
                  contents->size - at < size ? contents->size - at : size) < 0)
            die(path);
        last = milliseconds();
    }
    close(fd);
}

static void write_whole(const char *path, const struct contents *contents)
{
    write_pieces(path, contents, contents->size);
}

static void make_version(unsigned version)
{
    struct contents *made = &versions[version];
    FILE *text = open_memstream(&made->data, &made->size);

    fprintf(text, ".version 8.0\n.target sm_80\n.address_size 64\n");
    for (unsigned i = 0; i < KERNELS; i++)
        fprintf(text,
                ".visible .entry k%02u(.param .u64 p)\n{\n.reg .b64 %%rd<2>;\n.reg .b32 %%r<2>;\n"
                "ld.param.u64 %%rd1, [p];\nmov.u32 %%r1, %u;\nst.global.u32 [%%rd1], %%r1;\n"
                "ret;\n}\n",
                i, 1000 * (version + 1) + i);
    fclose(text);
}

static pid_t start_link(const char *input, bool has_cache)
{
    const char *argv[] = {"minilink", "-arch=sm_80", input, "-o", OUTPUT, "--cache-dir=c", NULL};
    pid_t child = fork();
    int messages;

    if (child < 0)
        die("fork");
    if (child > 0)
        return child;
    if (!has_cache)
        argv[5] = NULL;
    messages = open(MESSAGES, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(messages, 2);
    execvp(argv[0], (char **)(uintptr_t)argv);
    _exit(127);
}

static void fail(const char *what, const char *input, unsigned number)
{
    struct contents said;

    fprintf(stderr, "tool_changing: link %u of %s: %s\n", number, input, what);
    if (read_file(MESSAGES, &said))
        fprintf(stderr, "%s", said.data);
    free(said.data);
    failures++;
}

static bool blames(const char *input)
{
    char wanted[2][100];
    struct contents said;
    bool ok;

    snprintf(wanted[0], sizeof wanted[0], "Input file '%s' changed while the link ran", input);
    snprintf(wanted[1], sizeof wanted[1], "'%s' became shorter while it was read", input);
    ok = read_file(MESSAGES, &said) &&
         (strstr(said.data, wanted[0]) || strstr(said.data, wanted[1]));
    free(said.data);
    return ok;
}

static bool is_same(const struct contents *one, const struct contents *other)
{
    return one->size == other->size && memcmp(one->data, other->data, one->size) == 0;
}

/* Takes the output over. False when there are too many. */
static bool remember_odd_output(struct contents *made, const char *input, unsigned number)
{
    for (unsigned i = 0; i < odd_output_count; i++) {
        if (is_same(made, &odd_outputs[i].contents)) {
            free(made->data);
            return true;
        }
    }
    if (odd_output_count == MOST)
        return false;
    odd_outputs[odd_output_count++] = (struct odd_output){*made, input, number};
    return true;
}

/* Whether the output is that of `version`; SIZE_MAX: of any, which is counted. */
static void look_at(const char *input, unsigned number, int status, size_t version, bool is_cut)
{
    struct contents made;
    size_t which = 0;

    if (!read_file(OUTPUT, &made)) {
        errors++;
        /* What was cut before it was opened is an input like any other. */
        if (!is_cut && (!WIFEXITED(status) || WEXITSTATUS(status) != 3 || !blames(input)))
            fail("it failed otherwise", input, number);
        else if (!WIFEXITED(status) || WEXITSTATUS(status) == 0)
            fail("it was killed, or has no output", input, number);
        else if (version != SIZE_MAX)
            fail("it failed, and nobody wrote", input, number);
        return;
    }
    unlink(OUTPUT);
    while (which < 2 && !is_same(&made, &outputs[which]))
        which++;
    if (status == 0 && which == 2 && version == SIZE_MAX &&
        remember_odd_output(&made, input, number))
        return;
    free(made.data);
    if (status != 0)
        fail("it failed and left an output", input, number);
    else if (which == 2)
        fail("the output is of neither version", input, number);
    else if (version != SIZE_MAX && which != version)
        fail("the output is of the other version", input, number);
    else
        same[which]++;
}

static void link_once(const char *input, unsigned number, bool has_cache, size_t version)
{
    pid_t child = start_link(input, has_cache);
    int status;

    waitpid(child, &status, 0);
    look_at(input, number, status, version, false);
}

static void make_outputs(void)
{
    for (unsigned i = 0; i < 2; i++) {
        make_version(i);
        write_whole(NAME, &versions[i]);
        waitpid(start_link(NAME, false), NULL, 0);
        if (!read_file(OUTPUT, &outputs[i]))
            die("cannot link");
        unlink(OUTPUT);
    }
    if (is_same(&outputs[0], &outputs[1]))
        die("both versions give the same output");
}

static void *write_always(void *argument)
{
    uint64_t state = seed ^ 0x5555;

    (void)argument;
    for (unsigned i = 0; !atomic_load(&is_over); i++) {
        const struct contents *version = &versions[i % 2];

        if (random_below(&state, 8) == 0) {
            write_whole("new.ptx", version);
            rename("new.ptx", NAME);
        } else {
            write_pieces(NAME, version, piece ? piece : version->size);
        }
        pause_for(random_below(&state, LONGEST) * (random_below(&state, 4) == 0 ? 4 : 1));
    }
    return NULL;
}

static void link_later(const char *input)
{
    for (unsigned i = 0; i < 4; i++) {
        write_whole(input, &versions[i % 2]);
        link_once(input, i, true, i % 2);
    }
}

/* Outputs of neither version must be those of what the writer left standing. */
static void explain_odd_outputs(void)
{
    for (unsigned i = 0; i < mixture_count; i++) {
        struct contents made;

        write_whole(NAME, &mixtures[i]);
        waitpid(start_link(NAME, false), NULL, 0);
        if (!read_file(OUTPUT, &made))
            die("cannot link what the writer has left");
        unlink(OUTPUT);
        for (unsigned j = 0; j < odd_output_count; j++)
            if (odd_outputs[j].input && is_same(&made, &odd_outputs[j].contents))
                odd_outputs[j].input = NULL;
        free(made.data);
    }
    for (unsigned i = 0; i < odd_output_count; i++)
        if (odd_outputs[i].input)
            fail("the output is of neither version", odd_outputs[i].input, odd_outputs[i].link);
}

static void link_beside_a_writer(unsigned count)
{
    pthread_t writer;

    if (pthread_create(&writer, NULL, write_always, NULL))
        die("no thread");
    for (unsigned i = 0; i < count; i++)
        link_once(NAME, i, i % 3 != 0, SIZE_MAX);
    atomic_store(&is_over, true);
    pthread_join(writer, NULL);
    explain_odd_outputs();
    odd_output_count = 0;
    link_later(NAME);
}

/* As somebody may who does not want to be noticed. */
static void overwrite(const char *path, const struct contents *version)
{
    struct timespec times[2];
    struct stat status;

    if (stat(path, &status))
        die(path);
    times[0] = status.st_atim;
    times[1] = status.st_mtim;
    write_whole(path, version);
    utimensat(AT_FDCWD, path, times, 0);
}

static void link_old_files(unsigned count)
{
    char path[32];
    int status;

    for (unsigned i = 0; i < count; i++) {
        snprintf(path, sizeof path, "old-%u.ptx", i);
        write_whole(path, &versions[0]);
    }
    pause_for(SETTLED);
    for (unsigned i = 0; i < count; i++) {
        bool is_cut = i % 4 == 3;
        pid_t child;

        snprintf(path, sizeof path, "old-%u.ptx", i);
        child = start_link(path, true);
        pause_for(random_below(&seed, LONGEST));
        if (is_cut && truncate(path, i % 8 == 3 ? 0 : (off_t)versions[0].size - 3))
            die(path);
        if (!is_cut)
            overwrite(path, &versions[1]);
        waitpid(child, &status, 0);
        look_at(path, i, status, SIZE_MAX, is_cut);
    }
    explain_odd_outputs();
    link_later(path);
}

int main(int argc, char **argv)
{
    unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;

    if (argc < 3) {
        fprintf(stderr, "usage: tool_changing COUNT SEED [PIECE]\n");
        return 2;
    }
    seed = strtoul(argv[2], NULL, 10);
    piece = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    make_outputs();
    link_beside_a_writer(count);
    printf("beside a writer: %u and %u of the versions, %u errors, %u pauses\n", same[0], same[1],
           errors, mixture_count);
    link_old_files(count / 10);
    printf("in all: %u and %u of the versions, %u errors, %u wrong\n", same[0], same[1], errors,
           failures);
    return failures > 0;
}
