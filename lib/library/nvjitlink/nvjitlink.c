/* nvjitlink.c: the functions that programs call, under all their names.
 *
 * Compiled once for each library: with NVJITLINK_MAJOR 12 for libnvJitLink.so.12, without it for
 * libnvJitLink.so.13. The results are those of libnvJitLink where they could be measured. Where
 * that one crashes (NULL among the options, data that is NULL, completing a link with wrong
 * options), these return an error. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "library/handle.h"
#include "library/nvjitlink/internal.h"
#include "library/nvjitlink/versions.def"
#include "link/state.h"

/* With -ptx, called functions may be undefined. A link that permits that keeps all symbols visible,
 * though, which changes the PTX of complete programs. So there are two links, and the second is
 * completed only if the first one fails. */
static nvJitLinkResult begin_call(struct nvJitLink *link)
{
    struct settings *settings = &link->settings;
    size_t errors = link->errors.size;
    int code;

    if (settings->is_lto)
        settings->library = toolkit_library(&link->errors);
    if (link->errors.size > errors)
        return NVJITLINK_ERROR_INTERNAL;
    settings->ptxas = toolkit_ptxas(settings->library);
    code = link_begin(link, &link->link, settings, FOR_PROGRAM);
    if (code == MINILINK_OK)
        link->target = (struct contents_target){
            settings->arch, state_find_toolkit(&link->link->options.link, NULL)};
    if (settings->is_ptx && settings->is_split)
        buffer_printf(&link->infos, "-split-compile-extended is -split-compile with -ptx\n");
    if (code == MINILINK_OK && settings->is_ptx)
        code = link_begin(link, &link->open, settings, FOR_OPEN_PROGRAM);
    if (code == MINILINK_USAGE)
        return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
    return code == MINILINK_OK ? NVJITLINK_SUCCESS : NVJITLINK_ERROR_INTERNAL;
}

struct call {
    struct nvJitLink *link;
    nvJitLinkResult (*function)(const struct call *call);
    nvJitLinkResult result;
    const char *const *options; /* of create_link(): */
    uint32_t count;
    nvJitLinkInputType type; /* of an input: */
    struct bytes data;
    const char *name;
};

static enum link_code run_entered(void *argument)
{
    struct call *call = argument;

    call->result = call->function(call);
    return LINK_OK;
}

/* Makes the call under a recovery point; without memory for it the result is an internal error. All
 * calls on a link that could not be created return the result of its creation. */
static nvJitLinkResult run_unlogged(struct call call)
{
    enum link_code code;

    if (call.link->created != NVJITLINK_SUCCESS)
        return call.link->created;
    code = handle_enter(NULL, run_entered, &call);
    minilink_destroy(&call.link->trial);
    return code == LINK_OK ? call.result : NVJITLINK_ERROR_INTERNAL;
}

static nvJitLinkResult create_handle(const struct call *call)
{
    struct nvJitLink *link = call->link;

    /* A link without options fails if the thread's stack is too small. Later links would fail, too,
     * but the search for a toolkit comes first, which has paths on the stack. */
    if (link_begin(link, &link->trial, &link->settings, FOR_NOTHING) != MINILINK_OK)
        return NVJITLINK_ERROR_INTERNAL;
    return settings_read(&link->settings, &link->arena, call->options, call->count, &link->errors)
               ?: begin_call(link);
}

static nvJitLinkResult create_link(nvJitLinkHandle *handle, uint32_t count,
                                   const char *const *options, unsigned version)
{
    struct nvJitLink *link;

    if (!handle || !options)
        return NVJITLINK_ERROR_NULL_INPUT;
    *handle = NULL;
    link = calloc(1, sizeof *link);
    if (!link)
        return NVJITLINK_ERROR_INTERNAL;
    link->start = clock_now();
    link->settings.version = version;
    link->created = run_unlogged(
        (struct call){.link = link, .function = create_handle, .options = options, .count = count});
    *handle = link;
    return link->created;
}

static nvJitLinkResult destroy_link(nvJitLinkHandle *handle)
{
    struct nvJitLink *link = handle ? *handle : NULL;

    if (!link)
        return NVJITLINK_ERROR_NULL_INPUT;
    *handle = NULL;
    minilink_destroy(&link->link);
    minilink_destroy(&link->open);
    minilink_destroy(&link->ltoir);
    arena_free(&link->arena);
    buffer_free(&link->errors);
    buffer_free(&link->infos);
    free(link->settings.library);
    free(link->settings.ptxas);
    free(link);
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult add_of(const struct call *call)
{
    struct nvJitLink *link = call->link;
    char number[32];

    if (!call->data.data)
        return input_add_file(link, call->type, call->name);
    snprintf(number, sizeof number, "input %zu", link->input_count + 1);
    return input_add(link, call->type, call->data, call->name ? call->name : number);
}

static nvJitLinkResult add_data(nvJitLinkHandle handle, nvJitLinkInputType type, const void *data,
                                size_t size, const char *name)
{
    if (!handle || (!data && size))
        return NVJITLINK_ERROR_NULL_INPUT;
    if (size == 0)
        return handle->created ?: NVJITLINK_ERROR_INVALID_INPUT;
    return run_unlogged(
        (struct call){handle, add_of, .type = type, .data = {data, size}, .name = name});
}

static nvJitLinkResult add_file(nvJitLinkHandle handle, nvJitLinkInputType type, const char *path)
{
    if (!handle || !path)
        return NVJITLINK_ERROR_NULL_INPUT;
    return run_unlogged((struct call){handle, add_of, .type = type, .name = path});
}

/* Milliseconds since *start, which is set to the current time. */
static double lap(uint64_t *start)
{
    uint64_t now = clock_now(), passed = now - *start;

    *start = now;
    return (double)passed / 1e6;
}

static nvJitLinkResult check_added(struct nvJitLink *link)
{
    const struct settings *settings = &link->settings;

    if (settings->is_ptx && link->has_other_code)
        return link_fail(link, NVJITLINK_ERROR_INCORRECT_INPUT_TYPE,
                         "-ptx needs LTO-IR in all inputs");
    if (settings->is_lto && !link->has_ltoir)
        return link_fail(link, NVJITLINK_ERROR_NVVM_COMPILE, "-lto needs an input with LTO-IR");
    return link->has_input ? NVJITLINK_SUCCESS : input_add_nothing(link);
}

/* If all inputs are LTO-IR, errors are found when their PTX is assembled as a whole. */
static nvJitLinkResult result_of(const struct nvJitLink *link, int code)
{
    bool has_failed = code == MINILINK_FAILED && link->settings.is_lto;

    if (code == MINILINK_NVVM_ERROR || (has_failed && !link->settings.library))
        return NVJITLINK_ERROR_NVVM_COMPILE;
    /* options that an assembler does not take are found only now */
    if (code == MINILINK_USAGE || (has_failed && !link->has_other_code))
        return NVJITLINK_ERROR_PTX_COMPILE;
    return NVJITLINK_ERROR_INTERNAL;
}

static nvJitLinkResult link_all(struct nvJitLink *link)
{
    int code = minilink_complete(link->link);

    link->result = link->link;
    if (code == MINILINK_FAILED && link->open) {
        code = minilink_complete(link->open);
        link->result = link->open;
    }
    link_take_errors(link, link->result);
    link_take_infos(link, link->result, NULL);
    if (code == MINILINK_OK)
        return NVJITLINK_SUCCESS;
    link->result = NULL;
    if (link->settings.is_lto && !link->settings.library)
        buffer_printf(&link->errors,
                      "no libnvJitLink of a CUDA toolkit was found for LTO-IR: MINILINK_NVJITLINK "
                      "or CUDA_HOME may say where there is one\n");
    return result_of(link, code);
}

#define SIZE_TOLD " LTOIR Container created"

/* Beside warnings, which the other compilation has given, too, if there was one: the library's line
 * about the size, which minilink has as an info of -v. */
static void take_ltoir_infos(struct nvJitLink *link, const struct minilink *made)
{
    static const struct text start = TEXT("libnvJitLink: ");
    struct text log = text_of(minilink_info_log(made, NULL)), line;

    if (link->settings.kind == TARGET_LTOIR)
        link_take_infos(link, made, SIZE_TOLD);
    while (text_scan_line(&log, &line)) {
        const char *found = memmem(line.data, line.size, start.data, start.size);

        if (found && memmem(line.data, line.size, SIZE_TOLD, strlen(SIZE_TOLD)))
            buffer_printf(&link->infos, "INFO: %.*s\n",
                          TEXT_ARG(text_drop(line, (size_t)(found - line.data) + start.size)));
    }
}

/* Makes the LTO-IR of a complete link, if it has not been made.
 *
 * NVIDIA's library 13.4 and 13.5 make it on the way to PTX, under -lto, whatever the program is
 * then compiled to, of all LTO-IR and nothing else; -arch=lto_NN ends there. Here it is made when
 * it is asked for first, by a link of its own, since few programs ask. (Measured: it depends on
 * nothing but the inputs, the target and the choice of libnvvm, and takes a hundredth of the time
 * of the compilation.) */
static nvJitLinkResult make_ltoir(const struct call *call)
{
    struct nvJitLink *link = call->link;
    int code;

    if (link->ltoir)
        return NVJITLINK_SUCCESS;
    if (!link->is_complete || !link->waiting_count || !link->settings.library)
        return NVJITLINK_ERROR_INTERNAL;
    code = link_begin(link, &link->trial, &link->settings, FOR_LTOIR);
    for (size_t i = 0; code == MINILINK_OK && i < link->waiting_count; i++)
        code = input_add_to(link->trial, &link->waiting[i]);
    if (code == MINILINK_OK)
        code = minilink_complete(link->trial);
    if (code != MINILINK_OK) {
        link_take_errors(link, link->trial);
        link->waiting_count = 0; /* it is not tried, nor reported, again */
        return NVJITLINK_ERROR_INTERNAL;
    }
    take_ltoir_infos(link, link->trial);
    link->ltoir = link->trial;
    link->trial = NULL;
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult complete_handle(const struct call *call)
{
    struct nvJitLink *link = call->link;
    const struct settings *settings = &link->settings;
    nvJitLinkResult result = link_check_open(link);

    if (result != NVJITLINK_SUCCESS)
        return result;
    link->is_complete = true;
    if (settings->is_timed)
        buffer_printf(&link->infos, "nvJitLink time until Complete: %f\n", lap(&link->start));
    result = check_added(link);
    if (result != NVJITLINK_SUCCESS)
        link->waiting_count = 0; /* there is to be no LTO-IR, either */
    if (result == NVJITLINK_SUCCESS && settings->kind == TARGET_LTOIR && settings->is_lto &&
        !settings->is_ptx)
        result = make_ltoir(call) ? NVJITLINK_ERROR_NVVM_COMPILE : NVJITLINK_SUCCESS;
    else
        result = result ?: input_hand_on_waiting(link) ?: link_all(link);
    if (settings->is_timed)
        buffer_printf(&link->infos, "nvJitLinkComplete time to finish: %f\n", lap(&link->start));
    return result;
}

static nvJitLinkResult complete_link(nvJitLinkHandle handle)
{
    if (!handle)
        return NVJITLINK_ERROR_NULL_INPUT;
    return run_unlogged((struct call){.link = handle, .function = complete_handle});
}

/* What a link makes. */
enum link_output { OUTPUT_CUBIN, OUTPUT_PTX, OUTPUT_LTOIR };

/* Tells the size of one of them, or copies it; get_log() of the error log, or of the info log. One
 * of `size` and `buffer` is NULL. */
static nvJitLinkResult get_output(struct nvJitLink *link, enum link_output output, size_t *size,
                                  void *buffer)
{
    const void *bytes;
    size_t count = 0;

    if (!link || (!size && !buffer))
        return NVJITLINK_ERROR_NULL_INPUT;
    if ((output == OUTPUT_PTX && !link->settings.is_ptx) ||
        (output == OUTPUT_LTOIR && !link->settings.is_lto))
        return NVJITLINK_ERROR_INVALID_INPUT; /* measured: the cubin has another one */
    if (output == OUTPUT_LTOIR)
        run_unlogged((struct call){.link = link, .function = make_ltoir});
    bytes = output == OUTPUT_PTX
                ? minilink_ptx(link->result, &count)
                : minilink_cubin(output == OUTPUT_CUBIN ? link->result : link->ltoir, &count);
    if (!bytes)
        return NVJITLINK_ERROR_INTERNAL;
    count += output == OUTPUT_PTX; /* its NUL */
    if (buffer)
        memcpy(buffer, bytes, count);
    else
        *size = count;
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult get_log(const struct nvJitLink *link, bool is_errors, size_t *size,
                               char *buffer)
{
    const struct buffer *log;

    if (!link || (!size && !buffer))
        return NVJITLINK_ERROR_NULL_INPUT;
    log = is_errors ? &link->errors : &link->infos;
    if (size)
        *size = log->size ? log->size + 1 : 0;
    if (buffer) {
        memcpy(buffer, log->size ? log->data : "", log->size);
        buffer[log->size] = '\0';
    }
    return NVJITLINK_SUCCESS;
}

/* The exported functions. */

#ifndef NVJITLINK_MAJOR
#define NVJITLINK_MAJOR 13
#endif

#if NVJITLINK_MAJOR == 12
#define VERSIONS NVJITLINK_VERSIONS_12
#else
#define VERSIONS NVJITLINK_VERSIONS_13
#endif

#define ALIAS(major, minor, name, parameters)                                                      \
    nvJitLinkResult __##name##_##major##_##minor parameters                                        \
        __attribute__((alias(#name), visibility("default")));

/* The number of minor versions, which begin with 0. */
#define ONE(major, minor, ...) +1
#define NEWEST                 (VERSIONS(ONE, ) - 1)

/* Results that are new in 13.0, as programs of CUDA 12 know them: its headers end with
 * NVJITLINK_ERROR_FINALIZE. Most follow the header of 12.6, which defines the new names as old
 * ones; it lacks the last three: that of LTO-IR without -lto is measured on 12.9, the others are
 * those that it documents for the function. */
static nvJitLinkResult known(nvJitLinkResult result)
{
    static const nvJitLinkResult old[] = {
        [NVJITLINK_ERROR_NULL_INPUT] = NVJITLINK_ERROR_INVALID_INPUT,
        [NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS] = NVJITLINK_ERROR_INVALID_INPUT,
        [NVJITLINK_ERROR_INCORRECT_INPUT_TYPE] = NVJITLINK_ERROR_INVALID_INPUT,
        [NVJITLINK_ERROR_MISSING_FATBIN] = NVJITLINK_ERROR_INVALID_INPUT,
        [NVJITLINK_ERROR_ARCH_MISMATCH] = NVJITLINK_ERROR_INTERNAL,
        [NVJITLINK_ERROR_OUTDATED_LIBRARY] = NVJITLINK_ERROR_INTERNAL,
        [NVJITLINK_ERROR_LTO_NOT_ENABLED] = NVJITLINK_ERROR_INTERNAL,
        [NVJITLINK_ERROR_UNRECOGNIZED_ARCH] = NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
        [NVJITLINK_ERROR_UNSUPPORTED_ARCH] = NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
    };
    bool is_known = NVJITLINK_MAJOR > 12 || (size_t)result >= sizeof old / sizeof *old;

    return is_known || !old[result] ? result : old[result];
}

/* A function of the interface, which returns what `call` does. */
#define EXPORT(name, parameters, call)                                                             \
    VERSIONS(ALIAS, name, parameters)                                                              \
    nvJitLinkResult name parameters                                                                \
    {                                                                                              \
        return known(call);                                                                        \
    }

EXPORT(nvJitLinkCreate, (nvJitLinkHandle * handle, uint32_t count, const char *const *options),
       create_link(handle, count, options, NVJITLINK_MAJOR * 10 + NEWEST))
EXPORT(nvJitLinkDestroy, (nvJitLinkHandle * handle), destroy_link(handle))
EXPORT(nvJitLinkAddData,
       (nvJitLinkHandle handle, nvJitLinkInputType type, const void *data, size_t size,
        const char *name),
       add_data(handle, type, data, size, name))
EXPORT(nvJitLinkAddFile, (nvJitLinkHandle handle, nvJitLinkInputType type, const char *path),
       add_file(handle, type, path))
EXPORT(nvJitLinkComplete, (nvJitLinkHandle handle), complete_link(handle))
EXPORT(nvJitLinkGetLinkedCubinSize, (nvJitLinkHandle handle, size_t *size),
       get_output(handle, OUTPUT_CUBIN, size, NULL))
EXPORT(nvJitLinkGetLinkedCubin, (nvJitLinkHandle handle, void *cubin),
       get_output(handle, OUTPUT_CUBIN, NULL, cubin))
EXPORT(nvJitLinkGetLinkedPtxSize, (nvJitLinkHandle handle, size_t *size),
       get_output(handle, OUTPUT_PTX, size, NULL))
EXPORT(nvJitLinkGetLinkedPtx, (nvJitLinkHandle handle, char *ptx),
       get_output(handle, OUTPUT_PTX, NULL, ptx))
#if NVJITLINK_MAJOR > 12 /* measured: new in 13.2, with the names of 13.0 and 13.1, too */
EXPORT(nvJitLinkGetLinkedLTOIRSize, (nvJitLinkHandle handle, size_t *size),
       get_output(handle, OUTPUT_LTOIR, size, NULL))
EXPORT(nvJitLinkGetLinkedLTOIR, (nvJitLinkHandle handle, void *ltoir),
       get_output(handle, OUTPUT_LTOIR, NULL, ltoir))
#endif
EXPORT(nvJitLinkGetErrorLogSize, (nvJitLinkHandle handle, size_t *size),
       get_log(handle, true, size, NULL))
EXPORT(nvJitLinkGetErrorLog, (nvJitLinkHandle handle, char *log), get_log(handle, true, NULL, log))
EXPORT(nvJitLinkGetInfoLogSize, (nvJitLinkHandle handle, size_t *size),
       get_log(handle, false, size, NULL))
EXPORT(nvJitLinkGetInfoLog, (nvJitLinkHandle handle, char *log), get_log(handle, false, NULL, log))

nvJitLinkResult nvJitLinkVersion(unsigned *major, unsigned *minor)
{
    if (!major || !minor)
        return known(NVJITLINK_ERROR_NULL_INPUT);
    *major = NVJITLINK_MAJOR;
    *minor = NEWEST;
    return NVJITLINK_SUCCESS;
}

/* No header has this, but NVIDIA's libraries from 12.4 on export it. What it is for is not known:
 * it returns 0 for every number up to 13999 and for addresses, and writes nothing (measured on
 * 12.4, 12.9, 13.0 and 13.5). */
void *__nvJitLinkAPI(void) __attribute__((visibility("default")));
void *__nvJitLinkAPI(void)
{
    return NULL;
}
