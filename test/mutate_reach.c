/* mutate_reach.c: records which functions a test calls, for test/mutate.
 *
 * Linked into each program and shared object that was compiled with -finstrument-functions. Where
 * MINILINK_REACH names a folder, the file there that has the object's name gets a byte of 1 at the
 * offset of each function that was entered. All processes of a test share the file by mapping it,
 * so that nothing is lost when one is killed. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function, visibility("hidden")))

void __cyg_profile_func_enter(void *function, void *site) UNSEEN;
void __cyg_profile_func_exit(void *function, void *site) UNSEEN;

extern const char __ehdr_start __attribute__((visibility("hidden")));
extern const char _end __attribute__((visibility("hidden")));
static volatile char *entered;

__attribute__((constructor, no_instrument_function)) static void reach_open(void)
{
    const char *folder = getenv("MINILINK_REACH");
    Dl_info object;
    char path[4096];

    if (!folder || !dladdr(&__ehdr_start, &object))
        return;
    const char *name = strrchr(object.dli_fname, '/');
    snprintf(path, sizeof path, "%s/%s", folder, name ? name + 1 : object.dli_fname);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return;
    size_t size = (size_t)(&_end - &__ehdr_start);
    if (ftruncate(fd, (off_t)size) == 0) {
        void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        entered = mapped == MAP_FAILED ? NULL : mapped;
    }
    close(fd);
}

void __cyg_profile_func_enter(void *function, void *site)
{
    size_t offset = (size_t)((const char *)function - &__ehdr_start);

    (void)site;
    /* Its name may stand for that of another object (test/nvjitlink/both.py). */
    if (entered && offset < (size_t)(&_end - &__ehdr_start))
        entered[offset] = 1;
}

void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function;
    (void)site;
}
