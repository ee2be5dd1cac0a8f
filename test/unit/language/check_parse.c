/* check_parse.c: bodies to instructions: what each notation becomes, and what is said of errors. */
#include "bodies.h"

#include "language/syntax.h"
#include "suite.h"

#define DECLARATIONS                                                                               \
    ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b128 %q;"         \
    ".reg .v4 .b32 %v;"

static struct parsed parsed;

static void parse(const char *text)
{
    bodies_parse(&parsed, text_of(text));
}

void tear_down(void)
{
    bodies_free(&parsed);
    parsed = (struct parsed){0};
}

static void parse_one(const char *instruction)
{
    parse(suite_print("{%s%s;}", DECLARATIONS, instruction));
    ck_assert_msg(parsed.ok, "%.*s", TEXT_ARG(buffer_view(&parsed.messages.text)));
    ck_assert_uint_eq(parsed.body.instruction_count, 1);
}

static struct operand *operand(unsigned index)
{
    ck_assert_uint_lt(index, parsed.body.instructions[0].operand_count);
    return &parsed.body.instructions[0].operands[index];
}

static struct text register_name(uint32_t index)
{
    ck_assert_uint_lt(index, parsed.body.register_count);
    return parsed.body.registers[index].name;
}

static const struct {
    const char *written;
    uint64_t value;
    uint8_t bits;
} immediates[] = {
    /* check_module.c has the arithmetic */
    {"12", 12, 0},
    {"-1", UINT64_MAX, 0},
    {"7U", 7, 0},
    {"0xffffffffffffffff", UINT64_MAX, 0},
    {"-9223372036854775808", UINT64_C(1) << 63, 0},
    {"0f3F800000", 0x3f800000, 32},
    {"-0d3FF0000000000000", UINT64_C(0xbff0000000000000), 64},
    {"(0f3F800000)", 0x3f800000, 32},
    {"0d3FF0000000000000", UINT64_C(0x3ff0000000000000), 64},
    {"1.5", UINT64_C(0x3ff8000000000000), 64},
    {"(3+4)*2", 14, 0},
    {"1.0<2.0?3:4", 3, 0},
    {"1?(3):4", 3, 0},
    {"0?3:(4)", 4, 0},
    {"(.s64)WARP_SZ", 32, 0},
};

TEST_LOOP(immediates_are_values_or_bit_patterns, COUNT(immediates))
{
    parse_one(suite_print("mov.%s, %s", immediates[_i].bits == 32 ? "b32 %r1" : "b64 %rd1",
                          immediates[_i].written));
    ck_assert_uint_eq(operand(1)->kind, OPERAND_IMMEDIATE);
    ck_assert_uint_eq((uint64_t)operand(1)->value, immediates[_i].value);
    ck_assert_uint_eq(operand(1)->immediate_bits, immediates[_i].bits);
}

TEST(calls_have_results_or_none)
{
    parse_one("call.uni (%r1), fcallee, (%r2, 7, gvar)");
    ck_assert_uint_eq(parsed.body.instructions[0].results, 1);
    tear_down();
    parse_one("call fcallee, (%r2)");
    ck_assert_uint_eq(parsed.body.instructions[0].results, 0);
}

TEST(indirect_calls_refer_to_their_prototype)
{
    parse("{" DECLARATIONS "call (%r1), %rd1, (%r2), proto;"
          "proto: .callprototype (.param .b32 _) _ (.param .b32 _);"
          "call %rd1, (%r2), targets; targets: .calltargets fone, ftwo; }");
    ck_assert(parsed.ok);
    ck_assert_uint_eq(parsed.body.instructions[0].operands[3].kind, OPERAND_NAME);
    ck_assert_uint_eq(parsed.body.instructions[0].operands[3].label, 0);
    ck_assert_uint_eq(parsed.body.labels[0].prototype->return_count, 1);
    ck_assert_uint_eq(parsed.body.labels[0].prototype->parameter_count, 2);
    ck_assert_uint_eq(parsed.body.labels[1].target_count, 2);
    ck_assert_uint_eq(parsed.body.symbol_count, 4);
}

TEST(inner_names_hide_outer_ones_until_their_block_ends)
{
    parse("{ .reg .b32 %r<4>, x; mov.b32 %r1, x; { .reg .b64 %r1; .reg .f32 x; mov.b64 %r1, 1;"
          " { .reg .b16 %r<2>; mov.b16 %r1, 1; mov.b32 %r3, x; } } mov.b32 %r1, x; }");
    ck_assert(parsed.ok);
    ck_assert_uint_eq(parsed.body.instruction_count, 5);
    for (unsigned i = 0; i < 5; i++) {
        static const uint8_t bits[] = {32, 64, 16, 32, 32};
        const struct operand *first = &parsed.body.instructions[i].operands[0];

        ck_assert_uint_eq(parsed.body.registers[first->reg].bits, bits[i]);
    }
    ck_assert_uint_eq(parsed.body.instructions[0].operands[0].reg,
                      parsed.body.instructions[4].operands[0].reg);
}

TEST(labels_belong_to_their_block)
{
    static const uint32_t expected[] = {4, 3, 3, 4};

    parse("{ bra A; { bra A; { bra A; } A: } bra A; A: ret; }");
    ck_assert(parsed.ok);
    for (unsigned i = 0; i < 4; i++) {
        const struct operand *target = parsed.body.instructions[i].operands;

        ck_assert_uint_eq(target->kind, OPERAND_LABEL);
        ck_assert_uint_eq(parsed.body.labels[target->label].instruction, expected[i]);
    }
}

TEST(only_named_registers_of_a_range_come_into_being)
{
    parse("{ .reg .b32 %r<2000000000>; .reg .b32 r1<9>, r<20>; mov.b32 %r1999999999, %r0;"
          "mov.b32 %r0, r12; mov.b32 r12, r19; }");
    ck_assert(parsed.ok);
    ck_assert_uint_eq(parsed.body.register_count, 4);
    ck_assert(text_equal(register_name(0), TEXT("%r1999999999")));
}

/* A register that an inner block declares alone is not one of the range. */
TEST(names_in_blocks_hide_ranges)
{
    const struct instruction *list;

    parse("{ .reg .b32 %r<4>; .reg .b64 %rd<4>; mov.b32 %r1, %r2; mov.b64 %rd1, 0;"
          "{ .reg .b64 %r1; mov.b64 %r1, %rd1; } mov.b32 %r1, %r2;"
          "{ .reg .b64 %r<2>; mov.b64 %r1, %rd1; mov.b32 %r3, 1; } mov.b32 %r1, 1; }");
    ck_assert_msg(parsed.ok, "%.*s", TEXT_ARG(buffer_view(&parsed.messages.text)));
    ck_assert_uint_eq(parsed.body.instruction_count, 7);
    list = parsed.body.instructions;
    ck_assert_uint_eq(list[3].operands[0].reg, list[0].operands[0].reg);
    ck_assert_uint_eq(list[6].operands[0].reg, list[0].operands[0].reg);
    ck_assert_uint_ne(list[2].operands[0].reg, list[0].operands[0].reg);
    ck_assert_uint_ne(list[4].operands[0].reg, list[0].operands[0].reg);
    ck_assert_uint_ne(list[4].operands[0].reg, list[2].operands[0].reg);
}

TEST(variables_of_the_body_become_symbols)
{
    const struct body_symbol *symbols;

    parse("{ .param .align 8 .b8 p[16]; .local .align 16 .b8 depot[64]; .shared .v2 .f32 s[3][4];"
          ".global .u32 x = 5, y[] = {1, {2}, (3)}; .const .f64 z; "
          ".global .attribute(.managed) .s8 m; }");
    ck_assert(parsed.ok);
    ck_assert_uint_eq(parsed.body.symbol_count, 9);
    symbols = parsed.body.symbols + 2;
    ck_assert(symbols[0].is_body_variable && !symbols[0].is_parameter);
    ck_assert_uint_eq(symbols[0].size, 16);
    ck_assert_uint_eq(symbols[1].alignment, 16);
    ck_assert_uint_eq(symbols[2].size, 96);
    ck_assert_uint_eq(symbols[2].alignment, 8);
    ck_assert(text_equal(symbols[3].item->variable.initialiser, TEXT("5")));
    ck_assert_uint_eq(symbols[4].size, 12);
    ck_assert(text_equal(symbols[4].item->variable.initialiser, TEXT("{1, {2}, (3)}")));
    ck_assert_uint_eq(symbols[5].space, PTX_SPACE_CONST);
}

TEST(lines_are_kept_and_locations_accepted)
{
    parse("{\n.loc 2 7 1\n nanosleep.u32 1;\n\n.loc 2 9 4, function_name $L__info_string0, "
          "inlined_at 1 2 3\n@!%p ret;}");
    ck_assert(!parsed.ok); /* %p is not declared */
    tear_down();
    parse("{\n.loc 2 7 1\n ret;\n\n.loc 2 9 4, function_name $L__info_string0+4, inlined_at 1 2 3\n"
          "exit;}");
    ck_assert(parsed.ok);
    ck_assert_uint_eq(parsed.body.instructions[0].line, 3);
    ck_assert_uint_eq(parsed.body.instructions[1].line, 6);
}

static const struct {
    const char *body; /* behind DECLARATIONS */
    const char *message;
} errors[] = {
    {"ad.s32 %r1, %r2, %r3;", "Unknown instruction 'ad'\n"},
    {"addd.s32 %r1, %r2, %r3;", "did you mean 'add'?"},
    {"add.s33 %r1, %r2, %r3;", "Unknown modifier '.s33'"},
    {"add.f32.ftzz %r1, %r2, %r3;", "did you mean 'ftz'?"},
    {"add.s32 %r1, %r2;", "'add' takes 3 operands here, not 2"},
    {"cp.async.wait_all 3;", "'cp' takes 0 operands here, not 1"},
    {"cp.async.ca.shared.global [%rd1], [%rd1], 0;", "'0': the value is out of range"},
    {"mov.b32 %r1, %r99;", "'%r99' is not declared"},
    {"mov.b32 %r1, %clok;", "did you mean '%clock'?"},
    {"mov.b32 %r01, 1;", "'%r01' is not declared"},
    {"bra nowhere;", "Label 'nowhere' is not defined here"},
    {"{ L: ret; } bra L;", "Label 'L' is not defined here"},
    {"L: ret; L: exit;", "Label 'L' is defined twice"},
    {"L: ret; { L: ret; } L: exit;", "Label 'L' is defined twice"},
    {"bra L; { L: ret; } { L: ret; }", "Label 'L' is not defined here"},
    {"T: .branchtargets L; L: bra T;", "Label 'T' is a table"},
    {"L: brx.idx %r1, L;", "Label 'L' has no table"},
    {".reg .b32 a, a;", "'a' is declared twice"},
    {".reg .b32 %r<3>;", "'%r' is declared twice"},
    {".reg .b64 %r3;", "'%r3' is declared twice"},
    {".shared .b32 v; .reg .b32 v;", "'v' is declared twice"},
    {".reg .b32 %r<-1>;", "expected a number of variables, not '-'"},
    {".reg .b32 w<4294967295>;", "a number of variables is too large"},
    {".reg .v8 .b32 w;", "expected a type, not '.v8'"},
    {".reg .v4 .b64 w;", "Vector type too large, exceeds 128 bit limit"},
    {".reg .b32 .align 4 w;", "expected the name of a variable, not '.align'"},
    {".local .b32 w<4000000000>;", "too many variables"},
    {".reg .b33 w;", "expected a type, not '.b33'"},
    {".shared .align 3 .b8 w[4];", "alignment is not a power of two"},
    {".shared .b64 w[1073741824][1073741824][1073741824];", "array is too large"},
    {".global .b32 w = {1, 2;", "expected ';' behind the initial value"},
    {".file 1 \"x\"", "'.file' is no directive"},
    {"@%r1 ret;", "Guard '%r1' is no predicate"},
    {"@%zz ret;", "Predicate '%zz' is not declared"},
    {"mov.b32 %r1, 99999999999999999999;", "Number of more than 64 bits at '99999999999999999999'"},
    {"mov.b32 %r1, 1/0;", "Constant expression has division by zero at '/'"},
    {"mov.b32 %r1, 1.5+2;", "Constant expression type mismatch at '+'"},
    {"mov.b32 %r1, 09;", "Malformed number at '09'"},
    {"ld.b32 %r1, [%rd1;", "expected ',', not ';'"},
    {"ld.b32 %r1, [%p1];", "'%p1' cannot hold an address"},
    {"ld.b32 %r1, [%rd1+1.5];", "An offset must be an integer"},
    {"mov.b64 %rd1, {%r1, {%r1, {{%r2, {{%r1}}}}}};", "Operand is nested too deeply"},
    {"mov.b64 %rd1, {{{{{%r1}}}}};", "Operand is nested too deeply"},
    {"mov.b64 %rd1, {{{{%r1}}}};", "'%r1': the register is too narrow"},
    {"mov.b32 %r1, ((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))));",
     "Expression nested too deeply at '('"},
    {"mov.b32 %r1, %r2.q;", "'.q' selects no part of a register"},
    {"mov.b32 %r1, %r2.b8;", "'.b8' selects no part of a register"},
    {"call gvar;", "'gvar' is not a function"},
    {"ret", "expected ';', not '}'"},
    {"mov.b32 %r1 \xc3\xa4;", "expected ','\n"},
    {"add.s32 %r1|%p1, %r2, %r3;", "expected ',', not '|'"},
    {"# ret;", "expected an instruction, not '#'"},
    {"/* never closed", "this comment does not end"},
    {"fma.rn.rn.rn.rn.rn.rn.rn.rn.rn.rn.rn.rn.rn.rn.rn.rn.rn %r1, %r1, %r1, %r1;",
     "at most 16 modifiers"},
};

TEST(as_many_registers_as_32_bits_count)
{
    parse("{ .reg .b32 w<4294967294>; mov.b32 w4294967293, 1; ret; }");
    ck_assert(parsed.ok);
}

TEST_LOOP(errors_say_what_is_wrong, COUNT(errors))
{
    static char text[4096];
    struct text messages;

    snprintf(text, sizeof text, "{%s\n%s}", DECLARATIONS, errors[_i].body);
    parse(text);
    ck_assert_msg(!parsed.ok, "accepted: %s", errors[_i].body);
    messages = buffer_view(&parsed.messages.text);
    ck_assert_msg(messages.size && memmem(messages.data, messages.size, errors[_i].message,
                                          strlen(errors[_i].message)),
                  "%s: %.*s", errors[_i].body, TEXT_ARG(messages));
    ck_assert(memmem(messages.data, messages.size, "test.ptx:2:", 11));
}

#define FOUR  "{%r1,%r1,%r1,%r1}"
#define EIGHT "{%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1}"
#define WMMA  "wmma.mma.sync.aligned.row.row.m16n16k16.f16.f32 "

static const struct fragment {
    const char *front, *behind;
    unsigned registers; /* of the vector between the two */
} fragments[] = {
    {"wmma.load.a.sync.aligned.col.m16n16k16.f16 ", ", [%rd1]", 8},
    {"wmma.load.a.sync.aligned.col.m8n32k16.s8 ", ", [%rd1]", 1},
    {"wmma.load.b.sync.aligned.col.m8n32k16.s8 ", ", [%rd1]", 4},
    {"wmma.load.c.sync.aligned.col.m16n16k16.f16 ", ", [%rd1]", 4},
    {"wmma.store.d.sync.aligned.col.m16n16k16.f16 [%rd1], ", "", 4},
    {WMMA, ", " EIGHT ", " EIGHT ", " EIGHT, 4},
    {WMMA FOUR ", ", ", " EIGHT ", " EIGHT, 8},
    {WMMA FOUR ", " EIGHT ", " EIGHT ", ", "", 8},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " FOUR ", " FOUR ", {%r1,%r1}, ", "", 4},
};

TEST_LOOP(fragments_of_matrices_have_their_numbers_of_registers, COUNT(fragments))
{
    const struct fragment *fragment = &fragments[_i];

    for (unsigned count = 1; count <= 16; count *= 2, tear_down()) {
        parse(suite_print("{%s%s{%.*s}%s;}", DECLARATIONS, fragment->front, 4 * (int)count - 1,
                          "%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1",
                          fragment->behind));
        ck_assert_msg(parsed.ok == (count == fragment->registers), "%s, %u: %.*s", fragment->front,
                      count, TEXT_ARG(buffer_view(&parsed.messages.text)));
    }
}

TEST(an_error_shows_its_place)
{
    struct text messages;

    parse("{ .reg .b32 r;\n\tadd.s32 r, r, q;\n}");
    ck_assert(!parsed.ok);
    messages = buffer_view(&parsed.messages.text);
    ck_assert(text_equal(messages, TEXT("minilink error   : test.ptx:2:16: 'q' is not declared\n"
                                        "    \tadd.s32 r, r, q;\n    \t              ^\n")));
}

TEST(one_error_does_not_bring_others)
{
    parse(
        "{ .reg .b32 r; ld.foo {r, r}, [r]; { .reg .b64 q; mov.b32 q, {; } mov.b32 r, nil; ret; }");
    ck_assert_uint_eq(parsed.messages.errors, 3);
    ck_assert_uint_eq(parsed.body.instruction_count, 1);
}

TEST(nor_does_one_in_a_declaration)
{
    parse("{ .shared .b33 w; .shared .b33 v[; T: .branchtargets 5, 6; ret; }");
    ck_assert_uint_eq(parsed.messages.errors, 3);
}

static const char *const torn[] = {"",
                                   "}",
                                   "{",
                                   "{{}",
                                   "{ ret; } ret;",
                                   "{ .reg",
                                   "{ .reg .b32 %r<",
                                   "{ .loc 1",
                                   "{ x:",
                                   "{ @",
                                   "{ call (",
                                   "{ ld [",
                                   "{ \"",
                                   "{ .x",
                                   "{ .global .b32 a =",
                                   "{ x: .callprototype",
                                   "{ x: .branchtargets"};

TEST_LOOP(torn_bodies_are_errors, COUNT(torn))
{
    parse(torn[_i]);
    ck_assert(!parsed.ok);
    ck_assert_uint_gt(parsed.messages.errors, 0);
}

/* Blocks in blocks, each with a use of an outer label and of an outer range. */
static void parse_nested(size_t depth)
{
    FREED char *text = malloc(depth * 64 + 64);
    size_t size = 0;

    ck_assert_ptr_nonnull(text);
    size += (size_t)sprintf(text, "{ .reg .b32 %%r<9>; L: ");
    for (size_t i = 0; i < depth; i++)
        size += (size_t)sprintf(text + size, "{.reg .b32 %%r<1>; mov.b32 %%r8, 0; bra L;");
    memset(text + size, '}', depth + 1);
    bodies_parse(&parsed, (struct text){text, size + depth + 1});
}

TEST(blocks_nest_up_to_a_limit)
{
    parse_nested(900);
    ck_assert(parsed.ok);
    ck_assert_uint_eq(parsed.body.instruction_count, 1800);
    ck_assert_uint_eq(parsed.body.register_count, 1);
    tear_down();
    parse_nested(200000);
    ck_assert(!parsed.ok);
    ck_assert_uint_eq(parsed.messages.errors, 1);
}
