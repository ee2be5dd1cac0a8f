/* read_cubins.c: cubins are taken from their containers one by one, and then read, which is two
 * thirds of the work, at the same time. */
#include "link/read_cubins.h"

#include <elf.h>
#include <stddef.h>

#include "base/context.h"
#include "base/little.h"
#include "diag/diag.h"
#include "link/cudadevrt.h"
#include "os/heap.h"

/* So many bytes are worth a thread: a third of a millisecond. */
#define WORTH_A_PART (1u << 20)

/* What a merge takes for each section of the cubins, about. Large ones are code, which stays where
 * it is. */
#define MEMORY_OF_A_SECTION 1152u

struct reading {
    struct member *member;
    struct cubin *cubin;
    struct bytes code;
    bool is_optional;
    bool ok;
};

/* All of them. */
struct readings {
    struct link *link;
    struct reading *list;
    size_t count;
    size_t bytes;
    size_t sections; /* about: as their headers say, which nobody has checked */
    size_t parts;
    struct heap_range memory;
};

static enum link_code run_reading(void *argument)
{
    struct reading *reading = argument;

    reading->ok = cubin_read(reading->cubin, reading->member->name, reading->code) &&
                  cubin_check_note(reading->cubin);
    return LINK_OK;
}

/* Reads one of libcudadevrt's cubins. nvcc names that library on every command line, so that what
 * cannot be read of it is left out: where something calls it, the functions are missing then. */
static void read_system(struct reading *reading)
{
    diag_silence(run_reading, reading);
    if (!reading->ok)
        diag_info("Member '%s' is left out: it cannot be read", reading->member->name);
}

static void read_part(void *argument, size_t part, size_t first, size_t last)
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

/* Finds the cubins' bytes, inflated where they were compressed. */
static bool collect(struct readings *readings)
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

/* Those of libcudadevrt that could not be read are forgotten. False when one of another's could
 * not. */
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
        if (reading->is_optional) {
            link->has_system = true;
            cudadevrt_add_names(&link->system_names, reading->cubin);
        }
        link->member_cubins[kept++] = *reading->cubin;
    }
    link->member_cubin_count = kept;
    return ok;
}

bool read_cubins(struct link *link)
{
    size_t count = link->members.cubin_count;
    struct readings readings = {.link = link};
    const struct spread spread = state_spread(link);
    size_t least;
    bool ok;

    link->member_cubins = arena_zalloc(&link->cubin_arena, count, sizeof *link->member_cubins);
    readings.list = arena_alloc(&link->cubin_arena, count + 1, sizeof *readings.list);
    ok = collect(&readings);
    link->member_cubin_count = readings.count; /* they are freed whatever happens */
    least = readings.count / (readings.bytes / WORTH_A_PART + 1) + 1;
    readings.parts = spread_parts(&spread, readings.count, least);
    readings.memory = heap_expect(readings.sections * MEMORY_OF_A_SECTION);
    spread_run(&spread, readings.count, least, read_part, &readings);
    return keep_read(&readings) && ok;
}
