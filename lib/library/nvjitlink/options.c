/* options.c: translates nvJitLink's options to minilink's, by one table.
 *
 * The options that are accepted, and the results for others, were measured on libnvJitLink 12.0 to
 * 13.5 (test/nvjitlink/options), and those of 12.9 and 13.5 are followed: names without a value are
 * compared up to their length, so that anything may follow them; names with `=` must be whole.
 * Anything that begins with -r asks for a relocatable result. A wrong option ends the reading. */
#include "library/nvjitlink/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

enum form {
    FORM_WHOLE,  /* the name, and nothing after it */
    FORM_PREFIX, /* the name, and anything after it */
    FORM_VALUE,  /* the name ends with `=`, and something must follow */
    FORM_EMPTY,  /* the same, but nothing need follow */
};

struct known;

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
    size_t flag;        /* of struct settings: the bool that the option sets; 0 = none */
    size_t words;       /* of struct settings: the words that get it, with: */
    const char *prefix; /* before it; NULL: none get it */
    const char *values; /* those that it may have: "a, b or c"; NULL = any */
    uint16_t first;     /* the first version with it that matters here; 0 = all have it */
    nvJitLinkResult (*read)(const struct reading *reading); /* or NULL */
};

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
    struct arch arch;
    char *end;

    while (kind < 3 && strncmp(value, kinds[kind], strlen(kinds[kind])) != 0)
        kind++;
    if (kind == 3 || !isdigit((unsigned char)value[strlen(kinds[kind])]))
        return wrong_value(reading, "sm_NN, or compute_NN with -ptx");
    arch.sm = (unsigned)strtoul(value + strlen(kinds[kind]), &end, 10);
    arch.suffix = *end == 'a' || *end == 'f' ? *end++ : '\0';
    settings->target_changes += settings->arch.sm && !arch_equal(arch, settings->arch);
    settings->arch = arch;
    settings->kind = (enum target_kind)kind;
    code = *end ? NVJITLINK_ERROR_UNRECOGNIZED_ARCH : judge_arch(arch, settings->version);
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

/* No file is known that the library accepts as an index: any that exists is reported to be none. */
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

/* The program's own link has the option, too. */
static nvJitLinkResult tell_program(const struct reading *reading)
{
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

#define SETS(field)             .flag = offsetof(struct settings, field)
#define GIVES(list, put_before) .words = offsetof(struct settings, list), .prefix = put_before
#define FAST_LEVELS             "0, min, mid or max"

static const struct known known[] = {
    {"-arch=", FORM_VALUE, .read = read_arch},
    {"-maxrregcount=", FORM_VALUE, .read = read_registers},
    {"-time", FORM_PREFIX, SETS(is_timed)},
    {"-verbose", FORM_PREFIX, SETS(is_verbose)},
    {"-lto", FORM_PREFIX, SETS(is_lto)},
    {"-dlto", FORM_PREFIX, SETS(is_lto)},
    {"-ptx", FORM_PREFIX, SETS(is_ptx)},
    {"-g", FORM_WHOLE, SETS(is_debug)},
    {"-lineinfo", FORM_PREFIX, SETS(has_lines)},
    {"-ftz=", FORM_EMPTY, GIVES(program, "-Xnvvm=")},
    {"-prec-div=", FORM_EMPTY, GIVES(program, "-Xnvvm=")},
    {"-prec-sqrt=", FORM_EMPTY, GIVES(program, "-Xnvvm=")},
    {"-fma=", FORM_EMPTY, GIVES(program, "-Xnvvm=")},
    {"-kernels-used=", FORM_VALUE, SETS(names_kernels), GIVES(program, "")},
    {"-variables-used=", FORM_VALUE, SETS(names_variables), GIVES(program, "")},
    {"-optimize-unused-variables", FORM_PREFIX, SETS(drops_variables)},
    {"-Xptxas=", FORM_VALUE, SETS(has_ptxas_options), GIVES(assembly, "")},
    {"-Xnvvm=", FORM_VALUE, GIVES(program, "")},
    {"-Ofc=", FORM_VALUE, GIVES(assembly, ""), .values = FAST_LEVELS},
    {"--Ofast-compile=", FORM_VALUE, GIVES(assembly, ""), .values = FAST_LEVELS},
    {"-split-compile=", FORM_EMPTY, .read = read_split},
    {"-split-compile-extended=", FORM_EMPTY, .read = read_split},
    {"-jump-table-density=", FORM_EMPTY, GIVES(program, "-Xnvvm=")},
    {"-no-cache", FORM_PREFIX, SETS(has_no_cache)},
    {"--no-cache", FORM_PREFIX, SETS(has_no_cache)},
    {"--device-stack-protector=", FORM_VALUE, GIVES(assembly, "-Xptxas=")},
    {"--device-stack-protector-frame-size-threshold=", FORM_VALUE, GIVES(assembly, "-Xptxas=")},
    /* Measured on 13.0 and 13.5: two names for each of two compilers. The newer one is the default
     * from sm_100 on (nvJitLink.h 13.5). */
    {"-nvvm-version=nvvm", FORM_WHOLE, SETS(is_nvvm70)},
    {"-nvvm-version=nvvm70", FORM_WHOLE, SETS(is_nvvm70)},
    {"-nvvm-version=", FORM_VALUE, SETS(is_latest),
     .values = "nvvm, nvvm70, nvvm-latest or nvvm-next"},
    {"-uidx=", FORM_EMPTY, .read = read_index},
    {"-fast-compile", FORM_PREFIX, SETS(is_fast)},
    {"-no-opt", FORM_PREFIX, .first = 0}, /* measured on 13.5: it changes nothing */
    {"-disable-smem-reserve", FORM_PREFIX, .read = drop_reservation},
    {"-Xfinalizer=", FORM_VALUE, .first = 132, .read = leave_option_out},
    {"--enable-extended-smem=", FORM_VALUE, GIVES(assembly, "-Xptxas="), .values = "true or false",
     .first = 134, .read = tell_program},
    {"-nvvm-latest", FORM_PREFIX, SETS(is_latest), .first = 135},
    {"-r", FORM_PREFIX, SETS(is_relocatable), .first = 130},
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

/* Whether the value is one of "a, b or c". */
static bool is_among(const char *value, const char *values)
{
    for (size_t size; *values; values += size + strspn(values + size, ", ")) {
        size = strcspn(values, ", ");
        if (size == strlen(value) && strncmp(values, value, size) == 0)
            return strcmp(value, "or") != 0;
    }
    return false;
}

static nvJitLinkResult read_option(const struct reading *reading)
{
    const struct known *option = reading->known;
    char *settings = (char *)reading->settings;

    if (option->form == FORM_VALUE && *reading->value == '\0')
        return wrong_value(reading, "there");
    if (option->values && !is_among(reading->value, option->values))
        return wrong_value(reading, option->values);
    if (option->flag)
        *(bool *)(settings + option->flag) = true;
    if (option->prefix)
        word_list_printf((struct word_list *)(void *)(settings + option->words), "%s%s",
                         option->prefix, reading->word);
    return option->read ? option->read(reading) : NVJITLINK_SUCCESS;
}

static nvJitLinkResult read_word(struct settings *settings, const char *word, struct buffer *errors)
{
    struct reading reading = {settings, errors, look_up(word, settings->version), word, NULL};

    if (strncmp(word, "-O", 2) == 0 && isdigit((unsigned char)word[2]) && word[3] == '\0') {
        settings->level = word[2] - '0';
        return settings->level == 0 || settings->level == 3 ? NVJITLINK_SUCCESS
                                                            : wrong_value(&reading, "0 or 3");
    }
    if (!reading.known) {
        buffer_printf(errors, "unrecognized option: %s\n", word);
        return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
    }
    reading.value = word + strlen(reading.known->name);
    return read_option(&reading);
}

/* Checks the options against each other: rows of those that exclude each other, in the order of the
 * checks that was measured, and the versions where they do. */
static nvJitLinkResult check_together(const struct settings *settings, struct buffer *errors)
{
    const nvJitLinkResult wrong = NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS;
    const bool is_ltoir = settings->kind == TARGET_LTOIR, is_ptx = settings->is_ptx;
    const struct {
        bool is_so;
        uint16_t first, last;
        nvJitLinkResult result;
        const char *text;
    } conflicts[] = {
        {is_ptx && !settings->is_lto, 120, ONWARDS, wrong, "-ptx needs -lto"},
        {settings->kind == TARGET_PTX && !is_ptx, 120, ONWARDS, wrong,
         "a virtual architecture needs -ptx"},
        {is_ltoir && !is_ptx, 120, 133, wrong, "a virtual architecture needs -ptx"},
        {is_ltoir && is_ptx, 134, ONWARDS, wrong, "-arch=lto_NN is for LTO-IR alone, without -ptx"},
        {settings->is_debug && settings->level == 3, 135, ONWARDS, wrong, "-g needs -O0"},
        {settings->is_nvvm70 && settings->is_latest, 135, ONWARDS,
         NVJITLINK_ERROR_UNRECOGNIZED_OPTION, "libnvvm is to be the newest one, and not to be it"},
    };

    if (settings->arch.sm == 0)
        return NVJITLINK_ERROR_MISSING_ARCH; /* the real library logs nothing here */
    for (size_t i = 0; i < sizeof conflicts / sizeof *conflicts; i++) {
        if (!conflicts[i].is_so || settings->version < conflicts[i].first ||
            settings->version > conflicts[i].last)
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
    for (uint32_t i = 0; i < count && !code; i++)
        code = options[i] ? read_word(settings, options[i], errors) : NVJITLINK_ERROR_NULL_INPUT;
    word_list_end(&settings->assembly);
    return code ?: check_together(settings, errors);
}

static void add_if(struct word_list *words, bool is_wanted, const char *word)
{
    if (is_wanted)
        word_list_add(words, word);
}

/* A virtual architecture's PTX is that of the real one. What fits depends on the ptxas, too. */
static void add_target(struct word_list *words, const struct settings *settings)
{
    char name[ARCH_NAME_SIZE];

    word_list_printf(words, "-arch=%s", arch_name(settings->arch, name));
    if (settings->ptxas)
        word_list_printf(words, "--ptxas=%s", settings->ptxas);
}

/* NVIDIA's library contains its assembler; here it is ptxas, unless MINILINK_ASSEMBLER, which
 * minilink reads, names another one. Infos are for -verbose, and for options that make the
 * assembler print something, since its output becomes infos. */
static void add_common(struct word_list *words, const struct settings *settings)
{
    const char *chosen = getenv("MINILINK_ASSEMBLER");
    bool is_ptxas = !chosen || !*chosen;

    /* Measured on 13.0 and 13.5: it assembles PTX without them, whatever they are. */
    word_list_add(words, "--ignore-stored-options");
    add_if(words, is_ptxas, "--assembler=ptxas");
    add_if(words, settings->is_debug, "-g");
    add_if(words, settings->level == 0, "-Xptxas=-O0");
    add_if(words, settings->has_lines, "-Xptxas=-lineinfo");
    /* Only ptxas has it; -c goes before it. */
    add_if(words, settings->is_fast && is_ptxas, "-Xptxas=--fast-compile");
    add_if(words, settings->has_no_cache, "--no-cache");
    add_if(words, settings->is_verbose, "-Xptxas=-v");
    add_if(words, !settings->is_verbose && !settings->has_ptxas_options, "-disable-infos");
    word_list_add_all(words, settings->assembly.list);
}

/* What host code names does not count. nvJitLink's lists are independent: everything of a kind
 * without a list stays. minilink's belong together, as nvlink's do: if one list is given, the other
 * is empty. Only under -lto are variables removed, by libnvvm, which is then told that host code
 * names one that no program can have (all measured: the PTX of both is the same). */
static void add_used_name(struct word_list *words, const struct settings *settings)
{
    bool drops = settings->drops_variables;

    if (settings->names_variables)
        return;
    add_if(words, !settings->names_kernels, "-ignore-host-info");
    add_if(words, settings->names_kernels && !drops, "-Xnvvm=-host-ref-eg=*");
    add_if(words, settings->names_kernels && !drops, "-Xnvvm=-host-ref-ig=*");
    add_if(words, !settings->names_kernels && drops && settings->is_lto, "-Xnvvm=-host-ref-eg=-");
}

static void add_lto(struct word_list *words, const struct settings *settings)
{
    word_list_add(words, "-lto");
    /* The library is found here, or not at all: minilink's own search would find this library. */
    if (settings->library)
        word_list_printf(words, "--nvjitlink=%s", settings->library);
    else
        word_list_add(words, "--lto-source=ptx");
    add_if(words, settings->is_latest, "-nvvm-latest");
    add_if(words, settings->level == 0, "-Xnvvm=-opt=0");
    add_if(words, settings->has_lines, "-Xnvvm=-generate-line-info");
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

static void add_program(struct word_list *words, const struct settings *settings, bool is_open)
{
    add_common(words, settings);
    if (settings->is_lto)
        add_lto(words, settings);
    add_if(words, settings->is_ptx, "-emit-ptx");
    add_if(words, settings->is_ptx ? is_open : settings->is_relocatable, "-r");
    add_if(words, settings->is_verbose, "-v");
    add_if(words,
           toolkit_does(toolkits_find(settings->version), TOOLKIT_WRITES_ABI_7) &&
               !targets_have(settings->arch.sm, TARGET_HAS_MERCURY),
           "--output-abi=7");
    add_used_name(words, settings);
    for (size_t i = 0; i < settings->program.count; i++)
        add_option_word(words, settings, settings->program.list[i]);
}

/* What host code uses does not count, and -v tells the size. */
static void add_ltoir(struct word_list *words, const struct settings *settings)
{
    word_list_add(words, "--emit-ltoir");
    word_list_printf(words, "--nvjitlink=%s", settings->library);
    add_if(words, settings->is_latest, "-nvvm-latest");
    add_if(words, settings->has_no_cache, "--no-cache");
    word_list_add_all(words, (const char *[]){"-ignore-host-info", "-v", "-disable-infos", NULL});
}

void settings_words(const struct settings *settings, enum purpose purpose, struct word_list *words)
{
    if (purpose == FOR_NOTHING)
        return;
    add_target(words, settings);
    if (purpose == FOR_CHECK) {
        word_list_add_all(words, (const char *[]){"-r", "--dry-run", "-w", "-disable-infos", NULL});
    } else if (purpose == FOR_LTOIR) {
        add_ltoir(words, settings);
    } else if (purpose == FOR_INPUT) {
        add_common(words, settings);
        word_list_add(words, "-r");
    } else {
        add_program(words, settings, purpose == FOR_OPEN_PROGRAM);
    }
}
