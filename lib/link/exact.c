/* exact.c: joins chunks to one program, and checks that the assembler would have made the same one.
 *
 * The join compares the parts that all chunks must share. But the order of bank 4 depends on which
 * kernel calls which function of the driver (split/bank4.c). The splitter reads these calls from
 * the PTX, and the assembler drops calls that are never made. So the order is computed again from
 * the calls in the cubin, and compared. */
#include "link/stages.h"

#include <string.h>

#include "base/context.h"
#include "base/little.h"
#include "base/search.h"
#include "base/table.h"
#include "cubin/cubin.h"
#include "diag/diag.h"
#include "join/join.h"

/* State of the check of bank 4's order. */
struct bank {
    const struct chunks *chunks;
    struct arena *arena;
    struct cubin cubin;
    struct table functions; /* driver functions, to their places in chunks->driver_functions */
    struct table symbols;   /* the cubin's symbols, to their sections */
    uint64_t *calls;        /* by section: driver functions that its code calls */
    uint8_t *actual;        /* entries of the bank: function + 1, or 0 for a variable */
    size_t actual_count;
};

static uint32_t driver_function(const struct bank *bank, uint32_t symbol)
{
    return symbol && symbol < bank->cubin.symbol_count
               ? table_find(&bank->functions, bank->cubin.symbols[symbol].name)
               : TABLE_NONE;
}

/* Reads the first part of the call graph: caller and callee, up to the mark of the second part. */
static void read_calls(struct bank *bank)
{
    uint32_t section = cubin_find_class(&bank->cubin, CLASS_CALLGRAPH);
    struct bytes data = {0};

    if (section)
        data = bank->cubin.sections[section].data;
    for (size_t at = 8; at + 8 <= data.size && little_u32(data.data + at); at += 8) {
        uint32_t caller = little_u32(data.data + at);
        uint32_t function = driver_function(bank, little_u32(data.data + at + 4));

        if (function != TABLE_NONE && caller < bank->cubin.symbol_count &&
            bank->cubin.symbols[caller].section < bank->cubin.section_count)
            bank->calls[bank->cubin.symbols[caller].section] |= UINT64_C(1) << function;
    }
}

COMPARISON(compare_places, struct cubin_relocation, COMPARE(a->offset, b->offset));

static void read_bank(struct bank *bank)
{
    for (size_t i = 1; i < bank->cubin.section_count; i++) {
        const struct cubin_section *section = &bank->cubin.sections[i];
        struct cubin_relocation *sorted;

        if (!text_equal(section->name, TEXT(".rela.nv.constant4")) &&
            !text_equal(section->name, TEXT(".rel.nv.constant4")))
            continue;
        sorted = arena_copy(bank->arena, section->relocations, section->relocation_count,
                            sizeof *sorted);
        SORT(sorted, section->relocation_count, compare_places);
        bank->actual_count = section->relocation_count;
        bank->actual = arena_alloc(bank->arena, bank->actual_count, sizeof *bank->actual);
        for (size_t j = 0; j < bank->actual_count; j++) {
            uint32_t function = driver_function(bank, sorted[j].symbol);

            bank->actual[j] = function == TABLE_NONE ? 0 : (uint8_t)(function + 1);
        }
    }
}

/* Consumes the functions of `wanted` from the bank at *at, in the order of their declarations. */
static bool take_bank_functions(const struct bank *bank, uint64_t wanted, size_t *at)
{
    for (uint32_t i = 0; wanted >> i; i++)
        if (wanted >> i & 1) {
            if (*at == bank->actual_count || bank->actual[*at] != i + 1)
                return false;
            ++*at;
        }
    return true;
}

/* Kernels are visited in program order, last first. Without a bank, as in code of the built-in
 * assembler, there is no order to check. */
static bool has_order(const struct bank *bank)
{
    uint64_t seen = 0;
    size_t at = 0;
    bool is_last = true;

    if (!cubin_section_find(&bank->cubin, TEXT(".nv.constant4")))
        return true;
    for (size_t i = bank->chunks->symbol_count; i-- > 0;) {
        uint32_t section;
        uint64_t calls;

        if (!bank->chunks->sources[i].is_kernel)
            continue;
        section = table_find(&bank->symbols, bank->chunks->symbols[i].name);
        if (section == TABLE_NONE || section >= bank->cubin.section_count)
            return false;
        calls = bank->calls[section] & ~seen;
        seen |= calls;
        if (!take_bank_functions(bank, calls, &at))
            return false;
        while (is_last && at < bank->actual_count && bank->actual[at] == 0)
            at++;
        is_last = false;
    }
    return at == bank->actual_count;
}

/* Whether bank 4 has the order that results from the calls of all kernels. */
static bool check_bank(struct bytes program, const struct chunks *chunks, struct arena *arena)
{
    struct bank bank = {.chunks = chunks, .arena = arena};

    CONTEXT_DEFER(arena_cleanup, &bank.cubin.arena);
    CONTEXT_DEFER(table_cleanup, &bank.functions);
    CONTEXT_DEFER(table_cleanup, &bank.symbols);
    for (uint32_t i = 0; i < chunks->driver_function_count; i++)
        table_add(&bank.functions, chunks->driver_functions[i], i);
    if (!cubin_read(&bank.cubin, "the joined program", program))
        return false;
    bank.calls = arena_zalloc(arena, bank.cubin.section_count, sizeof *bank.calls);
    for (size_t i = 1; i < bank.cubin.symbol_count; i++)
        table_add(&bank.symbols, bank.cubin.symbols[i].name, bank.cubin.symbols[i].section);
    read_calls(&bank);
    read_bank(&bank);
    return has_order(&bank);
}

static struct exact_join_request request_for(const struct chunks *chunks,
                                             const struct cubins *cubins, struct arena *arena)
{
    struct exact_join_chunk *list = arena_zalloc(arena, cubins->count, sizeof *list);
    struct text *kernels = arena_alloc(arena, chunks->symbol_count, sizeof *kernels);
    size_t kernel_count = 0;

    for (size_t i = 0; i < cubins->count; i++)
        list[i] = (struct exact_join_chunk){
            .cubin = {cubins->list[i].data, cubins->list[i].size},
            .left_out = chunks->bank4_kernels,
            .left_out_count = chunks->bank4_count,
        };
    for (size_t i = 0; i < chunks->symbol_count; i++)
        if (chunks->sources[i].is_kernel)
            kernels[kernel_count++] = chunks->symbols[i].name;
    return (struct exact_join_request){list, cubins->count, kernels, kernel_count,
                                       chunks->line_count};
}

bool exact_make_program(struct buffer *image, const struct chunks *chunks,
                        const struct cubins *cubins, struct arena *arena, const char **why)
{
    const struct exact_join_request request = request_for(chunks, cubins, arena);
    struct exact_join_difference difference = {0};

    if (exact_join(image, &request, &difference) != EXACT_JOIN_OK) {
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
    struct table names = {0};
    size_t count = 0;

    CONTEXT_DEFER(table_cleanup, &names);
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

bool exact_is_known(const void *chunks, struct bytes cubin)
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

struct compared {
    struct cubin program, whole;
};

bool exact_verify(struct bytes program, struct bytes whole)
{
    struct compared compared = {0};

    if (program.size == whole.size && memcmp(program.data, whole.data, whole.size) == 0)
        return true;
    CONTEXT_DEFER(arena_cleanup, &compared.program.arena);
    CONTEXT_DEFER(arena_cleanup, &compared.whole.arena);
    if (cubin_read(&compared.program, "the joined program", program) &&
        cubin_read(&compared.whole, "the program in one piece", whole)) {
        struct text section = first_difference(&compared.program, &compared.whole);

        diag_error("--verify-split: '%.*s' is not what the assembler makes of the program in one "
                   "piece",
                   TEXT_ARG(section));
    }
    return false;
}
