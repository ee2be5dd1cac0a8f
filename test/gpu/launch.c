/* launch.c: whether cubins compute the same.
 *
 *     gpu_launch --arch                     prints the device's sm_NN
 *     gpu_launch ONE.cubin OTHER.cubin...
 *
 * Every kernel of ONE is launched from all, with the same inputs: with one thread, then with a
 * warp. Where something differs, both are launched again, each in a context of its own, in which no
 * earlier kernel has left anything. Compared are the driver's error, the buffers that the
 * parameters point to, the visible variables of the module afterwards, and what the kernel printed.
 * What a kernel stores of addresses is compared like all else: cubins of the same layout have the
 * same. A kernel that does not end is not compared. Exit status: 0 the same, 1 different, 2
 * unreadable input, 77 no device. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "cubin/format.h"
#include "worker.h"

#define WARP 32u

/* What is compared, and with what. */
struct test {
    struct images images;
    struct worker worker;
    unsigned kernels;
    unsigned launches; /* of the first image */
    unsigned errors;   /* of those */
    bool is_same;
};

/* Where two texts or memories differ; false where they do not. */
static bool differs(const char *what, const struct buffer *one, const struct buffer *two)
{
    size_t at = 0, size = one->size < two->size ? one->size : two->size;

    if (one->size != two->size) {
        printf("%zu bytes of %s, but %zu\n", one->size, what, two->size);
        return true;
    }
    while (at < size && one->data[at] == two->data[at])
        at++;
    if (at == size)
        return false;
    printf("byte %zu of %s differs:", at, what);
    for (size_t i = at & ~(size_t)7; i < size && i < (at & ~(size_t)7) + 8; i++)
        printf(" %02x/%02x", (unsigned char)one->data[i], (unsigned char)two->data[i]);
    printf("\n");
    return true;
}

static bool compare(const struct outcome *one, const struct outcome *two)
{
    if (one->error != two->error || strcmp(one->step, two->step) != 0) {
        printf("%s: %s, but %s: %s\n", one->step, one->reason, two->step, two->reason);
        return false;
    }
    if (differs("memory", &one->memory, &two->memory) || differs("text", &one->text, &two->text))
        return false;
    printf("same (%s)\n", one->error ? one->reason : "ran");
    return true;
}

/* Whether images[i] does what the first one did. */
static bool test_image(struct test *test, size_t i, const struct outcome *wanted,
                       const struct shape *shape, unsigned block)
{
    struct outcome got = {0}, wanted_alone = {0};
    bool is_same;

    worker_launch(&test->worker, &got, i, shape, block);
    if (!outcome_equals(wanted, &got)) {
        outcome_free(&got);
        worker_stop(&test->worker);
        worker_launch(&test->worker, &wanted_alone, 0, shape, block);
        worker_stop(&test->worker);
        worker_launch(&test->worker, &got, i, shape, block);
        wanted = &wanted_alone;
    }
    printf("%s, %u threads, %s: ", shape->name, block, test->images.all[i].path);
    is_same = compare(wanted, &got);
    outcome_free(&got);
    outcome_free(&wanted_alone);
    return is_same;
}

static void test_launch(struct test *test, const struct shape *shape, unsigned block)
{
    struct outcome wanted = {0};

    worker_launch(&test->worker, &wanted, 0, shape, block);
    test->launches++;
    test->errors += wanted.error != 0;
    if (wanted.step == worker_lost)
        printf("%s, %u threads: does not end\n", shape->name, block);
    for (size_t i = 1; i < test->images.count && wanted.step != worker_lost; i++)
        test->is_same &= test_image(test, i, &wanted, shape, block);
    outcome_free(&wanted);
}

static void test_all(struct test *test)
{
    const struct cubin *cubin = &test->images.all[0].cubin;
    static struct shape shape;

    for (uint32_t i = 1; i < cubin->symbol_count; i++) {
        const struct cubin_symbol *symbol = &cubin->symbols[i];

        if (symbol->type != STT_FUNC || !(symbol->other & STO_CUDA_ENTRY))
            continue;
        shape_read(&shape, cubin, i);
        test_launch(test, &shape, shape.block ? shape.block : 1);
        if (!shape.block)
            test_launch(test, &shape, WARP);
        test->kernels++;
    }
    worker_stop(&test->worker);
}

static void print_arch(void)
{
    struct driver driver;
    const char *why;
    int device, major = 0, minor = 0;

    if (!driver_open(&driver, &device, &why)) {
        printf("no GPU: %s\n", why);
        exit(77);
    }
    driver.device_attribute(&major, DRIVER_MAJOR, device);
    driver.device_attribute(&minor, DRIVER_MINOR, device);
    printf("sm_%d%d\n", major, minor);
}

static enum link_code run_test(void *argument)
{
    char **paths = argument;
    struct test test = {.is_same = true};

    while (paths[test.images.count])
        test.images.count++;
    test.images.all = calloc(test.images.count, sizeof *test.images.all);
    for (size_t i = 0; i < test.images.count; i++)
        if (!test.images.all || !image_read(&test.images.all[i], paths[i]))
            exit(2);
    test.worker.images = &test.images;
    test_all(&test);
    printf("%u kernels, %u launches, %u of them errors: %s\n", test.kernels, test.launches,
           test.errors, test.is_same ? "the same" : "different");
    exit(!test.is_same);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 2 && strcmp(argv[1], "--arch") == 0) {
        print_arch();
        return 0;
    }
    if (argc < 3) {
        fputs("usage: gpu_launch --arch | ONE.cubin OTHER.cubin...\n", stderr);
        return 2;
    }
    return (int)context_run(run_test, argv + 1);
}
