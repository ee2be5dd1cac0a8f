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
#include "toy/emit.h"

#include <string.h>

#include "base/components.h"
#include "cubin/format.h"
#include "facts/targets.h"
#include "toy/phases.h"

/* Shared memory of every target; whether a kernel may use more depends on the target. */
#define MOST_SHARED_BYTES 0xc000u

/* Limit for all copies: each of several kernels can call all functions of the text. */
#define MOST_PROGRAM_BYTES (UINT64_C(1) << 28)

#define NOT_PLACED UINT32_MAX

/* The stack of functions in a ring of calls, and of those that reach one. */
#define ENDLESS UINT64_MAX

struct maker {
    struct unit *unit;
    const char *obstacle;     /* the first one found, or NULL */
    uint32_t *part_of;        /* by function: its part of the current kernel, or NOT_PLACED */
    uint32_t *shared_places;  /* by object: its offset in the current kernel, or NOT_PLACED */
    uint32_t *shared_objects; /* the objects that have an offset */
    size_t shared_count;
    uint32_t *callers; /* by global: the last kernel that calls it, counted from 1; 0 = none */
    uint64_t size;     /* of all code so far */
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

static bool is_shared(const struct object *object)
{
    return object->kind == DATA_SHARED || object->kind == DATA_KERNEL_SHARED ||
           (object->kind == DATA_UNDEFINED && object->other == STO_CUDA_SHARED);
}

/* Finds variables that only a linker can place, or that code refers to in a special way. */
static const char *obstacle_in_objects(const struct unit *unit)
{
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

static const char *obstacle_in_module(const struct unit *unit)
{
    for (size_t i = 0; i < unit->scope.count; i++) {
        const struct global *global = &unit->scope.globals[i];

        if (global->is_function && global->is_address_taken)
            return "the address of a function is data";
        if (global->aliased != NO_INDEX)
            return "a function has an alias";
        if (!global->is_function && global->item->variable.is_unified)
            return "a variable is unified";
    }
    if (unit->has_lines)
        return "it has a line table";
    if (unit->job->debug)
        return "it is debugged";
    if (unit->module.texmode_independent)
        return "it has independent textures";
    return unit->switches.preserve_relocations ? "its relocations are preserved"
                                               : obstacle_in_objects(unit);
}

static bool calls_itself(const struct function_code *code)
{
    for (size_t i = 0; i < code->symbol_count; i++)
        if (code->symbols[i].is_function && code->symbols[i].uses &&
            code->symbols[i].global == code->global)
            return true;
    return false;
}

/* The stacks of the members' callees are known already. */
static void add_stack(void *argument, const uint32_t *members, size_t count, const bool *is_open)
{
    struct unit *unit = argument;
    uint64_t deepest = 0;

    (void)is_open;
    for (uint32_t i = 0, callee; (callee = results_callee(unit, members[0], i)) != COMPONENTS_END;
         i++)
        if (unit->functions[callee].stack_bytes > deepest)
            deepest = unit->functions[callee].stack_bytes;
    if (count > 1 || calls_itself(&unit->functions[members[0]]))
        deepest = ENDLESS;
    for (size_t i = 0; i < count; i++) {
        struct function_code *function = &unit->functions[members[i]];

        function->stack_bytes = deepest == ENDLESS ? ENDLESS : deepest + function->frame_bytes;
    }
}

static void add_extern(struct maker *maker, struct owner *kernel, size_t *capacity, uint32_t global)
{
    uint32_t number = (uint32_t)maker->unit->owner_count;

    if (maker->callers[global] != number)
        ARENA_PUSH(&maker->unit->arena, kernel->externs, kernel->extern_count, *capacity) = global;
    maker->callers[global] = number;
}

/* Adds the functions that one part calls: as further copies, or as externs for the driver's. */
static bool add_callees(struct maker *maker, struct owner *kernel, size_t *capacity,
                        size_t *extern_capacity, const struct function_code *code)
{
    struct unit *unit = maker->unit;

    if (code->signature_count)
        return stop(maker, "it calls by address");
    for (size_t i = 0; i < code->symbol_count; i++) {
        const struct global *global = function_of(maker, &code->symbols[i]);

        if (!global || !code->symbols[i].uses)
            continue;
        if (code->symbols[i].uses & USE_ADDRESS || global->item->function.is_entry)
            return stop(maker, "it takes the address of a function, or calls a kernel");
        if (!global->is_defined) {
            add_extern(maker, kernel, extern_capacity, (uint32_t)(global - unit->scope.globals));
        } else if (maker->part_of[global->function] == NOT_PLACED) {
            maker->part_of[global->function] = (uint32_t)kernel->part_count;
            ARENA_PUSH(&unit->arena, kernel->parts, kernel->part_count, *capacity) =
                (struct owner_part){.code = &unit->functions[global->function]};
        }
    }
    return true;
}

/* Lists the kernel and the functions that it reaches, consecutively. */
static bool collect_parts(struct maker *maker, struct owner *kernel)
{
    struct unit *unit = maker->unit;
    struct function_code *own = kernel->function;
    size_t capacity = 0, extern_capacity = 0;
    uint64_t size = 0;

    maker->part_of[own - unit->functions] = 0;
    ARENA_PUSH(&unit->arena, kernel->parts, kernel->part_count, capacity) =
        (struct owner_part){.code = own};
    for (size_t i = 0; i < kernel->part_count; i++) {
        const struct function_code *code = kernel->parts[i].code;

        if (!add_callees(maker, kernel, &capacity, &extern_capacity, code))
            return false;
        kernel->parts[i].place = (uint32_t)size;
        size += code->code.size;
        if (size + maker->size > MOST_PROGRAM_BYTES)
            return stop(maker, "copies of functions make it too large");
        if (code->register_count > kernel->register_count)
            kernel->register_count = code->register_count;
        if (code->barrier_count > kernel->barrier_count)
            kernel->barrier_count = code->barrier_count;
    }
    maker->size += size;
    kernel->code.size = size;
    kernel->stack_bytes = own->stack_bytes;
    return kernel->register_count <= own->register_limit ||
           stop(maker, "a function needs more registers than a kernel that calls it may have");
}

/* Places variables of a fixed size, in the order in which the parts name them. */
static void place_shared(struct maker *maker, struct owner *kernel,
                         const struct function_code *code)
{
    for (size_t i = 0; i < code->symbol_count; i++) {
        uint32_t index = code->symbols[i].is_function ? NO_INDEX : code->symbols[i].object;
        const struct object *object = index == NO_INDEX ? NULL : &maker->unit->data.objects[index];

        if (!object || !is_shared(object) || maker->shared_places[index] != NOT_PLACED ||
            (!code->symbols[i].uses && object->kind != DATA_KERNEL_SHARED))
            continue;
        maker->shared_objects[maker->shared_count++] = index;
        maker->shared_places[index] = 0;
        if (object->alignment > kernel->shared_alignment)
            kernel->shared_alignment = object->alignment;
        if (object->kind == DATA_UNDEFINED)
            continue;
        kernel->shared_bytes = image_align_up(kernel->shared_bytes, object->alignment);
        maker->shared_places[index] = (uint32_t)kernel->shared_bytes;
        if (object->size <= MOST_SHARED_BYTES && kernel->shared_bytes <= MOST_SHARED_BYTES)
            kernel->shared_bytes += object->size;
        else
            stop(maker, "a kernel has much shared memory");
    }
}

/* Variables whose size is only known at the launch begin where the others end. */
static bool lay_out_shared(struct maker *maker, struct owner *kernel)
{
    uint32_t begin = targets_find(maker->unit->job->sm)->reserved;

    kernel->shared_bytes = begin;
    for (size_t i = 0; i < kernel->part_count; i++)
        place_shared(maker, kernel, kernel->parts[i].code);
    for (size_t i = 0; i < maker->shared_count; i++)
        if (maker->unit->data.objects[maker->shared_objects[i]].kind == DATA_UNDEFINED)
            kernel->shared_bytes = image_align_up(kernel->shared_bytes, kernel->shared_alignment);
    for (size_t i = 0; i < maker->shared_count; i++)
        if (maker->unit->data.objects[maker->shared_objects[i]].kind == DATA_UNDEFINED)
            maker->shared_places[maker->shared_objects[i]] = (uint32_t)kernel->shared_bytes;
    if (kernel->shared_alignment == 0)
        kernel->shared_bytes = 0;
    return !maker->obstacle && (kernel->shared_bytes <= begin + MOST_SHARED_BYTES ||
                                stop(maker, "a kernel has much shared memory"));
}

static void set_field(uint8_t *word, uint32_t field)
{
    memcpy(word + 4, &field, sizeof field);
}

/* Resolves one place of a part's code that names a symbol, or leaves it to the driver. */
static bool resolve(struct maker *maker, struct owner *kernel, const struct owner_part *part,
                    const struct code_relocation *from, uint8_t *code)
{
    const struct global *global = function_of(maker, from->symbol);
    uint32_t index = global ? NO_INDEX : from->symbol->object;
    const struct object *object = index == NO_INDEX ? NULL : &maker->unit->data.objects[index];
    uint64_t offset = part->place + from->offset;

    if (!global && !object)
        return stop(maker, "a symbol is of no known kind");
    if (global && global->is_defined) {
        set_field(code + offset, kernel->parts[maker->part_of[global->function]].place);
        return true;
    }
    if (object && object->kind == DATA_CONSTANT && from->type == R_CUDA_CONST_FIELD21_38) {
        uint64_t place = object->offset + (uint64_t)from->addend;

        set_field(code + offset, (uint32_t)(place & 0xffff) << 6 | USER_BANK << 22);
        return true;
    }
    if (object && is_shared(object)) {
        set_field(code + offset, maker->shared_places[index] + (uint32_t)from->addend);
        return true;
    }
    kernel->relocations[kernel->relocation_count++] =
        (struct code_relocation){offset, from->type, from->symbol, from->addend};
    return true;
}

static bool copy_code(struct maker *maker, struct owner *kernel)
{
    struct arena *arena = &maker->unit->arena;
    uint8_t *code = arena_alloc(arena, kernel->code.size, 1);
    size_t count = 0;

    for (size_t i = 0; i < kernel->part_count; i++)
        count += kernel->parts[i].code->relocation_count;
    kernel->relocations = arena_alloc(arena, count, sizeof *kernel->relocations);
    for (size_t i = 0; i < kernel->part_count; i++) {
        const struct owner_part *part = &kernel->parts[i];

        if (part->code->code.size)
            memcpy(code + part->place, part->code->code.data, part->code->code.size);
        for (size_t k = 0; k < part->code->relocation_count; k++)
            if (!resolve(maker, kernel, part, &part->code->relocations[k], code))
                return false;
    }
    kernel->code.data = code;
    return true;
}

static void forget_kernel(struct maker *maker, const struct owner *kernel)
{
    for (size_t i = 0; i < kernel->part_count; i++)
        maker->part_of[kernel->parts[i].code - maker->unit->functions] = NOT_PLACED;
    for (size_t i = 0; i < maker->shared_count; i++)
        maker->shared_places[maker->shared_objects[i]] = NOT_PLACED;
    maker->shared_count = 0;
}

static void make_kernel(struct maker *maker, uint32_t function)
{
    struct unit *unit = maker->unit;
    struct owner *kernel = &unit->owners[unit->owner_count++];

    *kernel = (struct owner){.function = &unit->functions[function]};
    if (kernel->function->stack_bytes == ENDLESS)
        stop(maker, "functions call each other in a ring");
    else if (collect_parts(maker, kernel) && lay_out_shared(maker, kernel) &&
             copy_code(maker, kernel))
        forget_kernel(maker, kernel);
}

static struct maker begin(struct unit *unit)
{
    size_t functions = unit->function_count, objects = unit->data.object_count;
    struct arena *arena = &unit->arena;
    struct maker maker = {.unit = unit, .obstacle = obstacle_in_module(unit)};

    maker.callers = arena_zalloc(arena, unit->scope.count, sizeof *maker.callers);
    maker.part_of = arena_alloc(arena, functions, sizeof *maker.part_of);
    maker.shared_places = arena_alloc(arena, objects, sizeof *maker.shared_places);
    maker.shared_objects = arena_alloc(arena, objects, sizeof *maker.shared_objects);
    for (size_t i = 0; i < functions; i++)
        maker.part_of[i] = NOT_PLACED;
    for (size_t i = 0; i < objects; i++)
        maker.shared_places[i] = NOT_PLACED;
    unit->owners = arena_alloc(arena, functions, sizeof *unit->owners);
    return maker;
}

const char *program_emit(struct unit *unit)
{
    struct maker maker = begin(unit);

    if (!maker.obstacle)
        components_find(
            &(struct components_graph){unit, unit->function_count, results_callee, add_stack},
            &unit->arena);
    for (size_t i = unit->function_count; i-- > 0 && !maker.obstacle;)
        if (unit->functions[i].item->function.is_entry)
            make_kernel(&maker, (uint32_t)i);
    if (!maker.obstacle && unit->owner_count == 0)
        return "it has no kernel";
    if (!maker.obstacle)
        emit_image(unit, ET_EXEC);
    return maker.obstacle;
}
