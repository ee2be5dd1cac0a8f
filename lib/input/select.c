/* select.c: which entry of each fatbin takes part.
 *
 * The choice is made per fatbin, as nvlink was measured to make it: of the SASS that runs on the
 * target and the PTX that can be assembled for it, the one nearest to the target; for the same
 * number SASS. A split compile works on PTX, and takes the nearest PTX before any SASS. The nearest
 * LTO-IR's option string takes part in the consensus; its code takes part if it can be compiled,
 * otherwise the PTX does that nvcc puts beside it. LLVM bitcode takes part if it is to be
 * optimised, and if there is nothing else.
 *
 * Which code runs on which target is in facts/runs_on.def. */
#include "input/internal.h"

#include <elf.h>

#include "diag/diag.h"

/* The nearest entries of a group; NULL = none. */
struct nearest {
    struct member *sass;
    struct member *ptx;
    struct member *lto;
    struct member *bitcode;
};

/* Ranks code that the target takes: greater is nearer to the target. For the same number SASS is
 * nearer than PTX, and then suffix a is nearest, then f. */
static uint32_t nearness(struct arch code, bool is_sass)
{
    return (uint32_t)code.sm * 8 + (is_sass ? 4u : 0u) +
           (code.suffix == 'a'   ? 2u
            : code.suffix == 'f' ? 1u
                                 : 0u);
}

/* Reports why `target` does not take PTX for `code`, in nvlink's (in truth ptxas's) words. */
static void report_ptx(const char *name, struct arch target, struct arch code)
{
    char wanted[ARCH_NAME_SIZE], found[ARCH_NAME_SIZE];

    arch_name(target, wanted);
    arch_name(code, found);
    if (code.sm > target.sm)
        diag_error(
            "SM version specified by .target is higher than default SM version assumed: '%s' "
            "is for %s, the target is %s",
            name, found, wanted);
    else if (code.sm == target.sm)
        diag_error("PTX with .target '%s' cannot be compiled for architecture '%s': '%s'", found,
                   wanted, name);
    else if (code.suffix == 'a')
        diag_error("Program with .target '%s' cannot be compiled to future architecture: '%s', the "
                   "target is %s",
                   found, name, wanted);
    else
        diag_error("Program with .target '%s' cannot be compiled to different SM-family "
                   "architecture: '%s', the target is %s",
                   found, name, wanted);
}

size_t select_group_end(const struct members *members, size_t begin)
{
    size_t end = begin;

    while (end < members->count && members->list[end].group == members->list[begin].group)
        end++;
    return end;
}

size_t select_file_end(const struct members *members, size_t begin)
{
    size_t end = begin;

    while (end < members->count && members->list[end].file == members->list[begin].file)
        end++;
    return end;
}

bool select_is_known_kind(const struct member *member)
{
    return member->entry.kind == FATBIN_PTX || member->entry.kind == FATBIN_ELF ||
           member->entry.kind == FATBIN_NVVM || member->entry.kind == FATBIN_BITCODE;
}

static bool is_raw(const struct member *member)
{
    return member->entry.number == 0;
}

bool select_is_linked(const struct member *member)
{
    uint8_t head[EI_NIDENT + 4]; /* up to and with e_machine */

    return member->entry.kind == FATBIN_ELF && member->entry.version == FATBIN_ENTRY_VERSION &&
           inflate_head(&member->entry, head, sizeof head) == sizeof head &&
           memcmp(head, ELFMAG, SELFMAG) == 0 && little_u16(head + EI_NIDENT) == ET_EXEC;
}

bool select_is_usable(const struct member *member)
{
    return select_is_known_kind(member) && !member->is_whole &&
           (member->entry.flags & FATBIN_64BIT) && !select_is_linked(member);
}

/* Of an entry of another kind or version, the layout is unknown. */
static bool is_understood(const struct member *member)
{
    return select_is_known_kind(member) && member->entry.version == FATBIN_ENTRY_VERSION;
}

/* Why the member cannot take part on the target, or NULL. */
static const char *unfit(const struct member *member, const struct members *members)
{
    const struct fatbin_entry *entry = &member->entry;
    const struct arch target = members->arch;

    if (member->is_whole)
        return "whole program, complete without a link";
    if (!is_understood(member))
        return "kind or version is not understood";
    if (!(entry->flags & FATBIN_64BIT))
        return "32-bit code";
    if (!is_raw(member) && runs_on_is_unknown(entry->arch, members->toolkit))
        return "architecture that the toolkit does not know";
    if (entry->kind == FATBIN_ELF) {
        if (!runs_on_sass(target, entry->arch, members->toolkit))
            return "other architecture";
        return select_is_linked(member) ? "linked code, cannot be merged" : NULL;
    }
    if (runs_on_ptx(target, entry->arch, members->toolkit))
        return NULL;
    return entry->arch.sm > target.sm ? "newer architecture" : "other architecture";
}

static void keep_nearer(struct member **best, struct member *member)
{
    if (!*best || nearness(member->entry.arch, false) > nearness((*best)->entry.arch, false))
        *best = member;
}

/* Gives members a reason, to fit ones a provisional one, and finds the nearest of each kind. */
static struct nearest find_nearest(struct members *members, size_t begin, size_t end)
{
    struct nearest nearest = {0};

    for (size_t i = begin; i < end; i++) {
        struct member *member = &members->list[i];

        member->role = MEMBER_UNUSED;
        member->reason = unfit(member, members);
        if (member->reason)
            continue;
        if (member->entry.kind == FATBIN_ELF) {
            member->reason = "SASS, another entry is nearer";
            keep_nearer(&nearest.sass, member);
        } else if (member->entry.kind == FATBIN_PTX) {
            member->reason = "older PTX, another entry is nearer";
            keep_nearer(&nearest.ptx, member);
        } else if (member->entry.kind == FATBIN_BITCODE) {
            member->reason = "older LLVM bitcode, another entry is nearer";
            keep_nearer(&nearest.bitcode, member);
        } else {
            member->reason = "older LTO-IR, another entry is nearer";
            keep_nearer(&nearest.lto, member);
        }
    }
    return nearest;
}

static bool is_sass_nearer(const struct nearest *nearest)
{
    return nearest->sass && (!nearest->ptx || nearness(nearest->sass->entry.arch, true) >
                                                  nearness(nearest->ptx->entry.arch, false));
}

/* nvlink has its finalizer make code of the SASS; here the same program comes from the PTX. */
static bool is_only_finalized(const struct members *members, const struct nearest *nearest)
{
    return nearest->ptx &&
           runs_on_finalized(members->arch, nearest->sass->entry.arch, members->toolkit);
}

static void give_role(struct member *member, enum member_role role, const char *reason)
{
    if (!member)
        return;
    member->role = role;
    member->reason = reason;
}

static void take_ptx(struct members *members, const struct nearest *nearest)
{
    bool is_of_target = nearest->ptx->entry.arch.sm == members->arch.sm;

    give_role(nearest->ptx, MEMBER_PTX,
              nearest->lto   ? "PTX beside LTO-IR"
              : is_of_target ? "PTX for the target"
                             : "nearest older PTX");
    give_role(nearest->sass, MEMBER_UNUSED,
              is_sass_nearer(nearest) ? "SASS, PTX is preferred" : "SASS, PTX is nearer");
}

static void take_sass(struct members *members, const struct nearest *nearest)
{
    bool is_of_target = nearest->sass->entry.arch.sm == members->arch.sm;

    give_role(nearest->sass, MEMBER_CUBIN,
              is_of_target ? "SASS for the target" : "SASS that runs on the target");
    give_role(nearest->ptx, MEMBER_UNUSED, "PTX beside SASS");
}

static void take_lto(struct members *members, const struct nearest *nearest)
{
    members->has_lto = true;
    give_role(nearest->lto, MEMBER_LTO, "LTO-IR for the link");
    give_role(nearest->ptx, MEMBER_UNUSED, "PTX beside LTO-IR, which is preferred");
    give_role(nearest->sass, MEMBER_UNUSED, "SASS beside LTO-IR, which is preferred");
}

static void take_options(struct members *members, const struct nearest *nearest)
{
    bool is_alone = !nearest->ptx && !nearest->sass;

    members->has_lto = true;
    members->has_lto_only |= is_alone;
    give_role(nearest->lto, MEMBER_OPTIONS,
              is_alone ? "options only, no PTX beside it" : "options only");
}

static void take_bitcode(const struct nearest *nearest)
{
    give_role(nearest->bitcode, MEMBER_BITCODE, "LLVM bitcode for the link");
    give_role(nearest->ptx, MEMBER_UNUSED, "PTX beside LLVM bitcode, which is preferred");
    give_role(nearest->sass, MEMBER_UNUSED, "SASS beside LLVM bitcode, which is preferred");
}

static bool has_code_of_target(const struct members *members, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        const struct member *member = &members->list[i];

        if ((member->role == MEMBER_CUBIN || member->role == MEMBER_LTO) &&
            member->entry.arch.sm == members->arch.sm)
            return true;
    }
    return false;
}

/* An entry that is not understood may hold code that nvlink takes, unless there is none nearer than
 * what is taken. nvlink 13.5 passes over Tile IR, with or without a warning, and makes an empty
 * program where there is nothing else. */
static bool check_understood(const struct members *members, size_t begin, size_t end)
{
    char name[ARCH_NAME_SIZE];
    bool ok = true;

    if (has_code_of_target(members, begin, end))
        return true;
    for (size_t i = begin; i < end; i++) {
        const struct member *member = &members->list[i];

        if (is_understood(member) || member->is_whole)
            continue;
        ok = diag_error("Entry '%s' may have code for %s and cannot be read: kind %u%s %u.%u with "
                        "version 0x%04x is not known; compile for %s itself",
                        member->name, arch_name(members->arch, name), member->entry.kind,
                        member->entry.kind == FATBIN_TILE ? " (Tile IR)" : "", member->entry.major,
                        member->entry.minor, member->entry.version, name);
    }
    return ok;
}

/* Reports machine code that the target does not take. From 13.1 on, nvlink says the second of any
 * code with suffix a and any target without. */
static bool report_sass(const struct member *member, const struct members *members)
{
    char name[ARCH_NAME_SIZE];

    arch_name(members->arch, name);
    if (!runs_on_accelerated_only(members->arch, member->entry.arch, members->toolkit))
        return diag_fatal("Input file '%s' arch does not match target '%s'", member->name, name);
    return diag_fatal("cannot link accelerated arch to non-accelerated: '%s' is for sm_%ua, the "
                      "target is %s",
                      member->name, member->entry.arch.sm, name);
}

/* A raw file was named by the user: code that does not fit is an error, in nvlink's words. */
static bool check_raw(const struct member *member, const struct members *members)
{
    const struct arch code = member->entry.arch;

    if (!is_raw(member) || member->entry.kind == FATBIN_NVVM)
        return true;
    if (member->entry.kind == FATBIN_ELF)
        return runs_on_sass(members->arch, code, members->toolkit) || report_sass(member, members);
    if (runs_on_ptx(members->arch, code, members->toolkit))
        return true;
    report_ptx(member->name, members->arch, code);
    return false;
}

/* Sets the roles of one group. A library of the toolkit has nothing to optimise. */
static void take_nearest(struct members *members, const struct nearest *nearest,
                         const struct member_request *request, bool is_system)
{
    if (nearest->lto && request->link_lto && !is_system) {
        take_lto(members, nearest);
        return;
    }
    if (nearest->bitcode && (request->link_bitcode || (!nearest->ptx && !nearest->sass))) {
        take_bitcode(nearest);
        return;
    }
    give_role(nearest->bitcode, MEMBER_UNUSED, "LLVM bitcode beside other code");
    if (is_sass_nearer(nearest) && !(request->prefer_ptx && !is_system && nearest->ptx) &&
        !is_only_finalized(members, nearest))
        take_sass(members, nearest);
    else if (nearest->ptx)
        take_ptx(members, nearest);
    if (nearest->lto)
        take_options(members, nearest);
}

static bool may_be_of_a_runtime(const struct member *member)
{
    return member->role == MEMBER_BITCODE && member->is_openmp &&
           strcmp(member->file, member->object_name) != 0;
}

/* Of OpenMP's bitcode in an archive, members `begin` to `end`, only the nearest takes part: LLVM
 * 19's device runtime (libomptarget.devicertl.a) has all of it once for each GPU, in an object
 * each. clang-linker-wrapper links what is exactly for the target. */
static void leave_out_farther_runtimes(struct members *members, size_t begin, size_t end)
{
    struct member *nearest = NULL;

    for (size_t i = begin; i < end; i++)
        if (may_be_of_a_runtime(&members->list[i]))
            keep_nearer(&nearest, &members->list[i]);
    for (size_t i = begin; i < end; i++)
        if (may_be_of_a_runtime(&members->list[i]) &&
            !arch_equal(members->list[i].entry.arch, nearest->entry.arch))
            give_role(&members->list[i], MEMBER_UNUSED,
                      "OpenMP's bitcode for an older target, the archive has nearer");
}

static void count_roles(struct members *members)
{
    size_t counts[MEMBER_BITCODE + 1] = {0};

    for (size_t i = 0; i < members->count; i++)
        counts[members->list[i].role]++;
    members->cubin_count = counts[MEMBER_CUBIN];
    members->ptx_count = counts[MEMBER_PTX] + counts[MEMBER_BITCODE];
    members->lto_count = counts[MEMBER_LTO];
    members->bitcode_count = counts[MEMBER_BITCODE];
}

bool select_roles(struct members *members, const struct member_request *request)
{
    bool ok = true;

    members->has_lto = members->has_lto_only = false;
    for (size_t at = 0, end; at < members->count; at = end) {
        struct nearest nearest;

        end = select_group_end(members, at);
        nearest = find_nearest(members, at, end);
        take_nearest(members, &nearest, request, members->list[at].is_system);
        ok = check_understood(members, at, end) && ok;
        ok = check_raw(&members->list[at], members) && ok;
    }
    for (size_t at = 0, end; at < members->count; at = end) {
        end = select_file_end(members, at);
        leave_out_farther_runtimes(members, at, end);
    }
    count_roles(members);
    return ok;
}

void select_virtual(struct members *members)
{
    for (size_t i = 0; i < members->count; i++) {
        struct member *member = &members->list[i];

        if (member->entry.kind != FATBIN_PTX || member->is_whole ||
            !runs_on_ptx(members->arch, member->entry.arch, members->toolkit))
            continue;
        give_role(member, MEMBER_PTX, "PTX for the virtual target");
    }
    count_roles(members);
}
