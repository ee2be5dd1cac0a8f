/* check_builtin.c: the built-in assembler as its callers see it: PTX in, a cubin that reads back,
 * or a message with its place. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/context.h"
#include "cubin/cubin.h"
#include "cubin/format.h"
#include "diag/diag.h"
#include "toy/builtin.h"
#include "chunk_job.h"
#include "suite.h"

#define HEADER ".version 8.0\n.target sm_90\n.address_size 64\n"

/* Only there samplers are objects of their own. */
#define INDEPENDENT ".version 8.0\n.target sm_90, texmode_independent\n.address_size 64\n"

/* --- Assembling and reading back. --- */

struct outcome {
    int code;
    struct minilink_result result;
    struct cubin cubin;
    bool is_read;
};

static struct outcome assemble_job(const struct minilink_job *job)
{
    struct outcome outcome = {.result = {.size = sizeof outcome.result}};
    outcome.code = builtin_assembler.assemble(builtin_assembler.state, job, &outcome.result);
    if (outcome.code == MINILINK_WARNED && outcome.result.cubin)
        outcome.code = MINILINK_OK;
    if (outcome.code == MINILINK_OK) {
        struct bytes bytes = {outcome.result.cubin, outcome.result.cubin_size};
        outcome.is_read = cubin_read(&outcome.cubin, "chunk.cubin", bytes);
        ck_assert_msg(outcome.is_read, "the cubin does not read back");
    } else {
        ck_assert_ptr_null(outcome.result.cubin);
    }
    return outcome;
}

static struct outcome assemble(const char *ptx)
{
    struct minilink_job job = chunk_job(ptx, "sm_90");
    return assemble_job(&job);
}

static void release(struct outcome *outcome)
{
    if (outcome->is_read)
        cubin_free(&outcome->cubin);
    free(outcome->result.cubin);
    free(outcome->result.log);
}

static const struct cubin_section *section(const struct outcome *outcome, const char *name)
{
    uint32_t index = cubin_section_find(&outcome->cubin, text_of(name));
    ck_assert_msg(index != 0, "no section %s", name);
    return &outcome->cubin.sections[index];
}

static const struct cubin_symbol *symbol(const struct outcome *outcome, const char *name)
{
    for (size_t i = 1; i < outcome->cubin.symbol_count; i++)
        if (text_equal(outcome->cubin.symbols[i].name, text_of(name)) &&
            outcome->cubin.symbols[i].type != STT_SECTION)
            return &outcome->cubin.symbols[i];
    ck_abort_msg("no symbol %s", name);
    return NULL;
}

static struct text symbol_name(const struct outcome *outcome, uint64_t index)
{
    return outcome->cubin.symbols[index].name;
}

/* The first record of that attribute in a section. */
static bool find_record(const struct outcome *outcome, const char *name, uint8_t attribute,
                        struct info_record *record)
{
    struct bytes rest = section(outcome, name)->data;
    while (info_next(&rest, record))
        if (record->attribute == attribute)
            return true;
    return false;
}

/* Everything that the cubin says about one function, with names instead of indices. */
static struct buffer describe(const struct outcome *outcome, const char *function)
{
    struct buffer out = {0};
    char name[64];
    snprintf(name, sizeof name, ".text.%s", function);
    const struct cubin_section *text = section(outcome, name);
    buffer_append(&out, text->data.data, text->data.size);
    snprintf(name, sizeof name, ".rela.text.%s", function);
    uint32_t rela = cubin_section_find(&outcome->cubin, text_of(name));
    for (size_t i = 0; rela && i < outcome->cubin.sections[rela].relocation_count; i++) {
        const struct cubin_relocation *at = &outcome->cubin.sections[rela].relocations[i];
        buffer_printf(&out, "%llx %x %.*s %lld\n", (unsigned long long)at->offset, at->type,
                      TEXT_ARG(symbol_name(outcome, at->symbol)), (long long)at->addend);
    }
    snprintf(name, sizeof name, ".nv.info.%s", function);
    struct bytes rest = section(outcome, name)->data;
    for (struct info_record record; info_next(&rest, &record);) {
        size_t symbols = info_symbol_words(&record);
        buffer_printf(&out, "%x %x:", record.attribute, record.value);
        for (size_t i = 0; i < record.payload.size / 4; i++) {
            uint32_t word = info_word(record.payload, i);
            if (i < symbols)
                buffer_printf(&out, " %.*s", TEXT_ARG(symbol_name(outcome, word)));
            else
                buffer_printf(&out, " %x", word);
        }
        buffer_char(&out, '\n');
    }
    const struct cubin_symbol *own = symbol(outcome, function);
    buffer_printf(&out, "%u %u %u %llu", own->type, own->binding, own->other,
                  (unsigned long long)own->size);
    return out;
}

static char *read_file(const char *folder, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    struct buffer text = {0};
    for (int c; (c = getc(file)) != EOF;)
        buffer_char(&text, (char)c);
    fclose(file);
    return buffer_take(&text, NULL);
}

/* --- Whole inputs. --- */

static const struct {
    const char *name;
    const char *error; /* in the log, or NULL when it assembles */
} split_cases[] = {
    {"01_static_func_two_users.ptx", NULL},
    {"02_static_var_two_users.ptx", NULL},
    {"03_fwd_decl_func.ptx", NULL},
    {"04_unused_decl.ptx", NULL},
    {"05_init_addr_of_func.ptx", NULL},
    {"06_init_addr_of_var.ptx", NULL},
    {"07_shared_static_func.ptx", NULL},
    {"08_shared_dynamic.ptx", NULL},
    {"09_body_shared_in_func.ptx", NULL},
    {"10_body_static_global.ptx", NULL},
    {"11_alias.ptx", NULL},
    {"12_common.ptx", NULL},
    {"13_weak_func.ptx", NULL},
    {"14_mutual_recursion.ptx", NULL},
    {"15_addr_taken_internal.ptx", NULL},
    {"16_calltargets.ptx", NULL},
    {"17_noreturn.ptx", NULL},
    {"18_entry_addr_directives.ptx", NULL},
    {"19_managed.ptx", NULL},
    {"20_const_limit.ptx", "File uses too much global constant data (0x13880 bytes, 0x10000 max)"},
    {"21_texsurf.ptx", NULL},
    {"22_comments_strings.ptx", NULL},
    {"23_name_prefixes.ptx", NULL},
    {"24_lineinfo.ptx", NULL},
    {"25_one_function.ptx", NULL},
    {"26_no_function.ptx", NULL},
    {"27_init_only_reachable.ptx", NULL},
    {"28_unreferenced_visible_var.ptx", NULL},
    {"29_extern_undefined.ptx", NULL},
    {"30_internal_entry.ptx", NULL},
    {"31_extern_then_def_var.ptx", NULL},
    {"32_debug_info.ptx", NULL},
    {"33_unsized_array.ptx", NULL},
    {"34_multi_decl_line.ptx", NULL},
    {"35_two_modules.ptx", "chunk:21:1: error: Duplicate .version directive"},
    {"36_proto_mismatch_guard.ptx", NULL},
    {"37_alias_address.ptx", NULL},
};

TEST_LOOP(every_split_case_gives_a_readable_cubin, COUNT(split_cases))
{
    char *ptx = read_file("fixtures/split", split_cases[_i].name);
    for (int twice = 0; twice < 2; twice++) {
        struct minilink_job job = chunk_job(ptx, twice ? "sm_100" : "sm_90");
        struct outcome outcome = assemble_job(&job);
        const char *error = split_cases[_i].error;
        ck_assert_msg(outcome.code == (error ? MINILINK_FAILED : MINILINK_OK), "%s: code %d\n%s",
                      split_cases[_i].name, outcome.code,
                      outcome.result.log ? outcome.result.log : "");
        if (error)
            ck_assert_ptr_nonnull(strstr(outcome.result.log, error));
        else
            ck_assert_uint_eq(CUBIN_FLAGS_SM(outcome.cubin.flags), job.sm);
        release(&outcome);
    }
    free(ptx);
}

TEST(the_same_text_gives_the_same_bytes)
{
    char *ptx = read_file("fixtures/split", "15_addr_taken_internal.ptx");
    struct outcome a = assemble(ptx);
    struct outcome b = assemble(ptx);
    ck_assert_uint_eq(a.result.cubin_size, b.result.cubin_size);
    ck_assert_mem_eq(a.result.cubin, b.result.cubin, a.result.cubin_size);
    release(&a);
    release(&b);
    free(ptx);
}

#define VARIABLES        ".visible .global .align 4 .u32 g = 7;\n.visible .shared .align 8 .b8 s[64];\n"
#define EXTERN_VARIABLES ".extern .global .align 4 .u32 g;\n.extern .shared .align 8 .b8 s[64];\n"
#define CALLEE_HEAD      ".func (.param .b32 r) callee(.param .b32 a)"
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

TEST(a_function_does_not_depend_on_its_chunk)
{
    static const char *const chunks[] = {
        HEADER ".extern " CALLEE_HEAD ";\n" VARIABLES USER,
        HEADER ".extern " CALLEE_HEAD ";\n" EXTERN_VARIABLES
               ".visible .entry other() { bar.sync 0; ret; }\n"
               ".visible .func more(.param .b64 a) { ret; }\n" USER,
    };
    struct outcome first = assemble(chunks[0]);
    struct outcome second = assemble(chunks[1]);
    struct buffer a = describe(&first, "user");
    struct buffer b = describe(&second, "user");
    ck_assert_uint_eq(a.size, b.size);
    ck_assert_mem_eq(a.data, b.data, a.size);
    buffer_free(&a);
    buffer_free(&b);
    release(&first);
    release(&second);
}

/* --- The container. --- */

TEST(a_kernel_has_its_sections_symbols_and_records)
{
    struct outcome outcome = assemble(HEADER ".extern " CALLEE_HEAD ";\n" VARIABLES USER);
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
    release(&outcome);
}

TEST(addresses_in_data_become_relocations)
{
    struct outcome outcome =
        assemble(HEADER ".extern .func ext();\n.global .align 4 .b8 g[16] = {7};\n"
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
    release(&outcome);
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
    char ptx[512];
    snprintf(ptx, sizeof ptx,
             HEADER "%s\n.visible .entry k() { .reg .b64 %%rd; mov.u64 %%rd, f; ret; }\n",
             prototypes[_i].head);
    struct outcome outcome = assemble(ptx);
    struct bytes graph = section(&outcome, ".nv.callgraph")->data;
    /* (0, -1) (0, -2) (f, prototype) ... */
    ck_assert_int_eq((int32_t)info_word(graph, 3), CALLGRAPH_ADDRESS);
    ck_assert(text_equal(symbol_name(&outcome, info_word(graph, 4)), TEXT("f")));
    struct text found = cubin_string(&outcome.cubin, info_word(graph, 5));
    ck_assert_msg(text_equal(found, text_of(prototypes[_i].signature)), "%.*s instead of %s",
                  TEXT_ARG(found), prototypes[_i].signature);
    release(&outcome);
}

TEST(calls_stand_in_the_call_graph)
{
    struct outcome outcome = assemble(
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
    release(&outcome);
}

static const struct {
    const char *directives;
    uint32_t option;
    unsigned limit;
} budgets[] = {
    {"", 0, 0xff},
    {"", 100, 100},
    {"", 8, 24},
    {".maxnreg 33", 100, 33},
    {".maxnreg 8", 0, 24},
    {".maxntid 1024", 100, 64},
    {".maxntid 1024 .minnctapersm 2", 0, 32},
    {".maxntid 300 .minnctapersm 2", 0, 96},
    {".reqntid 768", 0, 80},
    {".maxntid 1024 .minnctapersm 4", 0, 64},
    {".minnctapersm 16", 0, 0xff},
};

TEST_LOOP(register_limits_follow_directives_and_option, COUNT(budgets))
{
    char ptx[256];
    struct info_record record;
    snprintf(ptx, sizeof ptx, HEADER ".visible .entry k() %s { ret; }\n", budgets[_i].directives);
    struct minilink_job job = chunk_job(ptx, "sm_90");
    job.maxrregcount = budgets[_i].option;
    struct outcome outcome = assemble_job(&job);
    ck_assert_int_eq(outcome.code, MINILINK_OK);
    ck_assert(find_record(&outcome, ".nv.info.k", EIATTR_MAXREG_COUNT, &record));
    ck_assert_uint_eq(record.value, budgets[_i].limit);
    release(&outcome);
}

TEST(register_parameters_travel_through_the_frame)
{
    struct outcome outcome =
        assemble(HEADER ".visible .func (.reg .u32 r) f(.reg .u32 a, .reg .u64 b) {\n"
                        " .reg .pred %p; setp.eq.u32 %p, a, 0; add.u32 r, a, 1; @%p ret; }\n");
    struct info_record record;
    ck_assert_int_eq(outcome.code, MINILINK_OK);
    ck_assert(find_record(&outcome, ".nv.info", EIATTR_FRAME_SIZE, &record));
    ck_assert_uint_eq(info_word(record.payload, 1), 24);
    release(&outcome);
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
    struct outcome outcome = assemble(TEXTURES);
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
    release(&outcome);
}

TEST(a_reference_as_a_parameter_has_no_place_among_the_others)
{
    struct info_record record;
    struct outcome outcome = assemble(TEXTURES);
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
    release(&outcome);
}

TEST(samplers_have_records_with_their_values)
{
    struct info_record record;
    struct outcome outcome = assemble(TEXTURES);
    ck_assert(find_record(&outcome, ".nv.info", EIATTR_SAMPLER_INIT, &record));
    ck_assert(text_equal(symbol_name(&outcome, info_word(record.payload, 0)), TEXT("m")));
    ck_assert_uint_eq(info_word(record.payload, 1), 0x01ff03ff);
    ck_assert(find_record(&outcome, ".nv.info", EIATTR_SAMPLER_FORCE_UNNORMALIZED, &record));
    ck_assert_uint_eq(info_word(record.payload, 1), 1);
    release(&outcome);
}

TEST(a_sampler_may_say_that_its_coordinates_are_normalized)
{
    struct info_record record;
    struct outcome outcome = assemble(
        INDEPENDENT ".global .samplerref m = {force_unnormalized_coords = 0};\n"
                    ".global .texref t;\n.visible .entry k() { .reg .b32 %r1; .reg .f32 %f<5>;\n"
                    "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, m, {%r1}]; ret; }\n");
    ck_assert(find_record(&outcome, ".nv.info", EIATTR_SAMPLER_FORCE_UNNORMALIZED, &record));
    ck_assert_uint_eq(info_word(record.payload, 1), 0);
    release(&outcome);
}

/* A kernel says so in records of its own. */
TEST(a_module_without_kernels_says_which_mercury_it_is_of)
{
    struct info_record record;
    struct outcome outcome = assemble(HEADER ".visible .entry k() { ret; }\n");
    ck_assert(!find_record(&outcome, ".nv.info", EIATTR_MERCURY_ISA_VERSION, &record));
    release(&outcome);
    outcome = assemble(HEADER ".visible .func f() { ret; }\n");
    ck_assert(find_record(&outcome, ".nv.info", EIATTR_MERCURY_ISA_VERSION, &record));
    release(&outcome);
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
    {INDEPENDENT ".global .samplerref m = {filter_mode = wrap};\n",
     "Invalid initial value of sampler 'm'"},
    {INDEPENDENT ".global .samplerref m = {addr_mode_3 = wrap};\n",
     "Invalid initial value of sampler 'm'"},
    {INDEPENDENT ".global .samplerref m = {filter_mode : linear};\n",
     "Invalid initial value of sampler 'm'"},
    {INDEPENDENT ".global .samplerref m = {filter_mode = (};\n",
     "Invalid initial value of sampler 'm'"},
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
    struct outcome outcome = assemble(errors[_i].ptx);
    ck_assert_int_eq(outcome.code, MINILINK_FAILED);
    ck_assert_ptr_nonnull(outcome.result.log);
    ck_assert_msg(strstr(outcome.result.log, errors[_i].message) != NULL, "%s\ninstead of\n%s",
                  outcome.result.log, errors[_i].message);
    release(&outcome);
}

TEST(registers_numbers_and_variables_of_the_body_are_arguments)
{
    struct outcome outcome = assemble(
        CALL("call (q), give; call take, (q); call (d), give; call take, (d); call take, (5);"));

    ck_assert_int_eq(outcome.code, MINILINK_OK);
    release(&outcome);
}

/* How many wrong calls one body is told of. */
TEST(wrong_calls_are_told_one_by_one_up_to_twenty)
{
    static const int counts[][2] = {{1, 1}, {2, 2}, {19, 19}, {20, 20}, {21, 20}, {40, 20}};

    for (int row = 0; row < COUNT(counts); row++) {
        struct buffer ptx = {0};
        struct outcome outcome;
        const char *at;
        int told = 0;

        buffer_string(&ptx, HEADER ".visible .func take(.param .b32 a) { ret; }\n"
                                   ".visible .entry k() { .reg .b32 v;\n");
        for (int i = 0; i < counts[row][0]; i++)
            buffer_string(&ptx, "call take, (take);\n");
        buffer_string(&ptx, "ret; }\n");
        buffer_char(&ptx, '\0');
        outcome = assemble(ptx.data);
        ck_assert_int_eq(outcome.code, MINILINK_FAILED);
        for (at = outcome.result.log; (at = strstr(at, "illegal state space")) != NULL; at++)
            told++;
        ck_assert_int_eq(told, counts[row][1]);
        release(&outcome);
        buffer_free(&ptx);
    }
}

TEST(a_cancelled_job_gives_no_cubin)
{
    volatile int cancelled = 1;
    struct minilink_job job = chunk_job(HEADER ".visible .entry k() { ret; }\n", "sm_90");
    job.cancelled = &cancelled;
    struct outcome outcome = assemble_job(&job);
    ck_assert_int_eq(outcome.code, MINILINK_CANCELLED);
    release(&outcome);
}

TEST(verbose_reports_what_each_function_uses)
{
    static const char *const options[] = {"-v", NULL};
    struct minilink_job job =
        chunk_job(HEADER ".visible .entry k() { bar.sync 0; ret; }\n", "sm_90");
    struct outcome quiet = assemble_job(&job);
    job.options = options;
    struct outcome loud = assemble_job(&job);
    ck_assert_ptr_null(quiet.result.log);
    ck_assert_ptr_nonnull(strstr(loud.result.log, "Compiling entry function 'k' for 'sm_90'"));
    ck_assert_ptr_nonnull(strstr(loud.result.log, "Used 4 registers, used 1 barriers"));
    release(&quiet);
    release(&loud);
}
