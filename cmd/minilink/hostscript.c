/* hostscript.c: a script for the host's linker that keeps the sections with device code, as nvlink
 * writes it for -gen-host-linker-script (measured): for lcs-aug the three sections alone, to add to
 * another script; for lcs-abs the same after the host's script, which `ld -pie --verbose` prints
 * between two lines of "=". */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/context.h"
#include "diag/diag.h"
#include "os/exec.h"
#include "output/output.h"

#define LONGEST_SCRIPT (1u << 20)

static const char sections[] = "SECTIONS\n"
                               "{\n"
                               "\t.nvFatBinSegment : { *(.nvFatBinSegment) }\n"
                               "\t__nv_relfatbin : { *(__nv_relfatbin) } \n"
                               "\t.nv_fatbin : { *(.nv_fatbin) }\n"
                               "}\n";

/* The text between the lines; false when there are not two. */
static bool find_script(const char *output, struct text *script)
{
    const char *start = strstr(output, "\n====");
    const char *end;

    start = start ? strchr(start + 1, '\n') : NULL;
    end = start ? strstr(start, "\n====") : NULL;
    if (!end)
        return false;
    *script = (struct text){start + 1, (size_t)(end - start)};
    return true;
}

static bool add_host_script(struct buffer *out)
{
    const char *const argv[] = {"/usr/bin/env", "ld", "--verbose", "-pie", NULL};
    const struct exec_request request = {.argv = argv, .output_limit = LONGEST_SCRIPT};
    struct exec_result result = {0};
    struct text script;

    exec_run(&request, &result);
    CONTEXT_DEFER(memory_cleanup, &result.output);
    if (result.end != EXEC_EXITED || result.code != 0 || result.output_cut || !result.output ||
        !find_script(result.output, &script))
        return diag_fatal("'ld --verbose -pie' does not tell the host's linker script, which "
                          "lcs-abs needs; lcs-aug does not");
    buffer_text(out, script);
    return true;
}

bool host_script_write(enum host_script kind, const char *path)
{
    struct buffer script = {0};

    CONTEXT_DEFER(buffer_cleanup, &script);
    if (kind == HOST_SCRIPT_ABSOLUTE && !add_host_script(&script))
        return false;
    buffer_string(&script, sections);
    if (path)
        return output_write_file(path, buffer_bytes(&script));
    fwrite(script.data, 1, script.size, stdout);
    return true;
}
