/* cubins.c: what tool_damage makes of cubins. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cubin/image.h"
#include "damage/trial.h"
#include "diag/diag.h"
#include "join/join.h"
#include "join/join.h"
#include "merge/merge.h"
#include "read_file.h"

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
    for (size_t i = 0; i < TRIAL_MOST; i++)
        cubin_free(&cubins[i]);
}

static void add_report(struct buffer *out, const struct merge_report *report)
{
    for (size_t i = 0; i < report->kernel_count; i++) {
        const struct kernel_report *k = &report->kernels[i];

        trial_add_text(out, k->name);
        TRIAL_ADD_NUMBERS(out, k->is_kernel, k->registers, k->barriers, k->stack, k->frame,
                          k->shared, k->reserved, k->constant0, k->constant2, k->textures,
                          k->surfaces, k->samplers, k->code, k->file, k->input);
    }
    TRIAL_ADD_NUMBERS(out, report->global_bytes, report->constant3_bytes);
    for (size_t i = 0; i < report->dead_functions; i++)
        trial_add_text(out, text_of(report->dead_names[i]));
    buffer_text(out, buffer_view(&report->callgraph));
}

static void add_places(struct buffer *out, const struct merge_places *places)
{
    for (size_t i = 0; i < places->piece_count; i++) {
        const struct merge_piece *p = &places->pieces[i];

        TRIAL_ADD_NUMBERS(out, p->file, p->input, p->section, p->offset, p->size);
    }
    for (size_t i = 0; i < places->name_count; i++) {
        const struct merge_name *n = &places->names[i];

        trial_add_text(out, n->name);
        TRIAL_ADD_NUMBERS(out, n->value, n->size, n->section, n->file, n->input, n->type,
                          n->binding);
    }
    for (size_t i = 0; i < places->call_count; i++)
        TRIAL_ADD_NUMBERS(out, places->calls[i].from, places->calls[i].to,
                          places->calls[i].is_indirect);
    for (size_t i = 0; i < places->drop_count; i++) {
        const struct merge_drop *d = &places->drops[i];

        trial_add_text(out, d->name);
        TRIAL_ADD_NUMBERS(out, d->file, d->input, d->is_kernel, d->reason);
    }
}

bool trial_merge(struct trial *trial)
{
    const char *modes = trial->options;
    struct merge_request request = {
        .relocatable = strchr(modes, 'r'),
        .debug = strchr(modes, 'g'),
        .preserve_relocations = strchr(modes, 'p'),
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
        .toolkit = toolkits_find(130),
        .arch = trial->arch,
    };
    struct cubin cubins[TRIAL_MOST] = {0};
    const struct cubin *list[TRIAL_MOST];
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

        trial_add_text(out, s->name);
        TRIAL_ADD_NUMBERS(out, s->flags, s->alignment, s->entry_size, s->size, s->type, s->link,
                          s->info, s->has_no_bytes);
        buffer_append(out, s->data.data, s->data.size);
        for (size_t k = 0; k < s->relocation_count; k++) {
            const struct cubin_relocation *r = &s->relocations[k];

            TRIAL_ADD_NUMBERS(out, r->offset, r->type, r->symbol, (uint64_t)r->addend);
        }
    }
    for (size_t i = 0; i < cubin->symbol_count; i++) {
        const struct cubin_symbol *s = &cubin->symbols[i];

        trial_add_text(out, s->name);
        TRIAL_ADD_NUMBERS(out, s->value, s->size, s->type, s->binding, s->other, s->section);
    }
    buffer_append(out, cubin->strings.data, cubin->strings.size);
}

bool trial_join(struct trial *trial)
{
    struct chunk_symbol symbols[64];
    struct text lines = read_file(trial->options);
    size_t symbol_count = read_symbols(lines, symbols, sizeof symbols / sizeof *symbols);
    struct cubin cubins[TRIAL_MOST] = {0}, joined = {0};
    const struct cubin *list[TRIAL_MOST];
    bool ok = read_cubins(trial, cubins, list) &&
              join_cubins(&joined, list, trial->count, symbols, symbol_count, false);

    if (ok)
        add_cubin(&trial->made, &joined);
    free((char *)lines.data);
    cubin_free(&joined);
    free_cubins(cubins);
    return ok;
}

bool trial_exact(struct trial *trial)
{
    static const struct text closing[] = {{"__minilink_closing_0", 20},
                                          {"__minilink_closing_1", 20}};
    bool is_closed = memmem(trial->inputs[0].data, trial->inputs[0].size, closing[1].data, 20);
    struct bytes chunks[TRIAL_MOST];
    struct exact_join_difference why;
    struct exact_join_request request = {.chunks = chunks,
                                         .count = trial->count,
                                         .left_out = closing,
                                         .left_out_count = is_closed ? 2 : 0};
    struct text lines = read_file(strchr(trial->options, ':') + 1), rest = lines, kernels[64];
    bool is_joined;

    for (size_t i = 0; i < trial->count; i++)
        chunks[i] = (struct bytes){(const uint8_t *)trial->inputs[i].data, trial->inputs[i].size};
    request.kernels = kernels;
    request.line_count = strtoul(trial->options, NULL, 10);
    while (request.kernel_count < 64 && read_file_line(&rest, &kernels[request.kernel_count]))
        request.kernel_count++;
    is_joined = exact_join(&trial->made, &request, &why);
    if (!is_joined)
        diag_error("chunk %zu: %.*s %s", why.chunk, TEXT_ARG(why.section), why.what);
    free((char *)lines.data);
    return is_joined;
}
