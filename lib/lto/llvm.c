/* llvm.c: reads, links and optimises modules, and writes PTX.
 *
 * LLVM ends the process on input that it cannot handle, and may print: this runs in a child, and
 * frees nothing at the end. */
#include "lto/llvm_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "facts/targets.h"
#include "os/file.h"

#define TRIPLE       "nvptx64-nvidia-cuda"
#define MODULE_NAME  "lto"
#define REFLECT_PASS "nvvm-reflect"
#define FEATURE_SIZE 16

/* The debug information that is kept. */
enum debug_kind { DEBUG_NONE, DEBUG_LINES, DEBUG_ALL };

struct run {
    const struct lto_job *job;
    struct answer_draft answer;
    struct arena arena;
    struct arch arch;
    struct arch code; /* the target of LLVM's code: that, or an older one */
    unsigned level;
    bool is_linked, is_open;
    bool wants_bitcode;
    bool wants_parts;
    unsigned parts, part; /* with is_part: the part and their number; else the number wanted */
    bool is_part;
    unsigned threads;   /* that compile parts */
    struct table stays; /* names that stay visible */
    const char *passes;
    const struct llvm_passes *rows; /* NULL = all passes run on the whole program */
    enum debug_kind debug;
    const char **words; /* options of LLVM itself */
    int word_count;
    char cpu[ARCH_NAME_SIZE];
    char features[FEATURE_SIZE];
    llvm_target target;
    llvm_machine machine;
    llvm_layout layout;
};

/* Records the current step, for the parent if this process dies. */
static void begin_step(struct run *run, enum lto_step step, size_t input)
{
    struct answer_head *head = &run->answer.head;

    head->step = step;
    head->failed_input = (uint32_t)input;
    descriptor_write_at(run->job->answer, head, sizeof *head, 0);
}

static bool PRINTF(2, 3) fail(struct run *run, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    buffer_vprintf(&run->answer.errors, format, arguments);
    va_end(arguments);
    buffer_char(&run->answer.errors, '\n');
    return false;
}

/* Returns false; this message counts if LLVM has given no reason. */
static bool fail_anyhow(struct run *run, const char *message)
{
    return run->answer.errors.size == 0 && fail(run, "%s", message);
}

static void take_diagnostic(llvm_diagnostic diagnostic, void *argument)
{
    struct run *run = argument;
    int severity = llvm.get_severity(diagnostic);
    char *text = llvm.get_description(diagnostic);

    if (severity == LLVM_SEVERITY_ERROR)
        buffer_printf(&run->answer.errors, "%s\n", text);
    else if (severity == LLVM_SEVERITY_WARNING)
        buffer_printf(&run->answer.infos, "WARNING: %s\n", text);
    llvm.dispose_message(text);
}

static bool take_llvm_option(struct run *run, const char *word)
{
    const char *value;

    if ((value = job_value(word, "arch")))
        return arch_parse(text_of(value), "sm_", &run->arch);
    if ((value = job_value(word, "llvm")))
        run->words[run->word_count++] = value;
    else if ((value = job_value(word, "keep")))
        table_set(&run->stays, text_of(value), 0);
    else if ((value = job_value(word, "passes")))
        run->passes = value;
    else if ((value = job_value(word, "level")) && *value >= '0' && *value <= '3' && !value[1])
        run->level = (unsigned)(*value - '0');
    else if ((value = job_value(word, "parts")))
        run->wants_parts = true, run->parts = (unsigned)strtoul(value, NULL, 10);
    else if ((value = job_value(word, "threads")))
        run->threads = (unsigned)strtoul(value, NULL, 10);
    else if ((value = job_value(word, "part")))
        run->is_part = sscanf(value, "%u/%u", &run->part, &run->parts) == 2;
    else if (strcmp(word, "link") == 0)
        run->is_linked = true;
    else if (strcmp(word, "bitcode") == 0)
        run->wants_bitcode = true;
    else if (strcmp(word, "open") == 0)
        run->is_open = true;
    else if (strcmp(word, "debug") == 0)
        run->debug = DEBUG_ALL;
    else if (strcmp(word, "lines") == 0)
        run->debug = DEBUG_LINES;
    else
        return false;
    return true;
}

/* Passes the words to LLVM itself. The first is the program's name. */
static bool parse_words(struct run *run)
{
    int count = run->word_count - 1;
    int known = llvm_api_unknown(run->job->library, run->words + 1, count);

    if (known < count)
        return fail(run, "it has no option '%s' (-Xllvm)", run->words[known + 1]);
    llvm.parse_options(run->word_count, run->words, NULL);
    return true;
}

static bool take_llvm_options(struct run *run)
{
    const struct lto_job *job = run->job;

    run->words = arena_zalloc(&run->arena, job->option_count + 2, sizeof *run->words);
    run->words[run->word_count++] = "minilink";
    for (size_t i = 0; i < job->option_count; i++)
        if (!take_llvm_option(run, job->options[i]))
            return fail(run, "option '%s' is not understood", job->options[i]);
    if (run->word_count > 1 && !parse_words(run))
        return false;
    return run->arch.sm != 0 || fail(run, "option arch= is missing");
}

static llvm_machine make_machine(struct run *run, const char *cpu, const char *features)
{
    return llvm.create_machine(run->target, TRIPLE, cpu, features, (int)run->level, 0, 0);
}

/* Whether LLVM knows the processor. For one that it does not know it silently uses another,
 * generates code for that under the name of the first, and only prints a message on standard error,
 * which is `said`. */
static bool knows(struct run *run, struct arch arch, int said)
{
    char cpu[ARCH_NAME_SIZE];
    llvm_machine machine = make_machine(run, arch_name(arch, cpu), "");
    llvm_context context = llvm.create_context();
    llvm_module module = llvm.create_module("probe", context);
    llvm_buffer buffer = NULL;
    char *message = NULL;
    struct stat status;
    bool ok;

    llvm.set_target(module, TRIPLE);
    ok = machine && !llvm.emit(machine, module, LLVM_ASSEMBLY_FILE, &message, &buffer) &&
         fstat(said, &status) == 0 && status.st_size == 0;
    if (ftruncate(said, 0))
        return false;
    lseek(said, 0, SEEK_SET);
    return ok;
}

/* Finds the processor: the target, or the newest one that LLVM knows whose PTX suits the target. */
static bool find_cpu(struct run *run, int said)
{
    struct arch arch = {0};

    run->code = run->arch;
    if (knows(run, run->arch, said))
        return true;
    run->code.sm = 0;
    while (targets_next(&arch, NULL) && arch.sm <= run->arch.sm)
        if (!arch.suffix && knows(run, arch, said))
            run->code = arch;
    return run->code.sm || fail(run, "it knows no target whose PTX is good for this one");
}

/* Runs find_cpu with standard error redirected to a memory file. */
static bool choose_cpu(struct run *run)
{
    int before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    int said = descriptor_memory_file("minilink-llvm");
    bool ok = said >= 0 && dup2(said, STDERR_FILENO) >= 0 && find_cpu(run, said);

    if (before >= 0)
        dup2(before, STDERR_FILENO);
    close(before);
    close(said);
    return ok || fail_anyhow(run, strerror(errno));
}

static bool open_target(struct run *run)
{
    char asked[ARCH_NAME_SIZE], *message = NULL;

    llvm.init_target_info();
    llvm.init_target();
    llvm.init_target_mc();
    llvm.init_printer();
    if (llvm.find_target(TRIPLE, &run->target, &message))
        return fail(run, "%s", message ? message : "no reason given");
    if (!choose_cpu(run))
        return false;
    arch_name(run->code, run->cpu);
    if (!arch_equal(run->arch, run->code))
        buffer_printf(&run->answer.infos, "it does not know %s: code is made for %s\n",
                      arch_name(run->arch, asked), run->cpu);
    return true;
}

/* Opens a machine for code that needs this version of PTX; each LLVM has its own default. LLVM 22
 * refuses what is too old for the target, such as the "+ptx32" of clang without a toolkit. */
static bool open_machine(struct run *run, unsigned ptx)
{
    const struct target_name *name = targets_find_name(run->code);

    run->features[0] = '\0';
    if (ptx && !(name && ptx < name->first_ptx))
        snprintf(run->features, sizeof run->features, "+ptx%u", ptx % 1000);
    run->machine = make_machine(run, run->cpu, run->features);
    run->layout = run->machine ? llvm.create_layout(run->machine) : NULL;
    return run->layout || fail(run, "it makes no code for this target");
}

static llvm_context make_context(struct run *run)
{
    llvm_context context = llvm.create_context();

    llvm.set_handler(context, take_diagnostic, run);
    return context;
}

static llvm_buffer open_input(struct run *run, size_t index)
{
    struct bytes data = run->job->inputs[index].data;

    begin_step(run, LTO_STEP_ADD, index);
    return llvm.make_buffer((const char *)data.data, data.size, "bitcode", 0);
}

static bool parse_ir_module(struct run *run, llvm_context context, size_t index,
                            llvm_module *module)
{
    return !llvm.parse_bitcode(context, open_input(run, index), module) ||
           fail_anyhow(run, "it cannot be read");
}

static bool run_passes(struct run *run, llvm_module module, const char *passes)
{
    llvm_error error = llvm.run_passes(module, passes, run->machine, llvm.create_pass_options());

    return !error || fail(run, "%s", llvm.error_message(error));
}

/* Runs the passes. libdevice's functions query their target (__nvvm_reflect). LLVM answers this in
 * the passes for one module, but in those for a program only just before it generates code: from a
 * string that no longer exists when another part has it, which ends the process. */
static bool optimize(struct run *run, llvm_module module)
{
    char passes[32];

    llvm.set_target(module, TRIPLE);
    llvm.set_layout(module, run->layout);
    llvm_module_retarget(module, run->cpu, run->features);
    if (run->debug == DEBUG_NONE)
        llvm.strip_debug_info(module);
    else if (run->debug == DEBUG_LINES && !run_passes(run, module, "strip-nonlinetable-debuginfo"))
        return false;
    if (!run_passes(run, module, REFLECT_PASS))
        return false;
    if (run->rows)
        return run_passes(run, module, run->rows->early) &&
               (!llvm_module_has_indirect_calls(module) ||
                run_passes(run, module, LLVM_CALLS_PASS)) &&
               run_passes(run, module, run->rows->program);
    snprintf(passes, sizeof passes, "%s<O%u>", run->is_linked ? "lto" : "default", run->level);
    return run_passes(run, module, run->passes ? run->passes : passes);
}

static void append_object(struct run *run, llvm_buffer result)
{
    buffer_append(&run->answer.ptx, llvm.buffer_start(result), llvm.buffer_size(result));
}

static bool emit_code(struct run *run, llvm_module module)
{
    llvm_buffer buffer = NULL;
    char *message = NULL;

    if (llvm.emit(run->machine, module, LLVM_ASSEMBLY_FILE, &message, &buffer))
        return fail(run, "%s", message ? message : "no reason given");
    append_object(run, buffer);
    return run->answer.errors.size == 0;
}

static bool compile_modules(struct run *run)
{
    for (size_t i = 0; i < run->job->input_count; i++) {
        llvm_context context = make_context(run);
        llvm_module module;

        if (!parse_ir_module(run, context, i, &module))
            return false;
        begin_step(run, LTO_STEP_COMPLETE, i);
        /* Symbols that only a compiler must keep, a linker may drop; clang lists kernels of other
         * files there, which are declared like functions. */
        if (!open_machine(run, llvm_module_ptx(module, 0)) || !optimize(run, module) ||
            (llvm_module_drop(module, LLVM_COMPILER_USED) &&
             !run_passes(run, module, "globaldce")) ||
            !emit_code(run, module))
            return false;
        buffer_char(&run->answer.ptx, '\0');
        llvm.dispose_machine(run->machine);
        llvm.dispose_context(context);
    }
    return true;
}

static llvm_module link_modules(struct run *run, llvm_context context)
{
    size_t count = run->job->input_count;
    llvm_module *modules = arena_zalloc(&run->arena, count, sizeof(llvm_module));
    llvm_module program = llvm.create_module(MODULE_NAME, context);
    unsigned ptx = 0; /* the newest version that a module needs */

    for (size_t i = 0; i < count; i++) {
        if (!parse_ir_module(run, context, i, &modules[i]))
            return NULL;
        ptx = llvm_module_ptx(modules[i], ptx);
    }
    if (!open_machine(run, ptx))
        return NULL;
    llvm.set_target(program, TRIPLE);
    llvm.set_layout(program, run->layout);
    for (size_t i = 0; i < count; i++) {
        begin_step(run, LTO_STEP_ADD, i);
        llvm.set_target(modules[i], TRIPLE);
        llvm.set_layout(modules[i], run->layout);
        if (llvm.link_modules(program, modules[i])) {
            fail_anyhow(run, "it cannot be linked to the others");
            return NULL;
        }
    }
    return program;
}

/* Chooses the passes. Those for functions can be left to the parts if all are LLVM's choice. */
static void choose_rows(struct run *run)
{
    if (run->level == LLVM_LEVEL_AGGRESSIVE && !run->passes && run->word_count == 1)
        run->rows = llvm_module_passes(run->machine);
}

static bool finish_functions(struct run *run, llvm_module program)
{
    struct table linkages = {0};
    bool ok;

    llvm_parts_loosen(program, &linkages);
    ok = !run->rows || run_passes(run, program, run->rows->functions);
    llvm_parts_settle(program, &linkages, run->part);
    table_free(&linkages);
    return ok;
}

/* Reads the functions of a part, and none of the others, and generates its code. */
static bool emit_part(struct run *run, llvm_buffer bitcode)
{
    llvm_module program;

    if (llvm.open_bitcode(make_context(run), bitcode, &program))
        return fail_anyhow(run, "it cannot be read");
    if (!run->machine && !open_machine(run, llvm_module_ptx(program, 0)))
        return false;
    choose_rows(run);
    llvm_parts_keep(program, run->part);
    if (!run_passes(run, program, LLVM_PARTS_DROP))
        return false;
    llvm_parts_read(program);
    begin_step(run, LTO_STEP_COMPLETE, 0);
    return finish_functions(run, program) && run_passes(run, program, LLVM_PARTS_PASSES) &&
           emit_code(run, program);
}

/* Writes the program for the children that compile its parts. If it is a single part, that is
 * compiled here, from the bitcode, as a child that compiles one of several parts does. Measured on
 * libLLVM 22: bitcode that is written and read again has its uses in another order, and some code
 * depends on that order. */
static bool write_parts(struct run *run, llvm_module program)
{
    struct buffer names = {0};
    llvm_buffer bitcode;

    llvm_parts_deal(program, run->parts);
    llvm_parts_promote(program, &names);
    bitcode = llvm.write_bitcode(program);
    buffer_printf(&run->answer.ptx, LLVM_PARTS_HEAD "%u %zu\n", run->parts, names.size);
    buffer_text(&run->answer.ptx, buffer_view(&names));
    buffer_free(&names);
    if (run->parts == 1)
        return emit_part(run, bitcode);
    append_object(run, bitcode);
    return true;
}

static bool compile_linked(struct run *run)
{
    llvm_module program = link_modules(run, make_context(run));

    if (!program)
        return false;
    begin_step(run, LTO_STEP_COMPLETE, 0);
    if (run->wants_bitcode) {
        append_object(run, llvm.write_bitcode(program));
        return true;
    }
    if (!run->is_open)
        llvm_module_internalize(program, &run->stays);
    if (run->wants_parts)
        choose_rows(run);
    if (!optimize(run, program))
        return false;
    run->parts = run->wants_parts ? llvm_parts_count(program, run->parts, run->threads) : 0;
    if (run->parts)
        return write_parts(run, program);
    return (!run->rows || run_passes(run, program, run->rows->functions)) &&
           emit_code(run, program);
}

static bool compile_module(struct run *run)
{
    begin_step(run, LTO_STEP_CREATE, 0);
    if (!take_llvm_options(run) || !open_target(run))
        return false;
    if (run->is_part)
        return run->job->input_count == 1 && emit_part(run, open_input(run, 0));
    return run->is_linked ? compile_linked(run) : compile_modules(run);
}

int llvm_run(const struct lto_job *job)
{
    struct run run = {
        .job = job, .answer.head.magic = ANSWER_MAGIC, .level = LLVM_LEVEL_AGGRESSIVE};
    struct answer_head *head = &run.answer.head;
    unsigned patch;

    if (llvm_api_load(job->library, &run.answer.errors)) {
        llvm.get_version(&head->major, &head->minor, &patch);
        if (compile_module(&run))
            head->step = LTO_STEP_DONE;
    }
    return answer_write(job->answer, &run.answer);
}
