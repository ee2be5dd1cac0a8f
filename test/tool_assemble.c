/* tool_assemble.c: assembles a PTX file with the built-in assembler, as `ptxas -arch ARCH` does.
 *
 *     tool_assemble ARCH OUTPUT FILE [OPTION...]
 *
 * Prints what the assembler says; exit status 1 when it refuses. For test/diff/driver.sh. */
#include "toy/builtin.h"
#include "read_file.h"

int main(int argc, char **argv)
{
    struct minilink_result result = {.size = sizeof result};
    struct text text;
    int code;

    if (argc < 4 || strncmp(argv[1], "sm_", 3) != 0) {
        fputs("usage: tool_assemble ARCH OUTPUT FILE [OPTION...]\n", stderr);
        return 2;
    }
    text = read_file(argv[3]);
    code =
        builtin_assembler.assemble(builtin_assembler.state,
                                   &(struct minilink_job){.size = sizeof(struct minilink_job),
                                                          .name = argv[3],
                                                          .ptx = text.data,
                                                          .ptx_size = text.size,
                                                          .arch = argv[1],
                                                          .sm = (uint32_t)atoi(argv[1] + 3),
                                                          .mode = MINILINK_MODE_WHOLE,
                                                          .options = (const char *const *)&argv[4]},
                                   &result);
    if (result.log)
        fputs(result.log, stdout);
    if (code == MINILINK_WARNED && result.cubin)
        code = MINILINK_OK;
    if (code == MINILINK_OK)
        write_file(argv[2], (struct text){result.cubin, result.cubin_size});
    free(result.cubin);
    free(result.log);
    free((char *)text.data);
    return code != MINILINK_OK;
}
