/* check_library_folders.c: folders that are read find what asking for every path finds. */
#include "input/library_folders.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"

#define FOLDERS 12u
#define NAMES   10u

static char root[sizeof "/tmp/minilink-check-XXXXXX"];
static char path_texts[FOLDERS + 3][64];
static const char *paths[FOLDERS + 3];
static size_t asked;

/* In place of the C library's. */
int stat(const char *restrict path, struct stat *restrict status)
{
    asked++;
    return fstatat(AT_FDCWD, path, status, 0);
}

static void name_of(char *name, unsigned number)
{
    sprintf(name, "lib%u.%s", number / 2, number % 2 ? "a" : "so");
}

/* Folders with some of the names, as files, folders, and links to nothing. Among the paths are
 * one that is not there, a file, and a folder for the second time. */
void set_up(void)
{
    char path[1100], name[32];

    strcpy(root, "/tmp/minilink-check-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    for (unsigned i = 0; i < FOLDERS; i++) {
        snprintf(path_texts[i], sizeof path_texts[i], "%s/%u", root, i);
        ck_assert_int_eq(mkdir(path_texts[i], 0700), 0);
        for (unsigned j = 0; j < NAMES; j++) {
            unsigned kind = (i * 7 + j * j * 3 + i * j) % 9;

            name_of(name, j);
            snprintf(path, sizeof path, "%s/%s", path_texts[i], name);
            if (kind == 0)
                ck_assert_int_ge(close(open(path, O_CREAT | O_WRONLY, 0600)), 0);
            else if (kind == 1)
                ck_assert_int_eq(mkdir(path, 0700), 0);
            else if (kind == 2)
                ck_assert_int_eq(symlink("nowhere", path), 0);
        }
    }
    snprintf(path_texts[FOLDERS], sizeof path_texts[0], "%s/missing", root);
    snprintf(path_texts[FOLDERS + 1], sizeof path_texts[0], "%s/0/lib0.so", root);
    snprintf(path_texts[FOLDERS + 2], sizeof path_texts[0], "%s/../%s/3", root, strrchr(root, '/'));
    for (unsigned i = 0; i < FOLDERS + 3; i++)
        paths[i] = path_texts[(i * 7) % (FOLDERS + 3)];
}

void tear_down(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -rf '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

static void expect_equal(struct library_folders *first, struct library_folders *second,
                         struct arena *arena, const char *name)
{
    const size_t count = FOLDERS + 3;
    const char *a = library_folders_find(first, arena, paths, count, name);
    const char *b = library_folders_find(second, arena, paths, count, name);

    ck_assert_msg(!a == !b && (!a || strcmp(a, b) == 0), "%s: %s, %s", name, a ? a : "none",
                  b ? b : "none");
}

static void compare(void)
{
    struct library_folders asking = {0}, reading = {.looks = LIBRARY_FOLDERS_LOOKS};
    struct arena arena = {0};
    char name[32];

    for (unsigned i = 0; i < NAMES; i++) {
        name_of(name, i);
        expect_equal(&asking, &reading, &arena, name);
    }
    expect_equal(&asking, &reading, &arena, "");
    expect_equal(&asking, &reading, &arena, ".");
    expect_equal(&asking, &reading, &arena, "no-such");
    expect_equal(&asking, &reading, &arena, "../1/lib2.so");
    ck_assert(reading.are_read && !asking.are_read);
    library_folders_cleanup(&asking);
    library_folders_cleanup(&reading);
    arena_free(&arena);
}

TEST(the_same_files_are_found)
{
    compare();
}

/* For root no folder is unreadable: as anyone else. */
TEST(files_of_folders_that_may_not_be_listed_are_found_too)
{
    for (unsigned i = 0; i < FOLDERS; i++) {
        ck_assert_int_eq(chmod(path_texts[i], i % 3 ? 0700 : 0311), 0);
        ck_assert(geteuid() != 0 || chown(path_texts[i], 65534, 65534) == 0);
    }
    ck_assert(geteuid() != 0 || chown(root, 65534, 65534) == 0);
    ck_assert(geteuid() != 0 || seteuid(65534) == 0);
    compare();
    ck_assert(getuid() != 0 || seteuid(0) == 0);
    for (unsigned i = 0; i < FOLDERS; i++)
        ck_assert_int_eq(chmod(path_texts[i], 0700), 0);
}

TEST(thousands_of_libraries_do_not_ask_for_each_path)
{
    struct library_folders folders = {0};
    struct arena arena = {0};
    char name[32];

    asked = 0;
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "libmissing%u.a", i);
        ck_assert_ptr_null(library_folders_find(&folders, &arena, paths, FOLDERS + 3, name));
    }
    ck_assert_uint_gt(asked, 0);
    ck_assert_uint_le(asked, LIBRARY_FOLDERS_LOOKS + FOLDERS + 3);
    library_folders_cleanup(&folders);
    arena_free(&arena);
}
