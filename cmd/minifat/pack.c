/* pack.c: entries as fatbinary lays them out, and offload binaries as clang-offload-packager does,
 * one for each image; and host objects with either.
 *
 *     header | identity, NUL, padding | option descriptor, string, padding | payload, padding
 *     header | entry | offsets of the texts | texts, padding | image, padding
 *
 *     header | count and size of the table | records, a header with its strings each | payload
 *
 * Every part is a multiple of 8 bytes long, an entry's header 64 bytes. The descriptor is {u32
 * offset of the string in the entry, u32 its length}. PTX and LTO-IR always have one; cubins only
 * from sm_100 on, where the "string" is .nv.compat with one zero byte in front that the length does
 * not count. The third form is of 13.4's -concat (input/fatbin.h). */
#include "minifat.h"

#include <ctype.h>
#include <elf.h>
#include <lz4.h>
#include <xxhash.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "cubin/image.h"
#include "diag/diag.h"

#define ENTRY_HEADER_SIZE sizeof(struct fatbin_entry_header)
#define DESCRIPTOR_SIZE   sizeof(struct fatbin_string)

#define OFFLOAD_TRIPLE "nvptx64-nvidia-cuda"

/* An offload binary of version 1, whose pairs have no sizes. */
#define PAIR_SIZE offsetof(struct offload_pair, size)
#define TEXTS     (sizeof(struct offload_header) + sizeof(struct offload_entry) + 2 * PAIR_SIZE)

/* The level that gives fatbinary's frames, byte for byte, with libzstd 1.5. */
#define ZSTD_LEVEL 5

static size_t align_to_8(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

void pack_begin(struct buffer *container)
{
    buffer_zeros(container, FATBIN_HEADER_SIZE);
}

void pack_end(struct buffer *container)
{
    const struct fatbin_header header = {.magic = FATBIN_MAGIC,
                                         .version = 1,
                                         .size = FATBIN_HEADER_SIZE,
                                         .follows = container->size - FATBIN_HEADER_SIZE};

    memcpy(container->data, &header, sizeof header);
}

static enum pack_compression choose_compression(const struct inspected *image,
                                                const struct pack_request *request)
{
    if (image->kind == FATBIN_NVVM)
        return PACK_STORED;
    if (request->compression != PACK_DEFAULT)
        return request->compression;
    return image->kind == FATBIN_PTX || request->debug || request->concatenates ? PACK_ZSTD
                                                                                : PACK_STORED;
}

/* Compresses `code` into a malloc'ed *payload. False when the library refuses. */
static bool compress_code(struct bytes code, enum pack_compression compression, uint8_t **payload,
                          size_t *size)
{
    size_t room;

    if (compression == PACK_ZSTD) {
        room = ZSTD_compressBound(code.size);
        *payload = memory_alloc(room, 1);
        *size = ZSTD_compress(*payload, room, code.data, code.size, ZSTD_LEVEL);
        if (ZSTD_getErrorCode(*size) == ZSTD_error_memory_allocation)
            context_raise(LINK_NO_MEMORY);
        return !ZSTD_isError(*size) && *size <= UINT32_MAX;
    }
    if (code.size > LZ4_MAX_INPUT_SIZE)
        return false;
    room = (size_t)LZ4_compressBound((int)code.size);
    *payload = memory_alloc(room, 1);
    *size = (size_t)LZ4_compress_default((const char *)code.data, (char *)*payload, (int)code.size,
                                         (int)room);
    return *size > 0;
}

static uint64_t entry_flags(const struct inspected *image, const struct pack_request *request,
                            enum pack_compression compression)
{
    static const uint64_t compressions[] = {[PACK_LZ4] = FATBIN_LZ4, [PACK_ZSTD] = FATBIN_ZSTD};
    uint64_t flags = FATBIN_LINUX | compressions[compression];

    if (!request->is_32bit)
        flags |= FATBIN_64BIT;
    if (request->debug)
        flags |= FATBIN_DEBUG;
    if (image->arch.suffix)
        flags |= image->arch.suffix == 'a' ? FATBIN_SUFFIX_A : FATBIN_SUFFIX_F;
    if (image->compat.size > 0)
        flags |= FATBIN_BLOB;
    return flags;
}

/* What follows a header: the source's name, and the descriptor with its string. */
struct strings {
    struct buffer bytes;
    size_t identity_size; /* without the NUL; 0 = none */
    size_t descriptor;    /* its offset from the header; 0 = none */
};

static void put_strings(struct strings *strings, const struct inspected *image, struct text options,
                        struct text identity)
{
    bool is_blob = image->compat.size > 0;
    struct text string = {(const char *)image->compat.data, image->compat.size};

    if (identity.size > 0) {
        buffer_text(&strings->bytes, identity);
        buffer_zeros(&strings->bytes, 1);
        buffer_align(&strings->bytes, 8);
        strings->identity_size = identity.size;
    }
    if (image->kind == FATBIN_ELF && !is_blob)
        return;
    string = is_blob ? string : options;
    strings->descriptor = ENTRY_HEADER_SIZE + strings->bytes.size;
    buffer_u32(&strings->bytes, (uint32_t)(strings->descriptor + DESCRIPTOR_SIZE));
    buffer_u32(&strings->bytes, (uint32_t)string.size);
    buffer_zeros(&strings->bytes, is_blob);
    buffer_text(&strings->bytes, string);
    buffer_zeros(&strings->bytes, !is_blob);
    buffer_align(&strings->bytes, 8);
}

/* Appends a header and its strings. `header_size`: the payload's offset; `compressed` 0: stored. */
static void put_header(struct buffer *container, const struct inspected *image,
                       const struct strings *strings, uint64_t flags, size_t header_size,
                       size_t payload_size, size_t compressed)
{
    const struct fatbin_entry_header header = {
        .kind = (uint16_t)image->kind,
        .version = FATBIN_ENTRY_VERSION,
        .size = (uint32_t)header_size,
        .payload_size = align_to_8(payload_size),
        .compressed_size = (uint32_t)compressed,
        .options = (uint32_t)strings->descriptor,
        .minor = image->minor,
        .major = image->major,
        .sm = image->arch.sm,
        .identity = {strings->identity_size ? ENTRY_HEADER_SIZE : 0,
                     (uint32_t)strings->identity_size},
        .flags = flags,
        .uncompressed_size = compressed > 0 ? image->code.size : 0,
    };

    buffer_append(container, &header, sizeof header);
    buffer_append(container, strings->bytes.data, strings->bytes.size);
}

bool pack_entry(struct buffer *container, const struct inspected *image, struct text options,
                const struct pack_request *request, const char *name)
{
    enum pack_compression compression = choose_compression(image, request);
    struct strings strings = {0};
    struct bytes payload = image->code;
    uint8_t *compressed = NULL;

    if (image->kind == FATBIN_BITCODE)
        return diag_error("'%s' is LLVM bitcode, which no fatbin has; use --format=offload or "
                          "--section=.llvm.offloading",
                          name);
    CONTEXT_DEFER(memory_cleanup, &compressed);
    CONTEXT_DEFER(buffer_cleanup, &strings.bytes);
    if (compression != PACK_STORED) {
        if (!compress_code(image->code, compression, &compressed, &payload.size))
            return diag_error("'%s' cannot be compressed (%zu bytes)", name, image->code.size);
        payload.data = compressed;
    }
    put_strings(&strings, image, options, request->identity);
    put_header(container, image, &strings, entry_flags(image, request, compression),
               ENTRY_HEADER_SIZE + strings.bytes.size, payload.size, compressed ? payload.size : 0);
    buffer_append(container, payload.data, payload.size);
    buffer_align(container, 8);
    return true;
}

bool pack_part(struct pack_parts *parts, const struct inspected *image,
               const struct pack_request *request, const char *name)
{
    struct strings strings = {0};

    if (parts->payload.size + align_to_8(image->code.size) > INT32_MAX)
        return diag_error("'%s' cannot be compressed together with what is before it: more than "
                          "2 GiB",
                          name);
    CONTEXT_DEFER(buffer_cleanup, &strings.bytes);
    put_strings(&strings, image, (struct text){0}, request->identity);
    /* In a record the offset of the code stands for the header's size. */
    put_header(&parts->records, image, &strings, entry_flags(image, request, PACK_STORED),
               parts->payload.size, image->code.size, 0);
    buffer_append(&parts->payload, image->code.data, image->code.size);
    buffer_align(&parts->payload, 8);
    parts->count++;
    return true;
}

bool pack_concatenated(struct buffer *container, const struct pack_parts *parts,
                       const struct pack_request *request)
{
    const struct inspected whole = {
        .kind = FATBIN_CONCATENATED, .minor = 1, .code = buffer_bytes(&parts->payload)};
    enum pack_compression compression = request->compression ? request->compression : PACK_ZSTD;
    struct strings strings = {.descriptor = ENTRY_HEADER_SIZE};
    uint8_t *compressed = NULL;
    size_t size;

    CONTEXT_DEFER(memory_cleanup, &compressed);
    CONTEXT_DEFER(buffer_cleanup, &strings.bytes);
    if (!compress_code(whole.code, compression, &compressed, &size))
        return diag_error("cubins cannot be compressed together (%zu bytes)", whole.code.size);
    buffer_u32(&strings.bytes, parts->count);
    buffer_u32(&strings.bytes, (uint32_t)(DESCRIPTOR_SIZE + parts->records.size));
    buffer_append(&strings.bytes, parts->records.data, parts->records.size);
    put_header(container, &whole, &strings, entry_flags(&whole, request, compression),
               ENTRY_HEADER_SIZE + strings.bytes.size, size, size);
    buffer_append(container, compressed, size);
    buffer_align(container, 8);
    return true;
}

bool pack_offload(struct buffer *binaries, const struct inspected *image, struct bytes contents,
                  const char *name)
{
    /* The first text is empty, as in an ELF string table. */
    static const char keys[] = "\0arch\0triple\0" OFFLOAD_TRIPLE;
    const struct offload_pair pairs[] = {{.key = TEXTS + 1, .value = TEXTS + sizeof keys},
                                         {.key = TEXTS + 6, .value = TEXTS + 13}};
    char sm[ARCH_NAME_SIZE];
    size_t arch_size = strlen(arch_name(image->arch, sm)) + 1;
    const struct offload_entry entry = {
        .kind = image->kind == FATBIN_BITCODE ? OFFLOAD_BITCODE
                : image->kind == FATBIN_ELF   ? OFFLOAD_CUBIN
                                              : OFFLOAD_PTX,
        .producer = OFFLOAD_CUDA,
        .texts = sizeof(struct offload_header) + sizeof entry,
        .text_count = 2,
        .image = align_to_8(TEXTS + sizeof keys + arch_size),
        .image_size = contents.size,
    };
    const struct offload_header header = {
        .magic = OFFLOAD_MAGIC,
        .version = 1,
        .size = align_to_8(entry.image + entry.image_size),
        .entries = sizeof header,
        .count = sizeof entry,
    };

    if (image->kind == FATBIN_NVVM)
        return diag_error("'%s' is LTO-IR, which no offload binary has", name);
    buffer_append(binaries, &header, sizeof header);
    buffer_append(binaries, &entry, sizeof entry);
    buffer_append(binaries, &pairs[0], PAIR_SIZE);
    buffer_append(binaries, &pairs[1], PAIR_SIZE);
    buffer_append(binaries, keys, sizeof keys);
    buffer_append(binaries, sm, arch_size);
    buffer_align(binaries, 8);
    buffer_append(binaries, contents.data, contents.size);
    buffer_align(binaries, 8);
    return true;
}

/* Host objects: the device half of what nvcc makes of a source file.
 *
 * Measured on nvcc: the fatbin section (symbol fatbinData), a 24-byte wrapper in .nvFatBinSegment
 * that points to it, and __nv_module_id, a string. In relocatable objects the wrapper is the global
 * __fatbinwrap<module id>, and registration goes through __cudaRegisterLinkedBinary<module id>,
 * which the host link defines; in whole-program objects both are local. The host code that nvcc
 * puts beside them (stubs, registration) is not made. */

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
    CONTEXT_DEFER(image_strings_free, &strings);
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
