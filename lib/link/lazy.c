/* lazy.c: gives ptx/needed.h what the rest of the link defines and needs. */
#include "link/lazy.h"

#include "diag/diag.h"
#include "link/groups.h"

struct names {
    struct text *list;
    size_t count, capacity;
};

static void add_wanted_name(struct link *link, struct names *names, struct text name)
{
    if (name.size)
        ARENA_PUSH(&link->sources_arena, names->list, names->count, names->capacity) = name;
}

/* What cubins leave undefined, and --undefined names. */
static void find_undefined(struct link *link, struct names *names)
{
    const char *const *wanted = link->request->undefined;

    for (size_t i = 0; i < link->member_cubin_count; i++)
        for (size_t k = 1; k < link->member_cubins[i].symbol_count; k++)
            if (link->member_cubins[i].symbols[k].section == SHN_UNDEF)
                add_wanted_name(link, names, link->member_cubins[i].symbols[k].name);
    for (; wanted && *wanted; wanted++)
        add_wanted_name(link, names, text_of(*wanted));
}

static bool read_needed_texts(struct link *link, struct needed_text *texts, bool *is_lazy)
{
    for (size_t i = 0; i < link->members.count; i++) {
        const struct member *member = &link->members.list[i];
        struct bytes code;

        if (member->role != MEMBER_PTX)
            continue;
        if (!member_code(member, &link->ptx_inflation, &link->sources_arena, &code))
            return false;
        texts[i] =
            (struct needed_text){{(const char *)code.data, code.size}, member->is_lazy, true};
        *is_lazy |= member->is_lazy;
    }
    return true;
}

/* Adds what LTO-IR and bitcode became, behind the members. */
static size_t add_compiled(const struct link *link, struct needed_text *texts)
{
    size_t count = link->members.count;

    if (link->lto.ptx.size)
        texts[count++] = (struct needed_text){.text = link->lto.ptx};
    for (size_t i = 0; i < link->bitcode.count; i++)
        texts[count++] = (struct needed_text){.text = link->bitcode.modules[i].ptx};
    return count;
}

static void drop_texts(struct link *link, const struct needed_text *texts)
{
    for (size_t i = 0; i < link->members.count; i++) {
        struct member *member = &link->members.list[i];

        if (member->role != MEMBER_PTX || texts[i].is_needed)
            continue;
        member->role = MEMBER_UNUSED;
        member->reason = "nothing needs what this member of an archive defines";
        link->members.ptx_count--;
        diag_verbose("member %s: not used: %s", member->name, member->reason);
    }
}

static bool has_group_code(const struct link *link, const struct group *group)
{
    for (size_t i = 0; i < link->members.count; i++)
        if (groups_have(group, link->members.list, i))
            return true;
    return false;
}

/* A link needs at least one group, of which its cubin is made when it has nothing else. */
static void drop_groups(struct link *link)
{
    size_t kept = 0;

    for (size_t i = 0; i < link->group_count; i++)
        if (has_group_code(link, &link->groups[i]) ||
            (kept == 0 && i + 1 == link->group_count && link->member_cubin_count == 0))
            link->groups[kept++] = link->groups[i];
    link->group_count = kept;
}

bool lazy_read(struct link *link)
{
    struct names undefined = {0};
    bool is_lazy = false;

    link->texts = arena_zalloc(&link->sources_arena, link->members.count + link->bitcode.count + 1,
                               sizeof *link->texts);
    if (!read_needed_texts(link, link->texts, &is_lazy))
        return false;
    if (!is_lazy)
        return true;
    find_undefined(link, &undefined);
    needed_choose(link->texts, add_compiled(link, link->texts), undefined.list, undefined.count,
                  &link->sources_arena);
    drop_texts(link, link->texts);
    drop_groups(link);
    if (link->members.ptx_count + link->members.lto_count + link->member_cubin_count == 0)
        diag_warning("Nothing of the archives is linked: they have no kernel, and no other input "
                     "needs what they define");
    return true;
}
