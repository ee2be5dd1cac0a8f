/* emit_symbols.c: the symbol table.
 *
 * Sections first, then names reserved for the driver and the linker, then the chunk's local, weak
 * and global symbols, each in order of the text. As in ptxas's output, weak symbols stand among the
 * locals; external functions have symbols only if they are used, external variables always. */
#include "toy/internal.h"

#include "cubin/format.h"

/* Undefined weak symbols of every cubin from sm_90 on: tables of unified addresses, and the
 * driver's reserved shared memory. */
static const struct {
    const char *name;
    uint64_t size;
} reserved[] = {
    {"__UDT_OFFSET", 8},    {"__UFT_OFFSET", 8}, {"__UFT_CANONICAL", 8},
    {"__UDT_CANONICAL", 8}, {"__UFT", 8},        {"__UDT", 8},
    {"__UFT_END", 8},       {"__UDT_END", 8},    {".nv.reservedSmem.offset0", 4},
};

static uint32_t add(struct unit *unit, const struct image_symbol *symbol)
{
    ARENA_PUSH(&unit->arena, unit->symbols, unit->symbol_count, unit->symbol_capacity) = *symbol;
    return (uint32_t)unit->symbol_count - 1;
}

static uint32_t add_section(struct unit *unit, uint32_t section)
{
    if (!section)
        return 0;
    return add(unit, &(struct image_symbol){.name = unit->image.sections[section].name,
                                            .type = STT_SECTION,
                                            .binding = STB_LOCAL,
                                            .section = section});
}

static void add_owner_sections(struct unit *unit, struct function_code *owner)
{
    add_section(unit, owner->sections[OWNER_TEXT]);
    add_section(unit, owner->sections[OWNER_SHARED]);
    owner->constant_symbol = add_section(unit, owner->sections[OWNER_CONSTANT]);
}

static void add_reserved(struct unit *unit)
{
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        add(unit, &(struct image_symbol){.name = text_of(reserved[i].name),
                                         .size = reserved[i].size,
                                         .type = STT_OBJECT,
                                         .binding = STB_WEAK,
                                         .section = SHN_UNDEF});
}

static uint8_t binding_of(uint8_t linkage, bool is_defined)
{
    if (!is_defined)
        return STB_GLOBAL;
    return linkage == PTX_INTERNAL ? STB_LOCAL : linkage == PTX_WEAK ? STB_WEAK : STB_GLOBAL;
}

static void put_function(struct unit *unit, struct global *global, uint8_t binding,
                         uint32_t section, uint64_t size)
{
    bool is_entry = global->item->function.is_entry;

    global->symbol = add(unit, &(struct image_symbol){.name = global->name,
                                                      .type = STT_FUNC,
                                                      .binding = binding,
                                                      .other = is_entry ? STO_CUDA_ENTRY : 0,
                                                      .section = section,
                                                      .size = size});
}

static void add_function(struct unit *unit, struct global *global, uint8_t binding)
{
    struct global *target = global->target;

    /* An alias has the binding of the function that it stands for (measured). */
    if (binding_of(target->item->linkage, global->is_defined) != binding)
        return;
    if (target->is_defined)
        put_function(unit, global, binding, target->function->sections[OWNER_TEXT],
                     target == global ? target->function->code.size : 0);
    else if (global->is_used)
        put_function(unit, global, binding, SHN_UNDEF, 0);
}

/* Adds the variables with one of the bindings, a set of 1 << STB_. An executable has only those
 * that are placed in it, with ELF's own type, and st_other only marks managed variables (measured).
 */
static void add_objects(struct unit *unit, unsigned bindings)
{
    bool is_program = unit->image.type == ET_EXEC;

    for (size_t i = 0; i < unit->data.object_count; i++) {
        struct object *object = &unit->data.objects[i];
        bool is_placed = object->kind < DATA_KINDS;
        bool is_defined = object->kind != DATA_UNDEFINED && object->kind != DATA_COMMON;
        uint8_t binding = binding_of(object->linkage, is_defined);
        uint32_t section = object->kind == DATA_UNDEFINED ? SHN_UNDEF : SECTION_COMMON;

        if (!(bindings & 1u << binding) ||
            (is_program && (!is_placed || object->kind == DATA_SHARED)))
            continue;
        if (object->kind == DATA_PARAMETER)
            section = object->function->sections[OWNER_TEXT];
        else if (object->kind == DATA_KERNEL_SHARED)
            section = object->function->sections[OWNER_SHARED];
        else if (is_placed)
            section = unit->sections[SECTION_DATA + object->kind];
        object->symbol =
            add(unit, &(struct image_symbol){.name = object->name,
                                             .value = object->offset,
                                             .size = object->size,
                                             .type = is_program ? STT_OBJECT : object->type,
                                             .binding = binding,
                                             .other = is_program ? object->other & STO_CUDA_MANAGED
                                                                 : object->other,
                                             .section = section});
    }
}

/* The symbols of a relocatable cubin. */
static void add_all(struct unit *unit)
{
    static const uint8_t bindings[] = {STB_LOCAL, STB_WEAK, STB_GLOBAL};

    add_section(unit, unit->sections[SECTION_CALLGRAPH]);
    add_section(unit, unit->sections[SECTION_PROTOTYPE]);
    add_section(unit, unit->sections[SECTION_DATA + DATA_INITIALISED]);
    add_section(unit, unit->sections[SECTION_DATA + DATA_CONSTANT]);
    add_section(unit, unit->sections[SECTION_DATA + DATA_SHARED]);
    add_section(unit, unit->sections[SECTION_DATA + DATA_ZERO]);
    for (size_t i = 0; i < unit->owner_count; i++)
        add_owner_sections(unit, &unit->owners[i]);
    if (targets_have(unit->job.sm, TARGET_HAS_FORM_90))
        add_reserved(unit);
    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; k < unit->scope.count; k++)
            if (unit->scope.globals[k].is_function)
                add_function(unit, &unit->scope.globals[k], bindings[i]);
        add_objects(unit, 1u << bindings[i]);
    }
}

/* Adds the kernel's own symbol, whose size is that of its whole section. */
static void add_kernel(struct unit *unit, struct function_code *kernel, bool is_global)
{
    struct global *global = kernel->global;
    uint8_t binding = binding_of(global->item->linkage, true);

    if ((binding == STB_GLOBAL) != is_global)
        return;
    put_function(unit, global, binding, kernel->sections[OWNER_TEXT], kernel->code.size);
    kernel->parts[0].symbol = global->symbol;
}

/* Adds symbols of copies, named $KERNEL$FUNCTION as by ptxas. */
static void add_kernel_locals(struct unit *unit, struct function_code *kernel)
{
    add_owner_sections(unit, kernel);
    for (size_t i = 1; i < kernel->part_count; i++) {
        struct function_part *part = &kernel->parts[i];
        char *name = arena_printf(&unit->arena, "$%.*s$%.*s", TEXT_ARG(kernel->item->name),
                                  TEXT_ARG(part->code->item->name));

        part->symbol = add(unit, &(struct image_symbol){.name = text_of(name),
                                                        .type = STT_FUNC,
                                                        .binding = STB_LOCAL,
                                                        .section = kernel->sections[OWNER_TEXT],
                                                        .value = part->place,
                                                        .size = part->code->code.size});
    }
    add_kernel(unit, kernel, false);
}

static void add_all_of_program(struct unit *unit)
{
    add_section(unit, unit->sections[SECTION_DATA + DATA_CONSTANT]);
    add_section(unit, unit->sections[SECTION_DATA + DATA_INITIALISED]);
    add_section(unit, unit->sections[SECTION_DATA + DATA_ZERO]);
    add_objects(unit, 1u << STB_LOCAL | 1u << STB_WEAK);
    for (size_t i = 0; i < unit->owner_count; i++)
        add_kernel_locals(unit, &unit->owners[i]);
    add_section(unit, unit->sections[SECTION_CALLGRAPH]);
    for (size_t i = 0; i < unit->symbol_count; i++)
        image_string(&unit->strings, unit->symbols[i].name);
    /* ptxas has this name after local symbols' even without the section; the join relies on it. */
    image_string(&unit->strings, TEXT(".nv.prototype"));
    add_objects(unit, 1u << STB_GLOBAL);
    for (size_t i = 0; i < unit->scope.count; i++) { /* the driver's functions */
        struct global *global = &unit->scope.globals[i];

        if (global->is_function && global->is_used && !global->is_defined)
            put_function(unit, global, STB_GLOBAL, SHN_UNDEF, 0);
    }
    for (size_t i = 0; i < unit->owner_count; i++)
        add_kernel(unit, &unit->owners[i], true);
}

void emit_symbols(struct unit *unit)
{
    add(unit, &(struct image_symbol){.section = SHN_UNDEF});
    add_section(unit, unit->sections[SECTION_TOOL_NOTE]);
    add_section(unit, unit->sections[SECTION_CUDA_NOTE]);
    if (unit->image.type == ET_EXEC)
        add_all_of_program(unit);
    else
        add_all(unit);
}

uint32_t emit_symbol_of(const struct unit *unit, const struct body_symbol *symbol)
{
    if (symbol->is_function)
        return unit->scope.globals[symbol->global].target->symbol;
    return symbol->object == NO_INDEX ? 0 : unit->data.objects[symbol->object].symbol;
}
