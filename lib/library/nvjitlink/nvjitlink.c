/* nvjitlink.c: what the functions do that programs call (exports.c).
 *
 * The results are those of libnvJitLink 13.0 where they could be measured. Where that one crashes
 * (NULL among the options, data that is NULL, completing a link with wrong options), there is a
 * result here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "library/nvjitlink/link.h"
#include "library/nvjitlink/toolkit.h"

void link_take_errors(struct nvJitLink *link, const struct minilink *made)
{
    log_add_messages(&link->errors, minilink_error_log(made, NULL));
}

void link_take_infos(struct nvJitLink *link, const struct minilink *made)
{
    log_add_messages(&link->infos, minilink_info_log(made, NULL));
}

int link_begin(struct nvJitLink *link, struct minilink **made, struct words *words)
{
    int code = MINILINK_NO_MEMORY;

    *made = NULL;
    if (!words->is_lost)
        code = minilink_create(made, words->list, words->count);
    words_free(words);
    if (code != MINILINK_OK) {
        link_take_errors(link, *made);
        minilink_destroy(made);
    }
    return code;
}

/* With -ptx what is called need not be among the inputs; then all of them stays visible, though,
 * which changes the PTX of those that are whole. So there are two links, and the second is made
 * when the first cannot be. */
static nvJitLinkResult begin(struct nvJitLink *link)
{
    const struct settings *settings = &link->settings;
    struct words words = {0};
    size_t errors = link->errors.size;
    int code;

    if (settings->is_lto)
        link->library = toolkit_library(&link->errors);
    if (link->errors.size > errors)
        return NVJITLINK_ERROR_INTERNAL;
    link->ptxas = toolkit_ptxas(link->library);
    settings_program_words(settings, link->library, link->ptxas, false, &words);
    code = link_begin(link, &link->link, &words);
    if (settings->is_ptx && settings->is_split)
        log_printf(&link->infos, "-split-compile-extended is -split-compile with -ptx\n");
    if (code == MINILINK_OK && settings->is_ptx) {
        settings_program_words(settings, link->library, link->ptxas, true, &words);
        code = link_begin(link, &link->open, &words);
    }
    if (code == MINILINK_USAGE)
        return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
    return code == MINILINK_OK ? NVJITLINK_SUCCESS : NVJITLINK_ERROR_INTERNAL;
}

/* A link without options is refused where the thread's stack is too small. All else would be, too,
 * but the search for a toolkit comes first, which has paths on the stack. */
static nvJitLinkResult check_stack(struct nvJitLink *link)
{
    struct words none = {0};
    struct minilink *made;
    int code = link_begin(link, &made, &none);

    minilink_destroy(&made);
    return code == MINILINK_OK ? NVJITLINK_SUCCESS : NVJITLINK_ERROR_INTERNAL;
}

nvJitLinkResult link_create(nvJitLinkHandle *handle, uint32_t count, const char *const *options,
                            unsigned major)
{
    struct nvJitLink *link;

    if (!handle || !options)
        return NVJITLINK_ERROR_NULL_INPUT;
    *handle = NULL;
    link = calloc(1, sizeof *link);
    if (!link)
        return NVJITLINK_ERROR_INTERNAL;
    link->start = clock_now();
    link->created = check_stack(link);
    if (link->created == NVJITLINK_SUCCESS)
        link->created = settings_read(&link->settings, options, count, &link->errors);
    link->settings.major = major;
    if (link->created == NVJITLINK_SUCCESS)
        link->created = begin(link);
    *handle = link;
    return link->created;
}

nvJitLinkResult link_destroy(nvJitLinkHandle *handle)
{
    struct nvJitLink *link = handle ? *handle : NULL;

    if (!link)
        return NVJITLINK_ERROR_NULL_INPUT;
    *handle = NULL;
    minilink_destroy(&link->link);
    minilink_destroy(&link->open);
    input_free_waiting(link);
    settings_free(&link->settings);
    log_free(&link->errors);
    log_free(&link->infos);
    free(link->library);
    free(link->ptxas);
    free(link);
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult link_check_open(struct nvJitLink *link)
{
    if (!link->is_complete)
        return NVJITLINK_SUCCESS;
    log_printf(&link->errors, "the link is complete already\n");
    return NVJITLINK_ERROR_INTERNAL;
}

nvJitLinkResult link_add_data(nvJitLinkHandle handle, nvJitLinkInputType type, const void *data,
                              size_t size, const char *name)
{
    char number[32];

    if (!handle || (!data && size))
        return NVJITLINK_ERROR_NULL_INPUT;
    if (handle->created != NVJITLINK_SUCCESS)
        return handle->created;
    if (size == 0)
        return NVJITLINK_ERROR_INVALID_INPUT;
    snprintf(number, sizeof number, "input %zu", handle->input_count + 1);
    return input_add(handle, type, data, size, name ? name : number);
}

nvJitLinkResult link_add_file(nvJitLinkHandle handle, nvJitLinkInputType type, const char *path)
{
    if (!handle || !path)
        return NVJITLINK_ERROR_NULL_INPUT;
    if (handle->created != NVJITLINK_SUCCESS)
        return handle->created;
    return input_add_file(handle, type, path);
}

/* Milliseconds from `start` on; *start is now then. */
static double lap(uint64_t *start)
{
    uint64_t now = clock_now(), passed = now - *start;

    *start = now;
    return (double)passed / 1e6;
}

/* Whether the inputs are what the options want. */
static nvJitLinkResult check_inputs(struct nvJitLink *link)
{
    const struct settings *settings = &link->settings;

    if (settings->is_ptx && link->has_other_code) {
        log_printf(&link->errors, "-ptx needs LTO-IR in all inputs\n");
        return NVJITLINK_ERROR_INCORRECT_INPUT_TYPE;
    }
    if (settings->is_lto && !link->has_ltoir) {
        log_printf(&link->errors, "-lto needs an input with LTO-IR\n");
        return NVJITLINK_ERROR_NVVM_COMPILE;
    }
    return link->has_input ? NVJITLINK_SUCCESS : input_add_nothing(link);
}

/* Where all inputs are LTO-IR, what is wrong is found when its PTX is compiled as a whole. */
static nvJitLinkResult result_of(const struct nvJitLink *link, int code)
{
    switch (code) {
    case MINILINK_OK:
        return NVJITLINK_SUCCESS;
    case MINILINK_NVVM_ERROR:
        return NVJITLINK_ERROR_NVVM_COMPILE;
    case MINILINK_FAILED:
        if (link->settings.is_lto && !link->library)
            return NVJITLINK_ERROR_NVVM_COMPILE;
        return link->settings.is_lto && !link->has_other_code ? NVJITLINK_ERROR_PTX_COMPILE
                                                              : NVJITLINK_ERROR_INTERNAL;
    case MINILINK_USAGE: /* of options, those that an assembler does not take are found now */
        return NVJITLINK_ERROR_PTX_COMPILE;
    default:
        return NVJITLINK_ERROR_INTERNAL;
    }
}

static nvJitLinkResult complete(struct nvJitLink *link)
{
    int code = minilink_complete(link->link);

    link->result = link->link;
    if (code == MINILINK_FAILED && link->open) {
        code = minilink_complete(link->open);
        link->result = link->open;
    }
    link_take_errors(link, link->result);
    link_take_infos(link, link->result);
    if (code == MINILINK_OK)
        return NVJITLINK_SUCCESS;
    link->result = NULL;
    if (link->settings.is_lto && !link->library)
        log_printf(&link->errors,
                   "no libnvJitLink of a CUDA toolkit was found for LTO-IR: MINILINK_NVJITLINK "
                   "or CUDA_HOME may say where there is one\n");
    return result_of(link, code);
}

nvJitLinkResult link_complete(nvJitLinkHandle handle)
{
    nvJitLinkResult result;

    if (!handle)
        return NVJITLINK_ERROR_NULL_INPUT;
    if (handle->created != NVJITLINK_SUCCESS)
        return handle->created;
    result = link_check_open(handle);
    if (result != NVJITLINK_SUCCESS)
        return result;
    if (handle->settings.is_timed)
        log_printf(&handle->infos, "nvJitLink time until Complete: %f\n", lap(&handle->start));
    result = check_inputs(handle);
    if (result == NVJITLINK_SUCCESS)
        result = input_hand_on_waiting(handle);
    if (result == NVJITLINK_SUCCESS)
        result = complete(handle);
    handle->is_complete = true;
    if (handle->settings.is_timed)
        log_printf(&handle->infos, "nvJitLinkComplete time to finish: %f\n", lap(&handle->start));
    return handle->errors.is_lost || handle->infos.is_lost ? NVJITLINK_ERROR_INTERNAL : result;
}

/* One of both kinds of results, with its size, all bytes that are to be copied. What is not there
 * is another result for PTX that was not asked for (measured). */
static nvJitLinkResult find_result(const struct nvJitLink *link, bool is_ptx, const void **bytes,
                                   size_t *size)
{
    if (is_ptx && !link->settings.is_ptx)
        return NVJITLINK_ERROR_INVALID_INPUT;
    if (is_ptx)
        *bytes = minilink_ptx(link->result, size);
    else
        *bytes = minilink_cubin(link->result, size);
    *size += is_ptx;
    return *bytes ? NVJITLINK_SUCCESS : NVJITLINK_ERROR_INTERNAL;
}

nvJitLinkResult link_get_size(const struct nvJitLink *link, bool is_ptx, size_t *size)
{
    const void *bytes;
    nvJitLinkResult result;
    size_t count = 0;

    if (!link || !size)
        return NVJITLINK_ERROR_NULL_INPUT;
    result = find_result(link, is_ptx, &bytes, &count);
    if (result == NVJITLINK_SUCCESS)
        *size = count;
    return result;
}

nvJitLinkResult link_get_bytes(const struct nvJitLink *link, bool is_ptx, void *buffer)
{
    const void *bytes;
    nvJitLinkResult result;
    size_t count = 0;

    if (!link || !buffer)
        return NVJITLINK_ERROR_NULL_INPUT;
    result = find_result(link, is_ptx, &bytes, &count);
    if (result == NVJITLINK_SUCCESS)
        memcpy(buffer, bytes, count);
    return result;
}

static const struct log *find_log(const struct nvJitLink *link, bool is_errors)
{
    if (!link)
        return NULL;
    return is_errors ? &link->errors : &link->infos;
}

nvJitLinkResult link_get_log_size(const struct nvJitLink *link, bool is_errors, size_t *size)
{
    const struct log *log = find_log(link, is_errors);

    if (!log || !size)
        return NVJITLINK_ERROR_NULL_INPUT;
    *size = log->size ? log->size + 1 : 0;
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult link_get_log(const struct nvJitLink *link, bool is_errors, char *buffer)
{
    const struct log *log = find_log(link, is_errors);

    if (!log || !buffer)
        return NVJITLINK_ERROR_NULL_INPUT;
    memcpy(buffer, log->size ? log->data : "", log->size + 1);
    return NVJITLINK_SUCCESS;
}
