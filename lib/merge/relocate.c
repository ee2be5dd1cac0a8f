/* relocate.c: what becomes of each relocation.
 *
 * The link decides where shared variables and constants lie, so their offsets are written into the
 * instructions. Addresses of code and of global data are only known when the driver loads the
 * image: these relocations stay, and their fields are not touched. Texture references (texture.h)
 * give way to the offsets of words in constant bank 0. Lists are written with the
 * relocation read last in front. Relocations of debug sections against functions that are gone
 * vanish with them. Fields and rules as measured on nvlink 13.0; any other type is refused. */
#include "merge/relocate.h"

#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "merge/layout.h"
#include "merge/losers.h"
#include "merge/preserve.h"
#include "merge/resolve.h"
#include "merge/shared.h"
#include "merge/symtab.h"
#include "merge/texture.h"

/* Bits of a 16-byte instruction, counted from its lowest. */
struct field {
    uint32_t type;
    uint8_t first;
    uint8_t width;
    uint8_t shift; /* the field holds value >> shift */
    uint8_t bank;  /* first bit of the bank's number; 0 = the field has none */
};

#define BANK_WIDTH 5

static const struct field shared_fields[] = {
    {R_CUDA_ABS32_32, 32, 32, 0, 0},
    {R_CUDA_ABS24_40, 40, 24, 0, 0},
    {R_CUDA_ABS16_32, 32, 16, 0, 0},
};

static const struct field constant_fields[] = {
    {R_CUDA_ABS16_32, 32, 16, 0, 0},
    {R_CUDA_CONST_FIELD21_38, 38, 16, 0, 54},
    {R_CUDA_CONST_FIELD19_40, 40, 14, 2, 54},
    {R_CUDA_CONST_FIELD22_37, 37, 17, 0, 54},
};

/* Offsets of words in bank 0. */
static const struct field texture_fields[] = {
    {R_CUDA_CONST_FIELD21_38, 38, 16, 0, 54},
    {R_CUDA_BINDLESSOFF14_40, 40, 14, 2, 0},
    {R_CUDA_CONST_FIELD22_37, 37, 17, 0, 54},
};

/* One list of relocations at work. */
struct list {
    struct merging *m;
    size_t file;
    const struct cubin_section *input;  /* the list */
    const struct cubin_section *target; /* what it applies to */
    uint32_t target_index;
    struct merged_place place; /* where the target went */
    uint32_t merged;           /* merged section of the list; MERGE_NONE until one stays */
    bool has_addends;          /* RELA; else they stand in the fields */
    bool is_debug;
};

/* Says what cannot be done; always false. */
static bool refuse(struct list *list, const struct cubin_relocation *relocation, const char *why)
{
    const struct cubin *cubin = list->m->cubins[list->file];
    const char *name = format_relocation_name(relocation->type);

    diag_error("%s relocation type %#x (%s) against '%.*s' in section '%.*s' of '%s'", why,
               relocation->type, name ? name : "unknown",
               TEXT_ARG(cubin->symbols[relocation->symbol].name), TEXT_ARG(list->target->name),
               cubin->name);
    list->m->failed = true;
    return false;
}

static uint64_t load(const uint8_t *at, unsigned size)
{
    uint64_t value = 0;

    memcpy(&value, at, size);
    return value;
}

static uint32_t list_section(struct list *list)
{
    const struct cubin_section *input = list->input;

    if (list->merged == MERGE_NONE)
        list->merged = layout_add(
            list->m, &(struct merged_section){
                         .class = CLASS_RELOCATIONS,
                         .name = input->name,
                         .type = input->type,
                         .flags = input->flags,
                         .alignment = 8,
                         .entry_size = list->has_addends ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel),
                         .function = MERGE_NONE,
                         .target = list->place.section,
                     });
    return list->merged;
}

static bool keep(struct list *list, const struct cubin_relocation *relocation, uint32_t type,
                 uint32_t symbol, uint32_t section, int64_t addend)
{
    struct merging *m = list->m;
    uint32_t merged = list_section(list);

    ARRAY_PUSH(m->relocations, m->relocation_count, m->relocation_capacity) =
        (struct merged_relocation){.offset = list->place.offset + relocation->offset,
                                   .addend = addend,
                                   .type = type,
                                   .list = merged,
                                   .symbol = symbol,
                                   .section = section};
    m->sections[merged].size += m->sections[merged].entry_size;
    return true;
}

/* Lists a relocation that is resolved. */
static void preserve(struct list *list, const struct cubin_relocation *relocation, uint32_t symbol,
                     uint32_t section, int64_t addend)
{
    preserve_relocation(
        list->m, list->place.section,
        &(struct merged_relocation){.offset = list->place.offset + relocation->offset,
                                    .addend = addend,
                                    .type = relocation->type,
                                    .symbol = symbol,
                                    .section = section});
}

static uint8_t *field_bytes(struct list *list, const struct cubin_relocation *relocation)
{
    return layout_writable(list->m, list->place.section) + list->place.offset + relocation->offset;
}

/* Replaces `width` bits from `first` on of the instruction at `at`; they do not cross a half. */
static void put_bits(uint8_t *at, unsigned first, unsigned width, uint64_t value)
{
    uint8_t *half = at + first / 64 * 8;
    uint64_t mask = (width == 64 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1) << first % 64;
    uint64_t bits = (load(half, 8) & ~mask) | (value << first % 64 & mask);

    memcpy(half, &bits, 8);
}

static bool put_field(struct list *list, const struct cubin_relocation *relocation,
                      const struct field *field, uint64_t value, uint32_t bank)
{
    uint8_t *at;

    if (list->target->size < 16 || relocation->offset > list->target->size - 16)
        return refuse(list, relocation, "Misplaced");
    at = field_bytes(list, relocation);
    value = (value + (uint64_t)relocation->addend) >> field->shift;
    if (!list->has_addends)
        value += load(at, 8) >> field->first & ((UINT64_C(1) << field->width) - 1);
    put_bits(at, field->first, field->width, value);
    if (field->bank)
        put_bits(at, field->bank, BANK_WIDTH, bank);
    return true;
}

static const struct field *find_field(const struct field *fields, size_t count, uint32_t type)
{
    for (size_t i = 0; i < count; i++)
        if (fields[i].type == type)
            return &fields[i];
    return NULL;
}

static bool resolve_shared(struct list *list, const struct cubin_relocation *relocation,
                           uint32_t symbol)
{
    const struct merging *m = list->m;
    const struct field *field = find_field(shared_fields, 3, relocation->type);
    uint32_t function = merging_owner(m, list->file, list->target_index);
    uint64_t value = m->shared->address[symbol];

    if (!field)
        return refuse(list, relocation, "Cannot resolve");
    if (m->symbols[symbol].file == MERGE_NONE) {
        /* Where no kernel reaches the function all bits are set, or none under -g (measured). */
        value = function == MERGE_NONE ? UINT64_MAX : m->shared->extern_address[function];
        if (value == UINT64_MAX && m->request->debug)
            value = 0;
    }
    preserve(list, relocation, symbol, MERGE_NONE, relocation->addend);
    return put_field(list, relocation, field, value, 0);
}

static bool resolve_constant(struct list *list, const struct cubin_relocation *relocation,
                             const struct field *field, uint32_t symbol)
{
    const struct merging *m = list->m;
    const struct placed_symbol *constant = &m->placed[symbol];

    if (constant->section == MERGE_NONE)
        return refuse(list, relocation, "Cannot resolve");
    preserve(list, relocation, symbol, MERGE_NONE, relocation->addend);
    return put_field(list, relocation, field, constant->value, m->sections[constant->section].bank);
}

/* The plain type of an address that might have been one in a unified table. */
static uint32_t plain_type(uint32_t type)
{
    switch (type) {
    case R_CUDA_UNIFIED:
        return R_CUDA_64;
    case R_CUDA_UNIFIED_32:
        return R_CUDA_32;
    case R_CUDA_UNIFIED32_LO_32:
        return R_CUDA_ABS32_LO_32;
    case R_CUDA_UNIFIED32_HI_32:
        return R_CUDA_ABS32_HI_32;
    default:
        return type >= R_CUDA_UNIFIED_8_0 && type < R_CUDA_UNIFIED_8_0 + 8
                   ? type - R_CUDA_UNIFIED_8_0 + R_CUDA_8_0
                   : type;
    }
}

/* Addresses that the driver fills in, and those of descriptors, by which device code launches
 * kernels (libcudadevrt). */
static bool is_address(uint32_t type)
{
    switch (type) {
    case R_CUDA_FUNC_DESC_32:
    case R_CUDA_FUNC_DESC_64:
    case R_CUDA_FUNC_DESC32_32:
    case R_CUDA_FUNC_DESC32_LO_32:
    case R_CUDA_FUNC_DESC32_HI_32:
    case R_CUDA_32:
    case R_CUDA_64:
    case R_CUDA_G32:
    case R_CUDA_G64:
    case R_CUDA_ABS32_LO_32:
    case R_CUDA_ABS32_HI_32:
    case R_CUDA_ABS47_34:
    case R_CUDA_ABS55_16_34:
        return true;
    default:
        return (type >= R_CUDA_8_0 && type < R_CUDA_8_0 + 8) ||
               (type >= R_CUDA_G8_0 && type < R_CUDA_G8_0 + 8) ||
               (type >= R_CUDA_FUNC_DESC_8_0 && type < R_CUDA_FUNC_DESC_8_0 + 8);
    }
}

/* Writes base + addend into a whole field of data. */
static bool put_value(struct list *list, const struct cubin_relocation *relocation, uint64_t base)
{
    unsigned size = relocation->type == R_CUDA_32 || relocation->type == R_CUDA_G32 ? 4 : 8;
    uint8_t *at = field_bytes(list, relocation);
    uint64_t value = base + (list->has_addends ? (uint64_t)relocation->addend : load(at, size));

    memcpy(at, &value, size);
    return true;
}

/* A section symbol means the place where this cubin's part of the section begins. */
static bool relocate_section(struct list *list, const struct cubin_relocation *relocation)
{
    struct merging *m = list->m;
    const struct cubin_symbol *input = &m->cubins[list->file]->symbols[relocation->symbol];
    const struct merged_place *part = &m->places[m->section_base[list->file] + input->section];
    bool is_own = input->section == list->target_index;
    bool is_debug_offset = relocation->type == R_CUDA_32 && list->is_debug;

    if (part->section == MERGE_NONE)
        return list->is_debug || refuse(list, relocation, "Cannot resolve");
    if (!is_address(relocation->type))
        return refuse(list, relocation, "Cannot resolve");
    if (!m->request->relocatable &&
        ((is_own && relocation->type == R_CUDA_64) || is_debug_offset)) {
        preserve(list, relocation, MERGE_NONE, part->section,
                 relocation->addend + (int64_t)part->offset);
        return put_value(list, relocation, part->offset);
    }
    if (!list->has_addends && part->offset != 0) {
        if (relocation->type > R_CUDA_G64)
            return refuse(list, relocation, "Cannot move");
        put_value(list, relocation, part->offset);
    }
    return keep(list, relocation, relocation->type, MERGE_NONE, part->section,
                relocation->addend + (list->has_addends ? (int64_t)part->offset : 0));
}

/* Lines and frames of a function's losing copy are not told (measured); other sections point to the
 * winner instead. */
static bool forgets_losers(struct text section)
{
    return text_equal(section, TEXT(".debug_line")) || text_equal(section, TEXT(".debug_frame")) ||
           text_equal(section, TEXT(".nv_debug_line_sass"));
}

/* Measured: the frame of a function that a later cubin's replaced is forgotten, too, if there were
 * relocations in its code; but up to sm_80, where the addresses of frames have no addends, never.
 */
static bool is_replaced_frame(const struct list *list, const struct cubin_relocation *relocation,
                              const struct merged_symbol *merged)
{
    const struct merging *m = list->m;
    const struct cubin *cubin = m->cubins[list->file];
    uint32_t section = cubin->symbols[relocation->symbol].section;

    return !m->request->relocatable && list->has_addends && section != SHN_UNDEF &&
           section < cubin->section_count && merged->file != MERGE_NONE &&
           merged->file > list->file &&
           m->losses->is_relocated[m->section_base[list->file] + section];
}

/* Debug information about functions: of dead ones the ranges are emptied, but not those of a copy
 * that lost to an earlier cubin, which is not described any more; one that was replaced by a later
 * cubin's is. */
static bool relocate_debug(struct list *list, const struct cubin_relocation *relocation,
                           uint32_t symbol)
{
    struct merging *m = list->m;
    const struct merged_symbol *merged = &m->symbols[symbol];
    bool is_function = merged->type == STT_FUNC;
    bool is_dead = is_function && !m->is_live[symbol];
    bool is_clear =
        relocation->type == R_CUDA_UNUSED_CLEAR64 || relocation->type == R_CUDA_UNUSED_CLEAR32;

    if (is_clear && !m->request->relocatable) {
        if (is_dead && merged->file == list->file)
            memset(field_bytes(list, relocation), 0,
                   relocation->type == R_CUDA_UNUSED_CLEAR64 ? 8 : 4);
        return true;
    }
    if (is_dead || (is_function && forgets_losers(list->target->name) &&
                    (losers_has(m, list->file, relocation->symbol) ||
                     is_replaced_frame(list, relocation, merged))))
        return true;
    if (merged_is_data(merged, STO_CUDA_SHARED) && !m->request->relocatable) {
        if (relocation->type > R_CUDA_G64)
            return refuse(list, relocation, "Cannot resolve");
        preserve(list, relocation, symbol, MERGE_NONE, relocation->addend);
        return put_value(list, relocation, m->shared->address[symbol]);
    }
    if (!is_clear && !is_address(plain_type(relocation->type)))
        return refuse(list, relocation, "Cannot resolve");
    return keep(list, relocation, relocation->type, symbol, MERGE_NONE, relocation->addend);
}

static bool names_section(const struct cubin *cubin, uint32_t symbol)
{
    return cubin->symbols[symbol].type == STT_SECTION &&
           cubin->symbols[symbol].section < cubin->section_count;
}

/* The size of a kernel's parameters, which code in libcudadevrt asks for, is not known in functions
 * that many kernels call. Measured: all bits are set, with -r too, and the symbol vanishes. */
static bool is_unknown_size(const struct cubin_symbol *symbol)
{
    return symbol->section == SHN_UNDEF && text_equal(symbol->name, TEXT(".nv.ptx.const0.size"));
}

static bool put_unknown_size(struct list *list, const struct cubin_relocation *relocation)
{
    const struct field *field = find_field(shared_fields, 3, relocation->type);

    return field ? put_field(list, relocation, field, UINT64_MAX, 0)
                 : refuse(list, relocation, "Cannot resolve");
}

static bool relocate_one(struct list *list, const struct cubin_relocation *relocation)
{
    struct merging *m = list->m;
    const struct cubin_symbol *input = &m->cubins[list->file]->symbols[relocation->symbol];
    uint32_t symbol = merging_symbol(m, list->file, relocation->symbol);
    const struct field *field = find_field(constant_fields, 4, relocation->type);

    if (relocation->type == R_CUDA_NONE || relocation->type == R_CUDA_YIELD_OPCODE9_0 ||
        relocation->type == R_CUDA_YIELD_CLEAR_PRED4_87)
        return true;
    if (symbol == MERGE_NONE && names_section(m->cubins[list->file], relocation->symbol))
        return relocate_section(list, relocation);
    if (is_unknown_size(input))
        return put_unknown_size(list, relocation);
    if (symbol == MERGE_NONE)
        return refuse(list, relocation, "Cannot resolve");
    symbol = merging_canonical(m, symbol);
    if (list->is_debug)
        return relocate_debug(list, relocation, symbol);
    if (m->request->relocatable)
        return keep(list, relocation, relocation->type, symbol, MERGE_NONE, relocation->addend);
    /* A function that nothing calls is kept without what it calls. */
    if (m->symbols[symbol].type == STT_FUNC && !m->is_live[symbol])
        return true;
    if (relocation->type == R_CUDA_UNUSED_CLEAR64 || relocation->type == R_CUDA_UNUSED_CLEAR32 ||
        resolve_is_unified_table(m->symbols[symbol].name))
        return true;
    if (merged_is_data(&m->symbols[symbol], STO_CUDA_SHARED))
        return resolve_shared(list, relocation, symbol);
    if (field && merged_is_data(&m->symbols[symbol], STO_CUDA_CONST))
        return resolve_constant(list, relocation, field, symbol);
    field = find_field(texture_fields, 3, relocation->type);
    if (field && merged_is_reference(&m->symbols[symbol]))
        return put_field(list, relocation, field, texture_offset(m, symbol), 0);
    if (!is_address(plain_type(relocation->type)))
        return refuse(list, relocation, "Cannot resolve");
    return keep(list, relocation, plain_type(relocation->type), symbol, MERGE_NONE,
                relocation->addend);
}

static void relocate_list(struct merging *m, uint32_t *merged_lists, size_t file, size_t index)
{
    const struct cubin *cubin = m->cubins[file];
    const struct cubin_section *input = &cubin->sections[index];
    struct list list = {.m = m, .file = file, .input = input, .target_index = input->info};
    uint32_t *merged;

    if (input->relocation_count == 0 || !merging_keeps(m, file, input->info))
        return;
    list.target = &cubin->sections[input->info];
    list.place = m->places[m->section_base[file] + input->info];
    if (list.place.section == MERGE_NONE)
        return;
    /* Mercury's twins have lists of their own kind. */
    if (m->sections[list.place.section].class >= CLASS_TWIN_TEXT) {
        refuse(&list, &input->relocations[0], "Misplaced");
        return;
    }
    list.has_addends = input->type == SHT_RELA;
    list.is_debug = m->sections[list.place.section].class == CLASS_DEBUG;
    merged = &merged_lists[list.place.section * 2 + list.has_addends];
    list.merged = *merged;
    for (size_t i = 0; i < input->relocation_count; i++)
        if (!losers_forget(m, file, input->info, input->relocations[i].offset))
            relocate_one(&list, &input->relocations[i]);
    *merged = list.merged;
}

bool relocate_sections(struct merging *m)
{
    /* By target section: its list without addends, its list with them. */
    size_t targets = m->section_count;
    uint32_t *merged_lists = merging_none(m, targets * 2);
    size_t kernel = 0;

    preserve_begin(m);
    for (size_t file = 0; file < m->count; file++) {
        if (!merging_is_mercury(m))
            texture_relocate(m, file, &kernel);
        for (size_t i = 1; i < m->cubins[file]->section_count; i++)
            relocate_list(m, merged_lists, file, i);
    }
    for (size_t file = 0; merging_is_mercury(m) && file < m->count; file++)
        texture_relocate(m, file, &kernel);
    return !m->failed;
}

static bool encode_one(struct merging *m, const struct merged_relocation *relocation, uint64_t *at)
{
    struct merged_section *list = &m->sections[relocation->list];
    uint64_t row = relocation->symbol == MERGE_NONE ? m->rows->of_section[relocation->section]
                                                    : m->rows->of_symbol[relocation->symbol];
    uint64_t words[3] = {relocation->offset, row << 32 | relocation->type,
                         (uint64_t)relocation->addend};

    memcpy(list->own + *at, words, list->entry_size);
    *at += list->entry_size;
    if (row == 0) {
        diag_error("Relocation type %#x in '%.*s' is against '%.*s', which is not in the output",
                   relocation->type, TEXT_ARG(list->name),
                   TEXT_ARG(relocation->symbol == MERGE_NONE
                                ? m->sections[relocation->section].name
                                : m->symbols[relocation->symbol].name));
        m->failed = true;
    }
    return row != 0;
}

bool relocate_encode(struct merging *m)
{
    uint64_t *written = arena_zalloc(&m->arena, m->section_count, sizeof *written);

    for (size_t i = 0; i < m->section_count; i++) {
        struct merged_section *section = &m->sections[i];

        if (section->class != CLASS_RELOCATIONS && section->class != CLASS_TWIN_RELOCATIONS)
            continue;
        section->own = arena_alloc(&m->image->arena, section->size, 1);
        section->data = section->own;
    }
    for (size_t i = m->relocation_count; i-- > 0;)
        if (m->sections[m->relocations[i].list].index)
            encode_one(m, &m->relocations[i], &written[m->relocations[i].list]);
    return !m->failed;
}
