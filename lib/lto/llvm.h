/* llvm.h: one compilation of LLVM bitcode to PTX by libLLVM, in a child (child.h).
 *
 * Each option of the job is a word:
 * - arch=sm_90: the target;
 * - level=3: 0 to 3;
 * - link: all inputs become one module, in which only kernels and what others may name stay
 * visible; else each is compiled by itself, and the PTX modules follow each other, each with a NUL;
 * - keep=NAME: others name it (with link);
 * - open: others may name all that is visible (with link);
 * - passes=...: instead of the level's passes;
 * - debug, lines: keep debug information, or what of it tells of lines; else there is none;
 * - llvm=WORD: an option for LLVM itself;
 * - parts=N: with link, and where the program can be parted, the optimised program for N parts;
 *   0 = as many as it is worth;
 * - part=I/N: the input is the bitcode of such a program: PTX of what it has in part I.
 *
 * A program for parts is LLVM_PARTS_HEAD, the number of parts, a blank, the size of a list of names
 * and a newline; that list, each name with a newline, of what was made visible for the parts; and
 * bitcode, or for one part its PTX. */
#pragma once

#include "lto/job.h"

#define LLVM_PARTS_HEAD "parts "

/* Does the job. The result is that of answer_write(). Raises LINK_NO_MEMORY. While it works its
 * answer holds the step that it is at, for those who find it dead. */
int llvm_run(const struct lto_job *job);
