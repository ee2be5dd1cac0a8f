/* targets.h: what is known of each GPU architecture and of each CUDA toolkit, and which code nvlink
 * links for which target: the rows of targets.def, runs_on.def, toolkits.def and behaviours.def.
 *
 * A link behaves like the nvlink of one toolkit. What differs between toolkits stands in columns of
 * toolkits.def, or in rows of other tables that hold for a range of toolkits. */
#pragma once

#include <stdbool.h>

#include "base/text.h"

/* The name of an architecture: sm_90, sm_90a, sm_100f, compute_90, lto_90: a number and, for
 * targets whose features do not carry over to others, a suffix: `a` (this chip only) or `f` (its
 * family). Source: nvcc's documentation of -gencode. */
struct arch {
    unsigned sm; /* 90 for sm_90; 0 = not set */
    char suffix; /* 'a', 'f', or 0 */
};

/* Room for any name that arch_name writes. */
#define ARCH_NAME_SIZE 16

/* Reads "<prefix><number>[a|f]", where prefix is e.g. "sm_". False when the text is anything else
 * or the number is not between 10 and 999. */
bool arch_parse(struct text name, const char *prefix, struct arch *arch);

/* Writes "sm_90a" and returns `name`. */
const char *arch_name(struct arch arch, char name[ARCH_NAME_SIZE]);

static inline bool arch_equal(struct arch a, struct arch b)
{
    return a.sm == b.sm && a.suffix == b.suffix;
}

struct toolkit_facts {
    uint16_t version;           /* ten times the number: 135 is CUDA 13.5 */
    const char *release;        /* "13.5, V13.5.37" */
    uint16_t ptx;               /* the newest PTX ISA version, times ten */
    uint16_t finalizer;         /* a greater one finalizes code of a smaller one anew */
    uint16_t finalizer_version; /* FINALIZER_VERSION of .nv.compat; 0 = it writes none */
};

/* The toolkits for which a row of another table holds. */
struct toolkit_range {
    uint16_t first, last; /* versions, both included */
};

/* What may stand in such a row for the last one. */
#define ONWARDS UINT16_MAX
/* ... and for both where no toolkit is listed that has it. */
#define NEVER 0

/* The row for `version`: of a toolkit that is not listed, that of the newest one before it; the
 * oldest row if there is none. Never NULL. */
const struct toolkit_facts *toolkits_find(unsigned version);

const struct toolkit_facts *toolkits_newest(void);

/* The toolkit whose newest PTX ISA version that is; NULL if none is listed. */
const struct toolkit_facts *toolkits_of_ptx(unsigned major, unsigned minor);

/* True for a PTX ISA version above the newest toolkit's: one of a CUDA that is not listed yet. */
bool toolkits_ptx_is_newer(unsigned major, unsigned minor);

/* True for a PTX ISA version up to that which ptxas's --list-version names: from 1.0, with gaps. */
bool toolkits_ptx_is_known(unsigned major, unsigned minor);

/* True if the row with this range holds for the toolkit. */
static inline bool toolkit_is_in(const struct toolkit_facts *toolkit, struct toolkit_range range)
{
    return toolkit->version >= range.first && toolkit->version <= range.last;
}

enum toolkit_behaviour {
#define BEHAVIOUR(name, first, last) TOOLKIT_##name,
#include "facts/behaviours.def"
#undef BEHAVIOUR
};

/* Whether the toolkit's nvlink does what the row of behaviours.def says. */
bool toolkit_does(const struct toolkit_facts *toolkit, enum toolkit_behaviour behaviour);

/* The last toolkit, times ten, that does so; ONWARDS if the newest one does. */
unsigned toolkits_last(enum toolkit_behaviour behaviour);

/* Reads a version, "13.5": its number times ten; 0 if it is none. What follows the second number
 * must be nothing, or not a digit ("13.5.37", "13.5, V13.5.37"). */
unsigned toolkit_version_read(struct text text);

enum target_flags {
    TARGET_HAS_COMPAT = 1 << 0,  /* its cubins have .nv.compat */
    TARGET_HAS_MERCURY = 1 << 1, /* ... and Mercury's sections, a second form of code */
    /* Instructions for textures and surfaces are calls of the driver's functions. ptxas makes these
     * after all other symbols (13.4 and 13.5). */
    TARGET_CALLS_FOR_TEXTURES = 1 << 2,
    /* Kernels have a variable of their own in the driver's reserved shared memory, as
     * __nv_reservedSMEM_gb10b_war_var. */
    TARGET_RESERVES_VARIABLE = 1 << 3,
    /* ptxas ignores --legacy-bar-warp-wide-behavior. */
    TARGET_COUNTS_THREADS_AT_BARRIERS = 1 << 4,
    /* Its cubins have the form that came with sm_90: the number of registers is not in sh_info of
     * code; addresses of functions in data are relocations of unified functions; the driver's
     * reserved shared memory has symbols, of which ptxas makes those of all kernels first;
     * functions have a Mercury ISA version, SPARSE_MMA_MASK and SW_WAR; .note.nv.cuinfo belongs to
     * .nv.compat; bank 0 comes after shared memory; code has a segment of its own in whole
     * programs. ptxas has no 32-bit mode for it, and like nvlink it warns of
     * --preserve-relocs. */
    TARGET_HAS_FORM_90 = 1 << 5,
    TARGET_HAS_TENSOR_MEMORY = 1 << 6, /* whose accesses ptxas can check */
    /* Where `.extern .shared` arrays and other shared variables of many kernels have the same
     * alignment, above that of such arrays, every kernel has shared memory. */
    TARGET_ALIGNS_FOR_EXTERNS = 1 << 7,
    /* libnvvm rejects the module that it makes itself if nothing is left of the program, as when
     * host code names none of its kernels (13.0 and 13.5). */
    TARGET_LTO_NEEDS_CODE = 1 << 8,
};

/* What holds for all code of one number. */
struct target_facts {
    uint16_t sm;
    uint16_t family;
    uint32_t most_shared;
    uint16_t reserved;   /* bytes of a kernel's shared memory that are the driver's */
    uint16_t parameters; /* the offset of a kernel's in bank 0 */
    uint16_t threads;    /* of a multiprocessor */
    uint16_t flags;      /* enum target_flags */
    uint8_t fast_path;   /* the most that .nv.compat says in CAN_FASTPATH_FINALIZE */
};

/* A name of a target. */
struct target_name {
    struct arch arch;
    uint16_t first_ptx;            /* the first PTX ISA version with it, times ten */
    struct toolkit_range toolkits; /* those that make code for it */
};

/* The row for a number; for one that is not listed, that of the greatest below it. Never NULL. */
const struct target_facts *targets_find(unsigned sm);

static inline bool targets_have(unsigned sm, enum target_flags flag)
{
    return (targets_find(sm)->flags & flag) != 0;
}

/* The name's row; NULL if no toolkit ever had it. */
const struct target_name *targets_find_name(struct arch arch);

/* The PTX ISA version, times ten, for a text that is made without any of the user's: that of CUDA
 * 13.0, or the first with the target. */
unsigned targets_ptx(struct arch arch);

/* True for a target that this toolkit links for; NULL = any toolkit. */
bool targets_know(struct arch arch, const struct toolkit_facts *toolkit);

/* The toolkit, or where it does not know the target, the nearest one that does. */
const struct toolkit_facts *targets_toolkit(struct arch arch, const struct toolkit_facts *toolkit);

/* Advances to the next target that the toolkit (NULL = any) links for, starting from {0}: by
 * number, then by suffix (sm_90, sm_90a; sm_100, sm_100a, sm_100f). False after the last. */
bool targets_next(struct arch *arch, const struct toolkit_facts *toolkit);

/* True if the toolkit's nvlink takes machine code that was made for `code`. */
bool runs_on_sass(struct arch target, struct arch code, const struct toolkit_facts *toolkit);

/* True if it takes that code only as its finalizer makes other code of it. */
bool runs_on_finalized(struct arch target, struct arch code, const struct toolkit_facts *toolkit);

/* True if it takes PTX, or LTO-IR, for `code`: that of any number up to the target's; with suffix f
 * only within the family, with suffix a only for that very target. */
bool runs_on_ptx(struct arch target, struct arch code, const struct toolkit_facts *toolkit);

/* True if it refuses machine code for a target as it has suffix a and the target has not. */
bool runs_on_accelerated_only(struct arch target, struct arch code,
                              const struct toolkit_facts *toolkit);

/* True if it passes over entries of fatbins for `code`. */
bool runs_on_is_unknown(struct arch code, const struct toolkit_facts *toolkit);

/* True if its libnvJitLink refuses machine code that its nvlink takes: in an entry of a fatbin, or
 * as a bare cubin. */
bool runs_on_library_leaves(struct arch target, struct arch code, bool is_entry,
                            const struct toolkit_facts *toolkit);

/* The number that the toolkit has given to code of this number: 110 for 101 from 13.0 on; the
 * number itself for most. */
unsigned runs_on_number(unsigned sm, const struct toolkit_facts *toolkit);

/* False for machine code of a toolkit (its version, times ten) that is too old to be linked. */
bool runs_on_made_by(unsigned sm, unsigned maker);
