/* mercury_relocate.c: treats the relocations in .nv.merc.rela.X.
 *
 * Their types are the plain ones in another numbering, and nvlink was measured to treat them alike:
 * addresses of code and global data are kept, offsets in constant banks are written. Offsets in
 * shared memory are in the target's instructions already, so their records are dropped. Records
 * against the end of the driver's shared memory are kept. A relocation's offset in code counts
 * bytes of the whole intermediate form (mercury_code.h). */
#include "merge/merge_steps.h"

#include <stdlib.h>

#include "base/search.h"
#include "diag/diag.h"
#include "merge/mercury_code.h"

/* An offset in a constant bank that goes into the code. */
struct mercury_fill {
    uint64_t offset; /* of the relocation, gives the order */
    uint16_t value;
    enum mercury_load load;
};

struct mercury_list {
    struct merging *m;
    size_t file;
    const struct cubin_section *input;
    const struct cubin_section *target;
    uint32_t target_index;
    struct merged_place place;
    const struct cubin_section *plain; /* relocations of the target's code, or NULL */
    size_t plain_next;
    uint32_t initialized; /* .nv.global.init, if the target is its twin */
    bool is_debug;
    struct mercury_fill *fills;
    size_t fill_count;
    size_t fill_capacity;
};

/* The list of a function's constants that were copied to a kernel is the kernel's. */
static struct text list_name(const struct mercury_list *list)
{
    const struct merged_section *target = &list->m->sections[list->place.section];

    if (text_equal(target->name, list->target->name))
        return list->input->name;
    return text_of(arena_printf(&list->m->image->arena, ".nv.merc.rela%.*s",
                                TEXT_ARG(cubin_twin_plain_name(target->name))));
}

/* The relocation at its place in the image. */
static struct merged_relocation placed(const struct mercury_list *list,
                                       const struct cubin_relocation *relocation, uint32_t type,
                                       uint32_t symbol)
{
    return (struct merged_relocation){
        .offset = list->place.offset + relocation->offset,
        .addend = relocation->addend,
        .type = type,
        .symbol = symbol,
        .section = MERGE_NONE,
    };
}

/* Adds a relocation to the list of the current section: against the symbol, or if that is
 * MERGE_NONE against the part of a section. */
static void keep(struct mercury_list *list, const struct cubin_relocation *relocation,
                 uint32_t type, uint32_t symbol, const struct merged_place *part)
{
    struct merging *m = list->m;
    uint32_t target = list->place.section;
    struct merged_relocation kept = placed(list, relocation, type, symbol);

    if (symbol == MERGE_NONE) {
        kept.section = part->section;
        kept.addend = (int64_t)(part->offset + (uint64_t)kept.addend);
    }
    kept.list = m->sections[target].lists[LIST_RELA];
    if (kept.list == MERGE_NONE) {
        kept.list = relocations_add_list(m, list_name(list), SHT_CUDA_MERC_RELA, list->input->flags,
                                         target);
        m->sections[target].lists[LIST_RELA] = kept.list;
    }
    relocations_add(m, &kept);
}

static void give_up(const struct mercury_list *list, const char *why)
{
    mercury_leave_out(list->m, list->file, why);
}

/* A type that a newer toolkit may have added is no reason to leave all twins out. */
static void refuse(const struct mercury_list *list, const struct cubin_relocation *relocation)
{
    const struct cubin *cubin = list->m->cubins[list->file];
    unsigned maker = cubin_maker(cubin);

    MERGING_ERROR(list->m,
                  "Relocation type %#x at byte %#llx of '%.*s' in '%s', which CUDA %u.%u made, is "
                  "not supported (--binary-kind=sass leaves Mercury's sections out)",
                  relocation->type, (unsigned long long)relocation->offset,
                  TEXT_ARG(list->target->name), cubin->name, maker / 10, maker % 10);
}

/* Writes a whole data field. */
static void put(struct mercury_list *list, const struct cubin_relocation *relocation, size_t size,
                uint64_t value)
{
    if (list->target->type == SHT_CUDA_CAPMERC || list->target->size < size ||
        relocation->offset > list->target->size - size) {
        give_up(list, "a relocation is misplaced");
        return;
    }
    memcpy(layout_writable(list->m, list->place.section, &list->m->image->arena) +
               list->place.offset + relocation->offset,
           &value, size);
}

static void put_plain_offset(struct mercury_list *list, const struct cubin_relocation *relocation)
{
    const struct merging *m = list->m;
    const struct cubin *cubin = m->cubins[list->file];
    uint32_t plain = cubin->symbols[relocation->symbol].section;

    if (list->is_debug && !m->request->relocatable && cubin_has_section(cubin, plain) &&
        merging_place(m, list->file, plain)->section != MERGE_NONE &&
        toolkit_does(m->request->toolkit, TOOLKIT_WRITES_PLAIN_OFFSETS_OF_LINES))
        put(list, relocation, 4,
            merging_place(m, list->file, plain)->offset + (uint64_t)relocation->addend);
}

/* A section symbol stands for the start of this cubin's part of the twin. */
static void relocate_section(struct mercury_list *list, const struct cubin_relocation *relocation)
{
    struct merging *m = list->m;
    uint32_t type = relocation->type;
    uint32_t section =
        cubin_twin_section(m->cubins[list->file], &m->twins[list->file], relocation->symbol);
    const struct merged_place *part;

    if (section >= m->cubins[list->file]->section_count) {
        give_up(list, "a relocation is against no section");
        return;
    }
    part = merging_place(m, list->file, section);
    if (part->section == MERGE_NONE)
        return;
    if (type == R_MERCURY_PROG_REL32)
        put_plain_offset(list, relocation);
    if (m->request->relocatable || type == R_MERCURY_PROG_REL32)
        keep(list, relocation, type, MERGE_NONE, part);
    else if (type == R_MERCURY_64 && section == list->target_index)
        put(list, relocation, 8, part->offset + (uint64_t)relocation->addend);
    else if (type == R_MERCURY_ABS32 && list->is_debug)
        put(list, relocation, 4, part->offset + (uint64_t)relocation->addend);
    else
        refuse(list, relocation);
}

/* Whether a debug section omits this definition of a function because it lost to another. */
static bool is_lost_function(const struct mercury_list *list, uint32_t index, uint32_t symbol)
{
    return list->m->symbols[symbol].type == STT_FUNC &&
           overridden_has(list->m, list->file, index) &&
           relocations_forget_losers(list->m, list->target->name);
}

static void relocate_debug(struct mercury_list *list, const struct cubin_relocation *relocation,
                           uint32_t symbol)
{
    struct merging *m = list->m;
    const struct merged_symbol *merged = &m->symbols[symbol];
    uint32_t index = relocation->symbol;
    bool is_dead = merged->type == STT_FUNC && !m->is_live[symbol];

    if (relocation->type == R_MERCURY_UNUSED_CLEAR64) {
        if ((is_dead && overridden_empty(m, list->file, index, symbol)) ||
            fold_has(m, list->file, index))
            put(list, relocation, 8, 0);
        return;
    }
    if (is_dead || is_lost_function(list, index, symbol))
        return;
    if (merged_is_data(merged, STO_CUDA_SHARED))
        put(list, relocation, 8, m->shared.address[symbol] + (uint64_t)relocation->addend);
    else
        keep(list, relocation, relocation->type, symbol, NULL);
}

/* The next relocation of the target's code against a constant, or NULL. Measured: both forms list
 * theirs in the same order. */
static const struct cubin_relocation *next_plain(struct mercury_list *list)
{
    const struct cubin *cubin = list->m->cubins[list->file];

    while (list->plain && list->plain_next < list->plain->relocation_count) {
        const struct cubin_relocation *plain = &list->plain->relocations[list->plain_next++];
        const struct cubin_symbol *symbol = &cubin->symbols[plain->symbol];

        if (symbol->type == STT_CUDA_OBJECT && (symbol->other & STO_CUDA_SPACE) == STO_CUDA_CONST)
            return plain;
    }
    return NULL;
}

static void fill_in(struct mercury_list *list, const struct cubin_relocation *relocation,
                    uint64_t value, enum mercury_load load)
{
    ARENA_PUSH(&list->m->arena, list->fills, list->fill_count, list->fill_capacity) =
        (struct mercury_fill){.offset = relocation->offset, .value = (uint16_t)value, .load = load};
}

/* Relocates an offset in a bank. The target's instructions have plain moves of it already. */
static void relocate_constant(struct mercury_list *list, const struct cubin_relocation *relocation,
                              uint32_t symbol)
{
    const struct placed_symbol *constant = &list->m->placed[symbol];
    const struct cubin_relocation *plain = next_plain(list);
    bool is_internal = ELF64_ST_VISIBILITY(constant->other) == STV_INTERNAL;
    enum mercury_load load = MERCURY_LOAD_OPTIMIZER;

    if (!plain || plain->symbol != relocation->symbol || constant->section == MERGE_NONE) {
        give_up(list, "a relocation against a constant has no counterpart");
        return;
    }
    if (plain->type == R_CUDA_ABS16_32 && !is_internal)
        return;
    if (plain->type == R_CUDA_CONST_FIELD22_37 && !is_internal)
        load = MERCURY_LOAD_UNIFORM;
    else if (plain->type == R_CUDA_CONST_FIELD21_38)
        load = is_internal ? MERCURY_LOAD_OPTIMIZER : MERCURY_LOAD_USER;
    else
        refuse(list, relocation);
    fill_in(list, relocation, constant->value + (uint64_t)relocation->addend, load);
}

/* Whether data has an address as it is, or one byte of it. */
static bool is_address_in_data(const struct mercury_list *list, uint32_t type)
{
    return list->target->type != SHT_CUDA_CAPMERC &&
           (type == R_MERCURY_64 || (type >= R_MERCURY_8_0 && type < R_MERCURY_8_0 + 8));
}

/* Writes the address of a constant into data, as relocate.c does into its counterpart. */
static void put_constant_address(struct mercury_list *list,
                                 const struct cubin_relocation *relocation, uint32_t symbol)
{
    uint64_t value = list->m->placed[symbol].value + (uint64_t)relocation->addend;

    if (relocation->type == R_MERCURY_64)
        put(list, relocation, 8, value);
    else
        put(list, relocation, 1, value >> 8 * (relocation->type - R_MERCURY_8_0));
}

/* The plain type for an address that might be in a unified table; 0: unknown. */
static uint32_t kept_type(uint32_t type)
{
    switch (type) {
    case R_MERCURY_G64:
    case R_MERCURY_64:
    case R_MERCURY_G32_LO:
    case R_MERCURY_G32_HI:
    case R_MERCURY_PROG_REL32:
    case R_MERCURY_FUNC_DESC_64:
    case R_MERCURY_FUNC32_LO:
    case R_MERCURY_FUNC32_HI:
    case R_MERCURY_FUNC64:
    case R_MERCURY_8_0 ... R_MERCURY_8_0 + 7:
    case R_MERCURY_G8_0 ... R_MERCURY_G8_0 + 7:
        return type;
    case R_MERCURY_UNIFIED:
        return R_MERCURY_64;
    case R_MERCURY_UNIFIED32_LO:
        return R_MERCURY_G32_LO;
    case R_MERCURY_UNIFIED32_HI:
        return R_MERCURY_G32_HI;
    default:
        return 0;
    }
}

static void relocate_one(struct mercury_list *list, const struct cubin_relocation *relocation)
{
    struct merging *m = list->m;
    uint32_t type = relocation->type;
    uint32_t symbol = merging_symbol(m, list->file, relocation->symbol);
    const struct merged_symbol *merged;

    if (symbol == MERGE_NONE) {
        relocate_section(list, relocation);
        return;
    }
    symbol = merging_canonical(m, symbol);
    merged = &m->symbols[symbol];
    if (m->request->relocatable) { /* every relocation is left to the last link, as in relocate.c */
        if (!is_lost_function(list, relocation->symbol, symbol))
            keep(list, relocation, type, symbol, NULL);
    } else if (list->is_debug) {
        relocate_debug(list, relocation, symbol);
    } else if ((merged->type == STT_FUNC && !m->is_live[symbol]) ||
               resolve_is_unified_table(merged->name) ||
               (list->initialized &&
                overridden_forget(m, list->file, list->initialized, relocation->offset))) {
        return; /* as in relocate.c: a twin of data holds the same bytes */
    } else if (resolve_is_reserved(merged->name) ||
               merged_is_data(merged, STO_CUDA_RESERVED_SHARED)) {
        keep(list, relocation, type, symbol, NULL);
    } else if (merged_is_data(merged, STO_CUDA_SHARED) && type == R_MERCURY_ABS32) {
        const struct merged_relocation resolved = placed(list, relocation, type, symbol);

        relocations_add_resolved(m, list->place.section, &resolved);
    } else if (merged_is_data(merged, STO_CUDA_CONST) && is_address_in_data(list, type)) {
        put_constant_address(list, relocation, symbol);
    } else if (merged_is_data(merged, STO_CUDA_CONST) && list->target->type == SHT_CUDA_CAPMERC) {
        relocate_constant(list, relocation, symbol);
    } else if (format_is_reference(merged->type) && list->target->type == SHT_CUDA_CAPMERC) {
        fill_in(list, relocation, m->textures.offset[symbol] - m->textures.base,
                MERCURY_LOAD_REFERENCE);
    } else if (kept_type(type)) {
        keep(list, relocation, kept_type(type), symbol, NULL);
    } else {
        refuse(list, relocation);
    }
}

static int compare_fills(const void *a, const void *b)
{
    const struct mercury_fill *x = a, *y = b;

    return COMPARE(x->load, y->load) ?: COMPARE(x->offset, y->offset);
}

static void fill_loads(struct mercury_list *list)
{
    struct merging *m = list->m;
    uint16_t *values = arena_alloc(&m->arena, list->fill_count, sizeof *values);
    uint64_t size = m->sections[list->place.section].size;
    uint8_t *code = layout_writable(m, list->place.section, &m->image->arena);

    qsort(list->fills, list->fill_count, sizeof *list->fills, compare_fills);
    for (size_t i = 0; i < list->fill_count;) {
        size_t first = i;

        for (; i < list->fill_count && list->fills[i].load == list->fills[first].load; i++)
            values[i] = list->fills[i].value;
        if (!mercury_code_patch(code, size, list->fills[first].load, values + first, i - first)) {
            give_up(list, "a load from a constant bank is not found in them");
            return;
        }
    }
}

/* Relocates one list for one of the places of its target. */
static void relocate_list(struct mercury_list *list, struct merged_place place)
{
    const struct cubin *cubin = list->m->cubins[list->file];
    size_t count = cubin_twin_relocation_count(list->input);

    list->place = place;
    list->is_debug = list->m->sections[place.section].class == CLASS_TWIN_DEBUG;
    for (size_t i = 0; list->m->has_twins && i < count; i++) {
        const struct cubin_relocation relocation = cubin_twin_relocation(cubin, list->input, i);

        if (relocation.symbol == 0)
            give_up(list, "a relocation is against no symbol");
        else if (relocations_is_constants_size(&cubin->symbols[relocation.symbol]) &&
                 !list->m->request->relocatable)
            continue; /* as in the target's instructions */
        else
            relocate_one(list, &relocation);
    }
    if (list->m->has_twins && list->fill_count > 0) {
        if (list->target->type == SHT_CUDA_CAPMERC)
            fill_loads(list);
        else
            give_up(list, "a relocation is misplaced");
    }
}

/* By section of the cubin: the RELA section that relocates it, or 0. */
static uint32_t *find_lists(struct merging *m, size_t file)
{
    const struct cubin *cubin = m->cubins[file];
    uint32_t *lists = arena_zalloc(&m->arena, cubin->section_count, sizeof *lists);

    for (uint32_t i = 1; i < cubin->section_count; i++)
        if (cubin->sections[i].type == SHT_RELA)
            lists[cubin->sections[i].info] = i;
    return lists;
}

/* Relocates constants that moved into kernels' banks, in each of them. */
static void relocate_copies(struct mercury_list *list, uint32_t plain)
{
    const struct merging *m = list->m;
    size_t i = plain == MERGE_NONE ? m->constant_count : m->sections[plain].copies;

    for (; m->has_twins && i < m->constant_count && m->constants[i].from == plain; i++)
        relocate_list(list, (struct merged_place){m->sections[m->constants[i].to].twin,
                                                  m->constants[i].offset});
}

static void relocate_section_of(struct merging *m, const uint32_t *lists, size_t file, size_t index)
{
    const struct cubin *cubin = m->cubins[file];
    const struct cubin_section *input = &cubin->sections[index];
    struct mercury_list list = {.m = m, .file = file, .input = input, .target_index = input->info};
    struct merged_place place;

    if (input->size == 0 || !merging_keeps(m, file, input->info))
        return;
    list.target = &cubin->sections[input->info];
    place = m->layout.places[m->section_base[file] + input->info];
    if (place.section == MERGE_NONE)
        return;
    if (list.target->type == SHT_CUDA_CAPMERC)
        list.plain = &cubin->sections[lists[cubin->symbols[list.target->info].section]];
    if (m->sections[place.section].class == CLASS_TWIN_GLOBAL_INIT)
        list.initialized = cubin_section_find(cubin, cubin_twin_plain_name(list.target->name));
    if (m->sections[place.section].class != CLASS_COUNT)
        relocate_list(&list, place);
    else
        relocate_copies(&list, m->sections[place.section].target);
}

void mercury_relocate(struct merging *m)
{
    for (size_t file = 0; m->has_twins && file < m->count; file++) {
        const uint32_t *lists = find_lists(m, file);

        for (size_t i = 1; m->has_twins && i < m->cubins[file]->section_count; i++)
            if (m->cubins[file]->sections[i].type == SHT_CUDA_MERC_RELA)
                relocate_section_of(m, lists, file, i);
    }
}

static bool has_list(const struct merged_section *section)
{
    return section->lists[LIST_REL] != MERGE_NONE || section->lists[LIST_RELA] != MERGE_NONE;
}

void mercury_add_lists(struct merging *m)
{
    size_t count = m->section_count;

    for (uint32_t i = 0; m->has_twins && i < count; i++) {
        const struct merged_section *section = &m->sections[i];

        if (section->twin != MERGE_NONE && has_list(&m->sections[section->twin]) &&
            !has_list(section))
            relocations_add_list(
                m, text_of(arena_printf(&m->image->arena, ".rela%.*s", TEXT_ARG(section->name))),
                SHT_RELA, SHF_INFO_LINK, i);
    }
}
