/* join.c: the two ways from the chunks' cubins to one, step by step.
 *
 *                        relocatable (join_*)                whole programs (exact_*)
 * read                   cubins that were read               bytes, in a form of exact_forms.def
 * a section belongs to   a function, by its header, or all   a kernel, by its name, or all
 * a symbol belongs to    the entity of its name; copies of   the kernel of its section, or all
 *                        a local function are folded
 * kept                   each entity's best definition       all; the program's must be the same
 * order of sections      by classes, as ptxas writes them    the same (sections_ptxas_order)
 * order in a class       the program's by names, then        the chunks' own orders, merged
 *                        functions' (join_resolve.c)           (exact_merge.c)
 * contents               with the result's symbols; data     with the program's indices; what
 *                        and lines cut into blocks           all chunks have must be equal then
 * written                as struct cubin, which the merge    as a file, byte for byte as the
 *                        reads; relocations are open         assembler writes it
 */
#include "join/join.h"

#include "cubin/contents.h"
#include "diag/diag.h"
#include "join/exact_internal.h"
#include "join/internal.h"

/* Chunks come from one assembler run with one target. */
static bool check_chunks(const struct cubin *const *cubins, size_t count)
{
    bool ok = true;

    for (size_t i = 0; i < count; i++) {
        if (cubins[i]->type != ET_REL)
            ok = diag_error("'%s' is not a relocatable cubin", cubins[i]->name);
        if ((cubins[i]->flags ^ cubins[0]->flags) & CUBIN_FLAGS_MERGEABLE)
            ok = diag_error("'%s' has ELF flags %#x, '%s' has %#x", cubins[i]->name,
                            cubins[i]->flags, cubins[0]->name, cubins[0]->flags);
        ok = unknown_check_records(cubins[i], false) && ok;
    }
    return ok;
}

static bool join_relocatable(struct join *join)
{
    struct cubin *joined = join->out;

    join_find_mercury(join);
    if (!join_resolve(join))
        return false;
    join_fold(join);
    join_order(join);
    /* From here on it is known which functions are kept, and their order. */
    join_unite_sections(join);
    join_gather_relocations(join);
    join_gather_graph(join);
    /* From here on every byte of data has its place. */
    join_make_sections(join);
    join_make_symbols(join);
    join_fill_sections(join);
    joined->flags = (joined->flags & CUBIN_FLAGS_MERGEABLE) |
                    CUBIN_FLAGS_NOTE(cubin_find_kind(joined, KIND_TARGET));
    return true;
}

bool join_cubins(struct cubin *joined, const struct cubin *const *cubins, size_t count,
                 const struct chunk_symbol *symbols, size_t symbol_count, bool keeps_data)
{
    struct join join = {
        .out = joined, .count = count, .symbols = symbols, .keeps_data = keeps_data && count == 1};
    struct join_section *section;

    *joined = (struct cubin){.name = "lto.cubin", .type = ET_REL};
    if (count == 0 || !check_chunks(cubins, count))
        return false;
    joined->toolkit = cubins[0]->toolkit;
    joined->flags = cubins[0]->flags;
    CONTEXT_DEFER(arena_cleanup, &join.arena);
    CONTEXT_DEFER(buffer_cleanup, &join.scratch);
    CONTEXT_DEFER(table_cleanup, &join.listed);
    join.inputs = arena_zalloc(&join.arena, count, sizeof *join.inputs);
    for (size_t i = 0; i < count; i++) {
        join.section_count += cubins[i]->section_count;
        joined->has_unknown_records |= cubins[i]->has_unknown_records;
    }
    join.sections = section = arena_alloc(&join.arena, join.section_count, sizeof *join.sections);
    for (uint32_t i = 0; i < count; i++) {
        join.inputs[i] = (struct join_input){.cubin = cubins[i], .sections = section};
        for (size_t k = 0; k < cubins[i]->section_count; k++)
            *section++ = (struct join_section){.source = &cubins[i]->sections[k],
                                               .input = &join.inputs[i],
                                               .class = cubin_class_of(&cubins[i]->sections[k]),
                                               .function = JOIN_NONE};
    }
    for (size_t i = 0; i < symbol_count; i++)
        table_add(&join.listed, symbols[i].name, (uint32_t)i);
    return join_relocatable(&join);
}

static enum link_code join_whole(void *argument)
{
    struct exact *join = argument;

    if (join->count == 0 || join->request->kernel_count == 0)
        exact_refuse(join, NULL, 0, "there is nothing to join");
    exact_read(join);
    /* Every section and symbol has its owner; now they get their order. */
    exact_join_symbols(join);
    exact_join_section_names(join);
    exact_join_sections(join);
    exact_check_symbols(join);
    /* All have their numbers; now they are written. */
    exact_join_strings(join);
    exact_write_symbols(join);
    exact_fill(join);
    exact_finish_headers(join);
    exact_layout(join);
    return LINK_OK;
}

static void free_exact(void *argument)
{
    struct exact *join = argument;

    for (size_t i = 0; i < join->count; i++) {
        cubin_free(&join->inputs[i].cubin);
        table_free(&join->inputs[i].symbols);
        table_free(&join->inputs[i].sections);
    }
    table_free(&join->kernel_names);
    table_free(&join->seen);
    buffer_free(&join->scratch);
    image_strings_free(&join->strings);
    image_free(&join->image);
    arena_free(&join->arena);
}

/* The name in *why points into a chunk's bytes, which outlive this call. */
static bool join_chunks(struct buffer *image, const struct exact_join_request *request,
                        struct exact_join_difference *why)
{
    struct exact join = {.request = request, .why = why};
    enum link_code code;

    *why = (struct exact_join_difference){0};
    CONTEXT_DEFER(free_exact, &join);
    join.inputs = arena_zalloc(&join.arena, request->count, sizeof *join.inputs);
    join.count = request->count;
    code = context_run(join_whole, &join);
    if (code == LINK_OK)
        image_bytes(&join.image, image);
    else if (!why->what)
        context_raise(code);
    return code == LINK_OK;
}

bool exact_join(struct buffer *image, const struct exact_join_request *request,
                struct exact_join_difference *why)
{
    if (request->count != 1 || request->left_out_count)
        return join_chunks(image, request, why);
    buffer_append(image, request->chunks->data, request->chunks->size);
    return true;
}

bool exact_join_remakes(struct bytes cubin, const struct text *kernels, size_t count,
                        size_t line_count)
{
    const struct exact_join_request request = {&cubin, 1, kernels, count, NULL, 0, line_count};
    struct exact_join_difference why;
    LOCAL_BUFFER(image);

    /* Lines of text that only closing kernels have are left out of a line table. */
    return join_chunks(&image, &request, &why) &&
           (line_count ||
            (image.size == cubin.size && memcmp(image.data, cubin.data, cubin.size) == 0));
}
