/* emit_graph.c: the four parts of .nv.callgraph, by symbol, and .nv.prototype.
 *
 * An alias has an edge to the function that it stands for, and a call of it counts as a call of
 * both. Functions whose address is taken have their prototype in part -2 of the call graph, all
 * others in .nv.prototype; kernels have none. */
#include "toy/phases.h"

#include "cubin/format.h"
#include "ptx/module.h"

/* Measured on ptxas: `#`, a letter for the return parameter or `v`, and a letter for each
 * parameter. Letters go by size: b 1, h 2, i 4, l 8, x 16 bytes; f and d for .f32 and .f64; for an
 * array the number of elements follows, 0 for a variable number: "#vib0". A vector counts as one
 * integer of its size. Whether a parameter is a register makes no difference. */
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

static void put_pair(struct buffer *out, uint32_t first, uint32_t second)
{
    buffer_u32(out, first);
    buffer_u32(out, second);
}

/* Functions of the driver. ptxas adds the registers that they preserve to their prototypes; without
 * the same text the linker would report that an object by ptxas declares them differently. */
static const char *const system_calls[] = {"vprintf", "malloc", "free", "__assertfail"};
static const char system_call_suffix[] =
    "|12p4r20sRx000000000000000000000000000000000000000000000000000000000000fff9";

static struct text prototype_of(struct unit *unit, const struct global *global)
{
    struct text prototype = signature_of(&unit->arena, &global->item->function);

    if (global->is_defined)
        return prototype;
    for (size_t i = 0; i < sizeof system_calls / sizeof *system_calls; i++)
        if (text_equal(global->name, text_of(system_calls[i])))
            return text_of(
                arena_printf(&unit->arena, "%.*s%s", TEXT_ARG(prototype), system_call_suffix));
    return prototype;
}

/* Appends the functions that one function calls, or those whose address it takes. */
static void put_edges(const struct unit *unit, const struct function_code *function,
                      enum symbol_use use, struct buffer *out)
{
    uint32_t caller = function->global->symbol;

    for (size_t i = 0; i < function->symbol_count; i++) {
        const struct global *global = scope_used_function(&unit->scope, &function->symbols[i], use);

        if (global)
            put_pair(out, caller, global->symbol);
        if (global && global->target != global && use == USE_CALLED)
            put_pair(out, caller, global->target->symbol);
    }
}

/* Only calls of the driver's functions leave a section of a program. */
static void put_calls(const struct unit *unit, const struct function_code *owner,
                      struct buffer *out)
{
    if (unit->image.type != ET_EXEC)
        put_edges(unit, owner, USE_CALLED, out);
    else
        for (size_t i = 0; i < owner->extern_count; i++)
            put_pair(out, owner->parts[0].symbol, owner->externs[i]->symbol);
}

void emit_graph_calls(struct unit *unit, struct buffer *out)
{
    put_pair(out, 0, (uint32_t)CALLGRAPH_DIRECT);
    for (size_t i = 0; i < unit->owner_count; i++)
        put_calls(unit, &unit->owners[i], out);
    for (size_t i = 0; i < unit->scope.count; i++) {
        const struct global *alias = &unit->scope.globals[i];

        if (alias->target != alias)
            put_pair(out, alias->symbol, alias->target->symbol);
    }
    put_pair(out, 0, (uint32_t)CALLGRAPH_ADDRESS);
    for (size_t i = 0; i < unit->scope.count; i++) {
        const struct global *global = &unit->scope.globals[i];

        if (global->is_function && global->is_address_taken && global->symbol)
            put_pair(out, global->symbol,
                     global->item->function.is_entry
                         ? 0
                         : image_string(&unit->strings, prototype_of(unit, global)));
    }
    put_pair(out, 0, (uint32_t)CALLGRAPH_INDIRECT);
    for (size_t i = 0; i < unit->owner_count; i++)
        for (size_t k = 0; k < unit->owners[i].signature_count; k++)
            put_pair(out, unit->owners[i].global->symbol,
                     image_string(&unit->strings, unit->owners[i].signatures[k]));
    put_pair(out, 0, (uint32_t)CALLGRAPH_CANDIDATE);
    for (size_t i = 0; i < unit->owner_count; i++)
        put_edges(unit, &unit->owners[i], USE_ADDRESS, out);
}

static bool has_prototype(const struct global *global)
{
    return global->is_function && !global->is_address_taken && !global->item->function.is_entry &&
           (global->is_defined || global->is_used);
}

bool emit_graph_has_prototypes(const struct unit *unit)
{
    for (size_t i = 0; i < unit->scope.count; i++)
        if (has_prototype(&unit->scope.globals[i]))
            return true;
    return false;
}

void emit_graph_prototypes(struct unit *unit, struct buffer *out)
{
    for (size_t i = 0; i < unit->scope.count; i++) {
        const struct global *global = &unit->scope.globals[i];

        if (has_prototype(global))
            put_pair(out, global->symbol, image_string(&unit->strings, prototype_of(unit, global)));
    }
}
