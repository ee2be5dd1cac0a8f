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
 * all of that held. */
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

#define KERNELS  20
#define SETTLED  2200000 /* microseconds after which a file's times tell of every write */
#define LONGEST  4000    /* pause of the writer, in microseconds */
#define NAME     "in.ptx"
#define OUTPUT   "out.cubin"
#define MESSAGES "messages"

struct contents {
    char *data;
    size_t size;
};

static struct contents versions[2], outputs[2];
static uint64_t seed, pauses;
static size_t piece;
static atomic_bool is_over;
static unsigned failures, same[2], errors;

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}

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

static void write_pieces(const char *path, int flags, const struct contents *contents, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);

    if (fd < 0)
        die(path);
    for (size_t at = 0; at < contents->size; at += size) {
        if (at > 0 && draw(&pauses, 100) == 0)
            pause_for(draw(&pauses, LONGEST));
        if (write(fd, contents->data + at,
                  contents->size - at < size ? contents->size - at : size) < 0)
            die(path);
    }
    close(fd);
}

static void write_whole(const char *path, const struct contents *contents)
{
    write_pieces(path, 0, contents, contents->size);
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
    while (which < 2 && (made.size != outputs[which].size ||
                         memcmp(made.data, outputs[which].data, made.size) != 0))
        which++;
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
    if (outputs[0].size == outputs[1].size &&
        memcmp(outputs[0].data, outputs[1].data, outputs[0].size) == 0)
        die("both versions give the same output");
}

static void *write_always(void *argument)
{
    uint64_t state = seed ^ 0x5555;

    (void)argument;
    for (unsigned i = 0; !atomic_load(&is_over); i++) {
        const struct contents *version = &versions[i % 2];

        if (draw(&state, 8) == 0) {
            write_whole("new.ptx", version);
            rename("new.ptx", NAME);
        } else {
            write_pieces(NAME, 0, version, piece ? piece : version->size);
        }
        pause_for(draw(&state, LONGEST) * (draw(&state, 4) == 0 ? 4 : 1));
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

static void link_beside_a_writer(unsigned count)
{
    pthread_t writer;

    if (pthread_create(&writer, NULL, write_always, NULL))
        die("no thread");
    for (unsigned i = 0; i < count; i++)
        link_once(NAME, i, i % 3 != 0, SIZE_MAX);
    atomic_store(&is_over, true);
    pthread_join(writer, NULL);
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
        pause_for(draw(&seed, LONGEST));
        if (is_cut && truncate(path, i % 8 == 3 ? 0 : (off_t)versions[0].size - 3))
            die(path);
        if (!is_cut)
            overwrite(path, &versions[1]);
        waitpid(child, &status, 0);
        look_at(path, i, status, SIZE_MAX, is_cut);
    }
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
    printf("beside a writer: %u and %u of the versions, %u errors\n", same[0], same[1], errors);
    link_old_files(count / 10);
    printf("in all: %u and %u of the versions, %u errors, %u wrong\n", same[0], same[1], errors,
           failures);
    return failures > 0;
}
