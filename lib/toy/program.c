/* program.c: a whole program's cubin: an executable with a section for each kernel, which includes
 * copies of the functions that it calls.
 *
 * ptxas does the same: the functions that a kernel calls follow it in its section, and shared
 * memory is laid out for each kernel alone, so that kernels only share the variables of the module.
 * ptxas puts addresses of variables into constant bank 4; here they stay in the code and the driver
 * fills them in, as in a program merged by nvlink.
 *
 * The order is ptxas's, on which join/join.h relies: the last kernel of the text comes first,
 * and names, symbols and records are in that order, those that belong to no kernel before them.
 * Sections are ordered by kind. */
#include "toy/internal.h"

#include "base/search.h"
#include "cubin/format.h"

/* Shared memory of every target; whether a kernel may use more depends on the target. */
#define MOST_SHARED_BYTES 0xc000u

/* Limit for all copies: each of several kernels can call all functions of the text. */
#define MOST_PROGRAM_BYTES (UINT64_C(1) << 28)

/* The offset of a variable whose size is only known at the launch: where the others end. */
#define DYNAMIC UINT32_MAX

/* The stack of functions in a ring of calls, and of those that reach one. */
#define ENDLESS UINT64_MAX

/* What the current kernel has knows that kernel and its place there: so nothing needs to be reset
 * for the next one. */
struct maker {
    struct unit *unit;
    const char *obstacle; /* the first one found, or NULL */
    struct function_code *kernel;
    size_t part_capacity, extern_capacity;
    bool has_dynamic; /* the kernel has a variable whose size is only known at the launch */
    uint64_t size;    /* of all code so far */
};

static bool stop(struct maker *maker, const char *obstacle)
{
    if (!maker->obstacle)
        maker->obstacle = obstacle;
    return false;
}

/* The function, of the chunk or the driver, of the symbol; NULL for a variable. */
static struct global *function_of(const struct maker *maker, const struct body_symbol *symbol)
{
    return symbol->is_function ? &maker->unit->scope.globals[symbol->global] : NULL;
}

/* The variable of the symbol, if that is one. */
static struct object *object_of(const struct maker *maker, const struct body_symbol *symbol)
{
    return symbol->is_function || symbol->object == NO_INDEX
               ? NULL
               : &maker->unit->data.objects[symbol->object];
}

static bool is_shared(const struct object *object)
{
    return object->kind == DATA_SHARED || object->kind == DATA_KERNEL_SHARED ||
           (object->kind == DATA_UNDEFINED && object->other == STO_CUDA_SHARED);
}

/* Finds what only a linker can place, or code refers to in a special way. */
static const char *obstacle_in_module(const struct unit *unit)
{
    for (size_t i = 0; i < unit->scope.count; i++) {
        const struct global *global = &unit->scope.globals[i];

        if (global->is_function && global->is_address_taken)
            return "the address of a function is data";
        if (global->target != global)
            return "a function has an alias";
        if (!global->is_function && global->item->variable.is_unified)
            return "a variable is unified";
    }
    if (unit->job.debug)
        return "it is debugged";
    if (unit->module.texmode_independent)
        return "it has independent textures";
    if (unit->switches.preserve_relocations)
        return "its relocations are preserved";
    for (size_t i = 0; i < unit->data.object_count; i++) {
        const struct object *object = &unit->data.objects[i];

        if (object->type != STT_CUDA_OBJECT)
            return "it has textures, samplers or surfaces";
        if (object->kind == DATA_COMMON ||
            (object->kind == DATA_UNDEFINED && (!is_shared(object) || object->size)))
            return "a variable is defined elsewhere";
    }
    return NULL;
}

/* The stacks of the members' callees are known already. */
static void add_stack(void *argument, const uint32_t *members, size_t count, const bool *is_open)
{
    struct unit *unit = argument;
    const struct function_code *first = &unit->functions[members[0]];
    uint64_t deepest = count > 1 ? ENDLESS : 0;

    (void)is_open;
    for (uint32_t i = 0; i < first->symbol_count; i++) {
        const struct body_symbol *symbol = &first->symbols[i];

        if (symbol->is_function && symbol->uses &&
            &unit->scope.globals[symbol->global] == first->global)
            deepest = ENDLESS;
        RAISE(deepest, unit->functions[results_callee(unit, members[0], i)].stack_bytes);
    }
    for (size_t i = 0; i < count; i++) {
        struct function_code *function = &unit->functions[members[i]];

        function->stack_bytes = deepest == ENDLESS ? ENDLESS : deepest + function->frame_bytes;
    }
}

static void add_part(struct maker *maker, struct function_code *code)
{
    struct function_code *kernel = maker->kernel;

    if (code->kernel == kernel)
        return;
    code->kernel = kernel;
    code->part = (uint32_t)kernel->part_count;
    ARENA_PUSH(&maker->unit->arena, kernel->parts, kernel->part_count, maker->part_capacity) =
        (struct function_part){.code = code};
}

static void add_extern(struct maker *maker, struct global *global)
{
    struct function_code *kernel = maker->kernel;

    if (global->kernel == kernel)
        return;
    global->kernel = kernel;
    global->is_used = true;
    ARENA_PUSH(&maker->unit->arena, kernel->externs, kernel->extern_count, maker->extern_capacity) =
        global;
}

/* Adds the functions that one part calls: as further copies, or as externs for the driver's. */
static bool add_callees(struct maker *maker, const struct function_code *code)
{
    if (code->signature_count)
        return stop(maker, "it calls by address");
    for (size_t i = 0; i < code->symbol_count; i++) {
        struct global *global = function_of(maker, &code->symbols[i]);

        if (!global || !code->symbols[i].uses)
            continue;
        if (code->symbols[i].uses & USE_ADDRESS || global->item->function.is_entry)
            return stop(maker, "it takes the address of a function, or calls a kernel");
        if (global->is_defined)
            add_part(maker, global->function);
        else
            add_extern(maker, global);
    }
    return true;
}

/* Lists the kernel and the functions that it reaches, consecutively. */
static bool collect_parts(struct maker *maker, struct function_code *own)
{
    struct function_code *kernel = maker->kernel;
    uint64_t size = 0;

    add_part(maker, own);
    for (size_t i = 0; i < kernel->part_count; i++) {
        const struct function_code *code = kernel->parts[i].code;

        kernel->parts[i].place = (uint32_t)size;
        size += code->code.size;
        if (!add_callees(maker, code))
            return false;
        if (size + maker->size > MOST_PROGRAM_BYTES)
            return stop(maker, "copies of functions make it too large");
        RAISE(kernel->register_count, code->register_count);
        RAISE(kernel->barrier_count, code->barrier_count);
    }
    maker->size += size;
    kernel->code.size = size;
    return kernel->register_count <= kernel->register_limit ||
           stop(maker, "a function needs more registers than a kernel that calls it may have");
}

/* Places a variable that a part names, if it is shared and new. */
static bool place_shared(struct maker *maker, const struct body_symbol *symbol)
{
    struct function_code *kernel = maker->kernel;
    struct object *object = object_of(maker, symbol);

    if (!object || !is_shared(object) || object->kernel == kernel ||
        (!symbol->uses && object->kind != DATA_KERNEL_SHARED))
        return true;
    object->kernel = kernel;
    object->place = DYNAMIC;
    RAISE(kernel->shared_alignment, object->alignment);
    if (object->kind == DATA_UNDEFINED) {
        maker->has_dynamic = true;
        return true;
    }
    kernel->shared_bytes = image_align_up(kernel->shared_bytes, object->alignment);
    object->place = (uint32_t)kernel->shared_bytes;
    if (object->size > MOST_SHARED_BYTES || kernel->shared_bytes > MOST_SHARED_BYTES)
        return stop(maker, "a kernel has much shared memory");
    kernel->shared_bytes += object->size;
    return true;
}

/* Lays out variables of a fixed size, in the order in which the parts name them. */
static bool lay_out_shared(struct maker *maker)
{
    struct function_code *kernel = maker->kernel;
    uint32_t begin = targets_find(maker->unit->job.sm)->reserved;

    kernel->shared_bytes = begin;
    kernel->shared_alignment = 0;
    for (size_t i = 0; i < kernel->part_count; i++)
        for (size_t k = 0; k < kernel->parts[i].code->symbol_count; k++)
            if (!place_shared(maker, &kernel->parts[i].code->symbols[k]))
                return false;
    if (maker->has_dynamic)
        kernel->shared_bytes = image_align_up(kernel->shared_bytes, kernel->shared_alignment);
    if (kernel->shared_alignment == 0)
        kernel->shared_bytes = 0;
    return kernel->shared_bytes <= begin + MOST_SHARED_BYTES ||
           stop(maker, "a kernel has much shared memory");
}

static void set_field(uint8_t *word, uint32_t field)
{
    memcpy(word + 4, &field, sizeof field);
}

/* Resolves one place of a part's code that names a symbol, or leaves it to the driver. */
static bool resolve(struct maker *maker, const struct function_part *part,
                    const struct code_relocation *from, uint8_t *code)
{
    struct function_code *kernel = maker->kernel;
    const struct global *global = function_of(maker, from->symbol);
    const struct object *object = object_of(maker, from->symbol);
    uint64_t offset = part->place + from->offset;

    if (!global && !object)
        return stop(maker, "a symbol is of no known kind");
    if (global && global->is_defined) {
        set_field(code + offset, kernel->parts[global->function->part].place);
    } else if (object && object->kind == DATA_CONSTANT && from->type == R_CUDA_CONST_FIELD21_38) {
        uint64_t place = object->offset + (uint64_t)from->addend;

        set_field(code + offset, (uint32_t)(place & 0xffff) << 6 | USER_BANK << 22);
    } else if (object && is_shared(object)) {
        uint32_t place = object->place == DYNAMIC ? (uint32_t)kernel->shared_bytes : object->place;

        set_field(code + offset, place + (uint32_t)from->addend);
    } else {
        kernel->relocations[kernel->relocation_count++] =
            (struct code_relocation){offset, from->type, from->symbol, from->addend};
    }
    return true;
}

static bool copy_code(struct maker *maker)
{
    struct arena *arena = &maker->unit->arena;
    struct function_code *kernel = maker->kernel;
    uint8_t *code = arena_alloc(arena, kernel->code.size, 1);
    size_t count = 0;

    for (size_t i = 0; i < kernel->part_count; i++)
        count += kernel->parts[i].code->relocation_count;
    kernel->relocation_count = 0;
    kernel->relocations = arena_alloc(arena, count, sizeof *kernel->relocations);
    kernel->code.data = code;
    for (size_t i = 0; i < kernel->part_count; i++) {
        const struct function_part *part = &kernel->parts[i];

        memcpy(code + part->place, part->code->code.data, part->code->code.size);
        for (size_t k = 0; k < part->code->relocation_count; k++)
            if (!resolve(maker, part, &part->code->relocations[k], code))
                return false;
    }
    return true;
}

static void make_kernel(struct maker *maker, struct function_code *function)
{
    maker->kernel = &maker->unit->owners[maker->unit->owner_count++];
    *maker->kernel = *function;
    maker->part_capacity = maker->extern_capacity = 0;
    maker->has_dynamic = false;
    if (function->stack_bytes == ENDLESS)
        stop(maker, "functions call each other in a ring");
    else if (collect_parts(maker, function) && lay_out_shared(maker))
        copy_code(maker);
}

const char *program_emit(struct unit *unit)
{
    struct maker maker = {.unit = unit, .obstacle = obstacle_in_module(unit)};

    if (maker.obstacle)
        return maker.obstacle;
    unit->owners = arena_alloc(&unit->arena, unit->function_count, sizeof *unit->owners);
    components_find(
        &(struct components_graph){unit, unit->function_count, results_callee, add_stack},
        &unit->arena);
    for (size_t i = unit->function_count; i-- > 0 && !maker.obstacle;)
        if (unit->functions[i].item->function.is_entry)
            make_kernel(&maker, &unit->functions[i]);
    if (!maker.obstacle && unit->owner_count == 0)
        return "it has no kernel";
    if (!maker.obstacle)
        emit_image(unit, ET_EXEC);
    return maker.obstacle;
}
