/* answer.c: the file's bytes, out and in. */
#include "lto/answer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "os/descriptor.h"

int answer_write(int fd, struct answer_draft *answer)
{
    const struct answer_head *head = &answer->head;
    bool ok = descriptor_write(fd, head, sizeof *head) &&
              descriptor_write(fd, answer->errors, head->error_size) &&
              descriptor_write(fd, answer->infos, head->info_size) &&
              descriptor_write(fd, answer->ptx, head->ptx_size);

    free(answer->errors);
    free(answer->infos);
    free(answer->ptx);
    if (answer->is_out_of_memory)
        return LTO_NO_MEMORY;
    return !ok;
}

void answer_set_error(struct answer_draft *answer, const char *text)
{
    free(answer->errors);
    answer->errors = strdup(text ? text : "no reason given");
    answer->is_out_of_memory |= !answer->errors;
    answer->head.error_size = answer->errors ? strlen(answer->errors) : 0;
}

static bool read_text(int fd, struct arena *arena, uint64_t *at, uint64_t size, struct text *text)
{
    char *data = arena_alloc(arena, (size_t)size + 1, 1);

    data[size] = '\0';
    *text = (struct text){data, (size_t)size};
    if (!descriptor_read(fd, data, (size_t)size, *at))
        return false;
    *at += size;
    return true;
}

bool answer_succeeded(int fd)
{
    struct answer_head head;

    return descriptor_read(fd, &head, sizeof head, 0) && head.magic == ANSWER_MAGIC &&
           head.step == LTO_STEP_DONE;
}

static bool is_head(const struct answer_head *head, uint64_t size)
{
    uint64_t rest = size - sizeof *head;

    return size >= sizeof *head && head->magic == ANSWER_MAGIC && head->step <= LTO_STEP_DONE &&
           head->error_size <= rest && head->info_size <= rest - head->error_size &&
           head->ptx_size == rest - head->error_size - head->info_size;
}

bool answer_begins(struct bytes bytes, uint64_t size)
{
    struct answer_head head;

    if (bytes.size < sizeof head)
        return false;
    memcpy(&head, bytes.data, sizeof head);
    return is_head(&head, size);
}

bool answer_read(int fd, struct arena *arena, struct lto_answer *result)
{
    uint64_t at = sizeof(struct answer_head);
    struct answer_head head;
    struct stat status;

    if (fstat(fd, &status) || !descriptor_read(fd, &head, sizeof head, 0) ||
        !is_head(&head, (uint64_t)status.st_size))
        return false;
    *result = (struct lto_answer){
        .step = (enum lto_step)head.step,
        .code = head.code,
        .failed_input = head.failed_input,
        .major = head.major,
        .minor = head.minor,
    };
    if (read_text(fd, arena, &at, head.error_size, &result->errors) &&
        read_text(fd, arena, &at, head.info_size, &result->infos) &&
        read_text(fd, arena, &at, head.ptx_size, &result->ptx))
        return true;
    *result = (struct lto_answer){0};
    return false;
}
