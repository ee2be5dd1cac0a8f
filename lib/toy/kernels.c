/* kernels.c: compiles functions in batches, with memory for each worker. The results stay in the
 * rooms until the chunk is done. */
#include "toy/phases.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "diag/diag.h"
#include "diag/events.h"
#include "pool/dispatch.h"
#include "pool/pool.h"

/* The outcome of a function. */
struct outcome {
    struct diag_sink sink;
    enum link_code code;
};

/* All functions of a chunk. */
struct team {
    struct unit *unit;
    const struct diag_state *parent; /* of the dispatching thread, which has the first room; workers
                                        have the rooms of their numbers */
    struct outcome *outcomes;        /* one for each function */
};

/* A task of one worker: functions [begin, end) in the order of the text. */
struct batch {
    const struct team *team;
    size_t begin, end;
};

/* One function, and the memory to compile it in. */
struct call {
    struct unit *unit;
    struct function_code *function;
    struct room *room;
};

static enum link_code compile(void *argument)
{
    const struct call *call = argument;
    struct unit *unit = call->unit;
    struct function_code *function = call->function;
    uint64_t start = events_clock(), cpu = start ? clock_thread() : 0;
    uint64_t begin = unit->switches.phase_trace ? clock_now() : 0;
    bool ok;

    if (unit_is_cancelled(unit))
        return LINK_CANCELLED;
    ok = compile_function(unit, function, call->room);
    if (begin)
        function->nanoseconds = clock_now() - begin;
    arena_reset(&call->room->scratch);
    if (start)
        events_record(&(struct event){.kind = EVENT_FUNCTION,
                                      .name = function->item->name,
                                      .start = start,
                                      .cpu = clock_thread() - cpu,
                                      .bytes = function->item->text.size,
                                      .state = ok ? NULL : "failed"});
    return ok ? LINK_OK : LINK_FAILED;
}

void kernels_free(struct unit *unit)
{
    for (size_t i = 0; i < unit->room_count; i++) {
        struct room *room = &unit->rooms[i];

        table_free(&room->signatures);
        buffer_free(&room->code);
        arena_free(&room->scratch);
        arena_free(&room->arena);
    }
    free(unit->rooms);
    unit->rooms = NULL;
    unit->room_count = 0;
}

/* The worse of two outcomes: a cancelled job has no result at all. */
static enum link_code worse(enum link_code a, enum link_code b)
{
    return a == LINK_OK || b == LINK_CANCELLED || (b == LINK_NO_MEMORY && a != LINK_CANCELLED) ? b
                                                                                               : a;
}

static void run_batch(void *argument)
{
    const struct batch *batch = argument;
    const struct team *team = batch->team;
    /* The dispatching thread may itself be a worker of another pool. */
    size_t room = diag_state_open() == team->parent ? 0 : pool_worker();

    for (size_t i = batch->begin; i < batch->end; i++) {
        struct call call = {team->unit, &team->unit->functions[i], &team->unit->rooms[room]};
        struct outcome *outcome = &team->outcomes[i];

        outcome->code = diag_collect(compile, &call, team->parent, &outcome->sink);
    }
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
static size_t make_batches(const struct team *team, size_t least, struct batch *batches,
                           struct pool_task *tasks)
{
    const struct unit *unit = team->unit;
    size_t count = unit->function_count, made = 0;

    for (size_t begin = 0, end; begin < count; begin = end) {
        size_t size = 0;

        for (end = begin; end < count && (end == begin || size < least); end++)
            size += unit->functions[end].item->text.size;
        batches[made] = (struct batch){team, begin, end};
        tasks[made] = (struct pool_task){run_batch, &batches[made],
                                         size < UINT32_MAX ? (uint32_t)size : UINT32_MAX};
        made++;
    }
    return made;
}

static void free_outcomes(void *argument)
{
    struct team *team = argument;

    for (size_t i = 0; i < team->unit->function_count; i++)
        diag_sink_free(&team->outcomes[i].sink);
    free(team->outcomes);
}

enum link_code kernels_compile(struct unit *unit)
{
    size_t count = unit->function_count;
    uint32_t threads = count > 1 ? switches_threads(&unit->switches, unit->job) : 1;
    struct team team = {.unit = unit, .parent = diag_state_get()};
    struct batch *batches = arena_alloc(&unit->arena, count, sizeof *batches);
    struct dispatch_request wanted = {.tasks =
                                          arena_alloc(&unit->arena, count, sizeof *wanted.tasks),
                                      .threads = threads,
                                      .jobserver = (enum jobserver_use)unit->job->jobserver};
    enum link_code code = LINK_OK;

    unit->thread_count = threads;
    unit->rooms = memory_zalloc((size_t)threads + 1, sizeof *unit->rooms);
    unit->room_count = (size_t)threads + 1;
    team.outcomes = memory_zalloc(count, sizeof *team.outcomes);
    CONTEXT_DEFER(free_outcomes, &team);
    wanted.count = make_batches(&team, batch_size(unit, threads), batches, wanted.tasks);
    dispatch_run(&wanted);
    for (size_t i = 0; i < count; i++) {
        diag_replay(&team.outcomes[i].sink);
        code = worse(code, team.outcomes[i].code);
    }
    if (code == LINK_NO_MEMORY)
        context_raise(LINK_NO_MEMORY);
    return code;
}
