/* check_components.c: strongly connected components, each behind those that it leads to. */

#include "base/memory.h"
#include "base/search.h"
#include "suite.h"

#define LONGEST 100000u

/* Edges as "ab" for each from a to b. */
struct listing {
    const char *edges;
    struct buffer found; /* "{dc}{b}" */
};

static uint32_t next_of(void *argument, uint32_t node, uint32_t position)
{
    const struct listing *listing = argument;

    for (const char *edge = listing->edges; *edge; edge += 3)
        if ((uint32_t)(edge[0] - 'a') == node && position-- == 0)
            return (uint32_t)(edge[1] - 'a');
    return COMPONENTS_END;
}

static void list_component(void *argument, const uint32_t *members, size_t count,
                           const bool *is_open)
{
    struct listing *listing = argument;
    char names[27] = "";

    for (size_t i = 0; i < count; i++) {
        ck_assert(is_open[members[i]]);
        names[members[i]] = (char)('a' + members[i]);
    }
    buffer_char(&listing->found, '{');
    for (size_t i = 0; i < 26; i++)
        if (names[i])
            buffer_char(&listing->found, names[i]);
    buffer_char(&listing->found, '}');
}

static const struct {
    uint32_t nodes;
    const char *edges, *found;
} graphs[] = {
    {0, "", ""},
    {3, "", "{a}{b}{c}"},
    {3, "ab bc ", "{c}{b}{a}"},
    {2, "aa ab ", "{b}{a}"},
    {3, "ab bc ca ", "{abc}"},
    /* Two circles, one of which leads to the other, by an edge that comes last. */
    {5, "ab ba cd dc db ea ", "{ab}{cd}{e}"},
    /* A way back from deep inside joins all that is on it. */
    {5, "ab bc cd db de ", "{e}{bcd}{a}"},
    /* Components that are done are not reached again. */
    {4, "ab ac bd cd ", "{d}{b}{c}{a}"},
};

TEST_LOOP(components_come_behind_those_that_they_lead_to, COUNT(graphs))
{
    struct listing listing = {.edges = graphs[_i].edges};
    const struct components_graph graph = {&listing, graphs[_i].nodes, next_of, list_component};
    struct arena arena = {0};

    components_find(&graph, &arena);
    buffer_char(&listing.found, '\0');
    ck_assert_str_eq((const char *)listing.found.data, graphs[_i].found);
    buffer_free(&listing.found);
    arena_free(&arena);
}

static uint32_t next_in_line(void *argument, uint32_t node, uint32_t position)
{
    (void)argument;
    return position == 0 && node + 1 < LONGEST ? node + 1 : COMPONENTS_END;
}

static void count_component(void *argument, const uint32_t *members, size_t count,
                            const bool *is_open)
{
    uint32_t *seen = argument;

    (void)is_open;
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(members[0], LONGEST - ++*seen);
}

TEST(a_long_way_needs_no_stack)
{
    uint32_t seen = 0;
    const struct components_graph graph = {&seen, LONGEST, next_in_line, count_component};
    struct arena arena = {0};

    components_find(&graph, &arena);
    ck_assert_uint_eq(seen, LONGEST);
    arena_free(&arena);
}
