/* toolkit.c: finds a libnvJitLink that is not this one.
 *
 * If this library replaces NVIDIA's, the loader finds it under NVIDIA's name: passing LTO-IR to
 * that would pass it to this library again, without end. So every libnvJitLink that is found is
 * examined: this one has a section of its own, which copies of the file have, too. */
#include "library/nvjitlink/internal.h"

#include <elf.h>
#include <stdlib.h>

#include "diag/diag.h"
#include "input/hostobj.h"
#include "os/file.h"
#include "os/program.h"
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

/* Whether it is a shared object other than this library. */
static bool is_foreign(const char *path)
{
    struct bytes data, contents;
    struct hostobj object;

    if (!file_map(&data, path))
        return false;
    CONTEXT_DEFER(descriptor_unmap, &data);
    DIAG_SILENCE();
    if (!hostobj_is_shared(data))
        return false;
    HOSTOBJ_OPEN(&object, "", data);
    return !hostobj_find(&object, SECTION, &contents) && !object.is_damaged;
}

/* Searches the folders of LD_LIBRARY_PATH. */
static char *find_alone(void)
{
    const char *list = getenv("LD_LIBRARY_PATH");
    struct text folder;
    char *found = NULL;

    while (!found && program_path_next(&list, &folder))
        found = program_path_try(is_foreign, "%.*s/libnvJitLink.so.13", TEXT_ARG(folder))
                    ?: program_path_try(is_foreign, "%.*s/libnvJitLink.so.12", TEXT_ARG(folder));
    return found;
}

/* The wheel's library, or NULL: where `minilink-shim --python` has put this library in its place,
 * it is beside it, with this after its name. */
static char *find_kept(void)
{
    return program_path_try(is_foreign, "%s.nvidia", self_exec_code_path());
}

/* The ptxas of the wheels beside the wheel that has the library: of CUDA 13 and of CUDA 12. */
static char *find_kept_ptxas(void)
{
    char *kept = find_kept(), *slash = kept ? strrchr(kept, '/') : NULL, *found = NULL;

    if (slash) {
        *slash = '\0';
        found = program_path_try(program_path_is, "%s/../bin/ptxas", kept)
                    ?: program_path_try(program_path_is, "%s/../../cuda_nvcc/bin/ptxas", kept);
    }
    free(kept);
    return found;
}

/* An absolute path, since the working directory may change. */
static char *find_nvidia_library(const struct toolkit_request *request)
{
    char *found = request->file ? toolkit_find_nvjitlink(request, NULL)
                                : find_kept() ?: toolkit_find_nvjitlink(request, NULL)
                                                   ?: find_alone();
    char *real = found ? realpath(found, NULL) : NULL;

    free(found);
    return real;
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

char *toolkit_ptxas(const char *library)
{
    struct toolkit_request request = {0};
    char *found = find_kept_ptxas(), *slash;
    LOCAL_BUFFER(folder);

    if (found)
        return found;
    found = toolkit_find_ptxas(&request, NULL);
    if (found || !library) { /* minilink finds it, too; or there is no other place */
        free(found);
        return NULL;
    }
    buffer_printf(&folder, "%s", library);
    request.cuda_path = folder.data;
    /* lib64, targets/MACHINE/lib, or pip's cu13/lib or nvjitlink/lib */
    for (int level = 1; level <= 4 && !found && (slash = strrchr(folder.data, '/')); level++) {
        *slash = '\0';
        if (level > 1)
            found = toolkit_find_ptxas(&request, NULL);
    }
    return found;
}
