/* facts_image.c: attributes the output to members.
 *
 * The merge reports places by the numbers of its cubins. A member's own cubin belongs to that
 * member. Parts of the chunks' cubin are attributed by symbol: symbols have the user's names,
 * several of which can be the same, and are in the order of the program. */
#include <elf.h>

#include "base/search.h"
#include "facts/cubins.h"
#include "observe/internal.h"

const char *const facts_class_names[FACT_CLASSES] = {
    [FACT_CODE] = "code",       [FACT_CONSTANTS] = "constants", [FACT_DATA] = "data",
    [FACT_RECORDS] = "records", [FACT_DEBUG] = "debug",         [FACT_TABLES] = "tables",
};

enum fact_class facts_class(struct text section)
{
    const struct section_facts *facts = sections_named(section);

    switch (facts ? facts->class : CLASS_NONE) {
    case CLASS_TEXT:
    case CLASS_TWIN_TEXT:
        return FACT_CODE;
    case CLASS_CONSTANT:
        return FACT_CONSTANTS;
    case CLASS_GLOBAL:
    case CLASS_GLOBAL_INIT:
    case CLASS_SHARED:
    case CLASS_RESERVED:
    case CLASS_OTHER:
        return FACT_DATA;
    case CLASS_DEBUG:
    case CLASS_DEBUG_SHARED:
    case CLASS_TWIN_DEBUG:
        return FACT_DEBUG;
    case CLASS_TABLE:
    case CLASS_TWIN_SYMTAB:
    case CLASS_TWIN_INDICES:
        return FACT_TABLES;
    default:
        return FACT_RECORDS;
    }
}

const char *facts_output_kind(const struct observation *seen)
{
    return seen->places->type == ET_REL ? "relocatable" : "executable";
}

/* State while the image's places are read. */
struct image_facts {
    struct observation *seen;
    const struct merge_report *report;
    const struct observe_merged *merged;
    uint32_t **made; /* by cubin: the program's symbol of each of its; NULL for a member's cubin */
};

/* The first symbol of the program with this name, from symbol `at` on. */
static uint32_t symbol_in(const struct observation *seen, uint32_t at, uint32_t program)
{
    while (at != FACT_NONE && seen->symbols[at].program != program)
        at = seen->symbols[at].next;
    return at;
}

/* The program's symbols of one name are assigned in turn; any further copies belong to the last. */
static uint32_t *pair_symbols(struct observation *seen, const struct cubin *cubin, uint32_t program)
{
    struct arena *arena = &seen->arena;
    uint32_t *next = arena_alloc(arena, seen->symbol_count, sizeof *next);
    uint32_t *paired = arena_alloc(arena, cubin->symbol_count, sizeof *paired);

    for (uint32_t i = 0; i < seen->symbol_count; i++)
        next[i] = symbol_in(seen, i, program);
    for (size_t i = 0; i < cubin->symbol_count; i++) {
        uint32_t first = cubin->symbols[i].type == STT_SECTION
                             ? FACT_NONE
                             : table_find(&seen->own_names, cubin->symbols[i].name);
        uint32_t after;

        paired[i] = first == FACT_NONE ? FACT_NONE : next[first];
        if (paired[i] == FACT_NONE)
            continue;
        after = symbol_in(seen, seen->symbols[paired[i]].next, program);
        if (after != FACT_NONE)
            next[first] = after;
    }
    return paired;
}

/* Finds a symbol by name. In a program that the assembler made, "$<kernel>$<function>" is a
 * kernel's copy of a function. */
static uint32_t symbol_named(const struct observation *seen, struct text name)
{
    uint32_t found = table_find(&seen->symbol_names, name);

    for (size_t i = 0; i < name.size && found == FACT_NONE; i++)
        if (name.data[i] == '$')
            found = table_find(&seen->symbol_names, text_drop(name, i + 1));
    return found;
}

/* The program's symbol that is symbol `input` of a cubin. */
static uint32_t symbol_of_piece(const struct image_facts *facts, uint32_t file, uint32_t input,
                                struct text name)
{
    if (facts->merged->count == 0)
        return symbol_named(facts->seen, name);
    if (file >= facts->merged->count || !facts->made[file] ||
        input >= facts->merged->cubins[file]->symbol_count)
        return FACT_NONE;
    return facts->made[file][input];
}

static uint32_t member_of(const struct image_facts *facts, uint32_t file, uint32_t symbol)
{
    const struct observation *seen = facts->seen;

    if (symbol != FACT_NONE)
        return seen->symbols[symbol].member;
    return file < facts->merged->count
               ? table_find(&seen->member_names, text_of(facts->merged->cubins[file]->name))
               : FACT_NONE;
}

COMPARISON(by_section, struct fact_piece,
           COMPARE(a->section, b->section) ?: COMPARE(a->offset, b->offset)
               ?: COMPARE(a->size, b->size));

COMPARISON(by_value, struct merge_name,
           COMPARE(a->section, b->section) ?: COMPARE(a->value, b->value)
               ?: text_compare(a->name, b->name));

/* Its bytes in the file count for the member. */
static void add_piece(struct observation *seen, const struct fact_piece *piece)
{
    const struct merge_section *section = &seen->places->sections[piece->section];

    ARENA_PUSH(&seen->arena, seen->pieces, seen->piece_count, seen->piece_capacity) = *piece;
    if (piece->member != FACT_NONE && !section->has_no_bytes)
        seen->members[piece->member].sizes[facts_class(section->name)] += piece->size;
}

static bool is_name_before(const struct merge_name *name, const struct fact_piece *piece)
{
    return name->section != piece->section ? name->section < piece->section
                                           : name->value < piece->offset;
}

/* Data of several members in one section of the chunks' cubin: each variable belongs to its member.
 * False when no member is known. */
static bool add_data_variables(struct image_facts *facts, const struct fact_piece *all)
{
    struct observation *seen = facts->seen;
    size_t low = SEARCH_FIRST_NOT(seen->places->name_count, at,
                                  is_name_before(&seen->places->names[at], all));
    bool found = false;

    for (; low < seen->places->name_count; low++) {
        const struct merge_name *name = &seen->places->names[low];
        uint32_t member;

        if (name->section != all->section || name->value - all->offset >= all->size)
            break;
        member = member_of(facts, name->file,
                           symbol_of_piece(facts, name->file, name->input, name->name));
        if (member == FACT_NONE || name->size == 0 || name->type == STT_FUNC)
            continue;
        found = true;
        add_piece(seen, &(struct fact_piece){.section = name->section,
                                             .member = member,
                                             .offset = name->value,
                                             .size = name->size,
                                             .name = all->name});
    }
    return found;
}

/* Adds a cubin's section that went into the output. */
static void add_piece_input(struct image_facts *facts, const struct merge_piece *from)
{
    const struct cubin *cubin = facts->merged->cubins[from->file];
    bool is_known = from->input < cubin->section_count;
    uint32_t owner = is_known && from->input ? cubin_section_function(cubin, from->input) : 0;
    uint32_t symbol =
        owner ? symbol_of_piece(facts, from->file, owner, (struct text){0}) : FACT_NONE;
    const struct fact_piece piece = {
        .section = from->section,
        .member = member_of(facts, from->file, symbol),
        .offset = from->offset,
        .size = from->size,
        .name = is_known ? cubin->sections[from->input].name : TEXT(""),
    };

    if (piece.member != FACT_NONE || !add_data_variables(facts, &piece))
        add_piece(facts->seen, &piece);
}

/* Adds a section that came from no cubin; one made for a function belongs to its member. */
static void add_made(struct image_facts *facts, uint32_t section)
{
    struct observation *seen = facts->seen;
    const struct merge_section *from = &facts->report->places.sections[section];
    struct fact_piece piece = {.section = section, .size = from->size, .name = from->name};

    if (from->kernel >= seen->function_count) {
        add_data_variables(facts, &piece);
        return;
    }
    piece.member = seen->functions[from->kernel].member;
    add_piece(seen, &piece);
}

/* Needs the functions and the symbols. */
static void take_image_pieces(struct image_facts *facts)
{
    struct observation *seen = facts->seen;
    const struct merge_places *places = &facts->report->places;
    bool *has_pieces = arena_zalloc(&seen->arena, places->section_count, sizeof *has_pieces);

    for (size_t i = 0; i < places->piece_count; i++) {
        add_piece_input(facts, &places->pieces[i]);
        has_pieces[places->pieces[i].section] = true;
    }
    for (uint32_t i = 1; i < places->section_count; i++)
        if (!has_pieces[i])
            add_made(facts, i);
    SORT(seen->pieces, seen->piece_count, by_section);
}

static void take_functions(struct image_facts *facts)
{
    struct observation *seen = facts->seen;
    const struct merge_report *report = facts->report;

    seen->functions = arena_zalloc(&seen->arena, report->kernel_count, sizeof *seen->functions);
    seen->function_count = report->kernel_count;
    for (size_t i = 0; i < report->kernel_count; i++) {
        const struct kernel_report *kernel = &report->kernels[i];
        uint32_t symbol = symbol_of_piece(facts, kernel->file, kernel->input, kernel->name);
        const struct fact_symbol *known = symbol == FACT_NONE ? NULL : &seen->symbols[symbol];

        seen->functions[i] = (struct fact_function){
            .name = known && facts->merged->count == 0 ? known->own_name : kernel->name,
            .report = *kernel,
            .member = member_of(facts, kernel->file, symbol),
            .chunk = known ? known->chunk : FACT_NONE,
            .symbol = symbol,
        };
    }
}

static const char *reason_of(const struct merge_drop *drop)
{
    switch (drop->reason) {
    case MERGE_CAME_LATER:
        return "an earlier definition of that name counts";
    case MERGE_GAVE_WAY:
        return "it is weak, and there is a strong definition";
    case MERGE_UNREACHED:
        break;
    }
    return drop->is_kernel ? "neither host code nor the options ask for it"
                           : "no kernel reaches it";
}

static void take_drops(struct image_facts *facts)
{
    struct observation *seen = facts->seen;
    const struct merge_places *places = &facts->report->places;

    for (size_t i = 0; i < places->drop_count; i++) {
        const struct merge_drop *drop = &places->drops[i];
        uint32_t member = member_of(facts, drop->file,
                                    symbol_of_piece(facts, drop->file, drop->input, drop->name));

        facts_drop(seen, drop->is_kernel ? "kernel" : "function", drop->name,
                   member == FACT_NONE ? NULL : seen->members[member].of->name, reason_of(drop));
    }
}

COMPARISON(by_call, struct merge_call,
           COMPARE(a->from, b->from) ?: COMPARE(a->to, b->to)
               ?: COMPARE(a->is_indirect, b->is_indirect));

/* Keeps each call once; if it is made both by name and otherwise, as a call by name. */
static void sort_calls(struct merge_places *places)
{
    struct merge_call *calls = places->calls;
    size_t kept = 0;

    SORT(calls, places->call_count, by_call);
    for (size_t i = 0; i < places->call_count; i++)
        if (kept == 0 || calls[i].from != calls[kept - 1].from || calls[i].to != calls[kept - 1].to)
            calls[kept++] = calls[i];
    places->call_count = kept;
}

void observe_image(struct observation *seen, struct merge_report *report,
                   const struct observe_merged *merged)
{
    struct image_facts facts = {seen, report, merged, NULL};

    if (!seen)
        return;
    facts.made = arena_zalloc(&seen->arena, merged->count, sizeof *facts.made);
    for (size_t i = 0; i < merged->count; i++) {
        const struct cubin *cubin = merged->cubins[i];
        bool is_made = cubin >= merged->made && cubin < merged->made + merged->made_count;

        if (!is_made && seen->cross)
            cross_reference_add_cubin(seen, cubin);
        else if (is_made && observe_wants_places(seen))
            facts.made[i] = pair_symbols(seen, cubin, (uint32_t)(cubin - merged->made));
    }
    if (!observe_wants_places(seen))
        return;
    seen->places = &report->places;
    take_functions(&facts);
    SORT(report->places.names, report->places.name_count, by_value);
    take_image_pieces(&facts);
    sort_calls(&report->places);
    take_drops(&facts);
}
