/* check_function.c: heads of functions, their parameters and directives: all that is understood of
 * one, as a line, or the message that refuses it. */

#include "ptx/module.h"
#include "messages.h"
#include "suite.h"

#define HEADER ".version 9.0\n.target sm_90\n.address_size 64\n"

static struct arena arena;
static struct buffer line;

void set_up(void)
{
    messages_catch();
}

void tear_down(void)
{
    arena_free(&arena);
    buffer_free(&line);
}

static void put_parameters(const struct ptx_function *function)
{
    buffer_printf(&line, "%u of %u", function->return_count, function->parameter_count);
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        const struct ptx_parameter *p = &function->parameters[i];

        buffer_printf(&line, "; %.*s %.*s %llu@%u v%u%s%s%s%s", TEXT_ARG(p->type_text),
                      TEXT_ARG(p->name), (unsigned long long)p->size, p->alignment, p->vector,
                      p->is_array ? " array" : "", p->is_return ? " return" : "",
                      p->is_register ? " register" : "", p->is_pointer ? " pointer" : "");
    }
}

static void put_three(const char *name, const uint32_t numbers[3])
{
    if (numbers[0] || numbers[1] || numbers[2])
        buffer_printf(&line, "%s %u,%u,%u; ", name, numbers[0], numbers[1], numbers[2]);
}

static void put_directives(const struct ptx_performance *p)
{
    put_three("maxntid", p->maxntid);
    put_three("reqntid", p->reqntid);
    put_three("cluster", p->reqnctapercluster);
    buffer_printf(&line, "%u %u %u %u", p->minnctapersm, p->maxnctapersm, p->maxnreg,
                  p->maxclusterrank);
    if (p->has_abi_preserve)
        buffer_printf(&line, "; preserve %u", p->abi_preserve);
    if (p->has_abi_preserve_control)
        buffer_printf(&line, "; control %u", p->abi_preserve_control);
    buffer_printf(&line, "%s%s%s", p->explicit_cluster ? "; explicit" : "",
                  p->blocks_are_clusters ? "; blocks" : "", p->is_noreturn ? "; noreturn" : "");
    if (p->minperctamemory)
        buffer_printf(&line, "; memory %u", p->minperctamemory);
    if (p->unknown.size)
        buffer_printf(&line, "; unknown%.*s", TEXT_ARG(p->unknown));
}

/* The last item that the text gives. */
static const struct ptx_item *parse(const char *header, const char *text)
{
    static struct ptx_module module;
    struct module_cursor cursor = {0};

    if (module_parse(&module, &arena, "a.ptx", text_of(suite_print("%s%s", header, text)), &cursor))
        return &module.items[module.item_count - 1];
    buffer_text(&line, buffer_view(&messages.text));
    return NULL;
}

/* What was put there, or the only message. */
static void expect(const char *wanted)
{
    buffer_char(&line, '\0');
    ck_assert_msg(messages.errors == (wanted[0] == '!'), "%s", line.data);
    if (wanted[0] == '!')
        ck_assert_msg(strstr(line.data, wanted + 1), "%s", line.data);
    else
        ck_assert_str_eq(line.data, wanted);
}

static const struct {
    const char *text, *wanted;
} heads[] = {
    {".func f();", "0 of 0"},
    {".func f;", "0 of 0"},
    {".func (.param .b32 r) f(.param .b64 a, .param .align 16 .b8 b[12]);",
     "1 of 3; .b32 r 4@4 v1 return; .b64 a 8@8 v1; .b8 b 12@16 v1 array"},
    {".func (.reg .b32 r) f(.reg .f64 a);",
     "1 of 2; .b32 r 4@4 v1 return register; .f64 a 8@8 v1 register"},
    {".func f(.param .align 4 .align 8 .b8 a[]);", "0 of 1; .b8 a 0@8 v1 array"},
    {".func f(.align 8 .param .b32 a);", "0 of 1; .b32 a 4@8 v1"},
    {".func f(.param .v2 .f32 a, .param .v4 .u8 b[3]);",
     "0 of 2; .v2 .f32 a 8@8 v2; .v4 .u8 b 12@4 v4 array"},
    {".func f(.param .v3 .f32 a);", "!a.ptx:4:16: expected the type of a parameter, not '.v3'"},
    {".func f(.param .b32 .align 8 a);",
     "!a.ptx:4:21: expected the name of a parameter, not '.align'"},
    {".func f(.param .b64 .ptr a);", "!a.ptx:4:21: expected the name of a parameter, not '.ptr'"},
    {".entry f(.param .b64 .ptr a, .param .b64 .ptr .shared .align 4 b);",
     "0 of 2; .b64 a 8@8 v1 pointer; .b64 b 8@8 v1 pointer"},
    {".entry f(.param .b64 .ptr .const a, .param .b64 .ptr .local .align 2 b, .param .b32 .align "
     "16 c);",
     "0 of 3; .b64 a 8@8 v1 pointer; .b64 b 8@8 v1 pointer; .b32 c 4@16 v1"},
    {".entry f(.param .b64 .ptr .param a);",
     "!a.ptx:4:27: expected the name of a parameter, not '.param'"},
    {".entry f(.param .b64 .global a);",
     "!a.ptx:4:22: expected '.ptr' or the name of a parameter, not '.global'"},
    {".entry f(.param .texref t, .param .u16 a[2][3]);",
     "0 of 2; .texref t 8@8 v1; .u16 a 12@2 v1 array"},
    {".func (.param .b32 r, .param .b32 s) f();",
     "!a.ptx:4:21: Multiple return parameters are not supported"},
    {".func f(.param .b32 a,);", "!a.ptx:4:23: expected '.param', not ')'"},
    {".func f(.param .b32 a .param .b32 b);", "!a.ptx:4:23: expected ')', not '.param'"},
    {".func f(.shared .b32 a);", "!a.ptx:4:9: expected '.param', not '.shared'"},
    {".func f(.param .nothing a);",
     "!a.ptx:4:16: expected the type of a parameter, not '.nothing'"},
    {".func f(.param .b32 7);", "!a.ptx:4:21: expected the name of a parameter, not '7'"},
    {".func 7();", "!a.ptx:4:7: expected the name of a function, not '7'"},
    {".extern .func f() {}", "!a.ptx:4:19: an '.extern' function has a body"},
    {".entry f() .maxntid 1;", "!a.ptx:4:22: expected ';' or the body of the function, not ';'"},
    {".func f() .noreturn;", "0 of 0"},
};

TEST_LOOP(parameters_have_types_sizes_and_places, COUNT(heads))
{
    const struct ptx_item *item = parse(HEADER, heads[_i].text);

    if (item)
        put_parameters(&item->function);
    expect(heads[_i].wanted);
}

static const struct {
    const char *header, *text, *wanted;
} directives[] = {
    {HEADER, ".entry k() {}", "0 0 0 0"},
    {HEADER, ".entry k() .minperctamemory 1024 {}", "0 0 0 0; memory 1024"},
    {HEADER, ".entry k() .later 1, two, \"3\" .maxntid 4 .much .later {}",
     "maxntid 4,1,1; 0 0 0 0; unknown .later 1, two, \"3\" .much .later"},
    {HEADER, ".entry k() .maxntid 4294967295 {}", "maxntid 4294967295,1,1; 0 0 0 0"},
    {HEADER, ".entry k() .maxntid 4294967296 {}",
     "!a.ptx:4:21: a number of threads or blocks is too large"},
    {HEADER, ".entry k() .maxntid 1,2,3,4 {}",
     "!a.ptx:4:27: expected at most three numbers, not '4'"},
    {HEADER, ".entry k() .maxntid 1,2,0 {}",
     "!a.ptx:4:21: Positive non-zero value expected for maxntid"},
    {HEADER, ".entry k() .maxntid 1, {}",
     "!a.ptx:4:24: expected a number of threads or blocks, not '{'"},
    {HEADER, ".entry k() .reqntid 5,6 .reqnctapercluster 2,0,3 .blocksareclusters {}",
     "reqntid 5,6,1; cluster 2,0,3; 0 0 0 0; blocks"},
    {HEADER, ".entry k() .reqntid 5 .blocksareclusters {}",
     "!a.ptx:4:12: .reqntid and .reqnctapercluster directive(s) required for directive "
     "'.blocksareclusters'"},
    {HEADER, ".entry k() .reqnctapercluster 2 .blocksareclusters {}",
     "!a.ptx:4:12: .reqntid and .reqnctapercluster directive(s) required for directive "
     "'.blocksareclusters'"},
    {HEADER, ".entry k() .minnctapersm 3 .maxnreg 4 .maxclusterrank 5 .explicitcluster {}",
     "3 0 4 5; explicit"},
    {HEADER, ".entry k() .reqntid 0 {}",
     "!a.ptx:4:21: Positive non-zero value expected for reqntid"},
    {HEADER, ".entry k() .maxnctapersm 0 {}",
     "!a.ptx:4:26: Positive non-zero value expected for maxnctapersm"},
    {HEADER, ".entry k() .maxclusterrank 1, 2 {}",
     "!a.ptx:4:29: expected ';' or the body of the function, not ','"},
    {HEADER, ".entry k() .minnctapersm 0 {}",
     "!a.ptx:4:26: Positive non-zero value expected for minnctapersm"},
    {HEADER, ".entry k() .maxnreg 0 {}",
     "!a.ptx:4:21: Positive non-zero value expected for maxnreg"},
    {HEADER, ".entry k() .maxclusterrank 0 {}", "0 0 0 0"},
    {HEADER, ".entry k() .maxclusterrank 4294967295 {}", "0 0 0 4294967295"},
    {HEADER, ".entry k() .maxclusterrank 4294967296 {}", "!a.ptx:4:28: a number is too large"},
    {HEADER, ".entry k() .maxnctapersm 2 {}",
     "!a.ptx:4:12: Deprecated feature: '.maxnctapersm directive' not supported as of PTX version "
     "2.1"},
    {".version 2.0\n.target sm_20\n", ".entry k() .maxnctapersm 2 {}", "0 2 0 0"},
    {".version 2.1\n.target sm_20\n", ".entry k() .maxnctapersm 2 {}",
     "!a.ptx:3:12: Deprecated feature: '.maxnctapersm directive' not supported as of PTX version "
     "2.1"},
    {HEADER, ".entry k() .maxntid 1 .reqntid 1 {}",
     "!a.ptx:4:12: Conflicting directives: .maxntid and .reqntid cannot both be specified"},
    {HEADER, ".entry k() .reqnctapercluster 1 .maxclusterrank 2 {}",
     "!a.ptx:4:12: Conflicting directives: .reqnctapercluster and .maxclusterrank cannot both be "
     "specified"},
    {HEADER, ".entry k() .abi_preserve 2 {}",
     "!a.ptx:4:12: expected ';' or the body of the function, not '.abi_preserve'"},
    {HEADER, ".entry k() .noreturn {}",
     "!a.ptx:4:12: expected ';' or the body of the function, not '.noreturn'"},
    {HEADER, ".entry k() .pragma \"a\", \"b\"; .maxnreg 7 {}", "0 0 7 0"},
    {HEADER, ".entry k() .pragma \"a\" .maxnreg 7 {}", "!a.ptx:4:24: expected ';', not '.maxnreg'"},
    {HEADER, ".entry k() .pragma \"a\", {}", "!a.ptx:4:25: expected a string, not '{'"},
    {HEADER, ".entry k() .pragma , {}", "!a.ptx:4:20: expected a string, not ','"},
    {HEADER, ".func f() .abi_preserve 2 .abi_preserve_control 0 {}",
     "0 0 0 0; preserve 2; control 0"},
    {HEADER, ".func f() .abi_preserve 0 .noreturn {}", "0 0 0 0; preserve 0; noreturn"},
    {HEADER, ".func f() .abi_preserve 2, 3 {}",
     "!a.ptx:4:26: expected ';' or the body of the function, not ','"},
    {HEADER, ".func f() .abi_preserve_control 2, 3 {}",
     "!a.ptx:4:34: expected ';' or the body of the function, not ','"},
    {HEADER, ".func f() .maxnreg 2 {}",
     "!a.ptx:4:11: expected ';' or the body of the function, not '.maxnreg'"},
    {HEADER, ".func f() .explicitcluster {}",
     "!a.ptx:4:11: expected ';' or the body of the function, not '.explicitcluster'"},
    {HEADER, ".func (.param .b32 r) f() .noreturn {}",
     "!a.ptx:4:27: Invalid directive '.noreturn' for function 'f'"},
};

TEST_LOOP(directives_are_numbers_and_flags, COUNT(directives))
{
    const struct ptx_item *item = parse(directives[_i].header, directives[_i].text);

    if (item) {
        put_directives(&item->function.performance);
        ck_assert(text_equal(item->function.body, TEXT("{}")));
        ck_assert(text_ends(item->function.head, TEXT("()")));
    }
    expect(directives[_i].wanted);
}

/* Text that is hostile: what is kept is as large as the text, not as its square. */
TEST(many_unknown_directives_take_little_memory)
{
    static char text[3 * 6000 + 1];

    for (size_t i = 0; i + 1 < sizeof text; i += 3)
        memcpy(text + i, ".x ", 3);
    const struct ptx_item *item = parse(HEADER ".entry k() ", suite_print("%s{}", text));
    ck_assert_ptr_nonnull(item);
    ck_assert_uint_eq(item->function.performance.unknown.size, 3 * 6000);
    ck_assert_uint_lt(arena.block_size, 1u << 20);
}
