/* check_output.c: large files take the place of others as small ones do. */
#include "output/output.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/file.h"
#include "suite.h"

#define LARGE (3u << 20)

static char folder[32], path[sizeof folder + 8];

void set_up(void)
{
    strcpy(folder, "/tmp/check_output.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out", folder);
}

void tear_down(void)
{
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else was left there */
}

/* Writes a file of `size` bytes `c` and looks at what is there then. */
static void check_write(size_t size, uint8_t c)
{
    FREED uint8_t *bytes = malloc(size);
    FILE *file;

    memset(bytes, c, size);
    ck_assert(output_write_file(path, (struct bytes){bytes, size}));
    memset(bytes, 0, size);
    file = fopen(path, "rb");
    ck_assert_uint_eq(fread(bytes, 1, size, file), size);
    ck_assert_int_eq(fgetc(file), EOF);
    fclose(file);
    ck_assert_uint_eq(bytes[0], c);
    ck_assert_uint_eq(bytes[size - 1], c);
}

static unsigned mask_changes;

/* The C library's, which would change the mask of other threads' files, too. */
mode_t umask(mode_t mask)
{
    mask_changes++;
    return (mode_t)syscall(SYS_umask, mask);
}

TEST(a_file_has_the_mode_that_the_mask_leaves_and_the_mask_stays)
{
    mode_t before = umask(027);
    struct stat status;

    mask_changes = 0;
    ck_assert(output_write_file(path, (struct bytes){(const uint8_t *)"x", 1}));
    ck_assert_uint_eq(mask_changes, 0);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0640);
    umask(before);
}

TEST(files_of_all_sizes_replace_each_other)
{
    check_write(LARGE, 1);
    check_write(LARGE, 2);
    check_write(5, 3);
    check_write(LARGE + 1, 4);
    check_write(1, 5);
}

/* Another link to the old file keeps what it had. */
TEST(the_old_file_is_replaced_and_not_written)
{
    char other[sizeof path + 8];
    struct stat status;

    snprintf(other, sizeof other, "%s.old", path);
    check_write(LARGE, 1);
    ck_assert_int_eq(link(path, other), 0);
    check_write(LARGE + 7, 2);
    ck_assert_int_eq(stat(other, &status), 0);
    ck_assert_int_eq(status.st_size, LARGE);
    ck_assert_uint_eq(status.st_nlink, 1);
    unlink(other);
}

TEST(what_is_given_up_leaves_the_old_file)
{
    static const uint8_t bytes[2u << 20];
    struct output output;
    struct stat status;

    check_write(LARGE, 1);
    ck_assert(output_open(&output, path));
    ck_assert(output_append(&output, (struct bytes){bytes, sizeof bytes}));
    output_abort(&output);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(status.st_size, LARGE);
}

/* As a signal's handler does. */
TEST(the_temporaries_of_all_open_outputs_are_removed)
{
    struct output outputs[3];

    for (size_t i = 0; i < COUNT(outputs); i++)
        ck_assert(output_open(&outputs[i], path));
    leftover_remove_all();
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    for (size_t i = 0; i < COUNT(outputs); i++)
        output_abort(&outputs[i]);
}
