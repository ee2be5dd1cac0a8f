/* made_sections.c: the sections that the link makes itself: what is the same of all of a class. */
#include "merge/layout.h"

static const struct merged_section made[CLASS_COUNT] = {
    [CLASS_INFO] = {.name = TEXT(".nv.info"), .type = SHT_CUDA_INFO, .alignment = 4},
    [CLASS_FUNCTION_INFO] = {.type = SHT_CUDA_INFO, .flags = SHF_INFO_LINK, .alignment = 4},
    [CLASS_CALLGRAPH] = {.name = TEXT(".nv.callgraph"),
                         .type = SHT_CUDA_CALLGRAPH,
                         .alignment = 4,
                         .entry_size = 8},
    [CLASS_PROTOTYPE] = {.name = TEXT(".nv.prototype"),
                         .type = SHT_CUDA_PROTOTYPE,
                         .alignment = 4,
                         .entry_size = 8},
    /* The same in every executable; what the driver does with it is not known. */
    [CLASS_REL_ACTION] = {.name = TEXT(".nv.rel.action"),
                          .type = SHT_CUDA_RELOCINFO,
                          .alignment = 8,
                          .entry_size = 8,
                          .size = NV_REL_ACTION_SIZE,
                          .data = format_rel_action},
    [CLASS_FUNCTION_CONSTANT] = {.type = SHT_PROGBITS,
                                 .flags = SHF_ALLOC | SHF_INFO_LINK,
                                 .alignment = 4},
    [CLASS_TWIN_INFO] = {.name = TEXT(".nv.merc.nv.info"),
                         .type = SHT_CUDA_MERC_INFO,
                         .flags = SHF_CUDA_MERCURY,
                         .alignment = 4},
    [CLASS_TWIN_FUNCTION_INFO] = {.type = SHT_CUDA_MERC_INFO,
                                  .flags = SHF_CUDA_MERCURY | SHF_INFO_LINK,
                                  .alignment = 4},
    [CLASS_TWIN_INDICES] = {.name = TEXT(".nv.merc.symtab_shndx"),
                            .type = SHT_SYMTAB_SHNDX,
                            .flags = SHF_CUDA_MERCURY,
                            .alignment = 4,
                            .entry_size = sizeof(Elf32_Word)},
    [CLASS_TWIN_SYMTAB] = {.name = TEXT(".nv.merc.symtab"),
                           .type = SHT_CUDA_MERC_SYMTAB,
                           .flags = SHF_CUDA_MERCURY,
                           .alignment = 8,
                           .entry_size = sizeof(Elf64_Sym)},
    [CLASS_SHARED] = {.type = SHT_NOBITS, .flags = SHF_ALLOC | SHF_WRITE | SHF_INFO_LINK},
    [CLASS_DEBUG_SHARED] = {.name = TEXT(".nv_debug.shared"),
                            .type = SHT_NOBITS,
                            .flags = SHF_ALLOC | SHF_WRITE,
                            .alignment = 1},
};

uint32_t layout_make(struct merging *m, enum merged_class class)
{
    return layout_make_of(m, class, made[class].name, MERGE_NONE);
}

uint32_t layout_make_of(struct merging *m, enum merged_class class, struct text name,
                        uint32_t function)
{
    struct merged_section section = made[class];

    section.class = class;
    section.name = name;
    section.function = function;
    section.target = MERGE_NONE;
    return layout_add(m, &section);
}
