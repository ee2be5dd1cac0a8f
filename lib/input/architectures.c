/* architectures.c: a summary of the architectures in the inputs.
 *
 * An architecture is a cell in a small table (number by suffix), so that counting how many groups
 * have it costs one step per entry. */

#include <stdio.h>

#include "diag/diag.h"
#include "facts/targets.h"
#include "input/hostobj.h"
#include "input/internal.h"

#define SM_LIMIT 1000u
#define SUFFIXES 3u

/* Lists in messages are cut after so many items. */
#define SHOWN_ENTRIES 12u
#define SHOWN_FILES   20u

static const char suffixes[SUFFIXES] = {0, 'a', 'f'};

static size_t cell_of(struct arch arch)
{
    unsigned suffix = arch.suffix == 'a' ? 1 : arch.suffix == 'f' ? 2 : 0;

    return (size_t)(arch.sm < SM_LIMIT ? arch.sm : 0) * SUFFIXES + suffix;
}

/* How many groups have code for an architecture. */
struct tally {
    uint32_t groups;
    uint32_t last; /* the group counted last, plus 1 */
};

/* Counts every group's architectures; returns how many groups have any code. Raw LTO-IR does not
 * name its architecture and does not count. */
static uint32_t count_groups(const struct members *members, struct tally *tally)
{
    uint32_t groups = 0;

    for (size_t at = 0, end; at < members->count; at = end) {
        bool has_code = false;

        end = select_group_end(members, at);
        for (size_t i = at; i < end; i++) {
            const struct member *member = &members->list[i];
            struct tally *cell = &tally[cell_of(member->entry.arch)];

            if (member->entry.arch.sm == 0 || !select_is_usable(member))
                continue;
            has_code = true;
            if (cell->last != member->group + 1)
                cell->groups++;
            cell->last = member->group + 1;
        }
        if (has_code)
            groups++;
    }
    return groups;
}

/* "a.o(1)": "sm_80 (SASS)"; a raw file with unknown architecture has no number. */
static void describe_entry(struct buffer *line, const struct member *member)
{
    const struct fatbin_entry *entry = &member->entry;
    const char *prefix = entry->kind == FATBIN_PTX    ? "compute_"
                         : entry->kind == FATBIN_NVVM ? "lto_"
                                                      : "sm_";
    const char *kind = entry->kind == FATBIN_ELF       ? "SASS"
                       : entry->kind == FATBIN_PTX     ? "PTX"
                       : entry->kind == FATBIN_BITCODE ? "LLVM bitcode"
                                                       : "LTO-IR";

    if (line->size)
        buffer_string(line, ", ");
    if (entry->arch.sm)
        buffer_printf(line, "%s%u%.1s (%s)", prefix, entry->arch.sm,
                      entry->arch.suffix ? &entry->arch.suffix : "", kind);
    else
        buffer_string(line, kind);
}

/* Notes what members [begin, end) hold, each kind and architecture once. */
static void note_contents(const struct members *members, size_t begin, size_t end, const char *name)
{
    const struct member *shown[SHOWN_ENTRIES] = {0};
    LOCAL_BUFFER(line);
    size_t count = 0;

    for (size_t i = begin; i < end; i++) {
        const struct member *member = &members->list[i];
        size_t known = 0;

        while (known < count && (shown[known]->entry.kind != member->entry.kind ||
                                 !arch_equal(shown[known]->entry.arch, member->entry.arch)))
            known++;
        if (known < count || !select_is_known_kind(member))
            continue;
        if (count == SHOWN_ENTRIES) {
            buffer_string(&line, ", ...");
            break;
        }
        describe_entry(&line, member);
        shown[count++] = member;
    }
    diag_note("'%s' has %.*s", name, TEXT_ARG(buffer_view(&line)));
}

/* Lists the cells that `needed` groups or more have. Returns how many; the last one is in *arch. */
static unsigned list_choice(const struct tally *tally, uint32_t needed, struct buffer *line,
                            struct arch *arch)
{
    unsigned count = 0;

    for (unsigned sm = 1; sm < SM_LIMIT; sm++) {
        for (unsigned suffix = 0; suffix < SUFFIXES; suffix++) {
            char name[ARCH_NAME_SIZE];

            if (tally[sm * SUFFIXES + suffix].groups < needed)
                continue;
            *arch = (struct arch){sm, suffixes[suffix]};
            buffer_printf(line, "%s%s", count++ ? ", " : "", arch_name(*arch, name));
        }
    }
    return count;
}

static void ask_for_target(const struct members *members, const char *choice)
{
    unsigned shown = 0;

    diag_error("-arch is needed: the inputs have code for %s", choice);
    for (size_t at = 0, end; at < members->count; at = end) {
        end = select_file_end(members, at);
        if (shown++ < SHOWN_FILES)
            note_contents(members, at, end, members->list[at].file);
    }
    if (shown > SHOWN_FILES)
        diag_note("and %u more files", shown - SHOWN_FILES);
}

bool architectures_find_target(struct members *members)
{
    struct tally *tally = arena_zalloc(&members->arena, SM_LIMIT * SUFFIXES, sizeof *tally);
    uint32_t groups = count_groups(members, tally);
    LOCAL_BUFFER(line);
    struct arch arch = {0};
    unsigned count;

    if (groups == 0)
        return diag_error(
            "-arch is needed: the inputs have no relocatable device code that says what it is for");
    count = list_choice(tally, groups, &line, &arch);
    if (count == 0)
        list_choice(tally, 1, &line, &arch);
    buffer_char(&line, '\0');
    if (count == 1)
        members->arch = arch;
    else
        ask_for_target(members, line.data);
    return count == 1;
}

/* What select_roles did with the groups of a file or object. */
struct outcome {
    bool has_taken;   /* some entry takes part */
    bool has_missing; /* some group has code, but nothing for the target */
    bool has_linked;  /* some group has nothing for the target but SASS that is linked already */
};

static bool has_linked_code(const struct members *members, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (members->list[i].entry.kind == FATBIN_ELF &&
            runs_on_sass(members->arch, members->list[i].entry.arch, members->toolkit) &&
            select_is_linked(&members->list[i]))
            return true;
    return false;
}

static struct outcome judge_file(const struct members *members, size_t begin, size_t end)
{
    struct outcome outcome = {0};

    for (size_t at = begin, next; at < end; at = next) {
        bool taken = false, code = false;

        next = select_group_end(members, at);
        for (size_t i = at; i < next; i++) {
            code = code || (select_is_known_kind(&members->list[i]) && !members->list[i].is_whole);
            taken = taken || members->list[i].role != MEMBER_UNUSED;
        }
        if (taken)
            outcome.has_taken = true;
        else if (code && has_linked_code(members, at, next))
            outcome.has_linked = true;
        else if (code)
            outcome.has_missing = true;
    }
    return outcome;
}

static const char *target_name(const struct members *members, char name[ARCH_NAME_SIZE])
{
    arch_name(members->arch, name);
    if (members->is_virtual)
        snprintf(name, ARCH_NAME_SIZE, "compute_%u%.1s", members->arch.sm % 10000,
                 members->arch.suffix ? &members->arch.suffix : "");
    return name;
}

/* Single objects of an archive are often left out, so messages about them are for -vv. */
static void report_object(const struct members *members, size_t begin, size_t end)
{
    const char *name = members->list[begin].object_name;
    struct outcome outcome = judge_file(members, begin, end);
    char arch[ARCH_NAME_SIZE];

    if (outcome.has_missing)
        diag_verbose("SM Arch ('%s') not found in '%s'", target_name(members, arch), name);
    if (outcome.has_linked)
        diag_verbose("'%s' has code that is linked already (ET_EXEC), which is ignored", name);
}

/* nvcc puts libcudadevrt.a on every command line, and it lacks some targets (sm_87, sm_88): nvlink
 * is silent about that (measured). */
static void report_file(const struct members *members, size_t begin, size_t end, bool suppress)
{
    const struct member *first = &members->list[begin];
    struct outcome outcome = judge_file(members, begin, end);
    char arch[ARCH_NAME_SIZE];

    if (first->is_system ||
        (outcome.has_taken && (first->object_name != first->file || !outcome.has_missing))) {
        for (size_t at = begin, next; at < end; at = next) {
            for (next = at;
                 next < end && members->list[next].object_name == members->list[at].object_name;)
                next++;
            report_object(members, at, next);
        }
        return;
    }
    if (outcome.has_missing && !suppress) {
        diag_warning("SM Arch ('%s') not found in '%s'", target_name(members, arch), first->file);
        note_contents(members, begin, end, first->file);
    }
    if (outcome.has_linked)
        diag_warning(
            "'%s' is ignored: its code for %s is linked already (ET_EXEC) and cannot be merged; "
            "nvcc -dc makes relocatable code",
            first->file, arch_name(members->arch, arch));
}

void architectures_report_missing(const struct members *members, bool suppress_arch_warning)
{
    for (size_t at = 0, end; at < members->count; at = end) {
        end = select_file_end(members, at);
        report_file(members, at, end, suppress_arch_warning);
    }
}

/* The most decompressed code of objects compiled without -dc that is searched. */
#define SEARCHED_MAXIMUM (UINT64_C(256) << 20)

/* A search for names in such objects. */
struct whole_search {
    struct table names;         /* by name: its number */
    const char **notes;         /* by number */
    struct arena *arena;        /* of the notes */
    const struct member *first; /* the first that was searched */
    bool is_any_found;
};

static bool is_in_name(char c)
{
    return text_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Measured: a function that ptxas put into a kernel's section is "$kernel$function". */
static void search_names(struct whole_search *search, const char *object, struct bytes bytes)
{
    struct text text = {(const char *)bytes.data, bytes.size};

    for (size_t at = 0, end; at < text.size; at = end + 1) {
        uint32_t number = TABLE_NONE;

        for (end = at; end < text.size && is_in_name(text.data[end]);)
            end++;
        if (end > at)
            number = table_find(&search->names, (struct text){text.data + at, end - at});
        if (number == TABLE_NONE || search->notes[number])
            continue;
        search->is_any_found = true;
        search->notes[number] =
            arena_printf(search->arena,
                         "'%s' defines it, but its device code is linked already: "
                         "compile it with -dc (-rdc=true)",
                         object);
    }
}

/* A linked program has no names but those that it defines, and the driver's. */
static void search_objects(struct whole_search *search, const struct members *members)
{
    struct inflation inflation = {.limit = SEARCHED_MAXIMUM};
    LOCAL_ARENA(arena); /* a member's code */

    DIAG_SILENCE();
    for (size_t i = 0; i < members->count; i++) {
        const struct member *member = &members->list[i];
        struct hostobj object;
        struct bytes code, names;

        if (!member->is_whole || member->is_system)
            continue;
        if (!search->first)
            search->first = member;
        if (!member_code(member, &inflation, &arena, &code))
            continue;
        if (member->entry.kind == FATBIN_PTX)
            search_names(search, member->object_name, code);
        if (member->entry.kind != FATBIN_ELF)
            continue;
        HOSTOBJ_OPEN(&object, member->name, code);
        while (hostobj_next(&object, ".strtab", &names))
            search_names(search, member->object_name, names);
    }
}

const char **members_explain_undefined(const struct members *members, const struct text *names,
                                       size_t count, struct arena *arena)
{
    struct whole_search search = {.arena = arena,
                                  .notes = arena_zalloc(arena, count, sizeof *search.notes)};

    if (!members || count == 0)
        return search.notes;
    CONTEXT_DEFER(table_cleanup, &search.names);
    for (size_t i = 0; i < count; i++)
        table_set(&search.names, names[i], (uint32_t)i);
    search_objects(&search, members);
    for (size_t i = 0; i < count; i++)
        search.notes[i] = search.notes[table_find(&search.names, names[i])];
    if (!search.is_any_found && search.first)
        search.notes[count - 1] =
            arena_printf(arena,
                         "the device code of '%s' is linked already, so that nothing in it can be "
                         "referred to: compile it with -dc (-rdc=true)",
                         search.first->object_name);
    return search.notes;
}
