/* cubin.h: one cubin as plain structs. cubin_read() validates everything before anything uses it:
 * then every index is in range, every view lies inside the file, every name is a string, every info
 * record is whole. The merging stages therefore need no defensive checks. */
#pragma once

#include <elf.h>

#include "base/memory.h"
#include "cubin/format.h"

/* Its layout is that of Elf64_Rela, so that a file's records need no copy. */
struct cubin_relocation {
    uint64_t offset; /* bytes in the target section; the field is known to lie inside it */
    uint32_t type;   /* enum cubin_relocation_type */
    uint32_t symbol; /* index in the cubin's symbols; 0 for the YIELD types, which have none, and
                        for one of Mercury's that is out of range */
    int64_t addend;  /* 0 in a REL section, whose addends are in the fields */
};

struct cubin_section {
    struct text name;
    const struct section_facts *facts; /* sections_find(); NULL: of an unknown kind */
    uint64_t flags;
    uint64_t entry_size;
    uint64_t size;     /* bytes */
    struct bytes data; /* size bytes, or empty when has_no_bytes */
    /* Of relocations only; cubin_read() does not check Mercury's, but for the symbol's index: */
    const struct cubin_relocation *relocations;
    uint32_t relocation_count;
    uint32_t alignment; /* a power of two, at least 1 */
    uint32_t type;
    uint32_t link;
    uint32_t info;
    bool lacks_link;   /* SHF_INFO_LINK is only here, and not in the file */
    bool has_no_bytes; /* NOBITS, or one of NVIDIA's types without file contents */
};

struct cubin_symbol {
    struct text name; /* section symbols: the section's name when they have none of their own */
    uint64_t value;
    uint64_t size;
    uint8_t type;     /* STT_* */
    uint8_t binding;  /* STB_* */
    uint8_t other;    /* visibility, entry flag, memory space */
    uint32_t section; /* index, SHN_UNDEF, SECTION_ABSOLUTE or SECTION_COMMON */
};

/* Start with {0}. */
struct cubin {
    struct arena arena;
    const char *name;   /* for messages: "a.o(1)", "lto.cubin" */
    uint16_t type;      /* ET_REL or ET_EXEC */
    bool is_extensible; /* of ptxas -ewp */
    uint32_t flags;     /* e_flags, as CUDA 13 writes them */
    uint32_t toolkit;   /* ten times the toolkit's version if the file has CUDA 12's format (ABI
                           version 7); 0 = CUDA 13's format */
    uint8_t virtual_sm; /* of CUDA 12's header; see cubin_virtual_sm() */
    struct cubin_section *sections; /* [0] is the null section */
    size_t section_count;
    struct cubin_symbol *symbols; /* [0] is the null symbol */
    size_t symbol_count;
    bool has_unknown_records; /* unknown.c */
    bool has_twins;           /* it has sections of Mercury's, and of its own tables: */
    uint32_t twin_symtab;     /* section index of the symbols; 0 = none */
    uint32_t twin_indices;    /* of their 32-bit section indices; 0 = none */
    uint32_t symtab;          /* section index; 0 = none */
    struct bytes strings;     /* contents of .strtab, which also holds prototypes; ends with NUL */
};

/* Reads the cubin in `data`, which must outlive it. `name` is borrowed. On failure, returns false
 * and reports what is wrong, where, and what was found and expected. */
bool cubin_read(struct cubin *cubin, const char *name, struct bytes data);

/* Returns false with nvlink's error if the cubin's header does not name the note with CUDA's
 * version: nvlink does not link such a cubin. cubin_read() accepts it: plug-ins may write one. */
bool cubin_check_note(const struct cubin *cubin);

/* Ten times the version of the toolkit that made the cubin, as its header or its note says; 0 if
 * they do not. */
unsigned cubin_maker(const struct cubin *cubin);

/* The target of the PTX that the cubin was made of, 80 for compute_80, as its note or, in CUDA 12's
 * format, its header says; that of its code if neither does. */
unsigned cubin_virtual_sm(const struct cubin *cubin);

void cubin_free(struct cubin *cubin);

/* False for the special indices of undefined, absolute and common symbols. */
static inline bool cubin_has_section(const struct cubin *cubin, uint32_t section)
{
    return section != SHN_UNDEF && section < cubin->section_count;
}

/* True for the undefined symbol that nvlink -r puts in place of dynamic shared arrays. Its value,
 * as read, is the alignment of the address that they had. */
bool cubin_is_shared_instance(const struct cubin_symbol *symbol);

/* Index of the first section with that name, of that kind, or of that class and of no function; 0 =
 * none. Linear searches. */
uint32_t cubin_section_find(const struct cubin *cubin, struct text name);
uint32_t cubin_find_kind(const struct cubin *cubin, enum section_kind kind);
uint32_t cubin_find_class(const struct cubin *cubin, enum section_class class);

/* The class of a relocatable cubin's section: CLASS_OTHER or CLASS_TWIN_OTHER if its kind is not
 * known, INFO for functions' records too, FUNCTION_CONSTANT for bank 0 only. */
enum section_class cubin_class_of(const struct cubin_section *section);

/* Whether a section, or its plain one, is of the kind. */
static inline bool cubin_is_kind(const struct cubin_section *section, enum section_kind kind)
{
    return section->facts && section->facts->kind == kind;
}

/* A symbol of type STT_SECTION may also name no section: an absolute or common one. */
static inline bool cubin_names_section(const struct cubin *cubin, const struct cubin_symbol *symbol)
{
    return symbol->type == STT_SECTION && symbol->section < cubin->section_count;
}

/* True for a Mercury section: from sm_100 on these hold a second form of code and records. */
static inline bool cubin_is_mercury(const struct cubin_section *section)
{
    return (section->flags & SHF_CUDA_MERCURY) != 0 || section->type == SHT_CUDA_CAPMERC ||
           section->type == SHT_CUDA_MERC_RELA || section->type == SHT_CUDA_MERC_INFO ||
           section->type == SHT_CUDA_MERC_SYMTAB || section->type == SHT_CUDA_MERC_CALLGRAPH ||
           section->type == SHT_CUDA_MERC_PROTOTYPE;
}

static inline bool cubin_is_text(const struct cubin_section *section)
{
    return section->type == SHT_PROGBITS && (section->flags & SHF_EXECINSTR) != 0 &&
           !cubin_is_mercury(section);
}

/* The function symbol that section `index` belongs to: for .text.F by its sh_info, for .nv.info.F,
 * .nv.constantN.F, .nv.shared.F, .rela.text.F through their .text section. 0 = none. */
uint32_t cubin_section_function(const struct cubin *cubin, uint32_t index);

/* The NUL-terminated string at `offset` in .strtab; empty when out of range. */
struct text cubin_string(const struct cubin *cubin, uint64_t offset);

/* One record of an info section. */
struct info_record {
    uint8_t format;       /* enum info_format */
    uint8_t attribute;    /* enum info_attribute */
    uint16_t value;       /* NVAL, BVAL, HVAL */
    struct bytes payload; /* SVAL */
};

/* Takes the next record off the front of *rest. False at the end. On a checked cubin, records are
 * whole; on unchecked bytes a torn record ends the walk with rest->size > 0. */
static inline bool info_next(struct bytes *rest, struct info_record *record)
{
    const uint8_t *at = rest->data;
    uint16_t value;
    size_t size = 4;

    if (rest->size < size)
        return false;
    value = little_u16(at + 2);
    *record = (struct info_record){.format = at[0], .attribute = at[1], .value = value};
    if (at[0] == EIFMT_SVAL) {
        size += value;
        if (rest->size < size)
            return false;
        record->value = 0;
        record->payload = (struct bytes){at + 4, value};
    }
    rest->data += size;
    rest->size -= size;
    return true;
}

/* Appends a record's head; `value` is the payload's size for SVAL. */
void info_put_head(struct buffer *out, uint8_t format, uint8_t attribute, size_t value);

/* An entry of .nv.callgraph: a function's symbol, and by the part a symbol or string offset. */
struct callgraph_entry {
    int32_t part; /* enum callgraph_part; 0 = none has begun */
    uint32_t first;
    uint32_t second;
};

/* Takes the next entry off the front of *rest, together with any part headers before it. `entry`
 * holds the previous entry, or {0}. False at the end. */
bool callgraph_next(struct bytes *rest, struct callgraph_entry *entry);

/* Number of leading 32-bit words of a payload that are symbol indices (all for EXTERNS). */
size_t info_symbol_words(const struct info_record *record);

/* Appends a record with the symbols of the cubin that it is joined to: `joined` has them by the
 * cubin's, 0 = none. An EXTERNS record loses the symbols for which `bound` is true; NULL: none.
 * Appends nothing and returns false if a symbol is lost, or no external one is left. */
bool info_put_joined(struct buffer *to, const struct info_record *record, const struct cubin *cubin,
                     const uint32_t *joined, const bool *bound);

/* 32-bit word `index` of a payload; 0 past its end. */
static inline uint32_t info_word(struct bytes payload, size_t index)
{
    return index < payload.size / 4 ? little_u32(payload.data + index * 4) : 0;
}

/* The row of Mercury's symbol table that stands for symbol `index`, and its section; zeroes if
 * there is none. Mercury's twins are a second form of the code (see minilink-cubin(5)). */
Elf64_Sym cubin_twin_symbol(const struct cubin *cubin, uint32_t index);
uint32_t cubin_twin_section(const struct cubin *cubin, uint32_t index);

/* Returns why the twins cannot be carried over, as a text for cubin_twins_leave_out(), or NULL if
 * they can: then symbol i means the same in both tables, so that one numbering serves both, and
 * sections that belong to a function name it (cubin_twin_code). */
const char *cubin_twins_check(const struct cubin *cubin);

/* Warns that the twins of all inputs are left out because of this one, and why. */
void cubin_twins_leave_out(const struct cubin *cubin, const char *why);

/* The code section whose twin `section` is, or belongs to; 0 = none. */
uint32_t cubin_twin_code(const struct cubin *cubin, const struct cubin_section *section);

/* True for a twin that belongs to one function and names it. */
bool cubin_twin_is_owned(const struct cubin_section *section);

/* Whether symbol `index` is defined in a section in the plain table and in its twin in Mercury's
 * table; sets *plain and *twin to the two sections. */
bool cubin_twins_pair(const struct cubin *cubin, uint32_t index, uint32_t *plain, uint32_t *twin);

/* Size of the three words at the start of code's twin; the first is the code section's index. */
#define CUBIN_TWIN_CODE_HEADER 12u
