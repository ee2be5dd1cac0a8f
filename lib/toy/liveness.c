/* liveness.c: computes live intervals, one register at a time.
 *
 * Most registers live within one block; reading the instructions once is enough for them. The
 * others are read in some block before it writes them ("crossing" registers): they are live at the
 * start of such a block, and of its predecessors up to those that write them. For hostile control
 * flow the work is bounded linearly in the text: registers that are left when the bound is reached
 * count as live everywhere, which is correct but wasteful. */
#include "toy/body_steps.h"

#include "toy/language/opcode.h"

/* Bound on visited edges for each instruction of a body. Large kernels need about ten. */
#define WORK_PER_INSTRUCTION UINT64_C(256)

/* Instructions [first, end) that are always executed together, apart from guards: a block begins at
 * a label and after an instruction that may branch. Calls return, so they end no block. */
struct block {
    uint32_t first;
    uint32_t end;
};

/* An edge from node `from` to the node whose list it is in. */
struct edge {
    uint32_t from;
    uint32_t next; /* of the list, or NO_INDEX */
};

/* The control-flow graph. Its nodes are the blocks, in order of the text, followed by one node for
 * each label with a list of targets: an indexed branch leads to the list and the list to its
 * targets, so that the number of edges is linear in the text however many branches share a list. */
struct flow {
    struct block *blocks;
    uint32_t block_count;
    uint32_t node_count;
    uint32_t *block_of; /* by instruction */
    uint32_t *list_of;  /* by label: node of its list of targets, or NO_INDEX */
    struct edge *edges;
    size_t edge_count, edge_capacity;
    uint32_t *edges_to; /* by node: the first edge to it, or NO_INDEX */
    uint32_t *lowest;   /* by node: the first block in the text that it leads to, or NO_INDEX */
};

/* A block reads a register before writing it, or certainly writes it before reading it. */
struct event {
    uint32_t block;
    uint32_t next; /* the register's next event, or NO_INDEX */
    bool is_write;
};

struct occurrence {
    uint32_t block;       /* the last block in which it occurs */
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
    uint32_t *work;   /* nodes whose predecessors must be visited */
    uint32_t work_count;
    uint64_t work_done;
};

static uint32_t *fill(struct arena *arena, size_t count, uint32_t value)
{
    uint32_t *list = arena_alloc(arena, count, sizeof *list);

    for (size_t i = 0; i < count; i++)
        list[i] = value;
    return list;
}

static void add_edge(struct flow *flow, struct arena *arena, uint32_t from, uint32_t to)
{
    uint32_t block = to < flow->block_count ? to : flow->lowest[to];

    ARENA_PUSH(arena, flow->edges, flow->edge_count, flow->edge_capacity) =
        (struct edge){.from = from, .next = flow->edges_to[to]};
    flow->edges_to[to] = (uint32_t)flow->edge_count - 1;
    if (block < flow->lowest[from])
        flow->lowest[from] = block;
}

/* Adds edges from a node to the labels among the operands. A label after the last instruction is
 * the function's end: no edge. */
static void add_label_edges(struct flow *flow, const struct body *body, uint32_t from,
                            const struct operand *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t label = operands[i].label, instruction;

        if (operands[i].kind != OPERAND_LABEL)
            continue;
        instruction = body->labels[label].instruction;
        if (from < flow->block_count && flow->list_of[label] != NO_INDEX)
            add_edge(flow, body->arena, from, flow->list_of[label]);
        else if (instruction < body->instruction_count)
            add_edge(flow, body->arena, from, flow->block_of[instruction]);
    }
}

/* A guard makes any branch or exit conditional. */
static void add_block_edges(struct flow *flow, const struct body *body, uint32_t block)
{
    const struct instruction *last = &body->instructions[flow->blocks[block].end - 1];
    unsigned flags = opcode_get(last->opcode)->flags;

    if (flags & (OPCODE_BRANCH | OPCODE_INDEXED))
        add_label_edges(flow, body, block, last->operands, last->operand_count);
    if ((!(flags & OPCODE_ENDS) || last->guard != NO_INDEX) && block + 1 < flow->block_count)
        add_edge(flow, body->arena, block, block + 1);
}

static bool is_jump(const struct instruction *instruction)
{
    return opcode_get(instruction->opcode)->flags & (OPCODE_BRANCH | OPCODE_INDEXED | OPCODE_ENDS);
}

static void cut_blocks(struct flow *flow, const struct body *body)
{
    size_t count = body->instruction_count, capacity = 0, blocks = 0;
    bool *begins = arena_zalloc(body->arena, count + 1, sizeof *begins);

    flow->block_of = arena_alloc(body->arena, count, sizeof *flow->block_of);
    begins[0] = true;
    for (size_t i = 0; i < body->label_count; i++)
        begins[body->labels[i].instruction] = true;
    for (uint32_t i = 0; i < count; i++) {
        if (begins[i])
            ARENA_PUSH(body->arena, flow->blocks, blocks, capacity) = (struct block){.first = i};
        if (is_jump(&body->instructions[i]))
            begins[i + 1] = true;
        flow->block_of[i] = (uint32_t)blocks - 1;
        flow->blocks[blocks - 1].end = i + 1;
    }
    flow->block_count = (uint32_t)blocks;
}

/* Edges of lists come first, since a block leads to the targets of its list. */
static struct flow make_flow(const struct body *body)
{
    struct flow flow = {.list_of = fill(body->arena, body->label_count, NO_INDEX)};

    cut_blocks(&flow, body);
    flow.node_count = flow.block_count;
    for (size_t i = 0; i < body->label_count; i++)
        if (body->labels[i].target_count)
            flow.list_of[i] = flow.node_count++;
    flow.edges_to = fill(body->arena, flow.node_count, NO_INDEX);
    flow.lowest = fill(body->arena, flow.node_count, NO_INDEX);
    for (size_t i = 0; i < body->label_count; i++)
        if (flow.list_of[i] != NO_INDEX)
            add_label_edges(&flow, body, flow.list_of[i], body->labels[i].targets,
                            body->labels[i].target_count);
    for (uint32_t block = 0; block < flow.block_count; block++)
        add_block_edges(&flow, body, block);
    return flow;
}

/* For each block, the first block in the text that can be executed once control has reached it;
 * NO_INDEX where the block can not follow itself. */
static void find_loop_starts(struct flow *flow)
{
    uint32_t *lowest = flow->lowest, behind = NO_INDEX;

    for (uint32_t block = flow->block_count; block-- > 0;) {
        behind = lowest[block] < behind ? lowest[block] : behind;
        lowest[block] = behind;
    }
    for (uint32_t block = 0; block < flow->block_count; block++) {
        uint32_t start = lowest[block];

        if (start > block)
            lowest[block] = NO_INDEX;
        else if (lowest[start] < start)
            lowest[block] = lowest[start];
    }
}

struct walk {
    struct arena *arena;
    struct register_accesses *accesses;
    bool is_guarded; /* a written register may keep its old value */
};

static void add_access(struct walk *walk, uint32_t *reg, bool is_read, bool is_written)
{
    struct register_accesses *accesses = walk->accesses;
    ARENA_PUSH(walk->arena, accesses->list, accesses->count, accesses->capacity) =
        (struct register_access){.reg = reg, .is_read = is_read, .is_written = is_written};
}

/* The parser limits the nesting of lists and vectors. */
static void visit(struct walk *walk, struct operand *operand, bool is_read, bool is_written)
{
    if (operand->kind == OPERAND_ADDRESS) {
        is_read = true;
        is_written = false;
    }
    if ((operand->kind == OPERAND_REGISTER || operand->kind == OPERAND_ADDRESS) &&
        operand->reg != NO_INDEX)
        add_access(walk, &operand->reg, is_read || walk->is_guarded || operand->component != 0,
                   is_written);
    for (uint32_t i = 0; i < operand->element_count; i++)
        visit(walk, &operand->elements[i], is_read, is_written);
}

/* The instruction's form determines how many leading operands are written. An address is always
 * read. */
void liveness_accesses(const struct body *body, struct instruction *instruction,
                       struct register_accesses *accesses)
{
    struct walk walk = {body->arena, accesses, instruction->guard != NO_INDEX};
    accesses->count = 0;
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        bool is_read = i >= instruction->results || (i == 0 && instruction->is_accumulate);
        visit(&walk, &instruction->operands[i], is_read, i < instruction->results);
    }
    if (instruction->guard != NO_INDEX)
        add_access(&walk, &instruction->guard, true, false);
}

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

/* Makes an event for each register that a block reads before writing it, and for each certain write
 * without an earlier read; at most one each per block. Also extends intervals to every occurrence.
 */
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
            liveness_accesses(body, &body->instructions[i], &accesses);
            for (size_t k = 0; k < accesses.count; k++)
                if (accesses.list[k].is_read)
                    note_access(liveness, block, i, *accesses.list[k].reg, false);
            for (size_t k = 0; k < accesses.count; k++)
                if (accesses.list[k].is_written)
                    note_access(liveness, block, i, *accesses.list[k].reg, true);
        }
    }
}

/* Marks the register as live at the start of the node. */
static void need(struct liveness *liveness, uint32_t node, uint32_t reg)
{
    if (liveness->needs[node] == reg + 1)
        return;
    liveness->needs[node] = reg + 1;
    liveness->work[liveness->work_count++] = node;
    if (node < liveness->flow.block_count)
        interval_extend(&liveness->intervals[reg], 2 * liveness->flow.blocks[node].first);
}

/* Marks the register as live at the end of the node. */
static void hand_on(struct liveness *liveness, uint32_t node, uint32_t reg)
{
    if (node < liveness->flow.block_count)
        interval_extend(&liveness->intervals[reg], 2 * liveness->flow.blocks[node].end - 1);
    if (liveness->writes[node] != reg + 1)
        need(liveness, node, reg);
}

/* Propagates from the blocks that need a crossing register back to those that write it. */
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
        liveness->work_done++;
        for (uint32_t k = flow->edges_to[node]; k != NO_INDEX; k = flow->edges[k].next) {
            liveness->work_done++;
            hand_on(liveness, flow->edges[k].from, reg);
        }
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

/* For the data flow analysis, a register that is only written under a guard is live from the
 * function's entry on. But it has no value before its first write: unless a loop leads back, its
 * interval can begin there. */
static void trim_starts(struct liveness *liveness)
{
    struct flow *flow = &liveness->flow;

    find_loop_starts(flow);
    for (size_t reg = 0; reg < liveness->body->register_count; reg++) {
        uint32_t write = liveness->occurrences[reg].first_write;
        if (write == NO_INDEX || !liveness->occurrences[reg].is_crossing)
            continue;
        uint32_t loop = flow->lowest[flow->block_of[write]];
        uint32_t start = loop == NO_INDEX ? 2 * write + 1 : 2 * flow->blocks[loop].first;
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
    liveness.flow = make_flow(body);
    collect_events(&liveness);
    follow_all(&liveness);
    trim_starts(&liveness);
    return liveness.intervals;
}
