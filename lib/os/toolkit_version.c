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
#include "facts/targets.h"
#include "os/descriptor.h"
#include "os/elf_file.h"
#include "os/exec.h"
#include "os/file.h"

#define RELEASE "Cuda compilation tools, release "

/* Timeout in seconds for a ptxas that is asked; it answers within milliseconds. */
#define ANSWER_SECONDS 10

static struct toolkit_version version_in_bytes(struct bytes bytes)
{
    const char *line = bytes.size ? memmem(bytes.data, bytes.size, RELEASE, strlen(RELEASE)) : NULL;
    struct toolkit_version version = {0};
    struct text rest, listed;

    if (!line)
        return version;
    line += strlen(RELEASE);
    rest = (struct text){line, bytes.size - (size_t)(line - (const char *)bytes.data)};
    rest.size = strnlen(line, rest.size);
    version.number = toolkit_version_read(rest);
    listed = text_of(toolkits_find(version.number)->release);
    version.is_listed = text_starts(rest, listed) &&
                        (rest.size == listed.size || !text_is_digit(rest.data[listed.size]));
    return version;
}

/* What is missing for a moment says nothing about the file; other errors do: it cannot be read. */
static int error_of_want(int error)
{
    return error == ENOMEM || error == EMFILE || error == ENFILE || error == EAGAIN ? error : 0;
}

/* The contents of .rodata, or nothing. */
static struct bytes find_constants(struct bytes data)
{
    struct bytes contents = {0};
    struct elf_file file = {0};
    GElf_Shdr section;

    CONTEXT_DEFER(elf_file_close, &file);
    if (elf_file_open(&file, data) && elf_file_find_sections(&file))
        while (elf_file_next(&file, &section))
            if (elf_file_has_name(&file, &section, ".rodata") &&
                elf_file_contents(&file, &section, &contents))
                break;
    return contents;
}

static struct toolkit_version read_version_file(const char *path)
{
    struct bytes file = {0};
    struct toolkit_version version;
    int fd = open(path, O_RDONLY | O_CLOEXEC), error;

    if (fd < 0)
        return (struct toolkit_version){.error = error_of_want(errno)};
    errno = 0;
    descriptor_map(fd, &file);
    error = error_of_want(errno);
    close(fd);
    CONTEXT_DEFER(descriptor_unmap, &file);
    version = version_in_bytes(find_constants(file));
    version.error = error;
    return version;
}

static struct toolkit_version ask_ptxas(const char *path)
{
    const char *const argv[] = {path, "--version", NULL};
    const struct exec_request request = {
        .argv = argv, .output_limit = 4096, .timeout = ANSWER_SECONDS};
    struct exec_result result;
    struct toolkit_version version;

    exec_run(&request, &result);
    version = version_in_bytes((struct bytes){(const uint8_t *)result.output, result.output_size});
    version.is_listed = false; /* a script may change what the ptxas that it runs writes */
    if (result.end == EXEC_NOT_STARTED)
        version.error = error_of_want(result.code);
    else if (result.output_cut && result.output_size < request.output_limit)
        version.error = ENOMEM;
    memory_cleanup(&result.output);
    return version;
}

struct toolkit_version toolkit_version_of(const char *path)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        char path[PATH_MAX];
        struct file_version file;
        struct toolkit_version version;
    } last;
    struct stat status;
    struct toolkit_version version = {0};

    if (stat(path, &status) != 0 || strlen(path) >= sizeof last.path)
        return version;
    pthread_mutex_lock(&lock);
    if (strcmp(last.path, path) == 0 && !file_version_change(&last.file, path))
        version = last.version;
    pthread_mutex_unlock(&lock);
    if (version.number)
        return version;
    version = read_version_file(path);
    if (version.number == 0 && !version.error)
        version = ask_ptxas(path);
    if (version.error)
        return version;
    pthread_mutex_lock(&lock);
    snprintf(last.path, sizeof last.path, "%s", path);
    last.file = file_version_of(&status);
    last.version = version;
    pthread_mutex_unlock(&lock);
    return version;
}
