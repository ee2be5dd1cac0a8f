/* naming.c: names that depend on the symbol alone, for chunks whose texts are to be stable.
 *
 * What a compiler or the linking of PTX puts into a name can change when something else does:
 *
 *     __nv_static_25__42fe952b_4_a_cu__Z2k1Pii_x    a hash of the file's path, its name, and its
 * first _ZN34_INTERNAL_42fe952b_4_a_cu__Z2k1Pii1fEv   external symbol (measured on nvcc 13.0)
 *     $str$4, __unnamed_2                           constants, counted through a module
 *     f$ml0123abcd                                  a hash of the module, see ptx/names.c
 *
 * The first lose all but the path's hash. Constants get a hash of what they hold. Where two symbols
 * would still have one name, each gets a hash that stands for its module: that of the external name
 * whose hash is the least, which is another one only when that symbol goes or a lesser one comes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/buffer.h"
#include "base/context.h"
#include "base/table.h"
#include "ptx/module.h"
#include "ptx/types.h"
#include "split/plan.h"

#define PATH_HASH_DIGITS 8u
#define SHARED           (TABLE_NONE - 1)

struct naming {
    struct plan *plan;
    uint64_t *modules;   /* what stands for each module */
    struct text *stems;  /* of each symbol: its name without what may change */
    struct table owners; /* stems to their symbols, or SHARED */
    struct table taken;  /* names */
    struct buffer made;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hexadecimal(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

/* What begins at `at` of a name, behind its length, and stands for a module: the size of what is
 * kept of it. 0 for anything else. */
static size_t module_mark(struct text name, size_t at, size_t size)
{
    static const struct text marks[] = {{"_INTERNAL_", 10}, {"_GLOBAL__N__", 12}, {"_", 1}};
    struct text rest = {name.data + at, size};

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t kept = marks[i].size + PATH_HASH_DIGITS;
        size_t digits = 0;

        if (!text_starts(rest, marks[i]) || size < kept + 2 || rest.data[kept] != '_' ||
            !is_digit(rest.data[kept + 1]))
            continue;
        while (digits < PATH_HASH_DIGITS && is_hexadecimal(rest.data[marks[i].size + digits]))
            digits++;
        if (digits == PATH_HASH_DIGITS)
            return kept;
    }
    return 0;
}

/* The name without lengths, files and first symbols of modules; the name itself when it has none.
 */
static struct text without_modules(struct naming *naming, struct text name)
{
    size_t from = 0;

    naming->made.size = 0;
    for (size_t i = 0; i < name.size; i++) {
        size_t size = 0, at = i, kept;

        if (!is_digit(name.data[i]) || (i > 0 && is_digit(name.data[i - 1])))
            continue;
        while (at < name.size && is_digit(name.data[at]) && size < name.size)
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

/* What stands for the name of a constant that a compiler has named and counted: $str, $str$1,
 * $str$2 are of one row. */
static bool is_counted(const struct program_symbol *symbol, struct text *row)
{
    static const struct {
        struct text front, row;
    } rows[] = {{{"__unnamed_", 10}, {"__unnamed_", 10}},
                {{"$str", 4}, {"$str", 4}},
                {{"$str$", 5}, {"$str", 4}},
                {{"_$_str", 6}, {"_$_str", 6}},
                {{"_$_str_$_", 9}, {"_$_str", 6}}};
    struct text front = symbol->own_name;

    if (symbol->is_function || symbol->linkage != PTX_INTERNAL ||
        symbol->item->variable.initialiser.size == 0)
        return false;
    while (front.size > 0 && is_digit(front.data[front.size - 1]))
        front.size--;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!text_equal(front, rows[i].front))
            continue;
        *row = rows[i].row;
        return true;
    }
    return false;
}

static uint64_t hash(struct text text, uint64_t seed)
{
    return XXH3_64bits_withSeed(text.data, text.size, seed);
}

/* Stems of all symbols, and what stands for the modules. Externals are known by their names. */
static void find_stems(struct naming *naming)
{
    const struct program *program = naming->plan->program;

    for (size_t i = 0; i < program->module_count; i++)
        naming->modules[i] = UINT64_MAX;
    for (size_t i = 0; i < program->symbol_count; i++) {
        const struct program_symbol *symbol = &program->symbols[i];
        struct text stem = symbol->own_name;

        if (symbol->is_defined && !is_counted(symbol, &stem))
            stem = without_modules(naming, symbol->own_name);
        naming->stems[i] = stem;
        if (symbol->is_defined && symbol->linkage == PTX_VISIBLE &&
            hash(stem, 0) < naming->modules[symbol->module])
            naming->modules[symbol->module] = hash(stem, 0);
    }
}

/* Names that may not change: of what is not defined here, and of whole modules' symbols. */
static bool is_fixed(const struct naming *naming, const struct program_symbol *symbol)
{
    return !symbol->is_defined || naming->plan->whole_count > 0;
}

static void find_owners(struct naming *naming)
{
    const struct program *program = naming->plan->program;

    for (uint32_t i = 0; i < program->symbol_count; i++) {
        if (is_fixed(naming, &program->symbols[i]))
            naming->stems[i] = program->symbols[i].name;
        if (table_add(&naming->owners, naming->stems[i], i) != i)
            table_set(&naming->owners, naming->stems[i], SHARED);
    }
}

/* True when the symbol is known by its stem. External ones that nothing was taken from are, whoever
 * else would like to be. */
static bool keeps_stem(const struct naming *naming, uint32_t symbol)
{
    const struct program_symbol *entry = &naming->plan->program->symbols[symbol];
    struct text row;

    if (is_fixed(naming, entry))
        return true;
    if (is_counted(entry, &row))
        return false;
    return table_find(&naming->owners, naming->stems[symbol]) == symbol ||
           (entry->linkage != PTX_INTERNAL && text_equal(entry->own_name, naming->stems[symbol]));
}

static struct text unique_name(struct naming *naming, uint32_t symbol)
{
    const struct program_symbol *entry = &naming->plan->program->symbols[symbol];
    uint64_t value = hash(naming->stems[symbol], naming->modules[entry->module]);
    struct text name, row;

    if (is_counted(entry, &row)) {
        value = hash(entry->item->variable.prefix, value);
        value = hash(entry->item->variable.initialiser, value);
    }
    do
        name = text_of(arena_printf(naming->plan->arena, "%.*s$ml%016" PRIx64,
                                    TEXT_ARG(naming->stems[symbol]), value++));
    while (table_find(&naming->taken, name) != TABLE_NONE);
    table_add(&naming->taken, name, 0);
    return name;
}

static void name_symbols(struct naming *naming)
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
            naming->plan->names[i] = unique_name(naming, i);
}

static void free_naming(void *argument)
{
    struct naming *naming = argument;

    table_free(&naming->owners);
    table_free(&naming->taken);
    buffer_free(&naming->made);
}

void naming_make(struct plan *plan)
{
    const struct program *program = plan->program;
    struct naming naming = {.plan = plan};
    struct context_cleanup cleanup;

    context_defer(&cleanup, free_naming, &naming);
    plan->names = arena_alloc(plan->arena, program->symbol_count, sizeof *plan->names);
    naming.modules = arena_alloc(plan->arena, program->module_count, sizeof *naming.modules);
    naming.stems = arena_alloc(plan->arena, program->symbol_count, sizeof *naming.stems);
    find_stems(&naming);
    find_owners(&naming);
    name_symbols(&naming);
    context_clean(&cleanup);
}
