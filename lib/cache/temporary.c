/* temporary.c: file names with a random number, and a table of them that a signal handler can walk.
 *
 * The file is not flushed to disk: after a machine crash an entry may be incomplete, which reading
 * it detects. */
#include "cache/temporary.h"

#include "os/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* More than the number of threads that write at the same time, as a rule. A file without a slot is
 * not removed by a signal, but by a later pruning. */
#define SLOTS 64

enum {
    SLOT_FREE,
    SLOT_TAKEN,
    SLOT_OPENING, /* the name is set; the file may exist any moment */
    SLOT_SET,
};

/* Milliseconds to wait for a file that is being created. */
#define PATIENCE 50

static struct slot {
    atomic_int state;
    int folder;
    char name[sizeof((struct temporary){0}).name];
} slots[SLOTS];
static atomic_bool stopping;

/* Waits for a slot to leave SLOT_OPENING: its thread did not see `stopping` yet. If the signal
 * interrupted that very thread, it cannot continue, so the wait is limited. */
static int settled_state(const struct slot *slot)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    int state = atomic_load(&slot->state);

    for (int i = 0; i < PATIENCE && state == SLOT_OPENING; i++) {
        nanosleep(&moment, NULL);
        state = atomic_load(&slot->state);
    }
    return state;
}

void temporary_remove_all(void)
{
    atomic_store(&stopping, true);
    for (int i = 0; i < SLOTS; i++)
        if (settled_state(&slots[i]) >= SLOT_OPENING)
            unlinkat(slots[i].folder, slots[i].name, 0);
}

static int remember_temporary(const struct temporary *temporary)
{
    for (int i = 0; i < SLOTS; i++) {
        int expected = SLOT_FREE;

        if (!atomic_compare_exchange_strong(&slots[i].state, &expected, SLOT_TAKEN))
            continue;
        slots[i].folder = temporary->folder;
        memcpy(slots[i].name, temporary->name, sizeof slots[i].name);
        atomic_store(&slots[i].state, SLOT_OPENING);
        return i;
    }
    return -1;
}

static void set_state(const struct temporary *temporary, int state)
{
    if (temporary->slot >= 0)
        atomic_store(&slots[temporary->slot].state, state);
}

bool temporary_open(struct temporary *temporary, int folder, const char entry[ENTRY_NAME_SIZE])
{
    uint64_t number;

    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return false;
    *temporary = (struct temporary){.fd = -1, .folder = folder};
    snprintf(temporary->name, sizeof temporary->name, "%.33s.%016" PRIx64, entry, number);
    /* Before creating the file: a signal between the two steps must find the name. */
    temporary->slot = remember_temporary(temporary);
    if (atomic_load(&stopping))
        errno = EINTR;
    else
        temporary->fd = openat(folder, temporary->name,
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    set_state(temporary, temporary->fd < 0 ? SLOT_FREE : SLOT_SET);
    return temporary->fd >= 0;
}

bool temporary_append(struct temporary *temporary, struct bytes bytes)
{
    return descriptor_write(temporary->fd, bytes.data, bytes.size);
}

bool temporary_commit(struct temporary *temporary, const char entry[ENTRY_NAME_SIZE])
{
    int fd = temporary->fd;

    temporary->fd = -1;
    if (close(fd) || renameat(temporary->folder, temporary->name, temporary->folder, entry)) {
        temporary_abort(temporary);
        return false;
    }
    set_state(temporary, SLOT_FREE);
    return true;
}

void temporary_abort(struct temporary *temporary)
{
    int error = errno;

    unlinkat(temporary->folder, temporary->name, 0);
    if (temporary->fd >= 0)
        close(temporary->fd);
    set_state(temporary, SLOT_FREE);
    errno = error;
}
