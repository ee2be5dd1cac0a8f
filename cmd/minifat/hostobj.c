/* hostobj.c: the device half of what nvcc makes of a source file.
 *
 * Measured on nvcc: the fatbin section (symbol fatbinData), a 24-byte wrapper in .nvFatBinSegment
 * that points to it, and __nv_module_id, a string. In relocatable objects the wrapper is the global
 * __fatbinwrap<module id>, and registration goes through __cudaRegisterLinkedBinary<module id>,
 * which the host link defines; in whole-program objects both are local. The host code that nvcc
 * puts beside them (stubs, registration) is not made. */
#include "hostobj.h"

#include <ctype.h>
#include <string.h>
#include <xxhash.h>

#include "base/context.h"
#include "cubin/image.h"

#define WRAPPER_MAGIC   0x466243B1u
#define WRAPPER_VERSION 1u

struct wrapper {
    uint32_t magic, version;
    uint64_t fatbin; /* a pointer, by a relocation */
    uint64_t unused;
};

/* nvcc's id for whole programs, which need no unique one. */
#define WHOLE_PROGRAM_ID "__NV_MODULE_ID"

/* Indices in an object with a fatbin. */
enum {
    SECTION_MODULE_ID = 1,
    SECTION_FATBIN,
    SECTION_WRAPPER,
    SECTION_RELOCATIONS,
    SECTION_NOTE_STACK,
    SECTION_SYMBOLS,
    SECTION_STRINGS,
};
enum { SYMBOL_FATBIN = 3, SYMBOL_WRAPPER = 6 };

#define SHT_LLVM_OFFLOADING 0x6fff4c0b

/* The ELF machine, and its relocation of a pointer. */
static const struct {
    Elf64_Half number;
    Elf64_Xword pointer;
} machines[] = {
#ifdef __aarch64__
    [HOSTOBJ_OWN] = {EM_AARCH64, R_AARCH64_ABS64},
#else
    [HOSTOBJ_OWN] = {EM_X86_64, R_X86_64_64},
#endif
    [HOSTOBJ_X86_64] = {EM_X86_64, R_X86_64_64},
    [HOSTOBJ_AARCH64] = {EM_AARCH64, R_AARCH64_ABS64},
};

/* "_<hash>_<length>_<file>_<hash>", as nvcc's, with the file's base name made an identifier. */
static struct text make_module_id(struct arena *arena, struct bytes fatbin, const char *source)
{
    uint64_t hash = XXH3_64bits(fatbin.data, fatbin.size);
    char *name = arena_string(arena, text_of(basename(source)));

    for (char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at))
            *at = '_';
    return text_of(arena_printf(arena, "_%08x_%zu_%s_%08x", (unsigned)(hash >> 32), strlen(name),
                                name, (unsigned)(hash & 0xffffffff)));
}

/* Locals first, as ELF wants it. */
static void set_host_symbols(struct image *image, struct text id, bool is_relocatable)
{
    const struct text wrapper = TEXT("__fatbinwrap"), call = TEXT("__cudaRegisterLinkedBinary");
    struct image_strings strings = {0};
    struct image_symbol symbols[] = {
        {.type = STT_NOTYPE},
        {.type = STT_SECTION, .section = SECTION_MODULE_ID},
        {.name = TEXT("_ZL15__module_id_str"),
         .size = id.size + 1,
         .type = STT_OBJECT,
         .section = SECTION_MODULE_ID},
        [SYMBOL_FATBIN] = {.type = STT_SECTION, .section = SECTION_FATBIN},
        {.name = TEXT("fatbinData"), .section = SECTION_FATBIN},
        {.type = STT_SECTION, .section = SECTION_WRAPPER},
        [SYMBOL_WRAPPER] = {.name = TEXT("_ZL15__fatDeviceText"),
                            .size = sizeof(struct wrapper),
                            .type = STT_OBJECT,
                            .section = SECTION_WRAPPER},
        {.name = arena_join(&image->arena, call, id), .binding = STB_GLOBAL},
    };
    size_t count = sizeof symbols / sizeof *symbols;

    CONTEXT_DEFER(image_strings_cleanup, &strings);
    if (is_relocatable) {
        symbols[SYMBOL_WRAPPER].name = arena_join(&image->arena, wrapper, id);
        symbols[SYMBOL_WRAPPER].binding = STB_GLOBAL;
    }
    image_set_symbols(image, SECTION_SYMBOLS, symbols, is_relocatable ? count : count - 1,
                      &strings);
    image_take_strings(image, SECTION_STRINGS, &strings);
}

/* Adds the sections of a list, and the section of their names. */
static void add_sections(struct image *image, const struct image_section *list, size_t count)
{
    const struct image_section names = {
        .name = TEXT(".shstrtab"), .type = SHT_STRTAB, .alignment = 1};

    for (size_t i = 0; i < count; i++)
        image_add_section(image, &list[i]);
    image_set_section_names(image, image_add_section(image, &names), NULL);
}

#define SECTION(title, kind, ...)                                                                  \
    {                                                                                              \
        .name = title, .type = kind, __VA_ARGS__                                                   \
    }
#define DATA(bytes, count) .data = bytes, .size = count, .alignment = 8

static void make_fatbin_object(struct image *image, enum hostobj_machine machine,
                               struct bytes fatbin, const char *name, const char *source)
{
    static const struct wrapper wrapper = {.magic = WRAPPER_MAGIC, .version = WRAPPER_VERSION};
    const Elf64_Rela relocation = {
        .r_offset = offsetof(struct wrapper, fatbin),
        .r_info = ELF64_R_INFO((Elf64_Xword)SYMBOL_FATBIN, machines[machine].pointer)};
    bool is_relocatable = strcmp(name, HOSTOBJ_RELOCATABLE) == 0;
    struct text id =
        is_relocatable ? make_module_id(&image->arena, fatbin, source) : TEXT(WHOLE_PROGRAM_ID);
    const struct image_section sections[] = {
        SECTION(TEXT("__nv_module_id"), SHT_PROGBITS, DATA(id.data, id.size + 1),
                .flags = SHF_ALLOC),
        SECTION(text_of(name), SHT_PROGBITS, DATA(fatbin.data, fatbin.size), .flags = SHF_ALLOC),
        SECTION(TEXT(".nvFatBinSegment"), SHT_PROGBITS, DATA(&wrapper, sizeof wrapper),
                .flags = SHF_ALLOC | SHF_WRITE),
        SECTION(
            TEXT(".rela.nvFatBinSegment"), SHT_RELA,
            DATA(arena_copy(&image->arena, &relocation, 1, sizeof relocation), sizeof relocation),
            .flags = SHF_INFO_LINK, .link = SECTION_SYMBOLS, .info = SECTION_WRAPPER,
            .entry_size = sizeof relocation),
        SECTION(TEXT(".note.GNU-stack"), SHT_PROGBITS, .alignment = 1),
        SECTION(TEXT(".symtab"), SHT_SYMTAB, .alignment = 8, .link = SECTION_STRINGS),
        SECTION(TEXT(".strtab"), SHT_STRTAB, .alignment = 1),
    };

    add_sections(image, sections, sizeof sections / sizeof *sections);
    set_host_symbols(image, id, is_relocatable);
}

/* As clang makes it: the section has a type of its own, and linkers leave it out. */
static void make_offload_object(struct image *image, struct bytes binaries)
{
    const struct image_section sections[] = {
        SECTION(TEXT(HOSTOBJ_OFFLOAD), SHT_LLVM_OFFLOADING, DATA(binaries.data, binaries.size),
                .flags = SHF_EXCLUDE),
        SECTION(TEXT(".note.GNU-stack"), SHT_PROGBITS, .alignment = 1),
    };

    add_sections(image, sections, sizeof sections / sizeof *sections);
}

static void free_image(void *image)
{
    image_free(image);
}

void hostobj_build(struct buffer *object, struct bytes fatbin, enum hostobj_machine machine,
                   const char *section, const char *source)
{
    struct image image = {0};
    Elf64_Ehdr header;

    CONTEXT_DEFER(free_image, &image);
    image_begin(&image, ET_REL, 0);
    if (strcmp(section, HOSTOBJ_OFFLOAD) == 0)
        make_offload_object(&image, fatbin);
    else
        make_fatbin_object(&image, machine, fatbin, section, source);
    image_layout(&image);
    image_bytes(&image, object);
    /* An image has the header of a cubin. */
    memcpy(&header, object->data, sizeof header);
    header.e_ident[EI_OSABI] = header.e_ident[EI_ABIVERSION] = 0;
    header.e_machine = machines[machine].number;
    header.e_shstrndx = (Elf64_Half)(image.section_count - 1);
    memcpy(object->data, &header, sizeof header);
}
