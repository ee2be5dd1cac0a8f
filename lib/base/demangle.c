/* demangle.c: the demangler of the C++ runtime (Itanium C++ ABI, __cxa_demangle), which any system
 * with a C++ program has, and which is only loaded when a name is asked for. */
#include "base/demangle.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "base/context.h"
#include "base/memory.h"

#define LONGEST 65536u /* the demangler is recursive: names beyond this are left alone */

typedef char *demangler(const char *name, char *buffer, size_t *size, int *status);

static demangler *find(void)
{
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    demangler *function = NULL;

    if (library)
        *(void **)&function = dlsym(library, "__cxa_demangle");
    return function;
}

/* EDG's spacing: "int *", "char **". */
static void put_spaced(const char *text, struct buffer *out)
{
    for (size_t i = 0; text[i]; i++) {
        bool is_mark = text[i] == '*' || text[i] == '&';

        if (is_mark && i && text[i - 1] != '*' && text[i - 1] != '&' && text[i - 1] != ' ' &&
            text[i - 1] != '(')
            buffer_char(out, ' ');
        buffer_char(out, text[i]);
    }
}

/* A destructor that frees the object too has the name of the one that does not, but for the "0" of
 * its encoding: D0Ev at the end, as destructors have no parameters (a virtual base's VTT apart). */
static bool is_deleting(struct text mangled)
{
    return mangled.size > 4 && memcmp(mangled.data + mangled.size - 4, "D0Ev", 4) == 0;
}

static struct text mangled_part(struct text name)
{
    const char *part =
        text_starts(name, TEXT("__nv_static_")) ? memmem(name.data, name.size, "__Z", 3) : NULL;

    if (part)
        return (struct text){part + 1, name.size - (size_t)(part + 1 - name.data)};
    return name;
}

void demangle(struct text name, struct buffer *out)
{
    struct text part = mangled_part(name);
    demangler *function = NULL;
    struct context_cleanup cleanup;
    struct buffer plain = {0};
    char *result = NULL;
    int status = -1;

    if (text_starts(part, TEXT("_Z")) && part.size < LONGEST)
        function = find();
    if (!function) {
        buffer_text(out, name);
        return;
    }
    context_defer(&cleanup, buffer_cleanup, &plain);
    buffer_text(&plain, part);
    buffer_char(&plain, '\0');
    result = function(plain.data, NULL, NULL, &status);
    context_clean(&cleanup);
    if (!result) {
        buffer_text(out, name);
        return;
    }
    context_defer(&cleanup, memory_cleanup, &result);
    put_spaced(result, out);
    if (is_deleting(part))
        buffer_string(out, " [deleting]");
    context_clean(&cleanup);
}
