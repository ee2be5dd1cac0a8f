/* kernels.c: compiles functions in batches. */
#include "toy/phases.h"

#include "base/clock.h"
#include "diag/events.h"
#include "pool/dispatch.h"

static enum link_code compile(void *argument)
{
    struct function_code *function = argument;
    uint64_t start = events_clock(), cpu = start ? clock_thread() : 0;
    bool ok;

    if (unit_is_cancelled(function->unit))
        return LINK_CANCELLED;
    ok = compile_function(function->unit, function);
    if (start)
        events_record(&(struct event){.kind = EVENT_FUNCTION,
                                      .name = function->item->name,
                                      .start = start,
                                      .cpu = clock_thread() - cpu,
                                      .bytes = function->item->text.size,
                                      .state = ok ? NULL : "failed"});
    return ok ? LINK_OK : LINK_FAILED;
}

/* A task of one worker: the function, and those after it up to the end of the batch. */
static void run_batch(void *first)
{
    struct function_code *function = first;

    do
        function->outcome =
            diag_collect(compile, function, function->unit->messages, &function->messages);
    while (!function++->ends_batch);
}

/* Bytes of PTX for a batch. Dynamic scheduling: just enough to be worth a task. Static: an equal
 * share for each thread. */
static size_t batch_size(const struct unit *unit, uint32_t threads)
{
    size_t total = 0;

    if (unit->switches.dynamic_scheduling)
        return (size_t)unit->switches.minimum_section;
    for (size_t i = 0; i < unit->function_count; i++)
        total += unit->functions[i].item->text.size;
    return total / threads + 1;
}

/* Cuts the functions into batches of at least `least` bytes, and makes a task of each. */
static size_t make_batches(struct unit *unit, size_t least, struct pool_task *tasks)
{
    size_t count = unit->function_count, made = 0;

    for (size_t begin = 0, end; begin < count; begin = end) {
        size_t size = 0;

        for (end = begin; end < count && (end == begin || size < least); end++)
            size += unit->functions[end].item->text.size;
        unit->functions[end - 1].ends_batch = true;
        tasks[made] = (struct pool_task){run_batch, &unit->functions[begin],
                                         size < UINT32_MAX ? (uint32_t)size : UINT32_MAX, 0};
        made++;
    }
    return made;
}

bool kernels_compile(struct unit *unit)
{
    size_t count = unit->function_count;
    uint32_t threads = count > 1 ? switches_threads(unit) : 1;
    struct dispatch_request wanted = {.tasks =
                                          arena_alloc(&unit->arena, count, sizeof *wanted.tasks),
                                      .threads = threads,
                                      .jobserver = (enum jobserver_use)unit->job->jobserver};
    bool ok = true, has_memory = true;

    unit->messages = diag_state_get();
    wanted.count = make_batches(unit, batch_size(unit, threads), wanted.tasks);
    dispatch_run(&wanted);
    for (size_t i = 0; i < count; i++) {
        diag_replay(&unit->functions[i].messages);
        ok &= unit->functions[i].outcome == LINK_OK;
        unit->has_kernel |= unit->functions[i].item->function.is_entry;
        unit->uses_textures |= unit->functions[i].uses_textures;
        has_memory &= unit->functions[i].outcome != LINK_NO_MEMORY;
    }
    if (!has_memory && !unit_is_cancelled(unit))
        context_raise(LINK_NO_MEMORY);
    return ok;
}
