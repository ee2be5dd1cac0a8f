/* join_fold.c: copies of a local function become one again.
 *
 * The splitter gives each chunk its own copy of a small internal function, and the assembler adds
 * its own helpers (division) to each. All copies of a name are compared with the first: code,
 * constants, relocations and info records must be the same, symbols by what they stand for.
 * References among such functions are taken as equal at first; where a name turns out to have
 * different copies, every name that refers to it keeps its copies too. */
#include "join/join_plan.h"

#include "base/context.h"

struct group {
    struct text name;
    uint32_t first; /* entity */
    uint32_t users; /* its first edge, or JOIN_NONE */
    bool differs;
};

/* Copies of a group refer to copies of another, which has this edge in its list. */
struct edge {
    uint32_t user;
    uint32_t next; /* of the list; JOIN_NONE = none */
};

struct fold {
    struct join *join;
    struct group *groups;
    size_t group_count;
    size_t group_capacity;
    struct edge *edges;
    size_t edge_count;
    size_t edge_capacity;
};

/* One function in its chunk. */
struct copy {
    uint32_t cubin;
    uint32_t symbol;
    uint32_t text;
    uint32_t group;
};

static const struct cubin *cubin_of(const struct fold *fold, const struct copy *copy)
{
    return fold->join->inputs[copy->cubin].cubin;
}

static struct copy copy_of(const struct fold *fold, uint32_t entity)
{
    const struct join_entity *e = &fold->join->entities[entity];
    const struct cubin_symbol *symbol = join_definition(fold->join, entity);

    return (struct copy){e->cubin, e->symbol, symbol->section, e->group};
}

/* An object that stands in a section of both functions, or unrelocated with the same bytes in a
 * section of both chunks. */
static bool objects_equal(const struct fold *fold, const struct copy *a, uint32_t x,
                          const struct copy *b, uint32_t y)
{
    const struct cubin_symbol *s = &cubin_of(fold, a)->symbols[x];
    const struct cubin_symbol *t = &cubin_of(fold, b)->symbols[y];
    const struct join_input *in_a = &fold->join->inputs[a->cubin];
    const struct join_input *in_b = &fold->join->inputs[b->cubin];
    const struct cubin_section *u, *v;

    if (!text_equal(s->name, t->name) || s->size != t->size || s->type != t->type ||
        s->other != t->other || s->section >= in_a->cubin->section_count ||
        t->section >= in_b->cubin->section_count)
        return false;
    u = &in_a->cubin->sections[s->section];
    v = &in_b->cubin->sections[t->section];
    if (!text_equal(u->name, v->name) || u->type != v->type)
        return false;
    if (in_a->sections[s->section].text)
        return s->value == t->value && in_a->sections[s->section].text == a->text &&
               in_b->sections[t->section].text == b->text;
    if (in_a->sections[s->section].first_relocations ||
        in_b->sections[t->section].first_relocations)
        return false;
    return u->has_no_bytes || s->size == 0 ||
           memcmp(u->data.data + s->value, v->data.data + t->value, s->size) == 0;
}

/* What a function's name stands for: of an alias, the function behind it. Code says that name where
 * the alias is defined in its chunk, and the alias's elsewhere. */
static uint32_t entity_behind(const struct join *join, uint32_t cubin, uint32_t symbol)
{
    uint32_t entity = join->inputs[cubin].entities[symbol];
    const struct cubin *defining;
    const struct cubin_symbol *definition;
    uint32_t function;

    if (entity == JOIN_NONE)
        return JOIN_NONE;
    defining = join->inputs[join->entities[entity].cubin].cubin;
    definition = join_definition(join, entity);
    if (definition->type != STT_FUNC || !cubin_has_section(defining, definition->section))
        return entity;
    function = cubin_section_function(defining, definition->section);
    return function ? join->inputs[join->entities[entity].cubin].entities[function] : entity;
}

static void add_edge(struct fold *fold, struct group *used, uint32_t user)
{
    ARENA_PUSH(&fold->join->arena, fold->edges, fold->edge_count, fold->edge_capacity) =
        (struct edge){user, used->users};
    used->users = (uint32_t)(fold->edge_count - 1);
}

/* True when symbol x of one copy stands for the same as symbol y of the other. */
static bool symbols_equal(struct fold *fold, const struct copy *a, uint32_t x, const struct copy *b,
                          uint32_t y)
{
    const struct join *join = fold->join;
    const struct cubin_symbol *s = &cubin_of(fold, a)->symbols[x];
    const struct cubin_symbol *t = &cubin_of(fold, b)->symbols[y];
    uint32_t e = entity_behind(join, a->cubin, x);
    uint32_t f = entity_behind(join, b->cubin, y);

    if (e != f && (e == JOIN_NONE || f == JOIN_NONE))
        return false;
    if (e == JOIN_NONE) /* section symbols: those of the functions' own sections */
        return cubin_names_section(cubin_of(fold, a), s) &&
               cubin_names_section(cubin_of(fold, b), t) &&
               join->inputs[a->cubin].sections[s->section].text == a->text &&
               join->inputs[b->cubin].sections[t->section].text == b->text &&
               text_equal(s->name, t->name);
    if (e == f)
        return true;
    if (join->entities[e].group == JOIN_NONE || join->entities[e].group != join->entities[f].group)
        return objects_equal(fold, a, x, b, y);
    if (join->entities[e].group != a->group)
        add_edge(fold, &fold->groups[join->entities[e].group], a->group);
    return true;
}

/* The records of one copy, without the words of EXTERNS that mean nothing any more: what is defined
 * in the one chunk may be extern in the other. */
struct record_walk {
    const struct copy *copy;
    struct bytes rest;
    struct info_record record;
    size_t words; /* that are symbols */
    size_t word;  /* the next of them */
};

static bool next_record(const struct fold *fold, struct record_walk *walk)
{
    while (info_next(&walk->rest, &walk->record)) {
        walk->words = info_symbol_words(&walk->record);
        walk->word = 0;
        if (walk->record.attribute != EIATTR_EXTERNS)
            return true;
        for (size_t i = 0; i < walk->words; i++)
            if (!join_is_bound(fold->join, walk->copy->cubin, info_word(walk->record.payload, i)))
                return true;
    }
    return false;
}

static bool next_symbol(const struct fold *fold, struct record_walk *walk, uint32_t *symbol)
{
    while (walk->word < walk->words) {
        *symbol = info_word(walk->record.payload, walk->word++);
        if (walk->record.attribute != EIATTR_EXTERNS ||
            !join_is_bound(fold->join, walk->copy->cubin, *symbol))
            return true;
    }
    return false;
}

static bool record_equal(struct fold *fold, struct record_walk *x, struct record_walk *y)
{
    const struct info_record *r = &x->record, *s = &y->record;
    uint32_t symbol, other;
    size_t start = x->words * 4;

    if (r->format != s->format || r->attribute != s->attribute)
        return false;
    if (r->attribute != EIATTR_EXTERNS &&
        (r->value != s->value || r->payload.size != s->payload.size || x->words != y->words ||
         (r->payload.size > start &&
          memcmp(r->payload.data + start, s->payload.data + start, r->payload.size - start))))
        return false;
    while (next_symbol(fold, x, &symbol))
        if (!next_symbol(fold, y, &other) || !symbols_equal(fold, x->copy, symbol, y->copy, other))
            return false;
    return !next_symbol(fold, y, &other);
}

static bool records_equal(struct fold *fold, const struct copy *a, struct bytes x,
                          const struct copy *b, struct bytes y)
{
    struct record_walk first = {.copy = a, .rest = x}, second = {.copy = b, .rest = y};

    while (next_record(fold, &first))
        if (!next_record(fold, &second) || !record_equal(fold, &first, &second))
            return false;
    return !next_record(fold, &second) && first.rest.size == 0 && second.rest.size == 0;
}

static bool relocations_equal(struct fold *fold, const struct copy *a,
                              const struct join_input_section *x, const struct copy *b,
                              const struct join_input_section *y)
{
    for (size_t i = 0; i < x->relocation_count; i++) {
        const struct cubin_relocation *r = &x->relocations[i];
        const struct cubin_relocation *s = &y->relocations[i];

        if (r->offset != s->offset || r->type != s->type || r->addend != s->addend ||
            !symbols_equal(fold, a, r->symbol, b, s->symbol))
            return false;
    }
    return true;
}

static bool sections_equal(struct fold *fold, const struct copy *a, uint32_t x,
                           const struct copy *b, uint32_t y)
{
    const struct cubin_section *s = &cubin_of(fold, a)->sections[x];
    const struct cubin_section *t = &cubin_of(fold, b)->sections[y];

    if (!text_equal(s->name, t->name) || s->type != t->type || s->flags != t->flags ||
        s->alignment != t->alignment)
        return false;
    if (s->type == SHT_CUDA_INFO || s->type == SHT_CUDA_MERC_INFO)
        return records_equal(fold, a, s->data, b, t->data);
    if (s->size != t->size)
        return false;
    if (s->type == SHT_REL || s->type == SHT_RELA || s->type == SHT_CUDA_MERC_RELA)
        return relocations_equal(fold, a, &fold->join->inputs[a->cubin].sections[x], b,
                                 &fold->join->inputs[b->cubin].sections[y]);
    if (s->type == SHT_CUDA_CAPMERC) /* begins with the number of the code section */
        return memcmp(s->data.data + 4, t->data.data + 4, s->size - 4) == 0;
    if (cubin_is_text(s) && s->info >> 24 != t->info >> 24)
        return false;
    return s->has_no_bytes || bytes_equal(s->data, t->data);
}

/* The functions' records in the module's .nv.info: registers, stack. */
static bool module_records_equal(struct fold *fold, const struct copy *a, const struct copy *b)
{
    const struct join_input *x = &fold->join->inputs[a->cubin];
    const struct join_input *y = &fold->join->inputs[b->cubin];
    uint32_t i = x->first_record[a->symbol];
    uint32_t j = y->first_record[b->symbol];

    for (; i != JOIN_NONE && j != JOIN_NONE; i = x->records[i].next, j = y->records[j].next)
        if (!records_equal(fold, a, x->records[i].raw, b, y->records[j].raw))
            return false;
    return i == j;
}

static bool functions_equal(struct fold *fold, const struct copy *a, const struct copy *b)
{
    const struct cubin_symbol *s = &cubin_of(fold, a)->symbols[a->symbol];
    const struct cubin_symbol *t = &cubin_of(fold, b)->symbols[b->symbol];
    const struct join_input_section *x = fold->join->inputs[a->cubin].sections;
    const struct join_input_section *y = fold->join->inputs[b->cubin].sections;
    uint32_t i = a->text;
    uint32_t j = b->text;

    if (a->cubin == b->cubin || s->value != t->value || s->size != t->size ||
        s->other != t->other || !module_records_equal(fold, a, b))
        return false;
    /* No section equals the null section. */
    for (; i || j; i = x[i].next_owned, j = y[j].next_owned)
        if (!sections_equal(fold, a, i, b, j))
            return false;
    return true;
}

/* Gathers the local functions by name. */
static void find_groups(struct fold *fold, struct table *names)
{
    struct join *join = fold->join;

    for (uint32_t i = 0; i < join->entity_count; i++) {
        struct join_entity *entity = &join->entities[i];
        const struct cubin_symbol *symbol = join_definition(join, i);

        if (!entity->is_local || symbol->type != STT_FUNC ||
            !cubin_has_section(join->inputs[entity->cubin].cubin, symbol->section) ||
            !cubin_is_text(&join->inputs[entity->cubin].cubin->sections[symbol->section]))
            continue;
        entity->group = table_add(names, entity->name, (uint32_t)fold->group_count);
        if (entity->group == fold->group_count)
            ARENA_PUSH(&join->arena, fold->groups, fold->group_count, fold->group_capacity) =
                (struct group){entity->name, i, JOIN_NONE, false};
    }
}

static void compare_copies(struct fold *fold)
{
    const struct join *join = fold->join;

    for (uint32_t i = 0; i < join->entity_count; i++) {
        struct group *group;
        struct copy first, copy;

        if (join->entities[i].group == JOIN_NONE)
            continue;
        group = &fold->groups[join->entities[i].group];
        if (group->first == i || group->differs)
            continue;
        first = copy_of(fold, group->first);
        copy = copy_of(fold, i);
        group->differs = !functions_equal(fold, &first, &copy);
    }
}

/* Carries `differs` from each group to those that refer to it. */
static void spread_differences(struct fold *fold)
{
    uint32_t *todo = arena_alloc(&fold->join->arena, fold->group_count, sizeof *todo);
    size_t count = 0;

    for (size_t i = 0; i < fold->group_count; i++)
        if (fold->groups[i].differs)
            todo[count++] = (uint32_t)i;
    while (count > 0) {
        const struct group *group = &fold->groups[todo[--count]];

        for (uint32_t i = group->users; i != JOIN_NONE; i = fold->edges[i].next) {
            struct group *user = &fold->groups[fold->edges[i].user];

            if (user->differs)
                continue;
            user->differs = true;
            todo[count++] = fold->edges[i].user;
        }
    }
}

void join_fold(struct join *join)
{
    struct fold fold = {.join = join};
    struct table names = {0};

    CONTEXT_DEFER(table_cleanup, &names);
    find_groups(&fold, &names);
    compare_copies(&fold);
    spread_differences(&fold);
    for (uint32_t i = 0; i < join->entity_count; i++) {
        uint32_t group = join->entities[i].group;

        if (group != JOIN_NONE && !fold.groups[group].differs && fold.groups[group].first != i)
            join->entities[i].folded = fold.groups[group].first;
    }
}
