/* allocate.c: linear scan over live intervals.
 *
 * Registers R0 to R3 belong to the ABI (R1 is the stack pointer; minilink-internals(7), Phases, 20:
 * at least four registers are reserved), so allocation begins at R4. Intervals are taken in order
 * of their start; each gets the lowest free place of its width. If there is none, the register
 * whose interval ends last is spilled (spill.c), and the rewritten body is scanned again: its new
 * registers live only for a few instructions and are never spilled themselves, so every round has
 * fewer candidates than the one before it. */
#include "toy/body_steps.h"

#define MOST_REGISTERS    255u
#define PREDICATES        7u
#define MOST_ROUNDS       6u /* after these rounds, everything that can be spilled is */
#define MOST_INSTRUCTIONS (1u << 29)

/* Special owners: the register is free, or must not be allocated. */
#define FREE     NO_INDEX
#define RESERVED (NO_INDEX - 1)

/* The physical registers of one kind, general or predicate, during one scan. */
struct bank {
    uint32_t first; /* the lowest that may be allocated */
    uint32_t end;
    uint32_t used;                      /* highest in use + 1 */
    uint32_t owner[MOST_REGISTERS + 1]; /* the virtual register that has it */
};

struct scan {
    struct body *body;
    struct interval *intervals;
    uint32_t spillable; /* registers below this index may be spilled */
    bool *is_spilled;
    bool has_spilled;
    bool has_failed;
    struct bank general;
    struct bank predicate;
};

static uint32_t width_of(const struct scan *scan, uint32_t reg)
{
    uint8_t class = scan->body->registers[reg].class;
    return class == REGISTER_64 ? 2 : class == REGISTER_128 ? 4 : 1;
}

/* A place is aligned to its width. */
static void set_owner(struct bank *bank, uint32_t place, uint32_t width, uint32_t owner)
{
    for (uint32_t i = 0; i < width; i++)
        bank->owner[place + i] = owner;
}

/* Frees the places of all intervals that end before `position`. */
static void advance(const struct scan *scan, struct bank *bank, uint32_t position)
{
    for (uint32_t i = bank->first; i < bank->end; i++)
        if (bank->owner[i] < RESERVED && scan->intervals[bank->owner[i]].end < position)
            bank->owner[i] = FREE;
}

static bool is_free(const struct bank *bank, uint32_t place, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        if (bank->owner[place + i] != FREE)
            return false;
    return true;
}

static bool is_taken(const struct bank *bank, uint32_t physical)
{
    return physical >= bank->first && physical < bank->end && bank->owner[physical] < RESERVED;
}

/* The lowest free place, or NO_INDEX. A single register is placed next to one in use if that does
 * not increase the number of registers, so that pairs stay free. */
static uint32_t find_place(const struct bank *bank, uint32_t width)
{
    uint32_t lowest = NO_INDEX;
    for (uint32_t place = bank->first; place + width <= bank->end; place += width) {
        if (!is_free(bank, place, width))
            continue;
        if (width == 1 && place < bank->used && is_taken(bank, place ^ 1))
            return place;
        if (lowest == NO_INDEX)
            lowest = place;
    }
    return lowest;
}

/* The earliest end of the intervals in a place; 0 if one of them must not be spilled. */
static uint32_t place_end(const struct scan *scan, const struct bank *bank, uint32_t place,
                          uint32_t width)
{
    uint32_t end = UINT32_MAX;
    for (uint32_t i = 0; i < width; i++) {
        uint32_t owner = bank->owner[place + i];
        if (owner == FREE)
            continue;
        if (owner >= scan->spillable)
            return 0;
        if (scan->intervals[owner].end < end)
            end = scan->intervals[owner].end;
    }
    return end;
}

static void spill(struct scan *scan, uint32_t reg)
{
    scan->is_spilled[reg] = true;
    scan->has_spilled = true;
}

/* Makes room for `reg` by spilling the interval that ends last, which may be that of `reg` itself
 * (then returns NO_INDEX). */
static uint32_t evict(struct scan *scan, struct bank *bank, uint32_t reg, uint32_t width)
{
    uint32_t best = NO_INDEX;
    uint32_t best_end = 0;
    for (uint32_t place = bank->first; place + width <= bank->end; place += width) {
        uint32_t end = place_end(scan, bank, place, width);
        if (end > best_end) {
            best = place;
            best_end = end;
        }
    }
    if (reg < scan->spillable && best_end <= scan->intervals[reg].end) {
        spill(scan, reg);
        return NO_INDEX;
    }
    if (best == NO_INDEX) {
        scan->has_failed = true;
        return NO_INDEX;
    }
    for (uint32_t i = 0; i < width; i++)
        if (bank->owner[best + i] != FREE) {
            uint32_t owner = bank->owner[best + i];
            spill(scan, owner);
            set_owner(bank, scan->body->registers[owner].physical, width_of(scan, owner), FREE);
        }
    return best;
}

static void place_register(struct scan *scan, uint32_t reg)
{
    bool is_predicate = scan->body->registers[reg].class == REGISTER_PREDICATE;
    struct bank *bank = is_predicate ? &scan->predicate : &scan->general;
    uint32_t width = width_of(scan, reg);
    advance(scan, bank, scan->intervals[reg].start);
    uint32_t place = find_place(bank, width);
    if (place == NO_INDEX)
        place = evict(scan, bank, reg, width);
    if (place == NO_INDEX)
        return;
    scan->body->registers[reg].physical = (uint16_t)place;
    set_owner(bank, place, width, reg);
    if (place + width > bank->used)
        bank->used = place + width;
}

/* The registers that occur, by start and then by index: a counting sort, since positions are small.
 */
static uint32_t *sort_by_start(const struct body *body, const struct interval *intervals,
                               size_t *count)
{
    size_t positions = 2 * body->instruction_count;
    uint32_t *begin = arena_zalloc(body->arena, positions + 1, sizeof *begin);
    uint32_t *sorted = arena_alloc(body->arena, body->register_count, sizeof *sorted);
    for (size_t i = 0; i < body->register_count; i++)
        if (intervals[i].start <= intervals[i].end)
            begin[intervals[i].start + 1]++;
    for (size_t i = 0; i < positions; i++)
        begin[i + 1] += begin[i];
    *count = begin[positions];
    for (uint32_t i = 0; i < body->register_count; i++)
        if (intervals[i].start <= intervals[i].end)
            sorted[begin[intervals[i].start]++] = i;
    return sorted;
}

/* Marks those of its registers that are in `reserved`, count << 16 | first, as not available. */
static void begin_bank(struct bank *bank, uint32_t first, uint32_t end, uint32_t reserved)
{
    uint32_t from = reserved & 0xffff, to = from + (reserved >> 16);
    *bank = (struct bank){.first = first, .end = end};
    for (uint32_t i = first; i < end; i++)
        bank->owner[i] = i >= from && i < to ? RESERVED : FREE;
}

static void scan_body(struct scan *scan, uint32_t budget, uint32_t reserved)
{
    struct body *body = scan->body;
    size_t count;
    scan->is_spilled = arena_zalloc(body->arena, body->register_count, sizeof *scan->is_spilled);
    scan->has_spilled = false;
    scan->has_failed = false;
    begin_bank(&scan->general, ALLOCATE_FIRST, budget, reserved);
    begin_bank(&scan->predicate, 0, PREDICATES, 0);
    const uint32_t *sorted = sort_by_start(body, scan->intervals, &count);
    for (size_t i = 0; i < count; i++)
        place_register(scan, sorted[i]);
}

/* Marks every register that may be spilled and still occurs; false if there is none. */
static bool spill_all(struct scan *scan)
{
    scan->has_spilled = false;
    for (uint32_t i = 0; i < scan->spillable; i++)
        if (scan->intervals[i].start <= scan->intervals[i].end)
            spill(scan, i);
    return scan->has_spilled;
}

bool allocate_registers(struct body *body, uint32_t budget, uint32_t reserved,
                        struct allocation *result)
{
    struct scan scan = {.body = body, .spillable = (uint32_t)body->register_count};
    struct spill_area area = {0};
    budget = budget > MOST_REGISTERS ? MOST_REGISTERS : budget;
    if (body->instruction_count > MOST_INSTRUCTIONS)
        return diag_error("Function '%.*s' is too large", TEXT_ARG(body->function));
    for (unsigned round = 0;; round++) {
        scan.intervals = liveness_intervals(body);
        scan_body(&scan, budget, reserved);
        if (!scan.has_spilled && !scan.has_failed)
            break;
        if (((scan.has_failed && !scan.has_spilled) || round >= MOST_ROUNDS) && !spill_all(&scan))
            return diag_error("Function '%.*s' needs more than the %u registers that it may use in "
                              "one instruction",
                              TEXT_ARG(body->function), budget);
        if (!spill_registers(body, scan.is_spilled, &area))
            return false;
    }
    result->register_count =
        scan.general.used > ALLOCATE_FIRST ? scan.general.used : ALLOCATE_FIRST;
    result->spill_bytes = area.size;
    return true;
}
