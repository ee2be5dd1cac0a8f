/* options.c: turns the link's options, and the names that host code uses, into options of
 * libnvJitLink.
 *
 * Options are those of nvJitLink (measured). Under `-ptx` it has no -split-compile-extended and
 * uses -split-compile for the number of libnvvm's threads; the result is the same for any value
 * except 1. -Xnvvm= passes options to libnvvm unchanged, so that it gets the ones that nvlink gives
 * to libnvvm: nvJitLink's own -kernels-used= and -variables-used= cannot express what host-ref
 * options can. */
#include "lto/internal.h"

#include <unistd.h>

#include "input/used.h"
#include "pool/pool.h"

/* libnvvm's names of the lists. */
static const char *const list_names[USED_LISTS] = {"ek", "ik", "ec", "ic", "eg", "ig"};

/* Largest value of -split-compile. */
#define MOST_SPLIT 999L

static int32_t most_threads(const struct lto_request *request)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    long most = request->limits.threads ? (long)request->limits.threads : MOST_SPLIT;

    return (int32_t)(most < processors ? most : processors);
}

/* Appends to a list: a name or pattern, or "*" around a part of names. */
static void add_name(struct buffer *names, const char *around, struct text name)
{
    buffer_printf(names, "%s%s%.*s%s", names->size ? "," : "", around, TEXT_ARG(name), around);
}

static void add_list(struct word_list *options, enum used_list list, struct text names)
{
    if (names.size)
        word_list_printf(options, "-Xnvvm=-host-ref-%s=%.*s", list_names[list], TEXT_ARG(names));
}

/* Measured: symbols that host code names stay, and stay visible. Others are dropped if nothing else
 * keeps them, and treated as constant if nothing writes them. */
static void add_names(struct word_list *options, const struct used_names *used, enum used_list list)
{
    const struct used_set *set = list <= USED_INTERNAL_KERNELS ? &used->kernels : &used->variables;
    LOCAL_BUFFER(names);

    for (size_t i = 0; used->has_parts && i < set->count; i++)
        add_name(&names, "*", set->patterns[i].text);
    /* The last object's first. */
    for (size_t i = set->count; used->has_lists && !used->has_parts && i-- > 0;)
        if (set->patterns[i].list == list)
            add_name(&names, "", set->patterns[i].text);
    for (size_t i = 0; (names.size || used->has_lists) && i < used->wanted_count; i++)
        add_name(&names, "", used->wanted[i]);
    add_list(options, list, buffer_view(&names));
}

static void add_kernels(struct word_list *options, enum used_list list,
                        const struct lto_share *share)
{
    LOCAL_BUFFER(names);

    for (size_t i = 0; i < share->count; i++)
        if (share->kernels[i]->is_internal == (list == USED_INTERNAL_KERNELS))
            add_name(&names, "", share->kernels[i]->name);
    add_list(options, list, buffer_view(&names));
}

/* Adds the kernels of a part. Variables that kernels of other parts write must not be treated as
 * constant, nor stores to variables that these read be dropped (both measured): so host code is
 * said to name every variable. No kernel writes constants; if host code's constants are not known,
 * all are kept, as in a single compilation. */
static void add_share(struct word_list *options, const struct used_names *used,
                      const struct lto_share *share)
{
    const struct text all = TEXT("*");
    bool knows_constants = used->has_parts || used->has_lists;

    add_kernels(options, USED_EXTERNAL_KERNELS, share);
    add_kernels(options, USED_INTERNAL_KERNELS, share);
    for (int list = USED_EXTERNAL_CONSTANTS; list < USED_LISTS; list++)
        if (list <= USED_INTERNAL_CONSTANTS && knows_constants)
            add_names(options, used, (enum used_list)list);
        else
            add_list(options, (enum used_list)list, all);
}

/* Measured: kernels and functions stay visible if libcudadevrt may be linked. nvlink looks for it
 * when there are host objects, and uses it if it has code for the target. */
static bool may_have_system(const struct members *members)
{
    if (!members->has_host_code)
        return false;
    for (size_t i = 0; i < members->count; i++)
        if (members->list[i].is_system && members->list[i].role == MEMBER_CUBIN)
            return true;
    return false;
}

/* Measured on 13.4 and 13.5: the LTO-IR of a program depends on the target and on libnvvm alone. */
static const char *const *ltoir_options(struct word_list *options,
                                        const struct lto_request *request)
{
    const char *arch = arch_name(request->members->arch, (char[ARCH_NAME_SIZE]){0});

    word_list_printf(options, LTOIR_TARGET "%s", arch + strlen("sm_"));
    word_list_add(options, "-lto");
    forward_latest(options, request->options);
    return word_list_end(options);
}

/* Measured: -O0 is handed to libnvvm as -opt=0, once; so is -g by 13.5, which -Xnvvm=-opt=0 beside
 * it makes "-nUmC008pa defined more than once". */
static void add_nvvm(struct word_list *options, const char *word)
{
    if (strcmp(word, "-opt=0") == 0)
        word_list_add(options, "-O0");
    else
        forward_value(options, "-Xnvvm", word);
}

/* The order is nvlink's, measured with a library in libnvvm's place. In a split link, and with
 * several parts, -split-compile is left out: threads inside libnvvm cost more than they save, and
 * with any value except 1 some instructions have their operands in another order (measured), so
 * that a single part's code would differ from that of several parts. */
const char *const *lto_options(struct arena *arena, const struct lto_request *request, bool is_open,
                               const struct lto_share *share)
{
    const struct agreement *agreement = request->agreement;
    const char *const *nvvm = request->nvvm_options;
    struct word_list options = {.arena = arena};
    char arch[ARCH_NAME_SIZE];
    bool has_host_info = !is_open && !request->used->is_ignored;

    if (request->emit_ltoir)
        return ltoir_options(&options, request);
    forward_value(&options, "-arch", arch_name(request->members->arch, arch));
    word_list_add(&options, "-lto");
    word_list_add(&options, "-ptx");
    if (!share && !request->is_split && !pool_sequential_reason())
        forward_split(&options, agreement, most_threads(request));
    if (is_open || may_have_system(request->members))
        word_list_add(&options, "-Xnvvm=--device-c");
    if (is_open)
        word_list_add(&options, "-Xnvvm=--force-device-c");
    forward_agreed(&options, agreement, request->options);
    if (has_host_info)
        word_list_add(&options, "-Xnvvm=-has-global-host-info");
    for (size_t i = 0; nvvm && nvvm[i]; i++)
        add_nvvm(&options, nvvm[i]);
    if (nvvm && *nvvm)
        forward_arithmetic(&options, agreement, nvvm);
    if (share)
        add_share(&options, request->used, share);
    for (int list = 0; list < USED_LISTS && has_host_info && !share; list++)
        add_names(&options, request->used, (enum used_list)list);
    return word_list_end(&options);
}
