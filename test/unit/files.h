/* files.h: what several tests do with files. */
#pragma once

#include <check.h>
#include <dirent.h>
#include <elf.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "base/memory.h"

/* The contents of a file that must be there; freed by the caller. */
static inline struct buffer files_load(const char *path)
{
    struct buffer buffer = {0};
    char block[4096];
    FILE *file = fopen(path, "rb");
    size_t got;

    ck_assert_msg(file != NULL, "%s", path);
    while ((got = fread(block, 1, sizeof block, file)) > 0)
        buffer_append(&buffer, block, got);
    fclose(file);
    return buffer;
}

/* Writes a file, which need not be there. */
static inline void files_save(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wbe");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(data, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

/* Section headers as ptxas 13.5 may place them, at any byte. */
typedef Elf64_Shdr files_header __attribute__((aligned(1)));

/* The section header of the first section with that name in an ELF file. */
static inline Elf64_Shdr *files_header_of(struct buffer *file, const char *name)
{
    Elf64_Ehdr *elf = (Elf64_Ehdr *)(void *)file->data;
    files_header *headers = (files_header *)(void *)(file->data + elf->e_shoff);

    for (size_t i = 1; i < elf->e_shnum; i++)
        if (strcmp(file->data + headers[1].sh_offset + headers[i].sh_name, name) == 0)
            return (Elf64_Shdr *)(void *)&headers[i];
    ck_abort_msg("no section %s", name);
}

static inline int files_remove_one(const char *path, const struct stat *status, int kind,
                                   struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

/* Removes a folder with all that is in it. */
static inline void files_remove_folder(const char *folder)
{
    nftw(folder, files_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* How many descriptors the process has, give or take the same few each time. */
static inline int files_count_open(void)
{
    DIR *open_files = opendir("/proc/self/fd");
    int count = 0;

    while (readdir(open_files))
        count++;
    closedir(open_files);
    return count;
}

/* Waits, until the test's own time is over, until there is no such process that has not ended: one
 * that has may wait for ever for the first process of a container to look at it. */
static inline void files_await_end(long pid)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    char path[64], state = 'R';

    ck_assert_int_gt(pid, 1);
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    while (state != 'Z' && state != 'X') {
        FILE *file = fopen(path, "re");

        nanosleep(&moment, NULL);
        if (!file || fscanf(file, "%*d %*s %c", &state) != 1)
            state = 'X';
        if (file)
            fclose(file);
    }
}
