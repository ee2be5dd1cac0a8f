/* check_edit_distance.c: how far one word is from another. */

#include "base/search.h"
#include "suite.h"

static const struct {
    const char *from, *to;
    size_t edits;
} pairs[] = {{"", "", 0},        {"", "abc", 3},           {"abc", "", 3},
             {"abc", "abc", 0},  {"abc", "abd", 1},        {"abc", "ab", 1},
             {"ab", "abc", 1},   {"ab", "ba", 1},          {"abcd", "badc", 2},
             {"ca", "abc", 3},   {"kitten", "sitting", 3}, {"mbarier", "mbarrier", 1},
             {"addd", "add", 1}, {"xyzzy", "plugh", 5}};

TEST_LOOP(edits_are_counted_both_ways, COUNT(pairs))
{
    struct text from = text_of(pairs[_i].from), to = text_of(pairs[_i].to);

    for (size_t most = 0; most < 7; most++) {
        size_t edits = pairs[_i].edits <= most ? pairs[_i].edits : SIZE_MAX;

        ck_assert_uint_eq(edit_distance(from, to, most), edits);
        ck_assert_uint_eq(edit_distance(to, from, most), edits);
    }
}

TEST(words_that_are_too_long_are_not_compared)
{
    char word[EDIT_DISTANCE_LONGEST + 1] = {0};
    const struct text longest = {word, EDIT_DISTANCE_LONGEST}, longer = {word, sizeof word};

    ck_assert_uint_eq(edit_distance(longest, longest, 2 * EDIT_DISTANCE_LONGEST), 0);
    ck_assert_uint_eq(edit_distance(longest, TEXT(""), 2 * EDIT_DISTANCE_LONGEST),
                      EDIT_DISTANCE_LONGEST);
    ck_assert_uint_eq(edit_distance(longer, TEXT(""), 2 * EDIT_DISTANCE_LONGEST), SIZE_MAX);
    ck_assert_uint_eq(edit_distance(TEXT(""), longer, 2 * EDIT_DISTANCE_LONGEST), SIZE_MAX);
}
