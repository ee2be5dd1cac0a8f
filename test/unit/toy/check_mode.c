/* check_mode.c: what the built-in assembler compiles in each mode, and to what. What is expected
 * was measured on ptxas 13.0; test/diff/driver.sh compares where there is one. */
#include "toy/internal.h"
#include "job_fixture.h"

/* --- Phases 6, 13 and 15: modes, and what is compiled in each. --- */

#define PROGRAM                                                                                    \
    HEADER ".visible .func visible() { ret; }\n"                                                   \
           ".func deep() { ret; }\n"                                                               \
           ".func static() { call.uni deep, (); ret; }\n"                                          \
           ".func behind() { ret; }\n"                                                             \
           ".visible .func alias();\n.alias alias, behind;\n"                                      \
           ".func listed() { ret; }\n"                                                             \
           ".visible .global .u64 table[1] = {listed};\n"                                          \
           ".visible .entry a() { call.uni static, (); ret; }\n"                                   \
           ".visible .entry b() { call.uni alias, (); ret; }\n"

#define EVERYTHING "visible deep static behind listed a b "

static const struct {
    const char *options;
    const char *functions;
    const char *log; /* all of it */
} selections[] = {
    {"", "deep static behind listed a b ", ""},
    {"-c", EVERYTHING, ""},
    {"-ewp", "visible deep static behind listed a b ", ""},
    {"-g", EVERYTHING, ""},
    {"-e a", "deep static listed a ", ""},
    {"-e b", "behind listed b ", ""},
    {"--entry=a,b", "deep static behind listed a b ", ""},
    {"-e b -e a", "deep static behind listed a b ", ""},
    {"-e a -e a,a", "deep static listed a ", ""},
    {"-e=", "deep static behind listed a b ", ""},
    {"-e a -ewp", "visible deep static behind listed a ", ""},
    {"-e a -c", EVERYTHING, ""},
    {"-e visible -c", EVERYTHING, ""},
    {"-e a -g", EVERYTHING, ""},
    /* QUIRK 1: the flags together are those of -c, and nobody is told. */
    {"-ewp -g", EVERYTHING, ""},
    {"-ewp -g -e a", EVERYTHING, ""},
    {"-c -ewp", EVERYTHING,
     "builtin: warning: Conflicting options '--compile-only' and '--extensible-whole-program' "
     "specified, ignoring '--extensible-whole-program' option\n"},
    {"-e nope", NULL, "builtin: fatal error: Unknown function nope\n"},
    {"-e a,nope", NULL, "builtin: fatal error: Unknown function nope\n"},
    {"-e nope -c", NULL, "builtin: fatal error: Unknown function nope\n"},
    {"-e table", NULL, "builtin: error: Entry function 'table' not found\n"},
    {"-e table -c", EVERYTHING, ""},
    {"-e visible", NULL, "builtin: error: Entry function 'visible' not found\n"},
    {"-e alias", NULL, "builtin: error: Entry function 'alias' not found\n"},
    {"-c -astoolspatch", NULL,
     "builtin: fatal error: Conflicting options '--compile-only' and --compile-as-tools-patch "
     "specified\n"},
    {"-ewp -astoolspatch -g", NULL,
     "builtin: fatal error: Conflicting options '--extensible-whole-program' and "
     "--compile-as-tools-patch specified\n"},
    {"-astoolspatch", NULL,
     "builtin: error: Entry function is not allowed when command line option "
     "'--compile-as-tools-patch' is specified\n"},
};

TEST_LOOP(the_mode_and_the_entries_select_functions, COUNT(selections))
{
    OWNED_OUTCOME outcome = run(PROGRAM, selections[_i].options);

    ck_assert_str_eq(log_of(&outcome), selections[_i].log);
    expect(&outcome, selections[_i].functions ? MINILINK_OK : MINILINK_FAILED, NULL);
    if (selections[_i].functions) {
        FREED char *functions = functions_of(&outcome);

        ck_assert_str_eq(functions, selections[_i].functions);
    }
}

TEST(a_job_to_be_merged_is_compiled_as_with_c)
{
    static const char *const options[] = {"-e", "a", NULL};
    struct minilink_job job = job_of(PROGRAM, "sm_90", options);

    job.mode = MINILINK_MODE_RELOCATABLE;
    OWNED_OUTCOME outcome = assemble(&job);
    expect(&outcome, MINILINK_OK, NULL);
    FREED char *functions = functions_of(&outcome);
    ck_assert_str_eq(functions, EVERYTHING);
}

#define C 1
#define T 2
#define E 4
#define G 8

/* Each set of flags; MODE_NONE = refused. */
static const enum mode matrix[16] = {
    [0] = MODE_WHOLE_PROGRAM,
    [G] = MODE_WHOLE_PROGRAM,
    [C] = MODE_COMPILE_ONLY,
    [C | G] = MODE_COMPILE_ONLY,
    [E] = MODE_EXTENSIBLE_WHOLE_PROGRAM,
    [E | G] = MODE_COMPILE_ONLY, /* QUIRK 1 */
    [C | E] = MODE_COMPILE_ONLY,
    [C | E | G] = MODE_COMPILE_ONLY,
    [T] = MODE_TOOLS_PATCH,
    [T | G] = MODE_TOOLS_PATCH,
};

TEST_LOOP(every_set_of_flags_has_its_mode, COUNT(matrix))
{
    const struct minilink_job job = {.mode = MINILINK_MODE_WHOLE};
    struct unit unit = {
        .job = job,
        .switches = {
            .compile_only = _i & C, .tools_patch = _i & T, .extensible = _i & E, .debug = _i & G}};
    OWNED(diag_sink) said = {0};

    diag_state_get()->sink = &said;
    ck_assert(switches_choose_mode(&unit) == (matrix[_i] != MODE_NONE));
    diag_state_get()->sink = NULL;
    ck_assert_int_eq(unit.mode, matrix[_i]);
    ck_assert_int_eq(said.text.size > 0, matrix[_i] == MODE_NONE || (_i & (C | E)) == (C | E));
}

#undef C
#undef T
#undef E
#undef G

/* --- QUIRK 2: no kernel is needed, and none is made up. --- */

TEST_LOOP(a_module_of_a_header_alone_is_assembled, 5)
{
    static const char *const options[] = {"", "-c", "-ewp", "-g", "-astoolspatch"};
    OWNED_OUTCOME outcome = run(HEADER, options[_i]);

    ck_assert_str_eq(log_of(&outcome), "");
    expect(&outcome, MINILINK_OK, NULL);
    FREED char *functions = functions_of(&outcome);
    ck_assert_str_eq(functions, "");
    ck_assert_ptr_null(memmem(outcome.result.cubin, outcome.result.cubin_size, "dummy", 5));
}

/* --- Phases 8 and 24: code that tools patch in. --- */

#define NOT_ALLOWED                                                                                \
    " is not allowed when command line option '--compile-as-tools-patch' is specified\n"
#define SHARED_MEMORY "builtin: error: Allocating additional shared memory" NOT_ALLOWED
#define CONSTANTS     "builtin: error: Allocating additional constants" NOT_ALLOWED

static const struct {
    const char *text;
    const char *log;
} patches[] = {
    {".global .u32 g; .func f() { .local .u32 l; st.local.u32 [l], 1; ret; }\n", ""},
    {".visible .func f(.reg .b32 a) { ret; }\n", ""},
    {".shared .u32 s;\n", SHARED_MEMORY},
    {".extern .shared .b8 s[];\n", SHARED_MEMORY},
    {".func f() { .shared .u32 s; st.shared.u32 [s], 1; ret; }\n", SHARED_MEMORY},
    {".const .u32 c;\n", CONSTANTS},
    {".func f() { .const .u32 c; ret; }\n", CONSTANTS},
    {".extern .const .u32 c; .extern .shared .b8 s[];\n", SHARED_MEMORY CONSTANTS},
    {".global .texref t;\n", "builtin: error: Allocating additional textures" NOT_ALLOWED},
    {".global .surfref s;\n", "builtin: error: Allocating additional surfaces" NOT_ALLOWED},
    {".visible .func f() { ret; }\n.visible .global .u64 t[1] = {f};\n",
     "builtin: fatal error: Taking address of device functions" NOT_ALLOWED},
    {".visible .func f(.reg .u64 a) { P: .callprototype _ (); call.uni a, (), P; ret; }\n",
     "builtin: fatal error: Using indirect function calls" NOT_ALLOWED},
};

TEST_LOOP(patch_code_has_no_memory_of_its_own, COUNT(patches))
{
    const char *text = suite_print(HEADER "%s", patches[_i].text);
    OWNED_OUTCOME outcome = run(text, "-astoolspatch");
    ck_assert_str_eq(log_of(&outcome), patches[_i].log);
    expect(&outcome, patches[_i].log[0] ? MINILINK_FAILED : MINILINK_OK, NULL);
    OWNED_OUTCOME other = run(text, "-c");
    expect(&other, MINILINK_OK, NULL);
}

/* --- Phase 16. --- */

/* The access with the option and the one with an operator in its text have the same code. */
static const struct {
    const char *access; /* %s: where the operator stands */
    const char *options;
    const char *given;
    const char *got;
} caches[] = {
    {"ld.global%s.u32 %%r1, [%%rd1]", "-dlcm=cg", "", ".cg"},
    {"ld.global%s.u32 %%r1, [%%rd1]", "-dlcm=ca", "", ".ca"},
    {"ld.global%s.u32 %%r1, [%%rd1]", "-dlcm=cg", ".cs", ".cs"},
    {"ld.global%s.u32 %%r1, [%%rd1]", "-flcm=cg", ".cs", ".cg"},
    {"ld.global%s.u32 %%r1, [%%rd1]", "-flcm=cv -dlcm=cg -w", "", ".cv"},
    {"ld%s.u32 %%r1, [%%rd1]", "-dlcm=lu", "", ".lu"},
    {"ld.weak.global%s.u32 %%r1, [%%rd1]", "-dlcm=cg", "", ".cg"},
    {"ld.global%s.L2::128B.u32 %%r1, [%%rd1]", "-dlcm=cg", "", ".cg"},
    {"ld.global%s.nc.u32 %%r1, [%%rd1]", "-flcm=cg", "", ""},
    {"ld.global%s.nc.u32 %%r1, [%%rd1]", "-dlcm=cs", "", ".cs"},
    {"ld.global.L1::no_allocate%s.u32 %%r1, [%%rd1]", "-flcm=cg", "", ""},
    {"ld.volatile.global%s.u32 %%r1, [%%rd1]", "-flcm=cg", "", ""},
    {"ld.acquire.gpu.global%s.u32 %%r1, [%%rd1]", "-flcm=cg", "", ""},
    {"ld.shared%s.u32 %%r1, [%%r2]", "-flcm=cg", "", ""},
    {"ld.param%s.u32 %%r1, [p]", "-flcm=cg", "", ""},
    {"ld.global%s.u32 %%r1, [%%rd1]", "-fscm=cg", "", ""},
    {"st.global%s.u32 [%%rd1], %%r1", "-dscm=wt", "", ".wt"},
    {"st.global%s.u32 [%%rd1], %%r1", "-dscm=wb", ".cs", ".cs"},
    {"st.global%s.u32 [%%rd1], %%r1", "-fscm=wb", ".cs", ".wb"},
    {"st%s.v2.u32 [%%rd1], {%%r1, %%r2}", "-dscm=cg", "", ".cg"},
    {"st.relaxed.gpu.global%s.u32 [%%rd1], %%r1", "-fscm=cg", "", ""},
    {"st.local%s.u32 [%%rd1], %%r1", "-fscm=cg", "", ""},
    {"st.global%s.u32 [%%rd1], %%r1", "-flcm=cg", "", ""},
    {"atom.global%s.add.u32 %%r1, [%%rd1], 1", "-flcm=cg -fscm=cg", "", ""},
};

static char *access_with(const char *access, const char *operator)
{
    struct buffer ptx = {0};

    buffer_printf(&ptx, HEADER ".visible .entry k(.param .u64 p) { .reg .b64 %%rd<3>;\n"
                               ".reg .b32 %%r<3>; ld.param.u64 %%rd1, [p]; mov.u32 %%r1, 1;\n"
                               "mov.u32 %%r2, 2;\n");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    buffer_printf(&ptx, access, operator);
#pragma GCC diagnostic pop
    buffer_printf(&ptx, "; st.shared.u32 [%%r1], %%r1; ret; }\n");
    return buffer_take(&ptx, NULL);
}

TEST_LOOP(cache_options_are_operators_in_the_code, COUNT(caches))
{
    FREED char *given = access_with(caches[_i].access, caches[_i].given);
    FREED char *got = access_with(caches[_i].access, caches[_i].got);
    OWNED_OUTCOME with_option = run(given, caches[_i].options);
    OWNED_OUTCOME in_text = run(got, "");

    expect(&with_option, MINILINK_OK, NULL);
    expect(&in_text, MINILINK_OK, NULL);
    ck_assert_uint_eq(with_option.result.cubin_size, in_text.result.cubin_size);
    ck_assert_mem_eq(with_option.result.cubin, in_text.result.cubin, in_text.result.cubin_size);
}

/* --- Phase 24: calls. --- */

/* ptxas 13.0 has no word on any of it; an info is no reason to refuse. */
TEST(recursion_and_indirect_calls_beside_mma_are_taken)
{
    OWNED_OUTCOME outcome = run(
        HEADER ".func odd();\n"
               ".func even() { call.uni odd, (); ret; }\n"
               ".func odd() { .reg .b64 %rd<2>; .reg .f64 %f<5>; mov.u64 %rd1, even;\n"
               "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%f1,%f2},{%f3},{%f4},{%f1,%f2};\n"
               "P: .callprototype _ (); call %rd1, (), P; ret; }\n"
               ".visible .entry k() { call.uni even, (); ret; }\n",
        "");

    ck_assert_str_eq(log_of(&outcome),
                     "builtin: info: Function 'odd' has indirect calls beside mma .f64, which keep "
                     "the scheduler from the tensor cores\n");
    expect(&outcome, MINILINK_OK, NULL);
}

/* `count` values that live at once. */
static void add_large(struct buffer *ptx, unsigned count)
{
    buffer_printf(ptx, "{ .reg .b32 %%r<%u>; .reg .b64 %%rd1; mov.u64 %%rd1, 0;\n", count + 1);
    for (unsigned i = 1; i <= count; i++)
        buffer_printf(ptx, "ld.global.u32 %%r%u, [%%rd1+%u];\n", i, 4 * i);
    for (unsigned i = 1; i <= count; i++)
        buffer_printf(ptx, "st.global.u32 [%%rd1+%u], %%r%u;\n", 4 * i, i);
    buffer_printf(ptx, "ret; }\n");
}

static char *callers(void)
{
    struct buffer ptx = {0};

    buffer_printf(&ptx, HEADER ".visible .func large() ");
    add_large(&ptx, 100);
    buffer_printf(&ptx, ".visible .func taken() ");
    add_large(&ptx, 50);
    buffer_printf(
        &ptx, ".visible .func between() { call.uni large, (); ret; }\n"
              ".visible .entry wide() { call.uni between, (); ret; }\n"
              ".visible .entry narrow() .maxntid 1024,1,1 { call.uni between, (); ret; }\n"
              ".visible .entry narrower() .maxnreg 40 { .reg .b64 %%rd1; mov.u64 %%rd1, taken;\n"
              "P: .callprototype _ (); call %%rd1, (), P; ret; }\n");
    return buffer_take(&ptx, NULL);
}

static const struct {
    const char *options;
    const char *first; /* callee and kernel */
    const char *second;
} callings[] = {
    {"", NULL, NULL},
    {"-ewp", NULL, NULL},
    {"-c -g", NULL, NULL},
    {"-c", "'narrow' with max regcount of 64 calls function 'large' with regcount of 1",
     "'narrower' with max regcount of 40 calls function 'taken' with regcount of 5"},
    {"-c -func-maxrregcount 48", NULL,
     "'narrower' with max regcount of 40 calls function 'taken' with regcount of 48"},
    {"-c -func-maxrregcount 32", NULL, NULL},
    {"-c -maxrregcount 40", NULL, NULL},
};

TEST_LOOP(kernels_have_the_registers_of_what_they_call, COUNT(callings))
{
    FREED char *ptx = callers();
    OWNED_OUTCOME outcome = run(ptx, callings[_i].options);
    bool is_good = !callings[_i].first && !callings[_i].second;

    expect(&outcome, is_good ? MINILINK_OK : MINILINK_FAILED, callings[_i].first);
    expect(&outcome, is_good ? MINILINK_OK : MINILINK_FAILED, callings[_i].second);
    if (!callings[_i].first)
        ck_assert_ptr_null(strstr(log_of(&outcome), "'large' with"));
    ck_assert_ptr_null(strstr(log_of(&outcome), "'wide'"));
    ck_assert_ptr_null(strstr(log_of(&outcome), "'between' with"));
}

/* Chunks are relocatable, too, and what meets in one must not decide whether the link succeeds. */
TEST(a_chunk_may_hold_such_functions)
{
    FREED char *ptx = callers();
    struct minilink_job job = job_of(ptx, "sm_90", NULL);

    job.mode = MINILINK_MODE_RELOCATABLE;
    OWNED_OUTCOME outcome = assemble(&job);
    ck_assert_str_eq(log_of(&outcome), "");
    expect(&outcome, MINILINK_OK, NULL);
}
