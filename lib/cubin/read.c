/* read.c: reads a cubin's headers with libelf.
 *
 * The file is untrusted. The file header and the offset and number of the section headers are
 * checked before libelf gets the file, so that it cannot allocate out of proportion (and since
 * libelf silently finds no sections if their headers are cut off). Contents are views of the file.
 * nvlink accepts a truncated cubin silently; here it is an error. Records are little-endian like
 * the host and are copied; they need not be aligned. */
#include "cubin/internal.h"

#include <inttypes.h>

#include "diag/diag.h"
#include "os/elf_file.h"

#define TOO_OLD "Input file '%s' must be recompiled with toolkit >= Cuda 12.0"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are copied as they are");

/* Messages are nvlink's. It refuses objects of toolkits that are newer than its own; here only
 * those that are newer than all known ones. */
static bool check_toolkit(const char *name, unsigned sm, uint32_t toolkit)
{
    const unsigned newest = toolkits_newest()->version;

    if (toolkit <= newest)
        return runs_on_made_by(sm, toolkit) || diag_fatal(TOO_OLD, name);
    return diag_fatal("Input file '%s' newer than toolkit (%" PRIu32 " vs %u)", name, toolkit,
                      newest);
}

/* The assembler writes its release into .note.nv.tkinfo. */
static bool refuse_newer(const struct reader *reader, unsigned abi)
{
    static const char words[] = "Cuda compilation tools, release ";
    const size_t length = sizeof words - 1;
    const char *found = memmem(reader->file.data, reader->file.size, words, length);
    size_t rest = found ? reader->file.size - (size_t)(found - (const char *)reader->file.data) : 0;
    const struct toolkit_facts *newest = toolkits_newest();
    unsigned maker = 0;

    if (rest > length)
        maker = toolkit_version_read((struct text){found + length, rest - length});
    diag_fatal("Input file '%s' abi does not match: its ELF header says version %u",
               reader->cubin->name, abi);
    diag_note("it was made by %s, and this minilink knows cubins of up to CUDA %u.%u: compile it "
              "with that, or link with a newer minilink",
              maker > newest->version
                  ? arena_printf(&reader->cubin->arena, "CUDA %u.%u", maker / 10, maker % 10)
                  : "a newer CUDA",
              newest->version / 10u, newest->version % 10u);
    return false;
}

/* Reports an error and returns false unless the file is a cubin in the format of CUDA 12 or 13. */
static bool check_identity(const struct reader *reader, const Elf64_Ehdr *header)
{
    const char *name = reader->cubin->name;
    bool is_old = header->e_ident[EI_OSABI] == CUBIN_OLD_OSABI;
    unsigned abi = header->e_ident[EI_ABIVERSION];

    if (header->e_machine != EM_CUDA)
        return diag_error("'%s' is not a cubin: its ELF machine is %u, expected %u", name,
                          header->e_machine, EM_CUDA);
    if (!is_old && header->e_ident[EI_OSABI] == CUBIN_OSABI && abi > CUBIN_ABI_VERSION)
        return refuse_newer(reader, abi);
    if (is_old ? abi != CUBIN_OLD_ABI_VERSION
               : header->e_ident[EI_OSABI] != CUBIN_OSABI || abi != CUBIN_ABI_VERSION)
        return diag_fatal("Input file '%s' abi does not match: its ELF header says %#x version %u, "
                          "expected %#x version %u, or %#x version %u of CUDA 12",
                          name, header->e_ident[EI_OSABI], abi, CUBIN_OSABI, CUBIN_ABI_VERSION,
                          CUBIN_OLD_OSABI, CUBIN_OLD_ABI_VERSION);
    if (header->e_type != ET_REL && header->e_type != ET_EXEC && header->e_type != ET_CUDA_EWP)
        return read_damaged(reader, "its ELF type is %u, expected %u or %u", header->e_type, ET_REL,
                            ET_EXEC);
    if (is_old)
        return check_toolkit(name, CUBIN_OLD_FLAGS_SM(header->e_flags), header->e_version);
    if (header->e_version != EV_CURRENT)
        return read_damaged(reader, "its ELF version is %u, expected %u", header->e_version,
                            EV_CURRENT);
    return true;
}

/* Checks that the section header table lies in the file, including when the null section holds its
 * length because it does not fit into e_shnum. */
static bool check_section_table(struct reader *reader, const Elf64_Ehdr *header)
{
    uint64_t count = header->e_shnum;
    struct bytes table;
    Elf64_Shdr null_section;

    if (header->e_shentsize != sizeof(Elf64_Shdr))
        return read_damaged(reader, "its section headers have %u bytes, expected %zu",
                            header->e_shentsize, sizeof(Elf64_Shdr));
    if (header->e_shoff < sizeof *header ||
        !bytes_slice(reader->file, header->e_shoff, sizeof(Elf64_Shdr), &table))
        return read_damaged(reader, "its section headers stand at byte %" PRIu64 " of %zu",
                            header->e_shoff, reader->file.size);
    memcpy(&null_section, table.data, sizeof null_section);
    if (count == 0)
        count = null_section.sh_size;
    if (count == 0 || count > reader->file.size / sizeof(Elf64_Shdr) ||
        !bytes_slice(reader->file, header->e_shoff, count * sizeof(Elf64_Shdr), &table))
        return read_damaged(
            reader, "its %" PRIu64 " section headers at byte %" PRIu64 " do not fit into %zu bytes",
            count, header->e_shoff, reader->file.size);
    if (header->e_shnum != 0 && null_section.sh_size != 0)
        return read_damaged(reader, "section 0 has %" PRIu64 " bytes, expected none",
                            null_section.sh_size);
    reader->section_count = count;
    return true;
}

static bool check_program_headers(const struct reader *reader, const Elf64_Ehdr *header)
{
    struct bytes table;

    if (header->e_phnum == 0)
        return true;
    if (header->e_phentsize != sizeof(Elf64_Phdr) ||
        !bytes_slice(reader->file, header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr), &table))
        return read_damaged(reader,
                            "its %u program headers at byte %" PRIu64 " do not fit into %zu bytes",
                            header->e_phnum, header->e_phoff, reader->file.size);
    return true;
}

/* True for a section that belongs to another one without a flag for that: so it is before
 * CUDA 12.4, and with constants that nvlink -r has taken from such a file. In an executable the
 * types of shared variables and constants are ELF's. */
static bool lacks_link(const struct reader *reader, const Elf64_Shdr *header)
{
    const uint32_t type = header->sh_type;
    bool is_constant = format_is_constant(type);
    bool is_data = reader->cubin->type == ET_EXEC && (type == SHT_PROGBITS || type == SHT_NOBITS) &&
                   !(header->sh_flags & SHF_EXECINSTR);
    bool is_owned = is_data || type == SHT_REL || type == SHT_RELA || type == SHT_CUDA_INFO ||
                    type == SHT_CUDA_SHARED;

    return (is_constant || (is_owned && reader->cubin->toolkit)) && header->sh_info != 0 &&
           !(header->sh_flags & SHF_INFO_LINK);
}

static bool check_file_header(struct reader *reader)
{
    static const unsigned char magic[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
    struct cubin *cubin = reader->cubin;
    Elf64_Ehdr header;

    if (reader->file.size < sizeof header)
        return diag_error("'%s' is not a cubin: it has %zu bytes, fewer than an ELF header",
                          cubin->name, reader->file.size);
    if (memcmp(reader->file.data, magic, sizeof magic))
        return diag_error(
            "'%s' is not a cubin: it does not begin with a little-endian 64-bit ELF header",
            cubin->name);
    memcpy(&header, reader->file.data, sizeof header);
    cubin->type = header.e_type == ET_EXEC ? ET_EXEC : ET_REL;
    cubin->is_extensible = header.e_type == ET_CUDA_EWP;
    cubin->flags = header.e_flags;
    if (!check_identity(reader, &header))
        return false;
    if (header.e_ident[EI_OSABI] ==
        CUBIN_OLD_OSABI) { /* its texture mode does not matter (measured) */
        if (!(header.e_flags & CUBIN_OLD_FLAGS_64BIT))
            diag_warning("expected 64bit object '%s' to have EF_CUDA_64BIT_ADDRESS set",
                         cubin->name);
        cubin->toolkit = header.e_version;
        cubin->virtual_sm = CUBIN_OLD_FLAGS_VIRTUAL(header.e_flags);
        cubin->flags = format_target_flags(CUBIN_OLD_FLAGS_SM(header.e_flags));
    }
    cubin->flags &= ~CUBIN_FLAGS_SUFFIX_A;
    return check_section_table(reader, &header) && check_program_headers(reader, &header);
}

/* Copies one section header and finds its data. Names come later: until then a name's size is its
 * place in the table of names. */
static bool read_section(struct reader *reader, size_t index, const Elf64_Shdr *header)
{
    struct cubin_section *section = &reader->cubin->sections[index];
    uint64_t alignment = header->sh_addralign ? header->sh_addralign : 1;
    /* Mercury's twin of the driver's reserved shared memory has file contents; the plain section
     * has none (measured). */
    bool is_zeroed_twin =
        header->sh_type == SHT_CUDA_RESERVED_SHARED && (header->sh_flags & SHF_CUDA_MERCURY);

    *section = (struct cubin_section){
        .name.size = header->sh_name,
        .type = header->sh_type,
        .link = header->sh_link,
        .info = header->sh_info,
        .flags = header->sh_flags | (lacks_link(reader, header) ? SHF_INFO_LINK : 0),
        .lacks_link = lacks_link(reader, header),
        .alignment = (uint32_t)alignment,
        .entry_size = header->sh_entsize,
        .size = header->sh_size,
        .has_no_bytes = format_is_nobits(header->sh_type) && !is_zeroed_twin,
    };
    if (section->has_no_bytes && section->size > READ_LARGEST_OBJECT)
        return read_damaged(reader, "section %zu has %" PRIu64 " bytes", index, section->size);
    if (!section->has_no_bytes &&
        !bytes_slice(reader->file, header->sh_offset, header->sh_size, &section->data))
        return read_damaged(reader, "section %zu has %" PRIu64 " bytes at byte %" PRIu64 " of %zu",
                            index, header->sh_size, header->sh_offset, reader->file.size);
    if ((alignment & (alignment - 1)) != 0 || alignment > READ_LARGEST_ALIGNMENT)
        return read_damaged(reader,
                            "section %zu has alignment %" PRIu64 ", expected a power of two up to "
                            "%u",
                            index, alignment, READ_LARGEST_ALIGNMENT);
    return true;
}

static bool name_sections(struct reader *reader)
{
    struct cubin *cubin = reader->cubin;
    const struct cubin_section *table;
    size_t string_table = 0;

    if (elf_getshdrstrndx(reader->elf, &string_table) != 0 ||
        string_table >= cubin->section_count || cubin->sections[string_table].type != SHT_STRTAB)
        return read_damaged(reader,
                            "section %zu, which should hold the section names, is no string "
                            "table",
                            string_table);
    table = &cubin->sections[string_table];
    if (table->data.size == 0 || table->data.data[table->data.size - 1] != '\0')
        return read_damaged(reader, "the table of section names does not end with NUL");
    for (size_t i = 1; i < cubin->section_count; i++) {
        struct cubin_section *section = &cubin->sections[i];
        uint32_t place = (uint32_t)section->name.size;

        if (!read_name(reader, table->data, place, &section->name))
            return read_damaged(reader, "the name of section %zu stands at byte %u of %zu", i,
                                place, table->data.size);
        section->facts = sections_find(section->type, section->flags, section->name);
    }
    return true;
}

bool cubin_check_note(const struct cubin *cubin)
{
    uint32_t named = cubin->flags >> CUBIN_FLAGS_NOTE_SHIFT, note = cubin_find_note(cubin);
    unsigned maker = cubin_maker(cubin);

    if (cubin->toolkit)
        return true;
    return (note && (named == note || named == CUBIN_FLAGS_NOTE_NAMED) &&
            (maker == 0 || runs_on_made_by(CUBIN_FLAGS_SM(cubin->flags), maker))) ||
           diag_fatal(TOO_OLD, cubin->name);
}

/* Sections that are concatenated must not have an entry size. ptxas writes 0, for strings 1. */
static bool check_entry_size(const struct reader *reader, size_t index)
{
    const struct cubin_section *section = &reader->cubin->sections[index];
    bool is_joined = section->type == SHT_PROGBITS || section->type == SHT_NOTE ||
                     section->type == SHT_CUDA_INFO || section->type == SHT_CUDA_COMPAT ||
                     section->type == SHT_CUDA_GLOBAL_INIT || section->has_no_bytes ||
                     format_is_constant(section->type);

    return !is_joined || section->entry_size <= 1 ||
           READ_BAD_SECTION(reader, index, "has records of %" PRIu64 " bytes, expected none",
                            section->entry_size);
}

/* Checks links between sections, and that sections do not share their bytes, so that the cost of
 * decoding them is bounded by the file's size. Mercury's twin of a data section does share its
 * bytes: hence twice the file's size. */
static bool check_sections(const struct reader *reader)
{
    const struct cubin *cubin = reader->cubin;
    uint64_t total = 0;
    uint64_t alignments = 0;

    for (size_t i = 1; i < cubin->section_count; i++) {
        const struct cubin_section *section = &cubin->sections[i];

        if (!check_entry_size(reader, i))
            return false;
        total += section->data.size;
        if (total / 2 > reader->file.size)
            return READ_BAD_SECTION(reader, i, "overlaps others");
        alignments += section->alignment > READ_PAGE ? section->alignment : 0;
        if (alignments > READ_ALIGNMENT_SUM)
            return read_damaged(reader, "the alignments of its sections add up to more than %u",
                                READ_ALIGNMENT_SUM);
        if (section->link >= cubin->section_count)
            return READ_BAD_SECTION(reader, i, "is linked to section %u of %zu", section->link,
                                    cubin->section_count);
        if ((section->flags & SHF_INFO_LINK) &&
            (section->info == 0 || section->info >= cubin->section_count))
            return READ_BAD_SECTION(reader, i, "belongs to section %u of %zu", section->info,
                                    cubin->section_count);
    }
    return true;
}

static void close_cubin(void *elf)
{
    elf_end(*(Elf **)elf);
}

/* Everything that the null section's header holds is known already. */
static bool read_sections(struct reader *reader)
{
    struct cubin *cubin = reader->cubin;
    Elf_Scn *place = NULL;

    cubin->section_count = reader->section_count;
    cubin->sections = arena_alloc(&cubin->arena, cubin->section_count, sizeof *cubin->sections);
    cubin->sections[0] = (struct cubin_section){.alignment = 1};
    for (size_t i = 1; i < cubin->section_count; i++) {
        const void *record;
        Elf64_Shdr header = {0};

        place = elf_nextscn(reader->elf, place);
        record = elf64_getshdr(place);
        if (record) /* it may lie in the file, at any address */
            memcpy(&header, record, sizeof header);
        else
            context_raise(LINK_NO_MEMORY);
        if (!read_section(reader, i, &header))
            return false;
    }
    return name_sections(reader) &&
           (cubin->flags >> CUBIN_FLAGS_NOTE_SHIFT == 0 || cubin_check_note(cubin)) &&
           check_sections(reader);
}

/* Opens the file with libelf, which must find as many sections as were checked. */
static bool read_headers(struct reader *reader)
{
    size_t count = 0;

    if (!check_file_header(reader))
        return false;
    CONTEXT_DEFER(close_cubin, &reader->elf);
    elf_library_begin();
    /* libelf only reads a memory image that was opened like this. */
    reader->elf = elf_memory((char *)(uintptr_t)reader->file.data, reader->file.size);
    if (reader->elf && elf_getshdrnum(reader->elf, &count) == 0 && count == reader->section_count)
        return read_sections(reader);
    elf_library_failure();
    context_raise(LINK_INTERNAL);
}

bool cubin_read(struct cubin *cubin, const char *name, struct bytes data)
{
    struct reader reader = {
        .cubin = cubin,
        .file = data,
        .name_budget = 16 * (uint64_t)data.size,
        .code = sections_of_class(CLASS_TEXT)->name,
        .info = sections_of_class(CLASS_INFO)->name,
    };

    *cubin = (struct cubin){.name = name};
    return read_headers(&reader) && read_symbols(&reader) && read_relocations(&reader) &&
           read_check_contents(&reader) && read_check_names(&reader);
}
