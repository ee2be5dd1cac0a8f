/* check_language.c: what the built-in assembler takes and what it refuses, over the whole table of
 * the language. fixtures/language holds right instructions of every form, up to PTX ISA 9.0
 * (right.txt) and since (recent.txt), and wrong ones with what is said of them;
 * test/diff/language.sh and test/diff/language-recent.sh put them before ptxas. */

#include "language/syntax.h"
#include "manual.h"
#include "suite.h"
#include "verdict.h"

#define FOLDER "fixtures/language/"

static char *frame;

static char *read_fixture(const char *name)
{
    char path[128];
    char *text;

    snprintf(path, sizeof path, FOLDER "%s", name);
    text = verdict_read(path);
    ck_assert_msg(text != NULL, "cannot read %s", path);
    return text;
}

void set_up(void)
{
    frame = read_fixture("frame.ptx");
}

void tear_down(void)
{
    free(frame);
}

/* The next line, ended by a NUL; NULL behind the last. */
static char *next_line(char **rest)
{
    char *line = *rest;

    if (!*line)
        return NULL;
    *rest += strcspn(line, "\n");
    if (**rest)
        *(*rest)++ = '\0';
    return line;
}

static const char *const right[] = {"right.txt", "recent.txt"};

TEST_LOOP(right_instructions_of_every_form_are_taken, COUNT(right))
{
    char *programs = read_fixture(right[_i]), *rest = programs;

    for (char *line; (line = next_line(&rest));) {
        FREED char *verdict = verdict_of_line(frame, line, "sm_90");

        ck_assert_msg(strcmp(verdict, "ok") == 0, "%s: %s", line, verdict);
    }
    free(programs);
}

/* What is said of each line of a table in its frame. */
static int check_verdicts(const char *own_frame, const char *table, const char *messages)
{
    char *programs = read_fixture(table), *rest = programs;
    char *expected = read_fixture(messages), *rest_expected = expected;
    int count = 0;

    for (char *line; (line = next_line(&rest)); count++) {
        FREED char *verdict = verdict_of_line(own_frame, line, "sm_90");
        const char *wanted = next_line(&rest_expected);

        ck_assert_msg(strcmp(verdict, wanted) == 0, "%s: %s, expected %s", line, verdict, wanted);
    }
    free(programs);
    free(expected);
    return count;
}

TEST(wrong_instructions_are_refused_with_these_words)
{
    ck_assert_int_gt(check_verdicts(frame, "wrong.txt", "wrong.expected"), 300);
}

TEST(declarations_are_taken_or_refused_with_these_words)
{
    FREED char *own_frame = read_fixture("declarations.frame.ptx");

    ck_assert_int_gt(check_verdicts(own_frame, "declarations.txt", "declarations.expected"), 700);
}

/* Finds the row that an instruction's words choose; false if there is none. */
static bool find_row(const char *at, uint16_t *opcode, struct syntax *syntax)
{
    size_t size = strcspn(at, ". "), count = 0;
    uint16_t modifiers[INSTRUCTION_MODIFIERS];

    *opcode = words_find(&opcode_words, (struct text){at, size});
    for (at += size; *at == '.' && count < INSTRUCTION_MODIFIERS; at += size) {
        at++;
        size = strcspn(at, ". ");
        modifiers[count++] = modifier_find((struct text){at, size});
    }
    return syntax_find(syntax, *opcode, modifiers, count, NULL);
}

/* The number of forms of a row before `end`. */
static unsigned forms_before(const char *words, const char *end)
{
    unsigned count = 0;

    while ((words = memchr(words, ';', (size_t)(end - words)))) {
        words++;
        count++;
    }
    return count;
}

TEST(the_right_instructions_cover_the_table)
{
    uint32_t rows[4096] = {0}; /* a bit for each form of a row */
    bool opcodes[1024] = {false};
    unsigned opcode_total = 0, covered = 0, forms = 0, instructions = 0;
    uint16_t opcode;

    for (size_t i = 0; i < COUNT(right); i++) {
        char *programs = read_fixture(right[i]), *rest = programs;

        for (char *line; (line = next_line(&rest)); instructions++) {
            struct syntax syntax;

            ck_assert_msg(find_row(strstr(line, ": ") + 2, &opcode, &syntax), "%s", line);
            rows[syntax.row - syntax_rows] |= 1u
                                              << forms_before(syntax.row->words, syntax.words.data);
            opcodes[opcode] = true;
        }
        free(programs);
    }
    for (size_t i = 0; i < syntax_row_count; i++) {
        const char *words = syntax_rows[i].words;
        unsigned count = 1 + forms_before(words, words + strlen(words));
        bool is_old = syntax_rows[i].need.target[0] == '<';

        forms += count;
        covered += is_old ? count : (unsigned)__builtin_popcount(rows[i]);
    }
    for (uint16_t i = 1; i < opcode_words.count; i++) {
        ck_assert_msg(opcodes[i], "no right instruction of '%s'", opcode_get(i)->name);
        opcode_total += opcodes[i];
    }
    printf("language: %u opcodes, %u of %u forms, %u modifiers, %u special registers in %u "
           "instructions\n",
           opcode_total, covered, forms, modifier_words.count - 1u, special_words.count - 1u,
           instructions);
    ck_assert_uint_ge(covered * 100, forms * 97);
}

/* What CUDA 13.0's own headers write. */
TEST(every_spelling_of_the_toolkit_has_a_row)
{
    char *spellings = verdict_read("fixtures/instructions/spellings.txt"), *rest = spellings;
    struct syntax syntax;
    uint16_t opcode;
    int count = 0;

    ck_assert(spellings != NULL);
    for (char *line; (line = next_line(&rest)); count++)
        ck_assert_msg(find_row(line, &opcode, &syntax), "%s", line);
    ck_assert_int_gt(count, 2500);
    free(spellings);
}

TEST(the_manual_page_lists_the_table)
{
    FREED char *page = verdict_read("man/minilink-ptx.5");
    OWNED(buffer) table = {0};
    char *mark;

    ck_assert(page != NULL);
    mark = strstr(page, MANUAL_MARK);
    ck_assert(mark != NULL);
    manual_table(&table);
    buffer_char(&table, '\0');
    ck_assert_msg(strcmp(mark + strlen(MANUAL_MARK), table.data) == 0,
                  "replace the end of man/minilink-ptx.5 by: build/tool_verdict --manual");
}

TEST(every_row_has_known_words)
{
    uint16_t last = 0;

    for (size_t i = 0; i < syntax_row_count; i++) {
        const char *words = syntax_rows[i].words;
        uint16_t opcode = syntax_rows[i].opcode;

        ck_assert_msg(opcode >= last, "row '%s %s' stands behind its place",
                      opcode_get(opcode)->name, words);
        last = opcode;
        for (char *save, *word = strtok_r(suite_print("%s", words), " .|?+;", &save); word;
             word = strtok_r(NULL, " .|?+;", &save))
            ck_assert_msg(modifier_find(text_of(word)) || syntax_set(text_of(word)),
                          "'%s' in a row of '%s'", word, opcode_get(opcode)->name);
    }
}

static const struct {
    const char *expression;
    struct arch target;
    bool fits;
} targets[] = {
    {"", {75, 0}, true},          {"90", {90, 0}, true},           {"90", {89, 0}, false},
    {"90", {120, 'a'}, true},     {"90a", {90, 'a'}, true},        {"90a", {90, 0}, false},
    {"90a", {100, 'a'}, false},   {"100f", {103, 'a'}, true},      {"100f", {103, 'f'}, true},
    {"100f", {103, 0}, false},    {"100f", {110, 'a'}, false},     {"100f 110f", {110, 'a'}, true},
    {"103f", {100, 'a'}, false},  {"<70", {60, 0}, true},          {"<70", {75, 0}, false},
    {"<70 <6.4", {75, 0}, false}, {"100a 103a", {103, 'a'}, true}, {"100f", {107, 'a'}, true},
    {"107f", {103, 'f'}, false},
};

TEST_LOOP(targets_fit_as_the_table_says, COUNT(targets))
{
    ck_assert(syntax_target_fits(targets[_i].expression, targets[_i].target, 64) ==
              targets[_i].fits);
}

/* Measured on ptxas 13.0 and 13.5. */
TEST(warps_are_not_synchronised_before_ptx_6_4)
{
    static const char *const expected[] = {"6.3", "ok", "6.4", "not supported on .target 'sm_75'"};

    for (int i = 0; i < 4; i += 2) {
        char *text = suite_print(".version %s\n.target sm_75\n.address_size 64\n.entry k()\n{\n"
                                 ".reg .pred p; .reg .b32 r;\nshfl.up.b32 r|p, r, 1, 31;\n"
                                 "vote.all.pred p, p;\nvote.ballot.b32 r, p;\n}\n",
                                 expected[i]);
        FREED char *verdict = verdict_of(text, strlen(text), "sm_90");

        ck_assert_ptr_nonnull(strstr(verdict, expected[i + 1]));
    }
}

TEST(errors_are_all_reported_up_to_a_limit)
{
    OWNED(buffer) text = {0};
    char *messages;
    unsigned errors = 0;

    buffer_string(&text, ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
                         ".reg .b32 %r<4>;\n");
    for (int i = 0; i < 50; i++)
        buffer_string(&text, "add.s32 %r1, %r2, %oops;\n");
    buffer_string(&text, "ret;\n}\n");
    messages = verdict_messages(text.data, text.size, "sm_90");
    for (const char *at = messages; (at = strstr(at, "is not declared")); at++)
        errors++;
    ck_assert_uint_eq(errors, 20);
    ck_assert_ptr_nonnull(strstr(messages, "p:7:19: error: '%oops' is not declared"));
    ck_assert_ptr_nonnull(strstr(messages, "too many errors in 'k'"));
    free(messages);
}
