/* result.c: reads a job's result. If the tool writes a report, that has the cubin's hash; else the
 * cubin is checked by itself, and the log is the one that a distributor kept of the job's messages.
 * A machine may have died while writing: cubin_read checks all of a cubin, as the merge will. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <xxhash.h>

#include "cubin/cubin.h"
#include "diag/diag.h"
#include "distribute/internal.h"
#include "input/rawcode.h"
#include "minilink/assembler.h"

/* Largest output that is accepted; a real one is a few MiB. */
#define OUTPUT_LIMIT ((size_t)2 << 30)

/* Most bytes of messages that are taken of one job. */
#define LOG_LIMIT ((size_t)16 << 20)

/* Maps the code: codes of another version could mean anything. */
static enum link_code known_code(int code)
{
    switch (code) {
    case LINK_INTERNAL:
    case LINK_FAILED:
    case LINK_NVVM_ERROR:
    case LINK_NOT_RELOCATABLE:
    case LINK_NO_MEMORY:
    case LINK_ENVIRONMENT:
        return (enum link_code)code;
    default:
        return LINK_INTERNAL;
    }
}

/* Hands the log to the job. Replaces NULs, which would end it early. */
static void take_log(struct distribute_job *job, struct text log)
{
    buffer_text(&job->log, log);
    for (size_t i = 0; i < log.size; i++)
        if (!job->log.data[i])
            job->log.data[i] = ' ';
    job->is_log_known = true;
}

/* The parts of a result while it is checked. */
struct looking {
    struct file_contents report, output, log;
};

static const char *unreadable(struct distribute_batch *batch, const char *path)
{
    return arena_printf(&batch->arena, "'%s' cannot be read: %s", path, strerror(errno));
}

/* What is wrong with the output, which is there; or NULL. */
static const char *take_output(struct distribute_batch *batch, struct distribute_job *job,
                               struct looking *looking)
{
    const char *why = batch->check ? batch->check(batch->check_argument, &batch->arena, job,
                                                  files_bytes(&looking->output))
                                   : NULL;

    if (why)
        return why;
    job->end = DISTRIBUTE_DONE;
    job->code = LINK_OK;
    job->data = looking->output.data;
    job->size = looking->output.size;
    looking->output.data = NULL;
    return NULL;
}

/* False when there is no output, or *why says what is wrong with it. */
static bool read_output(struct distribute_batch *batch, const struct distribute_job *job,
                        struct looking *looking, const char **why)
{
    const struct file_demand demand = {.limit = OUTPUT_LIMIT, .begins = batch->begins};

    if (files_read_as(&looking->output, job->output_path, &demand)) {
        if (batch->watch)
            files_watch(&looking->output, batch->watch, job->output_path);
        return true;
    }
    if (errno == ENOEXEC)
        *why = arena_printf(&batch->arena, "'%s' does not begin as a result of its size",
                            job->output_path);
    else if (errno != ENOENT)
        *why = unreadable(batch, job->output_path);
    return false;
}

/* For a tool that writes reports: a result without one is not trusted. What is wrong, or NULL. */
static const char *take_reported(struct distribute_batch *batch, struct distribute_job *job,
                                 struct looking *looking)
{
    struct job_report report;
    const char *why = NULL;

    if (!files_read(&looking->report, job->report_path, LOG_LIMIT))
        return errno == ENOENT ? NULL : unreadable(batch, job->report_path);
    if (!job_report_read(&report, files_bytes(&looking->report)))
        return "its report is damaged";
    if (!job_report_hash_is(report.input, text_bytes(job->input)))
        return "its report is about another input";
    take_log(job, report.log);
    if (report.code != LINK_OK) {
        job->end = DISTRIBUTE_FAILED;
        job->code = known_code(report.code);
        return NULL;
    }
    if (!read_output(batch, job, looking, &why))
        return why;
    if (!job_report_hash_is(report.output, files_bytes(&looking->output)))
        return "it is not what its report says was written: it is damaged, or not whole";
    return take_output(batch, job, looking);
}

/* For any other tool: the output shows whether it has succeeded; a log beside it, which
 * distributors may write, belongs to the job alone. A symbolic link is not followed, as it would
 * show somebody else's file. */
static const char *take_unreported(struct distribute_batch *batch, struct distribute_job *job,
                                   struct looking *looking)
{
    const struct file_demand demand = {.limit = LOG_LIMIT, .is_own = true};
    const char *why = NULL;

    if (files_read_as(&looking->log, job->log_path, &demand))
        take_log(job, (struct text){looking->log.data, looking->log.size});
    if (read_output(batch, job, looking, &why))
        return take_output(batch, job, looking);
    if (job->is_log_known && !why) {
        job->end = DISTRIBUTE_FAILED;
        job->code = LINK_FAILED;
    }
    return why;
}

void result_take(struct distribute_batch *batch, struct distribute_job *job)
{
    struct looking looking = {0};

    CONTEXT_DEFER(files_cleanup, &looking.report);
    CONTEXT_DEFER(files_cleanup, &looking.output);
    CONTEXT_DEFER(files_cleanup, &looking.log);
    job->end = DISTRIBUTE_MISSING;
    job->why = (batch->tool.reports ? take_reported : take_unreported)(batch, job, &looking);
    if (job->why)
        job->end = DISTRIBUTE_WRONG;
}

/* Room for the line. */
#define LINE_SIZE 160

static const char format[] = "minilink-report 1 %d %s %s %zu\n";

static const char *hash_of(struct bytes bytes, char hash[JOB_REPORT_HASH_SIZE])
{
    XXH128_hash_t value = XXH3_128bits(bytes.data, bytes.size);

    snprintf(hash, JOB_REPORT_HASH_SIZE, "%016llx%016llx", (unsigned long long)value.high64,
             (unsigned long long)value.low64);
    return hash;
}

bool job_report_hash_is(const char *hash, struct bytes bytes)
{
    return strcmp(hash, hash_of(bytes, (char[JOB_REPORT_HASH_SIZE]){0})) == 0;
}

void job_report_write(struct buffer *out, enum link_code code, struct bytes input,
                      struct bytes output, struct text log)
{
    char hashes[2][JOB_REPORT_HASH_SIZE];

    buffer_printf(out, format, (int)code, hash_of(input, hashes[0]), hash_of(output, hashes[1]),
                  log.size);
    buffer_text(out, log);
}

/* The line must be the one that would be written now. */
bool job_report_read(struct job_report *report, struct bytes file)
{
    char line[LINE_SIZE], again[LINE_SIZE];
    const char *end = file.size ? memchr(file.data, '\n', file.size) : NULL;
    size_t size = end ? (size_t)(end + 1 - (const char *)file.data) : LINE_SIZE, log_size;

    if (size >= LINE_SIZE)
        return false;
    memcpy(line, file.data, size);
    line[size] = '\0';
    if (sscanf(line, "minilink-report 1 %9d %32[0-9a-f] %32[0-9a-f] %18zu", &report->code,
               report->input, report->output, &log_size) != 4)
        return false;
    snprintf(again, sizeof again, format, report->code, report->input, report->output, log_size);
    report->log = text_drop((struct text){(const char *)file.data, file.size}, size);
    return strcmp(line, again) == 0 && report->code >= 0 &&
           strlen(report->input) == JOB_REPORT_HASH_SIZE - 1 &&
           strlen(report->output) == JOB_REPORT_HASH_SIZE - 1 && report->log.size == log_size;
}

/* The cubin's name for cubin_read. */
#define NAME "result"

/* The text of an error of cubin_read, without the prefix of the message. */
static const char *message_of(struct arena *arena, const struct diag_sink *sink)
{
    struct text text = buffer_view(&sink->text);
    const char *end = text.size ? memchr(text.data, '\n', text.size) : NULL;
    const char *start = end ? memmem(text.data, (size_t)(end - text.data), ": ", 2) : NULL;
    const struct text name = TEXT("'" NAME "'");
    struct text said;

    if (!start)
        return "it is no cubin";
    said = (struct text){start + 2, (size_t)(end - start - 2)};
    if (!text_starts(said, name))
        return arena_string(arena, said);
    return arena_printf(arena, "it%.*s", (int)(said.size - name.size), said.data + name.size);
}

/* A cubin that cubin_read accepts has all its parts inside the file. */
static const char *find_damage(struct arena *arena, struct cubin *cubin, struct bytes data)
{
    struct diag_sink sink = {0};
    struct diag_diversion heard;

    CONTEXT_DEFER(diag_sink_free, &sink);
    diag_divert(&heard, &sink);
    CONTEXT_DEFER(diag_divert_end, &heard);
    return cubin_read(cubin, NAME, data) ? NULL : message_of(arena, &sink);
}

/* The first kernel that the cubin does not define, or NULL. */
static const char *find_lost(struct arena *arena, const struct cubin *cubin,
                             const struct distribute_job *job)
{
    LOCAL_TABLE(names);

    for (size_t i = 1; i < cubin->symbol_count; i++)
        if (cubin->symbols[i].type == STT_FUNC && cubin->symbols[i].section != SHN_UNDEF)
            table_add(&names, cubin->symbols[i].name, 1);
    for (size_t i = 0; i < job->kernel_count; i++)
        if (table_find(&names, job->kernels[i]) == TABLE_NONE)
            return arena_printf(arena, "it lacks kernel '%.*s'", TEXT_ARG(job->kernels[i]));
    return NULL;
}

/* Smaller files are simply read. */
#define SMALL (UINT64_C(1) << 20)

bool verify_cubin_begins(struct bytes head, uint64_t size)
{
    Elf64_Ehdr header;
    uint64_t table;

    if (size <= SMALL)
        return true;
    if (head.size < sizeof header)
        return false;
    memcpy(&header, head.data, sizeof header);
    table = (uint64_t)header.e_shnum * sizeof(Elf64_Shdr);
    return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
           header.e_machine == EM_CUDA && header.e_shoff <= size && table <= size - header.e_shoff;
}

const char *verify_cubin(void *argument, struct arena *arena, const struct distribute_job *job,
                         struct bytes data)
{
    const struct verify_cubin_expectation *expected = argument;
    struct cubin cubin = {0};
    char wanted[ARCH_NAME_SIZE], found[ARCH_NAME_SIZE];
    struct arch arch;
    const char *why;

    if (data.size < sizeof(Elf64_Ehdr) || memcmp(data.data, ELFMAG, SELFMAG) != 0)
        return arena_printf(arena, "its %zu bytes are no ELF file", data.size);
    CONTEXT_DEFER(arena_cleanup, &cubin.arena);
    why = find_damage(arena, &cubin, data);
    if (!why && cubin.type == ET_EXEC && expected->mode != MINILINK_MODE_WHOLE)
        why = "it is an executable, where a relocatable cubin was asked for";
    if (!why && (!rawcode_cubin_arch(data, &arch) || arch.sm != expected->arch.sm ||
                 (arch.suffix == 'a') != (expected->arch.suffix == 'a')))
        why = arena_printf(arena, "it is for %s, where code for %s was asked for",
                           arch_name(arch, found), arch_name(expected->arch, wanted));
    if (!why && !expected->is_vouched_for)
        why = find_lost(arena, &cubin, job);
    return why;
}
