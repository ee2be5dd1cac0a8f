/* liveness.c: where registers are live, one after the other.
 *
 * Most registers live within one block; reading the instructions once is enough for them. The
 * others are read in some block before it writes them ("crossing" registers): such a block needs
 * them where it begins, and so do the blocks before it, up to those that write them. For hostile
 * control flow the work is bounded, so that it grows as the text does: what is left when the bound
 * is reached counts as live everywhere, which is never wrong, only wasteful. */
#include "toy/body_steps.h"

/* How many edges may be looked at for each instruction of a body. Large kernels need about ten. */
#define WORK_PER_INSTRUCTION UINT64_C(256)

/* A block reads a register before it writes it, or writes it for certain before it reads it. */
struct event {
    uint32_t block;
    uint32_t next; /* of the register's, or NO_INDEX */
    bool is_write;
};

struct occurrence {
    uint32_t block;       /* the last that has it */
    uint32_t first_write; /* in order of the text, or NO_INDEX */
    uint32_t events;      /* the first in its list, or NO_INDEX */
    bool is_crossing;
};

struct liveness {
    const struct body *body;
    struct flow flow;
    struct interval *intervals;
    struct occurrence *occurrences; /* one for each register */
    struct event *events;
    size_t event_count;
    size_t event_capacity;
    uint32_t *needs;  /* by node: 1 + the last register that was found to be needed there */
    uint32_t *writes; /* by node: 1 + the last register that was found to be written there */
    uint32_t *work;   /* nodes whose predecessors are to be looked at */
    uint32_t work_count;
    uint64_t work_done;
};

/* Makes the interval reach to `position`. */
static void interval_extend(struct interval *interval, uint32_t position)
{
    if (position < interval->start)
        interval->start = position;
    if (position > interval->end)
        interval->end = position;
}

static void add_event(struct liveness *liveness, uint32_t block, uint32_t reg, bool is_write)
{
    struct occurrence *occurrence = &liveness->occurrences[reg];
    ARENA_PUSH(liveness->body->arena, liveness->events, liveness->event_count,
               liveness->event_capacity) =
        (struct event){.block = block, .next = occurrence->events, .is_write = is_write};
    occurrence->events = (uint32_t)liveness->event_count - 1;
    occurrence->is_crossing |= !is_write;
}

static void note_access(struct liveness *liveness, uint32_t block, uint32_t instruction,
                        uint32_t reg, bool is_write)
{
    struct occurrence *occurrence = &liveness->occurrences[reg];
    interval_extend(&liveness->intervals[reg], 2 * instruction + is_write);
    if (is_write && occurrence->first_write == NO_INDEX)
        occurrence->first_write = instruction;
    if (occurrence->block != block)
        add_event(liveness, block, reg, is_write);
    occurrence->block = block;
}

/* Makes an event of each register that a block reads before it writes it, and of each certain write
 * that no read stands before; at most one each per block. Intervals are extended to every
 * occurrence on the way. */
static void collect_events(struct liveness *liveness)
{
    const struct body *body = liveness->body;
    struct register_accesses accesses = {0};
    liveness->occurrences =
        arena_alloc(body->arena, body->register_count, sizeof *liveness->occurrences);
    for (size_t i = 0; i < body->register_count; i++)
        liveness->occurrences[i] =
            (struct occurrence){.block = NO_INDEX, .first_write = NO_INDEX, .events = NO_INDEX};
    for (uint32_t block = 0; block < liveness->flow.block_count; block++) {
        uint32_t end = liveness->flow.blocks[block].end;
        for (uint32_t i = liveness->flow.blocks[block].first; i < end; i++) {
            access_collect(body, &body->instructions[i], &accesses);
            for (size_t k = 0; k < accesses.count; k++)
                if (accesses.list[k].is_read)
                    note_access(liveness, block, i, *accesses.list[k].reg, false);
            for (size_t k = 0; k < accesses.count; k++)
                if (accesses.list[k].is_written)
                    note_access(liveness, block, i, *accesses.list[k].reg, true);
        }
    }
}

/* The register is live where the node begins. */
static void need(struct liveness *liveness, uint32_t node, uint32_t reg)
{
    if (liveness->needs[node] == reg + 1)
        return;
    liveness->needs[node] = reg + 1;
    liveness->work[liveness->work_count++] = node;
    if (node < liveness->flow.block_count)
        interval_extend(&liveness->intervals[reg], 2 * liveness->flow.blocks[node].first);
}

/* The register is live where the node ends. */
static void hand_on(struct liveness *liveness, uint32_t node, uint32_t reg)
{
    if (node < liveness->flow.block_count)
        interval_extend(&liveness->intervals[reg], 2 * liveness->flow.blocks[node].end - 1);
    if (liveness->writes[node] != reg + 1)
        need(liveness, node, reg);
}

/* From the blocks that need a crossing register back to those that write it. */
static void follow(struct liveness *liveness, uint32_t reg)
{
    const struct flow *flow = &liveness->flow;
    uint32_t events = liveness->occurrences[reg].events;
    for (uint32_t i = events; i != NO_INDEX; i = liveness->events[i].next)
        if (liveness->events[i].is_write)
            liveness->writes[liveness->events[i].block] = reg + 1;
    for (uint32_t i = events; i != NO_INDEX; i = liveness->events[i].next)
        if (!liveness->events[i].is_write)
            need(liveness, liveness->events[i].block, reg);
    while (liveness->work_count) {
        uint32_t node = liveness->work[--liveness->work_count];
        liveness->work_done +=
            1 + flow->predecessor_start[node + 1] - flow->predecessor_start[node];
        for (uint32_t k = flow->predecessor_start[node]; k < flow->predecessor_start[node + 1]; k++)
            hand_on(liveness, flow->predecessors[k], reg);
    }
}

static void follow_all(struct liveness *liveness)
{
    const struct body *body = liveness->body;
    liveness->needs = arena_zalloc(body->arena, liveness->flow.node_count, sizeof(uint32_t));
    liveness->writes = arena_zalloc(body->arena, liveness->flow.node_count, sizeof(uint32_t));
    liveness->work = arena_alloc(body->arena, liveness->flow.node_count, sizeof(uint32_t));
    for (uint32_t reg = 0; reg < body->register_count; reg++) {
        if (!liveness->occurrences[reg].is_crossing)
            continue;
        if (liveness->work_done <= WORK_PER_INSTRUCTION * body->instruction_count) {
            follow(liveness, reg);
            continue;
        }
        interval_extend(&liveness->intervals[reg], 0);
        interval_extend(&liveness->intervals[reg], 2 * (uint32_t)body->instruction_count - 1);
    }
}

/* For each block, the first block in the text that can be executed once control has reached it; the
 * block itself when nothing before it can. *is_repeated tells whether it can follow itself. */
static uint32_t *find_loop_starts(const struct liveness *liveness, bool **is_repeated)
{
    const struct flow *flow = &liveness->flow;
    uint32_t *lowest = arena_alloc(liveness->body->arena, flow->node_count, sizeof *lowest);
    *is_repeated = arena_zalloc(liveness->body->arena, flow->block_count, sizeof **is_repeated);
    uint32_t behind = NO_INDEX;
    for (uint32_t node = flow->node_count; node-- > 0;) {
        uint32_t target = NO_INDEX;
        for (uint32_t k = flow->successor_start[node]; k < flow->successor_start[node + 1]; k++) {
            uint32_t successor = flow->successors[k];
            if (successor >= flow->block_count)
                successor = lowest[successor];
            if (successor < target)
                target = successor;
        }
        if (node < flow->block_count) {
            behind = target < behind ? target : behind;
            target = behind;
        }
        lowest[node] = target;
    }
    for (uint32_t block = 0; block < flow->block_count; block++) {
        (*is_repeated)[block] = lowest[block] <= block;
        if (lowest[block] < block)
            lowest[block] = lowest[lowest[block]];
        else
            lowest[block] = block;
    }
    return lowest;
}

/* A register that is written under a guard only is live, as far as data flow can tell, from the
 * function's entry on. But before its first write it holds nothing: unless a loop leads back, its
 * interval can begin there. */
static void trim_starts(struct liveness *liveness)
{
    const struct flow *flow = &liveness->flow;
    bool *is_repeated;
    uint32_t *loop_starts = find_loop_starts(liveness, &is_repeated);
    uint32_t *block_of =
        arena_alloc(liveness->body->arena, liveness->body->instruction_count, sizeof *block_of);
    for (uint32_t block = 0; block < flow->block_count; block++)
        for (uint32_t i = flow->blocks[block].first; i < flow->blocks[block].end; i++)
            block_of[i] = block;
    for (size_t reg = 0; reg < liveness->body->register_count; reg++) {
        uint32_t write = liveness->occurrences[reg].first_write;
        if (write == NO_INDEX || !liveness->occurrences[reg].is_crossing)
            continue;
        uint32_t block = block_of[write];
        uint32_t start =
            is_repeated[block] ? 2 * flow->blocks[loop_starts[block]].first : 2 * write + 1;
        if (liveness->intervals[reg].start < start)
            liveness->intervals[reg].start = start;
    }
}

struct interval *liveness_intervals(const struct body *body)
{
    struct liveness liveness = {.body = body};
    liveness.intervals = arena_alloc(body->arena, body->register_count, sizeof *liveness.intervals);
    for (size_t i = 0; i < body->register_count; i++)
        liveness.intervals[i] = (struct interval){UINT32_MAX, 0};
    if (body->instruction_count == 0)
        return liveness.intervals;
    flow_make(&liveness.flow, body);
    collect_events(&liveness);
    follow_all(&liveness);
    trim_starts(&liveness);
    return liveness.intervals;
}
