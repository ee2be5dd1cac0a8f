/* chunk.c: the text of a chunk, gathered from views of the sources.
 *
 *     .version .target .address_size, .file table, .pragma
 *     declarations: functions that are named here; variables that are defined elsewhere or too late
 *     variables, functions, aliases, string sections: those that it owns, in program order
 *
 * Declarations are generated from the signatures: ptxas accepts a declaration only with the linkage
 * of the definition in the same text, or .extern (measured). */
#include "base/search.h"
#include "ptx/lexer.h"
#include "split/internal.h"

/* The linkage that a symbol's definition has in its chunk. */
static enum ptx_linkage linkage_here(const struct plan *plan, uint32_t symbol)
{
    const struct program_symbol *entry = &plan->program->symbols[symbol];
    const struct placement *placement = &plan->placements[symbol];

    if (placement->is_replicated && !entry->is_function && entry->linkage != PTX_COMMON &&
        !plan->is_exact)
        return PTX_WEAK;
    return placement->is_promoted ? PTX_VISIBLE : (enum ptx_linkage)entry->linkage;
}

static void write_linkage_words(struct chunk_context *context, enum ptx_linkage linkage)
{
    if (linkage != PTX_INTERNAL)
        buffer_printf(&context->writer.text, "%s ", ptx_linkage_names[linkage]);
}

/* The file table, up to the last file of a module with functions in the chunk. It may have no gap:
 * ptxas treats the numbers as indexes into it (measured). */
static void write_files(struct chunk_context *context)
{
    const struct program *program = context->plan->program;
    size_t count = 0;

    for (size_t m = 0; m < program->module_count; m++)
        for (size_t i = 0; i < program->details[m].file_count; i++)
            if (context->module_stamps[m] == context->chunk->index + 1 &&
                program->details[m].files[i].index >= count)
                count = (size_t)program->details[m].files[i].index + 1;
    for (size_t i = 0; i < count; i++) {
        const struct program_file *file = &program->files[i];

        buffer_printf(&context->writer.text, ".file\t%u ", file->number);
        writer_text(&context->writer, file->name);
        buffer_string(&context->writer.text, "\n");
    }
}

/* Writes those of the chunk's modules; a chunk that is a whole program has those of all. */
static void write_extras(struct chunk_context *context, enum ptx_item_kind kind)
{
    for (size_t i = 0; i < context->extra_count; i++) {
        const struct extra *extra = &context->extras[i];
        const struct program_module *details = &context->plan->program->details[extra->module];

        if (extra->item->kind != kind ||
            (kind == PTX_SECTION && context->stable &&
             stable_text_has_strings(context->stable, extra->module)) ||
            (!context->plan->is_exact &&
             context->module_stamps[extra->module] != context->chunk->index + 1))
            continue;
        writer_edited(&context->writer, extra->item->text, details->edits, details->edit_count);
        buffer_string(&context->writer.text, "\n");
    }
}

static void write_function_declaration(struct chunk_context *context, uint32_t symbol)
{
    const struct program_symbol *entry = &context->plan->program->symbols[symbol];
    const struct ptx_performance *performance = &entry->item->function.performance;
    struct writer *writer = &context->writer;

    write_linkage_words(context, plan_defines(context->plan, symbol, context->chunk->index)
                                     ? linkage_here(context->plan, symbol)
                                     : PTX_EXTERN);
    chunk_write_text(context, symbol, entry->item->function.head);
    if (performance->is_noreturn)
        buffer_string(&writer->text, " .noreturn");
    if (performance->has_abi_preserve)
        buffer_printf(&writer->text, " .abi_preserve %u", performance->abi_preserve);
    if (performance->has_abi_preserve_control)
        buffer_printf(&writer->text, " .abi_preserve_control %u",
                      performance->abi_preserve_control);
    if (!entry->item->function.is_entry) /* ptxas takes none of a kernel's in a declaration */
        writer_text(writer, performance->unknown);
    buffer_string(&writer->text, ";\n");
}

/* "LINKAGE .global .align 4 .b8 name[4]", without the `;`. */
static void write_variable_head(struct chunk_context *context, uint32_t symbol,
                                enum ptx_linkage linkage)
{
    const struct program_symbol *entry = &context->plan->program->symbols[symbol];

    write_linkage_words(context, linkage);
    writer_text(&context->writer, entry->item->variable.prefix);
    buffer_string(&context->writer.text, " ");
    chunk_write_text(context, symbol, entry->item->variable.declarator);
}

static void write_declarations(struct chunk_context *context)
{
    const struct program_symbol *symbols = context->plan->program->symbols;

    for (size_t i = 0; i < context->needed.count; i++) {
        uint32_t symbol = context->order[i];

        if (symbols[symbol].is_function &&
            context->declared.stamps[symbol] == context->declared.stamp)
            write_function_declaration(context, symbol);
    }
    for (size_t i = 0; i < context->needed.count; i++) {
        uint32_t symbol = context->order[i];

        if (symbols[symbol].is_function ||
            (plan_defines(context->plan, symbol, context->chunk->index) &&
             context->declared.stamps[symbol] != context->declared.stamp))
            continue;
        write_variable_head(context, symbol, PTX_EXTERN);
        buffer_string(&context->writer.text, ";\n");
    }
}

/* Names the following items' member in a comment; not in stable chunks: names differ elsewhere. */
static void write_origin(struct chunk_context *context, uint32_t module)
{
    struct buffer *out = &context->writer.text;
    size_t begin = out->size;

    if (context->stable || context->origin == module + 1)
        return;
    context->origin = module + 1;
    buffer_printf(out, "// from %s", context->plan->program->modules[module]->file);
    for (size_t i = begin; i < out->size; i++)
        if ((unsigned char)out->data[i] < ' ')
            out->data[i] = '?';
    buffer_char(out, '\n');
}

static void write_variable(struct chunk_context *context, uint32_t symbol)
{
    const struct program_symbol *entry = &context->plan->program->symbols[symbol];
    struct text initialiser = entry->item->variable.initialiser;

    write_origin(context, entry->module);
    writer_begin_range(&context->writer, context->plan->program->modules[entry->module]->file,
                       entry->item->line);
    write_variable_head(context, symbol, linkage_here(context->plan, symbol));
    if (initialiser.size) {
        buffer_string(&context->writer.text, " = ");
        chunk_write_text(context, symbol, initialiser);
    }
    writer_end_range(&context->writer);
    buffer_string(&context->writer.text, ";\n");
}

static void write_function(struct chunk_context *context, uint32_t symbol)
{
    const struct program_symbol *entry = &context->plan->program->symbols[symbol];
    struct text text = entry->item->text;
    size_t head = (size_t)(entry->item->function.head.data - text.data);

    write_origin(context, entry->module);
    writer_begin_range(&context->writer, context->plan->program->modules[entry->module]->file,
                       entry->item->line + text_count_lines(text, 0, head));
    write_linkage_words(context, linkage_here(context->plan, symbol));
    chunk_write_text(context, symbol, (struct text){text.data + head, text.size - head});
    writer_end_range(&context->writer);
    buffer_string(&context->writer.text, "\n");
}

static void write_alias(struct chunk_context *context, uint32_t symbol)
{
    uint32_t target = context->plan->program->symbols[symbol].alias_target;

    buffer_printf(&context->writer.text, ".alias %.*s, %.*s;\n",
                  TEXT_ARG(plan_name(context->plan, symbol)),
                  TEXT_ARG(plan_name(context->plan, target)));
}

static void write_definitions(struct chunk_context *context)
{
    const struct program_symbol *symbols = context->plan->program->symbols;
    const struct closure *needed = &context->needed;

    for (size_t i = 0; i < needed->count; i++)
        if (!symbols[context->order[i]].is_function &&
            plan_defines(context->plan, context->order[i], context->chunk->index))
            write_variable(context, context->order[i]);
    for (size_t i = 0; i < needed->count; i++)
        if (symbols[needed->list[i]].is_function &&
            plan_defines(context->plan, needed->list[i], context->chunk->index) &&
            symbols[needed->list[i]].alias_target == NO_SYMBOL)
            write_function(context, needed->list[i]);
    if (context->bank4)
        bank4_write(context->bank4, &context->writer);
    for (size_t i = 0; i < needed->count; i++)
        if (symbols[needed->list[i]].alias_target != NO_SYMBOL &&
            plan_defines(context->plan, needed->list[i], context->chunk->index))
            write_alias(context, needed->list[i]);
}

/* Adds the symbols that a symbol defined here names. */
static void add_named(struct chunk_context *context, uint32_t symbol)
{
    const struct program_symbol *symbols = context->plan->program->symbols;
    const struct program_symbol *entry = &symbols[symbol];

    closure_add(&context->needed, symbol);
    for (uint32_t i = 0; i < entry->reference_count; i++) {
        uint32_t named = entry->references[i];

        closure_add(&context->needed, named);
        /* An initial value can only name symbols declared before it, and their order is open. */
        if (symbols[named].is_function ||
            (!entry->is_function && (context->plan->names || named >= symbol)))
            closure_add(&context->declared, named);
    }
    if (entry->alias_target != NO_SYMBOL) {
        closure_add(&context->needed, entry->alias_target);
        closure_add(&context->declared, entry->alias_target);
        closure_add(&context->declared, symbol);
    }
}

COMPARISON(compare_symbols, uint32_t, COMPARE(*a, *b));

/* minilink-internals(7), Concurrent compilation. Measured on ptxas 13.0: if a kernel needs more
 * registers than it may have, ptxas takes 36 times as long when it may have 64, and 70 times with
 * 32, whichever directives set the limit; launch bounds that leave it enough registers cost
 * nothing. Only ptxas knows how many a kernel needs, so the factor is an estimate. It decides only
 * the order in which chunks are started; chunks are cut by size. */
#define MOST_REGISTERS   255u
#define REGISTERS_PER_SM 65536u
#define LEAST_REGISTERS  24u /* lowest limit */

static uint64_t registers_of_attributes(const struct ptx_performance *performance)
{
    uint64_t blocks = performance->minnctapersm ? performance->minnctapersm : 1;
    uint64_t threads = ptx_promised_threads(performance);
    uint64_t registers = performance->maxnreg ? performance->maxnreg
                         : threads            ? REGISTERS_PER_SM / blocks / threads
                                              : MOST_REGISTERS;

    if (registers < LEAST_REGISTERS)
        return LEAST_REGISTERS;
    return registers > MOST_REGISTERS ? MOST_REGISTERS : registers;
}

static void count_function(struct chunk_context *context, uint32_t symbol, uint64_t *heaviest)
{
    const struct program_symbol *entry = &context->plan->program->symbols[symbol];
    const struct placement *placement = &context->plan->placements[symbol];
    struct chunk *chunk = context->chunk;

    context->module_stamps[entry->module] = chunk->index + 1;
    chunk->function_count++;
    chunk->replica_count += placement->is_replicated && placement->copies > 1;
    chunk->weight += entry->item->text.size;
    /* Multiplied by the ratio of the register maximum to the registers that its attributes leave
     * each thread (.maxnreg; .reqntid or .maxntid, and .minnctapersm). */
    chunk->priority += entry->item->text.size * MOST_REGISTERS /
                       registers_of_attributes(&entry->item->function.performance);
    if (entry->item->text.size <= *heaviest)
        return;
    *heaviest = entry->item->text.size;
    chunk->first_function = arena_string(context->arena, entry->own_name);
}

/* Adds what a whole program has besides the symbols that its kernels reach. The alignment of
 * dynamic shared memory that is only declared counts in all kernels' shared memory (measured). */
static void collect_exact(struct chunk_context *context)
{
    const struct program_symbol *symbols = context->plan->program->symbols;

    for (uint32_t i = 0; i < context->plan->program->symbol_count; i++)
        if (!symbols[i].is_function && symbols[i].is_live)
            add_named(context, i);
    if (context->bank4) {
        bank4_add_functions(context->bank4, &context->needed);
        bank4_add_functions(context->bank4, &context->declared);
    }
}

static void collect_needed(struct chunk_context *context, uint32_t **members)
{
    const struct plan *plan = context->plan;
    uint64_t heaviest = 0;

    closure_restart(&context->needed);
    closure_restart(&context->declared);
    closure_of_chunk(&context->defined, plan, members, context->chunk->index);
    for (size_t i = 0; i < context->defined.count; i++)
        add_named(context, context->defined.list[i]);
    if (plan->is_exact)
        collect_exact(context);
    SORT(context->needed.list, context->needed.count, compare_symbols);
    for (size_t i = 0; i < context->needed.count; i++) {
        uint32_t symbol = context->needed.list[i];

        if (plan_defines(context->plan, symbol, context->chunk->index) &&
            plan_is_unit(plan, symbol))
            count_function(context, symbol, &heaviest);
    }
}

static void write_ordinary(struct chunk_context *context)
{
    context->origin = 0;
    /* Where each chunk is a whole program, data keep the program's order. */
    context->order = context->plan->names ? stable_text_order(context->stable, &context->needed)
                                          : context->needed.list;
    chunk_write_header(context);
    if (context->stable)
        stable_text_start(context->stable);
    else
        write_files(context);
    write_extras(context, PTX_PRAGMA);
    write_declarations(context);
    write_definitions(context);
    write_extras(context, PTX_SECTION);
    if (context->stable)
        stable_text_finish(context->stable, &context->writer);
}

static void write_whole(struct chunk_context *context, uint32_t index)
{
    const struct program_module *details = &context->plan->program->details[index];
    uint64_t heaviest = 0;

    for (size_t i = 0; i < details->entry_count; i++) {
        uint32_t symbol = details->entries[i].symbol;

        if (symbol != NO_SYMBOL && details->entries[i].item->kind == PTX_FUNCTION &&
            details->entries[i].item->is_definition)
            count_function(context, symbol, &heaviest);
    }
    explain_whole(context->plan, context->chunk, index);
    verbatim_write_module(context->plan, index, &context->writer);
}

static void collect_extras(struct chunk_context *context)
{
    const struct program *program = context->plan->program;
    size_t capacity = 0;

    for (uint32_t m = 0; m < program->module_count; m++) {
        const struct ptx_module *module = program->modules[m];

        for (size_t i = 0; i < module->item_count && !plan_is_whole(context->plan, m); i++)
            if (module->items[i].kind == PTX_PRAGMA || module->items[i].kind == PTX_SECTION)
                ARENA_PUSH(context->plan->arena, context->extras, context->extra_count, capacity) =
                    (struct extra){m, &module->items[i]};
    }
}

static void start_chunks(struct chunk_context *context, struct chunks *chunks,
                         const struct plan *plan)
{
    const struct program *program = plan->program;

    context->plan = plan;
    context->arena = &chunks->arena;
    context->writer.request = plan->request;
    context->needed = closure_new(plan);
    context->declared = closure_new(plan);
    context->defined = closure_new(plan);
    context->module_stamps = arena_zalloc(plan->arena, program->module_count, sizeof(uint32_t));
    if (plan->names ||
        (plan->is_exact && plan->request->policy == SPLIT_STABLE && !plan->keeps_lines))
        context->stable = stable_text_new(plan);
    if (plan->is_exact)
        context->bank4 = bank4_new(plan);
    if (plan->is_exact && plan_is_one_text(plan))
        context->item_symbols = verbatim_item_symbols(plan);
    if (plan->is_exact && plan->keeps_lines) {
        context->gaps = verbatim_gaps(plan);
        chunks->line_count = context->gaps->line_count;
    }
    collect_extras(context);
}

static void free_context(void *argument)
{
    struct chunk_context *context = argument;

    writer_free(&context->writer);
    if (context->stable)
        stable_text_free(context->stable);
}

void chunk_write_all(struct chunks *chunks, size_t first, const struct plan *plan)
{
    struct chunk_context context = {0};
    uint32_t **members = plan_members(plan);
    bool unchanged = plan_is_unchanged(plan);

    CONTEXT_DEFER(free_context, &context);
    start_chunks(&context, chunks, plan);
    for (uint32_t c = 0; c < plan->chunk_count + plan->whole_count; c++) {
        context.chunk = &chunks->list[first + c];
        context.chunk->index = c;
        context.chunk->first_function = "";
        context.chunk->is_unchanged = unchanged;
        if (c < plan->chunk_count) {
            collect_needed(&context, members);
            explain_chunk(plan, context.chunk, &context.needed);
        }
        if (c >= plan->chunk_count)
            write_whole(&context, plan->whole_modules[c - plan->chunk_count]);
        else if (context.item_symbols)
            verbatim_write(&context);
        else if (unchanged)
            verbatim_write_module(plan, 0, &context.writer);
        else
            write_ordinary(&context);
        context.chunk->text =
            writer_finish(&context.writer, &chunks->arena, &chunks->origins[first + c]);
    }
    if (context.bank4)
        bank4_list(context.bank4, chunks);
    chunks->is_exact = plan->is_exact;
}
