/* unknown.c: checks whether sections of unknown kinds, and unknown records, can be carried over. */
#include "cubin/internal.h"

#include "diag/diag.h"

/* By section of the cubin: it has relocations. */
static const bool *find_relocated(const struct cubin *cubin, struct arena *arena)
{
    bool *is_relocated = arena_zalloc(arena, cubin->section_count, sizeof *is_relocated);

    for (size_t i = 1; i < cubin->section_count; i++) {
        const struct cubin_section *list = &cubin->sections[i];

        if (format_is_relocations(list->type) && list->info < cubin->section_count &&
            list->size > 0)
            is_relocated[list->info] = true;
    }
    return is_relocated;
}

/* Why a section cannot be carried over; NULL: it can. */
static const char *find_obstacle(const struct cubin *cubin, size_t index, bool is_relocated,
                                 bool is_new)
{
    const struct cubin_section *section = &cubin->sections[index];
    bool is_owned = (section->flags & SHF_INFO_LINK) != 0;
    uint32_t code = cubin_is_mercury(section) ? cubin_twin_code(cubin, section)
                                              : cubin_section_function(cubin, (uint32_t)index);

    if (section->flags & SHF_ALLOC)
        return "it is loaded";
    if (section->has_no_bytes)
        return "it has no contents";
    if (section->link)
        return "it may name symbols, whose numbers change";
    if (is_owned ? code == 0 : section->info != 0)
        return "it names a section that is no function's code";
    if (unknown_is_joinable(section))
        return NULL;
    if (is_relocated)
        return "it has relocations";
    return is_owned || is_new ? NULL : "there is another one of that type";
}

static bool refuse_section(const struct cubin *cubin, const struct cubin_section *section,
                           const char *obstacle)
{
    unsigned maker = cubin_maker(cubin);

    return diag_error(
        "Section '%.*s' of type %#x in '%s', which CUDA %u.%u made, is not "
        "supported and cannot be carried over as it is: %s%s",
        TEXT_ARG(section->name), section->type, cubin->name, maker / 10, maker % 10, obstacle,
        cubin_is_mercury(section) ? " (--binary-kind=sass leaves Mercury's sections out)" : "");
}

/* Judges the sections, or tells once of each kind that is carried over. */
static bool walk_sections(const struct cubin *const *cubins, size_t count, bool sass_only,
                          bool tells)
{
    LOCAL_TABLE(kinds); /* that were seen so far */
    LOCAL_ARENA(arena);
    bool ok = true;

    for (size_t file = 0; file < count; file++) {
        const bool *is_relocated = NULL;

        for (size_t i = 1; i < cubins[file]->section_count; i++) {
            const struct cubin_section *section = &cubins[file]->sections[i];
            uint32_t seen = (uint32_t)kinds.count;
            struct text kind = section->name;
            const char *obstacle;
            bool is_new;

            if (!unknown_is(section) || (sass_only && cubin_is_mercury(section)))
                continue;
            if (!unknown_is_joinable(section)) /* sections of functions differ in their names */
                kind = (struct text){(const char *)&section->type, sizeof section->type};
            is_new = table_add(&kinds, kind, seen) == seen;
            if (tells && is_new) /* all were checked before */
                diag_caution("Section '%.*s' of type %#x in '%s' is of an unknown kind: it is "
                             "carried over as it is",
                             TEXT_ARG(section->name), section->type, cubins[file]->name);
            if (tells)
                continue;
            if (!is_relocated)
                is_relocated = find_relocated(cubins[file], &arena);
            obstacle = find_obstacle(cubins[file], i, is_relocated[i], is_new);
            if (obstacle)
                ok = refuse_section(cubins[file], section, obstacle);
        }
    }
    return ok;
}

/* A walk over a cubin's records that no row describes. Start with {0}. */
struct unknown_walk {
    size_t section;
    struct bytes rest; /* of the section */
    struct info_record record;
};

/* Advances to the next record and returns its section; NULL past the last. */
static const struct cubin_section *next_record(const struct cubin *cubin, bool sass_only,
                                               struct unknown_walk *at)
{
    while (cubin->has_unknown_records && at->section < cubin->section_count) {
        const struct cubin_section *section = &cubin->sections[at->section];

        bool has_records = section->type == SHT_CUDA_INFO || section->type == SHT_CUDA_COMPAT ||
                           (section->type == SHT_CUDA_MERC_INFO && !sass_only);

        while (has_records && info_next(&at->rest, &at->record))
            if (unknown_is_record(section, &at->record))
                return section;
        if (++at->section < cubin->section_count)
            at->rest = cubin->sections[at->section].data;
    }
    return NULL;
}

/* Of the attributes that are known, those with symbols have one first (REGCOUNT), which in a
 * function is the bank of its parameters (PARAM_CBANK) or a reference (KPARAM_INFO), or nothing but
 * functions and variables (EXTERNS). */
static bool may_name_symbols(const struct cubin *cubin, const struct cubin_section *section,
                             const struct info_record *record)
{
    size_t words = record->payload.size / 4, named = 0;
    uint32_t first = info_word(record->payload, 0);
    const struct cubin_symbol *symbol;

    if (words == 0 || record->payload.size % 4 != 0 || first >= cubin->symbol_count)
        return false;
    symbol = &cubin->symbols[first];
    if (first != 0 && words > 1 &&
        (!(section->flags & SHF_INFO_LINK) || format_is_reference(symbol->type) ||
         (cubin_has_section(cubin, symbol->section) &&
          format_is_constant(cubin->sections[symbol->section].type))))
        return true;
    while (named < words && info_word(record->payload, named) != 0 &&
           info_word(record->payload, named) < cubin->symbol_count &&
           cubin->symbols[info_word(record->payload, named)].type != STT_SECTION)
        named++;
    return named == words;
}

bool unknown_check_records(const struct cubin *cubin, bool sass_only)
{
    unsigned maker = cubin_maker(cubin), newest = toolkits_newest()->version;
    const struct cubin_section *section;
    struct unknown_walk at = {0};
    bool ok = true;

    while ((section = next_record(cubin, sass_only, &at)) != NULL)
        if (section->type != SHT_CUDA_COMPAT && may_name_symbols(cubin, section, &at.record))
            ok = diag_error("Attribute %#04x of %.*s in '%s', which CUDA %u.%u made, is not "
                            "known and may name symbols, whose numbers change: link it with "
                            "nvlink of its toolkit, or compile it with CUDA %u.%u",
                            at.record.attribute, TEXT_ARG(section->name), cubin->name, maker / 10,
                            maker % 10, newest / 10, newest % 10);
    return ok;
}

static void tell_of_record(const struct cubin *cubin, const struct cubin_section *section,
                           uint8_t number)
{
    unsigned maker = cubin_maker(cubin), newest = toolkits_newest()->version;

    if (section->type == SHT_CUDA_COMPAT)
        diag_caution("Record %#04x of .nv.compat in '%s' is not known, and is left out as nvlink "
                     "does: a newer toolkit than %u.%u made it",
                     number, cubin->name, newest / 10, newest % 10);
    else
        diag_caution("Attribute %#04x of %.*s in '%s', which CUDA %u.%u made, is not known: it is "
                     "carried over as it is, and passed on to no kernel",
                     number, TEXT_ARG(section->name), cubin->name, maker / 10, maker % 10);
}

static void tell_of_records(const struct cubin *const *cubins, size_t count, bool sass_only)
{
    bool told[2][UINT8_MAX + 1] = {0};

    for (size_t file = 0; file < count; file++) {
        const struct cubin_section *section;
        struct unknown_walk at = {0};

        while ((section = next_record(cubins[file], sass_only, &at)) != NULL) {
            bool *known = &told[section->type == SHT_CUDA_COMPAT][at.record.attribute];

            if (!*known)
                tell_of_record(cubins[file], section, at.record.attribute);
            *known = true;
        }
    }
}

bool unknown_check(const struct cubin *const *cubins, size_t count, bool sass_only)
{
    bool ok = true;

    if (!walk_sections(cubins, count, sass_only, false))
        return false;
    for (size_t file = 0; file < count; file++)
        ok &= unknown_check_records(cubins[file], sass_only);
    if (!ok)
        return false;
    walk_sections(cubins, count, sass_only, true);
    tell_of_records(cubins, count, sass_only);
    return true;
}
