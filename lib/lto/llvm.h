/* llvm.h: one compilation of LLVM bitcode to PTX by libLLVM, in a child (child.h).
 *
 * Each option of the job is a word:
 * - arch=sm_90: the target;
 * - level=3: optimisation level, 0 to 3;
 * - link: all inputs become one module, in which only kernels and symbols that other code can name
 *   stay visible; else each is compiled separately, and the PTX modules follow each other, each
 *   with a NUL;
 * - bitcode: with link, the bitcode of that module, in which all stays visible and no pass has run;
 * - keep=NAME: other code names it (with link);
 * - open: other code may name any visible symbol (with link);
 * - passes=...: instead of the level's passes;
 * - debug, lines: keep all debug information, or only lines; else there is none;
 * - llvm=WORD: an option for LLVM itself;
 * - parts=N: with link, and if the program can be divided, the optimised program for N parts; 0 =
 *   as many as it is worth;
 * - part=I/N: the input is the bitcode of such a program: gives the PTX of its part I.
 *
 * A program for parts is LLVM_PARTS_HEAD, the number of parts, a blank, the size of a list of names
 * and a newline; that list, each name with a newline, of the symbols that were made visible for the
 * parts; and bitcode, or for a single part its PTX. */
#pragma once

#include "lto/job.h"

#define LLVM_PARTS_HEAD "parts "

/* Runs the job. Returns the status of answer_write(). Raises LINK_NO_MEMORY. While it works the
 * answer has the current step, in case the process dies. */
int llvm_run(const struct lto_job *job);
