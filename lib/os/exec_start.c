/* exec_start.c: starts a child by posix_spawn, which (vfork inside) costs the same however large
 * the linker has become, and is safe in a program with threads; fork, for a call, is neither. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "base/text.h"
#include "os/exec_start.h"

extern char **environ;

/* Workers block all signals, and a parent may ignore some; both would be inherited. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    const short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    return posix_spawnattr_setflags(attributes, flags) ?: posix_spawnattr_setpgroup(attributes, 0)
           ?: posix_spawnattr_setsigmask(attributes, &none)
           ?: posix_spawnattr_setsigdefault(attributes, &all);
}

static int set_actions(posix_spawn_file_actions_t *actions, const struct exec_request *request,
                       int output)
{
    int error =
        request->input
            ? posix_spawn_file_actions_adddup2(actions, request->input, CHILD_INPUT)
            : posix_spawn_file_actions_addopen(actions, CHILD_INPUT, "/dev/null", O_RDONLY, 0);

    error = error ?: posix_spawn_file_actions_adddup2(actions, output, CHILD_OUTPUT)
            ?: posix_spawn_file_actions_adddup2(actions, output, CHILD_ERRORS);
    /* A dup2 onto itself clears close-on-exec in the child (glibc 2.29, POSIX 2024). */
    for (size_t i = 0; !error && i < request->pass_count; i++)
        error = posix_spawn_file_actions_adddup2(actions, request->pass[i],
                                                 (request->pass_as ?: request->pass)[i]);
    return error;
}

/* In the child of a call: does what set_attributes and set_actions do for a program, and never
 * returns. */
static void run_call(const struct exec_request *request, int output)
{
    int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sigset_t none;

    setpgid(0, 0);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL); /* our handlers would return our parent's tokens */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (input < 0 || dup2(input, CHILD_INPUT) < 0 || dup2(output, CHILD_OUTPUT) < 0 ||
        dup2(output, CHILD_ERRORS) < 0)
        _exit(255);
    close(output); /* so that the end of the other two is the end of the pipe */
    _exit(request->call(request->argument));
}

/* Returns 0, or an errno value. */
static int spawn_call(pid_t *pid, const struct exec_request *request, int output)
{
    *pid = fork();
    if (*pid == 0)
        run_call(request, output);
    if (*pid < 0)
        return errno;
    setpgid(*pid, *pid); /* parent or child, whichever is first */
    return 0;
}

/* glibc's memory in pages of 2 MB where the kernel has them, 16 MB at a time. */
#define LARGE_PAGES "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=16777216"

/* Replaces the variable of the same name in the list, or appends it. */
static size_t put_variable(char **list, size_t count, const char *variable)
{
    size_t name = strcspn(variable, "=") + 1, kept = 0;

    for (size_t i = 0; i < count; i++)
        if (strncmp(list[i], variable, name) != 0)
            list[kept++] = list[i];
    list[kept++] = (char *)variable; /* nobody writes to it: environ's type lacks the const */
    return kept;
}

/* This process's environment and what the request adds. NULL without memory. */
static char **make_environment(const struct exec_request *request)
{
    size_t count = string_list_count((const char *const *)environ);
    char **list;

    list = malloc((count + 3 + EXEC_VARIABLES) * sizeof *list);
    if (!list)
        return NULL;
    if (count)
        memcpy(list, environ, count * sizeof *list);
    if (request->large_pages && !getenv("GLIBC_TUNABLES")) /* the user's own stay */
        count = put_variable(list, count, LARGE_PAGES);
    if (request->says_end)
        count = put_variable(list, count, EXEC_SAYS_END "=1");
    for (size_t i = 0; i < EXEC_VARIABLES && request->variables[i]; i++)
        count = put_variable(list, count, request->variables[i]);
    list[count] = NULL;
    return list;
}

/* Returns 0, or an errno value. */
static int spawn_program(pid_t *pid, const struct exec_request *request, int output)
{
    char **environment = make_environment(request);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = ENOMEM;

    posix_spawn_file_actions_init(&actions); /* glibc's two need no memory */
    posix_spawnattr_init(&attributes);
    if (environment)
        error = set_attributes(&attributes) ?: set_actions(&actions, request, output)
                ?: posix_spawn(pid, request->argv[0], &actions, &attributes,
                               (char *const *)request->argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return error;
}

int exec_fix_addresses(void)
{
    int before = personality(0xffffffff); /* only asks */

    return before >= 0 && !(before & ADDR_NO_RANDOMIZE) &&
                   personality((unsigned long)before | ADDR_NO_RANDOMIZE) >= 0
               ? before
               : -1;
}

int exec_start_child(pid_t *pid, const struct exec_request *request, int output)
{
    int before, error;

    if (request->call)
        return spawn_call(pid, request, output);
    before = request->fixed_addresses ? exec_fix_addresses() : -1;
    error = spawn_program(pid, request, output);
    if (before >= 0)
        personality((unsigned long)before);
    return error;
}
