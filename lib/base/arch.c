/* arch.c: parses names: two or three digits, perhaps a suffix. */
#include "base/arch.h"

#include <stdio.h>

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
