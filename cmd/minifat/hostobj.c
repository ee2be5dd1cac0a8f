/* hostobj.c: the device half of what nvcc makes of a source file.
 *
 * Measured on nvcc: the fatbin section (symbol fatbinData), a 24-byte wrapper in .nvFatBinSegment
 * that points to it, and __nv_module_id, a string. In relocatable objects the wrapper is the global
 * __fatbinwrap<module id>, and registration goes through __cudaRegisterLinkedBinary<module id>,
 * which the host link defines; in whole-program objects both are local. The host code that nvcc
 * puts beside them (stubs, registration) is not made. */
#include "hostobj.h"

#include <ctype.h>
#include <errno.h>
#include <libelf.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/arena.h"
#include "base/context.h"
#include "diag/diag.h"
#include "os/descriptor.h"

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

/* A section for libelf, which borrows the contents until it has written them. */
struct section {
    const char *name;
    Elf_Type type; /* of the contents */
    Elf64_Shdr header;
    struct bytes data;
};

/* The parts of the object. */
struct contents {
    struct arena arena;
    const char *module_id;
    bool is_relocatable;
    struct buffer strings; /* .strtab */
    struct buffer names;   /* .shstrtab */
    Elf64_Sym symbols[10];
    size_t symbol_count;
    size_t local_count;
    Elf *elf;
    int fd; /* of the memory file, or -1 */
};

static void free_contents(void *argument)
{
    struct contents *contents = argument;

    elf_end(contents->elf);
    if (contents->fd >= 0)
        close(contents->fd);
    buffer_free(&contents->strings);
    buffer_free(&contents->names);
    arena_free(&contents->arena);
}

/* Adds a NUL-terminated string to a string table, and returns its offset. */
static Elf64_Word put_object_string(struct buffer *table, const char *string)
{
    size_t offset;

    if (table->size == 0)
        buffer_char(table, '\0');
    offset = table->size;
    buffer_append(table, string, strlen(string) + 1);
    return (Elf64_Word)offset;
}

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

static size_t put_object_symbol(struct contents *contents, const char *name, unsigned binding,
                                unsigned type, Elf64_Section section, size_t size)
{
    Elf64_Sym *symbol = &contents->symbols[contents->symbol_count];

    *symbol = (Elf64_Sym){.st_info = (unsigned char)ELF64_ST_INFO(binding, type),
                          .st_shndx = section,
                          .st_size = size};
    if (name)
        symbol->st_name = put_object_string(&contents->strings, name);
    return contents->symbol_count++;
}

/* Locals first, as ELF wants it. Returns the symbol of the fatbin's section. */
static size_t make_symbols(struct contents *contents)
{
    struct arena *arena = &contents->arena;
    size_t fatbin;

    put_object_symbol(contents, NULL, STB_LOCAL, STT_NOTYPE, SHN_UNDEF, 0);
    put_object_symbol(contents, NULL, STB_LOCAL, STT_SECTION, SECTION_MODULE_ID, 0);
    put_object_symbol(contents, "_ZL15__module_id_str", STB_LOCAL, STT_OBJECT, SECTION_MODULE_ID,
                      strlen(contents->module_id) + 1);
    fatbin = put_object_symbol(contents, NULL, STB_LOCAL, STT_SECTION, SECTION_FATBIN, 0);
    put_object_symbol(contents, "fatbinData", STB_LOCAL, STT_NOTYPE, SECTION_FATBIN, 0);
    put_object_symbol(contents, NULL, STB_LOCAL, STT_SECTION, SECTION_WRAPPER, 0);
    if (!contents->is_relocatable)
        put_object_symbol(contents, "_ZL15__fatDeviceText", STB_LOCAL, STT_OBJECT, SECTION_WRAPPER,
                          sizeof(struct wrapper));
    contents->local_count = contents->symbol_count;
    if (contents->is_relocatable) {
        put_object_symbol(contents, arena_printf(arena, "__fatbinwrap%s", contents->module_id),
                          STB_GLOBAL, STT_OBJECT, SECTION_WRAPPER, sizeof(struct wrapper));
        put_object_symbol(contents,
                          arena_printf(arena, "__cudaRegisterLinkedBinary%s", contents->module_id),
                          STB_GLOBAL, STT_NOTYPE, SHN_UNDEF, 0);
    }
    return fatbin;
}

/* A memory file that cannot grow means that memory has run out. libelf's error number for that is
 * not public; its text is. */
static bool libelf_failed(void)
{
    bool is_full = errno == ENOMEM || errno == ENOSPC;
    bool is_limited = errno == EFBIG; /* by the process's limit, which libelf does not report */
    const char *why = elf_errmsg(elf_errno());

    if (is_full || !why || strcmp(why, "out of memory") == 0)
        context_raise(LINK_NO_MEMORY);
    return diag_fatal("libelf cannot build the host object: %s",
                      is_limited ? strerror(EFBIG) : why);
}

static bool add_object_section(Elf *elf, const struct section *section)
{
    Elf_Scn *place;
    Elf64_Shdr *header;
    Elf_Data *data;

    /* Without memory for the header, elf_newscn (elfutils 0.188) returns a section all the same, on
     * which elf64_getshdr crashes. */
    elf_errno();
    place = elf_newscn(elf);
    header = place && elf_errno() == 0 ? elf64_getshdr(place) : NULL;
    data = header ? elf_newdata(place) : NULL;
    if (!data)
        return false;
    *header = section->header;
    data->d_type = section->type;
    data->d_version = EV_CURRENT;
    data->d_align = section->header.sh_addralign;
    data->d_size = section->data.size;
    data->d_buf = (void *)(uintptr_t)section->data.data; /* libelf only reads it */
    return true;
}

/* Writes the sections, the last of which has their names, to the memory file. Returns the file's
 * size, or -1. */
static int64_t write_sections(struct contents *contents, enum hostobj_machine machine,
                              struct section *sections, size_t count)
{
    Elf64_Ehdr *header;

    elf_version(EV_CURRENT);
    contents->elf = elf_begin(contents->fd, ELF_C_WRITE, NULL);
    header = contents->elf ? elf64_newehdr(contents->elf) : NULL;
    if (!header)
        return -1;
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    header->e_type = ET_REL;
    header->e_machine = machines[machine].number;
    header->e_version = EV_CURRENT;
    header->e_shstrndx = (Elf64_Half)count;
    for (size_t i = 0; i < count; i++)
        sections[i].header.sh_name = put_object_string(&contents->names, sections[i].name);
    sections[count - 1].data = buffer_bytes(&contents->names);
    for (size_t i = 0; i < count; i++)
        if (!add_object_section(contents->elf, &sections[i]))
            return -1;
    return elf_update(contents->elf, ELF_C_WRITE);
}

#define HEADER(type, ...) ((Elf64_Shdr){.sh_type = type, __VA_ARGS__})
#define BYTES(object)     ((struct bytes){(const uint8_t *)&(object), sizeof(object)})

static int64_t write_fatbin(struct contents *contents, enum hostobj_machine machine,
                            struct bytes fatbin, const char *name)
{
    const struct wrapper wrapper = {.magic = WRAPPER_MAGIC, .version = WRAPPER_VERSION};
    const Elf64_Rela relocation = {
        .r_offset = offsetof(struct wrapper, fatbin),
        .r_info = ELF64_R_INFO((Elf64_Xword)make_symbols(contents), machines[machine].pointer)};
    const struct bytes id = {(const uint8_t *)contents->module_id, strlen(contents->module_id) + 1};
    const struct bytes symbols = {(const uint8_t *)contents->symbols,
                                  contents->symbol_count * sizeof *contents->symbols};
    struct section sections[] = {
        {"__nv_module_id", ELF_T_BYTE,
         HEADER(SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addralign = 8), id},
        {name, ELF_T_BYTE, HEADER(SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addralign = 8), fatbin},
        {".nvFatBinSegment", ELF_T_BYTE,
         HEADER(SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_WRITE, .sh_addralign = 8),
         BYTES(wrapper)},
        {".rela.nvFatBinSegment", ELF_T_RELA,
         HEADER(SHT_RELA, .sh_flags = SHF_INFO_LINK, .sh_link = SECTION_SYMBOLS,
                .sh_info = SECTION_WRAPPER, .sh_entsize = sizeof relocation, .sh_addralign = 8),
         BYTES(relocation)},
        {".note.GNU-stack", ELF_T_BYTE, HEADER(SHT_PROGBITS, .sh_addralign = 1), {0}},
        {".symtab", ELF_T_SYM,
         HEADER(SHT_SYMTAB, .sh_link = SECTION_STRINGS,
                .sh_info = (Elf64_Word)contents->local_count, .sh_entsize = sizeof(Elf64_Sym),
                .sh_addralign = 8),
         symbols},
        {".strtab", ELF_T_BYTE, HEADER(SHT_STRTAB, .sh_addralign = 1),
         buffer_bytes(&contents->strings)},
        {".shstrtab", ELF_T_BYTE, HEADER(SHT_STRTAB, .sh_addralign = 1), {0}},
    };

    return write_sections(contents, machine, sections, sizeof sections / sizeof *sections);
}

/* Writes the object as clang does: the section has a type of its own, and linkers leave it out. */
static int64_t write_offload(struct contents *contents, enum hostobj_machine machine,
                             struct bytes binaries)
{
    struct section sections[] = {
        {HOSTOBJ_OFFLOAD, ELF_T_BYTE,
         HEADER(SHT_LLVM_OFFLOADING, .sh_flags = SHF_EXCLUDE, .sh_addralign = 8), binaries},
        {".note.GNU-stack", ELF_T_BYTE, HEADER(SHT_PROGBITS, .sh_addralign = 1), {0}},
        {".shstrtab", ELF_T_BYTE, HEADER(SHT_STRTAB, .sh_addralign = 1), {0}},
    };

    return write_sections(contents, machine, sections, sizeof sections / sizeof *sections);
}

bool hostobj_build(struct buffer *object, struct bytes fatbin, enum hostobj_machine machine,
                   const char *section, const char *source)
{
    struct contents contents = {.is_relocatable = strcmp(section, HOSTOBJ_RELOCATABLE) == 0,
                                .fd = memfd_create("host object", MFD_CLOEXEC)};
    int64_t size;

    if (contents.fd < 0)
        return diag_fatal("cannot make a file in memory: %s", strerror(errno));
    CONTEXT_DEFER(free_contents, &contents);
    contents.module_id = contents.is_relocatable ? make_module_id(&contents.arena, fatbin, source)
                                                 : WHOLE_PROGRAM_ID;
    errno = 0;
    size = strcmp(section, HOSTOBJ_OFFLOAD) == 0
               ? write_offload(&contents, machine, fatbin)
               : write_fatbin(&contents, machine, fatbin, section);
    if (size < 0)
        return libelf_failed();
    buffer_reserve(object, (size_t)size);
    if (!descriptor_read(contents.fd, object->data + object->size, (size_t)size, 0))
        return diag_fatal("cannot read the host object back: %s", strerror(errno));
    object->size += (size_t)size;
    return true;
}
