/* assemble.c: PTX becomes machine code when it is added, as in NVIDIA's library, so that what is
 * wrong with it is told there, and that what is in one input changes no other's code.
 *
 * A link of minilink's with -r and the one input assembles it. Its result is not what is wanted, as
 * merging may leave things out (Mercury sections, beside texture references); the assembler's own
 * cubin is. */
#include <string.h>

#include "library/assembled.h"
#include "library/nvjitlink/link.h"

/* PTX that is to be assembled, or what it is in. */
struct input {
    enum minilink_input type;
    const void *data;
    size_t size;
    const char *name;
};

static nvJitLinkResult result_of(struct nvJitLink *link, int code, const char *name)
{
    switch (code) {
    case MINILINK_OK:
        return NVJITLINK_SUCCESS;
    case MINILINK_WRONG_INPUT:
    case MINILINK_FAILED:
    case MINILINK_USAGE: /* options that the assembler does not take */
    case MINILINK_NOT_RELOCATABLE:
        buffer_printf(&link->errors, "'%s': the PTX cannot be assembled\n", name);
        return NVJITLINK_ERROR_PTX_COMPILE;
    default:
        return NVJITLINK_ERROR_INTERNAL;
    }
}

/* The real library hands each -arch on, and ptxas takes the last one. */
static void warn_of_targets(struct nvJitLink *link, unsigned changes)
{
    while (changes-- > 0)
        buffer_printf(&link->infos,
                      "warning : incompatible redefinition for option 'gpu-name', the "
                      "last value of this option was used\n");
}

/* Adds the assembler's cubin to the link. What needs no assembler is added as it is. */
static nvJitLinkResult take_cubin(struct nvJitLink *link, const struct minilink *made,
                                  const struct input *input)
{
    size_t size;
    const void *cubin = assembled_cubin(made, &size);

    if (cubin)
        return input_hand_on(link, MINILINK_INPUT_CUBIN, cubin, size, input->name);
    return input->type == MINILINK_INPUT_PTX
               ? NVJITLINK_ERROR_INTERNAL
               : input_hand_on(link, input->type, input->data, input->size, input->name);
}

static void tell(struct nvJitLink *link, const struct minilink *made,
                 const struct settings *settings)
{
    warn_of_targets(link, settings->target_changes);
    link_take_errors(link, made);
    link_take_infos(link, made, "Mercury sections of "); /* of merging, not of the assembler */
}

static nvJitLinkResult assemble(struct nvJitLink *link, const struct settings *settings,
                                const struct input *input)
{
    struct words words = {.arena = &link->arena};
    struct minilink *made;
    nvJitLinkResult result;
    size_t size;
    int code;

    settings_input_words(settings, link->ptxas, &words);
    code = link_begin(link, &link->trial, &words);
    made = link->trial;
    if (code == MINILINK_OK) {
        assembled_want(made);
        code = minilink_add_data(made, input->type, input->data, input->size, input->name);
    }
    if (code == MINILINK_OK)
        code = minilink_complete(made);
    if (code != MINILINK_OK || input->type == MINILINK_INPUT_PTX || assembled_cubin(made, &size))
        tell(link, made, settings);
    result = result_of(link, code, input->name);
    if (result == NVJITLINK_SUCCESS)
        result = take_cubin(link, made, input);
    minilink_destroy(&link->trial);
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
