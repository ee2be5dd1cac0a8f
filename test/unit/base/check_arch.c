/* check_arch.c: names of architectures, and which of them link targets have. */

#include "facts/targets.h"
#include "suite.h"

static const struct {
    const char *name;
    unsigned sm; /* 0 = it is none */
    char suffix;
} names[] = {{"sm_90", 90, 0},    {"sm_90a", 90, 'a'}, {"sm_100f", 100, 'f'}, {"sm_10", 10, 0},
             {"sm_999", 999, 0},  {"sm_9", 0, 0},      {"sm_1000", 0, 0},     {"sm_90b", 0, 0},
             {"sm_90aa", 0, 0},   {"sm_", 0, 0},       {"sm_a", 0, 0},        {"", 0, 0},
             {"compute_90", 0, 0}};

TEST_LOOP(a_name_is_a_number_and_a_suffix, COUNT(names))
{
    struct arch arch = {1, 'x'};
    char written[ARCH_NAME_SIZE];

    ck_assert_int_eq(arch_parse(text_of(names[_i].name), "sm_", &arch), names[_i].sm != 0);
    if (names[_i].sm == 0)
        return;
    ck_assert_uint_eq(arch.sm, names[_i].sm);
    ck_assert_int_eq(arch.suffix, names[_i].suffix);
    ck_assert_str_eq(arch_name(arch, written), names[_i].name);
}
