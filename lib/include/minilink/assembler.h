/* minilink/assembler.h: the interface between minilink and an assembler; public, and the only
 * header that a plug-in needs. Nothing outside the headers in this folder is API.
 *
 * An assembler turns one chunk of PTX into one cubin (an ELF file, EM_CUDA, ET_REL). A plug-in is a
 * shared object that exports a variable `const struct minilink_assembler minilink_assembler`. See
 * minilink-assembler(3). */
#ifndef MINILINK_ASSEMBLER_H
#define MINILINK_ASSEMBLER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MINILINK_ASSEMBLER_ABI 2

/* What the assembler makes of the chunk. */
enum minilink_mode {
    MINILINK_MODE_RELOCATABLE = 0, /* as `ptxas -c`: to be merged with other cubins */
    MINILINK_MODE_WHOLE = 1, /* as ptxas without -c: the chunk is the whole program. The cubin may
                                be ET_EXEC; the link then writes it as it is */
};

/* Results: 0, one of the elfLink codes, or one of minilink's own, from 64 on. */
enum minilink_code {
    MINILINK_OK = 0,
    MINILINK_INTERNAL = 1,
    MINILINK_WARNED = 1,     /* with a cubin: it is good, and `log` has warnings */
    MINILINK_FAILED = 5,     /* the PTX is wrong; `log` says why */
    MINILINK_NVVM_ERROR = 7, /* LTO-IR cannot be compiled: a link's result only */
    MINILINK_NOT_RELOCATABLE = 8,
    MINILINK_NO_MEMORY = 64,
    MINILINK_CANCELLED = 65,
    MINILINK_ENVIRONMENT = 66, /* the PTX is not at fault: no process, no file; `log` says why */
    MINILINK_USAGE = 67,       /* the options are wrong, not the PTX; `log` says why */
    MINILINK_WRONG_INPUT = 68, /* a link's input is not of the type that was given */
};

enum minilink_jobserver {
    MINILINK_JOBSERVER_AUTO = 0, /* when MAKEFLAGS names one */
    MINILINK_JOBSERVER_ON = 1,   /* the same; the user expects one */
    MINILINK_JOBSERVER_OFF = 2,
};

/* A request. Borrowed: nothing in it may be kept after assemble() returns. */
struct minilink_job {
    size_t size;                /* sizeof this struct at the caller; it grows at the end */
    const char *name;           /* for messages, e.g. "chunk 3"; never NULL */
    const char *ptx;            /* ptx_size bytes, followed by a NUL */
    size_t ptx_size;            /* in bytes, at least 1 */
    const char *arch;           /* real architecture, e.g. "sm_90a" */
    uint32_t sm;                /* its number, 90 */
    uint8_t debug;              /* -g */
    uint8_t line_info;          /* -lineinfo */
    uint32_t mode;              /* enum minilink_mode */
    uint32_t maxrregcount;      /* 0 = no limit, or one among the options */
    const char *const *options; /* further options: those stored with the PTX, then -Xptxas's; the
                                   last value of one counts; ends with NULL */
    /* Becomes non-zero when the result is no longer wanted: then return MINILINK_CANCELLED soon.
     * Another thread writes it; read it with __atomic_load_n(job->cancelled, __ATOMIC_RELAXED). */
    const volatile int *cancelled;
    /* How many threads one call should use for itself (1 = the calling one only), and the most that
     * it may use even if its options ask for more (0 = no limit). */
    uint32_t threads;
    uint32_t thread_limit;
    uint32_t jobserver; /* whether such threads take part in GNU make's: enum minilink_jobserver */
};

/* An answer, zeroed by the caller. Both buffers come from malloc() in the assembler and are freed
 * by minilink with free(). */
struct minilink_result {
    size_t size;       /* sizeof this struct at the caller */
    void *cubin;       /* a whole ELF file; set when the result is MINILINK_OK or _WARNED */
    size_t cubin_size; /* in bytes */
    char *log;         /* NUL-terminated lines for the user: what ptxas would print; or NULL */
};

struct minilink_assembler {
    uint32_t abi;        /* MINILINK_ASSEMBLER_ABI */
    const char *name;    /* "builtin" */
    const char *version; /* identity for caches and notes: changes when its output may change */
    /* Assembles one chunk. Called by many threads at once; must not print, exit, change signal
     * handlers or the working directory. Returns an enum minilink_code. */
    int (*assemble)(void *state, const struct minilink_job *job, struct minilink_result *result);
    void *state; /* handed to assemble() */
};

#ifdef __cplusplus
}
#endif

#endif
