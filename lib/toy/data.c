/* data.c: places variables as objects in sections.
 *
 * Measured on ptxas: a .global variable with an initial value, even of zeros, is in
 * .nv.global.init, one without in .nv.global; constants always have bytes; a shared variable is not
 * placed here: its symbol's value is its alignment and its section has the sum of the sizes, since
 * the linker lays out shared memory for each kernel. ptxas numbers the names of body variables by
 * scope; here they are called FUNCTION$VARIABLE, which does not depend on the chunk. */
#include "toy/phases.h"

#include <elf.h>

#include "base/context.h"
#include "cubin/format.h"
#include "cubin/image.h"
#include "diag/diag.h"
#include "facts/targets.h"
#include "ptx/initialiser.h"
#include "ptx/lexer.h"
#include "ptx/source_place.h"
#include "ptx/types.h"

#define MOST_CONSTANT_BYTES    0x10000u
#define MOST_INITIALISED_BYTES 0x40000000u
#define MOST_SECTION_BYTES     (UINT64_C(1) << 40)

struct builder {
    struct unit *unit;
    size_t relocation_capacity[DATA_KINDS];
    struct table names; /* of one body's variables, while they are placed */
};

static bool too_large(const char *format, uint64_t size, uint64_t most)
{
    return diag_error(format, (unsigned long long)size, (unsigned long long)most);
}

static bool place(struct data *data, struct object *object)
{
    uint64_t alignment = object->alignment ? object->alignment : 1;
    if (object->kind >= DATA_KINDS)
        return true;
    struct data_section *section = &data->sections[object->kind];
    bool is_shared = object->kind == DATA_SHARED;
    uint64_t start = is_shared ? section->size : image_align_up(section->size, alignment);
    object->offset = is_shared ? alignment : start;
    if (object->size > MOST_SECTION_BYTES || start > MOST_SECTION_BYTES)
        return too_large("File uses too much data (0x%llx bytes, 0x%llx max)", object->size,
                         MOST_SECTION_BYTES);
    section->size = start + object->size;
    if (alignment > section->alignment)
        section->alignment = (uint32_t)alignment;
    return true;
}

static struct object *add_object(struct builder *builder, const struct object *object)
{
    struct object *added = &builder->unit->data.objects[builder->unit->data.object_count++];
    *added = *object;
    return added;
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

static enum data_kind kind_of(const struct ptx_item *item)
{
    const struct ptx_variable *variable = &item->variable;
    if (symbol_type(variable->type) != STT_CUDA_OBJECT || !item->is_definition)
        return DATA_UNDEFINED;
    if (item->linkage == PTX_COMMON)
        return DATA_COMMON;
    return kind_of_space(variable->space, variable->initialiser.size > 0);
}

static uint8_t space_bits(uint8_t space)
{
    return space == PTX_SPACE_SHARED  ? STO_CUDA_SHARED
           : space == PTX_SPACE_CONST ? STO_CUDA_CONST
                                      : STO_CUDA_GLOBAL;
}

/* .tex variables are no longer supported. */
static bool check_space(const struct builder *builder, const struct ptx_item *item)
{
    if (item->variable.space != PTX_SPACE_TEX)
        return true;
    const struct diag_place place = source_ptx_place(&builder->unit->module, item, item->text.data);
    diag_at(DIAG_ERROR, &place, "Deprecated feature: '.tex' not supported as of PTX version 1.5");
    return false;
}

/* Reads the word after `=`, one of `words` or a number from 1 on, as the number of a mode from 0
 * on. */
static bool read_mode(struct text words, struct text text, uint8_t *mode)
{
    *mode = 0;
    for (struct text word; text_take_part(&words, &word); ++*mode)
        if (text_equal(word, text))
            return true;
    return false;
}

/* One "name = value". Measured on ptxas: addr_mode_0 to addr_mode_2 and filter_mode are the bytes
 * of a word, 0xff if not given; a number n stands for mode n - 1. force_unnormalized_coords has a
 * record of its own. */
static bool read_field(struct lexer *lexer, struct sampler *sampler)
{
    static const struct text fields[] = {TEXT("addr_mode_0"), TEXT("addr_mode_1"),
                                         TEXT("addr_mode_2"), TEXT("filter_mode")};
    struct text name = lexer_text(lexer, lexer_next(lexer));
    struct token equals = lexer_next(lexer);
    struct token token = lexer_next(lexer);
    struct text text = lexer_text(lexer, token);
    uint64_t number;

    if (equals.mark != '=' || (token.kind != TOKEN_WORD && token.kind != TOKEN_NUMBER))
        return false;
    bool is_number = token.kind == TOKEN_NUMBER &&
                     lexer_number(text, &number, NULL) == NUMBER_INTEGER && number <= 0x7f;
    if (text_equal(name, TEXT("force_unnormalized_coords"))) {
        sampler->unnormalized = is_number && number != 0;
        return is_number;
    }
    for (size_t i = 0; i < 4; i++) {
        if (!text_equal(name, fields[i]))
            continue;
        if (!is_number)
            return read_mode(i < 3 ? TEXT("wrap,mirror,clamp_ogl,clamp_to_edge,clamp_to_border")
                                   : TEXT("nearest,linear"),
                             text, &sampler->values[i]);
        sampler->values[i] = (uint8_t)(number - 1);
        return true;
    }
    return false;
}

static bool read_fields(struct lexer *lexer, struct sampler *sampler)
{
    struct token token = lexer_next(lexer);

    if (token.mark != '{')
        return false;
    if (lexer_peek(lexer).mark == '}')
        return true;
    do {
        if (!read_field(lexer, sampler))
            return false;
        token = lexer_next(lexer);
    } while (token.mark == ',');
    return token.mark == '}';
}

static bool decode_sampler(struct sampler *sampler, const struct ptx_module *module,
                           const struct ptx_item *item)
{
    struct text initialiser = item->variable.initialiser;

    memset(sampler, SAMPLER_NOT_SAID, sizeof *sampler);
    if (initialiser.size == 0)
        return true;
    struct lexer lexer = lexer_at(initialiser, 0);
    if (read_fields(&lexer, sampler))
        return true;
    const struct diag_place place = source_ptx_place(module, item, initialiser.data);
    diag_at(DIAG_ERROR, &place, "Invalid initial value of sampler '%.*s'", TEXT_ARG(item->name));
    return false;
}

static bool add_global(struct builder *builder, struct global *global)
{
    const struct ptx_item *item = global->item;
    const struct ptx_variable *variable = &item->variable;
    if (!check_space(builder, item))
        return false;
    struct object object = {.name = global->name,
                            .kind = (uint8_t)kind_of(item),
                            .type = symbol_type(variable->type),
                            .linkage = item->linkage,
                            .alignment = variable->alignment,
                            .size = variable->size};
    if (object.type == STT_CUDA_OBJECT)
        object.other =
            (uint8_t)(space_bits(variable->space) | (variable->is_managed ? STO_CUDA_MANAGED : 0));
    else
        object.size = 0;
    if (object.type == STT_CUDA_SAMPLER &&
        !decode_sampler(&object.sampler, &builder->unit->module, item))
        return false;
    if (object.kind == DATA_COMMON)
        object.offset = object.alignment;
    global->object = (uint32_t)builder->unit->data.object_count;
    struct object *added = add_object(builder, &object);
    if (variable->initialiser.size && object.kind < DATA_KINDS)
        added->value = item;
    return place(&builder->unit->data, added);
}

/* A body's variable as an item, so that its initial value can be decoded. */
static const struct ptx_item *item_of(const struct body_symbol *symbol, struct arena *arena)
{
    struct ptx_item item = {.kind = PTX_VARIABLE, .is_definition = true, .name = symbol->name};
    item.variable = (struct ptx_variable){.type = symbol->type,
                                          .vector = symbol->lanes,
                                          .alignment = symbol->alignment,
                                          .size = symbol->size,
                                          .initialiser = symbol->initialiser};
    item.variable.declarator =
        (struct text){symbol->name.data, (size_t)(symbol->initialiser.data - symbol->name.data)};
    return arena_copy(arena, &item, 1, sizeof item);
}

/* FUNCTION$VARIABLE, with a number appended for all but the first variable of that name. */
static struct text body_name(struct builder *builder, const struct function_code *function,
                             struct text name)
{
    struct table *seen = &builder->names;
    uint32_t count = table_find(seen, name);
    count = count == TABLE_NONE ? 0 : count + 1;
    table_set(seen, name, count);
    struct text owner = function->item->name;
    char *text =
        count ? arena_printf(&builder->unit->arena, "%.*s$%.*s$%u", TEXT_ARG(owner), TEXT_ARG(name),
                             count)
              : arena_printf(&builder->unit->arena, "%.*s$%.*s", TEXT_ARG(owner), TEXT_ARG(name));
    return text_of(text);
}

static bool add_body_variable(struct builder *builder, struct function_code *function,
                              uint32_t function_index, uint32_t symbol_index)
{
    const struct body_symbol *symbol = &function->symbols[symbol_index];
    struct object object = {.name = body_name(builder, function, symbol->name),
                            .kind =
                                (uint8_t)kind_of_space(symbol->space, symbol->initialiser.size > 0),
                            .type = STT_CUDA_OBJECT,
                            .other = space_bits(symbol->space),
                            .linkage = PTX_INTERNAL,
                            .function = function_index,
                            .alignment = symbol->alignment,
                            .size = symbol->size};
    if (object.kind == DATA_SHARED && function->item->function.is_entry) {
        object.kind = DATA_KERNEL_SHARED;
        object.offset = object.alignment;
        if (__builtin_add_overflow(function->shared_bytes, object.size, &function->shared_bytes) ||
            function->shared_bytes > MOST_SECTION_BYTES)
            return too_large("File uses too much data (0x%llx bytes, 0x%llx max)", object.size,
                             MOST_SECTION_BYTES);
        if (object.alignment > function->shared_alignment)
            function->shared_alignment = object.alignment;
    }
    function->symbols[symbol_index].object = (uint32_t)builder->unit->data.object_count;
    struct object *added = add_object(builder, &object);
    if (symbol->initialiser.size && object.kind < DATA_KINDS && object.kind != DATA_SHARED)
        added->value = item_of(symbol, &builder->unit->arena);
    return place(&builder->unit->data, added);
}

static bool is_opaque_parameter(const struct body_symbol *symbol)
{
    return symbol->is_parameter && symbol->space == PTX_SPACE_TEX;
}

static void add_parameter(struct builder *builder, struct function_code *function,
                          uint32_t function_index, uint32_t symbol_index)
{
    const struct body_symbol *symbol = &function->symbols[symbol_index];
    function->symbols[symbol_index].object = (uint32_t)builder->unit->data.object_count;
    add_object(builder, &(struct object){.name = symbol->name,
                                         .kind = DATA_PARAMETER,
                                         .type = symbol_type(symbol->type),
                                         .linkage = PTX_INTERNAL,
                                         .function = function_index});
}

static bool is_object(const struct body_symbol *symbol)
{
    return symbol->is_body_variable && !symbol->is_parameter &&
           (symbol->space == PTX_SPACE_SHARED || symbol->space == PTX_SPACE_GLOBAL ||
            symbol->space == PTX_SPACE_CONST);
}

static bool add_body(struct builder *builder, struct function_code *function, uint32_t index)
{
    bool is_good = true;
    table_free(&builder->names);
    for (uint32_t i = 0; i < function->symbol_count && is_good; i++)
        if (!function->symbols[i].is_body_variable)
            function->symbols[i].object =
                builder->unit->scope.globals[function->symbols[i].global].object;
        else if (is_opaque_parameter(&function->symbols[i]))
            add_parameter(builder, function, index, i);
        else if (is_object(&function->symbols[i]))
            is_good = add_body_variable(builder, function, index, i);
    return is_good;
}

static uint32_t relocation_type(const struct builder *builder,
                                const struct initialiser_reference *reference, bool is_function)
{
    bool is_unified = is_function && targets_have(builder->unit->job->sm, TARGET_HAS_FORM_90);
    if (reference->mask != UINT64_MAX) {
        uint32_t byte = (uint32_t)__builtin_ctzll(reference->mask ? reference->mask : 1) / 8;
        return (is_unified ? R_CUDA_UNIFIED_8_0 : is_function ? R_CUDA_8_0 : R_CUDA_G8_0) + byte;
    }
    if (reference->width == 4)
        return is_unified ? R_CUDA_UNIFIED_32 : is_function ? R_CUDA_32 : R_CUDA_G32;
    return is_unified ? R_CUDA_UNIFIED : is_function ? R_CUDA_64 : R_CUDA_G64;
}

/* A statement before the variable's must have declared the name (measured). */
static bool is_known(const struct global *global, const struct ptx_item *variable)
{
    return global && (!variable->text.data || global->first < variable->text.data);
}

static bool add_reference(struct builder *builder, const struct object *object,
                          const struct ptx_item *variable,
                          const struct initialiser_reference *reference)
{
    struct global *global = scope_find(&builder->unit->scope, reference->symbol);
    if (!is_known(global, variable) ||
        (!global->is_function &&
         (global->item->variable.space == PTX_SPACE_SHARED || object->type != STT_CUDA_OBJECT))) {
        const struct diag_place place = source_ptx_place(
            &builder->unit->module, variable, builder->unit->module.whole.data + reference->place);
        diag_at(DIAG_ERROR, &place, "Invalid initial value symbol '%.*s'",
                TEXT_ARG(reference->symbol));
        return false;
    }
    global->is_used = true;
    global->is_address_taken |= global->is_function;
    struct global *target = scope_target(&builder->unit->scope, global);
    target->is_used = true;
    target->is_address_taken |= target->is_function;
    struct data_section *section = &builder->unit->data.sections[object->kind];
    ARENA_PUSH(&builder->unit->arena, section->relocations, section->relocation_count,
               builder->relocation_capacity[object->kind]) =
        (struct data_relocation){.offset = object->offset + reference->offset,
                                 .type = relocation_type(builder, reference, target->is_function),
                                 .global = (uint32_t)(target - builder->unit->scope.globals),
                                 .addend = reference->addend};
    return true;
}

/* Decodes one initial value into its section, which has its final size. */
static bool store_value(struct builder *builder, const struct object *object)
{
    struct data_section *section = &builder->unit->data.sections[object->kind];
    struct initialiser initialiser = {0};
    if (!initialiser_decode(&initialiser, &builder->unit->arena, &builder->unit->module,
                            object->value))
        return false;
    if (initialiser.size && initialiser.bytes)
        memcpy(section->bytes + object->offset, initialiser.bytes, initialiser.size);
    bool is_good = true;
    for (size_t i = 0; i < initialiser.reference_count; i++)
        is_good &= add_reference(builder, object, object->value, &initialiser.references[i]);
    return is_good;
}

static bool place_all(struct builder *builder)
{
    struct unit *unit = builder->unit;
    struct scope *scope = &unit->scope;
    struct data *data = &unit->data;
    size_t count = scope->count;
    bool is_good = true;
    for (size_t i = 0; i < unit->function_count; i++)
        count += unit->functions[i].symbol_count;
    data->objects = arena_alloc(&unit->arena, count, sizeof *data->objects);
    for (size_t i = 0; i < scope->count && is_good; i++)
        if (!scope->globals[i].is_function)
            is_good = add_global(builder, &scope->globals[i]);
    for (size_t i = 0; i < unit->function_count && is_good; i++)
        is_good = add_body(builder, &unit->functions[i], (uint32_t)i);
    uint64_t initialised = data->sections[DATA_INITIALISED].size;
    if (is_good && initialised > MOST_INITIALISED_BYTES)
        is_good = too_large("File uses too much initialised data (0x%llx bytes, 0x%llx max)",
                            initialised, MOST_INITIALISED_BYTES);
    uint64_t constants = data->sections[DATA_CONSTANT].size;
    if (is_good && constants > MOST_CONSTANT_BYTES)
        is_good = too_large("File uses too much global constant data (0x%llx bytes, 0x%llx max)",
                            constants, MOST_CONSTANT_BYTES);
    return is_good;
}

bool data_build(struct unit *unit)
{
    struct builder builder = {.unit = unit};
    struct data *data = &unit->data;
    bool is_good = true;

    CONTEXT_DEFER(table_cleanup, &builder.names);
    if (!place_all(&builder))
        return false;
    for (int kind = DATA_CONSTANT; kind <= DATA_INITIALISED; kind++)
        data->sections[kind].bytes = arena_zalloc(&unit->arena, data->sections[kind].size, 1);
    for (size_t i = 0; i < data->object_count; i++)
        if (data->objects[i].value)
            is_good &= store_value(&builder, &data->objects[i]);
    return is_good;
}
