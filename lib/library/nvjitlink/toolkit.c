/* toolkit.c: finds a libnvJitLink that is not this one.
 *
 * If this library replaces NVIDIA's, the loader finds it under NVIDIA's name: passing LTO-IR to
 * that would pass it to this library again, without end. So every libnvJitLink that is found is
 * examined: this one has a section of its own, which copies of the file have, too. */
#include "library/nvjitlink/toolkit.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/context.h"
#include "diag/diag.h"
#include "input/hostobj.h"
#include "os/descriptor.h"
#include "os/program_path.h"
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

/* A file, and whether it is a shared object other than this library. */
struct candidate {
    struct bytes data;
    bool is_foreign;
};

static bool see_section(void *is_ours, const char *section, struct bytes data)
{
    (void)section;
    (void)data;
    *(bool *)is_ours = true;
    return true;
}

static enum link_code examine(void *argument)
{
    struct candidate *candidate = argument;
    bool is_ours = false;

    candidate->is_foreign = hostobj_is_shared(candidate->data) &&
                            hostobj_walk_names("", candidate->data, &(const char *){SECTION}, 1,
                                               see_section, &is_ours) &&
                            !is_ours;
    return LINK_OK;
}

static bool is_foreign(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct candidate candidate = {0};
    bool is_mapped;

    if (fd < 0)
        return false;
    is_mapped = descriptor_map(fd, &candidate.data);
    close(fd);
    if (!is_mapped)
        return false;
    CONTEXT_DEFER(descriptor_unmap, &candidate.data);
    diag_silence(examine, &candidate);
    return candidate.is_foreign;
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

static char *find_library(const struct toolkit_request *request)
{
    char *found = toolkit_find_nvjitlink(request, NULL);

    if (!found && !request->file)
        found = find_alone();
    return make_absolute(found);
}

char *toolkit_library(struct buffer *errors)
{
    const char *named = getenv("MINILINK_NVJITLINK");
    const struct toolkit_request request = {.file = named && *named ? named : NULL,
                                            .is_library = is_foreign};
    char *found = find_library(&request);

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
    char *found = find_ptxas(NULL), *slash;
    struct buffer folder = {0};

    if (found || !library) { /* minilink finds it, too; or there is no other place */
        free(found);
        return NULL;
    }
    CONTEXT_DEFER(buffer_cleanup, &folder);
    buffer_printf(&folder, "%s", library);
    /* lib64, or targets/MACHINE/lib */
    for (int level = 1; level <= 4 && !found && (slash = strrchr(folder.data, '/')); level++) {
        *slash = '\0';
        if (level > 1)
            found = find_ptxas(folder.data);
    }
    return found;
}
