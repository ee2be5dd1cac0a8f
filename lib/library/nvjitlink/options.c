/* options.c: options of nvJitLink, each looked up in one table.
 *
 * What is taken, and with which result what is not, was measured on libnvJitLink 13.0: names that
 * take no value are looked at up to their length, so that anything may follow them; names with `=`
 * must be whole. All that begins with -r asks for a relocatable result. The first option that is
 * wrong ends the reading. */
#include "library/nvjitlink/options.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arch.h"

enum form {
    FORM_WHOLE,  /* the name, and nothing behind it */
    FORM_PREFIX, /* the name, and anything behind it */
    FORM_VALUE,  /* the name ends with `=`, and something must follow */
    FORM_EMPTY,  /* the same, but there may be nothing behind it */
};

struct known;

/* One option that is read. */
struct reading {
    struct settings *settings;
    struct buffer *errors;
    const struct known *known;
    const char *word;  /* all of it */
    const char *value; /* behind the name */
};

struct known {
    const char *name;
    enum form form;
    nvJitLinkResult (*read)(const struct reading *reading);
    size_t flag; /* of struct settings: the bool that the option sets besides, or NO_FLAG */
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

/* Those of CUDA 13.0, and those that its libnvJitLink knows to be too old (measured). */
static nvJitLinkResult judge_arch(struct arch arch)
{
    static const unsigned old[] = {10, 11, 12, 13, 20, 21, 30, 32, 35,
                                   37, 50, 52, 53, 60, 61, 62, 70};

    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        if (old[i] == arch.sm)
            return NVJITLINK_ERROR_UNSUPPORTED_ARCH;
    return arch_is_known(arch) ? NVJITLINK_SUCCESS : NVJITLINK_ERROR_UNRECOGNIZED_ARCH;
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
    settings->is_virtual = kind > 0;
    code = *end ? NVJITLINK_ERROR_UNRECOGNIZED_ARCH : judge_arch((struct arch){sm, suffix});
    if (code != NVJITLINK_SUCCESS)
        buffer_printf(reading->errors, "%s architecture: %s\n",
                      code == NVJITLINK_ERROR_UNSUPPORTED_ARCH ? "unsupported" : "unrecognized",
                      value);
    return code;
}

/* What is no number of registers is ptxas's to refuse, where it comes to run. */
static nvJitLinkResult read_registers(const struct reading *reading)
{
    const char *value = reading->value;
    bool is_number = strspn(value, "0123456789") == strlen(value) && strlen(value) < 9;

    words_add(&reading->settings->assembly, "-%smaxrregcount=%s", is_number ? "" : "Xptxas=-",
              value);
    return NVJITLINK_SUCCESS;
}

/* What is no number counts as 0, as with atoi(); minilink takes up to 999. */
static nvJitLinkResult read_split(const struct reading *reading)
{
    long count = strtol(reading->value, NULL, 10);

    if (count < 0)
        return wrong_value(reading, "0 or more");
    reading->settings->is_split |= strstr(reading->known->name, "-extended") != NULL;
    words_add(&reading->settings->program, "%s%ld", reading->known->name,
              count > 999 ? 999 : count);
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult read_fast_level(const struct reading *reading)
{
    static const char *const levels[] = {"0", "min", "mid", "max"};

    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (strcmp(reading->value, levels[i]) == 0) {
            words_add(&reading->settings->assembly, "%s", reading->word);
            return NVJITLINK_SUCCESS;
        }
    }
    return wrong_value(reading, "0, min, mid or max");
}

static nvJitLinkResult read_nvvm_version(const struct reading *reading)
{
    static const char *const versions[] = {"nvvm", "nvvm70", "nvvm-latest", "nvvm-next"};

    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (strcmp(reading->value, versions[i]) == 0)
            return NVJITLINK_SUCCESS;
    return wrong_value(reading, "nvvm, nvvm70, nvvm-latest or nvvm-next");
}

/* No file is known to be an index that the library takes: what is there is told to be none. */
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

static nvJitLinkResult only_set(const struct reading *reading)
{
    (void)reading;
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult hand_to_assembly(const struct reading *reading)
{
    words_add(&reading->settings->assembly, "%s", reading->word);
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult hand_to_ptxas(const struct reading *reading)
{
    words_add(&reading->settings->assembly, "-Xptxas=%s", reading->word);
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult hand_to_program(const struct reading *reading)
{
    words_add(&reading->settings->program, "%s", reading->word);
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult hand_to_nvvm(const struct reading *reading)
{
    words_add(&reading->settings->program, "-Xnvvm=%s", reading->word);
    return NVJITLINK_SUCCESS;
}

#define SETS(flag) only_set, offsetof(struct settings, flag)

static const struct known known[] = {
    {"-arch=", FORM_VALUE, read_arch, NO_FLAG},
    {"-maxrregcount=", FORM_VALUE, read_registers, NO_FLAG},
    {"-time", FORM_PREFIX, SETS(is_timed)},
    {"-verbose", FORM_PREFIX, SETS(is_verbose)},
    {"-lto", FORM_PREFIX, SETS(is_lto)},
    {"-dlto", FORM_PREFIX, SETS(is_lto)},
    {"-ptx", FORM_PREFIX, SETS(is_ptx)},
    {"-g", FORM_WHOLE, SETS(is_debug)},
    {"-lineinfo", FORM_PREFIX, SETS(has_lines)},
    {"-ftz=", FORM_EMPTY, hand_to_nvvm, NO_FLAG},
    {"-prec-div=", FORM_EMPTY, hand_to_nvvm, NO_FLAG},
    {"-prec-sqrt=", FORM_EMPTY, hand_to_nvvm, NO_FLAG},
    {"-fma=", FORM_EMPTY, hand_to_nvvm, NO_FLAG},
    {"-kernels-used=", FORM_VALUE, hand_to_program, offsetof(struct settings, names_kernels)},
    {"-variables-used=", FORM_VALUE, hand_to_program, offsetof(struct settings, names_variables)},
    {"-optimize-unused-variables", FORM_PREFIX, SETS(drops_variables)},
    {"-Xptxas=", FORM_VALUE, hand_to_assembly, offsetof(struct settings, has_ptxas_options)},
    {"-Xnvvm=", FORM_VALUE, hand_to_program, NO_FLAG},
    {"-Ofc=", FORM_VALUE, read_fast_level, NO_FLAG},
    {"-split-compile=", FORM_EMPTY, read_split, NO_FLAG},
    {"-split-compile-extended=", FORM_EMPTY, read_split, NO_FLAG},
    {"-jump-table-density=", FORM_EMPTY, hand_to_nvvm, NO_FLAG},
    {"-no-cache", FORM_PREFIX, SETS(has_no_cache)},
    {"--no-cache", FORM_PREFIX, SETS(has_no_cache)},
    {"--device-stack-protector=", FORM_VALUE, hand_to_ptxas, NO_FLAG},
    {"--device-stack-protector-frame-size-threshold=", FORM_VALUE, hand_to_ptxas, NO_FLAG},
    {"-nvvm-version=", FORM_VALUE, read_nvvm_version, NO_FLAG},
    {"-uidx=", FORM_EMPTY, read_index, NO_FLAG},
    {"-fast-compile", FORM_PREFIX, SETS(is_fast)},
    {"-r", FORM_PREFIX, SETS(is_relocatable)},
};

static const struct known *look_up(const char *word)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t size = strlen(known[i].name);

        if (strncmp(word, known[i].name, size) == 0 &&
            (known[i].form != FORM_WHOLE || word[size] == '\0'))
            return &known[i];
    }
    return NULL;
}

static nvJitLinkResult read_option(const struct reading *reading)
{
    if (reading->known->flag != NO_FLAG)
        *(bool *)((char *)reading->settings + reading->known->flag) = true;
    return reading->known->read(reading);
}

/* -O and one digit. */
static bool is_level(const char *word)
{
    return strncmp(word, "-O", 2) == 0 && isdigit((unsigned char)word[2]) && word[3] == '\0';
}

static nvJitLinkResult read_word(struct settings *settings, const char *word, struct buffer *errors)
{
    struct reading reading = {settings, errors, look_up(word), word, NULL};

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

/* What only all of them together can be wrong with, in the order that was measured. */
static nvJitLinkResult check_together(const struct settings *settings, struct buffer *errors)
{
    if (settings->sm == 0)
        return NVJITLINK_ERROR_MISSING_ARCH; /* says it all: the real library logs nothing */
    if (settings->is_ptx && !settings->is_lto) {
        buffer_printf(errors, "-ptx needs -lto\n");
        return NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS;
    }
    if (settings->is_virtual && !settings->is_ptx) {
        buffer_printf(errors, "a virtual architecture needs -ptx\n");
        return NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS;
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
