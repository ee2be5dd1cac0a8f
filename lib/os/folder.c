/* folder.c: mkdtemp, and a removal that a signal handler can do: it reads folders by system call,
 * since readdir may allocate. */
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"
#include "os/thread.h"

/* A link has a folder for a distributor, its output, lists and reports, and perhaps a kept file; a
 * process may have many links. */
#define SLOTS 1280

/* Milliseconds to wait for a file that is being created. */
#define PATIENCE 50

/* How deep nested folders are removed, the folder itself included; children make no nested ones. */
#define DEEPEST 17

static const char name[] = "/minilink-XXXXXX";

/* For the signal handler, which may not touch the heap: fixed storage. */
static _Atomic(char *) leftovers[SLOTS];
static atomic_bool is_ending;

/* A directory entry of getdents64(2). */
struct entry {
    uint64_t inode;
    int64_t next;
    unsigned short size;
    unsigned char type;
    char name[];
};

static void empty_folder(int directory, int depth);

/* Removes a file, or a folder with its contents. True when it is gone. */
static bool remove_entry(int directory, const char *entry, int depth)
{
    int inner;

    if (unlinkat(directory, entry, 0) == 0)
        return true;
    if (depth >= DEEPEST)
        return false;
    inner = openat(directory, entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner >= 0) {
        empty_folder(inner, depth + 1);
        close(inner);
    }
    return unlinkat(directory, entry, AT_REMOVEDIR) == 0;
}

/* Repeats until a pass removes nothing: a removal may hide other entries from the same pass. */
static void empty_folder(int directory, int depth)
{
    char block[4096] __attribute__((aligned(8)));
    bool has_removed = true;

    while (has_removed) {
        long got;

        has_removed = false;
        lseek(directory, 0, SEEK_SET);
        while ((got = syscall(SYS_getdents64, directory, block, sizeof block)) > 0)
            for (long at = 0; at < got;) {
                const struct entry *entry = (const struct entry *)(const void *)(block + at);

                at += entry->size;
                if (strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0)
                    has_removed |= remove_entry(directory, entry->name, depth);
            }
    }
}

/* What is noted but not there is about to be made by another thread, which is waited for. */
void leftover_remove_all(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    int saved = errno;

    atomic_store(&is_ending, true);
    for (int i = 0; i < SLOTS; i++) {
        const char *path = atomic_load(&leftovers[i]);

        for (int k = 0; k < PATIENCE && path && !remove_entry(AT_FDCWD, path, 0) &&
                        errno == ENOENT && atomic_load(&leftovers[i]) == path;
             k++)
            nanosleep(&moment, NULL);
    }
    errno = saved;
}

int leftover_note(char *path)
{
    for (int i = 0; i < SLOTS && !atomic_load(&is_ending); i++) {
        char *expected = NULL;

        if (atomic_compare_exchange_strong(&leftovers[i], &expected, path))
            return i;
    }
    return -1;
}

void leftover_forget(int slot)
{
    if (slot >= 0)
        atomic_store(&leftovers[slot], NULL);
}

/* Makes the folder inside of parent[0..size) and notes its name, with signals blocked: a handler
 * that ran between the two would leave it behind. */
static bool make_in(struct folder *folder, const char *parent, size_t size)
{
    /* A path that begins with a dash would be taken for an option. */
    size_t front = size > 0 && parent[0] == '-' ? 2 : 0;
    sigset_t before;
    int error = 0;

    folder->path = memory_alloc(front + size + sizeof name, 1);
    memcpy(folder->path, "./", front);
    memcpy(folder->path + front, parent, size);
    memcpy(folder->path + front + size, name, sizeof name);
    before = thread_block_signals();
    if (!mkdtemp(folder->path))
        error = errno;
    else if ((folder->slot = leftover_note(folder->path)) < 0)
        error = rmdir(folder->path) ? errno : EMFILE;
    thread_restore_signals(before);
    if (!error)
        return true;
    free(folder->path);
    *folder = (struct folder){0};
    errno = error;
    return false;
}

static bool make_beside(struct folder *folder, const char *output)
{
    struct output_target destination;
    const char *slash;

    if (!output_target_find(&destination, output) || destination.kind != OUTPUT_TARGET_FILE)
        return false;
    slash = strrchr(destination.path, '/');
    return slash ? make_in(folder, destination.path, (size_t)(slash - destination.path))
                 : make_in(folder, ".", 1);
}

bool folder_make(struct folder *folder, const char *beside)
{
    const char *temporary = getenv("TMPDIR");

    *folder = (struct folder){0};
    return (beside && make_beside(folder, beside)) ||
           (temporary && *temporary && make_in(folder, temporary, strlen(temporary))) ||
           make_in(folder, "/tmp", 4);
}

void folder_remove(void *argument)
{
    struct folder *folder = argument;

    if (!folder->path)
        return;
    remove_entry(AT_FDCWD, folder->path, 0);
    leftover_forget(folder->slot);
    free(folder->path);
    *folder = (struct folder){0};
}
