/* dump.c: containers: archives, host objects, fatbins, and their entries. */
#include "dump.h"

#include <elf.h>
#include <inttypes.h>

#include "base/search.h"
#include "diag/diag.h"
#include "diag/escape.h"
#include "input/hostobj.h"
#include "input/member.h"
#include "input/rawcode.h"

/* What a file's entries may decompress to without --decompression-limit: in all, or for each byte
 * of the file, whichever is more. Real ones give a twentieth. */
#define INFLATION_FLOOR (UINT64_C(256) << 20)
#define INFLATION_RATIO 64u

/* One container on its way through the visitors. */
struct visit {
    const struct dump *dump;
    struct inflation *inflation; /* the file's */
    struct arena *arena;         /* the file's, for names */
    const char *name;            /* of the file or archive member */
};

/* An entry of several cubins. */
struct concatenation {
    struct arena arena;
    struct bytes payload; /* uncompressed; empty if that failed */
};

static bool dump_bytes(struct visit *visit, struct bytes data, enum file_kind kind);

void dump_print(const struct dump *dump, const char *format, ...)
{
    LOCAL_BUFFER(shown);
    va_list arguments;

    va_start(arguments, format);
    escape_vprintf(&shown, format, arguments);
    va_end(arguments);
    if (shown.size > 0)
        fwrite(shown.data, 1, shown.size, dump->out);
}

static const char *entry_kind_name(uint32_t kind, char number[16])
{
    switch (kind) {
    case FATBIN_PTX:
        return "PTX";
    case FATBIN_ELF:
        return "ELF";
    case FATBIN_NVVM:
        return "NVVM";
    case FATBIN_BITCODE:
        return "LLVM bitcode";
    case FATBIN_TILE:
        return "Tile IR";
    default:
        snprintf(number, 16, "kind %" PRIu32, kind);
        return number;
    }
}

static void print_flags(const struct dump *dump, uint64_t flags)
{
    static const struct {
        uint64_t bit;
        const char *name;
    } names[] = {
        {FATBIN_64BIT, "64bit"},       {FATBIN_DEBUG, "debug"},
        {FATBIN_LINUX, "linux"},       {FATBIN_LZ4, "lz4"},
        {FATBIN_ZSTD, "zstd"},         {FATBIN_SCRAMBLED, "scrambled"},
        {FATBIN_SUFFIX_A, "suffix-a"}, {FATBIN_SUFFIX_F, "suffix-f"},
        {FATBIN_BLOB, "blob"},
    };
    uint64_t rest = flags;

    dump_print(dump, "    flags 0x%" PRIx64 ":", flags);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (flags & names[i].bit)
            dump_print(dump, " %s", names[i].name);
        rest &= ~names[i].bit;
    }
    if (rest)
        dump_print(dump, " 0x%" PRIx64, rest);
    dump_print(dump, "\n");
}

/* What an entry is called in its container: its number; "2.3" is the third part of the second. */
static const char *entry_number(const struct fatbin_entry *entry, char text[32])
{
    snprintf(text, 32, entry->part ? "%u.%u" : "%u", entry->number, entry->part);
    return text;
}

static void print_entry(const struct dump *dump, const struct fatbin_entry *entry)
{
    char arch[ARCH_NAME_SIZE], kind[16], number[32];

    dump_print(dump, "  entry %s: %s%s %" PRIu16 ".%" PRIu16 " for %s\n",
               entry_number(entry, number), entry->is_relocatable ? "relocatable " : "",
               entry_kind_name(entry->kind, kind), entry->major, entry->minor,
               arch_name(entry->arch, arch));
    print_flags(dump, entry->flags);
    if (entry->uncompressed_size)
        dump_print(dump, "    payload %zu bytes, %" PRIu64 " uncompressed\n", entry->payload.size,
                   entry->uncompressed_size);
    else
        dump_print(dump, "    payload %zu bytes, stored\n", entry->payload.size);
    if (entry->part_size)
        dump_print(dump, "    part of %zu uncompressed bytes at %zu\n", entry->part_size,
                   entry->part_offset);
    if (entry->options.size)
        dump_print(dump, "    options \"%.*s\"\n", TEXT_ARG(entry->options));
    if (entry->identity.size)
        dump_print(dump, "    identity \"%.*s\"\n", TEXT_ARG(entry->identity));
}

static void print_ptx(const struct dump *dump, const char *name, struct bytes code)
{
    struct text text = {(const char *)code.data, code.size};
    LOCAL_BUFFER(shown);

    while (text.size && text.data[text.size - 1] == '\0')
        text.size--;
    dump_print(dump, "PTX of %s:\n", name);
    escape_lines(text, &shown);
    fwrite(shown.data, 1, shown.size, dump->out);
    if (text.size && text.data[text.size - 1] != '\n')
        dump_print(dump, "\n");
}

/* The parts of an entry are views of its payload, which is inflated once. False when that fails,
 * which is reported for the first of them. */
static bool view_part(struct concatenation *whole, const struct fatbin_entry *entry,
                      const char *name, struct inflation *inflation, struct bytes *code)
{
    struct fatbin_entry payload = *entry;

    payload.part_size = 0;
    if (entry->part == 1) {
        arena_free(&whole->arena);
        whole->payload = (struct bytes){0};
        if (!inflate_entry(&payload, name, inflation, &whole->arena, &whole->payload))
            return false;
    }
    return bytes_slice(whole->payload, entry->part_offset, entry->part_size, code);
}

static bool dump_code_of(struct visit *visit, const struct fatbin_entry *entry,
                         struct concatenation *whole)
{
    const struct dump *dump = visit->dump;
    char number[32];
    const char *name =
        arena_printf(visit->arena, "%s(%s)", visit->name, entry_number(entry, number));
    LOCAL_ARENA(arena);
    bool is_ptx = entry->kind == FATBIN_PTX && (dump->parts & DUMP_PTX);
    struct bytes code;

    if (!is_ptx && !(entry->kind == FATBIN_ELF && (dump->parts & DUMP_CUBIN)))
        return true;
    if (!(entry->part_size ? view_part(whole, entry, name, visit->inflation, &code)
                           : inflate_entry(entry, name, visit->inflation, &arena, &code)))
        return false;
    if (!is_ptx)
        return dump_cubin(dump, name, code);
    print_ptx(dump, name, code);
    return true;
}

static bool dump_fatbins(struct visit *visit, struct bytes data)
{
    const struct dump *dump = visit->dump;
    struct concatenation whole = {0};
    bool ok = true;

    CONTEXT_DEFER(arena_cleanup, &whole.arena);
    for (unsigned number = 1; data.size > 0; number++) {
        struct fatbin fatbin;
        struct fatbin_entry entry;
        enum fatbin_result result;
        size_t size;

        if (!fatbin_open(&fatbin, visit->name, data, &size))
            return false;
        if (dump->parts & DUMP_FATBIN)
            dump_print(dump, "fatbin %u of %s: %zu bytes\n", number, visit->name, size);
        while ((result = fatbin_next(&fatbin, &entry)) == FATBIN_ENTRY) {
            if (dump->parts & DUMP_FATBIN)
                print_entry(dump, &entry);
            ok &= dump_code_of(visit, &entry, &whole);
        }
        if (result == FATBIN_DAMAGED)
            return false;
        data = (struct bytes){data.data + size, data.size - size};
    }
    return ok;
}

static bool dump_bitcode(const struct dump *dump, const char *name, struct bytes data)
{
    struct bitcode bitcode;
    char arch[ARCH_NAME_SIZE];

    if (!bitcode_read(&bitcode, name, data))
        return false;
    dump_print(dump, "LLVM bitcode %s: %zu bytes by %s, target %s%s%s\n", name, bitcode.code.size,
               bitcode.producer[0] ? bitcode.producer : "an unknown producer",
               bitcode.triple[0] ? bitcode.triple : "unknown", bitcode.arch.sm ? ", for " : "",
               bitcode.arch.sm ? arch_name(bitcode.arch, arch) : "");
    return true;
}

static bool visit_image(void *argument, const struct offload_image *image)
{
    static const char *const producers[] = {
        [1] = "OpenMP", [2] = "CUDA", [4] = "HIP", [8] = "SYCL"};
    struct visit *outer = argument;
    const struct dump *dump = outer->dump;
    struct visit visit = *outer;
    const char *producer =
        image->producer < sizeof producers / sizeof *producers ? producers[image->producer] : NULL;

    visit.name = arena_printf(visit.arena, "%s(%u)", outer->name, image->number);
    if (dump->parts & DUMP_FATBIN)
        dump_print(dump, "  image %u: %s of %s for %.*s %.*s, %zu bytes\n", image->number,
                   offload_kind_name(image->kind), producer ? producer : "an unknown producer",
                   TEXT_ARG(image->triple), TEXT_ARG(image->arch), image->data.size);
    return !offload_is_device(image) || dump_bytes(&visit, image->data, file_classify(image->data));
}

static bool dump_offload(struct visit *visit, struct bytes data)
{
    if (visit->dump->parts & DUMP_FATBIN)
        dump_print(visit->dump, "offload binary %s: %zu bytes\n", visit->name, data.size);
    return offload_walk(visit->name, data, visit_image, visit);
}

static bool dump_host_object(struct visit *visit, struct bytes data)
{
    struct hostobj object;
    struct bytes contents;
    const char *section;

    HOSTOBJ_OPEN(&object, visit->name, data);
    while (hostobj_next_code(&object, &section, &contents)) {
        if (visit->dump->parts & DUMP_FATBIN)
            dump_print(visit->dump, "host object %s: section %s, %zu bytes\n", visit->name, section,
                       contents.size);
        if (!(strcmp(section, OFFLOAD_SECTION) == 0 ? dump_offload(visit, contents)
                                                    : dump_fatbins(visit, contents)))
            return false;
    }
    return !object.is_damaged;
}

static bool dump_archive(const struct visit *outer, struct bytes data)
{
    struct archive archive;
    struct text name;

    if (outer->dump->parts & DUMP_FATBIN)
        dump_print(outer->dump, "archive %s\n", outer->name);
    archive_open(&archive, outer->name, data);
    while (archive_next(&archive, &name, &data)) {
        struct visit visit = *outer;
        enum file_kind kind = file_classify(data);

        visit.name = archive_object_name(&archive, name, visit.arena);
        if (kind != FILE_ARCHIVE && !dump_bytes(&visit, data, kind))
            return false;
    }
    return !archive.is_damaged;
}

static bool dump_bytes(struct visit *visit, struct bytes data, enum file_kind kind)
{
    const struct dump *dump = visit->dump;

    switch (kind) {
    case FILE_HOST_OBJECT:
        return dump_host_object(visit, data);
    case FILE_ARCHIVE:
        return dump_archive(visit, data);
    case FILE_FATBIN:
        return dump_fatbins(visit, data);
    case FILE_CUBIN:
        return !(dump->parts & DUMP_CUBIN) || dump_cubin(dump, visit->name, data);
    case FILE_PTX:
        if (dump->parts & DUMP_PTX)
            print_ptx(dump, visit->name, data);
        return true;
    case FILE_BITCODE:
        return !(dump->parts & DUMP_FATBIN) || dump_bitcode(dump, visit->name, data);
    case FILE_OFFLOAD:
        return dump_offload(visit, data);
    default:
        dump_print(dump, "%s: %s\n", visit->name, file_kind_name(kind));
        return true;
    }
}

static void print_member(const struct dump *dump, const struct member *member, bool is_selected)
{
    char arch[ARCH_NAME_SIZE], number[16];

    dump_print(dump, "  %s: %s for %s", member->name, entry_kind_name(member->entry.kind, number),
               arch_name(member->entry.arch, arch));
    if (is_selected)
        dump_print(dump, ", %s (%s)", member_role_name(member->role),
                   member->reason ? member->reason : "");
    dump_print(dump, "\n");
}

static bool select_quietly(struct members *members, const struct member_request *request)
{
    DIAG_SILENCE();
    return members_select(members, request);
}

/* Roles depend on the target. If none was given and the file allows several, that is no error: the
 * members are listed without roles. */
static bool dump_members(const struct dump *dump, const struct inputs *inputs)
{
    const struct member_request request = {
        .arch = dump->arch, .toolkit = toolkits_newest(), .suppress_arch_warning = true};
    struct members members = {0};
    char arch[ARCH_NAME_SIZE];
    bool ok, is_selected;

    CONTEXT_DEFER(members_free, &members);
    ok = members_collect(&members, inputs);
    is_selected = ok && (dump->arch.sm ? members_select : select_quietly)(&members, &request);
    if (is_selected && members.arch.sm)
        dump_print(dump, "members for %s:\n", arch_name(members.arch, arch));
    else if (members.count)
        dump_print(dump, "members:\n");
    for (size_t i = 0; ok && i < members.count; i++)
        print_member(dump, &members.list[i], is_selected);
    return ok && (is_selected || dump->arch.sm == 0);
}

bool dump_file(const struct dump *dump, const struct inputs *inputs)
{
    bool ok = true;

    for (size_t i = 0; i < inputs->count; i++) {
        uint64_t size = inputs->files[i].data.size;
        struct inflation inflation = {.limit = INFLATION_FLOOR, .option = "--decompression-limit"};
        LOCAL_ARENA(arena);
        struct visit visit = {dump, &inflation, &arena, inputs->files[i].path};

        RAISE(inflation.limit, size * INFLATION_RATIO);
        if (dump->inflation_limit)
            inflation.limit = dump->inflation_limit;
        ok &= dump_bytes(&visit, inputs->files[i].data, inputs->files[i].kind);
    }
    if (ok && (dump->parts & DUMP_MEMBERS))
        ok = dump_members(dump, inputs);
    return ok;
}
