/* join.c: the steps from the chunks' cubins to one, in order. */
#include "join/join.h"

#include "base/context.h"
#include "cubin/unknown.h"
#include "diag/diag.h"
#include "join/join_plan.h"

/* Chunks come from one assembler run with one target. */
static bool check_inputs(const struct cubin *const *cubins, size_t count)
{
    bool ok = true;

    for (size_t i = 0; i < count; i++) {
        if (cubins[i]->type != ET_REL)
            ok = diag_error("'%s' is not a relocatable cubin", cubins[i]->name);
        if ((cubins[i]->flags ^ cubins[0]->flags) & CUBIN_FLAGS_MERGEABLE)
            ok = diag_error("'%s' has ELF flags %#x, '%s' has %#x", cubins[i]->name,
                            cubins[i]->flags, cubins[0]->name, cubins[0]->flags);
        ok = unknown_check_records(cubins[i], false) && ok;
    }
    return ok;
}

static bool run(struct join *join)
{
    struct cubin *joined = join->out;

    join_find_twins(join);
    if (!join_resolve(join))
        return false;
    join_fold(join);
    join_order(join);
    /* From here on it is known which functions are kept, and their order. */
    join_unite_sections(join);
    join_gather_relocations(join);
    join_gather_graph(join);
    /* From here on every byte of data has its place. */
    join_make_sections(join);
    join_make_symbols(join);
    join_fill_sections(join);
    joined->flags = (joined->flags & CUBIN_FLAGS_MERGEABLE) |
                    CUBIN_FLAGS_NOTE(cubin_section_find(joined, TEXT(".note.nv.cuinfo")));
    return true;
}

bool join_cubins(struct cubin *joined, const struct cubin *const *cubins, size_t count,
                 const struct chunk_symbol *symbols, size_t symbol_count, bool keeps_data)
{
    struct join join = {
        .out = joined, .count = count, .symbols = symbols, .keeps_data = keeps_data && count == 1};
    struct join_section *section;

    *joined = (struct cubin){.name = "lto.cubin", .type = ET_REL};
    if (count == 0 || !check_inputs(cubins, count))
        return false;
    joined->toolkit = cubins[0]->toolkit;
    joined->flags = cubins[0]->flags;
    CONTEXT_DEFER(arena_cleanup, &join.arena);
    CONTEXT_DEFER(buffer_cleanup, &join.scratch);
    CONTEXT_DEFER(table_cleanup, &join.listed);
    join.inputs = arena_zalloc(&join.arena, count, sizeof *join.inputs);
    for (size_t i = 0; i < count; i++) {
        join.section_count += cubins[i]->section_count;
        joined->has_unknown_records |= cubins[i]->has_unknown_records;
    }
    join.sections = section = arena_alloc(&join.arena, join.section_count, sizeof *join.sections);
    for (uint32_t i = 0; i < count; i++) {
        join.inputs[i] = (struct join_input){.cubin = cubins[i], .sections = section};
        for (size_t k = 0; k < cubins[i]->section_count; k++)
            *section++ = (struct join_section){.source = &cubins[i]->sections[k],
                                               .input = &join.inputs[i],
                                               .cubin = i,
                                               .class = classes_of(&cubins[i]->sections[k]),
                                               .function = JOIN_NONE};
    }
    for (size_t i = 0; i < symbol_count; i++)
        table_add(&join.listed, symbols[i].name, (uint32_t)i);
    return run(&join);
}
