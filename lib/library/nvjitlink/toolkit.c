/* toolkit.c: finds a libnvJitLink that is not this one.
 *
 * If this library replaces NVIDIA's, the loader finds it under NVIDIA's name: passing LTO-IR to
 * that would pass it to this library again, without end. So every libnvJitLink that is found is
 * examined: this one has a section of its own, which copies of the file have, too. */
#include "library/nvjitlink/toolkit.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "diag/diag.h"
#include "input/hostobj.h"
#include "os/descriptor.h"
#include "os/program_path.h"
#include "os/self_exec.h"
#include "os/toolkit.h"

#define SECTION   ".note.minilink"
#define NOTE_NAME "minilink"

/* The note that identifies this library. */
static const struct {
    Elf64_Nhdr header;
    char name[12]; /* with its NUL, to a multiple of 4 */
    uint32_t version;
} note
    __attribute__((used, section(SECTION), aligned(4))) = {{sizeof NOTE_NAME, 4, 1}, NOTE_NAME, 1};

static bool see_section(void *is_ours, const char *section, struct bytes data)
{
    (void)section;
    (void)data;
    *(bool *)is_ours = true;
    return true;
}

/* Whether it is a shared object other than this library. */
static bool is_foreign(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct bytes data = {0};
    bool is_mapped, is_ours = false;

    if (fd < 0)
        return false;
    is_mapped = descriptor_map(fd, &data);
    close(fd);
    if (!is_mapped)
        return false;
    CONTEXT_DEFER(descriptor_unmap, &data);
    DIAG_SILENCE();
    return hostobj_is_shared(data) &&
           hostobj_walk_names("", data, &(const char *){SECTION}, 1, see_section, &is_ours) &&
           !is_ours;
}

/* Makes the path absolute, since the working directory may change. Frees `path`, which may be NULL.
 */
static char *make_absolute(char *path)
{
    char *real = path ? realpath(path, NULL) : NULL;

    free(path);
    return real;
}

/* Searches the folders of LD_LIBRARY_PATH. */
static char *find_alone(void)
{
    static const char *const names[] = {"libnvJitLink.so.13", "libnvJitLink.so.12"};
    const char *list = getenv("LD_LIBRARY_PATH");
    struct text folder;
    struct buffer path = {0};

    CONTEXT_DEFER(buffer_cleanup, &path);
    while (program_path_next(&list, &folder))
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            path.size = 0;
            buffer_printf(&path, "%.*s/%s", TEXT_ARG(folder), names[i]);
            if (is_foreign(path.data))
                return buffer_take(&path, NULL);
        }
    return NULL;
}

/* Where `minilink-shim --python` has put this library in the place of a wheel's, that one is beside
 * it, with this after its name. */
#define KEPT ".nvidia"

/* The path of the wheel's library, or NULL. */
static char *find_kept(void)
{
    const char *own = self_exec_code_path();
    struct buffer path = {0};

    if (!own)
        return NULL;
    CONTEXT_DEFER(buffer_cleanup, &path);
    buffer_printf(&path, "%s" KEPT, own);
    return is_foreign(path.data) ? buffer_take(&path, NULL) : NULL;
}

/* The ptxas of the wheels beside the wheel that has the library: of CUDA 13 and of CUDA 12. */
static char *find_kept_ptxas(const char *kept)
{
    static const char *const places[] = {"../bin/ptxas", "../../cuda_nvcc/bin/ptxas"};
    const char *slash = strrchr(kept, '/');
    struct buffer path = {0};

    CONTEXT_DEFER(buffer_cleanup, &path);
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        path.size = 0;
        buffer_printf(&path, "%.*s/%s", (int)(slash - kept), kept, places[i]);
        if (access(path.data, X_OK) == 0)
            return buffer_take(&path, NULL);
    }
    return NULL;
}

static char *find_nvidia_library(const struct toolkit_request *request)
{
    char *kept = request->file ? NULL : find_kept();
    char *found = kept ? kept : toolkit_find_nvjitlink(request, NULL);

    if (!found && !request->file)
        found = find_alone();
    return make_absolute(found);
}

char *toolkit_library(struct buffer *errors)
{
    const char *named = getenv("MINILINK_NVJITLINK");
    const struct toolkit_request request = {.file = named && *named ? named : NULL,
                                            .is_library = is_foreign};
    char *found = find_nvidia_library(&request);

    if (!found && request.file)
        buffer_printf(errors,
                      "MINILINK_NVJITLINK names '%s', which is no libnvJitLink of a CUDA toolkit\n",
                      named);
    return found;
}

static char *find_ptxas(const char *toolkit)
{
    return toolkit_find_ptxas(&(struct toolkit_request){.cuda_path = toolkit}, NULL);
}

char *toolkit_ptxas(const char *library)
{
    char *kept = find_kept(), *found = NULL, *slash;
    struct buffer folder = {0};

    if (kept)
        found = find_kept_ptxas(kept);
    free(kept);
    if (found)
        return found;
    found = find_ptxas(NULL);
    if (found || !library) { /* minilink finds it, too; or there is no other place */
        free(found);
        return NULL;
    }
    CONTEXT_DEFER(buffer_cleanup, &folder);
    buffer_printf(&folder, "%s", library);
    /* lib64, targets/MACHINE/lib, or pip's cu13/lib or nvjitlink/lib */
    for (int level = 1; level <= 4 && !found && (slash = strrchr(folder.data, '/')); level++) {
        *slash = '\0';
        if (level > 1)
            found = find_ptxas(folder.data);
    }
    return found;
}
