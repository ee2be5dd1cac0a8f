/* check_whole_program.c: an executable cubin is taken over as it is, but for names that are changed
 * back. */

#include "link/internal.h"
#include "files.h"
#include "suite.h"

static struct buffer file;
static struct merge_report report;

void set_up(void)
{
    file = files_load("fixtures/fatbin/c.linked.cubin");
}

void tear_down(void)
{
    buffer_free(&file);
    merge_report_free(&report);
}

static bool take(struct chunk_symbol *symbol)
{
    struct chunks chunks = {.symbols = symbol, .symbol_count = symbol ? 1 : 0};
    bool ok;

    if (symbol)
        table_add(&chunks.changed, symbol->name, 0);
    ok = whole_program_take(file.data, file.size, "chunk 0", &chunks, &report);
    table_free(&chunks.changed);
    return ok;
}

/* Whether the file has a symbol of that name now. */
static bool has_symbol(struct text name)
{
    OWNED(cubin) cubin = {0};
    bool found = false;

    ck_assert(cubin_read(&cubin, "again", buffer_bytes(&file)));
    for (size_t i = 1; i < cubin.symbol_count; i++)
        found |= cubin.symbols[i].type != 3 && text_equal(cubin.symbols[i].name, name);
    return found;
}

TEST(only_executables_are_finished)
{
    ck_assert(whole_program_is(buffer_bytes(&file)));
    ck_assert(!whole_program_is((struct bytes){(const uint8_t *)file.data, 63}));
    file.data[16] = 1; /* ET_REL */
    ck_assert(!whole_program_is(buffer_bytes(&file)));
}

TEST(the_form_is_the_one_that_is_wanted)
{
    static const struct {
        uint8_t osabi;
        enum merge_abi wanted;
        bool has_it;
    } forms[] = {
        {0x41, MERGE_ABI_8, true},  {0x41, MERGE_ABI_7, false},   {0x33, MERGE_ABI_7, true},
        {0x33, MERGE_ABI_8, false}, {0x41, MERGE_ABI_AUTO, true}, {0x33, MERGE_ABI_AUTO, true},
    };

    for (int i = 0; i < COUNT(forms); i++) {
        file.data[7] = (char)forms[i].osabi;
        ck_assert(whole_program_has_abi(buffer_bytes(&file), forms[i].wanted) == forms[i].has_it);
    }
}

TEST(nothing_changes_without_changed_names)
{
    FREED char *before = malloc(file.size);

    memcpy(before, file.data, file.size);
    ck_assert(take(NULL));
    ck_assert_int_eq(memcmp(before, file.data, file.size), 0);
}

TEST(kernels_are_reported)
{
    ck_assert(take(NULL));
    ck_assert_uint_ge(report.kernel_count, 1);
    for (size_t i = 0; i < report.kernel_count; i++) {
        ck_assert(report.kernels[i].is_kernel);
        ck_assert_uint_gt(report.kernels[i].name.size, 0);
        ck_assert_uint_gt(report.kernels[i].registers, 0);
        ck_assert_uint_gt(report.kernels[i].constant0, 0);
    }
}

TEST(a_changed_name_is_changed_back)
{
    struct text name, own;
    struct chunk_symbol symbol;

    ck_assert(take(NULL));
    name = report.kernels[0].name;
    ck_assert_uint_gt(name.size, 4);
    own = (struct text){name.data, name.size - 3};
    ck_assert(has_symbol(name));
    symbol = (struct chunk_symbol){.name = name, .own_name = own};
    ck_assert(take(&symbol));
    ck_assert(!has_symbol(name));
    ck_assert(has_symbol(own));
}

/* A copy of a function in a kernel is called "$<kernel>$<function>". */
TEST(a_copys_name_is_changed_back)
{
    struct chunk_symbol symbol = {.name = TEXT("f$ml12"), .own_name = TEXT("f")};
    struct text name, left;
    char *at;

    ck_assert(take(NULL));
    name = report.kernels[0].name;
    ck_assert_uint_gt(name.size, 10);
    /* Every place where the kernel's name stands becomes "$kkk...$f$ml12". */
    for (size_t i = 0; i + name.size < file.size; i++) {
        at = file.data + i;
        if (memcmp(at, name.data, name.size) != 0 || at[name.size] != '\0')
            continue;
        memset(at, 'k', name.size);
        at[0] = '$';
        memcpy(at + name.size - 7, "$f$ml12", 7);
    }
    ck_assert(take(&symbol));
    at = malloc(name.size);
    memset(at, 'k', name.size);
    at[0] = '$';
    memcpy(at + name.size - 7, "$f", 2);
    left = (struct text){at, name.size - 5};
    ck_assert(has_symbol(left));
    free(at);
}

TEST(damage_is_refused)
{
    file.size = file.size / 2;
    ck_assert(!take(NULL));
}
