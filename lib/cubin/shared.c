/* shared.c: shared memory.
 *
 * A shared variable has no address before the link: its st_value is its alignment. A kernel's
 * window holds the variables of its own function and of every function that it can reach. Variables
 * that several kernels reach come first, because the code of a function they share can only name
 * one address; then each kernel's own ones; `.extern .shared` arrays begin behind them. From sm_90
 * on the driver keeps the first 0x400 bytes: they count in the section's size, not in addresses.
 * All rules were measured on nvlink 13.0, the order of equal variables (shared_sort) on up to 13 of
 * them. */
#include "cubin/shared.h"

#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/diag.h"
#include "base/memory.h"
#include "cubin/layout.h"
#include "cubin/reach.h"

#define SHARED_BYTES     0xc000u /* static shared memory that a kernel may use */
#define EXTERN_ALIGNMENT 16u

/* One kernel's window while it grows. */
struct window {
    uint64_t end;
    uint64_t alignment;
    uint64_t extern_address; /* where `.extern .shared` arrays begin */
    bool has_variables;
    bool has_extern;
};

struct planner {
    struct merging *m;
    struct window *windows;         /* by kernel */
    struct merged_lists kernels_of; /* by symbol: kernels that reach the variable */
    uint32_t *variables;            /* used ones, in the order of placing */
    size_t variable_count;
    bool has_common; /* several kernels reach one variable */
    uint32_t *scratch;
};

void shared_sort(uint32_t *items, size_t count, uint32_t *scratch, shared_before *before,
                 const void *context)
{
    size_t a_count = (count + 1) / 2;
    uint32_t *a = scratch;
    uint32_t *b = scratch + a_count;
    size_t from_a = 0;
    size_t from_b = 0;

    if (count < 2)
        return;
    /* Every second item goes to the front of the second list, the others of the first. */
    for (size_t i = 0; i < count; i++) {
        if (i & 1)
            b[count - a_count - 1 - i / 2] = items[i];
        else
            a[a_count - 1 - i / 2] = items[i];
    }
    shared_sort(a, a_count, items, before, context);
    shared_sort(b, count - a_count, items, before, context);
    for (size_t i = 0; i < count; i++) {
        bool takes_a = from_b == count - a_count ||
                       (from_a < a_count && before(context, a[from_a], b[from_b]));

        items[i] = takes_a ? a[from_a++] : b[from_b++];
    }
}

static bool is_larger(const void *context, uint32_t a, uint32_t b)
{
    const struct merging *m = context;

    return m->symbols[a].size > m->symbols[b].size;
}

/* By falling alignment, then rising size; ties count as before. */
static bool is_stricter(const void *context, uint32_t a, uint32_t b)
{
    const struct merged_symbol *x = &((const struct merging *)context)->symbols[a];
    const struct merged_symbol *y = &((const struct merging *)context)->symbols[b];

    return x->value != y->value ? x->value > y->value : x->size <= y->size;
}

static void gather_code(struct merging *m, struct merged_pairs *uses, size_t file,
                        const struct cubin_section *list)
{
    const struct cubin *cubin = m->cubins[file];
    uint32_t function;
    bool is_kept;

    if (list->relocation_count == 0 || !cubin_is_text(&cubin->sections[list->info]))
        return;
    function = merging_owner(m, file, list->info);
    if (function != MERGE_NONE && m->symbols[function].file != file)
        return; /* what a copy that lost names does not count */
    is_kept = merging_keeps(m, file, list->info);
    for (size_t i = 0; i < list->relocation_count; i++) {
        uint32_t symbol = merging_symbol(m, file, list->relocations[i].symbol);

        if (symbol == MERGE_NONE || !merged_is_data(&m->symbols[symbol], STO_CUDA_SHARED))
            continue;
        m->is_shared_named[symbol] = true;
        if (!is_kept)
            continue;
        lists_add(uses, function, symbol);
        m->functions[function].uses_shared = true;
    }
}

/* A kernel's variables take their place even when its code does not name them. */
static void gather_own(struct merging *m, struct merged_pairs *uses)
{
    for (uint32_t i = 0; i < m->symbol_count; i++) {
        const struct merged_symbol *symbol = &m->symbols[i];
        uint32_t owner;

        if (!merged_is_data(symbol, STO_CUDA_SHARED) || symbol->file == MERGE_NONE ||
            symbol->input_section >= m->cubins[symbol->file]->section_count)
            continue;
        owner = merging_owner(m, symbol->file, symbol->input_section);
        if (owner == MERGE_NONE || m->symbols[owner].file != symbol->file)
            continue;
        lists_add(uses, owner, i);
        m->functions[owner].uses_shared = true;
    }
}

void shared_gather(struct merging *m)
{
    struct merged_pairs uses = {0};
    struct context_cleanup cleanup;

    context_defer(&cleanup, memory_cleanup, &uses.items);
    m->is_shared_named = arena_zalloc(&m->arena, m->symbol_count, sizeof(bool));
    for (size_t file = 0; file < m->count; file++)
        for (size_t i = 1; i < m->cubins[file]->section_count; i++)
            gather_code(m, &uses, file, &m->cubins[file]->sections[i]);
    gather_own(m, &uses);
    m->shared_uses = lists_make(&m->arena, &uses, m->symbol_count);
    lists_distinct(&m->arena, &m->shared_uses, m->symbol_count, m->symbol_count);
    context_clean(&cleanup);
}

static void raise_alignment(struct window *window, uint64_t alignment)
{
    if (alignment > window->alignment)
        window->alignment = alignment;
}

static void add_variable(struct merging *m, struct window *window, uint32_t variable)
{
    const struct merged_symbol *symbol = &m->symbols[variable];

    if (symbol->file == MERGE_NONE) {
        window->has_extern = true;
        return;
    }
    window->has_variables = true;
    raise_alignment(window, symbol->value);
}

/* Finds what each kernel reaches, as (variable, kernel) pairs. */
static void find_users(struct planner *planner)
{
    struct merging *m = planner->m;
    struct merged_pairs users = {0};
    struct reach_walker walker;
    struct context_cleanup cleanup;

    context_defer(&cleanup, memory_cleanup, &users.items);
    reach_walker_begin(&walker, m);
    for (uint32_t k = 0; k < m->kernel_count; k++) {
        struct window *window = &planner->windows[k];
        const uint32_t *found;
        size_t count = reach_walk(&walker, m, m->kernels[k], REACHES_SHARED, &found);

        window->alignment = 1;
        for (size_t i = 0; i < count; i++) {
            if (found[i] >= m->symbol_count)
                continue;
            for (uint32_t u = m->shared_uses.first[found[i]];
                 u < m->shared_uses.first[found[i] + 1]; u++) {
                uint32_t variable = m->shared_uses.items[u];

                add_variable(m, window, variable);
                lists_add(&users, variable, k);
            }
        }
    }
    planner->kernels_of = lists_make(&m->arena, &users, m->symbol_count);
    lists_distinct(&m->arena, &planner->kernels_of, m->symbol_count, m->kernel_count);
    context_clean(&cleanup);
}

/* Variables that any kernel reaches, in the order of the input's symbols, then sorted by size. */
static void sort_variables(struct planner *planner)
{
    struct merging *m = planner->m;

    planner->variables = arena_alloc(&m->arena, m->symbol_count, sizeof(uint32_t));
    planner->scratch = arena_alloc(&m->arena, m->symbol_count, sizeof(uint32_t));
    for (size_t file = 0; file < m->count; file++)
        for (uint32_t i = 1; i < m->cubins[file]->symbol_count; i++) {
            uint32_t symbol = merging_symbol(m, file, i);

            if (symbol != MERGE_NONE && m->symbols[symbol].file == file &&
                m->symbols[symbol].input == i && lists_count(&planner->kernels_of, symbol) > 0)
                planner->variables[planner->variable_count++] = symbol;
        }
    shared_sort(planner->variables, planner->variable_count, planner->scratch, is_larger, m);
}

/* A variable that belongs to no kernel's function, that code names, but not one kernel alone. */
static bool is_common(const struct planner *planner, uint32_t variable)
{
    const struct merging *m = planner->m;
    const struct merged_symbol *symbol = &m->symbols[variable];

    return m->is_shared_named[variable] && symbol->file != MERGE_NONE &&
           symbol->input_section < m->cubins[symbol->file]->section_count &&
           merging_owner(m, symbol->file, symbol->input_section) == MERGE_NONE &&
           lists_count(&planner->kernels_of, variable) != 1;
}

static bool names_extern(const struct merging *m)
{
    uint32_t i = 0;

    while (i < m->symbol_count && !(m->is_shared_named[i] && m->symbols[i].file == MERGE_NONE))
        i++;
    return i < m->symbol_count;
}

/* Measured: as soon as one variable is common to several kernels, or named by dead code only, every
 * kernel's shared memory is aligned for the sections of all variables outside kernels. If code
 * names `.extern .shared` arrays, too, every kernel has shared memory. */
static void align_common(struct planner *planner)
{
    const struct merging *m = planner->m;
    uint64_t strictest = 1;
    uint32_t variable = 0;
    bool needs_memory;

    while (variable < m->symbol_count && !is_common(planner, variable))
        variable++;
    if (variable == m->symbol_count)
        return;
    for (size_t file = 0; file < m->count; file++)
        for (size_t i = 1; i < m->cubins[file]->section_count; i++) {
            const struct cubin_section *section = &m->cubins[file]->sections[i];

            if (section->type == SHT_CUDA_SHARED && merging_owner(m, file, i) == MERGE_NONE &&
                section->alignment > strictest)
                strictest = section->alignment;
        }
    needs_memory = strictest >= EXTERN_ALIGNMENT && names_extern(m);
    for (size_t k = 0; k < m->kernel_count; k++) {
        raise_alignment(&planner->windows[k], strictest);
        planner->windows[k].has_variables |= needs_memory;
    }
}

/* Variables of several kernels: behind what any of these has so far. */
static void place_common(struct planner *planner, uint32_t variable)
{
    struct merging *m = planner->m;
    const struct merged_lists *users = &planner->kernels_of;
    uint64_t offset = 0;

    planner->has_common = true;
    for (uint32_t i = users->first[variable]; i < users->first[variable + 1]; i++)
        if (planner->windows[users->items[i]].end > offset)
            offset = planner->windows[users->items[i]].end;
    offset = merging_align(offset, m->symbols[variable].value);
    m->shared_address[variable] = offset;
    for (uint32_t i = users->first[variable]; i < users->first[variable + 1]; i++)
        planner->windows[users->items[i]].end = offset + m->symbols[variable].size;
}

static void place_variables(struct planner *planner)
{
    struct merging *m = planner->m;
    struct merged_pairs single = {0};
    struct merged_lists own;
    struct context_cleanup cleanup;

    context_defer(&cleanup, memory_cleanup, &single.items);
    for (size_t i = 0; i < planner->variable_count; i++) {
        uint32_t variable = planner->variables[i];

        if (lists_count(&planner->kernels_of, variable) > 1)
            place_common(planner, variable);
        else
            lists_add(&single, planner->kernels_of.items[planner->kernels_of.first[variable]],
                      variable);
    }
    own = lists_make(&m->arena, &single, m->kernel_count);
    context_clean(&cleanup);
    for (uint32_t k = 0; k < m->kernel_count; k++) {
        uint32_t *items = own.items + own.first[k];
        struct window *window = &planner->windows[k];

        shared_sort(items, lists_count(&own, k), planner->scratch, is_stricter, m);
        for (size_t i = 0; i < lists_count(&own, k); i++) {
            window->end = merging_align(window->end, m->symbols[items[i]].value);
            m->shared_address[items[i]] = window->end;
            window->end += m->symbols[items[i]].size;
        }
    }
}

static bool names_one_extern(const struct merging *m, uint32_t function)
{
    for (uint32_t i = m->shared_uses.first[function]; i < m->shared_uses.first[function + 1]; i++)
        if (m->symbols[m->shared_uses.items[i]].file == MERGE_NONE)
            return true;
    return false;
}

/* Kernels whose `.extern .shared` arrays have one address, as sets: each leads to another of its
 * set, one of them to itself. */
static uint32_t set_of(uint32_t *sets, uint32_t kernel)
{
    while (sets[kernel] != kernel)
        kernel = sets[kernel] = sets[sets[kernel]];
    return kernel;
}

static void unite(uint32_t *sets, const struct merged_lists *users, uint32_t item)
{
    for (uint32_t i = users->first[item]; i < users->first[item + 1]; i++)
        sets[set_of(sets, users->items[i])] = set_of(sets, users->items[users->first[item]]);
}

/* Code of a function knows one address, whichever kernel runs it. */
static void unite_users(struct planner *planner, uint32_t *sets)
{
    struct merging *m = planner->m;
    struct merged_pairs pairs = {0};
    struct merged_lists kernels_of;
    struct reach_walker walker;
    struct context_cleanup cleanup;

    context_defer(&cleanup, memory_cleanup, &pairs.items);
    reach_walker_begin(&walker, m);
    for (uint32_t k = 0; k < m->kernel_count; k++) {
        const uint32_t *found;
        size_t count = planner->windows[k].has_extern
                           ? reach_walk(&walker, m, m->kernels[k], REACHES_SHARED, &found)
                           : 0;

        for (size_t i = 0; i < count; i++)
            if (found[i] < m->symbol_count && names_one_extern(m, found[i]))
                lists_add(&pairs, found[i], k);
    }
    kernels_of = lists_make(&m->arena, &pairs, m->symbol_count);
    for (uint32_t i = 0; i < m->symbol_count; i++)
        unite(sets, &kernels_of, i);
    context_clean(&cleanup);
}

/* Gives each set of kernels the highest address of its members' (measured). Under -g kernels that
 * see the same array are one, too. */
static void agree_on_extern(struct planner *planner)
{
    struct merging *m = planner->m;
    uint32_t *sets = arena_alloc(&m->arena, m->kernel_count, sizeof *sets);
    uint64_t *highest = arena_zalloc(&m->arena, m->kernel_count, sizeof *highest);

    for (uint32_t k = 0; k < m->kernel_count; k++)
        sets[k] = k;
    unite_users(planner, sets);
    for (uint32_t i = 0; m->request->debug && i < m->symbol_count; i++)
        if (m->symbols[i].file == MERGE_NONE)
            unite(sets, &planner->kernels_of, i);
    for (uint32_t k = 0; k < m->kernel_count; k++) {
        uint32_t set = set_of(sets, k);

        if (planner->windows[k].has_extern && planner->windows[k].end > highest[set])
            highest[set] = planner->windows[k].end;
    }
    for (uint32_t k = 0; k < m->kernel_count; k++)
        if (planner->windows[k].has_extern)
            planner->windows[k].end = planner->windows[k].extern_address = highest[set_of(sets, k)];
}

/* `.extern .shared` arrays all begin at the window's end. */
static void place_extern(struct planner *planner)
{
    struct merging *m = planner->m;

    for (size_t k = 0; k < m->kernel_count; k++) {
        struct window *window = &planner->windows[k];

        if (!window->has_extern)
            continue;
        window->end = window->extern_address = merging_align(window->end, EXTERN_ALIGNMENT);
        raise_alignment(window, EXTERN_ALIGNMENT);
    }
    agree_on_extern(planner);
}

/* The kernels that reach a function agree on the address. */
static void tell_functions(struct planner *planner)
{
    struct merging *m = planner->m;
    struct reach_walker walker;

    reach_walker_begin(&walker, m);
    for (size_t k = 0; k < m->kernel_count; k++) {
        const uint32_t *found;
        size_t count = planner->windows[k].has_extern
                           ? reach_walk(&walker, m, m->kernels[k], REACHES_SHARED, &found)
                           : 0;

        for (size_t i = 0; i < count; i++)
            if (found[i] < m->symbol_count && m->extern_address[found[i]] == UINT64_MAX)
                m->extern_address[found[i]] = planner->windows[k].extern_address;
    }
}

static struct merged_section make_section(enum merged_class class, struct text name,
                                          uint32_t function, uint64_t alignment, uint64_t size)
{
    return (struct merged_section){
        .class = class,
        .name = name,
        .type = SHT_NOBITS,
        .flags = SHF_ALLOC | SHF_WRITE | (function == MERGE_NONE ? 0 : SHF_INFO_LINK),
        .alignment = alignment,
        .function = function,
        .target = MERGE_NONE,
        .size = size,
    };
}

static uint64_t reserved_bytes(const struct merging *m)
{
    return CUBIN_FLAGS_SM(m->cubins[0]->flags) >= 90 ? SHARED_RESERVED_SM90 : 0;
}

/* Makes room in .nv_debug.shared, the section of what belongs to no single kernel. */
static void grow_debug_shared(struct merging *m, uint64_t alignment, uint64_t size)
{
    struct merged_section *section;

    if (m->debug_shared == MERGE_NONE) {
        struct merged_section made =
            make_section(CLASS_DEBUG_SHARED, TEXT(".nv_debug.shared"), MERGE_NONE, 1, 0);

        m->debug_shared = layout_add(m, &made);
    }
    section = &m->sections[m->debug_shared];
    if (alignment > section->alignment)
        section->alignment = alignment;
    if (size > section->size)
        section->size = size;
}

static void add_section(struct merging *m, uint32_t kernel, const struct window *window)
{
    struct text name = m->symbols[kernel].name;
    struct merged_section section;

    if (window->end > SHARED_BYTES) {
        diag_error("Entry function '%.*s' uses too much shared data (%#llx bytes, %#x max)",
                   TEXT_ARG(name), (unsigned long long)window->end, SHARED_BYTES);
        m->failed = true;
    }
    name = text_of(arena_printf(&m->image->arena, ".nv.shared.%.*s", TEXT_ARG(name)));
    section = make_section(CLASS_SHARED, name, kernel, window->alignment,
                           reserved_bytes(m) + window->end);
    m->shared_of[kernel] = layout_add(m, &section);
}

/* Measured: `.extern .shared` arrays have a section for debuggers, also when only dead code names
 * them. */
static void describe_extern(struct merging *m)
{
    for (uint32_t i = 0; i < m->symbol_count; i++)
        if (m->is_shared_named[i] && m->symbols[i].file == MERGE_NONE)
            grow_debug_shared(m, EXTERN_ALIGNMENT, merging_is_mercury(m) ? reserved_bytes(m) : 0);
}

/* Under -g shared variables stay symbols: in their kernel's section, or in .nv_debug.shared when
 * several kernels reach them. Values count the reserve; those of `.extern` arrays only if there are
 * variables of several kernels (measured). */
static void name_variable(struct planner *planner, uint32_t variable)
{
    struct merging *m = planner->m;
    struct merged_symbol *symbol = &m->symbols[variable];
    const struct merged_lists *users = &planner->kernels_of;
    uint32_t kernel = m->kernels[users->items[users->first[variable]]];
    uint64_t reserve = reserved_bytes(m);
    uint64_t alignment = symbol->value;

    symbol->value = m->shared_address[variable];
    if (symbol->file == MERGE_NONE) {
        grow_debug_shared(m, EXTERN_ALIGNMENT,
                          reserve + (symbol->size ? symbol->value + symbol->size : 0));
        symbol->value += planner->has_common ? reserve : 0;
    } else if (lists_count(users, variable) > 1) {
        grow_debug_shared(m, alignment, reserve + symbol->value + symbol->size);
        symbol->value += reserve;
    } else {
        symbol->value += reserve;
        symbol->section = m->shared_of[kernel];
        return;
    }
    symbol->section = m->debug_shared;
}

/* `.extern` arrays lie, for debuggers, where the last kernel that sees them has them. */
static void finish_variables(struct planner *planner)
{
    struct merging *m = planner->m;
    const struct merged_lists *users = &planner->kernels_of;

    for (uint32_t i = 0; i < m->symbol_count; i++) {
        if (!merged_is_data(&m->symbols[i], STO_CUDA_SHARED) || lists_count(users, i) == 0)
            continue;
        if (m->symbols[i].file == MERGE_NONE)
            m->shared_address[i] =
                planner->windows[users->items[users->first[i + 1] - 1]].extern_address;
        if (m->request->debug)
            name_variable(planner, i);
    }
}

/* Kernels that come with a section of shared memory keep one, also an empty one. */
static void mark_given_sections(struct planner *planner)
{
    struct merging *m = planner->m;
    uint32_t *number = arena_alloc(&m->arena, m->symbol_count, sizeof *number);

    for (uint32_t k = 0; k < m->kernel_count; k++)
        number[m->kernels[k]] = k;
    for (size_t file = 0; file < m->count; file++)
        for (size_t i = 1; i < m->cubins[file]->section_count; i++) {
            uint32_t owner = merging_owner(m, file, i);

            if (m->cubins[file]->sections[i].type != SHT_CUDA_SHARED || owner == MERGE_NONE ||
                !merging_keeps(m, file, i) || !merged_is_kernel(&m->symbols[owner]))
                continue;
            planner->windows[number[owner]].has_variables = m->is_shared_given[owner] = true;
        }
}

bool shared_layout(struct merging *m)
{
    struct planner planner = {.m = m};

    m->shared_of = arena_alloc(&m->arena, m->symbol_count, sizeof(uint32_t));
    memset(m->shared_of, 0xff, m->symbol_count * sizeof(uint32_t)); /* MERGE_NONE */
    m->shared_address = arena_zalloc(&m->arena, m->symbol_count, sizeof(uint64_t));
    m->extern_address = arena_alloc(&m->arena, m->symbol_count, sizeof(uint64_t));
    memset(m->extern_address, 0xff, m->symbol_count * sizeof(uint64_t));
    m->is_shared_given = arena_zalloc(&m->arena, m->symbol_count, sizeof(bool));
    m->debug_shared = MERGE_NONE;
    if (m->request->relocatable)
        return true;
    planner.windows = arena_zalloc(&m->arena, m->kernel_count, sizeof *planner.windows);
    find_users(&planner);
    sort_variables(&planner);
    align_common(&planner);
    place_variables(&planner);
    place_extern(&planner);
    tell_functions(&planner);
    mark_given_sections(&planner);
    for (size_t k = 0; k < m->kernel_count; k++)
        if (planner.windows[k].has_variables || planner.windows[k].has_extern)
            add_section(m, m->kernels[k], &planner.windows[k]);
    describe_extern(m);
    finish_variables(&planner);
    return !m->failed;
}
