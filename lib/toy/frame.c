/* frame.c: a function's memory. Before its body is parsed, the parameters become symbols, or
 * registers if they are declared as such. After allocation, when spills are known, every symbol
 * gets its offset. */
#include "toy/phases.h"

#include "cubin/image.h"
#include "ptx/declaration.h"
#include "ptx/module.h"
#include "language/opcode.h"

/* Measured on ptxas for sm_90. */
#define MOST_PARAMETER_BYTES 0x7ffcu

/* Local memory of a thread: the range of a 24-bit stack address. */
#define MOST_FRAME_BYTES 0xfffff0u
#define FRAME_ALIGNMENT  8u
#define SPILL_ALIGNMENT  16u

/* A texture, sampler or surface parameter has no place among the others. */
static void declare(struct body *body, const struct ptx_parameter *parameter)
{
    bool is_opaque = ptx_type_is_opaque(parameter->type);

    if (parameter->is_register)
        body->registers[body->register_count++] =
            (struct virtual_register){.name = parameter->name,
                                      .class = parameter->size <= 4   ? REGISTER_32
                                               : parameter->size <= 8 ? REGISTER_64
                                                                      : REGISTER_128,
                                      .bits = (uint8_t)(parameter->size * 8),
                                      .is_parameter = true};
    else
        body->symbols[body->symbol_count++] =
            (struct body_symbol){.name = parameter->name,
                                 .is_body_variable = true,
                                 .is_parameter = true,
                                 .is_return = parameter->is_return,
                                 .space = is_opaque ? PTX_SPACE_TEX : PTX_SPACE_PARAM,
                                 .alignment = parameter->alignment,
                                 .size = is_opaque ? 0 : parameter->size,
                                 .type = parameter->type};
}

static bool check_parameter(const struct body *body, const struct ptx_module *module,
                            const struct ptx_parameter *parameter, bool is_entry)
{
    const struct ptx_item item = {
        .name = parameter->name,
        .variable = {.space = parameter->is_register ? PTX_SPACE_REG : PTX_SPACE_PARAM,
                     .type = parameter->type,
                     .vector = parameter->vector,
                     .is_array = parameter->is_array,
                     .size = parameter->size},
    };
    const char *fault = declaration_fault(body->arena, &item,
                                          is_entry               ? DECLARATION_KERNEL_PARAMETER
                                          : parameter->is_return ? DECLARATION_RETURN_PARAMETER
                                                                 : DECLARATION_FUNCTION_PARAMETER,
                                          module->texmode_independent);

    return !fault || diag_error("%s", fault);
}

bool frame_declare(struct body *body, const struct ptx_module *module,
                   const struct ptx_item *function)
{
    uint32_t count = function->function.parameter_count;
    body->symbols = arena_alloc(body->arena, count, sizeof *body->symbols);
    body->registers = arena_alloc(body->arena, count, sizeof *body->registers);
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_parameter *parameter = &function->function.parameters[i];
        if (!check_parameter(body, module, parameter, function->function.is_entry))
            return false;
        declare(body, parameter);
    }
    return true;
}

static bool runs_off_the_end(const struct body *body)
{
    if (body->instruction_count == 0)
        return true;
    const struct instruction *last = &body->instructions[body->instruction_count - 1];
    if (!(opcode_get(last->opcode)->flags & OPCODE_ENDS) || last->guard != NO_INDEX)
        return true;
    for (size_t i = 0; i < body->label_count; i++)
        if (body->labels[i].instruction >= body->instruction_count)
            return true;
    return false;
}

void frame_complete(struct body *body)
{
    size_t count = body->instruction_count;
    struct instruction end = {.opcode = INDEX_ret, .guard = NO_INDEX};

    if (!runs_off_the_end(body))
        return;
    end.line = count ? body->instructions[count - 1].line : 0;
    ARENA_PUSH(body->arena, body->instructions, body->instruction_count, count) = end;
}

/* Places the symbols of a kind from *end on; false if they do not fit. */
static bool place_all(struct body *body, bool is_parameter, bool is_return, uint64_t *end)
{
    for (size_t i = 0; i < body->symbol_count; i++) {
        struct body_symbol *symbol = &body->symbols[i];

        if (!symbol->is_body_variable ||
            (symbol->space != PTX_SPACE_PARAM && symbol->space != PTX_SPACE_LOCAL) ||
            symbol->is_parameter != is_parameter || symbol->is_return != is_return)
            continue;
        symbol->offset = image_align_up(*end, symbol->alignment);
        *end = symbol->offset + symbol->size;
        if (symbol->size > UINT32_MAX || *end > UINT32_MAX)
            return false;
    }
    return true;
}

bool frame_layout(struct body *body, uint32_t base, struct function_code *function)
{
    bool is_entry = function->item->function.is_entry;
    uint64_t parameters = base;
    uint64_t end = 0;
    bool fits = place_all(body, true, false, is_entry ? &parameters : &end) &&
                place_all(body, true, true, &end);
    if (is_entry && (!fits || parameters - base > MOST_PARAMETER_BYTES))
        return diag_error(
            "Entry function '%.*s' uses too much parameter space (0x%llx bytes, 0x%x max)",
            TEXT_ARG(body->function), (unsigned long long)(parameters - base),
            MOST_PARAMETER_BYTES);
    fits = fits && place_all(body, false, false, &end);
    if (function->spill_bytes)
        end = image_align_up(end, SPILL_ALIGNMENT) + function->spill_bytes;
    end = image_align_up(end, FRAME_ALIGNMENT);
    if (!fits || end > MOST_FRAME_BYTES)
        return diag_error("Function '%.*s' uses too much local memory (0x%llx bytes, 0x%x max)",
                          TEXT_ARG(body->function), (unsigned long long)end, MOST_FRAME_BYTES);
    function->parameter_bytes = (uint32_t)(parameters - base);
    function->frame_bytes = (uint32_t)end;
    return true;
}
