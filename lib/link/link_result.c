/* link_result.c: rows and names, out of what ends with the link. */
#include "link/link_result.h"

void link_result_fill(struct link_product *product, const struct merge_report *report)
{
    struct arena *arena = &product->arena;

    product->size = product->bytes.size;
    buffer_char(&product->bytes, '\0');
    product->kernels = arena_alloc(arena, report->kernel_count, sizeof *product->kernels);
    for (size_t i = 0; i < report->kernel_count; i++)
        product->kernels[product->kernel_count++] = (struct link_result_kernel){
            arena_string(arena, report->kernels[i].name), report->kernels[i]};
}

void link_result_free(struct link_product *product)
{
    buffer_free(&product->bytes);
    buffer_free(&product->chunk);
    arena_free(&product->arena);
    *product = (struct link_product){0};
}
