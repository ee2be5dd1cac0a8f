/* check_sections.c: which row describes a section, and the order of Mercury's. */
#include "facts/cubins.h"
#include "suite.h"

#define INFO  SHF_INFO_LINK
#define MERC  SHF_CUDA_MERCURY
#define ALLOC SHF_ALLOC

static const struct {
    uint32_t type;
    uint64_t flags;
    const char *name;
    bool is_owned;
    enum section_class class;
} headers[] = {
    {SHT_STRTAB, 0, ".shstrtab", false, CLASS_TABLE},
    {SHT_PROGBITS, ALLOC | SHF_EXECINSTR, ".text.f", true, CLASS_TEXT},
    {SHT_PROGBITS, 0, ".debug_frame", false, CLASS_DEBUG},
    {SHT_PROGBITS, 0, ".nv_debug_line_sass", false, CLASS_DEBUG},
    {SHT_PROGBITS, MERC, ".nv.merc.debug_frame", false, CLASS_TWIN_DEBUG},
    {SHT_CUDA_INFO, 0, ".nv.info", false, CLASS_INFO},
    {SHT_CUDA_INFO, INFO, ".nv.info.f", true, CLASS_FUNCTION_INFO},
    {SHT_CUDA_MERC_INFO, MERC | INFO, ".nv.merc.nv.info.f", true, CLASS_TWIN_FUNCTION_INFO},
    {SHT_CUDA_CONSTANT3, ALLOC, ".nv.constant3", false, CLASS_CONSTANT},
    {SHT_CUDA_CONSTANT0, ALLOC | INFO, ".nv.constant0.f", true, CLASS_FUNCTION_CONSTANT},
    {SHT_CUDA_SHARED, ALLOC | INFO, ".nv.shared.f", true, CLASS_SHARED},
    {SHT_CUDA_SHARED, ALLOC, ".nv_debug.shared", false, CLASS_DEBUG_SHARED},
    {SHT_CUDA_GLOBAL_INIT, ALLOC, ".nv.global.init", false, CLASS_GLOBAL_INIT},
    {SHT_CUDA_GLOBAL_INIT, MERC | ALLOC, ".nv.merc.nv.global.init", false, CLASS_TWIN_GLOBAL_INIT},
    {SHT_CUDA_RESERVED_SHARED, ALLOC, ".nv.shared.reserved.0", false, CLASS_RESERVED},
    {SHT_CUDA_RESERVED_SHARED, MERC, ".nv.merc.nv.shared.reserved.0", false, CLASS_TWIN_RESERVED},
    {SHT_CUDA_MERC_CALLGRAPH, MERC, ".nv.merc.nv.callgraph", false, CLASS_TWIN_CALLGRAPH},
    {SHT_CUDA_MERC_PROTOTYPE, MERC, ".nv.merc.nv.prototype", false, CLASS_TWIN_PROTOTYPE},
    {SHT_SYMTAB_SHNDX, 0, ".symtab_shndx", false, CLASS_TABLE},
    {SHT_SYMTAB_SHNDX, MERC, ".nv.merc.symtab_shndx", false, CLASS_TWIN_INDICES},
    {SHT_NOTE, 0, ".note.nv.tkinfo", false, CLASS_NOTE},
    {SHT_NOTE, 0, ".note.other", false, CLASS_NONE},
    {SHT_CUDA_LOCAL, ALLOC | INFO, ".nv.local.f", false, CLASS_NONE},
    {SHT_PROGBITS, 0, ".nv.debug", false, CLASS_NONE},
    {SHT_PROGBITS, MERC, ".debug_frame", false, CLASS_NONE},
    {0x7000008c, MERC, ".nv.merc.nv.callgraph", false, CLASS_NONE},
    {0x70000076, ALLOC, ".nv.constant18", false, CLASS_NONE},
};

TEST_LOOP(kinds_are_told_by_type_and_if_need_be_flags_and_name, COUNT(headers))
{
    const struct section_facts *found =
        sections_find(headers[_i].type, headers[_i].flags, text_of(headers[_i].name));

    if (headers[_i].is_owned)
        found = sections_of_function(found);
    if (headers[_i].class == CLASS_NONE)
        ck_assert_ptr_null(found);
    else
        ck_assert(found && found->class == headers[_i].class);
}

static const struct {
    const char *name;
    enum section_class class;
    enum section_kind kind;
} names[] = {
    {".text.f", CLASS_TEXT, KIND_ANY},
    {".text", CLASS_NONE, KIND_ANY},
    {".nv.info", CLASS_INFO, KIND_ANY},
    {".nv.info.f", CLASS_FUNCTION_INFO, KIND_ANY},
    {".nv.constant3", CLASS_CONSTANT, KIND_ANY},
    {".nv.constant0.f", CLASS_CONSTANT, KIND_ANY},
    {".nv.shared.f", CLASS_SHARED, KIND_ANY},
    {".nv.shared.reserved.0", CLASS_RESERVED, KIND_ANY},
    {".nv.local.f", CLASS_OTHER, KIND_ANY},
    {".nv.global", CLASS_GLOBAL, KIND_ANY},
    {".nv.globals", CLASS_NONE, KIND_ANY},
    {".debug_frame", CLASS_DEBUG, KIND_FRAMES},
    {".debug_frames", CLASS_DEBUG, KIND_ANY},
    {".nv.merc.debug_frame", CLASS_TWIN_DEBUG, KIND_FRAMES},
    {".nv.merc.nv_debug_line_sass", CLASS_TWIN_DEBUG, KIND_SASS_LINES},
    {".nv_debug.shared", CLASS_DEBUG_SHARED, KIND_ANY},
    {".rela.debug_frame", CLASS_RELOCATIONS, KIND_ANY},
    {".nv.merc.rela.debug_frame", CLASS_TWIN_RELOCATIONS, KIND_ANY},
    {".note.nv.cuinfo", CLASS_NOTE, KIND_TARGET},
    {".note.nv.cuver", CLASS_NOTE, KIND_TARGET_OF_12},
    {".note.minilink", CLASS_NOTE, KIND_BUILTIN},
    {"", CLASS_NONE, KIND_ANY},
    {"f", CLASS_NONE, KIND_ANY},
};

TEST_LOOP(names_alone_tell_kinds, COUNT(names))
{
    const struct section_facts *found = sections_named(text_of(names[_i].name));

    ck_assert_int_eq(found ? found->class : CLASS_NONE, names[_i].class);
    ck_assert_int_eq(found ? found->kind : KIND_ANY, names[_i].kind);
}

TEST(kinds_have_names_and_those_of_debug_sections_twins)
{
    for (enum section_kind kind = KIND_NAMES; kind <= KIND_BUILTIN; kind++)
        ck_assert_int_eq(sections_named(sections_of_kind(kind, false)->name)->kind, kind);
    for (enum section_kind kind = KIND_FRAMES; kind <= KIND_REGISTERS; kind++)
        ck_assert(text_equal(sections_plain_name(sections_of_kind(kind, true)->name),
                             sections_of_kind(kind, false)->name));
}

TEST(names_lead_to_plain_sections_and_targets)
{
    ck_assert(text_equal(sections_plain_name(TEXT(".nv.capmerc.text.f")), TEXT(".text.f")));
    ck_assert(text_equal(sections_plain_name(TEXT(".nv.merc.rela.text.f")), TEXT(".rela.text.f")));
    ck_assert(text_equal(sections_target_name(TEXT(".nv.merc.rela.text.f")), TEXT(".text.f")));
    ck_assert(text_equal(sections_target_name(TEXT(".rel.nv.constant4")), TEXT(".nv.constant4")));
    ck_assert(text_equal(sections_target_name(TEXT(".text.f")), TEXT(".text.f")));
}

/* A section that nothing orders would be left out. */
TEST(every_toolkit_orders_every_class_of_mercury)
{
    for (unsigned version = 118; version <= toolkits_newest()->version + 1u; version++) {
        unsigned seen = 0;
        size_t count;
        const enum section_class *order = sections_twin_order(toolkits_find(version), &count);

        for (size_t i = 0; i < count; i++)
            seen |= 1u << (order[i] - CLASS_TWIN_TEXT);
        ck_assert_uint_eq(count, CLASS_TWIN_SYMTAB - CLASS_TWIN_TEXT + 1);
        ck_assert_uint_eq(seen, (1u << count) - 1);
    }
}

TEST(every_class_but_the_unknown_has_a_row)
{
    for (enum section_class class = 0; class < CLASS_COUNT; class ++)
        if (class != CLASS_TWIN_OTHER)
            ck_assert_int_eq(sections_of_class(class)->class, class);
}

TEST(types_have_names)
{
    ck_assert_str_eq(sections_type_name(SHT_PROGBITS), "PROGBITS");
    ck_assert_str_eq(sections_type_name(0x7000008a), "CUDA_MERC_CALLGRAPH");
    ck_assert_ptr_null(sections_type_name(0x7000008c));
}
