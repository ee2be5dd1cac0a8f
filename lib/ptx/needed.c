/* needed.c: which PTX texts of archives take part in a link. It reads which names a text defines
 * and which it only declares, and follows them from text to text. GCC's libraries have a function
 * in each member, libgfortran 746 of them in 11 MB: bodies are skipped at memory speed.
 *
 * A text that is a member of an archive takes part when it defines something that is undefined: in
 * the other texts, in what takes part already, or in the cubins of the link. Of several archives
 * that define a name the first counts, wherever it stands among the inputs (as if all archives were
 * between --start-group and --end-group). A text with a kernel always takes part: the host starts
 * it, and no code names it.
 *
 * GCC 15 and 16 compile constructors of C++ and Fortran to functions _GLOBAL__I_PPPPP_... (priority
 * P), and destructors to _GLOBAL__D_PPPPP_.... A text of libgcc, gbl-ctors.o, has the kernels that
 * run them, from the arrays __CTOR_LIST__ and __DTOR_LIST__, which the linker makes: the number of
 * functions, the functions from the last to the first that runs, and 0; destructors in the order in
 * which they run. That text defines __trigger_gbl_ctors, and takes part when there is such a
 * function (measured on nvptx-tools 0.20260402). */
#include "ptx/program.h"

#include "base/search.h"

#define DEFINED UINT32_C(0)

static const struct text trigger = TEXT("__trigger_gbl_ctors");

/* A name that a text defines or declares. */
struct mention {
    struct text name;
    bool is_defined;
};

struct choice {
    struct needed_text *texts;
    struct arena arena;
    struct mention *mentions; /* of all texts, one after the other */
    size_t mention_count, mention_capacity;
    size_t *starts;         /* of each text's, and the end of the last one's */
    struct table providers; /* name: the first member that defines it */
    struct table defined;   /* names of what takes part */
    struct text *queue;     /* names that something needs */
    size_t queue_count, queue_capacity;
};

static void free_choice(void *argument)
{
    struct choice *choice = argument;

    table_free(&choice->providers);
    table_free(&choice->defined);
    arena_free(&choice->arena);
}

static void read_item(struct choice *choice, struct needed_text *text, const struct ptx_item *item)
{
    bool is_alias = item->kind == PTX_ALIAS;
    bool is_kernel = item->kind == PTX_FUNCTION && item->function.is_entry;

    text->is_needed |= is_kernel;
    if (is_alias || (!is_kernel && item->linkage != PTX_INTERNAL))
        ARENA_PUSH(&choice->arena, choice->mentions, choice->mention_count,
                   choice->mention_capacity) =
            (struct mention){item->name, is_alias || item->is_definition};
}

static void read_needed_text(struct choice *choice, size_t index)
{
    struct needed_text *text = &choice->texts[index];
    struct module_cursor cursor = {0};
    struct ptx_module module;

    text->is_needed = !text->is_member;
    while (!module_at_end(text->text, cursor.offset)) {
        /* A kernel that cannot be read is no less needed: its errors are reported then. */
        if (!module_parse(&module, &choice->arena, NULL, text->text, &cursor))
            text->is_needed |= memmem(text->text.data, text->text.size, ".entry", 6) != NULL;
        for (size_t i = 0; i < module.item_count; i++)
            read_item(choice, text, &module.items[i]);
    }
    choice->starts[index + 1] = choice->mention_count;
    for (size_t i = choice->starts[index]; i < choice->mention_count; i++)
        if (choice->mentions[i].is_defined && text_equal(choice->mentions[i].name, trigger))
            text->is_needed = !text->is_member;
}

static void need_name(struct choice *choice, struct text name)
{
    ARENA_PUSH(&choice->arena, choice->queue, choice->queue_count, choice->queue_capacity) = name;
}

/* Enters what the text defines and what it needs. */
static void take_part(struct choice *choice, size_t index)
{
    choice->texts[index].is_needed = true;
    for (size_t i = choice->starts[index]; i < choice->starts[index + 1]; i++) {
        const struct mention *mention = &choice->mentions[i];

        if (mention->is_defined)
            table_add(&choice->defined, mention->name, DEFINED);
        else
            need_name(choice, mention->name);
    }
}

/* GCC's libc.a has a vprintf of its own, which calls what no library has: the driver's counts. */
static void follow_needs(struct choice *choice)
{
    while (choice->queue_count > 0) {
        struct text name = choice->queue[--choice->queue_count];
        uint32_t index = table_find(&choice->providers, name);

        if (index != TABLE_NONE && table_find(&choice->defined, name) == TABLE_NONE &&
            !program_driver_provides(name))
            take_part(choice, index);
    }
}

/* A constructor or destructor, and what decides its place. */
struct ordered_function {
    uint64_t priority;
    size_t sequence; /* of its definition, over all texts */
    struct text name;
};

/* Fills the list, in order of the texts, with the functions of that prefix in what takes part. */
static size_t find_functions(struct choice *choice, size_t count, struct text prefix,
                             struct ordered_function *list)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t k = choice->starts[i]; k < choice->starts[i + 1]; k++) {
            struct text rest = choice->mentions[k].name;
            uint64_t priority;

            if (choice->texts[i].is_needed && choice->mentions[k].is_defined &&
                text_skip(&rest, prefix) && text_scan_number(&rest, &priority) && rest.size &&
                rest.data[0] == '_')
                list[found++] = (struct ordered_function){priority, k, choice->mentions[k].name};
        }
    return found;
}

COMPARISON(compare_order, struct ordered_function,
           a->priority != b->priority ? COMPARE(b->priority, a->priority)
                                      : COMPARE(b->sequence, a->sequence));

/* Adds one with the functions that begin so; `list` has room for all. */
static void add_array(struct choice *choice, size_t count, struct text prefix, const char *name,
                      struct ordered_function *list, struct buffer *text)
{
    size_t found = find_functions(choice, count, prefix, list);

    SORT(list, found, compare_order);
    for (size_t i = 0; i < found; i++)
        buffer_printf(text, ".extern .func %.*s;\n", TEXT_ARG(list[i].name));
    buffer_printf(text, ".visible .global .align 8 .u64 %s[%zu] = {%zu", name, found + 2, found);
    for (size_t i = 0; i < found; i++)
        buffer_printf(text, ", %.*s", TEXT_ARG(list[i].name));
    buffer_string(text, ", 0};\n");
}

/* Takes in the text that runs constructors, where there are some, and adds the arrays to it. */
static void take_constructors(struct choice *choice, size_t count, struct arena *arena)
{
    static const struct text constructors = TEXT("_GLOBAL__I_"), destructors = TEXT("_GLOBAL__D_");
    uint32_t index = table_find(&choice->providers, trigger);
    struct ordered_function *list;
    LOCAL_BUFFER(text);

    if (index == TABLE_NONE)
        return;
    list = arena_alloc(&choice->arena, choice->mention_count, sizeof *list);
    if (find_functions(choice, count, constructors, list) ||
        find_functions(choice, count, destructors, list)) {
        need_name(choice, trigger);
        follow_needs(choice);
    }
    if (!choice->texts[index].is_needed)
        return;
    buffer_text(&text, choice->texts[index].text);
    buffer_char(&text, '\n');
    add_array(choice, count, constructors, "__CTOR_LIST__", list, &text);
    add_array(choice, count, destructors, "__DTOR_LIST__", list, &text);
    choice->texts[index].text = arena_text(arena, buffer_view(&text));
}

void needed_choose(struct needed_text *texts, size_t count, const struct text *undefined,
                   size_t undefined_count, struct arena *arena)
{
    struct choice choice = {.texts = texts};

    CONTEXT_DEFER(free_choice, &choice);
    choice.starts = arena_zalloc(&choice.arena, count + 1, sizeof *choice.starts);
    for (size_t i = 0; i < count; i++) {
        read_needed_text(&choice, i);
        for (size_t k = choice.starts[i]; !texts[i].is_needed && k < choice.starts[i + 1]; k++)
            if (choice.mentions[k].is_defined)
                table_add(&choice.providers, choice.mentions[k].name, (uint32_t)i);
    }
    for (size_t i = 0; i < count; i++)
        if (texts[i].is_needed)
            take_part(&choice, i);
    for (size_t i = 0; i < undefined_count; i++)
        need_name(&choice, undefined[i]);
    follow_needs(&choice);
    take_constructors(&choice, count, arena);
}
