/* targets.c: searches the rows of targets.def. */
#include "facts/targets.h"

#include <stddef.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

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
