/* check_bitcode_join.c: parts of a program, each of which defines some of it, as one module. */
#include "diag/diag.h"
#include "lto/internal.h"
#include "suite.h"

#define HEAD ".version 7.8\n.target sm_75\n.address_size 64\n"

static struct arena arena;
static struct table internal;
static struct diag_sink said;

void set_up(void)
{
    diag_state_get()->sink = &said;
}

void tear_down(void)
{
    diag_state_get()->sink = NULL;
    diag_sink_free(&said);
    table_free(&internal);
    arena_free(&arena);
    said = (struct diag_sink){0};
    internal = (struct table){0};
    arena = (struct arena){0};
}

static bool join(struct text *ptx, const char *first, const char *second)
{
    const struct text parts[] = {text_of(first), text_of(second)};

    return bitcode_join(ptx, &arena, parts, 2, &internal);
}

TEST(declarations_find_what_another_part_defines)
{
    static const char first[] = HEAD ".visible .global .u32 shared = 3;\n"
                                     ".extern .func helper(.param .b32 a);\n"
                                     ".extern .func outside();\n"
                                     ".visible .entry k()\n{\n\tret;\n}\n";
    static const char second[] = HEAD ".extern .global .u32 shared;\n"
                                      ".extern .func outside();\n"
                                      ".visible .func helper(.param .b32 a)\n{\n\tret;\n}\n"
                                      ".weak .func other()\n{\n\tret;\n}\n";
    struct text ptx;

    table_set(&internal, TEXT("shared"), 0);
    table_set(&internal, TEXT("helper"), 0);
    ck_assert(join(&ptx, first, second));
    ck_assert_str_eq(ptx.data, HEAD "\n.func helper(.param .b32 a);\n"
                                    ".weak .func other();\n"
                                    ".extern .func outside();\n"
                                    ".global .u32 shared = 3;\n"
                                    "\n.visible .entry k()\n{\n\tret;\n}\n"
                                    "\n.func helper(.param .b32 a)\n{\n\tret;\n}\n"
                                    "\n.weak .func other()\n{\n\tret;\n}\n");
}

/* As many parts as there are functions, or one. */
TEST(the_number_of_parts_does_not_show)
{
    static const char whole[] =
        HEAD ".extern .func y();\n.extern .func x();\n"
             ".visible .entry k()\n{\n$L__BB0_2:\n\tbra $L__BB0_2;\n// callseq 7\n// callseq 6\n}\n"
             ".visible .entry m()\n{\n$L__BB1_1:\n\tprototype_9 : x;\n// callseq 9\n}\n";
    static const char first[] = HEAD
        ".extern .func y();\n"
        ".visible .entry k()\n{\n$L__BB0_2:\n\tbra $L__BB0_2;\n// callseq 1\n// callseq 0\n}\n";
    static const char second[] =
        HEAD ".extern .func x();\n"
             ".visible .entry m()\n{\n$L__BB0_1:\n\tprototype_0 : x;\n// callseq 0\n}\n";
    const struct text one = text_of(whole);
    struct text of_one, of_two;

    ck_assert(bitcode_join(&of_one, &arena, &one, 1, &internal));
    ck_assert(join(&of_two, first, second));
    ck_assert_str_eq(of_one.data, of_two.data);
    ck_assert_ptr_nonnull(strstr(of_one.data, "$L__BB0_1:\n\tprototype_0 : x;\n// callseq 0\n"));
    ck_assert_ptr_nonnull(strstr(of_one.data, "// callseq 1\n// callseq 0\n"));
}

/* LLVM writes nothing behind the number of a jump's table. */
TEST(names_that_are_not_llvms_keep_their_numbers)
{
    static const char kernel[] =
        HEAD ".visible .entry k()\n{\n\t$L_brx_7: x;\n\t$L_brx_7x: x;\n\t$L__BB3_7: x;\n}\n";
    const struct text one = text_of(kernel);
    struct text ptx;

    ck_assert(bitcode_join(&ptx, &arena, &one, 1, &internal));
    ck_assert_ptr_nonnull(strstr(ptx.data, "\t$L_brx_0: x;\n\t$L_brx_7x: x;\n\t$L__BB0_7: x;"));
}

TEST(two_definitions_are_an_error)
{
    static const char part[] = HEAD ".visible .func helper()\n{\n\tret;\n}\n";
    struct text ptx;

    ck_assert(!join(&ptx, part, part));
    ck_assert_uint_eq(said.errors, 1);
}

TEST(what_is_no_ptx_is_an_error)
{
    struct text ptx;

    ck_assert(!join(&ptx, HEAD, ".version 7.8\n.target sm_75\n.visible .func helper()\n{\n"));
    ck_assert_uint_ge(said.errors, 1);
}
