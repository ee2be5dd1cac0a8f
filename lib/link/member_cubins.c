/* member_cubins.c: takes cubins from their containers one by one, then parses them in parallel,
 * which is two thirds of the work. */
#include "link/stages.h"

#include <elf.h>
#include <stddef.h>

#include "base/context.h"
#include "base/little.h"
#include "diag/diag.h"
#include "os/heap.h"
#include "ptx/symbol.h"

/* Bytes that justify another thread: reading them takes a third of a millisecond. */
#define WORTH_A_PART (1u << 20)

/* Approximate memory that a merge takes for each section of the cubins; code is not copied. */
#define MEMORY_OF_A_SECTION 1056u

struct reading {
    struct member *member;
    struct cubin *cubin;
    struct bytes code;
    bool is_optional;
    bool ok;
};

/* All cubins that are read. */
struct readings {
    struct link *link;
    struct reading *list;
    size_t count;
    size_t bytes;
    size_t sections; /* approximate: from their unchecked headers */
    size_t parts;
    struct heap_range memory;
};

static void run_reading(struct reading *reading)
{
    reading->ok = cubin_read(reading->cubin, reading->member->name, reading->code) &&
                  cubin_check_note(reading->cubin);
}

/* Reads one of libcudadevrt's cubins. nvcc names that library on every command line, so a cubin
 * that cannot be read is left out; if something calls it, the functions are reported as missing. */
static void read_system(struct reading *reading)
{
    {
        DIAG_SILENCE();
        run_reading(reading);
    }
    if (!reading->ok)
        diag_info("Member '%s' is left out: it cannot be read", reading->member->name);
}

static void read_share(void *argument, size_t part, size_t first, size_t last)
{
    struct readings *readings = argument;

    if (readings->parts > 1)
        heap_prepare(&readings->memory, part, readings->parts);
    for (size_t i = first; i < last; i++)
        if (readings->list[i].is_optional)
            read_system(&readings->list[i]);
        else
            run_reading(&readings->list[i]);
}

static size_t count_sections(struct bytes code)
{
    size_t most = code.size / sizeof(Elf64_Shdr), count = 0;

    if (code.size >= sizeof(Elf64_Ehdr))
        count = little_u16(code.data + offsetof(Elf64_Ehdr, e_shnum));
    return count < most ? count : most;
}

/* Finds the cubins' bytes, decompressing them if necessary. */
static bool collect_readings(struct readings *readings)
{
    struct link *link = readings->link;
    bool ok = true;

    for (size_t i = 0; i < link->members.count; i++) {
        struct member *member = &link->members.list[i];
        struct reading *reading = &readings->list[readings->count];

        if (member->role != MEMBER_CUBIN)
            continue;
        *reading = (struct reading){
            .member = member,
            .cubin = &link->member_cubins[readings->count],
            .is_optional = member->is_system && !link->request->keep_system_libraries,
        };
        if (member_code(member, &link->cubin_inflation, &link->cubin_arena, &reading->code)) {
            readings->bytes += reading->code.size;
            readings->sections += count_sections(reading->code);
            readings->count++;
        } else {
            ok = false;
        }
    }
    return ok;
}

static bool is_shared_function(const struct cubin_symbol *symbol)
{
    return symbol->type == STT_FUNC && symbol->binding != STB_LOCAL;
}

/* Removes libcudadevrt's cubins that could not be read. False when another one could not be read.
 */
static bool keep_read(struct readings *readings)
{
    struct link *link = readings->link;
    size_t kept = 0;
    bool ok = true;

    for (size_t i = 0; i < readings->count; i++) {
        struct reading *reading = &readings->list[i];

        if (reading->is_optional && !reading->ok) {
            cubin_free(reading->cubin);
            reading->member->role = MEMBER_UNUSED;
            reading->member->reason = "it cannot be read";
            link->members.cubin_count--;
            continue;
        }
        ok &= reading->ok;
        link->has_system |= reading->is_optional;
        for (size_t k = 1; reading->is_optional && k < reading->cubin->symbol_count; k++) {
            const struct cubin_symbol *symbol = &reading->cubin->symbols[k];

            if (is_shared_function(symbol) && symbol->section != SHN_UNDEF)
                table_add(&link->system_names, symbol->name, 0);
        }
        link->member_cubins[kept++] = *reading->cubin;
    }
    link->member_cubin_count = kept;
    return ok;
}

bool member_cubins_read(struct link *link)
{
    size_t count = link->members.cubin_count;
    struct readings readings = {.link = link};
    const struct spread spread = state_spread(link);
    size_t least;
    bool ok;

    link->member_cubins = arena_zalloc(&link->cubin_arena, count, sizeof *link->member_cubins);
    readings.list = arena_alloc(&link->cubin_arena, count + 1, sizeof *readings.list);
    ok = collect_readings(&readings);
    link->member_cubin_count = readings.count; /* so that they are freed whatever happens */
    least = readings.count / (readings.bytes / WORTH_A_PART + 1) + 1;
    readings.parts = spread_parts(&spread, readings.count, least);
    readings.memory = heap_expect(readings.sections * MEMORY_OF_A_SECTION);
    spread_run(&spread, readings.count, least, read_share, &readings);
    return keep_read(&readings) && ok;
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
    size_t kept = 0, at = 0;

    if (!link->has_system)
        return;
    for (size_t i = 0; i < link->group_count; i++)
        if (is_called_by_program(&link->system_names, &link->groups[i].program))
            return;
    for (size_t i = 0; i < link->member_cubin_count; i++)
        if (is_called_by_cubin(&link->system_names, &link->member_cubins[i]))
            return;
    for (size_t i = 0; i < link->members.count; i++) {
        struct member *member = &link->members.list[i];
        struct cubin *cubin = &link->member_cubins[at];

        if (member->role != MEMBER_CUBIN)
            continue;
        at++;
        if (member->is_system) {
            diag_verbose("member %s is left out: nothing calls it", member->name);
            cubin_free(cubin);
            member->role = MEMBER_UNUSED;
            member->reason = "nothing calls it";
            link->members.cubin_count--;
        } else {
            link->member_cubins[kept++] = *cubin;
        }
    }
    link->member_cubin_count = kept;
    link->is_system_unused = true;
}

size_t member_cubins_order(const struct cubin **cubins, const struct link *link,
                           const struct cubin *made, size_t made_count)
{
    const struct members *members = &link->members;
    size_t count = 0, next = 0;

    for (int pass = 0; pass < 2; pass++) {
        size_t at = 0;

        for (size_t i = 0; i < members->count; i++) {
            const struct member *member = &members->list[i];

            while (next < made_count && link->groups[next].place == i)
                cubins[count++] = &made[next++];
            if (member->role != MEMBER_CUBIN)
                continue;
            if (pass == member->is_system)
                cubins[count++] = &link->member_cubins[at];
            at++;
        }
    }
    while (next < made_count)
        cubins[count++] = &made[next++];
    return count;
}

/* nvlink's warning. */
static void tell_of_extensible(const struct link *link)
{
    bool has_extensible = false;

    for (size_t i = 0; i < link->member_cubin_count; i++)
        has_extensible |= link->member_cubins[i].is_extensible;
    for (size_t i = 0, at = 0; has_extensible && i < link->members.count; i++) {
        const struct member *member = &link->members.list[i];
        bool is_cubin = member->role == MEMBER_CUBIN;

        if (!(is_cubin && link->member_cubins[at].is_extensible) && !member->is_system &&
            member->role != MEMBER_UNUSED && member->role != MEMBER_OPTIONS)
            diag_warning("'%s': -ewp compiled objects should only link with libcudadevrt",
                         member->name);
        at += is_cubin;
    }
}

static bool is_newer(const struct cubin *cubin, unsigned toolkit)
{
    return cubin_maker(cubin) > toolkit;
}

/* nvlink 13.0 to 13.5 each take what their own ptxas -ewp made, and not an older one's. */
static bool is_older_extensible(const struct cubin *cubin, unsigned toolkit)
{
    return cubin->is_extensible && cubin_maker(cubin) < toolkit;
}

/* What nvlink refuses is linked, with one caution. */
static void tell_of_refused(const struct link *link,
                            bool (*is_refused)(const struct cubin *, unsigned toolkit),
                            const char *what)
{
    const unsigned own = link->toolkit->version;
    const struct cubin *first = NULL;
    size_t count = 0;

    for (size_t i = 0; i < link->member_cubin_count; i++) {
        const struct cubin *cubin = &link->member_cubins[i];

        if (is_refused(cubin, own) && count++ == 0)
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
    tell_of_refused(link, is_newer, "newer than toolkit");
    tell_of_refused(link, is_older_extensible, "from an older ptxas -ewp than the toolkit's");
}
