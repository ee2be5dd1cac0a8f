/* map.c: --map: a text map of the output, which is the same for the same inputs and options,
 * whatever the number of threads and chunks.
 *
 *      offset        size align  section, member:(its section), symbol
 *         840         180   128  .text.kernel
 *         840         180               a.o(1):(.text.kernel)
 *         840         180                      kernel
 *
 * Names come from inputs: escape_printf() ensures that none of them ends a line. Offsets are places
 * in the file, hexadecimal like the sizes; data without bytes in the file (shared memory, zeroed
 * variables) is listed by its address in its section. */
#include <inttypes.h>
#include <stdio.h>

#include "diag/escape.h"
#include "observe/internal.h"

static void put_map_members(const struct observation *seen, struct buffer *out)
{
    buffer_string(out, "\nMembers\n\n       bytes  as        target    member\n");
    for (size_t i = 0; i < seen->member_count; i++) {
        const struct member *member = seen->members[i].of;
        char bytes[24] = "-", arch[ARCH_NAME_SIZE] = "-";

        if (member->role == MEMBER_UNUSED)
            continue;
        if (!seen->members[i].is_made) {
            snprintf(bytes, sizeof bytes, "%zu", member->entry.payload.size);
            arch_name(member->entry.arch, arch);
        }
        escape_printf(out, "%12s  %-8s  %-8s  %s\n", bytes, member_role_name(member->role), arch,
                      member->name);
    }
}

#define PLACE "%12" PRIx64 "%12" PRIx64

/* Prints the symbols in a section from number *at on that lie below `end`. */
static void print_section_symbols(const struct observation *seen, uint32_t section, uint64_t end,
                                  size_t *at, struct buffer *out)
{
    const struct merge_section *in = &seen->places->sections[section];

    for (; *at < seen->places->name_count; (*at)++) {
        const struct merge_name *name = &seen->places->names[*at];

        if (name->section != section || (name->value >= end && end < in->size))
            return;
        escape_printf(out, PLACE "%22s%.*s\n", (in->has_no_bytes ? 0 : in->offset) + name->value,
                      name->size, "", TEXT_ARG(name->name));
    }
}

static void map_section(const struct observation *seen, uint32_t number, size_t *piece,
                        size_t *name, struct buffer *out)
{
    const struct merge_section *section = &seen->places->sections[number];
    uint64_t base = section->has_no_bytes ? 0 : section->offset;

    escape_printf(out, PLACE "%6" PRIu64 "  %.*s\n", base, section->size, section->alignment,
                  TEXT_ARG(section->name));
    for (; *piece < seen->piece_count && seen->pieces[*piece].section == number; (*piece)++) {
        const struct fact_piece *from = &seen->pieces[*piece];
        const char *member =
            from->member == FACT_NONE ? "(minilink)" : seen->members[from->member].of->name;

        print_section_symbols(seen, number, from->offset, name, out);
        escape_printf(out, PLACE "%15s%s:(%.*s)\n", base + from->offset, from->size, "", member,
                      TEXT_ARG(from->name));
    }
    print_section_symbols(seen, number, UINT64_MAX, name, out);
}

static void print_image_sections(const struct observation *seen, struct buffer *out)
{
    size_t piece = 0, name = 0;

    while (name < seen->places->name_count && !seen->places->names[name].section)
        name++;
    buffer_string(out, "\nSections\n\n"
                       "      offset        size align  section, member:(its section), symbol\n");
    for (uint32_t i = 1; i < seen->places->section_count; i++)
        map_section(seen, i, &piece, &name, out);
}

static void put_undefined(const struct observation *seen, struct buffer *out)
{
    const char *heading = "\nUndefined\n\n";

    for (size_t i = 0; i < seen->places->name_count && !seen->places->names[i].section; i++) {
        const struct merge_name *name = &seen->places->names[i];

        if (name->name.size == 0)
            continue;
        buffer_string(out, heading);
        heading = "";
        escape_printf(out, "%32s%.*s\n", "", TEXT_ARG(name->name));
    }
}

void map_print_drop(const struct fact_drop *drop, struct buffer *out)
{
    escape_printf(out, "%-8s  %.*s%s%s: %s\n", drop->what, TEXT_ARG(drop->name),
                  drop->member ? " of " : "", drop->member ? drop->member : "", drop->why);
}

void map_print(struct observation *seen, struct buffer *out)
{
    char arch[ARCH_NAME_SIZE];

    escape_printf(out, "minilink %s, map of '%s' for %s", seen->link.version,
                  seen->link.output ? seen->link.output : "", arch_name(seen->arch, arch));
    if (seen->places)
        buffer_printf(out, ": %" PRIu64 " bytes, %s", seen->places->file_size,
                      facts_output_kind(seen));
    buffer_char(out, '\n');
    put_map_members(seen, out);
    if (seen->places) {
        print_image_sections(seen, out);
        put_undefined(seen, out);
    }
    if (seen->drop_count)
        buffer_string(out, "\nLeft out\n\n");
    for (size_t i = 0; i < seen->drop_count; i++)
        map_print_drop(&seen->drops[i], out);
}
