/* words.c: what was read of nvJitLink's options, said to minilink. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "library/nvjitlink/options.h"

/* minilink writes the form of CUDA 12 for targets up to this one. */
#define NEWEST_OF_OLD_FORM 90

void words_add(struct words *words, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    ARENA_PUSH(words->arena, words->list, words->count, words->capacity) =
        arena_vprintf(words->arena, format, arguments);
    va_end(arguments);
}

static void add_all(struct words *words, const struct words *more)
{
    for (size_t i = 0; i < more->count; i++)
        words_add(words, "%s", more->list[i]);
}

/* A virtual architecture's PTX is that of the real one. */
static void add_arch(struct words *words, const struct settings *settings)
{
    char suffix[2] = {settings->suffix, '\0'};

    words_add(words, "-arch=sm_%u%s", settings->sm, suffix);
}

/* NVIDIA's library has its assembler in it: ptxas, unless MINILINK_ASSEMBLER, which minilink reads,
 * chooses another one. Infos are there for -verbose; those of an assembler that is told to say
 * something are infos, too. */
static void add_common(struct words *words, const struct settings *settings, const char *ptxas)
{
    const char *chosen = getenv("MINILINK_ASSEMBLER");

    add_arch(words, settings);
    if (!chosen || !*chosen)
        words_add(words, "--assembler=ptxas");
    if (ptxas)
        words_add(words, "--ptxas=%s", ptxas);
    if (settings->is_debug)
        words_add(words, "-g");
    if (settings->level == 0)
        words_add(words, "-Xptxas=-O0");
    if (settings->has_lines)
        words_add(words, "-Xptxas=-lineinfo");
    if (settings->is_fast && (!chosen || !*chosen)) /* ptxas alone has it; -c goes before it */
        words_add(words, "-Xptxas=--fast-compile");
    if (settings->has_no_cache)
        words_add(words, "--no-cache");
    if (settings->is_verbose)
        words_add(words, "-Xptxas=-v");
    else if (!settings->has_ptxas_options)
        words_add(words, "-disable-infos");
    add_all(words, &settings->assembly);
}

/* What host code names does not count. nvJitLink's lists are apart: of what is in none, everything
 * stays. minilink's belong together, as
 * nvlink's do: where one list is given, the other is empty. Under -lto alone variables go by
 * libnvvm, which is then told that host code names one that no program can have (all measured: the
 * PTX of both is the same). */
static void add_used(struct words *words, const struct settings *settings)
{
    if (!settings->names_kernels && !settings->names_variables)
        words_add(words, "-ignore-host-info");
    if (settings->names_variables)
        return;
    if (settings->names_kernels && !settings->drops_variables)
        words_add(words, "-Xnvvm=-host-ref-eg=*");
    else if (!settings->names_kernels && settings->drops_variables && settings->is_lto)
        words_add(words, "-Xnvvm=-host-ref-eg=-");
}

static void add_lto(struct words *words, const struct settings *settings, const char *library)
{
    words_add(words, "-lto");
    /* Found here, or not at all: minilink would look where this library is found. */
    if (library)
        words_add(words, "--nvjitlink=%s", library);
    else
        words_add(words, "--lto-source=ptx");
    if (settings->level == 0)
        words_add(words, "-Xnvvm=-opt=0");
    if (settings->has_lines)
        words_add(words, "-Xnvvm=-generate-line-info");
}

/* A word of `program`. Without -lto there is nothing for libnvvm, and nothing is split. PTX is not
 * made in pieces. */
static void add_word(struct words *words, const struct settings *settings, const char *word)
{
    static const char nvvm[] = "-Xnvvm=", split[] = "-split-compile", extended[] = "-extended";
    bool is_split = strncmp(word, split, strlen(split)) == 0;
    const char *rest = word + (is_split ? strlen(split) : 0);

    if (!settings->is_lto && (is_split || strncmp(word, nvvm, strlen(nvvm)) == 0))
        return;
    if (settings->is_ptx && is_split && strncmp(rest, extended, strlen(extended)) == 0)
        words_add(words, "%s%s", split, rest + strlen(extended));
    else
        words_add(words, "%s", word);
}

void settings_program_words(const struct settings *settings, const char *library, const char *ptxas,
                            bool is_open, struct words *words)
{
    add_common(words, settings, ptxas);
    if (settings->is_lto)
        add_lto(words, settings, library);
    if (settings->is_ptx)
        words_add(words, "-emit-ptx");
    if (settings->is_ptx ? is_open : settings->is_relocatable)
        words_add(words, "-r");
    if (settings->is_verbose)
        words_add(words, "-v");
    if (settings->major == 12 && settings->sm <= NEWEST_OF_OLD_FORM)
        words_add(words, "--output-abi=7");
    add_used(words, settings);
    for (size_t i = 0; i < settings->program.count; i++)
        add_word(words, settings, settings->program.list[i]);
}

void settings_input_words(const struct settings *settings, const char *ptxas, struct words *words)
{
    add_common(words, settings, ptxas);
    words_add(words, "-r");
}

void settings_check_words(const struct settings *settings, struct words *words)
{
    add_arch(words, settings);
    words_add(words, "-r");
    words_add(words, "--dry-run");
    words_add(words, "-w");
    words_add(words, "-disable-infos");
}
