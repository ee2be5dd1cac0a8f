/* plugin.c: dlopen, one symbol, one number. Symbols are bound at once, so that a plug-in which
 * lacks something is refused here and does not end the program in the middle of a link. */
#include "assemble/plugin.h"

#include <dlfcn.h>
#include <errno.h>

#include "base/context.h"
#include "diag/diag.h"

static bool check(const char *path, const struct minilink_assembler *exported)
{
    if (!exported) {
        diag_fatal("'%s' is no assembler plug-in: it exports no 'minilink_assembler'", path);
        return false;
    }
    /* The number comes first in every version, so it can be read whatever follows it. */
    if (exported->abi != MINILINK_ASSEMBLER_ABI) {
        diag_fatal("Assembler plug-in '%s' has ABI %u, this program has ABI %u", path,
                   exported->abi, MINILINK_ASSEMBLER_ABI);
        return false;
    }
    if (!exported->name || !exported->version || !exported->assemble) {
        diag_fatal("Assembler plug-in '%s' lacks a name, a version or a function", path);
        return false;
    }
    return true;
}

bool plugin_open(const char *path, void **library, struct minilink_assembler *table)
{
    const struct minilink_assembler *exported;

    errno = 0;
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!*library && errno == ENOMEM) /* which the loader's text does not always say */
        context_raise(LINK_NO_MEMORY);
    if (!*library) {
        diag_fatal("Could not load assembler plug-in '%s': %s", path, dlerror());
        return false;
    }
    exported = dlsym(*library, "minilink_assembler");
    if (!check(path, exported)) {
        plugin_close(*library);
        *library = NULL;
        return false;
    }
    *table = *exported;
    return true;
}

void plugin_close(void *library)
{
    if (library)
        dlclose(library);
}
