/* lto.c: members to inputs, options to options, and what the library says to diagnostics.
 *
 * A fatbin entry goes to the library in a container of its own, byte for byte with its header,
 * which the library needs to read it. Options are those of nvJitLink (measured on 13.0): under
 * `-ptx` it has no -split-compile-extended and takes -split-compile for the number of libnvvm's
 * threads, which does not change what comes out. */
#include "lto/lto.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/context.h"
#include "base/diag.h"
#include "base/exec.h"
#include "base/memory.h"
#include "lto/nvjitlink.h"

/* Names for the loader, where no file is found. */
static const char *const loader_names[] = {"libnvJitLink.so.13", "libnvJitLink.so.12",
                                           "libnvJitLink.so"};

/* Options that are made here, at most. */
#define OWN_OPTIONS 20

#define OUTPUT_LIMIT 65536u

/* Largest value that -split-compile may have. */
#define MOST_SPLIT 999L

struct run {
    struct arena arena;  /* for what the library is given */
    struct arena *texts; /* for what it answers */
    struct nvjitlink_job job;
    struct nvjitlink_answer answer;
    struct exec_result result;
};

static void free_run(void *argument)
{
    struct run *run = argument;

    if (run->job.answer >= 0)
        close(run->job.answer);
    free(run->result.output);
    arena_free(&run->arena);
}

/* Runs the job in a process of its own. True when it left an answer. */
static bool run_job(struct run *run)
{
    const struct exec_request request = {
        .call = nvjitlink_run, .argument = &run->job, .output_limit = OUTPUT_LIMIT};

    run->job.answer = exec_memory_file("minilink-lto");
    if (run->job.answer < 0)
        context_raise(LINK_NO_MEMORY);
    exec_run(&request, &run->result);
    if ((run->result.end == EXEC_NOT_STARTED && run->result.code == ENOMEM) ||
        (run->result.end == EXEC_EXITED && run->result.code == NVJITLINK_NO_MEMORY))
        context_raise(LINK_NO_MEMORY);
    return run->result.end == EXEC_EXITED && run->result.code == 0 &&
           nvjitlink_read(run->job.answer, run->texts, &run->answer);
}

static bool can_load(const char *name)
{
    struct run run = {.job = {.library = name, .answer = -1}};
    struct context_cleanup cleanup;
    bool ok;

    run.texts = &run.arena;
    context_defer(&cleanup, free_run, &run);
    ok = run_job(&run) && run.answer.step == NVJITLINK_DONE;
    context_clean(&cleanup);
    return ok;
}

static char *find_library(const struct toolkit_request *toolkit, struct buffer *tried)
{
    char *found = toolkit_find_nvjitlink(toolkit, tried);
    size_t count = sizeof loader_names / sizeof *loader_names;

    if (found || toolkit->nvjitlink || toolkit->cuda_path)
        return found;
    for (size_t i = 0; i < count; i++)
        if (can_load(loader_names[i]))
            return memory_copy_string(loader_names[i], strlen(loader_names[i]));
    buffer_string(tried, tried->size ? ", the loader's folders" : "the loader's folders");
    return NULL;
}

bool lto_find(char **library, enum lto_source source, const struct toolkit_request *toolkit)
{
    struct buffer tried = {0};
    struct context_cleanup cleanup;

    *library = NULL;
    if (source == LTO_SOURCE_PTX) {
        diag_info("LTO-IR is not linked (--lto-source=ptx): PTX beside it takes its place, without "
                  "optimisation across modules");
        return true;
    }
    context_defer(&cleanup, buffer_cleanup, &tried);
    *library = find_library(toolkit, &tried);
    if (!*library && (source == LTO_SOURCE_LTOIR || toolkit->nvjitlink)) {
        diag_fatal("Could not find libnvJitLink (looked in %.*s)", TEXT_ARG(buffer_view(&tried)));
        diag_note("Set CUDA_HOME, or use --cuda-path= or --nvjitlink=");
    } else if (!*library) {
        diag_info(
            "LTO-IR is not linked, as no CUDA toolkit with libnvJitLink was found: PTX beside "
            "it takes its place, without optimisation across modules");
        diag_verbose("libnvJitLink was looked for in %.*s", TEXT_ARG(buffer_view(&tried)));
    }
    context_clean(&cleanup);
    return *library || (source != LTO_SOURCE_LTOIR && !toolkit->nvjitlink);
}

/* Members of a group stand side by side. */
bool lto_refuse_alone(const struct members *members)
{
    bool ok = true;

    for (size_t i = 0, end; members->has_lto_only && i < members->count; i = end) {
        const struct member *lto = NULL;
        bool has_code = false;

        for (end = i; end < members->count && members->list[end].group == members->list[i].group;
             end++) {
            if (members->list[end].role == MEMBER_OPTIONS)
                lto = &members->list[end];
            has_code |=
                members->list[end].role == MEMBER_PTX || members->list[end].role == MEMBER_CUBIN;
        }
        if (!lto || has_code)
            continue;
        diag_error("'%s' is LTO-IR without PTX beside it, which only NVIDIA's libraries can read; "
                   "build it with both (nvcc -dlto -arch=sm_%u), or link with -lto where a CUDA "
                   "toolkit is",
                   lto->name, members->arch.sm);
        ok = false;
    }
    return ok;
}

/* The entry as a fatbin with nothing else in it. */
static struct bytes make_container(struct arena *arena, const struct fatbin_entry *entry)
{
    struct bytes container = {NULL, FATBIN_HEADER_SIZE + entry->whole.size};
    uint8_t *data = arena_alloc(arena, container.size, 1);
    uint64_t size = entry->whole.size;
    const uint8_t head[8] = {0x50, 0xED, 0x55, 0xBA, 1, 0, FATBIN_HEADER_SIZE, 0};

    memcpy(data, head, sizeof head);
    for (size_t i = 0; i < 8; i++)
        data[8 + i] = (uint8_t)(size >> (8 * i));
    memcpy(data + FATBIN_HEADER_SIZE, entry->whole.data, entry->whole.size);
    container.data = data;
    return container;
}

static void add_inputs(struct run *run, const struct members *members)
{
    struct nvjitlink_input *inputs = arena_zalloc(&run->arena, members->lto_count, sizeof *inputs);

    for (size_t i = 0; i < members->count; i++) {
        const struct member *member = &members->list[i];
        bool is_fatbin = member->entry.whole.size > 0;

        if (member->role != MEMBER_LTO)
            continue;
        inputs[run->job.input_count++] = (struct nvjitlink_input){
            .name = member->name,
            .data = is_fatbin ? make_container(&run->arena, &member->entry) : member->entry.payload,
            .is_fatbin = is_fatbin,
        };
    }
    run->job.inputs = inputs;
}

/* Whether code takes part that LTO does not see. Tells who brings it. */
static bool is_partial(const struct members *members)
{
    const char *last = NULL;

    for (size_t i = 0; i < members->count; i++) {
        const struct member *member = &members->list[i];

        if ((member->role != MEMBER_PTX && member->role != MEMBER_CUBIN) || member->is_system ||
            (last && strcmp(last, member->object_name) == 0))
            continue;
        last = member->object_name;
        diag_info("requested LTO but '%s' not built for LTO so doing partial LTO",
                  member->object_name);
    }
    return last != NULL;
}

void lto_warn_useless(const struct members *members)
{
    if (!members->has_lto && members->ptx_count == 0 && is_partial(members))
        diag_warning("Ignoring -dlto option because no LTO objects found");
}

struct option_list {
    struct arena *arena;
    const char **list;
    uint32_t count;
};

static void add(struct option_list *options, const char *option)
{
    options->list[options->count++] = option;
}

static void add_number(struct option_list *options, const char *name, int32_t value)
{
    add(options, arena_printf(options->arena, "%s=%d", name, (int)value));
}

static void add_value(struct option_list *options, const char *name, const char *value)
{
    if (value && *value)
        add(options, arena_printf(options->arena, "%s=%s", name, value));
}

/* Measured: nvlink leaves the arithmetic to what the LTO-IR says, unless -Xnvvm changes anything.
 */
static void add_arithmetic(struct option_list *options, const struct agreement *agreement)
{
    static const struct {
        enum embedded_option option;
        const char *name;
    } arithmetic[] = {
        {EMBEDDED_FTZ, "-ftz"},
        {EMBEDDED_PREC_DIV, "-prec-div"},
        {EMBEDDED_PREC_SQRT, "-prec-sqrt"},
        {EMBEDDED_FMAD, "-fma"},
    };

    for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++) {
        const struct consensus *consensus = &agreement->embedded[arithmetic[i].option];

        if (consensus->state == CONSENSUS_PRESENT || consensus->state == CONSENSUS_MIXED)
            add_number(options, arithmetic[i].name, consensus->value);
    }
}

/* The value of -split-compile for libnvvm: that in force, or the extended one, which wins. Measured
 * on 13.0: 1 gives other PTX than all that is more. So that the output depends neither on the
 * machine nor on --threads, 0, the number of CPUs, and limits become at least 2. */
static int32_t split_value(const struct lto_request *request)
{
    const struct agreement *agreement = request->agreement;
    int32_t value = agreement->split_compile_extended != 1 ? agreement->split_compile_extended
                                                           : agreement->split_compile;
    long most = request->thread_limit ? (long)request->thread_limit : MOST_SPLIT;

    if (value == 1)
        return 1;
    if (value <= 0)
        value = (int32_t)MOST_SPLIT;
    if (most > sysconf(_SC_NPROCESSORS_ONLN))
        most = sysconf(_SC_NPROCESSORS_ONLN);
    if (value > most)
        value = (int32_t)most;
    return value < 2 ? 2 : value;
}

static void add_options(struct run *run, const struct lto_request *request)
{
    const struct agreement *agreement = request->agreement;
    const char *const *nvvm = request->nvvm_options;
    struct option_list options = {.arena = &run->arena};
    char arch[ARCH_NAME_SIZE];
    size_t count = 0;
    const char *ofast = request->options->ofast_compile;

    while (nvvm && nvvm[count])
        count++;
    options.list = arena_alloc(&run->arena, OWN_OPTIONS + count, sizeof *options.list);
    add_value(&options, "-arch", arch_name(request->members->arch, arch));
    add(&options, "-lto");
    add(&options, "-ptx");
    if (split_value(request) != 1)
        add_number(&options, "-split-compile", split_value(request));
    if (agreement->debug)
        add(&options, "-g");
    if (agreement->line_info)
        add(&options, "-lineinfo");
    if (agreement->maxrregcount > 0)
        add_number(&options, "-maxrregcount", agreement->maxrregcount);
    if (ofast && strcmp(ofast, "0") != 0)
        add_value(&options, "-Ofc", ofast);
    add_value(&options, "-kernels-used", request->kernels_used);
    add_value(&options, "-variables-used", request->variables_used);
    /* Measured: nvlink drops variables as well then; those named are the library's own business. */
    if (request->kernels_used && !request->variables_used)
        add(&options, "-optimize-unused-variables");
    if (count)
        add_arithmetic(&options, agreement);
    for (size_t i = 0; i < count; i++)
        add_value(&options, "-Xnvvm", nvvm[i]);
    /* As nvlink does it: what LTO cannot see may refer to all that is visible. */
    if (is_partial(request->members) || request->relocatable)
        add(&options, "-Xnvvm=--force-device-c");
    run->job.options = options.list;
    run->job.option_count = options.count;
    for (size_t i = 0; i < options.count; i++)
        diag_verbose("libnvJitLink is given %s", options.list[i]);
}

static bool starts_with(struct text line, const char *word)
{
    return text_starts(line, text_of(word));
}

static bool is_blank(struct text line)
{
    for (size_t i = 0; i < line.size; i++)
        if (!strchr(" \t\r", line.data[i]))
            return false;
    return true;
}

/* One line of a log; the library's own "ERROR: " and the like become the severity. */
static void report_line(struct text line, bool is_error)
{
    static const char *const heads[] = {"ERROR: ", "ERROR in ", "ERROR ", "WARNING: ", "INFO: "};
    bool is_warning = starts_with(line, "WARNING") || starts_with(line, "warning");

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        if (!starts_with(line, heads[i]))
            continue;
        line.data += strlen(heads[i]);
        line.size -= strlen(heads[i]);
        break;
    }
    if (is_warning)
        diag_warning("libnvJitLink: %.*s", TEXT_ARG(line));
    else if (is_error)
        diag_error("libnvJitLink: %.*s", TEXT_ARG(line));
    else
        diag_info("libnvJitLink: %.*s", TEXT_ARG(line));
}

static void report_log(struct text log, bool is_error)
{
    while (log.size > 0) {
        const char *newline = memchr(log.data, '\n', log.size);
        size_t size = newline ? (size_t)(newline - log.data) : log.size;
        struct text line = {log.data, size};

        if (line.size > 0 && line.data[line.size - 1] == '\r')
            line.size--;
        if (!is_blank(line))
            report_line(line, is_error);
        size += newline != NULL;
        log = (struct text){log.data + size, log.size - size};
    }
}

/* What the library wrote to the standard descriptors, which it should not. */
static void report_output(const struct run *run, bool is_error)
{
    if (run->result.output)
        report_log((struct text){run->result.output, run->result.output_size}, is_error);
}

/* There is no answer: the library crashed, or ended the process. */
static bool report_death(const struct run *run)
{
    const char *library = run->job.library;
    const struct exec_result *result = &run->result;

    report_output(run, true);
    if (result->end == EXEC_SIGNALED)
        diag_fatal("libnvJitLink '%s' was killed by signal %d (%s)", library, result->code,
                   strsignal(result->code));
    else if (result->end == EXEC_NOT_STARTED)
        diag_fatal("Could not run libnvJitLink '%s': %s", library, strerror(result->code));
    else
        diag_fatal("libnvJitLink '%s' ended its process with status %d", library, result->code);
    diag_note("--lto-source=ptx links the PTX beside the LTO-IR instead");
    if (result->end == EXEC_NOT_STARTED ||
        (result->end == EXEC_SIGNALED && result->code == SIGXFSZ))
        context_raise(LINK_ENVIRONMENT);
    return false;
}

static bool report_failure(const struct run *run)
{
    const struct nvjitlink_answer *answer = &run->answer;
    const char *library = run->job.library;

    report_output(run, true);
    if (answer->step == NVJITLINK_LOAD) {
        diag_fatal("Could not load libnvJitLink '%s': %.*s", library, TEXT_ARG(answer->errors));
        return false;
    }
    report_log(answer->errors, true);
    if (answer->step == NVJITLINK_ADD && answer->failed_input < run->job.input_count)
        diag_fatal("libnvJitLink does not take '%s': %s",
                   run->job.inputs[answer->failed_input].name, nvjitlink_code_text(answer->code));
    else if (answer->step == NVJITLINK_CREATE)
        diag_fatal("libnvJitLink does not take the options: %s", nvjitlink_code_text(answer->code));
    else
        diag_fatal("elfLink JIT compile failed: %s",
                   answer->code ? nvjitlink_code_text(answer->code) : "libnvJitLink made no PTX");
    return false;
}

bool lto_compile(struct text *ptx, struct arena *arena, const struct lto_request *request)
{
    struct run run = {.texts = arena, .job = {.library = request->library, .answer = -1}};
    struct context_cleanup cleanup;
    bool ok;

    context_defer(&cleanup, free_run, &run);
    add_inputs(&run, request->members);
    add_options(&run, request);
    if (!run_job(&run)) {
        ok = run.result.end != EXEC_CANCELLED && report_death(&run);
    } else if (run.answer.step != NVJITLINK_DONE) {
        ok = report_failure(&run);
    } else {
        report_output(&run, false);
        report_log(run.answer.errors, false);
        report_log(run.answer.infos, false);
        diag_verbose("libnvJitLink %u.%u '%s': %zu members to %zu bytes of PTX", run.answer.major,
                     run.answer.minor, request->library, run.job.input_count, run.answer.ptx.size);
        *ptx = run.answer.ptx;
        ok = true;
    }
    context_clean(&cleanup);
    return ok;
}
