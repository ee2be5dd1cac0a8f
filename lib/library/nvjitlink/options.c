/* options.c: options of nvJitLink, each looked up in one table.
 *
 * What is taken, and with which result what is not, was measured on libnvJitLink 13.0: names that
 * take no value are looked at up to their length, so that anything may follow them; names with `=`
 * must be whole. All that begins with -r asks for a relocatable result. The first option that is
 * wrong ends the reading. */
#include "library/nvjitlink/options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum option {
    OPTION_ARCH,
    OPTION_REGISTERS,
    OPTION_TIME,
    OPTION_VERBOSE,
    OPTION_LTO,
    OPTION_PTX,
    OPTION_DEBUG,
    OPTION_LINES,
    OPTION_ARITHMETIC,
    OPTION_KERNELS,
    OPTION_VARIABLES,
    OPTION_DROP_VARIABLES,
    OPTION_PTXAS,
    OPTION_NVVM,
    OPTION_FAST_LEVEL,
    OPTION_FAST_COMPILE,
    OPTION_SPLIT,
    OPTION_JUMP_TABLES,
    OPTION_NO_CACHE,
    OPTION_STACK_PROTECTOR,
    OPTION_NVVM_VERSION,
    OPTION_INDEX,
    OPTION_RELOCATABLE,
};

enum form {
    FORM_WHOLE,  /* the name, and nothing behind it */
    FORM_PREFIX, /* the name, and anything behind it */
    FORM_VALUE,  /* the name ends with `=`, and something must follow */
    FORM_EMPTY,  /* the same, but there may be nothing behind it */
};

static const struct known {
    const char *name;
    enum form form;
    enum option option;
} known[] = {
    {"-arch=", FORM_VALUE, OPTION_ARCH},
    {"-maxrregcount=", FORM_VALUE, OPTION_REGISTERS},
    {"-time", FORM_PREFIX, OPTION_TIME},
    {"-verbose", FORM_PREFIX, OPTION_VERBOSE},
    {"-lto", FORM_PREFIX, OPTION_LTO},
    {"-dlto", FORM_PREFIX, OPTION_LTO},
    {"-ptx", FORM_PREFIX, OPTION_PTX},
    {"-g", FORM_WHOLE, OPTION_DEBUG},
    {"-lineinfo", FORM_PREFIX, OPTION_LINES},
    {"-ftz=", FORM_EMPTY, OPTION_ARITHMETIC},
    {"-prec-div=", FORM_EMPTY, OPTION_ARITHMETIC},
    {"-prec-sqrt=", FORM_EMPTY, OPTION_ARITHMETIC},
    {"-fma=", FORM_EMPTY, OPTION_ARITHMETIC},
    {"-kernels-used=", FORM_VALUE, OPTION_KERNELS},
    {"-variables-used=", FORM_VALUE, OPTION_VARIABLES},
    {"-optimize-unused-variables", FORM_PREFIX, OPTION_DROP_VARIABLES},
    {"-Xptxas=", FORM_VALUE, OPTION_PTXAS},
    {"-Xnvvm=", FORM_VALUE, OPTION_NVVM},
    {"-Ofc=", FORM_VALUE, OPTION_FAST_LEVEL},
    {"-split-compile=", FORM_EMPTY, OPTION_SPLIT},
    {"-split-compile-extended=", FORM_EMPTY, OPTION_SPLIT},
    {"-jump-table-density=", FORM_EMPTY, OPTION_JUMP_TABLES},
    {"-no-cache", FORM_PREFIX, OPTION_NO_CACHE},
    {"--no-cache", FORM_PREFIX, OPTION_NO_CACHE},
    {"--device-stack-protector=", FORM_VALUE, OPTION_STACK_PROTECTOR},
    {"--device-stack-protector-frame-size-threshold=", FORM_VALUE, OPTION_STACK_PROTECTOR},
    {"-nvvm-version=", FORM_VALUE, OPTION_NVVM_VERSION},
    {"-uidx=", FORM_EMPTY, OPTION_INDEX},
    {"-fast-compile", FORM_PREFIX, OPTION_FAST_COMPILE},
    {"-r", FORM_PREFIX, OPTION_RELOCATABLE},
};

/* One option that is read. */
struct reading {
    struct settings *settings;
    struct buffer *errors;
    const struct known *known;
    const char *word;  /* all of it */
    const char *value; /* behind the name */
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

static bool is_one_of(unsigned number, const unsigned *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == number)
            return true;
    return false;
}

/* Those of CUDA 13.0, and those that its libnvJitLink knows to be too old (measured). */
static nvJitLinkResult judge_arch(unsigned sm, char suffix)
{
    static const unsigned old[] = {10, 11, 12, 13, 20, 21, 30, 32, 35,
                                   37, 50, 52, 53, 60, 61, 62, 70};
    static const unsigned current[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

    if (is_one_of(sm, old, sizeof old / sizeof *old))
        return NVJITLINK_ERROR_UNSUPPORTED_ARCH;
    if (!is_one_of(sm, current, sizeof current / sizeof *current) || (suffix && sm < 90) ||
        (suffix == 'f' && sm < 100))
        return NVJITLINK_ERROR_UNRECOGNIZED_ARCH;
    return NVJITLINK_SUCCESS;
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
    code = *end ? NVJITLINK_ERROR_UNRECOGNIZED_ARCH : judge_arch(settings->sm, settings->suffix);
    if (code != NVJITLINK_SUCCESS)
        buffer_printf(reading->errors, "%s architecture: %s\n",
                      code == NVJITLINK_ERROR_UNSUPPORTED_ARCH ? "unsupported" : "unrecognized",
                      value);
    return code;
}

/* What is no number of registers is ptxas's to refuse, where it comes to run. */
static void read_registers(const struct reading *reading)
{
    const char *value = reading->value;
    bool is_number = strspn(value, "0123456789") == strlen(value) && strlen(value) < 9;

    words_add(&reading->settings->assembly, "-%smaxrregcount=%s", is_number ? "" : "Xptxas=-",
              value);
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

/* Those that set something, and cannot be wrong. */
static void set(const struct reading *reading)
{
    struct settings *settings = reading->settings;

    switch (reading->known->option) {
    case OPTION_TIME:
        settings->is_timed = true;
        break;
    case OPTION_VERBOSE:
        settings->is_verbose = true;
        break;
    case OPTION_LTO:
        settings->is_lto = true;
        break;
    case OPTION_PTX:
        settings->is_ptx = true;
        break;
    case OPTION_DEBUG:
        settings->is_debug = true;
        break;
    case OPTION_LINES:
        settings->has_lines = true;
        break;
    case OPTION_NO_CACHE:
        settings->has_no_cache = true;
        break;
    case OPTION_DROP_VARIABLES:
        settings->drops_variables = true;
        break;
    case OPTION_RELOCATABLE:
        settings->is_relocatable = true;
        break;
    case OPTION_FAST_COMPILE:
        settings->is_fast = true;
        break;
    default:
        break;
    }
}

/* Those that are handed on. */
static void hand_on(const struct reading *reading)
{
    struct settings *settings = reading->settings;

    switch (reading->known->option) {
    case OPTION_ARITHMETIC:
    case OPTION_JUMP_TABLES:
        words_add(&settings->program, "-Xnvvm=%s", reading->word);
        break;
    case OPTION_KERNELS:
        settings->names_kernels = true;
        words_add(&settings->program, "%s", reading->word);
        break;
    case OPTION_VARIABLES:
        settings->names_variables = true;
        words_add(&settings->program, "%s", reading->word);
        break;
    case OPTION_PTXAS:
        settings->has_ptxas_options = true;
        words_add(&settings->assembly, "%s", reading->word);
        break;
    case OPTION_STACK_PROTECTOR:
        words_add(&settings->assembly, "-Xptxas=%s", reading->word);
        break;
    case OPTION_NVVM:
        words_add(&settings->program, "%s", reading->word);
        break;
    default:
        set(reading);
        break;
    }
}

static nvJitLinkResult read_option(const struct reading *reading)
{
    switch (reading->known->option) {
    case OPTION_ARCH:
        return read_arch(reading);
    case OPTION_SPLIT:
        return read_split(reading);
    case OPTION_FAST_LEVEL:
        return read_fast_level(reading);
    case OPTION_NVVM_VERSION:
        return read_nvvm_version(reading);
    case OPTION_INDEX:
        return read_index(reading);
    case OPTION_REGISTERS:
        read_registers(reading);
        return NVJITLINK_SUCCESS;
    default:
        hand_on(reading);
        return NVJITLINK_SUCCESS;
    }
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
