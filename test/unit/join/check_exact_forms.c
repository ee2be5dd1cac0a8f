/* Joining what ptxas of several toolkits makes for several targets (fixtures/exact/forms.zst): the
 * bytes of the unsplit program. */

#include <zstd.h>

#include "join/join.h"
#include "files.h"
#include "suite.h"

/* Of fixtures/exact/remake-forms. The last is of 13.4 for sm_110, which cannot be joined. */
#define SETS  11
#define UNSET (SETS - 1)

/* The programs of a set, in the order of the kernels' text. */
static const struct {
    const char *kernels[4];
    size_t kernel_count;
    const char *left_out[2];
    size_t left_out_count;
    size_t lines;
} programs[] = {
    {{"ka", "kb", "kc", "kd"}, 4, {"__minilink_closing_0", "__minilink_closing_1"}, 2, 0},
    {{"ka", "kb", "kc"}, 3, {NULL}, 0, 48},
};

#define FILES 3 /* of a program: the whole, and two chunks */

static struct buffer packed;
static struct bytes files[SETS][COUNT(programs)][FILES];
static struct buffer image;
static struct exact_join_difference why;

void set_up(void)
{
    struct buffer file = files_load("fixtures/exact/forms.zst");
    size_t size = (size_t)ZSTD_getFrameContentSize(file.data, file.size), at = 0;
    char *data = malloc(size);

    ck_assert_uint_eq(ZSTD_decompress(data, size, file.data, file.size), size);
    for (size_t i = 0; i < SETS * COUNT(programs) * FILES; i++) {
        uint32_t count;

        memcpy(&count, data + at, sizeof count);
        at += sizeof count;
        files[i / FILES / COUNT(programs)][i / FILES % COUNT(programs)][i % FILES] =
            (struct bytes){(const uint8_t *)data + at, count};
        at += count;
    }
    ck_assert_uint_eq(at, size);
    buffer_free(&file);
    packed = (struct buffer){.data = data, .size = size};
}

void tear_down(void)
{
    free(packed.data);
    buffer_free(&image);
}

/* Joins a program's chunks, the second first if they are swapped. */
static bool join(size_t program, const struct bytes list[FILES], bool is_swapped)
{
    struct bytes chunks[2] = {list[1 + !is_swapped], list[1 + is_swapped]};
    struct text kernels[4], left_out[2];
    struct exact_join_request request = {.chunks = chunks,
                                         .count = 2,
                                         .kernels = kernels,
                                         .kernel_count = programs[program].kernel_count,
                                         .left_out = left_out,
                                         .left_out_count = programs[program].left_out_count,
                                         .line_count = programs[program].lines};

    for (size_t i = 0; i < request.kernel_count; i++)
        kernels[i] = text_of(programs[program].kernels[i]);
    for (size_t i = 0; i < programs[program].left_out_count; i++)
        left_out[i] = text_of(programs[program].left_out[i]);
    image.size = 0;
    return exact_join(&image, &request, &why);
}

TEST_LOOP(chunks_of_all_toolkits_become_the_whole, UNSET)
{
    for (size_t program = 0; program < COUNT(programs); program++)
        for (int swapped = 0; swapped < 2; swapped++) {
            const struct bytes *list = files[_i][program];

            ck_assert_msg(join(program, list, swapped), "%.*s: %s", TEXT_ARG(why.section),
                          why.what);
            ck_assert_uint_eq(image.size, list[0].size);
            ck_assert_mem_eq(image.data, list[0].data, list[0].size);
        }
}

/* Chunks of different toolkits are not joined: not of the same form, or of different notes. */
TEST_LOOP(chunks_of_different_forms_are_not_joined, SETS)
{
    for (size_t other = 0; other < SETS; other++) {
        struct bytes list[FILES] = {{0}, files[_i][0][1], files[other][0][2]};

        if (other != (size_t)_i)
            ck_assert(!join(0, list, false));
    }
}

/* A writable copy of a program's files, with the same bytes changed in both chunks. */
static void change(struct bytes list[FILES], const char *from, const char *to, size_t size)
{
    for (size_t i = 1; i < FILES; i++) {
        char *copy = malloc(list[i].size), *at;

        memcpy(copy, list[i].data, list[i].size);
        at = memmem(copy, list[i].size, from, size);
        ck_assert_ptr_nonnull(at);
        memcpy(at, to, size);
        list[i].data = (const uint8_t *)copy;
    }
}

/* What no known ptxas writes. */
static const struct {
    const char *from, *to;
    size_t size;
} changes[] = {
    /* Rewritten names that do not end with zeros, or of which one is longer. */
    {".nv.merc.nv.shared.reserved.0\0\0", ".nv.merc.nv.shared.reserved.0\0x", 31},
    {".shstrtab\0.strtab\0", ".shstrtab\0.strtab.", 18},
};

TEST_LOOP(what_no_known_ptxas_writes_is_not_joined, COUNT(changes))
{
    struct bytes list[FILES];

    /* Of 13.5, for sm_100. */
    memcpy(list, files[7][0], sizeof list);
    change(list, changes[_i].from, changes[_i].to, changes[_i].size);
    ck_assert(!join(0, list, false));
    free((void *)(uintptr_t)list[1].data);
    free((void *)(uintptr_t)list[2].data);
}

/* The contents of the first section of a type. Headers may stand at any place. */
static uint8_t *find_contents(struct bytes file, uint32_t type)
{
    Elf64_Ehdr elf;
    Elf64_Shdr header;

    memcpy(&elf, file.data, sizeof elf);
    for (size_t i = 0; i < elf.e_shnum; i++) {
        memcpy(&header, file.data + elf.e_shoff + i * sizeof header, sizeof header);
        if (header.sh_type == type && header.sh_size >= 16)
            return (uint8_t *)(uintptr_t)file.data + header.sh_offset;
    }
    ck_abort_msg("no section of type %#x", type);
}

/* Mercury's call graph, with an edge from or to what is no symbol. */
TEST_LOOP(edges_of_no_symbol_are_not_joined, 3)
{
    static const uint32_t edges[][2] = {{INT32_MAX, 1}, {1, INT32_MAX}, {0, 1}};
    struct bytes list[FILES];

    /* Of 13.5, for sm_100. */
    memcpy(list, files[7][0], sizeof list);
    change(list, ".shstrtab", ".shstrtab", 9); /* as it is: copies */
    memcpy(find_contents(list[1], SHT_CUDA_MERC_CALLGRAPH) + 8, edges[_i], sizeof edges[_i]);
    ck_assert(!join(0, list, false));
    ck_assert_str_eq(why.what, "has an edge of no function");
    free((void *)(uintptr_t)list[1].data);
    free((void *)(uintptr_t)list[2].data);
}

/* What ptxas did not set in a chunk is something else in the whole. */
TEST(memory_that_was_not_set_is_not_joined)
{
    ck_assert(!join(0, files[UNSET][0], false));
    ck_assert_str_eq(why.what, "holds memory that the assembler never set");
}
