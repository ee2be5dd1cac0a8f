/* bitcode.h: the producer and the target of LLVM bitcode.
 *
 * Only that much of the bitstream is read (LLVM Bitcode File Format, of LLVM's manual; numbers of
 * blocks and records as in LLVMBitCodes.h). The rest is for libLLVM. */
#pragma once

#include "base/arch.h"
#include "base/text.h"

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

/* Reads the file. False, and an error that names `name` and the offset, when it is damaged or cut
 * off. */
bool bitcode_read(struct bitcode *bitcode, const char *name, struct bytes data);

/* True for code for NVIDIA's GPUs, and if the module names no target. */
bool bitcode_is_device(const struct bitcode *bitcode);
