/* emit_program.c: a whole program's cubin: an executable with a section for each kernel.
 *
 * The order is ptxas's, which join/exact_join.h tells chunks' programs together by: the last kernel
 * of the text comes first, and what names, symbols and records are about stands in that order, what
 * is not a kernel's in front. Sections stand by what they are. */
#include "toy/emit.h"

#include "cubin/format.h"

struct writing {
    struct emission emission;
    struct program *program;
    struct emit_kernel *kernels; /* beside program->kernels */
};

static const struct function_code *code_of(const struct writing *writing, size_t kernel)
{
    return &writing->emission.unit->functions[writing->program->kernels[kernel].function];
}

static void add_info(struct writing *writing)
{
    for (size_t i = 0; i < writing->program->kernel_count; i++) {
        uint32_t section = emit_function_section(
            &writing->emission, ".nv.info.", code_of(writing, i), SHT_CUDA_INFO, SHF_INFO_LINK, 4);
        writing->emission.unit->image.sections[section].link = writing->emission.sections.symbols;
        writing->kernels[i].info = section;
    }
}

static void add_code_relocations(struct writing *writing)
{
    struct image *image = &writing->emission.unit->image;
    for (size_t i = 0; i < writing->program->kernel_count; i++) {
        if (writing->program->kernels[i].relocation_count == 0)
            continue;
        uint32_t section = emit_function_section(&writing->emission, ".rela.text.",
                                                 code_of(writing, i), SHT_RELA, SHF_INFO_LINK, 8);
        image->sections[section].link = writing->emission.sections.symbols;
        image->sections[section].entry_size = sizeof(Elf64_Rela);
        writing->kernels[i].relocations = section;
    }
}

static void add_code(struct writing *writing)
{
    for (size_t i = 0; i < writing->program->kernel_count; i++) {
        uint32_t index =
            emit_function_section(&writing->emission, ".text.", code_of(writing, i), SHT_PROGBITS,
                                  SHF_ALLOC | SHF_EXECINSTR, EMIT_TEXT_ALIGNMENT);
        struct image_section *section = &writing->emission.unit->image.sections[index];
        section->link = writing->emission.sections.symbols;
        section->size = writing->program->kernels[i].code.size;
        section->data = writing->program->kernels[i].code.data;
        writing->kernels[i].text = index;
    }
}

static void add_shared(struct writing *writing)
{
    for (size_t i = 0; i < writing->program->kernel_count; i++) {
        const struct program_kernel *kernel = &writing->program->kernels[i];
        if (kernel->shared_alignment == 0)
            continue;
        uint32_t index = emit_function_section(
            &writing->emission, ".nv.shared.", code_of(writing, i), SHT_NOBITS,
            SHF_ALLOC | SHF_WRITE | SHF_INFO_LINK, kernel->shared_alignment);
        struct image_section *section = &writing->emission.unit->image.sections[index];
        section->info = writing->kernels[i].text;
        section->size = kernel->shared_bytes;
        section->has_no_bytes = true;
        writing->kernels[i].shared = index;
    }
}

/* Bank 0, with parameters that the driver fills in. Its section stands behind the code's from sm_90
 * on, so that the index of that is not known yet before. */
static void add_parameters(struct writing *writing)
{
    struct unit *unit = writing->emission.unit;
    for (size_t i = 0; i < writing->program->kernel_count; i++) {
        const struct function_code *code = code_of(writing, i);
        uint32_t index = emit_function_section(&writing->emission, ".nv.constant0.", code,
                                               SHT_CUDA_CONSTANT0, SHF_ALLOC | SHF_INFO_LINK, 4);
        struct image_section *section = &unit->image.sections[index];
        section->size = unit->parameter_base + code->parameter_bytes;
        section->data = arena_zalloc(&unit->arena, section->size, 1);
        writing->kernels[i].constant = index;
    }
}

static void add_sections(struct writing *writing)
{
    struct emission *emission = &writing->emission;
    bool is_sm90 = emission->unit->job->sm >= 90;
    emit_head(emission, ET_EXEC);
    add_info(writing);
    emit_callgraph_section(emission);
    add_code_relocations(writing);
    emit_data_relocations(emission, DATA_CONSTANT);
    emit_data_relocations(emission, DATA_INITIALISED);
    emit_data(emission, DATA_CONSTANT);
    if (!is_sm90)
        add_parameters(writing);
    add_code(writing);
    emit_data(emission, DATA_INITIALISED);
    emit_data(emission, DATA_ZERO);
    add_shared(writing);
    if (is_sm90)
        add_parameters(writing);
}

/* Falling order of offsets, as elsewhere. */
static void fill_code_relocations(struct writing *writing, size_t index)
{
    struct unit *unit = writing->emission.unit;
    const struct program_kernel *kernel = &writing->program->kernels[index];
    size_t count = kernel->relocation_count;
    Elf64_Rela *list = arena_alloc(&unit->arena, count, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        const struct program_relocation *from = &kernel->relocations[count - 1 - i];
        uint32_t symbol = from->is_function ? unit->scope.globals[from->target].symbol
                                            : unit->data.objects[from->target].symbol;
        list[i] = emit_rela(from->offset, symbol, from->type, from->addend);
    }
    emit_relocations(&writing->emission, writing->kernels[index].relocations,
                     writing->kernels[index].text, list, count);
}

static void fill_kernels(struct writing *writing)
{
    struct unit *unit = writing->emission.unit;
    for (size_t i = 0; i < writing->program->kernel_count; i++) {
        const struct program_kernel *kernel = &writing->program->kernels[i];
        const struct emit_kernel *sections = &writing->kernels[i];
        struct image_section *text = &unit->image.sections[sections->text];
        text->info = kernel->parts[0].symbol;
        if (unit->job->sm < 90) /* measured, as in relocatable code */
            text->info |= kernel->register_count << 24;
        unit->image.sections[sections->info].info = sections->text;
        unit->image.sections[sections->constant].info = sections->text;
        emit_info_kernel(&writing->emission, kernel, &unit->code);
        emit_contents(&writing->emission, sections->info, &unit->code);
        if (sections->relocations)
            fill_code_relocations(writing, i);
    }
}

/* Calls that leave the section: those of the driver's functions. The other three parts are empty.
 */
static void put_calls(const struct writing *writing, struct buffer *out)
{
    const struct unit *unit = writing->emission.unit;
    for (int part = CALLGRAPH_DIRECT; part >= CALLGRAPH_CANDIDATE; part--) {
        buffer_u32(out, 0);
        buffer_u32(out, (uint32_t)part);
        for (size_t i = 0; part == CALLGRAPH_DIRECT && i < writing->program->kernel_count; i++) {
            const struct program_kernel *kernel = &writing->program->kernels[i];
            for (size_t k = 0; k < kernel->extern_count; k++) {
                buffer_u32(out, kernel->parts[0].symbol);
                buffer_u32(out, unit->scope.globals[kernel->externs[k]].symbol);
            }
        }
    }
}

static void put_name(struct writing *writing, uint32_t index)
{
    struct unit *unit = writing->emission.unit;
    if (index == 0)
        return;
    unit->image.sections[index].name_offset = (uint32_t)unit->code.size;
    buffer_text(&unit->code, unit->image.sections[index].name);
    buffer_char(&unit->code, '\0');
}

/* In the order in which ptxas makes sections: a kernel's beside each other. */
static void put_names(struct writing *writing)
{
    const struct emit_sections *sections = &writing->emission.sections;
    const uint32_t first[] = {sections->section_names,
                              sections->strings,
                              sections->symbols,
                              sections->tool_note,
                              sections->cuda_note,
                              sections->builtin_note,
                              sections->info,
                              sections->compat,
                              sections->data[DATA_CONSTANT],
                              sections->data[DATA_INITIALISED],
                              sections->data[DATA_ZERO]};
    buffer_char(&writing->emission.unit->code, '\0');
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        put_name(writing, first[i]);
    for (size_t i = 0; i < writing->program->kernel_count; i++) {
        const struct emit_kernel *kernel = &writing->kernels[i];
        put_name(writing, kernel->text);
        put_name(writing, kernel->info);
        put_name(writing, kernel->shared);
        put_name(writing, kernel->relocations);
        put_name(writing, kernel->constant);
    }
    put_name(writing, sections->callgraph);
    put_name(writing, sections->data_relocations[DATA_CONSTANT]);
    put_name(writing, sections->data_relocations[DATA_INITIALISED]);
    emit_contents(&writing->emission, sections->section_names, &writing->emission.unit->code);
}

void emit_program(struct unit *unit, struct program *program)
{
    struct writing writing = {.emission = {.unit = unit}, .program = program};
    writing.kernels = arena_zalloc(&unit->arena, program->kernel_count, sizeof *writing.kernels);
    unit->code.size = 0;
    add_sections(&writing);
    emit_symbols_of_program(&writing.emission, program, writing.kernels);
    emit_notes(&writing.emission);
    fill_kernels(&writing);
    emit_fill_data_relocations(&writing.emission, DATA_CONSTANT);
    emit_fill_data_relocations(&writing.emission, DATA_INITIALISED);
    emit_info_program(&writing.emission, program, &unit->code);
    emit_contents(&writing.emission, writing.emission.sections.info, &unit->code);
    put_calls(&writing, &unit->code);
    emit_contents(&writing.emission, writing.emission.sections.callgraph, &unit->code);
    emit_symbol_table(&writing.emission);
    put_names(&writing);
    image_layout_program(&unit->image, 0, 0, unit->job->sm >= 90);
    image_bytes(&unit->image, &unit->cubin);
}
