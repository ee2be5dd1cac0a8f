/* internal.h: the state of assembling one chunk, and the functions of its phases, by file.
 *
 * minilink-internals(7), EMBEDDED DRIVER. If ptxas was measured to differ from the description, the
 * phase does what was measured, and its comment says so. A function that returns false has reported
 * why, in ptxas's wording if ptxas has the error. */
#pragma once

#include "base/context.h"
#include "cubin/image.h"
#include "language/body.h"
#include "minilink/assembler.h"
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
    bool is_defined; /* defined in this chunk and not dropped by scope_select(); true for aliases */
    bool is_selected; /* scope_select(): functions and aliases of a whole program */
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

/* A function in a kernel's section of a program: the kernel, or a copy of one that it reaches. */
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
    bool ends_batch;                    /* driver.c: the next one is another worker's */
    struct diag_sink messages;          /* driver.c: until it is the function's turn */
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
    struct minilink_job job; /* the caller's; from phase 14 on with the switches applied */
    struct minilink_result *result;
    struct switches switches;
    enum mode mode;
    struct {
        bool has_run; /* or has begun to run */
        uint64_t nanoseconds;
    } phases[DRIVER_PHASES];
    const char *obstacle;        /* why a requested executable is none; NULL = nothing */
    uint32_t reserved_registers; /* count << 16 | first: see allocate_registers() */
    uint32_t parameter_base;     /* offset of a kernel's parameters in bank 0 */
    struct arena arena;          /* results, except those of functions */
    struct buffer code;          /* scratch for contents of sections */
    struct ptx_module module;
    struct scope scope;
    const struct diag_state *messages; /* driver.c: of the thread that has functions compiled */
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

/* --- driver.c --- */

/* A phase does its part of the work on the unit. When it returns false, which ends the compilation,
 * it has reported why, unless the job is cancelled. */
struct phase {
    uint8_t number;   /* in the description, which has 26 */
    const char *name; /* its heading there */
    bool (*run)(struct unit *unit);
    enum link_code failure; /* the compilation's outcome when it fails; LINK_OK: a teardown, which
                               runs even if earlier phases failed */
};

extern const struct phase driver_phases[DRIVER_PHASES];

/* Whether the job is cancelled; another thread may set the flag at any time. */
static inline bool unit_is_cancelled(const struct unit *unit)
{
    return unit->job.cancelled && __atomic_load_n(unit->job.cancelled, __ATOMIC_RELAXED);
}

/* --- switches.c --- */

/* Reads the job's options, a list in which a value is a separate word or follows `=`. The last of
 * several values is used, with a warning if they differ. Lists live in the unit's arena or, like
 * words, in the job. */
bool switches_read(struct unit *unit);

/* Phase 6. Jobs whose cubins are to be merged are for the compile-only mode; -ewp and -astoolspatch
 * also make mergeable cubins, and take precedence unless the user gives -c. */
bool switches_choose_mode(struct unit *unit);

/* Phase 9. Warns of options that are ignored, and resets them. Fails for conflicts, with each other
 * or the module, that ptxas refuses. */
bool switches_resolve(struct unit *unit);

/* Threads on which the functions of one chunk are assembled (minilink-internals(7), Threads of one
 * chunk): the value of --split-compile, where 0 means the online CPUs; else, if expensive
 * optimisations are allowed (from -O2 on), the threads that the linker can spare; at most
 * job->thread_limit. */
uint32_t switches_threads(const struct unit *unit);

/* --- scope.c --- */

/* Phase 11: collects the names of the unit's module. Fails if a name has two definitions or
 * meanings, or a function that is not `.extern` has no body. */
bool scope_build(struct unit *unit);

/* The global called `name`, or NULL. */
struct global *scope_find(const struct scope *scope, struct text name);

/* The function that a symbol of a body means, if the code uses it in one of these ways (a set of
 * enum symbol_use); else NULL. */
struct global *scope_used_function(const struct scope *scope, const struct body_symbol *symbol,
                                   unsigned uses);

/* For struct parse_scope; `argument` is the scope. */
bool scope_lookup(const void *argument, struct body_symbol *symbol);

/* Phase 13. Selects the functions: all that have a body, or, if the unit's mode compiles programs,
 * the kernels (or those that --entry names) and the functions that they and initial values refer
 * to. Functions that are not selected count as undefined from then on. Fails if the module lacks a
 * name given by --entry, or if that must be a kernel's and is not. By patterns, for which ptxas has
 * no option, the link selects kernels (options/consensus.h). */
bool scope_select(struct unit *unit);

/* --- compile.c --- */

/* Phase 1: checks the options' cache operators. */
bool compile_check_caches(const struct switches *switches);

/* Assembles the function, which has `unit`, `item` and `global` set: parse, allocate, lay out,
 * encode. The unit is only read. */
bool compile_function(const struct unit *unit, struct function_code *function);

/* --- allocate.c ---
 *
 * The call ABI of the built-in assembler. A kernel's parameters are in constant bank 0, from the
 * architecture's parameter base on. A function's frame in local memory begins with its return
 * parameters and parameters, which the caller's `call` reads and fills. Then come the body's
 * `.local` variables, the `.param` variables of its calls, and spilled registers. Parameters
 * declared as registers are passed in the first ones from R4 on, return parameters before the
 * others. A call preserves the caller's other registers. */

#define REGISTERS_FIRST 4u  /* the lowest that is allocated: R0 to R3 belong to the ABI */
#define REGISTERS_LEAST 24u /* of a function: what the ABI needs */
#define REGISTERS_MOST  255u

/* Sets a kernel's launch bounds from options if it has none of its own or under
 * --override-directive-values. */
void allocate_override(struct ptx_performance *performance, const struct switches *switches);

/* The number of general registers that `function` may use on `sm`, at most REGISTERS_MOST; `option`
 * is the value of -maxrregcount, 0 = none. Warns if a directive cannot be followed. */
uint32_t allocate_limit(const struct ptx_item *function, uint32_t sm, uint32_t option);

/* Adds the parameters of `function` to the empty body, as symbols or registers. Fails for a
 * parameter that cannot be placed in memory. */
bool allocate_parameters(struct body *body, const struct ptx_module *module,
                         const struct ptx_item *function);

/* Assigns a physical register to every register of the body; 64-bit in aligned pairs, 128-bit in
 * aligned quadruples. At most function->register_limit general registers are used, none of those in
 * `reserved`, count << 16 | first. Parameters have theirs for the whole function. Over the limit,
 * registers are words of the frame, from REGISTERS_SPILLED on. Sets function->register_count and
 * spill_bytes; fails if these are too many. */
bool allocate_registers(struct body *body, uint32_t reserved, struct function_code *function);

/* Then sets the offset of every .param and .local symbol, and the function's parameter_bytes and
 * frame_bytes; a kernel's parameters begin at `base`. Fails if they are too large. */
bool allocate_frame(struct body *body, uint32_t base, struct function_code *function);

/* --- data.c --- */

/* Places all variables of the module, then those of the functions' bodies, and sets their symbols'
 * `object` and the functions' shared sizes. Marks in the scope what initial values refer to. */
bool data_build(struct unit *unit);

/* --- results.c --- */

/* Phase 8. Code that tools patch into a program may not have kernels, nor memory of its own other
 * than .global: an error for each kind of resource (measured). */
bool results_check_patch(struct unit *unit);

/* Phase 24. Checks what the mode says: that of phase 8 for variables of bodies, and calls with
 * unknown targets; or an error for each function that uses more registers than a kernel that
 * reaches it has. Prints what ptxas prints under -v, and the warnings that the switches request; an
 * info for each function with both an indirect call and mma .f64, and under -v for each ring of
 * calls. */
bool results_report(struct unit *unit);

/* For struct components_graph, whose argument is the unit: the function that symbol `position` of a
 * function's body calls, or that function itself if it calls none of the chunk. */
uint32_t results_callee(void *unit, uint32_t function, uint32_t position);

/* --- program.c --- */

/* Makes unit->owners, unit->image and unit->cubin as a finished program. Returns NULL, or the
 * reason why only a linker can finish the program. A kernel's result depends on the kernel, the
 * functions that it reaches, and the variables of the module, not on other kernels. */
const char *program_emit(struct unit *unit);

/* --- emit.c, emit_symbols.c, emit_info.c --- */

#define USER_BANK 3u /* of the user's constants */

/* Makes unit->image and its bytes, unit->cubin, a relocatable cubin, from all else in the unit. */
void emit_relocatable(struct unit *unit);

/* The same of type ET_REL or ET_EXEC, for the owners that there are. */
void emit_image(struct unit *unit, uint16_t type);

/* unit->symbols, and the indices of globals, objects and parts. */
void emit_symbols(struct unit *unit);

/* The row of the symbol that represents a body's symbol in relocations. */
uint32_t emit_symbol_of(const struct unit *unit, const struct body_symbol *symbol);

/* Appends the contents of a section; of the call graph also its strings to unit->strings. */
typedef void emit_put(struct unit *unit, struct buffer *out);
emit_put emit_info, emit_info_compat, emit_info_calls, emit_info_prototypes;
emit_put emit_info_tool_note, emit_info_cuda_note, emit_info_builtin_note;
void emit_info_owner(const struct unit *unit, const struct function_code *owner,
                     struct buffer *out);

/* True if some function needs a record in .nv.prototype. */
bool emit_info_has_prototypes(const struct unit *unit);

/* A function or .callprototype as the short string that the linker compares, in the arena: "#ii"
 * for int (int). */
struct text emit_info_signature(struct arena *arena, const struct ptx_function *function);
