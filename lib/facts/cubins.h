/* cubins.h: of what cubins consist: sections, records and relocations, as the rows of sections.def,
 * attributes.def, compat.def and relocation_types.def have them. */
#pragma once

#include <elf.h>

#include "facts/targets.h"

/* NVIDIA's section types; those of every ELF file are in <elf.h>. */
enum section_type {
#define ELF_TYPE(id)
#define TYPE(id, number) SHT_##id = number,
#include "facts/sections.def"
#undef ELF_TYPE
#undef TYPE
    SHT_CUDA_CONSTANT_LAST = SHT_CUDA_CONSTANT17,
};

/* Section flag of Mercury's sections, from sm_100 on. */
#define SHF_CUDA_MERCURY 0x10000000u

/* What tells apart sections of one class; Mercury's twin has the kind of its plain section. */
enum section_kind {
    KIND_ANY,          /* none of these */
    KIND_NAMES,        /* of sections */
    KIND_STRINGS,      /* of symbols */
    KIND_FRAMES,       /* descriptions of stack frames */
    KIND_LINES,        /* of the source */
    KIND_TEXTS,        /* of the source's files */
    KIND_SASS_LINES,   /* of the PTX */
    KIND_PTX,          /* the PTX itself */
    KIND_REGISTERS,    /* where variables of PTX are */
    KIND_TOOLS,        /* notes: the tools that made the cubin */
    KIND_TARGET,       /* its target and toolkit */
    KIND_TARGET_OF_12, /* the same in what CUDA 12.8 and 12.9 make for sm_100 and up */
    KIND_BUILTIN,      /* the built-in assembler made it */
};

/* Classes of sections, plain ones in the order in which nvlink writes them. */
enum section_class {
    CLASS_DEBUG,
    CLASS_OTHER, /* of a kind that is not known, or that no nvlink takes */
    CLASS_NOTE,
    CLASS_INFO,
    CLASS_COMPAT,
    CLASS_FUNCTION_INFO,
    CLASS_CALLGRAPH,
    CLASS_PROTOTYPE,
    CLASS_REL_ACTION,
    CLASS_RELOCATIONS,
    CLASS_CONSTANT, /* of the program */
    CLASS_FUNCTION_CONSTANT,
    CLASS_TEXT,
    CLASS_GLOBAL_INIT,
    CLASS_TWIN_TEXT, /* Mercury's, up to CLASS_TWIN_SYMTAB; after everything above */
    CLASS_TWIN_DEBUG,
    CLASS_TWIN_INFO,
    CLASS_TWIN_FUNCTION_INFO,
    CLASS_TWIN_CALLGRAPH,
    CLASS_TWIN_PROTOTYPE,
    CLASS_TWIN_RELOCATIONS,
    CLASS_TWIN_CONSTANT,
    CLASS_TWIN_FUNCTION_CONSTANT,
    CLASS_TWIN_GLOBAL_INIT,
    CLASS_TWIN_RESERVED,
    CLASS_TWIN_OTHER,
    CLASS_TWIN_INDICES,
    CLASS_TWIN_SYMTAB,
    CLASS_SHARED, /* from here on without file contents */
    CLASS_DEBUG_SHARED,
    CLASS_RESERVED, /* shared memory reserved for the driver */
    CLASS_GLOBAL,
    CLASS_TABLE, /* of symbols and strings */
    CLASS_COUNT, /* none of these */
    CLASS_NONE = CLASS_COUNT,
};

/* Sets of classes. */
#define CLASS_SET(class)       (UINT64_C(1) << CLASS_##class)
#define CLASSES_OF_MERCURY     ((CLASS_SET(TWIN_SYMTAB) << 1) - CLASS_SET(TWIN_TEXT))
#define CLASSES_OF_RELOCATIONS (CLASS_SET(RELOCATIONS) | CLASS_SET(TWIN_RELOCATIONS))

static inline bool class_is_in(enum section_class class, uint64_t set)
{
    return set >> class & 1;
}

/* What sh_link names. */
enum section_link {
    SECTION_LINK_NOTHING,
    SECTION_LINK_STRINGS,
    SECTION_LINK_SYMBOLS,
    SECTION_LINK_TWIN_SYMBOLS,
    SECTION_LINK_NOTES, /* of .note.nv.cuinfo: .note.nv.tkinfo; of others nothing */
};

/* Where the contents in the output come from. */
enum section_contents {
    SECTION_MADE,
    SECTION_PLACED,          /* the inputs' are placed, one after the other */
    SECTION_PLACED_IN_PARTS, /* ... only in a relocatable cubin */
};

struct section_facts {
    enum section_kind kind;
    enum section_class class;
    uint32_t type;
    struct text name; /* or the beginning of it */
    uint32_t flags;   /* ELF's */
    uint8_t alignment;
    uint8_t entry_size;
    enum section_link link;
    enum section_contents contents;
    enum section_class twin;
    struct toolkit_range toolkits;
};

/* The row for a section with this header, of those that belong to no function if there are both;
 * NULL: the kind is not known. Types but PROGBITS and NOTE tell it without the name. */
const struct section_facts *sections_find(uint32_t type, uint64_t flags, struct text name);

/* The row for such a section that belongs to a function. NULL for NULL. */
const struct section_facts *sections_of_function(const struct section_facts *row);

/* The first row of a class. Not for the class without rows, CLASS_TWIN_OTHER. */
const struct section_facts *sections_of_class(enum section_class class);

/* The row of a kind but KIND_ANY, or of its Mercury twin, if it has one. */
const struct section_facts *sections_of_kind(enum section_kind kind, bool is_twin);

/* The row for a section of this name, where the header is not known, or is an executable's, which
 * has ELF's own types; of those that belong to no function if both have one name. NULL: none. */
const struct section_facts *sections_named(struct text name);

/* The name of a twin without the part that marks twins; the twin's section symbol has that name. */
struct text sections_plain_name(struct text name);

/* The same, and for a section of relocations that of their section. */
struct text sections_target_name(struct text name);

/* In an executable for sm_100 and up: beginning of the names of the sections of words for texture
 * references in Mercury's form, which no input has (merge/texture.c). */
#define SECTIONS_WORDS_TWIN ".nv.merc.nv.constant.entry_image_header_indices."

/* A type's name for dumps, without SHT_; NULL when unknown. */
const char *sections_type_name(uint32_t type);

/* Mercury's classes, in the order in which the toolkit's nvlink writes them. Sets *count. */
const enum section_class *sections_twin_order(const struct toolkit_facts *toolkit, size_t *count);

/* All classes in the order in which ptxas writes sections, which is not nvlink's: plain ones, then
 * Mercury's as the toolkit's tools write them. In relocatable cubins ptxas has .nv.compat between
 * .nv.info and functions' records, which are one class there. */
void sections_ptxas_order(uint8_t order[CLASS_COUNT], const struct toolkit_facts *toolkit);

/* Records of .nv.info. */
enum info_attribute {
#define ATTRIBUTE(number, name, ...) EIATTR_##name = number,
#include "facts/attributes.def"
#undef ATTRIBUTE
};

/* Which words of a payload are indices of symbols. */
enum attribute_symbols {
    SYMBOLS_NO,
    SYMBOLS_1,         /* the first of two */
    SYMBOLS_PARAMETER, /* the first, unless it is 0 */
    SYMBOLS_ALL,
};

/* What a kernel gets of the functions that it reaches; a record that it lacks, behind its own. */
enum attribute_pass {
    PASSES_NOTHING,
    PASSES_FLAG,            /* it has the record if one of them has it */
    PASSES_MOST,            /* the largest value */
    PASSES_MOST_OF_SEVERAL, /* the same; but a program's only kernel keeps its own */
    PASSES_SUM,             /* the sum of all; 0xffff, not known, if that is one of them */
    PASSES_OR,              /* all bits */
    PASSES_MASK,            /* all bits, and 0x8000 for each function without the record. If some
                               function has it, all others get it with that value */
    PASSES_DEEPEST,         /* the sum along the deepest chain of calls */
    PASSES_UNION,           /* all words, each once; of AT_ENTRY_FRAGMENTS functions lose theirs */
    PASSES_PROGRAM,         /* all records become one of the program, the largest */
};

struct attribute_facts {
    uint8_t number;
    uint8_t symbols;               /* enum attribute_symbols */
    uint8_t passes;                /* enum attribute_pass, ... */
    struct toolkit_range toolkits; /* ... by the nvlink of these */
    const char *name;
};

/* A record that nvlink's finalizer appends to those of a function. */
struct finalizer_record {
    uint16_t sm;
    uint8_t attribute;
    uint16_t value;
    struct toolkit_range toolkits;
};

/* By number; where there is no row, without a name. */
extern const struct attribute_facts attributes_rows[UINT8_MAX + 1];

/* The attribute's row, or NULL. */
static inline const struct attribute_facts *attributes_find(uint8_t number)
{
    return attributes_rows[number].name ? &attributes_rows[number] : NULL;
}

/* What the toolkit's nvlink passes on; PASSES_NOTHING for an attribute without a row. */
static inline enum attribute_pass attributes_pass(uint8_t number,
                                                  const struct toolkit_facts *toolkit)
{
    const struct attribute_facts *row = &attributes_rows[number];

    return toolkit_is_in(toolkit, row->toolkits) ? (enum attribute_pass)row->passes
                                                 : PASSES_NOTHING;
}

/* The next record after `last` (NULL: the first) for code of that number; NULL after the last. */
const struct finalizer_record *attributes_of_finalizer(const struct finalizer_record *last,
                                                       unsigned sm,
                                                       const struct toolkit_facts *toolkit);

/* Records of .nv.compat. */
enum compat_attribute {
#define COMPAT(number, name, ...) COMPAT_##name = number,
#include "facts/compat.def"
#undef COMPAT
};

/* How the values of several inputs become one. */
enum compat_merge {
    COMPAT_DROPPED,      /* no nvlink writes it */
    COMPAT_TARGET,       /* the link's target says it */
    COMPAT_MAX,          /* the largest */
    COMPAT_MAX_UNLESS_0, /* the largest, or 0 if one is 0 */
    COMPAT_OR,           /* all bits */
    COMPAT_EQUAL_OR_1,   /* what all have, else 1 */
    COMPAT_TCGEN05,      /* see join_tcgen05() in cubin/compat.c */
    COMPAT_AND,          /* the bits of all that have it. With Mercury's sections: of all that have
                            code, and no more than the target allows */
    COMPAT_FINALIZER,    /* if all have it: the largest; with Mercury's sections the smallest, since
                            nothing here finalizes older code again as nvlink does */
    COMPAT_FINALIZER_NEEDED, /* if all have it: the largest; with Mercury's sections, of which
                                finalizers make code: the largest that one has */
};

struct compat_rule {
    uint8_t number;
    uint8_t bytes; /* of the value: 1, 2 or 8 */
    uint8_t merge; /* enum compat_merge */
    bool always;   /* written as `missing` although no input has it */
    uint16_t missing;
    struct toolkit_range written;
    uint16_t omitted;              /* the value that is not written ... */
    struct toolkit_range omitters; /* ... by these */
};

/* The record's row, or NULL. */
const struct compat_rule *compat_rule(uint8_t number);

enum cubin_relocation_type {
#define TYPE(number, id, bytes, action, plain)             R_CUDA_##id = number,
#define FIELD(number, id, uses, first, width, shift, bank) R_CUDA_##id = number,
#define MERCURY(number, id, bytes, action, plain)          R_MERCURY_##id = number,
#define MERCURY_FIELD(number, id, bytes, uses)             R_MERCURY_##id = number,
#include "facts/relocation_types.def"
#undef TYPE
#undef FIELD
#undef MERCURY
#undef MERCURY_FIELD
};

/* What a link does with the field. */
enum relocation_action {
    RELOCATION_REFUSED,    /* an unknown type, or one that only links make */
    RELOCATION_IGNORED,    /* a hint to other tools; it may be against no symbol */
    RELOCATION_FIELD,      /* bits of an instruction that the link fills in */
    RELOCATION_CLEARED,    /* set to 0 if the symbol is gone */
    RELOCATION_VALUE,      /* from here on an address, which the driver fills in: a whole value */
    RELOCATION_ADDRESS,    /* the same; of a constant it is the offset, which the link fills in */
    RELOCATION_BYTE,       /* one byte of such an address */
    RELOCATION_KEPT,       /* any other address, or part of one */
    RELOCATION_DESCRIPTOR, /* the same, of a kernel */
};

/* Values that a field of an instruction may hold. */
enum field_use {
    FIELD_OF_SHARED = 1,   /* an address in shared memory */
    FIELD_OF_CONSTANT = 2, /* an offset in a constant bank */
    FIELD_OF_TEXTURE = 4,  /* the offset of a texture reference's word in bank 0 */
};

struct relocation_facts {
    const char *name; /* NULL: it has no public one */
    uint32_t plain;   /* the type in an executable */
    uint8_t bytes;
    uint8_t action; /* enum relocation_action */
    /* RELOCATION_FIELD: bits of a 16-byte instruction, counted from its lowest */
    uint8_t uses; /* enum field_use */
    uint8_t first;
    uint8_t width;
    uint8_t shift; /* the field holds value >> shift */
    uint8_t bank;  /* first bit of the bank's number, of RELOCATION_BANK_MASK; 0 = it has none */
};

#define RELOCATION_BANK_MASK    UINT64_C(0x1f)
#define RELOCATION_MERCURY_BASE 0x10000u /* Mercury's types are above it */

/* The row of a type; for an unknown one a row without a name that is refused. */
const struct relocation_facts *relocation_types_find(uint32_t type);

/* Whether it is a type of Mercury's relocations. */
static inline bool relocation_types_is_mercury(uint32_t type)
{
    return type >= RELOCATION_MERCURY_BASE;
}

/* Whether an address is left to the driver. */
static inline bool relocation_types_keep(const struct relocation_facts *facts)
{
    return facts->action >= RELOCATION_VALUE;
}

/* Whether the field is a whole value. */
static inline bool relocation_types_are_whole(const struct relocation_facts *facts)
{
    return facts->action >= RELOCATION_CLEARED && facts->action <= RELOCATION_ADDRESS;
}
