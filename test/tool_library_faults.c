/* tool_library_faults: links by the library while something fails.
 *
 *     tool_library_faults allocations|threads|writes FROM TO STEP WORD...     3> REPORT
 *     tool_library_faults cold|space N N 1 WORD...                            3> REPORT
 *     tool_library_faults none 1 MORE 1 WORD...                               3> REPORT
 *
 * For every number from FROM to TO in steps, the WORDs are linked while the call of that number
 * fails, which takes build/fault.so to be loaded before. Cold and space are of the first link of a
 * process: allocation N fails; or there are N KiB of address space more than the process has. The
 * result is that of a link without a fault, or MINILINK_NO_MEMORY: then what has failed is done
 * again without the fault, and has to succeed unless it was the link itself. */
#include <dlfcn.h>
#include <malloc.h>
#include <sys/resource.h>

#include "library/links.h"
#include "library/process.h"

static struct links_case words;
static struct links_text expected;
static const char *kind;
static void (*arm)(uint64_t allocation, uint64_t thread, uint64_t write_step);
static uint64_t number;
static int without_memory;

static void limit_space(rlim_t kibibytes)
{
    struct rlimit limit;
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    getrlimit(RLIMIT_AS, &limit);
    if (!file || fscanf(file, "%llu", &pages) != 1)
        exit(2);
    fclose(file);
    limit.rlim_cur = kibibytes == RLIM_INFINITY
                         ? limit.rlim_max
                         : pages * (rlim_t)sysconf(_SC_PAGESIZE) + kibibytes * 1024;
    setrlimit(RLIMIT_AS, &limit);
}

static void begin_fault(void)
{
    bool is_of_memory = strcmp(kind, "allocations") == 0 || strcmp(kind, "cold") == 0;

    if (strcmp(kind, "space") == 0)
        limit_space(number);
    else if (arm && strcmp(kind, "none") != 0)
        arm(is_of_memory ? number : 0, strcmp(kind, "threads") == 0 ? number : 0,
            strcmp(kind, "writes") == 0 ? number : 0);
}

static void end_fault(void)
{
    if (strcmp(kind, "space") == 0)
        limit_space(RLIM_INFINITY);
    else if (arm && strcmp(kind, "none") != 0)
        arm(0, 0, 0);
}

/* Whether the step has failed for want of memory, and is to be done again without the fault. */
static bool is_again(int code, const char *step)
{
    check(code == MINILINK_OK || code == MINILINK_NO_MEMORY, "%s %llu: %s is %s", kind,
          (unsigned long long)number, step, minilink_code_name(code));
    if (code != MINILINK_NO_MEMORY)
        return false;
    end_fault();
    without_memory++;
    return true;
}

static bool is_expected(const struct minilink *link)
{
    size_t size;
    const void *data = minilink_cubin(link, &size);

    return data && size == expected.size && memcmp(data, expected.data, size) == 0;
}

static void keep_expected(const struct minilink *link)
{
    const void *data = minilink_cubin(link, &expected.size);

    expected.data = data ? malloc(expected.size) : NULL;
    if (expected.data)
        memcpy(expected.data, data, expected.size);
}

static void link_once(enum links_way way)
{
    struct minilink *link = (struct minilink *)&words;
    struct minilink_kernel kernel;
    int code;

    begin_fault();
    code = minilink_create(&link, words.options, words.option_count);
    if (is_again(code, "create")) {
        check(!link, "a link without memory");
        code = minilink_create(&link, words.options, words.option_count);
    }
    for (size_t i = 0; i < words.input_count && code == MINILINK_OK; i++) {
        code = links_add(link, &words, i, way);
        if (is_again(code, "add"))
            code = links_add(link, &words, i, way);
    }
    if (code == MINILINK_OK)
        code = minilink_complete(link);
    /* What is handed to a process may find no room. */
    check(code == MINILINK_OK || code == MINILINK_NO_MEMORY ||
              (code == MINILINK_ENVIRONMENT && strcmp(kind, "writes") == 0),
          "%s %llu: complete is %s: %s", kind, (unsigned long long)number, minilink_code_name(code),
          minilink_error_log(link, NULL));
    check(code != MINILINK_ENVIRONMENT || *minilink_error_log(link, NULL), "not a word");
    for (size_t i = 0; i < minilink_kernel_count(link); i++)
        check(minilink_kernel(link, i, &kernel, sizeof kernel) == MINILINK_OK, "no kernel");
    check(minilink_error_log(link, NULL) && minilink_info_log(link, NULL), "no log");
    end_fault();
    if (code == MINILINK_OK) {
        if (!expected.data) /* a cold link, which the next one is compared with */
            keep_expected(link);
        check(is_expected(link), "%s %llu: other bytes", kind, (unsigned long long)number);
    } else {
        without_memory++;
        check(!minilink_cubin(link, NULL) && !minilink_ptx(link, NULL), "a result without memory");
    }
    minilink_destroy(&link);
}

/* Links without a fault; the first time, keeps what comes of it. */
static bool link_without(void)
{
    struct minilink *link;
    int code = links_run(&link, &words, LINKS_FILES);

    check(code == MINILINK_OK, "without a fault: %s: %s", minilink_code_name(code),
          minilink_error_log(link, NULL));
    if (code == MINILINK_OK && !expected.data)
        keep_expected(link);
    check(is_expected(link), "without a fault: other bytes");
    minilink_destroy(&link);
    return code == MINILINK_OK;
}

int main(int argc, char **argv)
{
    uint64_t last, step;
    bool is_first;

    tally_begin();
    if (argc < 6)
        return 2;
    kind = argv[1];
    number = strtoull(argv[2], NULL, 10);
    last = strtoull(argv[3], NULL, 10);
    step = strtoull(argv[4], NULL, 10);
    arm = (void (*)(uint64_t, uint64_t, uint64_t))dlsym(RTLD_DEFAULT, "fault_arm");
    links_add_words(&words, argv, 5);
    process_begin();
    is_first = strcmp(kind, "cold") == 0 || strcmp(kind, "space") == 0;
    if (!step || (!is_first && !link_without()))
        return tally_end();
    for (; number <= last; number += step)
        link_once(number % 2 ? LINKS_DATA : LINKS_FILES);
    if (strcmp(kind, "none") != 0)
        link_without();
    process_check("it");
    tally_note("%s: %d times without memory", kind, without_memory);
    links_free_case(&words);
    free(expected.data);
    return tally_end();
}
