/* bitcode.c: makes jobs of members, and PTX of the children's answers. */
#include "lto/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "diag/diag.h"
#include "input/rawcode.h"
#include "lto/llvm_internal.h"
#include "pool/pool.h"

/* Most batches of modules that are compiled separately: a child takes as long to load the library
 * as to compile some modules. */
#define MOST_BATCHES 64u

/* Bytes of bitcode from which a program may be worth several parts. */
#define SIZE_OF_PARTS 65536u

/* Memory of a compilation (measured on libLLVM 19: 90 MiB for no input, 200 MiB for 600 KB). */
#define MEMORY_TO_START (UINT64_C(96) << 20)
#define MEMORY_OF_BYTE  200u

struct compilation {
    const struct bitcode_request *request;
    struct bitcode_result *result;
    struct arena *texts; /* for results */
    struct arena *names;
    bool is_parted; /* the runs are parts of the program, and each is made of all members */
    struct part_list run;
};

/* The member that the answer is about. */
static const struct member *failed_member(const struct part *part)
{
    size_t failed = part->answer.head.failed_input;

    return part->inputs.list[failed < part->inputs.count ? failed : 0].member;
}

/* The name of the part's only member; with several "bitcode.ptx(a.bc+b.bc)", in `arena`. */
static const char *name_part(const struct part *part, struct arena *arena)
{
    struct name_list names = {0};

    for (size_t i = 0; i < part->inputs.count; i++)
        name_list_add(&names, part->inputs.list[i].member->name);
    return names.count == 1 ? part->inputs.list->member->name
                            : name_list_text("bitcode.ptx", &names, arena);
}

/* Describes the modules that the child was working on when it failed. */
static const char *describe_work(struct compilation *compilation, const struct part *part)
{
    struct arena *arena = &compilation->run.arena;
    const char *name = failed_member(part)->name;
    enum lto_step step = part->answer.head.step;

    if (step == LTO_STEP_LOAD || step == LTO_STEP_CREATE)
        return " before it read any module";
    if (step == LTO_STEP_ADD)
        return arena_printf(arena, " at '%s'", name);
    if (compilation->request->is_linked && part->inputs.count > 1)
        return arena_printf(arena, " while it compiled '%s' and %zu more modules as one",
                            part->inputs.list->member->name, part->inputs.count - 1);
    return arena_printf(arena, " while it compiled '%s'", name);
}

/* Reports bitcode of a newer LLVM: LLVM reads only what older versions wrote. True when that is why
 * the part failed. */
static bool report_newer(const struct part *part)
{
    const struct lto_answer *answer = &part->answer;
    const struct member *member = failed_member(part);
    struct bitcode bitcode;
    unsigned producer;

    if (answer->head.step != LTO_STEP_ADD ||
        !bitcode_read(&bitcode, member->name, member->entry.payload))
        return false;
    producer =
        (unsigned)strtoul(bitcode.producer + strcspn(bitcode.producer, "0123456789"), NULL, 10);
    if (producer <= answer->head.major)
        return false;
    diag_fatal("'%s' was written by %s, which libLLVM %u.%u '%s' cannot read", member->name,
               bitcode.producer, answer->head.major, answer->head.minor, part->run->link->library);
    diag_note("Install libLLVM %u (Debian: apt-get install libllvm%u), or name it with --llvm=",
              producer, producer);
    return true;
}

static bool run_children(struct compilation *compilation)
{
    struct part_list *run = &compilation->run;
    const struct part *part;
    const char *work;
    size_t failed;

    for (size_t i = 0; i < run->count; i++)
        run->list[i].memory = MEMORY_TO_START + MEMORY_OF_BYTE * run->list[i].cost;
    run->is_repeated |= run->list->cost >= SIZE_OF_PARTS;
    failed = part_run_all(run, compilation->texts);
    if (failed == run->count)
        return true;
    part = &run->list[failed];
    work = describe_work(compilation, part);
    if (part->result.end != EXEC_CANCELLED && lto_report_end(run, part, work) &&
        !report_newer(part))
        diag_fatal("libLLVM %u.%u '%s' failed%s", part->answer.head.major, part->answer.head.minor,
                   run->link->library, work);
    return false;
}

/* Reports the library's messages to each child, and each part's result. */
static void report_bitcode_parts(struct compilation *compilation)
{
    struct part_list *run = &compilation->run;

    for (size_t i = 0; i < run->count; i++) {
        const struct part *part = &run->list[i];
        const struct lto_answer *answer = &part->answer;
        /* All parts of a program are made of all its members. */
        const char *name = compilation->is_parted ? arena_printf(&run->arena, "bitcode-%zu.ptx", i)
                                                  : name_part(part, &run->arena);

        lto_report_logs(run, part);
        diag_verbose("libLLVM %u.%u '%s' makes %zu bytes of %s, peak %" PRIu64 " MiB",
                     answer->head.major, answer->head.minor, run->link->library, answer->ptx.size,
                     name, part->result.peak >> 20);
        lto_report_event(part, name);
    }
}

/* Whether the program is compiled in parts. Debug information refers to files by number, and each
 * part would number them differently. */
static bool wants_parts(const struct bitcode_request *request)
{
    const struct agreement *agreement = request->link->agreement;

    return request->is_linked && !request->link->emit_ltoir && !agreement->debug &&
           !agreement->line_info;
}

/* Options for code generation, which a part has, too, and for that which is before. */
static struct word_list make_options(struct compilation *compilation, bool is_part)
{
    const struct bitcode_request *request = compilation->request;
    const struct lto_request *link = request->link;
    const struct agreement *agreement = link->agreement;
    struct word_list options = {.arena = &compilation->run.arena};
    char arch[ARCH_NAME_SIZE];

    word_list_printf(&options, "arch=%s", arch_name(link->members->arch, arch));
    word_list_printf(&options, "level=%" PRIu32, request->level);
    if (request->is_linked && !is_part)
        word_list_add(&options, "link");
    if (link->emit_ltoir && !is_part)
        word_list_add(&options, "bitcode");
    if (request->is_open && !is_part)
        word_list_add(&options, "open");
    if ((agreement->debug || agreement->line_info) && !is_part)
        word_list_add(&options, agreement->debug ? "debug" : "lines");
    if (wants_parts(request) && !is_part) {
        word_list_printf(&options, "parts=%" PRIu32, link->jobs);
        /* For more threads a program has more parts than it is worth; not with a cache: another
         * machine's parts would be others. */
        word_list_printf(
            &options, "threads=%" PRIu32,
            link->cache ? 1
                        : pool_threads(link->threads, link->limits.threads, PARTITION_MOST_PARTS));
    }
    if (request->passes)
        word_list_printf(&options, "passes=%s", request->passes);
    for (size_t i = 0; request->words && request->words[i]; i++)
        word_list_printf(&options, "llvm=%s", request->words[i]);
    for (size_t i = 0; i < request->named_count && request->is_linked && !is_part; i++)
        word_list_printf(&options, "keep=%.*s", TEXT_ARG(request->named[i]));
    return options;
}

/* One job with all modules, or several with some of them. */
static void make_bitcode_jobs(struct compilation *compilation)
{
    struct part_list *run = &compilation->run;
    struct word_list words = make_options(compilation, false);
    const char *const *options = word_list_end(&words);
    size_t inputs = run->inputs.count, count = compilation->request->is_linked ? 1 : inputs;

    for (size_t i = 0; options[i]; i++)
        if (strncmp(options[i], "keep=", 5) != 0)
            diag_verbose("libLLVM is given %s", options[i]);
    if (count > MOST_BATCHES)
        count = MOST_BATCHES;
    part_make_all(run, count);
    for (size_t i = 0; i < count; i++) {
        size_t first = inputs * i / count, end = inputs * (i + 1) / count;
        const struct job_inputs own = {run->inputs.list + first, end - first, true};

        for (size_t k = 0; k < own.count; k++)
            run->list[i].cost += own.list[k].size;
        part_set_job(&run->list[i], options, &own);
    }
}

/* Takes the results of several jobs: a text for each module, each with a final NUL. False when
 * their number differs. */
static bool take_modules(struct compilation *compilation)
{
    struct bitcode_module *module = compilation->result->modules;

    for (size_t i = 0; i < compilation->run.count; i++) {
        const struct part *part = &compilation->run.list[i];
        struct text rest = part->answer.ptx;
        size_t count = part->inputs.count;

        for (; count > 0 && memchr(rest.data, '\0', rest.size); count--, module++) {
            module->ptx = (struct text){rest.data, strlen(rest.data)};
            rest = text_drop(rest, module->ptx.size + 1);
        }
        if (count > 0 || rest.size > 0)
            return diag_fatal(
                "Internal error: libLLVM's PTX has another number of modules than its inputs");
    }
    return true;
}

static bool take_module_results(struct compilation *compilation)
{
    struct bitcode_result *result = compilation->result;
    const struct part *first = compilation->run.list;
    bool is_linked = compilation->request->is_linked;

    result->count = is_linked ? 1 : compilation->run.inputs.count;
    result->modules = arena_zalloc(compilation->texts, result->count, sizeof *result->modules);
    for (size_t i = 0; i < result->count; i++) {
        const struct member *member = compilation->run.inputs.list[i].member;

        result->modules[i].first_member =
            (size_t)(member - compilation->request->link->members->list);
        result->modules[i].name = member->name;
    }
    if (!is_linked)
        return take_modules(compilation);
    result->modules->ptx = first->answer.ptx;
    result->modules->name = name_part(first, compilation->names);
    return true;
}

/* Result of the first phase. */
struct program {
    unsigned parts;
    struct table internal; /* names made visible for the parts */
    struct text code;      /* bitcode; for a single part its PTX */
};

/* False when the answer is the PTX of a program that cannot be parted. */
static bool read_program(struct program *program, struct text answer)
{
    struct text names, name;
    size_t size = 0;
    int head = 0;

    if (!text_starts(answer, TEXT(LLVM_PARTS_HEAD)) ||
        sscanf(answer.data, LLVM_PARTS_HEAD "%u %zu\n%n", &program->parts, &size, &head) != 2 ||
        program->parts == 0 || program->parts > PARTITION_MOST_PARTS ||
        (size_t)head > answer.size || size > answer.size - (size_t)head)
        return false;
    names = (struct text){answer.data + head, size};
    while (text_scan_line(&names, &name))
        table_set(&program->internal, name, 0);
    program->code = text_drop(answer, (size_t)head + size);
    return true;
}

/* Makes the parts' jobs: each has the whole program, and says which part of it to compile. */
static void make_bitcode_part_jobs(struct compilation *compilation, const struct program *program)
{
    struct part_list *run = &compilation->run;
    struct word_list options = make_options(compilation, true);

    part_make_all(run, program->parts);
    for (unsigned i = 0; i < program->parts; i++) {
        word_list_printf(&options, "part=%u/%u", i, program->parts);
        run->list[i].cost = program->code.size / program->parts;
        part_set_job(&run->list[i], word_list_end(&options), &run->inputs);
        options.count--;
    }
    compilation->is_parted = run->is_repeated = true;
}

/* The second phase: each child reads the optimised program, and generates code for its share. */
static bool compile_parts(struct compilation *compilation, const struct program *program)
{
    struct part_list *run = &compilation->run;

    diag_verbose("LLVM bitcode of %zu modules, optimised to one of %zu bytes, is compiled in %u "
                 "parts",
                 run->inputs.count, program->code.size, program->parts);
    lto_inputs_replace(run, text_bytes(program->code));
    make_bitcode_part_jobs(compilation, program);
    if (!run_children(compilation))
        return false;
    report_bitcode_parts(compilation);
    return true;
}

static bool compile_bitcode_program(struct compilation *compilation, const struct program *program)
{
    struct text *texts = arena_alloc(&compilation->run.arena, program->parts, sizeof *texts);

    if (program->parts > 1 && !compile_parts(compilation, program))
        return false;
    for (size_t i = 0; i < program->parts; i++)
        texts[i] = program->parts > 1 ? compilation->run.list[i].answer.ptx : program->code;
    return bitcode_join(&compilation->result->modules->ptx, compilation->texts, texts,
                        program->parts, &program->internal);
}

static bool compile_bitcode_parts(struct compilation *compilation)
{
    struct program program = {0};

    make_bitcode_jobs(compilation);
    if (!run_children(compilation) || !take_module_results(compilation))
        return false;
    report_bitcode_parts(compilation);
    if (!wants_parts(compilation->request))
        return true;
    CONTEXT_DEFER(table_cleanup, &program.internal);
    return !read_program(&program, compilation->run.list->answer.ptx) ||
           compile_bitcode_program(compilation, &program);
}

enum link_code bitcode_compile(struct bitcode_result *result, struct arena *arena,
                               struct arena *names, const struct bitcode_request *request)
{
    const struct lto_request *link = request->link;
    struct compilation compilation = {
        .request = request,
        .result = result,
        .texts = arena,
        .names = names,
        .run = {.link = link, .inputs_fd = -1},
    };

    CONTEXT_DEFER(part_end_all, &compilation.run);
    lto_inputs_write(&compilation.run, MEMBER_BITCODE);
    if (!watch_check(link->watch))
        return LINK_ENVIRONMENT;
    return compile_bitcode_parts(&compilation) ? LINK_OK : LINK_NVVM_ERROR;
}
