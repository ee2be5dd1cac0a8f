/* fold.c: identical functions, found from the bottom of the call graph up.
 *
 * Everything that an executable has of a function is serialised as its key: the contents and
 * relocations of its sections, its records, its callees. A callee is represented by the function
 * that it was folded into, which is known because callees come first (base/search.h). Functions
 * with the same key are folded; each is visited once. Functions that call each other in a cycle are
 * not folded, which lld would do; a function that only calls itself may be.
 *
 * Programs may compare addresses, so a function whose address is taken is not folded. In code, any
 * relocation other than a call's takes the address. A function's relocations against itself are
 * return addresses of its calls; whether it takes its own address is known from the call graph. */
#include "resolve/resolve_steps.h"

#include "base/search.h"
#include "base/context.h"
#include "cubin/contents.h"
#include "input/used.h"

/* Kinds of symbols and sections in a key. */
enum key_part { KEY_SELF, KEY_SYMBOL, KEY_OWN, KEY_LOCAL, KEY_TARGET };

struct folding {
    struct merging *m;
    bool *is_fixed;               /* by symbol: it is not a function, or must not be folded */
    struct merged_lists sections; /* by function: its sections in the cubin that defines it */
    uint32_t *place_of;           /* by input section: its number among its function's sections */
    struct merged_lists records;  /* by function: numbers of program-wide records about it */
    struct info_record *record;   /* by record number */
    uint32_t *prototype_of;       /* by symbol, or MERGE_NONE */
    uint32_t *kept_of;            /* by symbol: itself, or the function that it is folded into */
    struct table keys;
    struct buffer key;
    uint32_t function; /* whose key it is */
};

/* The function of an input section, if this cubin's definition of it is the kept one; or
 * MERGE_NONE. */
static uint32_t function_of_section(const struct merging *m, size_t file, uint32_t index)
{
    const struct cubin_section *section = &m->cubins[file]->sections[index];
    uint32_t owner = cubin_is_mercury(section) ? merging_twin_owner(m, file, section)
                                               : merging_owner(m, file, index);

    return owner != MERGE_NONE && m->symbols[owner].file == file ? owner : MERGE_NONE;
}

static void find_sections(struct folding *folding)
{
    struct merging *m = folding->m;
    struct merged_pairs pairs = {.arena = &m->arena};
    uint32_t *counts = arena_zalloc(&m->arena, m->symbol_count, sizeof *counts);

    folding->place_of = merging_none(m, m->section_base[m->count]);
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_ANY);) {
        uint32_t function = function_of_section(m, at.file, at.index);

        if (function == MERGE_NONE)
            continue;
        index_lists_add(&pairs, function, at.index);
        folding->place_of[m->section_base[at.file] + at.index] = counts[function]++;
    }
    folding->sections = index_lists_make(&m->arena, &pairs, m->symbol_count);
}

static void find_records(struct folding *folding)
{
    struct merging *m = folding->m;
    struct merged_pairs pairs = {.arena = &m->arena};
    size_t count = 0, capacity = 0;

    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_ANY);) {
        struct bytes rest = at.section->data;
        struct info_record record;

        if ((at.section->type != SHT_CUDA_INFO && at.section->type != SHT_CUDA_MERC_INFO) ||
            function_of_section(m, at.file, at.index) != MERGE_NONE)
            continue;
        while (info_next(&rest, &record)) {
            uint32_t index = info_word(record.payload, 0);

            if (info_symbol_words(&record) != 1 || !merging_defines(m, at.file, index))
                continue;
            index_lists_add(&pairs, merging_symbol(m, at.file, index), (uint32_t)count);
            ARENA_PUSH(&m->arena, folding->record, count, capacity) = record;
        }
    }
    folding->records = index_lists_make(&m->arena, &pairs, m->symbol_count);
}

/* Whether a symbol must not be folded: it can be found by name, or is an alias, or the call graph
 * says that its address is taken. */
static bool is_fixed_function(const struct merging *m, uint32_t index)
{
    const struct merged_symbol *symbol = &m->symbols[index];

    return symbol->type != STT_FUNC || merged_is_kernel(symbol) || symbol->file == MERGE_NONE ||
           symbol->alias != MERGE_NONE || index_lists_count(&m->graph.taken, index) > 0 ||
           (m->request->keep_exported && symbol->binding == STB_GLOBAL) ||
           (m->request->used && used_wants(m->request->used, symbol->name));
}

static bool is_call(uint32_t type)
{
    return type == R_CUDA_ABS47_34 || type == R_CUDA_ABS55_16_34;
}

/* The function that a relocation refers to, by its own symbol or its section's; or MERGE_NONE. */
static uint32_t function_meant(const struct merging *m, size_t file, uint32_t index)
{
    const struct cubin *cubin = m->cubins[file];
    uint32_t symbol = merging_symbol(m, file, index);

    if (symbol != MERGE_NONE)
        return merging_canonical(m, symbol);
    return cubin->symbols[index].section < cubin->section_count
               ? merging_owner(m, file, cubin->symbols[index].section)
               : MERGE_NONE;
}

static void fix_taken(struct folding *folding, size_t file, const struct cubin_section *list)
{
    const struct merging *m = folding->m;
    const struct cubin_section *target = &m->cubins[file]->sections[list->info];
    uint32_t owner = merging_owner(m, file, list->info);

    for (size_t i = 0; (target->flags & SHF_ALLOC) && i < list->relocation_count; i++) {
        const struct cubin_relocation *relocation = &list->relocations[i];
        uint32_t meant = function_meant(m, file, relocation->symbol);

        if (meant != MERGE_NONE && meant != owner && !is_call(relocation->type))
            folding->is_fixed[meant] = true;
    }
}

static void find_fixed(struct folding *folding)
{
    const struct merging *m = folding->m;

    for (uint32_t i = 0; i < m->symbol_count; i++) {
        folding->is_fixed[i] = folding->is_fixed[i] || is_fixed_function(m, i);
        if (m->symbols[i].alias != MERGE_NONE)
            folding->is_fixed[m->symbols[i].alias] = true;
    }
    for (uint32_t i = 0; i < m->graph.references.first[m->symbol_count]; i++)
        folding->is_fixed[m->graph.references.items[i]] = true;
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_RELOCATIONS);)
        fix_taken(folding, at.file, at.section);
}

static void put_key_pair(struct folding *folding, enum key_part part, uint32_t number)
{
    buffer_u32(&folding->key, part);
    buffer_u32(&folding->key, number);
}

static void put_known(struct folding *folding, uint32_t symbol)
{
    if (symbol == folding->function)
        put_key_pair(folding, KEY_SELF, 0);
    else
        put_key_pair(folding, KEY_SYMBOL, folding->kept_of[symbol]);
}

/* Appends a symbol of the cubin that defines the function. */
static void put_symbol(void *argument, uint32_t index)
{
    struct folding *folding = argument;
    const struct merging *m = folding->m;
    size_t file = m->symbols[folding->function].file;
    const struct cubin_symbol *input = &m->cubins[file]->symbols[index];
    uint32_t symbol = merging_symbol(m, file, index);
    bool is_here = symbol == MERGE_NONE || merging_defines(m, file, index);

    if (symbol != folding->function && is_here && input->section < m->cubins[file]->section_count &&
        function_of_section(m, file, input->section) == folding->function) {
        put_key_pair(folding, KEY_OWN, folding->place_of[m->section_base[file] + input->section]);
        buffer_u64(&folding->key, input->value);
    } else if (symbol != MERGE_NONE) {
        put_known(folding, merging_canonical(m, symbol));
    } else {
        put_key_pair(folding, KEY_LOCAL, index ? (uint32_t)(m->symbol_base[file] + index) : 0);
    }
}

static void put_functions(struct folding *folding, const struct merged_lists *lists)
{
    uint32_t function = folding->function;

    buffer_u64(&folding->key, index_lists_count(lists, function));
    for (uint32_t i = lists->first[function]; i < lists->first[function + 1]; i++)
        put_known(folding, lists->items[i]);
}

/* Sections are known by their places among the function's, since their names differ. */
static void put_sections(struct folding *folding, const struct description *description)
{
    const struct merging *m = folding->m;
    const struct merged_lists *lists = &folding->sections;
    size_t base = m->section_base[m->symbols[folding->function].file];

    for (uint32_t i = lists->first[folding->function]; i < lists->first[folding->function + 1];
         i++) {
        const struct cubin_section *section = &description->cubin->sections[lists->items[i]];

        describe_section(description, section);
        if (section->flags & SHF_INFO_LINK)
            put_key_pair(folding, KEY_TARGET, folding->place_of[base + section->info]);
    }
}

static void put_function(struct folding *folding, uint32_t function)
{
    const struct merging *m = folding->m;
    const struct merged_symbol *symbol = &m->symbols[function];
    const struct merged_lists *called = &m->graph.called, *records = &folding->records;
    struct description description = {.to = &folding->key,
                                      .cubin = m->cubins[symbol->file],
                                      .put_symbol = put_symbol,
                                      .argument = folding};

    folding->function = function;
    folding->key.size = 0;
    buffer_u32(&folding->key, symbol->other);
    buffer_u64(&folding->key, symbol->value);
    buffer_u64(&folding->key, symbol->size);
    buffer_u32(&folding->key, folding->prototype_of[function]);
    put_functions(folding, &m->graph.calls);
    put_functions(folding, &m->graph.references);
    describe_bytes(&folding->key,
                   (struct bytes){(const uint8_t *)(called->items + called->first[function]),
                                  index_lists_count(called, function) * sizeof *called->items});
    put_key_pair(folding, KEY_LOCAL, (uint32_t)index_lists_count(records, function));
    for (uint32_t i = records->first[function]; i < records->first[function + 1]; i++)
        describe_record(&description, &folding->record[records->items[i]]);
    put_sections(folding, &description);
}

static uint32_t callee(void *argument, uint32_t function, uint32_t position)
{
    const struct merging *m = ((const struct folding *)argument)->m;
    uint32_t at = m->graph.calls.first[function] + position;

    return at < m->graph.calls.first[function + 1] ? merging_canonical(m, m->graph.calls.items[at])
                                                   : COMPONENTS_END;
}

/* In a cycle some callees are still assumed to differ from all others. */
static void compare_members(void *argument, const uint32_t *members, size_t count,
                            const bool *is_open)
{
    struct folding *folding = argument;

    (void)is_open;
    for (size_t i = 0; i < count; i++) {
        uint32_t *kept = &folding->kept_of[members[i]];
        struct text key;

        if (folding->is_fixed[members[i]])
            continue;
        put_function(folding, members[i]);
        key = buffer_view(&folding->key);
        *kept = table_find(&folding->keys, key);
        if (*kept == TABLE_NONE)
            *kept = table_add(&folding->keys, arena_text(&folding->m->arena, key), members[i]);
    }
}

/* Keeps of each class the function that is defined first. */
static void choose_kept(const struct folding *folding)
{
    const struct merged_symbol *symbols = folding->m->symbols;
    uint32_t *kept_of = folding->kept_of;
    uint32_t *first_of =
        arena_copy(&folding->m->arena, kept_of, folding->m->symbol_count, sizeof *first_of);

    for (uint32_t i = 0; i < folding->m->symbol_count; i++) {
        uint32_t *first = &first_of[kept_of[i]];

        if (symbols[i].file < symbols[*first].file ||
            (symbols[i].file == symbols[*first].file && symbols[i].input < symbols[*first].input))
            *first = i;
    }
    for (uint32_t i = 0; i < folding->m->symbol_count; i++)
        kept_of[i] = first_of[kept_of[i]];
}

/* Replaces folded functions by the kept ones and marks them as lost. True if there were any. */
static bool replace(const struct folding *folding)
{
    struct merging *m = folding->m;
    struct resolution *resolved = &m->resolved;
    size_t inputs = m->symbol_base[m->count], count = 0;

    resolved->is_folded = arena_zalloc(&m->arena, inputs, sizeof(bool));
    for (size_t i = 0; i < inputs; i++)
        if (resolved->symbol_of[i] != MERGE_NONE)
            resolved->symbol_of[i] = folding->kept_of[resolved->symbol_of[i]];
    for (uint32_t i = 0; i < m->symbol_count; i++)
        if (folding->kept_of[i] != i) {
            size_t input = m->symbol_base[m->symbols[i].file] + m->symbols[i].input;

            resolved->has_lost[input] = resolved->is_folded[input] = true;
            m->symbols[i].file = MERGE_NONE;
            count++;
        }
    return count > 0;
}

bool fold_functions(struct merging *m)
{
    struct folding folding = {.m = m};

    CONTEXT_DEFER(buffer_cleanup, &folding.key);
    CONTEXT_DEFER(table_cleanup, &folding.keys);
    folding.is_fixed = arena_zalloc(&m->arena, m->symbol_count, sizeof(bool));
    folding.kept_of = arena_alloc(&m->arena, m->symbol_count, sizeof *folding.kept_of);
    for (uint32_t i = 0; i < m->symbol_count; i++)
        folding.kept_of[i] = i;
    find_sections(&folding);
    find_records(&folding);
    folding.prototype_of = merging_none(m, m->symbol_count);
    for (size_t i = 0; i < m->graph.declared.count; i++)
        folding.prototype_of[m->graph.declared.items[i].from] = m->graph.declared.items[i].to;
    find_fixed(&folding);
    components_find(&(struct components_graph){&folding, m->symbol_count, callee, compare_members},
                    &m->arena);
    choose_kept(&folding);
    return replace(&folding);
}
