/* spill.c: loads and stores around instructions whose registers live in memory.
 *
 * A spilled register becomes one new, short-lived register per instruction that uses it. Predicates
 * have no loads and stores; they travel through a general register:
 *
 *     ld.local.b32 %t, [slot]            setp ... %q, ...
 *     setp.ne.u32  %q, %t, 0             selp.u32 %t, 1, 0, %q
 *     @%q bra ...                        st.local.b32 [slot], %t  */
#include "toy/spill.h"

#include "toy/access.h"
#include "toy/language/form.h"
#include "toy/language/opcode.h"

#define MOST_INSTRUCTIONS (1u << 28)
#define AREA_ALIGNMENT    16u

/* The new register of a spilled one, for one instruction. */
struct stand_in {
    uint32_t old;
    uint32_t reg;
    bool is_read;
    bool is_written;
};

struct rewrite {
    struct body *body;
    const bool *is_spilled;
    uint32_t old_registers; /* registers that is_spilled covers */
    struct spill_area *area;
    uint64_t *slots; /* old register -> offset in the area */
    size_t register_capacity;
    struct stand_in *stand_ins; /* of the current instruction */
    uint32_t stand_in_count;
    size_t stand_in_capacity;
    struct instruction *out;
    size_t count;
    size_t capacity;
    uint32_t line;
    uint32_t loc;
};

static uint32_t class_bytes(uint8_t class)
{
    return class == REGISTER_64 ? 8 : class == REGISTER_128 ? 16 : 4;
}

static uint32_t add_register(struct rewrite *rewrite, uint8_t class, uint8_t bits, struct text name)
{
    struct body *body = rewrite->body;
    ARENA_PUSH(body->arena, body->registers, body->register_count, rewrite->register_capacity) =
        (struct virtual_register){.name = name, .class = class, .bits = bits};
    return (uint32_t)body->register_count - 1;
}

static void add_area(struct rewrite *rewrite)
{
    struct body *body = rewrite->body;
    size_t capacity = body->symbol_count;
    if (rewrite->area->exists)
        return;
    body->symbols = arena_grow(body->arena, body->symbols, body->symbol_count, &capacity,
                               sizeof *body->symbols);
    rewrite->area->exists = true;
    rewrite->area->symbol = (uint32_t)body->symbol_count;
    body->symbols[body->symbol_count++] = (struct body_symbol){.name = TEXT("%spill"),
                                                               .is_body_variable = true,
                                                               .space = SPACE_LOCAL,
                                                               .alignment = AREA_ALIGNMENT};
}

/* Gives every spilled register its slot, the widest first so that none needs padding. */
static void place_slots(struct rewrite *rewrite)
{
    for (uint32_t bytes = 16; bytes >= 4; bytes /= 2) {
        rewrite->area->size = (rewrite->area->size + bytes - 1) / bytes * bytes;
        for (uint32_t i = 0; i < rewrite->old_registers; i++) {
            if (!rewrite->is_spilled[i] || class_bytes(rewrite->body->registers[i].class) != bytes)
                continue;
            rewrite->slots[i] = rewrite->area->size;
            rewrite->area->size += bytes;
        }
    }
    rewrite->body->symbols[rewrite->area->symbol].size = rewrite->area->size;
}

static struct instruction *append(struct rewrite *rewrite)
{
    return &ARENA_PUSH(rewrite->body->arena, rewrite->out, rewrite->count, rewrite->capacity);
}

/* Appends `opcode.modifier...` with the given operands. */
static void emit(struct rewrite *rewrite, uint16_t opcode, const char *const *modifiers,
                 const struct operand *operands, uint8_t operand_count)
{
    struct instruction made =
        form_instruction(rewrite->body->arena, opcode, modifiers, operands, operand_count);
    made.line = rewrite->line;
    made.loc = rewrite->loc;
    *append(rewrite) = made;
}

static struct operand register_operand(uint32_t reg)
{
    return (struct operand){.kind = OPERAND_REGISTER, .reg = reg, .symbol = NO_INDEX};
}

static struct operand immediate_operand(int64_t value)
{
    return (struct operand){
        .kind = OPERAND_IMMEDIATE, .reg = NO_INDEX, .symbol = NO_INDEX, .value = value};
}

static struct operand slot_operand(const struct rewrite *rewrite, uint32_t old)
{
    return (struct operand){.kind = OPERAND_ADDRESS,
                            .reg = NO_INDEX,
                            .symbol = rewrite->area->symbol,
                            .value = (int64_t)rewrite->slots[old]};
}

static const char *memory_type(uint8_t class)
{
    return class == REGISTER_64 ? "b64" : class == REGISTER_128 ? "b128" : "b32";
}

static void emit_load(struct rewrite *rewrite, const struct stand_in *stand_in)
{
    uint32_t old = stand_in->old;
    uint32_t reg = stand_in->reg;
    uint8_t class = rewrite->body->registers[old].class;
    bool is_predicate = class == REGISTER_PREDICATE;
    uint32_t target = is_predicate ? add_register(rewrite, REGISTER_32, 32, TEXT("%spill")) : reg;
    const char *load[] = {"local", memory_type(class), NULL};
    const char *test[] = {"ne", "u32", NULL};
    emit(rewrite, INDEX_ld, load,
         (struct operand[]){register_operand(target), slot_operand(rewrite, old)}, 2);
    if (is_predicate)
        emit(rewrite, INDEX_setp, test,
             (struct operand[]){register_operand(reg), register_operand(target),
                                immediate_operand(0)},
             3);
}

static void emit_store(struct rewrite *rewrite, const struct stand_in *stand_in)
{
    uint32_t old = stand_in->old;
    uint32_t reg = stand_in->reg;
    uint8_t class = rewrite->body->registers[old].class;
    const char *store[] = {"local", memory_type(class), NULL};
    const char *select[] = {"u32", NULL};
    if (class == REGISTER_PREDICATE) {
        uint32_t value = add_register(rewrite, REGISTER_32, 32, TEXT("%spill"));
        emit(rewrite, INDEX_selp, select,
             (struct operand[]){register_operand(value), immediate_operand(1), immediate_operand(0),
                                register_operand(reg)},
             4);
        reg = value;
    }
    emit(rewrite, INDEX_st, store,
         (struct operand[]){slot_operand(rewrite, old), register_operand(reg)}, 2);
}

/* The stand-in of register `old` in the current instruction. */
static struct stand_in *find_stand_in(struct rewrite *rewrite, uint32_t old)
{
    for (uint32_t i = 0; i < rewrite->stand_in_count; i++)
        if (rewrite->stand_ins[i].old == old)
            return &rewrite->stand_ins[i];
    struct stand_in *stand_in = &ARENA_PUSH(rewrite->body->arena, rewrite->stand_ins,
                                            rewrite->stand_in_count, rewrite->stand_in_capacity);
    struct virtual_register was = rewrite->body->registers[old];
    *stand_in =
        (struct stand_in){.old = old, .reg = add_register(rewrite, was.class, was.bits, was.name)};
    return stand_in;
}

/* Copies one instruction with what it needs around it: loads, then the instruction with its
 * stand-ins, then stores; each register once. */
static void rewrite_instruction(struct rewrite *rewrite, struct instruction instruction,
                                struct register_accesses *accesses)
{
    rewrite->line = instruction.line;
    rewrite->loc = instruction.loc;
    rewrite->stand_in_count = 0;
    access_collect(rewrite->body, &instruction, accesses);
    for (size_t i = 0; i < accesses->count; i++) {
        const struct register_access *access = &accesses->list[i];
        if (!rewrite->is_spilled[*access->reg])
            continue;
        struct stand_in *stand_in = find_stand_in(rewrite, *access->reg);
        stand_in->is_read |= access->is_read;
        stand_in->is_written |= access->is_written;
    }
    for (size_t i = 0; i < accesses->count; i++)
        if (rewrite->is_spilled[*accesses->list[i].reg])
            *accesses->list[i].reg = find_stand_in(rewrite, *accesses->list[i].reg)->reg;
    for (uint32_t i = 0; i < rewrite->stand_in_count; i++)
        if (rewrite->stand_ins[i].is_read)
            emit_load(rewrite, &rewrite->stand_ins[i]);
    *append(rewrite) = instruction;
    for (uint32_t i = 0; i < rewrite->stand_in_count; i++)
        if (rewrite->stand_ins[i].is_written)
            emit_store(rewrite, &rewrite->stand_ins[i]);
}

bool spill_registers(struct body *body, const bool *is_spilled, struct spill_area *area)
{
    struct rewrite rewrite = {.body = body,
                              .is_spilled = is_spilled,
                              .area = area,
                              .old_registers = (uint32_t)body->register_count,
                              .register_capacity = body->register_count};
    struct register_accesses accesses = {0};
    size_t count = body->instruction_count;
    /* The first load before each instruction, or it itself; a label there stands before it. */
    uint32_t *moved = arena_alloc(body->arena, count + 1, sizeof *moved);
    rewrite.slots = arena_alloc(body->arena, body->register_count, sizeof *rewrite.slots);
    add_area(&rewrite);
    place_slots(&rewrite);
    for (size_t i = 0; i < count; i++) {
        moved[i] = (uint32_t)rewrite.count;
        rewrite_instruction(&rewrite, body->instructions[i], &accesses);
        if (rewrite.count > MOST_INSTRUCTIONS) {
            diag_error("Function '%.*s' is too large to be compiled with so few registers",
                       TEXT_ARG(body->function));
            return false;
        }
    }
    moved[count] = (uint32_t)rewrite.count;
    for (size_t i = 0; i < body->label_count; i++)
        body->labels[i].instruction =
            moved[body->labels[i].instruction < count ? body->labels[i].instruction : count];
    body->instructions = rewrite.out;
    body->instruction_count = rewrite.count;
    return true;
}
