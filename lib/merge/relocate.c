/* relocate.c: resolves, keeps or drops each relocation.
 *
 * The link decides where shared variables and constants lie, so it writes their offsets into the
 * instructions. Addresses of code and of global data are only known when the driver loads the
 * image: these relocations are kept, and their fields are not changed. Texture references
 * (texture.c) are replaced by the offsets of words in constant bank 0. Lists are written with the
 * relocation read last in front. Relocations of debug sections against removed functions are
 * dropped. Fields and rules were measured on nvlink; any other type is refused.
 *
 * Groups of files are processed in parallel, since a cubin's relocations only change its own
 * fields. Kept relocations are added to lists, in order, when all groups are done. */
#include "merge/merge_steps.h"

#include <stdlib.h>

#include "base/context.h"
#include "base/memory.h"
#include "diag/diag.h"
#include "merge/relocation_rule.h"

/* State of a relocation found by a part, stored in `list` until it is in one. */
enum { FOUND_KEPT, FOUND_RESOLVED };

/* An input's relocation section, some of whose relocations are kept or listed as resolved. */
struct found_list {
    uint32_t file;
    uint32_t index; /* of the section */
    size_t end;     /* in the part's `found`: past its last */
};

/* The relocations of some files. */
struct part {
    struct arena contents; /* of sections with changed fields */
    struct merged_relocation *found;
    size_t count;
    size_t capacity;
    struct found_list *lists;
    size_t list_count;
    size_t list_capacity;
    bool failed;
};

struct relocating {
    struct merging *m;
    struct part parts[SPREAD_MOST];
};

/* The relocation section being processed. */
struct list {
    struct merging *m;
    struct part *part;
    size_t file;
    const struct cubin_section *input;  /* the list */
    const struct cubin_section *target; /* the section that it applies to */
    uint32_t target_index;
    struct merged_place place; /* where the target went */
    bool has_addends;          /* RELA; else addends are in the fields */
    bool is_debug;
};

/* Reports why a relocation is refused; always false. */
static bool refuse(struct list *list, const struct cubin_relocation *relocation, const char *why)
{
    const struct cubin *cubin = list->m->cubins[list->file];
    const char *name = format_relocation_name(relocation->type);

    diag_error("%s relocation type %#x (%s) against '%.*s' in section '%.*s' of '%s'", why,
               relocation->type, name ? name : "unknown",
               TEXT_ARG(cubin->symbols[relocation->symbol].name), TEXT_ARG(list->target->name),
               cubin->name);
    list->part->failed = true;
    return false;
}

static uint64_t load(const uint8_t *at, unsigned size)
{
    uint64_t value = 0;

    memcpy(&value, at, size);
    return value;
}

static bool keep(struct list *list, const struct cubin_relocation *relocation, uint32_t type,
                 uint32_t symbol, uint32_t section, int64_t addend)
{
    struct part *part = list->part;

    ARRAY_PUSH(part->found, part->count, part->capacity) = (struct merged_relocation){
        .offset = list->place.offset + relocation->offset,
        .addend = addend,
        .type = type,
        .list = FOUND_KEPT,
        .symbol = symbol,
        .section = section,
    };
    return true;
}

/* Notes a resolved relocation, if these are listed. */
static void preserve(struct list *list, const struct cubin_relocation *relocation, uint32_t symbol,
                     uint32_t section, int64_t addend)
{
    struct part *part = list->part;

    if (!list->m->request->preserve_relocations)
        return;
    keep(list, relocation, relocation->type, symbol, section, addend);
    part->found[part->count - 1].list = FOUND_RESOLVED;
}

static uint8_t *field_bytes(struct list *list, const struct cubin_relocation *relocation)
{
    return layout_writable(list->m, list->place.section, &list->part->contents) +
           list->place.offset + relocation->offset;
}

/* Replaces `width` bits from bit `first` of the instruction at `at`. All fields are in its first
 * half. */
static void put_bits(uint8_t *at, unsigned first, unsigned width, uint64_t value)
{
    uint64_t mask = ((UINT64_C(1) << width) - 1) << first;
    uint64_t bits = (load(at, 8) & ~mask) | (value << first & mask);

    memcpy(at, &bits, 8);
}

static bool put_field(struct list *list, const struct cubin_relocation *relocation, uint64_t value,
                      uint32_t bank)
{
    const struct relocation_rule *field = relocation_rule(relocation->type);
    uint8_t *at;

    if (list->target->size < 16 || relocation->offset > list->target->size - 16)
        return refuse(list, relocation, "Misplaced");
    at = field_bytes(list, relocation);
    value = (value + (uint64_t)relocation->addend) >> field->shift;
    if (!list->has_addends)
        value += load(at, 8) >> field->first & ((UINT64_C(1) << field->width) - 1);
    put_bits(at, field->first, field->width, value);
    if (field->bank)
        put_bits(at, field->bank, RELOCATION_BANK_WIDTH, bank);
    return true;
}

static bool resolve_shared(struct list *list, const struct cubin_relocation *relocation,
                           uint32_t symbol)
{
    const struct merging *m = list->m;
    uint32_t function = merging_owner(m, list->file, list->target_index);
    uint64_t value = m->shared.address[symbol];

    if (!(relocation_rule(relocation->type)->uses & FIELD_OF_SHARED))
        return refuse(list, relocation, "Cannot resolve");
    if (m->symbols[symbol].file == MERGE_NONE) {
        /* If no kernel reaches the function, all bits are set, or none under -g (measured). */
        value = function == MERGE_NONE ? UINT64_MAX : m->shared.extern_address[function];
        if (value == UINT64_MAX && m->request->debug)
            value = 0;
    }
    preserve(list, relocation, symbol, MERGE_NONE, relocation->addend);
    return put_field(list, relocation, value, 0);
}

/* Resolves an address in the driver's shared memory, or an offset in a constant bank. */
static bool resolve_placed(struct list *list, const struct cubin_relocation *relocation,
                           uint32_t symbol, enum field_use use)
{
    const struct merging *m = list->m;
    const struct placed_symbol *placed = &m->placed[symbol];

    if (!(relocation_rule(relocation->type)->uses & use) || placed->section == MERGE_NONE)
        return refuse(list, relocation, "Cannot resolve");
    preserve(list, relocation, symbol, MERGE_NONE, relocation->addend);
    return put_field(list, relocation, placed->value, m->sections[placed->section].bank);
}

/* Writes base + addend, or what is left of it from byte `first` on, into `size` bytes of data. */
static bool put_bytes(struct list *list, const struct cubin_relocation *relocation, uint64_t base,
                      unsigned size, unsigned first)
{
    uint8_t *at = field_bytes(list, relocation);
    uint64_t value = base + (list->has_addends ? (uint64_t)relocation->addend : load(at, size));

    value >>= 8 * first;
    memcpy(at, &value, size);
    return true;
}

/* Writes base + addend into a whole data field. */
static bool put_value(struct list *list, const struct cubin_relocation *relocation, uint64_t base)
{
    return put_bytes(list, relocation, base, relocation_rule(relocation->type)->size, 0);
}

/* Whether data has an address as it is, or one byte of it. */
static bool is_address_in_data(uint32_t type)
{
    return type == R_CUDA_64 || (type >= R_CUDA_8_0 && type < R_CUDA_8_0 + 8);
}

/* Writes the address of a constant, which is its offset, into data. */
static bool put_constant_address(struct list *list, const struct cubin_relocation *relocation,
                                 uint32_t symbol)
{
    const struct placed_symbol *placed = &list->m->placed[symbol];
    bool is_whole = relocation->type == R_CUDA_64;
    unsigned size = is_whole ? 8 : 1;

    if (placed->section == MERGE_NONE)
        return refuse(list, relocation, "Cannot resolve");
    if (list->target->size < size || relocation->offset > list->target->size - size)
        return refuse(list, relocation, "Misplaced");
    preserve(list, relocation, symbol, MERGE_NONE, relocation->addend);
    return put_bytes(list, relocation, placed->value, size,
                     is_whole ? 0 : relocation->type - R_CUDA_8_0);
}

/* A section symbol means the place where this cubin's part of the section begins. */
static bool relocate_section(struct list *list, const struct cubin_relocation *relocation)
{
    struct merging *m = list->m;
    const struct relocation_rule *rule = relocation_rule(relocation->type);
    const struct cubin_symbol *input = &m->cubins[list->file]->symbols[relocation->symbol];
    const struct merged_place *part = merging_place(m, list->file, input->section);
    bool is_own = input->section == list->target_index;
    bool is_debug_offset = relocation->type == R_CUDA_32 && list->is_debug;

    if (part->section == MERGE_NONE)
        return list->is_debug || refuse(list, relocation, "Cannot resolve");
    if (rule->action != RELOCATION_KEPT || rule->plain)
        return refuse(list, relocation, "Cannot resolve");
    if (!m->request->relocatable &&
        ((is_own && relocation->type == R_CUDA_64) || is_debug_offset)) {
        preserve(list, relocation, MERGE_NONE, part->section,
                 relocation->addend + (int64_t)part->offset);
        return put_value(list, relocation, part->offset);
    }
    if (!list->has_addends && part->offset != 0) {
        if (!rule->size)
            return refuse(list, relocation, "Cannot move");
        put_value(list, relocation, part->offset);
    }
    return keep(list, relocation, relocation->type, MERGE_NONE, part->section,
                relocation->addend + (list->has_addends ? (int64_t)part->offset : 0));
}

/* Measured: the frame of a function that a later cubin's replaced is dropped too if its code had
 * relocations, but never up to sm_80, where the addresses of frames have no addends. */
static bool is_replaced_frame(const struct list *list, const struct cubin_relocation *relocation,
                              uint32_t symbol)
{
    const struct merging *m = list->m;

    return !m->request->relocatable && list->has_addends &&
           overridden_replaced(m, list->file, relocation->symbol, symbol) &&
           overridden_had_relocations(m, list->file, relocation->symbol);
}

/* Debug information about functions: ranges of dead functions are emptied. A copy that lost to an
 * earlier cubin's is no longer described; one that was replaced by a later cubin's is. */
static bool relocate_debug(struct list *list, const struct cubin_relocation *relocation,
                           uint32_t symbol)
{
    struct merging *m = list->m;
    const struct merged_symbol *merged = &m->symbols[symbol];
    bool is_function = merged->type == STT_FUNC;
    bool is_dead = is_function && !m->is_live[symbol];
    const struct relocation_rule *rule = relocation_rule(relocation->type);

    if (rule->action == RELOCATION_CLEARED && !m->request->relocatable) {
        if ((is_dead && overridden_empty(m, list->file, relocation->symbol, symbol)) ||
            fold_has(m, list->file, relocation->symbol))
            memset(field_bytes(list, relocation), 0, rule->size);
        return true;
    }
    if (is_dead || (is_function && relocations_forget_losers(list->m, list->target->name) &&
                    (overridden_has(m, list->file, relocation->symbol) ||
                     is_replaced_frame(list, relocation, symbol))))
        return true;
    if (merged_is_data(merged, STO_CUDA_SHARED) && !m->request->relocatable) {
        if (rule->action != RELOCATION_KEPT || !rule->size)
            return refuse(list, relocation, "Cannot resolve");
        preserve(list, relocation, symbol, MERGE_NONE, relocation->addend);
        return put_value(list, relocation, m->shared.address[symbol]);
    }
    if (rule->action != RELOCATION_CLEARED && rule->action != RELOCATION_KEPT)
        return refuse(list, relocation, "Cannot resolve");
    return keep(list, relocation, relocation->type, symbol, MERGE_NONE, relocation->addend);
}

/* The size of the program's constants; measured: without any all bits are set. With -r it is not
 * final: nvlink writes it all the same, or all bits, and then loses relocations (measured). */
static bool put_constants_size(struct list *list, const struct cubin_relocation *relocation)
{
    const struct merging *m = list->m;
    uint32_t section = table_find(&m->section_names, TEXT(".nv.constant3"));

    if (!(relocation_rule(relocation->type)->uses & FIELD_OF_SHARED))
        return refuse(list, relocation, "Cannot resolve");
    return put_field(list, relocation,
                     section == TABLE_NONE ? UINT64_MAX : m->sections[section].size, 0);
}

/* A label that only debug information names (nvcc -G), whose code ptxas removed: seen in what
 * ptxas 13.5 writes for sm_120. nvlink 13.5 leaves the field as it is, and the symbol out. */
static bool is_lost_label(const struct cubin_symbol *symbol)
{
    return symbol->section == SHN_UNDEF && symbol->type == STT_NOTYPE &&
           symbol->binding == STB_LOCAL;
}

static bool relocate_one(struct list *list, const struct cubin_relocation *relocation)
{
    struct merging *m = list->m;
    const struct cubin_symbol *input = &m->cubins[list->file]->symbols[relocation->symbol];
    uint32_t symbol = merging_symbol(m, list->file, relocation->symbol);
    const struct relocation_rule *rule = relocation_rule(relocation->type);
    const struct merged_symbol *merged;

    if (rule->action == RELOCATION_IGNORED)
        return true;
    if (symbol == MERGE_NONE && cubin_names_section(m->cubins[list->file], input))
        return relocate_section(list, relocation);
    if (relocations_is_constants_size(input) && !m->request->relocatable)
        return put_constants_size(list, relocation);
    if (symbol == MERGE_NONE)
        return (list->is_debug && is_lost_label(input)) ||
               refuse(list, relocation, "Cannot resolve");
    symbol = merging_canonical(m, symbol);
    if (list->is_debug)
        return relocate_debug(list, relocation, symbol);
    if (m->request->relocatable)
        return keep(list, relocation, relocation->type, symbol, MERGE_NONE, relocation->addend);
    merged = &m->symbols[symbol];
    /* A function that nothing calls is kept without its callees. */
    if ((merged->type == STT_FUNC && !m->is_live[symbol]) || rule->action == RELOCATION_CLEARED ||
        resolve_is_unified_table(merged->name))
        return true;
    if (merged_is_data(merged, STO_CUDA_SHARED))
        return resolve_shared(list, relocation, symbol);
    if (merged_is_data(merged, STO_CUDA_RESERVED_SHARED))
        return resolve_placed(list, relocation, symbol, FIELD_OF_SHARED);
    if ((rule->uses & FIELD_OF_CONSTANT) && merged_is_data(merged, STO_CUDA_CONST))
        return resolve_placed(list, relocation, symbol, FIELD_OF_CONSTANT);
    if (is_address_in_data(relocation->type) && merged_is_data(merged, STO_CUDA_CONST))
        return put_constant_address(list, relocation, symbol);
    if ((rule->uses & FIELD_OF_TEXTURE) && format_is_reference(merged->type))
        return put_field(list, relocation, m->textures.offset[symbol], 0);
    if (rule->action != RELOCATION_KEPT && !resolve_is_descriptor_size(merged->name))
        return refuse(list, relocation, "Cannot resolve");
    return keep(list, relocation, relocation_plain(relocation->type), symbol, MERGE_NONE,
                relocation->addend);
}

static void relocate_list(struct merging *m, struct part *part, size_t file, size_t index)
{
    const struct cubin *cubin = m->cubins[file];
    const struct cubin_section *input = &cubin->sections[index];
    struct list list = {
        .m = m, .part = part, .file = file, .input = input, .target_index = input->info};
    size_t before = part->count;

    if (input->relocation_count == 0 || !merging_keeps(m, file, input->info))
        return;
    list.target = &cubin->sections[input->info];
    list.place = m->layout.places[m->section_base[file] + input->info];
    if (list.place.section == MERGE_NONE)
        return;
    /* Mercury's twins have lists of their own kind. */
    if (m->sections[list.place.section].class >= CLASS_TWIN_TEXT) {
        refuse(&list, &input->relocations[0], "Misplaced");
        return;
    }
    list.has_addends = input->type == SHT_RELA;
    list.is_debug = m->sections[list.place.section].class == CLASS_DEBUG;
    for (size_t i = 0; i < input->relocation_count; i++)
        if (!overridden_forget(m, file, input->info, input->relocations[i].offset))
            relocate_one(&list, &input->relocations[i]);
    if (part->count > before)
        ARRAY_PUSH(part->lists, part->list_count, part->list_capacity) =
            (struct found_list){(uint32_t)file, (uint32_t)index, part->count};
}

static void relocate_files(void *argument, size_t number, size_t first, size_t last)
{
    struct relocating *relocating = argument;
    struct merging *m = relocating->m;
    struct part *part = &relocating->parts[number];
    size_t count = 0;

    for (size_t file = first; file < last; file++)
        count += m->cubins[file]->relocation_count;
    ARRAY_RESERVE(part->found, part->capacity, count);
    for (size_t file = first; file < last; file++)
        for (size_t i = 1; i < m->cubins[file]->section_count; i++)
            if (merging_is(m, file, i, INPUT_RELOCATIONS))
                relocate_list(m, part, file, i);
}

/* State while the output's lists are made. */
struct joining {
    struct merging *m;
    size_t file;   /* the words of kernels in earlier files have been relocated: */
    size_t kernel; /* their number */
};

static void join_words(struct joining *joining, size_t end)
{
    for (; joining->file < end; joining->file++)
        texture_relocate(joining->m, joining->file, &joining->kernel);
}

/* Adds the relocations that the part found in a list, from `first` on, to the output's list. */
static void join_list(struct joining *joining, const struct part *part,
                      const struct found_list *list, size_t first)
{
    struct merging *m = joining->m;
    const struct cubin_section *input = &m->cubins[list->file]->sections[list->index];
    uint32_t target = merging_place(m, list->file, input->info)->section;
    enum relocation_list kind = input->type == SHT_RELA ? LIST_RELA : LIST_REL;
    uint32_t merged = m->sections[target].lists[kind];

    for (size_t i = first; i < list->end; i++) {
        struct merged_relocation *found = &part->found[i];

        if (found->list == FOUND_RESOLVED) {
            relocations_add_resolved(m, target, found);
            continue;
        }
        if (merged == MERGE_NONE) {
            merged = relocations_add_list(m, input->name, input->type, input->flags, target);
            m->sections[target].lists[kind] = merged;
        }
        found->list = merged;
        relocations_add(m, found);
    }
}

static void join_part(struct joining *joining, struct part *part)
{
    struct merging *m = joining->m;
    size_t first = 0;

    for (size_t i = 0; i < part->list_count; i++) {
        const struct found_list *list = &part->lists[i];

        if (!merging_is_mercury(m))
            join_words(joining, list->file + 1);
        join_list(joining, part, list, first);
        first = list->end;
    }
    arena_take(&m->image->arena, &part->contents);
    m->failed |= part->failed;
}

static void free_parts(void *argument)
{
    struct relocating *relocating = argument;

    for (size_t i = 0; i < SPREAD_MOST; i++) {
        arena_free(&relocating->parts[i].contents);
        free(relocating->parts[i].found);
        free(relocating->parts[i].lists);
    }
}

bool relocate_sections(struct merging *m)
{
    struct joining joining = {.m = m};
    struct relocating relocating = {.m = m};
    size_t least_files = m->count / (m->section_base[m->count] / IMAGE_WORTH_A_THREAD + 1) + 1;
    size_t count = 0;

    CONTEXT_DEFER(free_parts, &relocating);
    for (size_t file = 0; file < m->count; file++)
        count += m->cubins[file]->relocation_count;
    ARRAY_RESERVE(m->relocations.items, m->relocations.capacity, count);
    spread_run(&m->request->spread, m->count, least_files, relocate_files, &relocating);
    for (size_t i = 0; i < SPREAD_MOST; i++)
        join_part(&joining, &relocating.parts[i]);
    join_words(&joining, m->count);
    return !m->failed;
}
