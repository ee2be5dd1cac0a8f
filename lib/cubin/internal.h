/* internal.h: the parts of cubin_read(), each of which checks what it decodes, and what they and
 * other files of the room share. They report the first fault and stop: further errors would mostly
 * be consequences. */
#pragma once

#include <elf.h>
#include <libelf.h>

#include "cubin/contents.h"

struct reader {
    struct cubin *cubin;
    struct bytes file;
    Elf *elf;             /* until the section headers are read */
    size_t section_count; /* known to fit into the file */
    struct bytes indices; /* contents of SHT_SYMTAB_SHNDX, or empty */
    /* Bytes of names that may still be read: bounds the time spent on a file whose symbols all
     * share the tail of one enormous name. */
    uint64_t name_budget;
    struct text code, info; /* what the names of sections of code, and of records, begin with */
};

/* Far larger than any object that fits a GPU. */
#define READ_LARGEST_OBJECT (UINT64_C(1) << 40)

/* ptxas accepts any alignment (and writes gigabytes of padding). Each alignment is bounded, and so
 * is the sum of those above a page, so that a small input cannot cause a large output. */
#define READ_LARGEST_ALIGNMENT (1u << 20)
#define READ_PAGE              4096u
#define READ_ALIGNMENT_SUM     (64u << 20)

/* Reports "'name' is a damaged cubin: ..." and returns false. */
bool read_damaged(const struct reader *reader, const char *format, ...) PRINTF(2, 3);

/* "section 7 (.text.f)" for messages. */
#define READ_SECTION "section %zu (%.*s)"
#define READ_SECTION_ARG(reader, index)                                                            \
    (size_t)(index), TEXT_ARG((reader)->cubin->sections[index].name)

/* The same of a section, whose number and name precede the text. */
#define READ_BAD_SECTION(reader, index, format, ...)                                               \
    read_damaged(reader, READ_SECTION " " format, READ_SECTION_ARG(reader, index), ##__VA_ARGS__)

/* Finds the name at `offset` of a string table, whose last byte is known to be NUL. False when it
 * lies outside or the budget is used up. */
bool read_name(struct reader *reader, struct bytes strings, uint64_t offset, struct text *name);

/* The parts in order: symbol tables, Mercury's among them; records of relocations; sections that
 * refer to symbols and strings: code, info records, call graph, prototypes, notes; and names of
 * sections, which must match their types and the sections that they belong to. */
bool read_symbols(struct reader *reader);
bool read_relocations(struct reader *reader);
bool read_check_contents(struct reader *reader);
bool read_check_names(const struct reader *reader);

/* The note with the cubin's target and toolkit; 0 = none. */
uint32_t cubin_find_note(const struct cubin *cubin);

/* The section of a symbol with this st_shndx: an index, SHN_UNDEF, or a special index of format.h.
 * `indices` are those that do not fit into it, by symbol. */
uint32_t cubin_symbol_section(struct bytes indices, size_t symbol, uint16_t section);

/* unknown.c: true for a record of .nv.info, .nv.info.F, their twins or .nv.compat that no row of
 * attributes.def or compat.def describes. */
static inline bool unknown_is_record(const struct cubin_section *section,
                                     const struct info_record *record)
{
    return section->type == SHT_CUDA_COMPAT ? !compat_rule(record->attribute)
                                            : !attributes_find(record->attribute);
}
