/* option_table.c: the rows, the choices of some of them, and functions for values that are more
 * than a field.
 *
 * The macros fill in a row's effect, and check that the field has the type that its kind writes. */
#include "command/option_table.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

#include "command/options.h"
#include "facts/targets.h"
#include "pool/pool.h"

bool option_table_undefined(const struct option_row *row, const char *value)
{
    return diag_fatal("Value '%s' is not defined for option '%s'", value, row->name);
}

/* Functions for options whose value is more than a field. Each stores the value and returns true,
 * or reports in nvlink's words that it is invalid. */

/* A real target, or compute_NN, for which no code is made; never lto_NN. */
static bool apply_arch(struct options *options, const struct option_row *row, const char *value)
{
    struct arch arch;

    options->arch_text = value;
    if (arch_parse(text_of(value), "lto_", &arch))
        return diag_fatal(VIRTUAL_TARGET, value);
    options->link.is_virtual = arch_parse(text_of(value), "compute_", &arch);
    if (!(options->link.is_virtual || arch_parse(text_of(value), "sm_", &arch)) ||
        !targets_find_name(arch) || targets_find_name(arch)->toolkits.last == NEVER)
        return option_table_undefined(row, value);
    options->link.arch = arch;
    return true;
}

/* A version of CUDA. */
static bool take_toolkit(struct options *options, const struct option_row *row, const char *value)
{
    options->link.behave_like = toolkit_version_read(text_of(value));
    return options->link.behave_like || option_table_undefined(row, value);
}

/* Is passed on to other programs unchanged. */
static bool take_ofast(struct options *options, const struct option_row *row, const char *value)
{
    static const char *const words[] = {"0", "min", "mid", "max"};

    options->link.options.ofast_compile = value;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], value) == 0)
            return true;
    return diag_fatal("Invalid argument for option '--%s'", row->name);
}

/* There is only one. */
static bool take_machine(struct options *options, const struct option_row *row, const char *value)
{
    (void)options;
    return strcmp(value, "64") == 0 || option_table_undefined(row, value);
}

/* Bytes, or a number followed by k, m, g or t; 0 = no limit. */
static bool take_memory(struct options *options, const struct option_row *row, const char *value)
{
    static const char units[] = "kmgt";
    char *end;
    const char *unit;
    uintmax_t number;
    int shift = 0;

    errno = 0;
    number = strtoumax(value, &end, 10);
    unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
    if (unit) {
        shift = 10 * ((int)(unit - units) + 1);
        end++;
    }
    if (!isdigit((unsigned char)*value) || *end || errno || number > UINT64_MAX >> shift)
        return diag_fatal(
            "Value '%s' is not defined for option '%s': expected a number, with k, m, g or "
            "t behind it or without",
            value, row->name);
    options->link.limits.memory = number ? number << shift : MEMORY_BUDGET_UNLIMITED;
    return true;
}

/* A name, or plugin: and a path. */
static bool take_assembler(struct options *options, const struct option_row *row, const char *value)
{
    options->link.assembler.name = value;
    return strcmp(value, "builtin") == 0 || strcmp(value, "ptxas") == 0 ||
           strncmp(value, "plugin:", 7) == 0 || option_table_undefined(row, value);
}

/* How large the cache may become. */
static bool take_policy(struct options *options, const struct option_row *row, const char *value)
{
    char error[CACHE_POLICY_ERROR_SIZE];

    return cache_policy_read(&options->link.cache.policy, value, error) ||
           diag_fatal("Invalid argument for option '--%s': %s", row->name, error);
}

/* clang-format off */
#define TYPE_OF(name) __typeof__(((struct options *)0)->name)
/* An array of -1 elements, which is an error, if the field has another type. */
#define OFFSET_OF(type, name)                                                                      \
    (offsetof(struct options, name) * sizeof(char[__builtin_types_compatible_p(TYPE_OF(name), type) ? 1 : -1]))
#define PLACE(type, name)      .field = OFFSET_OF(type, name), .size = sizeof(TYPE_OF(name))
#define PLACE_OF_NUMBER(name)  .field = offsetof(struct options, name), .size = sizeof(TYPE_OF(name))
#define GIVEN(name)            .given = OFFSET_OF(bool, name)

#define SETS(name, value)      {.kind = OPTION_SETS, PLACE_OF_NUMBER(name), .number = value}
#define FLAG(name)             {.kind = OPTION_SETS, PLACE(bool, name), .number = true}
#define NO_FLAG(name)          {.kind = OPTION_SETS, PLACE(bool, name), .number = false}
#define STRING(name)           {.kind = OPTION_STRING, PLACE(const char *, name)}
#define NUMBER(name, limit, unit, ...)                                                             \
    {.kind = OPTION_NUMBER, PLACE_OF_NUMBER(name), .most = limit, .number = unit, __VA_ARGS__}
#define LEVEL(name, default)   {.kind = OPTION_LEVEL, PLACE(uint8_t, name), .number = default, .most = 2}
#define CHOICE(name, words)    {.kind = OPTION_CHOICE, PLACE_OF_NUMBER(name), .choices = words}
#define PIECES(name, marks, ...)                                                                   \
    {.kind = OPTION_WORDS, PLACE(const char *const *, name), .separators = marks, __VA_ARGS__}
#define LIST(name)             PIECES(name, ",", .number = true)
#define WORDS(name)            PIECES(name, ", \t", .number = false) /* for another program */
#define WORD(name, ...)        PIECES(name, "", .number = true, __VA_ARGS__)
#define LIBRARIES              {.kind = OPTION_LIBRARIES, .separators = ",", .number = true}
#define IGNORED                {.kind = OPTION_IGNORED}
#define SPECIAL(function)      {.kind = OPTION_SPECIAL, .take = function}

#define CHOICES(name, ...) static const struct option_choice name[] = {__VA_ARGS__, {NULL, 0}}
CHOICES(cpu_names, {"X86_64", 0}, {"AARCH64", 1}, {"ARMv7", 2}, {"PPC64LE", 3}, {"RISCV64", 4}, {"X86", 5}, {"unknown", 6});
CHOICES(host_scripts, {"lcs-abs", HOST_SCRIPT_ABSOLUTE}, {"lcs-aug", HOST_SCRIPT_AUGMENTING});
CHOICES(lto_levels, {"0", 0}, {"1", 1}, {"2", 2}, {"3", 3});
CHOICES(lto_sources, {"auto", LTO_SOURCE_AUTO}, {"ptx", LTO_SOURCE_PTX}, {"ltoir", LTO_SOURCE_LTOIR});
CHOICES(output_abis, {"auto", MERGE_ABI_AUTO}, {"7", MERGE_ABI_7}, {"8", MERGE_ABI_8});
CHOICES(truths, {"false", false}, {"true", true});
CHOICES(binary_kinds, {"capmerc", false}, {"sass", true});
CHOICES(jobserver_uses, {"auto", JOBSERVER_AUTO}, {"on", JOBSERVER_ON}, {"off", JOBSERVER_OFF});
CHOICES(split_policies, {"balanced", SPLIT_BALANCED}, {"kernel", SPLIT_KERNEL}, {"stable", SPLIT_STABLE});
CHOICES(split_modes, {"exact", SPLIT_MODE_EXACT}, {"relocatable", SPLIT_MODE_RELOCATABLE});
CHOICES(diagnostics_formats, {"nvlink", DIAG_FORM_NVLINK}, {"gnu", DIAG_FORM_GNU}, {"json", DIAG_FORM_JSON});
CHOICES(color_uses, {"auto", COLOR_AUTO}, {"always", COLOR_ALWAYS}, {"never", COLOR_NEVER});
CHOICES(chunk_uses, {"relocatable", ASSEMBLE_RELOCATABLE}, {"whole", ASSEMBLE_WHOLE});

const struct option_row option_table[] = {
    {"arch", NULL, "sm_NN", SPECIAL(apply_arch), GROUP_FILES, "Target architecture; by default the one that the inputs agree on"},
    {"output-file", "o", "FILE", STRING(link.output), GROUP_FILES, "The cubin to write; - is the standard output"},
    {"library", "l", "NAME,...", LIBRARIES, GROUP_FILES, "Link lib<NAME>.a from the library paths; anywhere among the operands"},
    {"library-path", "L", "DIR,...", LIST(link.library_paths), GROUP_FILES, "Where to look for libraries, before the folders of LIBRARY_PATH"},
    {"options-file", "optf", "FILE,...", {.kind = OPTION_FILES}, GROUP_FILES, "Read more options from FILE, as @FILE does"},
    {"relocatable-link", "r", NULL, FLAG(link.merge.relocatable), GROUP_FILES, "Write a relocatable cubin for a later link"},
    {"machine", "m", "64", SPECIAL(take_machine), GROUP_FILES, "Address width"},
    {"nvvmpath", NULL, "DIR", STRING(link.assembler.nvvm_path), GROUP_FILES, "Where libnvvm is; one place to look for the toolkit"},
    {"uidx-file", "uidx", "FILE", STRING(link.index_file), GROUP_FILES, "Index of unified functions and data; checked, without effect on programs that have none"},
    {"host-ccbin", NULL, "FILE", FLAG(link.from_compiler), GROUP_FILES, NULL},
    {"register-link-binaries", NULL, "FILE", STRING(link.modules_file), GROUP_FILES, "List the linked objects' module ids in FILE, for nvcc's link.stub"},
    {"gen-host-linker-script", "ghls", "lcs-abs|lcs-aug", CHOICE(host_script, host_scripts), GROUP_FILES, "Write a script for the host's linker, whole or to add to one, and link nothing"},
    {"emit-ptx", NULL, NULL, FLAG(link.emit_ptx), GROUP_FILES, "Write the linked program as one PTX module instead of a cubin"},
    {"emit-texts", NULL, NULL, FLAG(link.emit_texts), GROUP_FILES, "Write the PTX that takes part in the link, text by text, each with a NUL behind it, as nvptx-none-ld does"},
    {"emit-ltoir", NULL, NULL, FLAG(link.emit_ltoir), GROUP_FILES, "Write the LTO-IR of all members as one (libnvJitLink 13.4 or later), or their LLVM bitcode, instead of a cubin"},

    {"link-time-opt", "lto", NULL, FLAG(link.options.lto), GROUP_CODE, "Optimise across modules: link LTO-IR if a toolkit is found, else PTX, even where there is machine code"},
    {"dlto", NULL, NULL, FLAG(link.options.lto), GROUP_CODE, "The same as -lto"},
    {"split-compile-extended", NULL, "N",
     NUMBER(link.options.split_compile_extended, INT32_MAX, 1, GIVEN(link.options.has_split_compile_extended)), GROUP_CODE, "Split the program into chunks and assemble them on N threads; 0 = number of CPUs, 1 = do not split"},
    {"split-compile", NULL, "N", NUMBER(link.options.split_compile, 999, 1, GIVEN(link.options.has_split_compile)), GROUP_CODE, "Threads inside one compilation, where no member embeds a value; 0 = number of CPUs"},
    {"maxrregcount", NULL, "N", NUMBER(link.options.maxrregcount, 65535, 1, GIVEN(link.options.has_maxrregcount)), GROUP_CODE, "Most registers that a function may use"},
    {"Xptxas", NULL, "OPTION,...", WORDS(link.assembler_options), GROUP_CODE, "Options for the assembler"},
    {"Xnvvm", NULL, "OPTION,...", WORDS(link.nvvm_options), GROUP_CODE, "Options for libnvvm"},
    {"nvvm-latest", NULL, NULL, FLAG(link.options.nvvm_latest), GROUP_CODE, "Compile LTO-IR with the newest LLVM of the toolkit (12.5 and later)"},
    {"link-as-tools-patch", "astoolspatch", NULL, FLAG(link.merge.tools_patch), GROUP_CODE, "Link code that was compiled with -astoolspatch, and nothing else"},
    {"Ofast-compile", "Ofc", "0|min|mid|max", SPECIAL(take_ofast), GROUP_CODE, "Trade speed of the code for speed of the compilation (LTO-IR)"},
    {"debug", "g", NULL, FLAG(link.options.debug), GROUP_CODE, "Keep everything that a debugger needs"},
    {"lineinfo", NULL, NULL, FLAG(link.options.line_info), GROUP_CODE, NULL},
    {"use-host-info", NULL, NULL, NO_FLAG(link.ignore_host_info), GROUP_CODE, "Remove kernels that host code does not use, if every host object lists what it uses; the default"},
    {"ignore-host-info", NULL, NULL, FLAG(link.ignore_host_info), GROUP_CODE, "Keep kernels that host code does not use"},
    {"kernels-used", NULL, "KERNEL,...", WORD(link.kernels_used), GROUP_CODE, "Keep only kernels whose name contains one of these, whatever host code uses"},
    {"variables-used", NULL, "VARIABLE,...", WORD(link.variables_used), GROUP_CODE, "The same for variables of LTO-IR; without -kernels-used no kernel is kept"},
    {"keep-system-libraries", NULL, NULL, FLAG(link.keep_system_libraries), GROUP_CODE, "Link libcudadevrt.a even when nothing calls it"},
    {"preserve-relocs", NULL, NULL, FLAG(link.merge.preserve_relocations), GROUP_CODE, "Keep all functions, and list the relocations that the link resolved"},

    {"verbose", "v", "[1|2]", LEVEL(verbose, 1), GROUP_MESSAGES, "Print what memory and what each kernel uses, as nvlink does; 2: also what was found, agreed, split and linked"},
    {"verbose2", "v2", NULL, LEVEL(verbose, 2), GROUP_MESSAGES, NULL},
    {"vv", NULL, NULL, LEVEL(verbose, 2), GROUP_MESSAGES, "The same as --verbose=2"},
    {"version", "V", NULL, FLAG(show_version), GROUP_MESSAGES, "Print the version"},
    {"help", "h", NULL, FLAG(show_help), GROUP_MESSAGES, "Print this help"},
    {"disable-warnings", "w", NULL, FLAG(disable_warnings), GROUP_MESSAGES, "Do not print warnings"},
    {"disable-infos", NULL, NULL, FLAG(disable_infos), GROUP_MESSAGES, "Do not print infos"},
    {"warning-as-error", "Werror", NULL, FLAG(warnings_are_errors), GROUP_MESSAGES, "Treat warnings as errors"},
    {"report-arch", NULL, NULL, FLAG(report_arch), GROUP_MESSAGES, "Name the target in every message"},
    {"suppress-arch-warning", NULL, NULL, FLAG(link.suppress_arch_warning), GROUP_MESSAGES, "Do not warn about files without code for the target"},
    {"suppress-stack-size-warning", NULL, NULL, FLAG(link.merge.suppress_stack_warning), GROUP_MESSAGES, "Do not warn when a stack size cannot be determined"},
    {"time", NULL, "FILE", STRING(link.observe.times), GROUP_MESSAGES, "Append a table of the time that each stage took; - = standard output"},
    {"dump-callgraph", NULL, NULL, SETS(link.merge.callgraph, CALLGRAPH_TEXT), GROUP_MESSAGES, "Print who calls whom, on standard error"},
    {"dump-callgraph-no-demangle", NULL, NULL, SETS(link.merge.callgraph, CALLGRAPH_MANGLED), GROUP_MESSAGES, "The same with names as they are"},

    {"cpu-arch", NULL, "NAME", CHOICE(cpu_name, cpu_names), GROUP_NO_EFFECT, "Architecture of the host"},
    {"device-stack-protector", NULL, NULL, IGNORED, GROUP_NO_EFFECT, "Guards on the stack of code made of LTO-IR"},
    {"extra-warnings", "extrawarn", NULL, IGNORED, GROUP_NO_EFFECT, "More warnings"},
    {"suppress-debug-info", NULL, NULL, IGNORED, GROUP_NO_EFFECT, "Leave sections for debuggers out"},
    {"shared", NULL, NULL, IGNORED, GROUP_NO_EFFECT, NULL},
    {"start-lib", "end-lib", NULL, IGNORED, GROUP_NO_EFFECT, NULL},
    {"start-group", "end-group", NULL, IGNORED, GROUP_NO_EFFECT, NULL},
    {"whole-archive", "no-whole-archive", NULL, IGNORED, GROUP_NO_EFFECT, NULL},
    {"no-undefined", "error-unresolved-symbols", NULL, IGNORED, GROUP_NO_EFFECT, NULL},
    {"gc-sections", NULL, NULL, IGNORED, GROUP_NO_EFFECT, NULL},

    {"assembler", NULL, "builtin|ptxas|plugin:FILE", SPECIAL(take_assembler), GROUP_ASSEMBLER, "The assembler of PTX: builtin (the default), ptxas, or a plug-in"},
    {"ptxas", NULL, "FILE", STRING(link.assembler.ptxas_path), GROUP_ASSEMBLER, "The ptxas to run"},
    {"ignore-stored-options", NULL, NULL, FLAG(link.ignore_stored_options), GROUP_ASSEMBLER, "Assemble PTX without the options that its compiler stored with it"},
    {"cuda-path", NULL, "DIR", STRING(link.assembler.cuda_path), GROUP_ASSEMBLER, "The CUDA toolkit, or the environment with pip's or conda's; by default searched for"},
    {"behave-like", NULL, "VERSION", SPECIAL(take_toolkit), GROUP_ASSEMBLER, "The CUDA version whose nvlink to follow (13.5); by default that of the toolkit that is found, else the newest known"},
    {"output-abi", NULL, "auto|7|8", CHOICE(link.merge.abi, output_abis), GROUP_ASSEMBLER, "The form of the cubin: CUDA 12's, CUDA 13's, or that of the newest input or assembler"},
    {"enable-extended-smem", NULL, "true|false", CHOICE(link.merge.has_extended_shared, truths), GROUP_ASSEMBLER, NULL},
    {"disable-smem-reservation", NULL, "true|false", CHOICE(link.merge.has_no_reserved_shared, truths), GROUP_ASSEMBLER, NULL},
    {"binary-kind", NULL, "capmerc|sass", CHOICE(link.merge.sass_only, binary_kinds), GROUP_ASSEMBLER, "sass: for sm_100 and later, leave out Mercury code, which other targets can use"},

    {"undefined", "u", "NAME", WORD(link.undefined, .is_apart = true), GROUP_SYMBOLS, "Keep this kernel, function or variable even if nothing refers to it; may be given again"},
    {"strip-debug", "S", NULL, FLAG(link.merge.strip_debug), GROUP_SYMBOLS, "Leave out debug information (of -lineinfo and -G)"},
    {"allow-multiple-definition", NULL, NULL, FLAG(link.merge.takes_first), GROUP_SYMBOLS, "Take the first of several definitions, with a warning"},

    {"lto-source", NULL, "auto|ptx|ltoir", CHOICE(link.lto_source, lto_sources), GROUP_LTO, "What -lto links of members with LTO-IR: the LTO-IR, by a toolkit's libnvJitLink, or the PTX beside it"},
    {"nvjitlink", NULL, "FILE", STRING(link.nvjitlink), GROUP_LTO, "The libnvJitLink to use"},
    {"lto-jobs", NULL, "N", NUMBER(link.lto_jobs, 256, 1), GROUP_LTO, "Compile LTO-IR in N parts, each in its own process; 0, the default: decided by the program's size"},
    {"llvm", NULL, "FILE", STRING(link.llvm), GROUP_LTO, "The libLLVM that compiles LLVM bitcode; by default the newest in LD_LIBRARY_PATH and the system's folders"},
    {"lto-O", NULL, "0|1|2|3", CHOICE(link.llvm_level, lto_levels), GROUP_LTO, "Optimisation level for LLVM bitcode; 3 by default"},
    {"lto-newpm-passes", NULL, "PASSES", STRING(link.llvm_passes), GROUP_LTO, "LLVM passes to run on bitcode instead of those of --lto-O, as opt takes them"},
    {"Xllvm", NULL, "OPTION,...", WORDS(link.llvm_options), GROUP_LTO, "Options for libLLVM itself"},

    {"chunks", NULL, "N", NUMBER(link.chunk_count, 65536, 1), GROUP_SPLITTING, "Split into at most N chunks; by default decided by the program's size alone"},
    {"minimum-chunk", NULL, "BYTES", NUMBER(link.minimum_chunk, INT32_MAX, 1), GROUP_SPLITTING, "Smallest chunk, in bytes of PTX; by default 16384, and for more than 4 chunks that times their number"},
    {"split-policy", NULL, "balanced|kernel|stable", CHOICE(link.split_policy, split_policies), GROUP_SPLITTING, "balanced: chunks of equal cost; kernel: one for each kernel; stable: an edit changes one chunk (the default with a cache)"},
    {"split-mode", NULL, "exact|relocatable", CHOICE(link.split_mode, split_modes), GROUP_SPLITTING, "exact: the output is that of the unsplit program (the default for programs of -lto with ptxas); relocatable: it differs"},
    {"verify-split", NULL, NULL, FLAG(link.verify_split), GROUP_SPLITTING, "Assemble an exactly split program in one piece as well; a difference is an error"},
    {"explain-split", NULL, NULL, FLAG(link.explain_split), GROUP_SPLITTING, "Print what is in each chunk, and why there are that many"},
    {"dry-run", NULL, NULL, FLAG(link.dry_run), GROUP_SPLITTING, "Stop before assembling; with -vv, print what would be done"},
    {"keep", NULL, "DIR", STRING(link.keep), GROUP_SPLITTING, "Keep the linked PTX, the chunks and their cubins in DIR"},

    {"cache-dir", "thinlto-cache-dir", "DIR", STRING(link.cache.folder), GROUP_CACHE, "Keep results in DIR, and take them from there while nothing that they depend on changes"},
    {"no-cache", NULL, NULL, FLAG(no_cache), GROUP_CACHE, "Use no cache, even if another option or the environment names one"},
    {"cache-policy", NULL, "POLICY", SPECIAL(take_policy), GROUP_CACHE, "How large DIR may grow: any of cache_size=75%, cache_size_bytes=2g, cache_size_files=N, prune_after=1w and prune_interval=20m, with colons between"},
    {"cache-stats", NULL, NULL, FLAG(link.cache.statistics), GROUP_CACHE, "Print what was found in the cache, and what was not"},
    {"distributor", NULL, "PROGRAM", STRING(link.distribution.program), GROUP_CACHE, "Have chunks assembled by other machines: a program that runs the jobs of a JSON file, as for LLVM's DTLTO"},
    {"distributor-arg", NULL, "ARG", WORD(link.distribution.arguments), GROUP_CACHE, "A word for the distributor, in front of the JSON file; may be given again"},
    {"distributor-tool", NULL, "FILE", STRING(link.distribution.tool), GROUP_CACHE, "Path of ptxas or minilink on the other machines; by default its path on this one"},
    {"emit-plan", NULL, "FILE", STRING(link.distribution.emit_plan), GROUP_CACHE, "Write that JSON file, and FILE.d with what its jobs read, for a build system to run them; link nothing"},
    {"resume-plan", NULL, "FILE", STRING(link.distribution.resume_plan), GROUP_CACHE, "Link with the results of a plan's jobs"},
    /* The options of a distributor's job (assemble/assemble.h). */
    {"assemble-chunk", NULL, "relocatable|whole", CHOICE(chunk_use, chunk_uses), GROUP_CACHE, NULL},
    {"assembler-version", NULL, "TEXT", STRING(single_chunk.version), GROUP_CACHE, NULL},
    {"chunk-report", NULL, "FILE", STRING(single_chunk.report), GROUP_CACHE, NULL},

    {"threads", "j", "N", NUMBER(link.limits.threads, 65536, 1), GROUP_RUNNING, "Never use more than N threads"},
    {"memory-limit", NULL, "BYTES", SPECIAL(take_memory), GROUP_RUNNING, "Run only as many parts and chunks at a time as fit into this memory; k, m or g behind the number: KiB, MiB, GiB"},
    {"decompression-limit", NULL, "MIB", NUMBER(link.inflation_limit, INT32_MAX, 1 << 20, GIVEN(link.has_inflation_limit)), GROUP_RUNNING, "Most MiB that compressed members may decompress to in all; 0 = no limit; by default 64 for PTX, 256 for cubins, and more for large members"},
    {"timeout", NULL, "SECONDS", NUMBER(link.assembler.timeout, INT32_MAX, 1), GROUP_RUNNING, "Kill a ptxas, a compilation of LTO-IR or LLVM bitcode, or a distributor's job that takes longer; 0, the default: never"},
    {"keep-going", NULL, NULL, FLAG(link.keep_going), GROUP_RUNNING, "Assemble all chunks even if one fails, and report each that fails"},
    {"jobserver", NULL, "[on|auto|off]", CHOICE(link.limits.jobserver, jobserver_uses), GROUP_RUNNING, "Take part in GNU make's jobserver; auto, the default: if there is one"},

    {"diagnostics-format", NULL, "nvlink|gnu|json", CHOICE(diagnostics_format, diagnostics_formats), GROUP_DIAGNOSTICS, "Form of messages: nvlink's, file:line:column first, or a JSON object per line"},
    {"color-diagnostics", NULL, "[always|auto|never]", CHOICE(color, color_uses), GROUP_DIAGNOSTICS, "Colour messages; auto, the default: on a terminal, unless NO_COLOR is set"},
    {"fatal-warnings", NULL, NULL, FLAG(warnings_are_errors), GROUP_DIAGNOSTICS, "The same as -warning-as-error"},
    {"error-limit", NULL, "N", NUMBER(error_limit, INT32_MAX, 1), GROUP_DIAGNOSTICS, "Show N errors, by default 20, and count the rest; 0 = all"},
    {"no-demangle", NULL, NULL, FLAG(no_demangle), GROUP_DIAGNOSTICS, "Print mangled names as they are"},

    {"report", NULL, "FILE,...", LIST(reports), GROUP_REPORTS, "Write a page (FILE.html), or the same as data (FILE.json): workers, kernels, sizes, call graph"},
    {"time-trace", NULL, "[FILE]", STRING(link.observe.trace), GROUP_REPORTS, "Write a trace for Perfetto or chrome://tracing; by default beside the output, with .time-trace behind its name"},
    {"time-trace-granularity", NULL, "MICROSECONDS", NUMBER(link.observe.granularity, INT32_MAX, 1), GROUP_REPORTS, "Leave out of the trace what took less, but for stages and chunks; by default 500"},
    {"map", "Map", "FILE", STRING(link.observe.map), GROUP_REPORTS, "Write the sections and symbols of the output, and the member that each came from"},
    {"print-map", "M", NULL, FLAG(link.observe.print_map), GROUP_REPORTS, "The same on standard output"},
    {"trace", "t", NULL, FLAG(link.observe.trace_inputs), GROUP_REPORTS, "Print the objects that take part"},
    {"trace-symbol", "y", "NAME", WORD(link.observe.trace_symbols), GROUP_REPORTS, "Print who defines a symbol, and who refers to it"},
    {"why-live", NULL, "NAME", WORD(link.observe.why_live), GROUP_REPORTS, "Print the chain of references from a kernel to a symbol"},
    {"print-gc-sections", NULL, NULL, FLAG(link.observe.print_drops), GROUP_REPORTS, "Print what was left out, and why"},
    {"stats", NULL, NULL, FLAG(link.observe.stats), GROUP_REPORTS, "Print the stages with their times, items, bytes and memory"},

    {"dependency-file", NULL, "FILE", STRING(link.dependency_file), GROUP_BUILDING, "Write the files that the output depends on as a rule for make; %a in its name is the target"},
    {"dependency-target", NULL, "NAME", STRING(link.dependency_target), GROUP_BUILDING, "The target of that rule; by default the output"},
    {"reproduce", NULL, "FILE", STRING(link.reproduce), GROUP_BUILDING, "Write all inputs and options to a tar file, to run the link again elsewhere"},
    {"list-arch", "arch-ls", NULL, FLAG(list_targets), GROUP_BUILDING, NULL},
    {"list-targets", NULL, NULL, FLAG(list_targets), GROUP_BUILDING, "Print the targets of -arch, one per line, and exit"},
};
/* clang-format on */

const char *option_dashes(enum option_group group)
{
    return group >= GROUP_ASSEMBLER ? "--" : "-";
}

const size_t option_table_size = sizeof option_table / sizeof *option_table;

static bool is_named(const struct option_row *row, struct text name)
{
    return text_equal(text_of(row->name), name) ||
           (row->short_name && text_equal(text_of(row->short_name), name));
}

static const struct option_row *find_row(struct text name)
{
    for (size_t i = 0; i < option_table_size; i++)
        if (is_named(&option_table[i], name))
            return &option_table[i];
    return NULL;
}

/* "-lfoo", "-Ldir", "-ofile", "-m64", "-j4", "-yname"; but "-u name", so that -use_fast_math is
 * unknown. Where a number is expected only digits are taken, so that -maxregcount stays unknown. */
static const struct option_row *find_joined(const char *word)
{
    const struct option_row *row = find_row((struct text){word + 1, 1});
    const char *value = word + 2;
    bool is_number;

    if (!row || !option_takes_argument(row) || row->effect.is_apart)
        return NULL;
    is_number = row->effect.kind == OPTION_NUMBER || isdigit((unsigned char)*row->argument);
    return is_number && value[strspn(value, "0123456789")] ? NULL : row;
}

const struct option_row *option_table_find(const char *word, const char **value)
{
    const char *name = word + (word[1] == '-' ? 2 : 1);
    size_t length = strcspn(name, "=");
    const struct option_row *row = find_row((struct text){name, length});

    *value = name[length] ? name + length + 1 : NULL;
    if (row || word[1] == '-' || length < 2)
        return row;
    *value = word + 2;
    return find_joined(word);
}

bool option_takes_argument(const struct option_row *row)
{
    return row->argument && *row->argument != '[';
}

const struct option_choice *option_table_choice(const struct option_row *row, const char *value)
{
    const struct option_choice *choice = row->effect.choices;

    while (choice->word && strcmp(choice->word, value) != 0)
        choice++;
    return choice->word ? choice : NULL;
}
