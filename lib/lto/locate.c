/* locate.c: decides whether LTO-IR is linked, and finds and identifies libnvJitLink, and libLLVM by
 * the names that it has had. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "diag/diag.h"
#include "lto/internal.h"
#include "os/program.h"

/* Names for the loader, if no file is found. */
static const char *const loader_names[] = {"libnvJitLink.so.13", "libnvJitLink.so.12",
                                           "libnvJitLink.so"};

/* The file of the library that the loader finds by that name, which a child loads; or NULL. */
static char *ask_loader(const char *name)
{
    static const struct members none;
    const struct lto_request link = {.members = &none};
    struct part_list run = {.link = &link, .inputs_fd = -1};
    struct text file;

    CONTEXT_DEFER(part_end_all, &run);
    lto_inputs_write(&run, MEMBER_LTO);
    part_make_all(&run, 1);
    run.list->job = job_write(&run.arena, name, NULL, &run.inputs);
    if (part_run_all(&run, &run.arena) != 1)
        return NULL;
    file = run.list->answer.infos;
    return file.size ? memory_copy_string(file.data, file.size)
                     : memory_copy_string(name, strlen(name));
}

static char *find_lto_library(const struct toolkit_request *toolkit, struct toolkit_search *search)
{
    const size_t count = sizeof loader_names / sizeof *loader_names;
    char *found = toolkit_find_nvjitlink(toolkit, search);

    if (found || toolkit->file || toolkit->cuda_path)
        return found;
    search->why = "the loader's";
    for (size_t i = 0; i < count && !found; i++)
        found = ask_loader(loader_names[i]);
    if (!found)
        buffer_string(&search->tried,
                      search->tried.size ? ", the loader's folders" : "the loader's folders");
    return found;
}

bool lto_find(char **library, enum lto_source source, const struct toolkit_request *toolkit)
{
    struct toolkit_search search = {0};

    *library = NULL;
    if (source == LTO_SOURCE_PTX) {
        diag_info("LTO-IR is not linked (--lto-source=ptx): PTX beside it takes its place, without "
                  "optimisation across modules");
        return true;
    }
    CONTEXT_DEFER(toolkit_search_cleanup, &search);
    *library = find_lto_library(toolkit, &search);
    if (*library) {
        diag_verbose("libnvJitLink '%s': %s", *library, search.why);
    } else if (source == LTO_SOURCE_LTOIR || toolkit->file) {
        diag_fatal("Could not find libnvJitLink (looked in %.*s)",
                   TEXT_ARG(buffer_view(&search.tried)));
        diag_note("Set CUDA_HOME, or use --cuda-path= or --nvjitlink=");
    } else {
        diag_info(
            "LTO-IR is not linked, as no CUDA toolkit with libnvJitLink was found: PTX beside "
            "it takes its place, without optimisation across modules");
        diag_verbose("libnvJitLink was looked for in %.*s", TEXT_ARG(buffer_view(&search.tried)));
    }
    return *library || (source != LTO_SOURCE_LTOIR && !toolkit->file);
}

/* Measured: the variables that libnvJitLink reads from its environment; and those of the loader. */
static const char *const variables[] = {
    "AS_SECURE_LOG_FILE",       "LIBNVVM_DISABLE_CONCURRENT_API",
    "LIBNVVM_NVVM_VERSION",     "LLVM_OVERRIDE_PRODUCER",
    "NVJITLINK_TRACE_MESSAGES", "NVVM_IR_VER_CHK",
    "NV_NVVM_VERSION",          "bar",
    "LD_LIBRARY_PATH",          "LD_PRELOAD"};

bool lto_identify(struct cache_key *library, const char *name, const char *path,
                  struct cache *cache)
{
    struct key key = {0};

    key_begin(&key, name);
    CONTEXT_DEFER(key_free, &key);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        key_variable(&key, variables[i]);
    if (!file_hash_add(&key, cache, path)) {
        cache_give_up(cache, "%s '%s' cannot be read: %s", name, path, strerror(errno));
        return false;
    }
    if (!file_hash_add_program(&key, cache))
        return false;
    *library = key_end(&key);
    return true;
}

/* Range of versions: the oldest one that has the functions used, and one far in the future. */
#define OLDEST 16u
#define NEWEST 40u

/* Debian's multiarch folders, beside the usual ones. */
#if defined __x86_64__
#define MACHINE "x86_64"
#elif defined __aarch64__
#define MACHINE "aarch64"
#else
#define MACHINE "none"
#endif

static const char *const folders[] = {"/usr/lib/" MACHINE "-linux-gnu", "/usr/lib64", "/usr/lib",
                                      "/usr/local/lib64", "/usr/local/lib"};

/* Up to LLVM 18 the soname is libLLVM-18.so.1, then libLLVM.so.19.1 (Debian's and LLVM's own). */
static char *find_in(struct text folder, unsigned version)
{
    return program_path_try(toolkit_is_file, "%.*s/libLLVM.so.%u.1", TEXT_ARG(folder), version)
           ?: program_path_try(toolkit_is_file, "%.*s/libLLVM-%u.so.1", TEXT_ARG(folder), version)
           ?: program_path_try(toolkit_is_file, "%.*s/libLLVM-%u.so", TEXT_ARG(folder), version);
}

static char *find_version(unsigned version)
{
    const char *list = getenv("LD_LIBRARY_PATH");
    char own[64], *found = NULL;

    /* Not in the current folder, which an empty piece would be. */
    for (size_t size; !found && list && *list; list += size + (list[size] == ':')) {
        size = strcspn(list, ":");
        if (size > 0)
            found = find_in((struct text){list, size}, version);
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !found; i++)
        found = find_in(text_of(folders[i]), version);
    snprintf(own, sizeof own, "/usr/lib/llvm-%u/lib", version);
    return found ?: find_in(text_of(own), version);
}

char *bitcode_find_library(const char *given)
{
    char *found = given ? program_path_try(toolkit_is_file, "%s", given) : NULL;

    for (unsigned version = NEWEST; version >= OLDEST && !given && !found; version--)
        found = find_version(version);
    return found;
}

void bitcode_report_missing(const struct members *members, const char *given)
{
    const char *name = "";

    for (size_t i = members->count; i-- > 0;)
        if (members->list[i].role == MEMBER_BITCODE)
            name = members->list[i].name;
    if (given)
        diag_fatal("Could not find libLLVM '%s', for LLVM bitcode '%s'", given, name);
    else
        diag_fatal("Could not find libLLVM, which compiles LLVM bitcode '%s'", name);
    diag_note("Install libLLVM %u or newer (Debian: apt-get install libllvm19), or use --llvm=FILE",
              OLDEST);
}
