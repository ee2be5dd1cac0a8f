/* fuzz_builtin.c: any text must give a message or a cubin that reads back. The first byte chooses
 * the architecture, the register limit and the mode, the second -g, -lineinfo, threads and options
 * of ptxas. */
#include "cubin/cubin.h"
#include "toy/builtin.h"
#include "fuzz.h"

static void check_cubin(const struct minilink_result *result)
{
    struct cubin cubin = {0};
    struct bytes bytes = {result->cubin, result->cubin_size};

    if (!cubin_read(&cubin, "fuzz", bytes))
        abort();
    cubin_free(&cubin);
}

static struct minilink_job job_of(uint8_t target, uint8_t flags)
{
    static const char *const archs[] = {"sm_75", "sm_90", "sm_90a", "sm_100"};
    static const uint32_t numbers[] = {75, 90, 90, 100};
    static const uint32_t limits[] = {0, 24, 1, 32};
    static const char *const options[][6] = {
        {NULL},
        {"--verbose", "-O0", "--warn-on-spills", "--annotate", NULL},
        {"--warn-on-local-memory-usage", "-e", "k,k1,x", "--executable", NULL},
        {"--extensible-whole-program", "--maxntid", "64,2", "--func-maxrregcount", "32", NULL},
        {"--compile-as-tools-patch", NULL},
        {"--compile-only", "--func-maxrregcount", "24", NULL},
        {"--preserve-relocs", "--suppress-debug-info", "--Werror", "--override-directive-values",
         NULL},
        {"--split-compile=2", "--threads-min-section-size=0", "--threads-dynamic-scheduling=true",
         "--executable", NULL},
    };

    return (struct minilink_job){.size = sizeof(struct minilink_job),
                                 .name = "fuzz",
                                 .arch = archs[target & 3],
                                 .sm = numbers[target & 3],
                                 .maxrregcount = limits[target >> 2 & 3],
                                 .mode =
                                     target & 16 ? MINILINK_MODE_WHOLE : MINILINK_MODE_RELOCATABLE,
                                 .debug = flags & 1,
                                 .line_info = flags >> 1 & 1,
                                 .threads = flags & 4 ? 3 : 1,
                                 .thread_limit = 3,
                                 .jobserver = MINILINK_JOBSERVER_OFF,
                                 .options = options[flags >> 3 & 7]};
}

static void fuzz(struct bytes rest)
{
    uint8_t target = fuzz_byte(&rest), flags = fuzz_byte(&rest);
    struct minilink_job job = job_of(target, flags);
    struct minilink_result result = {.size = sizeof result};
    char *ptx = fuzz_string(rest);

    job.ptx = ptx;
    job.ptx_size = rest.size;
    if (builtin_assembler.assemble(builtin_assembler.state, &job, &result) <= MINILINK_WARNED &&
        result.cubin)
        check_cubin(&result);
    else if (!result.log)
        abort();
    free(result.cubin);
    free(result.log);
}
