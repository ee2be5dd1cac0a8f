/* empty.c: makes a cubin of notes alone, as measured on what nvlink 13.0 to 13.5 writes for inputs
 * without device code. */
#include "cubin/empty.h"

#include <elf.h>

#include "base/context.h"
#include "cubin/format.h"
#include "cubin/tool_note.h"

/* A cubin has Mercury's symbol table from sm_100 on. */
enum { EMPTY_STRINGS = 1, EMPTY_SYMTAB, EMPTY_TKINFO, EMPTY_CUINFO, EMPTY_TWIN, EMPTY_SECTIONS };

/* The null symbol and those of both notes. */
enum { EMPTY_SYMBOLS = 3 };

static void set_contents(struct cubin *cubin, size_t section, const void *data, size_t size)
{
    cubin->sections[section].data = (struct bytes){data, size};
    cubin->sections[section].size = size;
}

/* Mercury's table has the same symbols. */
static void put_symbols(struct cubin *cubin)
{
    Elf64_Sym *twins = arena_zalloc(&cubin->arena, EMPTY_SYMBOLS, sizeof *twins);

    cubin->symbols = arena_zalloc(&cubin->arena, EMPTY_SYMBOLS, sizeof *cubin->symbols);
    cubin->symbol_count = EMPTY_SYMBOLS;
    for (uint16_t i = 1; i < EMPTY_SYMBOLS; i++) {
        uint16_t section = (uint16_t)(EMPTY_TKINFO + i - 1);

        cubin->symbols[i] = (struct cubin_symbol){
            .name = cubin->sections[section].name, .type = STT_SECTION, .section = section};
        twins[i].st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION);
        twins[i].st_shndx = section;
    }
    if (cubin->section_count <= EMPTY_TWIN)
        return;
    set_contents(cubin, EMPTY_TWIN, twins, EMPTY_SYMBOLS * sizeof *twins);
    cubin->sections[EMPTY_TWIN].entry_size = sizeof *twins;
}

void empty_cubin(struct cubin *cubin, struct arch arch, const struct toolkit_facts *toolkit)
{
    const struct section_facts *const rows[] = {
        [EMPTY_STRINGS] = sections_of_kind(KIND_STRINGS, false),
        [EMPTY_SYMTAB] = sections_find(SHT_SYMTAB, 0, (struct text){0}),
        [EMPTY_TKINFO] = sections_of_kind(KIND_TOOLS, false),
        [EMPTY_CUINFO] = sections_of_kind(KIND_TARGET, false),
        [EMPTY_TWIN] = sections_of_class(CLASS_TWIN_SYMTAB),
    };
    struct buffer note = {0};

    CONTEXT_DEFER(buffer_cleanup, &note);
    tool_note_put_target(&note, arch.sm, toolkit->version);
    cubin->name = "lto.cubin";
    cubin->type = ET_REL;
    cubin->flags = format_target_flags(arch.sm) | (uint32_t)EMPTY_CUINFO << CUBIN_FLAGS_NOTE_SHIFT;
    cubin->sections = arena_zalloc(&cubin->arena, EMPTY_SECTIONS, sizeof *cubin->sections);
    cubin->section_count = targets_have(arch.sm, TARGET_HAS_MERCURY) ? EMPTY_SECTIONS : EMPTY_TWIN;
    for (size_t i = 1; i < cubin->section_count; i++)
        cubin->sections[i] = (struct cubin_section){
            .name = rows[i]->name,
            .type = rows[i]->type,
            .flags = rows[i]->flags,
            .link = rows[i]->link == SECTION_LINK_STRINGS ? EMPTY_STRINGS : 0,
            .facts = rows[i],
            .alignment = 4};
    if (targets_have(arch.sm, TARGET_HAS_COMPAT))
        cubin->sections[EMPTY_CUINFO].flags |= SHF_INFO_LINK;
    set_contents(cubin, EMPTY_CUINFO, arena_copy(&cubin->arena, note.data, note.size, 1),
                 note.size);
    set_contents(cubin, EMPTY_STRINGS, "", 1);
    cubin->strings = cubin->sections[EMPTY_STRINGS].data;
    cubin->symtab = EMPTY_SYMTAB;
    put_symbols(cubin);
}
