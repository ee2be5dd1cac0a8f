/* parts_agree.c: what the parts say of the same symbol.
 *
 * Variables must be the same in all parts. Functions that every caller may call are compiled
 * without regard to who does, so that of several texts any will do; so are those whose address is
 * taken, in the parts that take it. A function that only calls in its part reach may have been made
 * for them (measured on libnvvm 13.0: an argument that is always 3 is dropped): each part's calls
 * go to its own version. */
#include <string.h>
#include <xxhash.h>

#include "base/context.h"
#include "lto/parts_steps.h"
#include "ptx/types.h"

/* What two declarations of a variable differ in, or NULL. */
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
    return NULL;
}

static uint32_t add_version(struct rendering *rendering, uint32_t entry)
{
    struct joining *joining = rendering->joining;
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

/* The version of the symbol that reads as what has just been rendered, or NO_INDEX. */
static uint32_t find_version(const struct rendering *rendering, const struct joined_symbol *symbol)
{
    const struct joining *joining = rendering->joining;
    struct text text = buffer_view(&rendering->text);
    uint64_t hash = XXH3_64bits(text.data, text.size);
    uint32_t at = symbol->first_version;

    while (at != NO_INDEX &&
           (joining->versions[at].hash != hash || !text_equal(joining->versions[at].text, text)))
        at = joining->versions[at].next;
    return at;
}

static bool compare_variables(struct joining *joining, const struct symbol_version *version,
                              const struct part_entry *entry)
{
    const struct ptx_item *first = joining->entries[version->entry].item;
    const char *difference = difference_of(first, entry->item);

    return parts_differ(joining, difference ? difference : "initial value of ", entry->name);
}

static uint8_t stronger(uint8_t first, uint8_t second)
{
    static const uint8_t strength[] = {
        [PTX_INTERNAL] = 1, [PTX_EXTERN] = 0, [PTX_COMMON] = 2, [PTX_WEAK] = 3, [PTX_VISIBLE] = 4};

    return strength[second] > strength[first] ? second : first;
}

/* Compares one part's text of a symbol with those of the parts before it. */
static bool add_entry(struct rendering *rendering, uint32_t index)
{
    struct joining *joining = rendering->joining;
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
    parts_render(rendering, entry, item);
    entry->version = find_version(rendering, symbol);
    if (entry->version != NO_INDEX)
        return true;
    if (symbol->first_version != NO_INDEX && !is_function)
        return compare_variables(joining, &joining->versions[symbol->first_version], entry);
    if (symbol->first_version != NO_INDEX && !item->is_definition)
        return parts_differ(joining, "prototype of ", entry->name);
    entry->version = add_version(rendering, index);
    return true;
}

/* Of the symbol's versions, those of parts that take its address where `takes_address`, the one
 * with the lowest text: a choice that does not depend on the order of the parts. */
static uint32_t choose(const struct joining *joining, const struct joined_symbol *symbol,
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

/* Settles what the symbol's name means, if it is not that each part's calls mean its own version.
 */
static void settle(struct joining *joining, struct joined_symbol *symbol)
{
    bool is_one = symbol->first_version == NO_INDEX ||
                  joining->versions[symbol->first_version].next == NO_INDEX;

    if (is_one) {
        symbol->address = symbol->first_version;
    } else if (symbol->linkage != PTX_INTERNAL || symbol->is_entry) {
        symbol->address = choose(joining, symbol, false);
        for (uint32_t i = symbol->first_entry; i != NO_INDEX; i = joining->entries[i].next)
            joining->entries[i].version = symbol->address;
    } else {
        symbol->is_split = true;
    }
}

/* A kernel could come to use two versions of a function, each with a variable of its own, when one
 * of them can be reached by its address. */
static bool check_shared(struct joining *joining)
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

bool parts_agree(struct joining *joining)
{
    struct rendering rendering = {.joining = joining};
    bool ok = true, is_split = false;

    CONTEXT_DEFER(parts_rendering_free, &rendering);
    for (uint32_t i = 0; ok && i < joining->entry_count; i++)
        ok = joining->entries[i].symbol == NO_INDEX || add_entry(&rendering, i);
    for (size_t i = 0; ok && i < joining->symbol_count; i++) {
        settle(joining, &joining->symbols[i]);
        is_split |= joining->symbols[i].is_split;
    }
    if (ok && is_split) {
        parts_refine(joining);
        for (size_t i = 0; i < joining->symbol_count; i++)
            if (joining->symbols[i].is_split)
                joining->symbols[i].address = choose(joining, &joining->symbols[i], true);
        ok = check_shared(joining);
    }
    return ok;
}
