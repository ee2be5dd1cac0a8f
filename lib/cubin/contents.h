/* contents.h: contents of sections that several rooms read, compare or write. */
#pragma once

#include <stdbool.h>

#include "cubin/cubin.h"
#include "facts/targets.h"

/* Notes. A record of .note.nv.tkinfo names a tool and how it was called, that of .note.nv.cuinfo
 * the target. A tool's record is a note of the owner "NVIDIA Corp" with type 2000: u32 version 2;
 * five u32, the places of texts; the texts, each with a NUL. The target's has type 1000: u16
 * version 2, u16 SM number, u16 CUDA version, u16 0 (ptxas and nvlink 13.0 to 13.5). Those of 12.8
 * and 12.9 have for the first version 128 and 129, and .note.nv.cuver u16 1, u16 SM number, u32 1,
 * u32 1. */
struct tool_note {
    struct text output; /* the last part of its name; only under -g, else empty */
    struct text tool;
    struct text release;
    struct text build;
    struct text command;
    uint32_t version; /* 0: 2 */
};

/* Takes the first record off *rest. False where there is none, or what follows is not one. */
bool tool_note_next(struct bytes *rest, struct tool_note *note);

/* Append a tool's record, and the target's; `version` is CUDA's, 10 * major + minor, and 0 for
 * .note.nv.cuver. */
void tool_note_put(struct buffer *out, const struct tool_note *note);
void tool_note_put_target(struct buffer *out, unsigned sm, unsigned version);

/* Appends what any note has before its contents, and returns its place in `out`; the other one pads
 * the contents, and enters their size. */
size_t tool_note_begin(struct buffer *out, const char *owner, uint32_t type);
void tool_note_end(struct buffer *out, size_t start);

/* Makes of a record in which an assembler of this link named its files the one that nvlink writes,
 * whose assembler has none: the output is "elf.o", and the command has only the options. The text
 * of `note->command` is made in `out`. */
void tool_note_forget_files(struct tool_note *note, struct buffer *out);

/* compat.c: merges the records of several cubins' .nv.compat by the rules of facts/compat.def. */

struct compat_record {
    struct info_record record; /* as it came: what no row describes is kept whole */
    uint64_t value;
    size_t files;  /* how many have it; 0 = there is none */
    bool is_first; /* the first cubin has it */
};

/* Start with {0}, and is_mercury set. */
struct compat {
    bool is_mercury;                             /* the cubins have Mercury's sections, too */
    struct compat_record records[UINT8_MAX + 1]; /* by number */
    uint8_t order[UINT8_MAX + 1];                /* numbers in order of appearance */
    size_t count;
    size_t files; /* cubins that were added */
};

/* Adds the contents of a cubin's .nv.compat. has_code: false for a cubin that adds no code, whose
 * CAN_FASTPATH_FINALIZE does not count with Mercury's sections. */
void compat_add(struct compat *compat, struct bytes section, bool has_code);

/* Appends all records, as a cubin made of these as chunks has them. */
void compat_put_all(const struct compat *compat, struct buffer *out);

/* Appends the records as the toolkit's nvlink does in a link for `arch`. */
void compat_put(const struct compat *compat, struct arch arch, const struct toolkit_facts *toolkit,
                struct buffer *out);

/* .debug_frame, the descriptions of functions' stack frames, is a sequence of entries in 64-bit
 * DWARF: u32 0xffffffff, u64 length of the rest, then a u64 that is all ones in a common entry
 * (CIE). In a function's entry (FDE) it is the offset of the CIE, and the function's address
 * follows. ptxas writes a CIE before every FDE (measured).
 */
#define FRAMES_CIE_POINTER 12u /* offsets in an FDE */
#define FRAMES_ADDRESS     20u
#define FRAMES_LEAST       48u /* smallest size of a function's CIE and FDE together */

/* A function's CIE and FDE. Offsets in the section. */
struct frame {
    size_t begin;
    size_t fde;
    size_t end;
    uint64_t cie; /* offset of the CIE according to the FDE */
};

/* Reads the CIE and FDE at *at and advances *at past them. False if the entries there are in
 * another order or damaged. */
bool frames_next(struct bytes data, size_t *at, struct frame *frame);

/* unknown.c: sections of kinds that no row of sections.def describes, and records that none of
 * attributes.def and compat.def does, as newer toolkits may add.
 *
 * They are carried over as they are, each for itself, or the link fails: leaving them out might
 * change what the program does. Records of .nv.compat are left out, as they are in every link by
 * nvlink 13.0 to 13.5. */
static inline bool unknown_is(const struct cubin_section *section)
{
    return section->type != SHT_NULL && !section->facts;
}

/* True if its contents may follow those of another cubin's section of that name: nvlink 13.5
 * concatenates sections of type PROGBITS of any name, and relocates them like debug sections. */
static inline bool unknown_is_joinable(const struct cubin_section *section)
{
    return section->type == SHT_PROGBITS || section->type == SHT_NOTE;
}

/* Returns whether all such sections and records of the cubins can be carried over; if so, cautions
 * of each kind and attribute once, and of records of .nv.compat, which are not. If not, reports
 * each section that cannot, and which toolkit made it: those that are loaded, or name symbols or
 * sections, whose numbers change, or have relocations, or belong to no function and are not the
 * only ones of their type; or else each record, as unknown_check_records() does. With `sass_only`
 * Mercury's sections do not count. */
bool unknown_check(const struct cubin *const *cubins, size_t count, bool sass_only);

/* Returns whether all unknown records of .nv.info, .nv.info.F and their twins can be carried over;
 * if not, reports each that cannot, as it may name symbols, and which toolkit made it. nvlink 13.0
 * to 13.5 copy all as they are, symbols too, and pass none on to kernels; from sm_100 on their
 * finalizer makes the plain records anew, of those of the twins. */
bool unknown_check_records(const struct cubin *cubin, bool sass_only);

/* Fills *cubin with a relocatable cubin for `arch` that has only the notes which the toolkit's
 * nvlink writes. A link of inputs without device code merges it; nvlink also writes a file then, on
 * which build systems rely. Freed with cubin_free(). */
void cubin_make_empty(struct cubin *cubin, struct arch arch, const struct toolkit_facts *toolkit);
