/* llvm_api.c: dlopen, and the functions by name. */
#include "lto/llvm_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define LLVM_ROW(type, field, name, parameters) {"LLVM" #name, offsetof(struct llvm_api, field)},
    LLVM_FUNCTIONS(LLVM_ROW)
#undef LLVM_ROW
};

bool llvm_api_load(struct llvm_api *api, const char *path, char *error, size_t size)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);

    if (!library) {
        snprintf(error, size, "%s", dlerror());
        return false;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *address = dlsym(library, functions[i].name);

        if (!address) {
            snprintf(error, size,
                     "it has no function '%s': it must be libLLVM 16 or newer, with the "
                     "target NVPTX",
                     functions[i].name);
            return false;
        }
        memcpy((char *)api + functions[i].offset, &address, sizeof address);
    }
    return true;
}
