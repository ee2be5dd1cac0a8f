/* emit_sections.c: the sections of a cubin, relocatable or an executable.
 *
 * Order, types, flags and links are those of ptxas for sm_75 to sm_90; from sm_100 on the twins for
 * its intermediate code are left out, since there is none. Symbols need the sections' indices, and
 * most contents need the symbols' indices: sections are entered first, without contents, then
 * symbols, then contents. */
#include "toy/emit.h"

#include "cubin/format.h"
#include "facts/sections.h"
#include "facts/targets.h"
#include "toy/phases.h"

#define NOTE_FLAGS_TOOL 0x2000000u

/* A section's name, or the beginning of it. What else its header has is in facts/sections.def. */
struct kind {
    const char *name;
    uint32_t type;
};

static const struct kind singles[SINGLE_SECTIONS] = {
    [SECTION_NAMES] = {".shstrtab", SHT_STRTAB},
    [SECTION_STRINGS] = {".strtab", SHT_STRTAB},
    [SECTION_SYMBOLS] = {".symtab", SHT_SYMTAB},
    [SECTION_LINES] = {".debug_line", SHT_PROGBITS},
    [SECTION_TOOL_NOTE] = {".note.nv.tkinfo", SHT_NOTE},
    [SECTION_CUDA_NOTE] = {".note.nv.cuinfo", SHT_NOTE},
    [SECTION_BUILTIN_NOTE] = {".note.minilink", SHT_NOTE},
    [SECTION_INFO] = {".nv.info", SHT_CUDA_INFO},
    [SECTION_COMPAT] = {".nv.compat", SHT_CUDA_COMPAT},
    [SECTION_CALLGRAPH] = {".nv.callgraph", SHT_CUDA_CALLGRAPH},
    [SECTION_PROTOTYPE] = {".nv.prototype", SHT_CUDA_PROTOTYPE},
    [SECTION_LINE_RELOCATIONS] = {".rela.debug_line", SHT_RELA},
};

static const struct kind of_owners[OWNER_SECTIONS] = {
    [OWNER_TEXT] = {".text.", SHT_PROGBITS},
    [OWNER_INFO] = {".nv.info.", SHT_CUDA_INFO},
    [OWNER_SHARED] = {".nv.shared.", SHT_CUDA_SHARED},
    [OWNER_RELOCATIONS] = {".rela.text.", SHT_RELA},
    [OWNER_CONSTANT] = {".nv.constant0.", SHT_CUDA_CONSTANT0},
};

static const struct kind of_data[DATA_KINDS] = {
    [DATA_CONSTANT] = {".nv.constant3", SHT_CUDA_CONSTANT3},
    [DATA_INITIALISED] = {".nv.global.init", SHT_CUDA_GLOBAL_INIT},
    [DATA_SHARED] = {".nv_debug.shared", SHT_CUDA_SHARED},
    [DATA_ZERO] = {".nv.global", SHT_CUDA_GLOBAL},
};

static struct image_section section_of(const struct unit *unit, struct kind kind, bool is_owned)
{
    bool is_code = is_owned && kind.type == SHT_PROGBITS;
    const struct section_facts *facts =
        sections_find(kind.type, is_code ? SHF_EXECINSTR : 0, text_of(kind.name));

    if (is_owned)
        facts = sections_of_function(facts);
    return (struct image_section){
        .name = text_of(kind.name),
        .type = kind.type,
        .flags = facts->flags,
        .link = facts->link == SECTION_LINK_SYMBOLS ? unit->sections[SECTION_SYMBOLS] : 0,
        .alignment = facts->alignment,
        .entry_size = facts->entry_size};
}

/* Appends `suffix` to the section's name. */
static uint32_t add(struct unit *unit, struct image_section section, struct text suffix)
{
    section.name =
        text_of(arena_printf(&unit->arena, "%.*s%.*s", TEXT_ARG(section.name),
                             (int)(suffix.size > INT32_MAX ? 0 : suffix.size), suffix.data));
    return image_add_section(&unit->image, &section);
}

void emit_single(struct unit *unit, enum single_section which)
{
    struct image_section section = section_of(unit, singles[which], false);

    if (which == SECTION_TOOL_NOTE)
        section.flags = NOTE_FLAGS_TOOL;
    unit->sections[which] = add(unit, section, TEXT(""));
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

/* Enters what the section contains. Those of executables have ELF's own types (measured). */
static void set_data(const struct unit *unit, struct image_section *section, uint64_t size,
                     const void *data, bool has_no_bytes)
{
    section->size = size;
    section->data = data;
    section->has_no_bytes = has_no_bytes;
    if (unit->image.type != ET_REL)
        section->type = has_no_bytes ? SHT_NOBITS : SHT_PROGBITS;
}

/* Whether the owner has a section of that kind; enters its size. */
static bool fill_owner_section(struct unit *unit, const struct owner *owner,
                               enum owner_section kind, struct image_section *section)
{
    uint64_t size = unit->parameter_base + owner->function->parameter_bytes;

    switch (kind) {
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
        if (!owner->function->item->function.is_entry)
            return false;
        set_data(unit, section, size, arena_zalloc(&unit->arena, size, 1), false);
        return true;
    default:
        return true;
    }
}

void emit_owner_sections(struct unit *unit, enum owner_section kind)
{
    for (size_t i = 0; i < unit->owner_count; i++) {
        struct owner *owner = &unit->owners[i];
        struct image_section section = section_of(unit, of_owners[kind], true);

        if (fill_owner_section(unit, owner, kind, &section))
            owner->sections[kind] = add(unit, section, owner->function->item->name);
    }
}

void emit_data_relocations(struct unit *unit, enum data_kind kind)
{
    struct data_section *section = &unit->data.sections[kind];

    if (section->relocation_count)
        section->relocation_section =
            add(unit, section_of(unit, (struct kind){".rela", SHT_RELA}, false),
                text_of(of_data[kind].name));
}

void emit_data(struct unit *unit, enum data_kind kind)
{
    struct data_section *data = &unit->data.sections[kind];
    struct image_section section = section_of(unit, of_data[kind], false);
    bool has_no_bytes = kind == DATA_ZERO || kind == DATA_SHARED;

    if (data->alignment == 0)
        return;
    section.alignment = data->alignment;
    set_data(unit, &section, data->size, data->bytes, has_no_bytes);
    data->section = add(unit, section, TEXT(""));
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
