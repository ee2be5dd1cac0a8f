/* assembler_identity.c: the contents of an executable say what it does; its path and its time stamp
 * do not.
 */
#include "assemble/assembler_identity.h"

#include <errno.h>
#include <string.h>

#include "base/context.h"
#include "cache/file_hash.h"
#include "diag/diag_state.h"

/* Measured: the first two are all that ptxas 13.0 looks up in its environment; the others tell the
 * loader which libraries it runs with. */
static const char *const variables[] = {"CAN_FINALIZE_DEBUG", "DUMP_KNOBS_TO_FILE",
                                        "LD_LIBRARY_PATH", "LD_PRELOAD"};

/* An option that makes ptxas read more options, whose text no key has. */
static const char *find_option_file(const char *const *options)
{
    static const char *const names[] = {"optf", "options-file"};

    for (size_t i = 0; options && options[i]; i++) {
        const char *word = options[i] + strspn(options[i], "-");
        size_t size = strcspn(word, "=");

        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            if (strlen(names[n]) == size && memcmp(names[n], word, size) == 0)
                return options[i];
        if (options[i][0] == '@')
            return options[i];
    }
    return NULL;
}

/* What NVIDIA's ptxas has in its file. One without it is a script or a program that runs another,
 * which may be replaced behind its back: it is asked for its version in every link. */
#define PTXAS_TEXT "Cuda compilation tools, release "

static bool add_ptxas_file(struct key *key, struct assembler *assembler, struct cache *cache)
{
    const char *path = assembler->ptxas.path;
    struct file_hash file;

    if (!file_hash(&file, cache, path, PTXAS_TEXT)) {
        cache_give_up(cache, "'%s' cannot be read: %s", path, strerror(errno));
        return false;
    }
    key_key(key, &file.contents);
    if (file.has_text)
        return true;
    key_string(key, assembler_try_version(assembler)); /* what is wrong with it is said later */
    return assembler->ptxas.version != NULL;
}

static bool add_ptxas(struct key *key, struct assembler *assembler, struct cache *cache)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        key_variable(key, variables[i]);
    return add_ptxas_file(key, assembler, cache);
}

/* Its log leaves out what the thread does not report. */
static bool add_builtin(struct key *key, struct cache *cache)
{
    const struct diag_state *state = diag_state_get();

    key_number(key, state->suppress_infos);
    key_number(key, state->suppress_warnings);
    key_number(key, state->warnings_are_errors);
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
