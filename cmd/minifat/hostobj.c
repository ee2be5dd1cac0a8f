/* hostobj.c: the device half of what nvcc makes of a source file.
 *
 * Measured on nvcc: the fatbin section (symbol fatbinData), a 24-byte wrapper in .nvFatBinSegment
 * that points to it, and __nv_module_id, a string. In relocatable objects the wrapper is the global
 * __fatbinwrap<module id>, and registration goes through __cudaRegisterLinkedBinary<module id>,
 * which the host link defines; in whole-program objects both are local. The host code that nvcc
 * puts beside them (stubs, registration) is not made. */
#include "minifat.h"

#include <ctype.h>
#include <elf.h>
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

/* Indices of an object with a fatbin. */
enum {
    SECTION_MODULE_ID = 1,
    SECTION_FATBIN,
    SECTION_WRAPPER,
    SECTION_RELOCATIONS,
    SECTION_NOTE_STACK,
    SECTION_SYMBOLS,
    SECTION_STRINGS,
};

/* Its symbols; the last only in a relocatable one. */
enum {
    SYMBOL_MODULE_ID = 1,
    SYMBOL_ID_STRING,
    SYMBOL_FATBIN,
    SYMBOL_DATA,
    SYMBOL_SEGMENT,
    SYMBOL_WRAPPER,
    SYMBOL_REGISTER,
    SYMBOL_COUNT,
};

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
static const char *make_module_id(struct arena *arena, struct bytes fatbin, const char *source)
{
    uint64_t hash = XXH3_64bits(fatbin.data, fatbin.size);
    char *name = arena_string(arena, text_of(basename(source)));

    for (char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at))
            *at = '_';
    return arena_printf(arena, "_%08x_%zu_%s_%08x", (unsigned)(hash >> 32), strlen(name), name,
                        (unsigned)(hash & 0xffffffff));
}

static void add_object_section(struct image *image, const char *name, uint32_t type, uint64_t flags,
                               uint64_t alignment, struct bytes data)
{
    image_add_section(image, &(struct image_section){.name = text_of(name),
                                                     .type = type,
                                                     .flags = flags,
                                                     .alignment = alignment,
                                                     .data = data.data,
                                                     .size = data.size});
}

static void set_object_symbols(struct image *image, const char *id, bool is_relocatable,
                               struct image_strings *strings)
{
    const struct image_symbol of_wrapper = {
        .type = STT_OBJECT, .section = SECTION_WRAPPER, .size = sizeof(struct wrapper)};
    struct image_symbol symbols[SYMBOL_COUNT] = {
        [SYMBOL_MODULE_ID] = {.type = STT_SECTION, .section = SECTION_MODULE_ID},
        [SYMBOL_ID_STRING] = {.name = TEXT("_ZL15__module_id_str"),
                              .type = STT_OBJECT,
                              .section = SECTION_MODULE_ID,
                              .size = strlen(id) + 1},
        [SYMBOL_FATBIN] = {.type = STT_SECTION, .section = SECTION_FATBIN},
        [SYMBOL_DATA] = {.name = TEXT("fatbinData"), .section = SECTION_FATBIN},
        [SYMBOL_SEGMENT] = {.type = STT_SECTION, .section = SECTION_WRAPPER},
        [SYMBOL_WRAPPER] = of_wrapper,
        [SYMBOL_REGISTER] = {.binding = STB_GLOBAL},
    };

    symbols[SYMBOL_WRAPPER].name = TEXT("_ZL15__fatDeviceText");
    if (is_relocatable) {
        symbols[SYMBOL_WRAPPER].binding = STB_GLOBAL;
        symbols[SYMBOL_WRAPPER].name = text_of(arena_printf(&image->arena, "__fatbinwrap%s", id));
        symbols[SYMBOL_REGISTER].name =
            text_of(arena_printf(&image->arena, "__cudaRegisterLinkedBinary%s", id));
    }
    image_set_symbols(image, SECTION_SYMBOLS, symbols,
                      is_relocatable ? SYMBOL_COUNT : SYMBOL_REGISTER, strings);
}

static void add_fatbin(struct image *image, enum hostobj_machine machine, struct bytes fatbin,
                       const char *section, const char *source, struct image_strings *strings)
{
    static const struct wrapper wrapper = {.magic = WRAPPER_MAGIC, .version = WRAPPER_VERSION};
    const Elf64_Rela relocation = {
        .r_offset = offsetof(struct wrapper, fatbin),
        .r_info = ELF64_R_INFO((Elf64_Xword)SYMBOL_FATBIN, machines[machine].pointer)};
    bool is_relocatable = strcmp(section, HOSTOBJ_RELOCATABLE) == 0;
    const char *id =
        is_relocatable ? make_module_id(&image->arena, fatbin, source) : WHOLE_PROGRAM_ID;
    const struct bytes id_bytes = {(const uint8_t *)id, strlen(id) + 1};
    const struct bytes wrapper_bytes = {(const uint8_t *)&wrapper, sizeof wrapper};
    const struct bytes relocations = {arena_copy(&image->arena, &relocation, 1, sizeof relocation),
                                      sizeof relocation};
    const struct bytes none = {0};

    add_object_section(image, HOSTOBJ_MODULE_ID, SHT_PROGBITS, SHF_ALLOC, 8, id_bytes);
    add_object_section(image, section, SHT_PROGBITS, SHF_ALLOC, 8, fatbin);
    add_object_section(image, ".nvFatBinSegment", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 8,
                       wrapper_bytes);
    add_object_section(image, ".rela.nvFatBinSegment", SHT_RELA, SHF_INFO_LINK, 8, relocations);
    image->sections[SECTION_RELOCATIONS].link = SECTION_SYMBOLS;
    image->sections[SECTION_RELOCATIONS].info = SECTION_WRAPPER;
    image->sections[SECTION_RELOCATIONS].entry_size = sizeof relocation;
    add_object_section(image, ".note.GNU-stack", SHT_PROGBITS, 0, 1, none);
    add_object_section(image, ".symtab", SHT_SYMTAB, 0, 8, none);
    image->sections[SECTION_SYMBOLS].link = SECTION_STRINGS;
    add_object_section(image, ".strtab", SHT_STRTAB, 0, 1, none);
    set_object_symbols(image, id, is_relocatable, strings);
    image_take_strings(image, SECTION_STRINGS, &strings->bytes);
}

/* Offload binaries stand in the object as clang puts them: their section has a type of its own, and
 * linkers leave it out. The image's file header is a cubin's but for what is changed here. */
void hostobj_build(struct buffer *object, struct bytes fatbin, enum hostobj_machine machine,
                   const char *section, const char *source)
{
    struct image_strings strings = {0};
    struct image image;
    Elf64_Ehdr *header;

    image_begin(&image, ET_REL, 0);
    CONTEXT_DEFER(image_free, &image);
    CONTEXT_DEFER(image_strings_cleanup, &strings);
    if (strcmp(section, OFFLOAD_SECTION) == 0) {
        add_object_section(&image, section, SHT_LLVM_OFFLOADING, SHF_EXCLUDE, 8, fatbin);
        add_object_section(&image, ".note.GNU-stack", SHT_PROGBITS, 0, 1, (struct bytes){0});
    } else {
        add_fatbin(&image, machine, fatbin, section, source, &strings);
    }
    add_object_section(&image, ".shstrtab", SHT_STRTAB, 0, 1, (struct bytes){0});
    image_set_section_names(&image, (uint32_t)image.section_count - 1, NULL);
    image_layout(&image);
    image_bytes(&image, object);
    header = (Elf64_Ehdr *)(void *)object->data;
    header->e_ident[EI_OSABI] = ELFOSABI_NONE;
    header->e_ident[EI_ABIVERSION] = 0;
    header->e_machine = machines[machine].number;
    header->e_shstrndx = (Elf64_Half)(image.section_count - 1);
}
