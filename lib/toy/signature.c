/* signature.c: prototype strings.
 *
 * Measured on ptxas: `#`, a letter for the return parameter or `v`, and a letter for each
 * parameter. Letters go by size: b 1, h 2, i 4, l 8, x 16 bytes; f and d for .f32 and .f64; for an
 * array the number of elements follows, 0 for a variable number: "#vib0". A vector counts as one
 * integer of its size. Whether a parameter is a register makes no difference. */
#include "toy/body_steps.h"

#include "base/context.h"
#include "ptx/types.h"

static char letter_of(const struct ptx_parameter *parameter, uint32_t size)
{
    if (parameter->vector == 1 && parameter->type == PTX_F32)
        return 'f';
    if (parameter->vector == 1 && parameter->type == PTX_F64)
        return 'd';
    return size == 1 ? 'b' : size == 2 ? 'h' : size == 8 ? 'l' : size == 16 ? 'x' : 'i';
}

struct text signature_of(struct arena *arena, const struct ptx_function *function)
{
    struct buffer out = {0};

    CONTEXT_DEFER(buffer_cleanup, &out);
    buffer_string(&out, function->return_count ? "#" : "#v");
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        const struct ptx_parameter *parameter = &function->parameters[i];
        uint32_t size = ptx_type_size((enum ptx_type)parameter->type) * parameter->vector;

        buffer_char(&out, letter_of(parameter, size));
        if (parameter->is_array)
            buffer_printf(&out, "%llu", (unsigned long long)(parameter->size / (size ? size : 8)));
    }
    return (struct text){arena_copy(arena, out.data, out.size, 1), out.size};
}
