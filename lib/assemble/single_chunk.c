/* single_chunk.c: reads, assembles, writes; the report last, as it has the cubin's hash. */
#include "assemble/assembler.h"

#include <stdlib.h>
#include <string.h>

#include "assemble/workitem.h"
#include "base/buffer.h"
#include "diag/diag.h"
#include "distribute/distribute.h"
#include "distribute/files.h"
#include "output/output.h"

/* Largest chunk that is read. */
#define INPUT_LIMIT ((size_t)4 << 30)

/* One run, and the resources that it holds. */
struct single_chunk {
    const struct single_chunk_request *request;
    struct assembler assembler;
    struct file_contents input;
    struct minilink_result result;
    struct buffer report;
};

static void end_single(void *argument)
{
    struct single_chunk *chunk = argument;

    assembler_close(&chunk->assembler);
    free(chunk->input.data);
    free(chunk->result.cubin);
    free(chunk->result.log);
    buffer_free(&chunk->report);
}

static enum link_code open_all(struct single_chunk *chunk)
{
    const struct single_chunk_request *request = chunk->request;
    const char *version;

    if (!files_read(&chunk->input, request->input, INPUT_LIMIT)) {
        diag_fatal("Could not open input file '%s': %s", request->input, files_why());
        return LINK_ENVIRONMENT;
    }
    if (chunk->input.size == 0) {
        diag_fatal("Input file '%s' is empty", request->input);
        return LINK_FAILED;
    }
    if (!assembler_open(&chunk->assembler, &request->assembler))
        return LINK_ENVIRONMENT;
    if (!request->version)
        return LINK_OK;
    version = assembler_version(&chunk->assembler);
    if (!version)
        return LINK_ENVIRONMENT;
    if (strcmp(request->version, version) != 0) {
        diag_fatal("The assembler '%s' is here '%s', and the link has '%s': both must be of one "
                   "version of minilink",
                   chunk->assembler.table.name, version, request->version);
        return LINK_ENVIRONMENT;
    }
    return LINK_OK;
}

/* The chunk has a neutral name, so that the same chunk gives the same report in every link. */
static enum link_code assemble_single(struct single_chunk *chunk)
{
    const struct single_chunk_request *request = chunk->request;
    const int cancelled = 0;
    char arch[ARCH_NAME_SIZE];
    const struct minilink_job job = {.size = sizeof job,
                                     .name = "chunk",
                                     .ptx = chunk->input.data,
                                     .ptx_size = chunk->input.size,
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
    const struct minilink_assembler *table = &chunk->assembler.table;

    chunk->result.size = sizeof chunk->result;
    return workitem_code((enum link_code)table->assemble(table->state, &job, &chunk->result),
                         &chunk->result);
}

enum link_code single_chunk_run(const struct single_chunk_request *request)
{
    struct single_chunk chunk = {.request = request};
    struct bytes cubin = {0};
    struct text log;

    CONTEXT_DEFER(end_single, &chunk);
    enum link_code code = open_all(&chunk);
    if (code != LINK_OK)
        return code;
    code = assemble_single(&chunk);
    log = text_of(chunk.result.log);
    if (code == LINK_NO_MEMORY)
        context_raise(LINK_NO_MEMORY);
    if (code == LINK_OK)
        cubin = (struct bytes){chunk.result.cubin, chunk.result.cubin_size};
    if (code == LINK_OK && !output_write_file(request->output, cubin))
        return LINK_ENVIRONMENT;
    if (request->report) {
        job_report_write(&chunk.report, code, files_bytes(&chunk.input), cubin, log);
        if (!output_write_file(request->report, buffer_bytes(&chunk.report)))
            return LINK_ENVIRONMENT;
    }
    /* Without a report the messages are printed. */
    if ((!request->report || code != LINK_OK) && log.data)
        diag_text(log);
    if (code != LINK_OK)
        diag_error("%s: '%s' could not be assembled by '%s' (code %d)",
                   assembler_code_text((int)code), request->input, chunk.assembler.table.name,
                   (int)code);
    return code;
}
