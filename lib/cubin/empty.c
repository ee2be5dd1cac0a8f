/* empty.c: makes a cubin of notes alone, as measured on what nvlink 13.0 to 13.5 writes for inputs
 * without device code. */
#include "cubin/empty.h"

#include <elf.h>

#include "base/context.h"
#include "cubin/format.h"
#include "cubin/tool_note.h"
#include "facts/targets.h"

/* A cubin has Mercury's symbol table from sm_100 on. */
enum { EMPTY_STRINGS = 1, EMPTY_SYMTAB, EMPTY_TKINFO, EMPTY_CUINFO, EMPTY_TWIN, EMPTY_SECTIONS };

/* The null symbol and those of both notes. */
enum { EMPTY_SYMBOLS = 3 };

static void put_empty_section(struct cubin *cubin, size_t index, const struct section_facts *facts,
                              uint64_t flags, struct bytes data)
{
    cubin->sections[index] = (struct cubin_section){.name = facts->name,
                                                    .type = facts->type,
                                                    .flags = facts->flags | flags,
                                                    .facts = facts,
                                                    .alignment = 4,
                                                    .size = data.size,
                                                    .data = data};
}

static void put_section_symbol(struct cubin *cubin, size_t index, uint32_t section)
{
    cubin->symbols[index] = (struct cubin_symbol){
        .name = cubin->sections[section].name, .type = STT_SECTION, .section = section};
}

/* Mercury's table has the same symbols. */
static void put_twin(struct cubin *cubin)
{
    Elf64_Sym *rows = arena_zalloc(&cubin->arena, cubin->symbol_count, sizeof *rows);
    struct cubin_section *twin = &cubin->sections[EMPTY_TWIN];

    for (size_t i = 1; i < cubin->symbol_count; i++) {
        rows[i].st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION);
        rows[i].st_shndx = (Elf64_Half)cubin->symbols[i].section;
    }
    put_empty_section(cubin, EMPTY_TWIN, sections_of_class(CLASS_TWIN_SYMTAB), 0,
                      (struct bytes){(const uint8_t *)rows, cubin->symbol_count * sizeof *rows});
    twin->entry_size = sizeof *rows;
    twin->link = cubin->sections[EMPTY_SYMTAB].link;
}

static void put_empty_symbols(struct cubin *cubin)
{
    cubin->symbols = arena_zalloc(&cubin->arena, EMPTY_SYMBOLS, sizeof *cubin->symbols);
    cubin->symbol_count = EMPTY_SYMBOLS;
    put_section_symbol(cubin, 1, EMPTY_TKINFO);
    put_section_symbol(cubin, 2, EMPTY_CUINFO);
    cubin->symtab = EMPTY_SYMTAB;
    cubin->strings = (struct bytes){(const uint8_t *)"", 1};
    put_empty_section(cubin, EMPTY_STRINGS, sections_of_kind(KIND_STRINGS, false), 0,
                      cubin->strings);
    put_empty_section(cubin, EMPTY_SYMTAB, sections_find(SHT_SYMTAB, 0, (struct text){0}), 0,
                      (struct bytes){0});
    cubin->sections[EMPTY_SYMTAB].link = EMPTY_STRINGS;
}

void empty_cubin(struct cubin *cubin, struct arch arch, const struct toolkit_facts *toolkit)
{
    bool has_compat = targets_have(arch.sm, TARGET_HAS_COMPAT);
    bool has_twin = targets_have(arch.sm, TARGET_HAS_MERCURY);
    struct buffer note = {0};

    CONTEXT_DEFER(buffer_cleanup, &note);
    tool_note_put_target(&note, arch.sm, toolkit->version);
    cubin->name = "lto.cubin";
    cubin->type = ET_REL;
    cubin->flags = format_target_flags(arch.sm) | (uint32_t)EMPTY_CUINFO << CUBIN_FLAGS_NOTE_SHIFT;
    cubin->sections = arena_zalloc(&cubin->arena, EMPTY_SECTIONS, sizeof *cubin->sections);
    cubin->section_count = has_twin ? EMPTY_SECTIONS : EMPTY_TWIN;
    put_empty_section(cubin, EMPTY_TKINFO, sections_of_kind(KIND_TOOLS, false), 0,
                      (struct bytes){0});
    put_empty_section(
        cubin, EMPTY_CUINFO, sections_of_kind(KIND_TARGET, false), has_compat ? SHF_INFO_LINK : 0,
        (struct bytes){arena_copy(&cubin->arena, note.data, note.size, 1), note.size});
    put_empty_symbols(cubin);
    if (has_twin)
        put_twin(cubin);
}
