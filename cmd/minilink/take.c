/* take.c: one case for each option. */
#include "take.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "pool/jobserver.h"

/* nvlink reads decimal, octal and hexadecimal numbers, and nothing as 0. */
static bool read_number(const char *text, int32_t *number)
{
    char *end;
    intmax_t value;

    errno = 0;
    value = strtoimax(text, &end, 0);
    if (*end)
        return USAGE("'%s': expected a number", text);
    if (errno || value > INT32_MAX || value < INT32_MIN)
        return USAGE("32-bit integer value (%s) out of range", text);
    *number = (int32_t)value;
    return true;
}

static bool read_count(const char *option, const char *text, int32_t most, int32_t *number)
{
    if (!read_number(text, number))
        return false;
    if (*number < 0 || *number > most)
        return USAGE("Invalid argument for option '-%s'", option);
    return true;
}

/* One of `words`, a list that ends with NULL; its index in *choice. */
static bool read_choice(const struct option_row *row, const char *text, const char *const *words,
                        int *choice)
{
    for (*choice = 0; words[*choice]; ++*choice)
        if (strcmp(words[*choice], text) == 0)
            return true;
    diag_fatal("Value '%s' is not defined for option '%s'", text, row->name);
    return false;
}

static bool read_arch(struct options *options, const char *text)
{
    struct arch arch;

    options->arch_text = text;
    if (arch_parse(text_of(text), "lto_", &arch))
        return USAGE(VIRTUAL_TARGET, text);
    options->link.is_virtual = arch_parse(text_of(text), "compute_", &arch);
    if (!(options->link.is_virtual || arch_parse(text_of(text), "sm_", &arch)) ||
        !arch_is_known(arch)) {
        diag_fatal("Value '%s' is not defined for option 'arch'", text);
        return false;
    }
    options->link.arch = arch;
    return true;
}

void take_operand(struct options *options, const char *name, bool is_library)
{
    ARRAY_PUSH(options->operands, options->operand_count, options->operand_capacity) =
        (struct input_operand){.name = name, .is_library = is_library};
}

/* Calls for each piece of a comma list. */
static void add_list(struct options *options, enum option_id id, const char *list)
{
    for (;;) {
        size_t length = strcspn(list, ",");
        const char *word = arena_string(&options->arena, (struct text){list, length});

        if (id == OPTION_LIBRARY)
            take_operand(options, word, true);
        else
            ARRAY_PUSH(options->library_paths, options->library_path_count,
                       options->library_path_capacity) = word;
        if (!list[length])
            return;
        list += length + 1;
    }
}

/* Options for another program: nvcc joins all that it was given with blanks, and a blank behind. */
static void add_options(struct options *options, enum option_id id, const char *list)
{
    static const char separators[] = ", \t";

    for (list += strspn(list, separators); *list; list += strspn(list, separators)) {
        size_t length = strcspn(list, separators);
        const char *word = arena_string(&options->arena, (struct text){list, length});

        if (id == OPTION_XNVVM)
            ARRAY_PUSH(options->nvvm_options, options->nvvm_option_count,
                       options->nvvm_option_capacity) = word;
        else
            ARRAY_PUSH(options->assembler_options, options->assembler_option_count,
                       options->assembler_option_capacity) = word;
        list += length;
    }
}

static bool read_split(struct options *options, const struct option_row *row, const char *value)
{
    struct option_request *request = &options->link.options;

    if (row->id == OPTION_SPLIT_COMPILE) {
        request->has_split_compile = true;
        return read_count(row->name, value, 999, &request->split_compile);
    }
    request->has_split_compile_extended = true;
    return read_count(row->name, value, INT32_MAX, &request->split_compile_extended);
}

/* Lists of several options add up. */
static void join_list(struct buffer *list, const char *value)
{
    buffer_string(list, value);
    buffer_char(list, ',');
}

static bool is_assembler(const char *name)
{
    return strcmp(name, "builtin") == 0 || strcmp(name, "ptxas") == 0 ||
           strncmp(name, "plugin:", 7) == 0;
}

/* Options that name programs and libraries, and say how they are run. */
static bool take_tool(struct options *options, const struct option_row *row, const char *value)
{
    static const char *const source_words[] = {"auto", "ptx", "ltoir", NULL};
    static const enum lto_source sources[] = {LTO_SOURCE_AUTO, LTO_SOURCE_PTX, LTO_SOURCE_LTOIR};
    static const char *const abi_words[] = {"auto", "7", "8", NULL};
    static const enum merge_abi abis[] = {MERGE_ABI_AUTO, MERGE_ABI_7, MERGE_ABI_8};
    struct assembler_request *assembler = &options->link.assembler;
    int32_t number = 0;
    int choice = 0;

    switch (row->id) {
    case OPTION_ASSEMBLER:
        assembler->name = value;
        return is_assembler(value) ||
               USAGE("Value '%s' is not defined for option 'assembler'", value);
    case OPTION_PTXAS:
        assembler->ptxas_path = value;
        return true;
    case OPTION_CUDA_PATH:
        assembler->cuda_path = value;
        return true;
    case OPTION_LAUNCHER:
        assembler->launcher = value;
        return true;
    case OPTION_TIMEOUT:
        if (!read_count("-assembler-timeout", value, INT32_MAX, &number))
            return false;
        assembler->timeout = (unsigned)number;
        return true;
    case OPTION_LTO_SOURCE:
        if (!read_choice(row, value, source_words, &choice))
            return false;
        options->link.lto_source = sources[choice];
        return true;
    case OPTION_OUTPUT_ABI:
        if (!read_choice(row, value, abi_words, &choice))
            return false;
        options->link.output_abi = abis[choice];
        return true;
    default:
        options->link.nvjitlink = value;
        return true;
    }
}

/* Bounds on what a link may use. */
static bool take_bound(struct options *options, const struct option_row *row, const char *value)
{
    struct link_request *link = &options->link;
    int32_t number = 0;

    switch (row->id) {
    case OPTION_CHUNKS:
        if (!read_count("-chunks", value, 65536, &number))
            return false;
        link->chunk_count = (uint32_t)number;
        return true;
    case OPTION_MINIMUM_CHUNK:
        if (!read_count("-minimum-chunk", value, INT32_MAX, &number))
            return false;
        link->minimum_chunk = (uint64_t)number;
        return true;
    case OPTION_THREADS:
        if (!read_count("-threads", value, 65536, &number))
            return false;
        link->thread_limit = (uint32_t)number;
        return true;
    case OPTION_WORKER_STACK:
        if (!read_count("-worker-stack", value, 1024 * 1024, &number))
            return false;
        link->worker_stack = (size_t)number * 1024;
        return true;
    default:
        if (!read_count("-decompression-limit", value, INT32_MAX, &number))
            return false;
        link->has_inflation_limit = true;
        link->inflation_limit = (uint64_t)number << 20;
        return true;
    }
}

/* Options that are minilink's own. */
static bool take_own(struct options *options, const struct option_row *row, const char *value)
{
    static const char *const jobserver_words[] = {"auto", "on", "off", NULL};
    static const char *const consensus_words[] = {"lenient", "strict", NULL};
    static const char *const policy_words[] = {"balanced", "kernel", "stable", NULL};
    static const char *const format_words[] = {"nvlink", "gnu", NULL};
    struct link_request *link = &options->link;
    int choice = 0;

    switch (row->id) {
    case OPTION_ASSEMBLER:
    case OPTION_PTXAS:
    case OPTION_CUDA_PATH:
    case OPTION_LAUNCHER:
    case OPTION_TIMEOUT:
    case OPTION_LTO_SOURCE:
    case OPTION_OUTPUT_ABI:
    case OPTION_NVJITLINK:
        return take_tool(options, row, value);
    case OPTION_CHUNKS:
    case OPTION_MINIMUM_CHUNK:
    case OPTION_THREADS:
    case OPTION_WORKER_STACK:
    case OPTION_INFLATION_LIMIT:
        return take_bound(options, row, value);
    case OPTION_KEEP_GOING:
        link->keep_going = true;
        return true;
    case OPTION_JOBSERVER:
        if (!read_choice(row, value, jobserver_words, &choice))
            return false;
        link->jobserver = choice == 0 ? JOBSERVER_AUTO : choice == 1 ? JOBSERVER_ON : JOBSERVER_OFF;
        return true;
    case OPTION_CONSENSUS:
        if (!read_choice(row, value, consensus_words, &choice))
            return false;
        link->options.strict = choice == 1;
        return true;
    case OPTION_FORMAT:
        if (!read_choice(row, value, format_words, &choice))
            return false;
        options->gnu_format = choice == 1;
        return true;
    case OPTION_SPLIT_POLICY:
        if (!read_choice(row, value, policy_words, &choice))
            return false;
        link->split_policy = choice == 0   ? SPLIT_BALANCED
                             : choice == 1 ? SPLIT_KERNEL
                                           : SPLIT_STABLE;
        return true;
    case OPTION_EXPLAIN_SPLIT:
        link->explain_split = true;
        return true;
    case OPTION_DRY_RUN:
        link->dry_run = true;
        return true;
    default:
        link->keep = value;
        return true;
    }
}

/* nvlink's options that have a value. */
static bool take_valued(struct options *options, const struct option_row *row, const char *value)
{
    static const char *const ofast_words[] = {"0", "min", "mid", "max", NULL};
    static const char *const script_words[] = {"lcs-abs", "lcs-aug", NULL};
    static const char *const callgraph_words[] = {"text", "dot", NULL};
    struct option_request *request = &options->link.options;
    int choice;

    switch (row->id) {
    case OPTION_ARCH:
        return read_arch(options, value);
    case OPTION_OUTPUT:
        options->link.output = value;
        return true;
    case OPTION_XPTXAS:
        add_options(options, row->id, value);
        return true;
    case OPTION_LIBRARY:
    case OPTION_LIBRARY_PATH:
        add_list(options, row->id, value);
        return true;
    case OPTION_SPLIT_COMPILE:
    case OPTION_SPLIT_COMPILE_EXTENDED:
        return read_split(options, row, value);
    case OPTION_MAXRREGCOUNT:
        request->has_maxrregcount = true;
        return read_count(row->name, value, 65535, &request->maxrregcount);
    case OPTION_XNVVM:
        request->has_xnvvm = true;
        add_options(options, row->id, value);
        return true;
    case OPTION_HOST_SCRIPT:
        if (!read_choice(row, value, script_words, &choice))
            return false;
        options->host_script = choice == 0 ? HOST_SCRIPT_ABSOLUTE : HOST_SCRIPT_AUGMENTING;
        return true;
    case OPTION_CALLGRAPH:
        if (!read_choice(row, value, callgraph_words, &choice))
            return false;
        options->link.callgraph = choice == 1 ? CALLGRAPH_DOT : CALLGRAPH_TEXT;
        return true;
    case OPTION_KERNELS_USED:
        join_list(&options->kernels_used, value);
        return true;
    case OPTION_VARIABLES_USED:
        join_list(&options->variables_used, value);
        return true;
    case OPTION_OFAST:
        for (choice = 0; ofast_words[choice] && strcmp(ofast_words[choice], value); choice++)
            ;
        request->ofast_compile = value;
        return ofast_words[choice] || USAGE("Invalid argument for option '--%s'", row->name);
    case OPTION_MACHINE:
        if (strcmp(value, "64") == 0)
            return true;
        diag_fatal("Value '%s' is not defined for option 'machine'", value);
        return false;
    case OPTION_UIDX:
        options->link.index_file = value;
        return true;
    case OPTION_TIME:
        options->link.time_file = value;
        return true;
    case OPTION_MODULES_FILE:
        options->link.modules_file = value;
        return true;
    case OPTION_NVVMPATH:
        options->link.assembler.nvvm_path = value;
        return true;
    default:
        return take_own(options, row, value);
    }
}

bool take_option(struct options *options, const struct option_row *row, const char *value)
{
    switch (row->id) {
    case OPTION_LTO:
        options->link.options.lto = true;
        return true;
    case OPTION_DEBUG:
        options->link.options.debug = true;
        return true;
    case OPTION_LINE_INFO:
        options->link.options.line_info = true;
        return true;
    case OPTION_RELOCATABLE:
        options->link.relocatable = true;
        return true;
    case OPTION_VERBOSE:
        options->verbose = true;
        return true;
    case OPTION_VERSION:
        options->show_version = true;
        return true;
    case OPTION_HELP:
        options->show_help = true;
        return true;
    case OPTION_NO_WARNINGS:
        options->disable_warnings = true;
        return true;
    case OPTION_NO_INFOS:
        options->disable_infos = true;
        return true;
    case OPTION_WERROR:
        options->warnings_are_errors = true;
        return true;
    case OPTION_REPORT_ARCH:
        options->report_arch = true;
        return true;
    case OPTION_USE_HOST_INFO:
    case OPTION_IGNORE_HOST_INFO:
        options->link.ignore_host_info = row->id == OPTION_IGNORE_HOST_INFO;
        return true;
    case OPTION_CALLGRAPH_MANGLED:
        options->link.callgraph = CALLGRAPH_MANGLED;
        return true;
    case OPTION_EMIT_PTX:
        options->link.emit_ptx = true;
        return true;
    case OPTION_KEEP_SYSTEM:
        options->link.keep_system_libraries = true;
        return true;
    case OPTION_SUPPRESS_ARCH:
        options->link.suppress_arch_warning = true;
        return true;
    case OPTION_SUPPRESS_STACK:
        options->link.suppress_stack_warning = true;
        return true;
    case OPTION_PRESERVE:
        options->link.preserve_relocations = true;
        return true;
    case OPTION_COMPILER:
        options->link.from_compiler = true;
        return true;
    case OPTION_ACCEPTED:
        ARRAY_PUSH(options->ignored, options->ignored_count, options->ignored_capacity) = row->name;
        return true;
    default:
        return take_valued(options, row, value);
    }
}
