/* toolkits.c: searches the rows of toolkits.def. */
#include "facts/toolkits.h"

#include <stddef.h>

static const struct toolkit_facts rows[] = {
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

enum { ROWS = sizeof rows / sizeof *rows };

const struct toolkit_facts *toolkits_find(unsigned version)
{
    size_t i = ROWS - 1;

    while (i > 0 && rows[i].version > version)
        i--;
    return &rows[i];
}

const struct toolkit_facts *toolkits_newest(void)
{
    return &rows[ROWS - 1];
}

const struct toolkit_facts *toolkits_of_ptx(unsigned major, unsigned minor)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].ptx == 10 * major + minor)
            return &rows[i];
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
