/* check_exact.c: chunks that are whole programs.
 *
 * A small program is written with kernels of which each calls what a table says. Its chunks are
 * parsed: all have the variables, in order; each kernel is in one, with what it reaches; and the
 * kernels that close them name the driver's functions in the order that bank 4 has in the whole. */
#include "split_fixture.h"

#define DRIVER                                                                                     \
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"                                       \
    ".extern .func free(.param .b64 p);\n"                                                         \
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"

static struct split_request exact_request(uint32_t wanted)
{
    return (struct split_request){
        .is_exact = true, .wanted = wanted, .minimum_bytes = 1, .arch = {90, 0}};
}

static struct split_request stable_request(bool is_exact, uint64_t minimum)
{
    return (struct split_request){.is_exact = is_exact,
                                  .policy = SPLIT_STABLE,
                                  .wanted = SPLIT_MOST_CHUNKS,
                                  .minimum_bytes = minimum,
                                  .arch = {90, 0}};
}

static void split_exactly(struct text text, uint32_t wanted)
{
    const struct split_request request = exact_request(wanted);

    split_one(text, &request);
}

static void split_text(const char *text, uint32_t wanted)
{
    split_exactly(text_of(text), wanted);
}

/* "kind:name" of all that a text defines, in order: v for variables, f and k for functions. */
static const char *definitions(struct text text, char kind)
{
    OWNED(buffer) names = {0};
    struct ptx_module module;
    struct module_cursor cursor = {0};

    ck_assert(module_parse(&module, &lists, "chunk", text, &cursor));
    ck_assert(module_at_end(text, cursor.offset));
    for (size_t i = 0; i < module.item_count; i++) {
        const struct ptx_item *item = &module.items[i];
        char own = item->kind == PTX_VARIABLE   ? 'v'
                   : item->kind != PTX_FUNCTION ? '-'
                   : item->function.is_entry    ? 'k'
                                                : 'f';

        if (item->is_definition && own == kind)
            buffer_printf(&names, "%s%.*s", names.size ? " " : "", TEXT_ARG(item->name));
    }
    return arena_string(&lists, buffer_view(&names));
}

static const char program_text[] = HEADER "// a comment\n"
                                          ".global .align 4 .b32 first = 1;\n"
                                          ".func inner() { ret; }\n"
                                          ".func outer() { call inner; ret; }\n"
                                          ".const .align 4 .b32 table[2] = {1, 2};\n"
                                          ".visible .entry k0() { call outer; ret; }\n"
                                          ".visible .entry k1() { ret; }\n"
                                          ".global .align 4 .b32 unused;\n"
                                          ".visible .entry k2() { call inner; ret; }\n"
                                          ".visible .entry k3() { ret; }\n";

TEST_LOOP(each_chunk_has_all_variables_and_what_its_kernels_reach, 16)
{
    static const char *const reached[] = {"inner outer", "", "inner", ""};
    static const char *const kernels[] = {"k0", "k1", "k2", "k3"};
    struct split_request request = exact_request((uint32_t)_i + 1);
    size_t seen = 0;

    request.policy = SPLIT_KERNEL;
    split_one(text_of(program_text), &request);
    ck_assert_int_eq(chunks.is_exact, chunks.count > 1);
    for (size_t c = 0; c < chunks.count && chunks.is_exact; c++) {
        struct text text = chunks.list[c].text;

        ck_assert_str_eq(definitions(text, 'v'), "first table unused");
        for (size_t k = 0; k < 4; k++) {
            if (strcmp(definitions(text, 'k'), kernels[k]) == 0)
                ck_assert_str_eq(definitions(text, 'f'), reached[k]);
            seen += strstr(definitions(text, 'k'), kernels[k]) != NULL;
        }
    }
    if (chunks.is_exact)
        ck_assert_uint_eq(seen, 4);
    ck_assert_uint_eq(chunks.bank4_count, 0);
}

TEST(modules_give_the_order_of_one_chunk)
{
    static const char a[] = HEADER ".extern .func far();\n.visible .global .b32 x;\n"
                                   ".visible .entry k0() { call far; ret; }\n";
    static const char b[] = HEADER ".visible .func far() { ret; }\n.visible .global .b32 y;\n"
                                   ".visible .entry k1() { ret; }\n";
    const struct program_source sources[] = {{"a.ptx", text_of(a)}, {"b.ptx", text_of(b)}};
    const struct split_request request = exact_request(2);

    split_sources(sources, 2, &request);
    ck_assert_uint_eq(chunks.count, 2);
    ck_assert_str_eq(definitions(chunks.list[0].text, 'v'), "x y");
    ck_assert_str_eq(definitions(chunks.list[1].text, 'v'), "x y");
    ck_assert_str_eq(definitions(chunks.list[0].text, 'f'), "far");
    ck_assert_str_eq(definitions(chunks.list[1].text, 'f'), "");
    ck_assert(strstr(chunks.list[0].text.data, ".visible .global .b32 x;"));
}

/* What kernels call, the first one of the text first, and what the closing kernels call, likewise,
 * by ptxas's order (split/bank4.c): m malloc, f free, v vprintf. */
static const struct {
    const char *kernels, *closing;
} closings[] = {
    {"m -", "m -"}, {"- m", "m"},     {"m f", "m f"}, {"v fm m", "v f m"}, {"m f v - -", "m f v -"},
    {"m m m", "m"}, {"vm -", "mv -"}, {"- - -", ""},  {"mfv - m", "fv m"}, {"f - vm -", "f mv -"},
};

static void put_calls(struct buffer *text, char which)
{
    static const char *const calls[] = {
        "{ .param .b64 a; .param .b64 b; call (a), malloc, (b); }\n",
        "{ .param .b64 a; call free, (a); }\n",
        "{ .param .b32 a; .param .b64 b; .param .b64 c; call (a), vprintf, (b, c); }\n",
    };

    buffer_string(text, which == 'm' ? calls[0] : which == 'f' ? calls[1] : calls[2]);
}

/* "mv -": which driver functions each kernel of the text calls whose name begins with `stem`. */
static const char *called(struct text text, const char *stem)
{
    OWNED(buffer) words = {0};
    struct ptx_module module;
    struct module_cursor cursor = {0};

    ck_assert(module_parse(&module, &lists, "chunk", text, &cursor));
    for (size_t i = 0; i < module.item_count; i++) {
        const struct ptx_item *item = &module.items[i];
        const char *body;
        size_t before;

        if (item->kind != PTX_FUNCTION || !item->is_definition ||
            !text_starts(item->name, text_of(stem)))
            continue;
        if (words.size)
            buffer_char(&words, ' ');
        before = words.size;
        body = arena_string(&lists, item->function.body);
        buffer_string(&words, strstr(body, "malloc") ? "m" : "");
        buffer_string(&words, strstr(body, "free") ? "f" : "");
        buffer_string(&words, strstr(body, "vprintf") ? "v" : "");
        buffer_string(&words, words.size == before ? "-" : "");
    }
    return arena_string(&lists, buffer_view(&words));
}

TEST_LOOP(closing_kernels_name_what_the_program_does_in_its_order, COUNT(closings))
{
    const char *kernels = closings[_i].kernels;
    struct buffer text = {0};
    int count = 1;

    buffer_string(&text, HEADER DRIVER ".visible .entry k0() {\n");
    for (const char *c = kernels; *c; c++)
        if (*c == ' ')
            buffer_printf(&text, "ret; }\n.visible .entry k%d() {\n", count++);
        else if (*c != '-')
            put_calls(&text, *c);
    buffer_string(&text, "ret; }\n");
    split_exactly(buffer_view(&text), 16);
    buffer_free(&text);
    ck_assert_uint_eq(chunks.count, (size_t)count);
    for (size_t c = 0; c < chunks.count; c++) {
        ck_assert_str_eq(called(chunks.list[c].text, "__minilink_closing_"), closings[_i].closing);
        ck_assert(strstr(definitions(chunks.list[c].text, 'k'), "k"));
    }
    if (*closings[_i].closing)
        ck_assert_uint_gt(chunks.driver_function_count, 0);
}

TEST(functions_reach_the_driver_for_their_kernels)
{
    split_text(HEADER DRIVER ".func deep() { .param .b64 a; call free, (a); ret; }\n"
                             ".func over() { call deep; ret; }\n"
                             ".visible .entry k0() { call over; ret; }\n"
                             ".visible .entry k1() { ret; }\n",
               2);
    ck_assert_uint_eq(chunks.count, 2);
    for (size_t c = 0; c < 2; c++)
        ck_assert_str_eq(called(chunks.list[c].text, "__minilink_closing_"), "f -");
}

/* Each chunk has every line of the program at its place, or an empty one; and a line number,
 * without which there would be no table. */
TEST_LOOP(lines_keep_their_numbers, 2)
{
    static const char *const ends[] = {"", "\n"};
    OWNED(buffer) text = {0};
    size_t seen = 0;

    buffer_printf(&text,
                  "// a comment\n%s.file 1 \"a.cu\"\n\n.func f()\n{ ret; }\n// .loc\n"
                  ".entry k0()\n{\n.loc 1 2 3, function_name l, inlined_at 1 2 2\ncall f;\n}\n"
                  "/* a\n */ .entry k1() {\nret; }\n.section .debug_str\n{\nl: .b8 1 }%s",
                  HEADER, ends[_i]);
    buffer_char(&text, '\0');
    split_text(text.data, 2);
    ck_assert_uint_eq(chunks.count, 2);
    ck_assert_uint_eq(chunks.line_count, 20);
    for (size_t c = 0; c < 2; c++) {
        const char *at = chunks.list[c].text.data, *wanted = text.data;

        for (size_t n = 0; n < chunks.line_count; n++) {
            size_t size = strcspn(at, "\n"), wanted_size = strcspn(wanted, "\n");

            if (size > 0 && strncmp(wanted, " */", 3) != 0)
                ck_assert_msg(size == wanted_size && memcmp(at, wanted, size) == 0, "%s", at);
            seen += size > 0 && strncmp(at, ".entry k0", 9) == 0;
            at += size + 1;
            wanted += wanted_size + (wanted[wanted_size] != '\0');
        }
        ck_assert_str_eq(at, ".func __minilink_closing_lines()\n{\n.loc 1 2 3\nret;\n}\n");
    }
    ck_assert_uint_eq(seen, 1);
}

/* A text with debug sections is in several chunks if they describe none of its code, and only in
 * the exact split, which leaves its places; else it is one, to the byte. */
TEST_LOOP(debug_sections_of_no_code_are_in_every_chunk, 3)
{
    static const struct {
        const char *section;
        bool is_exact;
        size_t chunks;
    } cases[] = {
        {".section .debug_info { .b32 .debug_abbrev }\n", true, 2},
        {".section .debug_info { .b32 .debug_abbrev }\n", false, 1},
        {".section .debug_info { .b64 k0 }\n", true, 1},
    };
    struct split_request request = exact_request(2);
    OWNED(buffer) text = {0};

    request.is_exact = cases[_i].is_exact;

    buffer_printf(&text,
                  "// a comment\n%s.file 1 \"a.cu\"\n.entry k0() { .loc 1 2 3\nret; }\n"
                  ".entry k1() { ret; }\n%s",
                  HEADER, cases[_i].section);
    split_one(buffer_view(&text), &request);
    ck_assert_uint_eq(chunks.count, cases[_i].chunks);
    for (size_t c = 0; c < chunks.count; c++)
        ck_assert_ptr_nonnull(strstr(chunks.list[c].text.data, cases[_i].section));
    if (chunks.count == 1)
        ck_assert(text_equal(chunks.list[0].text, buffer_view(&text)));
    ck_assert_int_eq(chunks.list[0].is_unchanged, chunks.count == 1);
}

TEST_LOOP(threads_of_the_assembler_and_shared_memory_are_one_chunk, 4)
{
    static const struct {
        const char *kernel;
        unsigned sm;
        bool has_threads;
        size_t chunks;
    } cases[] = {
        {"ret;", 90, true, 2},
        {".shared .b32 s; st.shared.b32 [s], 1; ret;", 90, false, 2},
        {".shared .b32 s; st.shared.b32 [s], 1; ret;", 90, true, 1},
        {".shared .b32 s; st.shared.b32 [s], 1; ret;", 80, true, 2},
    };
    OWNED(buffer) text = {0};

    buffer_printf(&text,
                  ".version 8.0\n.target sm_80\n.address_size 64\n.entry k0() { %s }\n"
                  ".entry k1() { ret; }\n",
                  cases[_i].kernel);
    split_one(buffer_view(&text), &(struct split_request){.is_exact = true,
                                                          .has_threads = cases[_i].has_threads,
                                                          .wanted = 2,
                                                          .minimum_bytes = 1,
                                                          .arch = {cases[_i].sm, 0}});
    ck_assert_uint_eq(chunks.count, cases[_i].chunks);
}

/* A texture is a function of the driver on sm_107. */
TEST(textures_are_one_chunk_where_they_are_calls)
{
    for (int calls = 0; calls < 2; calls++) {
        split_one(
            text_of(".version 8.0\n.target sm_80\n.address_size 64\n"
                    ".entry k0() { .reg .b64 t; .reg .b32 w; txq.width.b32 w, [t]; ret; }\n"
                    ".entry k1() { ret; }\n"),
            &(struct split_request){
                .is_exact = true, .wanted = 2, .minimum_bytes = 1, .arch = {calls ? 107 : 110, 0}});
        ck_assert_uint_eq(chunks.count, calls ? 1 : 2);
    }
}

/* Programs that are one chunk, as nobody knows what their code would be in several. */
#define TWO ".visible .entry k0() { ret; }\n.visible .entry k1() { ret; }\n"

static const struct {
    const char *text, *reason;
} obstacles[] = {
    {TWO ".func f() { ret; }\n.visible .entry k2() { .reg .b64 q; mov.u64 q, f; ret; }\n",
     "takes the address of a function"},
    {TWO ".visible .entry k2() { .reg .b64 q; p: .callprototype _ (); call q, p; ret; }\n",
     "takes the address of a function"},
    {".func f() { ret; }\n.global .u64 t[1] = {f};\n.visible .entry k2() { .reg .b64 q; mov.u64 q, "
     "t; ret; }\n" TWO,
     "takes the address of a function"},
    {TWO ".func f() { ret; }\n.func g();\n.alias g, f;\n.visible .entry k2() { call g; ret; }\n",
     "takes the address of a function"},
    {".global .texref image;\n" TWO, "texture reference"},
    {TWO ".visible .entry k2() { .global .b32 count; ret; }\n", "data inside its body"},
    {".visible .entry k1();\n" TWO, "ahead of its definition"},
    {".file 1 \"a.cu\"\n.func unused() { ret; }\n" TWO, "its line tables are of a text"},
    {".visible .entry __minilink_closing_0() { ret; }\n" TWO, "has a name"},
};

TEST_LOOP(what_cannot_be_known_is_one_chunk, COUNT(obstacles))
{
    OWNED(buffer) text = {0};

    buffer_printf(&text, HEADER "%s", obstacles[_i].text);
    split_exactly(buffer_view(&text), 16);
    ck_assert_uint_eq(chunks.count, 1);
    ck_assert(!chunks.is_exact);
    ck_assert_ptr_nonnull(chunks.single_reason);
    ck_assert_msg(strstr(chunks.single_reason, obstacles[_i].reason), "%s", chunks.single_reason);
}

/* Appends a function's body of about `size` bytes. */
static void put_body(struct buffer *text, size_t size)
{
    buffer_string(text, "{ .reg .b32 a;\n");
    for (size_t i = 0; i < size; i += 17)
        buffer_string(text, "add.s32 a, a, a;\n");
}

/* Kernels of `bytes` each, which all call a function of `shared` bytes. */
static void put_callers(struct buffer *text, size_t kernels, size_t bytes, size_t shared)
{
    buffer_string(text, HEADER ".func shared()\n");
    put_body(text, shared);
    buffer_string(text, "ret; }\n");
    for (size_t k = 0; k < kernels; k++) {
        buffer_printf(text, ".visible .entry k%zu()\n", k);
        put_body(text, bytes);
        buffer_string(text, "call shared; ret; }\n");
    }
}

/* A large function that all kernels call would be compiled in each chunk. */
TEST_LOOP(copies_are_bounded, 3)
{
    static const size_t shared_bytes[] = {100, 3000, 40000};
    static const size_t most[] = {8, 3, 1};
    const struct split_request stable = stable_request(true, 1);
    OWNED(buffer) text = {0};

    put_callers(&text, 8, 4000, shared_bytes[_i]);
    split_exactly(buffer_view(&text), 16);
    ck_assert_uint_le(chunks.count, most[_i]);
    if (_i < 2)
        ck_assert_uint_gt(chunks.count, 1);
    else
        ck_assert_str_eq(chunks.single_reason, "its kernels share most of their code");
    split_one(buffer_view(&text), &stable);
    if (_i == 2)
        ck_assert_str_eq(chunks.single_reason, "it is too small to be worth splitting");
}

/* One kernel that has nearly all of the code would be as late in a chunk of its own. */
TEST_LOOP(a_chunk_takes_enough_from_the_largest, 3)
{
    static const size_t small_bytes[] = {2000, 8000, 2000};
    struct split_request request = exact_request(16);
    OWNED(buffer) text = {0};

    put_callers(&text, 1, 20000, 100);
    buffer_string(&text, ".visible .entry other()\n");
    put_body(&text, small_bytes[_i]);
    buffer_string(&text, "ret; }\n");
    request.minimum_bytes = _i == 2; /* else by size */
    request.threads = 2;
    split_one(buffer_view(&text), &request);
    ck_assert_uint_eq(chunks.count, _i == 0 ? 1 : 2);
    if (_i == 0)
        ck_assert_str_eq(chunks.single_reason, "one kernel has most of its code");
}

/* Gives the number of stable chunks of such a program. */
static size_t cut_stable(const struct buffer *text, bool is_exact, uint64_t minimum)
{
    const struct split_request stable = stable_request(is_exact, minimum);

    split_one(buffer_view(text), &stable);
    return chunks.count;
}

/* An edit of a small program is an edit of little of it. */
TEST(chunks_of_an_exact_split_are_smaller)
{
    OWNED(buffer) text = {0};
    size_t others;

    put_callers(&text, 150, 16000, 20);
    others = cut_stable(&text, false, 0);
    ck_assert_uint_gt(others, 4);
    ck_assert_uint_gt(cut_stable(&text, true, 0), others);
    for (size_t i = 0; i < chunks.count; i++)
        ck_assert_uint_le(chunks.list[i].weight, 65536 + 100);
}

/* Copies of what all call are too many in 37 chunks, and few enough in half of them. */
TEST(stable_chunks_are_doubled_until_copies_are_few)
{
    OWNED(buffer) few = {0}, many = {0};

    put_callers(&few, 76, 2000, 20);
    put_callers(&many, 76, 2000, 2000);
    ck_assert_uint_eq(cut_stable(&few, true, 4000), 37);
    ck_assert_uint_eq(cut_stable(&many, true, 4000), 19);
}

/* Texts of chunks that an edit is not about stay, though compilers number labels throughout. */
TEST(an_edit_changes_one_chunk)
{
    char *before[64];
    size_t count = 0, kept = 0;

    for (int version = 0; version < 2; version++) {
        OWNED(buffer) text = {0};

        buffer_string(&text, HEADER);
        for (int k = 0; k < 40; k++) {
            buffer_printf(&text, "// %d\n.visible .entry k%d()\n", k + version, k);
            put_body(&text, 2000);
            buffer_printf(&text, "$L__BB%d_1: bra $L__BB%d_1;\nret; }\n", k + version, k + version);
            if (k == 20 && version)
                buffer_string(&text, ".visible .entry added() { ret; }\n");
        }
        ck_assert_uint_gt(cut_stable(&text, true, 4000), 5);
        ck_assert_uint_lt(chunks.count, 64);
        for (size_t i = 0; i < chunks.count && version == 0; i++)
            before[count++] = strdup(chunks.list[i].text.data);
        for (size_t i = 0; i < chunks.count && version == 1; i++)
            for (size_t j = 0; j < count; j++)
                kept += strcmp(before[j], chunks.list[i].text.data) == 0;
    }
    ck_assert_uint_ge(kept, count - 2);
    for (size_t i = 0; i < count; i++)
        free(before[i]);
}

/* Cuts 40 kernels of 2 KB, each of which calls a function of `shared` bytes, again with the kernels
 * of the chunk that has most as edited. Gives the number of chunks before, and how many of their
 * texts come back. */
static void cut_again(size_t shared, size_t *before, size_t *kept)
{
    struct split_request stable = stable_request(true, 8000);
    OWNED(buffer) text = {0};
    OWNED(table) edited = {0};
    struct chunks first;
    size_t most = 0;

    put_callers(&text, 40, 2000, shared);
    split_one(buffer_view(&text), &stable);
    first = chunks;
    chunks = (struct chunks){0};
    *before = first.count;
    *kept = 0;
    for (size_t i = 0; i < first.count; i++)
        if (first.list[i].function_count > first.list[most].function_count)
            most = i;
    for (size_t i = 0; i < first.symbol_count; i++)
        if (first.sources[i].is_kernel && first.sources[i].chunk == most)
            table_add(&edited, first.symbols[i].name, 0);
    ck_assert_uint_gt(edited.count, 5);
    stable.edited = &edited;
    split_program(&chunks, &program, &stable);
    for (size_t i = 0; i < first.count; i++)
        for (size_t j = 0; j < chunks.count; j++)
            *kept += text_equal(first.list[i].text, chunks.list[j].text);
    chunks_free(&first);
}

TEST(chunks_of_edited_kernels_are_cut_once_more)
{
    size_t before, kept;

    cut_again(20, &before, &kept);
    ck_assert_uint_gt(before, 4);
    ck_assert_uint_eq(kept, before - 1);
    ck_assert_uint_ge(chunks.count, before + 3);
}

/* What all call would be compiled with each piece. */
TEST(pieces_of_edited_kernels_are_bounded_by_copies)
{
    size_t before, kept;

    cut_again(2500, &before, &kept);
    ck_assert_uint_gt(before, 4);
    ck_assert_uint_eq(kept, before - 1);
    ck_assert_uint_ge(chunks.count, before + 1);
    ck_assert_uint_lt(chunks.count, before + 5);
}

TEST_LOOP(threads_without_a_chunk_get_smaller_ones, 7)
{
    static const struct {
        unsigned kernels;
        uint32_t threads, chunks;
    } rows[] = {{400, 0, 6},   {400, 2, 6}, {400, 5, 5}, {400, 8, 8},
                {400, 64, 12}, {64, 64, 8}, {900, 3, 8}};
    OWNED(buffer) text = {0};

    buffer_string(&text, HEADER);
    put_kernels(&text, rows[_i].kernels);
    split_one(buffer_view(&text),
              &(struct split_request){
                  .is_exact = true, .wanted = 128, .threads = rows[_i].threads, .arch = {90, 0}});
    ck_assert_uint_eq(chunks.count, rows[_i].chunks);
}

/* Every chunk has all variables: two chunks read the text of one that is initialised once more. */
TEST_LOOP(texts_of_variables_are_bounded, 3)
{
    static const struct {
        unsigned elements; /* two bytes of text each, beside 8 KiB of kernels */
        uint32_t chunks;
    } rows[] = {{4096, 2}, {7000, 2}, {12000, 1}};
    OWNED(buffer) text = {0};

    buffer_printf(&text, HEADER ".visible .global .align 4 .b8 v[%u] = {", rows[_i].elements);
    for (unsigned i = 0; i < rows[_i].elements; i++)
        buffer_string(&text, i ? ",1" : "1");
    buffer_string(&text, "};\n");
    put_kernels(&text, 8);
    split_exactly(buffer_view(&text), 2);
    ck_assert_uint_eq(chunks.count, rows[_i].chunks);
}

TEST(lines_are_found_in_their_sources)
{
    const char *member;
    uint32_t line;

    split_text(program_text, 4);
    ck_assert_uint_eq(chunks.count, 4);
    for (size_t c = 0; c < chunks.count; c++) {
        const char *at = strstr(chunks.list[c].text.data, ".entry");
        uint32_t own = 1;

        for (const char *s = chunks.list[c].text.data; s < at; s++)
            own += *s == '\n';
        ck_assert(chunk_origin(&chunks, &chunks.list[c], own, &member, &line));
        ck_assert_str_eq(member, "a.ptx");
        ck_assert_uint_ge(line, 9);
    }
}
