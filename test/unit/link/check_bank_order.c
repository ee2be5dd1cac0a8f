/* check_bank_order.c: a program that is joined of chunks has the functions of the driver in the
 * order that its kernels' calls lead to. The cubins are ptxas's, of fixtures/exact/closed.ptx. */

#include "link/internal.h"
#include "files.h"
#include "suite.h"

/* In the order in which chunks declare them. The last kernel calls none, and brings the variable in
 * front of them; the one before it calls vprintf and free. */
static const struct {
    struct text functions[2];
    uint32_t count;
    const char *why;
} declared[] = {
    {{{"vprintf", 7}, {"free", 4}}, 2, NULL},
    {{{"free", 4}, {"vprintf", 7}},
     2,
     ".nv.constant4 has another order than the kernels' calls lead to"},
    {{{"vprintf", 7}}, 1, ".nv.constant4 has another order than the kernels' calls lead to"},
    {{{"vprintf", 7}}, 0, NULL}, /* nothing is looked at then */
};

TEST_LOOP(functions_have_the_order_of_the_calls, COUNT(declared))
{
    static struct text closing[] = {{"__minilink_closing_0", 20}, {"__minilink_closing_1", 20}};
    static struct chunk_symbol symbols[] = {{.name = {"ka", 2}},
                                            {.name = {"kc", 2}},
                                            {.name = {"vprintf", 7}},
                                            {.name = {"kb", 2}},
                                            {.name = {"kw", 2}}};
    static struct chunk_source sources[] = {
        {.is_kernel = true}, {.is_kernel = true}, {0}, {.is_kernel = true}, {.is_kernel = true}};
    struct buffer files[2] = {0}, image = {0};
    struct chunk_cubin list[2] = {0};
    OWNED(arena) arena = {0};
    struct text functions[2];
    struct chunks chunks = {.symbols = symbols,
                            .sources = sources,
                            .symbol_count = COUNT(symbols),
                            .bank4_kernels = closing,
                            .bank4_count = COUNT(closing),
                            .driver_functions = functions,
                            .driver_function_count = declared[_i].count};
    const char *why = NULL;
    bool ok;

    memcpy(functions, declared[_i].functions, sizeof functions);
    for (int i = 0; i < 2; i++) {
        files[i] = files_load(i == 0 ? "fixtures/exact/closed-sm_90-0.cubin"
                                     : "fixtures/exact/closed-sm_90-1.cubin");
        list[i].data = (uint8_t *)files[i].data;
        list[i].size = files[i].size;
    }
    ok = joined_program_make(&image, &chunks, &(struct cubins){.list = list, .count = 2}, &arena,
                             &why);
    ck_assert_msg(ok == !declared[_i].why, "%s", why);
    if (!ok)
        ck_assert_str_eq(why, declared[_i].why);
    for (int i = 0; i < 2; i++)
        buffer_free(&files[i]);
    buffer_free(&image);
}
