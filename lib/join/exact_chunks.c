/* exact_chunks.c: reads the chunks of a whole program, and finds in which form the assembler wrote
 * them, as their own bytes tell, and which kernel each section and symbol belongs to.
 *
 * In a whole program's cubin everything belongs either to a kernel, which the section's name tells,
 * or to the program. Checks of cubin_read() (indices of sections, records, the call graph) are not
 * repeated; Mercury's relocations are not among these. */
#include "join/join.h"

#include "cubin/format.h"
#include "diag/diag.h"
#include "join/exact_internal.h"

static const struct exact_form forms[] = {
#define FORM(first, last, symbols, names) {{first, last}, symbols, names},
#include "join/exact_forms.def"
#undef FORM
};

int exact_join_compare(unsigned version)
{
    const struct exact_form *last = &forms[sizeof forms / sizeof *forms - 1];

    return (version > last->toolkits.last) - (version < forms->toolkits.first);
}

void exact_refuse(struct exact *join, const struct exact_input *input, size_t section,
                  const char *what)
{
    *join->why = (struct exact_join_difference){.chunk = input ? (size_t)(input - join->inputs) : 0,
                                                .what = what};
    if (section > 0 && input && section < input->cubin.section_count)
        join->why->section = input->cubin.sections[section].name;
    context_raise(LINK_FAILED);
}

/* Numbers kernels in the order of compilation: the last of the text first. */
static void number_kernels(struct exact *join)
{
    const struct exact_join_request *request = join->request;

    join->kernel_count = request->kernel_count;
    join->owner_count = request->kernel_count + request->left_out_count;
    if (join->owner_count >= EXACT_COMMON)
        exact_refuse(join, NULL, 0, "has too many kernels");
    for (uint32_t i = 0; i < join->owner_count; i++) {
        bool is_own = i < join->kernel_count;
        struct text name = is_own ? request->kernels[join->kernel_count - 1 - i]
                                  : request->left_out[i - join->kernel_count];

        if (table_add(&join->kernel_names, name, i) != i)
            exact_refuse(join, NULL, 0,
                         is_own ? "has two kernels of one name"
                                : "leaves out a kernel of the program");
    }
    join->kernels = arena_zalloc(&join->arena, join->owner_count, sizeof *join->kernels);
}

/* A kernel's name has no dot. Before it stand the bank of its constants, or Mercury's word. */
uint32_t exact_name_owner(const struct exact *join, struct text name, bool *is_head)
{
    const uint64_t heads = CLASS_SET(TEXT) | CLASS_SET(FUNCTION_INFO) | CLASS_SET(SHARED);
    struct text plain = sections_target_name(name), kind = plain;
    const struct section_facts *facts;
    uint32_t owner = EXACT_COMMON;

    while (kind.size > 0 && kind.data[kind.size - 1] != '.')
        kind.size--;
    facts = sections_named(kind);
    if (facts && facts->class == CLASS_CONSTANT
            ? kind.size > facts->name.size + 1
            : facts && text_equal(kind, facts->name) &&
                  class_is_in(facts->class, heads | CLASS_SET(OTHER)))
        owner = table_find(&join->kernel_names, text_drop(plain, kind.size));
    *is_head = owner != EXACT_COMMON && plain.size == name.size && class_is_in(facts->class, heads);
    return owner;
}

/* The symbols in a kernel's EXTERNS record. */
static struct bytes find_externs_record(struct bytes records)
{
    struct info_record record;

    while (info_next(&records, &record))
        if (record.attribute == EIATTR_EXTERNS && record.format == EIFMT_SVAL)
            return record.payload;
    return (struct bytes){0};
}

static void find_kernel_sections(struct exact *join, struct exact_input *input)
{
    const struct cubin *cubin = &input->cubin;
    bool is_head;

    if (cubin->has_unknown_records) /* they may name symbols */
        exact_refuse(join, input, 0, "has records that are not known");
    input->section_owner = arena_alloc(&join->arena, cubin->section_count, sizeof(uint32_t));
    input->section_class = arena_zalloc(&join->arena, cubin->section_count, 1);
    input->section_out = arena_zalloc(&join->arena, cubin->section_count, sizeof(uint32_t));
    input->section_owner[0] = EXACT_COMMON;
    for (uint32_t i = 1; i < cubin->section_count; i++) {
        struct text name = cubin->sections[i].name;
        uint32_t owner = exact_name_owner(join, name, &is_head);

        input->section_owner[i] = owner;
        if (table_add(&input->sections, name, i) != i)
            exact_refuse(join, input, i, "is there twice");
        if (owner != EXACT_COMMON && cubin->sections[i].type == SHT_CUDA_INFO)
            join->kernels[owner].externs = find_externs_record(cubin->sections[i].data);
        if (owner == EXACT_COMMON || !cubin_is_text(&cubin->sections[i]))
            continue;
        if (owner < join->kernel_count && join->kernels[owner].input)
            exact_refuse(join, input, i, "is in another chunk as well");
        join->kernels[owner].input = input;
    }
}

/* The row past the last symbol that is made after all kernels are compiled; the number of rows if
 * there is none of these. */
static size_t last_made(const struct cubin *cubin)
{
    const struct text graph = sections_of_class(CLASS_CALLGRAPH)->name;
    const struct text action = sections_of_class(CLASS_REL_ACTION)->name;

    for (size_t row = cubin->symbol_count; row-- > 0;)
        if (text_equal(cubin->symbols[row].name, graph) ||
            text_equal(cubin->symbols[row].name, action))
            return row + 1;
    return cubin->symbol_count;
}

bool exact_is_nameless(const struct cubin_symbol *symbol)
{
    return symbol->name.size == 0 && symbol->type != STT_SECTION;
}

size_t exact_name_padding(bool has_mercury)
{
    return has_mercury ? 36 : 14;
}

/* Whether the names stand one after the other in the order of the sections. */
static bool are_names_rewritten(const struct exact_input *input)
{
    const struct cubin *cubin = &input->cubin;
    struct bytes names = cubin->sections[EXACT_SECTION_NAMES].data;
    const char *next = (const char *)names.data + 1;

    for (size_t i = 1; i < cubin->section_count; i++) {
        if (cubin->sections[i].name.data != next)
            return false;
        next += cubin->sections[i].name.size + 1;
    }
    return (size_t)((const char *)names.data + names.size - next) ==
           exact_name_padding(input->cubin.has_twins);
}

/* Divides a chunk's rows: locals up to the last that is made after the kernels, then globals, and
 * section symbols. A chunk whose kernels are weak may have no globals. False if weak symbols, or
 * the nameless one, are not where the form has them; a cubin without any fits both. */
static bool divide_symbols(struct exact_input *input, enum exact_symbol_form form)
{
    const struct cubin_symbol *symbols = input->cubin.symbols;
    size_t row = 1, count = input->cubin.symbol_count;
    bool has_weak = form == WEAK_WITH_GLOBALS;

    input->locals = last_made(&input->cubin);
    for (; row < input->locals; row++)
        if (symbols[row].binding == STB_GLOBAL || (has_weak && symbols[row].binding != STB_LOCAL))
            return false;
    while (row < count &&
           (symbols[row].binding == STB_GLOBAL ||
            (has_weak && (symbols[row].binding != STB_LOCAL || exact_is_nameless(&symbols[row])))))
        row++;
    input->globals_end = row;
    for (; row < count; row++)
        if (symbols[row].binding != STB_LOCAL || symbols[row].type != STT_SECTION)
            return false;
    return true;
}

static bool fits_form(const struct exact *join, const struct exact_form *form)
{
    for (size_t i = 0; i < join->count; i++)
        if (are_names_rewritten(&join->inputs[i]) != (form->names == NAMES_REWRITTEN) ||
            !divide_symbols(&join->inputs[i], form->symbols))
            return false;
    return true;
}

static void find_form(struct exact *join)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (fits_form(join, &forms[i])) {
            join->form = &forms[i];
            return;
        }
    exact_refuse(join, NULL, 0, "is written in a form that is not known");
}

static void own_symbols(struct exact *join, struct exact_input *input)
{
    const struct cubin *cubin = &input->cubin;

    input->symbol_owner = arena_alloc(&join->arena, cubin->symbol_count, sizeof(uint32_t));
    input->symbol_out = arena_zalloc(&join->arena, cubin->symbol_count, sizeof(uint32_t));
    input->symbol_name = arena_alloc(&join->arena, cubin->symbol_count, sizeof(struct text));
    for (uint32_t i = 0; i < cubin->symbol_count; i++) {
        const struct cubin_symbol *symbol = &cubin->symbols[i];

        input->symbol_name[i] = symbol->name;
        input->symbol_owner[i] = symbol->section && symbol->section < cubin->section_count
                                     ? input->section_owner[symbol->section]
                                     : EXACT_COMMON;
        if (i > 0 && symbol->name.size == 0 && !join->erased) {
            join->erased = input;
            join->erased_row = i;
        }
        if (symbol->type != STT_SECTION && symbol->name.size > 0 &&
            table_add(&input->symbols, symbol->name, i) != i)
            exact_refuse(join, input, cubin->symtab, "has two symbols of one name");
    }
}

/* Mercury's table has the same symbols in the same rows, up to the last global. */
static void check_mercury(struct exact *join, struct exact_input *input)
{
    const struct cubin *cubin = &input->cubin;
    bool is_parallel;

    if (!input->cubin.has_twins)
        return;
    is_parallel =
        input->cubin.twin_symtab && !input->cubin.twin_indices &&
        cubin->sections[input->cubin.twin_symtab].size == input->globals_end * sizeof(Elf64_Sym);
    for (uint32_t row = 0; is_parallel && row < input->globals_end; row++) {
        const struct cubin_symbol *symbol = &cubin->symbols[row];
        Elf64_Sym twin = cubin_twin_symbol(cubin, row);

        is_parallel =
            (ELF64_ST_TYPE(twin.st_info) == STT_SECTION) == (symbol->type == STT_SECTION) &&
            (symbol->type == STT_SECTION ||
             text_equal(cubin_string(cubin, twin.st_name), symbol->name));
    }
    if (!is_parallel)
        exact_refuse(join, input, input->cubin.twin_symtab,
                     "has symbols of Mercury's in another order");
}

static void read_chunk(struct exact *join, struct exact_input *input)
{
    bool is_read;

    input->file = join->request->chunks[input - join->inputs];
    {
        DIAG_SILENCE();
        is_read = cubin_read(&input->cubin, "chunk", input->file);
    }
    if (!is_read)
        exact_refuse(join, input, 0, "is damaged");
    if (input->cubin.type != ET_EXEC)
        exact_refuse(join, input, 0, "is no executable");
    if (input->cubin.toolkit != 0)
        exact_refuse(join, input, 0, "has not the form of CUDA 13");
    if ((input->cubin.flags ^ join->inputs[0].cubin.flags) & CUBIN_FLAGS_MERGEABLE)
        exact_refuse(join, input, 0, "has other ELF flags");
    if (!input->cubin.symtab)
        exact_refuse(join, input, 0, "has no symbols");
    find_kernel_sections(join, input);
    own_symbols(join, input);
}

void exact_read(struct exact *join)
{
    number_kernels(join);
    for (size_t i = 0; i < join->count; i++)
        read_chunk(join, &join->inputs[i]);
    for (size_t i = 0; i < join->kernel_count; i++)
        if (!join->kernels[i].input)
            exact_refuse(join, NULL, 0, "and the others have not all kernels");
    join->base = join->kernels[0].input;
    join->is_closed = join->request->left_out_count > 0;
    find_form(join);
    for (size_t i = 0; i < join->count; i++)
        check_mercury(join, &join->inputs[i]);
}

bool exact_is_erased(const struct exact *join, struct text name)
{
    return name.size == 0 || (join->erased && text_equal(name, TEXT(EXACT_ERASED_NAME)));
}

uint32_t exact_section_named(const struct exact_input *input, struct text name)
{
    uint32_t index = table_find(&input->sections, name);

    return index == TABLE_NONE ? 0 : index;
}

uint32_t exact_section_of(const struct exact *join, const struct exact_input *input, uint32_t out)
{
    return exact_section_named(input, join->image.sections[out].name);
}

enum section_kind exact_kind_of(const struct exact *join, uint32_t out)
{
    const struct exact_item *item = &join->sections.items[out - 1];
    const struct cubin *cubin = &item->input->cubin;
    const struct cubin_section *section = &cubin->sections[item->index];

    if (format_is_relocations(section->type)) {
        const struct cubin_section *target = &cubin->sections[section->info];

        /* cubin_read() does not check the names of Mercury's. */
        if (!text_equal(sections_target_name(section->name), sections_plain_name(target->name)))
            return KIND_ANY;
        section = target;
    }
    return section->facts ? section->facts->kind : KIND_ANY;
}

void exact_take_data(struct exact *join, uint32_t out)
{
    struct image_section *section = &join->image.sections[out];

    section->size = join->scratch.size;
    section->data = arena_copy(&join->image.arena, join->scratch.data, join->scratch.size, 1);
    join->scratch.size = 0;
}
