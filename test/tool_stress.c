/* tool_stress: many links in one process, each with other threads and another fault.
 *
 *     tool_stress COUNT SEED PLUGIN INPUT...
 *
 * Runs in a folder of its own. Each link either gives the same bytes as an undisturbed one or fails
 * with a message and leaves no file, and after each there is one thread, one context and the same
 * number of descriptors as before: the threads soon, since the kernel takes a task out of /proc a
 * moment after pthread_join has returned. Memory in use does not grow. Signals come at any moment,
 * so that calls are interrupted. Faults of memory, threads and disk need build/fault.so to be
 * loaded before. Status 0 when all of that held. */
#include <dlfcn.h>
#include <malloc.h>
#include <signal.h>
#include <sys/time.h>

#include "facts/targets.h"
#include "base/context.h"
#include "diag/diag.h"
#include "library/process.h"
#include "link/link.h"
#include "random.h"
#include "read_file.h"

#define OUTPUT        "stress.cubin"
#define WARM          200          /* links after which memory must not grow any more */
#define MOST_MORE     (256u << 10) /* bytes: what the allocator's own bookkeeping may vary by */
#define MOST_FAILURES 5            /* what is left of one link stays in the next */

struct run {
    struct link_request request;
    struct diag_sink sink;
    enum link_code status;
};

static uint64_t seed;

static unsigned draw(unsigned below)
{
    return random_below(&seed, below);
}

static void on_alarm(int number)
{
    (void)number;
}

static bool is_output(struct text expected)
{
    struct text output = read_file(OUTPUT);
    bool is_equal = text_equal(output, expected);

    free((char *)output.data);
    return is_equal;
}

static enum link_code run_link(void *argument)
{
    struct run *run = argument;

    run->status = link_run(&run->request);
    return LINK_OK;
}

/* One link; its status, with messages in run->sink. */
static enum link_code link_once(struct run *run)
{
    struct diag_state *state = diag_state_get();

    state->sink = &run->sink;
    state->suppress_warnings = state->suppress_infos = true;
    run->status = LINK_ENVIRONMENT;
    if (context_run(run_link, run) == LINK_NO_MEMORY) {
        state->sink = NULL;
        run->sink.errors++; /* main() says so */
        return LINK_ENVIRONMENT;
    }
    state->sink = NULL;
    return run->status;
}

static struct link_request request_of(struct input_operand *operands, size_t count)
{
    struct link_request request = {.operands = operands,
                                   .operand_count = count,
                                   .output = OUTPUT,
                                   .minimum_chunk = 1,
                                   .limits.jobserver = JOBSERVER_AUTO};

    arch_parse(text_of("sm_90"), "sm_", &request.arch);
    request.options.split_compile = request.options.split_compile_extended = 1;
    return request;
}

/* Threads, chunks and ways, each at random. */
static void vary(struct link_request *request)
{
    static const char *const inner[] = {"--split-compile=4", "--threads-min-section-size=0", NULL};
    static const int32_t threads[] = {1, 2, 3, 8, 64};

    request->options.has_split_compile_extended = true;
    request->options.split_compile_extended = threads[draw(5)];
    request->chunk_count = draw(12);
    request->keep_going = draw(2);
    if (draw(3) == 0)
        request->assembler_options = inner;
}

/* What is wrong with a link that has ended, or NULL. */
static const char *judge(const struct run *run, enum link_code status, struct text expected)
{
    bool exists = access(OUTPUT, F_OK) == 0;

    if (status == LINK_OK)
        return !exists ? "no output" : !is_output(expected) ? "other bytes" : NULL;
    if (exists)
        return "an output in spite of failure";
    if (status == LINK_USAGE)
        return "a wrong status";
    return run->sink.errors ? NULL : "failure without a message";
}

static void interrupt_calls(void)
{
    struct sigaction action = {.sa_handler = on_alarm}; /* no SA_RESTART */
    const struct itimerval often = {{.tv_usec = 700}, {.tv_usec = 700}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

struct state {
    int tasks;
    int descriptors;
    size_t memory;
};

static struct state look(void)
{
    return (struct state){process_wait_tasks(PROCESS_TASKS), process_entries("/proc/self/fd"),
                          mallinfo2().uordblks};
}

static const char *compare(struct state before, struct state after)
{
    if (after.tasks != PROCESS_TASKS)
        return "a thread is left";
    if (after.descriptors != before.descriptors)
        return "a descriptor is left";
    return NULL;
}

int main(int argc, char **argv)
{
    void (*arm)(uint64_t, uint64_t, uint64_t) =
        (void (*)(uint64_t, uint64_t, uint64_t))dlsym(RTLD_DEFAULT, "fault_arm");
    struct input_operand operands[16] = {0};
    size_t count = 0, memory = 0;
    int links = argc > 4 ? atoi(argv[1]) : 0, failures = 0, failed_links = 0;
    char plugin[4096];
    struct text expected;

    for (int i = 4; i < argc && count < 16; i++)
        operands[count++].name = argv[i];
    if (links < 1)
        return 2;
    seed = strtoull(argv[2], NULL, 10);
    snprintf(plugin, sizeof plugin, "plugin:%s", argv[3]);
    struct run first = {.request = request_of(operands, count)};
    /* On threads, since ThreadSanitizer makes its own with the first. */
    first.request.options.has_split_compile_extended = true;
    first.request.options.split_compile_extended = 2;
    if (link_once(&first) != LINK_OK)
        return 2;
    diag_sink_free(&first.sink);
    expected = read_file(OUTPUT);
    interrupt_calls();
    struct state before = look();
    for (int i = 0; i < links && failures < MOST_FAILURES; i++) {
        struct run run = {.request = request_of(operands, count)};
        bool uses_plugin = draw(8) == 0;
        enum link_code status;
        const char *wrong;
        uint64_t allocation, thread, step;

        vary(&run.request);
        if (uses_plugin) { /* which fails for some chunk: its empty cubins are no program */
            run.request.assembler.name = plugin;
            setenv("SAMPLE_FAIL", ".entry", 1);
        }
        allocation = draw(3) ? 0 : 1 + draw(1500);
        thread = draw(4) ? 0 : 1 + draw(9);
        step = draw(9) ? 0 : 1 + draw(6);
        unlink(OUTPUT);
        if (arm)
            arm(allocation, thread, step);
        status = link_once(&run);
        if (arm)
            arm(0, 0, 0);
        failed_links += status != LINK_OK;
        wrong = judge(&run, status, expected);
        if (!wrong)
            wrong = compare(before, look());
        if (!wrong && !uses_plugin && !allocation && !step && status != LINK_OK)
            wrong = "failure without a fault";
        if (i == WARM)
            memory = look().memory;
        if (wrong) {
            failures++;
            printf("link %d: %s (status %d; allocation %d, thread %d, step %d)\n", i, wrong,
                   (int)status, (int)allocation, (int)thread, (int)step);
            printf("%.*s", (int)run.sink.text.size, run.sink.text.data ? run.sink.text.data : "");
        }
        diag_sink_free(&run.sink);
    }
    if (memory && look().memory > memory + MOST_MORE) {
        failures++;
        printf("memory grows from %zu to %zu bytes\n", memory, look().memory);
    }
    unlink(OUTPUT);
    free((char *)expected.data);
    printf("%d links, %d of them failed as they should, %d failures\n", links, failed_links,
           failures);
    return failures != 0;
}
