/* check_finalizer.c: records that only nvlink's finalizer writes, and whose code is made anew. */
#include "facts/cubins.h"
#include "facts/targets.h"
#include "suite.h"

TEST(records_are_those_of_the_target_and_the_toolkit)
{
    const struct finalizer_record *record = attributes_of_finalizer(NULL, 107, toolkits_find(134));

    ck_assert(record && record->attribute == 0x67 && record->value == 0);
    ck_assert_ptr_null(attributes_of_finalizer(record, 107, toolkits_find(134)));
    ck_assert_ptr_null(attributes_of_finalizer(NULL, 107, toolkits_find(133)));
    ck_assert_ptr_null(attributes_of_finalizer(NULL, 103, toolkits_find(135)));
}

TEST(later_toolkits_have_no_older_finalizer)
{
    for (unsigned version = 118; version < toolkits_newest()->version; version++)
        ck_assert_uint_le(toolkits_find(version)->finalizer, toolkits_find(version + 1)->finalizer);
    ck_assert_uint_lt(toolkits_find(128)->finalizer, toolkits_find(129)->finalizer);
    ck_assert_uint_lt(toolkits_find(133)->finalizer, toolkits_find(134)->finalizer);
    ck_assert_uint_eq(toolkits_find(134)->finalizer, toolkits_find(135)->finalizer);
}

TEST(code_for_another_target_of_the_family_may_be_finalized_only)
{
    const struct toolkit_facts *newest = toolkits_newest();

    ck_assert(runs_on_finalized((struct arch){107, 'a'}, (struct arch){100, 0}, newest));
    ck_assert(runs_on_finalized((struct arch){107, 0}, (struct arch){103, 'f'}, newest));
    ck_assert(!runs_on_finalized((struct arch){107, 0}, (struct arch){107, 0}, newest));
    ck_assert(!runs_on_finalized((struct arch){103, 0}, (struct arch){100, 0}, newest));
}
