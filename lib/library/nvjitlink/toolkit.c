/* toolkit.c: looking for files.
 *
 * Where this library stands in for NVIDIA's, the loader finds it under NVIDIA's name: to hand
 * LTO-IR to what is found there would hand it to ourselves, and so on without an end. Every
 * libnvJitLink that is found is therefore looked at: ours carries an ELF note, which copies of the
 * file have, too. */
#include "library/nvjitlink/toolkit.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/descriptor.h"

#define NOTE_NAME    "minilink"
#define NOTE_TYPE    1u
#define MOST_HEADERS 64
#define MOST_NOTES   65536u

/* What this library is known by. */
static const struct {
    Elf64_Nhdr header;
    char name[12]; /* with its NUL, to a multiple of 4 */
    uint32_t version;
} note __attribute__((used, section(".note.minilink"), aligned(4))) = {
    {sizeof NOTE_NAME, 4, NOTE_TYPE}, NOTE_NAME, 1};

/* As the toolkits of CUDA 12 and 13 have them. ARM servers have sbsa-linux, Jetson aarch64-linux.
 */
static const char *const inside[] = {
    "lib64/libnvJitLink.so.13",
    "lib64/libnvJitLink.so.12",
    "targets/x86_64-linux/lib/libnvJitLink.so.13",
    "targets/x86_64-linux/lib/libnvJitLink.so.12",
    "targets/sbsa-linux/lib/libnvJitLink.so.13",
    "targets/sbsa-linux/lib/libnvJitLink.so.12",
    "targets/aarch64-linux/lib/libnvJitLink.so.13",
    "targets/aarch64-linux/lib/libnvJitLink.so.12",
    "lib/libnvJitLink.so.13",
    "lib/libnvJitLink.so.12",
    NULL,
};

static const char *const alone[] = {"libnvJitLink.so.13", "libnvJitLink.so.12", NULL};

/* Whether one of the notes in `size` bytes is ours. */
static bool has_our_note(const char *notes, size_t size)
{
    Elf64_Nhdr header;

    while (size >= sizeof header) {
        uint64_t name, whole;

        memcpy(&header, notes, sizeof header);
        name = ((uint64_t)header.n_namesz + 3) & ~UINT64_C(3);
        whole = sizeof header + name + (((uint64_t)header.n_descsz + 3) & ~UINT64_C(3));
        if (whole > size)
            return false;
        if (header.n_type == NOTE_TYPE && header.n_namesz == sizeof NOTE_NAME &&
            memcmp(notes + sizeof header, NOTE_NAME, sizeof NOTE_NAME) == 0)
            return true;
        notes += whole;
        size -= (size_t)whole;
    }
    return false;
}

static bool segment_is_ours(int fd, const Elf64_Phdr *segment)
{
    char *notes;
    bool is_ours;

    if (segment->p_type != PT_NOTE || segment->p_filesz > MOST_NOTES)
        return false;
    notes = malloc((size_t)segment->p_filesz + 1);
    is_ours = notes && descriptor_read(fd, notes, (size_t)segment->p_filesz, segment->p_offset) &&
              has_our_note(notes, (size_t)segment->p_filesz);
    free(notes);
    return is_ours;
}

/* A shared object of this kind of machine that is not ours. */
static bool is_foreign(int fd)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;

    if (!descriptor_read(fd, &header, sizeof header, 0) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_type != ET_DYN || header.e_phentsize != sizeof segment ||
        header.e_phnum > MOST_HEADERS)
        return false;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        if (!descriptor_read(fd, &segment, sizeof segment, header.e_phoff + i * sizeof segment) ||
            segment_is_ours(fd, &segment))
            return false;
    }
    return true;
}

static bool is_library(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_one;

    if (fd < 0)
        return false;
    is_one = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && is_foreign(fd);
    close(fd);
    return is_one;
}

/* The first of `names` in the folder, `size` bytes, that is a library; its own path, as the folder
 * may be relative to a working directory that changes. */
static char *try_folder(const char *folder, size_t size, const char *const *names)
{
    char path[PATH_MAX];

    if (size == 0 || size >= PATH_MAX)
        return NULL;
    for (; *names; names++) {
        int length = snprintf(path, sizeof path, "%.*s/%s", (int)size, folder, *names);

        if (length > 0 && (size_t)length < sizeof path && is_library(path))
            return realpath(path, NULL);
    }
    return NULL;
}

static char *try_variable(const char *name)
{
    const char *folder = getenv(name);

    return folder ? try_folder(folder, strlen(folder), inside) : NULL;
}

/* Cuts off what follows the last slash, `levels` times; false when there is not so much. */
static bool go_up(char *path, int levels)
{
    while (levels-- > 0) {
        char *slash = strrchr(path, '/');

        if (!slash || slash == path)
            return false;
        *slash = '\0';
    }
    return true;
}

/* The toolkit whose bin is a folder of PATH, or has what a link there leads to. */
static char *try_programs(const char *folder, size_t size)
{
    static const char *const programs[] = {"nvcc", "ptxas"};
    char path[PATH_MAX], real[PATH_MAX];
    char *found = NULL;

    for (size_t i = 0; i < 2 && !found; i++) {
        int length = snprintf(path, sizeof path, "%.*s/%s", (int)size, folder, programs[i]);

        if (length > 0 && (size_t)length < sizeof path && access(path, X_OK) == 0 &&
            realpath(path, real) && go_up(real, 2))
            found = try_folder(real, strlen(real), inside);
    }
    return found;
}

/* Calls `look` for each folder of a list with colons, until something is found. */
static char *try_list(const char *variable, char *(*look)(const char *folder, size_t size))
{
    const char *at = getenv(variable);
    char *found = NULL;

    while (at && !found) {
        size_t size = strcspn(at, ":");

        if (size > 0 && size < PATH_MAX)
            found = look(at, size);
        at = at[size] ? at + size + 1 : NULL;
    }
    return found;
}

static char *try_alone(const char *folder, size_t size)
{
    return try_folder(folder, size, alone);
}

char *toolkit_library(struct log *errors)
{
    const char *named = getenv("MINILINK_NVJITLINK");
    char *found = NULL;

    if (named && *named) {
        if (is_library(named))
            return realpath(named, NULL);
        log_printf(errors,
                   "MINILINK_NVJITLINK names '%s', which is no libnvJitLink of a CUDA toolkit\n",
                   named);
        return NULL;
    }
    found = try_variable("CUDA_HOME");
    if (!found)
        found = try_variable("CUDA_PATH");
    if (!found)
        found = try_list("PATH", try_programs);
    if (!found)
        found = try_list("LD_LIBRARY_PATH", try_alone);
    return found;
}

static char *find_ptxas(const char *folder, size_t size)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%.*s/ptxas", (int)size, folder);

    return length > 0 && (size_t)length < sizeof path && access(path, X_OK) == 0 ? strdup(path)
                                                                                 : NULL;
}

static char *find_ptxas_in(const char *toolkit)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/bin", toolkit);

    return length > 0 && (size_t)length < sizeof path ? find_ptxas(path, (size_t)length) : NULL;
}

char *toolkit_ptxas(const char *library)
{
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
    char *found = NULL, *folder;

    for (size_t i = 0; i < 2 && !found; i++)
        found = getenv(variables[i]) ? find_ptxas_in(getenv(variables[i])) : NULL;
    if (!found)
        found = try_list("PATH", find_ptxas);
    if (found) { /* by minilink, too */
        free(found);
        return NULL;
    }
    /* lib64, or targets/MACHINE/lib */
    for (int levels = 2; levels <= 4 && library && !found; levels++) {
        folder = strdup(library);
        if (folder && go_up(folder, levels))
            found = find_ptxas_in(folder);
        free(folder);
    }
    return found;
}
