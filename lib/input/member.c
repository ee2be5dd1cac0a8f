/* member.c: lists all device code in the inputs, and selects what takes part.
 *
 * Code is in fatbins and offload binaries (in sections of host objects, which may be members of
 * archives, or in files of their own) and in raw cubin, PTX, LTO-IR and bitcode files. Each fatbin
 * is one group, from which select.c chooses, and so are the images that one compilation has put
 * into offload binaries; a raw file is a group of its own. */
#include "input/internal.h"

#include <stdlib.h>

#include "diag/diag.h"
#include "input/rawcode.h"
#include "input/hostobj.h"

/* Most targets that one compilation has images for. */
#define MOST_TARGETS 32u

#define PTX_INFLATION   (UINT64_C(64) << 20)
#define CUBIN_INFLATION (UINT64_C(256) << 20)
#define INFLATION_RATIO 64u

/* The state of the collection. */
struct collector {
    struct members *members;
    const char *file;   /* operand; one pointer per operand */
    const char *object; /* object_name of the next members; == file outside archives */
    unsigned number;    /* of the entry last seen in the object */
    uint32_t group;     /* of the next fatbin or raw file */
    bool is_system;     /* the operand is a library of the toolkit */
    bool is_whole;      /* the section at hand holds whole programs */
    bool has_sections;  /* the host object at hand has sections with device code */
    bool is_compilers;  /* a compiler made the command line, of all that the program has */
    bool is_passed;     /* the operand is one of all the program's libraries, which nvcc names */
    bool ok;
};

static struct member *collect_entry(struct collector *collector, const char *name,
                                    const struct fatbin_entry *entry)
{
    struct members *members = collector->members;
    struct member *member = &ARRAY_PUSH(members->list, members->count, members->capacity);

    *member = (struct member){
        .name = name,
        .file = collector->file,
        .object_name = collector->object,
        .is_system = collector->is_system,
        .is_whole = collector->is_whole,
        .group = collector->group,
        .entry = *entry,
        .role = MEMBER_UNUSED,
        .reason = "not selected",
    };
    if (entry->arch.suffix)
        member->entry.flags |= entry->arch.suffix == 'a' ? FATBIN_SUFFIX_A : FATBIN_SUFFIX_F;
    return member;
}

/* A fatbin is one choice, but for relocatable PTX, of which each object is one. */
static bool is_other_choice(const struct fatbin_entry *entry, const struct fatbin_entry *last)
{
    return entry->is_relocatable != last->is_relocatable ||
           (entry->is_relocatable && !text_equal(entry->identity, last->identity));
}

static void collect_entries(struct collector *collector, struct fatbin *fatbin)
{
    struct fatbin_entry entry, last = {0};
    enum fatbin_result result;

    while ((result = fatbin_next(fatbin, &entry)) == FATBIN_ENTRY) {
        struct arena *arena = &collector->members->arena;
        const char *name;

        collector->group += is_other_choice(&entry, &last);
        last = entry;
        collector->number += entry.part <= 1;
        name = entry.part ? arena_printf(arena, "%s(%u.%u)", collector->object, collector->number,
                                         entry.part)
                          : arena_printf(arena, "%s(%u)", collector->object, collector->number);
        collect_entry(collector, name, &entry);
    }
    if (result == FATBIN_DAMAGED)
        collector->ok = false;
    collector->group++;
}

/* Only another container or padding may follow a container: other bytes may be code that would be
 * lost silently, for example when the header's size is wrong. */
static void report_trailing(struct collector *collector, const struct fatbin *fatbin, size_t size)
{
    diag_error(
        "Damaged fatbin '%s': the header at offset 8 says that %zu bytes follow, but %zu more "
        "are there, which are neither padding nor another fatbin",
        fatbin->name, fatbin->bytes.size - FATBIN_HEADER_SIZE, size);
    collector->ok = false;
}

/* Collects the containers that are back to back in `data`, which is called `name` in messages. */
static void collect_fatbins(struct collector *collector, const char *name, struct bytes data)
{
    struct fatbin fatbin = {.name = name};
    const char *fatbin_name = name;
    size_t size;

    for (size_t at = 0; at < data.size; at += size) {
        struct bytes rest = {data.data + at, data.size - at};

        if (at > 0 && (rest.size < 4 || little_u32(rest.data) != FATBIN_MAGIC)) {
            if (!bytes_are_zero(rest))
                report_trailing(collector, &fatbin, rest.size);
            return;
        }
        if (at > 0)
            fatbin_name = arena_printf(&collector->members->arena, "%s+0x%zx", name, at);
        if (!fatbin_open(&fatbin, fatbin_name, rest, &size)) {
            collector->ok = false;
            return;
        }
        collect_entries(collector, &fatbin);
    }
}

/* Objects that a host compiler made for its own LTO are bitcode, too: a compiler's command line and
 * archives have them. */
static void pass_over_bitcode(struct collector *collector, const char *name,
                              const struct bitcode *bitcode)
{
    if (collector->object != collector->file || collector->is_passed) {
        diag_verbose("'%s' is ignored: LLVM bitcode for '%s'", name, bitcode->triple);
    } else if (collector->is_compilers) {
        diag_warning("Input file '%s' is ignored: LLVM bitcode for '%s'", name, bitcode->triple);
    } else {
        diag_error("Input file '%s' is LLVM bitcode for '%s', not for NVIDIA's GPUs: compile it "
                   "for nvptx64-nvidia-cuda",
                   name, bitcode->triple);
        collector->ok = false;
    }
}

/* Removes the wrapper, and reads the architecture. False for damaged bitcode, and for code that is
 * not for NVIDIA's GPUs. */
static bool read_bitcode(struct collector *collector, struct fatbin_entry *entry, const char *name)
{
    struct bitcode bitcode;

    if (!bitcode_read(&bitcode, name, entry->payload)) {
        collector->ok = false;
        return false;
    }
    entry->payload = bitcode.code;
    entry->arch = bitcode.arch;
    if (!bitcode_is_device(&bitcode))
        pass_over_bitcode(collector, name, &bitcode);
    return bitcode_is_device(&bitcode);
}

/* Reads what the code says about itself. False when that is wrong. */
static bool describe_code(struct collector *collector, struct fatbin_entry *entry, const char *name)
{
    struct text text = {(const char *)entry->payload.data, entry->payload.size};

    if (entry->kind == FATBIN_BITCODE)
        return read_bitcode(collector, entry, name);
    if (entry->kind == FATBIN_ELF && !rawcode_cubin_arch(entry->payload, &entry->arch))
        diag_error("Damaged cubin '%s': its ELF header names no architecture", name);
    else if (entry->kind == FATBIN_PTX && !rawcode_ptx_arch(text, &entry->arch))
        diag_error("PTX text '%s' has no valid .target directive", name);
    else
        return true;
    collector->ok = false;
    return false;
}

/* Collects code that is in no fatbin: its entry is made from the code itself, but for what `arch`
 * says of it, which may be empty. NULL, reported, when the code is wrong. */
static struct member *collect_code(struct collector *collector, const char *name, uint32_t kind,
                                   struct bytes data, struct text arch)
{
    struct fatbin_entry entry = {
        .kind = kind,
        .version = FATBIN_ENTRY_VERSION,
        .flags = FATBIN_64BIT | FATBIN_LINUX,
        .number = collector->number,
        .payload = data,
    };

    if (!describe_code(collector, &entry, name))
        return NULL;
    arch_parse(arch, "sm_", &entry.arch);
    return collect_entry(collector, name, &entry);
}

static void collect_raw(struct collector *collector, uint32_t kind, struct bytes data)
{
    struct member *member =
        collect_code(collector, collector->object, kind, data, (struct text){0});

    if (member)
        member->is_lazy = kind == FATBIN_PTX && collector->object != collector->file;
    collector->group++;
}

/* The name of the object's next member. */
static const char *next_name(struct collector *collector)
{
    return arena_printf(&collector->members->arena, "%s(%u)", collector->object,
                        ++collector->number);
}

/* Whether the image is of another compilation: its group, which it ends, has one like it. */
static bool begins_group(const struct members *members, const struct member *image)
{
    size_t last = members->count - 1, at = last;

    for (; at > 0 && members->list[at - 1].group == image->group; at--)
        if (members->list[at - 1].entry.kind == image->entry.kind &&
            arch_equal(members->list[at - 1].entry.arch, image->entry.arch))
            return true;
    return last - at == MOST_TARGETS;
}

static void add_image(struct collector *collector, const char *name, uint32_t kind,
                      const struct offload_image *image)
{
    struct member *member = collect_code(collector, name, kind, image->data, image->arch);

    if (!member)
        return;
    member->is_openmp = image->producer == OFFLOAD_OPENMP;
    collector->group += begins_group(collector->members, member);
    member->group = collector->group;
}

/* An image's content decides what it is. */
static bool collect_image(void *argument, const struct offload_image *image)
{
    struct collector *collector = argument;
    enum file_kind kind = file_classify(image->data);
    const char *name = next_name(collector);

    if (!offload_is_device(image)) {
        diag_verbose("Image '%s' is skipped: it is for '%.*s'", name, TEXT_ARG(image->triple));
        return true;
    }
    switch (kind) {
    case FILE_FATBIN:
        collector->group++;
        collect_fatbins(collector, name, image->data);
        break;
    case FILE_CUBIN:
    case FILE_PTX:
    case FILE_BITCODE:
        add_image(collector, name, file_code_kind(kind), image);
        break;
    case FILE_EMPTY:
        break;
    default:
        collector->ok = diag_error(
            "Image '%s' for %.*s cannot be read: by its content it is no device code "
            "(%s), whatever its kind (%s) says",
            name, TEXT_ARG(image->arch), file_kind_name(kind), offload_kind_name(image->kind));
        break;
    }
    return true;
}

static void collect_offload(struct collector *collector, const char *name, struct bytes data)
{
    if (!offload_walk(name, data, collect_image, collector))
        collector->ok = false;
    collector->group++;
}

static void collect_section(struct collector *collector, const char *section, struct bytes data)
{
    const char *name =
        arena_printf(&collector->members->arena, "%s:%s", collector->object, section);

    collector->has_sections = true;
    collector->is_whole = strcmp(section, HOSTOBJ_WHOLE_PROGRAM) == 0;
    collector->members->has_host_code |= !collector->is_whole && !collector->is_system;
    if (strcmp(section, OFFLOAD_SECTION) == 0) {
        collect_offload(collector, name, data);
        return;
    }
    collect_fatbins(collector, name, data);
    collector->is_whole = false;
}

/* GCC's code in an object without sections for device code. */
static void collect_gcc(struct collector *collector, struct hostobj *object)
{
    struct bytes contents, constants = {0};
    bool has_bytecode = hostobj_find(object, HOSTOBJ_GCC_BYTECODE, &contents);
    bool has_kernels = hostobj_find(object, HOSTOBJ_GCC_KERNELS, &contents);
    struct text ptx;

    hostobj_find(object, HOSTOBJ_GCC_TEXTS, &constants);
    if (object->is_damaged)
        return;
    for (; has_kernels && hostobj_next_text(&constants, &ptx); collector->group++) {
        collector->has_sections = true;
        collect_code(collector, next_name(collector), FATBIN_PTX, text_bytes(ptx),
                     (struct text){0});
    }
    if (collector->has_sections)
        return;
    if (!has_bytecode || collector->is_compilers) {
        diag_verbose("'%s' has no device code", collector->object);
        return;
    }
    collector->ok =
        diag_error("'%s' has GCC's bytecode for other processors (sections .gnu.offload_lto_*), "
                   "not their code: gcc -foffload=nvptx-none makes PTX of it when it links the "
                   "program, which can be an input here",
                   collector->object);
}

static void collect_host_object(struct collector *collector, struct bytes data)
{
    struct hostobj object;
    struct bytes contents;
    const char *section;

    collector->has_sections = false;
    HOSTOBJ_OPEN(&object, collector->object, data);
    while (hostobj_next_code(&object, &section, &contents))
        collect_section(collector, section, contents);
    if (!object.is_damaged && !collector->has_sections)
        collect_gcc(collector, &object);
    collector->ok &= !object.is_damaged;
}

/* A file with the suffix of a device code format is meant to have device code: if it has none, that
 * is an error and no warning. So is a file that may be device code of a kind that is not known, and
 * a text, of which nvlink refuses short ones and passes over others. */
static void report_useless(struct collector *collector, enum file_kind kind, struct bytes data)
{
    static const char *const device_suffixes[] = {".fatbin", ".cubin", ".ptx", ".ltoir"};
    const char *name = collector->object;

    for (size_t i = 0; i < sizeof device_suffixes / sizeof *device_suffixes; i++) {
        if (!string_has_suffix(name, device_suffixes[i]))
            continue;
        collector->ok = false;
        if (i == 0)
            collect_fatbins(collector, name, data);
        if (i > 0 || data.size == 0)
            diag_error("Input file '%s' has no device code: by its content it is %s, not %s", name,
                       file_kind_name(kind), device_suffixes[i]);
        return;
    }
    if (kind == FILE_UNKNOWN || kind == FILE_TILE ||
        (kind == FILE_TEXT && !collector->is_compilers)) {
        collector->ok = diag_fatal("Could not open input file '%s': %s, which "
                                   "cannot be linked",
                                   name, file_kind_name(kind));
        if (kind == FILE_TEXT)
            diag_note("a source file is compiled first, with nvcc -dc");
        return;
    }
    diag_warning("Input file '%s' is ignored: %s", name, file_kind_name(kind));
    if (kind == FILE_SCRIPT)
        diag_note("what its INPUT and GROUP name is not linked; name it on the command line");
}

/* Ignores a file without device code. Members of archives are only mentioned under -vv, except
 * archives in archives, which may have been meant to be linked. */
static void pass_over(struct collector *collector, enum file_kind kind, struct bytes data)
{
    if (kind == FILE_ARCHIVE && !collector->is_passed)
        diag_warning("'%s' is ignored: it is an archive inside an archive", collector->object);
    else if (kind == FILE_SHARED_OBJECT || collector->object != collector->file ||
             collector->is_passed)
        diag_verbose("'%s' is ignored: %s", collector->object, file_kind_name(kind));
    else
        report_useless(collector, kind, data);
}

static void collect_contents(struct collector *collector, enum file_kind kind, struct bytes data)
{
    collector->number = 0;
    switch (kind) {
    case FILE_HOST_OBJECT:
        collect_host_object(collector, data);
        break;
    case FILE_FATBIN:
        collect_fatbins(collector, collector->object, data);
        break;
    case FILE_CUBIN:
    case FILE_PTX:
    case FILE_LTOIR:
    case FILE_BITCODE:
        collect_raw(collector, file_code_kind(kind), data);
        break;
    case FILE_OFFLOAD:
        collect_offload(collector, collector->object, data);
        break;
    default:
        pass_over(collector, kind, data);
        break;
    }
}

static void collect_file(struct collector *collector, const struct input_file *file)
{
    struct arena *arena = &collector->members->arena;
    struct archive archive;
    struct text member;
    struct bytes data;

    archive_open_file(&archive, file);
    archive.name = collector->file = arena_string(arena, text_of(file->path));
    while (archive_next(&archive, &member, &data)) {
        collector->object = archive_object_name(&archive, member, arena);
        collect_contents(collector, member.data ? file_classify(data) : file->kind, data);
    }
    collector->ok &= !archive.is_damaged;
}

bool members_collect(struct members *members, const struct inputs *inputs)
{
    struct collector collector = {
        .members = members, .ok = true, .is_compilers = inputs->from_compiler};

    for (size_t i = 0; i < inputs->count; i++) {
        collector.is_system = members_is_system(inputs->files[i].path);
        collector.is_passed = inputs->from_compiler && inputs->files[i].library;
        collect_file(&collector, &inputs->files[i]);
    }
    return collector.ok;
}

bool members_select(struct members *members, const struct member_request *request)
{
    members->arch = request->arch;
    members->toolkit = request->toolkit;
    members->is_virtual = request->is_virtual;
    if (members->arch.sm == 0 && !architectures_find_target(members))
        return false;
    members->toolkit = targets_toolkit(members->arch, request->toolkit);
    if (members->is_virtual)
        select_virtual(members);
    else if (!select_roles(members, request))
        return false;
    architectures_report_missing(members, request->suppress_arch_warning);
    return true;
}

bool members_have(const struct members *members, uint32_t kind)
{
    for (size_t i = 0; i < members->count; i++)
        if (members->list[i].entry.kind == kind)
            return true;
    return false;
}

bool members_is_system(const char *path)
{
    return strstr(basename(path), "cudadevrt") != NULL;
}

uint64_t members_inflation_limit(const struct members *members, enum member_role role)
{
    uint64_t floor = role == MEMBER_PTX ? PTX_INFLATION : CUBIN_INFLATION;
    uint64_t compressed = 0;

    for (size_t i = 0; i < members->count; i++)
        if (members->list[i].role == role)
            compressed += members->list[i].entry.payload.size;
    return compressed * INFLATION_RATIO > floor ? compressed * INFLATION_RATIO : floor;
}

const char *member_role_name(enum member_role role)
{
    static const char *const names[] = {
        [MEMBER_UNUSED] = "not used", [MEMBER_OPTIONS] = "options", [MEMBER_PTX] = "PTX",
        [MEMBER_CUBIN] = "cubin",     [MEMBER_LTO] = "LTO-IR",      [MEMBER_BITCODE] = "bitcode",
    };

    return names[role];
}

void members_free(void *argument)
{
    struct members *members = argument;

    free(members->list);
    arena_free(&members->arena);
    *members = (struct members){0};
}
