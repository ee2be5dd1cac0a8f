/* cubin_image.c: the way back from struct cubin to a file.
 *
 * Relocations, symbols and names are encoded; all other sections are passed on as they are. */
#include "unit/cubin/cubin_image.h"

#include "diag/diag.h"

static const void *encode_relocations(struct arena *arena, const struct cubin_section *section)
{
    size_t step = section->type == SHT_REL ? sizeof(Elf64_Rel) : sizeof(Elf64_Rela);
    uint8_t *data = arena_alloc(arena, section->relocation_count, step);

    for (size_t i = 0; i < section->relocation_count; i++) {
        const struct cubin_relocation *relocation = &section->relocations[i];
        Elf64_Rela record = {.r_offset = relocation->offset,
                             .r_info = ELF64_R_INFO((uint64_t)relocation->symbol, relocation->type),
                             .r_addend = relocation->addend};

        memcpy(data + i * step, &record, step);
    }
    return data;
}

static void add_section(struct image *image, const struct cubin_section *section)
{
    struct image_section added = {
        .name = section->name,
        .type = section->type,
        .link = section->link,
        .info = section->info,
        .flags = section->flags,
        .alignment = section->alignment,
        .entry_size = section->entry_size,
        .size = section->size,
        .has_no_bytes = section->has_no_bytes,
        .data = section->data.data,
    };

    if (format_is_relocations(section->type))
        added.data = encode_relocations(&image->arena, section);
    image_add_section(image, &added);
}

/* The symbol table, and its names behind the strings that other sections refer to by offset. */
static void set_symbols(struct image *image, const struct cubin *cubin)
{
    struct image_strings strings = {0};
    struct image_symbol *symbols =
        arena_zalloc(&image->arena, cubin->symbol_count, sizeof *symbols);
    struct image_section *table;
    char *copy;

    CONTEXT_DEFER(image_strings_free, &strings);
    for (size_t i = 1; i < cubin->symbol_count; i++) {
        const struct cubin_symbol *from = &cubin->symbols[i];

        symbols[i] = (struct image_symbol){
            .name = from->name,
            .value = from->value,
            .size = from->size,
            .type = from->type,
            .binding = from->binding,
            .other = from->other,
            .section = from->section,
        };
    }
    buffer_append(&strings.bytes, cubin->strings.data, cubin->strings.size);
    image_set_symbols(image, cubin->symtab, symbols, cubin->symbol_count, &strings);
    table = &image->sections[image->sections[cubin->symtab].link];
    copy = arena_alloc(&image->arena, strings.bytes.size, 1);
    memcpy(copy, strings.bytes.data, strings.bytes.size);
    table->data = copy;
    table->size = strings.bytes.size;
}

bool cubin_image(struct image *image, const struct cubin *cubin)
{
    image_begin(image, cubin->type, cubin->flags);
    if (cubin->symtab == 0 || !text_equal(cubin->sections[1].name, TEXT(".shstrtab"))) {
        diag_error("'%s' cannot be written: it has no symbol table, or does not begin with the "
                   "section names",
                   cubin->name);
        return false;
    }
    for (size_t i = 1; i < cubin->section_count; i++)
        add_section(image, &cubin->sections[i]);
    set_symbols(image, cubin);
    image_set_section_names(image, 1, NULL);
    image_layout(image);
    return true;
}
