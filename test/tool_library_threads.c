/* tool_library_threads: many links at once, and many links open at once.
 *
 *     tool_library_threads THREADS LINKS SEED CASES COUNT     3> REPORT
 *
 * The folder CASES/N, for N below COUNT, has what a link is and what the command makes of it:
 * words, one a line; status; and the cubin where there is one.
 *
 * Each is linked alone first, which must agree with the command. Then THREADS threads make LINKS
 * links each, drawn at random, and have to get what was got alone, to the last byte and the last
 * line of the logs. In the end they take turns with 64 open links, each thread one step of a link
 * that another has left. */
#include "library/links.h"
#include "library/process.h"
#include "random.h"

#define HANDLES 64

/* What came of a link. */
struct outcome {
    int code;
    struct links_text cubin, errors, infos;
    size_t kernel_count;
};

struct example {
    struct links_case words;
    struct links_text text; /* that the words are in */
    struct outcome alone[LINKS_WAYS];
};

struct worker {
    pthread_t thread;
    uint64_t seed;
};

/* A link that is passed from thread to thread. */
struct handle {
    pthread_mutex_t lock;
    struct minilink *link;
    const struct example *example;
    size_t step; /* 0: to be created; then an input each; to be completed; to be looked at */
    int code;
};

static struct example *examples;
static unsigned example_count;
static struct handle handles[HANDLES];
static size_t link_count;

static struct links_text copy_of(const void *data, size_t size)
{
    struct links_text text = {data ? malloc(size + 1) : NULL, size};

    if (text.data)
        memcpy(text.data, data, size);
    return text;
}

static struct outcome outcome_of(const struct minilink *link, int code)
{
    struct outcome outcome = {.code = code, .kernel_count = minilink_kernel_count(link)};
    size_t size;
    const void *data = minilink_cubin(link, &size);

    outcome.cubin = copy_of(data, size);
    data = minilink_error_log(link, &size);
    outcome.errors = copy_of(data, size);
    data = minilink_info_log(link, &size);
    outcome.infos = copy_of(data, size);
    return outcome;
}

static void free_outcome(struct outcome *outcome)
{
    free(outcome->cubin.data);
    free(outcome->errors.data);
    free(outcome->infos.data);
}

static bool is_same(const struct links_text *text, const void *data, size_t size)
{
    return !text->data == !data && text->size == size &&
           (!data || memcmp(text->data, data, size) == 0);
}

/* Whether the link has come to what it came to alone. */
static void judge(const struct example *example, enum links_way way, const struct minilink *link,
                  int code)
{
    const struct outcome *alone = &example->alone[way];
    int number = (int)(example - examples);
    const char *text;
    const void *data;
    size_t size;

    check(code == alone->code, "case %d: %s, and alone %s: %s", number, minilink_code_name(code),
          minilink_code_name(alone->code), minilink_error_log(link, NULL));
    data = minilink_cubin(link, &size);
    check(is_same(&alone->cubin, data, size), "case %d: other bytes", number);
    text = minilink_error_log(link, &size);
    check(is_same(&alone->errors, text, size), "case %d: other errors:\n%sand alone:\n%s", number,
          text, alone->errors.data);
    text = minilink_info_log(link, &size);
    check(is_same(&alone->infos, text, size), "case %d: other infos:\n%sand alone:\n%s", number,
          text, alone->infos.data);
    check(minilink_kernel_count(link) == alone->kernel_count, "case %d: other kernels", number);
}

static void *make_links(void *argument)
{
    struct worker *worker = argument;

    for (size_t i = 0; i < link_count; i++) {
        const struct example *example = &examples[random_below(&worker->seed, example_count)];
        enum links_way way = random_below(&worker->seed, LINKS_WAYS);
        struct minilink *link;
        int code = links_run(&link, &example->words, way);

        judge(example, way, link, code);
        minilink_destroy(&link);
    }
    return NULL;
}

/* One step of a link, which the thread has for itself. */
static void advance(struct handle *handle, uint64_t *seed)
{
    const struct links_case *words;

    if (handle->step == 0) {
        handle->example = &examples[random_below(seed, example_count)];
        words = &handle->example->words;
        handle->code = minilink_create(&handle->link, words->options, words->option_count);
        handle->step++;
        return;
    }
    words = &handle->example->words;
    if (handle->code == MINILINK_OK && handle->step <= words->input_count) {
        handle->code = links_add(handle->link, words, handle->step - 1, LINKS_DATA);
        handle->step++;
    } else if (handle->code == MINILINK_OK && handle->step == words->input_count + 1) {
        handle->code = minilink_complete(handle->link);
        handle->step++;
    } else {
        judge(handle->example, LINKS_DATA, handle->link, handle->code);
        minilink_destroy(&handle->link);
        handle->step = 0;
    }
}

static void *take_turns(void *argument)
{
    struct worker *worker = argument;

    for (size_t i = 0; i < link_count; i++) {
        struct handle *handle = &handles[random_below(&worker->seed, HANDLES)];

        pthread_mutex_lock(&handle->lock);
        advance(handle, &worker->seed);
        pthread_mutex_unlock(&handle->lock);
    }
    return NULL;
}

static void on_threads(void *(*function)(void *), size_t count, uint64_t seed)
{
    struct worker *workers = calloc(count, sizeof *workers);

    for (size_t i = 0; workers && i < count; i++) {
        workers[i].seed = seed + i;
        check(pthread_create(&workers[i].thread, NULL, function, &workers[i]) == 0, "no thread");
    }
    for (size_t i = 0; workers && i < count; i++)
        pthread_join(workers[i].thread, NULL);
    free(workers);
}

/* Links a case alone, in each way, and compares it with what the command did. */
static void link_alone(struct example *example, const char *folder, int status)
{
    char path[PATH_MAX];
    int number = (int)(example - examples);
    struct links_text cubin;

    snprintf(path, sizeof path, "%s/%d/cubin", folder, number);
    cubin = links_read(path);
    for (enum links_way way = 0; way < LINKS_WAYS; way++) {
        struct minilink *link;
        int code = links_run(&link, &example->words, way);

        example->alone[way] = outcome_of(link, code);
        /* What the command passes over with a warning, an input of the library may not be. */
        if (code != MINILINK_WRONG_INPUT) {
            check((code == MINILINK_OK) == (status == 0),
                  "case %d: %s, the command's status is %d: %s", number, minilink_code_name(code),
                  status, minilink_error_log(link, NULL));
            check((code == MINILINK_USAGE) == (status == 2),
                  "case %d: %s, the command's status is %d", number, minilink_code_name(code),
                  status);
        }
        if (code == MINILINK_OK)
            check(is_same(&cubin, example->alone[way].cubin.data, example->alone[way].cubin.size),
                  "case %d: other bytes than the command's", number);
        else
            check(*minilink_error_log(link, NULL), "case %d: %s without a word", number,
                  minilink_code_name(code));
        check(code != MINILINK_INTERNAL, "case %d: an internal error: %s", number,
              minilink_error_log(link, NULL));
        minilink_destroy(&link);
    }
    free(cubin.data);
}

static void read_example(struct example *example, const char *folder)
{
    char path[PATH_MAX], *rest = NULL;
    struct links_text status;

    snprintf(path, sizeof path, "%s/%d/words", folder, (int)(example - examples));
    example->text = links_read(path);
    for (char *word = strtok_r(example->text.data, "\n", &rest); word;
         word = strtok_r(NULL, "\n", &rest))
        links_add_word(&example->words, word);
    snprintf(path, sizeof path, "%s/%d/status", folder, (int)(example - examples));
    status = links_read(path);
    link_alone(example, folder, status.data ? atoi(status.data) : -1);
    free(status.data);
}

static void tell_examples(void)
{
    int counts[128] = {0};

    for (size_t i = 0; i < example_count; i++)
        counts[examples[i].alone[LINKS_DATA].code & 127]++;
    for (int code = 0; code < 128; code++)
        if (counts[code])
            tally_note("%d of %u cases: %s", counts[code], example_count, minilink_code_name(code));
    check(counts[MINILINK_OK] && counts[MINILINK_FAILED] && counts[MINILINK_USAGE],
          "the cases do not have all results");
}

int main(int argc, char **argv)
{
    size_t thread_count = argc > 5 ? (size_t)atoi(argv[1]) : 0;
    uint64_t seed = argc > 5 ? strtoull(argv[3], NULL, 10) : 0;

    tally_begin();
    link_count = argc > 5 ? (size_t)atoi(argv[2]) : 0;
    example_count = argc > 5 ? (unsigned)atoi(argv[5]) : 0;
    examples = calloc(example_count, sizeof *examples);
    if (!thread_count || !example_count || !examples)
        return 2;
    process_begin();
    for (size_t i = 0; i < example_count; i++)
        read_example(&examples[i], argv[4]);
    tell_examples();
    process_check("links alone");
    on_threads(make_links, thread_count, seed);
    process_check("links at once");
    for (size_t i = 0; i < HANDLES; i++)
        pthread_mutex_init(&handles[i].lock, NULL);
    on_threads(take_turns, thread_count, seed + 1000);
    for (size_t i = 0; i < HANDLES; i++) {
        while (handles[i].step > 0)
            advance(&handles[i], &seed);
        pthread_mutex_destroy(&handles[i].lock);
    }
    process_check("links in turn");
    for (size_t i = 0; i < example_count; i++) {
        links_free_case(&examples[i].words);
        free(examples[i].text.data);
        for (enum links_way way = 0; way < LINKS_WAYS; way++)
            free_outcome(&examples[i].alone[way]);
    }
    free(examples);
    return tally_end();
}
