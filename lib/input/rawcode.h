/* rawcode.h: properties of code without a fatbin entry: raw cubins, PTX texts and LLVM bitcode. */
#pragma once

#include "facts/targets.h"

/* The architecture of a cubin, from .nv.compat for suffix a, else from the ELF header. False when
 * the header is cut off or names no architecture. Suffix f leaves no trace in a cubin. */
bool rawcode_cubin_arch(struct bytes cubin, struct arch *arch);

/* Finds the contents of a cubin's .nv.compat, which are empty when there is none. False when the
 * section table is damaged. */
bool rawcode_cubin_compat(struct bytes cubin, struct bytes *compat);

/* A PTX text without the blanks and comments at its beginning. */
struct text rawcode_skip_comments(struct text text);

/* The word behind the first `directive` of a PTX text; false when there is none. */
bool rawcode_ptx_directive(struct text ptx, const char *directive, struct text *value);

/* The architecture in the first .target directive of a PTX text; false when there is none. */
bool rawcode_ptx_arch(struct text ptx, struct arch *arch);

/* The producer and the target of LLVM bitcode (bitcode.c).
 *
 * Only that much of the bitstream is read (LLVM Bitcode File Format, of LLVM's manual; numbers of
 * blocks and records as in LLVMBitCodes.h). The rest is for libLLVM. */

/* Longest text that is kept, with its NUL. */
#define BITCODE_TEXT_SIZE 96

struct bitcode {
    struct bytes code;                /* the bitstream, without a wrapper */
    char producer[BITCODE_TEXT_SIZE]; /* "LLVM19.1.7"; empty = not given */
    char triple[BITCODE_TEXT_SIZE];   /* "nvptx64-nvidia-cuda"; empty = not given */
    struct arch arch;                 /* the newest target of a function; sm = 0: none is given */
};

/* True when `data` begins as bitcode does, with or without a wrapper. */
bool bitcode_is(struct bytes data);

/* Reads the file. False, and an error with `name` and the offset, when it is damaged or cut off. */
bool bitcode_read(struct bitcode *bitcode, const char *name, struct bytes data);

/* True for code for NVIDIA's GPUs, and if the module names no target. */
bool bitcode_is_device(const struct bitcode *bitcode);
