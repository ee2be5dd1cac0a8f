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

/* Options that are made here, at most. */
#define OWN_OPTIONS 24

/* Largest value that -split-compile may have. */
#define MOST_SPLIT 999L

struct option_list {
    struct arena *arena;
    const char **list;
    uint32_t count;
};

static void add(struct option_list *options, const char *option)
{
    options->list[options->count++] = option;
}

static void add_number(struct option_list *options, const char *name, int32_t value)
{
    add(options, arena_printf(options->arena, "%s=%d", name, (int)value));
}

static void add_value(struct option_list *options, const char *name, const char *value)
{
    if (value && *value)
        add(options, arena_printf(options->arena, "%s=%s", name, value));
}

/* Measured: nvlink leaves the arithmetic to what the LTO-IR says, unless -Xnvvm changes anything.
 */
static void add_arithmetic(struct option_list *options, const struct agreement *agreement)
{
    static const struct {
        enum embedded_option option;
        const char *name;
    } arithmetic[] = {
        {EMBEDDED_FTZ, "-ftz"},
        {EMBEDDED_PREC_DIV, "-prec-div"},
        {EMBEDDED_PREC_SQRT, "-prec-sqrt"},
        {EMBEDDED_FMAD, "-fma"},
    };

    for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++) {
        const struct consensus *consensus = &agreement->embedded[arithmetic[i].option];

        if (consensus->state == CONSENSUS_PRESENT || consensus->state == CONSENSUS_MIXED)
            add_number(options, arithmetic[i].name, consensus->value);
    }
}

/* The value of -split-compile for libnvvm: that in force, or the extended one, which wins. Measured
 * on 13.0: 1 gives other PTX than all that is more. So that the output depends neither on the
 * machine nor on --threads, 0, the number of CPUs, and limits become at least 2. */
static int32_t split_value(const struct lto_request *request)
{
    const struct agreement *agreement = request->agreement;
    int32_t value = agreement->split_compile_extended != 1 ? agreement->split_compile_extended
                                                           : agreement->split_compile;
    long most = request->thread_limit ? (long)request->thread_limit : MOST_SPLIT;

    if (value == 1)
        return 1;
    if (value <= 0)
        value = (int32_t)MOST_SPLIT;
    if (most > sysconf(_SC_NPROCESSORS_ONLN))
        most = sysconf(_SC_NPROCESSORS_ONLN);
    if (value > most)
        value = (int32_t)most;
    return value < 2 ? 2 : value;
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
static void add_names(struct option_list *options, const struct used_names *used)
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
            add(options, arena_printf(options->arena, "-Xnvvm=-host-ref-%s=%.*s", name[list],
                                      TEXT_ARG(buffer_view(&names))));
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
    struct option_list options = {.arena = arena};
    char arch[ARCH_NAME_SIZE];
    size_t count = 0;
    const char *ofast = request->options->ofast_compile;
    bool has_host_info = !is_open && !request->used->is_ignored;

    while (nvvm && nvvm[count])
        count++;
    options.list = arena_alloc(arena, OWN_OPTIONS + count, sizeof *options.list);
    add_value(&options, "-arch", arch_name(request->members->arch, arch));
    add(&options, "-lto");
    add(&options, "-ptx");
    if (split_value(request) != 1)
        add_number(&options, "-split-compile", split_value(request));
    if (is_open || may_have_system(request->members))
        add(&options, "-Xnvvm=--device-c");
    if (is_open)
        add(&options, "-Xnvvm=--force-device-c");
    if (agreement->debug)
        add(&options, "-g");
    if (agreement->line_info)
        add(&options, "-lineinfo");
    if (agreement->maxrregcount > 0)
        add_number(&options, "-maxrregcount", agreement->maxrregcount);
    if (ofast && strcmp(ofast, "0") != 0)
        add_value(&options, "-Ofc", ofast);
    if (has_host_info)
        add(&options, "-Xnvvm=-has-global-host-info");
    for (size_t i = 0; i < count; i++)
        add_value(&options, "-Xnvvm", nvvm[i]);
    if (count)
        add_arithmetic(&options, agreement);
    if (has_host_info)
        add_names(&options, request->used);
    job->options = options.list;
    job->option_count = options.count;
    for (size_t i = 0; i < options.count; i++)
        diag_verbose("libnvJitLink is given %s", options.list[i]);
}
