/* tool_verdict.c: what the built-in assembler says of many small programs.
 *
 *     tool_verdict FRAME PROGRAMS [sm_90a]
 *     tool_verdict --files FILE...
 *
 * FRAME is a PTX text with a line that says @@; each line of PROGRAMS takes that line's place in
 * turn
 * (" | " in it begins a new line). Prints for each "ok" or the first message. --files judges whole
 * PTX files, each for the target that it names. For test/diff/language.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assembler/builtin/builtin.h"
#include "base/arch.h"
#include "base/buffer.h"

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 24);

    if (!file || !text) {
        fprintf(stderr, "tool_verdict: cannot read '%s'\n", path);
        exit(2);
    }
    text[fread(text, 1, (1 << 24) - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* The first message, without file and line. */
static void print_verdict(int code, const char *log)
{
    const char *at = log;

    if (code == MINILINK_OK) {
        puts("ok");
        return;
    }
    for (int colons = 0; at && *at && *at != '\n' && colons < 4; at++)
        colons += *at == ':';
    while (at && *at == ' ')
        at++;
    printf("%.*s\n", (int)strcspn(at ? at : "?", "\n"), at ? at : "?");
}

static void assemble(const char *ptx, size_t size, const char *arch)
{
    struct minilink_result result = {.size = sizeof result};
    struct arch target;

    if (!arch_parse(text_of(arch), "sm_", &target)) {
        puts("unknown target");
        return;
    }
    struct minilink_job job = {.size = sizeof job,
                               .name = "p",
                               .ptx = ptx,
                               .ptx_size = size,
                               .arch = arch,
                               .sm = target.sm,
                               .address64 = 1,
                               .machine64 = 1};
    int code = builtin_assembler.assemble(builtin_assembler.state, &job, &result);

    print_verdict(code, result.log);
    free(result.cubin);
    free(result.log);
}

static void judge(const char *frame, const char *line, const char *arch)
{
    const char *mark = strstr(frame, "@@");
    struct buffer text = {0};

    buffer_text(&text, (struct text){frame, (size_t)(mark - frame)});
    for (const char *at = line; *at; at++)
        buffer_char(&text, strncmp(at, " | ", 3) == 0 ? '\n' : *at);
    buffer_text(&text, text_of(mark + 2));
    buffer_char(&text, '\0');
    assemble(text.data, text.size - 1, arch);
    buffer_free(&text);
}

static void judge_file(const char *path)
{
    char *text = read_all(path), arch[16] = "";
    const char *target = strstr(text, "\n.target ");

    if (target && sscanf(target, "\n.target %15[a-z_0-9]", arch) == 1) {
        printf("%s: ", path);
        assemble(text, strlen(text), arch);
    }
    free(text);
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "--files") == 0) {
        for (int i = 2; i < argc; i++)
            judge_file(argv[i]);
        return 0;
    }
    if (argc < 3) {
        fputs("usage: tool_verdict FRAME PROGRAMS [ARCH]\n", stderr);
        return 2;
    }
    char *frame = read_all(argv[1]), *programs = read_all(argv[2]);

    if (!strstr(frame, "@@"))
        return 2;
    for (char *line = programs, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end)
            *end++ = '\0';
        judge(frame, line, argc > 3 ? argv[3] : "sm_90a");
    }
    free(frame);
    free(programs);
    return 0;
}
