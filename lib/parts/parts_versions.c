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
#include "parts/internal.h"
#include "ptx/module.h"

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

/* Adds a version in front of its symbol's others. */
static struct symbol_version *push_version(struct joining *joining,
                                           const struct symbol_version *source)
{
    struct symbol_version *version = arena_copy(&joining->arena, source, 1, sizeof *source);

    version->next = version->symbol->first_version;
    version->symbol->first_version = version;
    ARENA_PUSH(&joining->arena, joining->versions, joining->version_count,
               joining->version_capacity) = version;
    return version;
}

/* Makes a version of what has just been rendered. */
static struct symbol_version *add_version(struct joining *joining, struct part_entry *entry)
{
    const struct rendering *rendering = &joining->rendering;
    struct symbol_version version = {
        .symbol = entry->symbol,
        .entry = entry,
        .name = entry->symbol->name,
        .text = arena_text(&joining->arena, buffer_view(&rendering->text)),
        .hash = XXH3_64bits(rendering->text.data, rendering->text.size),
        .references = arena_copy(&joining->arena, rendering->references, rendering->reference_count,
                                 sizeof *rendering->references),
        .reference_count = (uint32_t)rendering->reference_count,
        .head_size = rendering->head_size,
        .has_shared = rendering->has_shared};

    return push_version(joining, &version);
}

/* The version of the symbol with the same text as the one just rendered, or NULL. */
static struct symbol_version *find_version(const struct joining *joining,
                                           const struct joined_symbol *symbol)
{
    struct text text = buffer_view(&joining->rendering.text);
    uint64_t hash = XXH3_64bits(text.data, text.size);
    struct symbol_version *version = symbol->first_version;

    while (version && (version->hash != hash || !text_equal(version->text, text)))
        version = version->next;
    return version;
}

static const uint8_t strength[] = {
    [PTX_INTERNAL] = 1, [PTX_EXTERN] = 0, [PTX_COMMON] = 2, [PTX_WEAK] = 3, [PTX_VISIBLE] = 4};

/* Compares one part's text of a symbol with those of the parts before it. */
static bool add_entry(struct joining *joining, struct part_entry *entry)
{
    struct joined_symbol *symbol = entry->symbol;
    const struct part_entry *first = symbol->first_entry;
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
    if (entry == first || strength[item->linkage] > strength[symbol->linkage])
        symbol->linkage = item->linkage;
    parts_render(joining, entry);
    entry->version = find_version(joining, symbol);
    if (entry->version)
        return true;
    if (symbol->first_version && !is_function)
        return parts_differ(joining, difference_of(first->item, item), entry->name);
    if (symbol->first_version && !item->is_definition)
        return parts_differ(joining, "prototype of ", entry->name);
    entry->version = add_version(joining, entry);
    return true;
}

/* Of the symbol's versions (with `takes_address`, only those of parts that take its address) the
 * one with the lowest text: a choice that does not depend on the order of the parts. */
static struct symbol_version *choose_version(const struct joined_symbol *symbol, bool takes_address)
{
    struct symbol_version *best = NULL;

    for (const struct part_entry *e = symbol->first_entry; e; e = e->next)
        if ((!takes_address || e->is_address_taken) &&
            (!best || text_compare(e->version->text, best->text) < 0))
            best = e->version;
    return best;
}

/* Decides which version the symbol's name means, unless each part's calls mean its own version. */
static void settle(struct joined_symbol *symbol)
{
    if (!symbol->first_version || !symbol->first_version->next) {
        symbol->address = symbol->first_version;
    } else if (symbol->linkage != PTX_INTERNAL || symbol->is_entry) {
        symbol->address = choose_version(symbol, false);
        for (struct part_entry *e = symbol->first_entry; e; e = e->next)
            e->version = symbol->address;
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
        has_address |= joining->symbols[i]->is_split && joining->symbols[i]->address;
    for (size_t i = 0; has_address && i < joining->version_count; i++)
        if (joining->versions[i]->has_shared && joining->versions[i]->symbol->is_split)
            name = joining->versions[i]->name;
    return !name.size || parts_differ(joining, "code of ", name);
}

/* A part's version of a split symbol, or NULL. */
static struct symbol_version *version_in_part(const struct joining *joining, uint32_t part,
                                              const struct joined_symbol *symbol)
{
    const struct part_entry *entry = parts_entry(joining, part, symbol->name);

    return entry ? entry->version : NULL;
}

struct symbol_version *parts_meant(const struct joining *joining,
                                   const struct symbol_version *version,
                                   struct joined_reference reference)
{
    struct symbol_version *own = NULL;

    if (reference.symbol->is_split && reference.is_call)
        own = version_in_part(joining, version->entry->part, reference.symbol);
    return own ? own : reference.symbol->address;
}

/* Whether a version's calls mean the same in another part as where it was first found. */
static bool calls_alike(const struct joining *joining, const struct symbol_version *version,
                        uint32_t part)
{
    for (uint32_t i = 0; i < version->reference_count; i++) {
        struct joined_reference reference = version->references[i];

        if (reference.is_call && reference.symbol->is_split &&
            version_in_part(joining, version->entry->part, reference.symbol) !=
                version_in_part(joining, part, reference.symbol))
            return false;
    }
    return true;
}

/* The version that an entry belongs to: its own, or a copy of that, which is made if necessary. */
static struct symbol_version *regroup_entry(struct joining *joining, struct part_entry *entry)
{
    struct symbol_version copy = *entry->version;

    for (struct symbol_version *v = entry->symbol->first_version; v; v = v->next)
        if (v->text.data == copy.text.data && calls_alike(joining, v, entry->part))
            return v;
    copy.entry = entry;
    return push_version(joining, &copy);
}

struct caller {
    struct joined_symbol *symbol;
    struct caller *next; /* of the same symbol */
};

struct refinement {
    struct joining *joining;
    struct joined_symbol **work; /* symbols that were split */
    size_t work_count;
};

static void add_work(struct refinement *refinement, struct joined_symbol *symbol)
{
    symbol->is_split = true;
    if (!symbol->is_waiting)
        refinement->work[refinement->work_count++] = symbol;
    symbol->is_waiting = true;
}

/* Splits a caller if its callees' versions require it. */
static void regroup(struct refinement *refinement, struct joined_symbol *symbol)
{
    struct joining *joining = refinement->joining;
    size_t before = joining->version_count;

    if (symbol->linkage != PTX_INTERNAL || symbol->is_entry || !symbol->is_defined)
        return;
    for (struct part_entry *e = symbol->first_entry; e; e = e->next)
        e->version = regroup_entry(joining, e);
    if (joining->version_count > before)
        add_work(refinement, symbol);
}

/* Finds the callers, in the order of their versions. */
static void find_callers(struct joining *joining)
{
    for (size_t i = joining->version_count; i-- > 0;) {
        const struct symbol_version *version = joining->versions[i];

        for (uint32_t j = version->reference_count; j-- > 0;) {
            struct joined_symbol *called = version->references[j].symbol;
            struct caller *caller;

            if (!version->references[j].is_call)
                continue;
            caller = arena_alloc(&joining->arena, 1, sizeof *caller);
            *caller = (struct caller){version->symbol, called->callers};
            called->callers = caller;
        }
    }
}

/* Separates versions whose texts are the same except for the versions that they call. Each time a
 * symbol is split further, its callers are checked again: at most once for each part that has it.
 */
static void refine(struct joining *joining)
{
    struct refinement refinement = {.joining = joining};

    find_callers(joining);
    refinement.work = arena_alloc(&joining->arena, joining->symbol_count, sizeof *refinement.work);
    for (size_t i = 0; i < joining->symbol_count; i++)
        if (joining->symbols[i]->is_split)
            add_work(&refinement, joining->symbols[i]);
    while (refinement.work_count > 0) {
        struct joined_symbol *symbol = refinement.work[--refinement.work_count];

        symbol->is_waiting = false;
        for (const struct caller *caller = symbol->callers; caller; caller = caller->next)
            regroup(&refinement, caller->symbol);
    }
}

bool parts_agree(struct joining *joining)
{
    bool is_split = false;

    for (size_t i = 0; i < joining->entry_count; i++)
        if (joining->entries[i]->symbol && !add_entry(joining, joining->entries[i]))
            return false;
    for (size_t i = 0; i < joining->symbol_count; i++) {
        settle(joining->symbols[i]);
        is_split |= joining->symbols[i]->is_split;
    }
    if (!is_split)
        return true;
    refine(joining);
    for (size_t i = 0; i < joining->symbol_count; i++)
        if (joining->symbols[i]->is_split)
            joining->symbols[i]->address = choose_version(joining->symbols[i], true);
    return check_split_shared(joining);
}

COMPARISON(compare_versions, struct symbol_version *,
           COMPARE((*b)->is_reached, (*a)->is_reached)
               ?: COMPARE(*b == (*b)->symbol->address, *a == (*a)->symbol->address)
               ?: text_compare((*a)->text, (*b)->text) ?: COMPARE((*a)->hash, (*b)->hash));

/* Names the versions: that whose address is taken, else that of the lowest text, keeps the name. */
static void name_versions(struct joining *joining, struct joined_symbol *symbol)
{
    struct symbol_version **list = NULL;
    size_t count = 0, capacity = 0, reached = 0;

    for (struct symbol_version *v = symbol->first_version; v; v = v->next) {
        ARENA_PUSH(&joining->arena, list, count, capacity) = v;
        reached += v->is_reached;
    }
    joining->result->several += reached > 1;
    SORT(list, count, compare_versions);
    for (size_t i = 1; i < count; i++)
        list[i]->name =
            text_of(arena_printf(&joining->arena, "%.*s$mlp%016llx", TEXT_ARG(symbol->name),
                                 (unsigned long long)list[i]->hash + i));
}

/* Whether a version's text names a split symbol. */
static bool names_split(const struct symbol_version *version)
{
    bool is_split = version->symbol->is_split;

    for (uint32_t i = 0; i < version->reference_count && !is_split; i++)
        is_split = version->references[i].symbol->is_split;
    return is_split;
}

/* Versions with the same text differ in their callees, which come before them: adds the callees'
 * hashes to theirs. */
static void hash_calls(struct joining *joining, struct symbol_version *version)
{
    for (uint32_t i = 0; i < version->reference_count; i++) {
        struct joined_reference reference = version->references[i];
        const struct symbol_version *meant = parts_meant(joining, version, reference);

        if (reference.is_call && reference.symbol->is_split && meant)
            version->hash = XXH3_64bits_withSeed(&meant->hash, sizeof meant->hash, version->hash);
    }
}

void parts_name_versions(struct joining *joining)
{
    for (size_t i = 0; i < joining->reached_count; i++)
        hash_calls(joining, joining->reached[i]);
    for (size_t i = 0; i < joining->symbol_count; i++)
        if (joining->symbols[i]->is_split)
            name_versions(joining, joining->symbols[i]);
    for (size_t i = 0; i < joining->version_count; i++) {
        struct symbol_version *version = joining->versions[i];

        if (!names_split(version))
            continue;
        parts_render(joining, version->entry);
        version->text = arena_text(&joining->arena, buffer_view(&joining->rendering.text));
        version->head_size = joining->rendering.head_size;
    }
}
