/* emit.c: the sections of a relocatable cubin.
 *
 * Order, types, flags and links are those of ptxas 13.0 for sm_75 to sm_90; from sm_100 on the
 * twins for its intermediate code are left out, since there is none. Symbols need the sections'
 * indices, and most contents need the symbols' indices: sections are entered first, without
 * contents, then symbols, then contents. */
#include "toy/emit.h"

#include "cubin/format.h"
#include "toy/phases.h"

#define NOTE_FLAGS_TOOL 0x2000000u
#define NOTE_FLAGS_CUDA 0x1000000u
#define TEXT_ALIGNMENT  128u
#define RELA_SIZE       24u

static const struct {
    const char *name;
    uint32_t type;
    uint64_t flags;
} data_sections[DATA_KINDS] = {
    [DATA_CONSTANT] = {".nv.constant3", SHT_CUDA_CONSTANT0 + 3, SHF_ALLOC},
    [DATA_INITIALISED] = {".nv.global.init", SHT_CUDA_GLOBAL_INIT, SHF_ALLOC | SHF_WRITE},
    [DATA_SHARED] = {".nv_debug.shared", SHT_CUDA_SHARED, SHF_ALLOC | SHF_WRITE},
    [DATA_ZERO] = {".nv.global", SHT_CUDA_GLOBAL, SHF_ALLOC | SHF_WRITE},
};

static uint32_t add(struct emission *emission, const char *name, struct text suffix,
                    struct image_section section)
{
    struct unit *unit = emission->unit;

    section.name =
        text_of(arena_printf(&unit->arena, "%s%.*s", name,
                             (int)(suffix.size > INT32_MAX ? 0 : suffix.size), suffix.data));
    return image_add_section(&unit->image, &section);
}

/* Adds a section of the chunk; `is_linked`: sh_link is the symbol table. */
static uint32_t add_single(struct emission *emission, const char *name, uint32_t type,
                           uint64_t alignment, uint64_t entry_size, bool is_linked)
{
    return add(emission, name, TEXT(""),
               (struct image_section){.type = type,
                                      .link = is_linked ? emission->sections.symbols : 0,
                                      .alignment = alignment,
                                      .entry_size = entry_size});
}

void emit_head(struct emission *emission, uint16_t type)
{
    struct emit_sections *sections = &emission->sections;
    struct unit *unit = emission->unit;
    bool is_sm90 = unit->job->sm >= 90;
    uint32_t class = unit->job->sm >= 100 ? CUBIN_FLAGS_CLASS_SM100 : CUBIN_FLAGS_CLASS_SM90;

    image_begin(&unit->image, type, class | (unit->job->sm & 0xffu) << 8);
    sections->section_names = add_single(emission, ".shstrtab", SHT_STRTAB, 1, 0, false);
    sections->strings = add_single(emission, ".strtab", SHT_STRTAB, 1, 0, false);
    sections->symbols = add_single(emission, ".symtab", SHT_SYMTAB, 8, sizeof(Elf64_Sym), false);
    if (emit_line_is_needed(unit))
        sections->lines = add_single(emission, ".debug_line", SHT_PROGBITS, 1, 0, false);
    sections->tool_note = add_single(emission, ".note.nv.tkinfo", SHT_NOTE, 4, 0, false);
    sections->cuda_note = add_single(emission, ".note.nv.cuinfo", SHT_NOTE, 4, 0, false);
    if (type == ET_EXEC)
        sections->builtin_note = add_single(emission, ".note.minilink", SHT_NOTE, 4, 0, false);
    sections->info = add_single(emission, ".nv.info", SHT_CUDA_INFO, 4, 0, true);
    if (is_sm90)
        sections->compat = add_single(emission, ".nv.compat", SHT_CUDA_COMPAT, 4, 0, false);
    struct image_section *list = unit->image.sections;
    list[sections->symbols].link = sections->strings;
    list[sections->tool_note].flags = NOTE_FLAGS_TOOL;
    list[sections->cuda_note].flags = NOTE_FLAGS_CUDA | (is_sm90 ? SHF_INFO_LINK : 0);
    list[sections->cuda_note].link = sections->tool_note;
    list[sections->cuda_note].info = sections->compat;
    unit->image.flags |= sections->cuda_note << CUBIN_FLAGS_NOTE_SHIFT;
    emit_owner_sections(emission, OWNER_INFO);
    sections->callgraph = add_single(emission, ".nv.callgraph", SHT_CUDA_CALLGRAPH, 4, 8, true);
}

/* Sections of executables have ELF's own types (measured). */
static uint32_t type_of(const struct emission *emission, uint32_t type, bool has_no_bytes)
{
    if (emission->unit->image.type == ET_REL)
        return type;
    return has_no_bytes ? SHT_NOBITS : SHT_PROGBITS;
}

/* The owner's section of that kind, without its name; its type is 0 if there is none. */
static struct image_section owner_section(const struct emission *emission,
                                          const struct owner *owner, enum owner_section kind)
{
    struct unit *unit = emission->unit;
    uint32_t symbols = emission->sections.symbols;
    uint64_t size;

    switch (kind) {
    case OWNER_TEXT:
        return (struct image_section){.type = SHT_PROGBITS,
                                      .link = symbols,
                                      .flags = SHF_ALLOC | SHF_EXECINSTR,
                                      .alignment = TEXT_ALIGNMENT,
                                      .size = owner->code.size,
                                      .data = owner->code.data};
    case OWNER_INFO:
        return (struct image_section){
            .type = SHT_CUDA_INFO, .link = symbols, .flags = SHF_INFO_LINK, .alignment = 4};
    case OWNER_SHARED:
        if (owner->shared_alignment == 0)
            break;
        return (struct image_section){.type = type_of(emission, SHT_CUDA_SHARED, true),
                                      .flags = SHF_ALLOC | SHF_WRITE | SHF_INFO_LINK,
                                      .alignment = owner->shared_alignment,
                                      .size = owner->shared_bytes,
                                      .has_no_bytes = true};
    case OWNER_RELOCATIONS:
        if (owner->relocation_count == 0)
            break;
        return (struct image_section){.type = SHT_RELA,
                                      .link = symbols,
                                      .flags = SHF_INFO_LINK,
                                      .alignment = 8,
                                      .entry_size = RELA_SIZE};
    case OWNER_CONSTANT:
        if (!owner->function->item->function.is_entry)
            break;
        size = unit->parameter_base + owner->function->parameter_bytes;
        return (struct image_section){.type = type_of(emission, SHT_CUDA_CONSTANT0, false),
                                      .flags = SHF_ALLOC | SHF_INFO_LINK,
                                      .alignment = 4,
                                      .size = size,
                                      .data = arena_zalloc(&unit->arena, size, 1)};
    case OWNER_SECTIONS:
        break;
    }
    return (struct image_section){0};
}

void emit_owner_sections(struct emission *emission, enum owner_section kind)
{
    static const char *const names[OWNER_SECTIONS] = {[OWNER_TEXT] = ".text.",
                                                      [OWNER_INFO] = ".nv.info.",
                                                      [OWNER_SHARED] = ".nv.shared.",
                                                      [OWNER_RELOCATIONS] = ".rela.text.",
                                                      [OWNER_CONSTANT] = ".nv.constant0."};
    struct unit *unit = emission->unit;

    for (size_t i = 0; i < unit->owner_count; i++) {
        struct image_section section = owner_section(emission, &unit->owners[i], kind);

        if (section.type)
            unit->owners[i].sections[kind] =
                add(emission, names[kind], unit->owners[i].function->item->name, section);
    }
}

void emit_data_relocations(struct emission *emission, enum data_kind kind)
{
    if (emission->unit->data.sections[kind].relocation_count == 0)
        return;
    emission->sections.data_relocations[kind] =
        add(emission, ".rela", text_of(data_sections[kind].name),
            (struct image_section){.type = SHT_RELA,
                                   .link = emission->sections.symbols,
                                   .flags = SHF_INFO_LINK,
                                   .alignment = 8,
                                   .entry_size = RELA_SIZE});
}

void emit_data(struct emission *emission, enum data_kind kind)
{
    const struct data_section *section = &emission->unit->data.sections[kind];
    bool has_no_bytes = kind == DATA_ZERO || kind == DATA_SHARED;

    if (section->alignment == 0)
        return;
    emission->sections.data[kind] = add(
        emission, data_sections[kind].name, TEXT(""),
        (struct image_section){.type = type_of(emission, data_sections[kind].type, has_no_bytes),
                               .flags = data_sections[kind].flags,
                               .alignment = section->alignment,
                               .size = section->size,
                               .has_no_bytes = has_no_bytes,
                               .data = section->bytes});
}

void emit_contents(struct emission *emission, uint32_t section, struct buffer *contents)
{
    struct unit *unit = emission->unit;

    unit->image.sections[section].data =
        arena_copy(&unit->arena, contents->data, contents->size, 1);
    unit->image.sections[section].size = contents->size;
    contents->size = 0;
}

void emit_relocations(struct emission *emission, uint32_t section, uint32_t target,
                      Elf64_Rela *list, size_t count)
{
    struct image_section *relocations = &emission->unit->image.sections[section];

    relocations->info = target;
    relocations->data = list;
    relocations->size = count * sizeof *list;
}

Elf64_Rela emit_rela(uint64_t offset, uint64_t symbol, uint32_t type, int64_t addend)
{
    return (Elf64_Rela){
        .r_offset = offset, .r_info = ELF64_R_INFO(symbol, type), .r_addend = addend};
}

/* ptxas writes relocations in descending order of offset. */
static void fill_code_relocations(struct emission *emission, const struct owner *owner)
{
    struct unit *unit = emission->unit;
    size_t count = owner->relocation_count;
    Elf64_Rela *list = arena_alloc(&unit->arena, count, sizeof *list);

    for (size_t i = 0; i < count; i++) {
        const struct code_relocation *from = &owner->relocations[count - 1 - i];

        list[i] = emit_rela(from->offset, emit_symbols_of_body(unit, from->symbol), from->type,
                            from->addend);
    }
    emit_relocations(emission, owner->sections[OWNER_RELOCATIONS], owner->sections[OWNER_TEXT],
                     list, count);
}

void emit_fill_data_relocations(struct emission *emission, enum data_kind kind)
{
    uint32_t section = emission->sections.data_relocations[kind];
    struct unit *unit = emission->unit;
    const struct data_section *data = &unit->data.sections[kind];
    size_t count = section ? data->relocation_count : 0;
    Elf64_Rela *list = arena_alloc(&unit->arena, count, sizeof *list);

    if (!section)
        return;
    for (size_t i = 0; i < count; i++) {
        const struct data_relocation *from = &data->relocations[count - 1 - i];
        const struct global *global = &unit->scope.globals[from->global];

        list[i] = emit_rela(from->offset,
                            global->is_function ? global->symbol
                                                : unit->data.objects[global->object].symbol,
                            from->type, from->addend);
    }
    emit_relocations(emission, section, emission->sections.data[kind], list, count);
}

void emit_fill_owners(struct emission *emission)
{
    static const uint8_t beside[] = {OWNER_INFO, OWNER_SHARED, OWNER_CONSTANT};
    struct unit *unit = emission->unit;

    for (size_t i = 0; i < unit->owner_count; i++) {
        const struct owner *owner = &unit->owners[i];
        uint32_t symbol = unit->scope.globals[owner->function->global].symbol;

        /* Measured: before sm_90 sh_info has the register count above the symbol. */
        uint32_t registers = unit->job->sm < 90 ? owner->register_count << 24 : 0;
        unit->image.sections[owner->sections[OWNER_TEXT]].info = symbol | registers;
        for (size_t k = 0; k < sizeof beside / sizeof *beside; k++)
            if (owner->sections[beside[k]])
                unit->image.sections[owner->sections[beside[k]]].info = owner->sections[OWNER_TEXT];
        emit_info_owner(unit, owner, &unit->code);
        emit_contents(emission, owner->sections[OWNER_INFO], &unit->code);
        if (owner->relocation_count)
            fill_code_relocations(emission, owner);
    }
}

static void fill_lines(struct emission *emission)
{
    struct unit *unit = emission->unit;
    const struct emit_sections *sections = &emission->sections;
    Elf64_Rela *list = arena_alloc(&unit->arena, unit->function_count, sizeof *list);
    size_t count = emit_line_units(emission, &unit->code, list);

    emit_contents(emission, sections->lines, &unit->code);
    emit_relocations(emission, sections->line_relocations, sections->lines, list, count);
}

/* The contents that belong to no function, except info and call graph. */
void emit_notes(struct emission *emission)
{
    const struct emit_sections *sections = &emission->sections;
    struct unit *unit = emission->unit;
    struct buffer *out = &unit->code;

    emit_info_tool_note(unit, out);
    emit_contents(emission, sections->tool_note, out);
    emit_info_cuda_note(unit, out);
    emit_contents(emission, sections->cuda_note, out);
    emit_info_builtin_note(out);
    emit_contents(emission, sections->builtin_note, out);
    if (sections->compat) {
        emit_info_compat(emission, out);
        emit_contents(emission, sections->compat, out);
    }
}

static void fill_singles(struct emission *emission)
{
    const struct emit_sections *sections = &emission->sections;
    struct buffer *out = &emission->unit->code;

    emit_notes(emission);
    emit_info_chunk(emission, out);
    emit_contents(emission, sections->info, out);
    emit_graph_calls(emission, out);
    emit_contents(emission, sections->callgraph, out);
    if (sections->prototype) {
        emit_graph_prototypes(emission, out);
        emit_contents(emission, sections->prototype, out);
    }
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

void emit_symbol_table(struct emission *emission)
{
    const struct emit_sections *sections = &emission->sections;
    struct unit *unit = emission->unit;

    image_set_symbols(&unit->image, sections->symbols, emission->symbols, emission->symbol_count,
                      &unit->strings);
    buffer_text(&unit->code, buffer_view(&unit->strings.bytes));
    emit_contents(emission, sections->strings, &unit->code);
}

static void finish(struct emission *emission)
{
    const struct emit_sections *sections = &emission->sections;
    struct unit *unit = emission->unit;

    emit_symbol_table(emission);
    image_set_section_names(&unit->image, sections->section_names);
    image_layout(&unit->image);
}

/* Finds the functions that the code refers to and the chunk does not define, and all kernels
 * referred to (measured on ptxas 13.0: a kernel stays an extern even if it is defined). */
static void find_externs(struct unit *unit, struct owner *owner)
{
    const struct function_code *function = owner->function;

    owner->externs = arena_alloc(&unit->arena, function->symbol_count, sizeof *owner->externs);
    for (size_t i = 0; i < function->symbol_count; i++) {
        const struct body_symbol *symbol = &function->symbols[i];
        const struct global *global = &unit->scope.globals[symbol->global];

        if (symbol->is_function && (symbol->uses & (USE_CALLED | USE_ADDRESS)) &&
            (!global->is_defined || global->item->function.is_entry))
            owner->externs[owner->extern_count++] = symbol->global;
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

static void add_sections(struct emission *emission)
{
    emit_head(emission, ET_REL);
    if (emit_graph_has_prototypes(emission->unit))
        emission->sections.prototype =
            add_single(emission, ".nv.prototype", SHT_CUDA_PROTOTYPE, 4, 8, true);
    emit_owner_sections(emission, OWNER_RELOCATIONS);
    if (emission->sections.lines) {
        emission->sections.line_relocations =
            add_single(emission, ".rela.debug_line", SHT_RELA, 8, RELA_SIZE, true);
        emission->unit->image.sections[emission->sections.line_relocations].flags = SHF_INFO_LINK;
    }
    emit_data_relocations(emission, DATA_INITIALISED);
    emit_data_relocations(emission, DATA_CONSTANT);
    emit_data(emission, DATA_CONSTANT);
    emit_owner_sections(emission, OWNER_TEXT);
    emit_data(emission, DATA_INITIALISED);
    emit_data(emission, DATA_SHARED);
    emit_data(emission, DATA_ZERO);
    emit_owner_sections(emission, OWNER_SHARED);
    emit_owner_sections(emission, OWNER_CONSTANT);
    emission->sections.builtin_note = add_single(emission, ".note.minilink", SHT_NOTE, 4, 0, false);
}

static void emit_relocatable(struct unit *unit)
{
    struct emission emission = {.unit = unit};

    unit->code.size = 0;
    mark_uses(unit);
    make_owners(unit);
    add_sections(&emission);
    emit_symbols_build(&emission);
    emit_fill_owners(&emission);
    emit_fill_data_relocations(&emission, DATA_INITIALISED);
    emit_fill_data_relocations(&emission, DATA_CONSTANT);
    fill_singles(&emission);
    if (emission.sections.lines)
        fill_lines(&emission);
    finish(&emission);
    image_bytes(&unit->image, &unit->cubin);
}

const char *emit_cubin(struct unit *unit)
{
    const char *obstacle = "it was not asked for";

    if (unit->switches.executable && unit->mode->kind == MODE_WHOLE_PROGRAM)
        obstacle = program_emit(unit);
    if (obstacle)
        emit_relocatable(unit);
    return obstacle;
}
