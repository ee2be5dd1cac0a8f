/* kernels.c: kernels' names from PTX or from lists, and their distribution to parts.
 *
 * PTX has each kernel's name, and the size of its text, which gives a cost. A list has patterns,
 * which stand for all instances of a template, and has only the size of the code of the object that
 * it belongs to. */
#include "lto/internal.h"

#include "base/search.h"
#include "diag/diag.h"
#include "input/used.h"
#include "ptx/module.h"

struct collector {
    const struct lto_request *request;
    struct lto_kernels *kernels;
    size_t capacity;     /* of its list */
    struct arena *arena; /* for the list, and names */
    struct inflation inflation;
    uint32_t module; /* current one */
};

static void add_lto_kernel(struct collector *collector, struct lto_kernel kernel, size_t place)
{
    struct lto_kernels *kernels = collector->kernels;

    if (table_find(&kernels->places, kernel.name) != TABLE_NONE)
        return;
    kernel.name = arena_text(collector->arena, kernel.name);
    kernel.cost += kernel.cost == 0;
    kernel.module = collector->module;
    table_set(&kernels->places, kernel.name, (uint32_t)place);
    ARENA_PUSH(collector->arena, kernels->list, kernels->count, collector->capacity) = kernel;
}

/* Members of a group are adjacent. */
const struct member *lto_kernels_ptx(const struct members *members, const struct member *lto,
                                     const struct arch *arch)
{
    const struct member *end = members->list + members->count, *at = lto, *ptx = NULL;

    while (at > members->list && at[-1].group == lto->group)
        at--;
    for (; at < end && at->group == lto->group; at++)
        if (at->entry.kind == FATBIN_PTX && (!arch || arch_equal(at->entry.arch, *arch)))
            ptx = at;
    return ptx;
}

/* Adds an item, the one at `place` of the text: if it is a kernel that the link keeps, and to the
 * names of the one text. */
static void add_kernel_item(struct collector *collector, const struct ptx_item *item, size_t place)
{
    struct lto_kernels *kernels = collector->kernels;
    bool is_function = item->kind == PTX_FUNCTION;

    if (is_function && item->is_definition && item->function.is_entry &&
        used_names_kernel(collector->request->used, item->name))
        add_lto_kernel(collector,
                       (struct lto_kernel){.name = item->name,
                                           .cost = item->text.size,
                                           .is_internal = item->linkage == PTX_INTERNAL},
                       kernels->is_one_text ? place : kernels->count);
    if (kernels->is_one_text && (is_function || item->kind == PTX_VARIABLE))
        table_add(is_function && !item->is_definition ? &kernels->declarations : &kernels->places,
                  item->name, (uint32_t)place);
}

/* The text takes no part in the link, so its errors are not reported. */
static bool read_kernels_of(struct collector *collector, struct arena *arena, const char *name,
                            struct text text)
{
    struct module_cursor cursor = {0};

    DIAG_SILENCE();
    while (!module_at_end(text, cursor.offset)) {
        struct ptx_module module = {0};

        if (!module_parse(&module, arena, name, text, &cursor))
            return false;
        for (size_t i = 0; i < module.item_count; i++)
            add_kernel_item(collector, &module.items[i], i);
    }
    return true;
}

static bool read_kernels_beside(struct collector *collector, const struct member *ptx)
{
    LOCAL_ARENA(text);
    struct bytes code;

    DIAG_SILENCE();
    return member_code(ptx, &collector->inflation, &text, &code) &&
           read_kernels_of(collector, &text, ptx->name,
                           (struct text){(const char *)code.data, code.size});
}

/* Adds the kernels of all PTX. False when some LTO-IR has no PTX with it. */
static bool add_from_ptx(struct collector *collector)
{
    const struct members *members = collector->request->members;

    for (size_t i = 0; i < members->count; i++) {
        const struct member *lto = &members->list[i], *ptx;

        if (lto->role != MEMBER_LTO)
            continue;
        collector->module++;
        ptx = lto_kernels_ptx(members, lto, &lto->entry.arch);
        if (!ptx || !read_kernels_beside(collector, ptx))
            return false;
    }
    return true;
}

static void add_from_lists(struct collector *collector, const struct used_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        add_lto_kernel(
            collector,
            (struct lto_kernel){.name = set->patterns[i].text,
                                .cost = set->patterns[i].cost,
                                .is_internal = set->patterns[i].list == USED_INTERNAL_KERNELS},
            collector->kernels->count);
}

bool lto_kernels_list(struct lto_kernels *kernels, struct arena *arena,
                      const struct lto_request *request)
{
    struct collector collector = {.request = request,
                                  .kernels = kernels,
                                  .arena = arena,
                                  .inflation = {.limit = request->inflation_limit}};

    if (add_from_ptx(&collector))
        return true;
    lto_kernels_free(kernels);
    collector.capacity = 0;
    if (!request->used->has_lists || request->used->has_parts || request->used->wanted_count ||
        !request->is_split)
        return false;
    add_from_lists(&collector, &request->used->kernels);
    return true;
}

bool lto_kernels_read(struct lto_kernels *kernels, struct arena *arena,
                      const struct lto_request *request, struct text ptx)
{
    struct collector collector = {.request = request, .kernels = kernels, .arena = arena};

    kernels->is_one_text = true;
    return !module_at_end(ptx, 0) && read_kernels_of(&collector, arena, "lto.ptx", ptx);
}

uint64_t lto_kernels_rank(const void *argument, struct text name, bool is_declaration)
{
    const struct lto_kernels *kernels = argument;
    uint32_t place = table_find(is_declaration ? &kernels->declarations : &kernels->places, name);

    if (place == TABLE_NONE)
        return PARTS_NO_RANK;
    return PARTS_RANK(kernels->is_one_text ? 0 : kernels->list[place].module, place);
}

void lto_kernels_free(void *argument)
{
    struct lto_kernels *kernels = argument;

    table_free(&kernels->places);
    table_free(&kernels->declarations);
    *kernels = (struct lto_kernels){0};
}

/* Partition: neighbours are put into bundles, and bundles into parts, the costliest bundle first
 * into the part with the least cost.
 *
 * Kernels of one module share functions, which every part that reaches them compiles; so neighbours
 * stay together. But costs are estimates, with the same error throughout a module; so a part gets
 * bundles from all over the program. */

/* Fewer kernels than this are not worth a part. */
#define FEWEST_KERNELS 4u

/* Number of bundles in a part, about. */
#define BUNDLES_OF_PART 8u

/* Measured on libnvJitLink 13.0 with 128 and 1,000 kernels in 139 KB and 837 KB of LTO-IR:
 * compiling takes 9 to 13 us per byte. Every part repeats 20 ms to start and to load the library,
 * as much as 2,200 bytes, and 60 ns for each byte that it reads, a 150th. Everything that parts
 * repeat should be at most a twentieth of the whole. A power of two leaves the fewest threads
 * without work at the end. */
#define BYTES_TO_START 2200u
#define BYTES_TO_READ  150u
#define PAID_AGAIN     20u

struct bundle {
    uint64_t cost;
    uint32_t first; /* first kernel */
    uint32_t end;   /* kernel after its last */
};

uint32_t lto_kernels_part_count(uint64_t bytes, size_t kernel_count)
{
    uint64_t again = BYTES_TO_START + bytes / BYTES_TO_READ;
    uint64_t worth = 1 + bytes / (PAID_AGAIN * again), count = 1;

    while (2 * count <= worth)
        count *= 2;
    if (count > kernel_count / FEWEST_KERNELS)
        count = kernel_count / FEWEST_KERNELS;
    return count ? (uint32_t)count : 1;
}

/* Costliest first; of equals, the one that comes first. */
COMPARISON(compare_by_weight, struct bundle,
           COMPARE(b->cost, a->cost) ?: COMPARE(a->first, b->first));

/* Cuts the kernels into bundles of at most that cost, or one kernel. Returns their number. */
static size_t make_bundles(struct bundle *bundles, const struct lto_kernel *kernels, size_t count,
                           uint64_t most)
{
    size_t made = 0;

    for (size_t i = 0; i < count; i++) {
        struct bundle *last = made ? &bundles[made - 1] : NULL;

        if (!last || last->cost + kernels[i].cost > most) {
            last = &bundles[made++];
            *last = (struct bundle){.first = (uint32_t)i};
        }
        last->cost += kernels[i].cost;
        last->end = (uint32_t)i + 1;
    }
    return made;
}

/* There are few parts, so looking at each costs less than a heap. */
static uint32_t find_lightest(const uint64_t *loads, uint32_t count)
{
    uint32_t lightest = 0;

    for (uint32_t i = 1; i < count; i++)
        if (loads[i] < loads[lightest])
            lightest = i;
    return lightest;
}

uint32_t *lto_kernels_deal(struct arena *arena, const struct lto_kernel *kernels,
                           size_t kernel_count, uint32_t part_count)
{
    struct bundle *bundles = arena_alloc(arena, kernel_count, sizeof *bundles);
    uint64_t *loads = arena_zalloc(arena, part_count, sizeof *loads);
    uint32_t *parts = arena_alloc(arena, kernel_count, sizeof *parts);
    uint64_t total = 0;
    size_t count;

    for (size_t i = 0; i < kernel_count; i++)
        total += kernels[i].cost;
    /* Fewer bundles than parts would leave some empty. */
    count = make_bundles(bundles, kernels, kernel_count, total / (part_count * BUNDLES_OF_PART));
    if (count < part_count)
        count = make_bundles(bundles, kernels, kernel_count, 0);
    SORT(bundles, count, compare_by_weight);
    for (size_t i = 0; i < count; i++) {
        uint32_t part = find_lightest(loads, part_count);

        loads[part] += bundles[i].cost;
        for (uint32_t kernel = bundles[i].first; kernel < bundles[i].end; kernel++)
            parts[kernel] = part;
    }
    return parts;
}
