/* rawcode.c: reads the headers of cubins and PTX texts.
 *
 * Cubins (measured): ELF header e_flags has the SM number in bits 8-15; in files of ELF ABI version
 * 7, from before CUDA 13, in bits 0-7 (LLVM's ELF.h). Suffix a is attribute 9 of section
 * .nv.compat, type 0x70000086; in files of CUDA 12.9 for sm_100 and later, which have that section
 * without attribute 9, it is bit 3 of e_flags. The cubin stage checks the rest of the file. */
#include "input/rawcode.h"

#include <elf.h>

#define SECTION_TYPE_COMPAT            0x70000086u
#define COMPAT_CUDA_ACCELERATOR_TARGET 9u
#define OLD_OSABI                      0x33u /* of CUDA 12 and earlier */
#define OLD_FLAGS_SUFFIX_A             0x800u
#define FLAGS_SUFFIX_A                 0x8u

/* Records of .nv.compat: u8 format, u8 attribute, u16 value, or for format 4 the size of the
 * payload that follows. Without the attribute, the answer is that of the flags. */
static bool has_suffix_a(struct bytes records, uint32_t flags)
{
    size_t at = 0;

    while (records.size - at >= 4) {
        const uint8_t *record = records.data + at;
        size_t payload = record[0] == 4 ? little_u16(record + 2) : 0;

        if (record[1] == COMPAT_CUDA_ACCELERATOR_TARGET)
            return record[2] != 0;
        if (payload > records.size - at - 4)
            break;
        at += 4 + payload;
    }
    return (flags & FLAGS_SUFFIX_A) != 0;
}

/* By hand: libelf takes 4 % of a merge to find one section of each cubin. If there are too
 * many sections, the null section has their number. */
bool rawcode_cubin_compat(struct bytes cubin, struct bytes *compat)
{
    Elf64_Ehdr header;
    Elf64_Shdr section;
    struct bytes table;
    uint64_t count;

    *compat = (struct bytes){NULL, 0};
    if (cubin.size < sizeof header)
        return false;
    memcpy(&header, cubin.data, sizeof header);
    count = header.e_shnum;
    if (count == 0 && header.e_shoff &&
        bytes_slice(cubin, header.e_shoff, sizeof section, &table)) {
        memcpy(&section, table.data, sizeof section);
        count = section.sh_size;
    }
    if (count == 0)
        return true;
    if (header.e_shentsize != sizeof section || count > cubin.size / sizeof section ||
        !bytes_slice(cubin, header.e_shoff, count * sizeof section, &table))
        return false;
    for (size_t at = 0; at < table.size; at += sizeof section) {
        memcpy(&section, table.data + at, sizeof section);
        if (section.sh_type == SECTION_TYPE_COMPAT)
            return bytes_slice(cubin, section.sh_offset, section.sh_size, compat);
    }
    return true;
}

bool rawcode_cubin_arch(struct bytes cubin, struct arch *arch)
{
    Elf64_Ehdr header;
    struct bytes compat;
    bool is_old, has_suffix;

    if (cubin.size < sizeof header)
        return false;
    memcpy(&header, cubin.data, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
        return false;
    is_old = header.e_ident[EI_OSABI] == OLD_OSABI;
    arch->sm = is_old ? header.e_flags & 0xff : header.e_flags >> 8 & 0xff;
    has_suffix = is_old
                     ? (header.e_flags & OLD_FLAGS_SUFFIX_A) != 0
                     : rawcode_cubin_compat(cubin, &compat) && has_suffix_a(compat, header.e_flags);
    arch->suffix = has_suffix ? 'a' : '\0';
    return arch->sm >= 10;
}

/* One word: up to a blank, a comma or a comment. */
static struct text take_first_word(struct text text)
{
    size_t size = 0;

    while (size < text.size && !strchr(" \t\r\n,/;", text.data[size]))
        size++;
    return (struct text){text.data, size};
}

static size_t comment_size(struct text text)
{
    const char *end;

    if (text_starts(text, TEXT("//"))) {
        end = memchr(text.data, '\n', text.size);
        return end ? (size_t)(end - text.data) : text.size;
    }
    if (text_starts(text, TEXT("/*"))) {
        end = memmem(text.data + 2, text.size - 2, "*/", 2);
        return end ? (size_t)(end - text.data) + 2 : text.size;
    }
    return 0;
}

struct text rawcode_skip_comments(struct text text)
{
    size_t size = 1;

    while (text.size > 0 && size > 0) {
        size = text_is_space(text.data[0]) ? 1 : comment_size(text);
        text = text_drop(text, size);
    }
    return text;
}

bool rawcode_ptx_directive(struct text ptx, const char *directive, struct text *value)
{
    bool is_next = false;

    while (ptx.size > 0) {
        size_t comment = comment_size(ptx);
        struct text word = take_first_word(ptx);

        if (!comment && is_next && word.size > 0) {
            *value = word;
            return true;
        }
        is_next |= !comment && text_equal(word, text_of(directive));
        ptx = text_drop(ptx, comment ? comment : word.size ? word.size : 1);
    }
    return false;
}

bool rawcode_ptx_arch(struct text ptx, struct arch *arch)
{
    struct text value;

    return rawcode_ptx_directive(ptx, ".target", &value) && arch_parse(value, "sm_", arch);
}
