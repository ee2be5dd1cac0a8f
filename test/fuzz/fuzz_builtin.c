/* fuzz_builtin.c: any text must give a message or a cubin that reads back. The first byte chooses
 * the architecture and the register limit. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "assembler/builtin/builtin.h"
#include "base/context.h"
#include "cubin/cubin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_cubin(const struct minilink_result *result)
{
    struct cubin cubin = {0};
    struct bytes bytes = {result->cubin, result->cubin_size};
    if (!cubin_read(&cubin, "fuzz", bytes))
        abort();
    cubin_free(&cubin);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const archs[] = {"sm_75", "sm_90", "sm_90a", "sm_100"};
    static const uint32_t numbers[] = {75, 90, 90, 100};
    if (size == 0)
        return 0;
    char *ptx = malloc(size);
    if (!ptx)
        abort();
    memcpy(ptx, data + 1, size - 1);
    ptx[size - 1] = '\0';
    struct minilink_job job = {.size = sizeof job,
                               .name = "fuzz",
                               .ptx = ptx,
                               .ptx_size = size - 1,
                               .arch = archs[data[0] & 3],
                               .sm = numbers[data[0] & 3],
                               .address64 = 1,
                               .machine64 = 1,
                               .maxrregcount = data[0] & 4 ? 24 : 0};
    struct minilink_result result = {.size = sizeof result};
    if (builtin_assembler.assemble(builtin_assembler.state, &job, &result) == MINILINK_OK)
        check_cubin(&result);
    else if (!result.log)
        abort();
    free(result.cubin);
    free(result.log);
    free(ptx);
    return 0;
}
