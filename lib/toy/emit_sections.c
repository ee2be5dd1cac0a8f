/* emit_sections.c: the sections of a cubin, relocatable or an executable.
 *
 * Order, types, flags and links are those of ptxas for sm_75 to sm_90; from sm_100 on the twins for
 * its intermediate code are left out, since there is none. Symbols need the sections' indices, and
 * most contents need the symbols' indices: sections are entered first, without contents, then
 * symbols, then contents. */
#include "toy/emit.h"

#include "cubin/format.h"
#include "facts/targets.h"
#include "toy/phases.h"

#define NOTE_FLAGS_TOOL 0x2000000u
#define NOTE_FLAGS_CUDA 0x1000000u
#define TEXT_ALIGNMENT  128u
#define RELA_SIZE       24u

static const struct {
    const char *name;
    uint32_t type;
    uint64_t alignment;
    uint64_t entry_size;
    bool is_linked; /* sh_link is the symbol table */
    uint64_t flags;
} singles[SINGLE_SECTIONS] = {
    [SECTION_NAMES] = {".shstrtab", SHT_STRTAB, 1, 0, false, 0},
    [SECTION_STRINGS] = {".strtab", SHT_STRTAB, 1, 0, false, 0},
    [SECTION_SYMBOLS] = {".symtab", SHT_SYMTAB, 8, sizeof(Elf64_Sym), false, 0},
    [SECTION_LINES] = {".debug_line", SHT_PROGBITS, 1, 0, false, 0},
    [SECTION_TOOL_NOTE] = {".note.nv.tkinfo", SHT_NOTE, 4, 0, false, NOTE_FLAGS_TOOL},
    [SECTION_CUDA_NOTE] = {".note.nv.cuinfo", SHT_NOTE, 4, 0, false, NOTE_FLAGS_CUDA},
    [SECTION_BUILTIN_NOTE] = {".note.minilink", SHT_NOTE, 4, 0, false, 0},
    [SECTION_INFO] = {".nv.info", SHT_CUDA_INFO, 4, 0, true, 0},
    [SECTION_COMPAT] = {".nv.compat", SHT_CUDA_COMPAT, 4, 0, false, 0},
    [SECTION_CALLGRAPH] = {".nv.callgraph", SHT_CUDA_CALLGRAPH, 4, 8, true, 0},
    [SECTION_PROTOTYPE] = {".nv.prototype", SHT_CUDA_PROTOTYPE, 4, 8, true, 0},
    [SECTION_LINE_RELOCATIONS] = {".rela.debug_line", SHT_RELA, 8, RELA_SIZE, true, SHF_INFO_LINK},
};

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

static uint32_t add(struct unit *unit, const char *name, struct text suffix,
                    struct image_section section)
{
    section.name =
        text_of(arena_printf(&unit->arena, "%s%.*s", name,
                             (int)(suffix.size > INT32_MAX ? 0 : suffix.size), suffix.data));
    return image_add_section(&unit->image, &section);
}

void emit_single(struct unit *unit, enum single_section which)
{
    unit->sections[which] =
        add(unit, singles[which].name, TEXT(""),
            (struct image_section){
                .type = singles[which].type,
                .link = singles[which].is_linked ? unit->sections[SECTION_SYMBOLS] : 0,
                .flags = singles[which].flags,
                .alignment = singles[which].alignment,
                .entry_size = singles[which].entry_size});
}

static bool has_lines(const struct unit *unit)
{
    for (size_t i = 0; i < unit->function_count; i++)
        if (unit->functions[i].line_count)
            return true;
    return false;
}

void emit_head(struct unit *unit, uint16_t type)
{
    bool is_new = targets_have(unit->job->sm, TARGET_HAS_FORM_90);

    image_begin(&unit->image, type, format_target_flags(unit->job->sm));
    emit_single(unit, SECTION_NAMES);
    emit_single(unit, SECTION_STRINGS);
    emit_single(unit, SECTION_SYMBOLS);
    if (has_lines(unit))
        emit_single(unit, SECTION_LINES);
    emit_single(unit, SECTION_TOOL_NOTE);
    emit_single(unit, SECTION_CUDA_NOTE);
    if (type == ET_EXEC)
        emit_single(unit, SECTION_BUILTIN_NOTE);
    emit_single(unit, SECTION_INFO);
    if (is_new)
        emit_single(unit, SECTION_COMPAT);
    struct image_section *note = &unit->image.sections[unit->sections[SECTION_CUDA_NOTE]];
    note->flags |= is_new ? SHF_INFO_LINK : 0;
    note->link = unit->sections[SECTION_TOOL_NOTE];
    note->info = unit->sections[SECTION_COMPAT];
    unit->image.sections[unit->sections[SECTION_SYMBOLS]].link = unit->sections[SECTION_STRINGS];
    unit->image.flags |= unit->sections[SECTION_CUDA_NOTE] << CUBIN_FLAGS_NOTE_SHIFT;
    emit_owner_sections(unit, OWNER_INFO);
    emit_single(unit, SECTION_CALLGRAPH);
}

/* Sections of executables have ELF's own types (measured). */
static uint32_t type_of(const struct unit *unit, uint32_t type, bool has_no_bytes)
{
    if (unit->image.type == ET_REL)
        return type;
    return has_no_bytes ? SHT_NOBITS : SHT_PROGBITS;
}

static struct image_section relocation_section(const struct unit *unit)
{
    return (struct image_section){.type = SHT_RELA,
                                  .link = unit->sections[SECTION_SYMBOLS],
                                  .flags = SHF_INFO_LINK,
                                  .alignment = 8,
                                  .entry_size = RELA_SIZE};
}

/* The owner's section of that kind, without its name; its type is 0 if there is none. */
static struct image_section owner_section(struct unit *unit, const struct owner *owner,
                                          enum owner_section kind)
{
    uint32_t symbols = unit->sections[SECTION_SYMBOLS];
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
        return (struct image_section){.type = type_of(unit, SHT_CUDA_SHARED, true),
                                      .flags = SHF_ALLOC | SHF_WRITE | SHF_INFO_LINK,
                                      .alignment = owner->shared_alignment,
                                      .size = owner->shared_bytes,
                                      .has_no_bytes = true};
    case OWNER_RELOCATIONS:
        if (owner->relocation_count == 0)
            break;
        return relocation_section(unit);
    case OWNER_CONSTANT:
        if (!owner->function->item->function.is_entry)
            break;
        size = unit->parameter_base + owner->function->parameter_bytes;
        return (struct image_section){.type = type_of(unit, SHT_CUDA_CONSTANT0, false),
                                      .flags = SHF_ALLOC | SHF_INFO_LINK,
                                      .alignment = 4,
                                      .size = size,
                                      .data = arena_zalloc(&unit->arena, size, 1)};
    case OWNER_SECTIONS:
        break;
    }
    return (struct image_section){0};
}

void emit_owner_sections(struct unit *unit, enum owner_section kind)
{
    static const char *const names[OWNER_SECTIONS] = {[OWNER_TEXT] = ".text.",
                                                      [OWNER_INFO] = ".nv.info.",
                                                      [OWNER_SHARED] = ".nv.shared.",
                                                      [OWNER_RELOCATIONS] = ".rela.text.",
                                                      [OWNER_CONSTANT] = ".nv.constant0."};

    for (size_t i = 0; i < unit->owner_count; i++) {
        struct image_section section = owner_section(unit, &unit->owners[i], kind);

        if (section.type)
            unit->owners[i].sections[kind] =
                add(unit, names[kind], unit->owners[i].function->item->name, section);
    }
}

void emit_data_relocations(struct unit *unit, enum data_kind kind)
{
    if (unit->data.sections[kind].relocation_count == 0)
        return;
    unit->data.sections[kind].relocation_section =
        add(unit, ".rela", text_of(data_sections[kind].name), relocation_section(unit));
}

void emit_data(struct unit *unit, enum data_kind kind)
{
    const struct data_section *section = &unit->data.sections[kind];
    bool has_no_bytes = kind == DATA_ZERO || kind == DATA_SHARED;

    if (section->alignment == 0)
        return;
    unit->data.sections[kind].section =
        add(unit, data_sections[kind].name, TEXT(""),
            (struct image_section){.type = type_of(unit, data_sections[kind].type, has_no_bytes),
                                   .flags = data_sections[kind].flags,
                                   .alignment = section->alignment,
                                   .size = section->size,
                                   .has_no_bytes = has_no_bytes,
                                   .data = section->bytes});
}

static void set_contents(struct unit *unit, uint32_t section)
{
    unit->image.sections[section].data =
        arena_copy(&unit->arena, unit->code.data, unit->code.size, 1);
    unit->image.sections[section].size = unit->code.size;
}

void emit_fill(struct unit *unit, enum single_section which, emit_put *put)
{
    if (!unit->sections[which])
        return;
    unit->code.size = 0;
    put(unit, &unit->code);
    set_contents(unit, unit->sections[which]);
}

void emit_relocations(struct unit *unit, uint32_t section, uint32_t target, Elf64_Rela *list,
                      size_t count)
{
    struct image_section *relocations = &unit->image.sections[section];

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
static void fill_code_relocations(struct unit *unit, const struct owner *owner)
{
    size_t count = owner->relocation_count;
    Elf64_Rela *list = arena_alloc(&unit->arena, count, sizeof *list);

    for (size_t i = 0; i < count; i++) {
        const struct code_relocation *from = &owner->relocations[count - 1 - i];

        list[i] = emit_rela(from->offset, emit_symbols_of_body(unit, from->symbol), from->type,
                            from->addend);
    }
    emit_relocations(unit, owner->sections[OWNER_RELOCATIONS], owner->sections[OWNER_TEXT], list,
                     count);
}

void emit_fill_data_relocations(struct unit *unit, enum data_kind kind)
{
    const struct data_section *data = &unit->data.sections[kind];
    size_t count = data->relocation_count;
    Elf64_Rela *list = arena_alloc(&unit->arena, count, sizeof *list);

    if (!data->relocation_section)
        return;
    for (size_t i = 0; i < count; i++) {
        const struct data_relocation *from = &data->relocations[count - 1 - i];
        const struct global *global = &unit->scope.globals[from->global];

        list[i] = emit_rela(from->offset,
                            global->is_function ? global->symbol
                                                : unit->data.objects[global->object].symbol,
                            from->type, from->addend);
    }
    emit_relocations(unit, data->relocation_section, data->section, list, count);
}

void emit_fill_owners(struct unit *unit)
{
    static const uint8_t beside[] = {OWNER_INFO, OWNER_SHARED, OWNER_CONSTANT};

    for (size_t i = 0; i < unit->owner_count; i++) {
        const struct owner *owner = &unit->owners[i];
        uint32_t symbol = unit->scope.globals[owner->function->global].symbol;

        /* In the old form sh_info has the register count above the symbol. */
        uint32_t registers =
            targets_have(unit->job->sm, TARGET_HAS_FORM_90) ? 0 : owner->register_count << 24;
        unit->image.sections[owner->sections[OWNER_TEXT]].info = symbol | registers;
        for (size_t k = 0; k < sizeof beside / sizeof *beside; k++)
            if (owner->sections[beside[k]])
                unit->image.sections[owner->sections[beside[k]]].info = owner->sections[OWNER_TEXT];
        unit->code.size = 0;
        emit_info_owner(unit, owner, &unit->code);
        set_contents(unit, owner->sections[OWNER_INFO]);
        if (owner->relocation_count)
            fill_code_relocations(unit, owner);
    }
}

void emit_notes(struct unit *unit)
{
    emit_fill(unit, SECTION_TOOL_NOTE, emit_info_tool_note);
    emit_fill(unit, SECTION_CUDA_NOTE, emit_info_cuda_note);
    emit_fill(unit, SECTION_BUILTIN_NOTE, emit_info_builtin_note);
    emit_fill(unit, SECTION_COMPAT, emit_info_compat);
}

static void put_strings(struct unit *unit, struct buffer *out)
{
    buffer_text(out, buffer_view(&unit->strings.bytes));
}

void emit_symbol_table(struct unit *unit)
{
    image_set_symbols(&unit->image, unit->sections[SECTION_SYMBOLS], unit->symbols,
                      unit->symbol_count, &unit->strings);
    emit_fill(unit, SECTION_STRINGS, put_strings);
}
