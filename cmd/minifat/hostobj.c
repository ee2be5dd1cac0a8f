/* hostobj.c: the device half of what nvcc makes of a source file.
 *
 * Measured on nvcc 13.0: the fatbin section (symbol fatbinData), a 24-byte wrapper in
 * .nvFatBinSegment that points to it, and __nv_module_id, a string. In relocatable objects the
 * wrapper is the global __fatbinwrap<module id>, and registration goes through
 * __cudaRegisterLinkedBinary<module id>, which the host link defines; in whole-program objects both
 * are local matters. The host code that nvcc puts beside them (stubs, registration) is not made. */
#include "hostobj.h"

#include <ctype.h>
#include <errno.h>
#include <libelf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/context.h"
#include "diag/diag.h"
#include "os/descriptor.h"

#define WRAPPER_MAGIC   0x466243B1u
#define WRAPPER_VERSION 1u
#define WRAPPER_SIZE    24u
#define WRAPPER_DATA    8u /* offset of the pointer to the fatbin */

/* What nvcc writes when nothing needs to be told apart. */
#define WHOLE_PROGRAM_ID "__NV_MODULE_ID"

enum {
    SECTION_MODULE_ID = 1,
    SECTION_FATBIN,
    SECTION_WRAPPER,
    SECTION_RELOCATIONS,
    SECTION_NOTE_STACK,
    SECTION_SYMBOLS,
    SECTION_STRINGS,
    SECTION_NAMES,
};

/* Of objects with offload binaries. */
#define SECTION_OFFLOAD_NAMES 3
#define SHT_LLVM_OFFLOADING   0x6fff4c0b

/* The ELF machine, and its relocation of a pointer. */
static const struct {
    Elf64_Half number;
    Elf64_Xword pointer;
} machines[] = {
    [HOSTOBJ_X86_64] = {EM_X86_64, R_X86_64_64},
    [HOSTOBJ_AARCH64] = {EM_AARCH64, R_AARCH64_ABS64},
};

/* All contents of the object, which libelf only borrows until it has written them. */
struct contents {
    enum hostobj_machine machine;
    bool is_relocatable;
    struct buffer module_id; /* with its NUL */
    struct buffer wrapper;
    struct buffer strings; /* .strtab */
    struct buffer names;   /* .shstrtab */
    struct buffer name;    /* of the symbol at hand */
    Elf *elf;
    int fd; /* of the memory file, or -1 */
    Elf64_Rela relocation;
    Elf64_Sym symbols[10];
    size_t symbol_count;
    size_t local_count;
};

/* Adds a NUL-terminated string to a string table; its offset. */
static Elf64_Word put_string(struct buffer *table, const char *string)
{
    size_t offset;

    if (table->size == 0)
        buffer_char(table, '\0');
    offset = table->size;
    buffer_append(table, string, strlen(string) + 1);
    return (Elf64_Word)offset;
}

/* "_<hash>_<length>_<file>_<hash>", as nvcc's, with the file's base name made an identifier. */
static void make_module_id(struct contents *contents, struct bytes fatbin, const char *source)
{
    uint64_t hash = XXH3_64bits(fatbin.data, fatbin.size);
    const char *base = basename(source);

    if (!contents->is_relocatable) {
        buffer_string(&contents->module_id, WHOLE_PROGRAM_ID);
    } else {
        buffer_printf(&contents->module_id, "_%08x_%zu_", (unsigned)(hash >> 32), strlen(base));
        for (; *base; base++)
            buffer_char(&contents->module_id, isalnum((unsigned char)*base) ? *base : '_');
        buffer_printf(&contents->module_id, "_%08x", (unsigned)(hash & 0xffffffff));
    }
    buffer_char(&contents->module_id, '\0');
}

static size_t put_symbol(struct contents *contents, const char *name, unsigned info,
                         Elf64_Section section, size_t size)
{
    Elf64_Sym *symbol = &contents->symbols[contents->symbol_count];

    *symbol = (Elf64_Sym){.st_info = (unsigned char)info, .st_shndx = section, .st_size = size};
    if (name)
        symbol->st_name = put_string(&contents->strings, name);
    return contents->symbol_count++;
}

/* Locals first, as ELF wants it. */
static void make_symbols(struct contents *contents)
{
    const unsigned section = ELF64_ST_INFO(STB_LOCAL, STT_SECTION);
    const unsigned object = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT);
    struct buffer *name = &contents->name;
    size_t fatbin;

    put_symbol(contents, NULL, 0, SHN_UNDEF, 0);
    put_symbol(contents, NULL, section, SECTION_MODULE_ID, 0);
    put_symbol(contents, "_ZL15__module_id_str", object, SECTION_MODULE_ID,
               contents->module_id.size);
    fatbin = put_symbol(contents, NULL, section, SECTION_FATBIN, 0);
    put_symbol(contents, "fatbinData", ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), SECTION_FATBIN, 0);
    put_symbol(contents, NULL, section, SECTION_WRAPPER, 0);
    if (!contents->is_relocatable)
        put_symbol(contents, "_ZL15__fatDeviceText", object, SECTION_WRAPPER, WRAPPER_SIZE);
    contents->local_count = contents->symbol_count;
    if (contents->is_relocatable) {
        buffer_printf(name, "__fatbinwrap%s%c", contents->module_id.data, '\0');
        put_symbol(contents, name->data, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), SECTION_WRAPPER,
                   WRAPPER_SIZE);
        name->size = 0;
        buffer_printf(name, "__cudaRegisterLinkedBinary%s%c", contents->module_id.data, '\0');
        put_symbol(contents, name->data, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), SHN_UNDEF, 0);
    }
    contents->relocation = (Elf64_Rela){
        .r_offset = WRAPPER_DATA,
        .r_info = ELF64_R_INFO((Elf64_Xword)fatbin, machines[contents->machine].pointer)};
}

static void make_contents(struct contents *contents, struct bytes fatbin, const char *source)
{
    make_module_id(contents, fatbin, source);
    buffer_u32(&contents->wrapper, WRAPPER_MAGIC);
    buffer_u32(&contents->wrapper, WRAPPER_VERSION);
    buffer_zeros(&contents->wrapper, WRAPPER_SIZE - contents->wrapper.size);
    make_symbols(contents);
}

static void free_contents(void *argument)
{
    struct contents *contents = argument;

    elf_end(contents->elf);
    if (contents->fd >= 0)
        close(contents->fd);
    buffer_free(&contents->name);
    buffer_free(&contents->module_id);
    buffer_free(&contents->wrapper);
    buffer_free(&contents->strings);
    buffer_free(&contents->names);
}

/* Adds a section whose header is `wanted`, but for the name unless that is set; `data` is borrowed.
 */
static bool add_section(Elf *elf, struct contents *contents, const char *name, Elf_Type data_type,
                        Elf64_Shdr wanted, struct bytes data)
{
    Elf_Scn *section;
    Elf64_Shdr *header;
    Elf_Data *contained;

    /* Without memory for the header, elf_newscn (elfutils 0.188) returns a section all the same, on
     * which elf64_getshdr crashes. */
    elf_errno();
    section = elf_newscn(elf);
    header = section && elf_errno() == 0 ? elf64_getshdr(section) : NULL;
    contained = header ? elf_newdata(section) : NULL;
    if (!contained)
        return false;
    if (wanted.sh_name == 0)
        wanted.sh_name = put_string(&contents->names, name);
    *header = wanted;
    contained->d_type = data_type;
    contained->d_version = EV_CURRENT;
    contained->d_align = wanted.sh_addralign;
    contained->d_size = data.size;
    contained->d_buf = (void *)(uintptr_t)data.data; /* libelf only reads it */
    return true;
}

static bool add_data_sections(Elf *elf, struct contents *contents, struct bytes fatbin,
                              const char *section)
{
    const Elf64_Shdr constant = {.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addralign = 8};
    const Elf64_Shdr writable = {
        .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_WRITE, .sh_addralign = 8};
    const Elf64_Shdr relocations = {.sh_type = SHT_RELA,
                                    .sh_flags = SHF_INFO_LINK,
                                    .sh_link = SECTION_SYMBOLS,
                                    .sh_info = SECTION_WRAPPER,
                                    .sh_entsize = sizeof(Elf64_Rela),
                                    .sh_addralign = 8};
    const Elf64_Shdr note = {.sh_type = SHT_PROGBITS, .sh_addralign = 1};

    return add_section(elf, contents, "__nv_module_id", ELF_T_BYTE, constant,
                       buffer_bytes(&contents->module_id)) &&
           add_section(elf, contents, section, ELF_T_BYTE, constant, fatbin) &&
           add_section(elf, contents, ".nvFatBinSegment", ELF_T_BYTE, writable,
                       buffer_bytes(&contents->wrapper)) &&
           add_section(elf, contents, ".rela.nvFatBinSegment", ELF_T_RELA, relocations,
                       (struct bytes){(const uint8_t *)&contents->relocation,
                                      sizeof contents->relocation}) &&
           add_section(elf, contents, ".note.GNU-stack", ELF_T_BYTE, note, (struct bytes){NULL, 0});
}

/* As clang's: of a type of its own, and left out by linkers. */
static bool add_offload_sections(Elf *elf, struct contents *contents, struct bytes binaries)
{
    const Elf64_Shdr offload = {
        .sh_type = SHT_LLVM_OFFLOADING, .sh_flags = SHF_EXCLUDE, .sh_addralign = 8};
    const Elf64_Shdr note = {.sh_type = SHT_PROGBITS, .sh_addralign = 1};

    return add_section(elf, contents, HOSTOBJ_OFFLOAD, ELF_T_BYTE, offload, binaries) &&
           add_section(elf, contents, ".note.GNU-stack", ELF_T_BYTE, note, (struct bytes){NULL, 0});
}

static bool add_tables(Elf *elf, struct contents *contents)
{
    const Elf64_Shdr symbols = {.sh_type = SHT_SYMTAB,
                                .sh_link = SECTION_STRINGS,
                                .sh_info = (Elf64_Word)contents->local_count,
                                .sh_entsize = sizeof(Elf64_Sym),
                                .sh_addralign = 8};
    const Elf64_Shdr strings = {.sh_type = SHT_STRTAB, .sh_addralign = 1};

    return add_section(elf, contents, ".symtab", ELF_T_SYM, symbols,
                       (struct bytes){(const uint8_t *)contents->symbols,
                                      contents->symbol_count * sizeof *contents->symbols}) &&
           add_section(elf, contents, ".strtab", ELF_T_BYTE, strings,
                       buffer_bytes(&contents->strings));
}

static bool add_names(Elf *elf, struct contents *contents)
{
    Elf64_Shdr names = {.sh_type = SHT_STRTAB, .sh_addralign = 1};

    /* This table's own name must be in it before it is handed over. */
    names.sh_name = put_string(&contents->names, ".shstrtab");
    return add_section(elf, contents, NULL, ELF_T_BYTE, names, buffer_bytes(&contents->names));
}

/* A memory file that cannot grow is memory that has run out. libelf's number for that is not
 * public; its text is. */
static bool libelf_failed(void)
{
    bool is_full = errno == ENOMEM || errno == ENOSPC;
    bool is_limited = errno == EFBIG; /* by the process's limit, which libelf does not tell */
    const char *why = elf_errmsg(elf_errno());

    if (is_full || !why || strcmp(why, "out of memory") == 0)
        context_raise(LINK_NO_MEMORY);
    diag_fatal("libelf cannot build the host object: %s", is_limited ? strerror(EFBIG) : why);
    return false;
}

static bool write_elf(struct contents *contents, struct bytes fatbin, const char *section)
{
    bool is_offload = strcmp(section, HOSTOBJ_OFFLOAD) == 0, ok = false;
    Elf64_Ehdr *header = NULL;

    errno = 0;
    if (elf_version(EV_CURRENT) != EV_NONE)
        contents->elf = elf_begin(contents->fd, ELF_C_WRITE, NULL);
    if (contents->elf)
        header = elf64_newehdr(contents->elf);
    if (header) {
        header->e_ident[EI_DATA] = ELFDATA2LSB;
        header->e_type = ET_REL;
        header->e_machine = machines[contents->machine].number;
        header->e_version = EV_CURRENT;
        header->e_shstrndx = is_offload ? SECTION_OFFLOAD_NAMES : SECTION_NAMES;
        ok = is_offload ? add_offload_sections(contents->elf, contents, fatbin)
                        : add_data_sections(contents->elf, contents, fatbin, section) &&
                              add_tables(contents->elf, contents);
        ok =
            ok && add_names(contents->elf, contents) && elf_update(contents->elf, ELF_C_WRITE) >= 0;
    }
    return ok || libelf_failed();
}

static bool read_back(int fd, struct buffer *object)
{
    struct bytes bytes;

    if (!descriptor_map(fd, &bytes))
        return false;
    CONTEXT_DEFER(descriptor_unmap, &bytes);
    buffer_append(object, bytes.data, bytes.size);
    return true;
}

bool hostobj_build(struct buffer *object, struct bytes fatbin, enum hostobj_machine machine,
                   const char *section, const char *source)
{
    struct contents contents = {.machine = machine,
                                .is_relocatable = strcmp(section, HOSTOBJ_RELOCATABLE) == 0,
                                .fd = memfd_create("host object", MFD_CLOEXEC)};
    bool ok;

    if (contents.fd < 0) {
        diag_fatal("cannot make a file in memory: %s", strerror(errno));
        return false;
    }
    CONTEXT_DEFER(free_contents, &contents);
    make_contents(&contents, fatbin, source);
    ok = write_elf(&contents, fatbin, section);
    if (ok && !read_back(contents.fd, object)) {
        diag_fatal("cannot read the host object back: %s", strerror(errno));
        ok = false;
    }
    return ok;
}
