/* check_builtin.c: the built-in assembler as its callers see it: PTX in, a cubin that reads back,
 * or a message with its place. */
#include <glob.h>

#include "files.h"
#include "job_fixture.h"
#include "toy/encode.h"

/* Only there samplers are objects of their own. */
#define INDEPENDENT ".version 8.0\n.target sm_90, texmode_independent\n.address_size 64\n"

static struct outcome assemble_chunk(const char *ptx)
{
    struct minilink_job job = chunk_job(ptx, "sm_90");
    return assemble(&job);
}

/* --- Whole inputs. --- */

/* Two of the cases of fixtures/split are no chunks. */
static const char *error_of(const char *path)
{
    return strstr(path, "20_const_limit")
               ? "File uses too much global constant data (0x13880 bytes, 0x10000 max)"
           : strstr(path, "35_two_modules") ? "chunk:21:1: error: Duplicate .version directive"
                                            : NULL;
}

TEST(every_split_case_gives_a_readable_cubin)
{
    static const char *const archs[] = {"sm_90", "sm_100"};
    glob_t paths;

    ck_assert_int_eq(glob("fixtures/split/*.ptx", 0, NULL, &paths), 0);
    ck_assert_uint_ge(paths.gl_pathc, 37);
    for (size_t i = 0; i < 2 * paths.gl_pathc; i++) {
        OWNED(buffer) ptx = files_load(paths.gl_pathv[i / 2]);
        const char *error = error_of(paths.gl_pathv[i / 2]);

        buffer_char(&ptx, '\0');
        struct minilink_job job = chunk_job(ptx.data, archs[i % 2]);
        OWNED_OUTCOME outcome = assemble(&job);
        expect(&outcome, error ? MINILINK_FAILED : MINILINK_OK, error);
        if (!error)
            ck_assert_uint_eq(CUBIN_FLAGS_SM(outcome.cubin.flags), job.sm);
    }
    globfree(&paths);
}

/* Its bytes do not depend on its chunk: test/jobs/deterministic.sh. */
#define VARIABLES   ".visible .global .align 4 .u32 g = 7;\n.visible .shared .align 8 .b8 s[64];\n"
#define CALLEE_HEAD ".func (.param .b32 r) callee(.param .b32 a)"
#define USER                                                                                       \
    ".visible .entry user(.param .u64 p) .maxntid 64 {\n"                                          \
    " .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>; .global .u32 count = 3;\n"              \
    " .shared .align 4 .b8 own[20];\n"                                                             \
    " ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [g];\n"                \
    " st.shared.u32 [s+4], %r2; st.shared.u32 [own], %r2; ld.global.u32 %r3, [count];\n"           \
    " setp.eq.u32 %p1, %r1, %r3; bar.sync 2;\n"                                                    \
    " { .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call (y), callee, (x);\n"             \
    "   ld.param.b32 %r4, [y]; }\n"                                                                \
    " @%p1 st.global.u32 [%rd1], %r4; ret; }\n"

/* --- The container. --- */

TEST(a_kernel_has_its_sections_symbols_and_records)
{
    OWNED_OUTCOME outcome = assemble_chunk(HEADER ".extern " CALLEE_HEAD ";\n" VARIABLES USER);
    struct info_record record;
    ck_assert_uint_eq(outcome.cubin.type, ET_REL);
    ck_assert_uint_eq(outcome.cubin.flags & CUBIN_FLAGS_MERGEABLE, 0x5a04);
    uint32_t note = outcome.cubin.flags >> CUBIN_FLAGS_NOTE_SHIFT;
    ck_assert(text_equal(outcome.cubin.sections[note].name, TEXT(".note.nv.cuinfo")));
    ck_assert_uint_eq(section(&outcome, ".note.minilink")->type, SHT_NOTE);

    ck_assert_uint_eq(symbol(&outcome, "user")->other, STO_CUDA_ENTRY);
    ck_assert_uint_eq(symbol(&outcome, "user")->size, section(&outcome, ".text.user")->size);
    ck_assert_uint_eq(symbol(&outcome, "callee")->section, SHN_UNDEF);
    ck_assert_uint_eq(symbol(&outcome, "g")->other, STO_CUDA_GLOBAL);
    ck_assert_uint_eq(symbol(&outcome, "s")->value, 8); /* the alignment */
    ck_assert_uint_eq(symbol(&outcome, "user$own")->binding, STB_LOCAL);
    ck_assert_uint_eq(symbol(&outcome, "user$count")->type, STT_CUDA_OBJECT);
    ck_assert_uint_eq(symbol(&outcome, ".nv.reservedSmem.offset0")->binding, STB_WEAK);

    ck_assert_uint_eq(section(&outcome, ".nv.constant0.user")->size, 0x210 + 8);
    ck_assert_uint_eq(section(&outcome, ".nv.shared.user")->size, 20);
    ck_assert_uint_eq(section(&outcome, ".nv_debug.shared")->size, 64);
    ck_assert_uint_eq(section(&outcome, ".nv.global.init")->size, 8);
    ck_assert_mem_eq(section(&outcome, ".nv.global.init")->data.data, "\7\0\0\0\3\0\0\0", 8);

    ck_assert(find_record(&outcome, ".nv.info.user", EIATTR_NUM_BARRIERS, &record));
    ck_assert_uint_eq(record.value, 3);
    ck_assert(find_record(&outcome, ".nv.info.user", EIATTR_MAX_THREADS, &record));
    ck_assert_uint_eq(info_word(record.payload, 0), 64);
    ck_assert(find_record(&outcome, ".nv.info.user", EIATTR_KPARAM_INFO, &record));
    ck_assert_uint_eq(info_word(record.payload, 2), 0x21f000);
    ck_assert(find_record(&outcome, ".nv.info.user", EIATTR_EXTERNS, &record));
    ck_assert(text_equal(symbol_name(&outcome, info_word(record.payload, 0)), TEXT("callee")));
    ck_assert(find_record(&outcome, ".nv.info", EIATTR_FRAME_SIZE, &record));
    ck_assert_uint_eq(info_word(record.payload, 1), 8); /* the two .param variables */
}

TEST(each_variable_of_a_range_in_a_body_has_its_symbol)
{
    OWNED_OUTCOME outcome = assemble_chunk(
        HEADER ".visible .entry k() { .global .u32 a<3>; .shared .u32 s<2>; ret; }\n");

    ck_assert_uint_eq(symbol(&outcome, "k$a0")->size, 4);
    ck_assert_uint_eq(symbol(&outcome, "k$a2")->size, 4);
    ck_assert_uint_eq(symbol(&outcome, "k$s1")->size, 4);
}

TEST(addresses_in_data_become_relocations)
{
    OWNED_OUTCOME outcome =
        assemble_chunk(HEADER ".extern .func ext();\n.global .align 4 .b8 g[16] = {7};\n"
                              ".visible .global .align 8 .u64 q[3] = {g+8, ext, generic(g)};\n"
                              ".visible .global .align 8 .u8 b[2] = {0xFF00(g), 0xFF(ext)};\n");
    static const struct {
        uint64_t offset;
        uint32_t type;
        const char *symbol;
        int64_t addend;
    } expected[] = {{0x10, R_CUDA_G64, "g", 8},
                    {0x18, R_CUDA_UNIFIED, "ext", 0},
                    {0x20, R_CUDA_G64, "g", 0},
                    {0x28, R_CUDA_G8_0 + 1, "g", 0},
                    {0x29, R_CUDA_UNIFIED_8_0, "ext", 0}};
    const struct cubin_section *rela = section(&outcome, ".rela.nv.global.init");
    ck_assert_uint_eq(rela->relocation_count, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct cubin_relocation *at = &rela->relocations[4 - i];
        ck_assert_uint_eq(at->offset, expected[i].offset);
        ck_assert_uint_eq(at->type, expected[i].type);
        ck_assert_int_eq(at->addend, expected[i].addend);
        ck_assert(text_equal(symbol_name(&outcome, at->symbol), text_of(expected[i].symbol)));
    }
}

static const struct {
    const char *head;
    const char *signature;
} prototypes[] = {
    {".extern .func f();", "#v"},
    {".extern .func (.param .b32 r) f(.param .b64 a, .param .f32 b);", "#ilf"},
    {".extern .func f(.param .align 8 .b8 a[16], .param .f64 b, .param .b8 c);", "#vb16db"},
    {".extern .func (.param .align 16 .b8 r[160]) f(.reg .u32 a, .reg .b16 b);", "#b160ih"},
    {".extern .func f(.param .b32 a, .param .align 8 .b8 rest[]);", "#vib0"},
    {".extern .func f(.param .v4 .f32 a, .param .v2 .f32 b) .noreturn;", "#vxl"},
};

TEST_LOOP(prototypes_are_the_strings_that_ptxas_writes, COUNT(prototypes))
{
    OWNED_OUTCOME outcome = assemble_chunk(
        suite_print(HEADER "%s\n.visible .entry k() { .reg .b64 %%rd; mov.u64 %%rd, f; ret; }\n",
                    prototypes[_i].head));
    struct bytes graph = section(&outcome, ".nv.callgraph")->data;
    /* (0, -1) (0, -2) (f, prototype) ... */
    ck_assert_int_eq((int32_t)info_word(graph, 3), CALLGRAPH_ADDRESS);
    ck_assert(text_equal(symbol_name(&outcome, info_word(graph, 4)), TEXT("f")));
    struct text found = cubin_string(&outcome.cubin, info_word(graph, 5));
    ck_assert_msg(text_equal(found, text_of(prototypes[_i].signature)), "%.*s instead of %s",
                  TEXT_ARG(found), prototypes[_i].signature);
}

TEST(calls_stand_in_the_call_graph)
{
    OWNED_OUTCOME outcome = assemble_chunk(
        HEADER ".visible .func real();\n.visible .func real() { ret; }\n.visible .func other();\n"
               ".alias other, real;\n.extern .func target();\n"
               ".visible .entry k(.param .u64 p) { .reg .b64 %rd; ld.param.u64 %rd, [p];\n"
               " call other; P: .callprototype _ (); call %rd, P; T: .calltargets target;\n"
               " call %rd, T; ret; }\n");
    static const char *const expected[][2] = {
        {"k", "other"}, {"k", "real"}, {"k", "target"}, {"other", "real"}};
    struct bytes graph = section(&outcome, ".nv.callgraph")->data;
    size_t at = 1;
    for (size_t i = 0; i < 4; i++, at++) {
        ck_assert(
            text_equal(symbol_name(&outcome, info_word(graph, 2 * at)), text_of(expected[i][0])));
        ck_assert(text_equal(symbol_name(&outcome, info_word(graph, 2 * at + 1)),
                             text_of(expected[i][1])));
    }
    ck_assert_int_eq((int32_t)info_word(graph, 2 * at + 1), CALLGRAPH_ADDRESS);
    ck_assert_int_eq((int32_t)info_word(graph, 2 * at + 3), CALLGRAPH_INDIRECT);
    struct text prototype = cubin_string(&outcome.cubin, info_word(graph, 2 * at + 5));
    ck_assert(text_equal(prototype, TEXT("#v")));
    ck_assert_uint_eq(symbol(&outcome, "other")->section, symbol(&outcome, "real")->section);
    ck_assert_uint_eq(symbol(&outcome, "other")->value, symbol(&outcome, "real")->value);
}

TEST(register_parameters_are_the_first_registers)
{
    OWNED_OUTCOME outcome = assemble_chunk(
        HEADER ".visible .func (.reg .u32 r) f(.reg .u32 a, .reg .u64 b) {\n"
               " .reg .u64 %d; add.u64 %d, b, b; cvt.u32.u64 r, %d; add.u32 r, r, a; }\n");
    OWNED(buffer) line = {0};
    ck_assert_int_eq(outcome.code, MINILINK_OK);
    ck_assert_uint_gt(encode_print(section(&outcome, ".text.f")->data, 0, &line, NULL, NULL), 0);
    ck_assert(text_equal(buffer_view(&line), TEXT("add.u64 R8:R9, R6:R7, R6:R7")));
}

/* --- Textures, samplers and surfaces. --- */

#define TEXTURES                                                                                   \
    INDEPENDENT ".global .texref t;\n.extern .global .surfref s;\n"                                \
                ".global .samplerref m = {addr_mode_1 = clamp_to_edge, filter_mode = linear, "     \
                "force_unnormalized_coords = 1};\n.visible .global .u64 handle = t;\n"             \
                ".visible .entry k(.param .u64 p, .param .surfref image, .param .u32 n) {\n"       \
                ".reg .b32 %r<3>; .reg .f32 %f<5>; ld.param.u32 %r1, [n];\n"                       \
                "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, m, {%r1}];\n"                         \
                "suld.b.1d.b32.trap %r2, [image, {%r1}]; ret; }\n"

TEST(references_have_symbols_and_no_bytes)
{
    static const struct {
        const char *name;
        uint8_t type;
    } expected[] = {{"t", STT_CUDA_TEXTURE}, {"s", STT_CUDA_SURFACE}, {"m", STT_CUDA_SAMPLER}};
    OWNED_OUTCOME outcome = assemble_chunk(TEXTURES);
    for (size_t i = 0; i < 3; i++) {
        const struct cubin_symbol *found = symbol(&outcome, expected[i].name);
        ck_assert_uint_eq(found->type, expected[i].type);
        ck_assert_uint_eq(found->binding, STB_GLOBAL);
        ck_assert_uint_eq(found->section, SHN_UNDEF);
        ck_assert_uint_eq(found->size, 0);
    }
    const struct cubin_section *rela = section(&outcome, ".rela.text.k");
    ck_assert_uint_eq(rela->relocation_count, 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert_uint_eq(rela->relocations[i].type, R_CUDA_CONST_FIELD21_38);
    ck_assert_uint_eq(section(&outcome, ".rela.nv.global.init")->relocations[0].type, R_CUDA_G64);
}

TEST(a_reference_as_a_parameter_has_no_place_among_the_others)
{
    struct info_record record;
    OWNED_OUTCOME outcome = assemble_chunk(TEXTURES);
    const struct cubin_symbol *image = symbol(&outcome, "image");
    ck_assert_uint_eq(image->type, STT_CUDA_SURFACE);
    ck_assert_uint_eq(image->binding, STB_LOCAL);
    ck_assert_uint_eq(image->section, cubin_section_find(&outcome.cubin, TEXT(".text.k")));
    ck_assert(find_record(&outcome, ".nv.info.k", EIATTR_CBANK_PARAM_SIZE, &record));
    ck_assert_uint_eq(record.value, 12);
    struct bytes rest = section(&outcome, ".nv.info.k")->data;
    size_t found = 0;
    while (info_next(&rest, &record)) {
        if (record.attribute != EIATTR_KPARAM_INFO || !info_symbol_words(&record))
            continue;
        ck_assert(text_equal(symbol_name(&outcome, info_word(record.payload, 0)), TEXT("image")));
        ck_assert_uint_eq(info_word(record.payload, 1), 0xffff0001);
        ck_assert_uint_eq(info_word(record.payload, 2), 0x1f700);
        found++;
    }
    ck_assert_uint_eq(found, 1);
}

/* A kernel says so in records of its own. */
TEST(a_module_without_kernels_says_which_mercury_it_is_of)
{
    struct info_record record;
    OWNED_OUTCOME kernel = assemble_chunk(HEADER ".visible .entry k() { ret; }\n");
    ck_assert(!find_record(&kernel, ".nv.info", EIATTR_MERCURY_ISA_VERSION, &record));
    OWNED_OUTCOME function = assemble_chunk(HEADER ".visible .func f() { ret; }\n");
    ck_assert(find_record(&function, ".nv.info", EIATTR_MERCURY_ISA_VERSION, &record));
}

/* --- What is refused. --- */

/* A kernel that calls functions. */
#define CALL(call)                                                                                 \
    HEADER ".extern .global .b64 v;\n.extern .func take(.param .b64 a);\n"                         \
           ".extern .func (.param .b64 r) give();\n"                                               \
           ".visible .entry k(.param .b64 p) { .reg .b64 d; .shared .b64 s; .param .b64 q;\n" call \
           " ret; }\n"

static const struct {
    const char *ptx;
    const char *message;
} errors[] = {
    {HEADER ".visible .entry k() {\n  frob.u32 %r1;\n}\n", "chunk:5:3: error: Unknown instruction"},
    {HEADER ".visible .entry k() {\n\tld.global.u32 %r1, [x];\n}\n", "chunk:5:16: error: '%r1'"},
    {HEADER ".func f();\n.visible .entry k() { ret; }\n",
     "chunk:4: error: Unresolved extern function 'f'"},
    {HEADER ".visible .func f() { ret; }\n.visible .func f() { ret; }\n",
     "chunk:5: error: Duplicate definition of function 'f'"},
    {HEADER ".global .u32 f;\n.extern .func f();\n",
     "chunk:5: error: Inconsistent redefinition of variable 'f'"},
    {HEADER ".extern .func f();\n.visible .func g();\n.alias g, f;\n",
     "chunk:6: error: Alias 'g' stands for a function that is not defined"},
    {HEADER ".visible .global .u64 p = nothing;\n",
     "chunk:4:27: error: Invalid initial value symbol 'nothing'"},
    {HEADER ".visible .entry k() {\n.global .u32 a = 1.5;\nret; }\n",
     "chunk:5:21: error: Initial value type mismatch in the initial value of 'a'"},
    {HEADER ".visible .entry k(.param .align 4 .b8 p[40000]) { ret; }\n",
     "Entry function 'k' uses too much parameter space (0x9c40 bytes, 0x7ffc max)"},
    {HEADER ".visible .entry k() { .local .b8 x[6000000000]; ret; }\n",
     "Function 'k' uses too much local memory"},
    {HEADER ".visible .entry k() { .global .texref t; ret; }\n",
     "Texture/surface variable must be at module or entry parameter scope"},
    {HEADER ".const .texref t;\n",
     "chunk:4:16: error: Texture and surface variables must be declared in .global space"},
    {HEADER ".tex .u32 t;\n", "Deprecated feature: '.tex' not supported"},
    {HEADER ".visible .func f(.param .texref t) { ret; }\n",
     "Variable 't' cannot be allocated in .param state space"},
    {".version 8.6\n.target sm_100\n.address_size 64\n",
     "SM version specified by .target is higher"},
    {".version 8.0\n.target sm_90\n.address_size 32\n",
     "32-Bit ABI (--machine 32 or 32-Bit addressing) is not supported on sm_90"},
    {".version 8.0\n.target sm_90a\n.address_size 64\n", "PTX with .target 'sm_90a'"},
    {CALL("call take, (v);"), "chunk:8: error: Call argument 'v' has illegal state space"},
    {CALL("call (s), give;"), "chunk:8: error: Call argument 's' has illegal state space"},
    {CALL("call take, (take);"), "Call argument 'take' has illegal state space"},
    {CALL("call take, (%laneid);"), "Call argument '%laneid' has illegal state space"},
    {CALL("call take, ([v]);"), "Call argument 'v' has illegal state space"},
    {CALL("call d, (v), t; t: .callprototype _ (.param .b64 a);"),
     "Call argument 'v' has illegal state space"},
    {CALL("call take, (p);"),
     "Formal parameter 'p' declared in .param space cannot be used as argument to call"},
    {CALL("call take, (q, q);"), "Call of 'take' has wrong number of parameters"},
    {CALL("call (d), take, (q);"), "Call of 'take' has wrong number of parameters"},
    {"", "chunk:"},
    {"garbage", "chunk:1:1"},
};

TEST_LOOP(a_fault_is_told_with_its_place, COUNT(errors))
{
    OWNED_OUTCOME outcome = assemble_chunk(errors[_i].ptx);
    ck_assert_int_eq(outcome.code, MINILINK_FAILED);
    ck_assert_ptr_nonnull(outcome.result.log);
    ck_assert_msg(strstr(outcome.result.log, errors[_i].message) != NULL, "%s\ninstead of\n%s",
                  outcome.result.log, errors[_i].message);
}

TEST(registers_numbers_and_variables_of_the_body_are_arguments)
{
    OWNED_OUTCOME outcome = assemble_chunk(
        CALL("call (q), give; call take, (q); call (d), give; call take, (d); call take, (5);"));

    ck_assert_int_eq(outcome.code, MINILINK_OK);
}

/* How many wrong calls one body is told of. */
TEST(wrong_calls_are_told_one_by_one_up_to_twenty)
{
    static const int counts[][2] = {{1, 1}, {2, 2}, {19, 19}, {20, 20}, {21, 20}, {40, 20}};

    for (int row = 0; row < COUNT(counts); row++) {
        OWNED(buffer) ptx = {0};
        OWNED_OUTCOME outcome;
        const char *at;
        int told = 0;

        buffer_string(&ptx, HEADER ".visible .func take(.param .b32 a) { ret; }\n"
                                   ".visible .entry k() { .reg .b32 v;\n");
        for (int i = 0; i < counts[row][0]; i++)
            buffer_string(&ptx, "call take, (take);\n");
        buffer_string(&ptx, "ret; }\n");
        buffer_char(&ptx, '\0');
        outcome = assemble_chunk(ptx.data);
        ck_assert_int_eq(outcome.code, MINILINK_FAILED);
        for (at = outcome.result.log; (at = strstr(at, "illegal state space")) != NULL; at++)
            told++;
        ck_assert_int_eq(told, counts[row][1]);
    }
}
