/* tool_library_cancel: a link that another thread cancels.
 *
 *     tool_library_cancel calls               3> REPORT     before, after, in an assembler
 *     tool_library_cancel middle WORD...      3> REPORT     while the process works
 *     tool_library_cancel child MARK WORD...  3> REPORT     while it waits for a child, which has
 *                                                           made the file MARK
 */
#include <ftw.h>
#include <semaphore.h>

#include "library/links.h"
#include "library/process.h"

#define KERNELS  8
#define ATTEMPTS 60

/* Who cancels, and when. */
struct canceller {
    pthread_t thread;
    struct minilink *link;
    sem_t now;        /* posted by who wants the link cancelled, */
    const char *mark; /* or this file is there, */
    double when;      /* or the process has used so many seconds of CPU time */
    int ended;        /* the link is done anyway */
};

static double processor_time(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void wait_a_little(void)
{
    const struct timespec pause = {.tv_nsec = 200000};

    nanosleep(&pause, NULL);
}

static void *cancel(void *argument)
{
    struct canceller *canceller = argument;

    if (canceller->mark)
        while (access(canceller->mark, F_OK) != 0 &&
               !__atomic_load_n(&canceller->ended, __ATOMIC_RELAXED))
            wait_a_little();
    else if (canceller->when > 0)
        while (processor_time() < canceller->when &&
               !__atomic_load_n(&canceller->ended, __ATOMIC_RELAXED))
            wait_a_little();
    else
        sem_wait(&canceller->now);
    minilink_cancel(canceller->link);
    minilink_cancel(canceller->link);
    return NULL;
}

/* Completes the link while the canceller is at work. */
static int complete(struct canceller *canceller)
{
    int code;

    sem_init(&canceller->now, 0, 0);
    if (pthread_create(&canceller->thread, NULL, cancel, canceller) != 0)
        exit(2);
    code = minilink_complete(canceller->link);
    __atomic_store_n(&canceller->ended, 1, __ATOMIC_RELAXED);
    sem_post(&canceller->now);
    pthread_join(canceller->thread, NULL);
    sem_destroy(&canceller->now);
    return code;
}

static void must_be_cancelled(const char *what, struct minilink *link, int code)
{
    const char *log = minilink_error_log(link, NULL);

    check(code == MINILINK_CANCELLED, "%s: %s: %s", what, minilink_code_name(code),
          minilink_error_log(link, NULL));
    check(!minilink_cubin(link, NULL) && !minilink_kernel_count(link), "%s: a result", what);
    check(strstr(log, "The link was cancelled"), "%s: it is not told: %s", what, log);
    check(!strstr(log, " ended ") && !strstr(log, " killed "), "%s: a child is blamed: %s", what,
          log);
    check(minilink_complete(link) == MINILINK_USAGE, "%s: completed twice", what);
}

/* A program of some kernels, each a chunk of its own where chunks are small. */
static char *make_program(void)
{
    char *text = malloc(KERNELS * 200 + 200);
    size_t used;

    if (!text)
        exit(2);
    used = (size_t)sprintf(text, ".version 8.0\n.target sm_90\n.address_size 64\n");
    for (int i = 0; i < KERNELS; i++)
        used += (size_t)sprintf(text + used, ".visible .entry k%d()\n{\n\tret;\n}\n", i);
    return text;
}

static struct minilink *begin(void)
{
    static const char *const options[] = {"-arch=sm_90", "-split-compile-extended=4",
                                          "--minimum-chunk=1", "--split-policy=kernel"};
    char *program = make_program();
    struct minilink *link;

    if (minilink_create(&link, options, 4) != MINILINK_OK ||
        minilink_add_data(link, MINILINK_INPUT_PTX, program, strlen(program), "k") != MINILINK_OK)
        exit(2);
    free(program);
    return link;
}

/* An assembler that is done when its job is cancelled, and not before. */
static int assemble_for_ever(void *state, const struct minilink_job *job,
                             struct minilink_result *result)
{
    struct canceller *canceller = state;

    (void)result;
    sem_post(&canceller->now);
    while (!__atomic_load_n(job->cancelled, __ATOMIC_RELAXED))
        wait_a_little();
    return MINILINK_CANCELLED;
}

/* One that has its own link cancelled, and gives an answer all the same. */
static int assemble_and_cancel(void *state, const struct minilink_job *job,
                               struct minilink_result *result)
{
    struct canceller *canceller = state;

    (void)job;
    (void)result;
    minilink_cancel(canceller->link);
    return MINILINK_FAILED;
}

static void try_calls(void)
{
    struct canceller canceller = {.link = begin()};
    struct minilink_assembler assembler = {.abi = MINILINK_ASSEMBLER_ABI,
                                           .name = "waiting",
                                           .version = "1",
                                           .assemble = assemble_for_ever,
                                           .state = &canceller};

    check(minilink_set_assembler(canceller.link, &assembler) == MINILINK_OK, "no assembler");
    must_be_cancelled("in an assembler", canceller.link, complete(&canceller));
    minilink_destroy(&canceller.link);

    canceller = (struct canceller){.link = begin()};
    assembler.assemble = assemble_and_cancel;
    check(minilink_set_assembler(canceller.link, &assembler) == MINILINK_OK, "no assembler");
    must_be_cancelled("by an assembler", canceller.link, minilink_complete(canceller.link));
    minilink_destroy(&canceller.link);

    canceller.link = begin();
    minilink_cancel(canceller.link);
    minilink_cancel(canceller.link);
    must_be_cancelled("before", canceller.link, minilink_complete(canceller.link));
    minilink_destroy(&canceller.link);

    canceller.link = begin();
    check(minilink_complete(canceller.link) == MINILINK_OK, "a link that is not cancelled");
    minilink_cancel(canceller.link);
    check(minilink_cubin(canceller.link, NULL), "a link that is cancelled when it is done");
    minilink_destroy(&canceller.link);

    /* And one that is cancelled before it has inputs. */
    minilink_create(&canceller.link, NULL, 0);
    minilink_cancel(canceller.link);
    minilink_destroy(&canceller.link);
    process_check("cancelled links");
}

static struct minilink *begin_words(const struct links_case *words)
{
    struct minilink *link;

    if (minilink_create(&link, words->options, words->option_count) != MINILINK_OK)
        exit(2);
    for (size_t i = 0; i < words->input_count; i++)
        if (links_add(link, words, i, LINKS_DATA) != MINILINK_OK)
            exit(2);
    return link;
}

static int remove_below(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    return walk->level > 0 ? remove(path) : 0;
}

/* A link whose parts a cache has is over before anybody can cancel it: each finds an empty one. */
static void empty_the_cache(const char *folder)
{
    check(nftw(folder, remove_below, 8, FTW_DEPTH | FTW_PHYS) == 0,
          "the cache '%s' cannot be emptied: %m", folder);
}

/* Cancelled at more and more of the CPU time that the whole link takes, until that has been in time
 * and has spared work: on a machine that is busy, the thread that cancels may come too late. */
static void try_middle(const struct links_case *words, const char *cache)
{
    struct minilink *link = begin_words(words);
    double begun = processor_time(), whole;
    int cancelled = 0, spared = 0;

    check(minilink_complete(link) == MINILINK_OK, "a link that is not cancelled: %s",
          minilink_error_log(link, NULL));
    whole = processor_time() - begun;
    for (int i = 0; i < ATTEMPTS && (i < 10 || !spared); i++) {
        struct canceller canceller = {.link = begin_words(words)};
        int code;

        if (cache)
            empty_the_cache(cache);
        begun = processor_time();
        canceller.when = begun + whole * (1 + i % 8) / 10;
        code = complete(&canceller);
        if (code == MINILINK_OK) {
            check(minilink_cubin(canceller.link, NULL), "no result");
        } else {
            must_be_cancelled("in the middle", canceller.link, code);
            cancelled++;
            spared += processor_time() - begun < whole * 0.9;
        }
        minilink_destroy(&canceller.link);
    }
    check(cancelled && spared, "no link was cancelled in time: %d were, of %f s", cancelled, whole);
    tally_note("%d links cancelled, %d of them early", cancelled, spared);
    minilink_destroy(&link);
    process_check("links that are cancelled in the middle");
}

static void try_child(const char *mark, const struct links_case *words)
{
    struct canceller canceller = {.link = begin_words(words), .mark = mark};

    must_be_cancelled("with a child", canceller.link, complete(&canceller));
    minilink_destroy(&canceller.link);
    process_check("a link that is cancelled with a child");
}

int main(int argc, char **argv)
{
    static struct links_case words;
    const char *what = argc > 1 ? argv[1] : "", *cache = NULL;
    bool has_mark = strcmp(what, "child") == 0;

    tally_begin();
    links_add_words(&words, argv, has_mark ? 3 : 2);
    for (int i = 2; i < argc; i++)
        if (strncmp(argv[i], "--cache-dir=", strlen("--cache-dir=")) == 0)
            cache = strchr(argv[i], '=') + 1;
    process_begin();
    if (strcmp(what, "calls") == 0)
        try_calls();
    else if (strcmp(what, "middle") == 0)
        try_middle(&words, cache);
    else if (has_mark && argc > 3)
        try_child(argv[2], &words);
    links_free_case(&words);
    return tally_end();
}
