/* check_split.c: chunks are complete and together are the program.
 *
 * Each case of fixtures/split begins with what is tricky about it and what is expected. Every case
 * is split into 1 to 16 chunks; the chunks are parsed and linked again, which shows that each can
 * be assembled alone and that nothing is missing, twice, or different. */
#include "ptx/lexer.h"
#include "ptx/module.h"
#include "split/internal.h"
#include "files.h"
#include "split_fixture.h"

#define MOST 16

static struct buffer load_case(const char *name)
{
    return files_load(suite_print("fixtures/split/%s.ptx", name));
}

/* Links and splits; minimum size 1, so that every function may be a chunk. */
static void split_by(enum split_policy policy, const struct program_source *sources, size_t count,
                     uint32_t wanted)
{
    const struct split_request request = {
        .policy = policy, .wanted = wanted, .minimum_bytes = 1, .arch = {90, 0}};

    split_sources(sources, count, &request);
}

static void split(const struct program_source *sources, size_t count, uint32_t wanted)
{
    split_by(SPLIT_BALANCED, sources, count, wanted);
}

static void split_text(const char *text, uint32_t wanted)
{
    struct program_source source = {"a.ptx", text_of(text)};

    split(&source, 1, wanted);
}

/* What is known of one name over all chunks. */
struct count {
    uint32_t defined, internal, weak, common, declared;
};

struct names {
    struct table table;
    struct count counts[256];
};

static void count_items(const struct ptx_module *module, struct names *names)
{
    for (size_t i = 0; i < module->item_count; i++) {
        const struct ptx_item *item = &module->items[i];
        struct count *count;
        uint32_t at;

        if (item->kind != PTX_FUNCTION && item->kind != PTX_VARIABLE && item->kind != PTX_ALIAS)
            continue;
        at = table_add(&names->table, item->name, (uint32_t)names->table.count);
        ck_assert_uint_lt(at, 256);
        count = &names->counts[at];
        if (item->kind == PTX_ALIAS || item->is_definition) {
            count->defined++;
            count->internal += item->kind != PTX_ALIAS && item->linkage == PTX_INTERNAL;
            count->weak += item->linkage == PTX_WEAK;
            count->common += item->linkage == PTX_COMMON;
        } else {
            count->declared += item->linkage == PTX_EXTERN;
        }
    }
}

/* Every word that is a symbol's name and no opcode is declared or defined in the chunk. */
static void check_words(const struct chunk *chunk, const struct table *known)
{
    OWNED(table) all = {0};
    struct lexer lexer = lexer_at(chunk->text, 0);
    struct token token;

    for (size_t i = 0; i < chunks.symbol_count; i++)
        table_add(&all, chunks.symbols[i].name, 0);
    while ((token = lexer_next(&lexer)).kind != TOKEN_END) {
        struct text word = lexer_text(&lexer, token);
        size_t behind = token.offset + token.size;

        if (token.kind == TOKEN_WORD && table_find(&all, word) != TABLE_NONE &&
            chunk->text.data[behind] != '.')
            ck_assert_msg(table_find(known, word) != TABLE_NONE, "%.*s is not declared in chunk %u",
                          TEXT_ARG(word), chunk->index);
    }
}

static void check_chunk(const struct chunk *chunk, struct names *all, struct arena *arena)
{
    struct ptx_module module;
    struct names here = {0};
    struct module_cursor cursor = {0};

    ck_assert_int_eq(chunk->text.data[chunk->text.size], '\0');
    do {
        ck_assert(module_parse(&module, arena, "chunk", chunk->text, &cursor));
        count_items(&module, all);
        count_items(&module, &here);
    } while (!module_at_end(chunk->text, cursor.offset));
    check_words(chunk, &here.table);
    table_free(&here.table);
}

/* Each symbol is defined once, or is a legal replica everywhere. */
static void check_counts(const struct names *names)
{
    for (size_t i = 0; i < chunks.symbol_count; i++) {
        uint32_t at = table_find(&names->table, chunks.symbols[i].name);
        const struct count *count = &names->counts[at];
        struct text name = chunks.symbols[i].name;

        ck_assert_msg(at != TABLE_NONE, "%.*s is nowhere", TEXT_ARG(name));
        if (count->defined == 0)
            ck_assert_msg(count->declared > 0, "%.*s", TEXT_ARG(name));
        if (count->declared > 0)
            ck_assert_msg(count->internal == 0, "%.*s is extern and internal", TEXT_ARG(name));
        if (count->defined <= 1)
            continue;
        ck_assert_msg(count->internal == count->defined || count->weak == count->defined ||
                          count->common == count->defined,
                      "%.*s is defined %u times", TEXT_ARG(name), count->defined);
        if (count->internal)
            ck_assert_msg(chunks.symbols[i].is_function, "%.*s is replicated", TEXT_ARG(name));
    }
}

/* The chunks link to a program with the same global symbols. */
static void check_linking(void)
{
    struct program_request request = {.arch = {90, 0}, .keep_dead = true, .allow_undefined = true};
    FREED struct program_source *sources = calloc(chunks.count, sizeof *sources);
    OWNED(program) again = {0};

    for (size_t i = 0; i < chunks.count; i++)
        sources[i] = (struct program_source){"chunk", chunks.list[i].text};
    ck_assert_msg(program_link(&again, sources, chunks.count, &request), "%s", messages_said());
}

static void check_all(void)
{
    OWNED(arena) arena = {0};
    struct names names = {0};

    for (size_t i = 0; i < chunks.count; i++) {
        ck_assert_uint_eq(chunks.list[i].index, i);
        check_chunk(&chunks.list[i], &names, &arena);
    }
    check_counts(&names);
    check_linking();
    table_free(&names.table);
}

/* Names separated by blanks, each with the linkage that it has in the chunk that defines it:
 * i internal, v visible, w weak, c common, - not defined; a number of definitions other than 1. */
static const struct {
    const char *name;
    uint32_t chunks_of_2, chunks_of_16;
    const char *symbols; /* with 16 wanted */
} cases[] = {
    {"01_static_func_two_users", 2, 2, "v:sf v:k0 v:k1"},
    {"02_static_var_two_users", 2, 2, "v:g"},
    {"03_fwd_decl_func", 2, 3, "v:f"},
    {"04_unused_decl", 2, 3, "i:f"},
    {"05_init_addr_of_func", 2, 4, "v:f0 v:f1 v:tab"},
    {"06_init_addr_of_var", 2, 2, "v:g v:q0 v:q1 v:q2"},
    {"07_shared_static_func", 2, 3, "w3:g i:h v:f"},
    {"08_shared_dynamic", 2, 2, "-:dyn"},
    {"09_body_shared_in_func", 2, 3, "v:f"},
    {"10_body_static_global", 2, 3, "v:f"},
    {"11_alias", 2, 3, "v:foo"},
    {"12_common", 2, 2, "c2:c"},
    {"13_weak_func", 2, 3, "w:f"},
    {"14_mutual_recursion", 2, 2, "i:ev v:od"},
    {"15_addr_taken_internal", 2, 3, "v:f"},
    {"16_calltargets", 2, 4, "v:f0 v:f1"},
    {"17_noreturn", 2, 3, "v:die"},
    {"18_entry_addr_directives", 2, 2, "v:k0 v:k1"},
    {"19_managed", 2, 2, "v:g"},
    {"20_const_limit", 2, 2, "v:g v:h"},
    {"21_texsurf", 2, 2, "v:tx v:sx"},
    {"22_comments_strings", 2, 2, "v:k0 v:k1"},
    {"23_name_prefixes", 2, 3, "i:f i:f$1 i:$f i:add v:g"},
    {"24_lineinfo", 2, 2, "v:k0 v:k1"},
    {"25_one_function", 1, 1, "v:g v:k0"},
    {"26_no_function", 1, 1, "v:g"},
    {"27_init_only_reachable", 2, 2, "i:hidden i:pp"},
    {"28_unreferenced_visible_var", 2, 2, "v:hostvar v:hostc"},
    {"29_extern_undefined", 2, 2, "-:xf -:xv"},
    {"30_internal_entry", 2, 2, "i:k0 v:k1"},
    {"31_extern_then_def_var", 2, 2, "v:a v:b"},
    {"32_debug_info", 1, 1, "v:k0 v:k1"},
    {"33_unsized_array", 2, 2, "v:g"},
    {"34_multi_decl_line", 2, 2, "v:k0 v:k1"},
    {"35_two_modules", 2, 4, "v:s v:a0 v:a1 v:b0 v:b1"},
    {"36_proto_mismatch_guard", 2, 3, "v:st"},
    {"37_alias_address", 2, 2, "v:foo i:table"},
};

/* Compares one "LINKAGE[COUNT]:NAME" with the chunks. */
static void check_symbol(const char *expectation, size_t size)
{
    static const char letters[] = {'i', '-', 'v', 'w', 'c'};
    const char *colon = memchr(expectation, ':', size);
    struct text name = {colon + 1, size - (size_t)(colon + 1 - expectation)};
    unsigned wanted = expectation[0] == '-' ? 0 : 1;
    OWNED(arena) arena = {0};
    unsigned found = 0;

    if (colon > expectation + 1)
        wanted = (unsigned)(expectation[1] - '0');
    for (size_t c = 0; c < chunks.count; c++) {
        struct ptx_module module;
        struct module_cursor cursor = {0};

        ck_assert(module_parse(&module, &arena, "chunk", chunks.list[c].text, &cursor));
        for (size_t i = 0; i < module.item_count; i++) {
            const struct ptx_item *item = &module.items[i];

            if (!text_equal(item->name, name) || !item->is_definition)
                continue;
            found++;
            ck_assert_msg(letters[item->linkage] == expectation[0], "%.*s is %c", TEXT_ARG(name),
                          letters[item->linkage]);
        }
    }
    ck_assert_msg(found == wanted, "%.*s is defined %u times", TEXT_ARG(name), found);
}

TEST_LOOP(case_splits_as_expected, COUNT(cases))
{
    OWNED(buffer) text = load_case(cases[_i].name);
    struct program_source source = {cases[_i].name, buffer_view(&text)};
    const char *at;

    for (uint32_t wanted = 1; wanted <= MOST; wanted++) {
        split(&source, 1, wanted);
        ck_assert_uint_le(chunks.count, wanted);
        if (wanted == 2)
            ck_assert_uint_eq(chunks.count, cases[_i].chunks_of_2);
        check_all();
    }
    for (uint32_t wanted = 2; wanted <= MOST; wanted++) {
        split_by(SPLIT_STABLE, &source, 1, wanted);
        ck_assert_uint_le(chunks.count, wanted);
        check_all();
    }
    split(&source, 1, MOST);
    ck_assert_uint_eq(chunks.count, cases[_i].chunks_of_16);
    ck_assert((chunks.count == 1) == (chunks.single_reason != NULL));
    for (at = cases[_i].symbols; *at;) {
        size_t size = strcspn(at, " ");

        check_symbol(at, size);
        at += size + (at[size] == ' ');
    }
    release();
}

TEST(all_cases_in_one_program_split)
{
    OWNED(buffer) first = load_case("35_two_modules"), second = load_case("24_lineinfo");
    struct program_source sources[3] = {
        {"a", buffer_view(&first)},
        {"b", buffer_view(&second)},
        {"c", TEXT(HEADER ".file 1 \"c.cu\"\n.visible .entry c() { .loc 1 2 3\n ret;\n .loc 1 2 3, "
                          "function_name $L__info_string0, inlined_at 1 4 5\n"
                          "$L__info_string1: bra s; s: ret; }\n"
                          ".section .debug_str { $L__info_string0: .b8 0 }")}};

    for (uint32_t wanted = 1; wanted <= MOST; wanted++) {
        split(sources, 3, wanted);
        check_all();
    }
    release();
}

static bool contains(const struct chunk *chunk, const char *words)
{
    return strstr(chunk->text.data, words) != NULL;
}

/* ptxas takes no directives in the declaration of a kernel, so one that is not known yet is
 * assumed to be about the body, too. */
TEST(what_is_not_known_of_a_kernel_stays_with_its_body)
{
    OWNED(buffer) text = load_case("18_entry_addr_directives");
    struct program_source source = {"later", buffer_view(&text)};
    char *known = memmem(text.data, text.size, ".maxnreg 40", 11);

    ck_assert_ptr_nonnull(known);
    memcpy(known, ".later 4, x", 11);
    split(&source, 1, 2);
    ck_assert_uint_eq(chunks.count, 2);
    check_all();
    for (size_t i = 0; i < chunks.count; i++)
        ck_assert(contains(&chunks.list[i], ".later") ==
                  contains(&chunks.list[i], ".visible .entry k0"));
    release();
}

TEST(file_numbers_labels_and_section_labels_do_not_clash)
{
    struct program_source sources[] = {
        {"a", TEXT(HEADER ".file 1 \"a.cu\"\n.global .u32 s;\n.visible .entry a() {\n.loc 1 2 3\n"
                          "ret; }\n.section .debug_str { $S0: .b8 1 }")},
        {"b", TEXT(HEADER ".file 1 \"b.cu\"\n.file 2 \"a.cu\"\n.visible .entry b() {\n"
                          ".loc 1 7 8, function_name $S0, inlined_at 2 9 9\n bra s; s:\n"
                          ".loc 2 7 8, function_name $S0+4, inlined_at 1 8 9\n ret; }\n"
                          ".section .debug_str { $S0: .b8 2 }")}};
    const struct chunk *chunk;

    split(sources, 2, 1);
    chunk = &chunks.list[0];
    ck_assert(contains(chunk, ".file\t1 \"a.cu\"") && contains(chunk, ".file\t2 \"b.cu\""));
    ck_assert(!contains(chunk, ".file\t3"));
    ck_assert(contains(chunk, ".loc 1 2 3"));
    ck_assert(contains(chunk, ".loc 2 7 8, function_name $S0$ml"));
    ck_assert(contains(chunk, "inlined_at 1 9 9"));
    ck_assert(contains(chunk, "+4, inlined_at 2 8 9"));
    ck_assert(contains(chunk, "{ $S0: .b8 1 }"));
    ck_assert(!contains(chunk, "{ $S0: .b8 2 }"));
    ck_assert(contains(chunk, "bra s$mll; s$mll:"));
    split(sources, 2, 2);
    ck_assert(!contains(&chunks.list[0], "b.cu") || !contains(&chunks.list[1], "b.cu"));
}

/* Who may have few registers is started early; chunks are cut by size all the same. */
TEST(attributes_give_priority)
{
    static const struct {
        const char *directives;
        uint64_t registers;
    } kernels[] = {
        {".maxnreg 32                    ", 32},  {".maxnreg 1                     ", 24},
        {".maxnreg 9999                  ", 255}, {".maxntid 512                   ", 128},
        {".reqntid 16, 16 .minnctapersm 4", 64},  {".maxntid 4294967295, 4294967295", 24},
        {".maxntid 2147483648,2147483648,4", 24}, {".minnctapersm 8                ", 255},
        {".maxntid 128 .maxnreg 40       ", 40},  {"                               ", 255},
    };
    OWNED(buffer) text = {0};

    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        text.size = 0;
        buffer_printf(&text, HEADER ".visible .entry k() %s { ret; }", kernels[i].directives);
        buffer_char(&text, '\0');
        split_text(text.data, 1);
        ck_assert_uint_gt(chunks.list[0].weight, 0);
        ck_assert_msg(chunks.list[0].priority == chunks.list[0].weight * 255 / kernels[i].registers,
                      "%s", kernels[i].directives);
    }
}

/* Kernels of two modules, each of which has a function that all its kernels call. */
static void write_family(struct buffer *out, char family, unsigned kernels)
{
    buffer_printf(out, HEADER ".func %c_own() { ret; }\n", family);
    for (unsigned i = 0; i < kernels; i++)
        buffer_printf(out,
                      ".visible .entry %c%u() { call %c_own, (); add.s32 %%r1, %%r1, 1; ret; }\n",
                      family, i, family);
}

TEST(small_functions_stay_with_their_neighbours)
{
    struct buffer texts[2] = {{0}, {0}};
    struct program_source sources[2];
    uint32_t replicas = 0;

    for (unsigned i = 0; i < 2; i++) {
        write_family(&texts[i], (char)('a' + i), 100);
        sources[i] = (struct program_source){"family", buffer_view(&texts[i])};
    }
    split(sources, 2, 12);
    ck_assert_uint_eq(chunks.count, 12);
    check_linking();
    for (size_t i = 0; i < chunks.count; i++)
        replicas += chunks.list[i].replica_count;
    /* One function in each chunk, and both where the modules meet. */
    ck_assert_uint_le(replicas, 13);
    /* The last chunks are small, so that all threads end at the same time. */
    ck_assert_uint_gt(chunks.list[0].weight, 2 * chunks.list[11].weight);
    for (size_t i = 1; i < chunks.count; i++)
        ck_assert_uint_le(chunks.list[i].weight, chunks.list[i - 1].weight + 100);
    for (unsigned i = 0; i < 2; i++)
        buffer_free(&texts[i]);
}

/* ptxas takes a file's number for its place in the table. */
TEST(file_tables_have_no_gap)
{
    struct program_source sources[] = {
        {"a", TEXT(HEADER ".file 1 \"a.cu\"\n.visible .entry a() { .loc 1 2 3\n ret; }")},
        {"b", TEXT(HEADER ".file 1 \"b.cu\"\n.visible .entry b() { .loc 1 4 3\n ret; }")}};
    const struct chunk *b;

    split(sources, 2, 2);
    ck_assert_uint_eq(chunks.count, 2);
    b = &chunks.list[contains(&chunks.list[1], ".entry b")];
    ck_assert(contains(b, ".loc 2 4 3") && contains(b, ".file\t2 \"b.cu\""));
    ck_assert(contains(b, ".file\t1 \"a.cu\""));
    split_by(SPLIT_STABLE, sources, 2, MOST);
    ck_assert_uint_eq(chunks.count, 2);
    b = &chunks.list[contains(&chunks.list[1], ".entry b")];
    ck_assert(contains(b, ".loc 1 4 3") && contains(b, ".file\t1 \"b.cu\""));
    ck_assert(!contains(b, "a.cu"));
}

TEST(the_only_file_table_keeps_its_numbers)
{
    struct program_source sources[] = {
        {"a", TEXT(HEADER ".visible .entry a() { ret; }")},
        {"b", TEXT(HEADER ".file 2 \"b.cu\"\n.visible .entry b() { .loc 2 4 3\n ret; }")}};

    split(sources, 2, 1);
    ck_assert(contains(&chunks.list[0], ".loc 2 4 3"));
}

/* All that compilers count in a module, and what two modules name alike. */
TEST(stable_chunks_have_nothing_of_their_neighbours)
{
    struct program_source sources[] = {
        {"a", TEXT(HEADER ".global .b8 $str$7[2] = {65, 0};\n.global .u32 s = 1;\n"
                          ".visible .entry a() { // one\n.local .b8 __local_depot3[4];\n"
                          ".reg .b64 q; mov.u64 q, $str$7; mov.u64 q, s; $L__BB3_1: bra $L__BB3_1; "
                          "/* two */ prototype_9 : .callprototype _ (); ret; }")},
        {"b", TEXT(HEADER ".global .u32 s = 2;\n.visible .entry b() { .reg .b64 q;\n"
                          "mov.u64 q, s; ret; }")}};
    const struct chunk *chunk;

    split_by(SPLIT_STABLE, sources, 2, MOST);
    check_all();
    ck_assert_uint_eq(chunks.count, 3); /* the last has the variables */
    chunk = &chunks.list[0];
    ck_assert(contains(chunk, ".entry a() { \n.local .b8 __local_depot0[4];\n"));
    ck_assert(contains(chunk, "mov.u64 q, $str$ml"));
    ck_assert(contains(chunk, "mov.u64 q, s$ml"));
    ck_assert(contains(chunk, "$L__BB1_1: bra $L__BB1_1;   prototype_2 : .callprototype"));
    ck_assert(contains(&chunks.list[1], "mov.u64 q, s$ml"));
    for (size_t i = 0; i < chunks.symbol_count; i++) {
        struct text own = chunk_own_name(&chunks, chunks.symbols[i].name);

        ck_assert(text_equal(own, chunks.symbols[i].own_name));
        ck_assert(own.size == 1 || text_equal(own, TEXT("$str$7")));
    }
}

static void count_release(const void *count)
{
    unsigned *at = (unsigned *)(uintptr_t)count;

    ++*at;
}

/* Pages of mapped inputs: before the first byte, and after each 16 MiB. */
TEST(inputs_are_released_while_large_chunks_are_written)
{
    unsigned count = 0;
    OWNED(buffer) text = {0};

    buffer_printf(&text, HEADER ".visible .entry a() { %*s }\n", 20 << 20, "ret;");
    split_one(buffer_view(&text), &(struct split_request){.wanted = 1,
                                                          .arch = {90, 0},
                                                          .release = count_release,
                                                          .release_argument = &count});
    ck_assert_uint_eq(count, 2);
}

/* A sixteenth of the program, within bounds; or twice the least size of a chunk that the user
 * names.
 */
TEST(stable_pieces_follow_the_program)
{
    static const struct {
        uint64_t minimum, weight, piece;
    } rows[] = {{0, 0, 65536},
                {0, 1200000, 65536},
                {0, 2200000, 131072},
                {0, 4200000, 262144},
                {0, 200000000, 262144},
                {1000, 2000000, 2000},
                {UINT64_MAX, 0, 2 * (uint64_t)UINT32_MAX}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct split_request request = {.minimum_bytes = rows[i].minimum};
        const struct plan plan = {.request = &request, .total_weight = rows[i].weight};

        ck_assert_uint_eq(content_cut_piece(&plan), rows[i].piece);
    }
}

/* A function that the compiler numbers is named by its text, in which labels are counted through
 * the module. */
TEST(stable_names_do_not_know_how_labels_are_counted)
{
    static const char *const labels[] = {"$L__BB3_1", "$L__BB5_1"};
    char names[COUNT(labels)][64];

    for (size_t i = 0; i < COUNT(labels); i++) {
        char text[1024];
        const char *call;
        struct program_source source = {"a", {text, 0}};

        source.text.size =
            (size_t)snprintf(text, sizeof text,
                             HEADER ".func f$1() { %s: bra %s; }\n.func f$2() { ret; }\n"
                                    ".visible .entry a() { call f$1; call f$2; ret; }\n"
                                    ".visible .entry b() { ret; }",
                             labels[i], labels[i]);
        split_by(SPLIT_STABLE, &source, 1, MOST);
        call = strstr(chunks.list[0].text.data, "call f");
        ck_assert_ptr_nonnull(call);
        snprintf(names[i], sizeof names[i], "%.*s", (int)strcspn(call, ";"), call);
        ck_assert_msg(strstr(names[i], "$ml") != NULL, "%s", chunks.list[0].text.data);
    }
    ck_assert_str_eq(names[0], names[1]);
}

/* A label that a symbol has, or that looks like one that is counted, stays. */
TEST(counted_labels_that_are_symbols_stay)
{
    struct program_source source = {
        "a", TEXT(HEADER ".visible .global .u32 $L__BB0_1;\n.visible .entry a() { .reg .b64 q; "
                         "mov.u64 q, $L__BB0_1; $L__BB5_1: bra $L__BB5_1; ret; }\n"
                         ".visible .entry b() { $L__BB_1: bra $L__BB_1; ret; }")};

    split_by(SPLIT_STABLE, &source, 1, MOST);
    check_all();
    ck_assert(contains(&chunks.list[0], "mov.u64 q, $L__BB0_1; $L__BB5_1: bra $L__BB5_1;"));
    ck_assert(contains(&chunks.list[1], "$L__BB_1: bra $L__BB_1;"));
}

TEST(opcodes_named_like_renamed_symbols_stay)
{
    struct program_source sources[] = {
        {"a", TEXT(HEADER ".global .u32 add;\n.visible .entry a() { ld.global.u32 %r, [add]; }")},
        {"b", TEXT(HEADER ".global .u32 add;\n.func f(.param .u32 add) {}\n.visible .entry b() { "
                          "@%p add.u32 %r, %r, 1; add: ld.global.u32 %r, [add]; call f; }")}};

    split(sources, 2, 1);
    ck_assert(contains(&chunks.list[0], "[add];"));
    ck_assert(contains(&chunks.list[0], "@%p add.u32 %r, %r, 1;"));
    ck_assert(contains(&chunks.list[0], "[add$ml"));
    ck_assert(contains(&chunks.list[0], "(.param .u32 add$ml"));
}

TEST(symbols_carry_what_the_merger_restores)
{
    const struct chunk_symbol *symbols;

    split_text(HEADER ".global .align 16 .u32 v; .common .global .u32 c; .weak .func w() {}\n"
                      ".func i() { .shared .u32 x; } .extern .func e();\n"
                      ".visible .entry k() { call w; call i; call e; }\n"
                      ".visible .entry l() { call w; call i; st.global.u32 [v], 1; }\n"
                      ".visible .entry m() { st.global.u32 [v], 1; }",
               8);
    symbols = chunks.symbols;
    ck_assert_uint_eq(chunks.symbol_count, 8);
    ck_assert(text_equal(symbols[0].name, TEXT("v")) && symbols[0].binding == CHUNK_LOCAL);
    ck_assert_uint_eq(symbols[0].alignment, 16);
    ck_assert(symbols[1].is_common && symbols[1].binding == CHUNK_GLOBAL);
    ck_assert(symbols[2].is_function && symbols[2].binding == CHUNK_WEAK);
    ck_assert(symbols[3].binding == CHUNK_LOCAL && symbols[3].alignment == 0);
    ck_assert(symbols[4].binding == CHUNK_GLOBAL);
}

/* Functions of which each calls the next, and kernels that call the first `called`, all padded.
 * Chunks are written as how many have how many functions, and how many of these are copies. Copies
 * may add a tenth of the text; where they would be 32 times the text there are none, and units go
 * together by their size. */
static const struct {
    int functions, bytes, called, kernels, kernel_bytes;
    uint32_t wanted;
    const char *chunks, *stable; /* by their number, and by their names */
} shapes[] = {
    {1, 4096, 1, 2, 30000, 2, "2*2/1", "2*2/1"},
    {1, 4097, 1, 2, 30000, 2, "1*2/0 1*1/0", "1*3/0"},
    {1, 1000, 1, 2, 4500, 2, "2*2/1", "2*2/1"},
    {1, 1000, 1, 2, 4499, 2, "1*2/0 1*1/0", "1*3/0"},
    {3, 500, 3, 3, 8000, 3, "1*4/2 2*3/2", "1*3/0 1*2/0 1*1/0"},
    {3, 500, 1, 3, 8000, 3, "1*4/0 2*1/0", "1*3/0 1*2/0 1*1/0"},
    {40, 200, 1, 60, 60, 60, "40*1/0 20*3/0",
     "1*1/0 1*2/0 1*1/0 1*2/0 2*1/0 1*2/0 2*1/0 2*2/0 1*1/0 1*2/0 1*1/0 3*2/0 1*1/0 1*2/0 2*1/0 "
     "1*2/0 2*1/0 1*2/0 2*1/0 1*3/0 1*2/0 1*3/0 1*6/0 1*4/0 1*5/0 1*8/0 1*2/0 1*1/0 1*4/0 1*6/0 "
     "1*5/0 1*7/0 1*5/0"},
    {40, 200, 1, 30, 60, 30, "1*41/0 29*1/0",
     "1*4/0 1*2/0 1*1/0 1*3/0 1*4/0 1*3/0 2*5/0 1*2/0 2*4/0 1*10/0 1*6/0 1*17/0"},
    {40, 200, 1, 40, 50, 40, "1*41/0 39*1/0", NULL},
    {40, 200, 1, 40, 49, 40, "40*2/0", NULL},
    {1, 20000, 1, 1, 4576, 2, "1*2/0", "1*2/0"},
    {1, 20000, 1, 1, 4577, 2, "2*1/0", "2*1/0"},
    {0, 0, 0, 128, 64, 7, "1*18/0 1*19/0 3*18/0 1*19/0 1*18/0", "1*7/0 1*57/0 1*64/0"},
    {0, 0, 0, 128, 64, 8, "1*24/0 1*22/0 1*19/0 1*17/0 1*15/0 1*13/0 1*10/0 1*8/0",
     "1*7/0 1*57/0 1*64/0"},
    {0, 0, 0, 128, 64, 12, "1*16/0 1*15/0 1*14/0 1*13/0 1*12/0 2*11/0 1*9/0 1*8/0 2*7/0 1*5/0",
     "1*7/0 1*6/0 1*4/0 1*5/0 1*10/0 1*23/0 1*9/0 1*19/0 1*26/0 1*12/0 1*7/0"},
    {2, 20000, 2, 6, 3000, 3, "2*1/0 1*6/0", "1*8/0"},
    {2, 10000, 1, 6, 3000, 3, "1*2/0 2*3/0", "1*6/0 1*2/0"},
    {1, 20000, 1, 12, 400, 9, "1*1/0 4*2/0 4*1/0", "1*1/0 3*2/0 2*1/0 2*2/0"},
};

static void put_padded(struct buffer *text, int size, const char *head, int callee, int callees)
{
    size_t begin = text->size;

    buffer_string(text, head);
    for (int i = callee; i < callee + callees; i++)
        buffer_printf(text, " call f%d;", i);
    buffer_printf(text, "%*s}", size - (int)(text->size - begin) - 1, "");
    buffer_char(text, '\n');
}

/* "2*3/1": of the chunks, in their order, two of three functions, one of them a copy. */
static void expect_shape(const char *wanted)
{
    OWNED(buffer) got = {0};

    for (size_t i = 0, same = 1; i < chunks.count; i++, same++) {
        const struct chunk *chunk = &chunks.list[i];

        if (i + 1 < chunks.count && chunk[1].function_count == chunk->function_count &&
            chunk[1].replica_count == chunk->replica_count)
            continue;
        buffer_printf(&got, "%zu*%u/%u ", same, chunk->function_count, chunk->replica_count);
        same = 0;
    }
    got.data[got.size - 1] = '\0';
    ck_assert_str_eq(got.data, wanted);
}

TEST_LOOP(copies_are_made_within_bounds, COUNT(shapes))
{
    OWNED(buffer) text = {0};
    struct program_source source = {"a.ptx", {0}};
    char head[64];

    buffer_string(&text, HEADER);
    for (int i = 0; i < shapes[_i].functions; i++)
        buffer_printf(&text, ".func f%d();\n", i);
    for (int i = 0; i < shapes[_i].functions; i++) {
        snprintf(head, sizeof head, ".func f%d() { ret;", i);
        put_padded(&text, shapes[_i].bytes, head, i + 1, i + 1 < shapes[_i].functions);
    }
    for (int i = 0; i < shapes[_i].kernels; i++) {
        snprintf(head, sizeof head, ".visible .entry k%d() { ret;", i);
        put_padded(&text, shapes[_i].kernel_bytes, head, 0, shapes[_i].called);
    }
    source.text = buffer_view(&text);
    split(&source, 1, shapes[_i].wanted);
    expect_shape(shapes[_i].chunks);
    check_all();
    if (shapes[_i].stable) {
        split_by(SPLIT_STABLE, &source, 1, shapes[_i].wanted);
        expect_shape(shapes[_i].stable);
        check_all();
    }
    release();
}

/* When the bound on copies leaves one chunk of functions, the variables stay in it. */
TEST(a_program_that_stays_one_chunk_keeps_its_variables)
{
    OWNED(buffer) text = {0};
    struct program_source source = {"a.ptx", {0}};

    buffer_string(&text, HEADER ".global .u32 v = 1;\n");
    put_padded(&text, 1000, ".func f0() { ret;", 0, 0);
    put_padded(&text, 4400, ".visible .entry k0() { ret;", 0, 1);
    put_padded(&text, 4400, ".visible .entry k1() { ret;", 0, 1);
    source.text = buffer_view(&text);
    split_by(SPLIT_STABLE, &source, 1, 3);
    ck_assert_uint_eq(chunks.count, 1);
    check_all();
    release();
}

/* Kernels of one size, of which the second is with the first where they stay in order. */
TEST(what_is_a_fourth_of_a_chunk_stays_in_order)
{
    static const struct {
        unsigned kernels;
        bool is_in_order;
    } rows[] = {{7, false}, {8, true}};

    for (int i = 0; i < COUNT(rows); i++) {
        OWNED(buffer) text = {0};

        buffer_string(&text, HEADER);
        for (unsigned k = 0; k < rows[i].kernels; k++)
            buffer_printf(&text, ".visible .entry k%u() { ret; }\n", k);
        buffer_char(&text, '\0');
        split_text(text.data, 2);
        ck_assert_int_eq(contains(&chunks.list[0], ".entry k1"), rows[i].is_in_order);
        release();
    }
}

static void split_kernels(unsigned kernels, const struct split_request *request)
{
    OWNED(buffer) text = {0};

    buffer_string(&text, HEADER);
    put_kernels(&text, kernels);
    split_one(buffer_view(&text), request);
    ck_assert_uint_eq(chunks.list[0].weight, 1024u * chunks.list[0].function_count);
    if (chunks.count == 1)
        ck_assert(text_equal(chunks.list[0].text, buffer_view(&text)));
}

TEST(small_programs_are_not_split_by_default)
{
    split_kernels(31, &(struct split_request){.wanted = 4, .arch = {90, 0}});
    ck_assert_str_eq(chunks.single_reason, "it is too small to be worth splitting");
}

TEST_LOOP(the_number_of_chunks_follows_from_the_size, 16)
{
    static const struct {
        unsigned kernels;
        uint64_t minimum;
        uint32_t wanted, chunks;
    } rows[] = {
        {31, 0, 128, 1},  {32, 0, 128, 2},  {63, 0, 128, 3},  {64, 0, 128, 4},
        {399, 0, 128, 4}, {400, 0, 128, 6}, {783, 0, 128, 6}, {784, 0, 128, 8},
        {400, 0, 3, 3},   {400, 0, 1, 1},   {31, 4096, 9, 7}, {32, 4096, 9, 8},
        {32, 4096, 5, 5}, {7, 4096, 9, 1},  {8, 4096, 9, 2},  {3, 1, 128, 3},
    };
    const struct split_request request = {
        .wanted = rows[_i].wanted, .minimum_bytes = rows[_i].minimum, .arch = {90, 0}};

    split_kernels(rows[_i].kernels, &request);
    ck_assert_uint_eq(chunks.count, rows[_i].chunks);
}

TEST_LOOP(threads_take_smaller_chunks, 13)
{
    static const struct {
        unsigned kernels;
        uint32_t wanted, threads, chunks;
    } rows[] = {
        {15, 128, 8, 1},  {16, 128, 2, 2},  {24, 128, 2, 2},   {24, 128, 8, 3},  {64, 128, 2, 4},
        {64, 128, 8, 8},  {95, 128, 8, 8},  {256, 128, 16, 8}, {288, 128, 8, 8}, {288, 128, 10, 9},
        {400, 128, 5, 5}, {400, 128, 6, 6}, {160, 3, 8, 3},
    };
    const struct split_request request = {
        .wanted = rows[_i].wanted, .threads = rows[_i].threads, .arch = {90, 0}};

    split_kernels(rows[_i].kernels, &request);
    ck_assert_uint_eq(chunks.count, rows[_i].chunks);
}

TEST(why_there_is_one_chunk_is_said)
{
    static const struct {
        const char *text;
        uint32_t wanted;
        const char *reason;
    } rows[] = {
        {".visible .global .b32 v;", 4, "it has no function"},
        {".visible .entry k() { ret; }", 4, "it has only one function"},
        {".func f() { ret; }\n.visible .entry k() { call f, (); ret; }", 4,
         "its functions belong together"},
        {".visible .entry k() { ret; }\n.visible .entry l() { ret; }", 1,
         "one chunk was asked for"},
        {".visible .entry k() { ret; }\n.visible .entry l() { ret; }", 2, NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];

        snprintf(text, sizeof text, HEADER "%s", rows[i].text);
        split_text(text, rows[i].wanted);
        ck_assert_uint_eq(chunks.count, rows[i].reason ? 1 : 2);
        if (rows[i].reason)
            ck_assert_str_eq(chunks.single_reason, rows[i].reason);
        else
            ck_assert_ptr_null(chunks.single_reason);
        release();
    }
}

TEST(modules_with_debug_sections_stay_whole)
{
#define DEBUG(name)                                                                                \
    ".version 8.0\n.target sm_80, debug\n.address_size 64\n.weak .func t() {}\n"                   \
    ".visible .entry " name "() { call t; $d: ret; }\n.section .debug_info { .b64 $d }\n"
    struct program_source sources[] = {
        {"a", TEXT(DEBUG("a"))},
        {"b", TEXT(DEBUG("b"))},
        {"c", TEXT(HEADER ".extern .func t();\n.visible .entry c() { call t; }")}};

    split(sources, 3, 1);
    ck_assert_uint_eq(chunks.count, 3);
    ck_assert(contains(&chunks.list[0], ".extern .func t()"));
    ck_assert(contains(&chunks.list[0], ".entry c()"));
    ck_assert(contains(&chunks.list[1], DEBUG("a")));
    ck_assert(contains(&chunks.list[2], DEBUG("b")));
    check_all();
}

TEST(a_variable_that_only_a_whole_module_names_stands_in_the_first_chunk)
{
    struct program_source sources[] = {
        {"a", TEXT(".version 8.0\n.target sm_80, debug\n.address_size 64\n.extern .global .b32 v;\n"
                   ".visible .entry a() { .reg .b32 r; ld.global.b32 r, [v]; ret; }\n"
                   ".section .debug_info { .b64 a }\n")},
        {"b", TEXT(HEADER ".visible .global .b32 v;\n.visible .entry b() { ret; }\n")}};

    split(sources, 2, 1);
    ck_assert_uint_eq(chunks.count, 2);
    ck_assert(contains(&chunks.list[0], ".visible .global .b32 v;"));
    check_all();
}

TEST(lines_are_found_in_their_sources)
{
    struct program_source sources[] = {
        {"a", TEXT(HEADER ".visible .entry a()\n{\n  ret;\n}\n")},
        {"b", TEXT(HEADER "\n\n.visible\n.entry b()\n{\n  trap;\n}\n")}};
    const char *member;
    uint32_t line, chunk_line;

    split(sources, 2, 1);
    chunk_line = 1 + text_count_lines(chunks.list[0].text, 0,
                                      (size_t)(strstr(chunks.list[0].text.data, "trap") -
                                               chunks.list[0].text.data));
    ck_assert(chunk_origin(&chunks, &chunks.list[0], chunk_line, &member, &line));
    ck_assert_str_eq(member, "b");
    ck_assert_uint_eq(line, 9);
    chunk_line = 1 + text_count_lines(chunks.list[0].text, 0,
                                      (size_t)(strstr(chunks.list[0].text.data, "  ret") -
                                               chunks.list[0].text.data));
    ck_assert(chunk_origin(&chunks, &chunks.list[0], chunk_line, &member, &line));
    ck_assert_str_eq(member, "a");
    ck_assert_uint_eq(line, 6);
    /* .version and .target are some module's; .address_size is all modules'. */
    ck_assert(chunk_origin(&chunks, &chunks.list[0], 1, &member, &line));
    ck_assert_str_eq(member, "a");
    ck_assert_uint_eq(line, 1);
    ck_assert(chunk_origin(&chunks, &chunks.list[0], 2, &member, &line));
    ck_assert_str_eq(member, "a");
    ck_assert(!chunk_origin(&chunks, &chunks.list[0], 3, &member, &line));
    ck_assert(!chunk_origin(&chunks, &chunks.list[0], 1000, &member, &line));
}

TEST(a_program_without_anything_is_one_chunk)
{
    split_text(HEADER, 8);
    ck_assert_uint_eq(chunks.count, 1);
    ck_assert_uint_eq(chunks.list[0].function_count, 0);
    ck_assert_str_eq(chunks.list[0].first_function, "");
}

/* Fatbins fill the last word of a text with zeros. */
TEST(a_text_loses_the_zeros_behind_it)
{
    static const char text[] = HEADER ".visible .entry k() { ret; }\n\0\0";
    struct program_source source = {"a.ptx", {text, sizeof text - 1}};

    split(&source, 1, 8);
    ck_assert_uint_eq(chunks.count, 1);
    ck_assert_uint_eq(chunks.list[0].text.size, strlen(text));
    ck_assert_mem_eq(chunks.list[0].text.data, text, strlen(text));
}

TEST(a_program_without_modules_is_a_text_that_parses)
{
    OWNED(arena) arena = {0};
    struct ptx_module module;
    struct module_cursor cursor = {0};

    split(NULL, 0, 8);
    ck_assert_uint_eq(chunks.count, 1);
    ck_assert(module_parse(&module, &arena, "chunk", chunks.list[0].text, &cursor));
    ck_assert(arch_equal(module.target, (struct arch){90, 0}));
}

TEST(aliases_and_their_functions_are_promoted_together)
{
    split_text(HEADER ".func a();\n.func f() { add.u32 %r, %r, 1; }\n.alias a, f;\n"
                      ".visible .entry k() { call a; }\n.visible .entry l() { call a; }",
               8);
    ck_assert_uint_eq(chunks.count, 3);
    check_all();
    for (size_t i = 0; i < chunks.count; i++)
        ck_assert(contains(&chunks.list[i], ".extern .func a();") ||
                  contains(&chunks.list[i], ".visible .func a();"));
}
