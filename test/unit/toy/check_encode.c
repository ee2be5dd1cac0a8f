/* check_encode.c: instructions to words and back. */
#include "bodies.h"

#include "cubin/format.h"
#include "toy/encode.h"
#include "language/syntax.h"
#include "files.h"
#include "suite.h"
#include "verdict.h"

struct encoded {
    struct buffer code;
    struct code_relocations relocations;
};

static struct parsed parsed;
static struct encoded encoded;

void tear_down(void)
{
    bodies_free(&parsed);
    buffer_free(&encoded.code);
    parsed = (struct parsed){0};
    encoded = (struct encoded){0};
}

static bool encode(struct body *body)
{
    bool ok;

    diag_state_get()->sink = &parsed.messages;
    ok = encode_body(body, "test.ptx", &encoded.code, &encoded.relocations);
    diag_state_get()->sink = NULL;
    return ok;
}

/* The contents of a fixture without its final line end. */
static struct buffer load_body(const char *name)
{
    struct buffer file = files_load(suite_print("fixtures/instructions/%s", name));

    while (file.size && file.data[file.size - 1] == '\n')
        file.size--;
    return file;
}

static void assemble(struct text text)
{
    bodies_parse(&parsed, text);
    ck_assert_msg(parsed.ok, "%.*s", TEXT_ARG(buffer_view(&parsed.messages.text)));
    bodies_allocate(&parsed.body);
    ck_assert(encode(&parsed.body));
}

/* What the code of a body should be printed as, by what the allocator gave. */
static void expect_operand(struct buffer *out, const struct instruction *instruction,
                           const struct operand *operand, bool is_inner);

static void expect_register(struct buffer *out, uint32_t index)
{
    const struct virtual_register *reg = &parsed.body.registers[index];
    static const unsigned widths[] = {1, 1, 2, 4};
    bool is_spilled = reg->physical >= REGISTERS_SPILLED;
    unsigned number = reg->physical - (is_spilled ? REGISTERS_SPILLED : 0);
    char letter = is_spilled ? 'S' : reg->class == REGISTER_PREDICATE ? 'P' : 'R';

    buffer_printf(out, "%c%u", letter, number);
    if (widths[reg->class] > 1)
        buffer_printf(out, ":%c%u", letter, number + widths[reg->class] - 1);
}

static void expect_number(struct buffer *out, int64_t value)
{
    buffer_printf(out, value >= -65536 && value <= 65536 ? "%lld" : "0x%llx", (long long)value);
}

static void expect_distance(struct buffer *out, uint64_t to, uint64_t from)
{
    if (to < from)
        buffer_printf(out, ".-0x%llx", (unsigned long long)(from - to));
    else
        buffer_printf(out, ".+0x%llx", (unsigned long long)(to - from));
}

static void expect_reference(struct buffer *out, const struct operand *operand)
{
    const struct body_symbol *symbol = &parsed.body.symbols[operand->symbol];
    uint64_t place = (uint64_t)operand->value + symbol->offset;
    bool is_own = symbol->is_parameter || symbol->is_return;

    if (!symbol->is_function && symbol->space == PTX_SPACE_LOCAL)
        buffer_printf(out, "local+0x%llx", (unsigned long long)place);
    else if (!symbol->is_function && symbol->space == PTX_SPACE_PARAM)
        buffer_printf(out, "%s+0x%llx", is_own ? "param" : "argument", (unsigned long long)place);
    else {
        buffer_text(out, symbol->name);
        if (operand->value > 0)
            buffer_char(out, '+');
        if (operand->value)
            expect_number(out, operand->value);
    }
}

static void expect_elements(struct buffer *out, const struct instruction *instruction,
                            const struct operand *elements, uint32_t count, const char *separator)
{
    for (uint32_t i = 0; i < count; i++) {
        buffer_string(out, i ? separator : "");
        expect_operand(out, instruction, &elements[i], true);
    }
}

static bool has_list; /* the current instruction, of a table */

/* The first use of a table has the list, others the place of that instruction. */
static void expect_label(struct buffer *out, const struct instruction *instruction, uint32_t index,
                         bool is_inner)
{
    const struct label *label = &parsed.body.labels[index];

    if (label->targets && !is_inner) {
        if (label->holder != instruction->address || has_list) {
            expect_distance(out, label->holder, instruction->address);
            return;
        }
        has_list = true;
        buffer_char(out, '(');
        expect_elements(out, instruction, label->targets, label->target_count, ", ");
        buffer_char(out, ')');
        return;
    }
    expect_distance(out,
                    label->instruction < parsed.body.instruction_count
                        ? parsed.body.instructions[label->instruction].address
                        : encoded.code.size,
                    instruction->address);
}

static void expect_address(struct buffer *out, const struct instruction *instruction,
                           const struct operand *operand)
{
    buffer_char(out, '[');
    if (operand->symbol != NO_INDEX) {
        expect_reference(out, operand);
    } else if (operand->reg != NO_INDEX) {
        expect_register(out, operand->reg);
        if (operand->value)
            buffer_string(out, operand->value > 0 ? "+" : "");
        if (operand->value)
            expect_number(out, operand->value);
    } else {
        expect_number(out, operand->value);
    }
    buffer_string(out, operand->element_count ? ", " : "");
    expect_elements(out, instruction, operand->elements, operand->element_count, ", ");
    buffer_string(out, operand->part == PART_UNIFIED ? "].unified" : "]");
}

static void expect_component(struct buffer *out, const struct operand *operand)
{
    unsigned digits = operand->component >> 12;
    char letter = operand->part == PART_BYTES ? 'b' : 'h';

    if (operand->component == 0)
        return;
    if (operand->part == PART_LANE)
        buffer_printf(out, ".%c", "xyzw"[(operand->component - 1) & 3]);
    else if (digits == 0)
        buffer_printf(out, ".%c%u", letter, operand->component - 1u);
    else
        buffer_printf(out, ".%c", letter);
    for (; operand->part != PART_LANE && digits-- > 0;)
        buffer_printf(out, "%u", operand->component >> (3 * digits) & 7);
}

static void expect_operand(struct buffer *out, const struct instruction *instruction,
                           const struct operand *operand, bool is_inner)
{
    bool is_pair = operand->part == PART_PAIR, is_list = operand->kind == OPERAND_LIST;

    buffer_string(out, operand->is_negated ? "-" : "");
    buffer_string(out, operand->is_inverted ? "!" : "");
    switch (operand->kind) {
    case OPERAND_REGISTER:
        expect_register(out, operand->reg);
        expect_component(out, operand);
        break;
    case OPERAND_IMMEDIATE:
        if (operand->immediate_bits == 32)
            buffer_printf(out, "0f%08X", (unsigned)operand->value);
        else if (operand->immediate_bits == 64)
            buffer_printf(out, "0d%016llX", (unsigned long long)operand->value);
        else
            expect_number(out, operand->value);
        break;
    case OPERAND_SPECIAL:
        buffer_string(out, words_name(&special_words, (uint16_t)operand->label));
        break;
    case OPERAND_SYMBOL:
        expect_reference(out, operand);
        break;
    case OPERAND_ADDRESS:
        expect_address(out, instruction, operand);
        break;
    case OPERAND_LABEL:
        expect_label(out, instruction, operand->label, is_inner);
        break;
    case OPERAND_VECTOR:
    case OPERAND_LIST:
        buffer_string(out, is_pair ? "" : is_list ? "(" : "{");
        expect_elements(out, instruction, operand->elements, operand->element_count,
                        is_pair ? "|" : ", ");
        buffer_string(out, is_pair ? "" : is_list ? ")" : "}");
        break;
    default:
        buffer_string(out, operand->kind == OPERAND_NAME ? "prototype" : "_");
    }
}

static void expect_instruction(struct buffer *out, const struct instruction *instruction)
{
    if (instruction->guard != NO_INDEX) {
        buffer_string(out, instruction->guard_negated ? "@!" : "@");
        expect_register(out, instruction->guard);
        buffer_char(out, ' ');
    }
    has_list = false;
    buffer_string(out, opcode_get(instruction->opcode)->name);
    for (unsigned i = 0; i < instruction->modifier_count; i++)
        buffer_printf(out, ".%s", modifier_name(instruction->modifiers[i]));
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        buffer_string(out, i ? ", " : " ");
        expect_operand(out, instruction, &instruction->operands[i], false);
    }
    buffer_char(out, '\0');
}

static const char *name_at(void *unused, uint64_t offset)
{
    (void)unused;
    for (size_t i = 0; i < encoded.relocations.count; i++)
        if (encoded.relocations.list[i].offset == offset) {
            return suite_print("%.*s", TEXT_ARG(encoded.relocations.list[i].symbol->name));
        }
    return NULL;
}

/* Prints all of the code and compares it, and its addresses, with the body. */
static void check_code(const struct body *body)
{
    size_t at = 0;

    for (size_t i = 0; i < body->instruction_count; i++) {
        OWNED(buffer) expected = {0}, out = {0};
        size_t size = encode_print(buffer_bytes(&encoded.code), at, &out, name_at, NULL);

        expect_instruction(&expected, &body->instructions[i]);
        buffer_char(&out, '\0');
        ck_assert_str_eq(out.data, expected.data);
        ck_assert_uint_gt(size, 0);
        ck_assert_uint_eq(body->instructions[i].address, at);
        at += size;
    }
    ck_assert_uint_eq(at, encoded.code.size);
}

TEST_LOOP(whole_bodies_come_back, 4)
{
    static const char *const names[] = {"arithmetic.body", "memory.body", "control.body",
                                        "tensor.body"};
    OWNED(buffer) file = load_body(names[_i]);

    assemble(buffer_view(&file));
    check_code(&parsed.body);
}

/* Every form of the language prints as it was written. */
TEST(instructions_of_every_form_come_back)
{
    char *frame = verdict_read("fixtures/language/frame.ptx"), *begin, *mark, *rest;
    FREED char *lines = verdict_read("fixtures/language/right.txt");

    ck_assert(frame && lines);
    begin = strstr(frame, ".reg .pred");
    mark = strstr(frame, "@@");
    ck_assert(begin && mark);
    *mark = '\0';
    rest = lines;
    while (*rest) {
        const char *line = rest + strcspn(rest, " ") + 1;
        char *text;

        rest += strcspn(rest, "\n");
        if (*rest)
            *rest++ = '\0';
        size_t before = strcspn(line, "[");
        bool is_parameter = strncmp(line + before, "[p0]", 4) == 0;

        ck_assert_int_gt(asprintf(&text, "{%s%.*s%s%s; L: ret; }", begin, (int)before, line,
                                  is_parameter ? "[kernel_param_0]" : "",
                                  line + before + (is_parameter ? 4 : 0)),
                         0);
        assemble(text_of(text));
        check_code(&parsed.body);
        tear_down();
        free(text);
    }
    free(frame);
}

static const struct {
    const char *instruction;
    const char *printed;
} prints[] = {
    {"add.s32 %r1, %r2, %r3", "add.s32 R4, R5, R6"},
    {"fma.rn.ftz.f32 %r1, %r2, %r3, %r1", "fma.rn.ftz.f32 R4, R5, R6, R4"},
    {"@!%p1 add.s32 %r1, %r2, -2048", "@!P0 add.s32 R4, R5, -2048"},
    {"add.s32 %r1, %r2, 2048", "add.s32 R4, R5, 2048"},
    {"add.s64 %rd1, %rd2, 0x123456789abcdef", "add.s64 R4:R5, R6:R7, 0x123456789abcdef"},
    {"ld.global.b32 %r1, [%rd1]", "ld.global.b32 R4, [R4:R5]"},
    {"ld.global.b32 %r1, [%rd1+16]", "ld.global.b32 R4, [R4:R5+16]"},
    {"ld.global.b32 %r1, [%rd1-16]", "ld.global.b32 R4, [R4:R5-16]"},
    {"ld.param.b32 %r1, [kernel_param_1+4]", "ld.param.b32 R4, [param+0x21c]"},
    {"ld.global.b32 %r1, [gx+4]", "ld.global.b32 R4, [gx+4]"},
    {"ld.const.b32 %r1, [cx]", "ld.const.b32 R4, [cx]"},
    {"ld.shared.b32 %r1, [sx]", "ld.shared.b32 R4, [sx]"},
    {"mov.b64 %rd1, {%r1, %r2}", "mov.b64 R4:R5, {R4, R5}"},
    {"mov.b32 %r1, 0f3F800000", "mov.b32 R4, 0f3F800000"},
    {"mov.b64 %rd1, 0d3FF0000000000000", "mov.b64 R4:R5, 0d3FF0000000000000"},
    {"mov.u32 %r1, %tid.x", "mov.u32 R4, %tid.x"},
    {"mov.b128 %q, %q", "mov.b128 R4:R7, R4:R7"},
    {"call (%r1), fx, (%r2)", "call (R4), fx, (R5)"},
    {"shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1", "shfl.sync.bfly.b32 R4|P0, R5, 1, 31, -1"},
    {"setp.lt.s32 %p1, %r1, 0", "setp.lt.s32 P0, R4, 0"},
    {"L: bra L", "bra .+0x0"},
    {"ld.b32 %r2, [%rd1+-4]", "ld.b32 R4, [R4:R5-4]"},
    {"ld.b32 %r2, [16]", "ld.b32 R4, [16]"},
    {"ld.b32 %r2, [%r1+0x10]", "ld.b32 R4, [R5+16]"},
    {"ld.b32 %r2, [ gx ]", "ld.b32 R4, [gx]"},
    {"ld.global.L2::cache_hint.b32 %r1, [%rd1].unified, %rd2",
     "ld.global.L2::cache_hint.b32 R4, [R4:R5].unified, R6:R7"},
    {"tex.2d.v4.f32.f32 {%r1,%r2,_,%r3}|%p1, [%rd1, %rd2, {%r4, %r5}]",
     "tex.2d.v4.f32.f32 {R4, R5, _, R6}|P0, [R4:R5, R6:R7, {R7, R8}]"},
    {"setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3", "setp.lt.and.s32 P0|P1, R4, R5, !P2"},
    {"vmad.s32.s32.s32 %r1, %r2, -%r3, %r4", "vmad.s32.s32.s32 R4, R5, -R6, R7"},
    {"vadd4.u32.u32.u32 %r1.b210, %r2.b3, %v.w, %r3.h10",
     "vadd4.u32.u32.u32 R4.b210, R5.b3, R8:R11.w, R6.h10"},
    {"mov.v4.u32 %v, %tid", "mov.v4.u32 R8:R11, %tid"},
    {"mov.u64 %rd1, %clock64", "mov.u64 R4:R5, %clock64"},
    {"mov.u64 %rd1, %pm7_64", "mov.u64 R4:R5, %pm7_64"},
    {"mov.u32 %r1, %cluster_nctaid.z", "mov.u32 R4, %cluster_nctaid.z"},
    {"mov.u32 %r1, %envreg31", "mov.u32 R4, %envreg31"},
    {"mov.u32 %r1, WARP_SZ", "mov.u32 R4, WARP_SZ"},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [%r2]",
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [R4], [R4:R5], 16, [R5]"},
    {"call.uni (%r1), fx, (%r2, 7, gx)", "call.uni (R4), fx, (R5, 7, gx)"},
    {"mov.u64 %rd1, fx", "mov.u64 R4:R5, fx"},
};

TEST_LOOP(instructions_print_as_ptx_with_physical_registers, COUNT(prints))
{
    OWNED(buffer) out = {0};
    size_t size;

    assemble(text_of(
        suite_print("{ .reg .pred %%p<4>; .reg .b32 %%r<9>; .reg .b64 %%rd<9>; .reg .b128 %%q;"
                    ".reg .v4 .b32 %%v; %s; }",
                    prints[_i].instruction)));
    size = encode_print(buffer_bytes(&encoded.code), 0, &out, name_at, NULL);
    ck_assert_uint_eq(size, encoded.code.size);
    buffer_char(&out, '\0');
    ck_assert_str_eq(out.data, prints[_i].printed);
}

TEST(relocations_have_the_types_and_places_of_sm_90)
{
    static const struct {
        uint64_t offset;
        uint32_t type;
        ptrdiff_t symbol;
        int64_t addend;
    } expected[] = {
        {0x020, R_CUDA_ABS32_LO_32, 2, 8}, {0x030, R_CUDA_ABS32_HI_32, 2, 8},
        {0x060, R_CUDA_ABS32_32, 3, 0},    {0x090, R_CUDA_CONST_FIELD21_38, 4, -4},
        {0x0b0, R_CUDA_ABS55_16_34, 5, 0}, {0x0e0, R_CUDA_ABS32_LO_32, 5, 0},
        {0x0f0, R_CUDA_ABS32_HI_32, 5, 0}, {0x150, R_CUDA_CONST_FIELD21_38, 6, 0},
    };

    assemble(
        TEXT("{ .reg .b32 %r; .reg .b64 %rd; ld.b32 %r, [gx+8]; ld.b32 %r, [sx];"
             "ld.const.b32 %r, [cx-4]; call fx; mov.b64 %rd, fx; ld.param.b32 %r, [kernel_param_0];"
             "txq.width.b32 %r, [tx]; }"));
    ck_assert_uint_eq(encoded.relocations.count, 8);
    for (size_t i = 0; i < 8; i++) {
        const struct code_relocation *found = &encoded.relocations.list[i];

        ck_assert_uint_eq(found->offset, expected[i].offset);
        ck_assert_uint_eq(found->type, expected[i].type);
        ck_assert_int_eq(found->symbol - parsed.body.symbols, expected[i].symbol);
        ck_assert_int_eq(found->addend, expected[i].addend);
    }
}

/* A linker writes only the fields; whatever it writes, the code stays readable. */
TEST(linked_fields_are_shown_when_there_is_no_name)
{
    static const char *const expected[] = {"ld.b32 R4, [shared(0x12345678)]",
                                           "ld.const.b32 R4, [c[0x3][0x1234]]"};
    OWNED(buffer) out = {0};
    size_t size;

    assemble(TEXT("{ .reg .b32 %r; ld.b32 %r, [sx]; ld.const.b32 %r, [cx]; }"));
    memcpy(encoded.code.data + 0x24, "\x78\x56\x34\x12", 4);
    for (unsigned i = 0; i < 4; i++) /* 0x1234 at bit 38, 3 at bit 54 */
        encoded.code.data[0x54 + i] = (char)((0x1234u << 6 | 3u << 22) >> (8 * i));
    for (unsigned i = 0; i < 2; i++) {
        out.size = 0;
        size = encode_print(buffer_bytes(&encoded.code), i * 0x30, &out, NULL, NULL);
        ck_assert_uint_eq(size, 0x30);
        buffer_char(&out, '\0');
        ck_assert_str_eq(out.data, expected[i]);
    }
}

TEST(a_table_of_targets_stands_in_the_code_once)
{
    size_t size;

    assemble(
        TEXT("{ .reg .b32 %r; T: .branchtargets A, B, C, A, B, C; A: brx.idx %r, T; B: C: ret; }"));
    size = encoded.code.size;
    tear_down();
    assemble(TEXT(
        "{ .reg .b32 %r; T: .branchtargets A, B, C, A, B, C; A: brx.idx %r, T; B: brx.idx %r, T;"
        " C: brx.idx %r, T; ret; }"));
    /* Each of the others takes its head, the register, and the place of the first. */
    ck_assert_uint_eq(encoded.code.size, size + 2 * 3 * 16);
    check_code(&parsed.body);
}

/* Whether an instruction is printed if its opcode or first modifier has this number. */
static bool is_printed(unsigned opcode, uint16_t modifier)
{
    struct code_head head;
    OWNED(buffer) out = {0};
    size_t size;

    assemble(TEXT("{ .reg .b32 %r; add.u32 %r, %r, %r; }"));
    memcpy(&head, encoded.code.data, sizeof head);
    head.opcode = opcode & 0xfff;
    memcpy(encoded.code.data, &head, sizeof head);
    memcpy(encoded.code.data + sizeof head, &modifier, sizeof modifier);
    size = encode_print(buffer_bytes(&encoded.code), 0, &out, NULL, NULL);
    tear_down();
    return size > 0;
}

TEST(numbers_behind_the_last_word_of_a_table_are_no_words)
{
    ck_assert(is_printed(opcode_words.count - 1, modifier_words.count - 1));
    ck_assert(!is_printed(opcode_words.count, 1));
    ck_assert(!is_printed(1, modifier_words.count));
}

/* A fixed sequence of numbers (xorshift). */
static uint64_t state;

static uint64_t number(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % below;
}

TEST(torn_and_random_words_are_no_instructions)
{
    OWNED(buffer) file = load_body("tensor.body");
    struct bytes code;
    OWNED(buffer) out = {0};

    assemble(buffer_view(&file));
    code = buffer_bytes(&encoded.code);
    ck_assert_uint_eq(encode_print(code, code.size, &out, NULL, NULL), 0);
    ck_assert_uint_eq(encode_print(code, SIZE_MAX, &out, NULL, NULL), 0);
    for (size_t i = 0; i < parsed.body.instruction_count; i++) {
        size_t at = parsed.body.instructions[i].address;
        size_t size = encode_print(code, at, &out, NULL, NULL);

        for (size_t cut = 0; cut < size; cut++)
            ck_assert_uint_eq(
                encode_print((struct bytes){code.data, at + cut}, at, &out, NULL, NULL), 0);
    }
    state = 1234567;
    for (int i = 0; i < 20000; i++) { /* damaged code must be survived */
        size_t at = parsed.body.instructions[number(parsed.body.instruction_count)].address;
        size_t place = at + number(64);
        char old = place < code.size ? encoded.code.data[place] : 0;

        if (place >= code.size)
            continue;
        encoded.code.data[place] = (char)number(256);
        encode_print(code, at, &out, NULL, NULL);
        encoded.code.data[place] = old;
        out.size = 0;
    }
}
