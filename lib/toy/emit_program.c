/* emit_program.c: a whole program's cubin: an executable with a section for each kernel.
 *
 * The order is ptxas's, which join/exact_join.h tells chunks' programs together by: the last kernel
 * of the text comes first, and what names, symbols and records are about stands in that order, what
 * is not a kernel's in front. Sections stand by what they are. */
#include "toy/emit.h"

#include "cubin/format.h"

static void add_sections(struct emission *emission)
{
    bool is_sm90 = emission->unit->job->sm >= 90;

    emit_head(emission, ET_EXEC);
    emit_owner_sections(emission, OWNER_RELOCATIONS);
    emit_data_relocations(emission, DATA_CONSTANT);
    emit_data_relocations(emission, DATA_INITIALISED);
    emit_data(emission, DATA_CONSTANT);
    if (!is_sm90)
        emit_owner_sections(emission, OWNER_CONSTANT);
    emit_owner_sections(emission, OWNER_TEXT);
    emit_data(emission, DATA_INITIALISED);
    emit_data(emission, DATA_ZERO);
    emit_owner_sections(emission, OWNER_SHARED);
    if (is_sm90)
        emit_owner_sections(emission, OWNER_CONSTANT);
}

/* Calls that leave the section: those of the driver's functions. The other three parts are empty.
 */
static void put_calls(const struct unit *unit, struct buffer *out)
{
    for (int part = CALLGRAPH_DIRECT; part >= CALLGRAPH_CANDIDATE; part--) {
        buffer_u32(out, 0);
        buffer_u32(out, (uint32_t)part);
        for (size_t i = 0; part == CALLGRAPH_DIRECT && i < unit->owner_count; i++) {
            const struct owner *kernel = &unit->owners[i];

            for (size_t k = 0; k < kernel->extern_count; k++) {
                buffer_u32(out, kernel->parts[0].symbol);
                buffer_u32(out, unit->scope.globals[kernel->externs[k]].symbol);
            }
        }
    }
}

static void put_name(struct unit *unit, uint32_t index)
{
    if (index == 0)
        return;
    unit->image.sections[index].name_offset = (uint32_t)unit->code.size;
    buffer_text(&unit->code, unit->image.sections[index].name);
    buffer_char(&unit->code, '\0');
}

/* In the order in which ptxas makes sections: a kernel's beside each other. */
static void put_names(struct emission *emission)
{
    const struct emit_sections *sections = &emission->sections;
    struct unit *unit = emission->unit;
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

    buffer_char(&unit->code, '\0');
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        put_name(unit, first[i]);
    for (size_t i = 0; i < unit->owner_count; i++)
        for (int kind = 0; kind < OWNER_SECTIONS; kind++)
            put_name(unit, unit->owners[i].sections[kind]);
    put_name(unit, sections->callgraph);
    put_name(unit, sections->data_relocations[DATA_CONSTANT]);
    put_name(unit, sections->data_relocations[DATA_INITIALISED]);
    emit_contents(emission, sections->section_names, &unit->code);
}

void emit_program(struct unit *unit)
{
    struct emission emission = {.unit = unit};

    unit->code.size = 0;
    add_sections(&emission);
    emit_symbols_of_program(&emission);
    emit_notes(&emission);
    emit_fill_owners(&emission);
    emit_fill_data_relocations(&emission, DATA_CONSTANT);
    emit_fill_data_relocations(&emission, DATA_INITIALISED);
    emit_info_program(&emission, &unit->code);
    emit_contents(&emission, emission.sections.info, &unit->code);
    put_calls(unit, &unit->code);
    emit_contents(&emission, emission.sections.callgraph, &unit->code);
    emit_symbol_table(&emission);
    put_names(&emission);
    image_layout_program(&unit->image, 0, 0, unit->job->sm >= 90);
    image_bytes(&unit->image, &unit->cubin);
}
