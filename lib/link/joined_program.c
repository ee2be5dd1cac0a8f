/* joined_program.c: joins chunks to one program, and checks that the assembler would have made the
 * same one.
 *
 * The join compares the parts that all chunks must share. But the order of bank 4 depends on which
 * kernel calls which function of the driver (split/bank4.c). The splitter reads these calls from
 * the PTX, and the assembler drops calls that are never made. So the order is computed again from
 * the calls in the cubin, and compared. */
#include "link/internal.h"

#include "base/search.h"
#include "diag/diag.h"
#include "join/join.h"

/* State of the check of bank 4's order. */
struct bank {
    const struct chunks *chunks;
    struct cubin cubin;
    struct table functions; /* driver functions, to their places in the chunks' list */
    struct table symbols;   /* the cubin's symbols, to their sections */
    uint64_t *calls;        /* by section: driver functions that its code calls */
};

static uint32_t driver_function(const struct bank *bank, uint32_t symbol)
{
    return symbol && symbol < bank->cubin.symbol_count
               ? table_find(&bank->functions, bank->cubin.symbols[symbol].name)
               : TABLE_NONE;
}

static void read_calls(struct bank *bank)
{
    const struct cubin *cubin = &bank->cubin;
    struct bytes rest = cubin->sections[cubin_find_class(cubin, CLASS_CALLGRAPH)].data;
    struct callgraph_entry entry = {0};

    while (callgraph_next(&rest, &entry)) {
        uint32_t function = driver_function(bank, entry.second);

        if (entry.part == CALLGRAPH_DIRECT && function != TABLE_NONE &&
            entry.first < cubin->symbol_count &&
            cubin->symbols[entry.first].section < cubin->section_count)
            bank->calls[cubin->symbols[entry.first].section] |= UINT64_C(1) << function;
    }
}

COMPARISON(compare_places, struct cubin_relocation, COMPARE(a->offset, b->offset));

/* Whether the bank's entries are the functions that kernels call, in the order of their
 * declarations. Kernels are visited in program order, last first. All variables stand behind the
 * functions of the first one that is visited. */
static bool has_order(const struct bank *bank, const struct cubin_relocation *entries, size_t count)
{
    uint64_t seen = 0;
    size_t at = 0;
    bool is_last = true;

    for (size_t k = bank->chunks->symbol_count; k-- > 0;) {
        uint32_t section;
        uint64_t calls;

        if (!bank->chunks->sources[k].is_kernel)
            continue;
        section = table_find(&bank->symbols, bank->chunks->symbols[k].name);
        if (section == TABLE_NONE || section >= bank->cubin.section_count)
            return false;
        calls = bank->calls[section] & ~seen;
        for (uint32_t i = 0; calls >> i; i++)
            if ((calls >> i & 1) &&
                (at == count || driver_function(bank, entries[at++].symbol) != i))
                return false;
        while (is_last && at < count && driver_function(bank, entries[at].symbol) == TABLE_NONE)
            at++;
        seen |= calls;
        is_last = false;
    }
    return at == count;
}

/* Whether bank 4 has the order that results from the calls of all kernels. */
static bool check_bank(struct bytes program, const struct chunks *chunks, struct arena *arena)
{
    struct bank bank = {.chunks = chunks};
    const struct cubin *cubin = &bank.cubin;
    const struct cubin_section *list;
    struct cubin_relocation *entries;

    CONTEXT_DEFER(arena_cleanup, &bank.cubin.arena);
    CONTEXT_DEFER(table_cleanup, &bank.functions);
    CONTEXT_DEFER(table_cleanup, &bank.symbols);
    for (uint32_t i = 0; i < chunks->driver_function_count; i++)
        table_add(&bank.functions, chunks->driver_functions[i], i);
    if (!cubin_read(&bank.cubin, "the joined program", program))
        return false;
    if (!cubin_section_find(cubin, TEXT(".nv.constant4")))
        return true; /* code of the built-in assembler */
    bank.calls = arena_zalloc(arena, cubin->section_count, sizeof *bank.calls);
    for (size_t i = 1; i < cubin->symbol_count; i++)
        table_add(&bank.symbols, cubin->symbols[i].name, cubin->symbols[i].section);
    read_calls(&bank);
    list = &cubin->sections[cubin_section_find(cubin, TEXT(".rela.nv.constant4"))
                                ?: cubin_section_find(cubin, TEXT(".rel.nv.constant4"))];
    entries = arena_copy(arena, list->relocations, list->relocation_count, sizeof *entries);
    SORT(entries, list->relocation_count, compare_places);
    return has_order(&bank, entries, list->relocation_count);
}

static struct exact_join_request request_for(const struct chunks *chunks,
                                             const struct cubins *cubins, struct arena *arena)
{
    struct bytes *list = arena_alloc(arena, cubins->count, sizeof *list);
    struct text *kernels = arena_alloc(arena, chunks->symbol_count, sizeof *kernels);
    size_t kernel_count = 0;

    for (size_t i = 0; i < cubins->count; i++)
        list[i] = (struct bytes){cubins->list[i].data, cubins->list[i].size};
    for (size_t i = 0; i < chunks->symbol_count; i++)
        if (chunks->sources[i].is_kernel)
            kernels[kernel_count++] = chunks->symbols[i].name;
    return (struct exact_join_request){
        .chunks = list,
        .count = cubins->count,
        .kernels = kernels,
        .kernel_count = kernel_count,
        .left_out = chunks->bank4_kernels,
        .left_out_count = chunks->bank4_count,
        .line_count = chunks->line_count,
    };
}

bool joined_program_make(struct buffer *image, const struct chunks *chunks,
                         const struct cubins *cubins, struct arena *arena, const char **why)
{
    const struct exact_join_request request = request_for(chunks, cubins, arena);
    struct exact_join_difference difference;

    if (!exact_join(image, &request, &difference)) {
        *why =
            arena_printf(arena, "%.*s%schunk %zu %s", TEXT_ARG(difference.section),
                         difference.section.size ? " of " : "", difference.chunk, difference.what);
        return false;
    }
    if (!chunks->driver_function_count || check_bank(buffer_bytes(image), chunks, arena))
        return true;
    *why = ".nv.constant4 has another order than the kernels' calls lead to";
    return false;
}

/* A chunk that is tried alone. */
struct trial {
    const struct chunks *chunks;
    struct bytes file;
    struct cubin cubin;
    struct arena arena;
    bool is_known;
};

/* The kernels that the chunk has, in the order of its text: its share, then those that close it,
 * which are listed last first. */
static size_t find_chunk_kernels(struct trial *trial, struct text *kernels)
{
    const struct chunks *chunks = trial->chunks;
    LOCAL_TABLE(names);
    size_t count = 0;

    for (uint32_t i = 1; i < trial->cubin.symbol_count; i++)
        if (trial->cubin.symbols[i].other & STO_CUDA_ENTRY)
            table_add(&names, trial->cubin.symbols[i].name, i);
    for (size_t i = 0; i < chunks->symbol_count + chunks->bank4_count; i++) {
        size_t kernel = chunks->symbol_count + chunks->bank4_count - 1 - i;
        struct text name =
            i < chunks->symbol_count ? chunks->symbols[i].name : chunks->bank4_kernels[kernel];

        if (table_find(&names, name) != TABLE_NONE)
            kernels[count++] = name;
    }
    return count;
}

static enum link_code try_chunk(void *argument)
{
    struct trial *trial = argument;
    size_t most = trial->chunks->symbol_count + trial->chunks->bank4_count;
    struct text *kernels = arena_alloc(&trial->arena, most, sizeof *kernels);

    /* The join says which chunk is no executable: what is said here must be so of every chunk. */
    trial->is_known = cubin_read(&trial->cubin, "a chunk", trial->file) &&
                      (trial->cubin.type != ET_EXEC ||
                       exact_join_remakes(trial->file, kernels, find_chunk_kernels(trial, kernels),
                                          trial->chunks->line_count));
    return LINK_OK;
}

bool joined_program_knows(const void *chunks, struct bytes cubin)
{
    struct trial trial = {.chunks = chunks, .file = cubin};
    struct diag_sink unheard = {0};
    enum link_code code = diag_collect(try_chunk, &trial, diag_state_get(), &unheard);

    diag_sink_free(&unheard);
    cubin_free(&trial.cubin);
    arena_free(&trial.arena);
    return trial.is_known || code != LINK_OK;
}

/* The first section of `whole` that differs by name, contents or place in the list. */
static struct text first_difference(const struct cubin *program, const struct cubin *whole)
{
    for (size_t i = 1; i < whole->section_count; i++) {
        const struct cubin_section *a = &whole->sections[i], *b = &program->sections[i];

        if (i >= program->section_count || !text_equal(a->name, b->name) || a->size != b->size ||
            a->data.size != b->data.size ||
            (a->data.size && memcmp(a->data.data, b->data.data, a->data.size) != 0))
            return a->name;
    }
    return TEXT("the file's header");
}

bool joined_program_verify(struct bytes program, struct bytes whole)
{
    struct cubin joined = {0}, single = {0};

    if (program.size == whole.size && memcmp(program.data, whole.data, whole.size) == 0)
        return true;
    CONTEXT_DEFER(arena_cleanup, &joined.arena);
    CONTEXT_DEFER(arena_cleanup, &single.arena);
    if (!cubin_read(&joined, "the joined program", program) ||
        !cubin_read(&single, "the program in one piece", whole))
        return false;
    return diag_error(
        "--verify-split: '%.*s' is not what the assembler makes of the program in one piece",
        TEXT_ARG(first_difference(&joined, &single)));
}
