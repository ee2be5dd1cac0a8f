/* emit_symbols.c: the symbol table.
 *
 * Sections first, then the names that the driver and the linker own, then what is local, weak and
 * global of the chunk, each in order of the text. As in ptxas's output, weak symbols stand among
 * the locals, external functions have symbols only when they are used, external variables always.
 */
#include "toy/emit.h"

#include "cubin/format.h"
#include "ptx/types.h"

/* Undefined weak symbols of every cubin from sm_90 on: tables of unified addresses, and the shared
 * memory that the driver reserves. */
static const struct {
    const char *name;
    uint64_t size;
} reserved[] = {
    {"__UDT_OFFSET", 8},    {"__UFT_OFFSET", 8}, {"__UFT_CANONICAL", 8},
    {"__UDT_CANONICAL", 8}, {"__UFT", 8},        {"__UDT", 8},
    {"__UFT_END", 8},       {"__UDT_END", 8},    {".nv.reservedSmem.offset0", 4},
};

static uint32_t add(struct emission *emission, const struct image_symbol *symbol)
{
    emission->symbols[emission->symbol_count] = *symbol;
    return (uint32_t)emission->symbol_count++;
}

static uint32_t add_section(struct emission *emission, uint32_t section)
{
    if (!section)
        return 0;
    return add(emission,
               &(struct image_symbol){.name = emission->unit->image.sections[section].name,
                                      .type = STT_SECTION,
                                      .binding = STB_LOCAL,
                                      .section = section});
}

static void add_sections(struct emission *emission)
{
    const struct emit_sections *sections = &emission->sections;
    struct unit *unit = emission->unit;
    add_section(emission, sections->tool_note);
    add_section(emission, sections->cuda_note);
    add_section(emission, sections->callgraph);
    add_section(emission, sections->prototype);
    for (int kind = 0; kind < DATA_KINDS; kind++)
        add_section(emission, sections->data[kind]);
    for (size_t i = 0; i < unit->function_count; i++) {
        struct function_code *function = &unit->functions[i];
        add_section(emission, function->text_section);
        add_section(emission, function->shared_section);
        function->constant_symbol = add_section(emission, function->constant_section);
    }
}

static void add_reserved(struct emission *emission)
{
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        add(emission, &(struct image_symbol){.name = text_of(reserved[i].name),
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

static void add_function(struct emission *emission, struct global *global, uint8_t binding)
{
    const struct unit *unit = emission->unit;
    struct global *target = scope_target(&unit->scope, global);
    /* An alias has the binding of the function that it stands for (measured on ptxas 13.0). */
    if (binding_of(target->item->linkage, global->is_defined) != binding)
        return;
    struct image_symbol symbol = {.name = global->name, .type = STT_FUNC, .binding = binding};
    if (global->item->function.is_entry)
        symbol.other = STO_CUDA_ENTRY;
    if (target->is_defined) {
        const struct function_code *code = &unit->functions[target->function];
        symbol.section = code->text_section;
        symbol.size = target == global ? code->code.size : 0;
    } else if (!global->is_used) {
        return;
    }
    global->symbol = add(emission, &symbol);
}

static void add_object(struct emission *emission, struct object *object, uint8_t binding)
{
    const struct unit *unit = emission->unit;
    bool is_defined = object->kind != DATA_UNDEFINED && object->kind != DATA_COMMON;
    if (binding_of(object->linkage, is_defined) != binding)
        return;
    uint32_t section = object->kind == DATA_UNDEFINED ? SHN_UNDEF : SECTION_COMMON;
    if (object->kind == DATA_PARAMETER)
        section = unit->functions[object->function].text_section;
    else if (object->kind == DATA_KERNEL_SHARED)
        section = unit->functions[object->function].shared_section;
    else if (is_defined)
        section = emission->sections.data[object->kind];
    object->symbol = add(emission, &(struct image_symbol){.name = object->name,
                                                          .value = object->offset,
                                                          .size = object->size,
                                                          .type = object->type,
                                                          .binding = binding,
                                                          .other = object->other,
                                                          .section = section});
}

void emit_symbols_build(struct emission *emission)
{
    static const uint8_t bindings[] = {STB_LOCAL, STB_WEAK, STB_GLOBAL};
    struct unit *unit = emission->unit;
    size_t most = 1 + unit->image.section_count + sizeof reserved / sizeof *reserved +
                  unit->scope.count + unit->data.object_count;
    emission->symbols = arena_alloc(&unit->arena, most, sizeof *emission->symbols);
    add(emission, &(struct image_symbol){.section = SHN_UNDEF});
    add_sections(emission);
    if (unit->job->sm >= 90)
        add_reserved(emission);
    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; k < unit->scope.count; k++)
            if (unit->scope.globals[k].is_function)
                add_function(emission, &unit->scope.globals[k], bindings[i]);
        for (size_t k = 0; k < unit->data.object_count; k++)
            add_object(emission, &unit->data.objects[k], bindings[i]);
    }
}

uint32_t emit_symbols_of_body(const struct emission *emission, const struct function_code *function,
                              uint32_t index)
{
    const struct unit *unit = emission->unit;
    if (function->objects[index] != NO_INDEX)
        return unit->data.objects[function->objects[index]].symbol;
    struct global *global = scope_find(&unit->scope, function->symbols[index].name);
    if (!global)
        return 0;
    return global->is_function ? scope_target(&unit->scope, global)->symbol
                               : unit->data.objects[global->object].symbol;
}
