/* tool_parts.c: joins PTX files that are parts of one compilation, for tests.
 *
 *     tool_parts [-v NAMES] IN.ptx...     writes the joined PTX to standard output
 *
 * -v: host code names no variables but those whose names contain one of the comma list NAMES (an
 * option that minilink has as -variables-used). Exit status 3, and a line that says about what,
 * when the parts disagree. */
#include "base/memory.h"
#include "input/file.h"
#include "input/used.h"
#include "parts/parts.h"
#include "read_file.h"

/* What the options say of host code. The number of arguments taken. */
static int read_options(struct used_names *used, struct inputs *objects, int argc, char **argv)
{
    struct input_operand operands[64];
    const char *variables[] = {NULL, NULL};
    struct used_request names = {.is_lto = true};
    size_t count = 0;
    int at = 1;

    for (; at + 1 < argc && count < 64 && argv[at][0] == '-'; at += 2) {
        if (strcmp(argv[at], "-o") == 0)
            operands[count++] = (struct input_operand){.name = argv[at + 1]};
        else
            variables[0] = argv[at + 1];
    }
    names.variables = variables[0] ? variables : NULL;
    if (at > 1 &&
        (!inputs_open(objects, operands, count, NULL) || !used_collect(used, objects, &names)))
        exit(2);
    return at;
}

int main(int argc, char **argv)
{
    struct inputs objects = {0};
    struct used_names used = {0};
    struct parts_request request = {0};
    struct parts_result result;
    struct arena arena = {0};
    struct text *texts;
    enum parts_answer answer;
    int first = read_options(&used, &objects, argc, argv);

    if (first > 1)
        request.used = &used;
    if (first >= argc) {
        fprintf(stderr, "usage: tool_parts [-o OBJECT]... [-v NAMES] IN.ptx...\n");
        return 2;
    }
    texts = arena_alloc(&arena, (size_t)(argc - first), sizeof *texts);
    for (int i = first; i < argc; i++)
        texts[request.count++] = read_file(argv[i]);
    request.texts = texts;
    answer = parts_join(&result, &arena, &request);
    if (answer == PARTS_JOINED)
        fwrite(result.ptx.data, 1, result.ptx.size, stdout);
    else if (answer == PARTS_DISAGREE)
        fprintf(stderr, "parts disagree: %s\n", result.difference);
    for (size_t i = 0; i < request.count; i++)
        free((char *)texts[i].data);
    used_free(&used);
    inputs_close(&objects);
    arena_free(&arena);
    return answer == PARTS_JOINED ? 0 : answer == PARTS_DISAGREE ? 3 : 1;
}
