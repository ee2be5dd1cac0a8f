/* check_toolkits.c: versions of toolkits, and which row holds for each. */
#include "facts/targets.h"
#include "suite.h"

static const struct {
    const char *text;
    unsigned version;
} versions[] = {{"13.0", 130}, {"11.8", 118}, {"13.5.37", 135}, {"13.5, V13.5.37", 135},
                {"9.1", 91},   {"13", 0},     {"13.", 0},       {".5", 0},
                {"", 0},       {"13.10", 0},  {"100.1", 0},     {"x13.0", 0},
                {"13,5", 0}};

TEST_LOOP(a_version_is_two_numbers, COUNT(versions))
{
    ck_assert_uint_eq(toolkit_version_read(text_of(versions[_i].text)), versions[_i].version);
}

TEST(a_toolkit_that_is_not_listed_is_treated_as_the_one_before)
{
    ck_assert_uint_eq(toolkits_find(130)->version, 130);
    ck_assert_uint_eq(toolkits_find(127)->version, 126);
    ck_assert_uint_eq(toolkits_find(0)->version, 118);
    ck_assert_ptr_eq(toolkits_find(999), toolkits_newest());
    ck_assert_str_eq(toolkits_find(130)->release, "13.0, V13.0.88");
}

TEST(a_range_has_both_its_ends)
{
    const struct toolkit_range range = {130, 132};

    ck_assert(toolkit_is_in(toolkits_find(130), range) && toolkit_is_in(toolkits_find(132), range));
    ck_assert(!toolkit_is_in(toolkits_find(129), range) &&
              !toolkit_is_in(toolkits_find(133), range));
    ck_assert(toolkit_is_in(toolkits_newest(), (struct toolkit_range){118, ONWARDS}));
    ck_assert(!toolkit_is_in(toolkits_find(118), (struct toolkit_range){NEVER, NEVER}));
}

TEST(what_a_toolkit_does_has_an_end)
{
    ck_assert_uint_eq(toolkits_last(TOOLKIT_WRITES_ABI_7), 129);
    ck_assert_uint_eq(toolkits_last(TOOLKIT_SORTS_EXTERNS), ONWARDS);
    ck_assert(toolkit_does(toolkits_find(128), TOOLKIT_WRITES_ABI_7));
    ck_assert(!toolkit_does(toolkits_find(130), TOOLKIT_WRITES_ABI_7));
}
