/* library.c: creates, completes and destroys a link, and hands out its results. */
#include <locale.h>
#include <signal.h>
#include <stdlib.h>

#include "library/handle.h"
#include "merge/merge.h"

/* How much of the caller's stack a call may use: 26 to 44 KiB were measured, for links with each
 * assembler, LTO-IR and a cache. A message alone takes 6. */
#define STACK_NEEDED      ((size_t)52 << 10)
#define STACK_FOR_MESSAGE ((size_t)8 << 10)

/* Signals that a write may raise. */
static const int signals[] = {SIGPIPE, SIGXFSZ};

static void list_signals(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaddset(set, signals[i]);
}

/* Consumes the signals that came meanwhile: the library's own writes raised them. */
static void drop_signals(const sigset_t *pending)
{
    static const struct timespec at_once;
    sigset_t set;

    list_signals(&set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigismember(pending, signals[i]))
            sigdelset(&set, signals[i]);
    while (sigtimedwait(&set, NULL, &at_once) > 0)
        continue;
}

enum link_code handle_enter(struct minilink *link, enum link_code (*function)(void *argument),
                            void *argument)
{
    struct context *context = context_get(), saved = *context;
    sigset_t set, blocked, pending;
    enum link_code code;
    locale_t locale;

    *context = (struct context){0};
    list_signals(&set);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &set, &blocked);
    locale = thread_use_c_locale();
    if (link) {
        reporting_set(&link->options);
        diag_state_get()->keeps_mangled = true; /* so that the caller can look them up */
        diag_state_get()->writer = &link->writer;
    }
    code = context_run(function, argument);
    uselocale(locale);
    drop_signals(&pending);
    pthread_sigmask(SIG_SETMASK, &blocked, NULL);
    *context = saved;
    return code;
}

/* Logs end with a NUL that is not counted. */
static void write_log(void *argument, int severity, struct text lines)
{
    struct minilink *link = argument;
    struct buffer *log;

    if (lines.size == 0)
        return;
    if (severity != DIAG_NOTE)
        link->last = (enum diag_severity)severity;
    log = link->last >= DIAG_ERROR ? &link->errors : &link->infos;
    buffer_reserve(log, lines.size + 1);
    buffer_text(log, lines);
    log->data[log->size] = '\0';
}

static enum link_code refuse_stack(void *left)
{
    diag_fatal("Only %zu KiB are left of the calling thread's stack, and %zu are needed: call from "
               "a thread with a larger one",
               *(const size_t *)left >> 10, STACK_NEEDED >> 10);
    return LINK_ENVIRONMENT;
}

int handle_call(struct minilink *link, enum link_code (*function)(void *argument), void *argument)
{
    size_t left = thread_stack_left();

    if (left < STACK_FOR_MESSAGE)
        return MINILINK_ENVIRONMENT;
    return (int)(left < STACK_NEEDED ? handle_enter(link, refuse_stack, &left)
                                     : handle_enter(link, function, argument));
}

/* Refuses options that have no use in the library, or would print. */
static bool refuse_call(const struct options *options, enum options_action action)
{
    const struct link_request *link = &options->link;
    const struct observe_request *observe = &link->observe;
    const char *const outputs[] = {observe->times, observe->trace, observe->map, link->modules_file,
                                   link->dependency_file};

    if (action != OPTIONS_LINK)
        diag_fatal("An option that links nothing cannot be used here");
    else if (link->output)
        diag_fatal("Option '-o' cannot be used here: the result is in memory");
    else if (options->color != COLOR_NEVER)
        diag_fatal("Option '--color-diagnostics' cannot be used here");
    else if (link->is_virtual)
        diag_fatal(VIRTUAL_TARGET, options->arch_text);
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (outputs[i] && strcmp(outputs[i], "-") == 0)
            diag_fatal("Nothing is printed here: '-' is no file");
    return diag_error_count() > 0;
}

/* A link that is being created, and its options. */
struct creation {
    struct minilink *link;
    const char *const *words;
    size_t count;
};

static enum link_code create_link(void *argument)
{
    const struct creation *creation = argument;
    struct options *options = &creation->link->options;
    enum options_action action;

    options_begin(options);
    reporting_begin(creation->words, creation->count, options->color);
    for (size_t i = 0; i < creation->count; i++)
        if (!options_add_word(options, creation->words[i] ? creation->words[i] : ""))
            return LINK_USAGE;
    action = options_end(options);
    if (action == OPTIONS_WRONG || refuse_call(options, action))
        return LINK_USAGE;
    reporting_set(options);
    reporting_tell_ignored(options);
    return LINK_OK;
}

int minilink_create(struct minilink **result, const char *const *options, size_t count)
{
    struct creation creation = {NULL, options, count};
    struct minilink *link;
    int code;

    if (!result || (!options && count))
        return MINILINK_USAGE;
    *result = link = creation.link = calloc(1, sizeof *link);
    if (!link)
        return MINILINK_NO_MEMORY;
    cancellation_make(&link->stop);
    link->options.is_in_memory = true;
    link->options.color = COLOR_NEVER;
    link->writer = (struct diag_writer){write_log, link};
    code = handle_call(link, create_link, &creation);
    link->is_wrong = code != MINILINK_OK;
    if (code == MINILINK_NO_MEMORY)
        minilink_destroy(result);
    return code;
}

static enum link_code usage(const char *why)
{
    diag_fatal("%s", why);
    return LINK_USAGE;
}

/* The result stays in memory. */
static void keep_here(struct minilink *link)
{
    struct link_request *request = &link->options.link;

    options_add_environment_paths(&link->options);
    request->product = &link->product;
    request->limits.stop = &link->stop;
    request->reads_files = true;
    request->distribution.cancelled = &link->stop.is_set;
    if (link->assembler.assemble)
        request->assembler.own = &link->assembler;
}

static enum link_code complete_link(void *argument)
{
    struct minilink *link = argument;
    struct link_request *request = &link->options.link;

    if (link->is_wrong)
        return usage("The link has wrong options");
    if (link->is_complete)
        return usage("The link is complete already");
    link->is_complete = true;
    if (link->options.link.operand_count == 0)
        return usage("No input was added");
    if (link->assembler.assemble &&
        (request->distribution.program || request->distribution.emit_plan ||
         request->distribution.resume_plan))
        return usage("Other machines cannot call this process's assembler");
    keep_here(link);
    return link_run(request);
}

/* Of a link that has begun, whatever came of it. */
static enum link_code end_messages(void *argument)
{
    struct minilink *link = argument;

    if (link->was_cancelled)
        diag_fatal("The link was cancelled");
    diag_tally_end(&link->options.tally);
    return LINK_OK;
}

int minilink_complete(struct minilink *link)
{
    bool was_complete;
    int code;

    if (!link)
        return MINILINK_USAGE;
    was_complete = link->is_complete;
    code = handle_call(link, complete_link, link);
    link->was_cancelled = code == MINILINK_CANCELLED;
    if (link->is_complete && !was_complete &&
        handle_call(link, end_messages, link) == MINILINK_NO_MEMORY)
        code = MINILINK_NO_MEMORY;
    if (code != MINILINK_OK && !was_complete)
        link_product_free(&link->product);
    return code;
}

void minilink_cancel(struct minilink *link)
{
    if (link)
        cancellation_set(&link->stop);
}

void minilink_destroy(struct minilink **handle)
{
    struct minilink *link = handle ? *handle : NULL;

    if (!link)
        return;
    *handle = NULL;
    diag_tally_free(&link->options.tally);
    options_free(&link->options);
    link_product_free(&link->product);
    buffer_free(&link->errors);
    buffer_free(&link->infos);
    arena_free(&link->arena);
    cancellation_end(&link->stop);
    free(link);
}

/* The results, in memory that the link owns. */

static const char *bytes_of(const struct minilink *link, bool is_ptx, size_t *size)
{
    bool is_there = link && link->product.size > 0 && link->options.link.emit_ptx == is_ptx;

    if (size)
        *size = is_there ? link->product.size : 0;
    return is_there ? link->product.bytes.data : NULL;
}

const void *minilink_cubin(const struct minilink *link, size_t *size)
{
    return bytes_of(link, false, size);
}

const char *minilink_ptx(const struct minilink *link, size_t *size)
{
    return bytes_of(link, true, size);
}

static const char *text_in(const struct buffer *log, size_t *size)
{
    if (size)
        *size = log && log->size ? log->size : 0;
    return log && log->size ? log->data : "";
}

const char *minilink_error_log(const struct minilink *link, size_t *size)
{
    return text_in(link ? &link->errors : NULL, size);
}

const char *minilink_info_log(const struct minilink *link, size_t *size)
{
    return text_in(link ? &link->infos : NULL, size);
}

size_t minilink_kernel_count(const struct minilink *link)
{
    return minilink_cubin(link, NULL) ? link->product.kernel_count : 0;
}

int minilink_kernel(const struct minilink *link, size_t index, struct minilink_kernel *kernel,
                    size_t size)
{
    const struct kernel_report *known;
    struct minilink_kernel filled;

    if (!kernel || index >= minilink_kernel_count(link))
        return MINILINK_USAGE;
    known = &link->product.kernels[index];
    filled = (struct minilink_kernel){
        .name = known->name.data,
        .is_kernel = known->is_kernel,
        .registers = known->registers,
        .barriers = known->barriers,
        .parameters = known->constant0,
        .constants = known->constant2,
        .shared = known->shared,
        .stack = known->stack == UINT32_MAX ? UINT64_MAX : known->stack,
        .code = known->code,
    };
    memset(kernel, 0, size);
    memcpy(kernel, &filled, size < sizeof filled ? size : sizeof filled);
    return MINILINK_OK;
}

const char *minilink_version(void)
{
    return MINILINK_VERSION;
}

const char *minilink_code_name(int code)
{
#define NAME(code) [code] = #code
    static const char *const names[] = {
        NAME(MINILINK_OK),          NAME(MINILINK_INTERNAL),        NAME(MINILINK_FAILED),
        NAME(MINILINK_NVVM_ERROR),  NAME(MINILINK_NOT_RELOCATABLE), NAME(MINILINK_NO_MEMORY),
        NAME(MINILINK_CANCELLED),   NAME(MINILINK_ENVIRONMENT),     NAME(MINILINK_USAGE),
        NAME(MINILINK_WRONG_INPUT),
    };

    return code >= 0 && (size_t)code < sizeof names / sizeof *names && names[code] ? names[code]
                                                                                   : "unknown";
}
