/* join_contents.c: contents of the joined sections that name symbols: info records, call graph,
 * prototypes. */
#include "cubin/compat.h"
#include "join/join_plan.h"

#include "base/context.h"
#include "cubin/image.h"

/* Makes the bytes in join->scratch the data of a joined section. */
static void take_scratch(struct join *join, uint32_t section)
{
    struct buffer *buffer = &join->scratch;

    join_set_data(join, section, arena_copy(&join->out->arena, buffer->data, buffer->size, 1),
                  buffer->size);
    buffer->size = 0;
}

/* Appends a record with its symbols renumbered. An EXTERNS record loses the functions that another
 * chunk defines, and is dropped if none is left. Records for dropped symbols are dropped too. */
static void add_record(struct buffer *to, const struct join *join, uint32_t cubin,
                       const struct info_record *record)
{
    size_t words = info_symbol_words(record);
    size_t start = to->size;
    uint16_t size = 0;
    bool is_lost = false;

    info_put_head(to, record->format, record->attribute, record->value);
    if (record->format != EIFMT_SVAL)
        return;
    for (size_t i = 0; i < words; i++) {
        uint32_t symbol = info_word(record->payload, i);
        uint32_t joined = join_symbol_of(join, cubin, symbol);

        is_lost = is_lost || joined == 0;
        if (record->attribute != EIATTR_EXTERNS || !join_is_bound(join, cubin, symbol))
            buffer_u32(to, joined);
    }
    buffer_append(to, record->payload.data + words * 4, record->payload.size - words * 4);
    size = (uint16_t)(to->size - start - 4);
    to->data[start + 2] = (char)(size & 0xff);
    to->data[start + 3] = (char)(size >> 8);
    if (is_lost || (record->attribute == EIATTR_EXTERNS && size == 0))
        to->size = start;
}

static void add_records(struct buffer *to, const struct join *join, uint32_t cubin,
                        struct bytes data)
{
    struct info_record record;

    while (info_next(&data, &record))
        add_record(to, join, cubin, &record);
}

static void fill_own_infos(struct join *join)
{
    for (uint32_t i = 1; i < join->out->section_count; i++) {
        const struct join_section *section = join->origins[i].section;
        uint32_t type = join->out->sections[i].type;

        if ((type != SHT_CUDA_INFO && type != SHT_CUDA_MERC_INFO) || i == join->made[CLASS_INFO] ||
            i == join->made[CLASS_TWIN_INFO])
            continue;
        add_records(&join->scratch, join, section->cubin, section->source->data);
        take_scratch(join, i);
    }
}

/* Adds records that name no symbol, each once. Measured: ptxas writes the Mercury version only in
 * modules without a kernel; a chunk may be one even if the program is not. */
static void add_module_records(struct buffer *to, const struct join *join, bool has_kernel)
{
    struct table seen = {0};

    CONTEXT_DEFER(table_cleanup, &seen);
    for (uint32_t c = 0; c < join->count; c++) {
        const struct join_input *input = &join->inputs[c];

        for (size_t i = 0; i < input->record_count; i++) {
            struct bytes raw = input->records[i].raw;
            struct text key = {(const char *)raw.data, raw.size};

            if (input->records[i].symbol ||
                (has_kernel && raw.data[1] == EIATTR_MERCURY_ISA_VERSION) ||
                table_find(&seen, key) != TABLE_NONE)
                continue;
            table_add(&seen, key, 0);
            buffer_append(to, raw.data, raw.size);
        }
    }
}

/* The chunks' records about one sampler. */
struct sampler {
    struct bytes initial, unnormalized; /* records */
    uint32_t initial_cubin, unnormalized_cubin;
};

static void take_sampler_record(struct sampler *sampler, uint32_t cubin, struct bytes raw)
{
    struct bytes payload = {raw.data + 4, raw.size - 4};

    if (raw.data[1] == EIATTR_SAMPLER_INIT &&
        (sampler->initial.size == 0 || info_word(payload, 1) != UINT32_MAX)) {
        sampler->initial = raw;
        sampler->initial_cubin = cubin;
    } else if (raw.data[1] == EIATTR_SAMPLER_FORCE_UNNORMALIZED) {
        sampler->unnormalized = raw;
        sampler->unnormalized_cubin = cubin;
    }
}

/* Adds records about samplers, which no chunk defines, in the order of the symbols. A chunk that
 * only declares a sampler has a record with the default (measured). */
static void add_sampler_records(struct buffer *to, struct join *join)
{
    struct sampler *samplers =
        arena_zalloc(&join->arena, join->out->symbol_count, sizeof *samplers);

    for (uint32_t c = 0; c < join->count; c++)
        for (size_t i = 0; i < join->inputs[c].record_count; i++) {
            const struct join_record *record = &join->inputs[c].records[i];
            const struct cubin_symbol *symbol = &join->inputs[c].cubin->symbols[record->symbol];

            if (symbol->type == STT_CUDA_SAMPLER && symbol->section == SHN_UNDEF)
                take_sampler_record(&samplers[join_symbol_of(join, c, record->symbol)], c,
                                    record->raw);
        }
    for (size_t i = 1; i < join->out->symbol_count; i++) {
        add_records(to, join, samplers[i].unnormalized_cubin, samplers[i].unnormalized);
        add_records(to, join, samplers[i].initial_cubin, samplers[i].initial);
    }
}

/* Writes the module's records: the functions' in reverse order, as ptxas does. */
static void fill_info(struct join *join)
{
    struct buffer *buffer = &join->scratch;
    bool has_kernel = false;

    for (size_t f = join->function_count; f-- > 0;) {
        const struct join_section *text = join->functions[f].text;
        const struct join_input *input = text->input;

        for (uint32_t i = text->first_object; i; i = input->next_object[i]) {
            if (!join_is_first(join, text->cubin, i))
                continue;
            has_kernel = has_kernel || (input->cubin->symbols[i].other & STO_CUDA_ENTRY);
            for (uint32_t r = input->first_record[i]; r != JOIN_NONE; r = input->records[r].next)
                add_records(buffer, join, text->cubin, input->records[r].raw);
        }
    }
    add_sampler_records(buffer, join);
    add_module_records(buffer, join, has_kernel);
    if (join->made[CLASS_INFO])
        take_scratch(join, join->made[CLASS_INFO]);
    else
        buffer->size = 0;
}

static void fill_compat(struct join *join)
{
    /* A chunk without code does not count, whatever the target. */
    struct compat compat = {.is_mercury = true};

    for (size_t i = 0; i < join->section_count; i++)
        if (join->sections[i].source->type == SHT_CUDA_COMPAT)
            compat_add(&compat, join->sections[i].source->data, true);
    compat_put_all(&compat, &join->scratch);
    take_scratch(join, join->made[CLASS_COMPAT]);
}

static void add_pairs(struct buffer *to, const struct join *join, const struct join_pairs *pairs,
                      struct image_strings *strings)
{
    for (size_t i = 0; i < pairs->count; i++) {
        const struct join_pair *pair = &pairs->list[i];

        if (join->entities[pair->first].index == 0 ||
            (pair->second != JOIN_NONE && join->entities[pair->second].index == 0))
            continue; /* for a symbol that was dropped */
        buffer_u32(to, join->entities[pair->first].index);
        buffer_u32(to, pair->second != JOIN_NONE ? join->entities[pair->second].index
                                                 : image_string(strings, pair->prototype));
    }
}

static void fill_callgraph(struct join *join, struct image_strings *strings)
{
    struct buffer *buffer = &join->scratch;

    for (int32_t part = CALLGRAPH_DIRECT; part >= CALLGRAPH_CANDIDATE; part--) {
        buffer_u32(buffer, 0);
        buffer_u32(buffer, (uint32_t)part);
        add_pairs(buffer, join, &join->graph[JOIN_PART(part)], strings);
    }
    take_scratch(join, join->made[CLASS_CALLGRAPH]);
}

static void fill_strings(struct join *join, const struct image_strings *strings)
{
    struct cubin *out = join->out;
    size_t size = strings->bytes.size;

    out->strings = (struct bytes){arena_copy(&out->arena, strings->bytes.data, size, 1), size};
    join_set_data(join, out->sections[out->symtab].link, out->strings.data, size);
}

/* Sets the function's symbol in each code section and its twin; the twin's data begins with the
 * index of the code section. */
static void name_functions(struct join *join)
{
    for (size_t f = 0; f < join->function_count; f++) {
        const struct join_section *text = join->functions[f].text;
        uint32_t index = join->entities[join->functions[f].entity].index;
        uint32_t *info = &join->out->sections[text->joined].info;

        *info = (*info & 0xff000000u) | index;
        for (const struct join_section *s = text; s; s = s->next_owned) {
            struct cubin_section *twin = &join->out->sections[s->joined];
            uint8_t *data;

            if (s->source->type != SHT_CUDA_CAPMERC)
                continue;
            data = arena_copy(&join->out->arena, twin->data.data, twin->size, 1);
            memcpy(data, &text->joined, sizeof text->joined);
            twin->data.data = data;
            twin->info = index;
        }
    }
}

void join_fill_sections(struct join *join)
{
    struct image_strings strings = {0};

    CONTEXT_DEFER(image_strings_cleanup, &strings);
    image_string(&strings, (struct text){0});
    name_functions(join);
    join_fill_relocations(join);
    fill_own_infos(join);
    fill_info(join);
    if (join->made[CLASS_COMPAT])
        fill_compat(join);
    if (join->made[CLASS_CALLGRAPH])
        fill_callgraph(join, &strings);
    if (join->made[CLASS_PROTOTYPE]) {
        add_pairs(&join->scratch, join, &join->graph[JOIN_PROTOTYPES], &strings);
        take_scratch(join, join->made[CLASS_PROTOTYPE]);
    }
    join_fill_twins(join, &strings);
    fill_strings(join, &strings);
}
