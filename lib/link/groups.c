/* groups.c: compares the options of the members whose code is assembled. */
#include "link/internal.h"

#include "diag/diag.h"
#include "options/consensus.h"

static bool is_ptx(const struct member *member)
{
    return member->role == MEMBER_PTX || member->role == MEMBER_BITCODE;
}

bool groups_have(const struct group *group, const struct member *members, size_t index)
{
    return (is_ptx(&members[index]) && group->first <= index && index < group->end) ||
           (members[index].role == MEMBER_LTO && group->has_lto);
}

/* The limit that LTO-IR's members declare, unless the command line has another; they all have the
 * same, or the consensus refuses them. */
static int32_t lto_limit(const struct link *link)
{
    int32_t limit = 0;

    for (size_t i = 0; i < link->members.count && !link->request->options.has_maxrregcount; i++)
        if (link->members.list[i].role == MEMBER_LTO &&
            embedded_find(link->members.list[i].entry.options, EMBEDDED_MAXREG, &limit))
            break;
    return limit > 0 ? limit : 0;
}

static struct stored_options options_of(struct link *link, const struct member *member)
{
    const struct link_request *request = link->request;
    struct arena *arena = &link->arena;
    int32_t limit = member->role == MEMBER_LTO ? lto_limit(link) : 0;
    struct text text = TEXT("");

    if (limit && !request->ignore_stored_options)
        text = text_of(arena_printf(arena, "-maxrregcount=%d", (int)limit));
    else if (member->role == MEMBER_PTX && !request->ignore_stored_options)
        text = member->entry.options;
    return stored_read(arena, text);
}

/* Begins a group at member `index`. */
static struct group *append_group(struct link *link, size_t index,
                                  const struct stored_options *options)
{
    struct group *group = &link->groups[link->group_count++];
    bool is_lto = link->members.list[index].role == MEMBER_LTO;

    *group = (struct group){.first = index,
                            .end = is_lto ? index : index + 1,
                            .has_lto = is_lto,
                            .place = index,
                            .options = *options};
    return group;
}

/* Whether the member's bitcode is in one module with all other's, at the first one's place. */
static bool is_joined(const struct link *link, const struct member *member)
{
    return member->role == MEMBER_BITCODE && link->request->options.lto;
}

/* Where what LTO makes is merged: before which member. SIZE_MAX: there is no LTO-IR. */
static size_t lto_place(const struct link *link)
{
    size_t i = link->members.count;

    while (i > 0 && link->members.list[i - 1].role != MEMBER_LTO)
        i--;
    if (i == 0)
        return SIZE_MAX;
    return toolkit_does(link->toolkit, TOOLKIT_MERGES_LTO_FIRST) ? 0 : i - 1;
}

/* Makes a group of each run of neighbours with equal options, and one of the LTO-IR. */
static void make_runs(struct link *link, const struct stored_options *options, size_t lto)
{
    const struct members *members = &link->members;
    const size_t place = lto_place(link);
    struct group *run = NULL;
    bool had_bitcode = false;

    for (size_t i = 0; i < members->count; i++) {
        const struct member *member = &members->list[i];

        if (i == place) {
            append_group(link, lto, &options[lto])->place = place;
            run = NULL;
        }
        if (member->role == MEMBER_CUBIN && !member->is_system) {
            run = NULL; /* that is merged at its place; libcudadevrt always comes last */
        } else if (is_ptx(member) && !(had_bitcode && is_joined(link, member))) {
            if (!run || !stored_are_equal(&run->options, &options[i]))
                run = append_group(link, i, &options[i]);
            stored_unite(&run->options, &options[i]);
            run->end = i + 1;
            had_bitcode |= member->role == MEMBER_BITCODE;
        }
    }
}

/* Makes one group. Its place is that of its LTO-IR, or behind all cubins. */
static void make_one(struct link *link, const struct stored_options *options, size_t first)
{
    const struct members *members = &link->members;
    struct group *group = append_group(link, first, &options[first]);

    group->place = lto_place(link);
    group->has_lto = group->place != SIZE_MAX;
    group->end = members->count;
    for (size_t i = members->count; i-- > first;)
        if (groups_have(group, members->list, i))
            stored_unite(&group->options, &options[i]);
    if (members->ptx_count == 0) /* the consensus has the limit */
        group->options.count = 0;
}

void groups_make(struct link *link)
{
    const struct members *members = &link->members;
    struct stored_options *options = arena_zalloc(&link->arena, members->count, sizeof *options);
    size_t first = SIZE_MAX, lto = SIZE_MAX, different = 0;

    link->groups = arena_zalloc(&link->arena, members->count, sizeof *link->groups);
    for (size_t i = 0; i < members->count; i++) {
        const struct member *member = &members->list[i];

        if (!is_ptx(member) && member->role != MEMBER_LTO)
            continue;
        options[i] =
            member->role == MEMBER_LTO && lto != SIZE_MAX ? options[lto] : options_of(link, member);
        if (first == SIZE_MAX)
            first = i;
        if (member->role == MEMBER_LTO)
            lto = i;
        different += !stored_are_equal(&options[first], &options[i]);
    }
    if (different)
        make_runs(link, options, lto);
    else if (first != SIZE_MAX)
        make_one(link, options, first);
    for (size_t i = 0; i < link->group_count; i++)
        stored_finish(&link->groups[i].options);
}

static bool have_part(const char *const *words, const char *part)
{
    while (words && *words && !strstr(*words, part))
        words++;
    return words && *words;
}

bool groups_tell_assembler(const struct link *link, const char *part)
{
    bool found = have_part(link->request->assembler_options, part);

    for (size_t i = 0; i < link->group_count && !found; i++)
        found = have_part(link->groups[i].options.words, part);
    return found;
}

const char *const *groups_all_words(const struct link *link, struct arena *arena)
{
    const char *const *given = link->request->assembler_options;
    const char **words = NULL;
    size_t count = 0, capacity = 0;

    if (link->group_count == 1 && link->groups->options.count == 0)
        return given;
    for (size_t i = 0; i < link->group_count; i++)
        for (size_t k = 0; k < link->groups[i].options.count; k++)
            ARENA_PUSH(arena, words, count, capacity) = link->groups[i].options.words[k];
    for (; given && *given; given++)
        ARENA_PUSH(arena, words, count, capacity) = *given;
    ARENA_PUSH(arena, words, count, capacity) = NULL;
    return words;
}

struct name_list groups_names(const struct link *link, const struct group *group)
{
    struct name_list names = {0};

    for (size_t i = 0; i < link->members.count; i++)
        if (groups_have(group, link->members.list, i))
            name_list_add(&names, link->members.list[i].name);
    return names;
}

static void tell_group(const struct link *link, const struct group *group)
{
    const struct name_list names = groups_names(link, group);
    LOCAL_ARENA(arena);
    LOCAL_BUFFER(words);

    for (size_t i = 0; i < group->options.count; i++)
        buffer_printf(&words, " %s", group->options.words[i]);
    diag_verbose("%s is assembled with %s%.*s", name_list_text("PTX", &names, &arena),
                 words.size ? "the options stored in it:" : "no options of its own",
                 TEXT_ARG(buffer_view(&words)));
}

void groups_tell(const struct link *link)
{
    if (diag_state_get()->verbose < 2)
        return;
    for (size_t i = 0; i < link->group_count; i++)
        if (link->group_count > 1 || link->groups[i].options.count)
            tell_group(link, &link->groups[i]);
}
