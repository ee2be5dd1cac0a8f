/* tool_library_stack: one link by the library on a thread whose stack is small.
 *
 *     tool_library_stack KIB files|data WORD...
 *
 * The thread has a stack of KIB KiB, below which nothing may be accessed. Prints the name of the
 * result, how many KiB of the stack were touched, and then the log of errors. The status is the
 * result; killed by a signal when the library crashes. */
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "library/links.h"

#define FILLED 0xa5

/* What the thread does, and what came of it. */
struct task {
    struct links_case words;
    enum links_way way;
    struct minilink *link;
    int code;
};

static void *run(void *argument)
{
    struct task *task = argument;

    task->code = links_run(&task->link, &task->words, task->way);
    return NULL;
}

/* Memory of that size with a page in front that nobody may touch. NULL when there is none. */
static uint8_t *map_stack(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *memory =
        mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0)
        return NULL;
    memset(memory + page, FILLED, size);
    return memory + page;
}

static size_t touched(const uint8_t *stack, size_t size)
{
    size_t untouched = 0;

    while (untouched < size && stack[untouched] == FILLED)
        untouched++;
    return size - untouched;
}

int main(int argc, char **argv)
{
    static struct task task;
    size_t size = argc < 3 ? 0 : strtoul(argv[1], NULL, 10) * 1024;
    uint8_t *stack = size ? map_stack(size) : NULL;
    pthread_attr_t attributes;
    pthread_t thread;

    if (!stack)
        return 255;
    task.way = links_way_of(argv[2]);
    links_add_words(&task.words, argv, 3);
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, stack, size) != 0)
        return 255;
    if (pthread_create(&thread, &attributes, run, &task) != 0)
        return 255;
    pthread_join(thread, NULL);
    printf("%s, %zu KiB touched\n%s", minilink_code_name(task.code),
           (touched(stack, size) + 1023) / 1024, minilink_error_log(task.link, NULL));
    minilink_destroy(&task.link);
    links_free_case(&task.words);
    return task.code;
}
