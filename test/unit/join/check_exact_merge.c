/* Lists of the chunks are joined to one in the order in which the whole program is compiled. */

#include "base/context.h"
#include "join/exact_internal.h"
#include "suite.h"

#define KERNELS 4

/* That of a program with closing kernels; else NULL. */
static const struct exact_form *closed_form;

/* Words that begin with a digit are items of that kernel, and in capitals what is made at its
 * beginning; all others are common, those with ! undefined functions. */
static void read_list(struct exact *join, struct exact_input *input, struct exact_list *list,
                      const char *words)
{
    for (size_t size; *words; words += size + (words[size] == ' ')) {
        struct exact_item item = {.owner = EXACT_COMMON, .input = input};

        size = strcspn(words, " ");
        item.key = (struct text){words, size};
        item.is_undefined = words[0] == '!';
        if (words[0] >= '0' && words[0] <= '9') {
            item.owner = (uint32_t)(words[0] - '0');
            item.is_head = words[1] >= 'A' && words[1] <= 'Z';
        }
        exact_push(join, list, &item);
    }
}

struct merging {
    struct exact *join;
    struct exact_list list, out;
};

static enum link_code run_merge(void *argument)
{
    struct merging *merging = argument;

    exact_merge(merging->join, &merging->list, &merging->out);
    return LINK_OK;
}

/* Merges two chunks' lists. `owners` has each kernel's chunk, `ends` the chunk whose order goes for
 * what is made at the end. Returns the words of the result, or why there is none; freed by the
 * caller. */
static struct buffer merge(const char *const chunks[2], const char *owners, uint32_t ends)
{
    struct exact_join_difference why = {0};
    struct exact_kernel kernels[KERNELS] = {{0}};
    struct exact_input inputs[2] = {0};
    struct exact join = {.why = &why,
                         .inputs = inputs,
                         .count = 2,
                         .kernel_count = strlen(owners),
                         .owner_count = strlen(owners) + (closed_form != NULL),
                         .form = closed_form,
                         .is_closed = closed_form != NULL,
                         .kernels = kernels,
                         .base = inputs,
                         .ends = &inputs[ends]};
    struct merging merging = {.join = &join};
    struct buffer said = {0};

    for (size_t i = 0; owners[i]; i++)
        kernels[i].input = &inputs[owners[i] - '0'];
    for (size_t i = 0; i < 2; i++)
        read_list(&join, &inputs[i], &merging.list, chunks[i]);
    if (context_run(run_merge, &merging) == LINK_OK)
        for (size_t i = 0; i < merging.out.count; i++)
            buffer_printf(&said, i ? " %.*s" : "%.*s", TEXT_ARG(merging.out.items[i].key));
    else
        buffer_printf(&said, "chunk %zu %s", why.chunk, why.what);
    buffer_char(&said, '\0');
    table_free(&join.seen);
    arena_free(&join.arena);
    return said;
}

static const struct {
    const char *chunks[2];
    const char *owners;
    uint32_t ends;
    const char *expected;
} rows[] = {
    /* Kernels in the order of compilation, with what follows them, and common items once. */
    {{"p 0a q 0b", "p 1a r q 1b"}, "01", 0, "p 0a q 0b 1a r 1b"},
    {{"p 0a q 0b", "p 1a r q 1b"}, "01", 1, "p 0a q 0b 1a r 1b"},
    {{"1a q", "p 0a q"}, "10", 0, "p 0a q 1a"},
    {{"0a u 2a v", "p 1a w"}, "010", 0, "0a u p 1a w 2a v"},
    {{"p", "1a q"}, "01", 0, "p 1a q"},
    /* What begins a kernel. */
    {{"0A 0B p 0a", "1A q 1b"}, "01", 0, "0A 0B p 0a 1A q 1b"},
    /* What is made at the end, in the order of one chunk; the other's own follows what it follows
     * there. */
    {{"0a .rel.t .debug_x", "1a .debug_x .rel.t"}, "01", 0, "0a 1a .rel.t .debug_x"},
    {{"0a .rel.t .debug_x", "1a .debug_x .rel.t"}, "01", 1, "0a 1a .debug_x .rel.t"},
    {{"0a .rel.t .debug_x", "1a .rel.t .debug_y .debug_z .debug_x"},
     "01",
     0,
     "0a 1a .rel.t .debug_y .debug_z .debug_x"},
    {{"0a .debug_x .debug_y", "1a .debug_x"}, "01", 1, "0a 1a .debug_x .debug_y"},
    {{"0a .rel.t", "1a .debug_y .rel.t z"}, "01", 0, "0a 1a .debug_y .rel.t z"},
    {{".debug_x 0a", "1a .debug_x .rel.t"}, "01", 0, ".debug_x 0a 1a .rel.t"},
    {{"0a p .rel.t", "1a q p .debug_y"}, "01", 0, "0a p 1a q .debug_y .rel.t"},
    /* All that closes a list. */
    {{"0a .rel.a .rela.a .nv.merc.rela.a .debug_a .nv_debug_a .nv.merc.debug_a",
      "1a .nv.merc.nv_debug_a .nv.callgraph .nv.prototype .nv.rel.action"},
     "01",
     0,
     "0a 1a .nv.merc.nv_debug_a .nv.callgraph .nv.prototype .nv.rel.action .rel.a .rela.a "
     ".nv.merc.rela.a .debug_a .nv_debug_a .nv.merc.debug_a"},
#define APART "has a kernel's entries in two places, or behind the last"
    {{"0a 1a 0b", "2a"}, "001", 0, "chunk 0 " APART},
    {{"0a", "1a .debug_x 1b"}, "01", 0, "chunk 1 " APART},
    {{"0a p 0b", "1a .x 1b"}, "01", 0, "0a p 0b 1a .x 1b"},
};

TEST_LOOP(lists_become_one, COUNT(rows))
{
    OWNED(buffer) said = merge(rows[_i].chunks, rows[_i].owners, rows[_i].ends);

    ck_assert_str_eq(said.data, rows[_i].expected);
}

/* The first kernel's run begins with what the closing kernel's has: before that comes the symbol
 * for shared memory, in the forms that put it among the global ones, and nothing else. */
TEST_LOOP(what_closes_a_program_opens_its_list, 2)
{
    static const struct exact_form forms[] = {{.symbols = WEAK_WITH_LOCALS},
                                              {.symbols = WEAK_WITH_GLOBALS}};
    static const struct {
        const char *base, *expected[COUNT(forms)];
    } lists[] = {
        {"2c p !f 0A r 0a", {"0A p !f r 0a", "0A p !f r 0a"}},
        {"2c p !f 0A " EXACT_ERASED_NAME " r 0a",
         {"0A p !f " EXACT_ERASED_NAME " r 0a", "0A p " EXACT_ERASED_NAME " !f r 0a"}},
    };

    closed_form = &forms[_i];
    for (size_t i = 0; i < COUNT(lists); i++) {
        OWNED(buffer)
        said = merge((const char *const[]){lists[i].base, "2c p 1A 1a"}, "01", 0);

        ck_assert_str_eq(said.data, suite_print("%s 1A 1a", lists[i].expected[_i]));
    }
    closed_form = NULL;
}

/* A hundred items may be made at the end, in whichever chunk. */
TEST_LOOP(the_end_has_a_limit, 2)
{
    for (int count = 100; count <= 101; count++) {
        OWNED(buffer) words = {0}, said;
        const char *chunks[2] = {"0a", "1a"};

        buffer_printf(&words, "%da", _i);
        for (int i = 0; i < count; i++)
            buffer_printf(&words, " .debug_%d", i);
        buffer_char(&words, '\0');
        chunks[_i] = words.data;
        said = merge(chunks, "01", 0);
        if (count == 100)
            ck_assert_str_eq(said.data + strlen("0a 1a"), words.data + strlen("0a"));
        else
            ck_assert_str_eq(said.data, _i ? "chunk 1 has too much behind its kernels"
                                           : "chunk 0 has too much behind its kernels");
    }
}
