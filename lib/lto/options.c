/* options.c: the link's options, and the names that host code uses, as options of libnvJitLink.
 *
 * Options are those of nvJitLink (measured on 13.0): under `-ptx` it has no -split-compile-extended
 * and takes -split-compile for the number of libnvvm's threads: what comes out is the same for any
 * but 1. With -Xnvvm= it hands options to libnvvm as they are, which is how what nvlink 13.0 gives
 * to libnvvm comes through it: its own -kernels-used= and -variables-used= cannot say what
 * host-ref options can. */
#include "lto/lto_steps.h"

#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/context.h"
#include "input/used.h"
#include "options/forward.h"
#include "pool/pool.h"

/* Options that are made here, at most, beside those that are agreed on. */
#define OWN_OPTIONS 16

/* What libnvvm calls the lists. */
static const char *const list_names[USED_LISTS] = {"ek", "ik", "ec", "ic", "eg", "ig"};

/* Largest value that -split-compile may have. */
#define MOST_SPLIT 999L

static int32_t most_threads(const struct lto_request *request)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    long most = request->thread_limit ? (long)request->thread_limit : MOST_SPLIT;

    return (int32_t)(most < processors ? most : processors);
}

/* `*part*,*part*`: a name matches that contains a part. */
static void join_parts(struct buffer *names, const struct used_set *set)
{
    for (size_t i = 0; i < set->part_count; i++)
        buffer_printf(names, "%s*%.*s*", i ? "," : "", TEXT_ARG(set->parts[i]));
}

/* The patterns of one list, that of the last object first. */
static void join_patterns(struct buffer *names, const struct used_set *set, enum used_list list)
{
    for (size_t i = set->count; i-- > 0;)
        if (set->patterns[i].list == list)
            buffer_printf(names, "%s%.*s", names->size ? "," : "", TEXT_ARG(set->patterns[i].text));
}

static void add_list(struct forwarded *options, enum used_list list, struct text names)
{
    if (names.size)
        forward_word(options, arena_printf(options->arena, "-Xnvvm=-host-ref-%s=%.*s",
                                           list_names[list], TEXT_ARG(names)));
}

/* Measured: what host code names stays, and stays visible. What it does not name is dropped where
 * nothing else keeps it, and taken for constant where nothing writes it. */
static void add_names(struct forwarded *options, const struct used_names *used, enum used_list list)
{
    const struct used_set *set = list <= USED_INTERNAL_KERNELS ? &used->kernels : &used->variables;
    struct buffer names = {0};

    CONTEXT_DEFER(buffer_cleanup, &names);
    if (used->has_parts)
        join_parts(&names, set);
    else if (used->has_lists)
        join_patterns(&names, set, list);
    for (size_t i = 0; (names.size || used->has_lists) && i < used->wanted_count; i++)
        buffer_printf(&names, "%s%.*s", names.size ? "," : "", TEXT_ARG(used->wanted[i]));
    add_list(options, list, buffer_view(&names));
}

/* A part has its own kernels. What kernels of other parts write must not be taken for constant, nor
 * what they read not be written (both measured): host code is said to name every variable.
 * Constants no kernel writes; where host code's are not known all are kept, as one compilation
 * keeps them. */
static void add_share(struct forwarded *options, const struct used_names *used,
                      const struct lto_share *share)
{
    const struct text all = TEXT("*");
    bool knows_constants = used->has_parts || used->has_lists;

    add_list(options, USED_EXTERNAL_KERNELS, share->external);
    add_list(options, USED_INTERNAL_KERNELS, share->internal);
    for (int list = USED_EXTERNAL_CONSTANTS; list <= USED_INTERNAL_CONSTANTS; list++) {
        if (knows_constants)
            add_names(options, used, (enum used_list)list);
        else
            add_list(options, (enum used_list)list, all);
    }
    add_list(options, USED_EXTERNAL_GLOBALS, all);
    add_list(options, USED_INTERNAL_GLOBALS, all);
}

/* Measured: kernels and functions stay visible where libcudadevrt may come to be linked. nvlink
 * looks for it when host objects take part, and finds it where it has code for the target. */
static bool may_have_system(const struct members *members)
{
    if (!members->has_host_code)
        return false;
    for (size_t i = 0; i < members->count; i++)
        if (members->list[i].is_system && members->list[i].role == MEMBER_CUBIN)
            return true;
    return false;
}

bool lto_options_name_kernels(const struct lto_request *request)
{
    for (const char *const *word = request->nvvm_options; word && *word; word++)
        if (strstr(*word, "host-ref-") || strstr(*word, "global-host-info"))
            return true;
    return false;
}

/* The order is nvlink's: measured by a library in libnvvm's place. In a split link, and with
 * several parts, there is no -split-compile: threads inside of libnvvm cost more than they give,
 * and with any value but 1 some instructions have their operands in another order (measured), which
 * would make one part's code another than that of several. */
const char *const *lto_options(struct arena *arena, const struct lto_request *request, bool is_open,
                               const struct lto_share *share)
{
    const struct agreement *agreement = request->agreement;
    const char *const *nvvm = request->nvvm_options;
    struct forwarded options;
    char arch[ARCH_NAME_SIZE];
    size_t count = string_list_count(nvvm);
    bool has_host_info = !is_open && !request->used->is_ignored;

    forward_begin(&options, arena, OWN_OPTIONS + FORWARD_MOST + count);
    forward_value(&options, "-arch", arch_name(request->members->arch, arch));
    forward_word(&options, "-lto");
    forward_word(&options, "-ptx");
    if (!share && !request->is_split && !pool_sequential_reason())
        forward_split(&options, agreement, most_threads(request));
    if (is_open || may_have_system(request->members))
        forward_word(&options, "-Xnvvm=--device-c");
    if (is_open)
        forward_word(&options, "-Xnvvm=--force-device-c");
    forward_agreed(&options, agreement, request->options);
    if (has_host_info)
        forward_word(&options, "-Xnvvm=-has-global-host-info");
    for (size_t i = 0; i < count; i++)
        forward_value(&options, "-Xnvvm", nvvm[i]);
    if (count)
        forward_arithmetic(&options, agreement);
    if (share)
        add_share(&options, request->used, share);
    for (int list = 0; list < USED_LISTS && has_host_info && !share; list++)
        add_names(&options, request->used, (enum used_list)list);
    return options.words;
}
