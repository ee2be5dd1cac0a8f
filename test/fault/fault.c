/* fault.c: a library to load before a program (LD_PRELOAD), which makes one chosen call fail.
 *
 * The program is run again and again with another number, so that every place where memory, a
 * thread or the disk can fail is seen to fail once. Environment, each optional; N counts from 1
 * over all threads of the process, and a number that is never reached changes nothing:
 *     FAULT_ALLOCATION=N  the N-th allocation fails
 *     FAULT_THREAD=N      the N-th pthread_create fails
 *     FAULT_WRITE=N       the N-th step of writing fails: write, pwrite, pwritev, ftruncate,
 *                         fallocate, a shared writable mapping, fsync, rename, renameat2
 *     FAULT_READ=N        the N-th read of a file fails: read, pread
 *     FAULT_DESCRIPTOR=N  the N-th descriptor is not given: open, openat, fopen, opendir, pipe2,
 *                         socketpair, memfd_create, eventfd, fcntl
 *     FAULT_FOREVER=1     all later ones fail too
 *     FAULT_COUNT=FILE    "ALLOCATIONS THREADS WRITES READS DESCRIPTORS" goes there at exit
 *     FAULT_LEAKS=FILE    a line goes there at exit for each block that was not freed: its size and
 *                         who allocated it, as "object+offset" for addr2line
 * Children do not inherit any of it. A program may also find fault_arm() with dlsym. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* glibc's own names, which are there before dlsym can be used. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

struct fault {
    uint64_t wanted; /* 0 = none */
    atomic_uint_fast64_t count;
};

#define FRAMES   8
#define BLOCKS   (1u << 18)   /* most live blocks that are followed */
#define PLACES   (2 * BLOCKS) /* a power of two */
#define WAS_USED UINT32_MAX   /* a place whose block was freed */

struct block {
    uintptr_t address; /* 0 = free */
    uint32_t next;     /* the number of the next free one */
    size_t size;
    void *frames[FRAMES];
    int frame_count;
};

static struct fault allocations, threads, writes, reads, descriptors;
static bool is_forever, is_started;
static const char *count_file, *leaks_file;
/* Blocks are numbered from 1 on, and numbers are used again. A program is run some thousand times,
 * so that what follows its blocks stays on few pages, and the end looks at no more of them. */
static struct block *blocks;
static uint32_t *places; /* by address: a block's number, 0 or WAS_USED */
static uint32_t block_count, free_block;
static atomic_flag blocks_lock = ATOMIC_FLAG_INIT;
static __thread bool is_inside __attribute__((tls_model("initial-exec")));

static bool fails(struct fault *fault)
{
    uint64_t number;

    if (!is_started || is_inside)
        return false;
    number = atomic_fetch_add(&fault->count, 1) + 1;
    return fault->wanted && (is_forever ? number >= fault->wanted : number == fault->wanted);
}

/* For a program that lives through many faults: from now on the N-th allocation, thread or step of
 * writing fails, counted anew; 0 = none. Only to be called while there is one thread. */
void fault_arm(uint64_t allocation, uint64_t thread, uint64_t write_step);

void fault_arm(uint64_t allocation, uint64_t thread, uint64_t write_step)
{
    allocations.wanted = allocation;
    threads.wanted = thread;
    writes.wanted = write_step;
    atomic_store(&allocations.count, 0);
    atomic_store(&threads.count, 0);
    atomic_store(&writes.count, 0);
}

static uint64_t read_number(const char *name)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : 0;
}

static void lock_blocks(void)
{
    while (atomic_flag_test_and_set_explicit(&blocks_lock, memory_order_acquire))
        continue;
}

static void unlock_blocks(void)
{
    atomic_flag_clear_explicit(&blocks_lock, memory_order_release);
}

/* Neighbours in memory are neighbours in the table; each thread's heap begins elsewhere. */
static size_t place_of(uintptr_t address)
{
    return ((address >> 4) + (address >> 26) * 0x9e3779b1u) & (PLACES - 1);
}

/* The number of a block that is free, or 0. */
static uint32_t take_block(void)
{
    uint32_t number = free_block;

    if (number)
        free_block = blocks[number].next;
    else if (block_count + 1 < BLOCKS)
        number = ++block_count;
    return number;
}

static void *followed(void *address, size_t size)
{
    struct block new = {.address = (uintptr_t)address, .size = size};
    size_t place = place_of(new.address);
    uint32_t number;

    if (!address || !blocks || is_inside)
        return address;
    is_inside = true;
    new.frame_count = backtrace(new.frames, FRAMES);
    is_inside = false;
    lock_blocks();
    number = take_block();
    if (number) {
        while (places[place] && places[place] != WAS_USED)
            place = (place + 1) & (PLACES - 1);
        places[place] = number;
        blocks[number] = new;
    }
    unlock_blocks();
    return address;
}

static void forget(void *block)
{
    uintptr_t address = (uintptr_t)block;
    size_t place = place_of(address);

    if (!block || !blocks || is_inside)
        return;
    lock_blocks();
    for (size_t tries = 0; tries < PLACES && places[place]; tries++) {
        uint32_t number = places[place];

        if (number != WAS_USED && blocks[number].address == address) {
            places[place] = WAS_USED;
            blocks[number] = (struct block){.next = free_block};
            free_block = number;
            break;
        }
        place = (place + 1) & (PLACES - 1);
    }
    unlock_blocks();
}

static bool allocation_fails(void)
{
    bool is_failure = fails(&allocations);

    if (is_failure)
        errno = ENOMEM;
    return is_failure;
}

void *malloc(size_t size)
{
    if (allocation_fails())
        return NULL;
    return followed(__libc_malloc(size), size);
}

void *calloc(size_t count, size_t size)
{
    if (allocation_fails())
        return NULL;
    return followed(__libc_calloc(count, size), count * size);
}

void *realloc(void *block, size_t size)
{
    void *moved;

    if (allocation_fails())
        return NULL;
    forget(block); /* before another thread can be given its address */
    moved = __libc_realloc(block, size);
    return followed(moved ? moved : block, size) == moved ? moved : NULL;
}

void *memalign(size_t alignment, size_t size)
{
    if (allocation_fails())
        return NULL;
    return followed(__libc_memalign(alignment, size), size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

void free(void *block)
{
    forget(block);
    __libc_free(block);
}

/* The function that this library stands in front of. */
static void *next(const char *name)
{
    void *function;

    is_inside = true;
    function = dlsym(RTLD_NEXT, name);
    is_inside = false;
    return function;
}

/* A function that gives `failure` where `fails` holds, and is the one behind this library where it
 * does not. */
#define STAND_IN(type, name, parameters, arguments, fails, failure)                                \
    type name parameters                                                                           \
    {                                                                                              \
        type(*real) parameters = next(#name);                                                      \
                                                                                                   \
        return (fails) ? (failure) : real arguments;                                               \
    }

STAND_IN(int, pthread_create,
         (pthread_t * thread, const pthread_attr_t *attributes, void *(*function)(void *),
          void *argument),
         (thread, attributes, function, argument), fails(&threads), EAGAIN)

/* Only of regular files, memory files among them; fd -1 is a step that is none's. Messages, pipes
 * and event counters go on. */
static bool step_fails(struct fault *fault, int fd, int error)
{
    struct stat status;

    if (fd >= 0 && (fstat(fd, &status) || !S_ISREG(status.st_mode)))
        return false;
    if (!fails(fault))
        return false;
    errno = error;
    return true;
}

static bool disk_fails(int fd, int error)
{
    return step_fails(&writes, fd, error);
}

STAND_IN(ssize_t, read, (int fd, void *data, size_t size), (fd, data, size),
         step_fails(&reads, fd, EIO), -1)
STAND_IN(ssize_t, pread, (int fd, void *data, size_t size, off_t offset), (fd, data, size, offset),
         step_fails(&reads, fd, EIO), -1)
STAND_IN(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size),
         disk_fails(fd, ENOSPC), -1)
STAND_IN(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t offset),
         (fd, data, size, offset), disk_fails(fd, ENOSPC), -1)
STAND_IN(ssize_t, pwritev, (int fd, const struct iovec *vectors, int count, off_t offset),
         (fd, vectors, count, offset), disk_fails(fd, ENOSPC), -1)
STAND_IN(int, ftruncate, (int fd, off_t size), (fd, size), disk_fails(fd, ENOSPC), -1)
STAND_IN(int, fallocate, (int fd, int mode, off_t offset, off_t size), (fd, mode, offset, size),
         disk_fails(fd, ENOSPC), -1)
STAND_IN(int, posix_fallocate, (int fd, off_t offset, off_t size), (fd, offset, size),
         disk_fails(fd, ENOSPC), ENOSPC)
STAND_IN(int, fsync, (int fd), (fd), disk_fails(fd, EIO), -1)
STAND_IN(int, rename, (const char *from, const char *to), (from, to), disk_fails(-1, EIO), -1)
STAND_IN(int, renameat2,
         (int from_folder, const char *from, int to_folder, const char *to, unsigned flags),
         (from_folder, from, to_folder, to, flags), disk_fails(-1, EIO), -1)
STAND_IN(void *, mmap,
         (void *address, size_t size, int protection, int flags, int fd, off_t offset),
         (address, size, protection, flags, fd, offset),
         (flags & MAP_SHARED) && (protection & PROT_WRITE) && disk_fails(fd, ENOMEM), MAP_FAILED)

/* As when a process has as many files open as it may. */
static bool descriptor_fails(void)
{
    if (!fails(&descriptors))
        return false;
    errno = EMFILE;
    return true;
}

/* The mode of a file is only there where one is made. */
static mode_t mode_of(int flags, va_list rest)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    int (*real)(const char *, int, ...) = next("open");
    va_list rest;
    mode_t mode;

    va_start(rest, flags);
    mode = mode_of(flags, rest);
    va_end(rest);
    return descriptor_fails() ? -1 : real(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    int (*real)(int, const char *, int, ...) = next("openat");
    va_list rest;
    mode_t mode;

    va_start(rest, flags);
    mode = mode_of(flags, rest);
    va_end(rest);
    return descriptor_fails() ? -1 : real(folder, path, flags, mode);
}

/* Of what fcntl does, only copies are new descriptors. */
int fcntl(int fd, int command, ...)
{
    int (*real)(int, int, ...) = next("fcntl");
    va_list rest;
    void *argument;

    va_start(rest, command);
    argument = va_arg(rest, void *);
    va_end(rest);
    if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && descriptor_fails())
        return -1;
    return real(fd, command, argument);
}

STAND_IN(int, pipe2, (int fds[2], int flags), (fds, flags), descriptor_fails(), -1)
STAND_IN(int, socketpair, (int domain, int type, int protocol, int fds[2]),
         (domain, type, protocol, fds), descriptor_fails(), -1)
STAND_IN(int, memfd_create, (const char *name, unsigned flags), (name, flags), descriptor_fails(),
         -1)
STAND_IN(int, eventfd, (unsigned value, int flags), (value, flags), descriptor_fails(), -1)
STAND_IN(FILE *, fopen, (const char *path, const char *mode), (path, mode), descriptor_fails(),
         NULL)
STAND_IN(DIR *, opendir, (const char *path), (path), descriptor_fails(), NULL)

/* Streams' buffers and what the loader holds live until the end; they are nobody's fault. */
static bool is_libc_own(const struct block *block)
{
    Dl_info info;

    for (int i = 0; i < block->frame_count; i++) {
        if (!dladdr(block->frames[i], &info))
            continue;
        if (info.dli_sname && strcmp(info.dli_sname, "_IO_file_doallocate") == 0)
            return true;
        if (info.dli_fname && strstr(info.dli_fname, "/ld-linux"))
            return true;
    }
    return false;
}

static void write_leaks(FILE *file)
{
    for (uint32_t i = 1; i <= block_count; i++) {
        const struct block *block = &blocks[i];
        Dl_info info;

        if (!block->address || is_libc_own(block))
            continue;
        fprintf(file, "%zu bytes:", block->size);
        for (int j = 2; j < block->frame_count; j++) /* behind followed() and the allocator */
            if (dladdr(block->frames[j], &info))
                fprintf(file, " %s+0x%zx", info.dli_fname,
                        (size_t)((char *)block->frames[j] - (char *)info.dli_fbase) - 1);
        fputc('\n', file);
    }
}

__attribute__((destructor)) static void finish(void)
{
    FILE *file;

    is_inside = true;
    is_started = false;
    if (count_file && (file = fopen(count_file, "w")) != NULL) {
        fprintf(file, "%ju %ju %ju %ju %ju\n", (uintmax_t)allocations.count,
                (uintmax_t)threads.count, (uintmax_t)writes.count, (uintmax_t)reads.count,
                (uintmax_t)descriptors.count);
        fclose(file);
    }
    if (blocks && (file = fopen(leaks_file, "w")) != NULL) {
        write_leaks(file);
        fclose(file);
    }
}

static void *map_zeros(size_t size)
{
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return map == MAP_FAILED ? NULL : map;
}

__attribute__((constructor)) static void start(void)
{
    void *frames[FRAMES];

    is_inside = true;
    allocations.wanted = read_number("FAULT_ALLOCATION");
    threads.wanted = read_number("FAULT_THREAD");
    writes.wanted = read_number("FAULT_WRITE");
    reads.wanted = read_number("FAULT_READ");
    descriptors.wanted = read_number("FAULT_DESCRIPTOR");
    is_forever = read_number("FAULT_FOREVER") != 0;
    count_file = getenv("FAULT_COUNT");
    leaks_file = getenv("FAULT_LEAKS");
    unsetenv("LD_PRELOAD");
    if (leaks_file) {
        backtrace(frames, FRAMES); /* the first call loads a library */
        places = map_zeros(PLACES * sizeof *places);
        if (places)
            blocks = map_zeros(BLOCKS * sizeof *blocks);
    }
    is_inside = false;
    is_started = true;
}
