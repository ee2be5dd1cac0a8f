/* sections.c: searches the rows of sections.def. */
#include "facts/sections.h"

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
    char last = row->name.data[row->name.size - 1];

    return text_starts(name, row->name) && (name.size == row->name.size || last == '.' ||
                                            last == '_' || row->type == SHT_CUDA_CONSTANT0);
}

/* Whether it is the row of such a section, whose type it has: flags tell apart those kinds that
 * share a type, and names those of debug information and notes. Those of CLASS_OTHER are told by
 * name only. */
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
