/* records.c: what .nv.info and .nv.info.F say of each function, and which shared variables,
 * references to textures, samplers and surfaces, and compiler constants its code names.
 *
 * The driver reads from these records what a kernel needs: registers, barriers, stack. ptxas only
 * knows what each function needs by itself, so the linker recomputes a kernel's records from all
 * that it can reach (attributes.c); device functions keep their own. */
#include "resolve/internal.h"

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

/* Names of shared variables in a losing copy do not count. */
static void gather_named(struct merging *m, struct merged_pairs *uses, size_t file,
                         const struct cubin_section *list)
{
    uint32_t function;
    bool is_kept;

    if (!cubin_is_text(&m->cubins[file]->sections[list->info]))
        return;
    function = merging_owner(m, file, list->info);
    is_kept = merging_keeps(m, file, list->info);
    for (size_t i = 0; i < list->relocation_count; i++) {
        uint32_t symbol = merging_symbol(m, file, list->relocations[i].symbol);

        if (symbol == MERGE_NONE)
            continue;
        if (format_is_reference(m->symbols[symbol].type)) {
            m->uses.names_reference = true;
            if (is_kept)
                m->functions[function].flags |= REACHES_TEXTURE;
        } else if (merged_is_data(&m->symbols[symbol], STO_CUDA_SHARED) &&
                   m->symbols[function].file == file) {
            m->uses.is_shared_named[symbol] = true;
            if (is_kept)
                index_lists_add(uses, function, symbol);
        }
    }
}

/* A kernel's variables take room even if its code does not name them, and so do those of its losing
 * copies (measured). */
static void gather_own(struct merging *m, struct merged_pairs *uses)
{
    for (uint32_t i = 0; i < m->symbol_count; i++) {
        const struct merged_symbol *symbol = &m->symbols[i];
        uint32_t owner =
            merged_is_data(symbol, STO_CUDA_SHARED) ? merging_holder(m, symbol) : MERGE_NONE;

        if (owner != MERGE_NONE &&
            (m->symbols[owner].file == symbol->file || merged_is_kernel(&m->symbols[owner])))
            index_lists_add(uses, owner, i);
    }
}

static void gather_shared(struct merging *m)
{
    LOCAL_ARENA(scratch);
    struct merged_pairs uses = {.arena = &scratch};

    m->uses.is_shared_named = arena_zalloc(&m->arena, m->symbol_count, sizeof(bool));
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_RELOCATIONS);)
        gather_named(m, &uses, at.file, at.section);
    gather_own(m, &uses);
    for (size_t i = 0; i < uses.count; i++)
        m->functions[uses.items[i].from].flags |= REACHES_SHARED;
    m->uses.shared = index_lists_make_distinct(&m->arena, &uses, m->symbol_count, m->symbol_count);
}

static void gather_uses(struct merging *m)
{
    static const uint8_t types[] = {STT_CUDA_SURFACE, STT_CUDA_SAMPLER, STT_CUDA_TEXTURE};
    struct uses *uses = &m->uses;

    gather_shared(m);
    uses->references = arena_alloc(&m->arena, m->symbol_count, sizeof *uses->references);
    for (size_t kind = 0; kind < sizeof types; kind++)
        for (uint32_t i = 0; i < m->symbol_count; i++)
            if (m->symbols[i].type == types[kind])
                uses->references[uses->reference_count++] = i;
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_CONSTANT);) {
        uint32_t owner = merging_owner(m, at.file, at.index);

        if (owner != MERGE_NONE && merging_keeps(m, at.file, at.index) &&
            at.section->type == SHT_CUDA_CONSTANT0 + CONSTANTS_BANK)
            m->functions[owner].flags |= REACHES_CONSTANTS;
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
    gather_uses(m);
}
