/* split.c: makes the plan, writes the chunks, and lists the symbols for the merger. */

#include <stdlib.h>

#include "base/search.h"
#include "split/internal.h"

static void find_whole_modules(struct plan *plan)
{
    const struct program *program = plan->program;

    plan->whole_modules =
        arena_alloc(plan->arena, program->module_count, sizeof *plan->whole_modules);
    for (uint32_t i = 0; i < program->module_count; i++)
        if (plan_is_whole(plan, i))
            plan->whole_modules[plan->whole_count++] = i;
}

static void start_plan(struct plan *plan)
{
    const struct program *program = plan->program;

    plan->placements = arena_alloc(plan->arena, program->symbol_count, sizeof *plan->placements);
    for (uint32_t i = 0; i < program->symbol_count; i++) {
        const struct program_symbol *symbol = &program->symbols[i];

        plan->placements[i] = (struct placement){.chunk = CHUNK_NONE, .first_user = CHUNK_NONE};
        if (plan_is_unit(plan, i)) {
            plan->total_weight += symbol->item->text.size;
            plan->function_count++;
        } else if (symbol->is_function && symbol->is_defined && symbol->is_live &&
                   symbol->alias_target == NO_SYMBOL && plan_is_whole(plan, symbol->module)) {
            plan->whole_weight += symbol->item->text.size;
            plan->whole_function_count++;
        }
    }
}

/* A copy of the array with room for `more` elements, which are zero. */
static void *extend_array(struct arena *arena, const void *array, size_t count, size_t more,
                          size_t size)
{
    char *extended = arena_zalloc(arena, count + more, size);

    if (count)
        memcpy(extended, array, count * size);
    return extended;
}

#define EXTEND(chunks, field, counted, more)                                                       \
    ((chunks)->field = extend_array(&(chunks)->arena, (chunks)->field, (chunks)->counted, (more),  \
                                    sizeof *(chunks)->field))

/* The program's first chunk has the number `first`. */
static void list_chunk_symbols(struct chunks *chunks, const struct plan *plan, uint32_t first)
{
    const struct program *program = plan->program;

    EXTEND(chunks, symbols, symbol_count, program->symbol_count);
    EXTEND(chunks, sources, symbol_count, program->symbol_count);
    for (uint32_t i = 0; i < program->symbol_count; i++) {
        const struct program_symbol *symbol = &program->symbols[i];
        uint32_t chunk = plan->placements[i].chunk;
        struct text name;

        if (!symbol->is_live)
            continue;
        name = arena_text(&chunks->arena, plan_name(plan, i));
        chunks->sources[chunks->symbol_count] = (struct chunk_source){
            program->modules[symbol->module]->file,
            chunk == CHUNK_NONE ? CHUNK_NONE : first + chunk, symbol->is_entry};
        if (!text_equal(symbol->own_name, name))
            table_add(&chunks->changed, name, (uint32_t)chunks->symbol_count);
        chunks->symbols[chunks->symbol_count++] = (struct chunk_symbol){
            .name = name,
            .own_name = text_equal(symbol->own_name, name)
                            ? name
                            : arena_text(&chunks->arena, symbol->own_name),
            .binding = symbol->linkage == PTX_INTERNAL ? CHUNK_LOCAL
                       : symbol->linkage == PTX_WEAK   ? CHUNK_WEAK
                                                       : CHUNK_GLOBAL,
            .is_function = symbol->is_function,
            .is_common = symbol->linkage == PTX_COMMON,
            .alignment = symbol->is_function ? 0 : symbol->alignment,
        };
    }
}

void split_program(struct chunks *chunks, const struct program *program,
                   const struct split_request *request)
{
    LOCAL_ARENA(arena);
    struct plan plan = {.program = program, .request = request, .arena = &arena};
    size_t first = chunks->count, first_symbol = chunks->symbol_count, count;

    plan.repeats_debug =
        request->is_exact && plan_is_one_text(&plan) && !program->modules[0]->debug_names_code;
    find_whole_modules(&plan);
    start_plan(&plan);
    if (plan.whole_count < program->module_count || plan.whole_count == 0)
        partition_make(&plan);
    else
        plan.single_reason = "its debug sections describe all of it";
    owner_find(&plan);
    count = (size_t)plan.chunk_count + plan.whole_count;
    EXTEND(chunks, list, count, count);
    EXTEND(chunks, origins, count, count);
    EXTEND(chunks, programs, program_count, 1);
    chunks->count += count;
    chunks->single_reason = chunks->count == 1 ? plan.single_reason : NULL;
    explain_plan(&plan);
    chunk_write_all(chunks, first, &plan);
    for (size_t i = first; i < chunks->count; i++) {
        chunks->list[i].index += (uint32_t)first;
        chunks->list[i].options = request->options;
    }
    list_chunk_symbols(chunks, &plan, (uint32_t)first);
    chunks->programs[chunks->program_count++] =
        (struct chunk_program){first, count, first_symbol, chunks->symbol_count - first_symbol};
}

bool chunk_origin(const struct chunks *chunks, const struct chunk *chunk, uint32_t line,
                  const char **member, uint32_t *member_line)
{
    const struct chunk_origins *origins = &chunks->origins[chunk->index];
    size_t low = SEARCH_FIRST_NOT(origins->count, at, origins->ranges[at].last < line);

    if (low == origins->count || line < origins->ranges[low].first)
        return false;
    *member = origins->ranges[low].member;
    *member_line = origins->ranges[low].source_line + (line - origins->ranges[low].first);
    return true;
}

const char **chunk_names(const struct chunks *chunks, struct arena *arena)
{
    const char **names = arena_alloc(arena, chunks->count, sizeof *names);
    struct name_list *lists = arena_zalloc(arena, chunks->count, sizeof *lists);

    for (size_t i = 0; i < chunks->symbol_count; i++)
        if (chunks->sources[i].chunk < chunks->count)
            name_list_add(&lists[chunks->sources[i].chunk], chunks->sources[i].member);
    for (size_t i = 0; i < chunks->count; i++)
        names[i] = name_list_text(arena_printf(arena, "chunk %zu", i), &lists[i], arena);
    return names;
}

struct text chunk_own_name(const struct chunks *chunks, struct text name)
{
    uint32_t at = table_find(&chunks->changed, name);

    return at == TABLE_NONE ? name : chunks->symbols[at].own_name;
}

void chunks_free_texts(struct chunks *chunks)
{
    for (size_t i = 0; i < chunks->count; i++) {
        free((char *)(uintptr_t)chunks->list[i].text.data);
        chunks->list[i].text = (struct text){0};
    }
}

void chunks_free(struct chunks *chunks)
{
    chunks_free_texts(chunks);
    table_free(&chunks->changed);
    arena_free(&chunks->arena);
    *chunks = (struct chunks){0};
}

void chunks_cleanup(void *chunks)
{
    chunks_free(chunks);
}
