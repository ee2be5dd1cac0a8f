/* archive.c: ar archives, whose walk must end exactly at the end of the file.
 *
 * An archive is "!<arch>\n" and then members: a 60-byte text header and the data, padded to 2
 * bytes. A name is in the header ("x.o/"), in the table of long names, which comes first ("/123",
 * GNU), or in front of the data ("#1/20", BSD, with that many bytes).
 *
 * Of a thin archive all members are found first, and then copied into one block of memory. */
#include "input/archive.h"

#include <ar.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/context.h"
#include "diag/diag.h"
#include "input/file.h"
#include "os/descriptor.h"

#define THIN_MAGIC "!<thin>\n"

/* A long name comes from a foreign file, and the name of each entry in the member repeats it. */
#define LONGEST_NAME 1024u

static bool report_damaged_archive(const struct archive *archive, const char *what)
{
    return diag_error("Damaged archive '%s': the member header at offset %zu %s", archive->name,
                      archive->offset, what);
}

bool thin_is(struct bytes data)
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
        return report_damaged_archive(archive, "does not end with its mark");
    *field = trim((const char *)part.data, sizeof header.ar_name);
    if ((!archive->is_thin || is_table_member(*field)) &&
        !read_whole_number(trim(header.ar_size, sizeof header.ar_size), &size))
        return report_damaged_archive(archive, "has a size that is no number");
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
    return report_damaged_archive(archive,
                                  archive->is_thin && memchr(field.data, ':', field.size)
                                      ? "names a member of another archive, which is not supported"
                                      : "has no valid name");
}

bool archive_next(struct archive *archive, struct text *name, struct bytes *data)
{
    struct text field;

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
    if (thin_is(data))
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

/* The largest size, with the name's, that a header's ten digits can hold. */
#define LARGEST_MEMBER (9999999999 - NAME_MAX)

struct thin_member {
    const char *path, *name;
    size_t name_size; /* even, so that data is aligned as in other archives */
    size_t size;      /* of the file */
};

struct thin {
    struct inputs *inputs;
    const struct input_file *file;
    struct thin_member *members;
    size_t count, capacity;
    size_t size; /* of the new archive */
    int fd;      /* of the member at hand */
};

static void close_thin(void *thin)
{
    int fd = ((struct thin *)thin)->fd;

    if (fd >= 0)
        close(fd);
}

static bool member_failed(const struct thin *thin, const char *path, const char *why)
{
    return diag_fatal("Could not open input file '%s', a member of thin archive '%s': %s", path,
                      thin->file->path, why);
}

static bool add_thin_member(struct thin *thin, struct text name)
{
    const char *slash = name.data[0] == '/' ? NULL : strrchr(thin->file->path, '/');
    int folder = slash ? (int)(slash - thin->file->path) + 1 : 0;
    struct thin_member member = {.path = arena_printf(&thin->inputs->arena, "%.*s%.*s", folder,
                                                      thin->file->path, TEXT_ARG(name))};
    struct stat status;

    if (stat(member.path, &status) != 0)
        return member_failed(thin, member.path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return member_failed(thin, member.path, "it is no regular file");
    if (status.st_size > LARGEST_MEMBER)
        return member_failed(thin, member.path, "it is too large for an archive");
    member.name = basename(member.path);
    member.name_size = (strlen(member.name) + 1) & ~(size_t)1;
    member.size = (size_t)status.st_size;
    thin->size += sizeof(struct ar_hdr) + member.name_size + member.size + 1;
    ARENA_PUSH(&thin->inputs->arena, thin->members, thin->count, thin->capacity) = member;
    return true;
}

static bool read_member(struct thin *thin, const struct thin_member *member, uint8_t *to)
{
    const struct bytes contents = {to, member->size};
    struct file_version version;
    struct stat status;

    thin->fd = open(member->path, O_RDONLY | O_CLOEXEC);
    if (thin->fd < 0 || fstat(thin->fd, &status))
        return member_failed(thin, member->path, strerror(errno));
    file_version_wait_for_writer(thin->fd, &status);
    if ((size_t)status.st_size > member->size)
        return member_failed(thin, member->path, "it became longer while it was read");
    if (!descriptor_read(thin->fd, to, member->size, 0))
        return member_failed(thin, member->path,
                             errno ? strerror(errno) : "it became shorter while it was read");
    version = file_version_of(&status);
    watch_add(thin->inputs->watch, member->path, &version,
              file_version_is_settled(&version) ? NULL : &contents);
    close(thin->fd);
    thin->fd = -1;
    return true;
}

/* Makes an archive in which names are in front of the data. */
static bool copy_members(struct thin *thin, struct bytes *archive)
{
    uint8_t *start = arena_alloc(&thin->inputs->arena, SARMAG + thin->size, 1);
    uint8_t *to = mempcpy(start, ARMAG, SARMAG);

    for (size_t i = 0; i < thin->count; i++) {
        const struct thin_member *member = &thin->members[i];

        to += sprintf((char *)to, "#1/%-13zu%-12u%-6u%-6u%-8o%-10zu" ARFMAG, member->name_size, 0u,
                      0u, 0u, 0644u, member->name_size + member->size);
        memset(to, 0, member->name_size);
        memcpy(to, member->name, strlen(member->name));
        to += member->name_size;
        if (!read_member(thin, member, to))
            return false;
        to += member->size;
        if (member->size % 2)
            *to++ = '\n';
    }
    *archive = (struct bytes){start, (size_t)(to - start)};
    return true;
}

bool thin_gather(struct inputs *inputs, const struct input_file *file, struct bytes *archive)
{
    struct thin thin = {.inputs = inputs, .file = file, .fd = -1};
    struct archive names = {
        .name = file->path, .data = file->data, .is_thin = true, .offset = SARMAG};
    struct text name;
    struct bytes data;

    *archive = (struct bytes){0};
    CONTEXT_DEFER(close_thin, &thin);
    while (archive_next(&names, &name, &data))
        if (!add_thin_member(&thin, name))
            return false;
    if (names.is_damaged || !copy_members(&thin, archive))
        return false;
    for (size_t i = 0; i < thin.count; i++)
        ARENA_PUSH(&inputs->arena, inputs->thin_files.list, inputs->thin_files.count,
                   inputs->thin_files.capacity) = thin.members[i].path;
    return true;
}
