/* check_quick.c: the short way through common instructions (parse_quick.c) says what the long way
 * says. A comment before the semicolon sends an instruction the long way, so every line is parsed
 * with and without one, behind others of its opcode, from which the short way knows its spelling.
 */
#include "bodies.h"
#include "suite.h"
#include "verdict.h"

#define MOST_LINES 4000

static struct parsed parsed, other;
static char *frame, *right, *wrong;
static const char *right_lines[MOST_LINES], *wrong_lines[MOST_LINES];
static size_t right_count, wrong_count;

/* Cuts the text into lines, without what stands before `mark`. */
static size_t cut_lines(char *text, const char *mark, const char **lines)
{
    size_t count = 0;

    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *begin = mark ? strstr(line, mark) : line;

        ck_assert(begin && count < MOST_LINES);
        lines[count++] = begin + (mark ? strlen(mark) : 0);
    }
    return count;
}

static void setup(void)
{
    char *mark;

    frame = verdict_read("fixtures/language/frame.ptx");
    right = verdict_read("fixtures/language/right.txt");
    wrong = verdict_read("fixtures/language/wrong.txt");
    ck_assert(frame && right && wrong);
    mark = strstr(frame, "@@");
    ck_assert(mark);
    *mark = '\0';
    right_count = cut_lines(right, ": ", right_lines);
    wrong_count = cut_lines(wrong, NULL, wrong_lines);
}

static void teardown(void)
{
    free(frame);
    free(right);
    free(wrong);
    context_shutdown();
}

static void compare_operands(const struct operand *a, const struct operand *b, size_t count);

static void compare_operand(const struct operand *a, const struct operand *b)
{
    ck_assert_uint_eq(a->kind, b->kind);
    ck_assert_int_eq(a->is_negated, b->is_negated);
    ck_assert_int_eq(a->is_inverted, b->is_inverted);
    ck_assert_uint_eq(a->immediate_bits, b->immediate_bits);
    ck_assert_uint_eq(a->component_kind, b->component_kind);
    ck_assert_uint_eq(a->component, b->component);
    ck_assert_uint_eq(a->reg, b->reg);
    ck_assert_uint_eq(a->symbol, b->symbol);
    ck_assert_uint_eq(a->label, b->label);
    ck_assert_int_eq(a->value, b->value);
    ck_assert_uint_eq(a->element_count, b->element_count);
    ck_assert(text_equal(a->text, b->text));
    compare_operands(a->elements, b->elements, a->element_count);
}

static void compare_operands(const struct operand *a, const struct operand *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        compare_operand(&a[i], &b[i]);
}

static void compare_instruction(const struct instruction *a, const struct instruction *b)
{
    ck_assert_uint_eq(a->opcode, b->opcode);
    ck_assert_uint_eq(a->modifier_count, b->modifier_count);
    for (unsigned i = 0; i < a->modifier_count; i++)
        ck_assert_uint_eq(a->modifiers[i], b->modifiers[i]);
    ck_assert_uint_eq(a->guard, b->guard);
    ck_assert_int_eq(a->guard_negated, b->guard_negated);
    ck_assert_uint_eq(a->results, b->results);
    ck_assert_int_eq(a->is_accumulate, b->is_accumulate);
    ck_assert_uint_eq(a->line, b->line);
    ck_assert_uint_eq(a->operand_count, b->operand_count);
    compare_operands(a->operands, b->operands, a->operand_count);
}

/* Both ways through `line`, behind `before`. */
static void compare(const char *before, const char *line)
{
    const char *begin = strstr(frame, ".reg .pred");
    char *quick, *slow;

    ck_assert_int_gt(asprintf(&quick, "{%s%s\n%s;\n%s ;\n L: ret; }", begin, before, line, line),
                     0);
    ck_assert_int_gt(
        asprintf(&slow, "{%s%s\n%s/**/;\n%s /**/;\n L: ret; }", begin, before, line, line), 0);
    bodies_parse(&parsed, text_of(quick));
    bodies_parse(&other, text_of(slow));
    ck_assert_msg(parsed.ok == other.ok, "%s", line);
    ck_assert_msg(parsed.messages.text.size == other.messages.text.size || strstr(line, "//") ||
                      !parsed.ok,
                  "%s", line);
    ck_assert_uint_eq(parsed.messages.errors, other.messages.errors);
    ck_assert_uint_eq(parsed.body.instruction_count, other.body.instruction_count);
    ck_assert_uint_eq(parsed.body.register_count, other.body.register_count);
    for (size_t i = 0; parsed.ok && i < parsed.body.instruction_count; i++)
        compare_instruction(&parsed.body.instructions[i], &other.body.instructions[i]);
    bodies_free(&parsed);
    bodies_free(&other);
    free(quick);
    free(slow);
}

START_TEST(what_is_right_means_the_same)
{
    for (size_t i = 0; i < right_count; i++)
        compare("", right_lines[i]);
}
END_TEST

/* "add" of "add.s32 %r1, %r2, %r3" */
static size_t opcode_size(const char *line)
{
    return strcspn(line, ". ");
}

/* All right lines of the opcode, so that every spelling of it is known. */
static char *lines_like(const char *line)
{
    struct buffer text = {0};

    for (size_t i = 0; i < right_count; i++)
        if (opcode_size(right_lines[i]) == opcode_size(line) &&
            strncmp(right_lines[i], line, opcode_size(line)) == 0)
            buffer_printf(&text, "%s;\n", right_lines[i]);
    buffer_char(&text, '\0');
    return buffer_take(&text, NULL);
}

START_TEST(what_is_wrong_stays_wrong)
{
    for (size_t i = 0; i < wrong_count; i++) {
        char *before = lines_like(wrong_lines[i]);

        compare(before, wrong_lines[i]);
        compare("", wrong_lines[i]);
        free(before);
    }
}
END_TEST

START_TEST(every_notation_means_the_same)
{
    static const char *const notations[] = {
        "%r1",
        "%r01",
        "%r1.x",
        "%r1 .x",
        "%v1.x",
        "%r40",
        "%r999999999",
        "%r9999999999",
        "%r",
        "%",
        "%rr1",
        "%R1",
        "%rd1",
        "%p1",
        "!%p1",
        "! %p1",
        "!%r1",
        "-%r1",
        "%f1",
        "%fd1",
        "%h1",
        "%q1",
        "0",
        "00",
        "07",
        "08",
        "1",
        "-1",
        "- 1",
        "--1",
        "+1",
        "-0",
        "1U",
        "0x10",
        "0X10",
        "0b1",
        "123456789012345678",
        "1234567890123456789",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "999999999999999999",
        "1+1",
        "1 + 1",
        "1.",
        "1.5",
        "1e3",
        "0f3f800000",
        "0F3F800000",
        "0f3F80000",
        "0f3F8000000",
        "0f3F80000G",
        "0d3FF0000000000000",
        "0d3FF",
        "0d3FF00000000000000",
        "0f",
        "0d",
        "gv",
        "lv",
        "nil",
        "_",
        "__",
        "%tid.x",
        "%laneid",
        "WARP_SZ",
        "{%r1, %r2}",
        "{%r1}",
        "[%r1]",
        "[%rd1]",
        "[ %rd1 ]",
        "[%rd1+4]",
        "[%rd1 + 4]",
        "[%rd1+-4]",
        "[%rd1-4]",
        "[%rd1+04]",
        "[%rd1+0x4]",
        "[%rd1+4+4]",
        "[%rd1+%r1]",
        "[%rd1+]",
        "[%rd1",
        "[%f1]",
        "[%p1]",
        "[gv]",
        "[gv+4]",
        "[gv+-4]",
        "[gv-4]",
        "[sv]",
        "[lv]",
        "[cv]",
        "[fn]",
        "[nil]",
        "[4]",
        "[]",
        "[kernel_param_0]",
        "[kernel_param_0+4]",
        "[_]",
        "Q1",
        "$Q1",
        "%Q1",
        "1Q",
        "",
        "%r1, %r2",
        "%r1,",
        "%r1|%p1",
        "%p1|%p2",
        "%r1 %r2",
        "%r1;;",
        "%r1/**/",
        "%r1\t",
        "%r1\n",
    };
    static const char *const forms[] = {
        "mov.b32 %%r1, %s",
        "mov.b64 %%rd1, %s",
        "mov.f32 %%f1, %s",
        "mov.f64 %%fd1, %s",
        "mov.pred %%p1, %s",
        "add.s32 %%r1, %%r2, %s",
        "add.s32 %s, %%r1, %%r2",
        "add.f32 %%f1, %%f2, %s",
        "and.pred %%p1, %%p2, %s",
        "ld.global.b32 %%r1, %s",
        "ld.b32 %%r1, %s",
        "ld.param.b64 %%rd1, %s",
        "st.global.b32 %s, %%r1",
        "st.shared.b32 %s, 5",
        "st.local.b32 %s, %%r1",
        "setp.eq.s32 %s, %%r1, %%r2",
        "bra %s",
        "bra.uni %s",
        "@%%p1 bra %s",
        "bar.sync %s",
        "shl.b32 %%r1, %%r2, %s",
    };
    static const char known[] =
        "mov.b32 %r1, %r2; mov.b64 %rd1, %rd2; mov.f32 %f1, %f2; mov.f64 %fd1, %fd2; mov.pred %p1, "
        "%p2;"
        "add.s32 %r1, %r2, %r3; add.f32 %f1, %f2, %f3; and.pred %p1, %p2, %p3; ld.b32 %r1, [%rd1];"
        "ld.global.b32 %r1, [%rd1]; ld.param.b64 %rd1, [kernel_param_0]; st.global.b32 [%rd1], %r1;"
        "st.shared.b32 [%r1], 5; st.local.b32 [%rd1], %r1; setp.eq.s32 %p1, %r1, %r2; bra Q1; "
        "bra.uni Q1;"
        "bar.sync 0; shl.b32 %r1, %r2, 3;";
    char line[200];

    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        for (size_t k = 0; k < sizeof notations / sizeof notations[0]; k++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(line, sizeof line, forms[i], notations[k]);
#pragma GCC diagnostic pop
            compare(known, line);
        }
}
END_TEST

/* A register that an inner block declares alone is not one of the range. */
START_TEST(names_in_blocks_hide_ranges)
{
    bodies_parse(&parsed,
                 TEXT("{ .reg .b32 %r<4>; .reg .b64 %rd<4>; mov.b32 %r1, %r2; mov.b64 %rd1, 0;"
                      "{ .reg .b64 %r1; mov.b64 %r1, %rd1; } mov.b32 %r1, %r2;"
                      "{ .reg .b64 %r<2>; mov.b64 %r1, %rd1; mov.b32 %r3, 1; } mov.b32 %r1, 1; }"));
    ck_assert_msg(parsed.ok, "%.*s", TEXT_ARG(buffer_view(&parsed.messages.text)));
    ck_assert_uint_eq(parsed.body.instruction_count, 7);
    const struct instruction *list = parsed.body.instructions;
    ck_assert_uint_eq(list[3].operands[0].reg, list[0].operands[0].reg);
    ck_assert_uint_eq(list[6].operands[0].reg, list[0].operands[0].reg);
    ck_assert_uint_ne(list[2].operands[0].reg, list[0].operands[0].reg);
    ck_assert_uint_ne(list[4].operands[0].reg, list[0].operands[0].reg);
    ck_assert_uint_ne(list[4].operands[0].reg, list[2].operands[0].reg);
    bodies_free(&parsed);
}
END_TEST

Suite *check_suite(void)
{
    Suite *suite = suite_create("quick");
    TCase *both = tcase_create("both ways");

    tcase_add_checked_fixture(both, setup, teardown);
    tcase_add_test(both, what_is_right_means_the_same);
    tcase_add_test(both, what_is_wrong_stays_wrong);
    tcase_add_test(both, every_notation_means_the_same);
    tcase_add_test(both, names_in_blocks_hide_ranges);
    tcase_set_timeout(both, 600);
    suite_add_tcase(suite, both);
    return suite;
}
