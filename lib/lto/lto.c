/* lto.c: members to inputs, and what the library says to diagnostics.
 *
 * A fatbin entry goes to the library in a container of its own, byte for byte with its header,
 * which the library needs to read it. */
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
#include "lto/options.h"

/* Names for the loader, where no file is found. */
static const char *const loader_names[] = {"libnvJitLink.so.13", "libnvJitLink.so.12",
                                           "libnvJitLink.so"};

#define OUTPUT_LIMIT 65536u

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
    if (members->has_lto || members->ptx_count > 0)
        return;
    is_partial(members);
    diag_warning("Ignoring -dlto option because no LTO objects found");
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
    bool partial, ok;

    context_defer(&cleanup, free_run, &run);
    add_inputs(&run, request->members);
    partial = is_partial(request->members);
    lto_options(&run.job, &run.arena, request, partial || request->relocatable);
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
