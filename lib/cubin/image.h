/* image.h: an ELF file in memory, complete except for its file offsets.
 *
 * The merger (ET_EXEC, or ET_REL under -r) and the built-in assembler make images; image_append()
 * writes them. Section and symbol indices are final when they are added here. */
#pragma once

#include <elf.h>

#include "base/memory.h"
#include "facts/cubins.h"

struct image_section {
    struct text name;
    uint64_t flags;
    uint64_t alignment;
    uint64_t entry_size;
    uint64_t size;    /* bytes; of file contents unless has_no_bytes */
    const void *data; /* size bytes that outlive the image; NULL: zeros, or has_no_bytes */
    uint64_t offset;  /* in the file: set by image_layout */
    uint32_t type;
    uint32_t link;
    uint32_t info;
    uint32_t shares;      /* an earlier section whose file contents this one shares; or 0 */
    uint32_t name_offset; /* in .shstrtab */
    bool has_no_bytes;    /* NOBITS, or one of NVIDIA's types without file contents */
};

struct image_symbol {
    struct text name;     /* empty: st_name is name_offset */
    uint32_t name_offset; /* in .strtab */
    uint64_t value;
    uint64_t size;
    uint8_t type;
    uint8_t binding;
    uint8_t other;
    uint32_t section; /* index, or one of format.h's */
};

/* Start with {0}. */
struct image {
    struct arena arena;
    uint16_t type;                  /* ET_REL or ET_EXEC */
    uint32_t flags;                 /* e_flags, complete */
    uint32_t toolkit;               /* 0, or e_version of CUDA 12's format (format.h) */
    struct image_section *sections; /* [0] is the null section, made by image_begin */
    size_t section_count;
    size_t section_capacity;
    Elf64_Phdr segments[8]; /* filled in by image_layout for ET_EXEC */
    size_t segment_count;
    uint64_t section_header_offset;
    uint64_t program_header_offset;
    uint64_t file_size;
    struct buffer strings[2]; /* contents of tables: see image_take_strings */
    size_t string_count;
};

/* A string table under construction; offset 0 is the empty string. Start with {0}. */
struct image_strings {
    struct buffer bytes;
    struct table offsets; /* string -> offset; keys must outlive the table */
};

/* Appends a string and its NUL to the contents of a table, and returns its offset. */
uint32_t image_put_string(struct buffer *table, struct text string);

/* Returns the offset of `string`, adding it if it is new. */
uint32_t image_string(struct image_strings *strings, struct text string);
void image_strings_free(void *strings); /* a struct image_strings; for CONTEXT_DEFER, too */

/* Makes the buffer, which is empty afterwards, the contents of section `index`. For two tables. */
void image_take_strings(struct image *image, uint32_t index, struct buffer *table);

/* Adds the null section. */
void image_begin(struct image *image, uint16_t type, uint32_t flags);

/* Appends a section and returns its index; fields may be changed later through image->sections. */
uint32_t image_add_section(struct image *image, const struct image_section *section);

/* Appends a section, still empty, as its row describes it. */
uint32_t image_add_made(struct image *image, const struct section_facts *facts, uint32_t link);

/* The symbol table while its rows are written. */
struct image_symbols {
    Elf64_Sym *table;
    Elf32_Word *indices; /* of sections, if they do not fit into st_shndx; else NULL */
    struct image_strings *strings;
    size_t count;
};

/* Makes room for `count` rows in the image's arena. Names are added to `strings`; if it is NULL,
 * rows have the places of their names. Section indices that do not fit into st_shndx go into
 * section `indices`, an SHT_SYMTAB_SHNDX; 0 = all fit. */
void image_begin_symbols(struct image *image, uint32_t indices, size_t count,
                         struct image_strings *strings, struct image_symbols *symbols);

/* Writes a row. Rows ascend: the null symbol first, locals before globals. */
void image_put_symbol(struct image_symbols *symbols, size_t row, const struct image_symbol *symbol);

/* Sets section `symtab`'s data, size, entry size and info: the row of the first global symbol.
 * Measured: it counts the weak ones among the locals. */
void image_end_symbols(struct image *image, uint32_t symtab, const struct image_symbols *symbols,
                       size_t first_global);

/* The three functions above for an array. If the image has too many sections for st_shndx, an
 * SHT_SYMTAB_SHNDX is appended. */
void image_set_symbols(struct image *image, uint32_t symtab, const struct image_symbol *symbols,
                       size_t count, struct image_strings *strings);

/* Makes .shstrtab (section `index`) of `names`, which may have some names of sections, whose
 * name_offset is set, and gets all others; NULL: it has none. */
void image_set_section_names(struct image *image, uint32_t index, struct image_strings *names);

/* `value` rounded up to a multiple of `alignment`; `value` itself if that is 0. */
static inline uint64_t image_align_up(uint64_t value, uint64_t alignment)
{
    return alignment > 1 ? (value + alignment - 1) / alignment * alignment : value;
}

/* Places sections in index order from 0x40 on, each aligned, then the section header table, then
 * for ET_EXEC the program headers with the segments that nvlink makes for sm_75..sm_90. */
void image_layout(struct image *image);

/* How the assembler's layout of a whole program differs from image_layout(). */
struct image_program_layout {
    uint64_t gaps[2]; /* bytes that stay free before sections 2 and 3 */
    bool is_apart;    /* the segments are those of sm_100, whatever the target */
    bool is_packed;   /* the section header table follows the last section unaligned */
};

void image_layout_program(struct image *image, const struct image_program_layout *layout);

/* Puts the file's bytes into `out`, which must be empty. Call image_layout() first. */
void image_bytes(const struct image *image, struct buffer *out);

/* Writes the file's bytes to an open output. On failure, reports a fatal diagnostic, aborts the
 * output and returns false. */
struct output; /* output/output.h */
bool image_append(const struct image *image, struct output *output);

/* `image` is a struct image; for CONTEXT_DEFER, too. */
void image_free(void *image);
