/* tar.c: writes tar files by libarchive. It is loaded only when a file is written, and stays:
 * linking with it and its dependencies would more than double the program's start-up time (1.4 ms).
 */
#include "output/output.h"

#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <stdlib.h>

#include "diag/diag.h"

#define LIBRARY "libarchive.so.13"

/* All functions that are used, with their types from the library's header. */
#define FUNCTIONS(each)                                                                            \
    each(archive_write_new) each(archive_write_set_format_pax_restricted)                          \
        each(archive_write_add_filter_none) each(archive_write_open_fd) each(archive_write_header) \
            each(archive_write_data) each(archive_write_close) each(archive_write_free)            \
                each(archive_error_string) each(archive_entry_new) each(archive_entry_free)        \
                    each(archive_entry_set_pathname) each(archive_entry_set_size)                  \
                        each(archive_entry_set_filetype) each(archive_entry_set_perm)

struct functions {
#define FIELD(name) __typeof__(name) *name;
    FUNCTIONS(FIELD)
#undef FIELD
};

struct tar {
    const char *path;
    struct functions call;
    struct archive *archive;
    struct output output;
};

static bool load_file(struct tar *tar)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    bool ok = library != NULL;

#define FIND(name)                                                                                 \
    if (ok) {                                                                                      \
        *(void **)&tar->call.name = dlsym(library, #name);                                         \
        ok = tar->call.name != NULL;                                                               \
    }
    FUNCTIONS(FIND)
#undef FIND
    if (!ok)
        diag_fatal("Could not write '%s': " LIBRARY
                   " is needed for tar files (%s); Debian's package "
                   "is libarchive13",
                   tar->path, dlerror());
    return ok;
}

/* False, for the caller to return. */
static bool report_failed_tar(const struct tar *tar)
{
    const char *why = tar->call.archive_error_string(tar->archive);

    return diag_fatal("Could not write '%s': %s", tar->path, why ? why : "no memory");
}

static bool begin_member(struct tar *tar)
{
    tar->archive = tar->call.archive_write_new();
    if (!tar->archive)
        return report_failed_tar(tar);
    return (tar->call.archive_write_set_format_pax_restricted(tar->archive) == ARCHIVE_OK &&
            tar->call.archive_write_add_filter_none(tar->archive) == ARCHIVE_OK &&
            tar->call.archive_write_open_fd(tar->archive, tar->output.fd) == ARCHIVE_OK) ||
           report_failed_tar(tar);
}

struct tar *tar_open(const char *path)
{
    struct tar *tar = memory_zalloc(1, sizeof *tar);

    *tar = (struct tar){.path = path, .output = {.fd = -1, .slot = -1}};
    if (load_file(tar) && output_open(&tar->output, path) && begin_member(tar))
        return tar;
    tar_close(tar);
    return NULL;
}

bool tar_add(struct tar *tar, const char *name, struct bytes data)
{
    struct archive_entry *entry = tar->call.archive_entry_new();
    bool ok = false;

    if (entry) {
        tar->call.archive_entry_set_pathname(entry, name);
        tar->call.archive_entry_set_size(entry, (la_int64_t)data.size);
        tar->call.archive_entry_set_filetype(entry, AE_IFREG);
        tar->call.archive_entry_set_perm(entry, 0644);
        ok = tar->call.archive_write_header(tar->archive, entry) == ARCHIVE_OK &&
             (data.size == 0 || tar->call.archive_write_data(tar->archive, data.data, data.size) ==
                                    (la_ssize_t)data.size);
        tar->call.archive_entry_free(entry);
    }
    return ok || report_failed_tar(tar);
}

bool tar_commit(struct tar *tar)
{
    return (tar->call.archive_write_close(tar->archive) == ARCHIVE_OK || report_failed_tar(tar)) &&
           output_commit(&tar->output);
}

void tar_close(struct tar *tar)
{
    if (!tar)
        return;
    /* Before the output is closed: the archive may have bytes left to write. */
    if (tar->archive)
        tar->call.archive_write_free(tar->archive);
    output_abort(&tar->output);
    free(tar);
}
