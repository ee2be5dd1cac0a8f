/* Tests of the consensus: every transition, every small combination, every message, the forwarding.
 */

#include "messages.h"
#include "options/consensus.h"
#include "suite.h"

/* One link: members named a.o(1), b.o(1), ... with LTO-IR and, unless ir_only, PTX beside it. */
struct link_case {
    const char *options[4]; /* of each member, NULL ends the list */
    struct option_request request;
    const char *ir_only;   /* letters of the members without PTX: "ab" */
    const char *expected;  /* messages */
    const char *forwarded; /* joined with blanks */
    bool fails;
};

static struct agreement agreement;
static struct arena arena;

void set_up(void)
{
    struct diag_state *state = diag_state_get();

    memset(&agreement, 0, sizeof agreement);
    messages_catch();
    state->verbose = state->warnings_are_errors = state->suppress_warnings = false;
}

void tear_down(void)
{
    arena_free(&arena);
}

/* Two members a letter: the LTO-IR, and the PTX beside it or a cubin that takes no part. */
static bool reach(const char *const options[], const char *ir_only,
                  const struct option_request *request)
{
    static const char *const names[] = {"a.o(1)", "b.o(1)", "c.o(1)", "d.o(1)"};
    struct member list[8] = {0};
    struct members members = {.list = list, .arch = {90, 0}};

    for (uint32_t i = 0; i < 4 && options[i]; i++) {
        struct member *member = &list[members.count];
        bool has_ptx = !ir_only || !strchr(ir_only, 'a' + (int)i);

        member[0] = (struct member){.name = names[i], .group = i, .role = MEMBER_OPTIONS};
        member[0].entry.kind = FATBIN_NVVM;
        member[0].entry.options = text_of(options[i]);
        member[1] = (struct member){.name = "beside", .group = i};
        member[1].role = has_ptx ? MEMBER_PTX : MEMBER_UNUSED;
        member[1].entry.kind = has_ptx ? FATBIN_PTX : FATBIN_NVVM;
        member[1].entry.options = TEXT("-split-compile 77 -ftz=9"); /* takes no part */
        members.count += 2;
    }
    return consensus_reach(&agreement, &members, request);
}

/* state, value; what is added; state, value afterwards */
static const struct {
    enum consensus_state before;
    bool found;
    int32_t value;
    enum consensus_state after;
    int32_t value_after;
} transitions[] = {
    {CONSENSUS_NONE, false, 0, CONSENSUS_ABSENT, 0},
    {CONSENSUS_NONE, true, 5, CONSENSUS_PRESENT, 5},
    {CONSENSUS_NONE, true, 6, CONSENSUS_PRESENT, 6},
    {CONSENSUS_ABSENT, false, 0, CONSENSUS_ABSENT, 0},
    {CONSENSUS_ABSENT, true, 5, CONSENSUS_MIXED, 5},
    {CONSENSUS_ABSENT, true, 6, CONSENSUS_MIXED, 6},
    {CONSENSUS_PRESENT, false, 0, CONSENSUS_MIXED, 5},
    {CONSENSUS_PRESENT, true, 5, CONSENSUS_PRESENT, 5},
    {CONSENSUS_PRESENT, true, 6, CONSENSUS_CONFLICT, 5},
    {CONSENSUS_MIXED, false, 0, CONSENSUS_MIXED, 5},
    {CONSENSUS_MIXED, true, 5, CONSENSUS_MIXED, 5},
    {CONSENSUS_MIXED, true, 6, CONSENSUS_CONFLICT, 5},
    {CONSENSUS_CONFLICT, false, 0, CONSENSUS_CONFLICT, 5},
    {CONSENSUS_CONFLICT, true, 5, CONSENSUS_CONFLICT, 5},
    {CONSENSUS_CONFLICT, true, 6, CONSENSUS_CONFLICT, 5},
};

TEST_LOOP(every_transition_of_the_state_machine, COUNT(transitions))
{
    struct consensus consensus = {transitions[_i].before, 0};

    if (transitions[_i].before >= CONSENSUS_PRESENT)
        consensus.value = 5;
    consensus_add(&consensus, transitions[_i].found, transitions[_i].value);
    ck_assert_int_eq(consensus.state, transitions[_i].after);
    ck_assert_int_eq(consensus.value, transitions[_i].value_after);
}

static const char *const declared[] = {"-ftz=0 ", "-split-compile 0 -ftz=0 ",
                                       "-split-compile 1 -ftz=0 ", "-split-compile 2 -ftz=0 ",
                                       "-split-compile 4 -ftz=0 "};
static const int32_t declared_values[] = {-1, 0, 1, 2, 4}; /* -1 = absent */

/* The rule in words: two different values conflict; else the one value counts, in any order; else
 * the command line's, which is 1 here. */
static void check_combination(const size_t *picked, size_t count)
{
    const char *options[4] = {NULL};
    int32_t value = -1;
    bool conflict = false;

    for (size_t i = 0; i < count; i++) {
        int32_t next = declared_values[picked[i]];

        options[i] = declared[picked[i]];
        conflict |= next >= 0 && value >= 0 && next != value;
        value = value >= 0 ? value : next;
    }
    diag_state_get()->warnings_are_errors = true;
    ck_assert(reach(options, NULL, &(struct option_request){0}) == !conflict);
    diag_state_get()->warnings_are_errors = false;
    if (conflict) {
        messages_expect_part("fatal   : Cicc option values for '-split-compile' do not match\n");
    } else {
        messages_expect("");
        ck_assert_int_eq(agreement.split_compile, value >= 0 ? value : 1);
    }
}

TEST_LOOP(all_combinations_of_two_modules, 5 * 5)
{
    check_combination((size_t[]){(size_t)_i / 5, (size_t)_i % 5}, 2);
}

TEST_LOOP(all_combinations_of_three_modules, 4 * 4 * 4)
{
    static const size_t values[] = {0, 2, 3, 4}; /* absent, 1, 2, 4 */

    check_combination((size_t[]){values[_i / 16], values[_i / 4 % 4], values[_i % 4]}, 3);
}

#define DEFAULTS       "-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 "
#define EXTENDED(n)    .has_split_compile_extended = true, .split_compile_extended = n
#define SPLIT(n)       .has_split_compile = true, .split_compile = n
#define MAXREG(n)      .has_maxrregcount = true, .maxrregcount = n
#define DO_NOT(option) "minilink fatal   : Cicc option values for '" option "' do not match\n"
#define NOTE           "minilink note    : "
#define CLASH                                                                                      \
    "minilink info    : Incompatible options '-split-compile' and '-split-compile-extended', "     \
    "using '-split-compile-extended'\n"

static const struct link_case cases[] = {
    /* Where the values come from, and what is forwarded. */
    {{NULL}, {0}, NULL, "", "", false},
    {{DEFAULTS}, {0}, NULL, "", "", false},
    {{DEFAULTS}, {SPLIT(1)}, NULL, "", "", false},
    {{DEFAULTS}, {SPLIT(0)}, NULL, "", "-split-compile=99", false},
    {{DEFAULTS, DEFAULTS}, {SPLIT(4)}, NULL, "", "-split-compile=4", false},
    {{"-split-compile 2 ", "-split-compile 2 "}, {SPLIT(4)}, NULL, "", "-split-compile=2", false},
    {{"-split-compile 1 ", "-split-compile 1 "}, {SPLIT(4)}, NULL, "", "", false},
    {{"-split-compile 0 "}, {0}, NULL, "", "-split-compile=99", false},
    {{DEFAULTS}, {EXTENDED(4)}, NULL, "", "-split-compile=4", false},
    {{DEFAULTS}, {EXTENDED(0)}, NULL, "", "-split-compile=99", false},
    {{DEFAULTS}, {EXTENDED(1)}, NULL, "", "", false},
    {{"-split-compile 2"}, {EXTENDED(1)}, NULL, "", "-split-compile=2", false},
    {{"-split-compile 2"}, {EXTENDED(4)}, NULL, CLASH, "-split-compile=4", false},
    {{DEFAULTS}, {SPLIT(4), EXTENDED(4)}, NULL, CLASH, "-split-compile=4", false},
    {{"-split-compile 1"}, {SPLIT(4), EXTENDED(2)}, NULL, "", "-split-compile=2", false},
    {{DEFAULTS},
     {.debug = true, .ofast_compile = "max", MAXREG(40)},
     NULL,
     "",
     "-g -maxrregcount=40 -Ofc=max",
     false},
    {{DEFAULTS}, {.ofast_compile = "0", .line_info = true}, NULL, "", "-lineinfo", false},
    {{DEFAULTS, "-maxreg 32 -generate-line-info " DEFAULTS},
     {.lto = true, SPLIT(2)},
     "ab",
     "minilink info    : Some objects do not have '-lineinfo' specified but others do; will build "
     "everything with '-lineinfo'\n" NOTE "a.o(1): no -generate-line-info\n" NOTE
     "b.o(1): -generate-line-info\n"
     "minilink info    : Some objects do not have '-maxrregcount' specified but others do; will "
     "build everything with '-maxrregcount=32'\n" NOTE "a.o(1): no -maxreg\n" NOTE
     "b.o(1): -maxreg 32\n",
     "-split-compile=2 -lineinfo -maxrregcount=32",
     false},
    {{DEFAULTS, "-generate-line-info " DEFAULTS}, {0}, NULL, "", "", false},
    /* Two -split-compile values. */
    {{"-split-compile 2 ", DEFAULTS, "-split-compile 4 "},
     {0},
     NULL,
     "minilink warning : Cicc option values for '-split-compile' do not match; using "
     "'-split-compile=1'\n" NOTE "a.o(1): -split-compile 2\n" NOTE
     "b.o(1): no -split-compile\n" NOTE "c.o(1): -split-compile 4\n",
     "",
     false},
    {{"-split-compile 2 ", "-split-compile 4 "},
     {SPLIT(8)},
     "ab",
     "minilink warning : Cicc option values for '-split-compile' do not match; using "
     "'-split-compile=8'\n" NOTE "a.o(1): -split-compile 2\n" NOTE "b.o(1): -split-compile 4\n",
     "-split-compile=8",
     false},
    /* Two -maxreg values. */
    {{"-maxreg 64 ", "-maxreg 32 "},
     {.lto = true},
     "ab",
     DO_NOT("-maxrregcount") NOTE "a.o(1): -maxreg 64\n" NOTE "b.o(1): -maxreg 32\n",
     "",
     true},
    {{"-maxreg 64 ", "-maxreg 32 "},
     {.lto = true, MAXREG(0)},
     "ab",
     DO_NOT("-maxrregcount") NOTE "a.o(1): -maxreg 64\n" NOTE "b.o(1): -maxreg 32\n",
     "",
     true},
    {{"-maxreg 64 ", "-maxreg 32 "},
     {.lto = true, MAXREG(48)},
     "ab",
     "",
     "-maxrregcount=48",
     false},
    {{"-maxreg 64 ", DEFAULTS}, {.lto = true, MAXREG(48)}, "ab", "", "-maxrregcount=48", false},
    {{"-maxreg 64 ", "-maxreg 32 ", "-maxreg 0 "},
     {0},
     "ab",
     "minilink info    : Cicc option values for '-maxrregcount' do not match; each object keeps "
     "the value it was compiled with\n" NOTE "a.o(1): -maxreg 64\n" NOTE "b.o(1): -maxreg 32\n" NOTE
     "c.o(1): -maxreg 0\n",
     "",
     false},
    /* Two values of options that change code: all are reported, in nvlink's order. */
    {{"-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 ", "-ftz=1 -prec_div=0 -prec_sqrt=0 -fmad=0 "},
     {.lto = true},
     "ab",
     DO_NOT("-ftz") NOTE "a.o(1): -ftz=0\n" NOTE "b.o(1): -ftz=1\n" DO_NOT("-prec-div") NOTE
     "a.o(1): -prec_div=1\n" NOTE "b.o(1): -prec_div=0\n" DO_NOT("-prec-sqrt") NOTE
     "a.o(1): -prec_sqrt=1\n" NOTE "b.o(1): -prec_sqrt=0\n" DO_NOT("-fmad") NOTE
     "a.o(1): -fmad=1\n" NOTE "b.o(1): -fmad=0\n",
     "",
     true},
    {{"-ftz=0 ", "-ftz=1 "},
     {.lto = true},
     NULL,
     "minilink info    : Cicc option values for '-ftz' do not match; each object keeps the "
     "value it was compiled with\n" NOTE "a.o(1): -ftz=0\n" NOTE "b.o(1): -ftz=1\n",
     "",
     false},
    {{"-fmad=0 ", "-fmad=1 "},
     {0},
     "ab",
     "minilink info    : Cicc option values for '-fmad' do not match; each object keeps the "
     "value it was compiled with\n" NOTE "a.o(1): -fmad=0\n" NOTE "b.o(1): -fmad=1\n",
     "",
     false},
    /* Only members whose LTO-IR is linked can still disagree. */
    {{"-ftz=0 ", "-ftz=1 ", "-ftz=1 "},
     {.lto = true},
     "bc",
     "minilink info    : Cicc option values for '-ftz' do not match; each object keeps the "
     "value it was compiled with\n" NOTE "a.o(1): -ftz=0\n" NOTE "b.o(1): -ftz=1\n" NOTE
     "c.o(1): -ftz=1\n",
     "",
     false},
    {{"-ftz=0 ", "", "-prec_div=1 "}, {.lto = true}, "abc", "", "", false},
};

/* The words that libnvJitLink is given, joined with blanks, where libnvvm may have 99 threads; with
 * the arithmetic beside `nvvm`, unless that is NULL. */
static const char *forwarded(const struct option_request *request, const char *const *nvvm)
{
    static struct buffer joined;
    struct word_list words = {.arena = &arena};

    joined.size = 0;
    forward_split(&words, &agreement, 99);
    forward_agreed(&words, &agreement, request);
    if (nvvm)
        forward_arithmetic(&words, &agreement, nvvm);
    for (size_t i = 0; i < words.count; i++)
        buffer_printf(&joined, "%s%s", i ? " " : "", words.list[i]);
    buffer_char(&joined, '\0');
    return joined.data;
}

TEST_LOOP(messages_and_forwarded_options, COUNT(cases))
{
    const struct link_case *row = &cases[_i];

    ck_assert(reach(row->options, row->ir_only, &row->request) == !row->fails);
    messages_expect(row->expected);
    ck_assert_str_eq(forwarded(&row->request, NULL), row->forwarded);
}

static const struct {
    const char *options[4];
    const char *forwarded;
    const char *nvvm[3];
} arithmetic[] = {
    {{"-ftz=1 -prec_div=0 -prec_sqrt=0 -fmad=1 "}, "-ftz=1 -prec-div=0 -prec-sqrt=0 -fma=1", {0}},
    {{"-ftz=1 ", ""}, "-ftz=1", {0}},
    {{"-ftz=1 -fmad=0 ", "-ftz=0 "}, "-fma=0", {0}},
    {{""}, "", {0}},
    {{"-ftz=1 -prec_div=0 -fmad=0 "}, "-ftz=1 -prec-div=0", {"-opt=3", "-fma=1"}},
    {{"-ftz=1 -prec_div=0 "}, "-ftz=1 -prec-div=0", {"-prec-div", "-ftzx=0"}},
};

TEST_LOOP(arithmetic_is_forwarded_where_members_have_one_value, COUNT(arithmetic))
{
    reach(arithmetic[_i].options, NULL, &(struct option_request){0});
    ck_assert_str_eq(forwarded(&(struct option_request){0}, arithmetic[_i].nvvm),
                     arithmetic[_i].forwarded);
}

TEST(threads_of_libnvvm_are_bounded_and_never_one)
{
    static const struct {
        int32_t split, most;
        const char *given; /* NULL = nothing */
    } rows[] = {
        {1, 8, NULL},
        {4, 8, "-split-compile=4"},
        {9, 8, "-split-compile=8"},
        {4, 1, "-split-compile=2"},
        {0, 8, "-split-compile=8"},
        {0, 1, "-split-compile=2"},
        {-3, 8, "-split-compile=8"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct agreement inner = {.split_compile = rows[i].split,
                                        .split_compile_extended = 1};
        const struct agreement outer = {.split_compile = 1,
                                        .split_compile_extended = rows[i].split};

        for (int extended = 0; extended < 2; extended++) {
            struct word_list words = {.arena = &arena};

            forward_split(&words, extended ? &outer : &inner, rows[i].most);
            ck_assert_pstr_eq(word_list_end(&words)[0], rows[i].given);
        }
    }
    arena_free(&arena);
}

TEST(ptxas_is_given_what_changes_its_code_then_the_users_words)
{
    static const char *const given[] = {"-a", "-b", NULL};
    const struct agreement agreed = {.split_compile = 2, .split_compile_extended = 1};
    const struct option_request request = {.ofast_compile = "mid"};
    const char *const *words = forward_to_ptxas(&arena, &agreed, &request, given, true);

    ck_assert_str_eq(words[0], "-Ofc=mid");
    ck_assert_str_eq(words[1], "-split-compile=2");
    ck_assert_str_eq(words[2], "-a");
    ck_assert_str_eq(words[3], "-b");
    ck_assert_ptr_null(words[4]);
    words = forward_to_ptxas(&arena, &agreed, &(struct option_request){0}, NULL, false);
    ck_assert_ptr_null(words[0]);
    arena_free(&arena);
}

TEST(warnings_as_errors_make_the_split_conflict_fatal)
{
    static const char *const options[4] = {"-split-compile 2", "-split-compile 4"};

    diag_state_get()->warnings_are_errors = true;
    ck_assert(!reach(options, NULL, &(struct option_request){0}));
    messages_expect(DO_NOT("-split-compile") NOTE "a.o(1): -split-compile 2\n" NOTE
                                                  "b.o(1): -split-compile 4\n");
}

TEST(suppressed_warnings_take_their_notes_with_them)
{
    static const char *const options[4] = {"-split-compile 2", "-split-compile 4"};

    diag_state_get()->suppress_warnings = true;
    diag_state_get()->warnings_are_errors = true;
    ck_assert(reach(options, NULL, &(struct option_request){0}));
    messages_expect("");
}

TEST(verbose_says_which_side_wins)
{
    static const char *const options[4] = {"-split-compile 2 -maxreg 32 ", "-maxreg 32"};

    diag_state_get()->verbose = 2;
    ck_assert(reach(options, NULL, &(struct option_request){SPLIT(4), MAXREG(48)}));
    ck_assert_str_eq(messages_said(),
                     "minilink info    : the command line's '-maxrregcount=48' is used for all "
                     "objects\n" NOTE "a.o(1): -maxreg 32\n" NOTE "b.o(1): -maxreg 32\n"
                     "minilink info    : the objects' '-split-compile=2' is used instead of the "
                     "command line's '-split-compile=4'\n" NOTE "a.o(1): -split-compile 2\n" NOTE
                     "b.o(1): no -split-compile\n");
    tear_down();
    set_up();
    diag_state_get()->verbose = 2;
    ck_assert(reach(options, NULL, &(struct option_request){SPLIT(2), MAXREG(32)}));
    messages_expect("");
}

TEST(values_in_force_and_states_are_kept)
{
    static const char *const options[4] = {"-split-compile 2 -maxreg 32", ""};

    ck_assert(
        reach(options, "ab", &(struct option_request){EXTENDED(0), .lto = true, .debug = true}));
    ck_assert_int_eq(agreement.split_compile, 1); /* the extended one wins */
    ck_assert_int_eq(agreement.split_compile_extended, 0);
    ck_assert_int_eq(agreement.maxrregcount, 32);
    ck_assert(agreement.debug && !agreement.line_info);
    ck_assert_int_eq(agreement.embedded[EMBEDDED_SPLIT_COMPILE].state, CONSENSUS_MIXED);
    ck_assert_int_eq(agreement.embedded[EMBEDDED_SPLIT_COMPILE].value, 2);
    ck_assert_int_eq(agreement.embedded[EMBEDDED_FTZ].state, CONSENSUS_ABSENT);
}
