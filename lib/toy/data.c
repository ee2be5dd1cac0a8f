/* data.c: places variables as objects in sections.
 *
 * Measured on ptxas: a .global variable with an initial value, even of zeros, is in
 * .nv.global.init, one without in .nv.global; constants always have bytes; a shared variable is not
 * placed here: its symbol's value is its alignment and its section has the sum of the sizes, since
 * the linker lays out shared memory for each kernel. ptxas numbers the names of body variables by
 * scope; here they are called FUNCTION$VARIABLE, which does not depend on the chunk. */
#include "toy/internal.h"

#include <elf.h>

#include "base/search.h"
#include "cubin/format.h"
#include "ptx/declaration.h"
#include "ptx/lexer.h"

#define MOST_CONSTANT_BYTES    0x10000u
#define MOST_INITIALISED_BYTES 0x40000000u
#define MOST_SECTION_BYTES     (UINT64_C(1) << 40)

static bool too_large(const char *kind, uint64_t size, uint64_t most)
{
    return diag_error("File uses too much %sdata (0x%llx bytes, 0x%llx max)", kind,
                      (unsigned long long)size, (unsigned long long)most);
}

/* Adds the object, and places it if it is in one of the chunk's sections. */
static bool add_object(struct data *data, struct object object, uint32_t *index)
{
    bool is_shared = object.kind == DATA_SHARED;
    uint32_t alignment = object.alignment ? object.alignment : 1;

    if (object.kind < DATA_KINDS) {
        struct data_section *section = &data->sections[object.kind];
        uint64_t start = is_shared ? section->size : image_align_up(section->size, alignment);

        if (object.size > MOST_SECTION_BYTES || start > MOST_SECTION_BYTES)
            return too_large("", object.size, MOST_SECTION_BYTES);
        object.offset = is_shared ? alignment : start;
        section->size = start + object.size;
        RAISE(section->alignment, alignment);
    }
    *index = (uint32_t)data->object_count;
    data->objects[data->object_count++] = object;
    return true;
}

static uint8_t symbol_type(uint8_t type)
{
    return type == PTX_TEXREF       ? STT_CUDA_TEXTURE
           : type == PTX_SAMPLERREF ? STT_CUDA_SAMPLER
           : type == PTX_SURFREF    ? STT_CUDA_SURFACE
                                    : STT_CUDA_OBJECT;
}

static enum data_kind kind_of_space(uint8_t space, bool has_value)
{
    return space == PTX_SPACE_SHARED  ? DATA_SHARED
           : space == PTX_SPACE_CONST ? DATA_CONSTANT
           : has_value                ? DATA_INITIALISED
                                      : DATA_ZERO;
}

static uint8_t space_bits(uint8_t space)
{
    return space == PTX_SPACE_SHARED  ? STO_CUDA_SHARED
           : space == PTX_SPACE_CONST ? STO_CUDA_CONST
                                      : STO_CUDA_GLOBAL;
}

static bool fail(const struct unit *unit, const struct ptx_item *item, const char *at,
                 const char *format, struct text name)
{
    const struct diag_place place = source_ptx_place(&unit->module, item, at);

    return diag_at(DIAG_ERROR, &place, format, TEXT_ARG(name));
}

static bool add_global(struct unit *unit, struct global *global)
{
    const struct ptx_item *item = global->item;
    const struct ptx_variable *variable = &item->variable;
    bool has_value = variable->initialiser.size > 0;
    struct object object = {.name = global->name,
                            .kind = (uint8_t)kind_of_space(variable->space, has_value),
                            .type = symbol_type(variable->type),
                            .linkage = item->linkage,
                            .alignment = variable->alignment,
                            .value = has_value ? item : NULL};

    if (variable->space == PTX_SPACE_TEX)
        return fail(unit, item, item->text.data,
                    "Deprecated feature: '.tex' not supported as of PTX version 1.5",
                    (struct text){0});
    if (object.type == STT_CUDA_OBJECT) {
        object.size = variable->size;
        object.other =
            (uint8_t)(space_bits(variable->space) | (variable->is_managed ? STO_CUDA_MANAGED : 0));
    }
    if (object.type != STT_CUDA_OBJECT || !item->is_definition) {
        object.kind = DATA_UNDEFINED;
    } else if (item->linkage == PTX_COMMON) {
        object.kind = DATA_COMMON;
        object.offset = object.alignment;
    }
    return add_object(&unit->data, object, &global->object);
}

/* FUNCTION$VARIABLE, with a number appended for all but the first variable of that name. */
static struct text body_name(struct arena *arena, struct table *seen, struct text function,
                             struct text name)
{
    uint32_t count = table_find(seen, name) + 1; /* TABLE_NONE + 1 is 0 */
    char *text = arena_printf(arena, "%.*s$%.*s", TEXT_ARG(function), TEXT_ARG(name));

    table_set(seen, name, count);
    return text_of(count ? arena_printf(arena, "%s$%u", text, count) : text);
}

/* Adds a variable of a body, or a kernel's parameter that is a texture, sampler or surface. */
static bool add_body_variable(struct unit *unit, struct table *names,
                              struct function_code *function, struct body_symbol *symbol)
{
    bool has_value = symbol->item && symbol->item->variable.initialiser.size > 0;
    struct object object = {.kind = (uint8_t)kind_of_space(symbol->space, has_value),
                            .type = symbol_type(symbol->type),
                            .linkage = PTX_INTERNAL,
                            .function = function,
                            .alignment = symbol->alignment,
                            .size = symbol->size};

    if (symbol->is_parameter) {
        object.name = symbol->name;
        object.kind = DATA_PARAMETER;
        return add_object(&unit->data, object, &symbol->object);
    }
    object.name = body_name(&unit->arena, names, function->item->name, symbol->name);
    object.other = space_bits(symbol->space);
    if (has_value)
        object.value = symbol->item;
    if (object.kind == DATA_SHARED && function->item->function.is_entry) {
        object.kind = DATA_KERNEL_SHARED;
        object.offset = object.alignment;
        if (__builtin_add_overflow(function->shared_bytes, object.size, &function->shared_bytes) ||
            function->shared_bytes > MOST_SECTION_BYTES)
            return too_large("", object.size, MOST_SECTION_BYTES);
        RAISE(function->shared_alignment, object.alignment);
    }
    return add_object(&unit->data, object, &symbol->object);
}

static bool is_object(const struct body_symbol *symbol)
{
    return symbol->is_parameter
               ? symbol->space == PTX_SPACE_TEX
               : symbol->space == PTX_SPACE_SHARED || symbol->space == PTX_SPACE_GLOBAL ||
                     symbol->space == PTX_SPACE_CONST;
}

static bool add_body(struct unit *unit, struct function_code *function)
{
    LOCAL_TABLE(names);
    bool is_good = true;

    for (uint32_t i = 0; i < function->symbol_count && is_good; i++) {
        struct body_symbol *symbol = &function->symbols[i];

        if (!symbol->is_body_variable)
            symbol->object = unit->scope.globals[symbol->global].object;
        else if (is_object(symbol))
            is_good = add_body_variable(unit, &names, function, symbol);
    }
    return is_good;
}

/* The type of a reference to a variable, a function, or a function in a unified table. */
static uint32_t relocation_type(const struct unit *unit,
                                const struct initialiser_reference *reference, bool is_function)
{
    static const uint32_t types[3][3] = {{R_CUDA_G64, R_CUDA_G32, R_CUDA_G8_0},
                                         {R_CUDA_64, R_CUDA_32, R_CUDA_8_0},
                                         {R_CUDA_UNIFIED, R_CUDA_UNIFIED_32, R_CUDA_UNIFIED_8_0}};
    bool is_unified = is_function && targets_have(unit->job.sm, TARGET_HAS_FORM_90);
    const uint32_t *row = types[is_function + is_unified];

    if (reference->mask != UINT64_MAX)
        return row[2] + (uint32_t)__builtin_ctzll(reference->mask ? reference->mask : 1) / 8;
    return row[reference->width == 4];
}

/* A statement before the variable's must have declared the name (measured). */
static bool is_known(const struct global *global, const struct ptx_item *variable)
{
    return global && (!variable->text.data || global->first < variable->text.data);
}

static bool add_reference(struct unit *unit, const struct object *object,
                          const struct initialiser_reference *reference)
{
    struct global *global = scope_find(&unit->scope, reference->symbol);
    struct data_section *section = &unit->data.sections[object->kind];

    if (!is_known(global, object->value) ||
        (!global->is_function &&
         (global->item->variable.space == PTX_SPACE_SHARED || object->type != STT_CUDA_OBJECT)))
        return fail(unit, object->value, unit->module.whole.data + reference->place,
                    "Invalid initial value symbol '%.*s'", reference->symbol);
    struct global *target = global->target;
    global->is_used = target->is_used = true;
    global->is_address_taken |= global->is_function;
    target->is_address_taken |= target->is_function;
    const struct body_symbol symbol = {.is_function = target->is_function,
                                       .global = (uint32_t)(target - unit->scope.globals),
                                       .object = target->object};
    ARENA_PUSH(&unit->arena, section->relocations, section->relocation_count,
               section->relocation_capacity) =
        (struct code_relocation){.offset = object->offset + reference->offset,
                                 .type = relocation_type(unit, reference, target->is_function),
                                 .symbol = arena_copy(&unit->arena, &symbol, 1, sizeof symbol),
                                 .addend = reference->addend};
    return true;
}

/* Decodes one initial value into its section, which has its final size. */
static bool store_value(struct unit *unit, const struct object *object)
{
    struct initialiser initialiser = {0};
    bool is_good = true;

    if (!initialiser_decode(&initialiser, &unit->arena, &unit->module, object->value))
        return false;
    if (initialiser.size && initialiser.bytes)
        memcpy(unit->data.sections[object->kind].bytes + object->offset, initialiser.bytes,
               initialiser.size);
    for (size_t i = 0; i < initialiser.reference_count; i++)
        is_good &= add_reference(unit, object, &initialiser.references[i]);
    return is_good;
}

static bool place_all(struct unit *unit)
{
    struct scope *scope = &unit->scope;
    struct data *data = &unit->data;
    size_t count = scope->count;

    for (size_t i = 0; i < unit->function_count; i++)
        count += unit->functions[i].symbol_count;
    data->objects = arena_alloc(&unit->arena, count, sizeof *data->objects);
    for (size_t i = 0; i < scope->count; i++)
        if (!scope->globals[i].is_function && !add_global(unit, &scope->globals[i]))
            return false;
    for (size_t i = 0; i < unit->function_count; i++)
        if (!add_body(unit, &unit->functions[i]))
            return false;
    uint64_t initialised = data->sections[DATA_INITIALISED].size;
    uint64_t constants = data->sections[DATA_CONSTANT].size;
    if (initialised > MOST_INITIALISED_BYTES)
        return too_large("initialised ", initialised, MOST_INITIALISED_BYTES);
    return constants <= MOST_CONSTANT_BYTES ||
           too_large("global constant ", constants, MOST_CONSTANT_BYTES);
}

bool data_build(struct unit *unit)
{
    struct data *data = &unit->data;
    bool is_good = true;

    if (!place_all(unit))
        return false;
    for (int kind = DATA_CONSTANT; kind <= DATA_INITIALISED; kind++)
        data->sections[kind].bytes = arena_zalloc(&unit->arena, data->sections[kind].size, 1);
    for (size_t i = 0; i < data->object_count; i++)
        if (data->objects[i].value && data->objects[i].kind <= DATA_INITIALISED)
            is_good &= store_value(unit, &data->objects[i]);
    return is_good;
}
