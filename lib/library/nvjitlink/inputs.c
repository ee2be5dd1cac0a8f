/* inputs.c: what is added, looked at and handed on.
 *
 * What NVIDIA's library says when an input is added was measured on 13.0: a type that is not the
 * input's, code for other targets only, LTO-IR without -lto. What cannot be linked and does no harm
 * (host objects without device code, cubins that are linked already) is left out without a word. */

#include "base/context.h"
#include "base/text.h"
#include "distribute/files.h"
#include "library/nvjitlink/contents.h"
#include "library/nvjitlink/link.h"

#define LARGEST_FILE ((size_t)1 << 40)

static nvJitLinkResult wrong_type(struct nvJitLink *link, nvJitLinkInputType type,
                                  nvJitLinkInputType found, const char *name)
{
    if (type == NVJITLINK_INPUT_ANY) {
        buffer_printf(&link->errors, "'%s' is nothing that can be linked\n", name);
        return NVJITLINK_ERROR_UNRECOGNIZED_INPUT;
    }
    if (type <= NVJITLINK_INPUT_NONE || type > NVJITLINK_INPUT_INDEX)
        buffer_printf(&link->errors, "'%s': there is no input type %d\n", name, (int)type);
    else
        buffer_printf(&link->errors, "'%s' is %s, not %s\n", name, contents_type_name(found),
                      contents_type_name(type));
    return NVJITLINK_ERROR_INCORRECT_INPUT_TYPE;
}

static nvJitLinkResult needs_lto(struct nvJitLink *link, const char *name)
{
    buffer_printf(&link->errors, "'%s' is LTO-IR, which is linked with -lto only\n", name);
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

/* Measured: what comes of LTO-IR stands behind the code of all other inputs. */
static nvJitLinkResult let_wait(struct nvJitLink *link, enum minilink_input input, const void *data,
                                size_t size, const char *name)
{
    struct arena *arena = &link->waiting_arena;

    link->has_input = true;
    ARENA_PUSH(arena, link->waiting, link->waiting_count, link->waiting_capacity) =
        (struct waiting){input, arena_copy(arena, data, size, 1), size,
                         arena_string(arena, text_of(name))};
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult input_hand_on_waiting(struct nvJitLink *link)
{
    nvJitLinkResult result = NVJITLINK_SUCCESS;

    for (size_t i = 0; i < link->waiting_count && result == NVJITLINK_SUCCESS; i++) {
        const struct waiting *waiting = &link->waiting[i];

        result = input_hand_on(link, waiting->input, waiting->data, waiting->size, waiting->name);
    }
    arena_free(&link->waiting_arena);
    link->waiting_count = 0;
    return result;
}

/* A cubin that cannot be linked for the target is told now, by a link that ends before it does
 * anything. */
static nvJitLinkResult check_cubin(struct nvJitLink *link, const void *data, size_t size,
                                   const char *name)
{
    struct words words = {.arena = &link->arena};
    int code;

    settings_check_words(&link->settings, &words);
    code = link_begin(link, &link->trial, &words);
    if (code == MINILINK_OK)
        code = minilink_add_data(link->trial, MINILINK_INPUT_CUBIN, data, size, name);
    if (code == MINILINK_OK)
        code = minilink_complete(link->trial);
    link_take_errors(link, link->trial);
    minilink_destroy(&link->trial);
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
        buffer_printf(&link->errors, "'%s' is a damaged fatbin\n", name);
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    if (contents.has_ltoir && !has_code && !link->settings.is_lto)
        return needs_lto(link, name);
    if (contents.fatbin_count && !contents.has_ltoir && !has_code && !is_library) {
        buffer_printf(&link->errors, "'%s' has no code for sm_%u\n", name, link->settings.sm);
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
        buffer_printf(&link->errors, "'%s': %u in LTOIR arch newer than target arch\n", name, made);
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
    buffer_printf(&link->errors, "could not read '%s': %s\n", path, why);
    return NVJITLINK_ERROR_INVALID_INPUT;
}

nvJitLinkResult input_add_file(struct nvJitLink *link, nvJitLinkInputType type, const char *path)
{
    struct file_contents contents;
    nvJitLinkResult result;

    if (!files_read(&contents, path, LARGEST_FILE))
        return no_file(link, path, files_why());
    CONTEXT_DEFER(files_cleanup, &contents);
    /* A thin archive names files beside it: minilink reads it by its path. */
    if (contents.size == 0)
        result = no_file(link, path, "it is empty");
    else if (text_starts((struct text){contents.data, contents.size}, TEXT("!<thin>\n")))
        result = add_thin(link, type, path);
    else
        result = input_add(link, type, contents.data, contents.size, path);
    return result;
}
