/* shared.c: shared memory.
 *
 * A shared variable has no address before the link: its st_value is its alignment. A kernel's
 * window holds the variables of its own function and of every function that it can reach;
 * shared_place.c gives them their places. On some targets the first bytes are the driver's: they
 * count in the section's size, not in addresses. All rules were measured on nvlink. */
#include "merge/internal.h"

#include "diag/diag.h"
#include "merge/shared_place.h"

#define MOST_SHARED 0xc000u

/* Whether there are `.extern .shared` arrays, used or not. Raises *alignment to the strictest that
 * their symbols say. */
static bool declares_extern(const struct merging *m, uint64_t *alignment)
{
    bool found = false;

    for (uint32_t i = 0; i < m->symbol_count; i++) {
        const struct merged_symbol *symbol = &m->symbols[i];

        if (symbol->file != MERGE_NONE || (symbol->other & STO_CUDA_SPACE) != STO_CUDA_SHARED)
            continue;
        found = true;
        RAISE(*alignment, symbol->value);
    }
    return found;
}

/* Measured: if a variable is common to several kernels, or named only by dead code, every kernel's
 * shared memory is aligned for the sections of all variables outside kernels, and for all `.extern
 * .shared` arrays whose symbols have an alignment. If there are such arrays, used or not, and all
 * these are aligned as the arrays are, every kernel has shared memory; if stricter, on some targets
 * alone, and the arrays have no .nv_debug.shared. */
static void align_common(struct shared_planner *planner)
{
    const struct merging *m = planner->m;
    uint64_t strictest = 1;
    bool has_extern, needs_memory;

    for (uint32_t i = 0; i < m->symbol_count && !planner->has_common; i++)
        planner->has_common = shared_is_common(planner, i);
    if (!planner->has_common)
        return;
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_SHARED);) {
        const struct cubin_section *section = at.section;

        if (merging_owner(m, at.file, at.index) == MERGE_NONE && section->alignment > strictest)
            strictest = section->alignment;
    }
    has_extern = declares_extern(m, &strictest);
    needs_memory = has_extern && (strictest == SHARED_EXTERN_ALIGNMENT ||
                                  (strictest > SHARED_EXTERN_ALIGNMENT &&
                                   targets_have(m->request->arch.sm, TARGET_ALIGNS_FOR_EXTERNS)));
    planner->is_strict = strictest > SHARED_EXTERN_ALIGNMENT;
    for (size_t k = 0; k < m->out->kernel_count; k++) {
        RAISE(planner->windows[k].alignment, strictest);
        planner->windows[k].has_variables |= needs_memory;
    }
}

/* Makes room in .nv_debug.shared, the section of variables that belong to no single kernel. */
static void grow_debug_shared(struct merging *m, uint64_t alignment, uint64_t size)
{
    struct merged_section *section;

    if (m->out->shared.debug_section == MERGE_NONE)
        m->out->shared.debug_section = layout_make(m, CLASS_DEBUG_SHARED, MERGE_NONE);
    section = &m->out->sections[m->out->shared.debug_section];
    RAISE(section->alignment, alignment);
    RAISE(section->size, size);
}

/* Measured on nvlink 13.0 to 13.5: dynamic arrays alone have an empty section only while they need
 * no more than the usual alignment; on sm_90 always, as the driver's bytes count there. */
static bool has_section(const struct merging *m, uint32_t kernel,
                        const struct shared_window *window)
{
    bool needs_reserved = shared_reserved_bytes(m) > 0 && !merging_is_mercury(m);

    return window->has_variables || m->out->shared.is_given[kernel] ||
           (window->extern_alignment && (window->end > 0 || needs_reserved ||
                                         window->extern_alignment == SHARED_EXTERN_ALIGNMENT));
}

static void add_kernel_window(struct merging *m, uint32_t kernel,
                              const struct shared_window *window)
{
    /* Most static shared memory of a kernel. Measured: the link's target counts, not the code's. */
    uint32_t most = m->request->arch.suffix == 'a' || m->request->has_extended_shared
                        ? targets_find(m->request->arch.sm)->most_shared
                        : MOST_SHARED;
    uint32_t added;

    if (window->end > most)
        MERGING_REFUSAL(m, "Entry function '%.*s' uses too much shared data (%#llx bytes, %#x max)",
                        TEXT_ARG(m->symbols[kernel].name), (unsigned long long)window->end, most);
    m->out->shared.section_of[kernel] = added = layout_make(m, CLASS_SHARED, kernel);
    m->out->sections[added].alignment = window->alignment;
    m->out->sections[added].size = shared_reserved_bytes(m) + window->end;
}

/* Under -g shared variables stay symbols: in their kernel's section, or in .nv_debug.shared when
 * several kernels reach them. Values include the driver's bytes; those of `.extern` arrays only if
 * there are variables of several kernels (measured). */
static void name_variable(struct shared_planner *planner, uint32_t variable)
{
    struct merging *m = planner->m;
    const struct merged_symbol *symbol = &m->symbols[variable];
    struct placed_symbol *placed = &m->out->placed[variable];
    uint64_t reserve = shared_reserved_bytes(m);
    uint64_t alignment = symbol->value;
    size_t count;
    const uint32_t *kernels = shared_users(planner, variable, &count);

    placed->value = m->out->shared.address[variable];
    if (!m->request->debug)
        placed->other |= STV_INTERNAL; /* measured */
    if (symbol->file == MERGE_NONE && !m->request->debug) {
        /* Measured: without -g they have no address, and a symbol only beside others. */
        grow_debug_shared(m, SHARED_EXTERN_ALIGNMENT, reserve);
        placed->value = reserve - 1;
        if (!planner->has_common || reserve == 0 || merging_is_mercury(m))
            return;
    } else if (symbol->file == MERGE_NONE) {
        grow_debug_shared(m, SHARED_EXTERN_ALIGNMENT,
                          reserve + (symbol->size ? placed->value + symbol->size : 0));
        placed->value += planner->has_common || merging_is_mercury(m) ? reserve : 0;
    } else if (count != 1) {
        grow_debug_shared(m, alignment, reserve + placed->value + symbol->size);
        placed->value += reserve;
    } else {
        placed->value += reserve;
        placed->section = m->out->shared.section_of[m->out->kernels[kernels[0]]];
        return;
    }
    placed->section = m->out->shared.debug_section;
}

/* For debuggers, `.extern` arrays have the address in the last kernel that sees them. */
static void finish_variables(struct shared_planner *planner)
{
    struct merging *m = planner->m;

    for (uint32_t i = 0; i < m->symbol_count; i++) {
        const uint32_t *kernels;
        size_t count;

        if (!merged_is_data(&m->symbols[i], STO_CUDA_SHARED))
            continue;
        kernels = shared_users(planner, i, &count);
        if (count == 0 && m->symbols[i].file != MERGE_NONE && !shared_is_common(planner, i))
            continue;
        if (m->symbols[i].file == MERGE_NONE && count > 0)
            m->out->shared.address[i] = planner->windows[kernels[count - 1]].extern_address;
        if (merging_keeps_all(m))
            name_variable(planner, i);
    }
}

/* By section, as merging_place(): whether a variable's symbol is in it. */
static bool *find_named_sections(struct merging *m)
{
    bool *is_named = arena_zalloc(&m->arena, m->section_base[m->count], sizeof *is_named);

    for (size_t file = 0; file < m->count; file++)
        for (size_t i = 1; i < m->cubins[file]->symbol_count; i++) {
            const struct cubin_symbol *symbol = &m->cubins[file]->symbols[i];

            if (symbol->type == STT_CUDA_OBJECT &&
                cubin_has_section(m->cubins[file], symbol->section))
                is_named[m->section_base[file] + symbol->section] = true;
        }
    return is_named;
}

/* Kernels with a section of shared memory in the input keep it, even if it is empty. Kernels of
 * ptxas -ewp have their variables at the window's begin, without symbols. So they have behind
 * nvlink -r, after which nvlink (13.0, 13.5) loses them. Dynamic arrays have symbols, and nvlink -r
 * may leave bytes for their alignment. */
static void keep_given(struct shared_planner *planner)
{
    struct merging *m = planner->m;
    const bool *is_named = NULL;

    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_SHARED);) {
        uint32_t owner = merging_owner(m, at.file, at.index);
        struct shared_window *window;

        if (owner == MERGE_NONE || !merging_keeps(m, at.file, at.index) ||
            !merged_is_kernel(&m->symbols[owner]))
            continue;
        window = &planner->windows[planner->number_of[owner]];
        m->out->shared.is_given[owner] = true;
        if (at.section->size == 0 || window->extern_alignment)
            continue;
        if (!is_named)
            is_named = find_named_sections(m);
        if (is_named[m->section_base[at.file] + at.index])
            continue;
        if (window->has_variables)
            MERGING_ERROR(m,
                          "'%.*s' of '%s': the shared memory of functions that the kernel calls "
                          "cannot be placed beside its own, which ptxas -ewp placed",
                          TEXT_ARG(at.section->name), m->cubins[at.file]->name);
        window->end = at.section->size;
        RAISE(window->alignment, at.section->alignment);
    }
}

bool shared_layout(struct merging *m)
{
    struct shared_planner planner = {.m = m};

    m->out->shared.section_of = merging_none(m, m->symbol_count);
    m->out->shared.is_given = arena_zalloc(&m->arena, m->symbol_count, sizeof(bool));
    m->out->shared.address = arena_zalloc(&m->arena, m->symbol_count, sizeof(uint64_t));
    m->out->shared.extern_address = arena_alloc(&m->arena, m->symbol_count, sizeof(uint64_t));
    memset(m->out->shared.extern_address, 0xff, m->symbol_count * sizeof(uint64_t));
    m->out->shared.debug_section = MERGE_NONE;
    if (m->request->relocatable)
        return true;
    planner.windows = arena_zalloc(&m->arena, m->out->kernel_count, sizeof *planner.windows);
    planner.number_of = arena_alloc(&m->arena, m->symbol_count, sizeof *planner.number_of);
    for (uint32_t k = 0; k < m->out->kernel_count; k++)
        planner.number_of[m->out->kernels[k]] = k;
    shared_users_find(&planner);
    keep_given(&planner);
    align_common(&planner);
    shared_place(&planner);
    for (size_t k = 0; k < m->out->kernel_count; k++)
        if (has_section(m, m->out->kernels[k], &planner.windows[k]))
            add_kernel_window(m, m->out->kernels[k], &planner.windows[k]);
    /* Measured: `.extern .shared` arrays have a section for debuggers, named by code or not. */
    for (uint32_t i = 0; i < m->symbol_count && !planner.is_strict; i++)
        if (merged_is_data(&m->symbols[i], STO_CUDA_SHARED) && m->symbols[i].file == MERGE_NONE)
            grow_debug_shared(m, SHARED_EXTERN_ALIGNMENT,
                              merging_is_mercury(m) ? shared_reserved_bytes(m) : 0);
    finish_variables(&planner);
    return !m->failed;
}

/* Variables in the shared memory that the driver reserves, behind bytes of its own, which the twin
 * does not count (minilink-cubin(5), merge rule 6). */
#define DRIVERS_OWN 0x40u

static bool is_before(const void *context, uint32_t a, uint32_t b)
{
    const struct merged_symbol *x = (const struct merged_symbol *)context + a;
    const struct merged_symbol *y = (const struct merged_symbol *)context + b;

    return x->value != y->value ? x->value > y->value : x->size < y->size;
}

static size_t list_reserved_variables(const struct merging *m, uint32_t *variables)
{
    size_t count = 0;

    for (uint32_t i = 0; i < m->symbol_count; i++)
        if (merged_is_data(&m->symbols[i], STO_CUDA_RESERVED_SHARED) &&
            m->out->placed[i].section != MERGE_NONE &&
            m->out->sections[m->out->placed[i].section].class == CLASS_RESERVED)
            variables[count++] = i;
    return count;
}

static void set_sections(struct merging *m, uint64_t alignment, uint64_t size, uint64_t twin_size)
{
    for (size_t i = 0; i < m->out->section_count; i++) {
        struct merged_section *section = &m->out->sections[i];

        if (section->class != CLASS_RESERVED && section->class != CLASS_TWIN_RESERVED)
            continue;
        section->alignment = alignment;
        section->size = section->class == CLASS_RESERVED ? size : twin_size;
        if (section->class == CLASS_TWIN_RESERVED)
            section->data = arena_zalloc(&m->image->arena, twin_size, 1);
    }
}

bool shared_layout_reserved(struct merging *m)
{
    uint32_t *variables = arena_alloc(&m->arena, m->symbol_count, sizeof *variables);
    uint32_t *scratch = arena_alloc(&m->arena, m->symbol_count, sizeof *scratch);
    uint64_t base = m->request->relocatable ? 0 : DRIVERS_OWN;
    const uint32_t most = m->target->reserved;
    size_t count = list_reserved_variables(m, variables);
    uint64_t alignment = 1;
    uint64_t end = base;

    index_lists_sort_unstably(variables, count, scratch, is_before, m->symbols);
    for (size_t i = 0; i < count; i++) {
        const struct merged_symbol *symbol = &m->symbols[variables[i]];
        uint64_t place = image_align_up(end, symbol->value);

        RAISE(alignment, symbol->value);
        end = place + symbol->size;
        if (symbol->size > most || end > most)
            return diag_error(
                "The variables in section '.nv.shared.reserved.0', '%.*s' in '%s' among "
                "them, need more than the %#x bytes that the driver reserves",
                TEXT_ARG(symbol->name), m->cubins[symbol->file]->name, most);
        if (!m->request->relocatable)
            m->out->placed[variables[i]].value = place;
    }
    set_sections(m, alignment, end, end - base);
    return true;
}

uint64_t shared_reserved_twin_value(const struct merging *m, uint32_t variable)
{
    return m->out->placed[variable].value - (m->request->relocatable ? 0 : DRIVERS_OWN);
}
