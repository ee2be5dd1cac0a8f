/* kernels.c: work items of functions, batches of them, and rooms to work in.
 *
 * A room is the memory of one worker: nobody else allocates from it, so that no lock is taken, and
 * rooms share no cache line. The results stay in the rooms until the chunk is done. The module and
 * the scope are only read. */
#include "assembler/builtin/kernels.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/events.h"
#include "base/memory.h"
#include "pool/dispatch.h"
#include "pool/pool.h"

struct room {
    struct arena arena;   /* results */
    struct arena scratch; /* of one function */
    struct buffer code;   /* the same, and so on */
    struct code_relocations relocations;
    struct table signatures;
    struct spellings *spellings; /* in its arena; made when first needed */
    uint8_t padding[64];
};

/* Shared by all items; only read, but for the rooms. */
struct team {
    struct unit *unit;
    const struct context *parent; /* of the thread that dispatches */
    struct room *rooms;           /* the first is its, the others are those of workers by number */
};

/* What became of an item. */
struct kernel_outcome {
    struct diag_sink sink;
    enum link_code code;
};

/* One function on its way through the pool. */
struct kernel_item {
    struct text text; /* of the function */
    struct kernel_outcome *outcome;
    struct function_code *code; /* result */
    struct team *team;
};

/* What one worker does in one go: neighbours in the order of the text. */
struct batch {
    struct kernel_item *items;
    size_t count;
};

static enum link_code compile(struct unit *unit, struct function_code *function, struct room *room)
{
    if (!room->spellings)
        room->spellings = parse_spellings_new(&room->arena);
    struct compile_request request = unit->config;
    uint64_t start = events_clock();
    uint64_t begin = unit->switches.phase_trace ? clock_now() : 0;
    bool ok;

    if (unit_is_cancelled(unit))
        return LINK_CANCELLED;
    request.arena = &room->arena;
    request.scratch = &room->scratch;
    request.code = &room->code;
    request.relocations = &room->relocations;
    request.signatures = &room->signatures;
    request.spellings = room->spellings;
    ok = compile_function(function, function->item, &request);
    if (begin)
        function->nanoseconds = clock_now() - begin;
    arena_reset(&room->scratch);
    if (start)
        events_record(&(struct event){.kind = EVENT_FUNCTION,
                                      .name = function->item->name,
                                      .start = start,
                                      .bytes = function->item->text.size,
                                      .state = ok ? NULL : "failed"});
    return ok ? LINK_OK : LINK_FAILED;
}

static void make_rooms(struct unit *unit, size_t count)
{
    unit->rooms = memory_zalloc(count, sizeof *unit->rooms);
    unit->room_count = count;
}

void kernels_free(struct unit *unit)
{
    for (size_t i = 0; i < unit->room_count; i++) {
        struct room *room = &unit->rooms[i];

        table_free(&room->signatures);
        free(room->relocations.list);
        buffer_free(&room->code);
        arena_free(&room->scratch);
        arena_free(&room->arena);
    }
    free(unit->rooms);
    unit->rooms = NULL;
    unit->room_count = 0;
}

/* The worse of two ends: a job that is given up has no result at all. */
static enum link_code worse(enum link_code a, enum link_code b)
{
    return a == LINK_OK || b == LINK_CANCELLED || (b == LINK_NO_MEMORY && a != LINK_CANCELLED) ? b
                                                                                               : a;
}

static enum link_code compile_here(struct unit *unit)
{
    enum link_code code = LINK_OK;

    make_rooms(unit, 1);
    for (size_t i = 0; i < unit->function_count && code != LINK_CANCELLED; i++)
        code = worse(code, compile(unit, &unit->functions[i], &unit->rooms[0]));
    return code;
}

struct call {
    const struct kernel_item *item;
    struct room *room;
};

static enum link_code compile_item(void *argument)
{
    const struct call *call = argument;

    return compile(call->item->team->unit, call->item->code, call->room);
}

static void run_batch(void *argument)
{
    const struct batch *batch = argument;
    const struct team *team = batch->items->team;
    /* The thread that dispatches may be a worker of another pool itself. */
    struct room *room = context_get() == team->parent ? team->rooms : &team->rooms[pool_worker()];

    for (size_t i = 0; i < batch->count; i++) {
        const struct kernel_item *item = &batch->items[i];
        struct call call = {item, room};

        item->outcome->code = diag_collect(compile_item, &call, team->parent, &item->outcome->sink);
    }
}

/* Bytes of PTX that a batch should have. Dynamic scheduling: just enough to be worth a task.
 * Static: everybody's share at once. */
static size_t batch_size(const struct unit *unit, uint32_t threads)
{
    size_t total = 0;

    if (unit->switches.dynamic_scheduling)
        return (size_t)unit->switches.minimum_section;
    for (size_t i = 0; i < unit->function_count; i++)
        total += unit->functions[i].item->text.size;
    return total / threads + 1;
}

/* Cuts the items into batches of at least `least` bytes, and makes a task of each. */
static size_t make_batches(struct kernel_item *items, size_t count, size_t least,
                           struct batch *batches, struct dispatch_task *tasks)
{
    size_t made = 0;

    for (size_t begin = 0, end; begin < count; begin = end) {
        size_t size = 0;

        for (end = begin; end < count && (end == begin || size < least); end++)
            size += items[end].text.size;
        batches[made] = (struct batch){&items[begin], end - begin};
        tasks[made] = (struct dispatch_task){run_batch, &batches[made],
                                             size < UINT32_MAX ? (uint32_t)size : UINT32_MAX};
        made++;
    }
    return made;
}

static enum link_code collect(struct kernel_outcome *outcomes, size_t count)
{
    enum link_code code = LINK_OK;

    for (size_t i = 0; i < count; i++) {
        diag_replay(&outcomes[i].sink);
        code = worse(code, outcomes[i].code);
    }
    return code;
}

struct outcomes {
    struct kernel_outcome *list;
    size_t count;
};

static void free_outcomes(void *argument)
{
    struct outcomes *outcomes = argument;

    for (size_t i = 0; i < outcomes->count; i++)
        diag_sink_free(&outcomes->list[i].sink);
    free(outcomes->list);
}

static enum link_code compile_on_threads(struct unit *unit, uint32_t threads)
{
    size_t count = unit->function_count;
    struct team team = {.unit = unit, .parent = context_get()};
    struct outcomes outcomes = {.count = count};
    struct kernel_item *items = arena_alloc(&unit->arena, count, sizeof *items);
    struct batch *batches = arena_alloc(&unit->arena, count, sizeof *batches);
    struct dispatch_request wanted = {.tasks =
                                          arena_alloc(&unit->arena, count, sizeof *wanted.tasks),
                                      .threads = threads,
                                      .jobserver = (enum jobserver_use)unit->job->jobserver};
    struct context_cleanup cleanup;
    enum link_code code;

    make_rooms(unit, (size_t)threads + 1);
    team.rooms = unit->rooms;
    outcomes.list = memory_zalloc(count, sizeof *outcomes.list);
    context_defer(&cleanup, free_outcomes, &outcomes);
    for (size_t i = 0; i < count; i++)
        items[i] = (struct kernel_item){.text = unit->functions[i].item->text,
                                        .outcome = &outcomes.list[i],
                                        .code = &unit->functions[i],
                                        .team = &team};
    wanted.count = make_batches(items, count, batch_size(unit, threads), batches, wanted.tasks);
    dispatch_run(&wanted);
    code = collect(outcomes.list, count);
    context_clean(&cleanup);
    return code;
}

enum link_code kernels_compile(struct unit *unit)
{
    uint32_t threads = switches_threads(&unit->switches, unit->job);
    enum link_code code;

    unit->thread_count = threads > 1 && unit->function_count > 1 ? threads : 1;
    code = unit->thread_count > 1 ? compile_on_threads(unit, threads) : compile_here(unit);
    if (code == LINK_NO_MEMORY)
        context_raise(LINK_NO_MEMORY);
    return code;
}
