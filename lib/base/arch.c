/* arch.c: parses names (two or three digits, perhaps a suffix), and lists those that CUDA 13.0
 * knows. */
#include "base/arch.h"

#include <stdio.h>

#include "base/text.h"

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

static const unsigned known[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

bool arch_is_known(struct arch arch)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i] == arch.sm)
            return arch.suffix == 0 || (arch.suffix == 'a' && arch.sm >= 90) ||
                   (arch.suffix == 'f' && arch.sm >= 100);
    return false;
}

bool arch_next(struct arch *arch)
{
    size_t i = 0;

    arch->suffix = arch->sm == 0 ? 'f' : arch->suffix == 0 ? 'a' : arch->suffix == 'a' ? 'f' : 0;
    if (arch->sm && arch->suffix && arch_is_known(*arch))
        return true;
    while (i < sizeof known / sizeof *known && known[i] <= arch->sm)
        i++;
    if (i == sizeof known / sizeof *known)
        return false;
    *arch = (struct arch){known[i], 0};
    return true;
}

const char *arch_name(struct arch arch, char name[ARCH_NAME_SIZE])
{
    snprintf(name, ARCH_NAME_SIZE, "sm_%u%.1s", arch.sm % 10000, arch.suffix ? &arch.suffix : "");
    return name;
}
