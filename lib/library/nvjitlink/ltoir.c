/* ltoir.c: LTO-IR as output.
 *
 * NVIDIA's library 13.4 and 13.5 make it on the way to PTX, under -lto, whatever the program is
 * then compiled to, of all LTO-IR and nothing else; -arch=lto_NN ends there. Here it is made when
 * it is asked for first, by a link of its own, since few programs ask. (Measured: it depends on
 * nothing but the inputs, the target and the choice of libnvvm, and takes a hundredth of the time
 * of the compilation.) */
#include "library/nvjitlink/link.h"

#include <string.h>

#include "base/text.h"

#define SIZE_TOLD " LTOIR Container created"

/* Beside warnings, which the other compilation has given, too, if there was one: the library's line
 * about the size, which minilink has as an info of -v. */
static void take_infos(struct nvJitLink *link, const struct minilink *made)
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

static int make(struct nvJitLink *link, struct minilink **made)
{
    struct word_list words = {.arena = &link->arena};
    int code;

    settings_ltoir_words(&link->settings, link->library, link->ptxas, &words);
    code = link_begin(link, made, &words);
    for (size_t i = 0; code == MINILINK_OK && i < link->waiting_count; i++) {
        const struct input *input = &link->waiting[i];

        code = minilink_add_data(*made, input->type, input->data, input->size, input->name);
    }
    return code == MINILINK_OK ? minilink_complete(*made) : code;
}

nvJitLinkResult ltoir_make(struct nvJitLink *link)
{
    int code;

    if (link->ltoir)
        return NVJITLINK_SUCCESS;
    if (!link->is_complete || !link->waiting_count || !link->library)
        return NVJITLINK_ERROR_INTERNAL;
    code = make(link, &link->trial);
    if (code != MINILINK_OK) {
        link_take_errors(link, link->trial);
        minilink_destroy(&link->trial);
        link->waiting_count = 0; /* it is not tried, nor reported, again */
        return NVJITLINK_ERROR_INTERNAL;
    }
    take_infos(link, link->trial);
    link->ltoir = link->trial;
    link->trial = NULL;
    return NVJITLINK_SUCCESS;
}
