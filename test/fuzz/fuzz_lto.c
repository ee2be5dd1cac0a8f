/* fuzz_lto.c: any bytes as the answer of the process in which libnvJitLink runs, and as the
 * executable that an assembler made of what it said.
 *
 * With an odd first byte the rest is an answer; the byte 3 also makes the sizes in its head those
 * of what follows, as no chance would. Else the rest is a cubin, and the first byte says how much
 * of its symbols' names is their own. */
#include <elf.h>

#include "link/internal.h"
#include "lto/job.h"
#include "fuzz.h"

/* Of the head of an answer: where the three sizes stand, and what is behind them. */
#define SIZES_AT  24
#define HEAD_SIZE 48

static void make_whole(uint8_t *answer, size_t size)
{
    uint64_t rest = size - HEAD_SIZE;

    for (unsigned i = 0; i < 3; i++) {
        uint64_t part = i == 2 ? rest : rest ? answer[SIZES_AT + 8 * i] % (rest + 1) : 0;

        memcpy(answer + SIZES_AT + (size_t)8 * i, &part, sizeof part);
        rest -= part;
    }
}

static void read_answer(uint8_t *data, size_t size, bool is_whole)
{
    const struct bytes bytes = {data, size};
    struct lto_answer answer;
    bool is_answer;

    if (is_whole && size >= HEAD_SIZE)
        make_whole(data, size);
    is_answer = answer_read(&answer, bytes);
    if (answer_begins((struct bytes){data, size < HEAD_SIZE ? size : HEAD_SIZE}, size) != is_answer)
        abort();
    if (is_answer &&
        (answer.errors.size + answer.infos.size + answer.ptx.size + HEAD_SIZE != size ||
         !nvjitlink_code_text(answer.head.code)))
        abort();
}

/* The names of the first symbols, as if all but their first `kept` characters had been added. */
static size_t choose_symbols(struct chunk_symbol *symbols, size_t most, const struct cubin *cubin,
                             size_t kept)
{
    size_t count = 0;

    for (size_t i = 1; i < cubin->symbol_count && count < most; i++) {
        struct text name = cubin->symbols[i].name;

        if (name.size > kept && cubin->symbols[i].type != STT_SECTION)
            symbols[count++] = (struct chunk_symbol){.name = name, .own_name = {name.data, kept}};
    }
    return count;
}

/* The names are views into a copy: the executable's own are changed in place. (Relocatable code, in
 * which sections are called as their functions are, is never given to that.) */
static void take_executable(uint8_t *data, size_t size, size_t kept)
{
    struct bytes bytes = {data, size};
    uint8_t *copy = fuzz_copy(bytes);
    struct chunk_symbol symbols[32];
    struct chunks chunks = {.symbols = symbols};
    struct merge_report report = {0};
    struct cubin cubin = {0}, again = {0};
    bool is_program = whole_program_is(bytes);

    if (cubin_read(&cubin, "a.cubin", (struct bytes){copy, size})) {
        chunks.symbol_count = choose_symbols(symbols, 32, &cubin, kept);
        for (uint32_t i = 0; i < chunks.symbol_count; i++)
            table_add(&chunks.changed, symbols[i].name, i);
        if (!whole_program_take(data, size, "chunk 0", &chunks, kept % 5 ? &report : NULL) ||
            (is_program && !cubin_read(&again, "again", bytes)))
            abort();
    } else if (whole_program_take(data, size, "chunk 0", &chunks, &report)) {
        abort();
    }
    table_free(&chunks.changed);
    merge_report_free(&report);
    cubin_free(&again);
    cubin_free(&cubin);
}

static void fuzz(struct bytes rest)
{
    uint8_t choice = fuzz_byte(&rest);
    uint8_t *copy = fuzz_copy(rest);

    if (choice & 1)
        read_answer(copy, rest.size, choice & 2);
    else
        take_executable(copy, rest.size, choice >> 1);
}
