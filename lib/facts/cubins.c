/* cubins.c: searches the rows of what cubins consist of. */
#include "facts/cubins.h"

#include "base/search.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const struct section_facts rows[] = {
#define SECTION(kind, class, type, name, flags, alignment, entry, link, contents, twin, first,     \
                last)                                                                              \
    {KIND_##kind, CLASS_##class,       SHT_##type,         TEXT(name),   flags,        alignment,  \
     entry,       SECTION_LINK_##link, SECTION_##contents, CLASS_##twin, {first, last}},
#include "facts/sections.def"
#undef SECTION
};

/* Mercury's stand behind all others. */
enum {
    FIRST_TWIN = 0
#define SECTION(kind, class, ...)                                                                  \
    +(CLASS_##class < CLASS_TWIN_TEXT || CLASS_##class > CLASS_TWIN_SYMTAB)
#include "facts/sections.def"
#undef SECTION
};

static const struct {
    uint32_t number;
    const char *name;
} types[] = {
#define ELF_TYPE(id)     {SHT_##id, #id},
#define TYPE(id, number) {number, #id},
#include "facts/sections.def"
#undef ELF_TYPE
#undef TYPE
};

static const struct {
    struct toolkit_range toolkits;
    enum section_class classes[CLASS_TWIN_SYMTAB - CLASS_TWIN_TEXT + 1];
} orders[] = {
#define ORDER(first, last, ...) {{first, last}, {__VA_ARGS__}},
#include "facts/sections.def"
#undef ORDER
};

static bool is_named(const struct section_facts *row, struct text name)
{
    size_t size = row->name.size;
    char last = row->name.data[size - 1];

    /* The last character first: nearly all names begin alike. */
    return name.size >= size && name.data[size - 1] == last && text_starts(name, row->name) &&
           (name.size == size || last == '.' || last == '_' || row->type == SHT_CUDA_CONSTANT0);
}

/* Whether it is the row of such a section, whose type it has: flags tell apart those kinds that
 * share a type, names those of debug information and notes. CLASS_OTHER's are told by name only. */
static inline bool is_of(const struct section_facts *row, uint64_t flags, struct text name)
{
    uint32_t type = row->type;

    if (type != SHT_PROGBITS && type != SHT_NOTE && type != SHT_CUDA_GLOBAL_INIT &&
        type != SHT_CUDA_RESERVED_SHARED && type != SHT_SYMTAB_SHNDX)
        return row->class != CLASS_OTHER;
    if ((flags ^ row->flags) & (SHF_CUDA_MERCURY | SHF_EXECINSTR))
        return false;
    return (type != SHT_PROGBITS && type != SHT_NOTE) || (flags & SHF_EXECINSTR) ||
           is_named(row, name);
}

static const struct section_facts *search_rows(const struct section_facts *row, uint32_t type,
                                               uint64_t flags, struct text name)
{
    for (; row < rows + COUNT_OF(rows); row++)
        if (row->type == type && is_of(row, flags, name))
            return row;
    return NULL;
}

const struct section_facts *sections_find(uint32_t type, uint64_t flags, struct text name)
{
    const struct section_facts *row = NULL;

    if (type >= SHT_CUDA_CONSTANT0 && type <= SHT_CUDA_CONSTANT_LAST)
        type = SHT_CUDA_CONSTANT0; /* banks of constants are alike */
    if (flags & SHF_CUDA_MERCURY)
        row = search_rows(rows + FIRST_TWIN, type, flags, name);
    if (!row)
        row = search_rows(rows, type, flags, name);
    return row;
}

const struct section_facts *sections_of_function(const struct section_facts *row)
{
    bool has_both = row && row + 1 < rows + COUNT_OF(rows) && row[1].type == row->type &&
                    (row[1].flags & SHF_INFO_LINK);

    return has_both ? row + 1 : row;
}

const struct section_facts *sections_of_class(enum section_class class)
{
    const struct section_facts *row = rows;

    while (row->class != class)
        row++;
    return row;
}

const struct section_facts *sections_of_kind(enum section_kind kind, bool is_twin)
{
    const struct section_facts *row = rows + (is_twin ? FIRST_TWIN : 0);

    while (row->kind != kind)
        row++;
    return row;
}

const struct section_facts *sections_named(struct text name)
{
    const struct section_facts *found = NULL;

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (is_named(&rows[i], name) && (!found || rows[i].name.size > found->name.size))
            found = &rows[i];
    return found;
}

struct text sections_plain_name(struct text name)
{
    if (!text_skip(&name, TEXT(".nv.capmerc")))
        text_skip(&name, TEXT(".nv.merc"));
    return name;
}

struct text sections_target_name(struct text name)
{
    name = sections_plain_name(name);
    if (!text_skip(&name, TEXT(".rela")))
        text_skip(&name, TEXT(".rel"));
    return name;
}

const char *sections_type_name(uint32_t type)
{
    size_t found = SEARCH_FIRST_NOT(COUNT_OF(types), at, types[at].number < type);

    return found < COUNT_OF(types) && types[found].number == type ? types[found].name : NULL;
}

const enum section_class *sections_twin_order(const struct toolkit_facts *toolkit, size_t *count)
{
    size_t i = 0;

    while (!toolkit_is_in(toolkit, orders[i].toolkits))
        i++;
    *count = COUNT_OF(orders[i].classes);
    return orders[i].classes;
}

void sections_ptxas_order(uint8_t order[CLASS_COUNT], const struct toolkit_facts *toolkit)
{
    static const uint8_t plain[] = {
        CLASS_TABLE,         CLASS_DEBUG,       CLASS_OTHER,
        CLASS_NOTE,          CLASS_INFO,        CLASS_COMPAT,
        CLASS_FUNCTION_INFO, CLASS_CALLGRAPH,   CLASS_PROTOTYPE,
        CLASS_REL_ACTION,    CLASS_RELOCATIONS, CLASS_CONSTANT,
        CLASS_TEXT,          CLASS_GLOBAL_INIT, CLASS_SHARED,
        CLASS_DEBUG_SHARED,  CLASS_GLOBAL,      CLASS_FUNCTION_CONSTANT,
        CLASS_RESERVED,
    };
    size_t count;
    const enum section_class *twins = sections_twin_order(toolkit, &count);

    memcpy(order, plain, sizeof plain);
    for (size_t i = 0; i < count; i++)
        order[sizeof plain + i] = (uint8_t)twins[i];
}

static const struct finalizer_record finalizers[] = {
#define FINALIZER(sm, attribute, value, first, last) {sm, attribute, value, {first, last}},
#include "facts/attributes.def"
#undef FINALIZER
};

const struct attribute_facts attributes_rows[UINT8_MAX + 1] = {
#define ATTRIBUTE(number, name, symbols, passes, first, last)                                      \
    [number] = {number, SYMBOLS_##symbols, PASSES_##passes, {first, last}, #name},
#include "facts/attributes.def"
#undef ATTRIBUTE
};

static const struct compat_rule rules[UINT8_MAX + 1] = {
#define COMPAT(number, name, bytes, merge, missing, always, first, last, omitted, since)           \
    [number] = {number,  bytes,         COMPAT_##merge, always,                                    \
                missing, {first, last}, omitted,        {since, ONWARDS}},
#include "facts/compat.def"
#undef COMPAT
};

const struct finalizer_record *attributes_of_finalizer(const struct finalizer_record *last,
                                                       unsigned sm,
                                                       const struct toolkit_facts *toolkit)
{
    const struct finalizer_record *row = last ? last + 1 : finalizers;

    for (; row < finalizers + COUNT_OF(finalizers); row++)
        if (row->sm == sm && toolkit_is_in(toolkit, row->toolkits))
            return row;
    return NULL;
}

const struct compat_rule *compat_rule(uint8_t number)
{
    return rules[number].bytes ? &rules[number] : NULL;
}

#define PLAIN_TYPES   0x80u
#define MERCURY_TYPES 0x40u

static const struct relocation_facts relocations[PLAIN_TYPES + MERCURY_TYPES] = {
#define TYPE(number, id, size, does, becomes)                                                      \
    [number] = {.name = "R_CUDA_" #id,                                                             \
                .plain = R_CUDA_##becomes ? R_CUDA_##becomes : R_CUDA_##id,                        \
                .bytes = (size),                                                                   \
                .action = RELOCATION_##does},
#define FIELD(number, id, holds, at, bits, shifted, bank_at)                                       \
    [number] = {.name = "R_CUDA_" #id,                                                             \
                .plain = R_CUDA_##id,                                                              \
                .bytes = 8,                                                                        \
                .action = RELOCATION_FIELD,                                                        \
                .uses = (holds),                                                                   \
                .first = (at),                                                                     \
                .width = (bits),                                                                   \
                .shift = (shifted),                                                                \
                .bank = (bank_at)},
#define R_MERCURY_NONE 0
#define MERCURY(number, id, size, does, becomes)                                                   \
    [PLAIN_TYPES + (number)-RELOCATION_MERCURY_BASE] = {                                           \
        .plain = R_MERCURY_##becomes ? R_MERCURY_##becomes : R_MERCURY_##id,                       \
        .bytes = (size),                                                                           \
        .action = RELOCATION_##does},
#define MERCURY_FIELD(number, id, size, holds)                                                     \
    [PLAIN_TYPES + (number)-RELOCATION_MERCURY_BASE] = {                                           \
        .plain = R_MERCURY_##id, .bytes = (size), .action = RELOCATION_FIELD, .uses = (holds)},
#include "facts/relocation_types.def"
};

const struct relocation_facts *relocation_types_find(uint32_t type)
{
    static const struct relocation_facts unknown = {.bytes = 8};
    const struct relocation_facts *row = &unknown;

    if (type < PLAIN_TYPES)
        row = &relocations[type];
    else if (type - RELOCATION_MERCURY_BASE < MERCURY_TYPES)
        row = &relocations[PLAIN_TYPES + type - RELOCATION_MERCURY_BASE];
    return row->bytes ? row : &unknown;
}
