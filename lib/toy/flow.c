/* flow.c: basic blocks and their edges, forwards and backwards.
 *
 * A block begins at a label and behind an instruction that may go elsewhere. A guard makes any
 * branch or exit conditional. Calls come back, so they end no block. */
#include "toy/body_steps.h"

#include "toy/language/opcode.h"

struct edges {
    const struct body *body;
    const uint32_t *block_of; /* instruction -> block */
    const uint32_t *list_of;  /* label -> node of its target list, or NO_INDEX */
    struct flow *flow;
    size_t count, capacity; /* of flow->successors */
};

static bool is_jump(const struct instruction *instruction)
{
    return opcode_get(instruction->opcode)->flags & (OPCODE_BRANCH | OPCODE_INDEXED | OPCODE_ENDS);
}

static void add_edge(struct edges *edges, uint32_t node)
{
    ARENA_PUSH(edges->body->arena, edges->flow->successors, edges->count, edges->capacity) = node;
}

/* A label behind the last instruction is the function's end: no edge. */
static void add_label_edge(struct edges *edges, const struct operand *operand)
{
    if (operand->kind != OPERAND_LABEL)
        return;
    uint32_t instruction = edges->body->labels[operand->label].instruction;
    if (instruction < edges->body->instruction_count)
        add_edge(edges, edges->block_of[instruction]);
}

static void add_block_edges(struct edges *edges, uint32_t block)
{
    const struct instruction *last = &edges->body->instructions[edges->flow->blocks[block].end - 1];
    unsigned flags = opcode_get(last->opcode)->flags;
    if (flags & (OPCODE_BRANCH | OPCODE_INDEXED)) {
        for (unsigned i = 0; i < last->operand_count; i++) {
            const struct operand *operand = &last->operands[i];
            if (operand->kind == OPERAND_LABEL && edges->list_of[operand->label] != NO_INDEX)
                add_edge(edges, edges->list_of[operand->label]);
            else
                add_label_edge(edges, operand);
        }
    }
    bool goes_on = !(flags & OPCODE_ENDS) || last->guard != NO_INDEX;
    if (goes_on && block + 1 < edges->flow->block_count)
        add_edge(edges, block + 1);
}

static void add_all_edges(struct edges *edges, uint32_t *successor_start)
{
    struct flow *flow = edges->flow;
    uint32_t node = 0;
    for (; node < flow->block_count; node++) {
        successor_start[node] = (uint32_t)edges->count;
        add_block_edges(edges, node);
    }
    for (size_t i = 0; i < edges->body->label_count; i++) {
        if (edges->list_of[i] == NO_INDEX)
            continue;
        successor_start[node++] = (uint32_t)edges->count;
        const struct label *label = &edges->body->labels[i];
        for (uint32_t k = 0; k < label->target_count; k++)
            add_label_edge(edges, &label->targets[k]);
    }
    successor_start[node] = (uint32_t)edges->count;
}

/* Cuts the body into blocks; returns the block of each instruction. */
static uint32_t *cut_blocks(struct flow *flow, const struct body *body)
{
    size_t count = body->instruction_count;
    bool *begins = arena_zalloc(body->arena, count + 1, sizeof *begins);
    uint32_t *block_of = arena_alloc(body->arena, count + 1, sizeof *block_of);
    begins[0] = true;
    for (size_t i = 0; i < body->label_count; i++)
        if (body->labels[i].instruction < count)
            begins[body->labels[i].instruction] = true;
    for (size_t i = 0; i < count; i++)
        if (is_jump(&body->instructions[i]))
            begins[i + 1] = true;
    uint32_t blocks = 0;
    for (size_t i = 0; i < count; i++)
        blocks += begins[i];
    flow->blocks = arena_alloc(body->arena, blocks, sizeof *flow->blocks);
    for (uint32_t i = 0; i < count; i++) {
        if (begins[i])
            flow->blocks[flow->block_count++].first = i;
        block_of[i] = flow->block_count - 1;
        flow->blocks[flow->block_count - 1].end = i + 1;
    }
    return block_of;
}

static void find_predecessors(struct flow *flow, struct arena *arena)
{
    uint32_t edges = flow->successor_start[flow->node_count];
    uint32_t *start = arena_zalloc(arena, (size_t)flow->node_count + 2, sizeof *start);
    flow->predecessors = arena_alloc(arena, edges, sizeof *flow->predecessors);
    for (uint32_t i = 0; i < edges; i++)
        start[flow->successors[i] + 2]++;
    for (uint32_t node = 0; node < flow->node_count; node++)
        start[node + 2] += start[node + 1];
    for (uint32_t node = 0; node < flow->node_count; node++)
        for (uint32_t i = flow->successor_start[node]; i < flow->successor_start[node + 1]; i++)
            flow->predecessors[start[flow->successors[i] + 1]++] = node;
    flow->predecessor_start = start; /* storing has moved each start to the next one */
}

void flow_make(struct flow *flow, const struct body *body)
{
    *flow = (struct flow){0};
    uint32_t *block_of = cut_blocks(flow, body);
    uint32_t *list_of = arena_alloc(body->arena, body->label_count, sizeof *list_of);
    flow->node_count = flow->block_count;
    for (size_t i = 0; i < body->label_count; i++)
        list_of[i] = body->labels[i].target_count ? flow->node_count++ : NO_INDEX;
    flow->successor_start =
        arena_alloc(body->arena, (size_t)flow->node_count + 1, sizeof *flow->successor_start);
    add_all_edges(&(struct edges){body, block_of, list_of, flow, 0, 0}, flow->successor_start);
    find_predecessors(flow, body->arena);
}
