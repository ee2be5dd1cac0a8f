/* check_allocate.c: the register allocator, watched by a machine that runs the body twice.
 *
 * A random body is run along a random path: once with its virtual registers, once as the allocator
 * left it, with physical registers and a local frame. Each write makes a new value; whenever the
 * first run reads a value that was written, the second must read the same one. So no liveness has
 * to be computed a second time: a register that is overwritten too early shows as a wrong value. */

#include "language/syntax.h"
#include "toy/internal.h"
#include "suite.h"

#define PHYSICAL  256
#define SPILLED   8192
#define UNWRITTEN 0

struct random {
    uint64_t state;
};

static uint32_t pick(struct random *random, uint32_t below)
{
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random->state >> 33) % below;
}

/* --- Making bodies. --- */

struct maker {
    struct body body;
    struct arena arena;
    struct random random;
    size_t capacity;
};

static void begin(struct maker *maker, size_t instructions, uint64_t seed)
{
    *maker = (struct maker){.random = {seed}, .capacity = instructions};
    maker->body.arena = &maker->arena;
    maker->body.function = TEXT("f");
    maker->body.instructions =
        arena_zalloc(&maker->arena, instructions, sizeof *maker->body.instructions);
    maker->body.registers = arena_zalloc(&maker->arena, 4096, sizeof *maker->body.registers);
    maker->body.labels = arena_zalloc(&maker->arena, instructions, sizeof *maker->body.labels);
}

static uint32_t add_register(struct maker *maker, enum register_class class)
{
    static const uint8_t bits[] = {1, 32, 64, 128};
    maker->body.registers[maker->body.register_count] =
        (struct virtual_register){.class = (uint8_t)(class), .bits = bits[class]};
    return (uint32_t)maker->body.register_count++;
}

static struct instruction *add(struct maker *maker, const char *opcode, unsigned operands)
{
    bool has_result = operands > 1 && strcmp(opcode, "red") != 0 && strcmp(opcode, "brx") != 0;
    struct instruction *instruction = &maker->body.instructions[maker->body.instruction_count++];
    *instruction = (struct instruction){.opcode = words_find(&opcode_words, text_of(opcode)),
                                        .operand_count = (uint8_t)operands,
                                        .results = has_result,
                                        .guard = NO_INDEX,
                                        .line = (uint32_t)maker->body.instruction_count};
    instruction->operands = arena_zalloc(&maker->arena, operands, sizeof(struct operand));
    for (unsigned i = 0; i < operands; i++)
        instruction->operands[i] =
            (struct operand){.kind = OPERAND_IMMEDIATE, .reg = NO_INDEX, .symbol = NO_INDEX};
    return instruction;
}

static void set_register(struct operand *operand, uint32_t reg)
{
    *operand = (struct operand){.kind = OPERAND_REGISTER, .reg = reg, .symbol = NO_INDEX};
}

static void set_label(struct operand *operand, uint32_t label)
{
    *operand = (struct operand){
        .kind = OPERAND_LABEL, .label = label, .reg = NO_INDEX, .symbol = NO_INDEX};
}

static uint32_t add_label(struct maker *maker, uint32_t instruction)
{
    maker->body.labels[maker->body.label_count] =
        (struct label){.name = TEXT("L"), .instruction = instruction};
    return (uint32_t)maker->body.label_count++;
}

static void add_simple(struct maker *maker, const char *opcode, uint32_t result, uint32_t a,
                       uint32_t b)
{
    struct instruction *instruction = add(maker, opcode, 3);
    set_register(&instruction->operands[0], result);
    set_register(&instruction->operands[1], a);
    set_register(&instruction->operands[2], b);
}

/* --- The machine. --- */

/* Check writes a file for each of its assertions; these are too many for that. */
#define require(condition)                                                                         \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("line %d: %s", __LINE__, #condition);                                     \
    } while (0)

/* Registers that nobody may get: count << 16 | first, or 0. */
static uint32_t reserved;

static bool is_reserved(uint32_t physical)
{
    return physical >= (reserved & 0xffff) && physical < (reserved & 0xffff) + (reserved >> 16);
}

static bool allocate(struct body *body, uint32_t budget, struct function_code *result)
{
    result->register_limit = budget;
    return allocate_registers(body, reserved, result);
}

struct machine {
    const struct body *body;
    bool is_physical;
    uint64_t general[PHYSICAL * 4 + SPILLED]; /* or virtual registers */
    uint64_t predicate[8];
    uint64_t *reads; /* every value that an instruction of the original body read */
    size_t read_count;
    size_t read_capacity;
    uint64_t steps; /* of original instructions */
};

static unsigned width_of(const struct virtual_register *reg)
{
    return reg->class == REGISTER_64 ? 2 : reg->class == REGISTER_128 ? 4 : 1;
}

static uint64_t *place_of(struct machine *machine, uint32_t reg)
{
    const struct virtual_register *virtual = &machine->body->registers[reg];
    if (!machine->is_physical)
        return &machine->general[reg * 4];
    if (virtual->physical >= REGISTERS_SPILLED) {
        require((virtual->physical - REGISTERS_SPILLED) % width_of(virtual) == 0);
        require(virtual->physical + width_of(virtual) <= PHYSICAL * 4 + SPILLED);
        return &machine->general[virtual->physical];
    }
    if (virtual->class == REGISTER_PREDICATE) {
        require(virtual->physical < 7);
        return &machine->predicate[virtual->physical];
    }
    require(virtual->physical >= 4);
    require(virtual->physical % width_of(virtual) == 0);
    require(virtual->physical < 255);
    for (unsigned i = 0; i < width_of(virtual); i++)
        require(!is_reserved(virtual->physical + i));
    return &machine->general[virtual->physical];
}

static void write_register(struct machine *machine, uint32_t reg, uint64_t value)
{
    unsigned width = width_of(&machine->body->registers[reg]);
    for (unsigned i = 0; i < width; i++)
        place_of(machine, reg)[i] = value ? value * 4 + i : UNWRITTEN;
}

/* The value, or UNWRITTEN when its parts do not belong together. */
static uint64_t read_register(struct machine *machine, uint32_t reg)
{
    unsigned width = width_of(&machine->body->registers[reg]);
    const uint64_t *place = place_of(machine, reg);
    for (unsigned i = 0; i < width; i++)
        if (place[i] != place[0] + i)
            return UNWRITTEN;
    return place[0] / 4;
}

static void record(struct machine *machine, uint64_t value)
{
    require(machine->read_count < machine->read_capacity);
    machine->reads[machine->read_count++] = value;
}

static void read_operand(struct machine *machine, const struct operand *operand)
{
    if (operand->kind == OPERAND_REGISTER || operand->kind == OPERAND_ADDRESS)
        if (operand->reg != NO_INDEX)
            record(machine, read_register(machine, operand->reg));
    for (uint32_t i = 0; i < operand->element_count; i++)
        read_operand(machine, &operand->elements[i]);
}

static void write_operand(struct machine *machine, const struct operand *operand, uint64_t value)
{
    if (operand->kind == OPERAND_REGISTER)
        write_register(machine, operand->reg, value);
    for (uint32_t i = 0; i < operand->element_count; i++)
        write_operand(machine, &operand->elements[i], value + i + 1);
}

/* The next instruction's index; branches and guards are decided by `random`. */
static uint32_t run_instruction(struct machine *machine, const struct instruction *instruction,
                                struct random *random)
{
    const struct opcode *opcode = opcode_get(instruction->opcode);
    uint32_t next = (uint32_t)(instruction - machine->body->instructions) + 1;
    bool is_done = true;
    uint64_t value = ++machine->steps * 64;
    if (instruction->guard != NO_INDEX) {
        record(machine, read_register(machine, instruction->guard));
        is_done = pick(random, 2);
    }
    for (unsigned i = instruction->results; i < instruction->operand_count; i++)
        read_operand(machine, &instruction->operands[i]);
    if (!is_done)
        return next;
    for (unsigned i = 0; i < instruction->results; i++)
        write_operand(machine, &instruction->operands[i], value);
    if (opcode->flags & OPCODE_BRANCH)
        return machine->body->labels[instruction->operands[0].label].instruction;
    if (opcode->flags & OPCODE_INDEXED) {
        const struct label *list = &machine->body->labels[instruction->operands[1].label];
        uint32_t target = list->targets[pick(random, list->target_count)].label;
        return machine->body->labels[target].instruction;
    }
    return opcode->flags & OPCODE_ENDS ? UINT32_MAX : next;
}

static void run(struct machine *machine, uint64_t seed, uint64_t most_steps)
{
    struct random random = {seed};
    for (uint32_t at = 0; at < machine->body->instruction_count && machine->steps < most_steps;)
        at = run_instruction(machine, &machine->body->instructions[at], &random);
}

/* Runs both along `paths` random paths and compares what they read. */
static void compare_runs(const struct body *body, unsigned paths)
{
    static struct machine first, second;
    const uint64_t steps = 600;
    size_t capacity = 16384;
    FREED uint64_t *reads = malloc(2 * capacity * sizeof *reads);
    for (unsigned path = 0; path < paths; path++) {
        memset(&first, 0, sizeof first);
        memset(&second, 0, sizeof second);
        first.body = second.body = body;
        second.is_physical = true;
        first.reads = reads;
        second.reads = reads + capacity;
        first.read_capacity = second.read_capacity = capacity;
        run(&first, path, steps);
        run(&second, path, steps);
        require(first.steps == second.steps);
        for (size_t i = 0; i < first.read_count; i++)
            if (first.reads[i] != UNWRITTEN)
                require(first.reads[i] == second.reads[i]);
    }
}

/* --- Random bodies. --- */

struct shape {
    const char *name;
    unsigned instructions;
    unsigned registers; /* of each class but 128-bit, of which there are a quarter */
    unsigned branches;  /* one instruction in so many; 0 = none */
    unsigned guards;    /* the same */
    uint32_t budget;
};

static uint32_t pick_of(struct maker *maker, enum register_class class)
{
    uint32_t reg;
    do
        reg = pick(&maker->random, (uint32_t)maker->body.register_count);
    while (maker->body.registers[reg].class != class);
    return reg;
}

static enum register_class pick_class(struct maker *maker)
{
    static const enum register_class classes[] = {REGISTER_32,       REGISTER_32, REGISTER_32,
                                                  REGISTER_64,       REGISTER_64, REGISTER_128,
                                                  REGISTER_PREDICATE};
    return classes[pick(&maker->random, 7)];
}

static void add_random_vector(struct maker *maker)
{
    struct instruction *instruction = add(maker, "mov", 2);
    struct operand *vector = &instruction->operands[0];
    vector->kind = OPERAND_VECTOR;
    vector->element_count = 4;
    vector->elements = arena_zalloc(&maker->arena, 4, sizeof *vector->elements);
    for (unsigned i = 0; i < 4; i++)
        set_register(&vector->elements[i], pick_of(maker, REGISTER_32));
    set_register(&instruction->operands[1], pick_of(maker, REGISTER_128));
}

static void add_random_jump(struct maker *maker, unsigned instructions)
{
    struct instruction *instruction;
    if (pick(&maker->random, 8) == 0) {
        instruction = add(maker, "brx", 2);
        uint32_t list = add_label(maker, 0);
        struct label *label = &maker->body.labels[list];
        label->target_count = 3;
        label->targets = arena_zalloc(&maker->arena, 3, sizeof *label->targets);
        for (unsigned i = 0; i < 3; i++)
            set_label(&label->targets[i], add_label(maker, pick(&maker->random, instructions)));
        set_register(&instruction->operands[0], pick_of(maker, REGISTER_32));
        set_label(&instruction->operands[1], list);
    } else {
        instruction = add(maker, "bra", 1);
        set_label(&instruction->operands[0],
                  add_label(maker, pick(&maker->random, instructions + 1)));
    }
    if (pick(&maker->random, 4))
        instruction->guard = pick_of(maker, REGISTER_PREDICATE);
}

static void add_random(struct maker *maker, const struct shape *shape)
{
    if (shape->branches && pick(&maker->random, shape->branches) == 0) {
        add_random_jump(maker, shape->instructions);
        return;
    }
    if (pick(&maker->random, 16) == 0) {
        add_random_vector(maker);
    } else if (pick(&maker->random, 8) == 0) {
        struct instruction *store = add(maker, "red", 2);
        store->operands[0] = (struct operand){
            .kind = OPERAND_ADDRESS, .reg = pick_of(maker, REGISTER_64), .symbol = NO_INDEX};
        set_register(&store->operands[1], pick_of(maker, REGISTER_32));
    } else {
        uint32_t a = pick_of(maker, pick_class(maker));
        uint32_t b = pick_of(maker, pick_class(maker));
        add_simple(maker, "add", pick_of(maker, pick_class(maker)), a, b);
    }
    if (shape->guards && pick(&maker->random, shape->guards) == 0)
        maker->body.instructions[maker->body.instruction_count - 1].guard =
            pick_of(maker, REGISTER_PREDICATE);
}

static void make_random(struct maker *maker, const struct shape *shape, uint64_t seed)
{
    begin(maker, shape->instructions + 1, seed);
    for (unsigned i = 0; i < shape->registers; i++) {
        add_register(maker, REGISTER_32);
        add_register(maker, REGISTER_64);
        add_register(maker, REGISTER_PREDICATE);
        if (i % 4 == 0)
            add_register(maker, REGISTER_128);
    }
    maker->body.labels =
        arena_zalloc(&maker->arena, shape->instructions * 4, sizeof *maker->body.labels);
    for (unsigned i = 0; i < shape->instructions; i++)
        add_random(maker, shape);
    add(maker, "ret", 0);
}

static const struct shape shapes[] = {
    {"straight", 60, 4, 0, 0, 255},          {"straight, guards", 60, 4, 0, 4, 255},
    {"straight, spilling", 80, 8, 0, 5, 24}, {"branches", 80, 4, 6, 6, 255},
    {"branches, spilling", 80, 8, 6, 6, 24}, {"many branches", 60, 6, 2, 3, 32},
    {"many registers", 300, 40, 8, 8, 40},   {"least budget", 60, 6, 5, 4, 16},
    {"dense branches", 40, 3, 2, 0, 64},
};

static struct maker maker;
static struct function_code result;

void tear_down(void)
{
    arena_free(&maker.arena);
}

TEST_LOOP(values_survive_on_every_path, 2 * COUNT(shapes))
{
    const struct shape *shape = &shapes[_i % COUNT(shapes)];
    uint32_t budget = shape->budget;
    /* Each shape without reserved registers, and with six; there must be as many as before. */
    if ((size_t)_i >= COUNT(shapes)) {
        reserved = 6u << 16 | 9;
        budget = budget < 240 ? budget + 8 : budget;
    }
    for (uint64_t seed = 0; seed < 40; seed++) {
        make_random(&maker, shape, seed * 7919 + (uint64_t)_i);
        ck_assert_msg(allocate(&maker.body, budget, &result), "%s", shape->name);
        ck_assert_uint_le(result.register_count, budget);
        compare_runs(&maker.body, 6);
        arena_free(&maker.arena);
    }
}

/* --- Single properties. --- */

TEST(a_chain_of_short_lives_needs_few_registers)
{
    begin(&maker, 1000, 1);
    uint32_t last = add_register(&maker, REGISTER_32);
    add_simple(&maker, "add", last, last, last);
    for (int i = 0; i < 900; i++) {
        uint32_t next = add_register(&maker, REGISTER_32);
        add_simple(&maker, "add", next, last, last);
        last = next;
    }
    ck_assert(allocate(&maker.body, 255, &result));
    ck_assert_uint_le(result.register_count, 6);
    ck_assert_uint_eq(result.spill_bytes, 0);
}

TEST(a_loop_keeps_what_it_reads)
{
    begin(&maker, 10, 1);
    uint32_t kept = add_register(&maker, REGISTER_64);
    uint32_t other = add_register(&maker, REGISTER_64);
    uint32_t guard = add_register(&maker, REGISTER_PREDICATE);
    add_simple(&maker, "add", kept, kept, kept);
    uint32_t top = add_label(&maker, 1);
    add_simple(&maker, "add", other, kept, kept);
    add_simple(&maker, "add", guard, other, other);
    struct instruction *branch = add(&maker, "bra", 1);
    set_label(&branch->operands[0], top);
    branch->guard = guard;
    ck_assert(allocate(&maker.body, 255, &result));
    ck_assert_uint_ne(maker.body.registers[kept].physical, maker.body.registers[other].physical);
    ck_assert_uint_eq(maker.body.registers[kept].physical % 2, 0);
    ck_assert_uint_eq(result.register_count, 8);
    ck_assert_uint_eq(maker.body.registers[guard].physical, 0);
}

TEST(a_guarded_write_begins_an_interval_where_no_loop_leads_back)
{
    begin(&maker, 100, 1);
    uint32_t guard = add_register(&maker, REGISTER_PREDICATE);
    uint32_t source = add_register(&maker, REGISTER_32);
    for (int i = 0; i < 20; i++) {
        uint32_t value = add_register(&maker, REGISTER_32);
        add_simple(&maker, "add", value, source, source);
        maker.body.instructions[maker.body.instruction_count - 1].guard = guard;
        add_simple(&maker, "add", source, value, value);
    }
    ck_assert(allocate(&maker.body, 255, &result));
    ck_assert_uint_le(result.register_count, 6);
}

TEST(an_instruction_uses_spilled_registers_where_they_are)
{
    begin(&maker, 4, 1);
    struct instruction *instruction = add(&maker, "red", 2);
    instruction->operands[1].kind = OPERAND_VECTOR;
    instruction->operands[1].element_count = 32;
    instruction->operands[1].elements = arena_zalloc(&maker.arena, 32, sizeof(struct operand));
    for (unsigned i = 0; i < 32; i++)
        set_register(&instruction->operands[1].elements[i], add_register(&maker, REGISTER_32));
    ck_assert(allocate(&maker.body, 24, &result));
    ck_assert_uint_eq(result.register_count, 24);
    ck_assert_uint_eq(result.spill_bytes, (32 - 20) * 4);
    ck_assert_uint_eq(maker.body.instruction_count, 1);
    ck_assert(allocate(&maker.body, 255, &result));
    ck_assert_uint_eq(result.register_count, 36);
    ck_assert_uint_eq(result.spill_bytes, 0);
}

/* Numbers have 16 bits. */
TEST(too_many_spilled_registers_are_an_error)
{
    const unsigned count = 70000;
    OWNED(diag_sink) sink = {0};
    struct diag_state *state = diag_state_get();
    begin(&maker, 4, 1);
    maker.body.registers = arena_zalloc(&maker.arena, count, sizeof *maker.body.registers);
    struct instruction *instruction = add(&maker, "red", 2);
    instruction->operands[1].kind = OPERAND_VECTOR;
    instruction->operands[1].element_count = count;
    instruction->operands[1].elements = arena_zalloc(&maker.arena, count, sizeof(struct operand));
    for (unsigned i = 0; i < count; i++)
        set_register(&instruction->operands[1].elements[i], add_register(&maker, REGISTER_32));
    state->sink = &sink;
    ck_assert(!allocate(&maker.body, 24, &result));
    state->sink = NULL;
    ck_assert_uint_eq(sink.errors, 1);
    buffer_char(&sink.text, 0);
    ck_assert_ptr_nonnull(strstr(sink.text.data, "Function 'f' is too large"));
}

TEST(an_empty_body_needs_the_reserved_registers_only)
{
    begin(&maker, 1, 1);
    ck_assert(allocate(&maker.body, 255, &result));
    ck_assert_uint_eq(result.register_count, 4);
}

/* Thousands of blocks, each of which jumps back, and as many registers live through all of them. */
TEST(a_large_body_with_twisted_flow_takes_little_time)
{
    const unsigned count = 20000;
    begin(&maker, 3 * count, 1);
    maker.body.registers = arena_zalloc(&maker.arena, count + 1, sizeof *maker.body.registers);
    uint32_t guard = add_register(&maker, REGISTER_PREDICATE);
    for (unsigned i = 0; i < count; i++) {
        uint32_t reg = add_register(&maker, REGISTER_32);
        struct instruction *branch = add(&maker, "bra", 1);
        set_label(&branch->operands[0], add_label(&maker, 2 * pick(&maker.random, count)));
        branch->guard = guard;
        add_simple(&maker, "add", reg, reg, reg);
    }
    ck_assert(allocate(&maker.body, 64, &result));
    ck_assert_uint_le(result.register_count, 64);
}

/* As many loops as registers, all of which are live through all loops: after some, the rest counts
 * as live everywhere, so that twice the text costs twice as much. */
TEST(many_loops_take_work_in_proportion_to_the_text)
{
    const unsigned count = 4000;
    begin(&maker, 2 * count, 1);
    maker.body.registers = arena_zalloc(&maker.arena, count + 1, sizeof *maker.body.registers);
    uint32_t guard = add_register(&maker, REGISTER_PREDICATE);
    for (unsigned i = 0; i < count; i++) {
        uint32_t reg = add_register(&maker, REGISTER_32);
        add_simple(&maker, "add", reg, reg, reg);
        struct instruction *branch = add(&maker, "bra", 1);
        set_label(&branch->operands[0], add_label(&maker, 0));
        branch->guard = guard;
    }
    ck_assert(allocate(&maker.body, 64, &result));
    ck_assert_uint_eq(result.spill_bytes, (count - 60) * 4);
}

TEST(what_is_written_in_each_round_of_a_loop_shares_a_register)
{
    begin(&maker, 10, 1);
    uint32_t guard = add_register(&maker, REGISTER_PREDICATE);
    uint32_t first = add_register(&maker, REGISTER_32), second = add_register(&maker, REGISTER_32);
    uint32_t top = add_label(&maker, 0);
    struct instruction *load = add(&maker, "mov", 2);
    set_register(&load->operands[0], first);
    struct instruction *skip = add(&maker, "bra", 1);
    set_label(&skip->operands[0], add_label(&maker, 3));
    skip->guard = guard;
    struct instruction *other = add(&maker, "mov", 2);
    set_register(&other->operands[0], second);
    set_register(&other->operands[1], first);
    struct instruction *back = add(&maker, "bra", 1);
    set_label(&back->operands[0], top);
    back->guard = guard;
    ck_assert(allocate(&maker.body, 255, &result));
    ck_assert_uint_eq(result.register_count, 5);
    ck_assert_uint_eq(maker.body.registers[first].physical, maker.body.registers[second].physical);
}
