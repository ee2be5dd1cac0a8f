/* options.c: the link's options, and the names that host code uses, as options of libnvJitLink.
 *
 * Options are those of nvJitLink (measured on 13.0): under `-ptx` it has no -split-compile-extended
 * and takes -split-compile for the number of libnvvm's threads, which does not change what comes
 * out. With -Xnvvm= it hands options to libnvvm as they are, which is how what nvlink 13.0 gives
 * to libnvvm comes through it: its own -kernels-used= and -variables-used= cannot say what
 * host-ref options can. */
#include "lto/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/context.h"
#include "base/diag.h"
#include "input/used.h"
#include "options/forward.h"

/* Options that are made here, at most, beside those that are agreed on. */
#define OWN_OPTIONS 16

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

/* Measured: what host code names stays, and stays visible. What it does not name is dropped where
 * nothing else keeps it, and taken for constant where nothing writes it. */
static void add_names(struct forwarded *options, const struct used_names *used)
{
    static const char *const name[USED_LISTS] = {"ek", "ik", "ec", "ic", "eg", "ig"};

    for (size_t list = 0; list < USED_LISTS; list++) {
        const struct used_set *set =
            list <= USED_INTERNAL_KERNELS ? &used->kernels : &used->variables;
        struct buffer names = {0};
        struct context_cleanup cleanup;

        context_defer(&cleanup, buffer_cleanup, &names);
        if (used->has_parts)
            join_parts(&names, set);
        else if (used->has_lists)
            join_patterns(&names, set, (enum used_list)list);
        if (names.size)
            forward_word(options, arena_printf(options->arena, "-Xnvvm=-host-ref-%s=%.*s",
                                               name[list], TEXT_ARG(buffer_view(&names))));
        context_clean(&cleanup);
    }
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

/* The order is nvlink's: measured by a library in libnvvm's place. */
void lto_options(struct nvjitlink_job *job, struct arena *arena, const struct lto_request *request,
                 bool is_open)
{
    const struct agreement *agreement = request->agreement;
    const char *const *nvvm = request->nvvm_options;
    struct forwarded options;
    char arch[ARCH_NAME_SIZE];
    size_t count = 0;
    bool has_host_info = !is_open && !request->used->is_ignored;

    while (nvvm && nvvm[count])
        count++;
    forward_begin(&options, arena, OWN_OPTIONS + FORWARD_MOST + count);
    forward_value(&options, "-arch", arch_name(request->members->arch, arch));
    forward_word(&options, "-lto");
    forward_word(&options, "-ptx");
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
    if (has_host_info)
        add_names(&options, request->used);
    job->options = options.words;
    job->option_count = (uint32_t)options.count;
    for (size_t i = 0; i < options.count; i++)
        diag_verbose("libnvJitLink is given %s", options.words[i]);
}
