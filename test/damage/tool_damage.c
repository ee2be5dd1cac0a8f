/* tool_damage.c: changes inputs at one place after the other, and sums up what is made of them.
 *
 *     tool_damage [-nopv] [-s STEP] merge MODES[,...] IN.cubin...
 *     tool_damage [-nov] [-s STEP] join SYMBOLS CHUNK.cubin...
 *     tool_damage [-nov] [-s STEP] exact LINES:KERNELS CHUNK.cubin...
 *     tool_damage [-vx] [-s STEP] [-w WORDS] split COUNT[LETTERS][,...] IN.ptx...
 *     tool_damage [-vx] [-s STEP] [-w WORDS] parts NAMES IN.ptx...
 *     tool_damage [-vx] [-s STEP] [-w WORDS] assemble "TARGET [OPTION]..."[,...] IN.ptx
 *     tool_damage [-vx] [-s STEP] [-w WORDS] lines "TARGET [OPTION]..." FRAME.ptx LINES
 *     tool_damage [-nv] [-s STEP] read TARGET[LETTERS][,...] IN...
 *
 * Prints the sum of what is made of the inputs as they are, how often a result was made when one of
 * them was changed, how often it was refused, and the sum of all results and messages: any check or
 * rule that is no longer what it was changes a sum. -v prints each change with its own sum or first
 * message, to be compared with what another build prints. Of a file that is no PTX, each STEPth
 * byte is changed; with -n, each STEPth number of four bytes becomes one more, one less, zero and
 * what stands in front of it; with -o, each STEPth section changes places with the first one. With
 * -p, no input is changed, but each is merged with each STEPth one. Of PTX, each STEPth word or
 * mark is left out or said twice, or each of the WORDS, which blanks part, takes its place; with
 * -x, it changes places with the next.
 *
 * MODES are letters: r relocatable, g debug, p with relocations, f folded, t takes the first of
 * several definitions, x keeps what is exported, s without debug sections, m without Mercury's
 * code, i with an index of unified symbols, 7 in the form of CUDA 12, v with places and calls.
 * After COUNT: s stable, k each kernel alone, e exact, a chunks as large as is worth it, p with
 * eight threads, u undefined symbols are allowed, d the dead are kept, t as above, l drops
 * variables as -lto does. After TARGET of `read`: L links LTO-IR, B links bitcode, P prefers PTX.
 *
 * With DAMAGE_SHARE=N in the environment, one change in N is tried, which changes all that stands
 * behind "changed:".
 *
 * SYMBOLS has lines "NAME OWN-NAME local|global|weak function|common|object ALIGNMENT", KERNELS the
 * names of kernels, one in a line. NAMES are the variables that host code names, "*" all. With
 * `lines`, each line of LINES stands in the frame (verdict.h) in turn, and those of one instruction
 * have one sum. */
#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/context.h"
#include "base/memory.h"
#include "damage/trial.h"
#include "diag/diag.h"
#include "input/rawcode.h"
#include "read_file.h"
#include "section_order.h"

static enum link_code run_trial(void *argument)
{
    struct trial *trial = argument;

    trial->is_made = trial->make(trial);
    return LINK_OK;
}

/* What a series of changes gave. */
struct series {
    bool is_verbose;
    size_t share, reached; /* one in so many is tried, 0 = all; how many there were */
    size_t made, refused;
    uint64_t sum;
};

static uint64_t add_sum(uint64_t sum, const void *data, size_t size)
{
    return XXH3_64bits_withSeed(data, size, sum);
}

static void attempt(struct trial *trial, struct series *series, size_t place)
{
    struct diag_sink said = {0};
    enum link_code code;
    uint64_t sum = 0;

    if (series->share > 0 && series->reached++ % series->share > 0)
        return;
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

/* Each STEPth word or mark and the next one, with the blanks between them. */
static void exchange_words(struct trial *trial, size_t input, size_t step, struct series *series)
{
    struct text whole = trial->inputs[input], before = {0};
    struct buffer both = {0};
    size_t size, words = 0;

    for (size_t at = 0; at < whole.size; at += size) {
        struct text word = {whole.data + at, whole.size - at};

        word.size = size = piece_size(word);
        if (isspace((unsigned char)*word.data))
            continue;
        if (before.size > 0 && words++ % step == 0) {
            const char *end = before.data + before.size;

            both.size = 0;
            buffer_text(&both, word);
            buffer_append(&both, end, (size_t)(word.data - end));
            buffer_text(&both, before);
            attempt_words(trial, input, (size_t)(before.data - whole.data), both.size,
                          buffer_view(&both), series);
        }
        before = word;
    }
    buffer_free(&both);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static void print_changed(const struct series *changed)
{
    printf("changed: %zu made, %zu refused, sum %08x\n", changed->made, changed->refused,
           (unsigned)(changed->sum >> 32));
}

static size_t share_of_changes(void)
{
    const char *share = getenv("DAMAGE_SHARE");

    return share ? strtoul(share, NULL, 10) : 0;
}

typedef void change_input(struct trial *trial, size_t input, size_t step, struct series *series);

static void change_each(struct trial *trial, change_input *change, size_t step, bool is_verbose)
{
    struct series whole = {.is_verbose = is_verbose}, changed = whole;

    changed.share = share_of_changes();
    attempt(trial, &whole, 0);
    for (size_t i = 0; i < trial->count; i++)
        change(trial, i, step, &changed);
    printf("%s", trial->options);
    for (size_t i = 0; i < trial->count && change != take_pairs; i++)
        printf(" %s", trial->names[i]);
    printf(": %s, sum %08x; ", whole.made ? "made" : "refused", (unsigned)(whole.sum >> 32));
    print_changed(&changed);
}

static void print_instruction(struct text name, const struct series *whole,
                              const struct series *changed)
{
    printf("%.*s: %zu made, %zu refused, sum %08x; ", TEXT_ARG(name), whole->made, whole->refused,
           (unsigned)(whole->sum >> 32));
    print_changed(changed);
}

/* Each line in the frame by itself; a sum for all of one instruction. */
static void change_lines(struct trial *trial, change_input *change, size_t step, bool is_verbose)
{
    const struct series none = {.is_verbose = is_verbose};
    const struct series thinned = {.is_verbose = is_verbose, .share = share_of_changes()};
    struct series whole = none, changed = thinned;
    struct text lines = trial->inputs[1], line, name = {0};

    trial->frame = trial->inputs[0].data;
    trial->count = 1;
    while (read_file_line(&lines, &line)) {
        struct text own;

        trial->target = (struct text){line.data, 0};
        if (strncmp(line.data, "sm_", 3) == 0)
            trial->target = read_file_word(&line);
        own = (struct text){line.data, line.size ? piece_size(line) : 0};
        if (name.size > 0 && !text_equal(own, name)) {
            print_instruction(name, &whole, &changed);
            whole = none;
            changed = thinned;
        }
        name = own;
        trial->inputs[0] = line;
        attempt(trial, &whole, 0);
        change(trial, 0, step, &changed);
    }
    print_instruction(name, &whole, &changed);
}

static const struct {
    const char *name;
    bool (*make)(struct trial *trial);
    bool is_text;
} kinds[] = {{"merge", trial_merge, false},   {"join", trial_join, false},
             {"exact", trial_exact, false},   {"split", trial_split, true},
             {"parts", trial_parts, true},    {"assemble", trial_assemble, true},
             {"lines", trial_assemble, true}, {"read", trial_read, false}};

int main(int argc, char **argv)
{
    struct trial trial = {0};
    struct text inputs[TRIAL_MOST];
    change_input *change = change_bytes;
    bool is_verbose = false, exchange = false;
    size_t step = 1, count;

    for (int option; (option = getopt(argc, argv, "nopvxs:w:")) != -1;)
        if (option == 'v')
            is_verbose = true;
        else if (option == 'n')
            change = change_numbers;
        else if (option == 'o')
            change = change_order;
        else if (option == 'p')
            change = take_pairs;
        else if (option == 'x')
            exchange = true;
        else if (option == 's')
            step = strtoul(optarg, NULL, 10);
        else if (option == 'w')
            trial.words = text_of(optarg);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (argc - optind > 2 && strcmp(argv[optind], kinds[i].name) == 0) {
            trial.make = kinds[i].make;
            if (kinds[i].is_text)
                change = exchange ? exchange_words : change_words;
        }
    if (!trial.make || argc - optind - 2 > TRIAL_MOST || step == 0)
        return 2;
    for (int i = optind + 2; i < argc; i++) {
        trial.names[trial.count] = base_name(argv[i]);
        trial.inputs[trial.count++] = read_file(argv[i]);
    }
    count = trial.count;
    memcpy(inputs, trial.inputs, sizeof inputs);
    if (trial.make == trial_merge || trial.make == trial_join || trial.make == trial_exact)
        trial.arch = cubin_arch(trial.inputs[0]);
    for (char *rest = argv[optind + 1]; (trial.options = strsep(&rest, ","));)
        if (strcmp(argv[optind], "lines") == 0)
            change_lines(&trial, change, step, is_verbose);
        else
            change_each(&trial, change, step, is_verbose);
    while (count > 0)
        free((char *)inputs[--count].data);
    buffer_free(&trial.made);
    return 0;
}
