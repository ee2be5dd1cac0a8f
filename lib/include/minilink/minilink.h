/* minilink/minilink.h: linking device code from a program; public. See minilink(3).
 *
 * Create a link with options, add inputs, complete it once, then ask for its results:
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
 * Threads. Links are independent: there may be as many as memory permits, and threads may use
 * different links at the same time. Only one thread at a time may use a link, but it need not
 * always be the same one; only minilink_cancel() may be called at any time.
 *
 * Stack. The calling thread needs 52 KiB of free stack; a stack of 64 KiB has that. With less, a
 * call returns MINILINK_ENVIRONMENT and leaves the link as it was; for minilink_create() see there.
 *
 * Side effects. minilink prints nothing, and writes only what options ask for (--cache-dir, --keep,
 * --report, ...). Signal handlers, the caller's signal mask, the working directory, the environment
 * and the locale stay as they are, and nothing ends the process: when memory runs out, the result
 * is MINILINK_NO_MEMORY. Every descriptor is close-on-exec. The environment variables are those of
 * the command (ENVIRONMENT in minilink(1)), except that MAKEFLAGS is read only if --jobserver asks
 * for it. */
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

/* The type of an input. */
enum minilink_input {
    MINILINK_INPUT_ANY = 0, /* detected from the contents */
    MINILINK_INPUT_CUBIN = 1,
    MINILINK_INPUT_PTX = 2,
    MINILINK_INPUT_LTOIR = 3,
    MINILINK_INPUT_FATBIN = 4,
    MINILINK_INPUT_OBJECT = 5,  /* a host object */
    MINILINK_INPUT_ARCHIVE = 6, /* of host objects */
};

/* Resource use of a kernel, or of a device function that others call. */
struct minilink_kernel {
    const char *name;    /* as it is in the cubin; belongs to the link */
    uint32_t is_kernel;  /* 0: a device function */
    uint32_t registers;  /* per thread */
    uint32_t barriers;   /* per block */
    uint32_t parameters; /* bytes of constant bank 0, which holds the parameters */
    uint32_t constants;  /* bytes of bank 2: constants made by the assembler */
    uint32_t shared;     /* bytes of shared memory per block, including the driver's */
    uint64_t stack; /* bytes per thread, with all that is called; UINT64_MAX = unknown: recursive,
                       or called through a pointer */
    uint64_t code;  /* bytes of instructions */
};

/* Creates a link. The `count` options are those of the command minilink, with the same meaning
 * (minilink(1)). Each is one word: "-name" or "-name=value", with one or two dashes, or a letter
 * joined with its value, "-lNAME"; a word without a leading dash adds an input. Not accepted: a
 * value as the next word, option files (-optf, @FILE), options that do not link or that print
 * (--help, --version, --list-targets, -ghls, --color-diagnostics), and
 * -o, since the result is in memory. The words are copied.
 *
 * MINILINK_OK: *link is the new link. MINILINK_USAGE: an option is unknown, wrong or not accepted;
 * *link is then a link that cannot be completed and must be destroyed, and minilink_error_log()
 * says what is wrong. MINILINK_ENVIRONMENT: the thread's stack is too small; *link is such a link,
 * too. MINILINK_NO_MEMORY: *link is NULL. `options` may be NULL when `count` is 0. When `link` is
 * NULL, nothing is done and the result is MINILINK_USAGE. */
int minilink_create(struct minilink **link, const char *const *options, size_t count);

/* Adds an input from memory, after those added before; `size` bytes at `data` are copied. `name`
 * identifies it in messages and is copied; NULL means "input N", where N counts from 1. A text may
 * end with a NUL, which is not part of it.
 *
 * MINILINK_WRONG_INPUT: `data` is not of the type `input`, or cannot be linked. MINILINK_USAGE:
 * `link` or `data` is NULL, `input` is no enum minilink_input, or the link is complete.
 * MINILINK_NO_MEMORY. In each case the link stays as it was. */
int minilink_add_data(struct minilink *link, enum minilink_input input, const void *data,
                      size_t size, const char *name);

/* Adds a file as an input; it is read during this call. `path` is copied.
 *
 * MINILINK_ENVIRONMENT: it cannot be read. Otherwise as minilink_add_data(). */
int minilink_add_file(struct minilink *link, enum minilink_input input, const char *path);

/* Adds a library, as `-lNAME` does: minilink_complete() looks for libNAME.a in the folders of
 * minilink_add_library_path(), of -L and of LIBRARY_PATH. `name` is copied.
 *
 * MINILINK_USAGE: `link` or `name` is NULL, or the link is complete. MINILINK_NO_MEMORY. */
int minilink_add_library(struct minilink *link, const char *name);

/* Adds a library folder, as `-L` does, after those added before. Copies and returns as
 * minilink_add_library(). */
int minilink_add_library_path(struct minilink *link, const char *path);

/* Has the caller's assembler assemble the chunks, in place of --assembler's. The struct is copied;
 * its strings and `state` must live until the link is destroyed. Several threads call assemble() at
 * once, one of which may be the caller's; see minilink-assembler(3). Its `version` must change when
 * its output may change: a cache identifies results by it.
 *
 * MINILINK_USAGE: `link`, `assembler` or a part of it but `state` is NULL, `abi` is not
 * MINILINK_ASSEMBLER_ABI, or the link is complete. */
int minilink_set_assembler(struct minilink *link, const struct minilink_assembler *assembler);

/* Links. May be called once; the inputs are freed with the link.
 *
 * MINILINK_OK: there is a result, unless the options asked for none (--dry-run, --emit-plan), and
 * perhaps a warning in the logs. MINILINK_FAILED: the inputs cannot be linked, or a library among
 * them is not found. MINILINK_NVVM_ERROR: their LTO-IR cannot be compiled. MINILINK_USAGE: options
 * or inputs do not fit together, no input was added, `link` is NULL or complete already, or
 * minilink_create() had failed. MINILINK_ENVIRONMENT: a file or a program that is needed besides
 * the inputs is missing, or cannot be read or written. MINILINK_CANCELLED: minilink_cancel() was
 * called in time. MINILINK_NO_MEMORY. MINILINK_INTERNAL: an error of minilink. minilink_error_log()
 * explains every result but MINILINK_OK and MINILINK_NO_MEMORY. */
int minilink_complete(struct minilink *link);

/* Cancels minilink_complete(), whether another thread is in it or will call it: tells its
 * assemblers and child processes to stop. minilink_complete() then returns MINILINK_CANCELLED soon,
 * unless it had finished before. May be called by any thread at any time between minilink_create()
 * and minilink_destroy(), more than once; not in a signal handler. Accepts NULL. */
void minilink_cancel(struct minilink *link);

/* The linked cubin: an ELF file for EM_CUDA, *size bytes, aligned for any type, owned by the link;
 * under --emit-ltoir the program's LTO-IR.
 * NULL, with a size of 0, when there is none: before minilink_complete() has succeeded, under
 * -emit-ptx, and when `link` is NULL. `size` may be NULL. */
const void *minilink_cubin(const struct minilink *link, size_t *size);

/* The linked program as PTX, *size bytes followed by a NUL, when -emit-ptx was an option. Otherwise
 * as minilink_cubin(). */
const char *minilink_ptx(const struct minilink *link, size_t *size);

/* The link's messages: errors with their notes; and all others, that is warnings, infos (-v), and
 * what the command prints on standard output (--explain-split, -dump-callgraph). Lines as the
 * command prints them, *size bytes followed by a NUL; the empty string when there are none, or
 * `link` is NULL. Never NULL. The link owns the text, which stays valid until the link is passed to
 * any function but these two. */
const char *minilink_error_log(const struct minilink *link, size_t *size);
const char *minilink_info_log(const struct minilink *link, size_t *size);

/* The number of kernels and device functions that minilink_kernel() describes: 0 unless
 * minilink_cubin() returns one. `link` may be NULL. */
size_t minilink_kernel_count(const struct minilink *link);

/* Fills *kernel. `size` is the caller's sizeof *kernel: later versions may add members. The order
 * is that of the cubin's symbols.
 *
 * MINILINK_USAGE, and *kernel stays as it is: `link` or `kernel` is NULL, or `index` is out of
 * range. */
int minilink_kernel(const struct minilink *link, size_t index, struct minilink_kernel *kernel,
                    size_t size);

/* Frees the link and all that belongs to it, and sets *link to NULL. No other thread may be using
 * it. Accepts NULL, and NULL in *link. */
void minilink_destroy(struct minilink **link);

/* The version, "0.1.0"; a constant. */
const char *minilink_version(void);

/* The name of a result, "MINILINK_OK"; "unknown" for other numbers. A constant. */
const char *minilink_code_name(int code);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
