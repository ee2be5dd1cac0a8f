/* toolkit_version.c: looks for the line "Cuda compilation tools, release 13.5, V13.5.37" of ptxas.
 *
 * Measured on ptxas 11.8 to 13.5: the line stands as it is printed in .rodata, where finding it
 * takes a tenth of the time of running ptxas, and nothing else in front of it has these words. */
#include "os/toolkit_version.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/text.h"
#include "facts/toolkits.h"
#include "os/descriptor.h"
#include "os/elf_library.h"
#include "os/exec.h"
#include "os/file.h"

#define RELEASE "Cuda compilation tools, release "

/* Timeout in seconds for a ptxas that is asked; it answers within milliseconds. */
#define ANSWER_SECONDS 10

static unsigned version_in(struct bytes bytes)
{
    const char *line = bytes.size ? memmem(bytes.data, bytes.size, RELEASE, strlen(RELEASE)) : NULL;
    size_t rest;

    if (!line)
        return 0;
    line += strlen(RELEASE);
    rest = bytes.size - (size_t)(line - (const char *)bytes.data);
    return toolkit_version_read((struct text){line, strnlen(line, rest)});
}

/* What is missing for a moment says nothing about the file; other errors do: it cannot be read. */
static int error_of_want(int error)
{
    return error == ENOMEM || error == EMFILE || error == ENFILE || error == EAGAIN ? error : 0;
}

static unsigned read_version_file(const char *path, int *error)
{
    struct bytes file = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        *error = error_of_want(errno);
        return 0;
    }
    errno = 0;
    descriptor_map(fd, &file);
    *error = error_of_want(errno);
    close(fd);
    CONTEXT_DEFER(descriptor_unmap, &file);
    return version_in(elf_library_section(file, ".rodata"));
}

static unsigned ask_ptxas(const char *path, int *error)
{
    const char *const argv[] = {path, "--version", NULL};
    const struct exec_request request = {
        .argv = argv, .output_limit = 4096, .timeout = ANSWER_SECONDS};
    struct exec_result result;
    unsigned version;

    exec_run(&request, &result);
    if (result.end == EXEC_NOT_STARTED)
        *error = error_of_want(result.code);
    else if (result.output_cut && result.output_size < request.output_limit)
        *error = ENOMEM;
    version = version_in((struct bytes){(const uint8_t *)result.output, result.output_size});
    memory_cleanup(&result.output);
    return version;
}

unsigned toolkit_version_of(const char *path, int *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        char path[PATH_MAX];
        struct file_version file;
        unsigned version;
    } last;
    struct stat status;
    unsigned version = 0;

    *error = 0;
    if (stat(path, &status) != 0 || strlen(path) >= sizeof last.path)
        return 0;
    pthread_mutex_lock(&lock);
    if (strcmp(last.path, path) == 0 && !file_version_change(&last.file, path))
        version = last.version;
    pthread_mutex_unlock(&lock);
    if (version)
        return version;
    version = read_version_file(path, error);
    if (version == 0 && *error == 0)
        version = ask_ptxas(path, error);
    if (*error)
        return 0;
    pthread_mutex_lock(&lock);
    snprintf(last.path, sizeof last.path, "%s", path);
    last.file = file_version_of(&status);
    last.version = version;
    pthread_mutex_unlock(&lock);
    return version;
}
