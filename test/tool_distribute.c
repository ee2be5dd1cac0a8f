/* tool_distribute.c: a distributor that runs the jobs here, one after the other, well or badly.
 *
 *     tool_distribute [--way=WAY] [--job=N] [--log=FILE] JOBS.json
 *
 * It takes the file only when it is one that LLVM's distributors take, by the rules of their
 * validate.py. WAY is what goes wrong, with job N where it is about one:
 *
 * - status: all jobs are run, and it ends with status 7
 * - signal: it kills itself; hang: it does nothing for ten minutes
 * - none: no job is run; skip: job N is not; fail: it stops at a job that fails
 * - garbage: job N's output is text; zero: it is empty; half: it is cut in the middle
 * - tail: its last byte is missing; flip: a byte of it is another; swap: it is that of the next job
 * - folder: it is a folder; fifo: it is a pipe; report: job N's report is cut
 * - arch: job N is run for sm_80
 * - kill: every job is killed the first time, and run again
 * - log: what a job prints goes to the file beside its output, as the facts say
 *
 * FILE gets a line for each job: how many kernels it has. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *way = "";
static size_t chosen;
static FILE *list;

static void wrong(const char *what)
{
    fprintf(stderr, "tool_distribute: the job file is wrong: %s\n", what);
    exit(9);
}

static void check_strings(const json_t *array, size_t least, const char *what)
{
    size_t i;
    json_t *string;

    if (!json_is_array(array) || json_array_size(array) < least)
        wrong(what);
    json_array_foreach(array, i, string) if (!json_is_string(string)) wrong(what);
}

/* Nothing more and nothing less than LLVM's validate.py wants. */
static void validate(const json_t *root)
{
    const json_t *common = json_object_get(root, "common"), *jobs = json_object_get(root, "jobs");
    json_t *job;
    size_t i;

    if (json_object_size(root) != 2 || json_object_size(common) != 3 || !json_is_array(jobs))
        wrong("keys");
    if (!json_is_string(json_object_get(common, "linker_output")))
        wrong("linker_output");
    check_strings(json_object_get(common, "args"), 1, "common args");
    check_strings(json_object_get(common, "inputs"), 0, "common inputs");
    json_array_foreach(jobs, i, job)
    {
        if (json_object_size(job) != 3)
            wrong("a job's keys");
        check_strings(json_object_get(job, "args"), 0, "a job's args");
        check_strings(json_object_get(job, "inputs"), 2, "a job's inputs");
        check_strings(json_object_get(job, "outputs"), 1, "a job's outputs");
    }
}

static const char *string_at(const json_t *job, const char *key, size_t index)
{
    return json_string_value(json_array_get(json_object_get(job, key), index));
}

static bool is(const char *name)
{
    return strcmp(way, name) == 0;
}

static char *word(const char *string, bool is_chosen)
{
    if (is_chosen && is("arch") && strncmp(string, "-arch=", 6) == 0)
        string = "-arch=sm_80";
    return strdup(string);
}

/* The words of the command, with the job's own behind those of all. */
static char **make_command(const json_t *root, const json_t *job, bool is_chosen)
{
    const json_t *common = json_object_get(json_object_get(root, "common"), "args");
    const json_t *own = json_object_get(job, "args");
    char **argv = calloc(json_array_size(common) + json_array_size(own) + 1, sizeof *argv);
    json_t *value;
    size_t i, n = 0;

    json_array_foreach(common, i, value) argv[n++] = word(json_string_value(value), is_chosen);
    json_array_foreach(own, i, value) argv[n++] = word(json_string_value(value), is_chosen);
    return argv;
}

static json_t *facts_of(const json_t *job)
{
    json_t *facts = json_load_file(string_at(job, "inputs", 1), 0, NULL);

    if (!json_is_object(json_object_get(facts, "minilink")))
        wrong("a job's facts");
    return facts;
}

static int run(const json_t *root, const json_t *job, bool is_chosen, bool is_killed)
{
    posix_spawn_file_actions_t actions;
    json_t *facts = facts_of(job), *inner = json_object_get(facts, "minilink");
    char **argv = make_command(root, job, is_chosen);
    int status = 0, error;
    pid_t pid;

    posix_spawn_file_actions_init(&actions);
    if (is("log")) {
        posix_spawn_file_actions_addopen(&actions, 1,
                                         json_string_value(json_object_get(inner, "log")),
                                         O_WRONLY | O_CREAT | O_TRUNC, 0666);
        posix_spawn_file_actions_adddup2(&actions, 1, 2);
    }
    if (list)
        fprintf(list, "%zu\n", json_array_size(json_object_get(inner, "kernels")));
    error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    if (error)
        return error;
    if (is_killed)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    posix_spawn_file_actions_destroy(&actions);
    for (size_t i = 0; argv[i]; i++)
        free(argv[i]);
    free(argv);
    json_decref(facts);
    return status;
}

static void cut(const char *path, off_t by)
{
    struct stat status;

    if (stat(path, &status) || truncate(path, by ? status.st_size - by : status.st_size / 2))
        perror(path);
}

static void flip(const char *path)
{
    int fd = open(path, O_RDWR);
    off_t middle = lseek(fd, 0, SEEK_END) / 2;
    unsigned char byte = 0;

    if (pread(fd, &byte, 1, middle) == 1) {
        byte ^= 0x55;
        if (pwrite(fd, &byte, 1, middle) != 1)
            perror(path);
    }
    close(fd);
}

static void spoil(const json_t *jobs)
{
    const json_t *job = json_array_get(jobs, chosen);
    const char *output = string_at(job, "outputs", 0), *report = string_at(job, "outputs", 1);

    if (is("garbage") || is("zero")) {
        FILE *out = fopen(output, "w");

        fputs(is("garbage") ? "Segmentation fault (core dumped)\n" : "", out);
        fclose(out);
    } else if (is("half") || is("tail")) {
        cut(output, is("tail"));
    } else if (is("flip")) {
        flip(output);
    } else if (is("swap")) {
        rename(string_at(json_array_get(jobs, chosen + 1), "outputs", 0), output);
    } else if (is("folder") || is("fifo")) {
        unlink(output);
        if (is("folder") ? mkdir(output, 0777) : mkfifo(output, 0666))
            perror(output);
    } else if (is("report") && report) {
        cut(report, 0);
    }
}

static int run_all(const json_t *root)
{
    const json_t *jobs = json_object_get(root, "jobs");
    json_t *job;
    size_t i;
    int failed = 0;

    json_array_foreach(jobs, i, job)
    {
        int status;

        if (is("none") || (is("skip") && i == chosen))
            continue;
        if (is("kill"))
            run(root, job, false, true);
        status = run(root, job, i == chosen, false);
        failed |= status;
        if (status && is("fail"))
            return 1;
    }
    if (chosen < json_array_size(jobs))
        spoil(jobs);
    return is("status") ? 7 : failed != 0;
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *root;
    int status;

    for (int i = 1; i < argc - 1; i++)
        if (strncmp(argv[i], "--way=", 6) == 0)
            way = argv[i] + 6;
        else if (strncmp(argv[i], "--job=", 6) == 0)
            chosen = strtoul(argv[i] + 6, NULL, 10);
        else if (strncmp(argv[i], "--log=", 6) == 0)
            list = fopen(argv[i] + 6, "w");
    root = json_load_file(argv[argc - 1], 0, &error);
    if (!root)
        wrong(error.text);
    validate(root);
    if (is("signal"))
        raise(SIGSEGV);
    if (is("hang"))
        sleep(600);
    status = run_all(root);
    if (list)
        fclose(list);
    json_decref(root);
    return status;
}
