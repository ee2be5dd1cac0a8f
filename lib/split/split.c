/* split.c: makes the plan, writes the chunks, and lists the symbols for the merger. */
#include "split/split.h"

#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/word_list.h"
#include "base/search.h"
#include "ptx/module.h"
#include "ptx/types.h"
#include "split/plan.h"

static void find_whole_modules(struct plan *plan, bool *has_others)
{
    const struct program *program = plan->program;

    plan->whole_modules =
        arena_alloc(plan->arena, program->module_count, sizeof *plan->whole_modules);
    *has_others = false;
    for (uint32_t i = 0; i < program->module_count; i++) {
        if (plan_is_whole(plan, i))
            plan->whole_modules[plan->whole_count++] = i;
        else
            *has_others = true;
    }
}

static void start_plan(struct plan *plan)
{
    const struct program *program = plan->program;

    plan->placements = arena_alloc(plan->arena, program->symbol_count, sizeof *plan->placements);
    for (uint32_t i = 0; i < program->symbol_count; i++) {
        const struct program_symbol *symbol = &program->symbols[i];

        plan->placements[i] = (struct placement){.chunk = NO_CHUNK, .first_user = NO_CHUNK};
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

static enum chunk_binding chunk_binding_of(uint8_t linkage)
{
    return linkage == PTX_INTERNAL ? CHUNK_LOCAL : linkage == PTX_WEAK ? CHUNK_WEAK : CHUNK_GLOBAL;
}

static void list_chunk_symbols(struct chunks *chunks, const struct plan *plan)
{
    const struct program *program = plan->program;

    chunks->symbols = arena_alloc(&chunks->arena, program->symbol_count, sizeof *chunks->symbols);
    chunks->sources = arena_alloc(&chunks->arena, program->symbol_count, sizeof *chunks->sources);
    chunks->symbol_count = 0;
    for (uint32_t i = 0; i < program->symbol_count; i++) {
        const struct program_symbol *symbol = &program->symbols[i];
        struct text name;

        if (!symbol->is_live)
            continue;
        name = arena_text(&chunks->arena, plan_name(plan, i));
        chunks->sources[chunks->symbol_count] = (struct chunk_source){
            program->modules[symbol->module]->file, plan->placements[i].chunk, symbol->is_entry};
        if (!text_equal(symbol->own_name, name))
            table_add(&chunks->changed, name, (uint32_t)chunks->symbol_count);
        chunks->symbols[chunks->symbol_count++] = (struct chunk_symbol){
            .name = name,
            .own_name = text_equal(symbol->own_name, name)
                            ? name
                            : arena_text(&chunks->arena, symbol->own_name),
            .binding = chunk_binding_of(symbol->linkage),
            .is_function = symbol->is_function,
            .is_common = symbol->linkage == PTX_COMMON,
            .alignment = symbol->is_function ? 0 : symbol->alignment,
        };
    }
}

bool split_program(struct chunks *chunks, const struct program *program,
                   const struct split_request *request)
{
    struct arena arena = {0};
    struct plan plan = {.program = program, .request = request, .arena = &arena};
    bool has_others;
    size_t count;

    CONTEXT_DEFER(arena_cleanup, &arena);
    plan.repeats_debug =
        request->is_exact && plan_is_one_text(&plan) && !program->modules[0]->debug_names_code;
    find_whole_modules(&plan, &has_others);
    start_plan(&plan);
    if (has_others || plan.whole_count == 0)
        partition_make(&plan);
    else
        plan.single_reason = "its debug sections describe all of it";
    owner_find(&plan);
    count = (size_t)plan.chunk_count + plan.whole_count;
    chunks->single_reason = count == 1 ? plan.single_reason : NULL;
    chunks->list = arena_zalloc(&chunks->arena, count, sizeof *chunks->list);
    chunks->count = count;
    chunks->origins = arena_zalloc(&chunks->arena, count, sizeof *chunks->origins);
    explain_plan(&plan, chunks);
    chunk_write_all(chunks, &plan);
    for (size_t i = 0; i < count; i++)
        chunks->list[i].options = request->options;
    list_chunk_symbols(chunks, &plan);
    chunks->programs = arena_zalloc(&chunks->arena, 1, sizeof *chunks->programs);
    chunks->programs[chunks->program_count++] =
        (struct chunk_program){.count = count, .symbol_count = chunks->symbol_count};
    return true;
}

/* `count` elements of `first`, then `more_count` of `more`. */
static void *concatenate_arrays(struct arena *arena, const void *first, size_t count,
                                const void *more, size_t more_count, size_t size)
{
    char *all = arena_alloc(arena, count + more_count, size);

    if (count)
        memcpy(all, first, count * size);
    if (more_count)
        memcpy(all + count * size, more, more_count * size);
    return all;
}

/* Appends the array `field`. */
#define APPEND(chunks, more, field, counted)                                                       \
    ((chunks)->field =                                                                             \
         concatenate_arrays(&(chunks)->arena, (chunks)->field, (chunks)->counted, (more)->field,   \
                            (more)->counted, sizeof *(chunks)->field))

/* What may run out of memory comes first: until the end the chunks are those of `more`. */
void chunks_append(struct chunks *chunks, struct chunks *more)
{
    size_t first = chunks->count, first_symbol = chunks->symbol_count;

    arena_take(&chunks->arena, &more->arena);
    APPEND(chunks, more, list, count);
    APPEND(chunks, more, origins, count);
    APPEND(chunks, more, symbols, symbol_count);
    APPEND(chunks, more, sources, symbol_count);
    APPEND(chunks, more, programs, program_count);
    for (size_t i = 0; i < more->symbol_count; i++)
        if (!text_equal(more->symbols[i].name, more->symbols[i].own_name))
            table_add(&chunks->changed, more->symbols[i].name, (uint32_t)(first_symbol + i));
    for (size_t i = 0; i < more->count; i++)
        chunks->list[chunks->count++].index += (uint32_t)first;
    for (size_t i = 0; i < more->symbol_count; i++) {
        uint32_t *chunk = &chunks->sources[chunks->symbol_count++].chunk;

        *chunk += *chunk == CHUNK_NONE ? 0 : (uint32_t)first;
    }
    for (size_t i = 0; i < more->program_count; i++) {
        chunks->programs[chunks->program_count].first += first;
        chunks->programs[chunks->program_count++].first_symbol += first_symbol;
    }
    chunks->single_reason = NULL;
    table_free(&more->changed);
    *more = (struct chunks){0};
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
