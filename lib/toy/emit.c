/* emit.c: the image of a cubin, relocatable as ptxas makes it under -c, or an executable.
 *
 * Types, flags and links of sections are those of ptxas for sm_75 to sm_90; from sm_100 on the
 * twins for its intermediate code are left out, since there is none. Symbols need the sections'
 * indices, and most contents need the symbols' indices: sections are entered first, then symbols,
 * then contents. */
#include "toy/internal.h"

#include "cubin/format.h"
#include "facts/cubins.h"

enum form {
    RELOCATABLE = 1,
    PROGRAM_75 = 2, /* an executable up to sm_89 */
    PROGRAM_90 = 4, /* ... from sm_90 on */
    PROGRAM = PROGRAM_75 | PROGRAM_90,
    ALL = RELOCATABLE | PROGRAM,
};

/* The sections in order, with the name, or the beginning of it. What else a header has is in
 * facts/sections.def. */
static const struct row {
    enum section section;
    enum form forms;
    const char *name;
    emit_put *put; /* its contents, if that is all they depend on */
} rows[] = {
    {SECTION_NAMES, ALL, ".shstrtab", NULL},
    {SECTION_STRINGS, ALL, ".strtab", NULL},
    {SECTION_SYMBOLS, ALL, ".symtab", NULL},
    {SECTION_TOOL_NOTE, ALL, ".note.nv.tkinfo", emit_info_tool_note},
    {SECTION_CUDA_NOTE, ALL, ".note.nv.cuinfo", emit_info_cuda_note},
    {SECTION_BUILTIN_NOTE, PROGRAM, ".note.minilink", emit_info_builtin_note},
    {SECTION_INFO, ALL, ".nv.info", emit_info},
    {SECTION_COMPAT, ALL, ".nv.compat", emit_info_compat},
    {OWNER_INFO, ALL, ".nv.info.", NULL},
    {SECTION_CALLGRAPH, ALL, ".nv.callgraph", emit_info_calls},
    {SECTION_PROTOTYPE, RELOCATABLE, ".nv.prototype", emit_info_prototypes},
    {OWNER_RELOCATIONS, ALL, ".rela.text.", NULL},
    {SECTION_DATA_RELOCATIONS + DATA_CONSTANT, PROGRAM, ".rela.nv.constant3", NULL},
    {SECTION_DATA_RELOCATIONS + DATA_INITIALISED, ALL, ".rela.nv.global.init", NULL},
    {SECTION_DATA_RELOCATIONS + DATA_CONSTANT, RELOCATABLE, ".rela.nv.constant3", NULL},
    {SECTION_DATA + DATA_CONSTANT, ALL, ".nv.constant3", NULL},
    {OWNER_CONSTANT, PROGRAM_75, ".nv.constant0.", NULL},
    {OWNER_TEXT, ALL, ".text.", NULL},
    {SECTION_DATA + DATA_INITIALISED, ALL, ".nv.global.init", NULL},
    {SECTION_DATA + DATA_SHARED, RELOCATABLE, ".nv_debug.shared", NULL},
    {SECTION_DATA + DATA_ZERO, ALL, ".nv.global", NULL},
    {OWNER_SHARED, ALL, ".nv.shared.", NULL},
    {OWNER_CONSTANT, RELOCATABLE | PROGRAM_90, ".nv.constant0.", NULL},
    {SECTION_BUILTIN_NOTE, RELOCATABLE, ".note.minilink", emit_info_builtin_note},
};

static bool is_program(const struct unit *unit)
{
    return unit->image.type == ET_EXEC;
}

static bool has_form_90(const struct unit *unit)
{
    return targets_have(unit->job.sm, TARGET_HAS_FORM_90);
}

/* Enters data, for which executables have ELF's own types (measured). */
static void set_data(const struct unit *unit, struct image_section *section, uint64_t size,
                     const void *bytes, bool has_no_bytes)
{
    section->size = size;
    section->data = bytes;
    section->has_no_bytes = has_no_bytes;
    if (is_program(unit))
        section->type = has_no_bytes ? SHT_NOBITS : SHT_PROGBITS;
}

static bool begin_data(const struct unit *unit, enum data_kind kind, struct image_section *section)
{
    const struct data_section *data = &unit->data.sections[kind];

    section->alignment = data->alignment;
    set_data(unit, section, data->size, data->bytes, kind == DATA_ZERO || kind == DATA_SHARED);
    if (kind == DATA_CONSTANT && !is_program(unit))
        section->type += USER_BANK;
    return data->alignment != 0;
}

/* Whether the chunk, or the owner, has such a section; enters what is known before symbols are. */
static bool begin_section(struct unit *unit, const struct function_code *owner, enum section which,
                          struct image_section *section)
{
    if (which >= SECTION_DATA && which < OWNER_TEXT)
        return begin_data(unit, which - SECTION_DATA, section);
    if (which >= SECTION_DATA_RELOCATIONS && which < SECTION_PROTOTYPE)
        return unit->data.sections[which - SECTION_DATA_RELOCATIONS].relocation_count != 0;
    switch (which) {
    case SECTION_COMPAT:
        return has_form_90(unit);
    case SECTION_PROTOTYPE:
        return emit_info_has_prototypes(unit);
    case OWNER_TEXT:
        section->size = owner->code.size;
        section->data = owner->code.data;
        return true;
    case OWNER_SHARED:
        section->alignment = owner->shared_alignment;
        set_data(unit, section, owner->shared_bytes, NULL, true);
        return owner->shared_alignment != 0;
    case OWNER_RELOCATIONS:
        return owner->relocation_count != 0;
    case OWNER_CONSTANT:
        set_data(unit, section, unit->parameter_base + owner->parameter_bytes, NULL, false);
        return owner->item->function.is_entry;
    default:
        return true;
    }
}

/* Adds the section, if there is one, of the owner, or without one of the chunk. */
static void add_section(struct unit *unit, struct function_code *owner, const struct row *row)
{
    const struct section_facts *facts = sections_named(text_of(row->name));
    uint32_t *sections = owner ? owner->sections : unit->sections;

    if (owner)
        facts = sections_of_function(facts);
    struct image_section section = {.name = text_of(row->name),
                                    .type = facts->type,
                                    .flags = facts->flags,
                                    .alignment = facts->alignment,
                                    .entry_size = facts->entry_size};
    if (facts->link == SECTION_LINK_SYMBOLS)
        section.link = unit->sections[SECTION_SYMBOLS];
    if (!begin_section(unit, owner, row->section, &section))
        return;
    if (owner)
        section.name = arena_join(&unit->arena, section.name, owner->item->name);
    sections[row->section] = image_add_section(&unit->image, &section);
}

/* Appends relocations: ptxas writes them in descending order of offset. */
static void put_relocations(const struct unit *unit, const struct code_relocation *list,
                            size_t count, struct buffer *out)
{
    while (count-- > 0) {
        uint64_t symbol = emit_symbol_of(unit, list[count].symbol);
        const Elf64_Rela row = {list[count].offset, ELF64_R_INFO(symbol, list[count].type),
                                list[count].addend};

        buffer_append(out, &row, sizeof row);
    }
}

/* Appends the contents of a section in which symbols have their indices, and returns the section
 * that it belongs to; of code the function's symbol, above which the old form has the number of
 * registers. */
static uint32_t put_contents(struct unit *unit, const struct function_code *owner,
                             const struct row *row, struct buffer *out)
{
    enum section which = row->section;

    if (row->put)
        row->put(unit, out);
    if (which >= SECTION_DATA_RELOCATIONS && which < SECTION_PROTOTYPE) {
        uint32_t kind = which - SECTION_DATA_RELOCATIONS;

        put_relocations(unit, unit->data.sections[kind].relocations,
                        unit->data.sections[kind].relocation_count, out);
        return unit->sections[SECTION_DATA + kind];
    }
    if (which == OWNER_INFO)
        emit_info_owner(unit, owner, out);
    else if (which == OWNER_RELOCATIONS)
        put_relocations(unit, owner->relocations, owner->relocation_count, out);
    else if (which == OWNER_TEXT)
        return owner->global->symbol | (has_form_90(unit) ? 0 : owner->register_count << 24);
    return owner                        ? owner->sections[OWNER_TEXT]
           : which == SECTION_CUDA_NOTE ? unit->sections[SECTION_COMPAT]
                                        : 0;
}

/* Enters what depends on symbols, or on sections that were added later. */
static void fill_section(struct unit *unit, struct function_code *owner, const struct row *row)
{
    uint32_t index = (owner ? owner->sections : unit->sections)[row->section];
    struct image_section *section = &unit->image.sections[index];

    if (index == 0)
        return;
    section->info = put_contents(unit, owner, row, &unit->code);
    if (unit->code.size) {
        section->data = arena_copy(&unit->arena, unit->code.data, unit->code.size, 1);
        section->size = unit->code.size;
        unit->code.size = 0;
    }
}

/* Calls it for each section that the chunk, or an owner, may have. */
static void visit_sections(struct unit *unit,
                           void (*visit)(struct unit *unit, struct function_code *owner,
                                         const struct row *row))
{
    enum form form = !is_program(unit) ? RELOCATABLE : has_form_90(unit) ? PROGRAM_90 : PROGRAM_75;

    for (const struct row *row = rows; row < rows + sizeof rows / sizeof *rows; row++) {
        bool is_owned = row->section >= OWNER_TEXT && row->section < SECTION_CALLGRAPH;

        if (!(row->forms & form))
            continue;
        if (!is_owned)
            visit(unit, NULL, row);
        for (size_t i = 0; is_owned && i < unit->owner_count; i++)
            visit(unit, &unit->owners[i], row);
    }
}

static void add_name(struct unit *unit, struct image_strings *names, uint32_t section)
{
    unit->image.sections[section].name_offset =
        image_string(names, unit->image.sections[section].name);
}

/* Names of a program are in the order in which ptxas makes sections: a kernel's are adjacent. */
static void name_sections(struct unit *unit)
{
    struct image_strings names = {0};

    CONTEXT_DEFER(image_strings_free, &names);
    for (enum section i = 0; is_program(unit) && i < SECTIONS; i++) {
        for (size_t k = 0; i == OWNER_TEXT && k < unit->owner_count; k++)
            for (enum section of = OWNER_TEXT; of < SECTION_CALLGRAPH; of++)
                add_name(unit, &names, unit->owners[k].sections[of]);
        add_name(unit, &names, unit->sections[i]);
    }
    image_set_section_names(&unit->image, unit->sections[SECTION_NAMES], &names);
}

void emit_image(struct unit *unit, uint16_t type)
{
    struct image *image = &unit->image;
    struct image_section *note;

    image_begin(image, type, format_target_flags(unit->job.sm));
    visit_sections(unit, add_section);
    note = &image->sections[unit->sections[SECTION_CUDA_NOTE]];
    note->flags |= has_form_90(unit) ? SHF_INFO_LINK : 0;
    note->link = unit->sections[SECTION_TOOL_NOTE];
    image->sections[unit->sections[SECTION_SYMBOLS]].link = unit->sections[SECTION_STRINGS];
    image->flags |= unit->sections[SECTION_CUDA_NOTE] << CUBIN_FLAGS_NOTE_SHIFT;
    emit_symbols(unit);
    visit_sections(unit, fill_section);
    image_set_symbols(image, unit->sections[SECTION_SYMBOLS], unit->symbols, unit->symbol_count,
                      &unit->strings);
    image_take_strings(image, unit->sections[SECTION_STRINGS], &unit->strings.bytes);
    name_sections(unit);
    if (is_program(unit))
        image_layout_program(image, &(struct image_program_layout){.is_apart = has_form_90(unit)});
    else
        image_layout(image);
    image_bytes(image, &unit->cubin);
}

/* Marks the globals that the function's code refers to, which get symbols, and those whose address
 * it takes. Finds the functions among them that the chunk does not define, and all kernels
 * (measured on ptxas: a kernel stays an extern even if it is defined). */
static void note_uses(struct unit *unit, struct function_code *function)
{
    function->externs =
        arena_alloc(&unit->arena, function->symbol_count, sizeof *function->externs);
    for (size_t i = 0; i < function->symbol_count; i++) {
        const struct body_symbol *symbol = &function->symbols[i];
        if (symbol->is_body_variable || !symbol->uses)
            continue;
        struct global *global = &unit->scope.globals[symbol->global];
        global->is_used = global->target->is_used = true;
        if (symbol->uses & USE_ADDRESS)
            global->is_address_taken = global->target->is_address_taken = true;
        if (symbol->is_function && (!global->is_defined || global->item->function.is_entry))
            function->externs[function->extern_count++] = global;
    }
}

void emit_relocatable(struct unit *unit)
{
    unit->owners = unit->functions; /* every function has sections of its own */
    unit->owner_count = unit->function_count;
    for (size_t i = 0; i < unit->function_count; i++)
        note_uses(unit, &unit->functions[i]);
    emit_image(unit, ET_REL);
}
