/* bank4.c: closing kernels, which give bank 4 of a chunk the order that it has in the whole
 * program.
 *
 * Bank 4 holds addresses of all variables, and of functions of the driver (malloc, vprintf,
 * __assertfail). ptxas compiles the last kernel of the text first and goes backwards. The bank has
 * first the functions that the last kernel calls, then all variables, then for each kernel before
 * it the functions that no later kernel calls; the functions of one kernel are in the order of
 * their declarations in the text (measured, 150 random programs for sm_75 to sm_120).
 *
 * So a chunk gets the whole program's bank when its text ends with kernels that make the whole
 * program's calls: the last one calls what the program's last kernel calls, and before it there is
 * one for each kernel that adds functions. The join leaves them out. Calls are conditional: code
 * after a function that does not return would be dropped. */
#include <inttypes.h>

#include "split/internal.h"

/* Sets of driver functions are bit masks. */
#define MOST_FUNCTIONS 63u

struct bank4 {
    const struct plan *plan;
    uint32_t functions[MOST_FUNCTIONS]; /* of the driver, in program order */
    uint32_t function_count;
    uint64_t kernels[MOST_FUNCTIONS + 1]; /* mask of the functions that each calls, the last kernel
                                             of the text first */
    uint32_t kernel_count;
};

static void find_driver_functions(struct bank4 *bank4)
{
    const struct program *program = bank4->plan->program;

    for (uint32_t i = 0; i < program->symbol_count; i++) {
        const struct program_symbol *symbol = &program->symbols[i];

        if (!symbol->is_live || !symbol->is_function || symbol->is_defined)
            continue;
        if (bank4->function_count < MOST_FUNCTIONS)
            bank4->functions[bank4->function_count] = i;
        bank4->function_count++;
    }
}

/* Finds the driver functions that each symbol reaches. Callers mostly follow, or mostly precede,
 * what they call: passes in both directions are few. */
static uint64_t *find_reach(const struct bank4 *bank4)
{
    const struct program *program = bank4->plan->program;
    size_t count = program->symbol_count;
    uint64_t *reach = arena_zalloc(bank4->plan->arena, count, sizeof *reach);
    bool has_more = true;

    for (uint32_t f = 0; f < bank4->function_count; f++)
        reach[bank4->functions[f]] |= UINT64_C(1) << f;
    for (bool is_forward = true; has_more; is_forward = !is_forward) {
        has_more = false;
        for (size_t i = 0; i < count; i++) {
            size_t at = is_forward ? i : count - 1 - i;
            uint64_t before = reach[at];

            for (uint32_t j = 0; j < program->symbols[at].reference_count; j++)
                reach[at] |= reach[program->symbols[at].references[j]];
            has_more |= reach[at] != before;
        }
    }
    return reach;
}

static void find_closing_kernels(struct bank4 *bank4)
{
    const struct program *program = bank4->plan->program;
    const uint64_t *reach = find_reach(bank4);
    uint64_t seen = 0;
    bool is_last = true;

    for (size_t i = program->symbol_count; i-- > 0;) {
        if (!plan_is_unit(bank4->plan, (uint32_t)i) || !program->symbols[i].is_entry)
            continue;
        if (is_last || (reach[i] & ~seen))
            bank4->kernels[bank4->kernel_count++] = reach[i] & ~seen;
        seen |= reach[i];
        is_last = false;
    }
}

struct bank4 *bank4_new(const struct plan *plan)
{
    struct bank4 *bank4 = arena_zalloc(plan->arena, 1, sizeof *bank4);

    bank4->plan = plan;
    find_driver_functions(bank4);
    if (bank4->function_count == 0 || bank4->function_count > MOST_FUNCTIONS)
        return NULL;
    find_closing_kernels(bank4);
    return bank4;
}

void bank4_list(const struct bank4 *bank4, struct chunks *chunks)
{
    struct arena *arena = &chunks->arena;

    chunks->bank4_count = bank4->kernel_count;
    chunks->bank4_kernels = arena_alloc(arena, bank4->kernel_count, sizeof *chunks->bank4_kernels);
    for (uint32_t i = 0; i < bank4->kernel_count; i++)
        chunks->bank4_kernels[i] = text_of(arena_printf(arena, BANK4_STEM "%" PRIu32, i));
    chunks->driver_function_count = bank4->function_count;
    chunks->driver_functions =
        arena_alloc(arena, bank4->function_count, sizeof *chunks->driver_functions);
    for (uint32_t i = 0; i < bank4->function_count; i++)
        chunks->driver_functions[i] =
            arena_text(arena, plan_name(bank4->plan, bank4->functions[i]));
}

void bank4_add_functions(const struct bank4 *bank4, struct closure *closure)
{
    for (uint32_t i = 0; i < bank4->function_count; i++)
        closure_add(closure, bank4->functions[i]);
}

static void write_parameter(struct writer *writer, const struct ptx_parameter *parameter,
                            uint32_t index)
{
    buffer_printf(&writer->text, ".param .align %" PRIu32 " ",
                  parameter->alignment ? parameter->alignment : 1);
    writer_text(writer, parameter->type_text);
    buffer_printf(&writer->text, " p%" PRIu32, index);
    if (parameter->is_array)
        buffer_printf(&writer->text, "[%" PRIu64 "]", parameter->size);
    buffer_string(&writer->text, ";\n");
}

static void write_arguments(struct writer *writer, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        buffer_printf(&writer->text, "%sp%" PRIu32, i > from ? ", " : "(", i);
    if (from < to)
        buffer_string(&writer->text, ")");
}

/* "@!%p bra skip; call (p0), f, (p1, p2); skip:" */
static void write_call(const struct bank4 *bank4, struct writer *writer, uint32_t index)
{
    uint32_t symbol = bank4->functions[index];
    const struct ptx_function *function = &bank4->plan->program->symbols[symbol].item->function;

    buffer_printf(&writer->text,
                  "setp.ne.u32 %%p1, %%r1, %" PRIu32 ";\n@%%p1 bra skip%" PRIu32 ";\n{\n", index,
                  index);
    for (uint32_t i = 0; i < function->parameter_count; i++)
        write_parameter(writer, &function->parameters[i], i);
    buffer_string(&writer->text, "call ");
    write_arguments(writer, 0, function->return_count);
    if (function->return_count)
        buffer_string(&writer->text, ", ");
    writer_text(writer, plan_name(bank4->plan, symbol));
    if (function->return_count < function->parameter_count)
        buffer_string(&writer->text, ", ");
    write_arguments(writer, function->return_count, function->parameter_count);
    buffer_printf(&writer->text, ";\n}\nskip%" PRIu32 ":\n", index);
}

void bank4_write(const struct bank4 *bank4, struct writer *writer)
{
    for (uint32_t k = bank4->kernel_count; k-- > 0;) {
        buffer_printf(&writer->text,
                      ".visible .entry " BANK4_STEM "%" PRIu32
                      "()\n{\n.reg .pred %%p<2>;\n.reg .b32 %%r<2>;\nmov.u32 %%r1, %%tid.x;\n",
                      k);
        for (uint32_t i = 0; i < bank4->function_count; i++)
            if (bank4->kernels[k] >> i & 1)
                write_call(bank4, writer, i);
        buffer_string(&writer->text, "ret;\n}\n");
    }
}
