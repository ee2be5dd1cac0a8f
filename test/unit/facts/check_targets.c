/* check_targets.c: the link targets of each toolkit. */
#include "facts/targets.h"
#include "suite.h"

static const struct {
    unsigned version; /* of the toolkit; 0 = any */
    const char *all;
} targets[] = {
    {118, "sm_75 sm_80 sm_86 sm_87 sm_89 sm_90 "},
    {124, "sm_75 sm_80 sm_86 sm_87 sm_89 sm_90 sm_90a "},
    {129,
     "sm_75 sm_80 sm_86 sm_87 sm_89 sm_90 sm_90a sm_100 sm_100a sm_100f sm_101 sm_101a sm_101f "
     "sm_103 sm_103a sm_103f sm_120 sm_120a sm_120f sm_121 sm_121a sm_121f "},
    {130, "sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_90a sm_100 sm_100a sm_100f sm_103 sm_103a "
          "sm_103f sm_110 sm_110a sm_110f sm_120 sm_120a sm_120f sm_121 sm_121a sm_121f "},
    {134, "sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_90a sm_100 sm_100a sm_100f sm_103 sm_103a "
          "sm_103f sm_107 sm_107a sm_107f sm_110 sm_110a sm_110f sm_120 sm_120a sm_120f sm_121 "
          "sm_121a sm_121f "},
};

TEST_LOOP(targets_are_those_of_the_toolkit_and_come_in_order, COUNT(targets))
{
    const struct toolkit_facts *toolkit = toolkits_find(targets[_i].version);
    char seen[1024] = "", name[ARCH_NAME_SIZE];
    struct arch arch = {0};

    while (targets_next(&arch, toolkit) && strlen(seen) < sizeof seen - ARCH_NAME_SIZE) {
        ck_assert(targets_know(arch, toolkit));
        strcat(strcat(seen, arch_name(arch, name)), " ");
    }
    ck_assert_str_eq(seen, targets[_i].all);
}

TEST(names_without_a_row_are_no_targets)
{
    ck_assert(!targets_know((struct arch){89, 'a'}, NULL));
    ck_assert(!targets_know((struct arch){90, 'f'}, NULL));
    ck_assert(!targets_know((struct arch){91, 0}, NULL));
    ck_assert(!targets_know((struct arch){72, 0}, NULL));
    ck_assert(!targets_know((struct arch){101, 0}, NULL));
    ck_assert(targets_know((struct arch){107, 'f'}, NULL));
}

TEST(facts_of_a_number_in_between_are_those_of_the_one_before)
{
    ck_assert_uint_eq(targets_find(0)->sm, 0);
    ck_assert_uint_eq(targets_find(89)->sm, 89);
    ck_assert_uint_eq(targets_find(99)->sm, 90);
    ck_assert_uint_eq(targets_find(255)->sm, 121);
    ck_assert(targets_have(99, TARGET_HAS_COMPAT) && !targets_have(99, TARGET_HAS_MERCURY));
    ck_assert(targets_have(255, TARGET_HAS_MERCURY) && !targets_have(89, TARGET_HAS_COMPAT));
    ck_assert_uint_eq(targets_find(107)->family, targets_find(103)->family);
    ck_assert_uint_eq(targets_find(101)->family, targets_find(110)->family);
}

TEST(a_toolkit_without_the_target_gives_way_to_the_nearest_with_it)
{
    static const struct {
        struct arch arch;
        unsigned toolkit, followed;
    } cases[] = {
        {{90, 0}, 130, 130},    {{107, 0}, 130, 134},  {{107, 'f'}, 135, 135},
        {{88, 0}, 118, 130},    {{90, 'a'}, 118, 120}, {{101, 0}, 135, 129},
        {{101, 'a'}, 124, 128}, {{72, 0}, 130, 130},   {{199, 0}, 130, 130},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        ck_assert_uint_eq(targets_toolkit(cases[i].arch, toolkits_find(cases[i].toolkit))->version,
                          cases[i].followed);
}

/* As ptxas was seen to count: the first with .maxntid and .minnctapersm, the others in cubins. */
TEST(targets_have_memory_and_threads)
{
    static const struct {
        unsigned sm, threads, reserved, parameters;
    } known[] = {
        {52, 2048, 0, 0x160},      {75, 1024, 0, 0x160},      {80, 2048, 0, 0x160},
        {86, 1536, 0, 0x160},      {87, 1536, 0, 0x160},      {88, 1536, 0, 0x160},
        {89, 1536, 0, 0x160},      {90, 2048, 0x400, 0x210},  {100, 2048, 0x400, 0x380},
        {101, 1536, 0x400, 0x380}, {103, 2048, 0x400, 0x380}, {107, 1024, 0x400, 0x380},
        {110, 1536, 0x400, 0x380}, {120, 1536, 0x400, 0x380}, {121, 1536, 0x400, 0x380},
    };

    for (size_t i = 0; i < COUNT(known); i++) {
        const struct target_facts *target = targets_find(known[i].sm);

        ck_assert_uint_eq(target->threads, known[i].threads);
        ck_assert_uint_eq(target->reserved, known[i].reserved);
        ck_assert_uint_eq(target->parameters, known[i].parameters);
    }
}

TEST(a_text_of_ones_own_has_a_version_that_knows_the_target)
{
    ck_assert_uint_eq(targets_ptx((struct arch){75, 0}), 90);
    ck_assert_uint_eq(targets_ptx((struct arch){107, 'a'}), 94);
    ck_assert_uint_eq(targets_ptx((struct arch){199, 0}), 90);
}
