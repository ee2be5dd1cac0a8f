/* naming.c: names that depend on the symbol alone, for stable chunks.
 *
 * Parts of a name that come from a compiler or from linking PTX can change with other code:
 *
 *     __nv_static_25__42fe952b_4_a_cu__Z2k1Pii_x    a hash of the file's path, its name, and
 *     _ZN34_INTERNAL_42fe952b_4_a_cu__Z2k1Pii1fEv   its first external symbol (nvcc)
 *     $str$4, __unnamed_2, $str$25$135, x$4         counted through a module or program
 *     f$ml0123abcd                                  a hash of the module, see ptx/names.c
 *
 * Names of the first two forms lose these parts, so that they are the same in another folder.
 * Counted names get a hash of the symbol's contents. If two symbols would still have the same name,
 * each gets a hash of one user's name: the user whose own hash is the least, so that the name
 * changes only when that user is removed or one with a smaller hash is added. */
#include <inttypes.h>
#include <xxhash.h>

#include "split/internal.h"

#define PATH_HASH_DIGITS 8u
#define STEPS_TO_NAME    3
#define SHARED           (TABLE_NONE - 1)

struct naming {
    struct plan *plan;
    uint64_t *modules;   /* hash for each module */
    uint64_t *users;     /* hash for the users of each symbol, or for its module */
    struct text *stems;  /* of each symbol: its name without the parts that can change */
    bool *is_counted;    /* of each symbol: its name is counted, so it needs a hash */
    struct table rows;   /* stems of counted names */
    struct table owners; /* stems to their symbols, or SHARED */
    struct table taken;  /* names */
    struct buffer made;
};

static bool is_hexadecimal(char c)
{
    return text_is_digit(c) || (c >= 'a' && c <= 'f');
}

/* Size of the part to keep of a module mark at `at` of a name, after its length; 0 = none. */
static size_t module_mark(struct text name, size_t at, size_t size)
{
    static const struct text marks[] = {TEXT("_INTERNAL_"), TEXT("_GLOBAL__N__"), TEXT("_")};
    struct text rest = {name.data + at, size};

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t file = marks[i].size + PATH_HASH_DIGITS;
        size_t digits = 0;

        if (!text_starts(rest, marks[i]) || size < file + 2 || rest.data[file] != '_' ||
            !text_is_digit(rest.data[file + 1]))
            continue;
        while (digits < PATH_HASH_DIGITS && is_hexadecimal(rest.data[marks[i].size + digits]))
            digits++;
        if (digits == PATH_HASH_DIGITS)
            return marks[i].size;
    }
    return 0;
}

/* The name without the lengths, file names and first symbols of modules; or the name itself. */
static struct text without_modules(struct naming *naming, struct text name)
{
    size_t from = 0;

    naming->made.size = 0;
    for (size_t i = 0; i < name.size; i++) {
        size_t size = 0, at = i, kept;

        if (!text_is_digit(name.data[i]) || (i > 0 && text_is_digit(name.data[i - 1])))
            continue;
        while (at < name.size && text_is_digit(name.data[at]) && size < name.size)
            size = size * 10 + (size_t)(name.data[at++] - '0');
        /* "__nv_static_25_" and then 25 bytes; "_ZN34" and then 34. */
        at += i >= 12 && at < name.size && name.data[at] == '_' &&
              text_equal((struct text){name.data + i - 12, 12}, TEXT("__nv_static_"));
        kept = size <= name.size - at ? module_mark(name, at, size) : 0;
        if (kept == 0)
            continue;
        buffer_append(&naming->made, name.data + from, i - from);
        buffer_append(&naming->made, name.data + at, kept);
        from = at + size;
        i = from - 1;
    }
    if (from == 0)
        return name;
    buffer_append(&naming->made, name.data + from, name.size - from);
    return arena_text(naming->plan->arena, buffer_view(&naming->made));
}

/* The size of a name without a final "$12"; the whole size when it has none. */
static size_t without_number(struct text name)
{
    size_t size = name.size;

    while (size > 0 && text_is_digit(name.data[size - 1]))
        size--;
    return size < name.size && size > 1 && name.data[size - 1] == '$' ? size - 1 : name.size;
}

/* Sets *row to the common stem of names that a compiler has counted: $str, $str$1, $str$25$135.
 * False for any other name. */
static bool has_number(const struct program_symbol *symbol, struct text *row)
{
    static const struct text constants[] = {TEXT("__unnamed_"), TEXT("$str"), TEXT("_$_str")};
    size_t size;

    *row = symbol->own_name;
    if (symbol->linkage != PTX_INTERNAL)
        return false;
    while ((size = without_number(*row)) < row->size)
        row->size = size;
    for (size_t i = 0; i < sizeof constants / sizeof *constants && !symbol->is_function; i++) {
        size = constants[i].size;
        if (!text_starts(*row, constants[i]))
            continue;
        while (size < row->size &&
               (text_is_digit(row->data[size]) || row->data[size] == '_' || row->data[size] == '$'))
            size++;
        if (size < row->size)
            continue;
        *row = constants[i];
        return true;
    }
    return row->size < symbol->own_name.size;
}

static uint64_t hash_seeded(struct text text, uint64_t seed)
{
    return XXH3_64bits_withSeed(text.data, text.size, seed);
}

/* Continues a hash over a part of a symbol's text, leaving out marks. */
static uint64_t hash_text(const struct program_symbol *symbol, struct text text, uint64_t value)
{
    const char *at = text.data, *end = text.data + text.size;

    for (uint32_t i = 0; i < symbol->mark_count; i++) {
        const struct program_mark *mark = &symbol->marks[i];

        if (mark->at < at || mark->at >= end)
            continue;
        value = hash_seeded((struct text){at, (size_t)(mark->at - at)}, value);
        at = mark->at + mark->size;
    }
    return hash_seeded((struct text){at, (size_t)(end - at)}, value);
}

/* Finds the stems of all symbols and the hashes of modules. External symbols go by their names. */
static void find_stems(struct naming *naming)
{
    const struct program *program = naming->plan->program;

    for (size_t i = 0; i < program->module_count; i++)
        naming->modules[i] = UINT64_MAX;
    for (size_t i = 0; i < program->symbol_count; i++) {
        const struct program_symbol *symbol = &program->symbols[i];
        struct text stem = symbol->own_name;

        if (symbol->is_defined) {
            naming->is_counted[i] = has_number(symbol, &stem);
            if (naming->is_counted[i])
                table_add(&naming->rows, stem, 0);
            stem = without_modules(naming, stem);
        }
        naming->stems[i] = stem;
        if (symbol->is_defined && symbol->linkage == PTX_VISIBLE &&
            hash_seeded(stem, 0) < naming->modules[symbol->module])
            naming->modules[symbol->module] = hash_seeded(stem, 0);
    }
}

/* The first of several counted names often has no number. */
static void find_firsts(struct naming *naming)
{
    const struct program *program = naming->plan->program;

    for (size_t i = 0; i < program->symbol_count; i++)
        naming->is_counted[i] |=
            program->symbols[i].is_defined && program->symbols[i].linkage == PTX_INTERNAL &&
            table_find(&naming->rows, program->symbols[i].own_name) != TABLE_NONE;
}

/* Hashes each symbol: by its stem, and for an internal symbol also by its user with the least hash.
 * That user may be internal itself: a constant of a function of a kernel is three steps away from a
 * visible name. */
static void hash_by_users(struct naming *naming)
{
    const struct program *program = naming->plan->program;
    size_t count = program->symbol_count;
    uint64_t *values = arena_alloc(naming->plan->arena, count, sizeof *values);

    for (size_t i = 0; i < count; i++)
        naming->users[i] = naming->modules[program->symbols[i].module];
    for (int round = 0; round < STEPS_TO_NAME; round++) {
        for (size_t i = 0; i < count; i++) {
            bool is_internal = program->symbols[i].linkage == PTX_INTERNAL;

            values[i] = hash_seeded(naming->stems[i], is_internal ? naming->users[i] : 0);
            naming->users[i] = UINT64_MAX;
        }
        for (size_t i = 0; i < count; i++)
            for (uint32_t j = 0; j < program->symbols[i].reference_count; j++)
                if (values[i] < naming->users[program->symbols[i].references[j]])
                    naming->users[program->symbols[i].references[j]] = values[i];
        for (size_t i = 0; i < count; i++)
            if (naming->users[i] == UINT64_MAX)
                naming->users[i] = naming->modules[program->symbols[i].module];
    }
}

/* True for names that may not change: of undefined symbols, and of those in whole modules. */
static bool is_fixed_name(const struct naming *naming, const struct program_symbol *symbol)
{
    return !symbol->is_defined || naming->plan->whole_count > 0;
}

static void find_name_owners(struct naming *naming)
{
    const struct program *program = naming->plan->program;

    for (uint32_t i = 0; i < program->symbol_count; i++) {
        if (is_fixed_name(naming, &program->symbols[i]))
            naming->stems[i] = program->symbols[i].name;
        if (table_add(&naming->owners, naming->stems[i], i) != i)
            table_set(&naming->owners, naming->stems[i], SHARED);
    }
}

/* True when the symbol's name is its stem. An external symbol whose stem is its whole name always
 * keeps it, even if other symbols have that stem. */
static bool keeps_stem(const struct naming *naming, uint32_t symbol)
{
    const struct program_symbol *entry = &naming->plan->program->symbols[symbol];

    if (is_fixed_name(naming, entry))
        return true;
    if (naming->is_counted[symbol])
        return false;
    return table_find(&naming->owners, naming->stems[symbol]) == symbol ||
           (entry->linkage != PTX_INTERNAL && text_equal(entry->own_name, naming->stems[symbol]));
}

static struct text unique_stable_name(struct naming *naming, uint32_t symbol)
{
    const struct program_symbol *entry = &naming->plan->program->symbols[symbol];
    struct text name;
    bool is_row = naming->is_counted[symbol];
    uint64_t value = hash_seeded(naming->stems[symbol], naming->users[symbol]);

    if (is_row && entry->is_function) {
        value = hash_text(entry, entry->item->text, value);
    } else if (is_row) {
        value = hash_seeded(entry->item->variable.prefix, value) ^ entry->item->variable.size;
        value = hash_text(entry, entry->item->variable.initialiser, value);
    }
    do
        name = text_of(arena_printf(naming->plan->arena, "%.*s$ml%016" PRIx64,
                                    TEXT_ARG(naming->stems[symbol]), value++));
    while (table_find(&naming->taken, name) != TABLE_NONE);
    table_add(&naming->taken, name, 0);
    return name;
}

static void name_stable_symbols(struct naming *naming)
{
    uint32_t count = (uint32_t)naming->plan->program->symbol_count;

    for (uint32_t i = 0; i < count; i++) {
        if (!keeps_stem(naming, i))
            continue;
        naming->plan->names[i] = naming->stems[i];
        table_add(&naming->taken, naming->stems[i], 0);
    }
    for (uint32_t i = 0; i < count; i++)
        if (!keeps_stem(naming, i))
            naming->plan->names[i] = unique_stable_name(naming, i);
}

void naming_make(struct plan *plan)
{
    const struct program *program = plan->program;
    struct naming naming = {.plan = plan};

    CONTEXT_DEFER(buffer_cleanup, &naming.made);
    CONTEXT_DEFER(table_cleanup, &naming.taken);
    CONTEXT_DEFER(table_cleanup, &naming.owners);
    CONTEXT_DEFER(table_cleanup, &naming.rows);
    plan->names = arena_alloc(plan->arena, program->symbol_count, sizeof *plan->names);
    naming.modules = arena_alloc(plan->arena, program->module_count, sizeof *naming.modules);
    naming.stems = arena_alloc(plan->arena, program->symbol_count, sizeof *naming.stems);
    naming.users = arena_alloc(plan->arena, program->symbol_count, sizeof *naming.users);
    naming.is_counted = arena_zalloc(plan->arena, program->symbol_count, sizeof(bool));
    find_stems(&naming);
    find_firsts(&naming);
    hash_by_users(&naming);
    find_name_owners(&naming);
    name_stable_symbols(&naming);
}
