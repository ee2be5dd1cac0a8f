/* registry.c: a row for each assembler: the beginning of its name, and how it is opened with what
 * stands behind that; and the words for result codes. */
#include "assemble/registry.h"

#include <stdlib.h>
#include <string.h>

#include "assemble/plugin.h"
#include "base/context.h"
#include "base/text.h"
#include "diag/diag.h"
#include "toy/builtin.h"

static bool open_builtin(struct assembler *assembler, const struct assembler_request *request,
                         const char *argument)
{
    (void)request;
    (void)argument;
    assembler->table = builtin_assembler;
    return true;
}

static bool open_ptxas(struct assembler *assembler, const struct assembler_request *request,
                       const char *argument)
{
    (void)argument;
    if (!ptxas_open(&assembler->ptxas, request))
        return false;
    assembler->table = (struct minilink_assembler){
        .abi = MINILINK_ASSEMBLER_ABI,
        .name = "ptxas",
        .assemble = ptxas_assemble,
        .state = &assembler->ptxas,
    };
    return true;
}

static bool open_plugin(struct assembler *assembler, const struct assembler_request *request,
                        const char *argument)
{
    (void)request;
    return plugin_open(argument, &assembler->library, &assembler->table);
}

/* A name that ends with a colon takes what stands behind it as its argument. The order is that of
 * `names`; the first is the default. */
static const struct {
    struct text name;
    bool (*open)(struct assembler *assembler, const struct assembler_request *request,
                 const char *argument);
} known[] = {
    {TEXT("builtin"), open_builtin},
    {TEXT("ptxas"), open_ptxas},
    {TEXT("plugin:"), open_plugin},
};

static const char *const names[] = {"builtin", "ptxas", "plugin:PATH", NULL};

bool assembler_open(struct assembler *assembler, const struct assembler_request *request)
{
    struct text name = text_of(request->name ? request->name : names[0]);

    if (request->own) {
        assembler->table = *request->own;
        assembler->is_own = true;
        return true;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        bool has_argument = known[i].name.data[known[i].name.size - 1] == ':';

        if (!(has_argument ? text_starts(name, known[i].name) && name.size > known[i].name.size
                           : text_equal(name, known[i].name)))
            continue;
        if (known[i].open(assembler, request, name.data + known[i].name.size))
            return true;
        assembler_close(assembler);
        return false;
    }
    diag_fatal("Unknown assembler '%s'; known are %s, %s and %s", name.data, names[0], names[1],
               names[2]);
    return false;
}

struct trial {
    struct assembler *assembler;
    const struct assembler_request *request;
    bool is_open;
};

static enum link_code open_trial(void *argument)
{
    struct trial *trial = argument;

    trial->is_open = assembler_open(trial->assembler, trial->request);
    return LINK_OK;
}

bool assembler_try(struct assembler *assembler, const struct assembler_request *request)
{
    struct trial trial = {assembler, request, false};

    diag_silence(open_trial, &trial);
    return trial.is_open;
}

const char *assembler_file(const struct assembler *assembler,
                           const struct assembler_request *request)
{
    static const char plugin[] = "plugin:";

    if (assembler->ptxas.path)
        return assembler->ptxas.path;
    return request->name && text_starts(text_of(request->name), TEXT(plugin))
               ? request->name + strlen(plugin)
               : NULL;
}

const char *assembler_version(struct assembler *assembler)
{
    return assembler->ptxas.path ? ptxas_version(&assembler->ptxas) : assembler->table.version;
}

/* One quiet question. */
struct question {
    struct assembler *assembler;
    const char *version;
};

static enum link_code ask_version(void *argument)
{
    struct question *question = argument;

    question->version = assembler_version(question->assembler);
    return LINK_OK;
}

const char *assembler_try_version(struct assembler *assembler)
{
    struct question question = {assembler, NULL};

    diag_silence(ask_version, &question);
    return question.version;
}

void assembler_close(struct assembler *assembler)
{
    plugin_close(assembler->library);
    ptxas_close(&assembler->ptxas);
    *assembler = (struct assembler){0};
}

const char *const *assembler_names(void)
{
    return names;
}

/* nvlink's words where it has them. */
/* The words of nvlink 13.0, which has them in this order. */
static const char *const elflink_texts[] = {
    "no error",
    "elfLink internal error",
    "elfLink error on cubin",
    "elfLink fatbinary error",
    "elfLink memory error",
    "elfLink JIT compile failed",
    "elfLink JIT link failed",
    "elfLink nvvm error",
    "elfLink error cubin not relocatable",
    "elfLink error cubin not compatible",
    "elfLink cubin arch not compatible",
    "elfLink linker library load error",
    "elfLink error incompatible formats",
    "elfLink error finalization failed",
};

const char *assembler_code_text(int code)
{
    if (code >= 0 && (size_t)code < sizeof elflink_texts / sizeof *elflink_texts)
        return elflink_texts[code];
    switch (code) {
    case LINK_NO_MEMORY:
        return "elfLink memory error";
    case LINK_CANCELLED:
        return "cancelled";
    case LINK_ENVIRONMENT:
        return "elfLink: the assembler could not run";
    case LINK_USAGE:
        return "elfLink: the assembler does not take the options";
    default:
        return "elfLink: unexpected error";
    }
}
