/* assemble.c: PTX becomes machine code when it is added, as in NVIDIA's library, so that what is
 * wrong with it is told there, and that what is in one input changes no other's code.
 *
 * A link of minilink's with -r and the one input assembles it. Its result is not what is wanted, as
 * merging may leave things out (Mercury sections, beside texture references); the assembler's own
 * cubin is, which --keep leaves in a folder. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "library/nvjitlink/link.h"

#define CUBIN_NAME   "chunk-0.cubin"
#define LARGEST_FILE ((off_t)1 << 40)

/* PTX that is to be assembled, or what it is in. */
struct input {
    enum minilink_input type;
    const void *data;
    size_t size;
    const char *name;
};

/* Its path, malloc'ed, or NULL when there is none. */
static char *make_folder(struct log *errors)
{
    const char *parent = getenv("TMPDIR");
    char *path;

    if (!parent || *parent != '/')
        parent = "/tmp";
    if (asprintf(&path, "%s/minilink-nvjitlink.XXXXXX", parent) < 0)
        path = NULL;
    if (path && strlen(path) < PATH_MAX && mkdtemp(path))
        return path;
    log_printf(errors, "could not make a folder in '%s': %s\n", parent, strerror(errno));
    free(path);
    return NULL;
}

/* What --keep has put there; the names are known, so that it goes when memory has run out, too. */
static void remove_folder(const char *path)
{
    static const char *const names[] = {CUBIN_NAME, "chunk-0.ptx", "linked.ptx"};
    char file[PATH_MAX + sizeof CUBIN_NAME];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(file, sizeof file, "%s/%s", path, names[i]);
        unlink(file);
    }
    rmdir(path);
}

/* The assembler's cubin, or NULL. */
static char *read_cubin(const char *folder, size_t *size)
{
    char path[PATH_MAX + sizeof CUBIN_NAME];
    struct stat status;
    char *data = NULL;
    int fd;

    snprintf(path, sizeof path, "%s/" CUBIN_NAME, folder);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        status.st_size < LARGEST_FILE)
        data = input_read(fd, (size_t)status.st_size);
    if (data)
        *size = (size_t)status.st_size;
    if (fd >= 0)
        close(fd);
    return data;
}

/* Infos and warnings are the assembler's, but for one of merging. */
static void take_infos(struct nvJitLink *link, const struct minilink *made)
{
    const char *line = minilink_info_log(made, NULL);

    while (*line) {
        size_t size = strcspn(line, "\n");
        char *copy = strndup(line, size + (line[size] == '\n'));

        if (copy && !strstr(copy, "Mercury sections of "))
            log_add_messages(&link->infos, copy);
        link->infos.is_lost |= !copy;
        free(copy);
        line += size + (line[size] == '\n');
    }
}

static nvJitLinkResult result_of(struct nvJitLink *link, int code, const char *name)
{
    switch (code) {
    case MINILINK_OK:
        return NVJITLINK_SUCCESS;
    case MINILINK_WRONG_INPUT:
    case MINILINK_FAILED:
    case MINILINK_USAGE: /* options that the assembler does not take */
    case MINILINK_NOT_RELOCATABLE:
        log_printf(&link->errors, "'%s': the PTX cannot be assembled\n", name);
        return NVJITLINK_ERROR_PTX_COMPILE;
    default:
        return NVJITLINK_ERROR_INTERNAL;
    }
}

/* The real library hands each -arch on, and ptxas takes the last one. */
static void warn_of_targets(struct nvJitLink *link, unsigned changes)
{
    while (changes-- > 0)
        log_printf(&link->infos, "warning : incompatible redefinition for option 'gpu-name', the "
                                 "last value of this option was used\n");
}

/* Links the one input, in a folder that is there. What needs no assembler is handed on as it is. */
static nvJitLinkResult assemble_in(struct nvJitLink *link, const struct settings *settings,
                                   const char *folder, const struct input *input)
{
    struct minilink *made;
    struct words words = {0};
    nvJitLinkResult result;
    size_t cubin_size = 0;
    char *cubin;
    int code;

    settings_input_words(settings, link->ptxas, folder, &words);
    code = link_begin(link, &made, &words);
    if (code == MINILINK_OK)
        code = minilink_add_data(made, input->type, input->data, input->size, input->name);
    if (code == MINILINK_OK)
        code = minilink_complete(made);
    cubin = code == MINILINK_OK ? read_cubin(folder, &cubin_size) : NULL;
    if (code == MINILINK_OK && !cubin && input->type != MINILINK_INPUT_PTX) {
        minilink_destroy(&made);
        return input_hand_on(link, input->type, input->data, input->size, input->name);
    }
    warn_of_targets(link, settings->target_changes);
    link_take_errors(link, made);
    take_infos(link, made);
    minilink_destroy(&made);
    result = result_of(link, code, input->name);
    if (result != NVJITLINK_SUCCESS)
        return result;
    result = cubin ? input_hand_on(link, MINILINK_INPUT_CUBIN, cubin, cubin_size, input->name)
                   : NVJITLINK_ERROR_INTERNAL;
    free(cubin);
    return result;
}

static nvJitLinkResult assemble(struct nvJitLink *link, const struct settings *settings,
                                const struct input *input)
{
    char *folder = make_folder(&link->errors);
    nvJitLinkResult result;

    if (!folder)
        return NVJITLINK_ERROR_INTERNAL;
    result = assemble_in(link, settings, folder, input);
    remove_folder(folder);
    free(folder);
    return result;
}

nvJitLinkResult input_assemble(struct nvJitLink *link, enum minilink_input type, const void *data,
                               size_t size, const char *name)
{
    return assemble(link, &link->settings, &(struct input){type, data, size, name});
}

/* With no option but the target: the others may be wrong, which nobody sees without an input. */
nvJitLinkResult input_add_nothing(struct nvJitLink *link)
{
    static const char empty[] = ".version 6.3\n.target sm_75\n.address_size 64\n";
    const struct settings settings = {
        .sm = link->settings.sm, .suffix = link->settings.suffix, .level = -1};

    return assemble(link, &settings,
                    &(struct input){MINILINK_INPUT_PTX, empty, sizeof empty - 1, "empty"});
}
