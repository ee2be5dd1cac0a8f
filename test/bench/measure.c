/* measure.c: runs a command and prints what it took, in one line:
 *
 *     wall-ms own-CPU-ms children-CPU-ms peak-KiB
 *
 * Own CPU is that of the command's process alone, and children's that of all it waited for: a
 * linker that runs an assembler per chunk is told apart from its assemblers. CPU times come from
 * /proc, in the kernel's ticks (10 ms). The peak is the largest of any single process. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Fields 14 to 17 of /proc/PID/stat: user and system ticks, its own and its children's. The name in
 * field 2 may hold blanks and parentheses, so the fields are counted from the last one. */
static int read_ticks(pid_t pid, unsigned long ticks[4])
{
    char path[64], line[1024];
    FILE *file;
    char *rest;
    size_t got;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (!file)
        return 0;
    got = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[got] = '\0';
    rest = strrchr(line, ')');
    return rest && sscanf(rest + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu %lu %lu %lu",
                          &ticks[0], &ticks[1], &ticks[2], &ticks[3]) == 4;
}

int main(int argc, char **argv)
{
    double tick = 1e3 / (double)sysconf(_SC_CLK_TCK), start = now(), end;
    unsigned long ticks[4] = {0};
    struct rusage usage;
    siginfo_t info;
    int status;
    pid_t pid;

    if (argc < 2)
        return 2;
    pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) && errno == EINTR)
        ;
    end = now();
    if (!read_ticks(pid, ticks) || wait4(pid, &status, 0, &usage) != pid)
        return 2;
    printf("%.1f %.0f %.0f %ld\n", end - start, (double)(ticks[0] + ticks[1]) * tick,
           (double)(ticks[2] + ticks[3]) * tick, usage.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
