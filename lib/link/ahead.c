/* ahead.c: starts ptxas while LTO-IR is compiled. */
#include <string.h>

#include "assemble/ptxas_ahead.h"
#include "link/stages.h"
#include "options/forward.h"
#include "pool/memory_budget.h"
#include "pool/pool.h"

/* Whether a CPU is free while another compiles LTO-IR. */
static bool has_free_cpu(const struct link *link)
{
    const struct link_request *request = link->request;

    return !jobserver_counts(request->jobserver) && state_spread(link).threads > 1 &&
           !pool_sequential_reason();
}

/* Whether only LTO-IR is linked, and ptxas is certain to assemble the program on this machine,
 * without a cache that could have it. The cubins may be libcudadevrt's, which is dropped when
 * nothing calls it. */
static bool is_ptxas_certain(const struct link *link)
{
    const struct link_request *request = link->request;
    const char *assembler = request->assembler.name;

    return link->members.lto_count > 0 && link->members.ptx_count == 0 && state_is_program(link) &&
           !state_is_split(link) && !state_is_sass(link) && !link->agreement.debug && assembler &&
           strcmp(assembler, "ptxas") == 0 && !link->cache && !state_distribution(link) &&
           !request->dry_run && !request->emit_ptx && !request->merge.strip_debug &&
           (request->memory_limit == 0 || request->memory_limit == MEMORY_BUDGET_UNLIMITED);
}

void ahead_start(const struct link *link, struct assembled *assembled)
{
    const struct link_request *request = link->request;
    char arch[ARCH_NAME_SIZE];
    struct minilink_job job = {
        .size = sizeof job,
        .arch = arch_name(link->members.arch, arch),
        .mode = MINILINK_MODE_WHOLE,
        .maxrregcount = (uint32_t)link->agreement.maxrregcount,
    };

    /* A fault of the assembler is reported when it is needed. */
    if (!is_ptxas_certain(link) || !has_free_cpu(link) ||
        !assembler_try(&assembled->assembler, &request->assembler))
        return;
    job.options = forward_to_ptxas(&assembled->arena, &link->agreement, &request->options,
                                   request->assembler_options, true);
    ptxas_ahead_start(&assembled->assembler.ptxas, &job);
}
