/* names.c: makes names unique, so that modules can share a text.
 *
 * All modules may end up in one chunk. Internal symbols, labels of string sections and file numbers
 * of two modules can then clash; all but the first are renamed. */
#include <xxhash.h>

#include "base/search.h"
#include "ptx/internal.h"

struct naming {
    struct program *program;
    struct table taken;
    uint64_t *hashes; /* of the modules' texts; 0 = not made yet */
};

/* "<name>$ml<8 hexadecimal digits of the module's hash>"; counts up until the name is free. */
static struct text unique_program_name(struct naming *naming, struct text name, uint32_t module)
{
    struct text whole = naming->program->modules[module]->text;
    struct text unique;
    uint32_t salt = 0;

    if (naming->hashes[module] == 0)
        naming->hashes[module] = XXH3_64bits(whole.data, whole.size) | UINT64_C(1) << 63;
    do {
        unique = text_of(arena_printf(&naming->program->arena, "%.*s$ml%08x", TEXT_ARG(name),
                                      (uint32_t)naming->hashes[module] + salt));
        /* Modules with the same text differ by their place in the input. */
        salt += module + 1;
    } while (table_find(&naming->taken, unique) != TABLE_NONE);
    table_add(&naming->taken, unique, 0);
    return unique;
}

static void name_internal_symbols(struct naming *naming)
{
    struct program *program = naming->program;

    /* Symbols that several modules share keep their names. */
    for (size_t i = 0; i < program->module_count; i++)
        for (size_t j = 0; j < program->details[i].entry_count; j++)
            if (program->details[i].entries[j].is_global)
                table_add(&naming->taken, program->details[i].entries[j].name, 0);
    for (uint32_t i = 0; i < program->module_count; i++) {
        for (size_t j = 0; j < program->details[i].entry_count; j++) {
            struct program_entry *entry = &program->details[i].entries[j];

            if (entry->is_global || entry->symbol == NO_SYMBOL)
                continue;
            if (table_find(&naming->taken, entry->name) == TABLE_NONE) {
                table_add(&naming->taken, entry->name, 0);
                continue;
            }
            entry->replacement = unique_program_name(naming, entry->name, i);
            program->symbols[entry->symbol].name = entry->replacement;
            program->details[i].has_replacements = true;
        }
    }
}

/* Labels "NAME:" of sections become entries: `.loc ... function_name NAME` is renamed with them. */
static void name_labels(struct naming *naming, const struct ptx_item *section, uint32_t module)
{
    struct program_module *details = &naming->program->details[module];
    struct lexer lexer = lexer_at(section->target, 0);
    size_t capacity = details->entry_count;
    struct token token;

    while ((token = lexer_next(&lexer)).kind != TOKEN_END) {
        struct text name = lexer_text(&lexer, token);
        size_t at = details->entry_count;

        if (token.kind != TOKEN_WORD || lexer_peek(&lexer).mark != ':' ||
            table_find(&naming->taken, name) == TABLE_NONE) {
            if (token.kind == TOKEN_WORD)
                table_add(&naming->taken, name, 0);
            continue;
        }
        if (table_add(&details->names, name, (uint32_t)at) != at)
            continue;
        details->has_percent |= name.data[0] == '%';
        ARENA_PUSH(&naming->program->arena, details->entries, details->entry_count, capacity) =
            (struct program_entry){.name = name,
                                   .symbol = NO_SYMBOL,
                                   .replacement = unique_program_name(naming, name, module)};
        details->has_replacements = true;
    }
}

static void name_section_labels(struct naming *naming)
{
    const struct program *program = naming->program;

    for (uint32_t i = 0; i < program->module_count; i++) {
        const struct ptx_module *module = program->modules[i];

        if (module->has_full_debug)
            continue;
        for (size_t j = 0; j < module->item_count; j++)
            if (module->items[j].kind == PTX_SECTION)
                name_labels(naming, &module->items[j], i);
    }
}

COMPARISON(compare_file_numbers, struct program_file_number, COMPARE(a->own, b->own));

/* Maps one module's file numbers to the program's. If only one module has a file table, it keeps
 * its numbers (`known` is NULL). */
static void number_module_files(struct program *program, uint32_t index, struct table *known,
                                size_t *capacity)
{
    const struct ptx_module *module = program->modules[index];
    struct program_module *details = &program->details[index];
    size_t room = 0;

    for (size_t i = 0; i < module->item_count; i++) {
        const struct ptx_item *item = &module->items[i];
        uint32_t own = (uint32_t)item->number, number = own, at = (uint32_t)program->file_count;

        if (item->kind != PTX_FILE)
            continue;
        if (known) {
            at = table_add(known, item->target, at);
            number = at + 1;
        }
        if (at == program->file_count)
            ARENA_PUSH(&program->arena, program->files, program->file_count, *capacity) =
                (struct program_file){number, index, item->target};
        ARENA_PUSH(&program->arena, details->files, details->file_count, room) =
            (struct program_file_number){own, number, at};
        details->renumbers_files |= own != number;
    }
    SORT(details->files, details->file_count, compare_file_numbers);
}

static bool has_files(const struct ptx_module *module)
{
    for (size_t i = 0; i < module->item_count; i++)
        if (module->items[i].kind == PTX_FILE)
            return !module->has_full_debug;
    return false;
}

static void number_all_files(struct program *program)
{
    LOCAL_TABLE(known);
    size_t capacity = 0, tables = 0;

    for (uint32_t i = 0; i < program->module_count; i++)
        tables += has_files(program->modules[i]);
    for (uint32_t i = 0; i < program->module_count; i++)
        if (has_files(program->modules[i]))
            number_module_files(program, i, tables > 1 ? &known : NULL, &capacity);
}

void names_make_unique(struct program *program)
{
    struct naming naming = {.program = program};

    CONTEXT_DEFER(table_cleanup, &naming.taken);
    naming.hashes = arena_zalloc(&program->arena, program->module_count, sizeof *naming.hashes);
    name_internal_symbols(&naming);
    name_section_labels(&naming);
    number_all_files(program);
}
