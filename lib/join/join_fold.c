/* join_fold.c: folds identical copies of a local function into one.
 *
 * The splitter gives each chunk its own copy of a small internal function, and the assembler adds
 * its own helpers (division) to each. Each copy gets a description: bytes with its code, constants,
 * relocations and info records, in which symbols are replaced by what they stand for. It is
 * compared with the description of the first copy of its name. References among such functions are
 * assumed to be equal at first; if copies of a name turn out to differ, every name that refers to
 * it keeps its copies too. */
#include "join/internal.h"

struct group {
    struct join_entity *first;
    struct bytes description; /* of the first; empty until a second one is seen */
    uint32_t *users;          /* groups whose copies refer to its copies */
    size_t user_count, user_capacity;
    bool differs;
};

struct fold {
    struct join *join;
    struct group *groups;
    size_t group_count;
    size_t group_capacity;
    const struct join_entity *copy; /* the function in its chunk that is being described */
    struct buffer *to;
};

/* Every list in a description is preceded by its length or ended by a mark, so that different
 * functions never have one description. */
static void describe_bytes(struct buffer *to, struct bytes bytes)
{
    buffer_u64(to, bytes.size);
    buffer_append(to, bytes.data, bytes.size);
}

/* First word of a symbol's description. */
enum symbol_kind {
    SYMBOL_OF_PROGRAM,  /* its entity: the same name is the same in all chunks */
    SYMBOL_OF_GROUP,    /* the group of a local function */
    SYMBOL_OF_FUNCTION, /* name of one of the function's own sections */
    SYMBOL_OBJECT,      /* an object of the chunk */
    SYMBOL_UNLIKE_ANY   /* the chunk and the symbol: equals no other chunk's */
};

/* Describes an object in a section of the function by its offset, or one in a section that belongs
 * to no function and has no relocations by its bytes. False for other objects. */
static bool describe_object(const struct fold *fold, const struct join_section *s,
                            const struct cubin_symbol *symbol)
{
    const struct cubin_section *section = s->source;
    struct bytes bytes = {0};

    if (s->text ? s->text != fold->copy->section : s->first_relocations != NULL)
        return false;
    if (!s->text && !section->has_no_bytes)
        bytes = (struct bytes){section->data.data + symbol->value, symbol->size};
    buffer_u32(fold->to, SYMBOL_OBJECT);
    describe_bytes(fold->to, text_bytes(symbol->name));
    buffer_u64(fold->to, symbol->size);
    buffer_u32(fold->to, symbol->type | (uint32_t)symbol->other << 8);
    describe_bytes(fold->to, text_bytes(section->name));
    buffer_u32(fold->to, section->type);
    buffer_u64(fold->to, s->text ? symbol->value : UINT64_MAX);
    describe_bytes(fold->to, bytes);
    return true;
}

/* Code uses the function's name if the alias is defined in its chunk, else the alias's. */
struct join_entity *join_function_of(struct join_entity *entity)
{
    uint32_t function;

    if (!entity || entity->source->type != STT_FUNC || !entity->section)
        return entity;
    function = cubin_section_function(entity->input->cubin, entity->source->section);
    return function ? entity->input->entities[function] : entity;
}

/* Describes what a symbol of the chunk stands for. */
static void describe_symbol(struct fold *fold, uint32_t index)
{
    const struct join_input *input = fold->copy->input;
    const struct cubin_symbol *symbol = &input->cubin->symbols[index];
    const struct join_section *section = join_section_of(input, index);
    const struct join_entity *e = join_function_of(input->entities[index]);

    if (e && e->group != JOIN_NONE) {
        struct group *used = &fold->groups[e->group];

        if (e->group != fold->copy->group)
            ARENA_PUSH(&fold->join->arena, used->users, used->user_count, used->user_capacity) =
                fold->copy->group;
        buffer_u32(fold->to, SYMBOL_OF_GROUP);
        buffer_u32(fold->to, e->group);
    } else if (e && e->is_by_name) {
        buffer_u32(fold->to, SYMBOL_OF_PROGRAM);
        buffer_u32(fold->to, (uint32_t)(e - fold->join->entities));
    } else if (!e && section && section->text == fold->copy->section) {
        buffer_u32(fold->to, SYMBOL_OF_FUNCTION);
        describe_bytes(fold->to, text_bytes(symbol->name));
    } else if (!e || !section || !describe_object(fold, section, symbol)) {
        buffer_u32(fold->to, SYMBOL_UNLIKE_ANY);
        buffer_u32(fold->to, (uint32_t)(input - fold->join->inputs));
        buffer_u32(fold->to, index);
    }
}

/* Describes records, without symbols of EXTERNS that are bound; nothing of one if none is left. */
static void describe_records(struct fold *fold, struct bytes data)
{
    struct buffer *to = fold->to;
    struct info_record record;

    while (info_next(&data, &record)) {
        size_t words = info_symbol_words(&record), start = to->size;
        bool is_externs = record.attribute == EIATTR_EXTERNS;
        struct bytes rest = record.payload;
        uint32_t kept = 0;

        info_put_head(to, record.format, record.attribute, record.value);
        buffer_u32(to, kept);
        for (size_t i = 0; i < words; i++) {
            uint32_t symbol = info_word(rest, i);

            if (is_externs && fold->copy->input->is_bound[symbol])
                continue;
            describe_symbol(fold, symbol);
            kept++;
        }
        memcpy(to->data + start + 4, &kept, sizeof kept);
        bytes_slice(rest, words * 4, rest.size - words * 4, &rest);
        describe_bytes(to, rest);
        if (is_externs && kept == 0)
            to->size = start;
    }
}

/* Describes a section: its header without links, and contents. Not in it: indices of sections and
 * symbols, but those of relocations and records. */
static void describe_section(struct fold *fold, const struct cubin_section *section)
{
    struct buffer *to = fold->to;
    struct bytes data = section->data;

    describe_bytes(to, text_bytes(section->name));
    buffer_u32(to, section->type);
    buffer_u64(to, section->flags);
    buffer_u64(to, section->alignment);
    buffer_u32(to, cubin_is_text(section) ? section->info >> 24 : 0); /* number of registers */
    if (section->type == SHT_CUDA_INFO || section->type == SHT_CUDA_MERC_INFO) {
        describe_records(fold, data);
        buffer_u32(to, 0); /* no record begins with 0 */
    } else if (format_is_relocations(section->type)) {
        buffer_u64(to, section->relocation_count);
        for (size_t i = 0; i < section->relocation_count; i++) {
            const struct cubin_relocation *relocation = &section->relocations[i];

            buffer_u64(to, relocation->offset);
            buffer_u32(to, relocation->type);
            buffer_u64(to, (uint64_t)relocation->addend);
            describe_symbol(fold, relocation->symbol);
        }
    } else {
        if (section->type == SHT_CUDA_CAPMERC) /* begins with the index of the code section */
            bytes_slice(data, 4, data.size - 4, &data);
        buffer_u64(to, section->size);
        describe_bytes(to, data);
    }
}

/* Describes all that must be equal in a function's copies, including its records in the module's
 * .nv.info (registers, stack). */
static void describe_copy(struct fold *fold, const struct join_entity *entity)
{
    struct buffer *to = fold->to;

    fold->copy = entity;
    to->size = 0;
    buffer_u64(to, entity->source->value);
    buffer_u64(to, entity->source->size);
    buffer_u32(to, entity->source->other);
    for (const struct join_record *r = entity->input->first_record[entity->symbol]; r; r = r->next)
        describe_records(fold, r->raw);
    for (const struct join_section *s = entity->section; s; s = s->next_owned)
        describe_section(fold, s->source);
}

/* Gathers the local functions by name. */
static void find_copies(struct fold *fold, struct table *names)
{
    struct join *join = fold->join;

    for (size_t i = 0; i < join->entity_count; i++) {
        struct join_entity *entity = &join->entities[i];

        if (entity->source->binding != STB_LOCAL || entity->source->type != STT_FUNC ||
            !entity->section || !cubin_is_text(entity->section->source))
            continue;
        entity->group = table_add(names, entity->name, (uint32_t)fold->group_count);
        if (entity->group == fold->group_count)
            ARENA_PUSH(&join->arena, fold->groups, fold->group_count, fold->group_capacity) =
                (struct group){.first = entity};
    }
}

static void compare_copies(struct fold *fold)
{
    struct join *join = fold->join;

    for (size_t i = 0; i < join->entity_count; i++) {
        const struct join_entity *entity = &join->entities[i];
        struct group *group = entity->group == JOIN_NONE ? NULL : &fold->groups[entity->group];

        if (!group || group->first == entity || group->differs)
            continue;
        if (group->description.size == 0) {
            describe_copy(fold, group->first);
            group->description = (struct bytes){
                arena_copy(&join->arena, fold->to->data, fold->to->size, 1), fold->to->size};
        }
        describe_copy(fold, entity);
        group->differs = group->first->input == entity->input ||
                         !bytes_equal(group->description, buffer_bytes(fold->to));
    }
    fold->to->size = 0;
}

/* Propagates `differs` from each group to the groups that refer to it. */
static void spread_differences(struct fold *fold)
{
    uint32_t *todo = arena_alloc(&fold->join->arena, fold->group_count, sizeof *todo);
    size_t count = 0;

    for (size_t i = 0; i < fold->group_count; i++)
        if (fold->groups[i].differs)
            todo[count++] = (uint32_t)i;
    while (count > 0) {
        const struct group *group = &fold->groups[todo[--count]];

        for (size_t i = 0; i < group->user_count; i++) {
            struct group *user = &fold->groups[group->users[i]];

            if (user->differs)
                continue;
            user->differs = true;
            todo[count++] = group->users[i];
        }
    }
}

void join_fold(struct join *join)
{
    struct fold fold = {.join = join, .to = &join->scratch};
    LOCAL_TABLE(names);

    find_copies(&fold, &names);
    compare_copies(&fold);
    spread_differences(&fold);
    for (struct join_input *input = join->inputs; input < join->inputs + join->count; input++)
        for (size_t i = 1; i < input->cubin->symbol_count; i++) {
            struct join_entity **entity = &input->entities[i];

            if (*entity && (*entity)->group != JOIN_NONE && !fold.groups[(*entity)->group].differs)
                *entity = fold.groups[(*entity)->group].first;
        }
}
