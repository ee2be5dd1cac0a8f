/* tool_recorded: what tests run as ptxas and nvlink (use_recorded in test/toolkit.sh). What they
 * make of the same words and files is always the same: it was recorded, in the folder that RECORDED
 * names, and comes from there. The toolkit's own program, in RECORDED/real, runs for what is not
 * recorded.
 *
 * Of a run there are NAME, what it made, and NAME.said where there is more to tell: a line with its
 * status and how much it said on standard output, that, and what it said on standard error, with
 * each file's and folder's name as its number in the command line between two bytes of value 1.
 * NAME is a sum of all that it depends on: the tools' versions (RECORDED_TOOLS), the words, and the
 * files' contents. One in RECORDED_CHECK (101), chosen by its sum, is run nevertheless:
 * its status and what it says on standard error are compared here; what it makes, which may name
 * folders, is what the test gets and compares. */
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/cache.h"
#include "read_file.h"

extern char **environ;

struct run {
    char **argv;
    const char *folder; /* RECORDED */
    const char *tool;
    const char *output; /* NULL without -o */
    const char **paths; /* for each of argv: the file or folder that it names, or NULL */
    char name[2 * CACHE_KEY_SIZE + 1];
};

/* What a run made, and said. */
struct result {
    int status;
    struct text made, out, err;
};

static char *path_of(const struct run *run, const char *name, const char *suffix)
{
    char *path;

    if (asprintf(&path, "%s/%s%s", run->folder, name, suffix) < 0)
        exit(2);
    return path;
}

static bool exists(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

/* Appends a line to a file that test/toolkit.sh reads. */
static void note(const struct run *run, const char *file, const char *line)
{
    FILE *notes = fopen(path_of(run, file, ""), "a");

    if (notes) {
        fprintf(notes, "%s\n", line);
        fclose(notes);
    }
}

/* Whether with this word a run reads, or makes, more than is recorded of it: libraries of a test's
 * own, a second output. */
static bool needs_more(const char *word)
{
    static const char *const others[] = {"-lcudadevrt", "-lto", "-lineinfo"};
    bool is_library = strncmp(word, "-l", 2) == 0;

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        is_library = is_library && strcmp(word, others[i]) != 0;
    return is_library || strncmp(word, "--register-link-binaries=", 25) == 0;
}

/* Adds a file's contents, but for the comments in minilink's PTX that name its modules: they have
 * the folder of the test. */
static void add_contents(struct key *key, const char *path)
{
    struct text contents = read_file(path), rest = contents, line;

    while (read_file_line(&rest, &line))
        if (line.size < 8 || memcmp(line.data, "// from ", 8) != 0)
            key_text(key, line);
    key_text(key, rest);
    free((char *)contents.data);
}

/* Finds the output and the files that are read, and the run's name. Folders belong to the toolkit,
 * whose version is a part of the sum. False for what may not be recorded (needs_more). */
static bool name_run(struct run *run)
{
    bool is_known = true;
    struct cache_key sum;
    struct key key;

    key_begin(&key, "recorded run");
    key_string(&key, run->tool);
    key_variable(&key, "RECORDED_TOOLS");
    for (int i = 1; run->argv[i]; i++) {
        const char *word = run->argv[i];

        if (strcmp(word, "-o") == 0 && run->argv[i + 1]) {
            run->paths[i + 1] = run->output = run->argv[i + 1];
            i++;
        } else if (word[0] != '-' && exists(word)) {
            add_contents(&key, word);
            run->paths[i] = word;
        } else if (strncmp(word, "-L", 2) == 0) {
            run->paths[i] = word + 2;
        } else if (strncmp(word, "-nvvmpath=", 10) == 0) {
            run->paths[i] = word + 10;
        } else {
            is_known = is_known && !needs_more(word);
            key_string(&key, word);
        }
    }
    sum = key_end(&key);
    for (unsigned i = 0; i < CACHE_KEY_SIZE; i++)
        sprintf(run->name + 2 * i, "%02x", sum.bytes[i]);
    return is_known;
}

/* What was said, with numbers for the names of files. */
static struct text without_names(const struct run *run, struct text said)
{
    struct buffer buffer = {0};
    struct text result;

    for (size_t at = 0; at < said.size;) {
        int found = 0;

        for (int i = 1; run->argv[i] && !found; i++) {
            size_t size = run->paths[i] ? strlen(run->paths[i]) : 0;

            if (size && size <= said.size - at && memcmp(said.data + at, run->paths[i], size) == 0)
                found = i;
        }
        if (found) {
            buffer_printf(&buffer, "\1%d\1", found);
            at += strlen(run->paths[found]);
        } else {
            buffer_char(&buffer, said.data[at++]);
        }
    }
    result.data = buffer_take(&buffer, &result.size);
    return result;
}

static struct text read_memory(int fd)
{
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return read_file(path);
}

/* Runs the toolkit's own program. Not in this process: a fork server's copy has to end itself. */
static struct result run_tool(const struct run *run)
{
    struct result result = {.status = -1};
    int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC), status;
    char *link = path_of(run, "real/", run->tool), *program = realpath(link, NULL);
    posix_spawn_file_actions_t actions;
    pid_t child;

    if (!program || out < 0 || err < 0 || posix_spawn_file_actions_init(&actions) != 0)
        exit(2);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    run->argv[0] = program;
    if (posix_spawn(&child, program, &actions, NULL, run->argv, environ) != 0 ||
        waitpid(child, &status, 0) != child)
        exit(2);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.out = without_names(run, read_memory(out));
    result.err = without_names(run, read_memory(err));
    if (result.status == 0 && run->output)
        result.made = read_file(run->output);
    return result;
}

static void say(const struct run *run, struct text said, FILE *file)
{
    for (size_t at = 0; at < said.size; at++) {
        if (said.data[at] == '\1') {
            char *end;

            fputs(run->paths[strtol(said.data + at + 1, &end, 10)], file);
            at = (size_t)(end - said.data);
        } else {
            fputc(said.data[at], file);
        }
    }
    fflush(file);
}

static void record(const struct run *run, const struct result *result)
{
    struct buffer said = {0};
    struct text text;

    write_file(path_of(run, run->name, ""), result->made);
    if (result->status == 0 && result->out.size + result->err.size == 0)
        return;
    buffer_printf(&said, "%d %zu\n", result->status, result->out.size);
    buffer_append(&said, result->out.data, result->out.size);
    buffer_append(&said, result->err.data, result->err.size);
    text.data = buffer_take(&said, &text.size);
    write_file(path_of(run, run->name, ".said"), text);
}

/* What is recorded of the run; a status of -1 where nothing is. */
static struct result recorded(const struct run *run)
{
    struct result result = {.status = -1};
    char *path = path_of(run, run->name, ""), *said = path_of(run, run->name, ".said");
    struct text text, line;
    size_t out;

    if (!exists(path))
        return result;
    result.status = 0;
    result.made = read_file(path);
    if (!exists(said))
        return result;
    text = read_file(said);
    if (!read_file_line(&text, &line) || sscanf(line.data, "%d %zu", &result.status, &out) != 2 ||
        out > text.size)
        exit(2);
    result.out = (struct text){text.data, out};
    result.err = (struct text){text.data + out, text.size - out};
    return result;
}

static bool is_same(struct text one, struct text other)
{
    return one.size == other.size && (one.size == 0 || memcmp(one.data, other.data, one.size) == 0);
}

static bool is_checked(const struct run *run)
{
    const char *every = getenv("RECORDED_CHECK");

    return strtoul(run->name + 24, NULL, 16) % (every ? strtoul(every, NULL, 10) : 101) == 0;
}

int main(int argc, char **argv)
{
    struct run run = {.argv = argv,
                      .folder = getenv("RECORDED"),
                      .paths = calloc((size_t)argc + 1, sizeof(char *))};
    const char *slash = strrchr(argv[0], '/');
    struct result result = {.status = -1}, live;
    bool is_known;

    run.tool = slash ? slash + 1 : argv[0];
    if (!run.folder || !run.paths)
        return 2;
    is_known = name_run(&run);
    if (is_known) {
        note(&run, "used", run.name);
        result = recorded(&run);
    }
    if (result.status < 0 || is_checked(&run)) {
        live = run_tool(&run);
        if (result.status >= 0 && (live.status != result.status || !is_same(live.err, result.err)))
            note(&run, "differs", run.name);
        if (result.status < 0 && is_known) {
            note(&run, "made-now", run.tool);
            if (getenv("RECORD"))
                record(&run, &live);
        }
        result = live;
    } else if (run.output && result.status == 0) {
        write_file(run.output, result.made);
    }
    say(&run, result.out, stdout);
    say(&run, result.err, stderr);
    return result.status;
}
