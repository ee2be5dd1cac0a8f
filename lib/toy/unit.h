/* unit.h: the state of assembling one chunk: the results of the phases so far, and the resources
 * that the last phases free. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/context.h"
#include "base/text.h"
#include "cubin/image.h"
#include "diag/diag.h"
#include "language/body.h"
#include "minilink/assembler.h"
#include "ptx/module.h"
#include "toy/encode.h"

/* --- Options. --- */

#define SWITCH_NOT_GIVEN INT32_MIN
#define CACHED_ACCESSES  2 /* loads, stores */

/* The assembler's options: those of ptxas, which a user gives with -Xptxas. Values of options that
 * were not given are SWITCH_NOT_GIVEN, NULL, or an empty list. Lists are separated by commas and
 * concatenate the values of all options of that name. */
struct switches {
    bool verbose, no_warnings, warnings_are_errors, warn_on_spills, warn_on_local_memory;
    bool debug, line_info, no_debug_info, compile_only, tools_patch, extensible;
    bool fast_compile, legacy_barriers, preserve_relocations, override_directives;
    bool tensor_checks;           /* asked for, or asked not to be there */
    bool executable, phase_trace; /* minilink's own, like the next two, not options of ptxas */
    int32_t first_reserved, reserved_count; /* of the general registers: are not allocated */
    int32_t dynamic_scheduling, expensive, position_independent; /* 0 or 1 */
    int32_t split_compile, opt_level, register_usage_level, minnctapersm;
    int32_t minimum_section; /* bytes of PTX */
    int32_t maxrregcount, function_maxrregcount;
    const char *fast_compile_level, *machine, *sanitizer;
    const char *default_cache[CACHED_ACCESSES], *forced_cache[CACHED_ACCESSES];
    struct text entries, maxntid; /* lists */
    int32_t ignored;              /* of options without effect on code here */
};

/* --- Names. --- */

/* A function or variable of the chunk; one entry for all its declarations. */
struct global {
    struct text name;
    const struct ptx_item *item; /* its definition, else its first declaration */
    const char *first;           /* the statement that declares it first */
    struct global *target;       /* .alias: the function that it stands for; else itself */
    bool is_function;
    bool is_defined;  /* defined in this chunk and not dropped by entries.c; true for aliases */
    bool is_selected; /* entries.c: selected functions and aliases of a whole program */
    bool is_used;     /* code, data or an alias refers to it; set while the chunk is assembled */
    bool is_address_taken;              /* its address is taken; set like is_used */
    uint32_t object;                    /* variables: index in the data's objects */
    struct function_code *function;     /* of defined functions; else NULL */
    const struct function_code *kernel; /* program.c: that was made last and calls it */
    uint32_t symbol;                    /* index in .symtab; 0 = none */
};

/* The names that a chunk declares outside of bodies. */
struct scope {
    struct global *globals; /* in order of their first mention */
    size_t count;
    struct table names;
};

/* --- Variables. --- */

#define SAMPLER_NOT_SAID 0xffu

/* The modes that the initial value of a `.samplerref` variable sets: addr_mode_0 to 2, filter_mode,
 * force_unnormalized_coords (0 or 1); or SAMPLER_NOT_SAID. */
#define SAMPLER_MODES 5

enum data_kind {
    DATA_CONSTANT,    /* .nv.constant3 */
    DATA_INITIALISED, /* .nv.global.init */
    DATA_ZERO,        /* .nv.global */
    DATA_SHARED,      /* .nv_debug.shared: of the module, or of a function that is not a kernel */
    DATA_KINDS,
    DATA_KERNEL_SHARED = DATA_KINDS, /* .nv.shared.K */
    DATA_COMMON,                     /* left to the linker */
    DATA_PARAMETER, /* a texture, sampler or surface: its symbol is in the kernel's code section */
    DATA_UNDEFINED,
};

/* A variable, of the module or of a body. */
struct object {
    struct text name;
    uint8_t kind;                   /* enum data_kind */
    uint8_t type;                   /* of its symbol */
    uint8_t other;                  /* st_other */
    uint8_t linkage;                /* enum ptx_linkage */
    struct function_code *function; /* DATA_KERNEL_SHARED, DATA_PARAMETER: the kernel */
    uint32_t alignment;
    uint64_t size;
    uint64_t offset;                    /* in its section */
    uint32_t symbol;                    /* index in .symtab */
    const struct function_code *kernel; /* program.c: that was made last and has it as shared, */
    uint32_t place;                     /* and where */
    uint8_t sampler[SAMPLER_MODES];     /* of the module's samplers */
    const struct ptx_item *value; /* the declaration with its initial value; NULL = it has none */
};

struct data_section {
    uint64_t size;
    uint32_t alignment;                  /* 0 while the section is empty */
    uint8_t *bytes;                      /* `size` bytes, or NULL if they are not stored */
    struct code_relocation *relocations; /* addresses in the bytes, by offset in the section */
    size_t relocation_count, relocation_capacity;
};

struct data {
    struct object *objects;
    size_t object_count;
    struct data_section sections[DATA_KINDS];
};

/* --- Sections. --- */

/* Kinds of sections, in the order of their names in an executable. */
enum section {
    SECTION_NAMES,
    SECTION_STRINGS,
    SECTION_SYMBOLS,
    SECTION_TOOL_NOTE,
    SECTION_CUDA_NOTE,
    SECTION_BUILTIN_NOTE,
    SECTION_INFO,
    SECTION_COMPAT,
    SECTION_DATA,                           /* + enum data_kind */
    OWNER_TEXT = SECTION_DATA + DATA_KINDS, /* from here on every function has its own */
    OWNER_INFO,
    OWNER_SHARED,
    OWNER_RELOCATIONS, /* of its code */
    OWNER_CONSTANT,    /* a kernel's parameters */
    SECTION_CALLGRAPH,
    SECTION_DATA_RELOCATIONS, /* + enum data_kind */
    SECTION_PROTOTYPE = SECTION_DATA_RELOCATIONS + DATA_KINDS,
    SECTIONS,
};

/* --- Functions. --- */

/* A function in a kernel's section of a program: the kernel itself, or a copy of a function that it
 * reaches. */
struct function_part {
    const struct function_code *code;
    uint32_t place;  /* in the section */
    uint32_t symbol; /* index in .symtab */
};

/* A function that has been assembled; or a kernel of a program: its code, relocations, registers,
 * barriers and shared memory are then those of all its parts. */
struct function_code {
    const struct unit *unit;
    const struct ptx_item *item;
    struct arena arena; /* its results */
    struct global *global;
    const struct function_code *kernel; /* of those that reach it: program.c: that was made last;
                                           results.c: that with the lowest limit of registers */
    uint32_t part;                      /* program.c: its index in that kernel's parts */
    bool ends_batch;                    /* kernels.c: the next one is another worker's */
    struct diag_sink messages;          /* kernels.c: until it is the function's turn */
    enum link_code outcome;
    struct body_symbol *symbols; /* the body's symbols */
    size_t symbol_count;
    struct bytes code;
    struct code_relocation *relocations; /* by ascending offset */
    size_t relocation_count;
    uint32_t *exits; /* offsets of the instructions that end it */
    size_t exit_count;
    struct text *signatures; /* of its indirect calls, each once */
    size_t signature_count;
    uint32_t register_count; /* general registers in use, including those of the ABI */
    uint32_t register_limit;
    uint32_t barrier_count;
    uint32_t parameter_bytes; /* of a kernel, without the bytes before them in the bank */
    uint32_t frame_bytes;     /* of local memory, with spill_bytes */
    uint32_t spill_bytes;
    uint64_t stack_bytes; /* program.c: of the deepest chain of calls, with its own frame;
                             UINT64_MAX for a ring */
    bool uses_textures;
    bool calls_indirectly;
    bool has_double_mma;       /* mma .f64 */
    uint64_t shared_bytes;     /* kernels: of the body's own .shared variables; in a program of all,
                                  and the bytes reserved for the driver */
    uint32_t shared_alignment; /* the largest of them; 0 = there are none */
    uint32_t constant_symbol;  /* the symbol of the section of its parameters; 0 = none */
    struct function_part *parts; /* of a program's kernel: itself, then the copies in the order in
                                    which they are reached */
    size_t part_count;
    struct global **externs; /* functions in other sections that it refers to; in a program the
                                driver's functions, each once */
    size_t extern_count;
    uint32_t sections[SECTIONS]; /* indices of its sections; 0 = it has none */
};

/* All make the same container; what depends on them is in phases 8, 13, 21 and 24. */
enum mode {
    MODE_NONE, /* phase 6 has not been reached */
    MODE_WHOLE_PROGRAM,
    MODE_COMPILE_ONLY,
    MODE_TOOLS_PATCH,
    MODE_EXTENSIBLE_WHOLE_PROGRAM,
};

#define DRIVER_PHASES 19u /* of minilink-internals(7), Phases: those that do something */

/* The state of one chunk, freed when the chunk is done, whatever the outcome. Start with {0}. */
struct unit {
    const struct minilink_job *job; /* from phase 14 on with the switches applied: own_job */
    struct minilink_job own_job;
    struct minilink_result *result;
    struct switches switches;
    enum mode mode;
    struct {
        bool has_run; /* or has begun to run */
        uint64_t nanoseconds;
    } phases[DRIVER_PHASES];
    const char *obstacle;        /* why a requested executable is none; NULL = nothing */
    uint32_t reserved_registers; /* count << 16 | first: see registers_allocate() */
    uint32_t parameter_base;     /* offset of a kernel's parameters in bank 0 */
    uint32_t function_registers; /* -device-function-maxrregcount; 0 = as kernels */
    struct arena arena;          /* results, except those of functions */
    struct buffer code;          /* scratch for contents of sections */
    struct ptx_module module;
    struct scope scope;
    const struct diag_state *messages; /* kernels.c: of the thread that has functions compiled */
    struct function_code *functions;   /* in order of the text */
    size_t function_count;
    bool has_kernel;
    bool uses_textures;
    struct data data;
    struct function_code *owners; /* of sections: the functions; of a program copies of its kernels,
                                     last of the text first, as ptxas compiles them */
    size_t owner_count;
    struct image image;
    uint32_t sections[SECTIONS]; /* likewise those of the chunk */
    struct image_symbol *symbols;
    size_t symbol_count, symbol_capacity;
    struct image_strings strings;
    struct buffer cubin;
};

/* Whether the job is cancelled; another thread may set the flag at any time. */
static inline bool unit_is_cancelled(const struct unit *unit)
{
    return unit->job->cancelled && __atomic_load_n(unit->job->cancelled, __ATOMIC_RELAXED);
}
