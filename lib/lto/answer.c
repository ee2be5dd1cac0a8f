/* answer.c: writes and reads the file's bytes. */
#include "lto/answer.h"

#include <string.h>
#include <sys/stat.h>

#include "os/descriptor.h"

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

static bool is_answer_head(const struct answer_head *head, uint64_t size)
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
    return is_answer_head(&head, size);
}

bool answer_read(int fd, struct arena *arena, struct lto_answer *result)
{
    uint64_t at = sizeof(struct answer_head);
    struct answer_head head;
    struct stat status;

    if (fstat(fd, &status) || !descriptor_read(fd, &head, sizeof head, 0) ||
        !is_answer_head(&head, (uint64_t)status.st_size))
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
