/* file.c: finding, opening, mapping and classifying the operands.
 *
 * Names say little: nvcc's objects end in .o as others do, a library may be a linker script, and a
 * PTX text may be called anything. Every format here has a magic, except PTX and linker scripts,
 * which are recognised by their first word after blanks and comments. All operands are tried before
 * the stage fails, so that one run reports everything that is missing. */
#include "input/file.h"

#include <ar.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "diag/diag.h"
#include "input/rawcode.h"
#include "input/fatbin.h"
#include "input/hostobj.h"
#include "os/cleanup.h"
#include "os/program.h"

/* Pipes and devices may never end. */
#define STREAM_MAXIMUM (UINT64_C(1) << 31)
#define STREAM_STEP    (1u << 16)

/* Linux allows a process 65,530 mappings (vm.max_map_count), and memory needs some of them: files
 * beyond this number are read instead. */
#define MOST_MAPPINGS 32768u

#define LTOIR_MAGIC     0x7f4e43edu
#define TILE_MAGIC      "\177TileIR"
#define ELF_TYPE_OFFSET 16
#define ELF_MINIMUM     20 /* up to and with e_machine */

/* How much of a file is looked at to tell text from binary data. */
#define TEXT_SAMPLE 4096

static enum file_kind classify_elf(struct bytes data)
{
    if (data.size < ELF_MINIMUM || data.data[EI_DATA] != ELFDATA2LSB)
        return FILE_HOST_OBJECT;
    if (little_u16(data.data + ELF_TYPE_OFFSET + 2) == EM_CUDA)
        return FILE_CUBIN;
    return hostobj_is_shared(data) ? FILE_SHARED_OBJECT : FILE_HOST_OBJECT;
}

/* A GNU ld script may be in the place of a library: GROUP ( /lib/libm.so.6 ). */
static bool is_linker_script(struct text code)
{
    return text_starts(code, TEXT("OUTPUT_FORMAT")) || text_starts(code, TEXT("GROUP")) ||
           text_starts(code, TEXT("INPUT"));
}

static bool is_text(struct bytes data)
{
    for (size_t i = 0; i < data.size && i < TEXT_SAMPLE; i++)
        if ((data.data[i] < ' ' && !text_is_space((char)data.data[i])) || data.data[i] == 127)
            return false;
    return true;
}

enum file_kind file_classify(struct bytes data)
{
    struct text text = {(const char *)data.data, data.size}, code;

    if (data.size == 0)
        return FILE_EMPTY;
    if (text_starts(text, TEXT(ELFMAG)))
        return classify_elf(data);
    if (text_starts(text, TEXT("!<arch>\n")) || archive_is_thin(data))
        return FILE_ARCHIVE;
    if (data.size >= 4 && little_u32(data.data) == FATBIN_MAGIC)
        return FILE_FATBIN;
    if (data.size >= 4 && little_u32(data.data) == LTOIR_MAGIC)
        return FILE_LTOIR;
    if (bitcode_is(data))
        return FILE_BITCODE;
    if (offload_is(data))
        return FILE_OFFLOAD;
    if (text_starts(text, TEXT(TILE_MAGIC)))
        return FILE_TILE;
    code = rawcode_skip_comments(text);
    if (text_starts(code, TEXT(".version")) && code.size > 8 && text_is_space(code.data[8]))
        return FILE_PTX;
    if (!is_text(data))
        return FILE_UNKNOWN;
    return is_linker_script(code) ? FILE_SCRIPT : FILE_TEXT;
}

/* By kind: its name, and that of code in a fatbin. */
static const struct {
    const char *name;
    uint32_t code;
} kinds[] = {
    [FILE_EMPTY] = {"empty file", 0},
    [FILE_HOST_OBJECT] = {"host object", 0},
    [FILE_SHARED_OBJECT] = {"shared object", 0},
    [FILE_SCRIPT] = {"linker script", 0},
    [FILE_ARCHIVE] = {"archive", 0},
    [FILE_FATBIN] = {"fatbin", 0},
    [FILE_CUBIN] = {"cubin", FATBIN_ELF},
    [FILE_PTX] = {"PTX text", FATBIN_PTX},
    [FILE_LTOIR] = {"LTO-IR", FATBIN_NVVM},
    [FILE_BITCODE] = {"LLVM bitcode", FATBIN_BITCODE},
    [FILE_OFFLOAD] = {"offload binary", 0},
    [FILE_TILE] = {"Tile IR", 0},
    [FILE_TEXT] = {"text", 0},
    [FILE_UNKNOWN] = {"unknown file", 0},
};

uint32_t file_code_kind(enum file_kind kind)
{
    return kinds[kind].code;
}

const char *file_kind_name(enum file_kind kind)
{
    return kinds[kind].name;
}

static bool report_unopened(const struct input_file *file, const char *why)
{
    if (file->thin)
        return diag_fatal("Could not open input file '%s', a member of thin archive '%s': %s",
                          file->path, file->thin, why);
    return diag_fatal("Could not open input file '%s': %s", file->path, why);
}

static bool report_error(const struct input_file *file, int error)
{
    if (error == ENOMEM)
        context_raise(LINK_NO_MEMORY);
    return report_unopened(file, strerror(error));
}

static off_t current_size(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 ? status.st_size : -1;
}

/* Reads a regular file up to the size that it had, anything else up to its end. False, reported,
 * when it ends before. That a regular file has another end, but keeps its size, is so in /proc,
 * where all have size 0, and in /sys, where they claim a page. */
static bool read_input(struct input_file *file, int fd)
{
    struct buffer *contents = &file->contents;
    uint64_t most = file->version.size ? file->version.size : STREAM_MAXIMUM;
    size_t start = contents->size; /* of a thin archive's member: behind those before it */
    ssize_t size = 1;

    while (size > 0 && contents->size - start < most) {
        size_t step = file->version.size ? (size_t)most - (contents->size - start) : STREAM_STEP;

        buffer_reserve(contents, step);
        size = TEMP_FAILURE_RETRY(read(fd, contents->data + contents->size, step));
        contents->size += size > 0 ? (size_t)size : 0;
    }
    if (contents->size > start)
        bytes_slice(buffer_bytes(contents), start, contents->size - start, &file->data);
    if (size < 0)
        return report_error(file, errno);
    if (size > 0 && !file->version.size)
        return report_unopened(file, "it is no regular file and does not end");
    return file->data.size >= file->version.size || current_size(fd) == (off_t)file->version.size ||
           report_unopened(file, "it became shorter while it was read");
}

/* Files of /sys cannot be mapped. */
static bool load_regular(struct inputs *inputs, struct input_file *file, int fd)
{
    bool may_map = file->version.size > 0 && file_version_is_settled(&file->version) &&
                   !inputs->are_read && !file->thin && inputs->mapping_count < MOST_MAPPINGS;

    file->is_mapped = may_map && descriptor_map(fd, &file->data);
    inputs->mapping_count += file->is_mapped;
    if (may_map && !file->is_mapped && errno != ENODEV)
        return report_error(file, errno);
    if (!file->is_mapped && !read_input(file, fd))
        return false;
    if (file->data.size == file->version.size || current_size(fd) != (off_t)file->version.size)
        watch_add(inputs->watch, file->path, &file->version);
    return true;
}

static void close_file(void *fd)
{
    if (*(int *)fd >= 0)
        close(*(int *)fd);
}

/* The largest size, with the name's, that the ten digits of an archive member's header can hold. */
#define LARGEST_MEMBER (9999999999 - NAME_MAX)

/* A thin archive's member is a regular file: to open any other must not wait. */
static bool load_input(struct inputs *inputs, struct input_file *file)
{
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | (file->thin ? O_NONBLOCK : 0));
    struct stat status;

    CONTEXT_DEFER(close_file, &fd);
    if (fd < 0 || fstat(fd, &status) != 0)
        return report_error(file, errno);
    if (file->thin && !S_ISREG(status.st_mode))
        return report_unopened(file, "it is no regular file");
    if (file->thin && status.st_size > LARGEST_MEMBER)
        return report_unopened(file, "it is too large for an archive");
    if (S_ISDIR(status.st_mode))
        return report_error(file, EISDIR);
    file->place = file_identity_of(&status);
    if (!S_ISREG(status.st_mode))
        return read_input(file, fd);
    file_version_wait_for_writer(fd, &status);
    file->version = file_version_of(&status);
    return load_regular(inputs, file, fd);
}

/* `argument` is a struct input_file. The end of the program unmaps all files at once, which takes
 * half the time of a call for each. */
static void close_input(void *argument)
{
    struct input_file *file = argument;

    if (file->is_mapped && !self_exec_is_program())
        descriptor_unmap(&file->data);
    file->is_mapped = false;
    buffer_free(&file->contents);
}

/* Adds a file that the thin archive `thin` names to the one that is made of it: its name, which is
 * in front of the data, has an even length, so that data is aligned as in other archives. */
static bool add_thin_member(struct buffer *archive, struct inputs *inputs, const char *thin,
                            struct text name)
{
    const char *slash = name.data[0] == '/' ? NULL : strrchr(thin, '/'), *base;
    int folder = slash ? (int)(slash - thin) + 1 : 0;
    struct input_file file = {
        .path = arena_printf(&inputs->arena, "%.*s%.*s", folder, thin, TEXT_ARG(name)),
        .thin = thin};
    size_t start = archive->size, name_size;
    char header[128];
    bool ok;

    base = basename(file.path);
    name_size = (strlen(base) + 1) & ~(size_t)1;
    buffer_zeros(archive, sizeof(struct ar_hdr));
    buffer_string(archive, base);
    buffer_align(archive, 2);
    file.contents = *archive; /* it is read to its place */
    *archive = (struct buffer){0};
    CONTEXT_DEFER(close_input, &file);
    ok = load_input(inputs, &file);
    *archive = file.contents;
    file.contents = (struct buffer){0};
    if (!ok)
        return false;
    snprintf(header, sizeof header, "#1/%-13zu%-12u%-6u%-6u%-8o%-10zu" ARFMAG, name_size, 0u, 0u,
             0u, 0644u, name_size + file.data.size);
    memcpy(archive->data + start, header, sizeof(struct ar_hdr));
    if (file.data.size % 2)
        buffer_char(archive, '\n');
    ARENA_PUSH(&inputs->arena, inputs->thin_files.list, inputs->thin_files.count,
               inputs->thin_files.capacity) = file.path;
    return true;
}

/* Puts an ordinary archive with its members' files in the place of a thin one. */
static bool gather_thin(struct inputs *inputs, struct input_file *file)
{
    struct archive names = {
        .name = file->path, .data = file->data, .is_thin = true, .offset = SARMAG};
    LOCAL_BUFFER(archive);
    struct text name;
    struct bytes data;
    bool ok = true;

    buffer_string(&archive, ARMAG);
    while (ok && archive_next(&names, &name, &data))
        ok = add_thin_member(&archive, inputs, file->path, name);
    close_input(file);
    file->data = buffer_bytes(&archive);
    file->contents = archive;
    archive = (struct buffer){0};
    return ok && !names.is_damaged;
}

/* Whether an archive was opened before, by any path. nvcc and CMake both name libcudadevrt.a. */
static bool is_repeated_file(const struct inputs *inputs, const struct input_file *file)
{
    for (const struct input_file *other = inputs->files; other < file; other++)
        if (other->kind == FILE_ARCHIVE && file->kind == FILE_ARCHIVE &&
            file_identity_equal(other->place, file->place))
            return true;
    return false;
}

/* An input in memory is never the same file as another. */
static bool add_memory(struct inputs *inputs, const struct input_operand *operand)
{
    struct input_file file = {.path = operand->name, .data = operand->data};

    if (archive_is_thin(file.data))
        return diag_fatal("'%s' is a thin archive, whose members are files: it cannot be in memory",
                          file.path);
    file.kind = file_classify(file.data);
    ARRAY_PUSH(inputs->files, inputs->count, inputs->capacity) = file;
    return true;
}

/* The list has the file from the start, so that its mapping ends with it whatever happens. */
static bool add_named_file(struct inputs *inputs, const char *path, const char *library)
{
    struct input_file *file = &ARRAY_PUSH(inputs->files, inputs->count, inputs->capacity);
    bool ok;

    *file = (struct input_file){.path = path, .library = library};
    ok = load_input(inputs, file);
    if (ok && archive_is_thin(file->data))
        ok = gather_thin(inputs, file);
    if (ok)
        file->kind = file_classify(file->data);
    if (!ok || is_repeated_file(inputs, file)) {
        close_input(file);
        inputs->count--;
    }
    return ok;
}

/* The first <folder>/<prefix><name><suffix> that is there and no folder, in `arena`; or NULL. */
static const char *find_library_file(struct arena *arena, const struct library_search *search,
                                     const char *prefix, const char *name, const char *suffix)
{
    LOCAL_BUFFER(path);
    struct stat status;

    for (size_t i = 0; i < search->count; i++) {
        path.size = 0;
        buffer_printf(&path, "%s/%s%s%s", search->paths[i], prefix, name, suffix);
        buffer_char(&path, '\0');
        if (stat(path.data, &status) == 0 && !S_ISDIR(status.st_mode))
            return arena_string(arena, text_of(path.data));
    }
    return NULL;
}

/* Libraries of the host's C and C++ runtime: users name them, too, and none has device code. */
static bool is_host_library(const char *name)
{
    static const char *const names[] = {"c",    "m",      "dl",  "rt",    "pthread",
                                        "util", "stdc++", "gcc", "gcc_s", "gomp"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* The most paths that are listed for a missing library. */
#define MOST_TRIED 32u

static bool report_missing(const char *name, const struct library_search *search)
{
    bool is_file_name = *name == ':';

    diag_error("Library file '%s' not found in paths", name);
    for (size_t i = 0; i < search->count && i < MOST_TRIED; i++)
        diag_note("tried '%s/%s%s%s'", search->paths[i], is_file_name ? "" : "lib",
                  is_file_name ? name + 1 : name, is_file_name ? "" : ".a");
    if (search->count > MOST_TRIED)
        diag_note("and in %zu more folders", search->count - MOST_TRIED);
    if (search->count == 0)
        diag_note("no library paths were given (-L)");
    return false;
}

static bool add_library_file(struct inputs *inputs, const char *name,
                             const struct library_search *search)
{
    bool is_file_name = *name == ':';
    const char *path =
        is_file_name ? NULL : find_library_file(&inputs->arena, search, "lib", name, ".so");

    if (path) {
        diag_verbose("Library '%s' is ignored: '%s' is a shared object, which has no code to link",
                     name, path);
        return true;
    }
    path = is_file_name ? find_library_file(&inputs->arena, search, "", name + 1, "")
                        : find_library_file(&inputs->arena, search, "lib", name, ".a");
    if (path)
        return add_named_file(inputs, path, name);
    if (!search->from_compiler && !is_host_library(name))
        return report_missing(name, search);
    diag_verbose("Library '%s' is ignored: it is not in the library paths, as libraries of the "
                 "host are, which have no code to link",
                 name);
    return true;
}

bool inputs_open(struct inputs *inputs, const struct input_operand *operands, size_t count,
                 const struct library_search *search)
{
    static const struct library_search nowhere = {0};
    bool ok = true;

    if (!inputs->are_read)
        inputs_blame(inputs);
    search = search ? search : &nowhere;
    inputs->from_compiler = search->from_compiler;
    for (size_t i = 0; i < count; i++)
        if (!operands[i].is_library)
            ok &= operands[i].is_memory ? add_memory(inputs, &operands[i])
                                        : add_named_file(inputs, operands[i].name, NULL);
    /* Behind all others, wherever they stand (nvlink 13.0, 13.2, 13.3 and 13.5). */
    for (size_t i = 0; i < count; i++)
        if (operands[i].is_library)
            ok &= add_library_file(inputs, operands[i].name, search);
    return ok;
}

/* The inputs that are mapped, for find_culprit(). */
static const struct inputs *blamed;

/* The file that has lost the page at `address`, else one that has changed since it was mapped. */
static bool find_culprit(const void *address, const char **path, const char **what)
{
    size_t count = blamed ? blamed->count : 0;
    struct stat status;

    for (size_t i = 0; i < count; i++) {
        const struct input_file *file = &blamed->files[i];

        if (!file->is_mapped || (uintptr_t)address - (uintptr_t)file->data.data >= file->data.size)
            continue;
        *path = file->path;
        *what = stat(*path, &status) == 0 && status.st_size < (off_t)file->data.size
                    ? "became shorter while it was read"
                    : "could not be read";
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        *path = blamed->files[i].path;
        *what = "changed while the link ran";
        if (blamed->files[i].is_mapped && file_version_change(&blamed->files[i].version, *path))
            return true;
    }
    return false;
}

void inputs_blame(const struct inputs *inputs)
{
    blamed = inputs;
    cleanup_blame_by(find_culprit);
}

void inputs_release(const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        if (inputs->files[i].is_mapped)
            madvise((void *)(uintptr_t)inputs->files[i].data.data, inputs->files[i].data.size,
                    MADV_DONTNEED);
}

void inputs_close(struct inputs *inputs)
{
    if (blamed == inputs)
        blamed = NULL;
    for (size_t i = 0; i < inputs->count; i++)
        close_input(&inputs->files[i]);
    free(inputs->files);
    arena_free(&inputs->arena);
    *inputs = (struct inputs){0};
}
