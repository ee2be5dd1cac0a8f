/* exact.c: distributes kernels to chunks that are whole programs.
 *
 * In whole-program mode ptxas gives each kernel a section of its own with copies of the functions
 * that it calls, and lays out its shared memory and constants independently (measured). Kernels
 * share only offsets in banks 3 and 4, which follow the order of all variables. So a chunk with all
 * variables, in order, some of the kernels, and the functions that these reach gives those kernels
 * the same code as the whole program does.
 *
 * If the address of a function is taken, ptxas compiles the kernels in a different order, and
 * offsets in bank 4 follow that order: such a program is one chunk. */
#include "split/internal.h"

/* Copies of functions, and the other parts that chunks repeat, may add this share of the program's
 * text: they cost one processor what a second one saves. */
#define LARGEST_EXACT_GROWTH(total) ((total) / 4)

/* What each chunk but one must take from the largest, in bytes of functions: half of what ptxas
 * assembles in the time that it takes to start. Measured (13.0, two chunks of 19 and 2 KB, or of 19
 * and 3): 1.3 of the processor time of one, and no wall time saved. */
#define LEAST_SAVED 4096u

/* ptxas reads data this many times faster than it compiles code (measured). */
#define DATA_SPEED 8u

static const char *find_module_obstacle(const struct plan *plan, uint32_t index, bool is_one_text)
{
    const struct ptx_module *module = plan->program->modules[index];

    if (plan_is_whole(plan, index))
        return "its debug sections describe all of it";
    if (module->map_f64_to_f32)
        return "one of its modules maps .f64 to .f32";
    for (size_t i = 0; i < module->item_count; i++) {
        const struct ptx_item *item = &module->items[i];

        /* Measured: names are in the order of declarations, and a text that goes to the assembler
         * unchanged can have declarations of kernels. */
        if (is_one_text && item->kind == PTX_FUNCTION && item->function.is_entry &&
            !item->is_definition)
            return "a kernel is declared ahead of its definition";
    }
    return NULL;
}

static const char *obstacle_in_symbol(const struct program_symbol *symbol)
{
    if (!symbol->is_live)
        return NULL;
    if (!symbol->is_function && !symbol->is_defined &&
        symbol->item->variable.space != PTX_SPACE_SHARED)
        return "a variable is defined nowhere";
    /* Kernels then have relocations in bank 0, which change the order of sections. */
    if (!symbol->is_function && ptx_type_is_opaque((enum ptx_type)symbol->item->variable.type))
        return "it has a texture reference";
    if (symbol->alias_target != NO_SYMBOL)
        return "a function has an alias";
    if (symbol->is_function && (symbol->is_address_taken || symbol->calls_indirectly))
        return "it takes the address of a function, or calls one by its address";
    if (symbol->is_function && symbol->has_body_data)
        return "a function declares data inside its body";
    if (text_starts(symbol->name, TEXT(BANK4_STEM)))
        return "it has a name that is used for kernels that close chunks";
    return NULL;
}

static bool has_any_word(const struct program *program, const char *const *words)
{
    for (size_t i = 0; i < program->symbol_count; i++) {
        const struct program_symbol *symbol = &program->symbols[i];
        struct text text = symbol->item->text;

        for (size_t word = 0; symbol->is_live && text.size && words[word]; word++)
            if (memmem(text.data, text.size, words[word], strlen(words[word])))
                return true;
    }
    return false;
}

static bool has_line_tables(const struct plan *plan)
{
    const struct program *program = plan->program;

    for (size_t i = 0; i < program->module_count; i++)
        for (size_t j = 0; j < program->modules[i]->item_count; j++)
            if (program->modules[i]->items[j].kind == PTX_FILE ||
                program->modules[i]->items[j].kind == PTX_SECTION)
                return true;
    return plan->request->has_lines;
}

static const char *find_exact_obstacle(const struct plan *plan)
{
    static const char *const shared[] = {".shared", NULL};
    static const char *const textures[] = {"tex.",  "tld4.", "txq.",   "suq.",
                                           "suld.", "sust.", "sured.", NULL};
    const struct program *program = plan->program;
    bool is_one_text = plan_is_one_text(plan);
    const char *obstacle = plan->request->exact_obstacle;

    if (plan->keeps_lines && !is_one_text)
        obstacle = "its line tables are of a text that minilink puts together";
    /* Measured: with threads, ptxas does one part of the work for all kernels first. Where that
     * part makes the symbol for shared memory, it precedes what the first kernel makes later. */
    if (plan->request->has_threads && targets_have(plan->request->arch.sm, TARGET_HAS_FORM_90) &&
        has_any_word(program, shared))
        obstacle = "it has shared memory, and ptxas has threads of its own (-split-compile)";
    if (targets_have(plan->request->arch.sm, TARGET_CALLS_FOR_TEXTURES) &&
        has_any_word(program, textures))
        obstacle = "it has textures, which are functions of the driver on this target";
    for (uint32_t i = 0; i < program->module_count && !obstacle; i++)
        obstacle = find_module_obstacle(plan, i, is_one_text);
    for (size_t i = 0; i < program->symbol_count && !obstacle; i++)
        obstacle = obstacle_in_symbol(&program->symbols[i]);
    return obstacle;
}

bool plan_begin_exact(struct plan *plan)
{
    const struct program *program = plan->program;

    plan->keeps_lines = has_line_tables(plan);
    plan->single_reason = find_exact_obstacle(plan);
    plan->is_exact = !plan->single_reason;
    for (uint32_t i = 0; plan->is_exact && i < program->symbol_count; i++) {
        struct placement *placement = &plan->placements[i];

        placement->weight = program->symbols[i].item->text.size;
        placement->unit = i;
        placement->is_replicated = plan_is_unit(plan, i) && !program->symbols[i].is_entry;
    }
    return plan->is_exact;
}

static bool has_large_chunk(const struct plan *plan)
{
    bool is_by_size =
        plan->loads && !plan->request->minimum_bytes && plan->request->policy != SPLIT_KERNEL;

    return is_by_size &&
           plan->largest_load + (plan->chunk_count - 1) * LEAST_SAVED > plan->total_weight;
}

const char *plan_exact_waste(struct plan *plan)
{
    bool is_bounded = plan_count_copies(plan);
    uint64_t growth = 0;

    for (uint32_t i = 0; i < plan->program->symbol_count && is_bounded; i++) {
        const struct program_symbol *symbol = &plan->program->symbols[i];

        growth += plan_added_bytes(&plan->placements[i]);
        if (plan_is_variable(plan, i))
            growth +=
                (plan->chunk_count - 1) *
                (symbol->item->variable.initialiser.size + symbol->item->variable.declarator.size) /
                DATA_SPEED;
    }
    if (!is_bounded || growth > LARGEST_EXACT_GROWTH(plan->total_weight) + plan->edited_weight)
        return "its kernels share most of their code";
    return has_large_chunk(plan) ? "one kernel has most of its code" : NULL;
}
