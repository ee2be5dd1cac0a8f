/* dump.h: what minidump prints, as text that is the same on every machine and every run.
 *
 * Names replace indices, so that the texts of two cubins differ only where their meaning does; file
 * offsets are never printed. */
#pragma once

#include <stdio.h>

#include "facts/targets.h"
#include "input/file.h"

enum dump_part {
    DUMP_FATBIN = 1,
    DUMP_MEMBERS = 2,
    DUMP_PTX = 4,
    DUMP_SECTIONS = 8,
    DUMP_SYMBOLS = 16,
    DUMP_RELOCATIONS = 32,
    DUMP_INFO = 64,
    DUMP_CALLGRAPH = 128,
    DUMP_DISASSEMBLY = 256,
    DUMP_CUBIN = DUMP_SECTIONS | DUMP_SYMBOLS | DUMP_RELOCATIONS | DUMP_INFO | DUMP_CALLGRAPH |
                 DUMP_DISASSEMBLY,
    DUMP_ALL = 511,
};

struct dump {
    FILE *out;
    unsigned parts;           /* enum dump_part */
    struct arch arch;         /* for --members; sm = 0: what the file agrees on */
    uint64_t inflation_limit; /* bytes that all entries of one file may decompress to; 0 = by the
                                 file's size */
};

/* printf of a line, or of a piece of one, as escape_printf() does it. */
void dump_print(const struct dump *dump, const char *format, ...) PRINTF(2, 3);

/* Prints one opened file. False when it is damaged (reported). */
bool dump_file(const struct dump *dump, const struct inputs *inputs);

/* Prints the cubin in `data`, which is called `name` in messages. */
bool dump_cubin(const struct dump *dump, const char *name, struct bytes data);
