/* join_contents.c: contents of the joined sections that name symbols: relocations, info records,
 * call graph, prototypes.
 *
 * Relocations of a function's own sections keep their order; those of united sections are sorted
 * like the assembler's, by descending offset. The chunk that keeps a function knows its calls and
 * whose address its code takes. */
#include "base/context.h"
#include "base/search.h"
#include "cubin/contents.h"
#include "cubin/image.h"
#include "join/internal.h"

/* The relocation's addend in the joined cubin. */
static int64_t moved_addend(const struct join_section *list, uint32_t symbol, int64_t addend)
{
    const struct join_section *seen = join_seen_section(list, symbol);

    if (list->input->cubin->symbols[symbol].type != STT_SECTION || !seen || !seen->united)
        return addend;
    return (int64_t)join_blocks_translate(seen, (uint64_t)addend);
}

/* The addend of a relocation against a section symbol. Measured: ptxas makes the n-th FDE refer to
 * a CIE at byte 112 * n, wherever its CIE is; here each FDE refers to the CIE before it. */
static int64_t section_addend(const struct join_section *list,
                              const struct cubin_relocation *relocation,
                              const struct join_block *block)
{
    const struct united_section *united = list->target->united;

    if (united->is_frames && united->way == UNITED_BLOCKS &&
        join_seen_section(list, relocation->symbol) == list->target)
        return (int64_t)block->placed;
    return moved_addend(list, relocation->symbol, join_addend(list, relocation));
}

/* Notes one relocation of a united section. If it is against a section symbol, its addend is taken
 * out of the field: before sm_90 REL is written for an addend of 0, RELA for others (measured). */
static void gather_relocation(struct join *join, const struct join_section *list,
                              const struct cubin_relocation *relocation)
{
    struct united_section *united = list->target->united;
    const struct join_block *block = join_blocks_at(list->target, relocation->offset);
    struct join_relocation moved = {*relocation, list->input, list->source->type == SHT_REL};

    if (!block || !block->is_kept)
        return;
    moved.moved.offset = block->placed + (relocation->offset - block->offset);
    if (list->input->cubin->symbols[relocation->symbol].type == STT_SECTION) {
        moved.moved.addend = section_addend(list, relocation, block);
        if (moved.is_in_place && united->data)
            memset(united->data + moved.moved.offset, 0,
                   relocation_types_find(relocation->type)->bytes);
        moved.is_in_place = united->has_in_place && moved.moved.addend == 0;
    }
    ARENA_PUSH(&join->arena, united->relocations, united->relocation_count,
               united->relocation_capacity) = moved;
    united->in_place_count += moved.is_in_place;
}

COMPARISON(compare_relocations, struct join_relocation,
           COMPARE(b->is_in_place, a->is_in_place) ?: COMPARE(b->moved.offset, a->moved.offset)
               ?: COMPARE(a->moved.type, b->moved.type)
               ?: COMPARE(a->moved.symbol, b->moved.symbol));

void join_gather_relocations(struct join *join)
{
    for (size_t i = 0; i < join->section_count; i++) {
        const struct join_section *list = &join->sections[i];

        for (size_t k = 0; list->target && list->target->united && k < list->relocation_count; k++)
            gather_relocation(join, list, &list->relocations[k]);
    }
    for (size_t i = 0; i < join->united_count; i++)
        SORT(join->united[i]->relocations, join->united[i]->relocation_count, compare_relocations);
}

/* Copies a function's or a united section's relocations, with the result's symbols. Those against
 * dropped symbols are dropped, too. */
static void fill_list(struct join *join, struct cubin_section *section,
                      const struct join_origin *origin)
{
    const struct united_section *united = origin->united;
    bool is_in_place = section->type == SHT_REL;
    size_t begin = united && !is_in_place ? united->in_place_count : 0;
    size_t end = !united       ? origin->section->relocation_count
                 : is_in_place ? united->in_place_count
                               : united->relocation_count;
    struct cubin_relocation *to = arena_alloc(&join->out->arena, end - begin, sizeof *to);
    uint32_t count = 0;

    for (size_t i = begin; i < end; i++) {
        const struct join_input *input =
            united ? united->relocations[i].input : origin->section->input;
        struct cubin_relocation r =
            united ? united->relocations[i].moved : origin->section->relocations[i];
        uint32_t symbol = r.symbol;

        if (!united && symbol)
            r.addend = moved_addend(origin->section, symbol, r.addend);
        r.symbol = input->joined[symbol];
        if (r.symbol || (symbol == 0 && !united))
            to[count++] = r;
    }
    section->size = count * section->entry_size;
    section->relocations = to;
    section->relocation_count = count;
}

/* Makes the bytes in join->scratch the data of a joined section. */
static void take_scratch(struct join *join, uint32_t section)
{
    struct buffer *buffer = &join->scratch;

    join_set_data(join, section, arena_copy(&join->out->arena, buffer->data, buffer->size, 1),
                  buffer->size);
    buffer->size = 0;
}

/* Records of dropped symbols are dropped, too. */
static void add_records(struct buffer *to, const struct join_input *input, struct bytes data)
{
    struct info_record record;

    while (info_next(&data, &record))
        info_put_joined(to, &record, input->cubin, input->joined, input->is_bound);
}

/* Sets the function's symbol in its code section, or in Mercury's twin of it, whose data begins
 * with the index of the code section. */
static void name_function(struct join *join, struct cubin_section *section,
                          const struct join_section *text)
{
    uint32_t index = text->entity->index;
    uint8_t *data;

    if (section->type != SHT_CUDA_CAPMERC) {
        section->info = (section->info & 0xff000000u) | index;
        return;
    }
    data = arena_copy(&join->out->arena, section->data.data, section->size, 1);
    memcpy(data, &text->joined, sizeof text->joined);
    section->data.data = data;
    section->info = index;
}

/* Fills what each function has of its own, and relocations. */
static void fill_own_sections(struct join *join)
{
    for (uint32_t i = 1; i < join->out->section_count; i++) {
        struct cubin_section *made = &join->out->sections[i];
        const struct join_section *section = join->origins[i].section;

        if (section && class_is_in(section->class, CLASS_SET(TEXT) | CLASS_SET(TWIN_TEXT))) {
            name_function(join, made, section->text);
        } else if (format_is_relocations(made->type)) {
            fill_list(join, made, &join->origins[i]);
        } else if ((made->type == SHT_CUDA_INFO || made->type == SHT_CUDA_MERC_INFO) &&
                   i != join->made[CLASS_INFO] && i != join->made[CLASS_TWIN_INFO]) {
            add_records(&join->scratch, section->input, section->source->data);
            take_scratch(join, i);
        }
    }
}

/* Adds records that name no symbol, each once. Measured: ptxas writes the Mercury version only in
 * modules without a kernel; a chunk may be one even if the program is not. */
static void add_module_records(struct buffer *to, const struct join *join, bool has_kernel)
{
    LOCAL_TABLE(seen);

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

/* Adds records about samplers, which no chunk defines, in the order of the symbols. A chunk that
 * only declares a sampler has a record with the default initial value (measured). */
static void add_sampler_records(struct buffer *to, struct join *join)
{
    struct sampler {
        const struct join_record *unnormalized, *initial;
    } *samplers = arena_zalloc(&join->arena, join->out->symbol_count, sizeof *samplers);

    for (const struct join_input *in = join->inputs; in < join->inputs + join->count; in++)
        for (const struct join_record *r = in->records; r < in->records + in->record_count; r++) {
            const struct cubin_symbol *symbol = &in->cubin->symbols[r->symbol];
            struct sampler *known = &samplers[in->joined[r->symbol]];

            if (symbol->type != STT_CUDA_SAMPLER || symbol->section != SHN_UNDEF)
                continue;
            if (r->raw.data[1] == EIATTR_SAMPLER_FORCE_UNNORMALIZED)
                known->unnormalized = r;
            else if (r->raw.data[1] == EIATTR_SAMPLER_INIT &&
                     (!known->initial ||
                      info_word((struct bytes){r->raw.data + 4, r->raw.size - 4}, 1) != UINT32_MAX))
                known->initial = r;
        }
    for (size_t i = 1; i < join->out->symbol_count; i++) {
        if (samplers[i].unnormalized)
            add_records(to, samplers[i].unnormalized->input, samplers[i].unnormalized->raw);
        if (samplers[i].initial)
            add_records(to, samplers[i].initial->input, samplers[i].initial->raw);
    }
}

/* Writes the module's records: the functions' in reverse order, as ptxas does. */
static void fill_joined_info(struct join *join)
{
    struct buffer *buffer = &join->scratch;
    bool has_kernel = false;

    for (size_t f = join->function_count; f-- > 0;) {
        const struct join_section *text = join->functions[f];
        const struct join_input *input = text->input;

        for (uint32_t i = text->first_object; i; i = input->next_object[i]) {
            if (!join_is_first(input, i))
                continue;
            has_kernel = has_kernel || (input->cubin->symbols[i].other & STO_CUDA_ENTRY);
            for (const struct join_record *r = input->first_record[i]; r; r = r->next)
                add_records(buffer, input, r->raw);
        }
    }
    add_sampler_records(buffer, join);
    add_module_records(buffer, join, has_kernel);
    if (join->made[CLASS_INFO])
        take_scratch(join, join->made[CLASS_INFO]);
    else
        buffer->size = 0;
}

static void fill_joined_compat(struct join *join)
{
    /* A chunk without code does not count, whatever the target. */
    struct compat compat = {.is_mercury = true};

    for (size_t i = 0; i < join->section_count; i++)
        if (join->sections[i].source->type == SHT_CUDA_COMPAT)
            compat_add(&compat, join->sections[i].source->data, true);
    compat_put_all(&compat, &join->scratch);
    take_scratch(join, join->made[CLASS_COMPAT]);
}

/* An entry of the call graph: a caller and a callee, or a function and a prototype. */
struct join_pair {
    int32_t part;                       /* enum callgraph_part; or of .nv.prototype */
    struct join_entity *first, *second; /* the second, or its prototype */
    struct text prototype;
    uint32_t position; /* of the first one's function; JOIN_NONE when it is undefined */
    uint32_t sequence; /* in the chunks */
};

#define JOIN_PROTOTYPES 0 /* the part of .nv.prototype, before the others */

/* Position of the function that is defined in the section, if it is kept; else JOIN_NONE. */
static uint32_t position_in(const struct join_section *section)
{
    return section ? section->function : JOIN_NONE;
}

static void add_pair(struct join *join, const struct join_pair *pair)
{
    ARENA_PUSH(&join->arena, join->graph, join->graph_count, join->graph_capacity) = *pair;
    join->graph[join->graph_count - 1].sequence = (uint32_t)join->graph_count;
    if (pair->part == CALLGRAPH_ADDRESS)
        pair->first->has_prototype = true;
}

/* Takes one entry of a chunk's call graph, or a function with its prototype. */
static void gather_entry(struct join *join, const struct join_input *input,
                         const struct callgraph_entry *entry)
{
    bool is_call = entry->part == CALLGRAPH_DIRECT || entry->part == CALLGRAPH_CANDIDATE;
    bool is_of_all = entry->part == CALLGRAPH_ADDRESS || entry->part == JOIN_PROTOTYPES;
    struct join_pair pair = {.part = entry->part,
                             .first = input->entities[entry->first],
                             .second = is_call ? input->entities[entry->second] : NULL};

    if (!pair.first || (is_call && !pair.second))
        return;
    if (!is_call)
        pair.prototype = cubin_string(input->cubin, entry->second);
    pair.position =
        position_in(is_of_all ? pair.first->section : join_section_of(input, entry->first));
    if (is_of_all || pair.position != JOIN_NONE)
        add_pair(join, &pair);
}

static void gather_section(struct join *join, const struct join_section *section)
{
    struct bytes data = section->source->data;
    struct callgraph_entry entry = {0};

    if (section->source->type == SHT_CUDA_CALLGRAPH)
        while (callgraph_next(&data, &entry))
            gather_entry(join, section->input, &entry);
    for (size_t i = 0; section->source->type == SHT_CUDA_PROTOTYPE && i < data.size / 8; i++)
        gather_entry(join, section->input,
                     &(struct callgraph_entry){.first = info_word(data, i * 2),
                                               .second = info_word(data, i * 2 + 1)});
}

/* Program order: by function, then its aliases by name; undefined functions last, by name. */
static int compare_entities(const struct join_entity *a, const struct join_entity *b)
{
    return a == b ? 0
                  : COMPARE(position_in(a->section), position_in(b->section))
                        ?: text_compare(a->name, b->name);
}

/* A function's indirect calls stay in their order. */
COMPARISON(compare_pairs, struct join_pair,
           COMPARE(b->part, a->part) ?: COMPARE(a->position, b->position)
               ?: a->part == CALLGRAPH_INDIRECT
                      ? COMPARE(a->sequence, b->sequence)
                      : compare_entities(a->first, b->first)
                            ?: (a->second && b->second ? compare_entities(a->second, b->second) : 0)
                            ?: text_compare(a->prototype, b->prototype));

/* Whether the pair is not there already, as `last`. Measured: a prototype is listed for functions
 * that other files may define or call, unless the call graph has it for their address. */
static bool is_listed(const struct join *join, const struct join_pair *pair,
                      const struct join_pair *last)
{
    if (pair->part == JOIN_PROTOTYPES &&
        (pair->first->has_prototype || join_own_binding(join, pair->first) == STB_LOCAL))
        return false;
    return !last || pair->part == CALLGRAPH_INDIRECT || pair->part != last->part ||
           pair->first != last->first || pair->second != last->second ||
           !text_equal(pair->prototype, last->prototype);
}

/* Adds for each call of an alias a call of its function, which a chunk that only declares the alias
 * does not know, and likewise for address-taking. */
static void complete_aliases(struct join *join)
{
    size_t count = join->graph_count;

    for (size_t i = 0; i < count; i++) {
        struct join_pair pair = join->graph[i];
        struct join_entity **named = pair.second ? &pair.second : &pair.first;
        struct join_entity *function = join_function_of(*named);

        if ((pair.part != CALLGRAPH_ADDRESS && pair.part != CALLGRAPH_DIRECT) || !function ||
            function == pair.second || function == pair.first)
            continue;
        *named = function;
        add_pair(join, &pair);
    }
}

void join_gather_graph(struct join *join)
{
    size_t count = 0;

    for (size_t i = 0; i < join->section_count; i++)
        gather_section(join, &join->sections[i]);
    complete_aliases(join);
    SORT(join->graph, join->graph_count, compare_pairs);
    for (size_t i = 0; i < join->graph_count; i++)
        if (is_listed(join, &join->graph[i], count ? &join->graph[count - 1] : NULL))
            join->graph[count++] = join->graph[i];
    join->graph_count = count;
    join->has_prototypes = count && join->graph->part == JOIN_PROTOTYPES;
}

static void put_pairs(struct join *join, int32_t part, struct image_strings *strings)
{
    for (size_t i = 0; i < join->graph_count; i++) {
        const struct join_pair *pair = &join->graph[i];

        if (pair->part != part || pair->first->index == 0 ||
            (pair->second && pair->second->index == 0))
            continue; /* for a symbol that was dropped */
        buffer_u32(&join->scratch, pair->first->index);
        buffer_u32(&join->scratch,
                   pair->second ? pair->second->index : image_string(strings, pair->prototype));
    }
}

static void fill_joined_callgraph(struct join *join, struct image_strings *strings)
{
    for (int32_t part = CALLGRAPH_DIRECT; part >= CALLGRAPH_CANDIDATE; part--) {
        buffer_u32(&join->scratch, 0);
        buffer_u32(&join->scratch, (uint32_t)part);
        put_pairs(join, part, strings);
    }
    take_scratch(join, join->made[CLASS_CALLGRAPH]);
}

void join_fill_sections(struct join *join)
{
    struct image_strings strings = {0};
    struct cubin *out = join->out;
    uint32_t table = out->sections[out->symtab].link;

    CONTEXT_DEFER(image_strings_free, &strings);
    image_string(&strings, (struct text){0});
    fill_own_sections(join);
    fill_joined_info(join);
    if (join->made[CLASS_COMPAT])
        fill_joined_compat(join);
    if (join->made[CLASS_CALLGRAPH])
        fill_joined_callgraph(join, &strings);
    if (join->made[CLASS_PROTOTYPE]) {
        put_pairs(join, JOIN_PROTOTYPES, &strings);
        take_scratch(join, join->made[CLASS_PROTOTYPE]);
    }
    join_fill_mercury(join, &strings);
    buffer_append(&join->scratch, strings.bytes.data, strings.bytes.size);
    take_scratch(join, table);
    out->strings = out->sections[table].data;
}
