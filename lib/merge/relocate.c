/* relocate.c: resolves, keeps or drops each relocation.
 *
 * The link decides where shared variables and constants lie, so it writes their offsets into the
 * instructions. Addresses of code and of global data are only known when the driver loads the
 * image: these relocations are kept, and their fields are not changed. Texture references
 * (texture.c) are replaced by the offsets of words in constant bank 0. Relocations of debug
 * sections against removed functions are dropped. Fields and rules (facts/relocation_types.def)
 * were measured on nvlink; any other type is refused.
 *
 * Those of Mercury's twins, in .nv.merc.rela.X, have types of their own, and nvlink was measured to
 * treat them alike. But offsets in shared memory are in the target's instructions already, and
 * records against the end of the driver's shared memory are kept. Twins are relocated first, since
 * one that cannot be handled leaves out all. */
#include "merge/relocate.h"

#include "diag/diag.h"

/* Adds a relocation, of which all but its place is given, to a list of the output's section. */
static void add_to_list(const struct relocation_list *list, uint32_t type, uint64_t flags,
                        struct merged_relocation added)
{
    added.offset = list->place.offset + list->relocation->offset;
    added.list = layout_list(list->m, list->place.section, type, flags);
    layout_add_relocation(list->m, &added);
}

/* Keeps a relocation: against a symbol, or a merged section and MERGE_NONE. */
static void keep(const struct relocation_list *list, uint32_t type, uint32_t symbol,
                 uint32_t section, int64_t addend)
{
    add_to_list(list, list->input->type, list->input->flags,
                (struct merged_relocation){
                    .type = type, .symbol = symbol, .section = section, .addend = addend});
}

static void keep_symbol(const struct relocation_list *list, uint32_t type, uint32_t symbol)
{
    keep(list, type, symbol, MERGE_NONE, list->relocation->addend);
}

/* Whether -preserve-relocs lists a resolved relocation of a section of this class
 * (minilink-cubin(5), merge rule 11). */
static bool is_listed(const struct merging *m, enum section_class class, uint32_t symbol)
{
    bool is_shared = symbol != MERGE_NONE && merged_is_data(&m->symbols[symbol], STO_CUDA_SHARED);

    if (is_shared && m->symbols[symbol].file == MERGE_NONE && !m->request->debug)
        return false;
    if (symbol != MERGE_NONE && m->out->placed[symbol].section != MERGE_NONE &&
        m->out->sections[m->out->placed[symbol].section].class == CLASS_COUNT)
        return false; /* a constant that was moved into the banks of kernels */
    return !merging_is_mercury(m) ||
           (is_shared && (class == CLASS_TEXT || class == CLASS_TWIN_TEXT));
}

/* The same for a relocation that is resolved, if these are listed. */
static void preserve(const struct relocation_list *list, uint32_t symbol, uint32_t section,
                     int64_t addend)
{
    const struct merging *m = list->m;
    enum section_class class = m->out->sections[list->place.section].class;
    bool is_twin = merged_is_twin(class);

    if (m->request->preserve_relocations && is_listed(m, class, symbol))
        add_to_list(list, is_twin ? SHT_CUDA_MERC_RESOLVED_RELA : SHT_CUDA_RESOLVED_RELA,
                    is_twin ? SHF_INFO_LINK | SHF_CUDA_MERCURY : SHF_INFO_LINK,
                    (struct merged_relocation){.type = list->relocation->type,
                                               .symbol = symbol,
                                               .section = section,
                                               .addend = addend});
}

/* A type that a newer toolkit may have added is no reason to leave all twins out. */
void relocate_refuse(struct relocation_list *list, const char *why)
{
    const struct cubin *cubin = list->cubin;
    const char *name = relocation_types_find(list->relocation->type)->name;
    unsigned maker = cubin_maker(cubin);
    const char *advice =
        list->is_twin
            ? arena_printf(&list->m->arena,
                           ", which CUDA %u.%u made (--binary-kind=sass leaves Mercury's sections "
                           "out)",
                           maker / 10, maker % 10)
            : "";

    diag_error("%s relocation type %#x (%s) against '%.*s' in section '%.*s' of '%s'%s", why,
               list->relocation->type, name ? name : "unknown",
               TEXT_ARG(cubin->symbols[list->relocation->symbol].name),
               TEXT_ARG(list->target->name), cubin->name, advice);
    list->m->failed = true;
}

/* The field, of `size` bytes; NULL if it does not lie in the section. */
static uint8_t *find_field(struct relocation_list *list, size_t size)
{
    if (list->is_twin_code || list->target->size < size ||
        list->relocation->offset > list->target->size - size) {
        if (list->is_twin)
            mercury_leave_out(list->m, list->file, "a relocation is misplaced");
        else
            relocate_refuse(list, "Misplaced");
        return NULL;
    }
    return layout_writable(list->m, list->place.section) + list->place.offset +
           list->relocation->offset;
}

/* Writes base + addend, or one byte of it, into data. */
static void put_value(struct relocation_list *list, uint64_t base)
{
    const struct relocation_facts *facts = list->facts;
    uint8_t *at = find_field(list, facts->bytes);
    uint64_t value = (uint64_t)list->relocation->addend;

    if (!at)
        return;
    if (!list->has_addends)
        memcpy(&value, at, facts->bytes);
    value += base;
    if (facts->action == RELOCATION_BYTE)
        value >>= 8 * (list->relocation->type - (list->is_twin ? R_MERCURY_8_0 : R_CUDA_8_0));
    memcpy(at, &value, facts->bytes);
}

/* Writes value + addend, and the bank's number, into fields in an instruction's first half. */
static void put_field(struct relocation_list *list, uint64_t value, uint32_t bank)
{
    const struct relocation_facts *field = list->facts;
    uint64_t mask = ((UINT64_C(1) << field->width) - 1) << field->first;
    uint64_t bank_mask = field->bank ? RELOCATION_BANK_MASK << field->bank : 0;
    uint8_t *at = find_field(list, 16);
    uint64_t half;

    if (!at)
        return;
    memcpy(&half, at, sizeof half);
    value = (value + (uint64_t)list->relocation->addend) >> field->shift << field->first;
    if (!list->has_addends)
        value += half & mask;
    half = (half & ~mask) | (value & mask);
    half = (half & ~bank_mask) | ((uint64_t)bank << field->bank & bank_mask);
    memcpy(at, &half, sizeof half);
}

static void resolve_shared(struct relocation_list *list, uint32_t symbol)
{
    const struct merging *m = list->m;
    uint32_t function = merging_owner(m, list->file, list->input->info);
    uint64_t value = m->out->shared.address[symbol];

    if (m->symbols[symbol].file == MERGE_NONE) {
        /* If no kernel reaches the function, all bits are set, or none under -g (measured). */
        value = function == MERGE_NONE ? UINT64_MAX : m->out->shared.extern_address[function];
        if (value == UINT64_MAX && m->request->debug)
            value = 0;
    }
    preserve(list, symbol, MERGE_NONE, list->relocation->addend);
    if (!list->is_twin)
        put_field(list, value, 0);
}

/* Resolves an address in the driver's shared memory, or an offset in a constant bank, which data
 * may have as an address. */
static void resolve_placed(struct relocation_list *list, uint32_t symbol, bool is_field)
{
    const struct merging *m = list->m;
    const struct placed_symbol *placed = &m->out->placed[symbol];

    if (placed->section == MERGE_NONE && !list->is_twin) {
        relocate_refuse(list, "Cannot resolve");
        return;
    }
    preserve(list, symbol, MERGE_NONE, list->relocation->addend);
    if (!is_field)
        put_value(list, placed->value);
    else if (!list->is_twin)
        put_field(list, placed->value, m->out->sections[placed->section].bank);
    else if (!mercury_code_add_constant(list, symbol))
        relocate_refuse(list, "Cannot resolve");
}

/* The field is not changed, or gets the offset in the plain section (measured). */
static void put_plain_offset(struct relocation_list *list)
{
    const struct merging *m = list->m;
    uint32_t plain = list->cubin->symbols[list->relocation->symbol].section;

    if (list->is_debug && !m->request->relocatable && cubin_has_section(list->cubin, plain) &&
        merging_place(m, list->file, plain)->section != MERGE_NONE &&
        merging_does(m, TOOLKIT_WRITES_PLAIN_OFFSETS_OF_LINES))
        put_value(list, merging_place(m, list->file, plain)->offset);
}

/* A section symbol means the start of this cubin's part of the section, or of its twin. */
static void relocate_section(struct relocation_list *list)
{
    struct merging *m = list->m;
    const struct relocation_facts *facts = list->facts;
    uint32_t type = list->relocation->type;
    uint32_t section = list->is_twin ? cubin_twin_section(list->cubin, list->relocation->symbol)
                                     : list->cubin->symbols[list->relocation->symbol].section;
    const struct merged_place *part;
    bool is_offset, is_known;

    if (section >= list->cubin->section_count) {
        mercury_leave_out(m, list->file, "a relocation is against no section");
        return;
    }
    part = merging_place(m, list->file, section);
    if (part->section == MERGE_NONE && (list->is_twin || list->is_debug))
        return;
    is_offset = (section == list->input->info && facts->action == RELOCATION_ADDRESS) ||
                (list->is_debug && type == (list->is_twin ? R_MERCURY_ABS32 : R_CUDA_32));
    is_known = list->is_twin ? m->request->relocatable || type == R_MERCURY_PROG_REL32
                             : relocation_types_keep(facts) && facts->plain == type;
    if (part->section != MERGE_NONE && is_offset && !m->request->relocatable) {
        preserve(list, MERGE_NONE, part->section, list->relocation->addend + (int64_t)part->offset);
        put_value(list, part->offset);
    } else if (part->section == MERGE_NONE || !is_known) {
        relocate_refuse(list, "Cannot resolve");
    } else if (!list->has_addends && part->offset != 0 && !relocation_types_are_whole(facts)) {
        relocate_refuse(list, "Cannot move");
    } else {
        if (type == R_MERCURY_PROG_REL32)
            put_plain_offset(list);
        if (!list->has_addends && part->offset != 0)
            put_value(list, part->offset);
        keep(list, type, MERGE_NONE, part->section,
             list->relocation->addend + (list->has_addends ? (int64_t)part->offset : 0));
    }
}

/* Measured: the frame of a function that a later cubin's replaced is dropped too if its code had
 * relocations, but never up to sm_80, where the addresses of frames have no addends. */
static bool is_replaced_frame(const struct relocation_list *list, uint32_t symbol)
{
    const struct merging *m = list->m;

    return !m->request->relocatable && list->has_addends &&
           overridden_replaced(m, list->file, list->relocation->symbol, symbol) &&
           overridden_had_relocations(m, list->file, list->relocation->symbol);
}

/* Debug information about functions: ranges of dead functions are emptied. A copy that lost to an
 * earlier cubin's is no longer described; one that was replaced by a later cubin's is. */
static void relocate_debug(struct relocation_list *list, uint32_t symbol)
{
    struct merging *m = list->m;
    const struct merged_symbol *merged = &m->symbols[symbol];
    bool is_function = merged->type == STT_FUNC;
    bool is_dead = is_function && !m->is_live[symbol];
    bool is_resolved = merged_is_data(merged, STO_CUDA_SHARED) && !m->request->relocatable;
    const struct relocation_facts *facts = list->facts;

    if (facts->action == RELOCATION_CLEARED && !m->request->relocatable) {
        bool is_gone =
            is_dead && (!merging_does(m, TOOLKIT_FORGETS_LOST_COPIES) ||
                        overridden_empties_range(m, list->file, list->relocation->symbol, symbol));
        uint8_t *at = is_gone ? find_field(list, facts->bytes) : NULL;

        if (at)
            memset(at, 0, facts->bytes);
        return;
    }
    if (is_dead || (is_function && list->forgets_losers &&
                    (overridden_has_lost(m, list->file, list->relocation->symbol) ||
                     is_replaced_frame(list, symbol))))
        return;
    if (is_resolved ? !relocation_types_are_whole(facts)
                    : facts->action != RELOCATION_CLEARED && !relocation_types_keep(facts) &&
                          !list->is_twin) {
        relocate_refuse(list, "Cannot resolve");
    } else if (is_resolved) {
        preserve(list, symbol, MERGE_NONE, list->relocation->addend);
        put_value(list, m->out->shared.address[symbol]);
    } else {
        keep_symbol(list, list->relocation->type, symbol);
    }
}

/* The size of the program's constants; measured: without any all bits are set. With -r it is not
 * final: nvlink writes it all the same, or all bits, and then loses relocations (measured). */
static void put_constants_size(struct relocation_list *list)
{
    const struct merging *m = list->m;
    uint32_t section = m->out->user_constants;

    if (list->is_twin) /* as in the target's instructions */
        return;
    if (list->facts->uses & FIELD_OF_SHARED)
        put_field(list, section == MERGE_NONE ? UINT64_MAX : m->out->sections[section].size, 0);
    else
        relocate_refuse(list, "Cannot resolve");
}

/* Relocates code or data of an executable. */
static void relocate_executable(struct relocation_list *list, uint32_t symbol)
{
    const struct merging *m = list->m;
    const struct relocation_facts *facts = list->facts;
    const struct merged_symbol *merged = &m->symbols[symbol];
    bool is_reserved = merged_is_data(merged, STO_CUDA_RESERVED_SHARED);
    bool is_constant = merged_is_data(merged, STO_CUDA_CONST);

    /* A function that nothing calls is kept without its callees. */
    if ((merged->type == STT_FUNC && !m->is_live[symbol]) || facts->action == RELOCATION_CLEARED ||
        resolve_is_unified_table(merged->name))
        return;
    if (list->is_twin && (is_reserved || resolve_is_reserved(merged->name)))
        keep_symbol(list, list->relocation->type, symbol);
    else if (merged_is_data(merged, STO_CUDA_SHARED) && (facts->uses & FIELD_OF_SHARED))
        resolve_shared(list, symbol);
    else if ((is_reserved && (facts->uses & FIELD_OF_SHARED)) ||
             (is_constant && (list->is_twin_code || (facts->uses & FIELD_OF_CONSTANT))))
        resolve_placed(list, symbol, true);
    else if (is_constant &&
             (facts->action == RELOCATION_ADDRESS || facts->action == RELOCATION_BYTE))
        resolve_placed(list, symbol, false);
    else if (format_is_reference(merged->type) && list->is_twin_code)
        mercury_code_add_reference(list, symbol);
    else if (format_is_reference(merged->type) && (facts->uses & FIELD_OF_TEXTURE))
        put_field(list, m->out->textures.offset[symbol], 0);
    else if (is_reserved || merged_is_data(merged, STO_CUDA_SHARED) ||
             (!relocation_types_keep(facts) && !resolve_is_descriptor_size(merged->name)))
        relocate_refuse(list, "Cannot resolve");
    else
        keep_symbol(list, facts->plain, symbol);
}

static void relocate_one(struct relocation_list *list)
{
    const struct merging *m = list->m;
    const struct cubin_symbol *input = &list->cubin->symbols[list->relocation->symbol];
    uint32_t symbol = merging_symbol(m, list->file, list->relocation->symbol);
    /* A label that only debug information names (nvcc -G), whose code ptxas removed: seen in what
     * ptxas 13.5 writes for sm_120. nvlink 13.5 leaves the field as it is, and the symbol out. */
    bool is_lost_label = list->is_debug && input->section == SHN_UNDEF &&
                         input->type == STT_NOTYPE && input->binding == STB_LOCAL;

    if (list->is_twin && list->relocation->symbol == 0) {
        mercury_leave_out(list->m, list->file, "a relocation is against no symbol");
        return;
    }
    list->facts =
        relocation_types_find(relocation_types_is_mercury(list->relocation->type) == list->is_twin
                                  ? list->relocation->type
                                  : UINT32_MAX);
    if (symbol != MERGE_NONE)
        symbol = merging_canonical(m, symbol);
    if (list->facts->action == RELOCATION_IGNORED)
        return;
    if (resolve_is_constants_size(input) && !m->request->relocatable)
        put_constants_size(list);
    else if (symbol == MERGE_NONE && (list->is_twin || cubin_names_section(list->cubin, input)))
        relocate_section(list);
    else if (symbol == MERGE_NONE && !is_lost_label)
        relocate_refuse(list, "Cannot resolve");
    else if (symbol == MERGE_NONE)
        return;
    else if (list->is_debug)
        relocate_debug(list, symbol);
    else if (m->request->relocatable)
        keep_symbol(list, list->relocation->type, symbol);
    else
        relocate_executable(list, symbol);
}

/* Lines and frames, and their twins; other debug sections point to the winner (measured). */
static bool forgets_losers(const struct merging *m, const struct cubin_section *section)
{
    return merging_does(m, TOOLKIT_FORGETS_LOST_COPIES) &&
           (cubin_is_kind(section, KIND_LINES) || cubin_is_kind(section, KIND_FRAMES) ||
            cubin_is_kind(section, KIND_SASS_LINES));
}

/* Relocates the list's target, or one of the places of its contents. */
static void relocate_place(struct relocation_list *list, struct merged_place place)
{
    struct merging *m = list->m;

    list->place = place;
    for (size_t i = 0; i < list->input->relocation_count && (m->out->has_twins || !list->is_twin);
         i++) {
        list->relocation = &list->input->relocations[i];
        if (!overridden_stays_zero(m, list->file, list->storage, list->relocation->offset))
            relocate_one(list);
    }
    if (list->operand_count > 0)
        mercury_code_fill(list);
}

/* Constants that moved into kernels' banks are relocated in each of them. */
static void relocate_moved_twin(struct relocation_list *list, struct merged_place place)
{
    const struct placing *out = list->m->out;
    uint32_t plain = out->sections[place.section].target;
    size_t i = plain == MERGE_NONE ? out->constant_count : out->sections[plain].copies;

    for (; out->has_twins && i < out->constant_count && out->constants[i].from == plain; i++)
        relocate_place(list, (struct merged_place){out->sections[out->constants[i].to].twin,
                                                   out->constants[i].offset});
}

/* Relocates by section `index` of a cubin what is in the output. `code_lists` is NULL, or of a twin
 * by section of the cubin: the RELA section that relocates it, or 0. */
static void relocate_by(struct merging *m, size_t file, uint32_t index, const uint32_t *code_lists)
{
    const struct cubin *cubin = m->cubins[file];
    const struct cubin_section *input = &cubin->sections[index];
    const struct cubin_section *target = &cubin->sections[input->info];
    struct merged_place place = *merging_place(m, file, input->info);
    enum section_class class =
        place.section == MERGE_NONE ? CLASS_COUNT : m->out->sections[place.section].class;
    bool is_debug = class == CLASS_DEBUG || class == CLASS_TWIN_DEBUG;
    struct relocation_list list = {
        .m = m,
        .file = file,
        .cubin = cubin,
        .input = input,
        .target = target,
        .relocation = input->relocations,
        .storage = input->info,
        .is_twin = code_lists != NULL,
        .is_twin_code = target->type == SHT_CUDA_CAPMERC,
        .is_debug = is_debug,
        .forgets_losers = is_debug && forgets_losers(m, target),
        .has_addends = input->type != SHT_REL,
    };

    if (input->relocation_count == 0 || !merging_keeps(m, file, input->info) ||
        place.section == MERGE_NONE)
        return;
    if (list.is_twin)
        list.storage =
            class == CLASS_TWIN_GLOBAL_INIT ? cubin_find_class(cubin, CLASS_GLOBAL_INIT) : 0;
    if (list.is_twin && list.is_twin_code)
        list.plain = &cubin->sections[code_lists[cubin->symbols[target->info].section]];
    if (!list.is_twin && class >= CLASS_TWIN_TEXT)
        relocate_refuse(&list, "Misplaced"); /* Mercury's twins have lists of their own kind */
    else if (class == CLASS_COUNT)
        relocate_moved_twin(&list, place);
    else
        relocate_place(&list, place);
}

static void relocate_twins(struct merging *m, size_t file)
{
    const struct cubin *cubin = m->cubins[file];
    uint32_t *lists = arena_zalloc(&m->arena, cubin->section_count, sizeof *lists);

    for (uint32_t i = 1; i < cubin->section_count; i++)
        if (cubin->sections[i].type == SHT_RELA)
            lists[cubin->sections[i].info] = i;
    for (uint32_t i = 1; m->out->has_twins && i < cubin->section_count; i++)
        if (cubin->sections[i].type == SHT_CUDA_MERC_RELA)
            relocate_by(m, file, i, lists);
}

static bool has_list(const struct merged_section *section)
{
    return section->lists[LIST_REL] != MERGE_NONE || section->lists[LIST_RELA] != MERGE_NONE;
}

/* Adds an empty relocation section for a section if only its twin has relocations (measured). */
static void add_empty_lists(struct merging *m)
{
    size_t count = m->out->section_count;

    for (uint32_t i = 0; m->out->has_twins && i < count; i++) {
        const struct merged_section *section = &m->out->sections[i];

        if (section->twin != MERGE_NONE && has_list(&m->out->sections[section->twin]) &&
            !has_list(section))
            layout_list(m, i, SHT_RELA, SHF_INFO_LINK);
    }
}

bool relocate(struct merging *m)
{
    for (size_t file = 0; m->out->has_twins && file < m->count; file++)
        relocate_twins(m, file);
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_RELOCATIONS);) {
        if (!merging_is_mercury(m))
            texture_relocate(m, at.file + 1);
        relocate_by(m, at.file, at.index, NULL);
    }
    texture_relocate(m, m->count);
    if (!m->failed)
        add_empty_lists(m);
    return !m->failed;
}
