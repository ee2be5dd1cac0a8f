/* mercury.c: Mercury's twins of sections and symbols, from sm_100 on, and what its finalizer leaves
 * of debug information, as measured on ptxas and nvlink 13.0 to 13.5; minilink-cubin(5) describes
 * them. Symbol i of Mercury's table is symbol i of .symtab, with the twin for its section. */
#include "merge/internal.h"

#include "diag/diag.h"

#define NAMED 4u /* how many inputs a message names */

void mercury_leave_out(struct merging *m, size_t file, const char *why)
{
    if (m->out->has_twins)
        cubin_twins_leave_out(m->cubins[file], why);
    m->out->has_twins = false;
}

/* Finds the functions that the twins of one cubin belong to; returns NULL, or what is wrong. */
static const char *find_twin_owners(struct merging *m, size_t file)
{
    const struct cubin *cubin = m->cubins[file];
    const char *wrong = cubin_twins_check(cubin);

    for (size_t i = 1; !wrong && i < cubin->section_count; i++) {
        const struct cubin_section *section = &cubin->sections[i];
        uint32_t code = cubin_twin_is_owned(section) ? cubin_twin_code(cubin, section) : 0;
        uint32_t owner = code ? merging_owner(m, file, code) : MERGE_NONE;

        if (owner != MERGE_NONE)
            m->resolved.owner_of[m->section_base[file] + i] = owner;
    }
    return wrong;
}

/* Number of rows of Mercury's table, which the plain one has, too. */
static size_t count_twin_rows(const struct cubin *cubin)
{
    return cubin->sections[cubin->twin_symtab].size / sizeof(Elf64_Sym);
}

/* Finds the symbols that Mercury's tables have in no cubin: on sm_107 what textures' code calls. */
static void find_plain_only(struct merging *m)
{
    bool *lacks = NULL;
    uint32_t symbol;

    for (size_t file = 0; file < m->count; file++)
        for (size_t i = count_twin_rows(m->cubins[file]); i < m->cubins[file]->symbol_count; i++) {
            symbol = merging_symbol(m, file, (uint32_t)i);
            if (symbol == MERGE_NONE || m->symbols[symbol].file != MERGE_NONE)
                continue;
            lacks = lacks ?: arena_zalloc(&m->arena, m->symbol_count, sizeof *lacks);
            lacks[symbol] = true;
        }
    for (size_t file = 0; lacks && file < m->count; file++)
        for (size_t i = count_twin_rows(m->cubins[file]); i-- > 1;) {
            symbol = merging_symbol(m, file, (uint32_t)i);
            if (symbol != MERGE_NONE)
                lacks[symbol] = false;
        }
    m->out->is_plain_only = lacks;
}

/* Finds code that nvlink's finalizer would make anew, and says where it is. */
static void find_outdated(struct merging *m)
{
    LOCAL_BUFFER(names);
    size_t count = 0;

    m->out->is_outdated = arena_zalloc(&m->arena, m->count, sizeof *m->out->is_outdated);
    for (size_t file = 0; file < m->count; file++) {
        unsigned maker = cubin_maker(m->cubins[file]);

        if (maker == 0 || toolkits_find(maker)->finalizer >= m->request->toolkit->finalizer)
            continue;
        m->out->is_outdated[file] = true;
        if (merging_is_made(m, file)) /* by the assembler that was chosen for this link */
            continue;
        if (count++ < NAMED)
            buffer_printf(&names, "%s'%s'", count > 1 ? ", " : "", m->cubins[file]->name);
    }
    if (count > NAMED)
        buffer_printf(&names, " and %zu more", count - NAMED);
    if (count > 0 && !m->request->relocatable)
        diag_caution(
            "Code in %.*s stays as older toolkits than CUDA %u.%u made it, although nvlink "
            "would finalize it anew: compile again for what nvlink makes",
            TEXT_ARG(buffer_view(&names)), m->request->toolkit->version / 10,
            m->request->toolkit->version % 10);
}

void mercury_begin(struct merging *m)
{
    if (!merging_is_mercury(m))
        return;
    find_outdated(m);
    for (size_t file = 0; file < m->count && !m->request->sass_only; file++)
        m->out->has_twins |= m->cubins[file]->has_twins;
    for (size_t file = 0; m->out->has_twins && file < m->count; file++) {
        const char *wrong = find_twin_owners(m, file);

        if (wrong)
            mercury_leave_out(m, file, wrong);
    }
    if (m->out->has_twins)
        find_plain_only(m);
}

/* Copies the twin of a function's constants, which moved (constants.c), into the kernel's twin,
 * which is made if it is new, and as long as the plain section. Measured on nvlink: it has the
 * contents and relocations at the same offsets. */
static void copy_twin(struct merging *m, const struct merged_copy *constants)
{
    uint32_t from = m->out->sections[constants->from].twin, to;
    const struct merged_section *plain, *source;
    struct merged_section *twin;

    if (from == MERGE_NONE)
        return;
    to = m->out->sections[constants->to].twin;
    if (to == MERGE_NONE) {
        to = layout_make_like(m, from, m->out->sections[constants->to].function);
        m->out->sections[to].target = constants->to;
        m->out->sections[constants->to].twin = to;
    }
    plain = &m->out->sections[constants->to];
    source = &m->out->sections[from];
    twin = &m->out->sections[to];
    if (twin->size < plain->size) {
        uint8_t *own = arena_zalloc(&m->image->arena, plain->size, 1);

        if (twin->size > 0)
            memcpy(own, twin->data, twin->size);
        twin->data = own;
        twin->is_own = true;
        twin->size = plain->size;
        RAISE(twin->alignment, plain->alignment);
    }
    if (source->size > 0 && constants->offset + source->size <= plain->size)
        memcpy(layout_writable(m, to) + constants->offset, source->data, source->size);
}

void mercury_pair(struct merging *m)
{
    size_t count = m->out->section_count;

    if (!m->out->has_twins)
        return;
    for (size_t file = 0; file < m->count; file++) {
        const struct cubin *cubin = m->cubins[file];
        const struct merged_place *places = merging_place(m, file, 0);

        for (uint32_t i = 1; i < cubin->symbol_count; i++) {
            uint32_t plain, twin;

            if (!cubin_twins_pair(cubin, i, &plain, &twin) || places[plain].section == MERGE_NONE ||
                places[twin].section == MERGE_NONE)
                continue;
            m->out->sections[places[plain].section].twin = places[twin].section;
            m->out->sections[places[twin].section].target = places[plain].section;
        }
    }
    for (size_t i = 0; i < m->out->constant_count; i++)
        copy_twin(m, &m->out->constants[i]);
    /* Twins of moved constants are not written themselves. */
    for (size_t i = 0; i < count; i++) {
        struct merged_section *section = &m->out->sections[i];

        if (section->class != CLASS_COUNT || section->twin == MERGE_NONE)
            continue;
        m->out->sections[section->twin].class = CLASS_COUNT;
        section->twin = MERGE_NONE;
    }
}

/* Adds the twins of .nv.info.F, in the order of the plain sections. */
static void add_infos(struct merging *m)
{
    uint32_t *found = arena_zalloc(&m->arena, m->symbol_count, sizeof *found); /* by function */
    size_t count = m->out->section_count;

    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_TWIN_INFO);) {
        uint32_t owner = merging_owner(m, at.file, at.index);

        if (owner != MERGE_NONE && merging_keeps(m, at.file, at.index))
            found[owner] = at.index;
    }
    if (attributes_has_program_records(m, INPUT_TWIN_INFO))
        layout_make(m, CLASS_TWIN_INFO, MERGE_NONE);
    for (size_t i = 0; i < count; i++)
        if (m->out->sections[i].class == CLASS_FUNCTION_INFO && found[m->out->sections[i].function])
            layout_make_info(m, CLASS_TWIN_FUNCTION_INFO, m->out->sections[i].function,
                             found[m->out->sections[i].function]);
}

/* Adds the twins of the call graph, which callgraph_encode() writes: rows of functions are the same
 * in both symbol tables, and prototypes stand in one string table. */
static void add_graph(struct merging *m)
{
    size_t count = m->out->section_count;

    for (uint32_t i = 0; i < count; i++) {
        enum section_class class = m->out->sections[i].class;
        uint32_t twin;

        if (class != CLASS_CALLGRAPH && class != CLASS_PROTOTYPE)
            continue;
        class = sections_of_class(class)->twin;
        if (!toolkit_is_in(m->request->toolkit, sections_of_class(class)->toolkits))
            continue;
        twin = layout_make(m, class, MERGE_NONE);
        m->out->sections[i].twin = twin;
        m->out->sections[twin].target = i;
    }
}

void mercury_add_sections(struct merging *m)
{
    if (!m->out->has_twins)
        return;
    add_infos(m);
    add_graph(m);
    /* The table of section indices, if indices may not fit into st_shndx. */
    m->out->twin_indices = m->out->section_count + ORDERING_INDICES + 2 < SHN_LORESERVE
                               ? MERGE_NONE
                               : layout_make(m, CLASS_TWIN_INDICES, MERGE_NONE);
    m->out->twin_symtab = layout_make(m, CLASS_TWIN_SYMTAB, MERGE_NONE);
}

void mercury_encode(struct merging *m)
{
    for (uint32_t i = 0; m->out->has_twins && i < m->out->section_count; i++) {
        struct merged_section *section = &m->out->sections[i];
        uint32_t text;

        if (section->class != CLASS_TWIN_TEXT)
            continue;
        text = m->out->sections[m->out->text_of[section->function]].index;
        memcpy(layout_writable(m, i), &text, sizeof text);
    }
}

/* A merged section's twin, or itself if it has none. */
static const struct merged_section *twin_of(const struct merging *m, uint32_t section)
{
    uint32_t twin = m->out->sections[section].twin;

    return &m->out->sections[twin == MERGE_NONE ? section : twin];
}

static struct image_symbol section_row(struct merging *m, uint32_t section)
{
    const struct merged_section *twin = twin_of(m, section);

    return (struct image_symbol){
        .name_offset = names_put(m, NAMES_STRTAB, sections_plain_name(twin->name)),
        .type = STT_SECTION,
        .binding = STB_LOCAL,
        .section = twin->index,
    };
}

/* `plain` is the symbol's row in .symtab. */
static struct image_symbol symbol_row(const struct merging *m, uint32_t index,
                                      const Elf64_Sym *plain)
{
    const struct merged_symbol *symbol = &m->symbols[index];
    const struct placed_symbol *placed = &m->out->placed[index];
    struct image_symbol row = {
        .name_offset = plain->st_name,
        .value = plain->st_value,
        .size = plain->st_size,
        .type = symbol->type,
        .binding = symtab_makes_local(m, index) ? STB_LOCAL : symbol->binding,
        .other = placed->other,
        .section = plain->st_shndx < SHN_LORESERVE ? 0 : SECTION_SPECIAL | plain->st_shndx,
    };

    if (placed->section != MERGE_NONE)
        row.section = twin_of(m, placed->section)->index;
    if (symbol->type == STT_FUNC && symbol->file != MERGE_NONE) {
        const Elf64_Sym twin = cubin_twin_symbol(m->cubins[symbol->file], symbol->input);

        row.size = twin.st_size;
        if (merging_is_inner(m, index))
            row.value = twin.st_value;
    }
    if (resolve_is_reserved(symbol->name))
        row.value = 0;
    /* Under -g: without the bytes reserved for the driver. */
    if (merged_is_data(symbol, STO_CUDA_SHARED) && !m->request->relocatable)
        row.value = m->out->shared.address[index];
    if (merged_is_data(symbol, STO_CUDA_RESERVED_SHARED))
        row.value = shared_reserved_twin_value(m, index);
    return row;
}

void mercury_encode_symbols(struct merging *m)
{
    const Elf64_Sym *plain = m->image->sections[ORDERING_SYMTAB].data;
    uint32_t symtab, indices;
    struct image_symbols rows;

    if (!m->out->has_twins)
        return;
    symtab = m->out->sections[m->out->twin_symtab].index;
    indices = m->out->twin_indices == MERGE_NONE ? 0 : m->out->sections[m->out->twin_indices].index;
    image_begin_symbols(m->image, indices, m->out->rows.twin_count, NULL, &rows);
    image_put_symbol(&rows, 0, &(struct image_symbol){0});
    for (size_t row = 1; row < rows.count; row++) {
        uint32_t symbol = m->out->rows.symbols[row];
        uint32_t section = m->out->rows.sections[row];
        struct image_symbol made = {.type = STT_FUNC, .name_offset = plain[row].st_name};

        if (symbol != MERGE_NONE)
            made = symbol_row(m, symbol, &plain[row]);
        else if (section != MERGE_NONE)
            made = section_row(m, section);
        image_put_symbol(&rows, row, &made);
    }
    image_end_symbols(m->image, symtab, &rows, m->out->rows.first_global);
}

/* Which registers hold a variable of PTX where, in .nv_debug_info_reg_sass: a block for each
 * function: its name, a u32 count, and for each place {u32 flags, the variable's name, u32
 * register, u32 begin, u32 end}; names end with NUL, begin and end are offsets in the function.
 * Measured on nvlink 13.0 and 13.5 with ptxas -g for sm_100 and sm_120: from sm_100 on the first
 * block of each name that the output has a function of stays, and all others have begins and ends
 * of 0. Mercury's twin stays as it is. */
#define WORD_BYTES 4u
#define RANGE_SIZE 8u

/* Takes a name off `rest`; false if no NUL ends it. */
static bool take_function_name(struct text *rest, struct text *name)
{
    const char *end = rest->size ? memchr(rest->data, '\0', rest->size) : NULL;

    if (!end)
        return false;
    *name = (struct text){rest->data, (size_t)(end - rest->data)};
    *rest = text_drop(*rest, name->size + 1);
    return true;
}

/* Moves `rest` behind a place, and sets *range to what it says of the function; false: cut off. */
static bool take_place(struct text *rest, const char **range)
{
    struct text name;

    if (rest->size < WORD_BYTES)
        return false;
    *rest = text_drop(*rest, WORD_BYTES);
    if (!take_function_name(rest, &name) || rest->size < WORD_BYTES + RANGE_SIZE)
        return false;
    *range = rest->data + WORD_BYTES;
    *rest = text_drop(*rest, WORD_BYTES + RANGE_SIZE);
    return true;
}

/* Clears places of blocks not in `kept`, or in `seen` already; false if they are no blocks. */
static bool clear_register_blocks(char *blocks, size_t size, struct table *seen,
                                  const struct table *kept)
{
    struct text rest = {blocks, size};

    while (rest.size > 0) {
        struct text name;
        uint32_t count;
        bool stays;

        if (!take_function_name(&rest, &name) || rest.size < WORD_BYTES)
            return false;
        count = little_u32((const uint8_t *)rest.data);
        rest = text_drop(rest, WORD_BYTES);
        stays = table_find(kept, name) != TABLE_NONE && table_find(seen, name) == TABLE_NONE;
        table_set(seen, name, 0);
        for (; count > 0; count--) {
            const char *range;

            if (!take_place(&rest, &range))
                return false;
            if (!stays)
                memset(blocks + (range - blocks), 0, RANGE_SIZE);
        }
    }
    return true;
}

void mercury_clear_registers(struct merging *m)
{
    uint32_t index =
        table_find(&m->out->section_names, sections_of_kind(KIND_REGISTERS, false)->name);
    LOCAL_TABLE(kept);
    LOCAL_TABLE(seen);
    struct merged_section *section;
    char *copy;

    if (!merging_is_mercury(m) || index == TABLE_NONE ||
        m->out->sections[index].class != CLASS_DEBUG)
        return;
    for (uint32_t i = 0; i < m->symbol_count; i++)
        if (m->symbols[i].type == STT_FUNC && m->is_live[merging_canonical(m, i)])
            table_set(&kept, m->symbols[i].name, i);
    section = &m->out->sections[index];
    copy = arena_copy(&m->image->arena, section->data, section->size, 1);
    /* What has another structure is carried over whole. */
    if (clear_register_blocks(copy, section->size, &seen, &kept))
        section->data = (uint8_t *)copy;
}
