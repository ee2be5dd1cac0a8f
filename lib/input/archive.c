/* archive.c: ar archives, by libelf.
 *
 * An archive is "!<arch>\n" and then members: a 60-byte text header and the data, padded to 2
 * bytes. libelf follows the headers and resolves long names, but it silently stops at a damaged
 * header and truncates a member that the end of the file cuts off. So each header is also checked
 * here, and the walk must end exactly at the end of the file.
 *
 * Of a thin archive all members are found first, and then copied into one block of memory. */
#include "input/archive.h"

#include <ar.h>
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdio.h>
#include <unistd.h>

#include "diag/diag.h"
#include "input/file.h"
#include "os/descriptor.h"
#include "os/elf_library.h"

#define THIN_MAGIC "!<thin>\n"

struct walk {
    const char *name;
    struct bytes data;
    size_t offset; /* of the next member's header */
    archive_visit *visit;
    void *argument;
    Elf *archive;
    Elf *member; /* libelf's current one */
};

static void close_walk(void *argument)
{
    struct walk *walk = argument;

    elf_end(walk->member);
    elf_end(walk->archive);
}

static bool report_damaged_archive(const char *name, size_t offset, const char *what)
{
    return diag_error("Damaged archive '%s': the member header at offset %zu %s", name, offset,
                      what);
}

bool thin_is(struct bytes data)
{
    return data.size >= SARMAG && memcmp(data.data, THIN_MAGIC, SARMAG) == 0;
}

/* A decimal number, left-aligned and padded with blanks. */
static bool read_field_number(struct text field, uint64_t *number)
{
    while (field.size > 0 && field.data[field.size - 1] == ' ')
        field.size--;
    return text_scan_number(&field, number) && field.size == 0;
}

/* Reads the header at walk->offset without libelf: sets *name to its name field and *member to the
 * member's data. */
static bool read_header(const struct walk *walk, struct text *name, struct bytes *member)
{
    struct bytes part;
    struct ar_hdr header;
    uint64_t size;

    if (!bytes_slice(walk->data, walk->offset, sizeof header, &part))
        return diag_error(
            "Damaged archive '%s': the member header at offset %zu has 60 bytes, but only "
            "%zu are left",
            walk->name, walk->offset, walk->data.size - walk->offset);
    memcpy(&header, part.data, sizeof header);
    if (memcmp(header.ar_fmag, ARFMAG, sizeof header.ar_fmag) != 0)
        return report_damaged_archive(walk->name, walk->offset, "does not end with its mark");
    if (!read_field_number((struct text){header.ar_size, sizeof header.ar_size}, &size))
        return report_damaged_archive(walk->name, walk->offset, "has a size that is no number");
    *name = (struct text){(const char *)part.data, sizeof header.ar_name};
    if (!bytes_slice(walk->data, walk->offset + sizeof header, size, member))
        return diag_error(
            "Damaged archive '%s': the member at offset %zu has %llu bytes, but only %zu are "
            "left",
            walk->name, walk->offset, (unsigned long long)size,
            walk->data.size - walk->offset - sizeof header);
    return true;
}

/* Symbol tables (GNU, GNU 64-bit, BSD) and the table of long names. */
static bool is_table_member(struct text name)
{
    return text_equal(name, TEXT("/")) || text_equal(name, TEXT("//")) ||
           text_equal(name, TEXT("/SYM64/")) || text_starts(name, TEXT("__.SYMDEF"));
}

/* BSD archives write "#1/20" and put the 20 bytes of the name in front of the data. */
static bool take_bsd_name(struct text field, struct text *name, struct bytes *data)
{
    uint64_t size;
    struct bytes part;

    if (!read_field_number(text_drop(field, 3), &size) || !bytes_slice(*data, 0, size, &part))
        return false;
    *name = (struct text){(const char *)part.data, strnlen((const char *)part.data, part.size)};
    *data = (struct bytes){data->data + size, data->size - (size_t)size};
    return true;
}

/* Visits libelf's current member and advances walk->offset. */
static bool visit_current_member(struct walk *walk)
{
    Elf_Arhdr *header = elf_getarhdr(walk->member);
    struct bytes data;
    struct text field, name;

    if (!read_header(walk, &field, &data))
        return false;
    if (!header || !header->ar_name) {
        elf_library_failure();
        return report_damaged_archive(walk->name, walk->offset, "has no valid name");
    }
    name = text_of(header->ar_name);
    if (text_starts(field, TEXT("#1/")) && !take_bsd_name(field, &name, &data))
        return report_damaged_archive(walk->name, walk->offset, "has no valid name");
    if (!is_table_member(name) && !walk->visit(walk->argument, name, data))
        return false;
    walk->offset = (size_t)(data.data - walk->data.data) + data.size;
    walk->offset += walk->offset % 2;
    return true;
}

/* libelf stopped in front of the header at walk->offset. */
static bool report_stop(const struct walk *walk)
{
    const char *why = elf_library_failure();
    struct bytes data;
    struct text field;

    if (read_header(walk, &field, &data))
        diag_error("Damaged archive '%s': the member at offset %zu cannot be read: %s", walk->name,
                   walk->offset, why ? why : "unknown");
    return false;
}

static bool visit_members(struct walk *walk)
{
    /* With this command libelf takes members from the archive's memory: there is no descriptor. */
    Elf_Cmd command = ELF_C_READ_MMAP;

    while (walk->offset < walk->data.size) {
        bool ok;

        walk->member = command == ELF_C_NULL ? NULL : elf_begin(-1, command, walk->archive);
        if (!walk->member)
            return report_stop(walk);
        ok = visit_current_member(walk);
        command = elf_next(walk->member);
        elf_end(walk->member);
        walk->member = NULL;
        if (!ok)
            return false;
    }
    return true;
}

static bool open_archive(struct walk *walk)
{
    const char *why;

    elf_library_begin();
    /* libelf only reads a memory image that was opened like this. */
    walk->archive = elf_memory((char *)(uintptr_t)walk->data.data, walk->data.size);
    if (walk->archive && elf_kind(walk->archive) == ELF_K_AR)
        return true;
    why = elf_library_failure();
    return diag_error("Damaged archive '%s': %s", walk->name,
                      why ? why : "libelf takes it for no archive");
}

bool archive_walk(const char *name, struct bytes data, archive_visit *visit, void *argument)
{
    struct walk walk = {
        .name = name, .data = data, .offset = SARMAG, .visit = visit, .argument = argument};

    if (thin_is(data))
        return diag_error(
            "Thin archive '%s' is not supported in an archive: it has only the names of its "
            "members; make it without ar's option T",
            name);
    if (data.size < SARMAG || memcmp(data.data, ARMAG, SARMAG) != 0)
        return diag_error("Damaged archive '%s': it does not begin with its magic", name);
    CONTEXT_DEFER(close_walk, &walk);
    return open_archive(&walk) && visit_members(&walk);
}

bool archive_walk_file(const struct input_file *file, archive_visit *visit, void *argument)
{
    return file->kind == FILE_ARCHIVE ? archive_walk(file->path, file->data, visit, argument)
                                      : visit(argument, (struct text){0}, file->data);
}

/* The largest size that a header's ten digits can hold. */
#define LARGEST_MEMBER 9999999999

struct thin_member {
    const char *path;
    size_t size;
    size_t name; /* offset of its name in the new table of long names */
};

struct thin {
    struct inputs *inputs;
    const struct input_file *file;
    struct text names;   /* the table of long names */
    struct buffer table; /* the new one, of names without folders */
    struct thin_member *members;
    size_t count, capacity;
    size_t size; /* of the new archive */
    int fd;      /* of the member at hand */
};

static void free_thin(void *argument)
{
    struct thin *thin = argument;

    if (thin->fd >= 0)
        close(thin->fd);
    buffer_free(&thin->table);
}

static bool member_failed(const struct thin *thin, const char *path, const char *why)
{
    return diag_fatal("Could not open input file '%s', a member of thin archive '%s': %s", path,
                      thin->file->path, why);
}

/* A decimal number at the start of a field, followed by a blank or the field's end. */
static bool read_thin_number(struct text field, uint64_t *number)
{
    return text_scan_number(&field, number) && (!field.size || *field.data == ' ');
}

static struct text trim(const char *field, size_t width)
{
    while (width > 0 && field[width - 1] == ' ')
        width--;
    return (struct text){field, width};
}

/* The member's name: in the table ("/123"), or in the header ("x.o/"). */
static bool find_name(const struct thin *thin, size_t offset, struct text field, struct text *name)
{
    const char *end;
    uint64_t at;

    if (field.size > 1 && field.data[0] == '/') {
        if (memchr(field.data, ':', field.size))
            return report_damaged_archive(
                thin->file->path, offset,
                "names a member of another archive, which is not supported");
        if (!read_thin_number(text_drop(field, 1), &at) || at >= thin->names.size)
            return report_damaged_archive(thin->file->path, offset, "has no valid name");
        field = (struct text){thin->names.data + at, thin->names.size - at};
        end = memmem(field.data, field.size, "/\n", 2);
    } else {
        end = field.size ? memchr(field.data, '/', field.size) : NULL;
    }
    if (!end || end == field.data || memchr(field.data, '\0', (size_t)(end - field.data)))
        return report_damaged_archive(thin->file->path, offset, "has no valid name");
    *name = (struct text){field.data, (size_t)(end - field.data)};
    return true;
}

static const char *place_name(const struct thin *thin, struct text name)
{
    const char *slash = name.data[0] == '/' ? NULL : strrchr(thin->file->path, '/');
    int folder = slash ? (int)(slash - thin->file->path) + 1 : 0;

    return arena_printf(&thin->inputs->arena, "%.*s%.*s", folder, thin->file->path, TEXT_ARG(name));
}

static bool add_thin_member(struct thin *thin, struct text name)
{
    const char *path = place_name(thin, name);
    struct stat status;

    if (stat(path, &status) != 0)
        return member_failed(thin, path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return member_failed(thin, path, "it is no regular file");
    if (status.st_size > LARGEST_MEMBER)
        return member_failed(thin, path, "it is too large for an archive");
    ARENA_PUSH(&thin->inputs->arena, thin->members, thin->count, thin->capacity) =
        (struct thin_member){path, (size_t)status.st_size, thin->table.size};
    buffer_printf(&thin->table, "%s/\n", basename(path));
    thin->size += sizeof(struct ar_hdr) + (size_t)status.st_size + 1;
    return true;
}

static bool find_thin_members(struct thin *thin)
{
    struct bytes part;

    for (size_t at = SARMAG; at < thin->file->data.size; at += at % 2) {
        size_t offset = at;
        uint64_t size;
        struct ar_hdr header;
        struct text field, name = {0};

        if (!bytes_slice(thin->file->data, at, sizeof header, &part))
            return report_damaged_archive(thin->file->path, offset, "is cut off");
        memcpy(&header, part.data, sizeof header);
        at += sizeof header;
        if (memcmp(header.ar_fmag, ARFMAG, sizeof header.ar_fmag) != 0)
            return report_damaged_archive(thin->file->path, offset, "does not end with its mark");
        field = trim((const char *)part.data, sizeof header.ar_name);
        if (!is_table_member(field)) {
            if (!find_name(thin, offset, field, &name) || !add_thin_member(thin, name))
                return false;
            continue;
        }
        if (!read_thin_number((struct text){header.ar_size, sizeof header.ar_size}, &size) ||
            !bytes_slice(thin->file->data, at, size, &part))
            return report_damaged_archive(thin->file->path, offset, "has a size that is not there");
        at += size;
        if (text_equal(field, TEXT("//")))
            thin->names = (struct text){(const char *)part.data, part.size};
    }
    return true;
}

static uint8_t *put_member_header(uint8_t *to, const char *name, size_t size)
{
    char line[128];

    snprintf(line, sizeof line, "%-16.16s%-12u%-6u%-6u%-8o%-10zu" ARFMAG, name, 0u, 0u, 0u, 0644u,
             size);
    memcpy(to, line, sizeof(struct ar_hdr));
    return to + sizeof(struct ar_hdr);
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

static bool copy_members(struct thin *thin, struct bytes *archive)
{
    uint8_t *start, *to;

    thin->size += SARMAG + sizeof(struct ar_hdr) + thin->table.size + 1;
    start = to = arena_alloc(&thin->inputs->arena, thin->size, 1);
    memcpy(to, ARMAG, SARMAG);
    to = put_member_header(to + SARMAG, "//", thin->table.size);
    if (thin->table.size)
        memcpy(to, thin->table.data, thin->table.size);
    to += thin->table.size;
    for (size_t i = 0; i < thin->count; i++) {
        const struct thin_member *member = &thin->members[i];
        char name[24];

        if ((to - start) % 2)
            *to++ = '\n';
        snprintf(name, sizeof name, "/%zu", member->name);
        to = put_member_header(to, name, member->size);
        if (!read_member(thin, member, to))
            return false;
        to += member->size;
    }
    *archive = (struct bytes){start, (size_t)(to - start)};
    return true;
}

bool thin_gather(struct inputs *inputs, struct input_file *file)
{
    struct thin thin = {.inputs = inputs, .file = file, .fd = -1};

    CONTEXT_DEFER(free_thin, &thin);
    if (!find_thin_members(&thin) || !copy_members(&thin, &file->data))
        return false;
    for (size_t i = 0; i < thin.count; i++)
        ARENA_PUSH(&inputs->arena, inputs->thin_files.list, inputs->thin_files.count,
                   inputs->thin_files.capacity) = thin.members[i].path;
    return true;
}
