/* parts_versions.c: compares the parts' texts of the same symbol, and handles functions that have
 * several versions.
 *
 * Variables must be the same in all parts. A function that any caller may call is compiled
 * independently of its callers, so that any of several texts will do; so is a function whose
 * address is taken, in the parts that take it. A function that is only called within its part may
 * have been specialised for the calls (measured on libnvvm: an argument that is always 3 is
 * dropped): each part's calls go to its own version. A function that calls one with several
 * versions itself has a version for each of these, even if its texts are the same. */
#include <string.h>
#include <xxhash.h>

#include "base/search.h"
#include "parts/parts_steps.h"
#include "ptx/types.h"

/* The difference between two variables that are not the same. */
static const char *difference_of(const struct ptx_item *first, const struct ptx_item *second)
{
    const struct ptx_variable *a = &first->variable, *b = &second->variable;

    if (a->space != b->space || a->bank != b->bank)
        return "space of ";
    if (a->type != b->type || a->vector != b->vector || a->is_array != b->is_array)
        return "type of ";
    if (a->size != b->size)
        return "size of ";
    if (a->alignment != b->alignment)
        return "alignment of ";
    if (a->is_managed != b->is_managed || a->is_unified != b->is_unified ||
        (a->is_unified && memcmp(a->unified, b->unified, sizeof a->unified) != 0))
        return "attributes of ";
    return "initial value of ";
}

static uint32_t add_version(struct joining *joining, uint32_t entry)
{
    const struct rendering *rendering = &joining->rendering;
    struct joined_symbol *symbol = &joining->symbols[joining->entries[entry].symbol];
    struct symbol_version version = {.symbol = joining->entries[entry].symbol,
                                     .entry = entry,
                                     .next = symbol->first_version,
                                     .name = symbol->name,
                                     .text =
                                         arena_text(&joining->arena, buffer_view(&rendering->text)),
                                     .reference_count = (uint32_t)rendering->reference_count,
                                     .head_size = rendering->head_size,
                                     .has_shared = rendering->has_shared};

    if (rendering->reference_count)
        version.references = arena_copy(&joining->arena, rendering->references,
                                        rendering->reference_count, sizeof *rendering->references);
    version.hash = XXH3_64bits(version.text.data, version.text.size);
    symbol->first_version = (uint32_t)joining->version_count;
    ARENA_PUSH(&joining->arena, joining->versions, joining->version_count,
               joining->version_capacity) = version;
    return symbol->first_version;
}

/* The version of the symbol with the same text as the one just rendered, or NO_INDEX. */
static uint32_t find_version(const struct joining *joining, const struct joined_symbol *symbol)
{
    struct text text = buffer_view(&joining->rendering.text);
    uint64_t hash = XXH3_64bits(text.data, text.size);
    uint32_t at = symbol->first_version;

    while (at != NO_INDEX &&
           (joining->versions[at].hash != hash || !text_equal(joining->versions[at].text, text)))
        at = joining->versions[at].next;
    return at;
}

static uint8_t stronger(uint8_t first, uint8_t second)
{
    static const uint8_t strength[] = {
        [PTX_INTERNAL] = 1, [PTX_EXTERN] = 0, [PTX_COMMON] = 2, [PTX_WEAK] = 3, [PTX_VISIBLE] = 4};

    return strength[second] > strength[first] ? second : first;
}

/* Compares one part's text of a symbol with those of the parts before it. */
static bool add_entry(struct joining *joining, uint32_t index)
{
    struct part_entry *entry = &joining->entries[index];
    struct joined_symbol *symbol = &joining->symbols[entry->symbol];
    const struct part_entry *first = &joining->entries[symbol->first_entry];
    const struct ptx_item *item = entry->item;
    bool is_function = item->kind == PTX_FUNCTION;

    if (is_function != (first->item->kind == PTX_FUNCTION) ||
        (is_function && item->function.is_entry != first->item->function.is_entry))
        return parts_differ(joining, "kind of ", entry->name);
    if (item->is_definition != first->item->is_definition)
        return parts_differ(joining, "definition of ", entry->name);
    symbol->is_function = is_function;
    symbol->is_entry = is_function && item->function.is_entry;
    symbol->is_defined = item->is_definition;
    symbol->linkage =
        index == symbol->first_entry ? item->linkage : stronger(symbol->linkage, item->linkage);
    parts_render(joining, entry);
    entry->version = find_version(joining, symbol);
    if (entry->version != NO_INDEX)
        return true;
    if (symbol->first_version != NO_INDEX && !is_function)
        return parts_differ(joining, difference_of(first->item, item), entry->name);
    if (symbol->first_version != NO_INDEX && !item->is_definition)
        return parts_differ(joining, "prototype of ", entry->name);
    entry->version = add_version(joining, index);
    return true;
}

/* Of the symbol's versions (with `takes_address`, only those of parts that take its address) the
 * one with the lowest text: a choice that does not depend on the order of the parts. */
static uint32_t choose_version(const struct joining *joining, const struct joined_symbol *symbol,
                               bool takes_address)
{
    uint32_t best = NO_INDEX;

    for (uint32_t i = symbol->first_entry; i != NO_INDEX; i = joining->entries[i].next) {
        uint32_t version = joining->entries[i].version;

        if ((!takes_address || joining->entries[i].is_address_taken) &&
            (best == NO_INDEX ||
             text_compare(joining->versions[version].text, joining->versions[best].text) < 0))
            best = version;
    }
    return best;
}

/* Decides which version the symbol's name means, unless each part's calls mean its own version. */
static void settle(struct joining *joining, struct joined_symbol *symbol)
{
    bool is_one = symbol->first_version == NO_INDEX ||
                  joining->versions[symbol->first_version].next == NO_INDEX;

    if (is_one) {
        symbol->address = symbol->first_version;
    } else if (symbol->linkage != PTX_INTERNAL || symbol->is_entry) {
        symbol->address = choose_version(joining, symbol, false);
        for (uint32_t i = symbol->first_entry; i != NO_INDEX; i = joining->entries[i].next)
            joining->entries[i].version = symbol->address;
    } else {
        symbol->is_split = true;
    }
}

/* Refuses shared variables in split functions if a version can be reached by its address: a kernel
 * could then use two versions of a function, each with a variable of its own. */
static bool check_split_shared(struct joining *joining)
{
    struct text name = {0};
    bool has_address = false;

    for (size_t i = 0; i < joining->symbol_count; i++)
        has_address |= joining->symbols[i].is_split && joining->symbols[i].address != NO_INDEX;
    for (size_t i = 0; has_address && i < joining->version_count; i++)
        if (joining->versions[i].has_shared &&
            joining->symbols[joining->versions[i].symbol].is_split)
            name = joining->versions[i].name;
    return !name.size || parts_differ(joining, "code of ", name);
}

struct caller {
    uint32_t symbol;
    uint32_t next; /* next caller of the same symbol, or NO_INDEX */
};

struct refinement {
    struct joining *joining;
    struct caller *callers;
    uint32_t *first_callers; /* first caller of each symbol, or NO_INDEX */
    uint32_t *work;          /* symbols that were split */
    size_t work_count;
    bool *is_waiting; /* whether each symbol is in `work` */
};

/* A part's version of a split symbol. */
static uint32_t version_in_part(const struct joining *joining, uint32_t part, uint32_t symbol)
{
    const struct part_entry *entry = parts_entry(joining, part, joining->symbols[symbol].name);

    return entry ? entry->version : NO_INDEX;
}

uint32_t parts_meant(const struct joining *joining, const struct symbol_version *version,
                     struct joined_reference reference)
{
    const struct joined_symbol *symbol = &joining->symbols[reference.symbol];
    uint32_t own = NO_INDEX;

    if (symbol->is_split && reference.is_call)
        own = version_in_part(joining, joining->entries[version->entry].part, reference.symbol);
    return own != NO_INDEX ? own : symbol->address;
}

/* Whether a version's calls mean the same in another part as in the one where it was first found.
 */
static bool calls_alike(const struct joining *joining, const struct symbol_version *version,
                        uint32_t part)
{
    uint32_t first = joining->entries[version->entry].part;

    for (uint32_t i = 0; i < version->reference_count; i++) {
        struct joined_reference reference = version->references[i];

        if (reference.is_call && joining->symbols[reference.symbol].is_split &&
            version_in_part(joining, first, reference.symbol) !=
                version_in_part(joining, part, reference.symbol))
            return false;
    }
    return true;
}

/* The version that an entry belongs to: its own, or a copy of that, which is made if necessary. */
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

/* Splits a caller if its callees' versions require it. */
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

/* Finds the callers, in the order of their versions. */
static void find_callers(struct refinement *refinement)
{
    struct joining *joining = refinement->joining;
    size_t count = 0, made = 0;

    for (size_t i = 0; i < joining->version_count; i++)
        count += joining->versions[i].reference_count;
    refinement->callers = arena_alloc(&joining->arena, count, sizeof *refinement->callers);
    refinement->first_callers =
        arena_alloc(&joining->arena, joining->symbol_count, sizeof *refinement->first_callers);
    for (size_t i = 0; i < joining->symbol_count; i++)
        refinement->first_callers[i] = NO_INDEX;
    for (size_t i = joining->version_count; i-- > 0;) {
        const struct symbol_version *version = &joining->versions[i];

        for (uint32_t j = version->reference_count; j-- > 0;) {
            uint32_t *first = &refinement->first_callers[version->references[j].symbol];

            if (!version->references[j].is_call)
                continue;
            refinement->callers[made] = (struct caller){version->symbol, *first};
            *first = (uint32_t)made++;
        }
    }
}

/* Separates versions whose texts are the same except for the versions that they call. Each time a
 * symbol is split further, its callers are checked again: at most once for each part that has it.
 */
static void refine(struct joining *joining)
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
        for (uint32_t i = refinement.first_callers[symbol]; i != NO_INDEX;
             i = refinement.callers[i].next)
            regroup(&refinement, refinement.callers[i].symbol);
    }
}

bool parts_agree(struct joining *joining)
{
    bool is_split = false;

    for (uint32_t i = 0; i < joining->entry_count; i++)
        if (joining->entries[i].symbol != NO_INDEX && !add_entry(joining, i))
            return false;
    for (size_t i = 0; i < joining->symbol_count; i++) {
        settle(joining, &joining->symbols[i]);
        is_split |= joining->symbols[i].is_split;
    }
    if (!is_split)
        return true;
    refine(joining);
    for (size_t i = 0; i < joining->symbol_count; i++)
        if (joining->symbols[i].is_split)
            joining->symbols[i].address = choose_version(joining, &joining->symbols[i], true);
    return check_split_shared(joining);
}

static int compare_versions(const void *left, const void *right, void *argument)
{
    const uint32_t *a = left, *b = right;
    const struct joining *joining = argument;
    const struct symbol_version *first = &joining->versions[*a], *second = &joining->versions[*b];
    uint32_t address = joining->symbols[first->symbol].address;

    return COMPARE(second->is_reached, first->is_reached) ?:
           COMPARE(*b == address, *a == address) ?:
           text_compare(first->text, second->text) ?:
           COMPARE(first->hash, second->hash);
}

/* Names the versions: the one whose address is taken, or else the one with the lowest text, keeps
 * the name. */
static void name_versions(struct joining *joining, struct joined_symbol *symbol)
{
    uint32_t *list = NULL;
    size_t count = 0, capacity = 0, reached = 0;

    for (uint32_t i = symbol->first_version; i != NO_INDEX; i = joining->versions[i].next) {
        ARENA_PUSH(&joining->arena, list, count, capacity) = i;
        reached += joining->versions[i].is_reached;
    }
    joining->result->several += reached > 1;
    qsort_r(list, count, sizeof *list, compare_versions, joining);
    for (size_t i = 1; i < count; i++) {
        struct symbol_version *version = &joining->versions[list[i]];

        version->name =
            text_of(arena_printf(&joining->arena, "%.*s$mlp%016llx", TEXT_ARG(symbol->name),
                                 (unsigned long long)version->hash + i));
    }
}

/* Whether a version's text names a split symbol. */
static bool names_split(const struct joining *joining, const struct symbol_version *version)
{
    bool is_split = joining->symbols[version->symbol].is_split;

    for (uint32_t i = 0; i < version->reference_count && !is_split; i++)
        is_split = joining->symbols[version->references[i].symbol].is_split;
    return is_split;
}

/* Versions with the same text differ in their callees, which come before them: adds the callees'
 * hashes to theirs. */
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

void parts_name_versions(struct joining *joining)
{
    for (size_t i = 0; i < joining->reached_count; i++)
        hash_calls(joining, &joining->versions[joining->reached[i]]);
    for (size_t i = 0; i < joining->symbol_count; i++)
        if (joining->symbols[i].is_split)
            name_versions(joining, &joining->symbols[i]);
    for (size_t i = 0; i < joining->version_count; i++) {
        struct symbol_version *version = &joining->versions[i];

        if (!names_split(joining, version))
            continue;
        parts_render(joining, &joining->entries[version->entry]);
        version->text = arena_text(&joining->arena, buffer_view(&joining->rendering.text));
        version->head_size = joining->rendering.head_size;
    }
}
