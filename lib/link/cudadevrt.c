/* cudadevrt.c: functions that libcudadevrt defines, looked up among those that the other inputs
 * name and do not define; and the place of its cubins behind all others. */
#include "link/cudadevrt.h"

#include <elf.h>

#include "ptx/symbol.h"

static bool is_shared_function(const struct cubin_symbol *symbol)
{
    return symbol->type == STT_FUNC && symbol->binding != STB_LOCAL;
}

void cudadevrt_add_names(struct table *names, const struct cubin *library)
{
    for (size_t i = 1; i < library->symbol_count; i++)
        if (is_shared_function(&library->symbols[i]) && library->symbols[i].section != SHN_UNDEF)
            table_add(names, library->symbols[i].name, 0);
}

bool cudadevrt_is_called_by_cubin(const struct table *names, const struct cubin *cubin)
{
    for (size_t i = 1; i < cubin->symbol_count; i++)
        if (is_shared_function(&cubin->symbols[i]) && cubin->symbols[i].section == SHN_UNDEF &&
            table_find(names, cubin->symbols[i].name) != TABLE_NONE)
            return true;
    return false;
}

bool cudadevrt_is_called_by_program(const struct table *names, const struct program *program)
{
    for (size_t i = 0; i < program->symbol_count; i++) {
        const struct program_symbol *symbol = &program->symbols[i];

        if (symbol->is_live && !symbol->is_defined &&
            table_find(names, symbol->own_name) != TABLE_NONE)
            return true;
    }
    return false;
}

size_t cudadevrt_order_cubins(const struct cubin **cubins, const struct members *members,
                              const struct cubin *read, const struct cubin *program)
{
    size_t count = 0;

    for (int pass = 0; pass < 2; pass++) {
        size_t at = 0;

        for (size_t i = 0; i < members->count; i++) {
            const struct member *member = &members->list[i];

            if (member->role == MEMBER_LTO && program) {
                cubins[count++] = program;
                program = NULL;
            }
            if (member->role != MEMBER_CUBIN)
                continue;
            if (pass == member->is_system)
                cubins[count++] = &read[at];
            at++;
        }
    }
    if (program)
        cubins[count++] = program;
    return count;
}
