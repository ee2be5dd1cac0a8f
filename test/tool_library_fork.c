/* tool_library_fork: a program that makes children while its threads link.
 *
 *     tool_library_fork CHILDREN WORD...     3> REPORT
 *     tool_library_fork                      names the descriptors above 2 that it was handed
 *
 * A child that the program makes by fork and exec, at any moment of the links, has none of their
 * descriptors. */
#include "library/links.h"
#include "library/process.h"

#define THREADS 3

static struct links_case words;
static int is_over;

static int name_descriptors(void)
{
    static char text[1 << 13];

    process_descriptors(text, sizeof text);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (atoi(line) > 2)
            puts(line);
    return 0;
}

static void *make_links(void *argument)
{
    size_t *count = argument;

    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        struct minilink *link;
        int code = links_run(&link, &words, *count % 2 ? LINKS_DATA : LINKS_FILES);

        /* An assembler that plays ptxas here makes nothing. */
        check(code == MINILINK_OK || code == MINILINK_FAILED, "%s: %s", minilink_code_name(code),
              minilink_error_log(link, NULL));
        ++*count;
        minilink_destroy(&link);
    }
    return NULL;
}

/* What the child has; only what is safe between fork and exec. */
static void ask_child(char *answer, size_t size)
{
    char *const arguments[] = {(char *)"tool_library_fork", NULL};
    int ends[2], status = 0;
    ssize_t got;
    size_t used = 0;
    pid_t child;

    answer[0] = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        exit(2);
    child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        execv("/proc/self/exe", arguments);
        _exit(127);
    }
    close(ends[1]);
    while (used < size - 1 && (got = read(ends[0], answer + used, size - 1 - used)) > 0)
        used += (size_t)got;
    answer[used] = 0;
    close(ends[0]);
    check(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child fails");
}

int main(int argc, char **argv)
{
    static char answer[1 << 13];
    int children = argc > 1 ? atoi(argv[1]) : 0, with_some = 0;
    pthread_t threads[THREADS];
    size_t counts[THREADS] = {0}, sum = 0;

    if (argc == 1)
        return name_descriptors();
    tally_begin();
    links_add_words(&words, argv, 2);
    process_begin();
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, make_links, &counts[i]) != 0)
            exit(2);
    for (int i = 0; i < children; i++) {
        ask_child(answer, sizeof answer);
        with_some += check(!*answer, "a child is handed:\n%s", answer) ? 0 : 1;
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += counts[i];
    }
    check(sum > 0, "no links");
    tally_note("%d children while there were %zu links; %d of them have descriptors", children, sum,
               with_some);
    process_check("it");
    links_free_case(&words);
    return tally_end();
}
