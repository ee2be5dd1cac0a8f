/* format.h: numbers of the EM_CUDA ELF format.
 *
 * Names come from public pages (LLVM's ELF.h, CuAssembler, denvdis); meanings and rules were
 * measured on the output of ptxas and nvlink, and hold up to 13.5. Standard ELF numbers come from
 * <elf.h>, types of sections from sections.def, those of relocations from relocation_types.def. */
#pragma once

#include <elf.h>

#include "facts/cubins.h"

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

/* The ELF type of what ptxas -ewp makes (11.8 to 13.5): nvlink links it as ET_REL. */
#define ET_CUDA_EWP 0xff00

#define CUBIN_OSABI       0x41
#define CUBIN_ABI_VERSION 8

/* The header format of CUDA 11 and 12: e_version is ten times the toolkit's version, e_flags have
 * the SM number in bits 0-7 and the virtual architecture's in bits 16-23. */
#define CUBIN_OLD_OSABI       0x33
#define CUBIN_OLD_ABI_VERSION 7

#define CUBIN_OLD_FLAGS_SM(flags)      (0xffu & (flags))
#define CUBIN_OLD_FLAGS_TEXMODE        0x00000100u
#define CUBIN_OLD_FLAGS_64BIT          0x00000400u
#define CUBIN_OLD_FLAGS_SUFFIX_A       0x00000800u
#define CUBIN_OLD_FLAGS_VIRTUAL_SHIFT  16
#define CUBIN_OLD_FLAGS_VIRTUAL(flags) (0xffu & (flags) >> CUBIN_OLD_FLAGS_VIRTUAL_SHIFT)

/* e_flags: bits 8-15 SM number, 0-7 class (4 up to sm_90, 2 from sm_100 on; bit 3 is suffix a of
 * CUDA 12.9), 24-31 the index of .note.nv.cuinfo (of .note.nv.cuver in cubins of CUDA 12.9), or
 * 255: the note must be found by its name. Two cubins may be merged when the low 24 bits agree,
 * but for bit 3. */
#define CUBIN_FLAGS_SM(flags)  (((flags) >> 8) & 0xffu)
#define CUBIN_FLAGS_SM_MASK    0x0000ff00u
#define CUBIN_FLAGS_SM_SHIFT   8
#define CUBIN_FLAGS_MERGEABLE  0x00ffffffu
#define CUBIN_FLAGS_NOTE_SHIFT 24
#define CUBIN_FLAGS_NOTE_NAMED 255u
#define CUBIN_FLAGS_NOTE(index)                                                                    \
    (((index) < CUBIN_FLAGS_NOTE_NAMED ? (index) : CUBIN_FLAGS_NOTE_NAMED)                         \
     << CUBIN_FLAGS_NOTE_SHIFT)
#define CUBIN_FLAGS_SUFFIX_A    0x08u
#define CUBIN_FLAGS_CLASS_SM90  0x04u
#define CUBIN_FLAGS_CLASS_SM100 0x02u

/* e_flags, as CUDA 13 writes them, of code for the target, without a suffix. */
static inline uint32_t format_target_flags(unsigned sm)
{
    return (targets_have(sm, TARGET_HAS_MERCURY) ? CUBIN_FLAGS_CLASS_SM100
                                                 : CUBIN_FLAGS_CLASS_SM90) |
           (sm & 0xffu) << CUBIN_FLAGS_SM_SHIFT;
}

/* In cubins of CUDA 12, sh_flags of a code section hold the number of barriers; cubins of CUDA 13
 * have a record for it (EIATTR_NUM_BARRIERS). */
#define CUBIN_OLD_BARRIERS_SHIFT 20
#define CUBIN_OLD_BARRIERS       0x07f00000u

enum cubin_symbol_type {
    STT_CUDA_TEXTURE = 10,
    STT_CUDA_SAMPLER = 11,
    STT_CUDA_SURFACE = 12,
    STT_CUDA_OBJECT = 13, /* data; OBJECT in an executable */
};

/* st_other: low 2 bits visibility, 0x10 kernel entry, 0xe0 memory space. */
#define STO_CUDA_ENTRY           0x10
#define STO_CUDA_SPACE           0xe0
#define STO_CUDA_GLOBAL          0x20
#define STO_CUDA_SHARED          0x40
#define STO_CUDA_CONST           0x80
#define STO_CUDA_RESERVED_SHARED 0xa0
#define STO_CUDA_MANAGED         0x04

/* A symbol's section in memory: a 32-bit index, SHN_UNDEF, or one of these, which stand for ELF's
 * special 16-bit indices (SHN_ABS; SHN_COMMON, where st_value holds the alignment). */
#define SECTION_SPECIAL  0xffff0000u
#define SECTION_ABSOLUTE (SECTION_SPECIAL | SHN_ABS)
#define SECTION_COMMON   (SECTION_SPECIAL | SHN_COMMON)

/* Records of .nv.info*, .nv.compat: u8 format, u8 attribute, and u16: for SVAL the size of the
 * payload that follows, for HVAL the value, for BVAL its low byte is, and NVAL has none. */
enum info_format { EIFMT_NVAL = 1, EIFMT_BVAL = 2, EIFMT_HVAL = 3, EIFMT_SVAL = 4 };

/* .nv.callgraph: pairs of i32; (0,-1) .. (0,-4) begin its four parts. */
enum callgraph_part {
    CALLGRAPH_DIRECT = -1,    /* caller, callee */
    CALLGRAPH_ADDRESS = -2,   /* function whose address is taken, prototype string in .strtab */
    CALLGRAPH_INDIRECT = -3,  /* caller, prototype string of its indirect call */
    CALLGRAPH_CANDIDATE = -4, /* function, one whose address its code takes */
};

/* Bytes of a constant bank. */
#define CONSTANT_BANK_BYTES 0x10000u

/* True for a section type without file contents: NOBITS, and NVIDIA's before the link. */
static inline bool format_is_nobits(uint32_t type)
{
    return type == SHT_NOBITS || type == SHT_CUDA_GLOBAL || type == SHT_CUDA_LOCAL ||
           type == SHT_CUDA_SHARED || type == SHT_CUDA_RESERVED_SHARED;
}

/* True for the type of a section of constants, in any bank. */
static inline bool format_is_constant(uint32_t type)
{
    return type >= SHT_CUDA_CONSTANT0 && type <= SHT_CUDA_CONSTANT_LAST;
}

/* True for the type of a section of relocations, Mercury's among them. */
static inline bool format_is_relocations(uint32_t type)
{
    return type == SHT_REL || type == SHT_RELA || type == SHT_CUDA_MERC_RELA;
}

/* True for the type of a texture, sampler or surface reference. */
static inline bool format_is_reference(uint8_t type)
{
    return type >= STT_CUDA_TEXTURE && type <= STT_CUDA_SURFACE;
}
