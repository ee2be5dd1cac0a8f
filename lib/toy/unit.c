/* unit.c: says which functions of a chunk call which. */
#include "toy/unit.h"

#include "base/components.h"

uint32_t unit_callee(void *unit, uint32_t function, uint32_t position)
{
    const struct unit *chunk = unit;
    const struct function_code *code = &chunk->functions[function];
    const struct body_symbol *symbol;
    uint32_t callee;

    if (position >= code->symbol_count)
        return COMPONENTS_END;
    symbol = &code->symbols[position];
    if (!symbol->is_function || !(symbol->uses & USE_CALLED))
        return function;
    callee = scope_target(&chunk->scope, &chunk->scope.globals[symbol->global])->function;
    return callee == NO_INDEX ? function : callee;
}
