/* single_chunk.c: reads, assembles, writes; the report last, as it has the cubin's hash. */
#include "assemble/assembler.h"

#include <string.h>

#include "assemble/workitem.h"
#include "base/memory.h"
#include "diag/diag.h"
#include "distribute/distribute.h"
#include "distribute/files.h"
#include "output/output.h"

/* Largest chunk that is read. */
#define INPUT_LIMIT ((size_t)4 << 30)

static enum link_code open_all(const struct single_chunk_request *request,
                               struct file_contents *input, struct assembler *assembler)
{
    const char *version;

    if (!files_read(input, request->input, INPUT_LIMIT)) {
        diag_fatal("Could not open input file '%s': %s", request->input, files_why());
        return LINK_ENVIRONMENT;
    }
    if (input->size == 0) {
        diag_fatal("Input file '%s' is empty", request->input);
        return LINK_FAILED;
    }
    if (!assembler_open(assembler, &request->assembler))
        return LINK_ENVIRONMENT;
    if (!request->version)
        return LINK_OK;
    version = assembler_version(assembler);
    if (!version)
        return LINK_ENVIRONMENT;
    if (strcmp(request->version, version) != 0) {
        diag_fatal("The assembler '%s' is here '%s', and the link has '%s': both must be of one "
                   "version of minilink",
                   assembler->table.name, version, request->version);
        return LINK_ENVIRONMENT;
    }
    return LINK_OK;
}

/* The chunk has a neutral name, so that the same chunk gives the same report in every link. */
static enum link_code assemble_single(const struct single_chunk_request *request,
                                      const struct file_contents *input,
                                      const struct minilink_assembler *table,
                                      struct minilink_result *result)
{
    const int cancelled = 0;
    char arch[ARCH_NAME_SIZE];
    const struct minilink_job job = {.size = sizeof job,
                                     .name = "chunk",
                                     .ptx = input->data,
                                     .ptx_size = input->size,
                                     .arch = arch_name(request->arch, arch),
                                     .sm = request->arch.sm,
                                     .debug = request->debug,
                                     .line_info = request->line_info,
                                     .mode = request->mode,
                                     .maxrregcount = request->maxrregcount,
                                     .options = request->options,
                                     .cancelled = &cancelled,
                                     .threads = 1,
                                     .thread_limit = 1,
                                     .jobserver = MINILINK_JOBSERVER_OFF};

    return workitem_code((enum link_code)table->assemble(table->state, &job, result), result);
}

static bool write_report(const char *path, enum link_code code, struct bytes input,
                         struct bytes cubin, struct text log)
{
    struct buffer report = {0};

    CONTEXT_DEFER(buffer_cleanup, &report);
    job_report_write(&report, code, input, cubin, log);
    return output_write_file(path, buffer_bytes(&report));
}

enum link_code single_chunk_run(const struct single_chunk_request *request)
{
    struct assembler assembler = {0};
    struct file_contents input = {0};
    struct minilink_result result = {.size = sizeof result};
    struct bytes cubin = {0};

    CONTEXT_DEFER(assembler_close, &assembler);
    CONTEXT_DEFER(memory_cleanup, &input.data);
    CONTEXT_DEFER(memory_cleanup, &result.cubin);
    CONTEXT_DEFER(memory_cleanup, &result.log);
    enum link_code code = open_all(request, &input, &assembler);
    if (code != LINK_OK)
        return code;
    code = assemble_single(request, &input, &assembler.table, &result);
    struct text log = text_of(result.log);
    if (code == LINK_NO_MEMORY)
        context_raise(LINK_NO_MEMORY);
    if (code == LINK_OK)
        cubin = (struct bytes){result.cubin, result.cubin_size};
    if (code == LINK_OK && !output_write_file(request->output, cubin))
        return LINK_ENVIRONMENT;
    if (request->report && !write_report(request->report, code, files_bytes(&input), cubin, log))
        return LINK_ENVIRONMENT;
    /* Without a report the messages are printed. */
    if ((!request->report || code != LINK_OK) && log.data)
        diag_text(log);
    if (code != LINK_OK)
        diag_error("%s: '%s' could not be assembled by '%s' (code %d)",
                   assembler_code_text((int)code), request->input, assembler.table.name, (int)code);
    return code;
}
