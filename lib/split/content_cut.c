/* content_cut.c: chunks that stay the same after an edit elsewhere.
 *
 * Units are in program order. Chunks can be cut between any two of them; the priority of a boundary
 * is a hash of the name after it. A boundary is cut if the stretch around it, up to the next
 * boundaries of higher priority, has more bytes than a piece may have. So no piece has more, except
 * for larger units. An edit of a function moves no boundary except one in the piece that exceeds
 * the limit, or no longer does; a new function adds or removes no more. Distant code and the
 * numbers of chunks have no effect. Pieces have half the limit on average.
 *
 * Variables are in chunks of their own, by the same rule: their linkage then does not depend on
 * their users, and a new variable changes no code. */
#include <xxhash.h>

#include "split/internal.h"

/* Most bytes of a piece: half of that, the average, is worth starting an assembler
 * (test/bench/cost.sh). In a small program it is a sixteenth, so that an edit has little to
 * assemble (test/bench/cache.sh), but no less than a quarter of the largest. An exact split, whose
 * code does not depend on the cuts, has pieces of half the size. Variables cost less. */
#define LARGEST_PIECE  262144u
#define SMALLEST_PIECE 65536u
#define DATA_PIECE     1048576u

/* A row of units or variables. */
struct row {
    uint32_t *symbols;
    uint64_t *spans; /* of the boundary before each: bytes of the stretch around it */
    size_t count;
};

uint64_t content_cut_piece(const struct plan *plan)
{
    uint64_t piece = LARGEST_PIECE;

    if (plan->request->minimum_bytes)
        return plan->request->minimum_bytes > UINT32_MAX ? UINT64_C(2) * UINT32_MAX
                                                         : 2 * plan->request->minimum_bytes;
    while (piece > SMALLEST_PIECE && piece > plan->total_weight / 16)
        piece /= 2;
    if (plan->is_exact && piece > SMALLEST_PIECE)
        piece /= 2;
    return piece;
}

/* Of a variable, or of a unit. */
static uint64_t weight_of(const struct plan *plan, uint32_t symbol)
{
    const struct ptx_variable *variable = &plan->program->symbols[symbol].item->variable;

    return plan_is_variable(plan, symbol)
               ? variable->prefix.size + variable->declarator.size + variable->initialiser.size
               : plan->placements[symbol].weight;
}

/* Finds the spans: for each boundary, the next ones on both sides with a higher priority. */
static void find_spans(const struct plan *plan, struct row *row)
{
    uint64_t *ends = arena_alloc(plan->arena, row->count + 1, sizeof *ends);
    uint64_t *wishes = arena_alloc(plan->arena, row->count + 1, sizeof *wishes);
    size_t *open = arena_alloc(plan->arena, row->count + 1, sizeof *open);
    size_t open_count = 0;

    row->spans = arena_zalloc(plan->arena, row->count + 1, sizeof *row->spans);
    ends[0] = 0;
    for (size_t i = 0; i < row->count; i++) {
        struct text name = plan_name(plan, row->symbols[i]);

        ends[i + 1] = ends[i] + weight_of(plan, row->symbols[i]);
        wishes[i] = XXH3_64bits(name.data, name.size);
    }
    for (size_t i = 1; i <= row->count; i++) {
        while (open_count > 0 && (i == row->count || wishes[open[open_count - 1]] < wishes[i])) {
            size_t at = open[--open_count];

            row->spans[at] = ends[i] - (open_count ? ends[open[open_count - 1]] : 0);
        }
        open[open_count++] = i;
    }
}

static bool is_cut(const struct plan *plan, const struct row *row, uint64_t piece, size_t i)
{
    const struct placement *placements = plan->placements;

    if (placements[row->symbols[i - 1]].is_edited && placements[row->symbols[i]].is_edited)
        piece /= plan->edited_parts;
    return row->spans[i] > piece;
}

static size_t count_pieces(const struct row *row, uint64_t piece)
{
    size_t count = row->count > 0;

    for (size_t i = 1; i < row->count; i++)
        count += row->spans[i] > piece;
    return count;
}

/* Assigns the row's symbols to chunks, from number `first` on; returns the next number. For most
 * programs the count is within the limit; else the piece size is doubled until it is. */
static uint32_t cut_row(const struct plan *plan, const struct row *row, uint64_t piece,
                        uint32_t first, size_t most)
{
    uint32_t chunk = first;

    while (count_pieces(row, piece) > most)
        piece *= 2;
    for (size_t i = 0; i < row->count; i++) {
        chunk += i > 0 && is_cut(plan, row, piece, i);
        plan->placements[row->symbols[i]].chunk = chunk;
    }
    return row->count ? chunk + 1 : first;
}

/* The row of the leaders of units, or of the variables. */
static struct row make_row(const struct plan *plan, bool of_variables)
{
    size_t count = plan->program->symbol_count;
    struct row row = {.symbols = arena_alloc(plan->arena, count, sizeof *row.symbols)};

    for (uint32_t i = 0; i < count; i++)
        if (of_variables ? plan_is_variable(plan, i) : plan_is_leader(plan, i))
            row.symbols[row.count++] = i;
    find_spans(plan, &row);
    return row;
}

/* Distributes the units; the other functions of each follow it. */
static void distribute_units(struct plan *plan, size_t most)
{
    struct row units = make_row(plan, false);

    plan->chunk_count = cut_row(plan, &units, plan->piece_bytes, 0, most);
    plan_follow_leaders(plan);
}

/* The highest bit of the bytes that copies of a function add. */
static unsigned copies_class(const struct placement *placement)
{
    uint64_t added = plan_added_bytes(placement);

    return added ? 64 - (unsigned)__builtin_clzll(added) : 0;
}

/* Places functions once whose copies would add too much: all from a power of two on, so that the
 * set of these functions seldom changes. */
static void bound_copies(struct plan *plan)
{
    size_t count = plan->program->symbol_count;
    bool is_hopeless = !plan_count_copies(plan);
    uint64_t added[65] = {0}, sum = 0;
    unsigned most = 0;

    for (uint32_t i = 0; i < count; i++)
        added[copies_class(&plan->placements[i])] += plan_added_bytes(&plan->placements[i]);
    while (most < 64 && sum + added[most + 1] <= plan_largest_growth(plan))
        sum += added[++most];
    for (uint32_t i = 0; i < count; i++)
        if (is_hopeless || copies_class(&plan->placements[i]) > most)
            plan->placements[i].is_replicated = false;
}

void content_cut(struct plan *plan, uint32_t most)
{
    struct row variables = make_row(plan, true);
    size_t most_units = most > 1 && variables.count ? most - 1 : most;

    plan->piece_bytes = content_cut_piece(plan);
    if (plan->is_exact) {
        distribute_units(plan, most);
        return;
    }
    distribute_units(plan, most_units);
    if (plan->chunk_count <= 1)
        return;
    bound_copies(plan);
    distribute_units(plan, most_units);
    if (plan->chunk_count > 1)
        plan->chunk_count =
            cut_row(plan, &variables, DATA_PIECE, plan->chunk_count, most - plan->chunk_count);
}
