/* llvm_api.c: loads the library, and its functions by name. */
#include "lto/llvm_api.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include "os/descriptor.h"

struct llvm_api llvm;

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define LLVM(type, field, name, ...) {"LLVM" #name, offsetof(struct llvm_api, field)},
#include "lto/llvm_api.def"
#undef LLVM
};

bool llvm_api_load(const char *path, struct buffer *error)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);

    if (!library) {
        buffer_string(error, dlerror());
        return false;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *address = dlsym(library, functions[i].name);

        if (!address) {
            buffer_printf(error,
                          "it has no function '%s': it must be libLLVM 16 or newer, with the "
                          "target NVPTX",
                          functions[i].name);
            return false;
        }
        memcpy((char *)&llvm + functions[i].offset, &address, sizeof address);
    }
    return true;
}

/* Whether the library has the option: LLVM does not report unknown ones, but the names of known
 * ones are in its file. */
static bool knows_option(struct bytes library, const char *word)
{
    char name[128];
    size_t size;

    word += strspn(word, "-");
    size = strcspn(word, "=");
    if (size == 0 || size >= sizeof name)
        return false;
    memcpy(name, word, size);
    name[size] = '\0';
    return memmem(library.data, library.size, name, size + 1) != NULL;
}

int llvm_api_unknown(const char *path, const char *const *words, int count)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), known = 0;
    struct bytes library = {0};

    if (fd >= 0) {
        descriptor_map(fd, &library);
        close(fd);
    }
    while (library.size && known < count && knows_option(library, words[known]))
        known++;
    descriptor_unmap(&library);
    return known;
}
