/* sections.h: the kinds of sections of a cubin: the rows of sections.def. */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "facts/toolkits.h"

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
    KIND_ANY,            /* none of these */
    KIND_NAMES,          /* of sections */
    KIND_STRINGS,        /* of symbols */
    KIND_FRAMES,         /* descriptions of stack frames */
    KIND_LINES,          /* of the source */
    KIND_TEXTS,          /* of the source's files */
    KIND_SASS_LINES,     /* of the PTX */
    KIND_PTX,            /* the PTX itself */
    KIND_REGISTERS,      /* where variables of PTX are */
    KIND_TOOLS,          /* notes: the tools that made the cubin */
    KIND_TARGET,         /* its target and toolkit */
    KIND_TARGET_OF_12_9, /* the same in what CUDA 12.9 makes for sm_100 and up */
    KIND_BUILTIN,        /* the built-in assembler made it */
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
 * NULL: the kind is not known. Types tell what they are for without the name, but PROGBITS and
 * NOTE. */
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
