/* emit_info.c: EIATTR records, in the order of ptxas for sm_90; the call graph; and notes. */
#include "toy/internal.h"

#include "cubin/contents.h"
#include "toy/builtin.h"

#define MERCURY_VERSION   0x101u /* 0 in the old form */
#define WORKAROUND        8u
#define NO_REGISTER_LIMIT 0xffu

/* Total size up to which parameters have records of the first format. */
#define SMALL_PARAMETERS 4352u

/* Offset written for a texture, sampler or surface parameter, which has none. */
#define NO_OFFSET 0xffffu

#define TYPE_ENCODING    1u
#define CUDA_VERSION     130u /* 10 * major + minor */
#define ENCODING_VERSION 3u

static void put_words(struct buffer *out, uint8_t attribute, const uint32_t *words, size_t count)
{
    info_put_head(out, EIFMT_SVAL, attribute, (uint32_t)(4 * count));
    for (size_t i = 0; i < count; i++)
        buffer_u32(out, words[i]);
}

static void put_pair(struct buffer *out, uint8_t attribute, uint32_t first, uint32_t second)
{
    put_words(out, attribute, (uint32_t[]){first, second}, 2);
}

static uint32_t mercury_version(const struct unit *unit)
{
    return targets_have(unit->job.sm, TARGET_HAS_FORM_90) ? MERCURY_VERSION : 0;
}

/* The values that ptxas writes. The meaning of attributes without a name in format.h is not known.
 */
void emit_info_compat(struct unit *unit, struct buffer *out)
{
    const char *arch = unit->job.arch;
    bool is_specific = arch[0] && arch[strlen(arch) - 1] == 'a';

    info_put_head(out, EIFMT_BVAL, COMPAT_CUDA_ACCELERATOR_TARGET, is_specific);
    info_put_head(out, EIFMT_BVAL, COMPAT_ISA_CLASS, unit->uses_textures ? 2 : 1);
    info_put_head(out, EIFMT_BVAL, 5, 5);
    info_put_head(out, EIFMT_HVAL, 7, 0x101);
    info_put_head(out, EIFMT_BVAL, 3, 0);
    info_put_head(out, EIFMT_BVAL, 6, 1);
    put_pair(out, COMPAT_CAN_FASTPATH_FINALIZE, 0, 0);
}

/* The number of what a pointer or reference parameter refers to. */
static uint32_t pointee_of(const struct ptx_parameter *parameter)
{
    static const uint8_t spaces[] = {[PTX_SPACE_NONE] = 5, /* generic */
                                     [PTX_SPACE_LOCAL] = 1,
                                     [PTX_SPACE_SHARED] = 2,
                                     [PTX_SPACE_CONST] = 4,
                                     [PTX_SPACE_GLOBAL] = 4};

    return parameter->type == PTX_TEXREF       ? 6
           : parameter->type == PTX_SURFREF    ? 7
           : parameter->type == PTX_SAMPLERREF ? 8
           : parameter->is_pointer             ? spaces[parameter->pointee_space]
                                               : 0;
}

/* Parameters, the last first: ordinal and offset, then size, and of a pointer's target the space
 * and the logarithm of the alignment. */
static void put_parameters(const struct unit *unit, const struct function_code *function,
                           struct buffer *out)
{
    bool is_small = function->parameter_bytes <= SMALL_PARAMETERS;

    for (uint32_t i = function->item->function.parameter_count; i-- > 0;) {
        const struct ptx_parameter *parameter = &function->item->function.parameters[i];
        uint32_t space = pointee_of(parameter);
        bool is_aligned = parameter->pointee_alignment && !ptx_type_is_opaque(parameter->type);
        uint32_t alignment = is_aligned ? (uint32_t)__builtin_ctz(parameter->pointee_alignment) : 0;

        /* The parameters are the first symbols of the body, in order (allocate_parameters). */
        uint32_t offset = (uint32_t)function->symbols[i].offset - unit->parameter_base;
        uint32_t size = (uint32_t)function->symbols[i].size;
        uint32_t symbol = 0;
        if (function->symbols[i].object != NO_INDEX) {
            symbol = unit->data.objects[function->symbols[i].object].symbol;
            offset = NO_OFFSET;
        }
        uint32_t shape = is_small ? size << 18 | 0x1f000 | space << 8 | alignment
                                  : size | alignment << 16 | space << 24;
        put_words(out, is_small ? EIATTR_KPARAM_INFO : EIATTR_KPARAM_INFO_V2,
                  (uint32_t[]){symbol, i | offset << 16, shape}, 3);
    }
}

static void put_cluster(const struct ptx_performance *performance, struct buffer *out)
{
    if (performance->reqnctapercluster[0])
        put_words(out, EIATTR_CTA_PER_CLUSTER, performance->reqnctapercluster, 3);
    if (performance->maxclusterrank)
        put_words(out, EIATTR_MAX_CLUSTER_RANK, &performance->maxclusterrank, 1);
    if (performance->explicit_cluster)
        info_put_head(out, EIFMT_NVAL, EIATTR_EXPLICIT_CLUSTER, 0);
}

/* `count`, but at most the words that fit into a payload, whose size has 16 bits. */
static size_t most_words(size_t count)
{
    return count < UINT16_MAX / 4 ? count : UINT16_MAX / 4;
}

static void put_externs(const struct function_code *owner, struct buffer *out)
{
    size_t count = most_words(owner->extern_count);

    if (count)
        info_put_head(out, EIFMT_SVAL, EIATTR_EXTERNS, (uint32_t)(4 * count));
    for (size_t i = 0; i < count; i++)
        buffer_u32(out, owner->externs[i]->symbol);
}

static void put_threads(const struct ptx_performance *performance, struct buffer *out)
{
    bool is_required = performance->reqntid[0] != 0;
    const uint32_t *threads = is_required ? performance->reqntid : performance->maxntid;

    if (threads[0])
        put_words(out, is_required ? EIATTR_REQNTID : EIATTR_MAX_THREADS, threads, 3);
}

void emit_info_owner(const struct unit *unit, const struct function_code *function,
                     struct buffer *out)
{
    const struct ptx_performance *performance = &function->item->function.performance;
    bool is_entry = function->item->function.is_entry;
    bool is_limited = function->register_limit < REGISTERS_MOST;
    bool is_new = targets_have(unit->job.sm, TARGET_HAS_FORM_90);

    put_words(out, EIATTR_CUDA_API_VERSION, (uint32_t[]){CUDA_VERSION}, 1);
    if (is_entry) {
        put_parameters(unit, function, out);
        put_cluster(performance, out);
    }
    if (is_new)
        info_put_head(out, EIFMT_HVAL, EIATTR_SPARSE_MMA_MASK, 0);
    if (is_entry)
        info_put_head(out, EIFMT_HVAL, EIATTR_MAXREG_COUNT,
                      is_limited ? function->register_limit : NO_REGISTER_LIMIT);
    if (function->barrier_count)
        info_put_head(out, EIFMT_BVAL, EIATTR_NUM_BARRIERS, function->barrier_count);
    put_externs(function, out);
    info_put_head(out, EIFMT_HVAL, EIATTR_MERCURY_ISA_VERSION, mercury_version(unit));
    if (is_entry) {
        if (function->exit_count)
            put_words(out, EIATTR_EXIT_INSTR_OFFSETS, function->exits,
                      most_words(function->exit_count));
        put_threads(performance, out);
        if (function->parameter_bytes) {
            info_put_head(out, EIFMT_HVAL, EIATTR_CBANK_PARAM_SIZE, function->parameter_bytes);
            put_pair(out, EIATTR_PARAM_CBANK, function->constant_symbol,
                     unit->parameter_base | function->parameter_bytes << 16);
        }
    }
    if (is_new)
        put_words(out, EIATTR_SW_WAR, (uint32_t[]){WORKAROUND}, 1);
}

/* Appends stack records of the kernels whose symbols are, or are not, global. */
static void put_stacks(const struct unit *unit, bool is_global, struct buffer *out)
{
    for (size_t i = 0; i < unit->owner_count; i++) {
        const struct function_code *kernel = &unit->owners[i];
        uint32_t symbol = kernel->parts[0].symbol;

        if ((unit->symbols[symbol].binding == STB_GLOBAL) == is_global)
            put_pair(out, EIATTR_MIN_STACK_SIZE, symbol, (uint32_t)kernel->stack_bytes);
    }
}

static void put_chunk(const struct unit *unit, struct buffer *out)
{
    for (size_t i = unit->function_count; i-- > 0;) {
        const struct function_code *function = &unit->functions[i];
        uint32_t symbol = function->global->symbol;

        put_pair(out, EIATTR_REGCOUNT, symbol, function->register_count);
        put_pair(out, EIATTR_MAX_STACK_SIZE, symbol, 0);
        put_pair(out, EIATTR_FRAME_SIZE, symbol, function->frame_bytes);
    }
    if (unit->module.texmode_independent)
        info_put_head(out, EIFMT_NVAL, EIATTR_TEXMODE_INDEPENDENT, 0);
    if (!unit->has_kernel)
        info_put_head(out, EIFMT_HVAL, EIATTR_MERCURY_ISA_VERSION, mercury_version(unit));
}

/* Like ptxas: the kernel that was compiled last comes first; after all of them the stack sizes, in
 * the order of the symbols. */
static void put_program(const struct unit *unit, struct buffer *out)
{
    for (size_t i = unit->owner_count; i-- > 0;) {
        const struct function_code *kernel = &unit->owners[i];

        put_pair(out, EIATTR_REGCOUNT, kernel->parts[0].symbol, kernel->register_count);
        for (size_t k = kernel->part_count; k-- > 0;)
            put_pair(out, EIATTR_FRAME_SIZE, kernel->parts[k].symbol,
                     kernel->parts[k].code->frame_bytes);
    }
    put_stacks(unit, false, out);
    put_stacks(unit, true, out);
}

void emit_info(struct unit *unit, struct buffer *out)
{
    if (unit->image.type == ET_EXEC)
        put_program(unit, out);
    else
        put_chunk(unit, out);
}

/* The four parts of .nv.callgraph, by symbol, and .nv.prototype.
 *
 * An alias has an edge to the function that it stands for, and a call of it counts as a call of
 * both. Functions whose address is taken have their prototype in part -2 of the call graph, all
 * others in .nv.prototype; kernels have none. */

/* Measured on ptxas: `#`, a letter for the return parameter or `v`, and a letter for each
 * parameter. Letters go by size: b 1, h 2, i 4, l 8, x 16 bytes; f and d for .f32 and .f64; for an
 * array the number of elements follows, 0 for a variable number: "#vib0". A vector counts as one
 * integer of its size. Whether a parameter is a register makes no difference. */
static char letter_of(const struct ptx_parameter *parameter, uint32_t size)
{
    if (parameter->vector == 1 && parameter->type == PTX_F32)
        return 'f';
    if (parameter->vector == 1 && parameter->type == PTX_F64)
        return 'd';
    return size == 1 ? 'b' : size == 2 ? 'h' : size == 8 ? 'l' : size == 16 ? 'x' : 'i';
}

struct text emit_info_signature(struct arena *arena, const struct ptx_function *function)
{
    LOCAL_BUFFER(out);

    buffer_string(&out, function->return_count ? "#" : "#v");
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        const struct ptx_parameter *parameter = &function->parameters[i];
        uint32_t size = ptx_type_size((enum ptx_type)parameter->type) * parameter->vector;

        buffer_char(&out, letter_of(parameter, size));
        if (parameter->is_array)
            buffer_printf(&out, "%llu", (unsigned long long)(parameter->size / (size ? size : 8)));
    }
    return (struct text){arena_copy(arena, out.data, out.size, 1), out.size};
}

static void put_edge(struct buffer *out, uint32_t first, uint32_t second)
{
    buffer_u32(out, first);
    buffer_u32(out, second);
}

/* Functions of the driver. ptxas adds the registers that they preserve to their prototypes; without
 * the same text the linker would report that an object by ptxas declares them differently. */
static const char *const system_calls[] = {"vprintf", "malloc", "free", "__assertfail"};
static const char system_call_suffix[] =
    "|12p4r20sRx000000000000000000000000000000000000000000000000000000000000fff9";

static struct text prototype_of(struct unit *unit, const struct global *global)
{
    struct text prototype = emit_info_signature(&unit->arena, &global->item->function);

    if (global->is_defined)
        return prototype;
    for (size_t i = 0; i < sizeof system_calls / sizeof *system_calls; i++)
        if (text_equal(global->name, text_of(system_calls[i])))
            return text_of(
                arena_printf(&unit->arena, "%.*s%s", TEXT_ARG(prototype), system_call_suffix));
    return prototype;
}

/* Appends the functions that one function calls, or those whose address it takes. */
static void put_edges(const struct unit *unit, const struct function_code *function,
                      enum symbol_use use, struct buffer *out)
{
    uint32_t caller = function->global->symbol;

    for (size_t i = 0; i < function->symbol_count; i++) {
        const struct global *global = scope_used_function(&unit->scope, &function->symbols[i], use);

        if (global)
            put_edge(out, caller, global->symbol);
        if (global && global->target != global && use == USE_CALLED)
            put_edge(out, caller, global->target->symbol);
    }
}

/* Only calls of the driver's functions leave a section of a program. */
static void put_calls(const struct unit *unit, const struct function_code *owner,
                      struct buffer *out)
{
    if (unit->image.type != ET_EXEC)
        put_edges(unit, owner, USE_CALLED, out);
    else
        for (size_t i = 0; i < owner->extern_count; i++)
            put_edge(out, owner->parts[0].symbol, owner->externs[i]->symbol);
}

void emit_info_calls(struct unit *unit, struct buffer *out)
{
    put_edge(out, 0, (uint32_t)CALLGRAPH_DIRECT);
    for (size_t i = 0; i < unit->owner_count; i++)
        put_calls(unit, &unit->owners[i], out);
    for (size_t i = 0; i < unit->scope.count; i++) {
        const struct global *alias = &unit->scope.globals[i];

        if (alias->target != alias)
            put_edge(out, alias->symbol, alias->target->symbol);
    }
    put_edge(out, 0, (uint32_t)CALLGRAPH_ADDRESS);
    for (size_t i = 0; i < unit->scope.count; i++) {
        const struct global *global = &unit->scope.globals[i];

        if (global->is_function && global->is_address_taken && global->symbol)
            put_edge(out, global->symbol,
                     global->item->function.is_entry
                         ? 0
                         : image_string(&unit->strings, prototype_of(unit, global)));
    }
    put_edge(out, 0, (uint32_t)CALLGRAPH_INDIRECT);
    for (size_t i = 0; i < unit->owner_count; i++)
        for (size_t k = 0; k < unit->owners[i].signature_count; k++)
            put_edge(out, unit->owners[i].global->symbol,
                     image_string(&unit->strings, unit->owners[i].signatures[k]));
    put_edge(out, 0, (uint32_t)CALLGRAPH_CANDIDATE);
    for (size_t i = 0; i < unit->owner_count; i++)
        put_edges(unit, &unit->owners[i], USE_ADDRESS, out);
}

static bool has_prototype(const struct global *global)
{
    return global->is_function && !global->is_address_taken && !global->item->function.is_entry &&
           (global->is_defined || global->is_used);
}

bool emit_info_has_prototypes(const struct unit *unit)
{
    for (size_t i = 0; i < unit->scope.count; i++)
        if (has_prototype(&unit->scope.globals[i]))
            return true;
    return false;
}

void emit_info_prototypes(struct unit *unit, struct buffer *out)
{
    for (size_t i = 0; i < unit->scope.count; i++) {
        const struct global *global = &unit->scope.globals[i];

        if (has_prototype(global))
            put_edge(out, global->symbol, image_string(&unit->strings, prototype_of(unit, global)));
    }
}

void emit_info_tool_note(struct unit *unit, struct buffer *out)
{
    const char *words = arena_printf(&unit->arena, "-arch %.32s %s", unit->job.arch,
                                     unit->image.type == ET_REL ? "-c " : "");

    tool_note_put(out, &(struct tool_note){.tool = TEXT(BUILTIN_NAME),
                                           .release = TEXT(BUILTIN_VERSION),
                                           .build = TEXT("minilink"),
                                           .command = text_of(words)});
}

void emit_info_cuda_note(struct unit *unit, struct buffer *out)
{
    tool_note_put_target(out, unit->job.sm, CUDA_VERSION);
}

void emit_info_builtin_note(struct unit *unit, struct buffer *out)
{
    size_t start = tool_note_begin(out, "minilink", TYPE_ENCODING);

    (void)unit;
    buffer_u32(out, ENCODING_VERSION);
    buffer_append(out, BUILTIN_NAME, sizeof BUILTIN_NAME);
    tool_note_end(out, start);
}
