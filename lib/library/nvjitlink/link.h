/* link.h: what a handle is, for the files of this folder. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "library/nvjitlink/options.h"
#include "minilink/minilink.h"

struct input {
    enum minilink_input type;
    const void *data;
    size_t size;
    const char *name;
};

struct nvJitLink {
    struct arena arena; /* has words of options, and all else that lives as long as the link */
    struct settings settings;
    nvJitLinkResult created; /* what link_create() has said */
    struct minilink *link;   /* NULL when that was no success */
    struct minilink *open;   /* with -ptx: another, for what is not in the inputs may be missing */
    struct minilink *result; /* the one of both that has succeeded, or NULL */
    struct minilink *trial;  /* what looks at one input, while it does */
    char *library;           /* NVIDIA's, for LTO-IR, or NULL */
    char *ptxas;             /* see toolkit_ptxas() */
    size_t input_count;      /* for names */
    bool has_input;          /* there is something to link */
    struct input *waiting;   /* LTO-IR, for nvJitLinkComplete(), in: */
    size_t waiting_count, waiting_capacity;
    struct arena waiting_arena;
    bool has_ltoir;      /* some input has */
    bool has_other_code; /* some input has no LTO-IR */
    bool is_complete;    /* successful or not */
    struct buffer errors, infos;
    uint64_t start; /* clock_now() when something was told last */
};

/* What the exported functions do. `major`: the version of the interface that the caller is linked
 * with, 12 or 13. Results are those of 13, which exports.c turns into what 12 knows. */
nvJitLinkResult link_create(nvJitLinkHandle *handle, uint32_t count, const char *const *options,
                            unsigned major);
nvJitLinkResult link_destroy(nvJitLinkHandle *handle);
nvJitLinkResult link_add_data(nvJitLinkHandle handle, nvJitLinkInputType type, const void *data,
                              size_t size, const char *name);
nvJitLinkResult link_add_file(nvJitLinkHandle handle, nvJitLinkInputType type, const char *path);
nvJitLinkResult link_complete(nvJitLinkHandle handle);

/* Size and bytes of the PTX, or of the cubin; the same of the error log, or of the info log. */
nvJitLinkResult link_get_size(const struct nvJitLink *link, bool is_ptx, size_t *size);
nvJitLinkResult link_get_bytes(const struct nvJitLink *link, bool is_ptx, void *buffer);
nvJitLinkResult link_get_log_size(const struct nvJitLink *link, bool is_errors, size_t *size);
nvJitLinkResult link_get_log(const struct nvJitLink *link, bool is_errors, char *buffer);

/* Adds `size` bytes. link_add_data() behind the checks of its arguments. */
nvJitLinkResult input_add(struct nvJitLink *link, nvJitLinkInputType type, const void *data,
                          size_t size, const char *name);

/* Adds a file. */
nvJitLinkResult input_add_file(struct nvJitLink *link, nvJitLinkInputType type, const char *path);

/* Adds a cubin without any code, where there is no input. */
nvJitLinkResult input_add_nothing(struct nvJitLink *link);

/* Hands on what waits. */
nvJitLinkResult input_hand_on_waiting(struct nvJitLink *link);

/* NVJITLINK_SUCCESS when something may still be added; else that is told. */
nvJitLinkResult link_check_open(struct nvJitLink *link);

/* Begins a link of minilink's with the words. A result that is not MINILINK_OK is
 * told in the error log, and *made is NULL. */
int link_begin(struct nvJitLink *link, struct minilink **made, const struct words *words);

/* Takes what there is to say from minilink's logs, without the program's name in front of each
 * line. Of infos, those that do not speak of `but` (NULL = all). */
void link_take_errors(struct nvJitLink *link, const struct minilink *made);
void link_take_infos(struct nvJitLink *link, const struct minilink *made, const char *but);
