/* parts_versions.c: functions of which the parts have several versions.
 *
 * A function that calls another of which there are several is itself one for each of those, however
 * alike its texts are. */
#include <xxhash.h>

#include "base/context.h"
#include "base/search.h"
#include "lto/parts_steps.h"
#include "ptx/types.h"

struct refinement {
    struct joining *joining;
    uint32_t *starts;  /* of each symbol's callers in `callers`; one more than symbols */
    uint32_t *callers; /* symbols */
    uint32_t *work;    /* symbols that were split */
    size_t work_count;
    bool *is_waiting; /* the symbol is among them */
};

/* The version that a part has of a symbol that is split. */
static uint32_t version_in(const struct joining *joining, uint32_t part, uint32_t symbol)
{
    uint32_t at = table_find(&joining->parts[part].names, joining->symbols[symbol].name);

    return at == TABLE_NONE ? NO_INDEX : joining->entries[at].version;
}

uint32_t parts_meant(const struct joining *joining, const struct symbol_version *version,
                     struct joined_reference reference)
{
    const struct joined_symbol *symbol = &joining->symbols[reference.symbol];
    uint32_t own = NO_INDEX;

    if (symbol->is_split && reference.is_call)
        own = version_in(joining, joining->entries[version->entry].part, reference.symbol);
    return own != NO_INDEX ? own : symbol->address;
}

/* Whether a version's calls mean the same in another part as where it was first found. */
static bool calls_alike(const struct joining *joining, const struct symbol_version *version,
                        uint32_t part)
{
    uint32_t first = joining->entries[version->entry].part;

    for (uint32_t i = 0; i < version->reference_count; i++) {
        struct joined_reference reference = version->references[i];

        if (reference.is_call && joining->symbols[reference.symbol].is_split &&
            version_in(joining, first, reference.symbol) !=
                version_in(joining, part, reference.symbol))
            return false;
    }
    return true;
}

/* The version that an entry belongs to: its own, or one made of it, maybe now. */
static uint32_t regroup_entry(struct joining *joining, struct joined_symbol *symbol, uint32_t index)
{
    struct part_entry *entry = &joining->entries[index];
    struct symbol_version copy = joining->versions[entry->version];

    for (uint32_t i = symbol->first_version; i != NO_INDEX; i = joining->versions[i].next)
        if (joining->versions[i].text.data == copy.text.data &&
            calls_alike(joining, &joining->versions[i], entry->part))
            return i;
    copy.entry = index;
    copy.next = symbol->first_version;
    symbol->first_version = (uint32_t)joining->version_count;
    ARENA_PUSH(&joining->arena, joining->versions, joining->version_count,
               joining->version_capacity) = copy;
    return symbol->first_version;
}

/* Splits a caller where its callees' versions ask for it. */
static void regroup(struct refinement *refinement, uint32_t index)
{
    struct joining *joining = refinement->joining;
    struct joined_symbol *symbol = &joining->symbols[index];
    size_t before = joining->version_count;

    if (symbol->linkage != PTX_INTERNAL || symbol->is_entry || !symbol->is_defined)
        return;
    for (uint32_t i = symbol->first_entry; i != NO_INDEX; i = joining->entries[i].next)
        joining->entries[i].version = regroup_entry(joining, symbol, i);
    if (joining->version_count == before)
        return;
    symbol->is_split = true;
    if (!refinement->is_waiting[index])
        refinement->work[refinement->work_count++] = index;
    refinement->is_waiting[index] = true;
}

static void find_callers(struct refinement *refinement)
{
    struct joining *joining = refinement->joining;
    struct arena *arena = &joining->arena;
    uint32_t *ends;
    size_t count = 0;

    refinement->starts = arena_zalloc(arena, joining->symbol_count + 1, sizeof *refinement->starts);
    for (size_t i = 0; i < joining->version_count; i++)
        for (uint32_t j = 0; j < joining->versions[i].reference_count; j++)
            if (joining->versions[i].references[j].is_call)
                refinement->starts[joining->versions[i].references[j].symbol + 1]++;
    for (size_t i = 0; i < joining->symbol_count; i++)
        refinement->starts[i + 1] += refinement->starts[i];
    count = refinement->starts[joining->symbol_count];
    refinement->callers = arena_alloc(arena, count, sizeof *refinement->callers);
    ends = arena_copy(arena, refinement->starts, joining->symbol_count, sizeof *ends);
    for (size_t i = 0; i < joining->version_count; i++)
        for (uint32_t j = 0; j < joining->versions[i].reference_count; j++)
            if (joining->versions[i].references[j].is_call)
                refinement->callers[ends[joining->versions[i].references[j].symbol]++] =
                    joining->versions[i].symbol;
}

/* Each time a symbol is split further, its callers are looked at again: at most once for each part
 * that has it. */
void parts_refine(struct joining *joining)
{
    struct refinement refinement = {.joining = joining};
    size_t count = joining->symbol_count;

    find_callers(&refinement);
    refinement.work = arena_alloc(&joining->arena, count, sizeof *refinement.work);
    refinement.is_waiting = arena_zalloc(&joining->arena, count, sizeof *refinement.is_waiting);
    for (size_t i = 0; i < count; i++) {
        refinement.is_waiting[i] = joining->symbols[i].is_split;
        if (joining->symbols[i].is_split)
            refinement.work[refinement.work_count++] = (uint32_t)i;
    }
    while (refinement.work_count > 0) {
        uint32_t symbol = refinement.work[--refinement.work_count];

        refinement.is_waiting[symbol] = false;
        for (uint32_t i = refinement.starts[symbol]; i < refinement.starts[symbol + 1]; i++)
            regroup(&refinement, refinement.callers[i]);
    }
}

struct ranked {
    const struct joining *joining;
    uint32_t version;
};

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    const struct symbol_version *first = &a->joining->versions[a->version];
    const struct symbol_version *second = &b->joining->versions[b->version];
    uint32_t address = a->joining->symbols[first->symbol].address;
    int order;

    if (first->is_reached != second->is_reached)
        return first->is_reached ? -1 : 1;
    if ((a->version == address) != (b->version == address))
        return a->version == address ? -1 : 1;
    order = text_compare(first->text, second->text);
    return order ? order : (first->hash > second->hash) - (first->hash < second->hash);
}

/* The one whose address is taken, or else the one with the lowest text, keeps the name. */
static void name_versions(struct joining *joining, struct joined_symbol *symbol)
{
    struct ranked *list = NULL;
    size_t count = 0, capacity = 0;

    for (uint32_t i = symbol->first_version; i != NO_INDEX; i = joining->versions[i].next)
        ARENA_PUSH(&joining->arena, list, count, capacity) = (struct ranked){joining, i};
    SORT(list, count, compare_ranked);
    for (size_t i = 1; i < count; i++) {
        struct symbol_version *version = &joining->versions[list[i].version];

        version->name =
            text_of(arena_printf(&joining->arena, "%.*s$mlp%016llx", TEXT_ARG(symbol->name),
                                 (unsigned long long)version->hash + i));
    }
}

/* Whether a version's text names one of several. */
static bool names_split(const struct joining *joining, const struct symbol_version *version)
{
    bool is_split = joining->symbols[version->symbol].is_split;

    for (uint32_t i = 0; i < version->reference_count && !is_split; i++)
        is_split = joining->symbols[version->references[i].symbol].is_split;
    return is_split;
}

bool parts_stays_split(const struct joining *joining, const struct joined_symbol *symbol)
{
    size_t count = 0;

    for (uint32_t i = symbol->first_version; symbol->is_split && i != NO_INDEX;
         i = joining->versions[i].next)
        count += joining->versions[i].is_reached;
    return count > 1;
}

/* Versions with the same text differ in what they call, which stands in front of them: its hashes
 * go into theirs. */
static void hash_calls(struct joining *joining, struct symbol_version *version)
{
    for (uint32_t i = 0; i < version->reference_count; i++) {
        struct joined_reference reference = version->references[i];
        uint32_t meant = parts_meant(joining, version, reference);

        if (reference.is_call && joining->symbols[reference.symbol].is_split && meant != NO_INDEX)
            version->hash = XXH3_64bits_withSeed(&joining->versions[meant].hash,
                                                 sizeof version->hash, version->hash);
    }
}

static void render_again(struct rendering *rendering, struct symbol_version *version)
{
    struct joining *joining = rendering->joining;
    const struct part_entry *entry = &joining->entries[version->entry];

    parts_render(rendering, entry, entry->item);
    version->text = arena_text(&joining->arena, buffer_view(&rendering->text));
    version->head_size = rendering->head_size;
}

void parts_name_versions(struct joining *joining)
{
    struct rendering rendering = {.joining = joining};

    for (size_t i = 0; i < joining->reached_count; i++)
        hash_calls(joining, &joining->versions[joining->reached[i]]);
    for (size_t i = 0; i < joining->symbol_count; i++)
        if (joining->symbols[i].is_split)
            name_versions(joining, &joining->symbols[i]);
    CONTEXT_DEFER(parts_rendering_free, &rendering);
    for (size_t i = 0; i < joining->version_count; i++)
        if (names_split(joining, &joining->versions[i]))
            render_again(&rendering, &joining->versions[i]);
}
