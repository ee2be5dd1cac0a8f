/* layout.c: code sections stay separate; data and debug sections are concatenated.
 *
 * Sections that belong to a function (.text.F, .nv.constantN.F) are identified by that function,
 * not by their name: two cubins may each have a local function F, and both are kept. All other
 * sections are merged by name. Data is never removed, not even the losing copy of a weak variable:
 * its symbol just points to the winner (measured). */
#include "merge/internal.h"

#include "diag/diag.h"

#define LARGEST_SECTION (UINT64_C(1) << 40)
#define USER_BANK       3u

static uint32_t add_section(struct merging *m, const struct merged_section *section)
{
    struct merged_section *added =
        &ARRAY_PUSH(m->out->sections, m->out->section_count, m->out->section_capacity);

    *added = *section;
    added->twin = MERGE_NONE;
    memset(added->lists, 0xff, sizeof added->lists); /* MERGE_NONE */
    return (uint32_t)(m->out->section_count - 1);
}

/* The type of a section in the output: an executable has only ELF's own types. */
static uint32_t output_type_of(const struct merging *m, enum section_class class,
                               const struct section_facts *facts, uint32_t type)
{
    if (m->request->relocatable || merged_is_twin(class) || class == CLASS_OTHER ||
        (facts && facts->contents == SECTION_MADE))
        return type;
    return class >= CLASS_SHARED ? SHT_NOBITS : SHT_PROGBITS;
}

struct text layout_name(struct merging *m, enum section_class class, uint32_t bank,
                        uint32_t function)
{
    struct text beginning = sections_of_class(class)->name;

    if (class == CLASS_FUNCTION_CONSTANT)
        beginning = text_of(arena_printf(&m->arena, "%.*s%u.", TEXT_ARG(beginning), bank));
    return arena_join(&m->image->arena, beginning, m->symbols[function].name);
}

uint32_t layout_make_row(struct merging *m, const struct section_facts *row, struct text name,
                         uint32_t function)
{
    return add_section(m, &(struct merged_section){
                              .facts = row,
                              .class = (uint8_t)row->class,
                              .name = name,
                              .type = output_type_of(m, row->class, row, row->type),
                              .flags = row->flags,
                              .alignment = row->alignment,
                              .entry_size = row->entry_size,
                              .function = function,
                              .target = MERGE_NONE,
                          });
}

uint32_t layout_make(struct merging *m, enum section_class class, uint32_t function)
{
    const struct section_facts *row = sections_of_class(class);

    return layout_make_row(
        m, row, function == MERGE_NONE ? row->name : layout_name(m, class, 0, function), function);
}

uint32_t layout_make_like(struct merging *m, uint32_t model, uint32_t kernel)
{
    struct merged_section section = m->out->sections[model];

    section.name = layout_name(m, section.class, section.bank, kernel);
    section.function = kernel;
    section.size = 0;
    section.data = NULL;
    section.is_own = false;
    return add_section(m, &section);
}

void layout_make_info(struct merging *m, enum section_class class, uint32_t function,
                      uint32_t input)
{
    struct text name = m->cubins[m->symbols[function].file]->sections[input].name;
    uint32_t added = layout_make_row(m, sections_of_class(class), name, function);

    m->out->sections[added].input = input;
}

unsigned layout_list_of(uint32_t type)
{
    return type == SHT_REL                                  ? LIST_REL
           : type == SHT_RELA || type == SHT_CUDA_MERC_RELA ? LIST_RELA
                                                            : LIST_RESOLVED;
}

struct text layout_list_name(struct merging *m, const struct section_facts *facts,
                             struct text target)
{
    return arena_join(&m->image->arena, (struct text){facts->name.data, facts->name.size - 1},
                      sections_plain_name(target));
}

uint32_t layout_list(struct merging *m, uint32_t target, uint32_t type, uint64_t flags)
{
    unsigned kind = layout_list_of(type);
    const struct section_facts *row;
    uint32_t added = m->out->sections[target].lists[kind];

    if (added != MERGE_NONE)
        return added;
    row = sections_find(type, flags, (struct text){0});
    added = layout_make_row(m, row, layout_list_name(m, row, m->out->sections[target].name),
                            MERGE_NONE);
    m->out->sections[added].flags = flags;
    m->out->sections[added].target = target;
    m->out->sections[target].lists[kind] = added;
    return added;
}

void layout_add_relocation(struct merging *m, const struct merged_relocation *relocation)
{
    struct merged_section *list = &m->out->sections[relocation->list];

    ARRAY_PUSH(m->out->relocations.items, m->out->relocations.count, m->out->relocations.capacity) =
        *relocation;
    list->size += list->entry_size;
}

void layout_set(struct merging *m, uint32_t index, struct bytes contents)
{
    struct merged_section *section = &m->out->sections[index];

    section->data = arena_copy(&m->image->arena, contents.data, contents.size, 1);
    section->is_own = true;
    section->size = contents.size;
}

static void encode_one(struct merging *m, const struct merged_relocation *relocation, uint64_t *at)
{
    struct merged_section *list = &m->out->sections[relocation->list];
    bool is_section = relocation->symbol == MERGE_NONE;
    uint64_t row = is_section ? m->out->sections[relocation->section].row
                              : m->out->rows.of_symbol[relocation->symbol];
    uint64_t words[3] = {relocation->offset, row << 32 | relocation->type,
                         (uint64_t)relocation->addend};

    memcpy(layout_writable(m, relocation->list) + *at, words, list->entry_size);
    *at += list->entry_size;
    if (row == 0)
        MERGING_ERROR(m,
                      "Relocation type %#x in '%.*s' is against '%.*s', which is not in the output",
                      relocation->type, TEXT_ARG(list->name),
                      TEXT_ARG(is_section ? m->out->sections[relocation->section].name
                                          : m->symbols[relocation->symbol].name));
}

void layout_write_relocations(struct merging *m)
{
    uint64_t *written = arena_zalloc(&m->arena, m->out->section_count, sizeof *written);

    for (size_t i = m->out->relocations.count; i-- > 0;) {
        const struct merged_relocation *relocation = &m->out->relocations.items[i];

        if (m->out->sections[relocation->list].index)
            encode_one(m, relocation, &written[relocation->list]);
    }
}

uint32_t *layout_find_banks(struct merging *m, uint32_t bank)
{
    uint32_t *bank_of = merging_none(m, m->symbol_count);

    for (uint32_t i = 0; i < m->out->section_count; i++)
        if (merged_is_bank(&m->out->sections[i], bank))
            bank_of[m->out->sections[i].function] = i;
    return bank_of;
}

/* The class of an input section whose contents are placed; CLASS_COUNT: not here. */
static enum section_class placed_class_of(const struct merging *m,
                                          const struct cubin_section *section, uint32_t owner)
{
    const struct section_facts *facts =
        owner == MERGE_NONE ? section->facts : sections_of_function(section->facts);
    bool is_twin = cubin_is_mercury(section);
    /* --strip-debug leaves what code compiled without line numbers has: frames. */
    bool is_stripped = m->request->strip_debug && facts && facts->kind != KIND_FRAMES &&
                       (facts->class == CLASS_DEBUG || facts->class == CLASS_TWIN_DEBUG);

    /* Measured (13.5): of ptxas -ewp, which leaves an empty one, nvlink drops it. */
    if (is_stripped || (is_twin && !m->out->has_twins) ||
        (section->type == SHT_CUDA_RESERVED_SHARED && section->size == 0))
        return CLASS_COUNT;
    if (!facts && section->type == SHT_PROGBITS)
        return is_twin ? CLASS_TWIN_DEBUG : CLASS_DEBUG;
    if (!facts)
        return is_twin ? CLASS_TWIN_OTHER : CLASS_OTHER;
    return facts->contents == SECTION_PLACED ||
                   (facts->contents == SECTION_PLACED_IN_PARTS && m->request->relocatable)
               ? facts->class
               : CLASS_COUNT;
}

static uint32_t find_output_section(struct merging *m, enum section_class class,
                                    const struct cubin_section *input, uint32_t owner)
{
    struct merged_section section = {
        .facts = input->facts,
        .class = (uint8_t) class,
        .name = input->name,
        .type = output_type_of(m, class, input->facts, input->type),
        .flags = input->flags,
        .alignment = 1,
        .entry_size = (uint32_t)input->entry_size, /* 0 or 1 for concatenated sections */
        .function = owner,
        .target = MERGE_NONE,
        .info_high = class == CLASS_TEXT ? (uint8_t)(input->info >> 24) : 0,
        .bank = (uint8_t)(input->type - SHT_CUDA_CONSTANT0),
    };
    const uint32_t numbers[] = {0, section.bank, owner};
    struct text key = input->name;
    uint32_t known;

    /* nvlink sets SHF_INFO_LINK where it was missing, but for the constants of parameters. */
    if (input->lacks_link && input->type == SHT_CUDA_CONSTANT0)
        section.flags &= ~(uint64_t)SHF_INFO_LINK;
    if (owner != MERGE_NONE) {
        if (class != CLASS_FUNCTION_CONSTANT)
            return add_section(m, &section);
        /* Unlike a name it begins with NUL. */
        key = (struct text){arena_copy(&m->arena, numbers, 1, sizeof numbers), sizeof numbers};
    }
    known = table_add(&m->out->section_names, key, (uint32_t)m->out->section_count);
    if (known == m->out->section_count)
        add_section(m, &section);
    if (m->out->sections[known].class != class)
        MERGING_ERROR(m, "Section '%.*s' has types that cannot be merged", TEXT_ARG(input->name));
    return known;
}

/* Appends `size` bytes to the section and returns their offset. */
static uint64_t append(struct merging *m, uint32_t index, uint64_t alignment, uint64_t size)
{
    struct merged_section *section = &m->out->sections[index];
    uint64_t offset = image_align_up(section->size, alignment);

    RAISE(section->alignment, alignment);
    if (size > LARGEST_SECTION || offset > LARGEST_SECTION)
        MERGING_ERROR(m, "Section '%.*s' is too large", TEXT_ARG(section->name));
    else
        section->size = offset + size;
    return offset;
}

static void place_section(struct merging *m, size_t file, size_t index, enum section_class class)
{
    const struct cubin_section *input = &m->cubins[file]->sections[index];
    uint32_t owner = merging_owner(m, file, index);
    struct merged_place *where = &m->out->places[m->section_base[file] + index];

    where->section = find_output_section(m, class, input, owner);
    if (m->out->sections[where->section].class != class) {
        MERGING_ERROR(m, "Section '%.*s' in '%s' is of another kind than before",
                      TEXT_ARG(input->name), m->cubins[file]->name);
        where->section = MERGE_NONE;
        return;
    }
    where->offset = class == CLASS_RESERVED || class == CLASS_TWIN_RESERVED
                        ? 0 /* shared.c places variables, not sections */
                        : append(m, where->section, input->alignment, input->size);
    if (class == CLASS_TEXT) {
        m->out->text_of[owner] = where->section;
        if (merged_is_kernel(&m->symbols[owner]))
            m->out->kernels[m->out->kernel_count++] = owner;
    }
}

/* Commons follow the merged .nv.global's other variables, the one seen last first. */
static void place_commons(struct merging *m)
{
    const struct section_facts *facts = sections_of_class(CLASS_GLOBAL);
    const struct cubin_section global = {
        .name = facts->name, .facts = facts, .type = facts->type, .flags = facts->flags};

    for (size_t i = m->request->relocatable ? 0 : m->resolved.common_count; i-- > 0;) {
        const struct merged_symbol *symbol = &m->symbols[m->resolved.commons[i]];
        struct placed_symbol *placed = &m->out->placed[m->resolved.commons[i]];

        placed->section = find_output_section(m, CLASS_GLOBAL, &global, MERGE_NONE);
        if (m->out->sections[placed->section].class != CLASS_GLOBAL) {
            MERGING_ERROR(m, "Section '%.*s' is of another kind than usual", TEXT_ARG(facts->name));
            return;
        }
        placed->value = append(m, placed->section, symbol->common_alignment, symbol->size);
    }
}

/* Until they are placed, symbols have the values of their cubins. A shared variable's value is its
 * alignment, in the input and under -r (measured). */
static void place_symbols(struct merging *m)
{
    m->out->placed = arena_alloc(&m->arena, m->symbol_count, sizeof *m->out->placed);
    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct merged_symbol *symbol = &m->symbols[i];
        struct placed_symbol *placed = &m->out->placed[i];
        const struct merged_place *where;

        *placed = (struct placed_symbol){symbol->name, symbol->value, MERGE_NONE, symbol->other};
        if (symbol->file == MERGE_NONE ||
            !cubin_has_section(m->cubins[symbol->file], symbol->input_section))
            continue;
        where = merging_place(m, symbol->file, symbol->input_section);
        placed->section = where->section;
        if (where->section != MERGE_NONE && !merged_is_data(symbol, STO_CUDA_SHARED))
            placed->value += where->offset;
    }
}

/* Finds the program's constants, and checks all banks. */
static void check_constants(struct merging *m)
{
    for (uint32_t i = 0; i < m->out->section_count; i++) {
        const struct merged_section *section = &m->out->sections[i];

        if (section->class == CLASS_CONSTANT && section->bank == USER_BANK)
            m->out->user_constants = i;
        if (section->class != CLASS_CONSTANT || section->size <= CONSTANT_BANK_BYTES)
            continue;
        MERGING_REFUSAL(m, "File uses too much global constant data (%#llx bytes, %#x max)",
                        (unsigned long long)section->size, CONSTANT_BANK_BYTES);
    }
}

/* Whether the constants of a function's losing copy are kept. Measured: compiler constants are kept
 * if the copy comes after the winner. If the winner is strong, the parameters of such a copy are
 * kept too, and those of the weak copy that the winner replaced. */
static bool stays_behind(const struct merging *m, size_t file, uint32_t index)
{
    uint32_t owner = merging_owner(m, file, index);
    const struct merged_symbol *function = &m->symbols[owner];

    if (!m->is_live[owner] || merging_is_mercury(m))
        return false;
    if (m->cubins[file]->sections[index].type != SHT_CUDA_CONSTANT0)
        return file > function->file;
    if (function->binding == STB_WEAK)
        return false;
    return file > function->file ||
           m->resolved
               .gave_way[m->symbol_base[file] + cubin_section_function(m->cubins[file], index)];
}

/* Whether an input section is kept. Zeroed variables go only if their whole section lost. */
static bool is_section_placed(const struct merging *m, size_t file, uint32_t index,
                              enum section_class class)
{
    if (m->request->relocatable)
        return merging_keeps(m, file, index);
    if (class == CLASS_GLOBAL)
        return !overridden_all_lost(m, file, index);
    return merging_keeps(m, file, index) ||
           (class == CLASS_FUNCTION_CONSTANT && stays_behind(m, file, index));
}

bool layout_sections(struct merging *m)
{
    size_t inputs = m->section_base[m->count];

    m->out->places = arena_alloc(&m->arena, inputs, sizeof *m->out->places);
    memset(m->out->places, 0xff, inputs * sizeof *m->out->places); /* MERGE_NONE */
    m->out->text_of = merging_none(m, m->symbol_count);
    m->out->kernels = arena_alloc(&m->arena, inputs, sizeof *m->out->kernels);
    m->out->user_constants = MERGE_NONE;
    ARRAY_RESERVE(m->out->sections, m->out->section_capacity, inputs);
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_ANY);) {
        const struct cubin_section *section = at.section;
        enum section_class class = placed_class_of(m, section, merging_owner(m, at.file, at.index));

        if (class != CLASS_COUNT && is_section_placed(m, at.file, at.index, class))
            place_section(m, at.file, at.index, class);
    }
    place_symbols(m);
    place_commons(m);
    check_constants(m);
    return !m->failed;
}

uint8_t *layout_writable(struct merging *m, uint32_t index)
{
    struct merged_section *section = &m->out->sections[index];

    if (!section->is_own) {
        section->data = section->data
                            ? arena_copy(&m->image->arena, section->data, section->size, 1)
                            : arena_zalloc(&m->image->arena, section->size, 1);
        section->is_own = true;
    }
    return (uint8_t *)(uintptr_t)section->data;
}

void layout_fill(struct merging *m)
{
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_ANY);) {
        const struct merged_place *where = merging_place(m, at.file, at.index);
        struct merged_section *section;

        if (where->section == MERGE_NONE || at.section->size == 0)
            continue;
        section = &m->out->sections[where->section];
        if ((section->class >= CLASS_SHARED && section->class != CLASS_COUNT) ||
            section->class == CLASS_TWIN_RESERVED)
            continue; /* without bytes, or zeros */
        if (section->size == at.section->size)
            section->data = at.section->data.data;
        else
            memcpy(layout_writable(m, where->section) + where->offset, at.section->data.data,
                   at.section->size);
    }
}
