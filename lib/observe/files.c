/* files.c: the requested files: opened before the link writes its output, filled after it.
 *
 * Each file appears whole or not at all, except -time's, which is appended to as nvlink does. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "diag/diag.h"
#include "diag/escape.h"
#include "observe/internal.h"
#include "os/file.h"
#include "output/output.h"

enum file { FILE_TRACE, FILE_REPORT_PAGE, FILE_REPORT_DATA, FILE_MAP, FILES };

_Static_assert(FILES == sizeof((struct observation *)0)->outputs / sizeof(struct output), "files");

static const char *path_of(const struct observation *seen, enum file file)
{
    const struct observe_request *request = &seen->request;
    const char *const paths[FILES] = {request->trace, request->report_page, request->report_data,
                                      request->map};

    return paths[file];
}

static bool times_failed(const struct observation *seen)
{
    return diag_fatal("Could not write time file '%s': %s", seen->request.times, strerror(errno));
}

static bool open_times(struct observation *seen)
{
    struct output_target destination;

    if (!seen->request.times)
        return true;
    if (output_target_find(&destination, seen->request.times))
        seen->times_fd = output_target_open(&destination, O_CREAT | O_APPEND);
    return seen->times_fd >= 0 || times_failed(seen);
}

bool observe_prepare(struct observation *seen)
{
    bool ok = true;

    if (!seen || seen->is_prepared)
        return true;
    seen->is_prepared = true;
    for (enum file file = 0; file < FILES && ok; file++)
        ok = !path_of(seen, file) || output_open(&seen->outputs[file], path_of(seen, file));
    return ok && open_times(seen);
}

/* Whether an earlier link has appended to the file. False if it was opened without O_APPEND, as
 * standard output may be: other programs print there too. */
static bool has_rows(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && status.st_size > 0 && (fcntl(fd, F_GETFL) & O_APPEND);
}

static bool write_times(struct observation *seen, struct buffer *text)
{
    if (!seen->request.times)
        return true;
    text->size = 0;
    times_print(seen, has_rows(seen->times_fd), text);
    return descriptor_write(seen->times_fd, text->data, text->size) || times_failed(seen);
}

static bool write_stats(struct observation *seen, struct buffer *text)
{
    if (!seen->request.stats)
        return true;
    text->size = 0;
    stats_print(seen, text);
    return diag_text(buffer_view(text)) ||
           diag_fatal("Could not write to the standard error output: %s", strerror(errno));
}

/* Names come from inputs, so they are escaped. */
static bool write_lists(struct observation *seen, struct buffer *text)
{
    LOCAL_BUFFER(shown);

    text->size = 0;
    for (size_t i = 0; i < seen->drop_count; i++) {
        const struct fact_drop *drop = &seen->drops[i];

        if (seen->request.print_drops && strcmp(drop->what, "member") != 0)
            map_print_drop(drop, text);
    }
    if (seen->cross)
        cross_reference_print(seen, text);
    escape_lines(buffer_view(text), &shown);
    return std_streams_print(buffer_view(&shown));
}

static bool write_file(struct observation *seen, enum file file, struct buffer *text)
{
    static void (*const print[FILES])(struct observation *, struct buffer *) = {
        trace_print, report_print_page, report_print_data, map_print};
    struct output *output = &seen->outputs[file];

    if (!path_of(seen, file))
        return true;
    text->size = 0;
    print[file](seen, text);
    return output_append(output, buffer_bytes(text)) && output_finish(output);
}

bool observe_commit(struct observation *seen)
{
    bool ok = true;

    for (enum file file = 0; file < FILES && seen; file++)
        ok = (!path_of(seen, file) || output_commit(&seen->outputs[file])) && ok;
    return ok;
}

/* Files that are appended to, or printed, come last: that cannot be undone. */
bool observe_fill(struct observation *seen)
{
    LOCAL_BUFFER(text);
    bool ok = true;

    if (!seen)
        return true;
    for (enum file file = 0; file < FILES && ok; file++)
        ok = write_file(seen, file, &text);
    ok = ok && write_times(seen, &text) && write_stats(seen, &text) && write_lists(seen, &text);
    if (ok && facts_events(seen)->lost)
        diag_caution("%zu events of the link are missing in what was written about it: there was "
                     "no memory for them",
                     facts_events(seen)->lost);
    return ok;
}
