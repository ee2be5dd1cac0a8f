/* exact_sections.c: the sections of the program, in the order of the file, and their places. */
#include <string.h>

#include "cubin/format.h"
#include "join/exact_internal.h"

/* Whether the target's cubins have the form that came with sm_90. */
static bool has_form_90(const struct exact *join)
{
    return targets_have(CUBIN_FLAGS_SM(join->inputs[0].cubin.flags), TARGET_HAS_FORM_90);
}

/* Names that are made before those of sections, CLASS_NONE, come first. Bank 0 from sm_90 on is
 * FUNCTION_CONSTANT, and SHARED all that has no bytes; otherwise a function's own sections are of
 * the program's class, but for plain records. */
void exact_order_classes(struct exact *join)
{
    join->order[0] = CLASS_NONE;
    sections_ptxas_order(&join->order[1], toolkits_find(join->form->toolkits.first));
    for (size_t i = 0; i < sizeof join->order; i++)
        join->place[join->order[i]] = (uint8_t)i;
}

/* The class of a section whose type does not tell: by its flags. */
static enum section_class loaded_class(const struct exact *join,
                                       const struct cubin_section *section)
{
    if (cubin_is_mercury(section))
        return section->flags & SHF_WRITE ? CLASS_TWIN_GLOBAL_INIT : CLASS_TWIN_CONSTANT;
    if (section->has_no_bytes)
        return CLASS_SHARED;
    if (section->flags & SHF_EXECINSTR)
        return CLASS_TEXT;
    if (section->flags & SHF_WRITE)
        return CLASS_GLOBAL_INIT;
    if (text_starts(section->name, TEXT(".nv.constant0.")) && has_form_90(join))
        return CLASS_FUNCTION_CONSTANT;
    return CLASS_CONSTANT;
}

/* Whether a debug section is known. */
static bool is_known_debug(const struct exact *join, const struct cubin_section *section)
{
    enum section_kind kind = section->facts ? section->facts->kind : KIND_ANY;

    return kind == KIND_FRAMES ||
           (join->request->line_count > 0 &&
            (exact_has_units(kind) || kind == KIND_TEXTS || kind == KIND_PTX));
}

/* Classes whose types tell. */
#define CLASSES_BY_TYPE                                                                            \
    (CLASS_SET(TABLE) | CLASS_SET(NOTE) | CLASS_SET(COMPAT) | CLASS_SET(CALLGRAPH) |               \
     CLASS_SET(PROTOTYPE) | CLASS_SET(REL_ACTION) | CLASS_SET(RELOCATIONS) |                       \
     (CLASSES_OF_MERCURY & ~(CLASS_SET(TWIN_OTHER) | CLASS_SET(TWIN_INDICES))))

/* The class of a section; CLASS_NONE = the join cannot divide it. */
static enum section_class exact_class_of(const struct exact *join,
                                         const struct cubin_section *section, uint32_t owner)
{
    enum section_class class = cubin_class_of(section);

    if ((section->flags & SHF_ALLOC) && (class == CLASS_TWIN_OTHER || !cubin_is_mercury(section)))
        return loaded_class(join, section);
    if (section->type == SHT_CUDA_RESOLVED_RELA || section->type == SHT_CUDA_MERC_RESOLVED_RELA)
        return CLASS_NONE;
    if (class == CLASS_INFO)
        return owner == EXACT_COMMON && text_equal(section->name, section->facts->name)
                   ? CLASS_INFO
                   : CLASS_FUNCTION_INFO;
    if (class == CLASS_DEBUG && is_known_debug(join, section))
        return CLASS_DEBUG;
    if (class == CLASS_TWIN_FUNCTION_CONSTANT)
        return CLASS_TWIN_CONSTANT;
    return class_is_in(class, CLASSES_BY_TYPE) ? class : CLASS_NONE;
}

/* The first three sections, and only these, are tables. */
static bool is_first_table(const struct cubin_section *section, size_t index)
{
    return index == EXACT_SYMBOLS
               ? section->type == SHT_SYMTAB
               : section->type == SHT_STRTAB &&
                     text_equal(section->name, sections_of_kind(KIND_STRINGS, false)->name) ==
                         (index == EXACT_STRINGS);
}

/* The first three sections must be where the join expects them (there are three, since there is a
 * symbol table), and the others in order of their classes and, within a class, of their names. */
void exact_classify(struct exact *join, struct exact_input *input)
{
    const struct cubin *cubin = &input->cubin;
    unsigned last = 0;

    for (size_t i = 1; i < cubin->section_count; i++) {
        const struct cubin_section *section = &cubin->sections[i];
        enum section_class class = exact_class_of(join, section, input->section_owner[i]);
        unsigned place = join->place[class];

        if (class == CLASS_NONE)
            exact_refuse(join, input, i, "is one table over all kernels");
        if ((i <= EXACT_SYMBOLS && !is_first_table(section, i)) ||
            (i <= EXACT_SYMBOLS) != (class == CLASS_TABLE) || place < last ||
            (i > EXACT_SYMBOLS && class == input->section_class[i - 1] &&
             section->name.data <= section[-1].name.data))
            exact_refuse(join, input, i, "stands in another order");
        if (class == CLASS_TWIN_RESERVED && section->size > 0 && join->form->names == NAMES_CREATED)
            exact_refuse(join, input, i, "holds memory that the assembler never set");
        input->section_class[i] = (uint8_t) class;
        last = place;
    }
}

bool exact_is_bank4(struct text name)
{
    struct text plain = sections_target_name(name);

    return text_equal(plain, TEXT(".nv.constant4")) || text_equal(plain, TEXT(".nv.constant.pic"));
}

static uint64_t bank4_size(const struct exact_input *input)
{
    return input->cubin.sections[exact_section_named(input, TEXT(".nv.constant4"))].size;
}

/* The chunk that has all of bank 4: the base among equals. */
static struct exact_input *find_bank4(const struct exact *join)
{
    struct exact_input *found = join->base;

    for (size_t i = 0; i < join->count; i++)
        if (bank4_size(&join->inputs[i]) > bank4_size(found))
            found = &join->inputs[i];
    return found;
}

static void take_from(struct exact_item *item, struct exact_input *input)
{
    uint32_t index = exact_section_named(input, item->key);

    if (index == 0)
        return;
    item->input = input;
    item->index = index;
}

/* Finds the section in another chunk if this one has only its name. Bank 4 is all one chunk's. */
static bool find_section(const struct exact *join, struct exact_item *item)
{
    for (size_t i = 0; item->owner == EXACT_COMMON && item->index == TABLE_NONE && i < join->count;
         i++)
        take_from(item, &join->inputs[i]);
    if (item->owner == EXACT_COMMON && exact_is_bank4(item->key))
        take_from(item, find_bank4(join));
    return item->index != TABLE_NONE;
}

/* Mercury's twin of the driver's shared memory has a size on sm_110, but in a rewritten file no
 * bytes: the section header table stands there (measured). */
static bool has_no_bytes(const struct cubin_section *section)
{
    return section->has_no_bytes || section->type == SHT_CUDA_RESERVED_SHARED;
}

static void add_exact_section(struct exact *join, const struct exact_item *item)
{
    struct exact_input *input = item->input;
    const struct cubin_section *section = &input->cubin.sections[item->index];
    struct image_section out = {
        .name = section->name,
        .type = section->type,
        .flags = section->flags,
        .alignment = section->alignment,
        .entry_size = section->entry_size,
        .size = section->size,
        .data = section->data.data,
        .link = section->link,
        .info = section->info,
        .has_no_bytes = has_no_bytes(section),
    };

    input->section_out[item->index] = image_add_section(&join->image, &out);
    exact_push(join, &join->sections, item);
}

/* Maps a chunk's section to the common one that stands for it in the result. Both are of one kind,
 * and only one chunk has prototypes, as it is with indirect calls. */
static void map_common_section(struct exact *join, struct exact_input *input, uint32_t index)
{
    const struct cubin_section *mine = &input->cubin.sections[index];
    uint32_t out = table_find(&join->seen, mine->name);
    enum section_class class = input->section_class[index];
    const struct image_section *section;
    const struct exact_item *item;

    if (out == TABLE_NONE)
        return;
    section = &join->image.sections[out];
    item = &join->sections.items[out - 1];
    if (mine->type != section->type || mine->entry_size != section->entry_size ||
        class != item->input->section_class[item->index])
        exact_refuse(join, input, index, "is of another kind in another chunk");
    if (input != item->input &&
        class_is_in(class, CLASS_SET(PROTOTYPE) | CLASS_SET(TWIN_PROTOTYPE)))
        exact_refuse(join, input, index, "is in more than one chunk");
    input->section_out[index] = out;
}

static void map_common_sections(struct exact *join, struct exact_input *input)
{
    for (uint32_t i = 1; i < input->cubin.section_count; i++) {
        if (input->section_owner[i] == EXACT_COMMON)
            map_common_section(join, input, i);
        if (exact_is_kept(join, input->section_owner[i]) && !input->section_out[i])
            exact_refuse(join, input, i, "has no place in the program");
    }
}

void exact_join_sections(struct exact *join)
{
    struct exact_list *names = &join->section_names;

    image_begin(&join->image, ET_EXEC, join->inputs[0].cubin.flags);
    table_free(&join->seen);
    for (size_t place = 0; place < sizeof join->order; place++)
        for (size_t i = 0; i < names->count; i++) {
            struct exact_item *item = &names->items[i];

            if (!find_section(join, item) ||
                item->input->section_class[item->index] != join->order[place])
                continue;
            add_exact_section(join, item);
            if (item->owner == EXACT_COMMON)
                table_add(&join->seen, item->key, (uint32_t)join->sections.count);
        }
    if (join->image.section_count >= SHN_LORESERVE)
        exact_refuse(join, NULL, 0, "and the others have too many sections");
    for (size_t c = 0; c < join->count; c++)
        map_common_sections(join, &join->inputs[c]);
}

/* Maps the section and symbol indices in a section header to the result's. */
static void map_header(struct exact *join, size_t out)
{
    const struct exact_item *item = &join->sections.items[out - 1];
    const struct exact_input *input = item->input;
    struct image_section *section = &join->image.sections[out];
    enum section_class class = input->section_class[item->index];

    section->link = input->section_out[section->link];
    if (section->type == SHT_SYMTAB || class == CLASS_TWIN_SYMTAB || section->info == 0)
        return;
    if ((section->flags & SHF_INFO_LINK) || class_is_in(class, CLASSES_OF_RELOCATIONS)) {
        section->info = input->section_out[section->info];
    } else if (class == CLASS_TEXT || class == CLASS_TWIN_TEXT) {
        uint32_t row = section->info & 0xffffff;

        if (row >= input->cubin.symbol_count)
            exact_refuse(join, input, item->index, "has no symbol");
        section->info = (section->info & 0xff000000) | input->symbol_out[row];
    } else {
        exact_refuse(join, input, item->index, "refers to something unknown");
    }
}

/* Sets section names, and e_flags, which name a note's section. */
void exact_finish_headers(struct exact *join)
{
    struct image *image = &join->image;
    struct buffer *names = &join->scratch;

    for (uint32_t i = 1; i < image->section_count; i++) {
        map_header(join, i);
        if (exact_kind_of(join, i) == KIND_TARGET)
            image->flags = (image->flags & CUBIN_FLAGS_MERGEABLE) | CUBIN_FLAGS_NOTE(i);
    }
    buffer_char(names, '\0');
    for (size_t i = 0; i < join->section_names.count; i++) {
        const struct exact_item *item = &join->section_names.items[i];

        if (item->index != TABLE_NONE)
            image->sections[item->input->section_out[item->index]].name_offset =
                (uint32_t)names->size;
        buffer_text(names, item->key);
        buffer_zeros(names, item->count + 1);
    }
    if (join->form->names == NAMES_REWRITTEN)
        buffer_zeros(names, exact_name_padding(join->base->cubin.has_twins));
    exact_take_data(join, EXACT_SECTION_NAMES);
}

/* Sections stand in the file one after the other, aligned, as nvlink lays them out, except for two
 * gaps: from sm_90 on the assembler reserves room for names that it then drops or shortens
 * (measured; the origin of some of the numbers is not known). So the gaps of each chunk and the
 * place of each section are checked: a chunk that does not follow the rules is not joined. */

/* What the two gaps depend on. */
struct gaps {
    uint64_t codes; /* bytes that the names of Mercury's code would take on sm_90 */
    /* Bytes by which old names of constants, and of their relocations, are longer than the new. */
    uint64_t renamed;
    bool has_mercury;
    bool is_builtin; /* the built-in assembler leaves no gaps */
};

/* Length of the first name of a bank's sections; 0 for those that keep their name. */
static size_t old_bank_name(struct text name)
{
    static const char *const old[3] = {".nv.constant.optimizer", ".nv.constant.user",
                                       ".nv.constant.pic"};
    struct text prefix = TEXT(".nv.constant");
    size_t bank;

    if (!text_starts(name, prefix) || name.size <= prefix.size)
        return 0;
    bank = (size_t)(name.data[prefix.size] - '2');
    return bank < 3 ? strlen(old[bank]) : 0;
}

static void count_section(struct gaps *gaps, struct text name)
{
    const struct section_facts *facts = sections_named(name);
    struct text plain = name;
    size_t old;
    const struct text code = sections_of_class(CLASS_TEXT)->name;

    gaps->is_builtin |= facts && facts->kind == KIND_BUILTIN;
    if (!gaps->has_mercury && facts && facts->class == CLASS_TEXT)
        gaps->codes += sections_of_class(CLASS_TWIN_TEXT)->name.size - code.size + name.size + 1;
    if (facts && facts->type == SHT_RELA)
        plain = text_drop(plain, facts->name.size - 1);
    old = old_bank_name(plain);
    if (old && plain.size == name.size)
        gaps->renamed += old - (sizeof ".nv.constant4" - 1) - 1;
    else if (old)
        gaps->renamed += name.size + old - (sizeof ".nv.constant4" - 1);
}

/* Between .shstrtab and .strtab, and between .strtab and .symtab before alignment. */
static void find_gaps(const struct exact *join, const struct gaps *gaps, uint64_t sizes[2])
{
    sizes[0] = sizes[1] = 0;
    if (join->form->names == NAMES_REWRITTEN)
        return;
    if (has_form_90(join) && !gaps->is_builtin)
        sizes[0] = exact_name_padding(gaps->has_mercury) + gaps->codes;
    if (gaps->has_mercury)
        sizes[1] = gaps->renamed;
}

/* Checks that a chunk's sections stand where the rules place them. */
static void check_chunk(struct exact *join, const struct exact_input *input)
{
    const struct cubin *cubin = &input->cubin;
    uint64_t position = sizeof(Elf64_Ehdr);
    struct gaps gaps = {.has_mercury = input->cubin.has_twins};
    uint64_t sizes[2];

    for (size_t i = 1; i < cubin->section_count; i++)
        count_section(&gaps, cubin->sections[i].name);
    find_gaps(join, &gaps, sizes);
    for (size_t i = 1; i < cubin->section_count; i++) {
        const struct cubin_section *section = &cubin->sections[i];
        bool has_gap = i == EXACT_STRINGS || i == EXACT_SYMBOLS;
        uint64_t place =
            image_align_up(position + (has_gap ? sizes[i - EXACT_STRINGS] : 0), section->alignment);

        if (has_no_bytes(section)) {
            position = place;
            continue;
        }
        if (section->size > 0 && section->data.data != input->file.data + place) {
            /* Mercury's twin, which shares the bytes of its plain section. */
            if (cubin_is_mercury(section) && input->section_owner[i] == EXACT_COMMON &&
                section->data.data < input->file.data + position)
                continue;
            exact_refuse(join, input, i, "stands at another place");
        }
        position = place + section->size;
    }
}

void exact_layout(struct exact *join)
{
    struct image *image = &join->image;
    struct gaps gaps = {.has_mercury = join->base->cubin.has_twins};
    struct image_program_layout layout = {
        .is_apart = has_form_90(join),
        .is_packed = join->form->names == NAMES_REWRITTEN,
    };

    for (size_t i = 0; i < join->count; i++)
        check_chunk(join, &join->inputs[i]);
    for (size_t i = 1; i < image->section_count; i++)
        count_section(&gaps, image->sections[i].name);
    find_gaps(join, &gaps, layout.gaps);
    image_layout_program(image, &layout);
}
