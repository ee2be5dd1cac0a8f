/* lto.c: which members LTO sees; plans, runs and joins the parts, or runs a single compilation. */
#include "lto/internal.h"

#include <inttypes.h>
#include <stdio.h>

#include "diag/diag.h"
#include "facts/targets.h"
#include "input/used.h"
#include "pool/jobserver.h"

/* Members of a group are adjacent. */
bool lto_refuse_alone(const struct members *members)
{
    size_t refused = 0;

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
        /* nvcc names libcudadevrt in every link, and most links do not need it. */
        if (lto->is_system) {
            diag_info("Member '%s' is left out: it is LTO-IR without PTX beside it", lto->name);
            continue;
        }
        if (refused++ > 0 && diag_folds())
            continue;
        diag_error("'%s' is LTO-IR without PTX beside it, which only NVIDIA's libraries can read; "
                   "build it with both (nvcc -dlto -arch=sm_%u), or link with -lto where a CUDA "
                   "toolkit is",
                   lto->name, members->arch.sm);
    }
    if (refused > 1 && diag_folds())
        diag_note("so are %zu more; -v names them", refused - 1);
    return refused == 0;
}

bool lto_is_other(const struct member *member)
{
    return !member->is_system && (member->role == MEMBER_PTX || member->role == MEMBER_CUBIN ||
                                  member->role == MEMBER_BITCODE);
}

bool lto_has_others(const struct members *members)
{
    bool has_lto = false, has_others = false;

    for (size_t i = 0; i < members->count; i++) {
        has_lto |= members->list[i].role == MEMBER_LTO && !members->list[i].is_system;
        has_others |= lto_is_other(&members->list[i]);
    }
    return has_lto && has_others;
}

/* Whether code takes part that LTO does not see. Reports the members that have it. */
static bool is_partial(const struct members *members)
{
    const char *last = NULL;

    for (size_t i = 0; i < members->count; i++) {
        const struct member *member = &members->list[i];

        if (!lto_is_other(member) || (last && strcmp(last, member->object_name) == 0))
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

/* Memory of a compilation (measured on libnvJitLink 13.0: 60 MiB for 139 KB of LTO-IR, 109 MiB for
 * 837 KB, 70 MiB for a sixteenth of its kernels). */
#define MEMORY_TO_START (UINT64_C(64) << 20)
#define MEMORY_OF_BYTE  80u

struct compilation {
    const struct lto_request *request;
    struct lto_result *result;
    struct arena *texts; /* for results */
    bool is_partial;
    struct lto_kernels kernels;
    struct lto_share *shares; /* kernels of each part; NULL = one part with all */
    struct part_list run;
    size_t failed; /* the first part that failed */
};

/* Finds the kernels by compiling the whole program without optimisation. With -Ofc=max libnvJitLink
 * takes about a sixteenth of the time (measured on 13.0, 128 kernels: 0.14 s of 2.4 s), and writes
 * the same kernels and all functions that they call, in the order that they have in any compilation
 * of the program. False when that fails, which is not reported, as another compilation will fail
 * too; or when the user requests this kind of compilation anyway, as nothing is gained then. */
static bool run_name_pass(struct compilation *compilation)
{
    const struct lto_request *request = compilation->request;
    struct part_list *run = &compilation->run;
    struct option_request fast = *request->options;
    struct lto_request wanted = *request;
    const char *const *options;
    bool ok;

    if (fast.ofast_compile && strcmp(fast.ofast_compile, "max") == 0)
        return false;
    fast.ofast_compile = "max";
    wanted.options = &fast;
    wanted.distribution = NULL;
    options = lto_options(&run->arena, &wanted, false, NULL);
    run->link = &wanted;
    run->child_threads = child_tokens_threads(options);
    run->is_repeated = true;
    part_make_all(run, 1);
    part_set_job(run->list, options, &run->inputs);
    ok = part_run_all(run, &run->arena) == 1 &&
         lto_kernels_read(&compilation->kernels, &run->arena, request, run->list->answer.ptx);
    run->link = request;
    if (ok)
        diag_verbose("The kernels of the LTO-IR are known from a compilation with -Ofc=max");
    return ok;
}

/* Bytes of LTO-IR that are compiled, before any compression. */
static uint64_t ltoir_bytes(const struct members *members)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < members->count; i++)
        if (members->list[i].role == MEMBER_LTO)
            bytes +=
                members->list[i].entry.uncompressed_size ?: members->list[i].entry.payload.size;
    return bytes;
}

/* Whether the user's own options for libnvvm name the symbols that host code uses. */
static bool names_kernels(const struct lto_request *request)
{
    for (const char *const *word = request->nvvm_options; word && *word; word++)
        if (strstr(*word, "host-ref-") || strstr(*word, "global-host-info"))
            return true;
    return false;
}

/* The reason why there is one part; or NULL, with the number of parts in *count. */
static const char *count_parts(struct compilation *compilation, uint32_t *count)
{
    const struct lto_request *request = compilation->request;
    uint64_t bytes = ltoir_bytes(request->members);

    *count = 1;
    if (request->emit_ltoir)
        return "it is not compiled to PTX";
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
    if (names_kernels(request))
        return "-Xnvvm says what host code uses";
    *count = request->jobs ? request->jobs : lto_kernels_part_count(bytes, SIZE_MAX);
    if (*count == 1)
        return "it is too small for more";
    if (!lto_kernels_list(&compilation->kernels, &compilation->run.arena, request) &&
        !run_name_pass(compilation))
        return "its kernels cannot be found out";
    if (compilation->kernels.count < 2)
        return compilation->kernels.count ? "it has one kernel" : "it has no kernels";
    if (!request->jobs)
        *count = lto_kernels_part_count(bytes, compilation->kernels.count);
    if (*count == 1)
        return "it is too small for more";
    if (*count > compilation->kernels.count)
        *count = (uint32_t)compilation->kernels.count;
    if (*count > PARTITION_MOST_PARTS)
        *count = PARTITION_MOST_PARTS;
    return NULL;
}

static void deal_kernels(struct compilation *compilation, uint32_t count)
{
    const struct lto_kernels *kernels = &compilation->kernels;
    struct arena *arena = &compilation->run.arena;
    const uint32_t *parts = lto_kernels_deal(arena, kernels->list, kernels->count, count);

    compilation->shares = arena_zalloc(arena, count, sizeof *compilation->shares);
    for (size_t i = 0; i < kernels->count; i++) {
        struct lto_share *share = &compilation->shares[parts[i]];

        ARENA_PUSH(arena, share->kernels, share->count, share->capacity) = &kernels->list[i];
        compilation->run.list[parts[i]].cost += kernels->list[i].cost;
    }
}

/* Reports the options; those that differ between parts are reported for each part. */
static void tell_lto_options(const char *const *options, size_t part, size_t part_count)
{
    for (size_t i = 0; options[i]; i++) {
        bool is_own = part_count > 1 && (strncmp(options[i], "-Xnvvm=-host-ref-ek=", 20) == 0 ||
                                         strncmp(options[i], "-Xnvvm=-host-ref-ik=", 20) == 0);

        if (is_own)
            diag_verbose("libnvJitLink is given %s for LTO part %zu", options[i], part);
        else if (part == 0)
            diag_verbose("libnvJitLink is given %s", options[i]);
    }
}

/* Reports that libnvvm gets one thread. If the extended option is given too, that wins, which has
 * been reported (options/consensus.h). */
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

static void make_ltoir_jobs(struct compilation *compilation)
{
    const struct lto_request *request = compilation->request;
    struct part_list *run = &compilation->run;
    bool is_open = compilation->is_partial || request->relocatable;

    tell_one_thread(compilation);
    for (size_t i = 0; i < run->count; i++) {
        const char *const *options = lto_options(
            &run->arena, request, is_open, compilation->shares ? &compilation->shares[i] : NULL);

        tell_lto_options(options, i, run->count);
        run->child_threads = child_tokens_threads(options);
        run->list[i].memory = MEMORY_TO_START + MEMORY_OF_BYTE * ltoir_bytes(request->members);
        part_set_job(&run->list[i], options, &run->inputs);
    }
}

/* PTX beside the LTO-IR tells its toolkit, as nvcc writes the newest PTX ISA that it knows: nothing
 * in the LTO-IR itself does (1.66 by 13.1 and 13.2, 1.67 by 13.3 to 13.5, and each library refuses
 * that of the next). */
static void note_outdated_library(struct compilation *compilation, const struct lto_answer *answer)
{
    const struct job_inputs *inputs = &compilation->run.inputs;
    const struct member *ptx =
        answer->head.failed_input < inputs->count
            ? lto_kernels_ptx(compilation->request->members,
                              inputs->list[answer->head.failed_input].member, NULL)
            : NULL;
    const struct toolkit_facts *made =
        ptx ? toolkits_of_ptx(ptx->entry.major, ptx->entry.minor) : NULL;
    const char *needs = "of a newer CUDA and needs its library";

    if (made && made->version > answer_version(&answer->head))
        needs = arena_printf(&compilation->run.arena,
                             "of CUDA %u.%u and needs its library or a newer one",
                             made->version / 10, made->version % 10);
    diag_note("The library is '%s', of CUDA %u.%u; the LTO-IR is %s", compilation->request->library,
              answer->head.major, answer->head.minor, needs);
    diag_note(TOOLKIT_NAME_IT ", or its library by --nvjitlink=; -vv tells what is taken and why");
}

static void report_refusal(struct compilation *compilation, const struct lto_answer *answer)
{
    const struct job_inputs *inputs = &compilation->run.inputs;

    if (answer->head.step == LTO_STEP_ADD && answer->head.failed_input < inputs->count)
        diag_fatal("libnvJitLink does not take '%s': %s",
                   inputs->list[answer->head.failed_input].member->name,
                   nvjitlink_code_text(answer->head.code));
    else if (answer->head.step == LTO_STEP_CREATE)
        diag_fatal("libnvJitLink %u.%u does not take the options: %s", answer->head.major,
                   answer->head.minor, nvjitlink_code_text(answer->head.code));
    else
        diag_fatal("elfLink JIT compile failed: %s", answer->head.code
                                                         ? nvjitlink_code_text(answer->head.code)
                                                         : "libnvJitLink made no PTX");
    if (answer->head.code == NVJITLINK_CODE_OUTDATED ||
        memmem(answer->errors.data, answer->errors.size, OUTDATED_LOG, sizeof OUTDATED_LOG - 1))
        note_outdated_library(compilation, answer);
}

static void report_failed_part(struct compilation *compilation)
{
    size_t index = compilation->failed;
    const struct part *part = &compilation->run.list[index];

    if (part->result.end == EXEC_CANCELLED)
        return;
    if (lto_report_end(&compilation->run, part, ""))
        report_refusal(compilation, &part->answer);
    if (compilation->request->emit_ltoir && part->answer.head.step == LTO_STEP_CREATE)
        diag_note("LTO-IR as output needs that of CUDA 13.4 or later");
    if (compilation->shares)
        diag_note("It compiled LTO part %zu of %zu, %zu kernels with '%.*s'", index,
                  compilation->run.count, compilation->shares[index].count,
                  TEXT_ARG(compilation->shares[index].kernels[0]->name));
}

static void report_part_times(struct compilation *compilation)
{
    struct part_list *run = &compilation->run;

    for (size_t i = 0; i < run->count; i++) {
        const struct part *part = &run->list[i];
        const char *what = "";
        char name[32];

        if (compilation->shares)
            what =
                arena_printf(&run->arena, "%zu kernels, first %.*s, ", compilation->shares[i].count,
                             TEXT_ARG(compilation->shares[i].kernels[0]->name));
        diag_verbose("LTO part %zu: %s%zu bytes of PTX, peak %" PRIu64 " MiB", i, what,
                     part->answer.ptx.size, part->result.peak >> 20);
        snprintf(name, sizeof name, "lto-%zu.ptx", i);
        lto_report_event(part, name);
    }
    if (run->count > 1)
        diag_verbose("%zu LTO parts on %" PRIu32 " threads", run->count, run->threads);
    diag_verbose("libnvJitLink %u.%u '%s': %zu members to %zu bytes of PTX",
                 run->list->answer.head.major, run->list->answer.head.minor,
                 compilation->request->library, run->inputs.count, compilation->result->ptx.size);
}

/* Makes and runs `count` parts. False when one of them failed. */
static bool run_parts(struct compilation *compilation, uint32_t count)
{
    struct part_list *run = &compilation->run;
    struct text *texts = arena_zalloc(compilation->texts, count, sizeof *texts);

    part_make_all(run, count);
    table_free(&run->said); /* the messages of the previous parts are gone */
    compilation->shares = NULL;
    if (count > 1)
        deal_kernels(compilation, count);
    make_ltoir_jobs(compilation);
    compilation->failed = part_run_all(run, compilation->texts);
    if (compilation->failed < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        lto_report_logs(run, &run->list[i]);
        texts[i] = run->list[i].answer.ptx;
    }
    compilation->result->parts = texts;
    compilation->result->part_count = count;
    return true;
}

static enum parts_answer join_part_texts(struct compilation *compilation,
                                         struct parts_result *joined)
{
    const struct lto_request *request = compilation->request;
    struct parts_order order = {lto_kernels_rank, &compilation->kernels};
    struct parts_request wanted = {.texts = compilation->result->parts,
                                   .count = compilation->result->part_count,
                                   .used = request->used->is_ignored ? NULL : request->used,
                                   .order = request->is_split ? NULL : &order};

    return parts_join(joined, compilation->texts, &wanted);
}

/* Joins the parts into one module. A caution says when they are not parts of one program, which
 * must then be compiled in one part. */
static enum parts_answer join_texts(struct compilation *compilation)
{
    struct parts_result joined = {0};
    enum parts_answer answer = join_part_texts(compilation, &joined);

    compilation->result->ptx = joined.ptx;
    if (joined.several)
        diag_verbose("The parts have several versions of %zu functions, each made for the calls of "
                     "some",
                     joined.several);
    if (answer == PARTS_DISAGREE)
        diag_caution("The parts of the LTO-IR differ in the %s, which should not be: it is "
                     "compiled again, in one part",
                     joined.difference);
    return answer;
}

static bool may_lack_kernels(const struct compilation *compilation)
{
    const struct used_names *used = compilation->request->used;

    return targets_have(compilation->request->members->arch.sm, TARGET_LTO_NEEDS_CODE) &&
           (used->has_lists || used->has_parts) &&
           compilation->run.list[compilation->failed].answer.head.step == LTO_STEP_COMPLETE;
}

/* Compiles again, with all kernels. */
static bool compile_without_lists(struct compilation *compilation)
{
    struct lto_request *request =
        arena_copy(&compilation->run.arena, compilation->request, 1, sizeof *request);
    struct used_names *none = arena_zalloc(&compilation->run.arena, 1, sizeof *none);

    none->is_ignored = true;
    request->used = none;
    compilation->request = compilation->run.link = request;
    if (!run_parts(compilation, 1))
        return false;
    diag_caution("libnvJitLink fails when it is to keep those kernels only that host code names: "
                 "LTO-IR is compiled with all");
    return true;
}

/* In a split link, the text is the same for any number of parts, as far as its code is; else it is
 * nvlink's, to the byte. */
static bool compile_in_one(struct compilation *compilation)
{
    const struct lto_request *request = compilation->request;
    struct parts_result joined = {0};
    enum parts_answer answer = PARTS_DISAGREE;

    if (!run_parts(compilation, 1) &&
        !(may_lack_kernels(compilation) && compile_without_lists(compilation))) {
        report_failed_part(compilation);
        return false;
    }
    compilation->result->ptx = *compilation->result->parts;
    if (request->is_split && !request->emit_ltoir && !request->relocatable &&
        !request->agreement->debug && !compilation->is_partial)
        answer = join_part_texts(compilation, &joined);
    if (answer == PARTS_JOINED)
        compilation->result->ptx = joined.ptx;
    return answer != PARTS_FAILED;
}

static bool compile_ltoir(struct compilation *compilation)
{
    uint32_t count;
    const char *reason = count_parts(compilation, &count);
    enum parts_answer answer;

    if (reason) {
        diag_verbose("LTO-IR is compiled in one part: %s", reason);
        return compile_in_one(compilation);
    }
    diag_verbose("LTO-IR of %zu kernels is compiled in %" PRIu32 " parts",
                 compilation->kernels.count, count);
    if (run_parts(compilation, count)) {
        answer = join_texts(compilation);
        if (answer != PARTS_DISAGREE)
            return answer == PARTS_JOINED;
    } else if (!may_lack_kernels(compilation)) {
        report_failed_part(compilation);
        return false;
    }
    return compile_in_one(compilation);
}

enum link_code lto_compile(struct lto_result *result, struct arena *arena,
                           const struct lto_request *request)
{
    struct compilation compilation = {
        .request = request,
        .result = result,
        .texts = arena,
        .run = {.link = request, .inputs_fd = -1},
    };

    CONTEXT_DEFER(part_end_all, &compilation.run);
    CONTEXT_DEFER(lto_kernels_free, &compilation.kernels);
    compilation.is_partial = !request->emit_ltoir && is_partial(request->members);
    lto_inputs_write(&compilation.run, MEMBER_LTO);
    if (!watch_check(request->watch))
        return LINK_ENVIRONMENT;
    if (!compile_ltoir(&compilation))
        return LINK_NVVM_ERROR;
    report_part_times(&compilation);
    return LINK_OK;
}
