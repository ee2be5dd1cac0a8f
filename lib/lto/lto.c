/* lto.c: parts are planned, run, and joined; or one compilation is all there is. */
#include "lto/lto.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/context.h"
#include "diag/diag.h"
#include "diag/events.h"
#include "input/used.h"
#include "lto/kernels.h"
#include "lto/lto_cache.h"
#include "lto/lto_steps.h"
#include "lto/part.h"
#include "lto/partition.h"
#include "lto/parts.h"
#include "lto/report.h"
#include "pool/child_tokens.h"

/* What a compilation may take (measured on libnvJitLink 13.0: 60 MiB for 139 KB of LTO-IR, 109 MiB
 * for 837 KB, 70 MiB for a sixteenth of its kernels). */
#define MEMORY_TO_START (UINT64_C(64) << 20)
#define MEMORY_OF_BYTE  80u

/* One call of lto_compile. */
struct compilation {
    const struct lto_request *request;
    struct lto_result *result;
    struct arena *texts; /* for what is made */
    struct arena arena;  /* for what is needed on the way */
    struct buffer buffer;
    bool is_partial;
    struct job_inputs inputs;
    int inputs_fd;
    struct lto_kernels kernels;
    struct lto_share *shares; /* what each part is given; NULL = one part, given all */
    struct parts_run run;
    uint32_t threads; /* that were really used */
    size_t failed;    /* the first part that failed */
    struct lto_answer *answers;
    struct table said;
    struct cache_key common; /* of the parts' keys, when there is a cache */
};

static void free_compilation(void *argument)
{
    struct compilation *compilation = argument;

    parts_free(&compilation->run);
    if (compilation->inputs_fd >= 0)
        close(compilation->inputs_fd);
    table_free(&compilation->said);
    lto_kernels_free(&compilation->kernels);
    buffer_free(&compilation->buffer);
    arena_free(&compilation->arena);
}

/* Why there is one part, or NULL, and *count parts are made. */
static const char *count_parts(struct compilation *compilation, uint32_t *count)
{
    const struct lto_request *request = compilation->request;
    uint64_t bytes = lto_kernels_bytes(request->members);

    *count = 1;
    if (request->jobs == 1)
        return "as --lto-jobs says";
    if (request->jobs == 0 && !request->is_split)
        return "the link is not split";
    if (request->relocatable)
        return "with -r everything stays visible";
    if (request->agreement->debug)
        return "with -g everything stays";
    if (compilation->is_partial)
        return "other code takes part, which may call any function";
    if (lto_options_name_kernels(request))
        return "-Xnvvm says what host code uses";
    *count = request->jobs ? request->jobs : partition_part_count(bytes, SIZE_MAX);
    if (*count == 1)
        return "it is too small for more";
    if (!lto_kernels_list(&compilation->kernels, &compilation->arena, request) &&
        !name_pass_run(&compilation->kernels, &compilation->arena, request, &compilation->inputs,
                       &compilation->run, &compilation->common))
        return "its kernels cannot be found out";
    if (compilation->kernels.count < 2)
        return compilation->kernels.count ? "it has one kernel" : "it has no kernels";
    if (!request->jobs)
        *count = partition_part_count(bytes, compilation->kernels.count);
    if (*count == 1)
        return "it is too small for more";
    if (*count > compilation->kernels.count)
        *count = (uint32_t)compilation->kernels.count;
    if (*count > PARTITION_MOST_PARTS)
        *count = PARTITION_MOST_PARTS;
    return NULL;
}

/* The names of a part's kernels with external or internal linkage, with commas between them. */
static struct text join_names(struct compilation *compilation, const uint32_t *parts, uint32_t part,
                              bool is_internal)
{
    struct buffer *buffer = &compilation->buffer;

    buffer->size = 0;
    for (size_t i = 0; i < compilation->kernels.count; i++)
        if (parts[i] == part && compilation->kernels.list[i].is_internal == is_internal)
            buffer_printf(buffer, "%s%.*s", buffer->size ? "," : "",
                          TEXT_ARG(compilation->kernels.list[i].name));
    return arena_text(&compilation->arena, buffer_view(buffer));
}

/* What each part is given; none when there is one. */
static void make_parts(struct compilation *compilation, uint32_t count)
{
    struct lto_part *made = arena_zalloc(compilation->texts, count, sizeof *made);
    struct part *list = arena_zalloc(&compilation->arena, count, sizeof *list);
    uint32_t *parts = NULL;

    compilation->result->parts = made;
    compilation->result->part_count = count;
    compilation->run.list = list;
    compilation->run.count = count;
    compilation->shares = NULL;
    for (uint32_t i = 0; i < count; i++)
        list[i].answer = -1;
    if (count == 1)
        return;
    parts = partition_kernels(&compilation->arena, compilation->kernels.list,
                              compilation->kernels.count, count);
    compilation->shares = arena_zalloc(&compilation->arena, count, sizeof *compilation->shares);
    for (size_t i = 0; i < compilation->kernels.count; i++) {
        struct lto_part *part = &made[parts[i]];

        if (!part->first_kernel)
            part->first_kernel =
                arena_string(compilation->texts, compilation->kernels.list[i].name);
        part->kernel_count++;
        list[parts[i]].cost += compilation->kernels.list[i].cost;
    }
    for (uint32_t i = 0; i < count; i++)
        compilation->shares[i] = (struct lto_share){
            .external = join_names(compilation, parts, i, false),
            .internal = join_names(compilation, parts, i, true),
        };
}

/* Options that differ from part to part are told of each. */
static void tell_options(const char *const *options, size_t count, size_t part, size_t part_count)
{
    for (size_t i = 0; i < count; i++) {
        bool is_own = part_count > 1 && (strncmp(options[i], "-Xnvvm=-host-ref-ek=", 20) == 0 ||
                                         strncmp(options[i], "-Xnvvm=-host-ref-ik=", 20) == 0);

        if (is_own)
            diag_verbose("libnvJitLink is given %s for LTO part %zu", options[i], part);
        else if (part == 0)
            diag_verbose("libnvJitLink is given %s", options[i]);
    }
}

/* Where the extended option is there, too, it wins, which has been told (options/consensus.h). */
static void tell_one_thread(const struct compilation *compilation)
{
    const struct agreement *agreement = compilation->request->agreement;

    if (agreement->split_compile == 1 || agreement->split_compile_extended != 1)
        return;
    if (compilation->shares)
        diag_info("-split-compile=%d is not used: LTO-IR is compiled in %zu parts (--lto-jobs), "
                  "each on one thread",
                  (int)agreement->split_compile, compilation->run.count);
    else if (compilation->request->is_split)
        diag_info("-split-compile=%d is not used: in a split link LTO-IR is compiled on one thread",
                  (int)agreement->split_compile);
}

static void make_jobs(struct compilation *compilation)
{
    const struct lto_request *request = compilation->request;
    bool is_open = compilation->is_partial || request->relocatable;

    tell_one_thread(compilation);

    for (size_t i = 0; i < compilation->run.count; i++) {
        const char *const *options;
        size_t count = lto_options(&options, &compilation->arena, request, is_open,
                                   compilation->shares ? &compilation->shares[i] : NULL);

        tell_options(options, count, i, compilation->run.count);
        compilation->run.child_threads = child_tokens_threads(options);
        compilation->buffer.size = 0;
        job_write(&compilation->buffer, request->library, options, count, &compilation->inputs);
        if (request->cache)
            compilation->run.list[i].key = lto_cache_key(&compilation->common, options, count);
        compilation->run.list[i].job =
            arena_text(&compilation->arena, buffer_view(&compilation->buffer));
    }
}

/* How many parts may run at one time. */
static uint32_t count_threads(struct compilation *compilation)
{
    size_t count = compilation->run.count;
    uint64_t *needs = arena_alloc(&compilation->arena, count, sizeof *needs);

    for (size_t i = 0; i < count; i++)
        needs[i] =
            MEMORY_TO_START + MEMORY_OF_BYTE * lto_kernels_bytes(compilation->request->members);
    return parts_threads(compilation->request, needs, count);
}

static bool is_out_of_memory(const struct part *part)
{
    return (part->result.end == EXEC_NOT_STARTED && part->result.code == ENOMEM) ||
           (part->result.end == EXEC_EXITED && part->result.code == LTO_NO_MEMORY);
}

/* Reads the answers up to that of the first part that failed. */
static void read_answers(struct compilation *compilation, size_t failed)
{
    struct parts_run *run = &compilation->run;

    compilation->answers =
        arena_zalloc(&compilation->arena, run->count, sizeof *compilation->answers);
    for (size_t i = 0; i < run->count && i <= failed; i++) {
        struct lto_part *made = &compilation->result->parts[i];
        const struct part *part = &run->list[i];
        bool is_read = part->result.end == EXEC_EXITED && part->result.code == 0 &&
                       answer_read(part->answer, compilation->texts, &compilation->answers[i]);

        run->list[i].succeeded &= is_read;
        made->ptx = compilation->answers[i].ptx;
        made->started = part->started;
        made->nanoseconds = part->nanoseconds;
        made->peak = part->result.peak;
    }
}

static struct lto_reporter reporter_of(struct compilation *compilation)
{
    return (struct lto_reporter){"libnvJitLink", compilation->request->library,
                                 &compilation->inputs, &compilation->said};
}

/* Reports the part that failed. */
static void report_failed(struct compilation *compilation)
{
    size_t index = compilation->failed;
    const struct part *part = &compilation->run.list[index];
    const struct lto_answer *answer = &compilation->answers[index];
    const struct lto_reporter reporter = reporter_of(compilation);

    if (is_out_of_memory(part))
        context_raise(LINK_NO_MEMORY);
    if (part->result.end == EXEC_CANCELLED)
        return;
    /* One that is whole now could not be read when its child ended. */
    if (answer->errors.data && answer->step != LTO_STEP_DONE)
        lto_report_failure(&reporter, part, answer);
    else
        lto_report_death(&reporter, part, NULL);
    if (compilation->shares)
        diag_note("It compiled LTO part %zu of %zu, %zu kernels with '%s'", index,
                  compilation->run.count, compilation->result->parts[index].kernel_count,
                  compilation->result->parts[index].first_kernel);
}

/* What the library said. */
static void report_logs(struct compilation *compilation)
{
    const struct lto_reporter reporter = reporter_of(compilation);
    const struct parts_run *run = &compilation->run;

    for (size_t i = 0; i < run->count; i++) {
        const struct exec_result *result = &run->list[i].result;
        const struct text output = {result->output, result->output_size};

        if (output.data)
            lto_report_log(&reporter, output, false);
        lto_report_log(&reporter, compilation->answers[i].errors, false);
        lto_report_log(&reporter, compilation->answers[i].infos, false);
    }
}

/* What each part was, and all together. */
static void report_parts(const struct compilation *compilation)
{
    const struct lto_result *result = compilation->result;

    for (size_t i = 0; i < result->part_count; i++) {
        const struct lto_part *part = &result->parts[i];
        uint64_t peak = part->peak >> 20;

        if (part->kernel_count)
            diag_verbose("LTO part %zu: %zu kernels, first %s, %zu bytes of PTX, peak %" PRIu64
                         " MiB",
                         i, part->kernel_count, part->first_kernel, part->ptx.size, peak);
        else
            diag_verbose("LTO part %zu: %zu bytes of PTX, peak %" PRIu64 " MiB", i, part->ptx.size,
                         peak);
    }
    if (result->part_count > 1)
        diag_verbose("%zu LTO parts on %" PRIu32 " threads", result->part_count,
                     compilation->threads);
    diag_verbose("libnvJitLink %u.%u '%s': %zu members to %zu bytes of PTX",
                 compilation->answers->major, compilation->answers->minor,
                 compilation->request->library, compilation->inputs.count, result->ptx.size);
}

/* For those who want to see it. */
static void record_parts(const struct lto_result *result)
{
    for (size_t i = 0; i < result->part_count; i++) {
        const struct lto_part *part = &result->parts[i];
        char name[32];

        snprintf(name, sizeof name, "lto-%zu.ptx", i);
        events_record(&(struct event){.kind = EVENT_PART,
                                      .name = text_of(name),
                                      .start = part->started,
                                      .end = part->started + part->nanoseconds,
                                      .peak = part->peak,
                                      .is_apart = true});
    }
}

/* Makes and runs `count` parts. False when one of them failed. */
static bool run_parts(struct compilation *compilation, uint32_t count)
{
    struct parts_run *run = &compilation->run;

    make_parts(compilation, count);
    make_jobs(compilation);
    run->threads = count_threads(compilation);
    run->is_repeated |= count > run->threads;
    compilation->threads = parts_run(run);
    read_answers(compilation, parts_first_failed(run));
    compilation->failed = parts_first_failed(run);
    if (compilation->failed < run->count)
        return false;
    report_logs(compilation);
    return true;
}

static enum parts_answer join_parts(struct compilation *compilation, struct parts_result *joined)
{
    const struct lto_request *request = compilation->request;
    const struct lto_result *result = compilation->result;
    struct text *texts = arena_alloc(&compilation->arena, result->part_count, sizeof *texts);
    struct parts_order order = {lto_kernels_rank, &compilation->kernels};
    struct parts_request wanted = {.texts = texts,
                                   .count = result->part_count,
                                   .used = request->used->is_ignored ? NULL : request->used,
                                   .order = request->is_split ? NULL : &order};

    for (size_t i = 0; i < result->part_count; i++)
        texts[i] = result->parts[i].ptx;
    return parts_join(joined, compilation->texts, &wanted);
}

/* Makes one module of the parts. False when they are no parts of one program, which is said, or
 * with *ok false when that is reported as an error. */
static bool join(struct compilation *compilation, bool *ok)
{
    struct parts_result joined = {0};
    enum parts_answer answer = join_parts(compilation, &joined);

    compilation->result->ptx = joined.ptx;
    *ok = answer == PARTS_JOINED;
    if (joined.several)
        diag_verbose("The parts have several versions of %zu functions, each made for the calls of "
                     "some",
                     joined.several);
    if (answer != PARTS_DISAGREE)
        return true;
    diag_caution("The parts of the LTO-IR differ in the %s, which should not be: it is compiled "
                 "again, in one part",
                 joined.difference);
    return false;
}

/* Whether the text is to be the same for any number of parts, as far as the code in it is. Without
 * a split one part's is nvlink's, to the byte. */
static bool is_joined_alone(const struct compilation *compilation)
{
    const struct lto_request *request = compilation->request;

    return request->is_split && !request->relocatable && !request->agreement->debug &&
           !compilation->is_partial;
}

/* What was said has gone with the parts. */
static void drop_parts(struct compilation *compilation)
{
    parts_free(&compilation->run);
    table_free(&compilation->said);
}

/* Measured: from sm_100 on, libnvvm 13.0 makes a module that it then refuses of a program that
 * nothing is left of, such as one whose kernels host code does not name. */
static bool may_lack_kernels(const struct compilation *compilation)
{
    const struct used_names *used = compilation->request->used;

    return compilation->request->members->arch.sm >= 100 && (used->has_lists || used->has_parts) &&
           compilation->answers[compilation->failed].step == LTO_STEP_COMPLETE;
}

/* Once more, with all kernels. */
static bool compile_without_lists(struct compilation *compilation)
{
    struct lto_request *request =
        arena_copy(&compilation->arena, compilation->request, 1, sizeof *request);
    struct used_names *none = arena_zalloc(&compilation->arena, 1, sizeof *none);

    drop_parts(compilation);
    none->is_ignored = true;
    request->used = none;
    compilation->request = request;
    if (!run_parts(compilation, 1))
        return false;
    diag_caution("libnvJitLink fails when it is to keep those kernels only that host code names: "
                 "LTO-IR is compiled with all");
    return true;
}

static bool compile_in_one(struct compilation *compilation)
{
    struct parts_result joined = {0};
    enum parts_answer answer = PARTS_DISAGREE;

    if (!run_parts(compilation, 1) &&
        !(may_lack_kernels(compilation) && compile_without_lists(compilation))) {
        report_failed(compilation);
        return false;
    }
    compilation->result->ptx = compilation->result->parts->ptx;
    if (is_joined_alone(compilation))
        answer = join_parts(compilation, &joined);
    if (answer == PARTS_JOINED)
        compilation->result->ptx = joined.ptx;
    return answer != PARTS_FAILED;
}

static bool compile(struct compilation *compilation)
{
    uint32_t count;
    const char *reason = count_parts(compilation, &count);
    bool ok;

    if (reason) {
        diag_verbose("LTO-IR is compiled in one part: %s", reason);
        return compile_in_one(compilation);
    }
    diag_verbose("LTO-IR of %zu kernels is compiled in %" PRIu32 " parts",
                 compilation->kernels.count, count);
    if (run_parts(compilation, count)) {
        if (join(compilation, &ok))
            return ok;
    } else if (!may_lack_kernels(compilation)) {
        report_failed(compilation);
        return false;
    }
    drop_parts(compilation);
    return compile_in_one(compilation);
}

enum link_code lto_compile(struct lto_result *result, struct arena *arena,
                           const struct lto_request *request)
{
    struct compilation compilation = {
        .request = request,
        .result = result,
        .texts = arena,
        .inputs_fd = -1,
        .run = {.library = request->library,
                .jobserver = request->jobserver,
                .stop = request->stop,
                .timeout = request->timeout,
                .distribution = request->distribution,
                .cache = request->cache},
    };
    bool is_current, ok;

    CONTEXT_DEFER(free_compilation, &compilation);
    compilation.is_partial = lto_is_partial(request->members);
    compilation.inputs_fd = compilation.run.inputs =
        lto_inputs_write(&compilation.inputs, &compilation.arena, request->members, MEMBER_LTO);
    if (request->cache)
        compilation.common =
            lto_cache_common(request->library_key, request->members, request->distribution);
    is_current = watch_check(request->watch);
    ok = is_current && compile(&compilation);
    if (ok) {
        report_parts(&compilation);
        record_parts(result);
    }
    return ok ? LINK_OK : is_current ? LINK_NVVM_ERROR : LINK_ENVIRONMENT;
}
