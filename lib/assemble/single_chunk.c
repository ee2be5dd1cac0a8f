/* single_chunk.c: read, assemble, write; the report last, as it says what the cubin must be. */
#include "assemble/single_chunk.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "diag/diag.h"
#include "distribute/files.h"
#include "distribute/report.h"
#include "output/output.h"

/* Largest chunk that is read. */
#define INPUT_LIMIT ((size_t)4 << 30)

/* One run, and what must be let go of behind it. */
struct lone {
    const struct single_chunk_request *request;
    struct assembler assembler;
    struct file_contents input;
    struct minilink_result result;
    struct buffer report;
};

static void let_go(void *argument)
{
    struct lone *lone = argument;

    assembler_close(&lone->assembler);
    free(lone->input.data);
    free(lone->result.cubin);
    free(lone->result.log);
    buffer_free(&lone->report);
}

static enum link_code open_all(struct lone *lone)
{
    const struct single_chunk_request *request = lone->request;
    const char *version;

    if (!files_read(&lone->input, request->input, INPUT_LIMIT)) {
        diag_fatal("Could not open input file '%s': %s", request->input, files_why());
        return LINK_ENVIRONMENT;
    }
    if (lone->input.size == 0) {
        diag_fatal("Input file '%s' is empty", request->input);
        return LINK_FAILED;
    }
    if (!assembler_open(&lone->assembler, &request->assembler))
        return LINK_ENVIRONMENT;
    if (!request->version)
        return LINK_OK;
    version = assembler_version(&lone->assembler);
    if (!version)
        return LINK_ENVIRONMENT;
    if (strcmp(request->version, version) != 0) {
        diag_fatal("The assembler '%s' is here '%s', and the link has '%s': both must be of one "
                   "version of minilink",
                   lone->assembler.table.name, version, request->version);
        return LINK_ENVIRONMENT;
    }
    return LINK_OK;
}

/* The name is not that of the chunk in its link, so that the same chunk gives the same report in
 * all of them. */
static enum link_code assemble(struct lone *lone)
{
    const struct single_chunk_request *request = lone->request;
    const int cancelled = 0;
    char arch[ARCH_NAME_SIZE];
    const struct minilink_job job = {.size = sizeof job,
                                     .name = "chunk",
                                     .ptx = lone->input.data,
                                     .ptx_size = lone->input.size,
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
    const struct minilink_assembler *table = &lone->assembler.table;
    enum link_code code;

    lone->result.size = sizeof lone->result;
    code = (enum link_code)table->assemble(table->state, &job, &lone->result);
    if (code == LINK_WARNED && lone->result.cubin && lone->result.cubin_size)
        return LINK_OK;
    if (code == LINK_OK && (!lone->result.cubin || lone->result.cubin_size == 0))
        return LINK_INTERNAL;
    return code;
}

static struct bytes cubin_of(const struct lone *lone, enum link_code code)
{
    return code == LINK_OK ? (struct bytes){lone->result.cubin, lone->result.cubin_size}
                           : (struct bytes){0};
}

static bool write_report(struct lone *lone, enum link_code code)
{
    struct report report = {.code = (int)code, .log = text_of(lone->result.log)};

    report_hash((struct bytes){(const uint8_t *)lone->input.data, lone->input.size}, report.input);
    report_hash(cubin_of(lone, code), report.output);
    report_write(&lone->report, &report);
    return output_write_file(lone->request->report, buffer_bytes(&lone->report));
}

static enum link_code run(struct lone *lone)
{
    const struct single_chunk_request *request = lone->request;
    enum link_code code = open_all(lone);

    if (code != LINK_OK)
        return code;
    code = assemble(lone);
    if (code == LINK_NO_MEMORY)
        context_raise(LINK_NO_MEMORY);
    if (code == LINK_OK && !output_write_file(request->output, cubin_of(lone, code)))
        return LINK_ENVIRONMENT;
    if (request->report && !write_report(lone, code))
        return LINK_ENVIRONMENT;
    /* Who keeps no reports reads it here. */
    if ((!request->report || code != LINK_OK) && lone->result.log)
        diag_text(text_of(lone->result.log));
    if (code != LINK_OK)
        diag_error("%s: '%s' could not be assembled by '%s' (code %d)",
                   assembler_code_text((int)code), request->input, lone->assembler.table.name,
                   (int)code);
    return code;
}

enum link_code single_chunk_run(const struct single_chunk_request *request)
{
    struct lone lone = {.request = request};

    CONTEXT_DEFER(let_go, &lone);
    return run(&lone);
}
