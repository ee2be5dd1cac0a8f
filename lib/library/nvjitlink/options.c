/* options.c: translates nvJitLink's options to minilink's, by one table.
 *
 * The options that are accepted, and the results for others, were measured on libnvJitLink 12.0 to
 * 13.5 (test/nvjitlink/options), and those of 12.9 and 13.5 are followed: names without a value are
 * compared up to their length, so that anything may follow them; names with `=` must be whole.
 * Anything that begins with -r asks for a relocatable result. The first wrong option ends the
 * reading. */
#include "library/nvjitlink/options.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arch.h"
#include "facts/targets.h"

enum form {
    FORM_WHOLE,  /* the name, and nothing after it */
    FORM_PREFIX, /* the name, and anything after it */
    FORM_VALUE,  /* the name ends with `=`, and something must follow */
    FORM_EMPTY,  /* the same, but nothing need follow */
};

struct known;

/* One option that is read. */
struct reading {
    struct settings *settings;
    struct buffer *errors;
    const struct known *known;
    const char *word;  /* all of it */
    const char *value; /* after the name */
};

struct known {
    const char *name;
    enum form form;
    nvJitLinkResult (*read)(const struct reading *reading); /* or NULL: handed on */
    size_t flag;        /* of struct settings: the bool that the option sets besides, or NO_FLAG */
    uint16_t first;     /* the first version with it that matters here; 0 = all have it */
    size_t words;       /* of struct settings: the words that get it, with: */
    const char *prefix; /* before it; NULL: none get it */
};

#define NO_FLAG SIZE_MAX

static nvJitLinkResult unrecognized(struct buffer *errors, const char *word)
{
    buffer_printf(errors, "unrecognized option: %s\n", word);
    return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
}

static nvJitLinkResult wrong_value(const struct reading *reading, const char *expected)
{
    buffer_printf(reading->errors, "'%s': the value must be %s\n", reading->word, expected);
    return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
}

/* Accepts all targets that the newest toolkits make code for, or that of the interface. Measured
 * on 13.5: the others are too old if it knows their number, or that they have no family. */
static nvJitLinkResult judge_arch(struct arch arch, unsigned version)
{
    const struct arch plain = {arch.sm, '\0'};

    if (targets_know(arch, NULL) || targets_know(arch, toolkits_find(version)))
        return NVJITLINK_SUCCESS;
    return targets_find_name(plain) && (arch.suffix == 'f' || !targets_know(plain, NULL))
               ? NVJITLINK_ERROR_UNSUPPORTED_ARCH
               : NVJITLINK_ERROR_UNRECOGNIZED_ARCH;
}

static nvJitLinkResult read_arch(const struct reading *reading)
{
    static const char *const kinds[] = {"sm_", "compute_", "lto_"};
    struct settings *settings = reading->settings;
    const char *value = reading->value;
    nvJitLinkResult code;
    size_t kind = 0;
    unsigned sm;
    char suffix, *end;

    while (kind < 3 && strncmp(value, kinds[kind], strlen(kinds[kind])) != 0)
        kind++;
    if (kind == 3 || !isdigit((unsigned char)value[strlen(kinds[kind])]))
        return wrong_value(reading, "sm_NN, or compute_NN with -ptx");
    sm = (unsigned)strtoul(value + strlen(kinds[kind]), &end, 10);
    suffix = *end == 'a' || *end == 'f' ? *end++ : '\0';
    settings->target_changes += settings->sm && (sm != settings->sm || suffix != settings->suffix);
    settings->sm = sm;
    settings->suffix = suffix;
    settings->kind = (enum target_kind)kind;
    code = *end ? NVJITLINK_ERROR_UNRECOGNIZED_ARCH
                : judge_arch((struct arch){sm, suffix}, settings->version);
    if (code != NVJITLINK_SUCCESS)
        buffer_printf(reading->errors, "%s architecture: %s\n",
                      code == NVJITLINK_ERROR_UNSUPPORTED_ARCH ? "unsupported" : "unrecognized",
                      value);
    return code;
}

/* A value that is no number is left for ptxas to refuse, if that runs. */
static nvJitLinkResult read_registers(const struct reading *reading)
{
    const char *value = reading->value;
    bool is_number = strspn(value, "0123456789") == strlen(value) && strlen(value) < 9;

    word_list_printf(&reading->settings->assembly, "-%smaxrregcount=%s",
                     is_number ? "" : "Xptxas=-", value);
    return NVJITLINK_SUCCESS;
}

/* A value that is no number counts as 0, as with atoi(); minilink takes up to 999. */
static nvJitLinkResult read_split(const struct reading *reading)
{
    long count = strtol(reading->value, NULL, 10);

    if (count < 0)
        return wrong_value(reading, "0 or more");
    reading->settings->is_split |= strstr(reading->known->name, "-extended") != NULL;
    word_list_printf(&reading->settings->program, "%s%ld", reading->known->name,
                     count > 999 ? 999 : count);
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult read_fast_level(const struct reading *reading)
{
    static const char *const levels[] = {"0", "min", "mid", "max"};

    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (strcmp(reading->value, levels[i]) == 0) {
            word_list_printf(&reading->settings->assembly, "%s", reading->word);
            return NVJITLINK_SUCCESS;
        }
    }
    return wrong_value(reading, "0, min, mid or max");
}

/* Measured on 13.0 and 13.5: two names for each of two compilers. The newer one is the default from
 * sm_100 on (nvJitLink.h 13.5). */
static nvJitLinkResult read_nvvm_version(const struct reading *reading)
{
    static const char *const versions[] = {"nvvm", "nvvm70", "nvvm-latest", "nvvm-next"};

    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        if (strcmp(reading->value, versions[i]) != 0)
            continue;
        *(i < 2 ? &reading->settings->is_nvvm70 : &reading->settings->is_latest) = true;
        return NVJITLINK_SUCCESS;
    }
    return wrong_value(reading, "nvvm, nvvm70, nvvm-latest or nvvm-next");
}

/* No file is known that the library accepts as an index: any existing file is reported to be none.
 */
static nvJitLinkResult read_index(const struct reading *reading)
{
    if (access(reading->value, F_OK) != 0) {
        buffer_printf(reading->errors, "no such file: '%s'\n", reading->value);
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    buffer_printf(reading->errors, "'%s' is no index of unified symbols, and left out\n",
                  reading->value);
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult read_extended_memory(const struct reading *reading)
{
    if (strcmp(reading->value, "true") != 0 && strcmp(reading->value, "false") != 0)
        return wrong_value(reading, "true or false");
    word_list_printf(&reading->settings->assembly, "-Xptxas=%s", reading->word);
    word_list_printf(&reading->settings->program, "%s", reading->word);
    return NVJITLINK_SUCCESS;
}

/* Measured: nvlink has the option by this name. */
static nvJitLinkResult drop_reservation(const struct reading *reading)
{
    word_list_add(&reading->settings->program, "--disable-smem-reservation=true");
    return NVJITLINK_SUCCESS;
}

/* Words for the step from Mercury's code to a GPU's, from sm_100 on, which is a part of ptxas here.
 * Measured on 13.5: -O0 changes nothing; a word that is not known fails when an input is added. */
static nvJitLinkResult leave_option_out(const struct reading *reading)
{
    buffer_printf(reading->errors, "'%s' has no effect: ptxas makes the code\n", reading->word);
    return NVJITLINK_SUCCESS;
}

#define SETS(flag, first)    NULL, offsetof(struct settings, flag), first, 0, NULL
#define READS(read)          read, NO_FLAG, 0, 0, NULL
#define HANDS(words, prefix) NULL, NO_FLAG, 0, offsetof(struct settings, words), prefix
#define SETS_AND_HANDS(flag, words, prefix)                                                        \
    NULL, offsetof(struct settings, flag), 0, offsetof(struct settings, words), prefix

static const struct known known[] = {
    {"-arch=", FORM_VALUE, READS(read_arch)},
    {"-maxrregcount=", FORM_VALUE, READS(read_registers)},
    {"-time", FORM_PREFIX, SETS(is_timed, 0)},
    {"-verbose", FORM_PREFIX, SETS(is_verbose, 0)},
    {"-lto", FORM_PREFIX, SETS(is_lto, 0)},
    {"-dlto", FORM_PREFIX, SETS(is_lto, 0)},
    {"-ptx", FORM_PREFIX, SETS(is_ptx, 0)},
    {"-g", FORM_WHOLE, SETS(is_debug, 0)},
    {"-lineinfo", FORM_PREFIX, SETS(has_lines, 0)},
    {"-ftz=", FORM_EMPTY, HANDS(program, "-Xnvvm=")},
    {"-prec-div=", FORM_EMPTY, HANDS(program, "-Xnvvm=")},
    {"-prec-sqrt=", FORM_EMPTY, HANDS(program, "-Xnvvm=")},
    {"-fma=", FORM_EMPTY, HANDS(program, "-Xnvvm=")},
    {"-kernels-used=", FORM_VALUE, SETS_AND_HANDS(names_kernels, program, "")},
    {"-variables-used=", FORM_VALUE, SETS_AND_HANDS(names_variables, program, "")},
    {"-optimize-unused-variables", FORM_PREFIX, SETS(drops_variables, 0)},
    {"-Xptxas=", FORM_VALUE, SETS_AND_HANDS(has_ptxas_options, assembly, "")},
    {"-Xnvvm=", FORM_VALUE, HANDS(program, "")},
    {"-Ofc=", FORM_VALUE, READS(read_fast_level)},
    {"--Ofast-compile=", FORM_VALUE, READS(read_fast_level)},
    {"-split-compile=", FORM_EMPTY, READS(read_split)},
    {"-split-compile-extended=", FORM_EMPTY, READS(read_split)},
    {"-jump-table-density=", FORM_EMPTY, HANDS(program, "-Xnvvm=")},
    {"-no-cache", FORM_PREFIX, SETS(has_no_cache, 0)},
    {"--no-cache", FORM_PREFIX, SETS(has_no_cache, 0)},
    {"--device-stack-protector=", FORM_VALUE, HANDS(assembly, "-Xptxas=")},
    {"--device-stack-protector-frame-size-threshold=", FORM_VALUE, HANDS(assembly, "-Xptxas=")},
    {"-nvvm-version=", FORM_VALUE, READS(read_nvvm_version)},
    {"-uidx=", FORM_EMPTY, READS(read_index)},
    {"-fast-compile", FORM_PREFIX, SETS(is_fast, 0)},
    {"-no-opt", FORM_PREFIX, NULL, NO_FLAG, 0, 0, NULL}, /* measured on 13.5: it changes nothing */
    {"-disable-smem-reserve", FORM_PREFIX, READS(drop_reservation)},
    {"-Xfinalizer=", FORM_VALUE, leave_option_out, NO_FLAG, 132, 0, NULL},
    {"--enable-extended-smem=", FORM_VALUE, read_extended_memory, NO_FLAG, 134, 0, NULL},
    {"-nvvm-latest", FORM_PREFIX, SETS(is_latest, 135)},
    {"-r", FORM_PREFIX, SETS(is_relocatable, 130)},
};

/* The option of that name in the library's version. */
static const struct known *look_up(const char *word, unsigned version)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t size = strlen(known[i].name);

        if (strncmp(word, known[i].name, size) == 0 && version >= known[i].first &&
            (known[i].form != FORM_WHOLE || word[size] == '\0'))
            return &known[i];
    }
    return NULL;
}

static nvJitLinkResult read_option(const struct reading *reading)
{
    if (reading->known->flag != NO_FLAG)
        *(bool *)((char *)reading->settings + reading->known->flag) = true;
    if (reading->known->prefix)
        word_list_printf(
            (struct word_list *)(void *)((char *)reading->settings + reading->known->words), "%s%s",
            reading->known->prefix, reading->word);
    return reading->known->read ? reading->known->read(reading) : NVJITLINK_SUCCESS;
}

/* -O and one digit. */
static bool is_level(const char *word)
{
    return strncmp(word, "-O", 2) == 0 && isdigit((unsigned char)word[2]) && word[3] == '\0';
}

static nvJitLinkResult read_word(struct settings *settings, const char *word, struct buffer *errors)
{
    struct reading reading = {settings, errors, look_up(word, settings->version), word, NULL};

    if (is_level(word)) {
        settings->level = word[2] - '0';
        return settings->level == 0 || settings->level == 3 ? NVJITLINK_SUCCESS
                                                            : wrong_value(&reading, "0 or 3");
    }
    if (!reading.known)
        return unrecognized(errors, word);
    reading.value = word + strlen(reading.known->name);
    if (reading.known->form == FORM_VALUE && *reading.value == '\0')
        return wrong_value(&reading, "there");
    return read_option(&reading);
}

static bool lacks_lto(const struct settings *settings)
{
    return settings->is_ptx && !settings->is_lto;
}

static bool lacks_ptx(const struct settings *settings)
{
    return settings->kind == TARGET_PTX && !settings->is_ptx;
}

static bool is_ltoir_alone(const struct settings *settings)
{
    return settings->kind == TARGET_LTOIR && !settings->is_ptx;
}

static bool is_ltoir_and_ptx(const struct settings *settings)
{
    return settings->kind == TARGET_LTOIR && settings->is_ptx;
}

static bool debugs_optimized(const struct settings *settings)
{
    return settings->is_debug && settings->level == 3;
}

static bool has_two_nvvms(const struct settings *settings)
{
    return settings->is_nvvm70 && settings->is_latest;
}

#define WRONG NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS

/* Options that exclude each other, in the order of the checks that was measured, and the versions
 * where they do. */
static const struct {
    bool (*is_wrong)(const struct settings *settings);
    uint16_t first, last;
    nvJitLinkResult result;
    const char *text;
} conflicts[] = {
    {lacks_lto, 120, ONWARDS, WRONG, "-ptx needs -lto"},
    {lacks_ptx, 120, ONWARDS, WRONG, "a virtual architecture needs -ptx"},
    {is_ltoir_alone, 120, 133, WRONG, "a virtual architecture needs -ptx"},
    {is_ltoir_and_ptx, 134, ONWARDS, WRONG, "-arch=lto_NN is for LTO-IR alone, without -ptx"},
    {debugs_optimized, 135, ONWARDS, WRONG, "-g needs -O0"},
    {has_two_nvvms, 135, ONWARDS, NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
     "libnvvm is to be the newest one, and not to be it"},
};

/* Checks the options against each other. */
static nvJitLinkResult check_together(const struct settings *settings, struct buffer *errors)
{
    if (settings->sm == 0)
        return NVJITLINK_ERROR_MISSING_ARCH; /* the real library logs nothing here */
    for (size_t i = 0; i < sizeof conflicts / sizeof *conflicts; i++) {
        if (settings->version < conflicts[i].first || settings->version > conflicts[i].last ||
            !conflicts[i].is_wrong(settings))
            continue;
        buffer_printf(errors, "%s\n", conflicts[i].text);
        return conflicts[i].result;
    }
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult settings_read(struct settings *settings, struct arena *arena,
                              const char *const *options, uint32_t count, struct buffer *errors)
{
    nvJitLinkResult code = NVJITLINK_SUCCESS;

    settings->level = -1;
    settings->assembly.arena = settings->program.arena = arena;
    for (uint32_t i = 0; i < count && code == NVJITLINK_SUCCESS; i++)
        code = options[i] ? read_word(settings, options[i], errors) : NVJITLINK_ERROR_NULL_INPUT;
    if (code == NVJITLINK_SUCCESS)
        code = check_together(settings, errors);
    return code;
}

static void add_all(struct word_list *words, const struct word_list *more)
{
    for (size_t i = 0; i < more->count; i++)
        word_list_add(words, more->list[i]);
}

/* A virtual architecture's PTX is that of the real one. What code fits depends on the ptxas, too.
 */
static void add_target(struct word_list *words, const struct settings *settings, const char *ptxas)
{
    char suffix[2] = {settings->suffix, '\0'};

    word_list_printf(words, "-arch=sm_%u%s", settings->sm, suffix);
    if (ptxas)
        word_list_printf(words, "--ptxas=%s", ptxas);
}

/* NVIDIA's library contains its assembler; here it is ptxas, unless MINILINK_ASSEMBLER, which
 * minilink reads, names another one. Infos are for -verbose, and for options that make the
 * assembler print something, since its output becomes infos. */
static void add_common(struct word_list *words, const struct settings *settings, const char *ptxas)
{
    const char *chosen = getenv("MINILINK_ASSEMBLER");

    add_target(words, settings, ptxas);
    /* Measured on 13.0 and 13.5: it assembles PTX without them, whatever they are. */
    word_list_add(words, "--ignore-stored-options");
    if (!chosen || !*chosen)
        word_list_add(words, "--assembler=ptxas");
    if (settings->is_debug)
        word_list_add(words, "-g");
    if (settings->level == 0)
        word_list_add(words, "-Xptxas=-O0");
    if (settings->has_lines)
        word_list_add(words, "-Xptxas=-lineinfo");
    if (settings->is_fast && (!chosen || !*chosen)) /* only ptxas has it; -c goes before it */
        word_list_add(words, "-Xptxas=--fast-compile");
    if (settings->has_no_cache)
        word_list_add(words, "--no-cache");
    if (settings->is_verbose)
        word_list_add(words, "-Xptxas=-v");
    else if (!settings->has_ptxas_options)
        word_list_add(words, "-disable-infos");
    add_all(words, &settings->assembly);
}

/* What host code names does not count. nvJitLink's lists are independent: everything of a kind
 * without a list stays. minilink's belong together, as nvlink's do: if one list is given, the other
 * is empty. Only under -lto are variables removed, by libnvvm, which is then told that host code
 * names one that no program can have (all measured: the PTX of both is the same). */
static void add_used_name(struct word_list *words, const struct settings *settings)
{
    if (!settings->names_kernels && !settings->names_variables)
        word_list_add(words, "-ignore-host-info");
    if (settings->names_variables)
        return;
    if (settings->names_kernels && !settings->drops_variables)
        word_list_add(words, "-Xnvvm=-host-ref-eg=*");
    else if (!settings->names_kernels && settings->drops_variables && settings->is_lto)
        word_list_add(words, "-Xnvvm=-host-ref-eg=-");
}

static void add_lto(struct word_list *words, const struct settings *settings, const char *library)
{
    word_list_add(words, "-lto");
    /* The library is found here, or not at all: minilink's own search would find this library. */
    if (library)
        word_list_printf(words, "--nvjitlink=%s", library);
    else
        word_list_add(words, "--lto-source=ptx");
    if (settings->is_latest)
        word_list_add(words, "-nvvm-latest");
    if (settings->level == 0)
        word_list_add(words, "-Xnvvm=-opt=0");
    if (settings->has_lines)
        word_list_add(words, "-Xnvvm=-generate-line-info");
}

/* Adds a word of `program`. Without -lto, words for libnvvm and for splitting are dropped. For PTX,
 * -split-compile-extended becomes -split-compile. */
static void add_option_word(struct word_list *words, const struct settings *settings,
                            const char *word)
{
    static const char nvvm[] = "-Xnvvm=", split[] = "-split-compile", extended[] = "-extended";
    bool is_split = strncmp(word, split, strlen(split)) == 0;
    const char *rest = word + (is_split ? strlen(split) : 0);

    if (!settings->is_lto && (is_split || strncmp(word, nvvm, strlen(nvvm)) == 0))
        return;
    if (settings->is_ptx && is_split && strncmp(rest, extended, strlen(extended)) == 0)
        word_list_printf(words, "%s%s", split, rest + strlen(extended));
    else
        word_list_add(words, word);
}

void settings_program_words(const struct settings *settings, const char *library, const char *ptxas,
                            bool is_open, struct word_list *words)
{
    add_common(words, settings, ptxas);
    if (settings->is_lto)
        add_lto(words, settings, library);
    if (settings->is_ptx)
        word_list_add(words, "-emit-ptx");
    if (settings->is_ptx ? is_open : settings->is_relocatable)
        word_list_add(words, "-r");
    if (settings->is_verbose)
        word_list_add(words, "-v");
    if (toolkit_does(toolkits_find(settings->version), TOOLKIT_WRITES_ABI_7) &&
        !targets_have(settings->sm, TARGET_HAS_MERCURY))
        word_list_add(words, "--output-abi=7");
    add_used_name(words, settings);
    for (size_t i = 0; i < settings->program.count; i++)
        add_option_word(words, settings, settings->program.list[i]);
}

void settings_input_words(const struct settings *settings, const char *ptxas,
                          struct word_list *words)
{
    add_common(words, settings, ptxas);
    word_list_add(words, "-r");
}

/* What host code uses does not count, and -v tells the size. */
void settings_ltoir_words(const struct settings *settings, const char *library, const char *ptxas,
                          struct word_list *words)
{
    add_target(words, settings, ptxas);
    word_list_add(words, "--emit-ltoir");
    word_list_printf(words, "--nvjitlink=%s", library);
    if (settings->is_latest)
        word_list_add(words, "-nvvm-latest");
    if (settings->has_no_cache)
        word_list_add(words, "--no-cache");
    word_list_add(words, "-ignore-host-info");
    word_list_add(words, "-v");
    word_list_add(words, "-disable-infos");
}

void settings_check_words(const struct settings *settings, const char *ptxas,
                          struct word_list *words)
{
    add_target(words, settings, ptxas);
    word_list_add(words, "-r");
    word_list_add(words, "--dry-run");
    word_list_add(words, "-w");
    word_list_add(words, "-disable-infos");
}
