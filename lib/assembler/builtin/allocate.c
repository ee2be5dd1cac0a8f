/* allocate.c: linear scan over live intervals.
 *
 * Registers R0 to R3 belong to the ABI (R1 is the stack pointer; spec: embedded-ptxas-driver, Phase
 * 20: at least four registers are reserved), so allocation begins at R4. Intervals are taken in
 * order of their start; each gets the lowest free place of its width. When there is none, whatever
 * is needed again last goes to memory (spill.c), and the rewritten body is scanned again: its new
 * registers live for a few instructions only and are never spilled themselves, so every round has
 * fewer candidates than the one before it. */
#include "assembler/builtin/allocate.h"

#include "assembler/builtin/liveness.h"
#include "assembler/builtin/spill.h"

#define RESERVED_REGISTERS 4u
#define MOST_REGISTERS     255u
#define PREDICATES         7u
#define MOST_ROUNDS        6u /* after these, everything that can be spilled is */
#define MOST_INSTRUCTIONS  (1u << 29)

/* The physical registers of one kind, general or predicate, during one scan. */
struct bank {
    uint32_t first; /* the lowest that may be given away */
    uint32_t end;
    uint32_t used;                      /* highest in use + 1 */
    uint32_t owner[MOST_REGISTERS + 1]; /* virtual register, or NO_INDEX */
    /* The first position at which it can be given away: 0, or behind its owner's interval. */
    uint32_t free_at[MOST_REGISTERS + 1];
};

struct scan {
    struct body *body;
    const struct interval *intervals;
    uint32_t spillable; /* registers below this index may be spilled */
    bool *is_spilled;
    bool has_spilled;
    bool has_failed;
    struct bank general;
    struct bank predicate;
};

static bool is_free(const struct bank *bank, uint32_t physical, uint32_t position)
{
    return bank->free_at[physical] <= position;
}

static uint32_t width_of(const struct scan *scan, uint32_t reg)
{
    uint8_t class = scan->body->registers[reg].class;
    return class == REGISTER_64 ? 2 : class == REGISTER_128 ? 4 : 1;
}

/* The lowest free place, or NO_INDEX. A single register goes beside one that is taken, if it can,
 * so that pairs stay whole. */
static uint32_t find_place(const struct bank *bank, uint32_t width, uint32_t position)
{
    uint32_t lowest = NO_INDEX;
    for (uint32_t place = bank->first; place + width <= bank->end; place += width) {
        if (lowest != NO_INDEX && place >= bank->used)
            break;
        bool is_whole = true;
        for (uint32_t i = 0; i < width && is_whole; i++)
            is_whole = is_free(bank, place + i, position);
        if (!is_whole)
            continue;
        bool is_beside_taken = (place ^ 1) < bank->used && !is_free(bank, place ^ 1, position);
        if (width > 1 || is_beside_taken)
            return place;
        if (lowest == NO_INDEX)
            lowest = place;
    }
    return lowest;
}

/* Where the registers that stand in a place end, the soonest of them; 0 when one must stay. */
static uint32_t place_end(const struct scan *scan, const struct bank *bank, uint32_t place,
                          uint32_t width, uint32_t position)
{
    uint32_t end = UINT32_MAX;
    for (uint32_t i = 0; i < width; i++) {
        uint32_t owner = bank->owner[place + i];
        if (is_free(bank, place + i, position))
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

/* Makes room for `reg` by spilling what is needed again last, be it `reg` itself (then NO_INDEX).
 */
static uint32_t evict(struct scan *scan, struct bank *bank, uint32_t reg, uint32_t width)
{
    uint32_t position = scan->intervals[reg].start;
    uint32_t best = NO_INDEX;
    uint32_t best_end = 0;
    for (uint32_t place = bank->first; place + width <= bank->end; place += width) {
        uint32_t end = place_end(scan, bank, place, width, position);
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
        if (!is_free(bank, best + i, position)) {
            uint32_t owner = bank->owner[best + i];
            spill(scan, owner);
            for (uint32_t k = 0; k < width_of(scan, owner); k++)
                bank->free_at[scan->body->registers[owner].physical + k] = 0;
        }
    return best;
}

static void place_register(struct scan *scan, uint32_t reg)
{
    bool is_predicate = scan->body->registers[reg].class == REGISTER_PREDICATE;
    struct bank *bank = is_predicate ? &scan->predicate : &scan->general;
    uint32_t width = width_of(scan, reg);
    uint32_t place = find_place(bank, width, scan->intervals[reg].start);
    if (place == NO_INDEX)
        place = evict(scan, bank, reg, width);
    if (place == NO_INDEX)
        return;
    scan->body->registers[reg].physical = (uint16_t)place;
    for (uint32_t i = 0; i < width; i++) {
        bank->owner[place + i] = reg;
        bank->free_at[place + i] = scan->intervals[reg].end + 1;
    }
    if (place + width > bank->used)
        bank->used = place + width;
}

/* The registers that occur, by start and then by index: counting sort, as positions are small. */
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

static void begin_bank(struct bank *bank, uint32_t first, uint32_t end)
{
    bank->first = first;
    bank->end = end;
    bank->used = 0;
    memset(bank->owner, 0xff, sizeof bank->owner);
    memset(bank->free_at, 0, sizeof bank->free_at);
}

static void scan_body(struct scan *scan, uint32_t budget)
{
    struct body *body = scan->body;
    size_t count;
    scan->intervals = liveness_intervals(body);
    scan->is_spilled = arena_zalloc(body->arena, body->register_count, sizeof *scan->is_spilled);
    scan->has_spilled = false;
    scan->has_failed = false;
    begin_bank(&scan->general, RESERVED_REGISTERS, budget);
    begin_bank(&scan->predicate, 0, PREDICATES);
    const uint32_t *sorted = sort_by_start(body, scan->intervals, &count);
    for (size_t i = 0; i < count; i++)
        place_register(scan, sorted[i]);
}

/* Marks everything that may be spilled and still occurs; false when there is nothing left. */
static bool spill_all(struct scan *scan)
{
    scan->has_spilled = false;
    for (uint32_t i = 0; i < scan->spillable; i++)
        if (scan->intervals[i].start <= scan->intervals[i].end)
            spill(scan, i);
    return scan->has_spilled;
}

bool allocate_registers(struct body *body, uint32_t budget, struct allocation *result)
{
    struct scan scan = {.body = body, .spillable = (uint32_t)body->register_count};
    struct spill_area area = {0};
    budget = budget > MOST_REGISTERS ? MOST_REGISTERS : budget;
    if (body->instruction_count > MOST_INSTRUCTIONS) {
        diag_error("Function '%.*s' is too large", TEXT_ARG(body->function));
        return false;
    }
    for (unsigned round = 0;; round++) {
        scan_body(&scan, budget);
        if (!scan.has_spilled && !scan.has_failed)
            break;
        if ((scan.has_failed && !scan.has_spilled) || round >= MOST_ROUNDS) {
            if (!spill_all(&scan)) {
                diag_error("Function '%.*s' needs more than the %u registers that it may use in "
                           "one instruction",
                           TEXT_ARG(body->function), budget);
                return false;
            }
        }
        if (!spill_registers(body, scan.is_spilled, &area))
            return false;
    }
    result->register_count =
        scan.general.used > RESERVED_REGISTERS ? scan.general.used : RESERVED_REGISTERS;
    result->predicate_count = scan.predicate.used;
    result->spill_bytes = area.size;
    return true;
}
