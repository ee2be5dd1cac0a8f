/* job.c: writes and reads jobs and answers. */
#include "lto/job.h"

#include <inttypes.h>

#include "diag/diag.h"
#include "os/file.h"

#define FORMAT "1"

struct text job_write(struct arena *arena, const char *library, const char *const *options,
                      const struct job_inputs *inputs)
{
    LOCAL_BUFFER(words);

    buffer_printf(&words, "format=" FORMAT "%c%s=%s%c", 0, inputs->is_bitcode ? "llvm" : "library",
                  library, 0);
    for (size_t i = 0; options && options[i]; i++)
        buffer_printf(&words, "option=%s%c", options[i], 0);
    for (size_t i = 0; i < inputs->count; i++) {
        const struct job_input *input = &inputs->list[i];

        buffer_printf(&words, "input=%s %" PRIu64 " %" PRIu64 "%c",
                      inputs->is_bitcode ? "bitcode"
                      : input->is_fatbin ? "fatbin"
                                         : "ltoir",
                      input->offset, input->size, 0);
    }
    return arena_text(arena, buffer_view(&words));
}

static bool take_job_input(struct job_input *input, const char *value, struct bytes inputs)
{
    struct text rest = text_of(value);
    uint64_t offset, size;

    input->is_fatbin = text_skip(&rest, TEXT("fatbin "));
    if (!input->is_fatbin && !text_skip(&rest, TEXT("ltoir ")) &&
        !text_skip(&rest, TEXT("bitcode ")))
        return false;
    return text_scan_number(&rest, &offset) && text_skip(&rest, TEXT(" ")) &&
           text_scan_number(&rest, &size) && rest.size == 0 &&
           bytes_slice(inputs, offset, size, &input->data);
}

const char *job_value(const char *word, const char *key)
{
    size_t size = strlen(key);

    return strncmp(word, key, size) == 0 && word[size] == '=' ? word + size + 1 : NULL;
}

static bool take_job_word(struct lto_job *job, struct job_input *list, const char *word,
                          struct bytes inputs)
{
    const char *value;

    if ((value = job_value(word, "option")))
        job->options[job->option_count++] = value;
    else if ((value = job_value(word, "input")))
        return take_job_input(&list[job->input_count++], value, inputs);
    else if (!job->library && (value = job_value(word, "library")))
        job->library = value;
    else if (!job->library && (value = job_value(word, "llvm"))) {
        job->library = value;
        job->is_llvm = true;
    } else {
        return false;
    }
    return true;
}

bool job_read(struct lto_job *job, struct arena *arena, const char *path, struct bytes words,
              struct bytes inputs)
{
    static const char first[] = "format=" FORMAT;
    const char *word = (const char *)words.data, *end = word + words.size;
    struct job_input *list;
    size_t count = 1;

    for (size_t i = 0; i < words.size; i++)
        count += words.data[i] == '\0';
    list = arena_zalloc(arena, count, sizeof *list);
    *job = (struct lto_job){
        .options = arena_zalloc(arena, count, sizeof *job->options), .inputs = list, .answer = -1};
    if (words.size < sizeof first || memcmp(word, first, sizeof first) != 0 || end[-1] != '\0')
        return diag_fatal("'%s' is no job: it does not begin with '%s', or is cut", path, first);
    for (word += sizeof first; word < end; word += strlen(word) + 1)
        if (!take_job_word(job, list, word, inputs))
            return diag_fatal("Job '%s' has a word at offset %zu that is not understood, or "
                              "names bytes that its inputs do not have",
                              path, (size_t)(word - (const char *)words.data));
    return job->library || diag_fatal("Job '%s' names no library", path);
}

int answer_write(int fd, struct answer_draft *answer)
{
    struct answer_head *head = &answer->head;
    bool ok;

    head->error_size = answer->errors.size;
    head->info_size = answer->infos.size;
    head->ptx_size = answer->ptx.size;
    ok = descriptor_write(fd, head, sizeof *head) &&
         descriptor_write(fd, answer->errors.data, head->error_size) &&
         descriptor_write(fd, answer->infos.data, head->info_size) &&
         descriptor_write(fd, answer->ptx.data, head->ptx_size);
    buffer_free(&answer->errors);
    buffer_free(&answer->infos);
    buffer_free(&answer->ptx);
    return !ok;
}

static bool read_head(struct answer_head *head, struct bytes bytes, uint64_t size)
{
    uint64_t rest = size - sizeof *head;

    if (bytes.size < sizeof *head)
        return false;
    memcpy(head, bytes.data, sizeof *head);
    return head->magic == ANSWER_MAGIC && head->step <= LTO_STEP_DONE && head->error_size <= rest &&
           head->info_size <= rest - head->error_size &&
           head->ptx_size == rest - head->error_size - head->info_size;
}

bool answer_begins(struct bytes bytes, uint64_t size)
{
    struct answer_head head;

    return read_head(&head, bytes, size);
}

bool answer_read(struct lto_answer *answer, struct bytes bytes)
{
    struct lto_answer read = {0};
    const char *texts = (const char *)bytes.data + sizeof read.head;

    *answer = (struct lto_answer){0};
    if (!read_head(&read.head, bytes, bytes.size))
        return false;
    read.errors = (struct text){texts, read.head.error_size};
    read.infos = (struct text){texts + read.head.error_size, read.head.info_size};
    read.ptx = (struct text){read.infos.data + read.infos.size, read.head.ptx_size};
    *answer = read;
    return true;
}
