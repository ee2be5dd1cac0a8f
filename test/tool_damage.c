/* tool_damage.c: changes inputs at one place after the other, and sums up what is made of them.
 *
 *     tool_damage [-nopv] [-s STEP] merge MODES[,...] IN.cubin...
 *     tool_damage [-nov] [-s STEP] join SYMBOLS CHUNK.cubin...
 *     tool_damage [-nov] [-s STEP] exact LINES:KERNELS CHUNK.cubin...
 *     tool_damage [-v] [-s STEP] [-w WORDS] split COUNT[LETTERS][,...] IN.ptx...
 *
 * Prints the sum of what is made of the inputs as they are, how often a result was made when one of
 * them was changed, how often it was refused, and the sum of all results and messages: any check or
 * rule that is no longer what it was changes a sum. -v prints each change with its own sum
 * or first message, to be compared with what another build prints. Of a cubin, each STEPth byte is
 * changed; with -n, each STEPth number of four bytes becomes one more, one less, zero and what
 * stands in front of it; with -o, each STEPth section changes places with the first one. With -p,
 * no input is changed, but each is merged with each STEPth one. Of PTX, each STEPth word or mark is
 * left out or said twice, or each of the WORDS, which blanks part, takes its place.
 *
 * MODES are letters: r relocatable, g debug, p with relocations, f folded, t takes the first of
 * several definitions, x keeps what is exported, s without debug sections, m without Mercury's
 * code, i with an index of unified symbols, 7 in the form of CUDA 12, v with places and calls.
 * After COUNT: s stable, k each kernel alone, e exact, a chunks as large as is worth it, p with
 * eight threads, u undefined symbols are allowed, d the dead are kept, t as above, l drops
 * variables as -lto does.
 *
 * SYMBOLS has lines "NAME OWN-NAME local|global|weak function|common|object ALIGNMENT", KERNELS the
 * names of kernels, one in a line. */
#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/context.h"
#include "base/memory.h"
#include "cubin/image.h"
#include "diag/diag.h"
#include "input/rawcode.h"
#include "join/exact_join.h"
#include "join/join.h"
#include "merge/merge.h"
#include "ptx/lexer.h"
#include "read_file.h"
#include "section_order.h"
#include "split/split.h"

#define MOST 128

/* The inputs, one of them changed, and what was made of them. */
struct trial {
    bool (*make)(struct trial *trial);
    const char *options;
    const char *names[MOST];
    struct text inputs[MOST];
    size_t count;
    struct text words;  /* that take the place of others */
    struct arch arch;   /* of the first input */
    struct buffer made; /* from them */
    bool is_made;
};

static bool read_cubins(const struct trial *trial, struct cubin *cubins, const struct cubin **list)
{
    for (size_t i = 0; i < trial->count; i++) {
        list[i] = &cubins[i];
        if (!cubin_read(
                &cubins[i], trial->names[i],
                (struct bytes){(const uint8_t *)trial->inputs[i].data, trial->inputs[i].size}))
            return false;
    }
    return true;
}

static void free_cubins(struct cubin *cubins)
{
    for (size_t i = 0; i < MOST; i++)
        cubin_free(&cubins[i]);
}

static void add_report(struct buffer *out, const struct merge_report *report)
{
    for (size_t i = 0; i < report->kernel_count; i++) {
        const struct kernel_report *k = &report->kernels[i];

        buffer_printf(out, "%.*s %d %u %u %u %u %u %u %u %u %u %u %u %llu %u %u\n",
                      TEXT_ARG(k->name), k->is_kernel, k->registers, k->barriers, k->stack,
                      k->frame, k->shared, k->reserved, k->constant0, k->constant2, k->textures,
                      k->surfaces, k->samplers, (unsigned long long)k->code, k->file, k->input);
    }
    buffer_printf(out, "%llu %llu\n", (unsigned long long)report->global_bytes,
                  (unsigned long long)report->constant3_bytes);
    for (size_t i = 0; i < report->dead_functions; i++)
        buffer_printf(out, "%s\n", report->dead_names[i]);
    buffer_text(out, buffer_view(&report->callgraph));
}

static void add_places(struct buffer *out, const struct merge_places *places)
{
    for (size_t i = 0; i < places->piece_count; i++) {
        const struct merge_piece *p = &places->pieces[i];

        buffer_printf(out, "%u %u %u %llu %llu\n", p->file, p->input, p->section,
                      (unsigned long long)p->offset, (unsigned long long)p->size);
    }
    for (size_t i = 0; i < places->name_count; i++) {
        const struct merge_name *n = &places->names[i];

        buffer_printf(out, "%.*s %llu %llu %u %u %u %u %u\n", TEXT_ARG(n->name),
                      (unsigned long long)n->value, (unsigned long long)n->size, n->section,
                      n->file, n->input, n->type, n->binding);
    }
    for (size_t i = 0; i < places->call_count; i++)
        buffer_printf(out, "%u %u %d\n", places->calls[i].from, places->calls[i].to,
                      places->calls[i].is_indirect);
    for (size_t i = 0; i < places->drop_count; i++) {
        const struct merge_drop *d = &places->drops[i];

        buffer_printf(out, "%.*s %u %u %d %d %.*s\n", TEXT_ARG(d->name), d->file, d->input,
                      d->is_kernel, (int)d->reason, TEXT_ARG(d->kept));
    }
}

static bool make_merge(struct trial *trial)
{
    const char *modes = trial->options;
    struct merge_request request = {
        .relocatable = strchr(modes, 'r'),
        .debug = strchr(modes, 'g'),
        .preserve_relocations = strchr(modes, 'p'),
        .fold = strchr(modes, 'f'),
        .takes_first = strchr(modes, 't'),
        .keep_exported = strchr(modes, 'x'),
        .strip_debug = strchr(modes, 's'),
        .sass_only = strchr(modes, 'm'),
        .has_index = strchr(modes, 'i'),
        .callgraph = strchr(modes, 'v') ? CALLGRAPH_TEXT : CALLGRAPH_NONE,
        .abi = strchr(modes, '7') ? MERGE_ABI_7 : MERGE_ABI_AUTO,
        .wants_places = strchr(modes, 'v'),
        .output_name = "",
        .version = "test",
        .arch = trial->arch,
    };
    struct cubin cubins[MOST] = {0};
    const struct cubin *list[MOST];
    struct merge_report report = {0};
    struct image image = {0};
    bool ok = read_cubins(trial, cubins, list);

    ok = ok && merge_cubins(&image, list, trial->count, &request, &report);
    if (ok) {
        image_bytes(&image, &trial->made);
        add_report(&trial->made, &report);
        add_places(&trial->made, &report.places);
    }
    image_free(&image);
    merge_report_free(&report);
    free_cubins(cubins);
    return ok;
}

static size_t read_symbols(struct text list, struct chunk_symbol *symbols, size_t most)
{
    size_t count = 0;

    for (struct text line; count < most && read_file_line(&list, &line); count++) {
        struct chunk_symbol *symbol = &symbols[count];
        struct text word;

        *symbol =
            (struct chunk_symbol){.name = read_file_word(&line), .own_name = read_file_word(&line)};
        word = read_file_word(&line);
        symbol->binding = text_equal(word, TEXT("local"))    ? CHUNK_LOCAL
                          : text_equal(word, TEXT("global")) ? CHUNK_GLOBAL
                                                             : CHUNK_WEAK;
        word = read_file_word(&line);
        symbol->is_function = text_equal(word, TEXT("function"));
        symbol->is_common = text_equal(word, TEXT("common"));
        symbol->alignment = (uint32_t)atoi(line.data);
    }
    return count;
}

static void add_cubin(struct buffer *out, const struct cubin *cubin)
{
    for (size_t i = 0; i < cubin->section_count; i++) {
        const struct cubin_section *s = &cubin->sections[i];

        buffer_printf(out, "%.*s %llu %llu %llu %llu %u %u %u %d\n", TEXT_ARG(s->name),
                      (unsigned long long)s->flags, (unsigned long long)s->alignment,
                      (unsigned long long)s->entry_size, (unsigned long long)s->size, s->type,
                      s->link, s->info, s->has_no_bytes);
        buffer_append(out, s->data.data, s->data.size);
        for (size_t k = 0; k < s->relocation_count; k++) {
            const struct cubin_relocation *r = &s->relocations[k];

            buffer_printf(out, "%llu %u %u %lld\n", (unsigned long long)r->offset, r->type,
                          r->symbol, (long long)r->addend);
        }
    }
    for (size_t i = 0; i < cubin->symbol_count; i++) {
        const struct cubin_symbol *s = &cubin->symbols[i];

        buffer_printf(out, "%.*s %llu %llu %u %u %u %u\n", TEXT_ARG(s->name),
                      (unsigned long long)s->value, (unsigned long long)s->size, s->type,
                      s->binding, s->other, s->section);
    }
    buffer_append(out, cubin->strings.data, cubin->strings.size);
}

static bool make_join(struct trial *trial)
{
    struct chunk_symbol symbols[64];
    struct text lines = read_file(trial->options);
    size_t symbol_count = read_symbols(lines, symbols, sizeof symbols / sizeof *symbols);
    struct cubin cubins[MOST] = {0}, joined = {0};
    const struct cubin *list[MOST];
    bool ok = read_cubins(trial, cubins, list) &&
              join_cubins(&joined, list, trial->count, symbols, symbol_count);

    if (ok)
        add_cubin(&trial->made, &joined);
    free((char *)lines.data);
    cubin_free(&joined);
    free_cubins(cubins);
    return ok;
}

static bool make_exact(struct trial *trial)
{
    static const struct text closing[] = {{"__minilink_closing_0", 20},
                                          {"__minilink_closing_1", 20}};
    bool is_closed = memmem(trial->inputs[0].data, trial->inputs[0].size, closing[1].data, 20);
    struct exact_join_chunk chunks[MOST];
    struct exact_join_difference why;
    struct exact_join_request request = {.chunks = chunks, .count = trial->count};
    struct text lines = read_file(strchr(trial->options, ':') + 1), rest = lines, kernels[64];
    enum exact_join_outcome outcome;

    for (size_t i = 0; i < trial->count; i++)
        chunks[i] = (struct exact_join_chunk){
            {(const uint8_t *)trial->inputs[i].data, trial->inputs[i].size},
            closing,
            is_closed ? 2 : 0};
    request.kernels = kernels;
    request.line_count = strtoul(trial->options, NULL, 10);
    while (request.kernel_count < 64 && read_file_line(&rest, &kernels[request.kernel_count]))
        request.kernel_count++;
    outcome = exact_join(&trial->made, &request, &why);
    if (outcome != EXACT_JOIN_OK)
        diag_error("%s: chunk %zu: %.*s %s",
                   outcome == EXACT_JOIN_DIFFERS ? "differs" : "not supported", why.chunk,
                   TEXT_ARG(why.section), why.what);
    free((char *)lines.data);
    return outcome == EXACT_JOIN_OK;
}

/* Where each line of a chunk is from. */
static void add_origins(struct buffer *out, const struct chunks *chunks, const struct chunk *chunk)
{
    uint32_t last = lexer_count_lines(chunk->text, 0, chunk->text.size) + 2;

    for (uint32_t line = 1, from; line <= last; line++) {
        const char *member;

        if (!chunk_origin(chunks, chunk, line, &member, &from))
            continue;
        buffer_string(out, member);
        buffer_char(out, (char)line);
        buffer_char(out, (char)from);
    }
}

static void add_chunks(struct buffer *out, const struct chunks *chunks)
{
    for (size_t i = 0; i < chunks->count; i++) {
        const struct chunk *c = &chunks->list[i];

        buffer_text(out, c->text);
        buffer_printf(out, "%llu %llu %u %u %d %s\n", (unsigned long long)c->weight,
                      (unsigned long long)c->priority, c->function_count, c->replica_count,
                      c->is_unchanged, c->first_function ? c->first_function : "");
        add_origins(out, chunks, c);
    }
    for (size_t i = 0; i < chunks->symbol_count; i++) {
        const struct chunk_symbol *s = &chunks->symbols[i];

        buffer_printf(out, "%.*s %.*s %d %d %d %u %s %u %d\n", TEXT_ARG(s->name),
                      TEXT_ARG(s->own_name), (int)s->binding, s->is_function, s->is_common,
                      s->alignment, chunks->sources[i].member, chunks->sources[i].chunk,
                      chunks->sources[i].is_kernel);
    }
    for (uint32_t i = 0; i < chunks->closing_count; i++)
        buffer_text(out, chunks->closing[i]);
    for (uint32_t i = 0; i < chunks->driver_function_count; i++)
        buffer_text(out, chunks->driver_functions[i]);
    buffer_printf(out, "%s %d %zu\n", chunks->single_reason ? chunks->single_reason : "",
                  chunks->is_exact, chunks->line_count);
}

static bool make_split(struct trial *trial)
{
    const char *options = trial->options;
    struct program_request link = {
        .arch = {90, 0},
        .allow_undefined = strchr(options, 'u'),
        .keep_dead = strchr(options, 'd'),
        .takes_first = strchr(options, 't'),
        .drop_variables = strchr(options, 'l'),
        .wants_marks = strchr(options, 's'),
    };
    struct split_request split = {.minimum_bytes = !strchr(options, 'a'),
                                  .threads = strchr(options, 'p') ? 8 : 0,
                                  .arch = {90, 0}};
    struct program_source sources[MOST];
    struct program program = {0};
    struct chunks chunks = {0};
    bool ok;

    for (size_t i = 0; i < trial->count; i++)
        sources[i] = (struct program_source){trial->names[i], trial->inputs[i]};
    split.wanted = (uint32_t)atoi(options);
    split.is_exact = strchr(options, 'e');
    if (strchr(options, 's'))
        split.policy = SPLIT_STABLE;
    if (strchr(options, 'k'))
        split.policy = SPLIT_KERNEL;
    split.explanation = &trial->made;
    ok = program_link(&program, sources, trial->count, &link) &&
         split_program(&chunks, &program, &split);
    if (ok)
        add_chunks(&trial->made, &chunks);
    chunks_free(&chunks);
    program_free(&program);
    return ok;
}

static enum link_code run_trial(void *argument)
{
    struct trial *trial = argument;

    trial->is_made = trial->make(trial);
    return LINK_OK;
}

/* What a series of changes gave. */
struct series {
    bool is_verbose;
    size_t made, refused;
    uint64_t sum;
};

static uint64_t add_sum(uint64_t sum, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static void attempt(struct trial *trial, struct series *series, size_t place)
{
    struct diag_sink said = {0};
    enum link_code code;
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    trial->made.size = 0;
    trial->is_made = false;
    code = diag_collect(run_trial, trial, diag_state_get(), &said);
    if (trial->is_made)
        sum = add_sum(sum, trial->made.data, trial->made.size);
    sum = add_sum(sum, said.text.data, said.text.size);
    series->sum = add_sum(series->sum, &sum, sizeof sum);
    series->made += trial->is_made;
    series->refused += !trial->is_made;
    if (series->is_verbose)
        printf("%zu: %s, %d, %08x\n%.*s", place, trial->is_made ? "made" : "refused", (int)code,
               (unsigned)(sum >> 32), TEXT_ARG(buffer_view(&said.text)));
    diag_sink_free(&said);
}

static void change_bytes(struct trial *trial, size_t input, size_t step, struct series *series)
{
    struct text whole = trial->inputs[input];
    char *copy = memory_copy_string(whole.data, whole.size);

    trial->inputs[input].data = copy;
    for (size_t at = 0; at < whole.size; at += step) {
        copy[at] = (char)(whole.data[at] ^ (at % 2 ? 0xff : 1 << at % 8));
        attempt(trial, series, at);
        copy[at] = whole.data[at];
    }
    trial->inputs[input] = whole;
    free(copy);
}

static void change_numbers(struct trial *trial, size_t input, size_t step, struct series *series)
{
    struct text whole = trial->inputs[input];
    char *copy = memory_copy_string(whole.data, whole.size);
    uint32_t number, before = 0;

    trial->inputs[input].data = copy;
    for (size_t at = 0; at + sizeof number <= whole.size; at += step * sizeof number) {
        memcpy(&number, whole.data + at, sizeof number);
        if (at > 0)
            memcpy(&before, whole.data + at - sizeof before, sizeof before);
        for (size_t i = 0; i < 4; i++) {
            uint32_t others[] = {number + 1, number - 1, 0, before};

            if (others[i] == number)
                continue;
            memcpy(copy + at, &others[i], sizeof number);
            attempt(trial, series, at);
        }
        memcpy(copy + at, &number, sizeof number);
    }
    trial->inputs[input] = whole;
    free(copy);
}

static void change_order(struct trial *trial, size_t input, size_t step, struct series *series)
{
    struct text whole = trial->inputs[input];
    Elf64_Ehdr head;

    memcpy(&head, whole.data, sizeof head);
    for (uint32_t section = 2; section < head.e_shnum; section += (uint32_t)step) {
        char *other = section_order_exchange(whole, section);

        trial->inputs[input].data = other;
        attempt(trial, series, section);
        free(other);
    }
    trial->inputs[input] = whole;
}

static struct arch cubin_arch(struct text cubin)
{
    struct arch arch = {0};

    rawcode_cubin_arch((struct bytes){(const uint8_t *)cubin.data, cubin.size}, &arch);
    return arch;
}

static void take_pairs(struct trial *trial, size_t input, size_t step, struct series *series)
{
    struct trial pair = *trial;

    pair.count = 2;
    pair.names[0] = trial->names[input];
    pair.inputs[0] = trial->inputs[input];
    pair.arch = cubin_arch(pair.inputs[0]);
    for (size_t other = input % step; other < trial->count; other += step) {
        pair.names[1] = trial->names[other];
        pair.inputs[1] = trial->inputs[other];
        attempt(&pair, series, other);
    }
    trial->made = pair.made;
}

/* Bytes of the word or mark at the beginning of the text, or of the blanks in front of it. */
static size_t piece_size(struct text text)
{
    const unsigned char *at = (const unsigned char *)text.data, *end = at + text.size;
    bool is_blank = isspace(*at), is_word = isalnum(*at) || strchr("_$%.", *at);

    do
        at++;
    while (at < end && (is_blank ? isspace(*at) : is_word && (isalnum(*at) || strchr("_$%", *at))));
    return (size_t)(at - (const unsigned char *)text.data);
}

/* The text with `words` in the place of `size` bytes at `at`. */
static void attempt_words(struct trial *trial, size_t input, size_t at, size_t size,
                          struct text words, struct series *series)
{
    struct text whole = trial->inputs[input];
    struct buffer text = {0};

    buffer_append(&text, whole.data, at);
    buffer_text(&text, words);
    buffer_append(&text, whole.data + at + size, whole.size - at - size);
    trial->inputs[input] = buffer_view(&text);
    attempt(trial, series, at);
    trial->inputs[input] = whole;
    buffer_free(&text);
}

static void change_words(struct trial *trial, size_t input, size_t step, struct series *series)
{
    struct text whole = trial->inputs[input];
    struct buffer twice = {0};
    size_t size, words = 0;

    for (size_t at = 0; at < whole.size; at += size) {
        struct text rest = trial->words;

        size = piece_size((struct text){whole.data + at, whole.size - at});
        if (isspace((unsigned char)whole.data[at]) || words++ % step)
            continue;
        while (rest.size > 0)
            attempt_words(trial, input, at, size, read_file_word(&rest), series);
        if (trial->words.size > 0)
            continue;
        twice.size = 0;
        for (int i = 0; i < 2; i++) {
            buffer_append(&twice, whole.data + at, size);
            buffer_char(&twice, ' ');
        }
        attempt_words(trial, input, at, size, (struct text){0}, series);
        attempt_words(trial, input, at, size, buffer_view(&twice), series);
    }
    buffer_free(&twice);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

typedef void change_input(struct trial *trial, size_t input, size_t step, struct series *series);

static void change_each(struct trial *trial, change_input *change, size_t step, bool is_verbose)
{
    struct series whole = {.is_verbose = is_verbose}, changed = whole;

    attempt(trial, &whole, 0);
    for (size_t i = 0; i < trial->count; i++)
        change(trial, i, step, &changed);
    printf("%s", trial->options);
    for (size_t i = 0; i < trial->count && change != take_pairs; i++)
        printf(" %s", trial->names[i]);
    printf(": %s, sum %08x; changed: %zu made, %zu refused, sum %08x\n",
           whole.made ? "made" : "refused", (unsigned)(whole.sum >> 32), changed.made,
           changed.refused, (unsigned)(changed.sum >> 32));
}

static const struct {
    const char *name;
    bool (*make)(struct trial *trial);
} kinds[] = {
    {"merge", make_merge}, {"join", make_join}, {"exact", make_exact}, {"split", make_split}};

int main(int argc, char **argv)
{
    struct trial trial = {0};
    change_input *change = change_bytes;
    bool is_verbose = false;
    size_t step = 1;

    for (int option; (option = getopt(argc, argv, "nopvs:w:")) != -1;)
        if (option == 'v')
            is_verbose = true;
        else if (option == 'n')
            change = change_numbers;
        else if (option == 'o')
            change = change_order;
        else if (option == 'p')
            change = take_pairs;
        else if (option == 's')
            step = strtoul(optarg, NULL, 10);
        else if (option == 'w')
            trial.words = text_of(optarg);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (argc - optind > 2 && strcmp(argv[optind], kinds[i].name) == 0)
            trial.make = kinds[i].make;
    if (!trial.make || argc - optind - 2 > MOST || step == 0)
        return 2;
    for (int i = optind + 2; i < argc; i++) {
        trial.names[trial.count] = base_name(argv[i]);
        trial.inputs[trial.count++] = read_file(argv[i]);
    }
    if (trial.make == make_split)
        change = change_words;
    else
        trial.arch = cubin_arch(trial.inputs[0]);
    for (char *rest = argv[optind + 1], *options; (options = strsep(&rest, ","));) {
        trial.options = options;
        change_each(&trial, change, step, is_verbose);
    }
    for (size_t i = 0; i < trial.count; i++)
        free((char *)trial.inputs[i].data);
    buffer_free(&trial.made);
    context_shutdown();
    return 0;
}
