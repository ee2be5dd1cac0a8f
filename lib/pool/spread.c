/* spread.c: one task for each part, since the items are many and similar. */
#include "pool/spread.h"

#include "base/context.h"
#include "diag/diag.h"
#include "pool/dispatch.h"

struct part {
    void (*run)(void *argument, size_t part, size_t first, size_t last);
    void *argument;
    size_t number;
    size_t first;
    size_t last;
    const struct diag_state *parent;
    struct diag_sink said;
    enum link_code code;
};

size_t spread_parts(const struct spread *spread, size_t count, size_t least)
{
    size_t parts = spread->threads < SPREAD_MOST ? spread->threads : SPREAD_MOST;

    if (least > 0 && parts > count / least)
        parts = count / least;
    return parts ? parts : 1;
}

static enum link_code run_items(void *argument)
{
    struct part *part = argument;

    part->run(part->argument, part->number, part->first, part->last);
    return LINK_OK;
}

static void run_spread_part(void *argument)
{
    struct part *part = argument;

    part->code = diag_collect(run_items, part, part->parent, &part->said);
}

/* Reports the parts' messages, up to the first part that failed, and frees all of them. */
static enum link_code collect(struct part *parts, size_t count)
{
    enum link_code code = LINK_OK;

    for (size_t i = 0; i < count; i++) {
        if (code == LINK_OK) {
            diag_replay(&parts[i].said);
            code = parts[i].code;
        }
        diag_sink_free(&parts[i].said);
    }
    return code;
}

void spread_run(const struct spread *spread, size_t count, size_t least,
                void (*run)(void *argument, size_t part, size_t first, size_t last), void *argument)
{
    struct part parts[SPREAD_MOST];
    struct pool_task tasks[SPREAD_MOST];
    size_t part_count = spread_parts(spread, count, least);
    struct dispatch_request request = {
        .tasks = tasks,
        .count = part_count,
        .threads = (uint32_t)part_count,
        .jobserver = spread->jobserver,
    };
    enum link_code code;

    if (part_count == 1) {
        run(argument, 0, 0, count);
        return;
    }
    for (size_t i = 0; i < part_count; i++) {
        parts[i] = (struct part){
            .run = run,
            .argument = argument,
            .number = i,
            .first = count * i / part_count,
            .last = count * (i + 1) / part_count,
            .parent = diag_state_get(),
        };
        tasks[i] = (struct pool_task){.run = run_spread_part, .argument = &parts[i]};
    }
    dispatch_run(&request);
    code = collect(parts, part_count);
    if (code != LINK_OK)
        context_raise(code);
}
