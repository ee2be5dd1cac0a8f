/* check_declaration.c: which declarations are taken, and which may follow one of the same name. */

#include "base/memory.h"
#include "ptx/declaration.h"
#include "ptx/module.h"
#include "suite.h"

/* Of all declarations that there can be, how many have each fault: a rule that is no longer what it
 * was changes a number. */
static struct {
    const char *fault;
    unsigned wanted, got;
} faults[] = {
    {"Predicate type can only be used to define scalar register variables", 7000, 0},
    {"Vector type only allowed over basic types", 16800, 0},
    {"Vector type too large, exceeds 128 bit limit", 16800, 0},
    {"Predicate variable 'n' must be in register state space", 1200, 0},
    {"No initial value is allowed for 'n' in this state space", 48100, 0},
    {"Texture/surface variable must be at module or entry parameter scope", 1080, 0},
    {"Texture and surface variables must be declared in .global space", 840, 0},
    {"Illegal type for .common symbol", 696, 0},
    {"Initial value type mismatch", 448, 0},
    {"Instruction or declaration violates .target texmode_unified setting", 88, 0},
    {"Variable 'n' cannot be allocated in .param state space", 3092, 0},
    {"Entry parameter 'n' must have .param state space", 1908, 0},
    {"Variable 'n' cannot be allocated into a register", 3432, 0},
    {"In ABI compilation, returning predicate, 8-bit and 16-bit values from device functions is "
     "not supported",
     740, 0},
    {"In ABI compilation, passing predicate, 8-bit and 16-bit parameters to device functions is "
     "not supported",
     740, 0},
    {"Parameter to entry function cannot be an incomplete array.", 3760, 0},
    {"Output parameter cannot be an incomplete array.", 3736, 0},
    {".common variables must be declared in .global space", 4816, 0},
    {"Non-external variable 'n' has incomplete type", 4704, 0},
    {"none", 56420, 0},
};

static void count_fault(struct arena *arena, const struct ptx_item *item,
                        enum declaration_role role, bool is_independent)
{
    const char *fault = declaration_fault(arena, item, role, is_independent);

    for (int i = 0; i < COUNT(faults); i++)
        if (strcmp(fault ? fault : "none", faults[i].fault) == 0) {
            faults[i].got++;
            return;
        }
    ck_abort_msg("%s", fault);
}

static void count_flags(struct ptx_item item, enum declaration_role role)
{
    OWNED(arena) arena = {0};

    for (unsigned flags = 0; flags < 8; flags++) {
        item.variable.is_array = flags & 1;
        item.variable.size = flags & 2;
        item.variable.initialiser.size = flags & 4;
        count_fault(&arena, &item, role, false);
        count_fault(&arena, &item, role, true);
    }
}

TEST(each_fault_is_that_of_as_many_declarations)
{
    struct ptx_item d = {.name = TEXT("n")};
    struct ptx_variable *v = &d.variable;

    for (int role = 0; role <= DECLARATION_RETURN_PARAMETER; role++)
        for (v->space = PTX_SPACE_GLOBAL; v->space <= PTX_SPACE_TEX; v->space++)
            for (v->type = PTX_PRED; v->type <= PTX_SAMPLERREF; v->type++)
                for (v->vector = 1; v->vector <= 4; v->vector *= 2)
                    for (d.linkage = PTX_INTERNAL; d.linkage <= PTX_COMMON; d.linkage++)
                        count_flags(d, (enum declaration_role)role);
    for (int i = 0; i < COUNT(faults); i++)
        ck_assert_msg(faults[i].got == faults[i].wanted, "%u: %s", faults[i].got, faults[i].fault);
}

TEST(no_parameter_is_called_by_the_mark_of_nameless_ones)
{
    static const struct {
        const char *name;
        uint8_t role;
        bool is_good;
    } rows[] = {
        {"_", DECLARATION_FUNCTION_PARAMETER, false}, {"_", DECLARATION_MODULE_VARIABLE, true},
        {"_", DECLARATION_KERNEL_PARAMETER, false},   {"_", DECLARATION_RETURN_PARAMETER, false},
        {"__", DECLARATION_FUNCTION_PARAMETER, true}, {"a", DECLARATION_FUNCTION_PARAMETER, true}};
    OWNED(arena) arena = {0};

    for (int i = 0; i < COUNT(rows); i++) {
        const struct ptx_item item = {
            .name = text_of(rows[i].name),
            .variable = {.space = PTX_SPACE_PARAM, .type = PTX_B32, .vector = 1}};
        const char *fault =
            declaration_fault(&arena, &item, (enum declaration_role)rows[i].role, false);

        if (rows[i].is_good)
            ck_assert_ptr_null(fault);
        else
            ck_assert_str_eq(fault, "Illegal parameter name '_'");
    }
}

/* Declarations of one name, and what is said where one of them follows another. */
static const char *const items[] = {
    ".func n();",
    ".extern .func n();",
    ".visible .func n();",
    ".func n() { ret; }",
    ".visible .func n() { ret; }",
    ".weak .func n() .noreturn;",
    ".weak .func n();",
    ".func n(.param .b32 a);",
    ".func n(.param .b32 other);",
    ".func n(.param .u32 a);",
    ".func n(.param .b32 a[1]);",
    ".func n(.param .align 8 .b32 a);",
    ".func n(.reg .b32 a);",
    ".func (.param .b32 a) n();",
    ".entry n() { ret; }",
    ".extern .global .b32 n;",
    ".global .b32 n;",
    ".visible .global .b32 n;",
    ".extern .global .b32 n[];",
    ".extern .global .b32 n[4];",
    ".extern .global .b32 n[5];",
    ".extern .global .b32 n[][4];",
    ".extern .global .b32 n[3][5];",
    ".extern .global .b32 n[3][4];",
    ".extern .global .v2 .b32 n;",
    ".extern .global .u32 n;",
};

static const struct {
    char letter;
    const char *fault;
} clashes[] = {
    {'d', "Duplicate definition of function 'n'"},
    {'D', "Duplicate definition of variable 'n'"},
    {'i', "Inconsistent redefinition of variable 'n'"},
    {'n', "Inconsistent prototypes of 'n', number of parameters differ"},
    {'t', "Inconsistent prototypes of 'n', parameter types differ"},
    {'s', "Inconsistent prototypes of 'n', parameter state space differ"},
    {'a', "Inconsistent prototypes of 'n', parameter alignment differ"},
    {'x', "'.extern' variable 'n' cannot be resolved by a '.static'"},
};

/* A letter for each that follows. */
static const char *const followers[COUNT(items)] = {
    ".ii.iiinnnnnnniiiiiiiiiiii", "i.iiiiiiiiiiiiiiiiiiiiiiii", ".i...iinnnnnnniiiiiiiiiiii",
    "dddddddddddddddiiiiiiiiiii", "dddddddddddddddiiiiiiiiiii", "iiiii.iiiiiiiiiiiiiiiiiiii",
    ".ii.ii.nnnnnnniiiiiiiiiiii", "niiniii..ttasniiiiiiiiiiii", "niiniii..ttasniiiiiiiiiiii",
    "niiniiitt.tttniiiiiiiiiiii", "niiniiittt.ttniiiiiiiiiiii", "niiniiiaatt.sniiiiiiiiiiii",
    "niiniiisstts.niiiiiiiiiiii", "niiniiinnnnnn.iiiiiiiiiiii", "dddddddddddddddiiiiiiiiiii",
    "iiiiiiiiiiiiiii.x.iiiiiiii", "iiiiiiiiiiiiiii.DDiiiiiiii", "iiiiiiiiiiiiiii.DDiiiiiiii",
    "iiiiiiiiiiiiiiiiii...iiiii", "iiiiiiiiiiiiiiiiii..iiiiii", "iiiiiiiiiiiiiiiiii.i.iiiii",
    "iiiiiiiiiiiiiiiiiiiii.i.ii", "iiiiiiiiiiiiiiiiiiiiii.iii", "iiiiiiiiiiiiiiiiiiiii.i.ii",
    "iiiiiiiiiiiiiiiiiiiiiiii.i", "iiiiiiiiiiiiiiiiiiiiiiiii.",
};

static char clash_of(const struct ptx_item *first, const struct ptx_item *again)
{
    OWNED(arena) arena = {0};
    const char *fault = declaration_clash(&arena, first, again);
    char letter = fault ? '?' : '.';

    for (int i = 0; i < COUNT(clashes) && fault; i++)
        if (strcmp(fault, clashes[i].fault) == 0)
            letter = clashes[i].letter;
    return letter;
}

TEST_LOOP(what_may_follow_is_known, COUNT(items))
{
    OWNED(arena) arena = {0};
    OWNED(buffer) text = {0};
    struct ptx_module module;
    char got[COUNT(items) + 1] = "";
    struct module_cursor cursor = {0};

    buffer_string(&text, ".version 9.0\n.target sm_90\n.address_size 64\n");
    for (int i = 0; i < COUNT(items); i++)
        buffer_string(&text, items[i]);
    ck_assert(module_parse(&module, &arena, "a.ptx", buffer_view(&text), &cursor));
    ck_assert_uint_eq(module.item_count, COUNT(items));
    for (int i = 0; i < COUNT(items); i++)
        got[i] = clash_of(&module.items[_i], &module.items[i]);
    ck_assert_str_eq(got, followers[_i]);
}
