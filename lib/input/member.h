/* member.h: from opened files to the code that takes part in the link.
 *
 * Every fatbin entry, image of an offload binary, raw cubin, PTX, LTO-IR and bitcode file is a
 * candidate. Selection gives each a role and a reason, per fatbin as nvlink does it. Host objects
 * that were compiled without -rdc hold complete programs, in section .nv_fatbin, and register them
 * on their own: nvlink was measured to ignore these silently, PTX too, as is done here. */
#pragma once

#include "facts/targets.h"
#include "input/fatbin.h"
#include "input/file.h"

enum member_role {
    MEMBER_UNUSED,  /* see `reason` */
    MEMBER_OPTIONS, /* LTO-IR: only its option string takes part, in the consensus */
    MEMBER_PTX,     /* its PTX is linked into the program */
    MEMBER_CUBIN,   /* its cubin is merged with those of the chunks */
    MEMBER_LTO,     /* its LTO-IR is compiled to PTX with that of all others (lto/lto.h) */
    MEMBER_BITCODE, /* its bitcode is compiled to PTX, which is linked (lto/lto.h) */
};

/* "not used", "PTX", "cubin", ... */
const char *member_role_name(enum member_role role);

struct member {
    const char *name;        /* for messages: "a.o(1)", "lib.a(b.o)(2)"; the third part of a
                                concatenated entry: "a.o(2.3)"; raw files: "x.cubin" */
    const char *file;        /* the operand that it came from: "lib.a" */
    const char *object_name; /* file or archive member without entry number: "lib.a(b.o)" */
    uint32_t group;          /* same number = same fatbin: one choice is made per group */
    struct fatbin_entry
        entry;      /* raw files: kind, arch, payload and flags are filled in; number 0 */
    bool is_system; /* from a library of the toolkit, see members_is_system */
    bool is_whole;  /* from a host object's .nv_fatbin: complete without a link */
    bool is_lazy;   /* PTX in an archive: takes part when something needs what it defines */
    bool is_openmp; /* an image of an offload binary that OpenMP made */
    enum member_role role;
    const char *reason; /* why it has this role: a phrase for -vv and minidump */
};

/* Start with {0}. */
struct members {
    struct arena arena;
    struct member *list; /* all candidates, in input order */
    size_t count;
    size_t capacity;
    struct arch arch;                    /* the target: given, or found by members_select */
    const struct toolkit_facts *toolkit; /* the one that is followed: it knows the target */
    bool is_virtual;                     /* it is compute_NN */
    bool has_lto;                        /* some group has LTO-IR for the target */
    bool has_host_code;   /* some host object that is no part of the toolkit brings device code */
    bool has_lto_only;    /* ... and no PTX or SASS beside it that could be linked instead */
    size_t cubin_count;   /* members whose role is MEMBER_CUBIN */
    size_t ptx_count;     /* members whose role is MEMBER_PTX or MEMBER_BITCODE */
    size_t lto_count;     /* members whose role is MEMBER_LTO */
    size_t bitcode_count; /* members whose role is MEMBER_BITCODE */
};

struct member_request {
    struct arch arch; /* sm = 0: take it from the inputs when they agree on one */
    const struct toolkit_facts *toolkit; /* the one whose nvlink is followed; not NULL */
    bool is_virtual;                     /* -arch=compute_NN: PTX counts, and nothing else */
    bool prefer_ptx;            /* -lto or a split compile: PTX before SASS of the target */
    bool link_lto;              /* LTO-IR before all else: it can be compiled */
    bool link_bitcode;          /* bitcode before PTX and SASS; else where there is nothing else */
    bool suppress_arch_warning; /* -suppress-arch-warning */
};

/* Lists every candidate of every file. Damaged containers and objects are reported, all of them;
 * false when there was one. Files without device code are ignored: shared and host-only objects
 * with an info under -vv, text, empty and unknown files with a warning. */
bool members_collect(struct members *members, const struct inputs *inputs);

/* Settles the target and gives every member its role. A file with nothing for the target is warned
 * about in nvlink's words ("SM Arch ('sm_80') not found in 'a.o'") with a note of what it has.
 * False, and an error that lists the choice, if no target was given and inputs allow several. */
bool members_select(struct members *members, const struct member_request *request);

/* True when some candidate is of that kind (enum fatbin_kind). */
bool members_have(const struct members *members, uint32_t kind);

/* True for a file whose name contains "cudadevrt": the library that nvcc names in every link.
 * Measured on nvlink: the code in such a file takes part only when something refers to it. (nvlink
 * looks at the names of folders, too, and loses the code of files in them.) */
bool members_is_system(const char *path);

/* The default limit on what all members of one role decompress to, in bytes: 64 MiB of PTX, of
 * which items and symbols are made, and 256 MiB of cubins, or 64 times their compressed size where
 * that is more. Measured on nvcc: PTX shrinks to a tenth, machine code to a third, and only arrays
 * of zeros to less than a hundredth. */
uint64_t members_inflation_limit(const struct members *members, enum member_role role);

/* The member's code, inflated into the arena when it is compressed; PTX without trailing NULs.
 * False, and an error naming the member, when it does not inflate to its stated size or is too much
 * for `inflation`. */
static inline bool member_code(const struct member *member, struct inflation *inflation,
                               struct arena *arena, struct bytes *code)
{
    if (!inflate_entry(&member->entry, member->name, inflation, arena, code))
        return false;
    while (member->entry.kind == FATBIN_PTX && code->size > 0 && !code->data[code->size - 1])
        code->size--;
    return true;
}

void members_free(void *members); /* for CONTEXT_DEFER, too */

/* The end of the group that begins at member `begin`: the members of a group are adjacent. */
size_t select_group_end(const struct members *members, size_t begin);

/* For each of `count` undefined names: a note on the host object that defines it but takes no part,
 * since it was compiled without -dc; or NULL. If there are such objects, but none is seen to define
 * any of the names, the last name's note names one: the compiler removes what an object does not
 * use itself. In `arena`; `members` may be NULL. Each object is read once. */
const char **members_explain_undefined(const struct members *members, const struct text *names,
                                       size_t count, struct arena *arena);
