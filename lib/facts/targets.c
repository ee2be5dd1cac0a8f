/* targets.c: searches the rows of targets.def, runs_on.def, toolkits.def and behaviours.def. */
#include "facts/targets.h"

#include <stdio.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

bool arch_parse(struct text name, const char *prefix, struct arch *arch)
{
    char suffix = 0;
    uint64_t sm;

    if (!text_skip(&name, text_of(prefix)) || !text_scan_number(&name, &sm) || sm < 10 || sm > 999)
        return false;
    if (text_equal(name, TEXT("a")) || text_equal(name, TEXT("f")))
        suffix = *name.data;
    else if (name.size)
        return false;
    *arch = (struct arch){(uint32_t)sm, suffix};
    return true;
}

const char *arch_name(struct arch arch, char name[ARCH_NAME_SIZE])
{
    snprintf(name, ARCH_NAME_SIZE, "sm_%u%.1s", arch.sm % 10000, arch.suffix ? &arch.suffix : "");
    return name;
}

static const struct toolkit_facts toolkits[] = {
#define TOOLKIT(version, release, ptx, finalizer, finalizer_version)                               \
    {version, release, ptx, finalizer, finalizer_version},
#include "facts/toolkits.def"
#undef TOOLKIT
};

static const struct toolkit_range behaviours[] = {
#define BEHAVIOUR(name, first, last) {first, last},
#include "facts/behaviours.def"
#undef BEHAVIOUR
};

const struct toolkit_facts *toolkits_find(unsigned version)
{
    size_t i = COUNT_OF(toolkits) - 1;

    while (i > 0 && toolkits[i].version > version)
        i--;
    return &toolkits[i];
}

const struct toolkit_facts *toolkits_newest(void)
{
    return &toolkits[COUNT_OF(toolkits) - 1];
}

const struct toolkit_facts *toolkits_of_ptx(unsigned major, unsigned minor)
{
    for (size_t i = 0; i < COUNT_OF(toolkits); i++)
        if (toolkits[i].ptx == 10 * major + minor)
            return &toolkits[i];
    return NULL;
}

bool toolkit_does(const struct toolkit_facts *toolkit, enum toolkit_behaviour behaviour)
{
    return toolkit_is_in(toolkit, behaviours[behaviour]);
}

unsigned toolkits_last(enum toolkit_behaviour behaviour)
{
    return behaviours[behaviour].last;
}

bool toolkits_ptx_is_newer(unsigned major, unsigned minor)
{
    unsigned newest = toolkits_newest()->ptx;

    return major > newest / 10 || (major == newest / 10 && minor > newest % 10);
}

bool toolkits_ptx_is_known(unsigned major, unsigned minor)
{
    static const uint8_t minor_versions[] = {0, 6, 4, 3, 4, 2, 6, 9, 9, 10}; /* by major */

    return major < sizeof minor_versions && minor < minor_versions[major] &&
           !toolkits_ptx_is_newer(major, minor);
}

unsigned toolkit_version_read(struct text text)
{
    uint64_t major, minor;

    if (!text_scan_number(&text, &major) || major > 99 || !text_skip(&text, TEXT(".")) ||
        !text_scan_number(&text, &minor) || minor > 9)
        return 0;
    return (unsigned)(10 * major + minor);
}

static const struct target_facts rows[] = {
#define TARGET(sm, family, most_shared, reserved, parameters, threads, flags, fast_path)           \
    {sm, family, most_shared, reserved, parameters, threads, flags, fast_path},
#define NAME(sm, suffix, first_ptx, first, last)
#include "facts/targets.def"
#undef TARGET
#undef NAME
};

static const struct target_name names[] = {
#define TARGET(...)
#define NAME(sm, suffix, first_ptx, first, last) {{sm, suffix}, first_ptx, {first, last}},
#include "facts/targets.def"
#undef TARGET
#undef NAME
};

const struct target_facts *targets_find(unsigned sm)
{
    size_t i = COUNT_OF(rows) - 1;

    while (rows[i].sm > sm)
        i--;
    return &rows[i];
}

const struct target_name *targets_find_name(struct arch arch)
{
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (arch_equal(names[i].arch, arch))
            return &names[i];
    return NULL;
}

unsigned targets_ptx(struct arch arch)
{
    const unsigned least = toolkits_find(130)->ptx;
    const struct target_name *name = targets_find_name(arch);

    return name && name->first_ptx > least ? name->first_ptx : least;
}

static bool is_known_target(const struct target_name *name, const struct toolkit_facts *toolkit)
{
    return toolkit ? toolkit_is_in(toolkit, name->toolkits) : name->toolkits.last == ONWARDS;
}

bool targets_know(struct arch arch, const struct toolkit_facts *toolkit)
{
    const struct target_name *name = targets_find_name(arch);

    return name && is_known_target(name, toolkit);
}

const struct toolkit_facts *targets_toolkit(struct arch arch, const struct toolkit_facts *toolkit)
{
    const struct target_name *name = targets_find_name(arch);

    if (!name || is_known_target(name, toolkit) || name->toolkits.last == NEVER)
        return toolkit;
    return toolkits_find(toolkit->version < name->toolkits.first ? name->toolkits.first
                                                                 : name->toolkits.last);
}

bool targets_next(struct arch *arch, const struct toolkit_facts *toolkit)
{
    const struct target_name *next = arch->sm ? targets_find_name(*arch) + 1 : names;

    while (next < names + COUNT_OF(names) && !is_known_target(next, toolkit))
        next++;
    if (next == names + COUNT_OF(names))
        return false;
    *arch = next->arch;
    return true;
}

enum link_kind {
    ROW_RUNS_ON,
    ROW_RENAMED,
    ROW_FINALIZED,
    ROW_ACCELERATED_ON_PLAIN,
    ROW_UNKNOWN_IN_FATBINS,
    ROW_LIBRARY_LEAVES_ENTRY,
    ROW_LIBRARY_LEAVES_CUBIN,
    ROW_TOO_OLD,
};

static const struct link_row {
    enum link_kind kind;
    uint16_t target, code; /* 0 where a row names none */
    struct toolkit_range toolkits;
} links[] = {
#define ROW(kind, target, code, first, last) {ROW_##kind, target, code, {first, last}},
#include "facts/runs_on.def"
#undef ROW
};

#define ANY UINT16_MAX

static const struct link_row *find_link(enum link_kind kind, unsigned target, unsigned code,
                                        const struct toolkit_facts *toolkit)
{
    for (const struct link_row *row = links; row < links + COUNT_OF(links); row++)
        if (row->kind == kind && (target == ANY || row->target == target) && row->code == code &&
            toolkit_is_in(toolkit, row->toolkits))
            return row;
    return NULL;
}

unsigned runs_on_number(unsigned sm, const struct toolkit_facts *toolkit)
{
    const struct link_row *row = find_link(ROW_RENAMED, ANY, sm, toolkit);

    return row ? row->target : sm;
}

bool runs_on_accelerated_only(struct arch target, struct arch code,
                              const struct toolkit_facts *toolkit)
{
    return code.suffix == 'a' && target.suffix != 'a' &&
           !find_link(ROW_ACCELERATED_ON_PLAIN, 0, 0, toolkit);
}

bool runs_on_is_unknown(struct arch code, const struct toolkit_facts *toolkit)
{
    return find_link(ROW_UNKNOWN_IN_FATBINS, 0, code.sm, toolkit);
}

bool runs_on_finalized(struct arch target, struct arch code, const struct toolkit_facts *toolkit)
{
    return find_link(ROW_FINALIZED, target.sm, code.sm, toolkit);
}

bool runs_on_sass(struct arch target, struct arch code, const struct toolkit_facts *toolkit)
{
    if (runs_on_accelerated_only(target, code, toolkit))
        return false;
    if (code.sm == target.sm || find_link(ROW_RENAMED, target.sm, code.sm, toolkit))
        return true;
    return code.suffix != 'a' && (find_link(ROW_RUNS_ON, target.sm, code.sm, toolkit) ||
                                  runs_on_finalized(target, code, toolkit));
}

bool runs_on_ptx(struct arch target, struct arch code, const struct toolkit_facts *toolkit)
{
    if (code.sm > target.sm)
        return false;
    if (code.suffix == 'a')
        return target.suffix == 'a' &&
               (code.sm == target.sm || find_link(ROW_RENAMED, target.sm, code.sm, toolkit));
    return code.suffix != 'f' || targets_find(code.sm)->family == targets_find(target.sm)->family;
}

bool runs_on_library_leaves(struct arch target, struct arch code, bool is_entry,
                            const struct toolkit_facts *toolkit)
{
    return (code.sm != target.sm || (code.suffix == 'a' && target.suffix != 'a')) &&
           find_link(is_entry ? ROW_LIBRARY_LEAVES_ENTRY : ROW_LIBRARY_LEAVES_CUBIN, target.sm,
                     code.sm, toolkit);
}

bool runs_on_made_by(unsigned sm, unsigned maker)
{
    return !find_link(ROW_TOO_OLD, 0, sm, &(struct toolkit_facts){.version = (uint16_t)maker});
}
