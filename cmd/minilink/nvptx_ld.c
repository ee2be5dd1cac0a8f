/* nvptx_ld.c: the command line of nvptx-none-ld, of the package nvptx-tools, which GCC's offload
 * compiler runs: -o, -L, -l, -v, -t, --help, --version and files. Its output is the PTX texts that
 * take part, each with a NUL behind it, from which mkoffload makes an image. With --cubin the
 * output is a cubin, and all options are minilink's. */
#include "program.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "facts/targets.h"
#include "link/link.h"

static bool is_name(const char *program)
{
    const char *slash = strrchr(program, '/');
    const char *name = slash ? slash + 1 : program;

    return strcmp(name, "ld") == 0 || text_ends(text_of(name), TEXT("nvptx-none-ld"));
}

static bool has_argument(int argc, char *const *argv, const char *word)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], word) == 0)
            return true;
    return false;
}

/* Texts are chosen for no target: the last one takes those of all. */
static char *newest_target(struct arena *arena)
{
    struct arch arch = {0}, newest = {0};
    char name[ARCH_NAME_SIZE];

    while (targets_next(&arch, NULL))
        if (arch.suffix == 0)
            newest = arch;
    return arena_printf(arena, "-arch=%s", arch_name(newest, name));
}

char *const *nvptx_ld_words(struct arena *arena, int argc, char *const *argv, size_t *count)
{
    static char texts[] = "--emit-texts", verbose[] = "-vv";
    bool is_cubin = has_argument(argc, argv, "--cubin");
    char **words;

    if (argc == 0 || !is_name(argv[0]))
        return NULL;
    words = arena_zalloc(arena, (size_t)argc + 2, sizeof *words);
    *count = 0;
    if (!is_cubin) {
        words[(*count)++] = texts;
        words[(*count)++] = newest_target(arena);
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--cubin") == 0)
            continue;
        words[(*count)++] =
            strcmp(argv[i], "-v") == 0 || strcmp(argv[i], "-t") == 0 ? verbose : argv[i];
    }
    return words;
}

bool nvptx_ld_tells(int argc, char *const *argv)
{
    if (argc == 0 || !is_name(argv[0]) || has_argument(argc, argv, "--cubin"))
        return false;
    if (has_argument(argc, argv, "--version")) {
        puts("minilink " MINILINK_VERSION ", as nvptx-none-ld");
        return true;
    }
    if (!has_argument(argc, argv, "--help"))
        return false;
    puts("Usage: nvptx-none-ld [option...] [files]\n"
         "\n"
         "Links PTX that GCC made: writes the files, and those members of archives that\n"
         "define what is undefined, text by text. Options:\n"
         "  -o FILE               Write the texts to FILE, each with a NUL behind it\n"
         "  -l LIBRARY            Link libLIBRARY.a\n"
         "  -L DIR                Look for libraries in DIR\n"
         "  -v, -t                Say what is linked\n"
         "  --cubin               Write one cubin; all options of minilink(1) are taken\n"
         "  --help, --version     Print this, or the version, and exit");
    return true;
}
