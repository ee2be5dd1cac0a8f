/* inputs.c: what is added, looked at and handed on.
 *
 * What NVIDIA's library says when an input is added was measured on 13.0: a type that is not the
 * input's, code for other targets only, LTO-IR without -lto. What cannot be linked and does no harm
 * (host objects without device code, cubins that are linked already) is left out without a word. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "library/nvjitlink/contents.h"
#include "library/nvjitlink/link.h"
#include "os/descriptor.h"

#define LARGEST_FILE ((off_t)1 << 40)

static nvJitLinkResult wrong_type(struct nvJitLink *link, nvJitLinkInputType type,
                                  nvJitLinkInputType found, const char *name)
{
    if (type == NVJITLINK_INPUT_ANY) {
        log_printf(&link->errors, "'%s' is nothing that can be linked\n", name);
        return NVJITLINK_ERROR_UNRECOGNIZED_INPUT;
    }
    if (type <= NVJITLINK_INPUT_NONE || type > NVJITLINK_INPUT_INDEX)
        log_printf(&link->errors, "'%s': there is no input type %d\n", name, (int)type);
    else
        log_printf(&link->errors, "'%s' is %s, not %s\n", name, contents_type_name(found),
                   contents_type_name(type));
    return NVJITLINK_ERROR_INCORRECT_INPUT_TYPE;
}

static nvJitLinkResult needs_lto(struct nvJitLink *link, const char *name)
{
    log_printf(&link->errors, "'%s' is LTO-IR, which is linked with -lto only\n", name);
    return NVJITLINK_ERROR_LTO_NOT_ENABLED;
}

nvJitLinkResult input_hand_on(struct nvJitLink *link, enum minilink_input input, const void *data,
                              size_t size, const char *name)
{
    int code = minilink_add_data(link->link, input, data, size, name);

    link->has_input = true;
    if (code != MINILINK_OK)
        link_take_errors(link, link->link);
    if (code == MINILINK_OK && link->open)
        code = minilink_add_data(link->open, input, data, size, name);
    if (code == MINILINK_OK)
        return NVJITLINK_SUCCESS;
    return code == MINILINK_WRONG_INPUT ? NVJITLINK_ERROR_INVALID_INPUT : NVJITLINK_ERROR_INTERNAL;
}

static bool reserve_waiting(struct nvJitLink *link)
{
    size_t room = link->waiting_room ? link->waiting_room * 2 : 8;
    struct waiting *list;

    if (link->waiting_count < link->waiting_room)
        return true;
    list = realloc(link->waiting, room * sizeof *list);
    if (!list)
        return false;
    link->waiting = list;
    link->waiting_room = room;
    return true;
}

/* Measured: what comes of LTO-IR stands behind the code of all other inputs. */
static nvJitLinkResult let_wait(struct nvJitLink *link, enum minilink_input input, const void *data,
                                size_t size, const char *name)
{
    struct waiting waiting = {input, NULL, size, NULL};

    if (reserve_waiting(link)) {
        waiting.data = malloc(size);
        waiting.name = strdup(name);
    }
    if (!waiting.data || !waiting.name) {
        free(waiting.data);
        free(waiting.name);
        return NVJITLINK_ERROR_INTERNAL;
    }
    memcpy(waiting.data, data, size);
    link->has_input = true;
    link->waiting[link->waiting_count++] = waiting;
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult input_hand_on_waiting(struct nvJitLink *link)
{
    nvJitLinkResult result = NVJITLINK_SUCCESS;

    for (size_t i = 0; i < link->waiting_count && result == NVJITLINK_SUCCESS; i++) {
        const struct waiting *waiting = &link->waiting[i];

        result = input_hand_on(link, waiting->input, waiting->data, waiting->size, waiting->name);
    }
    input_free_waiting(link);
    return result;
}

void input_free_waiting(struct nvJitLink *link)
{
    for (size_t i = 0; i < link->waiting_count; i++) {
        free(link->waiting[i].data);
        free(link->waiting[i].name);
    }
    free(link->waiting);
    link->waiting = NULL;
    link->waiting_count = link->waiting_room = 0;
}

/* A cubin that cannot be linked for the target is told now, by a link that ends before it does
 * anything. */
static nvJitLinkResult check_cubin(struct nvJitLink *link, const void *data, size_t size,
                                   const char *name)
{
    struct words words = {0};
    struct minilink *made;
    int code;

    settings_check_words(&link->settings, &words);
    code = link_begin(link, &made, &words);
    if (code == MINILINK_OK)
        code = minilink_add_data(made, MINILINK_INPUT_CUBIN, data, size, name);
    if (code == MINILINK_OK)
        code = minilink_complete(made);
    link_take_errors(link, made);
    minilink_destroy(&made);
    if (code == MINILINK_OK)
        return NVJITLINK_SUCCESS;
    return code == MINILINK_FAILED || code == MINILINK_WRONG_INPUT ? NVJITLINK_ERROR_INVALID_INPUT
                                                                   : NVJITLINK_ERROR_INTERNAL;
}

static nvJitLinkResult add_cubin(struct nvJitLink *link, const void *data, size_t size,
                                 const char *name)
{
    nvJitLinkResult result = check_cubin(link, data, size, name);

    link->has_other_code = true;
    return result == NVJITLINK_SUCCESS ? input_hand_on(link, MINILINK_INPUT_CUBIN, data, size, name)
                                       : result;
}

/* Fatbins, and what has them in it. */
static nvJitLinkResult add_container(struct nvJitLink *link, nvJitLinkInputType type,
                                     const void *data, size_t size, const char *name)
{
    static const enum minilink_input inputs[] = {
        [NVJITLINK_INPUT_FATBIN] = MINILINK_INPUT_FATBIN,
        [NVJITLINK_INPUT_OBJECT] = MINILINK_INPUT_OBJECT,
        [NVJITLINK_INPUT_LIBRARY] = MINILINK_INPUT_ARCHIVE,
    };
    const struct contents contents = contents_look(data, size, link->settings.sm);
    bool has_code = contents.has_ptx || contents.has_cubin;
    bool is_library = type == NVJITLINK_INPUT_LIBRARY;

    if (type == NVJITLINK_INPUT_FATBIN && contents.is_cut) {
        log_printf(&link->errors, "'%s' is a damaged fatbin\n", name);
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    if (contents.has_ltoir && !has_code && !link->settings.is_lto)
        return needs_lto(link, name);
    if (contents.fatbin_count && !contents.has_ltoir && !has_code && !is_library) {
        log_printf(&link->errors, "'%s' has no code for sm_%u\n", name, link->settings.sm);
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    if (type == NVJITLINK_INPUT_OBJECT && !contents.fatbin_count)
        return NVJITLINK_SUCCESS;
    link->has_ltoir |= contents.has_ltoir;
    link->has_other_code |= !contents.has_ltoir;
    if (contents.has_ltoir && link->settings.is_lto)
        return let_wait(link, inputs[type], data, size, name);
    if (contents.fatbin_count == 1 && contents.has_ptx && !contents.has_cubin && !is_library)
        return input_assemble(link, inputs[type], data, size, name);
    return input_hand_on(link, inputs[type], data, size, name);
}

static nvJitLinkResult add_ltoir(struct nvJitLink *link, const void *data, size_t size,
                                 const char *name)
{
    unsigned made = contents_ltoir_target(data, size);

    if (!link->settings.is_lto)
        return needs_lto(link, name);
    if (made > link->settings.sm) {
        log_printf(&link->errors, "'%s': %u in LTOIR arch newer than target arch\n", name, made);
        return NVJITLINK_ERROR_ARCH_MISMATCH;
    }
    link->has_ltoir = true;
    return let_wait(link, MINILINK_INPUT_LTOIR, data, size, name);
}

static nvJitLinkResult add(struct nvJitLink *link, nvJitLinkInputType type, const void *data,
                           size_t size, const char *name)
{
    nvJitLinkInputType found = contents_type(data, size);
    bool fits = type == found || (type == NVJITLINK_INPUT_ANY && found != NVJITLINK_INPUT_NONE) ||
                (type == NVJITLINK_INPUT_OBJECT && found == NVJITLINK_INPUT_CUBIN);

    if (!fits || found == NVJITLINK_INPUT_NONE)
        return wrong_type(link, type, found, name);
    if (link_check_open(link) != NVJITLINK_SUCCESS)
        return NVJITLINK_ERROR_INTERNAL;
    switch (found) {
    case NVJITLINK_INPUT_CUBIN:
        return add_cubin(link, data, size, name);
    case NVJITLINK_INPUT_PTX:
        link->has_other_code = true;
        return input_assemble(link, MINILINK_INPUT_PTX, data, size, name);
    case NVJITLINK_INPUT_LTOIR:
        return add_ltoir(link, data, size, name);
    default:
        return add_container(link, found, data, size, name);
    }
}

nvJitLinkResult input_add(struct nvJitLink *link, nvJitLinkInputType type, const void *data,
                          size_t size, const char *name)
{
    nvJitLinkResult result = add(link, type, data, size, name);

    link->input_count += result == NVJITLINK_SUCCESS;
    return result;
}

static nvJitLinkResult add_thin(struct nvJitLink *link, nvJitLinkInputType type, const char *path)
{
    int code;

    if (type != NVJITLINK_INPUT_LIBRARY && type != NVJITLINK_INPUT_ANY)
        return wrong_type(link, type, NVJITLINK_INPUT_LIBRARY, path);
    if (link_check_open(link) != NVJITLINK_SUCCESS)
        return NVJITLINK_ERROR_INTERNAL;
    code = minilink_add_file(link->link, MINILINK_INPUT_ARCHIVE, path);
    if (code == MINILINK_OK && link->open)
        code = minilink_add_file(link->open, MINILINK_INPUT_ARCHIVE, path);
    if (code != MINILINK_OK) {
        link_take_errors(link, link->link);
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    link->has_input = true;
    link->has_ltoir = true; /* perhaps: what is in it is not looked at */
    link->input_count++;
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult no_file(struct nvJitLink *link, const char *path, const char *why)
{
    log_printf(&link->errors, "could not read '%s': %s\n", path, why);
    return NVJITLINK_ERROR_INVALID_INPUT;
}

/* Reads `size` bytes, which are the caller's. NULL when there are fewer, or no memory for them. */
static char *read_all(int fd, size_t size)
{
    char *data = malloc(size);

    if (data && descriptor_read(fd, data, size, 0))
        return data;
    free(data);
    return NULL;
}

nvJitLinkResult input_add_file(struct nvJitLink *link, nvJitLinkInputType type, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    nvJitLinkResult result;
    char *data;

    if (fd < 0)
        return no_file(link, path, strerror(errno));
    if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_size == 0 ||
        status.st_size > LARGEST_FILE) {
        close(fd);
        return no_file(link, path, "it is no file, or empty");
    }
    data = read_all(fd, (size_t)status.st_size);
    close(fd);
    if (!data)
        return no_file(link, path, "it became shorter, or memory ran out");
    /* It names files beside it: minilink reads it by its path. */
    if (text_starts((struct text){data, (size_t)status.st_size}, TEXT("!<thin>\n")))
        result = add_thin(link, type, path);
    else
        result = input_add(link, type, data, (size_t)status.st_size, path);
    free(data);
    return result;
}
