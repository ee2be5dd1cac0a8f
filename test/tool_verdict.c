/* tool_verdict.c: what the built-in assembler says of many small programs.
 *
 *     tool_verdict FRAME PROGRAMS [sm_90]
 *     tool_verdict --files FILE...
 *     tool_verdict --programs FRAME PROGRAMS FOLDER [sm_90]
 *     tool_verdict --manual | --dictionary
 *
 * Each line of PROGRAMS stands in FRAME in turn (verdict.h). Prints for each "ok" or the first
 * message.
 * --files judges whole PTX files, each for the target that it names; --programs writes what would
 * be judged, as FOLDER/1.ptx and so on, for another assembler. For test/diff/language.sh.
 * --manual prints what man/minilink-ptx.5 says of the table, --dictionary its words for a fuzzer.
 */
#include "manual.h"
#include "read_file.h"
#include "verdict.h"

static void judge_file(const char *path)
{
    struct text text = read_file(path);
    const char *target = strstr(text.data, "\n.target ");
    char arch[16] = "";

    if (target && sscanf(target, "\n.target %15[a-z_0-9]", arch) == 1) {
        char *verdict = verdict_of(text.data, text.size, arch);

        printf("%s: %s\n", path, verdict);
        free(verdict);
    }
    free((char *)text.data);
}

static void judge(const char *frame, const char *line, const char *arch)
{
    char *verdict = verdict_of_line(frame, line, arch);

    puts(verdict);
    free(verdict);
}

static void write_program(const char *frame, const char *line, const char *arch, const char *folder,
                          unsigned number)
{
    char own[16], path[4096];
    char *program = verdict_program(frame, line, &arch, own);

    snprintf(path, sizeof path, "%s/%u.ptx", folder, number);
    write_file(path, text_of(program));
    printf("%s\n", arch);
    free(program);
}

static int print_table(bool is_manual)
{
    struct buffer out = {0};

    if (is_manual)
        manual_table(&out);
    else
        manual_dictionary(&out);
    fwrite(out.data, 1, out.size, stdout);
    buffer_free(&out);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "--files") == 0) {
        for (int i = 2; i < argc; i++)
            judge_file(argv[i]);
        return 0;
    }
    if (argc == 2 && (strcmp(argv[1], "--manual") == 0 || strcmp(argv[1], "--dictionary") == 0))
        return print_table(strcmp(argv[1], "--manual") == 0);
    bool is_writing = argc >= 5 && strcmp(argv[1], "--programs") == 0;
    int first = is_writing ? 2 : 1, arch = is_writing ? 5 : 3;

    if (argc < 3) {
        fputs("usage: tool_verdict FRAME PROGRAMS [ARCH]\n", stderr);
        return 2;
    }
    char *frame = (char *)read_file(argv[first]).data;
    char *programs = (char *)read_file(argv[first + 1]).data;
    const char *target = argc > arch ? argv[arch] : "sm_90";
    unsigned number = 0;

    for (char *line = programs, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end)
            *end++ = '\0';
        if (is_writing)
            write_program(frame, line, target, argv[4], ++number);
        else
            judge(frame, line, target);
    }
    free(frame);
    free(programs);
    return 0;
}
