/* check_runs_on.c: which code runs on which target: what nvlink was seen to take (fixtures/members,
 * which test/diff/members.sh compares with the real ones). */
#include "facts/targets.h"

#include "files.h"
#include "suite.h"

#define MOST 40

/* Words of a line: names without "sm_". */
struct names {
    struct arch list[MOST];
    size_t count;
};

static struct arch read_name(const char *name)
{
    struct arch arch;

    ck_assert_msg(arch_parse(text_of(name), "", &arch), "%s", name);
    return arch;
}

static struct names read_names(char *line)
{
    struct names names = {.count = 0};

    for (char *at = line, *word; (word = strsep(&at, " "));)
        if (*word) {
            ck_assert_uint_lt(names.count, MOST);
            names.list[names.count++] = read_name(word);
        }
    return names;
}

static bool has(const struct names *names, struct arch arch)
{
    for (size_t i = 0; i < names->count; i++)
        if (arch_equal(names->list[i], arch))
            return true;
    return false;
}

static bool takes(const char *kind, struct arch target, struct arch code,
                  const struct toolkit_facts *toolkit)
{
    if (strcmp(kind, "bare") == 0)
        return runs_on_sass(target, code, toolkit);
    return !runs_on_is_unknown(code, toolkit) &&
           (strcmp(kind, "ptx") == 0 ? runs_on_ptx : runs_on_sass)(target, code, toolkit);
}

static void check_line(const char *kind, struct arch target, char *rest, const struct names *codes,
                       const struct toolkit_facts *toolkit)
{
    const struct names taken = read_names(rest);

    for (size_t i = 0; i < codes->count; i++) {
        char name[ARCH_NAME_SIZE], code[ARCH_NAME_SIZE];

        ck_assert_msg(takes(kind, target, codes->list[i], toolkit) == has(&taken, codes->list[i]),
                      "%u: %s %s for %s", toolkit->version, kind, arch_name(codes->list[i], code),
                      arch_name(target, name));
    }
}

static const char *const versions[] = {"12.4", "13.0", "13.1", "13.2", "13.3", "13.4", "13.5"};

TEST_LOOP(code_runs_where_nvlink_took_it, COUNT(versions))
{
    const struct toolkit_facts *toolkit =
        toolkits_find(toolkit_version_read(text_of(versions[_i])));
    OWNED(buffer) file = files_load(suite_print("fixtures/members/%s", versions[_i]));
    struct names codes = {.count = 0};
    char *at = file.data, *line;
    size_t count = 0;

    buffer_char(&file, '\0');
    at = file.data;
    while ((line = strsep(&at, "\n"))) {
        char *rest = strchr(line, ':'), *name = strchr(line, ' ');

        if (!rest)
            continue;
        *rest++ = '\0';
        if (strcmp(line, "codes") == 0) {
            codes = read_names(rest);
            continue;
        }
        *name++ = '\0';
        check_line(line, read_name(name + strlen("sm_")), rest, &codes, toolkit);
        count++;
    }
    ck_assert_uint_gt(count, 5);
}

TEST(code_with_suffix_a_is_a_reason_of_its_own)
{
    const struct toolkit_facts *old = toolkits_find(130), *new = toolkits_find(131);
    const struct arch plain = {75, 0}, accelerated = {90, 'a'};

    ck_assert(!runs_on_accelerated_only(plain, accelerated, old));
    ck_assert(runs_on_accelerated_only(plain, accelerated, new));
    ck_assert(runs_on_accelerated_only((struct arch){90, 'f'}, accelerated, new));
    ck_assert(!runs_on_accelerated_only((struct arch){100, 'a'}, accelerated, new));
    ck_assert(!runs_on_accelerated_only(plain, (struct arch){90, 0}, new));
}

/* Which fixtures/members has not, as no ptxas of CUDA 13 makes it. */
TEST(code_for_sm_70_runs_on_sm_75_but_in_13_0)
{
    static const struct arch target = {75, 0};

    ck_assert(runs_on_sass(target, (struct arch){70, 0}, toolkits_find(129)));
    ck_assert(!runs_on_sass(target, (struct arch){70, 0}, toolkits_find(130)));
    ck_assert(runs_on_sass(target, (struct arch){70, 0}, toolkits_find(131)));
    ck_assert(!runs_on_sass(target, (struct arch){72, 0}, toolkits_newest()));
    ck_assert(!runs_on_sass((struct arch){80, 0}, (struct arch){70, 0}, toolkits_newest()));
}

TEST(a_number_may_have_become_another)
{
    ck_assert_uint_eq(runs_on_number(101, toolkits_find(129)), 101);
    ck_assert_uint_eq(runs_on_number(101, toolkits_find(130)), 110);
    ck_assert_uint_eq(runs_on_number(100, toolkits_newest()), 100);
}

TEST(code_may_be_too_old)
{
    ck_assert(!runs_on_made_by(90, 0) && !runs_on_made_by(90, 119));
    ck_assert(runs_on_made_by(90, 120) && runs_on_made_by(90, 999));
    ck_assert(runs_on_made_by(89, 1) && runs_on_made_by(100, 0));
}

TEST(libraries_refuse_what_linkers_take)
{
    const struct toolkit_facts *older = toolkits_find(130), *newer = toolkits_find(134);
    const struct arch plain = {90, 0}, accelerated = {90, 'a'};

    ck_assert(runs_on_library_leaves(plain, accelerated, true, older));
    ck_assert(!runs_on_library_leaves(plain, accelerated, false, older));
    ck_assert(!runs_on_library_leaves(accelerated, plain, true, older));
    ck_assert(!runs_on_library_leaves(plain, accelerated, true, newer));
    ck_assert(
        runs_on_library_leaves((struct arch){103, 'f'}, (struct arch){100, 'f'}, false, older));
    ck_assert(runs_on_library_leaves((struct arch){107, 0}, (struct arch){103, 0}, true, newer));
    ck_assert(!runs_on_library_leaves((struct arch){107, 0}, (struct arch){107, 0}, true, newer));
}
