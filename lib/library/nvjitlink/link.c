/* link.c: a minilink link in the place of NVIDIA's, and what it says. */
#include "library/nvjitlink/link.h"

#include <string.h>

#define PROGRAM TEXT("minilink ")

static void take_lines(struct buffer *log, const char *lines, const char *but)
{
    while (*lines) {
        size_t size = strcspn(lines, "\n");
        struct text line = {lines, size + (lines[size] == '\n')};

        lines += line.size;
        if (but && memmem(line.data, line.size, but, strlen(but)))
            continue;
        text_skip(&line, PROGRAM);
        buffer_printf(log, "%.*s", TEXT_ARG(line));
    }
}

void link_take_errors(struct nvJitLink *link, const struct minilink *made)
{
    take_lines(&link->errors, minilink_error_log(made, NULL), NULL);
}

void link_take_infos(struct nvJitLink *link, const struct minilink *made, const char *but)
{
    take_lines(&link->infos, minilink_info_log(made, NULL), but);
}

int link_begin(struct nvJitLink *link, struct minilink **made, const struct word_list *words)
{
    int code = minilink_create(made, words->list, words->count);

    if (code != MINILINK_OK) {
        link_take_errors(link, *made);
        minilink_destroy(made);
    }
    return code;
}

nvJitLinkResult link_check_open(struct nvJitLink *link)
{
    if (!link->is_complete)
        return NVJITLINK_SUCCESS;
    buffer_printf(&link->errors, "the link is complete already\n");
    return NVJITLINK_ERROR_INTERNAL;
}
