/* Line information of the built-in assembler: a reader of DWARF finds each line at its code. */
#include "job_fixture.h"

#define PTX_HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define PTX                                                                                        \
    PTX_HEAD                                                                                       \
    ".file 7 \"src/a.cu\", 300, 128\n.file 2 \"b.h\"\n.file 3 \"/c.h\"\n"                          \
    ".file 8 \"d.h\"\n.file 9 \"e.h\"\n"                                                           \
    ".visible .func none() { ret; }\n"                                                             \
    ".visible .entry k() {\n.reg .b32 %r<3>;\n"                                                    \
    ".loc 7 10 5\nmov.u32 %r1, 1;\n"                                                               \
    ".loc 7 10 9\nadd.u32 %r2, %r1, 1;\n" /* the same line */                                      \
    ".loc 7 0 0\nadd.u32 %r2, %r2, 1;\n"  /* no line */                                            \
    ".loc 2 3 1\nadd.u32 %r2, %r2, 1;\n"                                                           \
    ".loc 7 900 1\nadd.u32 %r2, %r2, 1;\n"                                                         \
    ".loc 99 1 1\nadd.u32 %r2, %r2, 1;\n" /* a file that nobody declared */                        \
    ".loc 7 898 1\nret;\n}\n"                                                                      \
    ".visible .entry l() {\n.loc 3 5 1\nbar.sync 0;\n.loc 8 6 1\nret;\n}\n"

struct reader {
    const uint8_t *at;
    const uint8_t *end;
};

static uint8_t byte(struct reader *in)
{
    ck_assert(in->at < in->end);
    return *in->at++;
}

static uint64_t number(struct reader *in, unsigned size)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)byte(in) << (8 * i);
    return value;
}

static int64_t leb(struct reader *in, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t last;

    do {
        last = byte(in);
        value |= (uint64_t)(last & 0x7f) << shift;
        shift += 7;
    } while (last & 0x80);
    if (is_signed && (last & 0x40) && shift < 64)
        value |= ~UINT64_C(0) << shift;
    return (int64_t)value;
}

static const char *string(struct reader *in)
{
    const char *text = (const char *)in->at;

    while (byte(in))
        continue;
    return text;
}

/* The head of a unit, by the fields of DWARF 2, section 6.2.4, with its files as text. */
static struct reader head(struct reader *section, struct buffer *out)
{
    uint64_t length = number(section, 4);
    struct reader unit = {section->at, section->at + length};
    const uint8_t *program;

    ck_assert(length <= (uint64_t)(section->end - section->at));
    section->at += length;
    ck_assert_uint_eq(number(&unit, 2), 2);
    length = number(&unit, 4);
    program = unit.at + length;
    ck_assert_uint_eq(byte(&unit), 1);
    ck_assert_uint_eq(byte(&unit), 1);
    ck_assert_int_eq((int8_t)byte(&unit), -5);
    ck_assert_uint_eq(byte(&unit), 14);
    ck_assert_uint_eq(byte(&unit), 10);
    ck_assert_mem_eq(unit.at, "\0\1\1\1\1\0\0\0\1", 9);
    unit.at += 9;
    ck_assert_uint_eq(byte(&unit), 0); /* no directories */
    while (*unit.at) {
        const char *name = string(&unit);
        int64_t directory = leb(&unit, false), time = leb(&unit, false), size = leb(&unit, false);

        buffer_printf(out, "file %s in %d, %d %d\n", name, (int)directory, (int)time, (int)size);
    }
    unit.at++;
    ck_assert_ptr_eq(unit.at, program);
    return unit;
}

/* Runs a line program, and says "ADDRESS FILE:LINE" for each row. */
static void run_lines(struct reader *in, struct buffer *out)
{
    uint64_t address = 0;
    int64_t file = 1, line = 1;
    bool has_ended = false;

    while (in->at < in->end) {
        unsigned opcode = byte(in);

        ck_assert(!has_ended);
        if (opcode == 0) {
            uint64_t size = (uint64_t)leb(in, false);

            has_ended = size == 1;
            ck_assert_uint_eq(byte(in), has_ended ? 1 : 2);
            if (!has_ended)
                address = number(in, 8);
        } else if (opcode == 2) {
            address += (uint64_t)leb(in, false);
        } else if (opcode == 3) {
            line += leb(in, true);
        } else if (opcode == 4) {
            file = leb(in, false);
        } else {
            ck_assert_uint_eq(opcode, 1);
        }
        if (opcode == 1)
            buffer_printf(out, "%#x %d:%d\n", (unsigned)address, (int)file, (int)line);
    }
    ck_assert(has_ended);
    buffer_printf(out, "end %#x\n", (unsigned)address);
}

static struct outcome assemble_lines(const char *ptx, bool line_info, const char *options)
{
    struct option_words words;
    struct minilink_job job = job_of(ptx, "sm_90", split(&words, options));

    job.mode = MINILINK_MODE_RELOCATABLE;
    job.line_info = line_info;
    struct outcome outcome = assemble(&job);
    expect(&outcome, MINILINK_OK, NULL);
    return outcome;
}

TEST(each_function_has_a_unit_with_its_own_files)
{
    OWNED_OUTCOME made = assemble_lines(PTX, true, "");
    struct bytes data = section(&made, ".debug_line")->data;
    struct reader in = {data.data, data.data + data.size}, unit;
    OWNED(buffer) out = {0};

    while (in.at < in.end) {
        unit = head(&in, &out);
        run_lines(&unit, &out);
    }
    buffer_char(&out, 0);
    ck_assert_str_eq(out.data, "file src/a.cu in 0, 300 128\nfile b.h in 0, 0 0\n"
                               "0 1:10\n0xb0 2:3\n0xf0 1:900\n0x170 1:898\nend 0x180\n"
                               "file /c.h in 0, 0 0\nfile d.h in 0, 0 0\n"
                               "0 1:5\n0x20 2:6\nend 0x30\n");
}

TEST(a_relocation_ties_each_unit_to_its_function)
{
    static const char *const names[] = {"k", "l"};
    OWNED_OUTCOME made = assemble_lines(PTX, true, "");
    const struct cubin_section *relocations = section(&made, ".rela.debug_line");

    ck_assert_uint_eq(relocations->relocation_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct cubin_relocation *relocation = &relocations->relocations[i];

        ck_assert_uint_eq(relocation->type, R_CUDA_64);
        ck_assert(text_equal(symbol_name(&made, relocation->symbol), text_of(names[i])));
    }
}

/* By the link, or by options of the assembler's. */
static const struct {
    bool line_info;
    const char *options;
    bool has_table;
} wishes[] = {{false, "", false},
              {true, "", true},
              {false, "-lineinfo", true},
              {false, "-g", true},
              {true, "-g", true},
              {true, "-suppress-debug-info", false},
              {false, "-lineinfo -suppress-debug-info", false},
              {false, "-g -suppress-debug-info", false}};

TEST_LOOP(there_is_one_where_it_is_asked_for, COUNT(wishes))
{
    OWNED_OUTCOME made = assemble_lines(PTX, wishes[_i].line_info, wishes[_i].options);

    ck_assert_int_eq(has_section(&made, ".debug_line"), wishes[_i].has_table);
}

TEST(lines_of_a_file_that_nobody_declared_make_no_table)
{
    OWNED_OUTCOME made = assemble_lines(PTX_HEAD ".entry k() {\n.loc 1 1 1\nret; }", true, "");

    ck_assert(!has_section(&made, ".debug_line") && !has_section(&made, ".rela.debug_line"));
}
