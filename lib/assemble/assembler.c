/* assembler.c: opens each assembler (the built-in one, ptxas, a plug-in), finds its identity for
 * cache keys, and has the texts for result codes. */
#include "assemble/internal.h"

#include <dlfcn.h>
#include <errno.h>

#include "diag/diag.h"
#include "toy/builtin.h"

static bool check_plugin(const char *path, const struct minilink_assembler *exported)
{
    if (!exported)
        return diag_fatal("'%s' is no assembler plug-in: it exports no 'minilink_assembler'", path);
    /* The ABI number is the first field in every version, so it can be read whatever follows it. */
    if (exported->abi != MINILINK_ASSEMBLER_ABI)
        return diag_fatal("Assembler plug-in '%s' has ABI %u, this program has ABI %u", path,
                          exported->abi, MINILINK_ASSEMBLER_ABI);
    if (!exported->name || !exported->version || !exported->assemble)
        return diag_fatal("Assembler plug-in '%s' lacks a name, a version or a function", path);
    return true;
}

/* If `path` has no slash, the loader's search path applies. Symbols are bound at once, so that a
 * plug-in with a missing symbol is refused here, and does not end the program amid a link. */
static bool open_plugin(struct assembler *assembler, const char *path)
{
    const struct minilink_assembler *exported;

    errno = 0;
    assembler->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!assembler->library && errno == ENOMEM) /* the loader's text does not always say so */
        context_raise(LINK_NO_MEMORY);
    if (!assembler->library)
        return diag_fatal("Could not load assembler plug-in '%s': %s", path, dlerror());
    exported = dlsym(assembler->library, "minilink_assembler");
    if (!check_plugin(path, exported))
        return false;
    assembler->table = *exported;
    return true;
}

static const char *const names[] = {"builtin", "ptxas", "plugin:PATH", NULL};

const char *assembler_plugin_path(const char *name)
{
    static const char plugin[] = "plugin:";
    size_t size = sizeof plugin - 1;

    return name && strncmp(name, plugin, size) == 0 && name[size] ? name + size : NULL;
}

static bool open_named(struct assembler *assembler, const struct assembler_request *request)
{
    const char *name = request->name ? request->name : names[0];
    const char *plugin = assembler_plugin_path(name);

    if (plugin)
        return open_plugin(assembler, plugin);
    if (strcmp(name, "ptxas") == 0) {
        assembler->table = (struct minilink_assembler){.abi = MINILINK_ASSEMBLER_ABI,
                                                       .name = "ptxas",
                                                       .assemble = ptxas_assemble,
                                                       .state = &assembler->ptxas};
        return ptxas_open(&assembler->ptxas, request);
    }
    if (strcmp(name, "builtin") == 0) {
        assembler->table = builtin_assembler;
        return true;
    }
    return diag_fatal("Unknown assembler '%s'; known are %s, %s and %s", name, names[0], names[1],
                      names[2]);
}

bool assembler_open(struct assembler *assembler, const struct assembler_request *request)
{
    if (request->own) {
        assembler->table = *request->own;
        assembler->is_own = true;
        return true;
    }
    if (open_named(assembler, request))
        return true;
    assembler_close(assembler);
    return false;
}

bool assembler_try(struct assembler *assembler, const struct assembler_request *request)
{
    DIAG_SILENCE();
    return assembler_open(assembler, request);
}

const char *assembler_file(const struct assembler *assembler,
                           const struct assembler_request *request)
{
    return assembler->ptxas.path ? assembler->ptxas.path : assembler_plugin_path(request->name);
}

const char *assembler_version(struct assembler *assembler)
{
    return assembler->ptxas.path ? ptxas_version(&assembler->ptxas) : assembler->table.version;
}

const char *assembler_try_version(struct assembler *assembler)
{
    DIAG_SILENCE();
    return assembler_version(assembler);
}

void assembler_close(void *argument)
{
    struct assembler *assembler = argument;

    if (assembler->library)
        dlclose(assembler->library);
    ptxas_close(&assembler->ptxas);
    *assembler = (struct assembler){0};
}

const char *const *assembler_names(void)
{
    return names;
}

/* The assembler's identity. The contents of an executable determine its output; its path and its
 * time stamp do not. */

/* What ptxas 11.8 to 13.5 looks up in its environment, but for MAKEFLAGS and OPENSSL_ia32cap, which
 * change nothing in its output; and what determines which libraries the loader gives it. */
static const char *const variables[] = {"CAN_FINALIZE_DEBUG", "DUMP_KNOBS_TO_FILE",
                                        "FINALIZER_CUBIE",    "FINALIZER_USE_LEGACY_ELF_BUILDER",
                                        "LD_LIBRARY_PATH",    "LD_PRELOAD"};

/* Finds an option that makes ptxas read further options from a file, whose text is in no key. */
static const char *find_option_file(const char *const *options)
{
    for (size_t i = 0; options && options[i]; i++) {
        const char *word = options[i] + strspn(options[i], "-");
        struct text name = {word, strcspn(word, "=")};

        if (text_equal(name, TEXT("optf")) || text_equal(name, TEXT("options-file")) ||
            options[i][0] == '@')
            return options[i];
    }
    return NULL;
}

/* A text in the file of NVIDIA's ptxas. A file without it is a wrapper, whose real ptxas may be
 * replaced: so it is asked for its version in every link. */
#define PTXAS_TEXT "Cuda compilation tools, release "

static bool add_ptxas(struct key *key, struct assembler *assembler, struct cache *cache)
{
    const char *path = assembler->ptxas.path;
    struct file_hash file;

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        key_variable(key, variables[i]);
    if (!file_hash(&file, cache, path, PTXAS_TEXT)) {
        cache_give_up(cache, "'%s' cannot be read: %s", path, strerror(errno));
        return false;
    }
    key_key(key, &file.contents);
    if (file.has_text)
        return true;
    key_string(key, assembler_try_version(assembler)); /* a fault of it is reported later */
    return assembler->ptxas.version != NULL;
}

/* Its log lacks messages that the thread's flags suppress, so these flags are part of the key. */
static bool add_builtin(struct key *key, struct cache *cache)
{
    const struct diag_state *state = diag_state_get();

    KEY_NUMBERS(key, state->suppress_infos, state->suppress_warnings, state->warnings_are_errors);
    if (file_hash_add_program(key, cache))
        return true;
    cache_give_up(cache, "minilink itself cannot be read: %s", strerror(errno));
    return false;
}

static bool add_plugin(struct key *key, const struct minilink_assembler *table, struct cache *cache)
{
    key_string(key, table->version);
    if (*table->version)
        return true;
    cache_give_up(cache, "the assembler '%s' declares no version", table->name);
    return false;
}

bool assembler_identity_find(struct cache_key *identity, struct assembler *assembler,
                             const char *const *options, struct cache *cache)
{
    const char *file = find_option_file(options);
    struct key key = {0};
    bool ok;

    if (file) {
        cache_give_up(cache, "the assembler's option '%s' names a file of options", file);
        return false;
    }
    key_begin(&key, "assembler");
    CONTEXT_DEFER(key_free, &key);
    key_string(&key, assembler->table.name);
    if (assembler->library || assembler->is_own)
        ok = add_plugin(&key, &assembler->table, cache);
    else if (assembler->ptxas.path)
        ok = add_ptxas(&key, assembler, cache);
    else
        ok = add_builtin(&key, cache);
    if (ok)
        *identity = key_end(&key);
    return ok;
}

/* nvlink's texts, and ours. */
static const char *const code_texts[] = {
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
    [LINK_NO_MEMORY] = "elfLink memory error",
    [LINK_CANCELLED] = "cancelled",
    [LINK_ENVIRONMENT] = "elfLink: the assembler could not run",
    [LINK_USAGE] = "elfLink: the assembler does not take the options",
};

const char *assembler_code_text(int code)
{
    bool is_known = code >= 0 && (size_t)code < sizeof code_texts / sizeof *code_texts;

    return is_known && code_texts[code] ? code_texts[code] : "elfLink: unexpected error";
}
