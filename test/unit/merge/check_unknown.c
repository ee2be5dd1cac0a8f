/* check_unknown.c: sections of kinds that are not known, as newer toolkits may add, and Mercury's
 * that CUDA 13.4 added. */
#include "cubin/contents.h"
#include "merged_output.h"

#define NEW       0x700000aau /* a type that no toolkit has so far */
#define TWO(of)   "07_call-sm_100-" of "-a.o 07_call-sm_100-" of "-b.o"
#define CALLGRAPH ".nv.merc.nv.callgraph"
#define PROTOTYPE ".nv.merc.nv.prototype"
#define FIELD(of) offsetof(Elf64_Shdr, of)

static struct merge_request request_of(unsigned version)
{
    return REQUEST(100, .toolkit = toolkits_find(version));
}

/* nvlink's names from the first Mercury section on, for the same inputs. */
static const struct {
    unsigned toolkit;
    const char *names;
} orders[] = {
    {133, ".nv.capmerc.text.k1 .nv.capmerc.text.f .nv.merc.debug_frame .nv.merc.nv.info "
          ".nv.merc.nv.info.k1 .nv.merc.nv.info.f .nv.merc.rela.text.k1 .nv.merc.rela.debug_frame "
          ".nv.merc.symtab "},
    {134, ".nv.capmerc.text.k1 .nv.capmerc.text.f .nv.merc.debug_frame .nv.merc.nv.info "
          ".nv.merc.nv.info.k1 .nv.merc.nv.info.f .nv.merc.nv.callgraph .nv.merc.nv.prototype "
          ".nv.merc.rela.text.k1 .nv.merc.rela.debug_frame .nv.merc.symtab "},
    {135, ".nv.merc.symtab .nv.merc.debug_frame .nv.merc.nv.info .nv.merc.nv.info.k1 "
          ".nv.merc.nv.info.f .nv.merc.nv.callgraph .nv.merc.nv.prototype .nv.merc.rela.text.k1 "
          ".nv.merc.rela.debug_frame .nv.capmerc.text.k1 .nv.capmerc.text.f "},
};

TEST_LOOP(mercury_sections_stand_in_the_order_of_the_toolkit, COUNT(orders))
{
    struct buffer names = {0};

    merge_with(request_of(orders[_i].toolkit), TWO("13.3"));
    for (size_t i = 1; i < merged->output.section_count; i++)
        if (cubin_is_mercury(&merged->output.sections[i])) {
            buffer_text(&names, merged->output.sections[i].name);
            buffer_char(&names, ' ');
        }
    buffer_char(&names, '\0');
    ck_assert_str_eq(names.data, orders[_i].names);
    buffer_free(&names);
}

/* The twin equals the plain section, and its section symbol names it. */
static void expect_twin(const char *plain, const char *name)
{
    const struct cubin_section *twin = section(name);
    struct bytes rows = section(".nv.merc.symtab")->data;
    uint32_t plain_index = cubin_section_find(&merged->output, text_of(plain));

    ck_assert(bytes_equal(twin->data, section(plain)->data) && twin->size > 0);
    ck_assert_uint_eq(twin->link, cubin_section_find(&merged->output, TEXT(".nv.merc.symtab")));
    for (size_t i = 1; i < rows.size / sizeof(Elf64_Sym); i++) {
        Elf64_Sym row;

        memcpy(&row, rows.data + i * sizeof row, sizeof row);
        if (merged->output.symbols[i].section != plain_index)
            continue;
        ck_assert_uint_eq(row.st_shndx, cubin_section_find(&merged->output, text_of(name)));
        return;
    }
    ck_abort_msg("no symbol of %s", plain);
}

TEST_LOOP(the_call_graph_has_a_twin, 2)
{
    merge_with(request_of(135), _i ? TWO("13.5") : TWO("13.3"));
    expect_twin(".nv.callgraph", CALLGRAPH);
    expect_twin(".nv.prototype", PROTOTYPE);
}

/* A change of a section's header, and what a link of the one file says about it. */
static const struct {
    const char *section;
    size_t field;
    uint64_t value;
    const char *why;
} refused[] = {
    {CALLGRAPH, FIELD(sh_type), NEW,
     "it may name symbols, whose numbers change (--binary-kind=sass"},
    {".nv.merc.nv.info.k1", FIELD(sh_type), NEW, "it may name symbols"},
    {".nv.callgraph", FIELD(sh_type), NEW, "it may name symbols, whose numbers change\n"},
    {".nv.constant0.k1", FIELD(sh_type), NEW, "it is loaded"},
    {".nv.merc.debug_frame", FIELD(sh_type), NEW, "it has relocations"},
    {".debug_frame", FIELD(sh_type), NEW, "it has relocations"},
    {".nv.compat", FIELD(sh_info), 1, "it names a section that is no function's code"},
};

TEST_LOOP(sections_that_cannot_be_carried_over_are_refused, COUNT(refused))
{
    read_input("07_call-sm_100-13.5-a.o");
    if (refused[_i].field != FIELD(sh_type))
        patch_section(refused[_i].section, FIELD(sh_type), NEW, 4);
    patch_section(refused[_i].section, refused[_i].field, refused[_i].value, 4);
    merge_input(request_of(135));
    expect_refused(refused[_i].why);
    expect_said("error   : Section '");
    expect_said(refused[_i].section);
    expect_said("in 'a.o', which CUDA 13.5 made, is not supported");
}

TEST(mercury_is_left_out_only_if_asked_for)
{
    read_input("07_call-sm_100-13.5-b.o");
    patch_section(CALLGRAPH, FIELD(sh_type), NEW, 4);
    merge_input(REQUEST(100, .toolkit = toolkits_find(135), .sass_only = true));
    ck_assert(merged->ok);
    ck_assert_uint_eq(merged->said.text.size, 0);
    ck_assert_ptr_null(section_at(".nv.merc.symtab", 0));
}

/* Of a function's address in code, and of a frame's CIE. */
static const struct {
    const char *list;
    size_t row;
    const char *target;
} relocations[] = {{".nv.merc.rela.text.k1", 0, "in section '.nv.capmerc.text.k1'"},
                   {".nv.merc.rela.debug_frame", 2, "in section '.nv.merc.debug_frame'"}};

static void read_unknown(int which)
{
    restart();
    read_nth_input(0, "07_call-sm_100-13.5-a.o");
    read_nth_input(1, "07_call-sm_100-13.5-b.o");
    input_relocations(0, relocations[which].list)[relocations[which].row].type = 0x100ff;
}

TEST_LOOP(a_relocation_of_unknown_type_is_refused, COUNT(relocations))
{
    read_unknown(_i);
    merge_inputs(request_of(135), 2);
    expect_refused("error   : Cannot resolve relocation type 0x100ff (unknown) against ");
    expect_said(relocations[_i].target);
    expect_said("of 'a.o', which CUDA 13.5 made (--binary-kind=sass");
    read_unknown(_i);
    merge_well(REQUEST(100, .toolkit = toolkits_find(135), .sass_only = true), 2);
}

static void make_new(const char *name)
{
    patch_section(name, FIELD(sh_type), NEW, 4);
    patch_section(name, FIELD(sh_link), 0, 4);
}

/* Of the program and of a function: whole, with all others, and one caution.
 */
static const char *const carried[] = {CALLGRAPH, ".nv.merc.nv.info.f"};

TEST_LOOP(a_section_of_unknown_kind_is_carried_over, COUNT(carried))
{
    struct bytes before;
    const struct cubin_section *after;

    read_input("07_call-sm_100-13.5-b.o");
    make_new(carried[_i]);
    before = nth_input_section(0, carried[_i])->data;
    merge_input(REQUEST(100, .toolkit = toolkits_find(135), .relocatable = true));
    ck_assert(merged->ok);
    expect_said("is of an unknown kind: it is carried over as it is");
    after = section(carried[_i]);
    while (after->type != NEW) /* the call graph's twin is made anew beside it */
        after++;
    ck_assert(bytes_equal(after->data, before));
    ck_assert_uint_eq(after->link, 0);
    if (after->flags & SHF_INFO_LINK)
        ck_assert_uint_eq(after->info,
                          cubin_section_find(&merged->output, cubin_is_mercury(after)
                                                                  ? TEXT(".nv.capmerc.text.f")
                                                                  : TEXT(".text.f")));
    section(".nv.merc.symtab");
    section(".nv.capmerc.text.f");
}

TEST(one_of_several_inputs_may_have_it)
{
    const struct cubin *const both[] = {&merged->inputs[0], &merged->inputs[1]};

    read_input("07_call-sm_100-13.5-b.o");
    make_new(CALLGRAPH);
    merged->files[1] = merged->files[0];
    merged->files[0] = (struct buffer){0};
    merged->inputs[1] = merged->inputs[0];
    merged->inputs[0] = (struct cubin){0};
    read_input("07_call-sm_100-13.5-a.o");
    ck_assert(unknown_check(both, 2, false));
    make_new(CALLGRAPH);
    diag_state_get()->sink = &merged->said;
    ck_assert(!unknown_check(both, 2, false));
    ck_assert(unknown_check(both, 2, true));
    diag_state_get()->sink = NULL;
    expect_said("there is another one of that type");
}

/* nvlink 13.5 concatenates such sections, and relocates them. */
TEST(program_bits_of_any_name_are_treated_like_debug_sections)
{
    struct buffer *bytes = &merged->files[0];
    const char *end;

    read_input("07_call-sm_100-13.5-b.o");
    end = bytes->data + bytes->size;
    for (char *at = bytes->data; (at = memmem(at, (size_t)(end - at), "debug_f", 7)) != NULL;)
        memcpy(at, "strange", 7);
    reread_input(0);
    merge_input(REQUEST(100, .toolkit = toolkits_find(135), .relocatable = true));
    expect_said("Section '.strangerame' of type 0x1 in 'a.o' is of an unknown kind");
    expect_said("Section '.nv.merc.strangerame' of type 0x1");
    ck_assert_uint_eq(section(".strangerame")->size, nth_input_section(0, ".strangerame")->size);
    ck_assert_uint_gt(section(".rela.strangerame")->relocation_count, 0);
}

/* A program of two files; the first record of an attribute of one gets a number that no toolkit has
 * so far. Returns the record. */
static const uint8_t *read_renumbered(size_t number, const char *name, uint8_t attribute)
{
    struct info_record record;
    struct bytes rest;
    uint8_t *at;

    read_nth_input(0, "07_call-sm_100-13.5-a.o");
    read_nth_input(1, "07_call-sm_100-13.5-b.o");
    rest = nth_input_section(number, name)->data;
    at = input_bytes(number, name);
    while (at[1] != attribute && info_next(&rest, &record))
        at += 4 + record.payload.size;
    ck_assert_uint_gt(rest.size, 0);
    at[1] = NEW & 0xff;
    reread_input(number);
    return at;
}

/* Attributes, and the bytes of their records. */
struct renumbered {
    size_t input;
    const char *section;
    uint8_t attribute;
    size_t size;
};

/* What is known to have no symbols, in all formats but that without a value. */
static const struct renumbered copied[] = {
    {0, ".nv.info.k1", EIATTR_MAXREG_COUNT, 4},
    {0, ".nv.info.k1", EIATTR_EXIT_INSTR_OFFSETS, 8},
    {0, ".nv.info.k1", EIATTR_LANGUAGE, 8},
    {0, ".nv.info.k1", EIATTR_KPARAM_INFO, 16},
    {1, ".nv.info.f", EIATTR_PREEXIT_USED, 4},
    {0, ".nv.merc.nv.info.k1", EIATTR_MERCURY_FINALIZER_OPTIONS, 36},
    {1, ".nv.info", EIATTR_MERCURY_ISA_VERSION, 4},
    {1, ".nv.merc.nv.info", EIATTR_MERCURY_ISA_VERSION, 4},
};

TEST_LOOP(an_unknown_attribute_is_carried_over, COUNT(copied) * 2)
{
    const struct renumbered *of = &copied[_i / 2];
    struct info_record record;
    const uint8_t *before = read_renumbered(of->input, of->section, of->attribute);

    merge_inputs(REQUEST(100, .toolkit = toolkits_find(135), .relocatable = _i % 2 == 0), 2);
    ck_assert(merged->ok);
    expect_said("warning : Attribute 0xaa of .nv.");
    expect_said("which CUDA 13.5 made, is not known: it is carried over as it is");
    ck_assert(find_record(of->section, NEW & 0xff, NULL, &record));
    ck_assert_uint_eq(record.format, before[0]);
    if (record.format != EIFMT_SVAL)
        ck_assert_uint_eq(record.value, (uint32_t)(before[2] | before[3] << 8));
    else
        ck_assert(bytes_equal(record.payload, (struct bytes){before + 4, of->size - 4}));
}

/* What is known to have symbols. */
static const struct renumbered symbolic[] = {
    {0, ".nv.info", EIATTR_REGCOUNT, 12},           {0, ".nv.info", EIATTR_MAX_STACK_SIZE, 12},
    {0, ".nv.merc.nv.info", EIATTR_FRAME_SIZE, 12}, {0, ".nv.info.k1", EIATTR_PARAM_CBANK, 12},
    {0, ".nv.info.k1", EIATTR_EXTERNS, 8},          {0, ".nv.merc.nv.info.k1", EIATTR_EXTERNS, 8},
};

TEST_LOOP(an_unknown_attribute_that_may_name_symbols_is_refused, COUNT(symbolic))
{
    const struct renumbered *of = &symbolic[_i];

    read_renumbered(of->input, of->section, of->attribute);
    merge_inputs(REQUEST(100, .toolkit = toolkits_find(135)), 2);
    expect_refused("error   : Attribute 0xaa of .nv.");
    expect_said(" in 'a.o', which CUDA 13.5 made, is not known and may name symbols, whose numbers "
                "change: link it with nvlink of its toolkit, or compile it with CUDA 13.5\n");
    merge_inputs(REQUEST(100, .toolkit = toolkits_find(135), .sass_only = true), 2);
    ck_assert(merged->ok == (strstr(of->section, ".merc") != NULL));
}

TEST(each_unknown_attribute_is_told_of_once)
{
    const struct cubin *const both[] = {&merged->inputs[0], &merged->inputs[1]};
    size_t lines = 0;

    read_renumbered(0, ".nv.info.k1", EIATTR_LANGUAGE);
    input_bytes(1, ".nv.info.f")[1] = NEW & 0xff;
    reread_input(1);
    diag_state_get()->sink = &merged->said;
    ck_assert(unknown_check(both, 2, false));
    diag_state_get()->sink = NULL;
    for (size_t i = 0; i < merged->said.text.size; i++)
        lines += merged->said.text.data[i] == '\n';
    ck_assert_uint_eq(lines, 1);
}
