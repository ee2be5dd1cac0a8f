/* records.c: what .nv.info and .nv.info.F say of each function.
 *
 * The driver reads from these records what a kernel needs: registers, barriers, stack. ptxas only
 * knows what each function needs by itself, so the linker recomputes a kernel's records from all
 * that it can reach (attributes.c); device functions keep their own. */
#include "resolve/resolve_steps.h"

#include "diag/diag.h"

static void gather_program_records(struct merging *m, size_t file, struct bytes rest, bool is_twin)
{
    struct info_record record;

    while (info_next(&rest, &record)) {
        struct merged_function *function;
        uint32_t index = info_word(record.payload, 0), value = info_word(record.payload, 1);
        uint32_t symbol;

        if (record.format != EIFMT_SVAL ||
            (record.attribute != EIATTR_REGCOUNT && record.attribute != EIATTR_FRAME_SIZE))
            continue;
        /* nvlink: "Internal error: no regcount?"; not under -r. */
        if (record.attribute == EIATTR_REGCOUNT && !m->request->relocatable &&
            m->cubins[file]->symbols[index].type != STT_FUNC)
            MERGING_ERROR(m, "'%s' says how many registers symbol %u needs, which is no function",
                          m->cubins[file]->name, index);
        symbol = merging_symbol(m, file, index);
        if (symbol == MERGE_NONE || m->symbols[symbol].file != file)
            continue;
        function = &m->functions[symbol];
        if (record.attribute == EIATTR_REGCOUNT)
            *(is_twin ? &function->twin_registers : &function->registers) = value;
        else
            *(is_twin ? &function->twin_frame : &function->frame) = value;
    }
}

bool records_is_passed_on(const struct merging *m, const struct info_record *record)
{
    switch (attributes_pass(record->attribute, m->request->toolkit)) {
    case PASSES_FLAG:
    case PASSES_MOST:
    case PASSES_SUM:
    case PASSES_OR:
    case PASSES_UNION:
    case PASSES_MOST_OF_SEVERAL:
        return true;
    case PASSES_MASK:
        return record->value != 0;
    default:
        return false;
    }
}

static void gather_function_records(const struct merging *m, struct merged_function *function,
                                    struct bytes rest)
{
    struct info_record record;

    function->records = rest;
    while (info_next(&rest, &record)) {
        if (records_is_passed_on(m, &record) && record.attribute != EIATTR_NUM_BARRIERS)
            function->flags |= REACHES_RECORDS;
        if (records_is_externs(&record))
            function->flags |= REACHES_EXTERNS;
        if (record.attribute == EIATTR_REG_RECONFIG)
            function->flags |= REACHES_RECONFIG;
        if (record.attribute == EIATTR_SPARSE_MMA_MASK)
            function->flags |= REACHES_MASK;
        if (record.attribute == EIATTR_TCGEN05_1CTA_USED)
            function->flags |= REACHES_CTA;
        if (record.attribute == EIATTR_TCGEN05_2CTA_USED)
            function->flags |= REACHES_CTAS;
        if (record.attribute == EIATTR_NUM_BARRIERS)
            function->barriers = record.value;
        else if (record.attribute == EIATTR_MAXREG_COUNT)
            function->most_registers = record.value;
        else if (record.attribute == EIATTR_CRS_STACK_SIZE)
            function->call_stack = info_word(record.payload, 0);
    }
}

/* Reads barrier counts from sh_flags of code of CUDA 12. */
static void gather_flags(struct merging *m, size_t file)
{
    const struct cubin *cubin = m->cubins[file];

    for (size_t i = 1; cubin->toolkit && i < cubin->section_count; i++) {
        uint32_t owner = merging_owner(m, file, i);

        if (cubin_is_text(&cubin->sections[i]) && owner != MERGE_NONE && merging_keeps(m, file, i))
            m->functions[owner].barriers =
                (uint32_t)(cubin->sections[i].flags & CUBIN_OLD_BARRIERS) >>
                CUBIN_OLD_BARRIERS_SHIFT;
    }
}

void records_gather(struct merging *m)
{
    uint32_t order = 0;

    m->functions = arena_zalloc(&m->arena, m->symbol_count, sizeof *m->functions);
    m->info_order = merging_none(m, m->symbol_count);
    for (size_t i = 0; i < m->symbol_count; i++)
        if (m->symbols[i].alias != MERGE_NONE && !merging_is_inner(m, (uint32_t)i))
            m->functions[m->symbols[i].alias].flags |= REACHES_ALIAS;
    for (size_t file = 0; file < m->count; file++)
        gather_flags(m, file);
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_INFO);) {
        uint32_t owner = merging_owner(m, at.file, at.index);

        if (owner == MERGE_NONE) {
            gather_program_records(m, at.file, at.section->data, false);
        } else if (merging_keeps(m, at.file, at.index)) {
            m->info_order[owner] = order++;
            gather_function_records(m, &m->functions[owner], at.section->data);
        }
    }
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_TWIN_INFO);)
        if (!(at.section->flags & SHF_INFO_LINK))
            gather_program_records(m, at.file, at.section->data, true);
}
