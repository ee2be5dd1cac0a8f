/* emit.c: the image of a cubin, relocatable as ptxas makes it under -c, or an executable.
 *
 * Types, flags and links of sections are those of ptxas for sm_75 to sm_90; from sm_100 on the
 * twins for its intermediate code are left out, since there is none. Symbols need the sections'
 * indices, and most contents need the symbols' indices: sections are entered first, then symbols,
 * then contents. */
#include "toy/phases.h"

#include "cubin/format.h"
#include "facts/sections.h"
#include "facts/targets.h"

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
} rows[] = {
    {SECTION_NAMES, ALL, ".shstrtab"},
    {SECTION_STRINGS, ALL, ".strtab"},
    {SECTION_SYMBOLS, ALL, ".symtab"},
    {SECTION_LINES, RELOCATABLE, ".debug_line"},
    {SECTION_TOOL_NOTE, ALL, ".note.nv.tkinfo"},
    {SECTION_CUDA_NOTE, ALL, ".note.nv.cuinfo"},
    {SECTION_BUILTIN_NOTE, PROGRAM, ".note.minilink"},
    {SECTION_INFO, ALL, ".nv.info"},
    {SECTION_COMPAT, ALL, ".nv.compat"},
    {OWNER_INFO, ALL, ".nv.info."},
    {SECTION_CALLGRAPH, ALL, ".nv.callgraph"},
    {SECTION_PROTOTYPE, RELOCATABLE, ".nv.prototype"},
    {OWNER_RELOCATIONS, ALL, ".rela.text."},
    {SECTION_LINE_RELOCATIONS, RELOCATABLE, ".rela.debug_line"},
    {SECTION_DATA_RELOCATIONS + DATA_CONSTANT, PROGRAM, ".rela.nv.constant3"},
    {SECTION_DATA_RELOCATIONS + DATA_INITIALISED, ALL, ".rela.nv.global.init"},
    {SECTION_DATA_RELOCATIONS + DATA_CONSTANT, RELOCATABLE, ".rela.nv.constant3"},
    {SECTION_DATA + DATA_CONSTANT, ALL, ".nv.constant3"},
    {OWNER_CONSTANT, PROGRAM_75, ".nv.constant0."},
    {OWNER_TEXT, ALL, ".text."},
    {SECTION_DATA + DATA_INITIALISED, ALL, ".nv.global.init"},
    {SECTION_DATA + DATA_SHARED, RELOCATABLE, ".nv_debug.shared"},
    {SECTION_DATA + DATA_ZERO, ALL, ".nv.global"},
    {OWNER_SHARED, ALL, ".nv.shared."},
    {OWNER_CONSTANT, RELOCATABLE | PROGRAM_90, ".nv.constant0."},
    {SECTION_BUILTIN_NOTE, RELOCATABLE, ".note.minilink"},
};

static bool is_program(const struct unit *unit)
{
    return unit->image.type == ET_EXEC;
}

static bool has_form_90(const struct unit *unit)
{
    return targets_have(unit->job->sm, TARGET_HAS_FORM_90);
}

static bool has_lines(const struct unit *unit)
{
    for (size_t i = 0; i < unit->function_count; i++)
        if (unit->functions[i].line_count)
            return true;
    return false;
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
static bool begin_section(struct unit *unit, const struct owner *owner, enum section which,
                          struct image_section *section)
{
    if (which >= SECTION_DATA && which < OWNER_TEXT)
        return begin_data(unit, which - SECTION_DATA, section);
    if (which >= SECTION_DATA_RELOCATIONS && which < SECTION_PROTOTYPE)
        return unit->data.sections[which - SECTION_DATA_RELOCATIONS].relocation_count != 0;
    switch (which) {
    case SECTION_LINES:
    case SECTION_LINE_RELOCATIONS:
        return has_lines(unit);
    case SECTION_COMPAT:
        return has_form_90(unit);
    case SECTION_PROTOTYPE:
        return emit_graph_has_prototypes(unit);
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
        set_data(unit, section, unit->parameter_base + owner->function->parameter_bytes, NULL,
                 false);
        return owner->function->item->function.is_entry;
    default:
        return true;
    }
}

static void add_section(struct unit *unit, struct owner *owner, const struct row *row)
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
        section.name = arena_join(&unit->arena, section.name, owner->function->item->name);
    sections[row->section] = image_add_section(&unit->image, &section);
}

static void add_sections(struct unit *unit)
{
    enum form form = !is_program(unit) ? RELOCATABLE : has_form_90(unit) ? PROGRAM_90 : PROGRAM_75;

    for (const struct row *row = rows; row < rows + sizeof rows / sizeof *rows; row++) {
        if (!(row->forms & form))
            continue;
        if (row->section < OWNER_TEXT || row->section >= SECTION_CALLGRAPH)
            add_section(unit, NULL, row);
        else
            for (size_t i = 0; i < unit->owner_count; i++)
                add_section(unit, &unit->owners[i], row);
    }
    struct image_section *note = &unit->image.sections[unit->sections[SECTION_CUDA_NOTE]];
    note->flags |= has_form_90(unit) ? SHF_INFO_LINK : 0;
    note->link = unit->sections[SECTION_TOOL_NOTE];
    note->info = unit->sections[SECTION_COMPAT];
    unit->image.sections[unit->sections[SECTION_SYMBOLS]].link = unit->sections[SECTION_STRINGS];
    unit->image.flags |= unit->sections[SECTION_CUDA_NOTE] << CUBIN_FLAGS_NOTE_SHIFT;
}

static void set_relocations(struct unit *unit, uint32_t section, uint32_t target, Elf64_Rela *list,
                            size_t count)
{
    unit->image.sections[section].info = target;
    unit->image.sections[section].data = list;
    unit->image.sections[section].size = count * sizeof *list;
}

/* Makes the list the relocations of section `target`: ptxas writes them in descending order of
 * offset. */
static void fill_relocations(struct unit *unit, uint32_t section, uint32_t target,
                             const struct code_relocation *relocations, size_t count)
{
    Elf64_Rela *list = arena_alloc(&unit->arena, count, sizeof *list);

    for (size_t i = 0; i < count; i++) {
        const struct code_relocation *from = &relocations[count - 1 - i];

        list[i] = (Elf64_Rela){
            .r_offset = from->offset,
            .r_info = ELF64_R_INFO((uint64_t)emit_symbol_of(unit, from->symbol), from->type),
            .r_addend = from->addend};
    }
    if (count)
        set_relocations(unit, section, target, list, count);
}

static void fill_data_relocations(struct unit *unit, enum data_kind kind)
{
    fill_relocations(unit, unit->sections[SECTION_DATA_RELOCATIONS + kind],
                     unit->sections[SECTION_DATA + kind], unit->data.sections[kind].relocations,
                     unit->data.sections[kind].relocation_count);
}

static void fill_line_relocations(struct unit *unit)
{
    Elf64_Rela *list = arena_alloc(&unit->arena, unit->function_count, sizeof *list);
    size_t count = 0;

    for (size_t i = 0; i < unit->function_count; i++) {
        uint64_t symbol = unit->scope.globals[unit->functions[i].global].symbol;

        if (unit->functions[i].line_address)
            list[count++] = (Elf64_Rela){.r_offset = unit->functions[i].line_address,
                                         .r_info = ELF64_R_INFO(symbol, R_CUDA_64)};
    }
    if (count)
        set_relocations(unit, unit->sections[SECTION_LINE_RELOCATIONS],
                        unit->sections[SECTION_LINES], list, count);
}

static void set_contents(struct unit *unit, uint32_t section)
{
    unit->image.sections[section].data =
        arena_copy(&unit->arena, unit->code.data, unit->code.size, 1);
    unit->image.sections[section].size = unit->code.size;
    unit->code.size = 0;
}

static void fill_owner(struct unit *unit, const struct owner *owner)
{
    uint32_t symbol = unit->scope.globals[owner->function->global].symbol;
    /* In the old form sh_info has the register count above the symbol. */
    uint32_t registers = has_form_90(unit) ? 0 : owner->register_count << 24;

    for (enum section i = OWNER_TEXT; i < SECTION_CALLGRAPH; i++)
        if (owner->sections[i])
            unit->image.sections[owner->sections[i]].info = owner->sections[OWNER_TEXT];
    unit->image.sections[owner->sections[OWNER_TEXT]].info = symbol | registers;
    emit_info_owner(unit, owner, &unit->code);
    set_contents(unit, owner->sections[OWNER_INFO]);
    fill_relocations(unit, owner->sections[OWNER_RELOCATIONS], owner->sections[OWNER_TEXT],
                     owner->relocations, owner->relocation_count);
}

static void fill_sections(struct unit *unit)
{
    static emit_put *const puts[SECTIONS] = {
        [SECTION_LINES] = emit_line_units,
        [SECTION_TOOL_NOTE] = emit_info_tool_note,
        [SECTION_CUDA_NOTE] = emit_info_cuda_note,
        [SECTION_BUILTIN_NOTE] = emit_info_builtin_note,
        [SECTION_INFO] = emit_info,
        [SECTION_COMPAT] = emit_info_compat,
        [SECTION_CALLGRAPH] = emit_graph_calls,
        [SECTION_PROTOTYPE] = emit_graph_prototypes,
    };

    for (size_t i = 0; i < unit->owner_count; i++)
        fill_owner(unit, &unit->owners[i]);
    fill_data_relocations(unit, DATA_CONSTANT);
    fill_data_relocations(unit, DATA_INITIALISED);
    for (int i = 0; i < SECTIONS; i++)
        if (puts[i] && unit->sections[i]) {
            puts[i](unit, &unit->code);
            set_contents(unit, unit->sections[i]);
        }
    fill_line_relocations(unit);
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

    CONTEXT_DEFER(image_strings_cleanup, &names);
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

    image_begin(image, type, format_target_flags(unit->job->sm));
    add_sections(unit);
    emit_symbols(unit);
    fill_sections(unit);
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

/* Marks the globals that functions' code refers to, which get symbols, and those whose address it
 * takes. */
static void mark_uses(struct unit *unit)
{
    for (size_t i = 0; i < unit->function_count; i++) {
        const struct function_code *function = &unit->functions[i];

        for (size_t k = 0; k < function->symbol_count; k++) {
            const struct body_symbol *symbol = &function->symbols[k];
            if (symbol->is_body_variable || !symbol->uses)
                continue;
            struct global *global = &unit->scope.globals[symbol->global];
            struct global *target = scope_target(&unit->scope, global);
            global->is_used = target->is_used = true;
            if (symbol->uses & USE_ADDRESS)
                global->is_address_taken = target->is_address_taken = true;
        }
    }
}

/* Finds the functions that the code refers to and the chunk does not define, and all kernels
 * referred to (measured on ptxas: a kernel stays an extern even if it is defined). */
static void find_externs(struct unit *unit, struct owner *owner)
{
    const struct function_code *function = owner->function;

    owner->externs = arena_alloc(&unit->arena, function->symbol_count, sizeof *owner->externs);
    for (size_t i = 0; i < function->symbol_count; i++) {
        const struct global *global =
            scope_used_function(&unit->scope, &function->symbols[i], USE_CALLED | USE_ADDRESS);

        if (global && (!global->is_defined || global->item->function.is_entry))
            owner->externs[owner->extern_count++] = function->symbols[i].global;
    }
}

/* Every function has sections of its own. */
static void make_owners(struct unit *unit)
{
    unit->owner_count = unit->function_count;
    unit->owners = arena_alloc(&unit->arena, unit->function_count, sizeof *unit->owners);
    for (size_t i = 0; i < unit->function_count; i++) {
        struct function_code *function = &unit->functions[i];

        unit->owners[i] = (struct owner){.function = function,
                                         .code = function->code,
                                         .relocations = function->relocations,
                                         .relocation_count = function->relocation_count,
                                         .register_count = function->register_count,
                                         .barrier_count = function->barrier_count,
                                         .shared_bytes = function->shared_bytes,
                                         .shared_alignment = function->shared_alignment};
        find_externs(unit, &unit->owners[i]);
    }
}

void emit_relocatable(struct unit *unit)
{
    mark_uses(unit);
    make_owners(unit);
    emit_image(unit, ET_REL);
}
