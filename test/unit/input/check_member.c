/* check_member.c: which code takes part, and what is said about the rest. */
#include <unistd.h>

#include "input/member.h"
#include "host_object.h"
#include "input_fixture.h"
#include "suite.h"

static struct inputs inputs;
static struct members members;

/* Opens, collects and selects operands, a list of words separated by blanks. */
static bool choose(const char *words, struct member_request request)
{
    struct input_operand operands[16];
    size_t count = 0;

    for (char *word = strtok(suite_print("%s", words), " "); word; word = strtok(NULL, " "))
        operands[count++] = (struct input_operand){.name = word};
    members_free(&members);
    inputs_close(&inputs);
    messages_catch();
    if (!request.toolkit)
        request.toolkit = toolkits_find(130);
    return inputs_open(&inputs, operands, count, NULL) && members_collect(&members, &inputs) &&
           members_select(&members, &request);
}

static struct member_request request_for(unsigned sm, char suffix, bool prefer_ptx)
{
    return (struct member_request){.arch = {sm, suffix}, .prefer_ptx = prefer_ptx};
}

/* Roles as letters: . unused, o options, p PTX, c cubin. */
static const char *roles(void)
{
    static char letters[64];

    for (size_t i = 0; i < members.count && i < 63; i++) {
        letters[i] = ".opclb"[members.list[i].role];
        letters[i + 1] = '\0';
        ck_assert_ptr_nonnull(members.list[i].reason);
    }
    return members.count ? letters : "";
}

static const struct {
    const char *operands;
    unsigned sm;
    bool prefer_ptx;
    const char *roles;
} choices[] = {
    {FIXTURES "a.lto.o", 90, false, "po"},
    {FIXTURES "a.sass.o", 90, false, "c."},
    {FIXTURES "a.sass.o", 90, true, ".p"},
    {FIXTURES "a.sass.o", 120, false, ".p"},
    {FIXTURES "a.multi.o", 90, false, "co.."},
    {FIXTURES "a.multi.o", 90, true, ".op."},
    {FIXTURES "a.multi.o", 89, true, "...o"},
    {FIXTURES "a.cm_speed.o", 90, false, "c.o"},
    {FIXTURES "c.sm100a.o", 100, false, "c.."},
    {FIXTURES "c.wholeprog.o", 90, false, ".."},
    {FIXTURES "abc.reloc.o", 90, true, "popopo"},
    {FIXTURES "lib.a", 90, true, "popo"},
    {FIXTURES "b.pie", 90, false, "c."},
    {FIXTURES "shared.so", 90, false, ""},
    {FIXTURES "empty.fatbin", 90, false, ""},
    {FIXTURES "hostonly.o", 90, false, ""},
    {FIXTURES "k.sm90.cubin " FIXTURES "a.ptx", 90, true, "cp"},
    {FIXTURES "k.sm90a.cubin", 90, false, "c"},
    {FIXTURES "b.sass80.o", 86, false, "c."},
    {FIXTURES "b.sass80.o", 90, false, ".p"},
};

TEST_LOOP(the_choice_is_nvlinks, COUNT(choices))
{
    ck_assert(choose(choices[_i].operands, request_for(choices[_i].sm, 0, choices[_i].prefer_ptx)));
    ck_assert_str_eq(roles(), choices[_i].roles);
    messages_expect("");
}

#define SEVERAL "fixtures/bitcode/several.o"
#define SCALE   "fixtures/examples/bitcode/scale.bc"
/* An archive in which the same function is for sm_60, sm_75 and sm_89. */
#define RUNTIME "fixtures/bitcode/runtime.a"

/* Each entry: images of one compilation (bitcode for sm_75, PTX and machine code for sm_90), and
 * what is taken of them: b is bitcode. */
static const struct {
    const char *operands;
    unsigned sm;
    bool link_bitcode;
    const char *roles;
} image_choices[] = {
    {SEVERAL, 90, false, "..c"},
    {SEVERAL, 90, true, "b.."},
    {SEVERAL, 75, false, "b.."},
    {SEVERAL, 100, false, ".p."},
    {SEVERAL " " SCALE, 90, false, "..cb"},
    {SCALE, 75, true, "b"},
    {"fixtures/bitcode/several.offload " SEVERAL, 75, true, "b..b.."},
    {RUNTIME, 60, true, "b.."},
    {RUNTIME, 86, false, ".b."},
    {SCALE " " RUNTIME " " SEVERAL, 90, true, "b..bb.."},
};

TEST_LOOP(images_are_chosen_from_like_entries, COUNT(image_choices))
{
    struct member_request request = request_for(image_choices[_i].sm, 0, false);
    size_t bitcode = 0;

    request.link_bitcode = image_choices[_i].link_bitcode;
    ck_assert(choose(image_choices[_i].operands, request));
    ck_assert_str_eq(roles(), image_choices[_i].roles);
    for (const char *role = image_choices[_i].roles; *role; role++)
        bitcode += *role == 'b';
    ck_assert_uint_eq(members.bitcode_count, bitcode);
    ck_assert_uint_ge(members.ptx_count, bitcode);
    messages_expect("");
}

TEST(bitcode_for_a_newer_target_is_an_error)
{
    ck_assert(!choose("fixtures/bitcode/helper.22.bc", request_for(75, 0, false)));
    messages_expect("minilink error   : SM version specified by .target is higher than default SM "
                    "version assumed: 'fixtures/bitcode/helper.22.bc' is for sm_90, the target is "
                    "sm_75\n");
}

TEST(names_and_groups_tell_where_a_member_is_from)
{
    const struct member *list;

    ck_assert(choose(FIXTURES "lib.a " FIXTURES "abc.reloc.o " FIXTURES "a.ptx",
                     request_for(90, 0, true)));
    list = members.list;
    ck_assert_uint_eq(members.count, 11);
    ck_assert_str_eq(list[1].name, FIXTURES "lib.a(b.lto.o)(2)");
    ck_assert_str_eq(list[1].file, FIXTURES "lib.a");
    ck_assert_str_eq(list[1].object_name, FIXTURES "lib.a(b.lto.o)");
    ck_assert_str_eq(list[9].name, FIXTURES "abc.reloc.o(6)");
    ck_assert_str_eq(list[10].name, FIXTURES "a.ptx");
    ck_assert_uint_eq(list[0].group, list[1].group);
    ck_assert_uint_ne(list[1].group, list[2].group);
    ck_assert_uint_ne(list[4].group, list[6].group);
    ck_assert_uint_eq(members.ptx_count, 6);
    ck_assert(members.has_lto && !members.has_lto_only);
    ck_assert_str_eq(list[0].reason, "PTX beside LTO-IR");
    ck_assert_str_eq(list[1].reason, "options only");
    messages_expect("");
}

TEST(code_comes_inflated_and_without_padding)
{
    struct inflation inflation = {0};
    OWNED(arena) arena = {0};
    struct bytes code;

    ck_assert(choose(FIXTURES "a.cm_none.o", request_for(90, 0, true)));
    for (size_t i = 0; i < members.count; i++) {
        if (members.list[i].role != MEMBER_PTX)
            continue;
        ck_assert(member_code(&members.list[i], &inflation, &arena, &code));
        ck_assert_uint_eq(code.size, 1465);
        ck_assert_int_ne(code.data[code.size - 1], '\0');
    }
    messages_expect("");
}

/* The cases of a matrix that nvlink was measured on: a fatbin of the entries listed, where s80
 * is SASS, p90a PTX and l100f LTO-IR, and the entry that is taken. */
static const struct {
    unsigned toolkit;
    unsigned sm;
    char suffix;
    const char *entries;
    const char *taken; /* "" = none; of several roles the code's */
} matrix[] = {
    {130, 86, 0, "s80 p86", "p86"},
    {130, 86, 0, "s80 p80", "s80"},
    {130, 86, 0, "s80 s86", "s86"},
    {130, 86, 0, "p80 s80", "s80"},
    {130, 90, 0, "p80 p86", "p86"},
    {130, 90, 0, "p86 p80", "p86"},
    {130, 90, 0, "p80 s90", "s90"},
    {130, 90, 0, "s90 s90a", "s90a"},
    {130, 90, 0, "s90a s90", "s90a"},
    {130, 90, 'a', "s90 s90a", "s90a"},
    {130, 90, 'a', "p90 p90a", "p90a"},
    {130, 90, 0, "p90a p90", "p90"},
    {130, 90, 'a', "p90a s90", "s90"},
    {130, 90, 0, "s90a p90", "s90a"},
    {130, 103, 0, "s100 s100f", "s100f"},
    {130, 103, 0, "s100 p103", "p103"},
    {130, 103, 0, "p100f p100", "p100f"},
    {130, 103, 0, "s100a", ""},
    {130, 103, 0, "s100f", "s100f"},
    {130, 103, 0, "p100a", ""},
    {130, 100, 'a', "p100 p100f p100a", "p100a"},
    {130, 100, 'f', "p100 p100f", "p100f"},
    {130, 120, 0, "p100f", ""},
    {130, 120, 0, "p100", "p100"},
    {130, 110, 0, "s103", ""},
    {130, 110, 0, "p100f", ""},
    {130, 110, 0, "p103", "p103"},
    {130, 87, 0, "s86", ""},
    {130, 88, 0, "s80", ""},
    {130, 89, 0, "s86", "s86"},
    {130, 89, 0, "s88", ""},
    {130, 89, 0, "s87", ""},
    {130, 121, 0, "s120", "s120"},
    {130, 80, 0, "s75", ""},
    {130, 80, 0, "p90", ""},
    {130, 103, 0, "l100f", "l100f"},
    {130, 103, 0, "l100a", ""},
    {130, 100, 'f', "l100a", ""},
    {130, 100, 'a', "l100f", "l100f"},
    {130, 90, 0, "l80 l90", "l90"},
    {130, 90, 0, "s100 p100 l100", ""},
    {131, 90, 0, "s90 s90a", "s90"},
    {131, 90, 0, "s90a p90", "p90"},
    {131, 90, 'a', "s90 s90a", "s90a"},
    {131, 100, 'f', "s100a s100f", "s100f"},
    {131, 100, 0, "s100a", ""},
    {131, 87, 0, "s86 p80", "p80"},
    {132, 87, 0, "s86 p80", "s86"},
    {135, 89, 0, "s80 s88", "s88"},
    {131, 110, 0, "s101 p90", "p90"},
    {132, 110, 0, "s101 s101a s101f", "s101f"},
    {132, 110, 'a', "p101 p101a", "p101a"},
    {134, 107, 'f', "s100f s103 s103a", "s103"},
    /* nvlink takes the SASS in the first two, and finalizes it. */
    {134, 107, 0, "s100 p100", "p100"},
    {135, 107, 'a', "p90 s103f s100", "p90"},
    {135, 107, 0, "s103 s107 p107 p103", "s107"},
    {135, 107, 0, "s103 p107", "p107"},
    {135, 103, 0, "s100 p100", "s100"},
};

static char scratch[sizeof "/tmp/minilink-check-XXXXXX"];

void set_up(void)
{
    int fd;

    strcpy(scratch, "/tmp/minilink-check-XXXXXX");
    fd = mkstemp(scratch);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

void tear_down(void)
{
    remove(scratch);
    members_free(&members);
    inputs_close(&inputs);
}

/* Writes a fatbin of the entries to the scratch file. */
static void write_fatbin(const char *entries)
{
    OWNED(buffer) buffer = {0};
    size_t begin = fixture_begin(&buffer);

    while (*entries) {
        char kind = *entries++;
        struct fixture_entry entry = {
            .kind = kind == 's'   ? FATBIN_ELF
                    : kind == 'p' ? FATBIN_PTX
                                  : FATBIN_NVVM,
            .sm = (uint32_t)strtoul(entries, (char **)(uintptr_t)&entries, 10),
            .payload = "code",
        };

        entry.flags = *entries == 'a' ? FATBIN_SUFFIX_A : *entries == 'f' ? FATBIN_SUFFIX_F : 0;
        entries += strcspn(entries, " ");
        entries += *entries == ' ';
        fixture_add(&buffer, &entry);
    }
    fixture_end(&buffer, begin);
    files_save(scratch, buffer.data, buffer.size);
}

TEST_LOOP(the_nearest_entry_is_taken, COUNT(matrix))
{
    char taken[16] = "";

    struct member_request request = {.arch = {matrix[_i].sm, matrix[_i].suffix},
                                     .suppress_arch_warning = true};

    request.toolkit = toolkits_find(matrix[_i].toolkit);
    write_fatbin(matrix[_i].entries);
    ck_assert(choose(scratch, request));
    for (size_t i = 0; i < members.count; i++) {
        const struct fatbin_entry *entry = &members.list[i].entry;

        if (members.list[i].role == MEMBER_UNUSED)
            continue;
        ck_assert_str_eq(taken, "");
        snprintf(taken, sizeof taken, "%c%u%.1s",
                 entry->kind == FATBIN_ELF   ? 's'
                 : entry->kind == FATBIN_PTX ? 'p'
                                             : 'l',
                 entry->arch.sm, entry->arch.suffix ? &entry->arch.suffix : "");
    }
    ck_assert_str_eq(taken, matrix[_i].taken);
    messages_expect("");
}

TEST(bare_code_with_suffix_a_needs_a_target_with_it)
{
    struct member_request request = request_for(90, 0, false);

    request.toolkit = toolkits_find(131);
    ck_assert(!choose(FIXTURES "k.sm90a.cubin", request));
    messages_expect("minilink fatal   : cannot link accelerated arch to non-accelerated: '" FIXTURES
                    "k.sm90a.cubin' is for sm_90a, the target is sm_90\n");
    request.arch.suffix = 'a';
    ck_assert(choose(FIXTURES "k.sm90a.cubin", request));
    ck_assert_str_eq(roles(), "c");
    request.arch.sm = 100;
    ck_assert(!choose(FIXTURES "k.sm90a.cubin", request));
    messages_expect("minilink fatal   : Input file '" FIXTURES
                    "k.sm90a.cubin' arch does not match target 'sm_100a'\n");
}

TEST(lto_only_is_told_from_lto_with_ptx)
{
    write_fatbin("l90");
    ck_assert(choose(scratch, request_for(90, 0, true)));
    ck_assert(members.has_lto && members.has_lto_only);
    messages_expect("");
    write_fatbin("l90 p80");
    ck_assert(choose(scratch, request_for(90, 0, true)));
    ck_assert(members.has_lto && !members.has_lto_only);
    ck_assert_str_eq(roles(), "op");
    messages_expect("");
}

TEST(what_is_not_understood_is_an_error_unless_there_is_sass_for_the_target)
{
    OWNED(buffer) buffer = {0};
    size_t begin = fixture_begin(&buffer);

    fixture_add(&buffer, &(struct fixture_entry){63, 90, 0, "?", NULL});
    fixture_add(&buffer, &(struct fixture_entry){FATBIN_PTX, 90, 0, "code", NULL});
    fixture_put(&buffer, begin + 16 + 72 + 2, 0x0102, 2);
    fixture_add(&buffer, &(struct fixture_entry){FATBIN_ELF, 80, 0, "code", NULL});
    fixture_add(&buffer, &(struct fixture_entry){FATBIN_TILE, 90, 0, "code", NULL});
    fixture_end(&buffer, begin);
    files_save(scratch, buffer.data, buffer.size);
    ck_assert(choose(scratch, request_for(80, 0, false)));
    ck_assert_str_eq(roles(), "..c.");
    messages_expect("");

    ck_assert(!choose(scratch, request_for(86, 0, false)));
    messages_expect(suite_print(
        "minilink error   : Entry '%s(1)' may have code for sm_86 and cannot be read: kind 63 0.0 "
        "with version 0x0101 is not known; compile for sm_86 itself\n"
        "minilink error   : Entry '%s(2)' may have code for sm_86 and cannot be read: kind 1 0.0 "
        "with version 0x0102 is not known; compile for sm_86 itself\n"
        "minilink error   : Entry '%s(4)' may have code for sm_86 and cannot be read: kind 128 "
        "(Tile IR) 0.0 with version 0x0101 is not known; compile for sm_86 itself\n",
        scratch, scratch, scratch));
}

/* Each entry: operands, and all that is reported by a run that fails or only warns. */
static const struct {
    const char *operands;
    unsigned sm; /* 0 = from the inputs */
    bool ok;
    const char *messages;
} reports[] = {
    {FIXTURES "b.sass.o", 80, true,
     "minilink warning : SM Arch ('sm_80') not found in '" FIXTURES "b.sass.o'\n"
     "minilink note    : '" FIXTURES "b.sass.o' has sm_90 (SASS), compute_90 (PTX)\n"},
    {FIXTURES "abc.reloc.o", 80, true,
     "minilink warning : SM Arch ('sm_80') not found in '" FIXTURES "abc.reloc.o'\n"
     "minilink note    : '" FIXTURES "abc.reloc.o' has compute_90 (PTX), lto_90 (LTO-IR)\n"},
    {FIXTURES "lib.a", 80, true,
     "minilink warning : SM Arch ('sm_80') not found in '" FIXTURES "lib.a'\n"
     "minilink note    : '" FIXTURES "lib.a' has compute_90 (PTX), lto_90 (LTO-IR)\n"},
    {FIXTURES "k.sm90.cubin", 80, false,
     "minilink fatal   : Input file '" FIXTURES
     "k.sm90.cubin' arch does not match target 'sm_80'\n"},
    {FIXTURES "a.ptx", 80, false,
     "minilink error   : SM version specified by .target is higher than default SM version "
     "assumed: "
     "'" FIXTURES "a.ptx' is for sm_90, the target is sm_80\n"},
    {FIXTURES "c.linked.cubin", 90, true,
     "minilink warning : '" FIXTURES
     "c.linked.cubin' is ignored: its code for sm_90 is linked already "
     "(ET_EXEC) and cannot be merged; nvcc -dc makes relocatable code\n"},
    {FIXTURES "bad.one.o", 90, false,
     "minilink fatal   : Could not open input file '" FIXTURES
     "bad.one.o': text, which cannot be linked\n"
     "minilink note    : a source file is compiled first, with nvcc -dc\n"},
    {FIXTURES "bad.empty.o", 90, true,
     "minilink warning : Input file '" FIXTURES "bad.empty.o' is ignored: empty file\n"},
    {FIXTURES "bad.magic.fatbin " FIXTURES "bad.version.fatbin", 90, false,
     "minilink error   : fatbin wrong format? '" FIXTURES
     "bad.magic.fatbin': magic at offset 0 is 0x00000000, expected 0xba55ed50\n"
     "minilink error   : Damaged fatbin '" FIXTURES
     "bad.version.fatbin': version at offset 4 is 2, expected 1\n"},
    {FIXTURES "bad.size_zero.fatbin", 90, false,
     "minilink error   : Damaged fatbin '" FIXTURES
     "bad.size_zero.fatbin': the header at offset 8 says that 0 bytes follow, but 3648 more are "
     "there, which are neither padding nor another fatbin\n"},
    {FIXTURES "bad.trunc4000.o", 90, false,
     "minilink error   : Could not find fatbin in '" FIXTURES
     "bad.trunc4000.o': the ELF file is cut off: its section headers are at offset 11696, but it "
     "has "
     "4000 bytes\n"},
    {FIXTURES "b.sass80.o " FIXTURES "b.sass.o", 0, false,
     "minilink error   : -arch is needed: the inputs have code for sm_80, sm_90\n"
     "minilink note    : '" FIXTURES "b.sass80.o' has sm_80 (SASS), compute_80 (PTX)\n"
     "minilink note    : '" FIXTURES "b.sass.o' has sm_90 (SASS), compute_90 (PTX)\n"},
    {FIXTURES "a.multi.o", 0, false,
     "minilink error   : -arch is needed: the inputs have code for sm_80, sm_90\n"
     "minilink note    : '" FIXTURES
     "a.multi.o' has sm_90 (SASS), lto_90 (LTO-IR), compute_90 (PTX), lto_80 (LTO-IR)\n"},
    {FIXTURES "hostonly.o", 0, false,
     "minilink error   : -arch is needed: the inputs have no relocatable device code that "
     "says what it is for\n"},
};

TEST_LOOP(what_cannot_take_part_is_reported, COUNT(reports))
{
    ck_assert_int_eq(choose(reports[_i].operands, request_for(reports[_i].sm, 0, false)),
                     reports[_i].ok);
    messages_expect(reports[_i].messages);
}

static const struct {
    const char *operands;
    unsigned sm;
    char suffix;
} targets[] = {
    {FIXTURES "a.sass.o " FIXTURES "b.lto.o " FIXTURES "hostonly.o", 90, 0},
    {FIXTURES "a.multi.o " FIXTURES "b.sass.o", 90, 0},
    {FIXTURES "c.sm100a.o", 100, 'a'},
    {FIXTURES "k.sm90a.cubin", 90, 'a'},
    {FIXTURES "a.ptx " FIXTURES "lib.a", 90, 0},
    {FIXTURES "b.lto80.o " FIXTURES "b.sass80.o", 80, 0},
};

TEST_LOOP(the_target_is_found_when_the_inputs_agree, COUNT(targets))
{
    ck_assert(choose(targets[_i].operands, request_for(0, 0, false)));
    ck_assert_uint_eq(members.arch.sm, targets[_i].sm);
    ck_assert_int_eq(members.arch.suffix, targets[_i].suffix);
    messages_expect("");
}

TEST(the_arch_warning_can_be_suppressed)
{
    ck_assert(choose(FIXTURES "b.sass.o",
                     (struct member_request){.arch = {80, 0}, .suppress_arch_warning = true}));
    messages_expect("");
}

static const struct {
    const char *ptx;
    unsigned sm;
    char suffix;
    const char *message; /* NULL = accepted */
} texts[] = {
    {".version 8.0\n.target sm_90a, texmode_independent\n", 90, 'a', NULL},
    {".version 8.0 // .target sm_10\n/* .target sm_20 */ .target /* x */ sm_80\n", 90, 0, NULL},
    {".version 8.0\n.target sm_90a\n", 90, 0,
     "PTX with .target 'sm_90a' cannot be compiled for architecture 'sm_90'"},
    {".version 8.0\n.target sm_100a\n", 103, 0,
     "Program with .target 'sm_100a' cannot be compiled to future architecture"},
    {".version 8.0\n.target sm_100f\n", 120, 0,
     "Program with .target 'sm_100f' cannot be compiled to different SM-family architecture"},
    {".version 8.0\n.func f;", 90, 0, "has no valid .target directive"},
    {".version 8.0\n.target sm_1\n", 90, 0, "has no valid .target directive"},
    {".version 8.0\n.target", 90, 0, "has no valid .target directive"},
    {".version 8.0\n.target /* x", 90, 0, "has no valid .target directive"},
};

TEST_LOOP(the_target_directive_of_a_ptx_text_counts, COUNT(texts))
{
    files_save(scratch, texts[_i].ptx, strlen(texts[_i].ptx));
    ck_assert_int_eq(choose(scratch, request_for(texts[_i].sm, texts[_i].suffix, false)),
                     texts[_i].message == NULL);
    if (texts[_i].message)
        messages_expect_part(texts[_i].message);
    else
        messages_expect("");
}

/* What members_collect makes of a file that is handed to it. */
static bool collect_file(struct input_file file)
{
    struct inputs one = {.files = &file, .count = 1};

    members_free(&members);
    messages_catch();
    return members_collect(&members, &one);
}

TEST_LOOP(a_file_named_after_device_code_must_have_some, 4)
{
    static const char *const names[] = {"x.ptx", "x.cubin", "x.ltoir", "x.fatbin"};

    ck_assert(!collect_file((struct input_file){
        .path = names[_i], .kind = FILE_TEXT, .data = {(const uint8_t *)"no", 2}}));
    messages_expect_part(names[_i]);
}

TEST(bytes_behind_a_container_must_be_zero_or_another_one)
{
    OWNED(buffer) buffer = {0};
    size_t begin = fixture_begin(&buffer);
    struct input_file file = {.path = "x", .kind = FILE_FATBIN};

    fixture_add(&buffer, &(struct fixture_entry){FATBIN_PTX, 80, 0, "code", NULL});
    fixture_end(&buffer, begin);
    begin = fixture_begin(&buffer);
    fixture_end(&buffer, begin);
    buffer_zeros(&buffer, 13);
    file.data = buffer_bytes(&buffer);
    ck_assert(collect_file(file));
    ck_assert_uint_eq(members.count, 1);
    buffer.data[buffer.size - 1] = 1;
    ck_assert(!collect_file(file));
    messages_expect("minilink error   : Damaged fatbin 'x+0x58': the header at offset 8 says that "
                    "0 bytes follow, but 13 more are there, which are neither padding nor another "
                    "fatbin\n");
}

#define GCC_TEXT "// BEGIN PREAMBLE\n.version 6.0\n.target sm_30\n"

/* What becomes of a host object with these sections; `from_compiler` as in struct inputs. */
static bool collect_object(const struct object_section *sections, size_t count, bool from_compiler)
{
    OWNED(buffer) buffer = {0};
    struct input_file file = {.path = "x", .kind = FILE_HOST_OBJECT};
    struct inputs one = {.files = &file, .count = 1, .from_compiler = from_compiler};

    object_make(&buffer, sections, count);
    file.data = buffer_bytes(&buffer);
    members_free(&members);
    messages_catch();
    return members_collect(&members, &one);
}

TEST(texts_among_the_constants_of_gcc_s_programs_are_found)
{
    static const char constants[] =
        "ab\1" GCC_TEXT "first\0" GCC_TEXT "second\0// BEGIN PREAMBLE\n.";
    struct object_section sections[] = {{".rodata", {(const uint8_t *)constants, sizeof constants}},
                                        {".gnu.offload_funcs", {(const uint8_t *)"12345678", 8}}};

    ck_assert(collect_object(sections, 2, false));
    ck_assert_uint_eq(members.count, 2);
    ck_assert_str_eq(members.list[1].name, "x(2)");
    ck_assert_uint_eq(members.list[1].entry.arch.sm, 30);
    ck_assert_uint_eq(members.list[1].entry.payload.size, sizeof GCC_TEXT "second" - 1);
    ck_assert_uint_ne(members.list[0].group, members.list[1].group);
    ck_assert(!members.list[0].is_lazy);
    messages_expect("");
    ck_assert(collect_object(sections, 1, false)); /* no such program: a string */
    ck_assert_uint_eq(members.count, 0);
    sections[0].data.size = sizeof "ab\1" GCC_TEXT; /* its NUL is cut off */
    ck_assert(collect_object(sections, 2, false));
    ck_assert_uint_eq(members.count, 1);
}

TEST(gcc_s_bytecode_is_refused_unless_a_compiler_names_it)
{
    const struct object_section sections[] = {
        {".gnu.offload_lto_.opts", {(const uint8_t *)"-O2", 3}},
        {".gnu.offload_funcs", {(const uint8_t *)"12345678", 8}}};

    ck_assert(!collect_object(sections, 2, false));
    messages_expect("minilink error   : 'x' has GCC's bytecode for other processors (sections "
                    ".gnu.offload_lto_*), not their code: gcc -foffload=nvptx-none makes PTX of it "
                    "when it links the program, which can be an input here\n");
    ck_assert(collect_object(sections, 2, true));
    messages_expect("");
}
