/* check_distribute.c: names of jobs' files, the job file, reports, and small files. */
#include <elf.h>
#include <errno.h>
#include <jansson.h>
#include <sys/resource.h>
#include <unistd.h>

#include "distribute/internal.h"
#include "os/file.h"
#include "messages.h"
#include "suite.h"

static const char *words[] = {"tool", "-arch=sm_90", NULL};
static const struct distribution distribution = {.output = "out dir/x\n"};
static struct distribute_job jobs[2];
static struct distribute_batch batch;

void set_up(void)
{
    jobs[0] = (struct distribute_job){.name = "chunk 0", .input = TEXT("first")};
    jobs[1] = (struct distribute_job){.name = "chunk 1", .input = TEXT("second"), .cost = 7};
    batch = (struct distribute_batch){
        .distribution = &distribution,
        .tool = {.words = words, .input_suffix = ".ptx", .output_suffix = ".cubin"},
        .jobs = jobs,
        .count = 2};
}

void tear_down(void)
{
    distribute_free(&batch);
}

static const char *name_of(size_t job)
{
    distribute_name_files(&batch, "d");
    return jobs[job].input_path;
}

TEST(names_follow_from_command_and_input_alone)
{
    const char *first = name_of(0);

    ck_assert_str_ne(first, name_of(1));
    jobs[0].name = "chunk 5";
    jobs[0].cost = 100;
    ck_assert_str_eq(first, name_of(0));
    ck_assert_uint_eq(strlen(first), strlen("d/.ptx") + 32);
}

/* Each word counts, and those of other lengths with the same letters are another command. */
TEST(another_command_gives_other_names)
{
    static const char *const commands[][2] = {
        {"tool", "-arch=sm_90"},
        {"tool", "-arch=sm_80"},
        {"other", "-arch=sm_90"},
        {"ab", "c"},
        {"a", "bc"},
    };
    const char *names[COUNT(commands)];

    for (int i = 0; i < COUNT(commands); i++) {
        memcpy(words, commands[i], sizeof commands[i]);
        names[i] = name_of(0);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(names[i], names[j]);
    }
}

static json_t *load(void)
{
    char *text;
    json_t *root;

    distribute_name_files(&batch, "d");
    text = jobfile_make(&batch, NULL);
    ck_assert_ptr_nonnull(text);
    root = json_loads(text, 0, NULL);
    free(text);
    ck_assert_ptr_nonnull(root);
    return root;
}

static const char *string_at(json_t *object, const char *key, size_t index)
{
    return json_string_value(json_array_get(json_object_get(object, key), index));
}

TEST(the_job_file_has_what_llvms_validator_takes_and_no_more)
{
    json_t *root = load(), *common = json_object_get(root, "common");
    json_t *job = json_array_get(json_object_get(root, "jobs"), 1);

    ck_assert_uint_eq(json_object_size(root), 2);
    ck_assert_uint_eq(json_object_size(common), 3);
    ck_assert_str_eq(json_string_value(json_object_get(common, "linker_output")), "out dir/x\n");
    ck_assert_str_eq(string_at(common, "args", 1), "-arch=sm_90");
    ck_assert_uint_eq(json_array_size(json_object_get(common, "inputs")), 0);
    ck_assert_uint_eq(json_object_size(job), 3);
    ck_assert_str_eq(string_at(job, "args", 0), jobs[1].input_path);
    ck_assert_str_eq(string_at(job, "args", 1), "-o");
    ck_assert_str_eq(string_at(job, "args", 2), jobs[1].output_path);
    ck_assert_str_eq(string_at(job, "inputs", 0), jobs[1].input_path);
    ck_assert_str_eq(string_at(job, "inputs", 1), jobs[1].facts_path);
    ck_assert_str_eq(string_at(job, "outputs", 0), jobs[1].output_path);
    ck_assert_uint_eq(json_array_size(json_object_get(job, "outputs")), 1);
    json_decref(root);
}

TEST(a_tool_that_reports_has_two_outputs)
{
    json_t *root, *job;

    batch.tool.reports = true;
    root = load();
    job = json_array_get(json_object_get(root, "jobs"), 0);
    ck_assert_str_eq(string_at(job, "outputs", 1), jobs[0].report_path);
    ck_assert(strncmp(string_at(job, "args", 1), "--chunk-report=d/", 17) == 0);
    json_decref(root);
}

TEST(parts_have_words_without_options)
{
    json_t *root, *job;

    batch.tool.reports = batch.tool.is_positional = true;
    batch.tool.shared = TEXT("all inputs");
    root = load();
    job = json_array_get(json_object_get(root, "jobs"), 0);
    ck_assert_str_eq(string_at(json_object_get(root, "common"), "inputs", 0), "d/shared");
    ck_assert_str_eq(string_at(job, "args", 0), jobs[0].input_path);
    ck_assert_str_eq(string_at(job, "args", 1), "d/shared");
    ck_assert_str_eq(string_at(job, "args", 2), jobs[0].output_path);
    ck_assert_str_eq(string_at(job, "args", 3), jobs[0].report_path);
    json_decref(root);
}

TEST(facts_stand_under_a_key_of_our_own)
{
    const struct text kernels[] = {TEXT("one"), TEXT("two")};
    json_t *root, *facts;
    char *text;

    jobs[1].kernels = kernels;
    jobs[1].kernel_count = 2;
    batch.tool.memory = 1000;
    batch.tool.memory_per_byte = 10;
    batch.tool.time_limit = 9;
    distribute_name_files(&batch, "d");
    text = jobfile_make(&batch, &jobs[1]);
    root = json_loads(text, 0, NULL);
    free(text);
    facts = json_object_get(root, "minilink");
    ck_assert_uint_eq(json_object_size(root), 1);
    ck_assert_str_eq(string_at(facts, "kernels", 1), "two");
    ck_assert_int_eq(json_integer_value(json_object_get(facts, "cost")), 7);
    ck_assert_int_eq(json_integer_value(json_object_get(facts, "memory_bytes")), 1060);
    ck_assert_int_eq(json_integer_value(json_object_get(facts, "time_limit_seconds")), 9);
    ck_assert_str_eq(json_string_value(json_object_get(facts, "log")), jobs[1].log_path);
    json_decref(root);
}

TEST(a_name_that_is_no_utf8_is_refused)
{
    words[1] = "\xff";
    distribute_name_files(&batch, "d");
    messages_catch();
    ck_assert_ptr_null(jobfile_make(&batch, NULL));
    ck_assert_uint_eq(messages.errors, 1);
}

/* Whether what has been planned is the batch's. */
static const char *compare(char *text)
{
    const char *why = NULL;
    bool is_same = jobfile_is_of(text_of(text), &batch, &why);

    ck_assert(is_same == (why == NULL));
    return why;
}

TEST(a_plan_is_that_of_its_own_jobs)
{
    char *text;

    distribute_name_files(&batch, "here");
    text = jobfile_make(&batch, NULL);
    distribute_name_files(&batch, "there");
    ck_assert_ptr_null(compare(text));
    jobs[1].input = TEXT("edited");
    distribute_name_files(&batch, "there");
    ck_assert_ptr_nonnull(strstr(compare(text), "the inputs have changed: chunk 1"));
    batch.count = 1;
    ck_assert_ptr_nonnull(strstr(compare(text), "it has 2 jobs, and the link now needs 1"));
    batch.count = 2;
    words[1] = "-arch=sm_80";
    distribute_name_files(&batch, "there");
    ck_assert_ptr_nonnull(strstr(compare(text), "another command"));
    free(text);
    text = strdup("{}");
    ck_assert_ptr_nonnull(strstr(compare(text), "names no output"));
    free(text);
}

TEST(a_report_is_read_as_it_was_written)
{
    const struct bytes input = text_bytes(TEXT("in")), nothing = {0};
    const struct text log = TEXT("line\nother\xff line\n");
    struct job_report read;
    OWNED(buffer) file = {0};

    job_report_write(&file, LINK_FAILED, input, nothing, log);
    ck_assert(job_report_read(&read, buffer_bytes(&file)));
    ck_assert_int_eq(read.code, 5);
    ck_assert(job_report_hash_is(read.input, input));
    ck_assert(job_report_hash_is(read.output, nothing));
    ck_assert(!job_report_hash_is(read.output, input));
    ck_assert(text_equal(read.log, log));
    for (size_t cut = 0; cut < file.size; cut++)
        ck_assert(!job_report_read(&read, (struct bytes){(const uint8_t *)file.data, cut}));
    buffer_char(&file, 'x');
    ck_assert(!job_report_read(&read, buffer_bytes(&file)));
}

TEST(a_file_with_the_same_contents_stays)
{
    const struct bytes bytes = {(const uint8_t *)"contents", 8};
    struct file_contents contents;
    struct folder folder;
    struct stat first, second;
    char path[4096];
    int saved;

    ck_assert(folder_make(&folder, NULL));
    snprintf(path, sizeof path, "%s/file", folder.path);
    ck_assert(files_write(path, bytes) && stat(path, &first) == 0);
    ck_assert(files_write(path, bytes) && stat(path, &second) == 0);
    ck_assert_uint_eq(first.st_ino, second.st_ino);
    ck_assert(files_read(&contents, path, 8));
    ck_assert_str_eq(contents.data, "contents");
    free(contents.data);
    ck_assert(!files_read(&contents, path, 7));
    ck_assert(!files_read(&contents, folder.path, 100));
    ck_assert_str_eq(files_why(), "Is a directory");
    ck_assert(!files_read(&contents, "/dev/null", 100));
    ck_assert_str_eq(files_why(), "It is not a regular file");
    ck_assert(files_write(path, (struct bytes){(const uint8_t *)"other", 5}));
    ck_assert(files_read(&contents, path, 8));
    ck_assert_str_eq(contents.data, "other");
    free(contents.data);
    /* With all that is in it, folders too. */
    snprintf(path, sizeof path, "%s/inner", folder.path);
    ck_assert_int_eq(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/inner/file", folder.path);
    ck_assert(files_write(path, bytes));
    snprintf(path, sizeof path, "%s", folder.path);
    ck_assert_int_eq(stat(path, &first), 0);
    ck_assert_uint_eq(first.st_mode & 0777, 0700);
    saved = dup(0);
    close(0); /* as the program may have done that uses the library */
    folder_remove(&folder);
    dup2(saved, 0);
    ck_assert_int_ne(stat(path, &first), 0);
}

static bool begins_with_x(struct bytes head, uint64_t size)
{
    return size == 100 || head.data[0] == 'x';
}

/* The first job's result as somebody else has made it. */
static void take_result(const char *folder, const char *output, const char *log)
{
    distribute_name_files(&batch, folder);
    if (output)
        ck_assert(files_write(jobs[0].output_path, (struct bytes){(const uint8_t *)output, 1}));
    if (log)
        ck_assert_int_eq(symlink(log, jobs[0].log_path), 0);
}

/* An empty line is one, the end of the text is none. */
TEST(the_last_lines_of_a_distributor_are_told)
{
    for (int i = 0; i < 22; i++)
        buffer_printf(&batch.loose, "line %d\n", i);
    buffer_text(&batch.loose, TEXT("\n"));
    messages_catch();
    job_messages_report(&batch, true);
    messages_expect_part(": line 3\n");
    ck_assert_ptr_null(strstr(messages_said(), ": line 2\n"));
}

TEST(a_log_that_is_a_link_is_not_read)
{
    struct folder folder;
    char secret[4096];

    ck_assert(folder_make(&folder, NULL));
    snprintf(secret, sizeof secret, "%s/secret", folder.path);
    ck_assert(files_write(secret, (struct bytes){(const uint8_t *)"secret", 6}));
    take_result(folder.path, NULL, secret);
    result_take(&batch, &jobs[0]);
    ck_assert_uint_eq(jobs[0].log.size, 0);
    ck_assert_int_eq(jobs[0].end, DISTRIBUTE_MISSING);
    folder_remove(&folder);
}

TEST(a_large_result_that_begins_as_none_is_not_read)
{
    const struct file_demand demand = {.limit = (size_t)2 << 30, .begins = begins_with_x};
    struct file_contents contents;
    struct folder folder;
    struct rusage usage;
    long before;

    ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
    before = usage.ru_maxrss;
    ck_assert(folder_make(&folder, NULL));
    take_result(folder.path, "y", NULL);
    ck_assert_int_eq(truncate(jobs[0].output_path, (off_t)1 << 30), 0);
    ck_assert(!files_read_as(&contents, jobs[0].output_path, &demand));
    ck_assert_int_eq(errno, ENOEXEC);
    batch.begins = begins_with_x;
    result_take(&batch, &jobs[0]);
    ck_assert_int_eq(jobs[0].end, DISTRIBUTE_WRONG);
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
    ck_assert_int_lt(usage.ru_maxrss - before, 200 << 10);
    ck_assert_int_eq(truncate(jobs[0].output_path, 100), 0);
    result_take(&batch, &jobs[0]);
    ck_assert_int_eq(jobs[0].end, DISTRIBUTE_DONE);
    ck_assert_uint_eq(jobs[0].size, 100);
    folder_remove(&folder);
}

/* The header alone says whether a large file can be one; what a small one is, reading it tells. */
TEST(a_large_cubin_begins_with_a_header_whose_sections_are_inside)
{
    const uint64_t large = (uint64_t)2 << 20, table = 3 * sizeof(Elf64_Shdr);
    const Elf64_Ehdr good = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64},
                             .e_machine = 190,
                             .e_shoff = large - table,
                             .e_shnum = 3};
    Elf64_Ehdr changed[] = {good, good, good, good, good};
    const struct bytes head = {(const uint8_t *)&good, sizeof good};

    ck_assert(verify_cubin_begins(head, large));
    ck_assert(!verify_cubin_begins((struct bytes){head.data, head.size - 1}, large));
    ck_assert(verify_cubin_begins((struct bytes){head.data, 0}, 1 << 20));
    ck_assert(!verify_cubin_begins((struct bytes){head.data, 0}, (1 << 20) + 1));
    changed[0].e_ident[0] = 'e';
    changed[1].e_ident[EI_CLASS] = ELFCLASS32;
    changed[2].e_machine = EM_X86_64;
    changed[3].e_shoff++;
    changed[4].e_shoff = large + 1;
    for (size_t i = 0; i < COUNT(changed); i++)
        ck_assert(!verify_cubin_begins(
            (struct bytes){(const uint8_t *)&changed[i], sizeof changed[i]}, large));
}
