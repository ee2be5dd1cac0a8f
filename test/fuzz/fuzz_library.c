/* fuzz_library.c: a link by calls.
 *
 * The first byte chooses options, the second the number of inputs but one; each input is a byte
 * that says what it is said to be, and a part. The same link is made twice. */
#include "minilink/minilink.h"
#include "fuzz.h"

#define MOST_INPUTS 4

/* What is chosen by one bit each. */
static const char *const choices[] = {
    "-emit-ptx",
    "-r",
    "-g",
    "-split-compile-extended=2",
    "-v",
    "-lto",
    "-ignore-host-info",
    "-kernels-used=k,main",
};

static struct minilink *begin(uint8_t chosen)
{
    const char *options[4 + sizeof choices / sizeof *choices] = {
        "-arch=sm_90", "--lto-source=ptx", "--decompression-limit=4", "--minimum-chunk=1"};
    struct minilink *link;
    size_t count = 4;

    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (chosen >> i & 1)
            options[count++] = choices[i];
    if (minilink_create(&link, options, count) != MINILINK_OK)
        abort();
    return link;
}

static void add(struct minilink *link, struct bytes *rest)
{
    uint8_t input = fuzz_byte(rest) % (MINILINK_INPUT_ARCHIVE + 2u);
    struct bytes part = fuzz_part(rest);
    int code = minilink_add_data(link, (enum minilink_input)input, part.data, part.size, NULL);

    if (code != MINILINK_OK && code != MINILINK_WRONG_INPUT && input <= MINILINK_INPUT_ARCHIVE)
        abort();
}

/* What there is of a result has all that is promised of it. */
static void check(const struct minilink *link, int code)
{
    size_t size, ptx_size, log_size;
    const void *cubin = minilink_cubin(link, &size);
    const char *ptx = minilink_ptx(link, &ptx_size), *log = minilink_error_log(link, &log_size);
    struct minilink_kernel kernel;

    if ((code == MINILINK_OK) != (cubin || ptx) || (cubin && ptx) || (cubin != NULL) != (size > 0))
        abort();
    if ((code != MINILINK_OK && log_size == 0) || strlen(log) > log_size)
        abort();
    if (ptx && ptx[ptx_size] != '\0')
        abort();
    for (size_t i = 0; i < minilink_kernel_count(link); i++)
        if (minilink_kernel(link, i, &kernel, sizeof kernel) != MINILINK_OK || !kernel.name)
            abort();
}

static struct minilink *link_all(struct bytes rest, int *code)
{
    struct minilink *link = begin(fuzz_byte(&rest));
    size_t count = fuzz_byte(&rest) % MOST_INPUTS + 1u;

    for (size_t i = 0; i < count; i++)
        add(link, &rest);
    *code = minilink_complete(link);
    check(link, *code);
    return link;
}

static bool are_equal(const void *one, size_t size, const void *other, size_t other_size)
{
    return size == other_size && (size == 0 || memcmp(one, other, size) == 0);
}

static void fuzz(struct bytes rest)
{
    struct minilink *links[2];
    size_t sizes[2];
    int codes[2];
    const char *bytes[2];

    for (int i = 0; i < 2; i++) {
        links[i] = link_all(rest, &codes[i]);
        bytes[i] = minilink_cubin(links[i], &sizes[i]);
        if (!bytes[i])
            bytes[i] = minilink_ptx(links[i], &sizes[i]);
    }
    if (codes[0] != codes[1] || !are_equal(bytes[0], sizes[0], bytes[1], sizes[1]) ||
        strcmp(minilink_error_log(links[0], NULL), minilink_error_log(links[1], NULL)) != 0 ||
        strcmp(minilink_info_log(links[0], NULL), minilink_info_log(links[1], NULL)) != 0)
        abort();
    minilink_destroy(&links[0]);
    minilink_destroy(&links[1]);
}
