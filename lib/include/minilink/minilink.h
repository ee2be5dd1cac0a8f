/* minilink/minilink.h: linking device code by calls; public. See minilink(3).
 *
 * A link is made of options and inputs, completed once, and then asked for what it has made:
 *
 *     struct minilink *link;
 *     const char *options[] = {"-arch=sm_90"};
 *
 *     minilink_create(&link, options, 1);
 *     minilink_add_file(link, MINILINK_INPUT_ANY, "a.ptx");
 *     if (minilink_complete(link) == MINILINK_OK)
 *         cubin = minilink_cubin(link, &size);
 *     else
 *         puts(minilink_error_log(link, NULL));
 *     minilink_destroy(&link);
 *
 * Threads. Links know nothing of each other: as many as there is memory for may exist, and threads
 * may work on different ones at the same time. One link belongs to one thread at a time, which may
 * be another one from call to call; minilink_cancel() alone may be called at any time.
 *
 * Stack. A thread that calls needs 52 KiB of its stack left, which one of 64 KiB has; with less the
 * result is MINILINK_ENVIRONMENT, and the link is as before, but for that of minilink_create().
 *
 * What it leaves alone. Nothing is printed, and nothing is written but what options ask for
 * (--cache-dir, --keep, --report, ...). Signal handlers, the signal mask of the caller, the working
 * directory, the environment and the locale stay as they are, and nothing ends the process: when
 * memory runs out, MINILINK_NO_MEMORY is the result. Every descriptor is closed on exec. Variables
 * of the environment are read as the command minilink reads them (ENVIRONMENT in minilink(1)), but
 * for MAKEFLAGS, where --jobserver does not ask for it. */
#ifndef MINILINK_MINILINK_H
#define MINILINK_MINILINK_H

#include <stddef.h>
#include <stdint.h>

#include "minilink/assembler.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* One link. */
struct minilink;

/* What an input is. */
enum minilink_input {
    MINILINK_INPUT_ANY = 0, /* found out by its contents */
    MINILINK_INPUT_CUBIN = 1,
    MINILINK_INPUT_PTX = 2,
    MINILINK_INPUT_LTOIR = 3,
    MINILINK_INPUT_FATBIN = 4,
    MINILINK_INPUT_OBJECT = 5,  /* a host object */
    MINILINK_INPUT_ARCHIVE = 6, /* of host objects */
};

/* What one kernel, or one device function that others call, takes. */
struct minilink_kernel {
    const char *name;    /* as it is in the cubin; belongs to the link */
    uint32_t is_kernel;  /* 0: a device function */
    uint32_t registers;  /* of a thread */
    uint32_t barriers;   /* of a block */
    uint32_t parameters; /* bytes of constant bank 0, in which the parameters are */
    uint32_t constants;  /* bytes of bank 2, of constants that the assembler has made */
    uint32_t shared;     /* bytes of shared memory of a block, that of the driver included */
    uint64_t stack;      /* bytes of a thread, with all that is called; UINT64_MAX = recursive, or
                            called through a pointer, so that it cannot be known */
    uint64_t code;       /* bytes of instructions */
};

/* Begins a link. The `count` options are those of the command minilink (minilink(1)), and mean what
 * they mean there. Each is one word: "-name" or "-name=value", with one dash or two, or a letter
 * with its value joined, "-lNAME"; a word without a dash in front adds an input. Not taken are a
 * value that is the next word, files of options (-optf, @FILE), and those that do not link or that
 * print (--help, --version, --list-targets, --completions, -ghls, --progress,
 * --color-diagnostics), and -o: the result is in memory. The words are copied.
 *
 * On success *link is the new link and the result MINILINK_OK. MINILINK_USAGE: an option is
 * unknown, wrong or not taken; *link is a link then, too, of which minilink_error_log() says what
 * is wrong with it, which cannot be completed, and which must be destroyed. MINILINK_ENVIRONMENT:
 * the thread's stack is too small; *link is such a link, too. MINILINK_NO_MEMORY: *link is NULL.
 * `options` may be NULL when `count` is 0. MINILINK_USAGE, and nothing is done, when `link` is
 * NULL. */
int minilink_create(struct minilink **link, const char *const *options, size_t count);

/* Adds an input that is in memory, behind those added before; `size` bytes at `data` are copied.
 * `name` stands for it in messages and is copied; NULL is "input N", where N counts from 1. A text
 * may end with a NUL, which is not counted as a part of it.
 *
 * MINILINK_WRONG_INPUT: `data` is not what `input` says it is, or nothing that can be linked.
 * MINILINK_USAGE: `link` or `data` is NULL, `input` is no enum minilink_input, or the link is
 * complete. MINILINK_NO_MEMORY. In each case the link is as before. */
int minilink_add_data(struct minilink *link, enum minilink_input input, const void *data,
                      size_t size, const char *name);

/* Adds an input that is a file, which is read at once, not later. `path` is copied.
 *
 * MINILINK_ENVIRONMENT: it cannot be read. Else as minilink_add_data(). */
int minilink_add_file(struct minilink *link, enum minilink_input input, const char *path);

/* Adds the library that `-lNAME` is for the command: libNAME.a, looked for by minilink_complete()
 * in the folders of minilink_add_library_path(), of -L and of LIBRARY_PATH. `name` is copied.
 *
 * MINILINK_USAGE: `link` or `name` is NULL, or the link is complete. MINILINK_NO_MEMORY. */
int minilink_add_library(struct minilink *link, const char *name);

/* Adds a folder, as `-L` does, behind those added before. As minilink_add_library(). */
int minilink_add_library_path(struct minilink *link, const char *path);

/* Has the chunks assembled by the caller, in place of what --assembler says. The struct is copied;
 * its texts and `state` must live until the link is destroyed. assemble() is called by several
 * threads at once, of which one may be the caller's; see minilink-assembler(3). Its `version` must
 * change when its output may: with a cache, that is what results are known by.
 *
 * MINILINK_USAGE: `link`, `assembler` or a part of it but `state` is NULL, `abi` is another than
 * MINILINK_ASSEMBLER_ABI, or the link is complete. */
int minilink_set_assembler(struct minilink *link, const struct minilink_assembler *assembler);

/* Links. May be called once; the inputs are freed with the link.
 *
 * MINILINK_OK: there is a result, unless the options asked for none (--dry-run, --emit-plan), and
 * perhaps a warning in the logs. MINILINK_FAILED: the inputs
 * cannot be linked, or a library among them is not found. MINILINK_NVVM_ERROR: their LTO-IR cannot
 * be compiled. MINILINK_USAGE: options or inputs do not fit together, no input was added, `link` is
 * NULL or complete already, or minilink_create() had failed. MINILINK_ENVIRONMENT: a file or a
 * program that is needed beside the inputs is missing, or cannot be read or written.
 * MINILINK_CANCELLED: minilink_cancel() was called in time. MINILINK_NO_MEMORY. MINILINK_INTERNAL:
 * an error of minilink. Whatever is not MINILINK_OK or MINILINK_NO_MEMORY is explained in
 * minilink_error_log(). */
int minilink_complete(struct minilink *link);

/* Lets minilink_complete(), which another thread is in or will come to, end soon: its assemblers
 * and child processes are told to stop. It returns MINILINK_CANCELLED, unless it was done before.
 * May be called by any thread at any time between minilink_create() and minilink_destroy(), more
 * than once; not in a signal handler. Accepts NULL. */
void minilink_cancel(struct minilink *link);

/* What was linked: an ELF file for EM_CUDA, *size bytes, aligned for any type, which belongs to the
 * link. NULL, and a size of 0, when there is none: before minilink_complete() has succeeded, and
 * under -emit-ptx. `size` may be NULL; `link` too, which has none. */
const void *minilink_cubin(const struct minilink *link, size_t *size);

/* The linked program as PTX, *size bytes and a NUL behind them, when -emit-ptx was an option. Else
 * as minilink_cubin(). */
const char *minilink_ptx(const struct minilink *link, size_t *size);

/* What there is to say: errors and what explains them; and the rest, that is warnings, infos (-v),
 * and what the command prints on its output (--explain-split, -dump-callgraph). Lines as the
 * command prints them, *size bytes and a NUL behind them; the empty text when there is nothing, or
 * `link` is NULL. Never NULL. The text belongs to the link and stays until the link is given to any
 * function but these. */
const char *minilink_error_log(const struct minilink *link, size_t *size);
const char *minilink_info_log(const struct minilink *link, size_t *size);

/* The number of kernels and device functions that minilink_kernel() knows of: 0 unless
 * minilink_cubin() has something; `link` may be NULL. */
size_t minilink_kernel_count(const struct minilink *link);

/* Fills *kernel, of which the first `size` bytes are sizeof *kernel at the caller: later versions
 * may know more. The order is that of the cubin's symbols.
 *
 * MINILINK_USAGE, and *kernel stays as it is: `link` or `kernel` is NULL, or there is no such
 * index. */
int minilink_kernel(const struct minilink *link, size_t index, struct minilink_kernel *kernel,
                    size_t size);

/* Frees the link and all that belongs to it, and sets *link to NULL. No thread may be in a function
 * with it. Accepts NULL, and NULL in *link. */
void minilink_destroy(struct minilink **link);

/* The version, "0.1.0"; a constant. */
const char *minilink_version(void);

/* The name of a result, "MINILINK_OK"; "unknown" for what is none. A constant. */
const char *minilink_code_name(int code);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
