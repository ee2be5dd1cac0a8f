/* spill.c: loads and stores around instructions with spilled registers.
 *
 * A spilled register becomes one new, short-lived register per instruction that uses it. Predicates
 * have no loads and stores; they travel through a general register:
 *
 *     ld.local.b32 %t, [slot]            setp ... %q, ...
 *     setp.ne.u32  %q, %t, 0             selp.u32 %t, 1, 0, %q
 *     @%q bra ...                        st.local.b32 [slot], %t  */
#include "toy/body_steps.h"

#include "toy/language/opcode.h"

#define MOST_INSTRUCTIONS (1u << 28)
#define AREA_ALIGNMENT    16u

/* The register that replaces a spilled one in one instruction. */
struct stand_in {
    uint32_t old;
    uint32_t reg;
    bool is_read;
    bool is_written;
};

struct spilling {
    struct rewrite rewrite;
    struct body *body;
    const bool *is_spilled;
    uint32_t old_registers; /* number of registers that is_spilled covers */
    struct spill_area *area;
    uint64_t *slots; /* old register -> offset in the area */
    size_t register_capacity;
    struct stand_in *stand_ins; /* of the current instruction */
    uint32_t stand_in_count;
    size_t stand_in_capacity;
};

static uint32_t class_bytes(uint8_t class)
{
    return class == REGISTER_64 ? 8 : class == REGISTER_128 ? 16 : 4;
}

static uint32_t add_register(struct spilling *spilling, uint8_t class, uint8_t bits,
                             struct text name)
{
    struct body *body = spilling->body;
    ARENA_PUSH(body->arena, body->registers, body->register_count, spilling->register_capacity) =
        (struct virtual_register){.name = name, .class = class, .bits = bits};
    return (uint32_t)body->register_count - 1;
}

static void add_area(struct spilling *spilling)
{
    struct body *body = spilling->body;
    size_t capacity = body->symbol_count;
    if (spilling->area->size)
        return;
    spilling->area->symbol = (uint32_t)body->symbol_count;
    ARENA_PUSH(body->arena, body->symbols, body->symbol_count, capacity) =
        (struct body_symbol){.name = TEXT("%spill"),
                             .is_body_variable = true,
                             .space = PTX_SPACE_LOCAL,
                             .alignment = AREA_ALIGNMENT};
}

/* Assigns slots to spilled registers, the widest first so that none needs padding. */
static void place_slots(struct spilling *spilling)
{
    for (uint32_t bytes = 16; bytes >= 4; bytes /= 2) {
        spilling->area->size = (spilling->area->size + bytes - 1) / bytes * bytes;
        for (uint32_t i = 0; i < spilling->old_registers; i++) {
            if (!spilling->is_spilled[i] ||
                class_bytes(spilling->body->registers[i].class) != bytes)
                continue;
            spilling->slots[i] = spilling->area->size;
            spilling->area->size += bytes;
        }
    }
    spilling->body->symbols[spilling->area->symbol].size = spilling->area->size;
}

static struct operand slot(const struct spilling *spilling, uint32_t old)
{
    return rewrite_address(spilling->area->symbol, spilling->slots[old]);
}

static const char *memory_type(uint8_t class)
{
    return class == REGISTER_64 ? "b64" : class == REGISTER_128 ? "b128" : "b32";
}

static void emit_load(struct spilling *spilling, const struct stand_in *stand_in,
                      const struct instruction *like)
{
    uint8_t class = spilling->body->registers[stand_in->old].class;
    bool is_predicate = class == REGISTER_PREDICATE;
    uint32_t target =
        is_predicate ? add_register(spilling, REGISTER_32, 32, TEXT("%spill")) : stand_in->reg;

    rewrite_add(&spilling->rewrite, like, INDEX_ld,
                (const char *[]){"local", memory_type(class), NULL},
                (struct operand[]){rewrite_register(target), slot(spilling, stand_in->old)}, 2);
    if (is_predicate)
        rewrite_add(&spilling->rewrite, like, INDEX_setp, (const char *[]){"ne", "u32", NULL},
                    (struct operand[]){rewrite_register(stand_in->reg), rewrite_register(target),
                                       rewrite_immediate(0)},
                    3);
}

static void emit_store(struct spilling *spilling, const struct stand_in *stand_in,
                       const struct instruction *like)
{
    uint8_t class = spilling->body->registers[stand_in->old].class;
    uint32_t reg = stand_in->reg;

    if (class == REGISTER_PREDICATE) {
        reg = add_register(spilling, REGISTER_32, 32, TEXT("%spill"));
        rewrite_add(&spilling->rewrite, like, INDEX_selp, (const char *[]){"u32", NULL},
                    (struct operand[]){rewrite_register(reg), rewrite_immediate(1),
                                       rewrite_immediate(0), rewrite_register(stand_in->reg)},
                    4);
    }
    rewrite_add(&spilling->rewrite, like, INDEX_st,
                (const char *[]){"local", memory_type(class), NULL},
                (struct operand[]){slot(spilling, stand_in->old), rewrite_register(reg)}, 2);
}

/* The stand-in of register `old` in the current instruction. */
static struct stand_in *find_stand_in(struct spilling *spilling, uint32_t old)
{
    for (uint32_t i = 0; i < spilling->stand_in_count; i++)
        if (spilling->stand_ins[i].old == old)
            return &spilling->stand_ins[i];
    struct stand_in *stand_in = &ARENA_PUSH(spilling->body->arena, spilling->stand_ins,
                                            spilling->stand_in_count, spilling->stand_in_capacity);
    struct virtual_register was = spilling->body->registers[old];
    *stand_in =
        (struct stand_in){.old = old, .reg = add_register(spilling, was.class, was.bits, was.name)};
    return stand_in;
}

/* Copies one instruction: loads, then the instruction with its stand-ins, then stores; each
 * register once. */
static void rewrite_instruction(struct spilling *spilling, struct instruction instruction,
                                struct register_accesses *accesses)
{
    spilling->stand_in_count = 0;
    liveness_accesses(spilling->body, &instruction, accesses);
    for (size_t i = 0; i < accesses->count; i++) {
        const struct register_access *access = &accesses->list[i];
        if (!spilling->is_spilled[*access->reg])
            continue;
        struct stand_in *stand_in = find_stand_in(spilling, *access->reg);
        stand_in->is_read |= access->is_read;
        stand_in->is_written |= access->is_written;
    }
    for (size_t i = 0; i < accesses->count; i++)
        if (spilling->is_spilled[*accesses->list[i].reg])
            *accesses->list[i].reg = find_stand_in(spilling, *accesses->list[i].reg)->reg;
    for (uint32_t i = 0; i < spilling->stand_in_count; i++)
        if (spilling->stand_ins[i].is_read)
            emit_load(spilling, &spilling->stand_ins[i], &instruction);
    rewrite_copy(&spilling->rewrite, &instruction);
    for (uint32_t i = 0; i < spilling->stand_in_count; i++)
        if (spilling->stand_ins[i].is_written)
            emit_store(spilling, &spilling->stand_ins[i], &instruction);
}

bool spill_registers(struct body *body, const bool *is_spilled, struct spill_area *area)
{
    struct spilling spilling = {.body = body,
                                .is_spilled = is_spilled,
                                .area = area,
                                .old_registers = (uint32_t)body->register_count,
                                .register_capacity = body->register_count};
    struct register_accesses accesses = {0};
    size_t count = body->instruction_count;

    spilling.slots = arena_alloc(body->arena, body->register_count, sizeof *spilling.slots);
    add_area(&spilling);
    place_slots(&spilling);
    rewrite_begin(&spilling.rewrite, body);
    for (size_t i = 0; i < count; i++) {
        rewrite_at(&spilling.rewrite, i);
        rewrite_instruction(&spilling, body->instructions[i], &accesses);
        if (spilling.rewrite.count > MOST_INSTRUCTIONS)
            return diag_error("Function '%.*s' is too large to be compiled with so few registers",
                              TEXT_ARG(body->function));
    }
    rewrite_at(&spilling.rewrite, count);
    rewrite_end(&spilling.rewrite);
    return true;
}
