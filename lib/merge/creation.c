/* creation.c: the order in which nvlink makes sections and names (minilink-cubin(5), Order of
 * sections, symbols and names). Sections of a class stand in that order, and the names in both
 * string tables: also those of sections that it only looked for, or dropped again (measured with
 * nvlink 12.4 and 13.0 to 13.5, sm_75 to sm_90). */
#include "merge/internal.h"

struct creation {
    struct merging *m;
    uint32_t *info_of;      /* by symbol: a function's merged section of records, or MERGE_NONE */
    bool *is_created;       /* by merged section */
    bool has_extern_shared; /* NAMES_AS_IT_READS: a cubin names a dynamic array */
    uint32_t *few;          /* merged sections of no function, without those of relocations */
    size_t few_count;
};

/* False if it is noted already. */
static bool note_created(struct creation *creation, uint32_t section)
{
    struct placing *out = creation->m->out;

    if (creation->is_created[section])
        return false;
    creation->is_created[section] = true;
    out->created[out->created_count++] = section;
    return true;
}

static void create(struct creation *creation, uint32_t section)
{
    struct merged_section *made = &creation->m->out->sections[section];
    const uint32_t *places;

    if (made->class == CLASS_COUNT || !note_created(creation, section))
        return;
    places = names_put_both(creation->m, made->name);
    made->header_name = places[NAMES_SHSTRTAB];
    made->name_offset = places[NAMES_STRTAB];
}

/* A function's section that there may not be: its name is there all the same. */
static void create_own(struct creation *creation, uint32_t section, enum section_class class,
                       uint32_t function)
{
    if (section != MERGE_NONE)
        create(creation, section);
    else
        names_put_both(creation->m, layout_name(creation->m, class, 0, function));
}

/* The same for relocations of a section of this name; `lists` is NULL when it is not there. */
static void create_list(struct creation *creation, const uint32_t *lists, uint32_t type,
                        struct text target)
{
    uint32_t list = lists ? lists[layout_list_of(type)] : MERGE_NONE;

    if (list != MERGE_NONE)
        create(creation, list);
    else
        names_put_both(
            creation->m,
            layout_list_name(creation->m, sections_find(type, 0, (struct text){0}), target));
}

static void create_code(struct creation *creation, uint32_t section)
{
    const struct merging *m = creation->m;
    uint32_t function = m->out->sections[section].function;

    create(creation, section);
    if (!merged_is_kernel(&m->symbols[function]))
        return;
    create_own(creation, creation->info_of[function], CLASS_FUNCTION_INFO, function);
    create_own(creation, m->out->shared.section_of[function], CLASS_SHARED, function);
}

/* A kernel's parameters: nvlink looks for relocations, which texture references need, before it
 * makes the section's symbol. */
static void create_parameters(struct creation *creation, uint32_t section)
{
    struct merged_section *made = &creation->m->out->sections[section];

    if (!note_created(creation, section))
        return;
    made->header_name = names_put(creation->m, NAMES_SHSTRTAB, made->name);
    create_list(creation, made->lists, SHT_REL, made->name);
    made->name_offset = names_put(creation->m, NAMES_STRTAB, made->name);
}

static void create_local(struct creation *creation, const struct merged_local *local)
{
    const struct merging *m = creation->m;
    const struct merged_section *made;
    uint32_t section;

    if (!local->is_section) {
        if (local->index == MERGE_NONE)
            names_put(creation->m, NAMES_STRTAB, (struct text){0});
        else if (symtab_writes(m, local->index))
            names_put(creation->m, NAMES_STRTAB, m->out->placed[local->index].name);
        return;
    }
    section = symtab_section_named(m, local->file, local->index);
    if (section == MERGE_NONE && symtab_names_debug_shared(m, local->file, local->index))
        names_put_both(creation->m, sections_of_class(CLASS_DEBUG_SHARED)->name);
    if (section == MERGE_NONE || ordering_is_last(m, &m->out->sections[section]))
        return;
    made = &m->out->sections[section];
    if (made->class == CLASS_TEXT)
        create_code(creation, section);
    else if (merged_is_bank(made, 0) && merged_is_kernel(&m->symbols[made->function]))
        create_parameters(creation, section);
    else
        create(creation, section);
}

/* Whether nvlink reads what a cubin has for a function: a copy that is kept, or gives way later. */
static bool is_read(const struct merging *m, size_t file, uint32_t section)
{
    uint32_t owner = merging_owner(m, file, section);
    uint32_t input;

    if (owner == MERGE_NONE)
        return merging_place(m, file, section)->section != MERGE_NONE;
    input = cubin_section_function(m->cubins[file], section);
    return m->is_live[owner] &&
           (m->symbols[owner].file == file || m->resolved.gave_way[m->symbol_base[file] + input]);
}

/* Older nvlinks look for a list without addends, too, where an addend behind the first one is 0. */
static bool looks_for_both(const struct merging *m, const struct cubin_section *list)
{
    bool looks = list->type == SHT_RELA && merging_does(m, TOOLKIT_LOOKS_FOR_LISTS_WITHOUT_ADDENDS);

    for (size_t i = 1; looks && i < list->relocation_count; i++)
        if (list->relocations[i].addend == 0)
            return true;
    return false;
}

static void create_relocations(struct creation *creation, size_t file,
                               const struct cubin_section *input)
{
    const struct merging *m = creation->m;
    struct text name = m->cubins[file]->sections[input->info].name;
    uint32_t target = merging_place(m, file, input->info)->section;
    const uint32_t *lists;

    if (target == MERGE_NONE && cubin_is_text(&m->cubins[file]->sections[input->info]))
        target = m->out->text_of[merging_owner(m, file, input->info)];
    lists = target == MERGE_NONE ? NULL : m->out->sections[target].lists;
    create_list(creation, lists, input->type == SHT_RELA ? SHT_RELA : SHT_REL, name);
    if (m->request->preserve_relocations)
        create_list(creation, lists, SHT_CUDA_RESOLVED_RELA, name);
    if (looks_for_both(m, input))
        create_list(creation, lists, SHT_REL, name);
}

static void create_cubin(struct creation *creation, size_t file, size_t *local)
{
    const struct merging *m = creation->m;
    const struct cubin *cubin = m->cubins[file];

    for (; *local < m->resolved.local_count && m->resolved.locals[*local].file == file; ++*local)
        create_local(creation, &m->resolved.locals[*local]);
    for (uint32_t i = 1; i < cubin->section_count; i++) {
        uint32_t owner = merging_owner(m, file, i);

        if (merging_is(m, file, i, INPUT_INFO) && owner != MERGE_NONE && is_read(m, file, i))
            create_own(creation, creation->info_of[owner], CLASS_FUNCTION_INFO, owner);
    }
    for (uint32_t i = 1; i < cubin->section_count; i++)
        if (merging_is(m, file, i, INPUT_RELOCATIONS) && is_read(m, file, cubin->sections[i].info))
            create_relocations(creation, file, &cubin->sections[i]);
}

static void create_class(struct creation *creation, enum section_class class)
{
    for (size_t i = 0; i < creation->few_count; i++)
        if (creation->m->out->sections[creation->few[i]].class == class)
            create(creation, creation->few[i]);
}

/* Before all other names stand the prototypes that cubins have, also for functions that are gone.
 */
static void create_head(struct creation *creation)
{
    const struct call_graph *graph = &creation->m->graph;
    bool names_as_it_reads = merging_does(creation->m, TOOLKIT_NAMES_AS_IT_READS);

    for (enum name_table i = 0; i < NAMES_TABLES; i++)
        image_put_string(&creation->m->out->names.tables[i], (struct text){0});
    for (size_t i = 0; !names_as_it_reads && i < graph->prototype_count; i++)
        if (graph->prototypes[i].data)
            names_put(creation->m, NAMES_STRTAB, graph->prototypes[i]);
    for (unsigned i = ORDERING_SHSTRTAB; i <= ORDERING_INDICES; i++)
        names_put_both(creation->m, ordering_table(i)->name);
    if (names_as_it_reads)
        names_put_both(creation->m, TEXT(".nv.uft.entry"));
    create_class(creation, CLASS_NOTE);
    create_class(creation, CLASS_INFO);
    names_put_both(creation->m, sections_of_class(CLASS_INFO)->name);
    create_class(creation, CLASS_COMPAT);
}

/* Names a symbol of a cubin, and its section. */
static void name_symbol(struct creation *creation, const struct cubin *cubin, uint32_t index)
{
    struct merging *m = creation->m;
    const struct cubin_symbol *symbol = &cubin->symbols[index];
    bool has_section = cubin_has_section(cubin, symbol->section);
    bool is_function = symbol->type == STT_FUNC;
    const struct cubin_section *section = &cubin->sections[has_section ? symbol->section : 0];
    const enum section_class own[] = {CLASS_FUNCTION_INFO, CLASS_SHARED};

    if (is_function && !has_section && !(symbol->other & STO_CUDA_ENTRY) &&
        table_find(&m->out->names.known, symbol->name) == TABLE_NONE)
        names_put(m, NAMES_STRTAB, (struct text){0});
    if (is_function)
        names_put(m, NAMES_STRTAB, symbol->name);
    if (section->type == SHT_CUDA_CONSTANT0 && (section->flags & SHF_INFO_LINK)) {
        names_put(m, NAMES_SHSTRTAB, section->name);
        create_list(creation, NULL, SHT_REL, section->name);
    }
    if (!has_section && symbol->type == STT_CUDA_OBJECT &&
        (symbol->other & STO_CUDA_SPACE) == STO_CUDA_SHARED) {
        creation->has_extern_shared = true;
        names_put_both(m, sections_of_class(CLASS_DEBUG_SHARED)->name);
    }
    if (has_section && section->facts && section->facts->contents != SECTION_MADE)
        names_put_both(m, section->name);
    for (size_t i = 0; is_function && has_section && (symbol->other & STO_CUDA_ENTRY) && i < 2; i++)
        names_put_both(m,
                       arena_join(&m->image->arena, sections_of_class(own[i])->name, symbol->name));
    if (symbol->type != STT_SECTION && symbol->name.size)
        names_put(m, NAMES_STRTAB, symbol->name);
}

/* The strings of prototypes that a section names. */
static void name_prototypes(struct merging *m, const struct cubin *cubin,
                            const struct cubin_section *section)
{
    struct callgraph_entry entry = {0};
    struct bytes rest = section->data;

    for (size_t i = 0; section->type == SHT_CUDA_PROTOTYPE && i < rest.size / 8; i++)
        names_put(m, NAMES_STRTAB, cubin_string(cubin, info_word(rest, i * 2 + 1)));
    while (section->type == SHT_CUDA_CALLGRAPH && callgraph_next(&rest, &entry))
        if (entry.part == CALLGRAPH_ADDRESS || entry.part == CALLGRAPH_INDIRECT)
            names_put(m, NAMES_STRTAB, cubin_string(cubin, entry.second));
}

static void name_cubin(struct creation *creation, size_t file)
{
    static const unsigned char passes[] = {STT_FUNC, STT_NOTYPE, STT_SECTION};
    struct merging *m = creation->m;
    const struct cubin *cubin = m->cubins[file];

    for (size_t pass = 0; pass < sizeof passes; pass++)
        for (uint32_t i = 1; i < cubin->symbol_count; i++) {
            unsigned char type = cubin->symbols[i].type;
            uint32_t section = cubin->symbols[i].section;
            uint32_t function =
                cubin_has_section(cubin, section) ? cubin_section_function(cubin, section) : 0;

            if ((type == STT_FUNC || type == STT_SECTION ? type : STT_NOTYPE) == passes[pass] &&
                !overridden_has_lost(m, file, function ?: i))
                name_symbol(creation, cubin, i);
        }
    for (uint32_t i = 1; i < cubin->section_count; i++)
        if (merging_is(m, file, i, INPUT_INFO) && cubin_section_function(cubin, i))
            names_put_both(m, cubin->sections[i].name);
    for (uint32_t i = 1; i < cubin->section_count; i++)
        if (merging_is(m, file, i, INPUT_GRAPH))
            name_prototypes(m, cubin, &cubin->sections[i]);
    for (uint32_t i = 1; i < cubin->section_count; i++)
        if (merging_is(m, file, i, INPUT_RELOCATIONS) &&
            !overridden_has_lost(m, file, cubin_section_function(cubin, i)))
            create_relocations(creation, file, &cubin->sections[i]);
}

/* What the link makes itself. */
static void create_tail(struct creation *creation)
{
    const struct placing *out = creation->m->out;

    create_class(creation, CLASS_GLOBAL);
    create_class(creation, CLASS_CALLGRAPH);
    create_class(creation, CLASS_PROTOTYPE);
    names_put_both(creation->m, sections_of_class(CLASS_PROTOTYPE)->name);
    /* Kernels get constants from the function read last first. */
    for (size_t i = out->constant_count; i-- > 0;)
        create(creation, out->constants[i].to);
    if (creation->has_extern_shared && !merging_keeps_all(creation->m))
        names_put(creation->m, NAMES_STRTAB, TEXT("externsharedinstance"));
    create_class(creation, CLASS_REL_ACTION);
}

void creation_order(struct merging *m)
{
    size_t count = m->out->section_count;
    struct creation creation = {
        .m = m,
        .info_of = merging_none(m, m->symbol_count),
        .is_created = arena_zalloc(&m->arena, count, sizeof(bool)),
        .few = arena_alloc(&m->arena, count, sizeof(uint32_t)),
    };
    size_t local = 0;

    table_reserve(&m->out->names.known, count + m->resolved.global_count);
    m->out->created = arena_alloc(&m->arena, count, sizeof *m->out->created);
    for (uint32_t i = 0; i < count; i++) {
        const struct merged_section *section = &m->out->sections[i];

        if (section->class == CLASS_FUNCTION_INFO)
            creation.info_of[section->function] = i;
        else if (section->function == MERGE_NONE && section->target == MERGE_NONE)
            creation.few[creation.few_count++] = i;
    }
    create_head(&creation);
    for (size_t file = 0; merging_does(m, TOOLKIT_NAMES_AS_IT_READS) && file < m->count; file++)
        name_cubin(&creation, file);
    for (size_t file = 0; file < m->count; file++)
        create_cubin(&creation, file, &local);
    create_tail(&creation);
    for (uint32_t i = 0; i < count; i++)
        note_created(&creation, i);
}
