/* tool_verdict.c: what the built-in assembler says of many small programs.
 *
 *     tool_verdict FRAME PROGRAMS [sm_90]
 *     tool_verdict --files FILE...
 *     tool_verdict --programs FRAME PROGRAMS FOLDER [sm_90]
 *
 * Each line of PROGRAMS stands in FRAME in turn (verdict.h). Prints for each "ok" or the first
 * message.
 * --files judges whole PTX files, each for the target that it names; --programs writes what would
 * be judged, as FOLDER/1.ptx and so on, for another assembler. For test/diff/language.sh. */
#include "verdict.h"

static char *read_all(const char *path)
{
    char *text = verdict_read(path);

    if (!text) {
        fprintf(stderr, "tool_verdict: cannot read '%s'\n", path);
        exit(2);
    }
    return text;
}

static void judge_file(const char *path)
{
    char *text = read_all(path), arch[16] = "";
    const char *target = strstr(text, "\n.target ");

    if (target && sscanf(target, "\n.target %15[a-z_0-9]", arch) == 1) {
        char *verdict = verdict_of(text, strlen(text), arch);

        printf("%s: %s\n", path, verdict);
        free(verdict);
    }
    free(text);
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
    FILE *file;

    snprintf(path, sizeof path, "%s/%u.ptx", folder, number);
    file = fopen(path, "w");
    if (!file || fputs(program, file) == EOF || fclose(file) == EOF) {
        fprintf(stderr, "tool_verdict: cannot write '%s'\n", path);
        exit(2);
    }
    printf("%s\n", arch);
    free(program);
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "--files") == 0) {
        for (int i = 2; i < argc; i++)
            judge_file(argv[i]);
        return 0;
    }
    bool is_writing = argc >= 5 && strcmp(argv[1], "--programs") == 0;
    int first = is_writing ? 2 : 1, arch = is_writing ? 5 : 3;

    if (argc < 3) {
        fputs("usage: tool_verdict FRAME PROGRAMS [ARCH]\n", stderr);
        return 2;
    }
    char *frame = read_all(argv[first]), *programs = read_all(argv[first + 1]);
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
