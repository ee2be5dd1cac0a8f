/* archive.c: ar archives, whose walk must end exactly at the end of the file.
 *
 * An archive is "!<arch>\n" and then members: a 60-byte text header and the data, padded to 2
 * bytes. A name is in the header ("x.o/"), in the table of long names, which comes first ("/123",
 * GNU), or in front of the data ("#1/20", BSD, with that many bytes). */
#include "input/file.h"

#include <ar.h>
#include <limits.h>

#include "diag/diag.h"

#define THIN_MAGIC "!<thin>\n"

/* A long name comes from a foreign file, and the name of each entry in the member repeats it. */
#define LONGEST_NAME 1024u

static bool report_archive(const struct archive *archive, const char *what)
{
    return diag_error("Damaged archive '%s': the member header at offset %zu %s", archive->name,
                      archive->offset, what);
}

bool archive_is_thin(struct bytes data)
{
    return data.size >= SARMAG && memcmp(data.data, THIN_MAGIC, SARMAG) == 0;
}

/* A field of a header, which is left-aligned and padded with blanks. */
static struct text trim(const char *field, size_t width)
{
    while (width > 0 && field[width - 1] == ' ')
        width--;
    return (struct text){field, width};
}

static bool read_whole_number(struct text text, uint64_t *number)
{
    return text_scan_number(&text, number) && text.size == 0;
}

/* Symbol tables (GNU, GNU 64-bit, BSD) and the table of long names. */
static bool is_table_member(struct text name)
{
    return text_equal(name, TEXT("/")) || text_equal(name, TEXT("//")) ||
           text_equal(name, TEXT("/SYM64/")) || text_starts(name, TEXT("__.SYMDEF"));
}

/* Reads the header at hand: its field for the name, and the member's data. */
static bool read_header(const struct archive *archive, struct text *field, struct bytes *data)
{
    struct bytes part;
    struct ar_hdr header;
    uint64_t size = 0;

    if (!bytes_slice(archive->data, archive->offset, sizeof header, &part))
        return diag_error(
            "Damaged archive '%s': the member header at offset %zu has 60 bytes, but only "
            "%zu are left",
            archive->name, archive->offset, archive->data.size - archive->offset);
    memcpy(&header, part.data, sizeof header);
    if (memcmp(header.ar_fmag, ARFMAG, sizeof header.ar_fmag) != 0)
        return report_archive(archive, "does not end with its mark");
    *field = trim((const char *)part.data, sizeof header.ar_name);
    if ((!archive->is_thin || is_table_member(*field)) &&
        !read_whole_number(trim(header.ar_size, sizeof header.ar_size), &size))
        return report_archive(archive, "has a size that is no number");
    if (!bytes_slice(archive->data, archive->offset + sizeof header, size, data))
        return diag_error(
            "Damaged archive '%s': the member at offset %zu has %llu bytes, but only %zu are "
            "left",
            archive->name, archive->offset, (unsigned long long)size,
            archive->data.size - archive->offset - sizeof header);
    return true;
}

/* The name that a header's field stands for; one in front of the data is taken off. */
static bool find_name(const struct archive *archive, struct text field, struct text *name,
                      struct bytes *data)
{
    struct bytes front = {0};
    struct text rest = field;
    const char *end = NULL;
    uint64_t number = 0;
    bool ok = true;

    *name = field;
    if (is_table_member(field))
        return true;
    if (text_skip(&rest, TEXT("#1/"))) {
        ok = read_whole_number(rest, &number) && bytes_slice(*data, 0, number, &front);
        *name = (struct text){(const char *)front.data, front.size};
        *data = (struct bytes){data->data + front.size, data->size - front.size};
    } else if (text_skip(&rest, TEXT("/"))) {
        ok = read_whole_number(rest, &number) && number < archive->table.size;
        *name = ok ? text_drop(archive->table, (size_t)number) : field;
        if (name->size > PATH_MAX) /* a table without an end is not searched for each member */
            name->size = PATH_MAX;
        end = memmem(name->data, name->size, "/\n", 2);
    } else if (field.size) {
        end = memchr(field.data, '/', field.size);
    }
    name->size = end ? (size_t)(end - name->data) : name->size;
    if (name->size)
        name->size = strnlen(name->data, name->size);
    if (ok && (name->size > 0 || !archive->is_thin))
        return true;
    return report_archive(archive, archive->is_thin && memchr(field.data, ':', field.size)
                                       ? "names a member of another archive, which is not supported"
                                       : "has no valid name");
}

bool archive_next(struct archive *archive, struct text *name, struct bytes *data)
{
    struct text field = {0}; /* read_header sets it */

    if (archive->is_file) {
        *name = (struct text){0};
        *data = archive->data;
        return archive->offset++ == 0;
    }
    while (!archive->is_damaged && archive->offset < archive->data.size) {
        if (!read_header(archive, &field, data) || !find_name(archive, field, name, data)) {
            archive->is_damaged = true;
            return false;
        }
        archive->offset = (size_t)(data->data - archive->data.data) + data->size;
        archive->offset += archive->offset % 2;
        if (text_equal(field, TEXT("//")))
            archive->table = (struct text){(const char *)data->data, data->size};
        else if (!is_table_member(*name))
            return true;
    }
    return false;
}

void archive_open(struct archive *archive, const char *name, struct bytes data)
{
    *archive = (struct archive){.name = name, .data = data, .offset = SARMAG, .is_damaged = true};
    if (archive_is_thin(data))
        diag_error("Thin archive '%s' is not supported in an archive: it has only the names of its "
                   "members; make it without ar's option T",
                   name);
    else if (data.size < SARMAG || memcmp(data.data, ARMAG, SARMAG) != 0)
        diag_error("Damaged archive '%s': it does not begin with its magic", name);
    else
        archive->is_damaged = false;
}

void archive_open_file(struct archive *archive, const struct input_file *file)
{
    if (file->kind == FILE_ARCHIVE)
        archive_open(archive, file->path, file->data);
    else
        *archive = (struct archive){.name = file->path, .data = file->data, .is_file = true};
}

const char *archive_object_name(const struct archive *archive, struct text member,
                                struct arena *arena)
{
    if (!member.data)
        return archive->name;
    if (member.size > LONGEST_NAME)
        member.size = LONGEST_NAME;
    return arena_printf(arena, "%s(%.*s)", archive->name, TEXT_ARG(member));
}
