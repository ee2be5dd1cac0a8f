/* declaration.c: the words for types, linkages and spaces, and which of them go together: a
 * function for each kind of declaration. */
#include "ptx/declaration.h"

#define WORD(name, word)       word,
#define ROW(name, word, bytes) {word, bytes},
const char *const ptx_linkage_names[] = {"", PTX_LINKAGES(WORD)};
const char *const ptx_space_names[] = {"", PTX_SPACES(WORD)};
static const struct {
    const char *name;
    uint8_t size;
} types[] = {{"", 0}, PTX_TYPES(ROW)};

uint32_t ptx_type_size(enum ptx_type type)
{
    return types[type].size;
}

bool ptx_type_is_opaque(enum ptx_type type)
{
    return type == PTX_TEXREF || type == PTX_SAMPLERREF || type == PTX_SURFREF;
}

enum ptx_type ptx_type_find(struct text word)
{
    for (size_t i = PTX_NO_TYPE + 1; i < sizeof types / sizeof *types; i++)
        if (text_equal(word, text_of(types[i].name)))
            return (enum ptx_type)i;
    return PTX_NO_TYPE;
}

const char *ptx_type_name(enum ptx_type type)
{
    return types[type].name;
}

enum ptx_space ptx_space_find(struct text word)
{
    for (size_t i = PTX_SPACE_NONE + 1; i <= PTX_SPACE_TEX; i++)
        if (text_equal(word, text_of(ptx_space_names[i])))
            return (enum ptx_space)i;
    return PTX_SPACE_NONE;
}

/* Largest vector, in bytes. */
#define LARGEST_VECTOR 16u

#define INCONSISTENT "Inconsistent redefinition of variable '%.*s'"

/* A fault has the name's place in it, or none. */
static const char *with_name(struct arena *arena, const char *fault, struct text name)
{
    return fault ? arena_printf(arena, fault, TEXT_ARG(name)) : NULL;
}

/* Checks that do not depend on the declaration's role. */
static const char *type_fault(const struct ptx_variable *variable)
{
    enum ptx_type type = (enum ptx_type)variable->type;

    if (type == PTX_PRED && (variable->is_array || variable->vector > 1))
        return "Predicate type can only be used to define scalar register variables";
    if (variable->vector > 1 && ptx_type_is_opaque(type))
        return "Vector type only allowed over basic types";
    if (variable->vector * ptx_type_size(type) > LARGEST_VECTOR)
        return "Vector type too large, exceeds 128 bit limit";
    if (type == PTX_PRED && variable->space != PTX_SPACE_REG)
        return "Predicate variable '%.*s' must be in register state space";
    if (variable->initialiser.size > 0 && variable->space != PTX_SPACE_GLOBAL &&
        variable->space != PTX_SPACE_CONST)
        return "No initial value is allowed for '%.*s' in this state space";
    return NULL;
}

/* Handles of textures, samplers and surfaces. */
static const char *opaque_fault(const struct ptx_item *item, enum declaration_role role,
                                bool is_texmode_independent)
{
    const struct ptx_variable *variable = &item->variable;

    if (role == DECLARATION_BODY_VARIABLE)
        return "Texture/surface variable must be at module or entry parameter scope";
    if (role == DECLARATION_MODULE_VARIABLE && variable->space != PTX_SPACE_GLOBAL)
        return "Texture and surface variables must be declared in .global space";
    if (item->linkage == PTX_COMMON)
        return "Illegal type for .common symbol";
    if (variable->initialiser.size > 0 && variable->type != PTX_SAMPLERREF)
        return "Initial value type mismatch";
    if (variable->type == PTX_SAMPLERREF && !variable->is_array && !is_texmode_independent &&
        (role == DECLARATION_MODULE_VARIABLE || role == DECLARATION_KERNEL_PARAMETER))
        return "Instruction or declaration violates .target texmode_unified setting";
    return NULL;
}

/* ptxas also accepts arrays of handles as parameters of device functions; nothing can use them, so
 * they are refused here. */
static bool fits_parameter_space(const struct ptx_variable *variable, enum declaration_role role)
{
    if (ptx_type_is_opaque(variable->type))
        return role == DECLARATION_KERNEL_PARAMETER;
    return variable->is_array || (variable->vector <= 1 && variable->type != PTX_F16X2);
}

/* .b8, .b16 and .f16 parameters are allowed. */
static bool is_narrow(const struct ptx_variable *variable, enum declaration_role role)
{
    uint8_t type = variable->type;

    return role != DECLARATION_KERNEL_PARAMETER && !variable->is_array && variable->vector <= 1 &&
           (type == PTX_PRED || type == PTX_U8 || type == PTX_S8 || type == PTX_U16 ||
            type == PTX_S16);
}

static const char *parameter_fault(const struct ptx_item *item, enum declaration_role role)
{
    const struct ptx_variable *variable = &item->variable;
    bool is_register = variable->space == PTX_SPACE_REG;

    if (is_register && role == DECLARATION_KERNEL_PARAMETER)
        return "Entry parameter '%.*s' must have .param state space";
    if (is_register && (variable->is_array || ptx_type_is_opaque(variable->type)))
        return "Variable '%.*s' cannot be allocated into a register";
    if (is_narrow(variable, role))
        return role == DECLARATION_RETURN_PARAMETER
                   ? "In ABI compilation, returning predicate, 8-bit and 16-bit values from device "
                     "functions is not supported"
                   : "In ABI compilation, passing predicate, 8-bit and 16-bit parameters to device "
                     "functions is not supported";
    if (variable->is_array && variable->size == 0 && role == DECLARATION_KERNEL_PARAMETER)
        return "Parameter to entry function cannot be an incomplete array.";
    if (variable->is_array && variable->size == 0 && role == DECLARATION_RETURN_PARAMETER)
        return "Output parameter cannot be an incomplete array.";
    return text_equal(item->name, TEXT("_")) ? "Illegal parameter name '%.*s'" : NULL;
}

static const char *variable_fault(const struct ptx_item *item)
{
    const struct ptx_variable *variable = &item->variable;

    if (item->linkage == PTX_COMMON && variable->space != PTX_SPACE_GLOBAL)
        return ".common variables must be declared in .global space";
    if (variable->is_array && variable->space == PTX_SPACE_REG)
        return "Variable '%.*s' cannot be allocated into a register";
    if (item->linkage != PTX_EXTERN && variable->is_array && variable->size == 0)
        return "Non-external variable '%.*s' has incomplete type";
    return NULL;
}

const char *declaration_fault(struct arena *arena, const struct ptx_item *item,
                              enum declaration_role role, bool is_texmode_independent)
{
    const struct ptx_variable *variable = &item->variable;
    const char *fault = type_fault(variable);

    if (!fault && ptx_type_is_opaque(variable->type))
        fault = opaque_fault(item, role, is_texmode_independent);
    if (!fault && variable->space == PTX_SPACE_PARAM && !fits_parameter_space(variable, role))
        fault = "Variable '%.*s' cannot be allocated in .param state space";
    if (!fault)
        fault = role >= DECLARATION_KERNEL_PARAMETER ? parameter_fault(item, role)
                                                     : variable_fault(item);
    return with_name(arena, fault, item->name);
}

const char *declaration_difference(const struct ptx_function *first,
                                   const struct ptx_function *again)
{
    if (first->return_count != again->return_count ||
        first->parameter_count != again->parameter_count)
        return "number of parameters";
    for (uint32_t i = 0; i < first->parameter_count; i++) {
        const struct ptx_parameter *a = &first->parameters[i], *b = &again->parameters[i];

        if (a->type != b->type || a->is_array != b->is_array || a->size != b->size)
            return "parameter types";
        if (a->is_register != b->is_register)
            return "parameter state space";
        if (a->alignment != b->alignment)
            return "parameter alignment";
    }
    return NULL;
}

static const char *function_clash(struct arena *arena, const struct ptx_item *first,
                                  const struct ptx_item *again)
{
    const char *difference = declaration_difference(&first->function, &again->function);

    if (first->is_definition)
        return "Duplicate definition of function '%.*s'";
    if (first->function.is_entry != again->function.is_entry ||
        first->function.performance.is_noreturn != again->function.performance.is_noreturn ||
        (again->linkage != first->linkage &&
         (again->linkage != PTX_INTERNAL || first->linkage == PTX_EXTERN)))
        return INCONSISTENT;
    return difference
               ? arena_printf(arena, "Inconsistent prototypes of '%%.*s', %s differ", difference)
               : NULL;
}

/* An open dimension matches any size. */
static bool same_dimensions(const struct ptx_dimensions *a, const struct ptx_dimensions *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->sizes[i] != b->sizes[i] && a->sizes[i] != PTX_OPEN && b->sizes[i] != PTX_OPEN)
            return false;
    return true;
}

static const char *variable_clash(const struct ptx_item *first, const struct ptx_item *again)
{
    const struct ptx_variable *a = &first->variable, *b = &again->variable;

    if (first->is_definition && again->is_definition)
        return "Duplicate definition of variable '%.*s'";
    if (a->type != b->type || a->vector != b->vector ||
        !same_dimensions(&a->dimensions, &b->dimensions))
        return INCONSISTENT;
    if (!first->is_definition && again->is_definition && again->linkage == PTX_INTERNAL)
        return "'.extern' variable '%.*s' cannot be resolved by a '.static'";
    return NULL;
}

const char *declaration_clash(struct arena *arena, const struct ptx_item *first,
                              const struct ptx_item *again)
{
    const char *fault = first->kind != again->kind    ? INCONSISTENT
                        : first->kind == PTX_FUNCTION ? function_clash(arena, first, again)
                                                      : variable_clash(first, again);

    return with_name(arena, fault, again->name);
}
