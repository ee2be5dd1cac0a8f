/* liveness.c: backward data flow over the blocks, for 256 registers at a time.
 *
 * Most registers live within one block; reading the instructions once is enough for them. Only
 * those that some block reads before it writes them need data flow ("crossing" registers). They are
 * taken in slices of 256, one bit each, so memory is a few words per block whatever the number of
 * registers, and time is near linear for the control flow that compilers make. For hostile control
 * flow the work is bounded: what is left when the bound is reached counts as live everywhere, which
 * is never wrong, only wasteful. */
#include "assembler/builtin/liveness.h"

#include "assembler/builtin/access.h"
#include "assembler/builtin/flow.h"

#define WORDS      4u
#define SLICE      (64u * WORDS)
#define WORK_LIMIT ((uint64_t)1 << 27) /* edges looked at in one body */

/* A block reads a register before it writes it, or writes it for certain. */
struct event {
    uint32_t block;
    uint32_t reg : 31;
    uint32_t is_write : 1;
};

struct node_bits {
    uint64_t read[WORDS];    /* read in the block before any write */
    uint64_t written[WORDS]; /* written for certain before any read */
    uint64_t in[WORDS];      /* live where the block begins */
    uint64_t out[WORDS];     /* live where it ends */
};

/* What is known of a register; side by side, since it is looked at all at once. */
struct occurrence {
    uint32_t block;       /* the last that has it */
    uint32_t first_write; /* in order of the text, or NO_INDEX */
    uint32_t crossing;    /* its number among the crossing ones, or NO_INDEX */
};

struct liveness {
    const struct body *body;
    struct flow flow;
    struct interval *intervals;
    struct occurrence *occurrences; /* one for each register */
    uint32_t *registers;            /* crossing register -> register */
    uint32_t crossing_count;
    struct event *events; /* of all registers, in order of the text */
    size_t event_count;
    size_t event_capacity;
    struct event *sorted;   /* of crossing registers, by slice */
    uint32_t *slice_start;  /* slice -> first event in `sorted` */
    struct node_bits *bits; /* one for each node of the flow graph */
    uint64_t work;
};

static void add_event(struct liveness *liveness, uint32_t block, uint32_t reg, bool is_write)
{
    if (liveness->event_count == liveness->event_capacity)
        liveness->events =
            arena_grow(liveness->body->arena, liveness->events, liveness->event_count,
                       &liveness->event_capacity, sizeof *liveness->events);
    liveness->events[liveness->event_count++] =
        (struct event){.block = block, .reg = reg & (UINT32_MAX >> 1), .is_write = is_write};
    if (is_write || liveness->occurrences[reg].crossing != NO_INDEX)
        return;
    liveness->registers[liveness->crossing_count] = reg;
    liveness->occurrences[reg].crossing = liveness->crossing_count++;
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
 * that no read stands before; at most one each per block. Registers that are read so are crossing.
 * Intervals are extended to every occurrence on the way. */
static void scan(struct liveness *liveness)
{
    const struct body *body = liveness->body;
    struct register_accesses accesses = {0};
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

/* Sorts the events of crossing registers by slice, counting first. */
static void sort_events(struct liveness *liveness)
{
    struct arena *arena = liveness->body->arena;
    uint32_t slices = (liveness->crossing_count + SLICE - 1) / SLICE;
    liveness->slice_start = arena_zalloc(arena, (size_t)slices + 2, sizeof *liveness->slice_start);
    for (size_t i = 0; i < liveness->event_count; i++) {
        uint32_t crossing = liveness->occurrences[liveness->events[i].reg].crossing;
        if (crossing != NO_INDEX)
            liveness->slice_start[crossing / SLICE + 1]++;
    }
    for (uint32_t i = 0; i < slices; i++)
        liveness->slice_start[i + 1] += liveness->slice_start[i];
    liveness->sorted = arena_alloc(arena, liveness->slice_start[slices], sizeof *liveness->sorted);
    for (size_t i = 0; i < liveness->event_count; i++) {
        const struct event *event = &liveness->events[i];
        uint32_t crossing = liveness->occurrences[event->reg].crossing;
        if (crossing != NO_INDEX)
            liveness->sorted[liveness->slice_start[crossing / SLICE]++] = *event;
    }
    /* Storing has moved each start to the next one. */
    for (uint32_t i = slices; i > 0; i--)
        liveness->slice_start[i] = liveness->slice_start[i - 1];
    liveness->slice_start[0] = 0;
}

/* Finds the crossing registers and their events. */
static void collect_events(struct liveness *liveness)
{
    struct arena *arena = liveness->body->arena;
    size_t count = liveness->body->register_count;
    liveness->occurrences = arena_alloc(arena, count, sizeof *liveness->occurrences);
    liveness->registers = arena_alloc(arena, count, sizeof *liveness->registers);
    memset(liveness->occurrences, 0xff, count * sizeof *liveness->occurrences); /* NO_INDEX */
    scan(liveness);
    sort_events(liveness);
}

/* One node from its successors; true when more is live at its beginning than before. */
static bool solve_node(struct liveness *liveness, uint32_t node)
{
    const struct flow *flow = &liveness->flow;
    struct node_bits *bits = &liveness->bits[node];
    uint64_t out[WORDS] = {0};
    uint64_t news = 0;
    for (uint32_t k = flow->successor_start[node]; k < flow->successor_start[node + 1]; k++)
        for (unsigned w = 0; w < WORDS; w++)
            out[w] |= liveness->bits[flow->successors[k]].in[w];
    for (unsigned w = 0; w < WORDS; w++) {
        uint64_t in = bits->read[w] | (out[w] & ~bits->written[w]);
        news |= in ^ bits->in[w];
        bits->in[w] = in;
        bits->out[w] = out[w];
    }
    return news != 0;
}

/* Backwards over the nodes until nothing changes. False when the work limit is reached. */
static bool solve(struct liveness *liveness)
{
    const struct flow *flow = &liveness->flow;
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        liveness->work += flow->successor_start[flow->node_count] + flow->node_count;
        if (liveness->work > WORK_LIMIT)
            return false;
        for (uint32_t i = 0; i < flow->node_count; i++)
            is_changed |= solve_node(liveness, flow->order[i]);
    }
    return true;
}

/* Extends the intervals of those registers of a word that `live` has and `seen` has not. */
static void extend_new(struct liveness *liveness, const uint32_t *registers, uint64_t live,
                       uint64_t *seen, uint32_t position)
{
    for (uint64_t news = live & ~*seen; news; news &= news - 1)
        interval_extend(&liveness->intervals[registers[__builtin_ctzll(news)]], position);
    *seen |= live;
}

/* Extends the slice's intervals to the first block where each register is live at the beginning and
 * to the last where it is live at the end. */
static void extend_slice(struct liveness *liveness, const uint32_t *registers)
{
    const struct flow *flow = &liveness->flow;
    uint64_t begun[WORDS] = {0};
    uint64_t ended[WORDS] = {0};
    for (uint32_t block = 0; block < flow->block_count; block++)
        for (unsigned w = 0; w < WORDS; w++)
            extend_new(liveness, registers + (size_t)64 * w, liveness->bits[block].in[w], &begun[w],
                       2 * flow->blocks[block].first);
    for (uint32_t block = flow->block_count; block-- > 0;)
        for (unsigned w = 0; w < WORDS; w++)
            extend_new(liveness, registers + (size_t)64 * w, liveness->bits[block].out[w],
                       &ended[w], 2 * flow->blocks[block].end - 1);
}

/* Marks what blocks do with the slice's registers. */
static void start_slice(struct liveness *liveness, uint32_t slice)
{
    memset(liveness->bits, 0, liveness->flow.node_count * sizeof *liveness->bits);
    for (uint32_t i = liveness->slice_start[slice]; i < liveness->slice_start[slice + 1]; i++) {
        const struct event *event = &liveness->sorted[i];
        uint32_t crossing = liveness->occurrences[event->reg].crossing;
        uint32_t word = crossing % SLICE / 64;
        uint64_t bit = (uint64_t)1 << crossing % 64;
        if (event->is_write)
            liveness->bits[event->block].written[word] |= bit;
        else
            liveness->bits[event->block].read[word] |= bit;
    }
}

static void solve_slice(struct liveness *liveness, uint32_t slice)
{
    const uint32_t *registers = liveness->registers + (size_t)slice * SLICE;

    if (liveness->work <= WORK_LIMIT) {
        start_slice(liveness, slice);
        if (solve(liveness)) {
            extend_slice(liveness, registers);
            return;
        }
    }
    for (uint32_t i = 0; i < SLICE && slice * SLICE + i < liveness->crossing_count; i++) {
        interval_extend(&liveness->intervals[registers[i]], 0);
        interval_extend(&liveness->intervals[registers[i]],
                        2 * (uint32_t)liveness->body->instruction_count - 1);
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
    for (uint32_t i = 0; i < liveness->crossing_count; i++) {
        uint32_t reg = liveness->registers[i];
        uint32_t write = liveness->occurrences[reg].first_write;
        if (write == NO_INDEX)
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
        liveness.intervals[i] = INTERVAL_NONE;
    if (body->instruction_count == 0)
        return liveness.intervals;
    flow_make(&liveness.flow, body);
    liveness.bits = arena_alloc(body->arena, liveness.flow.node_count, sizeof *liveness.bits);
    collect_events(&liveness);
    for (uint32_t slice = 0; slice * SLICE < liveness.crossing_count; slice++)
        solve_slice(&liveness, slice);
    trim_starts(&liveness);
    return liveness.intervals;
}
