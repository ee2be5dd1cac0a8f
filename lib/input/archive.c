/* archive.c: ar archives, by libelf.
 *
 * An archive is "!<arch>\n" and then members: a 60-byte text header and the data, padded to 2
 * bytes. libelf follows the headers and resolves long names, but it silently stops at a damaged
 * header and truncates a member that the end of the file cuts off. So each header is also checked
 * here, and the walk must end exactly at the end of the file. */
#include "input/archive.h"

#include <ar.h>
#include <libelf.h>

#include "base/context.h"
#include "diag/diag.h"
#include "os/elf_library.h"

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

static bool report_damaged_archive(const struct walk *walk, const char *what)
{
    return diag_error("Damaged archive '%s': the member header at offset %zu %s", walk->name,
                      walk->offset, what);
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
        return report_damaged_archive(walk, "does not end with its mark");
    if (!read_field_number((struct text){header.ar_size, sizeof header.ar_size}, &size))
        return report_damaged_archive(walk, "has a size that is no number");
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
        return report_damaged_archive(walk, "has no valid name");
    }
    name = text_of(header->ar_name);
    if (text_starts(field, TEXT("#1/")) && !take_bsd_name(field, &name, &data))
        return report_damaged_archive(walk, "has no valid name");
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

    if (data.size >= SARMAG && memcmp(data.data, "!<thin>\n", SARMAG) == 0)
        return diag_error(
            "Thin archive '%s' is not supported in an archive: it has only the names of its "
            "members; make it without ar's option T",
            name);
    if (data.size < SARMAG || memcmp(data.data, ARMAG, SARMAG) != 0)
        return diag_error("Damaged archive '%s': it does not begin with its magic", name);
    CONTEXT_DEFER(close_walk, &walk);
    return open_archive(&walk) && visit_members(&walk);
}
