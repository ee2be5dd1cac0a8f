/* option_handlers.c: targets, assemblers, and the options whose words have a grammar. */
#include "command/option_handlers.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "pool/fit.h"

bool option_handlers_undefined(const struct option_row *row, const char *value)
{
    return USAGE("Value '%s' is not defined for option '%s'", value, row->name);
}

bool take_arch(struct options *options, const struct option_row *row, const char *value)
{
    struct arch arch;

    options->arch_text = value;
    if (arch_parse(text_of(value), "lto_", &arch))
        return USAGE(VIRTUAL_TARGET, value);
    options->link.is_virtual = arch_parse(text_of(value), "compute_", &arch);
    if (!(options->link.is_virtual || arch_parse(text_of(value), "sm_", &arch)) ||
        !arch_is_known(arch))
        return option_handlers_undefined(row, value);
    options->link.arch = arch;
    return true;
}

bool take_ofast_compile(struct options *options, const struct option_row *row, const char *value)
{
    static const char *const words[] = {"0", "min", "mid", "max"};

    options->link.options.ofast_compile = value;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], value) == 0)
            return true;
    return USAGE("Invalid argument for option '--%s'", row->name);
}

bool take_machine(struct options *options, const struct option_row *row, const char *value)
{
    (void)options;
    return strcmp(value, "64") == 0 || option_handlers_undefined(row, value);
}

bool take_memory_limit(struct options *options, const struct option_row *row, const char *value)
{
    static const char units[] = "kmgt";
    char *end;
    const char *unit;
    uintmax_t number;
    int shift = 0;

    errno = 0;
    number = strtoumax(value, &end, 10);
    unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
    if (unit) {
        shift = 10 * ((int)(unit - units) + 1);
        end++;
    }
    if (!isdigit((unsigned char)*value) || *end || errno || number > UINT64_MAX >> shift)
        return USAGE(
            "Value '%s' is not defined for option '%s': expected a number, with k, m, g or "
            "t behind it or without",
            value, row->name);
    options->link.memory_limit = number ? number << shift : FIT_UNLIMITED;
    return true;
}

bool take_assembler(struct options *options, const struct option_row *row, const char *value)
{
    options->link.assembler.name = value;
    return strcmp(value, "builtin") == 0 || strcmp(value, "ptxas") == 0 ||
           strncmp(value, "plugin:", 7) == 0 || option_handlers_undefined(row, value);
}

bool take_cache_policy(struct options *options, const struct option_row *row, const char *value)
{
    char error[CACHE_POLICY_ERROR_SIZE];

    return cache_policy_read(&options->link.cache.policy, value, error) ||
           USAGE("Invalid argument for option '--%s': %s", row->name, error);
}
