/* check_executable.c: whole programs of the built-in assembler that are executables: what each
 * kernel's section holds, and what only a linker can make a program of. */

#include "toy/encode.h"
#include "job_fixture.h"

#define OLD_HEADER ".version 8.0\n.target sm_75\n.address_size 64\n"
#define INNER      ".func (.reg .b32 r) inner(.reg .b32 x) { .local .b8 l[32]; add.s32 r, x, x; ret; }\n"
#define OUTER                                                                                      \
    ".func (.reg .b32 r) outer(.reg .b32 x) { .local .b8 l[64]; call (r), inner, (x); ret; }\n"
#define KERNEL(name, code)                                                                         \
    ".visible .entry " name "() { .reg .b32 a; .reg .b64 q; " code " ret; }\n"

static struct outcome make(const char *ptx, const char *arch)
{
    static const char *const options[] = {"--executable", "--phase-trace", NULL};
    struct outcome made = assemble_with(ptx, arch, options);

    expect(&made, MINILINK_OK, NULL);
    return made;
}

/* The number that a record of .nv.info has for a symbol. */
static uint32_t record_of(const struct outcome *made, uint8_t attribute, const char *name)
{
    struct bytes rest = section(made, ".nv.info")->data;

    for (struct info_record record; info_next(&rest, &record);)
        if (record.attribute == attribute &&
            text_equal(made->cubin.symbols[info_word(record.payload, 0)].name, text_of(name)))
            return info_word(record.payload, 1);
    ck_abort_msg("no record %u of %s", attribute, name);
    return 0;
}

/* The code of a section, a line for each instruction. */
static char *code_of(const struct outcome *made, const char *name)
{
    struct bytes code = section(made, name)->data;
    struct buffer out = {0};

    for (size_t at = 0, size; at < code.size; at += size) {
        size = encode_print(code, at, &out, NULL, NULL);
        ck_assert_uint_gt(size, 0);
        buffer_char(&out, '\n');
    }
    return buffer_take(&out, NULL);
}

TEST(a_kernel_has_copies_of_what_it_calls)
{
    OWNED_OUTCOME made = make(HEADER INNER OUTER KERNEL("first", "call (a), outer, (a);")
                                  KERNEL("second", "call (a), inner, (a);"),
                              "sm_90");
    char call[64];
    char *code;

    ck_assert_uint_eq(made.cubin.type, ET_EXEC);
    ck_assert(!has_section(&made, ".text.inner"));
    ck_assert(!has_section(&made, ".rela.text.first"));
    ck_assert_uint_eq(symbol(&made, "first")->size, section(&made, ".text.first")->size);
    ck_assert_uint_eq(symbol(&made, "$first$outer")->binding, STB_LOCAL);
    ck_assert_uint_eq(symbol(&made, "$first$inner")->value,
                      symbol(&made, "$first$outer")->value + symbol(&made, "$first$outer")->size);
    code = code_of(&made, ".text.first");
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "$first$inner" : "$first$outer";

        snprintf(call, sizeof call, "function(0x%llx)",
                 (unsigned long long)symbol(&made, name)->value);
        ck_assert_msg(strstr(code, call) != NULL, "no call of %s in\n%s", call, code);
    }
    free(code);
    snprintf(call, sizeof call, "function(0x%llx)",
             (unsigned long long)symbol(&made, "$second$inner")->value);
    code = code_of(&made, ".text.second");
    ck_assert_msg(strstr(code, call) != NULL, "no call of %s in\n%s", call, code);
    free(code);
}

TEST(registers_and_stack_are_those_of_all_that_is_called)
{
    OWNED_OUTCOME made =
        make(OLD_HEADER INNER OUTER KERNEL("k", ".local .b8 l[16]; call (a), outer, (a);")
                 KERNEL("bare", ""),
             "sm_75");
    uint32_t outer = record_of(&made, EIATTR_FRAME_SIZE, "$k$outer");
    uint32_t inner = record_of(&made, EIATTR_FRAME_SIZE, "$k$inner");
    uint32_t own = record_of(&made, EIATTR_FRAME_SIZE, "k");

    ck_assert_uint_ge(inner, 32);
    ck_assert_uint_ge(outer, 64);
    ck_assert_uint_eq(record_of(&made, EIATTR_MIN_STACK_SIZE, "k"), own + outer + inner);
    ck_assert_uint_eq(record_of(&made, EIATTR_MIN_STACK_SIZE, "bare"), 0);
    ck_assert_uint_gt(record_of(&made, EIATTR_REGCOUNT, "k"),
                      record_of(&made, EIATTR_REGCOUNT, "bare"));
    ck_assert_uint_eq(section(&made, ".text.k")->info >> 24,
                      record_of(&made, EIATTR_REGCOUNT, "k"));
}

TEST(shared_memory_is_each_kernels_own)
{
    static const char ptx[] = OLD_HEADER
        ".shared .align 16 .b8 both[24];\n.extern .shared .align 32 .b8 open[];\n"
        ".func f() { .shared .b32 inside; st.shared.b32 [inside], 1; ret; }\n" KERNEL(
            "one", "st.shared.b32 [both], 1;")
            KERNEL("two", ".shared .b64 own; st.shared.b64 [own], 1; call f, ();"
                          "st.shared.b32 [both+4], 1; mov.b32 a, open;") KERNEL("none", "");
    OWNED_OUTCOME made = make(ptx, "sm_90"), old = make(ptx, "sm_75");
    FREED char *code = code_of(&made, ".text.two");

    ck_assert_uint_eq(section(&made, ".nv.shared.one")->size, 0x400 + 24);
    ck_assert_uint_eq(section(&made, ".nv.shared.one")->alignment, 16);
    /* own, then both, then inside, and room up to what is open */
    ck_assert_uint_eq(section(&made, ".nv.shared.two")->size, 0x440);
    ck_assert_uint_eq(section(&made, ".nv.shared.two")->alignment, 32);
    ck_assert(!has_section(&made, ".nv.shared.none"));
    ck_assert_msg(strstr(code, "[shared(0x400)]") && strstr(code, "[shared(0x414)+4]") &&
                      strstr(code, "[shared(0x428)]") && strstr(code, "shared(0x440)\n"),
                  "%s", code);
    ck_assert_uint_eq(section(&old, ".nv.shared.one")->size, 24);
}

TEST(what_the_driver_fills_in_has_relocations)
{
    OWNED_OUTCOME made = make(
        HEADER ".extern .func g(.param .b32 n);\n.visible .global .b32 v = 1;\n"
               ".const .b32 c[4] = {1, 2, 3, 4};\n"
               ".global .u64 at = v;\n" KERNEL("k", "ld.global.b32 a, [v+4]; ld.const.b32 a, [c+8];"
                                                    "{ .param .b32 n; call g, (n); }"),
        "sm_90");
    const struct cubin_section *relocations = section(&made, ".rela.text.k");
    struct bytes graph = section(&made, ".nv.callgraph")->data;
    FREED char *code = code_of(&made, ".text.k");

    ck_assert_uint_eq(relocations->relocation_count, 3); /* both halves of v's address, and g */
    ck_assert_uint_eq(section(&made, ".rela.nv.global.init")->relocation_count, 1);
    ck_assert_uint_eq(symbol(&made, "g")->section, SHN_UNDEF);
    ck_assert_uint_eq(symbol(&made, "v")->type, STT_OBJECT);
    ck_assert_msg(strstr(code, "[c[0x3][0x8]") != NULL, "%s", code);
    ck_assert_uint_eq(graph.size, 40);
}

static const struct {
    const char *ptx;
    const char *why;
} others[] = {
    {INNER, "it has no kernel"},
    {".func f(); .func g() { call f, (); ret; } .func f() { call g, (); ret; }\n" KERNEL(
         "k", "call f, ();"),
     "functions call each other in a ring"},
    {".func f() { call f, (); ret; }\n" KERNEL("k", "call f, ();"),
     "functions call each other in a ring"},
    {INNER KERNEL("k", "mov.b64 q, inner;"),
     "it takes the address of a function, or calls a kernel"},
    {INNER ".global .u64 v = inner;\n" KERNEL("k", ""), "the address of a function is data"},
    {KERNEL("k", "p: .callprototype _ (); call q, (), p;"), "it calls by address"},
    {".global .texref t;\n" KERNEL("k", ""), "it has textures, samplers or surfaces"},
    {".extern .global .b32 v;\n" KERNEL("k", ""), "a variable is defined elsewhere"},
    {".common .global .b32 v;\n" KERNEL("k", ""), "a variable is defined elsewhere"},
    {".func f() { ret; } .func g(); .alias g, f;\n" KERNEL("k", "call g, ();"),
     "a function has an alias"},
    {".shared .b8 v[50000];\n" KERNEL("k", "st.shared.b8 [v], 1;"),
     "a kernel has much shared memory"},
};

TEST_LOOP(what_a_linker_must_make_is_relocatable, COUNT(others))
{
    OWNED_OUTCOME made;

    made = make(suite_print(HEADER "%s", others[_i].ptx), "sm_90");
    ck_assert_uint_eq(made.cubin.type, ET_REL);
    ck_assert_msg(strstr(made.result.log, others[_i].why) != NULL, "not '%s':\n%s", others[_i].why,
                  made.result.log);
}
