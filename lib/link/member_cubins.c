/* member_cubins.c: takes cubins from their containers one by one, then parses them in parallel,
 * which is two thirds of the work. */
#include "link/internal.h"

#include <elf.h>

#include "diag/diag.h"
#include "os/machine.h"
#include "pool/dispatch.h"
#include "ptx/program.h"

/* Bytes that justify another thread: reading them takes a third of a millisecond. */
#define WORTH_A_PART (1u << 20)

/* Approximate memory that a merge takes for each section of the cubins; code is not copied. */
#define MEMORY_OF_A_SECTION 896u

/* All cubins that are read. */
struct readings {
    struct member_cubin *list;
    size_t parts;
    struct heap_range memory;
};

static void read_one(struct member_cubin *at)
{
    at->is_read =
        cubin_read(&at->cubin, at->member->name, at->code) && cubin_check_note(&at->cubin);
}

/* Reads one of libcudadevrt's cubins. nvcc names that library on every command line, so a cubin
 * that cannot be read is left out; if something calls it, the functions are reported as missing. */
static void read_system(struct member_cubin *at)
{
    {
        DIAG_SILENCE();
        read_one(at);
    }
    if (!at->is_read)
        diag_info("Member '%s' is left out: it cannot be read", at->member->name);
}

static void read_share(void *argument, size_t part, size_t first, size_t last)
{
    struct readings *readings = argument;

    if (readings->parts > 1)
        heap_prepare(&readings->memory, part, readings->parts);
    for (size_t i = first; i < last; i++)
        (readings->list[i].is_optional ? read_system : read_one)(&readings->list[i]);
}

/* As the unchecked header says. */
static size_t count_sections(struct bytes code)
{
    size_t most = code.size / sizeof(Elf64_Shdr), count = 0;

    if (code.size >= sizeof(Elf64_Ehdr))
        count = little_u16(code.data + offsetof(Elf64_Ehdr, e_shnum));
    return count < most ? count : most;
}

/* Finds the cubins' bytes, decompressing them if necessary. */
static bool collect_cubins(struct link *link)
{
    bool ok = true;

    link->cubins = arena_zalloc(&link->arena, link->members.cubin_count + 1, sizeof *link->cubins);
    for (size_t i = 0; i < link->members.count; i++) {
        struct member *member = &link->members.list[i];
        struct member_cubin *at = &link->cubins[link->cubin_count];

        if (member->role != MEMBER_CUBIN)
            continue;
        at->member = member;
        at->is_optional = member->is_system && !link->request->keep_system_libraries;
        if (member_code(member, &link->cubin_inflation, &link->arena, &at->code))
            link->cubin_count++;
        else
            ok = false;
    }
    return ok;
}

/* Leaves out libcudadevrt's cubins: those that were not read, or, if nothing calls them, all. */
static void leave_out(struct link *link, bool are_unused)
{
    size_t kept = 0;

    for (size_t i = 0; i < link->cubin_count; i++) {
        struct member_cubin *at = &link->cubins[i];

        if (are_unused ? !at->member->is_system : at->is_read || !at->is_optional) {
            link->cubins[kept++] = *at;
            continue;
        }
        if (are_unused)
            diag_verbose("member %s is left out: nothing calls it", at->member->name);
        at->member->role = MEMBER_UNUSED;
        at->member->reason = are_unused ? "nothing calls it" : "it cannot be read";
        link->members.cubin_count--;
        cubin_free(&at->cubin);
    }
    link->cubin_count = kept;
}

static bool is_shared_function(const struct cubin_symbol *symbol)
{
    return symbol->type == STT_FUNC && symbol->binding != STB_LOCAL;
}

/* Notes what libcudadevrt defines, and forgets its unreadable cubins. False if another is. */
static bool take_read(struct link *link)
{
    bool ok = true;

    leave_out(link, false);
    for (size_t i = 0; i < link->cubin_count; i++) {
        const struct member_cubin *at = &link->cubins[i];

        ok &= at->is_read;
        link->has_system |= at->is_optional;
        for (size_t k = 1; at->is_optional && k < at->cubin.symbol_count; k++)
            if (is_shared_function(&at->cubin.symbols[k]) &&
                at->cubin.symbols[k].section != SHN_UNDEF)
                table_add(&link->system_names, at->cubin.symbols[k].name, 0);
    }
    return ok;
}

bool member_cubins_read(struct link *link)
{
    bool ok = collect_cubins(link);
    struct readings readings = {.list = link->cubins};
    const struct parallel_limits limits = {
        .threads = pool_threads(0, link->request->limits.threads, SIZE_MAX),
        .jobserver =
            link->request->limits.jobserver == JOBSERVER_OFF ? JOBSERVER_OFF : JOBSERVER_AUTO};
    size_t bytes = 0, sections = 0, least;

    for (size_t i = 0; i < link->cubin_count; i++) {
        bytes += link->cubins[i].code.size;
        sections += count_sections(link->cubins[i].code);
    }
    least = link->cubin_count / (bytes / WORTH_A_PART + 1) + 1;
    readings.parts = parallel_parts(&limits, link->cubin_count, least);
    readings.memory = heap_expect(sections * MEMORY_OF_A_SECTION);
    parallel_for(&limits, link->cubin_count, least, read_share, &readings);
    return take_read(link) && ok;
}

static bool is_called_by_cubin(const struct table *names, const struct cubin *cubin)
{
    for (size_t i = 1; i < cubin->symbol_count; i++)
        if (is_shared_function(&cubin->symbols[i]) && cubin->symbols[i].section == SHN_UNDEF &&
            table_find(names, cubin->symbols[i].name) != TABLE_NONE)
            return true;
    return false;
}

static bool is_called_by_program(const struct table *names, const struct program *program)
{
    for (size_t i = 0; i < program->symbol_count; i++) {
        const struct program_symbol *symbol = &program->symbols[i];

        if (symbol->is_live && !symbol->is_defined &&
            table_find(names, symbol->own_name) != TABLE_NONE)
            return true;
    }
    return false;
}

void member_cubins_drop_unused(struct link *link)
{
    if (!link->has_system)
        return;
    for (size_t i = 0; i < link->group_count; i++)
        if (is_called_by_program(&link->system_names, &link->groups[i].program))
            return;
    for (size_t i = 0; i < link->cubin_count; i++)
        if (is_called_by_cubin(&link->system_names, &link->cubins[i].cubin))
            return;
    leave_out(link, true);
    link->is_system_unused = true;
}

size_t member_cubins_order(const struct cubin **cubins, const struct link *link,
                           const struct cubin *made, size_t made_count)
{
    size_t count = 0, next = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < link->cubin_count; i++) {
            const struct member_cubin *at = &link->cubins[i];
            size_t place = (size_t)(at->member - link->members.list);

            if (at->member->is_system != pass)
                continue;
            while (pass == 0 && next < made_count && link->groups[next].place <= place)
                cubins[count++] = &made[next++];
            cubins[count++] = &at->cubin;
        }
        while (next < made_count && (pass || link->groups[next].place != SIZE_MAX))
            cubins[count++] = &made[next++];
    }
    return count;
}

/* nvlink's warning. */
static void tell_of_extensible(const struct link *link)
{
    bool has_extensible = false;

    for (size_t i = 0; i < link->cubin_count; i++)
        has_extensible |= link->cubins[i].cubin.is_extensible;
    for (size_t i = 0, at = 0; has_extensible && i < link->members.count; i++) {
        const struct member *member = &link->members.list[i];

        if (member->role == MEMBER_CUBIN && link->cubins[at++].cubin.is_extensible)
            continue;
        if (!member->is_system && member->role != MEMBER_UNUSED && member->role != MEMBER_OPTIONS)
            diag_warning("'%s': -ewp compiled objects should only link with libcudadevrt",
                         member->name);
    }
}

/* What nvlink refuses is linked, with one caution. nvlink 13.0 to 13.5 each take what their own
 * ptxas -ewp made, and not an older one's. */
static void tell_of_refused(const struct link *link, bool are_newer, const char *what)
{
    const unsigned own = link->toolkit->version;
    const struct cubin *first = NULL;
    size_t count = 0;

    for (size_t i = 0; i < link->cubin_count; i++) {
        const struct cubin *cubin = &link->cubins[i].cubin;
        unsigned maker = cubin_maker(cubin);

        if ((are_newer ? maker > own : maker < own && cubin->is_extensible) && count++ == 0)
            first = cubin;
    }
    if (first)
        diag_caution("Input file '%s'%s %s (%u vs %u), whose nvlink refuses that: linked "
                     "all the same",
                     first->name, count > 1 ? " and others are" : "", what, cubin_maker(first),
                     own);
}

void member_cubins_tell_of_refused(const struct link *link)
{
    tell_of_extensible(link);
    tell_of_refused(link, true, "newer than toolkit");
    tell_of_refused(link, false, "from an older ptxas -ewp than the toolkit's");
}
