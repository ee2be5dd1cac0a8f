/* option_table.h: every option that minilink knows, once: for the parser, the help and the tests.
 *
 * nvlink's options and their spellings are those of `nvlink --help` 13.0 and the hidden
 * --host-ccbin that nvcc passes. Each has up to two names; one or two dashes are alike. */
#ifndef MINILINK_COMMAND_OPTION_TABLE_H
#define MINILINK_COMMAND_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

enum option_group { GROUP_NVLINK, GROUP_MINILINK };

/* What to do with an option; the parser has one case for each. */
enum option_id {
    OPTION_ARCH = 256,
    OPTION_OUTPUT,
    OPTION_LIBRARY,
    OPTION_LIBRARY_PATH,
    OPTION_OPTIONS_FILE,
    OPTION_LTO,
    OPTION_SPLIT_COMPILE,
    OPTION_SPLIT_COMPILE_EXTENDED,
    OPTION_MAXRREGCOUNT,
    OPTION_XPTXAS,
    OPTION_XNVVM,
    OPTION_OFAST,
    OPTION_DEBUG,
    OPTION_LINE_INFO,
    OPTION_RELOCATABLE,
    OPTION_MACHINE,
    OPTION_VERBOSE,
    OPTION_VERSION,
    OPTION_HELP,
    OPTION_NO_WARNINGS,
    OPTION_NO_INFOS,
    OPTION_WERROR,
    OPTION_REPORT_ARCH,
    OPTION_SUPPRESS_ARCH,
    OPTION_SUPPRESS_STACK,
    OPTION_PRESERVE,
    OPTION_UIDX,
    OPTION_NVVMPATH,
    OPTION_TIME,
    OPTION_USE_HOST_INFO,
    OPTION_IGNORE_HOST_INFO,
    OPTION_CALLGRAPH,
    OPTION_CALLGRAPH_MANGLED,
    OPTION_EMIT_PTX,
    OPTION_HOST_SCRIPT,
    OPTION_KEEP_SYSTEM,
    OPTION_MODULES_FILE,
    OPTION_KERNELS_USED,
    OPTION_VARIABLES_USED,
    OPTION_COMPILER, /* nvcc's, which no person types */
    OPTION_ACCEPTED, /* taken for the sake of existing command lines; without effect */
    OPTION_ASSEMBLER,
    OPTION_PTXAS,
    OPTION_CUDA_PATH,
    OPTION_LAUNCHER,
    OPTION_TIMEOUT,
    OPTION_LTO_SOURCE,
    OPTION_OUTPUT_ABI,
    OPTION_NVJITLINK,
    OPTION_CHUNKS,
    OPTION_MINIMUM_CHUNK,
    OPTION_THREADS,
    OPTION_WORKER_STACK,
    OPTION_INFLATION_LIMIT,
    OPTION_KEEP_GOING,
    OPTION_JOBSERVER,
    OPTION_CONSENSUS,
    OPTION_DRY_RUN,
    OPTION_EXPLAIN_SPLIT,
    OPTION_SPLIT_POLICY,
    OPTION_KEEP,
    OPTION_FORMAT,
};

struct option_row {
    const char *name;       /* long name, without dashes */
    const char *short_name; /* other name, or NULL */
    const char *argument;   /* what --help calls its argument; NULL = it has none; "[first|...]":
                               it may be missing, and is `first` then */
    enum option_id id;
    enum option_group group;
    const char *help; /* NULL = hidden */
};

/* Reports a wrong command line (a format and its arguments); false, for the caller to return. */
#define USAGE(...) (diag_fatal(__VA_ARGS__), false)

extern const struct option_row option_table[];
extern const size_t option_table_size;

#endif
