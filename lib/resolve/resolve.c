/* resolve.c: symbol resolution.
 *
 * Global and weak symbols of all cubins are merged by name: the first definition is kept, but a
 * strong one replaces a weak one in any order, and two strong ones are an error. COMMON symbols
 * take the largest size and the first alignment, until there is a real definition. Local symbols
 * are never merged: several cubins may each have their own `$str` or `__cuda_sm20_div_u64`. All
 * rules were measured on nvlink. */
#include "resolve/internal.h"

#include "diag/diag.h"

/* nvlink writes notes first, then each function and its code, then kernels' parameters that are
 * textures, data, and other sections. Each cubin's symbols are therefore walked once per pass. */
enum pass { PASS_NOTES, PASS_CODE, PASS_PARAMETERS, PASS_DATA, PASS_SECTIONS, PASS_COUNT };

bool resolve_is_unified_table(struct text name)
{
    return text_starts(name, TEXT("__UFT")) || text_starts(name, TEXT("__UDT"));
}

bool resolve_is_descriptor_size(struct text name)
{
    static const struct text names[] = {
        TEXT(".nv.surfrefDescSize"), TEXT(".nv.unified.texrefDescSize"),
        TEXT(".nv.independent.texrefDescSize"), TEXT(".nv.independent.samplerrefDescSize")};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_equal(name, names[i]))
            return true;
    return false;
}

bool resolve_is_reserved(struct text name)
{
    return resolve_is_unified_table(name) || resolve_is_descriptor_size(name) ||
           text_starts(name, TEXT(".nv.reservedSmem."));
}

bool resolve_is_constants_size(const struct cubin_symbol *symbol)
{
    return symbol->section == SHN_UNDEF && text_equal(symbol->name, TEXT(".nv.ptx.const0.size"));
}

static enum pass symbol_pass_of(const struct cubin *cubin, const struct cubin_symbol *symbol)
{
    if (symbol->type == STT_FUNC)
        return PASS_CODE;
    if (format_is_reference(symbol->type) && symbol->section != SHN_UNDEF)
        return PASS_PARAMETERS;
    if (symbol->type == STT_SECTION)
        return cubin_names_section(cubin, symbol) &&
                       cubin->sections[symbol->section].type == SHT_NOTE
                   ? PASS_NOTES
                   : PASS_SECTIONS;
    return PASS_DATA;
}

/* State while symbols are resolved. */
struct resolving {
    struct merging *m;
    struct table names;
    uint8_t *passes;      /* by input symbol: enum pass */
    bool *is_to_list;     /* by section of the cubin */
    uint32_t **registers; /* by cubin: NULL = not read yet; then by function symbol */
    size_t named_by;      /* the last cubin that named a function first */
};

static uint32_t add_merged_symbol(struct merging *m, size_t file, const struct cubin_symbol *input)
{
    m->symbols[m->symbol_count] = (struct merged_symbol){
        .name = input->name,
        .size = input->size,
        .type = input->type,
        .binding = input->binding,
        .other = input->other,
        .first_file = (uint32_t)file,
        .file = MERGE_NONE,
        .alias = MERGE_NONE,
    };
    return (uint32_t)m->symbol_count++;
}

static void add_local_symbol(struct merging *m, bool is_section, size_t file, uint32_t index)
{
    m->resolved.locals[m->resolved.local_count++] =
        (struct merged_local){is_section, (uint32_t)file, index};
}

static void define(struct merging *m, struct merged_symbol *symbol, size_t file, size_t index)
{
    const struct cubin_symbol *input = &m->cubins[file]->symbols[index];

    symbol->file = (uint32_t)file;
    symbol->input = (uint32_t)index;
    symbol->type = input->type;
    symbol->binding = input->binding;
    symbol->other = input->other;
    symbol->size = input->size;
    symbol->value = input->value;
    symbol->input_section = input->section;
}

/* Whether a symbol of a cubin is data with bytes in the file, not just zeroed. */
static bool is_initialised(const struct cubin *cubin, const struct cubin_symbol *symbol)
{
    return cubin_has_section(cubin, symbol->section) &&
           cubin->sections[symbol->section].type == SHT_CUDA_GLOBAL_INIT;
}

static bool is_initialised_here(const struct merging *m, const struct merged_symbol *symbol)
{
    return symbol->file != MERGE_NONE &&
           is_initialised(m->cubins[symbol->file],
                          &m->cubins[symbol->file]->symbols[symbol->input]);
}

/* Reports a property in which a cubin's symbol differs from the first one of its name. */
static void report_mismatch(struct merging *m, const char *what, const struct merged_symbol *symbol,
                            size_t file)
{
    MERGING_ERROR(m, "%s doesn't match for '%.*s' in '%s', first specified in '%s'", what,
                  TEXT_ARG(symbol->name), m->cubins[file]->name,
                  m->cubins[symbol->first_file]->name);
}

/* A COMMON variable takes the largest size, and initialised data must be large enough for it; in
 * all other cases sizes must be equal (measured). */
static void check_symbol_size(struct merging *m, const struct merged_symbol *symbol, size_t file,
                              const struct cubin_symbol *input)
{
    bool is_common = input->section == SECTION_COMMON;
    bool was_common = merged_is_common(symbol);
    bool is_first_larger = was_common && is_initialised(m->cubins[file], input);

    if (input->size == 0 || symbol->size == 0 || input->size == symbol->size ||
        (is_common && was_common))
        return;
    if (!is_first_larger && !(is_common && is_initialised_here(m, symbol)))
        report_mismatch(m, "Size", symbol, file);
    else if (is_first_larger ? symbol->size > input->size : input->size > symbol->size)
        MERGING_ERROR(m, "Common symbol '%.*s' in file '%s' has larger size than initialization",
                      TEXT_ARG(input->name),
                      m->cubins[is_first_larger ? symbol->first_file : file]->name);
}

static bool is_code_or_data(uint8_t type)
{
    return type == STT_FUNC || type == STT_CUDA_OBJECT;
}

/* Functions and data must match earlier cubins' symbols of that name. */
static void check_kind(struct merging *m, const struct merged_symbol *symbol, size_t file,
                       const struct cubin_symbol *input)
{
    unsigned other = input->other ^ symbol->other;
    bool is_data = input->type == STT_CUDA_OBJECT;

    if (!is_code_or_data(input->type) || !is_code_or_data(symbol->type) ||
        (symbol->first_file == file && symbol->file == MERGE_NONE))
        return;
    if (other & STO_CUDA_SPACE)
        report_mismatch(m, "Memory space", symbol, file);
    else if (is_data && (other & STO_CUDA_MANAGED))
        report_mismatch(m, "Managed attribute", symbol, file);
    else if (!is_data && (other & STO_CUDA_ENTRY))
        diagnostics_kernel(m, symbol, file, (input->other & STO_CUDA_ENTRY) != 0);
    if (is_data)
        check_symbol_size(m, symbol, file, input);
}

/* Whether zeroed data beside a COMMON variable of its name does not replace it. */
static bool keeps_common(const struct merging *m, bool is_initialised)
{
    return !is_initialised && merging_does(m, TOOLKIT_KEEPS_COMMONS);
}

/* Whether this is a second definition, which is an error. */
static bool is_second(const struct merging *m, const struct merged_symbol *symbol,
                      const struct cubin_symbol *input)
{
    return symbol->file != MERGE_NONE && symbol->binding == STB_GLOBAL &&
           input->binding == STB_GLOBAL &&
           (input->section != SECTION_COMMON || keeps_common(m, is_initialised_here(m, symbol)));
}

/* A texture, sampler or surface reference is never defined; all symbols of its name must be of its
 * kind (messages as measured). */
static bool check_reference_kind(struct merging *m, const struct merged_symbol *symbol, size_t file,
                                 const struct cubin_symbol *input)
{
    if (input->type == symbol->type ||
        (!format_is_reference(input->type) && !format_is_reference(symbol->type)))
        return true;
    if (format_is_reference(input->type))
        diagnostics_again(m, input->name, file, symbol->first_file);
    else
        report_mismatch(m, "Memory space", symbol, file);
    return false;
}

static void merge_common(struct merging *m, uint32_t id, const struct cubin_symbol *input)
{
    struct merged_symbol *symbol = &m->symbols[id];

    if (symbol->file != MERGE_NONE && !keeps_common(m, is_initialised_here(m, symbol)))
        return;
    if (!symbol->common_alignment) {
        symbol->common_alignment = input->value ? input->value : 1;
        m->resolved.commons[m->resolved.common_count++] = id;
    }
    if (symbol->file != MERGE_NONE)
        return;
    RAISE(symbol->size, input->size);
    symbol->type = input->type;
    symbol->other = input->other;
}

/* Measured: the driver's symbols are global, and from sm_100 on data whose value is its place. */
static void declare_reserved(const struct merging *m, struct merged_symbol *symbol,
                             const struct cubin_symbol *input)
{
    symbol->binding = STB_GLOBAL;
    symbol->value = input->value;
    if (merging_is_mercury(m) &&
        (m->request->relocatable || !resolve_is_unified_table(input->name)))
        symbol->type = STT_CUDA_OBJECT;
}

/* The register count of a cubin's function, which .nv.info has; 0 = not known. */
static uint32_t noted_registers(struct resolving *r, size_t file, size_t index)
{
    const struct cubin *cubin = r->m->cubins[file];
    uint32_t **registers = &r->registers[file];

    if (*registers)
        return (*registers)[index];
    *registers = arena_zalloc(&r->m->arena, cubin->symbol_count, sizeof **registers);
    for (size_t i = 1; i < cubin->section_count; i++) {
        struct bytes rest = cubin->sections[i].data;
        struct info_record record;

        while (cubin->sections[i].type == SHT_CUDA_INFO && info_next(&rest, &record)) {
            uint32_t symbol = info_word(record.payload, 0);

            if (record.attribute == EIATTR_REGCOUNT && symbol < cubin->symbol_count)
                (*registers)[symbol] = info_word(record.payload, 1);
        }
    }
    return (*registers)[index];
}

/* Measured: of a function's weak copies the first with the fewest registers is kept. */
static bool is_leaner(struct resolving *r, const struct merged_symbol *symbol, size_t file,
                      size_t index)
{
    uint32_t registers;

    if (symbol->type != STT_FUNC || symbol->binding != STB_WEAK ||
        ((r->m->target->flags & TARGET_HAS_FORM_90) &&
         !merging_does(r->m, TOOLKIT_COMPARES_RECORDED_REGISTERS)))
        return false;
    registers = noted_registers(r, file, index);
    return registers > 0 && registers < noted_registers(r, symbol->file, symbol->input);
}

/* Notes that a cubin names a function before any other does. */
static void note_named(struct resolving *r, size_t file)
{
    const struct merge_request *request = r->m->request;

    if (r->named_by == file || request->relocatable || !merging_keeps_all(r->m) ||
        !toolkit_does(request->toolkit, TOOLKIT_HAS_NAMELESS_FUNCTIONS))
        return;
    r->named_by = file;
    add_local_symbol(r->m, false, file, MERGE_NONE);
}

/* Finds the merged symbol for a global or weak symbol, or adds one. */
static uint32_t find_namesakes(struct resolving *r, size_t file, const struct cubin_symbol *input)
{
    struct merging *m = r->m;
    uint32_t id = table_add(&r->names, input->name, (uint32_t)m->symbol_count);

    if (id < m->symbol_count) {
        struct merged_symbol *known = &m->symbols[id];

        if (cubin_is_shared_instance(input) && known->file == MERGE_NONE &&
            input->value > known->value)
            known->value = input->value;
        return id;
    }
    add_merged_symbol(m, file, input);
    if (input->section == SHN_UNDEF && input->type == STT_FUNC && !(input->other & STO_CUDA_ENTRY))
        note_named(r, file);
    if (input->section == SHN_UNDEF && merged_is_data(&m->symbols[id], STO_CUDA_SHARED))
        m->symbols[id].value = input->value; /* measured: the first one's alignment counts */
    if (resolve_is_reserved(input->name))
        declare_reserved(m, &m->symbols[id], input);
    if (m->symbols[id].binding == STB_WEAK && !merging_does(m, TOOLKIT_WRITES_WEAK_AMONG_GLOBALS))
        add_local_symbol(m, false, file, id);
    else
        m->resolved.globals[m->resolved.global_count++] = id;
    return id;
}

/* Merges a global or weak symbol of cubin `file` with the symbols of its name. */
static void merge_global(struct resolving *r, size_t file, size_t index)
{
    struct merging *m = r->m;
    const struct cubin_symbol *input = &m->cubins[file]->symbols[index];
    uint32_t id = find_namesakes(r, file, input);
    struct merged_symbol *symbol = &m->symbols[id];
    bool has_lost = false;

    m->resolved.symbol_of[m->symbol_base[file] + index] = id;
    if (!check_reference_kind(m, symbol, file, input))
        return;
    check_kind(m, symbol, file, input);
    if (resolve_is_reserved(input->name) && input->type != STT_CUDA_OBJECT)
        check_symbol_size(m, symbol, file, input);
    if (input->section == SHN_UNDEF)
        return;
    if (is_second(m, symbol, input) && m->request->takes_first) {
        diag_warning(
            "Multiple definition of '%.*s' in '%s', first defined in '%s': the first counts",
            TEXT_ARG(input->name), m->cubins[file]->name, m->cubins[symbol->file]->name);
        has_lost = true;
    } else if (is_second(m, symbol, input)) {
        bool had_failed = m->failed;

        diagnostics_again(m, input->name, file, symbol->file);
        diagnostics_same(m, symbol, file, index, had_failed);
    } else if (input->section == SECTION_COMMON) {
        merge_common(m, id, input);
    } else if (input->binding == STB_WEAK && merged_is_common(symbol) &&
               keeps_common(m, is_initialised(m->cubins[file], input))) {
        has_lost = true;
    } else if (symbol->file == MERGE_NONE ||
               (symbol->binding == STB_WEAK && input->binding == STB_GLOBAL) ||
               (input->binding == STB_WEAK && is_leaner(r, symbol, file, index))) {
        if (symbol->file != MERGE_NONE && input->binding == STB_GLOBAL)
            m->resolved.gave_way[m->symbol_base[symbol->file] + symbol->input] = true;
        define(m, symbol, file, index);
    } else {
        has_lost = input->binding == STB_WEAK;
    }
    m->resolved.has_lost[m->symbol_base[file] + index] = has_lost;
}

static bool is_debug(const struct cubin_section *section)
{
    return section->facts && section->facts->class == CLASS_DEBUG;
}

/* A section that symbols lie in is written with the first of them, debug sections together. */
static void list_section(struct resolving *r, size_t file, uint32_t section)
{
    const struct cubin *cubin = r->m->cubins[file];
    uint32_t first = section, end = section + 1;

    if (!cubin_has_section(cubin, section) || !r->is_to_list[section])
        return;
    if (is_debug(&cubin->sections[section])) {
        first = 1;
        end = (uint32_t)cubin->section_count;
    }
    for (uint32_t i = first; i < end; i++)
        if (r->is_to_list[i] && (i == section || is_debug(&cubin->sections[i]))) {
            add_local_symbol(r->m, true, file, i);
            r->is_to_list[i] = false;
        }
}

static void resolve_named(struct resolving *r, size_t file, size_t index)
{
    struct merging *m = r->m;
    const struct cubin_symbol *input = &m->cubins[file]->symbols[index];
    uint32_t id;

    if (input->binding != STB_LOCAL) {
        merge_global(r, file, index);
    } else if (input->name.size > 0 || input->type == STT_FUNC) {
        /* relocate.c knows the only one; with -r it stays, for the last link. */
        if (input->section == SHN_UNDEF &&
            !(m->request->relocatable && resolve_is_constants_size(input)))
            return;
        id = add_merged_symbol(m, file, input);
        if (input->section != SHN_UNDEF)
            define(m, &m->symbols[id], file, index);
        m->resolved.symbol_of[m->symbol_base[file] + index] = id;
        add_local_symbol(m, false, file, id);
    }
}

static void resolve_one(struct resolving *r, size_t file, size_t index)
{
    const struct cubin_symbol *input = &r->m->cubins[file]->symbols[index];

    if (input->type == STT_FUNC) {
        resolve_named(r, file, index);
        list_section(r, file, input->section);
        return;
    }
    list_section(r, file, input->section);
    if (input->type == STT_CUDA_OBJECT && input->section == SHN_UNDEF &&
        (input->other & STO_CUDA_SPACE) == STO_CUDA_SHARED)
        add_local_symbol(r->m, true, file, 0);
    if (input->type != STT_SECTION)
        resolve_named(r, file, index);
}

static void resolve_cubin(struct resolving *r, size_t file)
{
    const struct cubin *cubin = r->m->cubins[file];
    uint8_t *passes = r->passes + r->m->symbol_base[file];

    r->is_to_list = arena_alloc(&r->m->arena, cubin->section_count, sizeof *r->is_to_list);
    /* ptxas leaves those empty, and without a symbol, for which there are no functions. */
    for (uint32_t i = 0; i < cubin->section_count; i++)
        r->is_to_list[i] = is_debug(&cubin->sections[i]);
    for (size_t i = 1; i < cubin->symbol_count; i++) {
        passes[i] = (uint8_t)symbol_pass_of(cubin, &cubin->symbols[i]);
        if (cubin_names_section(cubin, &cubin->symbols[i]))
            r->is_to_list[cubin->symbols[i].section] = true;
    }
    for (enum pass pass = PASS_NOTES; pass < PASS_COUNT; pass++)
        for (size_t i = 1; i < cubin->symbol_count; i++)
            if (passes[i] == pass)
                resolve_one(r, file, i);
    for (uint32_t i = 1; i < cubin->section_count; i++)
        if (is_debug(&cubin->sections[i]))
            list_section(r, file, i);
}

/* Of the functions defined in one section, all but the one that its sh_info names are aliases. */
static void find_aliases(struct merging *m, size_t file)
{
    const struct cubin *cubin = m->cubins[file];

    for (size_t i = 1; i < cubin->symbol_count; i++) {
        const struct cubin_symbol *input = &cubin->symbols[i];
        uint32_t id = merging_symbol(m, file, (uint32_t)i);
        uint32_t owner;

        if (input->type != STT_FUNC || id == MERGE_NONE ||
            !cubin_has_section(cubin, input->section))
            continue;
        owner = merging_owner(m, file, input->section);
        if (owner != MERGE_NONE && owner != id && m->symbols[id].file == file)
            m->symbols[id].alias = owner;
    }
}

static void find_section_owners(struct merging *m, size_t file)
{
    const struct cubin *cubin = m->cubins[file];

    for (size_t i = 1; i < cubin->section_count; i++) {
        uint32_t function = cubin_section_function(cubin, (uint32_t)i);
        uint32_t id = function ? merging_symbol(m, file, function) : MERGE_NONE;

        m->resolved.owner_of[m->section_base[file] + i] = id;
        /* Two weak functions of one name in one cubin would share their sections. */
        if (id != MERGE_NONE && m->symbols[id].file == file && m->symbols[id].input != function)
            diagnostics_again(m, m->symbols[id].name, file, file);
    }
}

/* Drops commons that a real definition replaced. */
static void drop_defined_commons(struct merging *m)
{
    struct resolution *resolved = &m->resolved;
    size_t kept = 0;

    for (size_t i = 0; i < resolved->common_count; i++) {
        const struct merged_symbol *symbol = &m->symbols[resolved->commons[i]];

        if (symbol->file == MERGE_NONE || keeps_common(m, is_initialised_here(m, symbol)))
            resolved->commons[kept++] = resolved->commons[i];
    }
    resolved->common_count = kept;
}

bool resolve_symbols(struct merging *m)
{
    struct resolving r = {.m = m, .named_by = SIZE_MAX};
    size_t symbols = m->symbol_base[m->count], named = 0;

    /* They bound every array; null symbols leave room for nameless functions. */
    for (size_t file = 0; file < m->count; file++)
        for (size_t i = 0; i < m->cubins[file]->symbol_count; i++)
            named += m->cubins[file]->symbols[i].type != STT_SECTION;
    CONTEXT_DEFER(table_cleanup, &r.names);
    r.passes = arena_alloc(&m->arena, symbols, sizeof *r.passes);
    r.registers = arena_zalloc(&m->arena, m->count, sizeof *r.registers);
    m->symbols = arena_alloc(&m->arena, named, sizeof *m->symbols);
    m->resolved = (struct resolution){
        .symbol_of = merging_none(m, symbols),
        .owner_of = merging_none(m, m->section_base[m->count]),
        .has_lost = arena_zalloc(&m->arena, symbols, sizeof(bool)),
        .gave_way = arena_zalloc(&m->arena, symbols, sizeof(bool)),
        .locals = arena_alloc(&m->arena, symbols + named + m->section_base[m->count],
                              sizeof(struct merged_local)),
        .globals = arena_alloc(&m->arena, named, sizeof(uint32_t)),
        .commons = arena_alloc(&m->arena, named, sizeof(uint32_t)),
    };
    for (size_t file = 0; file < m->count; file++)
        resolve_cubin(&r, file);
    for (size_t file = 0; file < m->count; file++)
        find_section_owners(m, file);
    for (size_t file = 0; file < m->count; file++)
        find_aliases(m, file);
    drop_defined_commons(m);
    overridden_find(m);
    return !m->failed;
}
