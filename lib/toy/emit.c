/* emit.c: a relocatable cubin, as ptxas makes it under -c. */
#include "toy/emit.h"
#include "toy/phases.h"

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

static void add_sections(struct unit *unit)
{
    emit_head(unit, ET_REL);
    if (emit_graph_has_prototypes(unit))
        emit_single(unit, SECTION_PROTOTYPE);
    emit_owner_sections(unit, OWNER_RELOCATIONS);
    if (unit->sections[SECTION_LINES])
        emit_single(unit, SECTION_LINE_RELOCATIONS);
    emit_data_relocations(unit, DATA_INITIALISED);
    emit_data_relocations(unit, DATA_CONSTANT);
    emit_data(unit, DATA_CONSTANT);
    emit_owner_sections(unit, OWNER_TEXT);
    emit_data(unit, DATA_INITIALISED);
    emit_data(unit, DATA_SHARED);
    emit_data(unit, DATA_ZERO);
    emit_owner_sections(unit, OWNER_SHARED);
    emit_owner_sections(unit, OWNER_CONSTANT);
    emit_single(unit, SECTION_BUILTIN_NOTE);
}

void emit_relocatable(struct unit *unit)
{
    mark_uses(unit);
    make_owners(unit);
    add_sections(unit);
    emit_symbols_build(unit);
    emit_fill_owners(unit);
    emit_fill_data_relocations(unit, DATA_INITIALISED);
    emit_fill_data_relocations(unit, DATA_CONSTANT);
    emit_notes(unit);
    emit_fill(unit, SECTION_INFO, emit_info_chunk);
    emit_fill(unit, SECTION_CALLGRAPH, emit_graph_calls);
    emit_fill(unit, SECTION_PROTOTYPE, emit_graph_prototypes);
    emit_fill(unit, SECTION_LINES, emit_line_units);
    emit_symbol_table(unit);
    image_set_section_names(&unit->image, unit->sections[SECTION_NAMES], NULL);
    image_layout(&unit->image);
    image_bytes(&unit->image, &unit->cubin);
}
