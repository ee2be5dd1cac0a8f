/* format.h: numbers of the EM_CUDA ELF format.
 *
 * Names come from public pages (LLVM's ELF.h, CuAssembler, denvdis); meanings and rules were
 * measured on the output of ptxas and nvlink, and hold up to 13.5. Standard ELF numbers come from
 * <elf.h>, types of sections from sections.def. */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#include "facts/sections.h"

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

/* What CUDA 12.9 makes for sm_100 and up has CUDA 13's format, and this note in place of
 * .note.nv.cuinfo. */
#define CUBIN_NOTE_OF_12_9 ".note.nv.cuver"

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
uint32_t format_target_flags(unsigned sm);

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
#define STO_CUDA_LOCAL           0x60
#define STO_CUDA_CONST           0x80
#define STO_CUDA_RESERVED_SHARED 0xa0
#define STO_CUDA_MANAGED         0x04

/* A symbol's section in memory: a 32-bit index, SHN_UNDEF, or one of these, which stand for ELF's
 * special 16-bit indices (SHN_ABS; SHN_COMMON, where st_value holds the alignment). */
#define SECTION_SPECIAL  0xffff0000u
#define SECTION_ABSOLUTE (SECTION_SPECIAL | SHN_ABS)
#define SECTION_COMMON   (SECTION_SPECIAL | SHN_COMMON)

/* Relocation types: R_CUDA_<field> as in public name lists; see minilink-cubin(5). */
enum cubin_relocation_type {
    R_CUDA_NONE = 0x00,
    R_CUDA_32 = 0x01,
    R_CUDA_64 = 0x02,
    R_CUDA_G32 = 0x03,
    R_CUDA_G64 = 0x04,
    R_CUDA_TEX_HEADER_INDEX = 0x06, /* a word in constant bank 0 */
    R_CUDA_SAMP_HEADER_INDEX = 0x07,
    R_CUDA_FUNC_DESC_32 = 0x22, /* address of a kernel */
    R_CUDA_FUNC_DESC_64 = 0x23,
    R_CUDA_SURF_HEADER_INDEX = 0x34,
    R_CUDA_ABS32_32 = 0x37,    /* shared address; bits 32..63 */
    R_CUDA_ABS32_LO_32 = 0x38, /* low half of an address; bits 32..63 */
    R_CUDA_ABS32_HI_32 = 0x39,
    R_CUDA_ABS47_34 = 0x3a, /* call target, sm_75..89 */
    R_CUDA_ABS16_32 = 0x3b, /* constant bank offset; bits 32..47 */
    R_CUDA_FUNC_DESC32_32 = 0x3d,
    R_CUDA_FUNC_DESC32_LO_32 = 0x3e,
    R_CUDA_FUNC_DESC32_HI_32 = 0x3f,
    R_CUDA_CONST_FIELD19_40 = 0x40,
    R_CUDA_BINDLESSOFF14_40 = 0x41, /* header's offset / 4 in constant bank 0, sm_75..89 */
    R_CUDA_CONST_FIELD21_38 = 0x42, /* bits 38..53 offset, 54..58 bank */
    R_CUDA_YIELD_OPCODE9_0 = 0x44,  /* the two YIELD types have no symbol (sm_75, -G) */
    R_CUDA_YIELD_CLEAR_PRED4_87 = 0x45,
    R_CUDA_UNUSED_CLEAR32 = 0x48,
    R_CUDA_UNUSED_CLEAR64 = 0x49,
    R_CUDA_ABS24_40 = 0x4a,    /* shared address, sm_75..89 */
    R_CUDA_ABS55_16_34 = 0x4b, /* call target, sm_90 on */
    R_CUDA_8_0 = 0x4c,         /* + n: byte n of a 64-bit address in data */
    R_CUDA_G8_0 = 0x54,
    R_CUDA_FUNC_DESC_8_0 = 0x5c,
    R_CUDA_ABS20_44 = 0x64, /* shared memory address of cp.async, sm_80..89; bits 44..63 */
    R_CUDA_SAMP_HEADER_INDEX_0 = 0x65, /* R_CUDA_SAMP_HEADER_INDEX from sm_100 on */
    R_CUDA_UNIFIED = 0x66,
    R_CUDA_UNIFIED_32 = 0x67,
    R_CUDA_UNIFIED_8_0 = 0x68,
    R_CUDA_UNIFIED32_LO_32 = 0x70,
    R_CUDA_UNIFIED32_HI_32 = 0x71,
    R_CUDA_ABS56_16_34 = 0x72, /* indirect call */
    R_CUDA_CONST_FIELD22_37 = 0x73,
};

/* Relocation types of .nv.merc.rela.X. The names are derived from the plain types that ptxas was
 * measured to use at the same places in .rela.X; the comments list those types. */
enum cubin_mercury_relocation_type {
    R_MERCURY_G64 = 0x10001,   /* R_CUDA_G64 */
    R_MERCURY_64 = 0x10002,    /* R_CUDA_64, R_CUDA_ABS55_16_34, R_CUDA_ABS56_16_34 */
    R_MERCURY_ABS32 = 0x10003, /* R_CUDA_ABS32_32, R_CUDA_CONST_FIELD22_37, R_CUDA_32 */
    R_MERCURY_ABS16 = 0x10004, /* R_CUDA_ABS16_32, R_CUDA_CONST_FIELD21_38 */
    R_MERCURY_G32_LO = 0x10005,
    R_MERCURY_G32_HI = 0x10006,
    R_MERCURY_PROG_REL32 =
        0x10008, /* offset of code in a table of bank 2, of a section in debug data */
    R_MERCURY_TEX_HEADER_INDEX = 0x1000b,
    R_MERCURY_SAMP_HEADER_INDEX = 0x1000c,
    R_MERCURY_SURF_HEADER_INDEX = 0x1000d,
    R_MERCURY_UNUSED_CLEAR64 = 0x1000e,
    R_MERCURY_FUNC_DESC_64 = 0x1000f, /* R_CUDA_FUNC_DESC_64 */
    R_MERCURY_8_0 = 0x10010,          /* + n: R_CUDA_8_0 + n */
    R_MERCURY_G8_0 = 0x10018,         /* + n: R_CUDA_G8_0 + n */
    R_MERCURY_FUNC32_LO = 0x10028,    /* R_CUDA_ABS32_LO_32 of code */
    R_MERCURY_FUNC32_HI = 0x10029,
    R_MERCURY_UNIFIED = 0x10032,
    R_MERCURY_FUNC64 = 0x1003d, /* R_CUDA_64 of code in debug data */
    R_MERCURY_UNIFIED32_LO = 0x1003e,
    R_MERCURY_UNIFIED32_HI = 0x1003f,
};

/* Records of .nv.info*, .nv.compat: u8 format, u8 attribute, u16 value or payload size, payload. */
enum info_format { EIFMT_NVAL = 1, EIFMT_BVAL = 2, EIFMT_HVAL = 3, EIFMT_SVAL = 4 };

enum info_attribute {
#define ATTRIBUTE(number, name, symbols, passes, first, last) EIATTR_##name = number,
#include "facts/attributes.def"
#undef ATTRIBUTE
};

/* .nv.compat attributes (numbered separately). */
enum compat_attribute {
    COMPAT_ISA_CLASS = 0x02,
    COMPAT_SUFFIX_A = 0x09,
    COMPAT_CAN_FASTPATH_FINALIZE = 0x0b,
    COMPAT_FINALIZER_VERSION = 0x0e,
};

/* .nv.callgraph: pairs of i32; (0,-1) .. (0,-4) begin its four parts. */
enum callgraph_part {
    CALLGRAPH_DIRECT = -1,    /* caller, callee */
    CALLGRAPH_ADDRESS = -2,   /* function whose address is taken, prototype string in .strtab */
    CALLGRAPH_INDIRECT = -3,  /* caller, prototype string of its indirect call */
    CALLGRAPH_CANDIDATE = -4, /* function, one whose address its code takes */
};

/* Bytes of a constant bank. */
#define CONSTANT_BANK_BYTES 0x10000u

/* The constant .nv.rel.action payload (all architectures). */
#define NV_REL_ACTION_SIZE 16
extern const uint8_t format_rel_action[NV_REL_ACTION_SIZE];

/* Size in bytes of a relocation's field: 1, 4 or 8. In a text section the whole 16-byte instruction
 * at the relocation's offset belongs to it. */
unsigned format_relocation_size(uint32_t type);

/* True for a section type without file contents: NOBITS, and NVIDIA's before the link. */
bool format_is_nobits(uint32_t type);

/* True for the type of a section of constants, in any bank. */
bool format_is_constant(uint32_t type);

/* True for the type of a texture, sampler or surface reference. */
static inline bool format_is_reference(uint8_t type)
{
    return type >= STT_CUDA_TEXTURE && type <= STT_CUDA_SURFACE;
}

/* Names for dumps; NULL when unknown. */
const char *format_relocation_name(uint32_t type);
const char *format_attribute_name(uint8_t attribute);
