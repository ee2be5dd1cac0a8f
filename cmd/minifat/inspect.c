/* inspect.c: kind, version and architecture from the content of PTX, cubins, LTO-IR and bitcode.
 *
 * fatbinary is told the architecture by nvcc; here it comes from the content where that says it:
 * PTX in .target, cubins in e_flags and, for the suffix `a`, in .nv.compat, bitcode in attributes
 * of functions. LTO-IR is opaque. */
#include "minifat.h"

#include <elf.h>

#include "diag/diag.h"
#include "input/rawcode.h"

/* First bytes of LTO-IR; its version is in the two bytes after them. Without them, the version that
 * nvcc writes is taken. */
#define LTOIR_MAGIC         "\xed\x43\x4e\x7f"
#define LTOIR_DEFAULT_MAJOR 1
#define LTOIR_DEFAULT_MINOR 65

/* Real .nv.compat sections have 36 bytes. */
#define MOST_COMPAT 4096

static bool is_end_of_line(char c)
{
    return c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/* The offset after the string that opens at `at`. */
static size_t end_of_string(struct text ptx, size_t at)
{
    for (at++; at < ptx.size; at++)
        if (ptx.data[at] == '"' && ptx.data[at - 1] != '\\')
            return at + 1;
    return ptx.size;
}

/* The offset after the comment that begins at `at`, or `at` when none does. */
static size_t end_of_comment(struct text ptx, size_t at)
{
    if (ptx.size - at < 2 || ptx.data[at] != '/')
        return at;
    if (ptx.data[at + 1] == '/') {
        while (at < ptx.size && ptx.data[at] != '\n' && ptx.data[at] != '\r')
            at++;
    } else if (ptx.data[at + 1] == '*') {
        for (at += 2; at < ptx.size; at++)
            if (ptx.data[at] == '/' && ptx.data[at - 1] == '*')
                return at + 1;
    }
    return at;
}

/* Appends `ptx` without comments and needless blanks, as fatbinary packs it: comments vanish, a run
 * of blanks and tabs is cut to its first character, or to nothing at the start of a line; line ends
 * and strings stay. The rules were measured by comparing its output with this one's on random
 * texts:
 * - a line ends with \n, \r, \f or \v; a line comment ends before \n or \r only;
 * - the beginning of the file is not the start of a line, nor is what follows a comment;
 * - a comment interrupts a run of blanks: one blank stays on each side of it;
 * - "/" "*" "/" is a whole comment;
 * - a quote opens or closes a string unless the character before it is a backslash. */
static void reduce_ptx(struct text ptx, struct buffer *reduced)
{
    bool drop_blanks = false; /* at the start of a line, or in a run of blanks */
    size_t at = 0;

    buffer_reserve(reduced, ptx.size);
    while (at < ptx.size) {
        char c = ptx.data[at];
        size_t end = end_of_comment(ptx, at);

        if (end > at) {
            drop_blanks = false;
        } else if (c == '"' && (at == 0 || ptx.data[at - 1] != '\\')) {
            end = end_of_string(ptx, at);
            buffer_append(reduced, ptx.data + at, end - at);
            drop_blanks = false;
        } else {
            bool is_blank = c == ' ' || c == '\t';

            end = at + 1;
            if (!is_blank || !drop_blanks)
                buffer_char(reduced, c);
            drop_blanks = is_blank || is_end_of_line(c);
        }
        at = end;
    }
}

static bool read_ptx_version(struct text text, uint16_t *major, uint16_t *minor)
{
    uint64_t parts[2];

    if (!text_scan_number(&text, &parts[0]) || !text_skip(&text, TEXT(".")) ||
        !text_scan_number(&text, &parts[1]) || parts[0] > UINT16_MAX || parts[1] > UINT16_MAX)
        return false;
    *major = (uint16_t)parts[0];
    *minor = (uint16_t)parts[1];
    return text.size == 0;
}

static bool inspect_ptx(const struct input_file *file, const struct inspect_request *request,
                        struct inspected *image)
{
    struct text ptx = {(const char *)file->data.data, file->data.size}, version;

    while (ptx.size > 0 && ptx.data[ptx.size - 1] == '\0')
        ptx.size--;
    if (ptx.size > 0 && memchr(ptx.data, '\0', ptx.size))
        return diag_error("'%s' has a NUL byte in its text, so it is no PTX", file->path);
    reduce_ptx(ptx, &image->text);
    ptx = buffer_view(&image->text);
    if (!rawcode_ptx_directive(ptx, ".version", &version) ||
        !read_ptx_version(version, &image->major, &image->minor))
        return diag_error("could not find ptx version in '%s'", file->path);
    if (request->arch.sm == 0 && !rawcode_ptx_arch(ptx, &image->arch))
        return diag_error("could not find a .target sm_NN in '%s'; use option --arch", file->path);
    buffer_char(&image->text, '\0');
    image->code = buffer_bytes(&image->text);
    return true;
}

static bool inspect_cubin(const struct input_file *file, const struct inspect_request *request,
                          struct inspected *image)
{
    struct bytes elf = file->data, compat;

    if (elf.size < sizeof(Elf64_Ehdr) || file_classify(elf) != FILE_CUBIN ||
        !rawcode_cubin_arch(elf, &image->arch))
        return diag_error("'%s' is not a 64-bit cubin", file->path);
    if (request->is_32bit)
        return diag_error("'%s' is a 64-bit cubin, which option --32 excludes", file->path);
    if (!rawcode_cubin_compat(elf, &compat) || compat.size > MOST_COMPAT)
        return diag_error("the section table of '%s' is damaged", file->path);
    if (targets_have(image->arch.sm, TARGET_HAS_MERCURY))
        image->compat = compat;
    image->major = elf.data[EI_VERSION];
    image->minor = elf.data[EI_ABIVERSION];
    image->code = elf;
    if (request->arch.sm != 0 && request->arch.sm != image->arch.sm)
        return diag_error("elf arch sm_%u of '%s' does not match user-specified arch sm_%u",
                          image->arch.sm, file->path, request->arch.sm);
    return true;
}

static bool inspect_ltoir(const struct input_file *file, const struct inspect_request *request,
                          struct inspected *image)
{
    struct bytes code = file->data;

    image->major = LTOIR_DEFAULT_MAJOR;
    image->minor = LTOIR_DEFAULT_MINOR;
    if (code.size >= 6 && memcmp(code.data, LTOIR_MAGIC, 4) == 0) {
        image->major = code.data[4];
        image->minor = code.data[5];
    }
    image->code = code;
    return request->arch.sm != 0 ||
           diag_error("no architecture is known for '%s'; use option --arch", file->path);
}

static bool inspect_bitcode(const struct input_file *file, const struct inspect_request *request,
                            struct inspected *image)
{
    struct bitcode bitcode;

    if (!bitcode_read(&bitcode, file->path, file->data))
        return false;
    if (!bitcode_is_device(&bitcode))
        return diag_error("'%s' is LLVM bitcode for '%s', not for NVIDIA's GPUs", file->path,
                          bitcode.triple);
    image->arch = bitcode.arch;
    image->code = file->data;
    return request->arch.sm != 0 || bitcode.arch.sm != 0 ||
           diag_error("no architecture is known for '%s'; use option --arch", file->path);
}

bool inspect_file(const struct input_file *file, const struct inspect_request *request,
                  struct inspected *image)
{
    bool ok;

    if (file->data.size == 0)
        return diag_error("empty input '%s'", file->path);
    image->kind = request->kind ? request->kind : (enum fatbin_kind)file_code_kind(file->kind);
    if (!image->kind)
        return diag_error(
            "'%s' is neither PTX, a cubin, LTO-IR nor LLVM bitcode: %s; use option --kind",
            file->path, file_kind_name(file->kind));
    if (image->kind == FATBIN_PTX)
        ok = inspect_ptx(file, request, image);
    else if (image->kind == FATBIN_ELF)
        ok = inspect_cubin(file, request, image);
    else if (image->kind == FATBIN_BITCODE)
        ok = inspect_bitcode(file, request, image);
    else
        ok = inspect_ltoir(file, request, image);
    if (request->arch.sm != 0)
        image->arch = request->arch;
    return ok;
}

void inspect_free(struct inspected *image)
{
    buffer_free(&image->text);
    *image = (struct inspected){0};
}
