/* fuzz_job.c: any bytes as what a child is told to do with libnvJitLink: the words of a job, and
 * after an empty word the inputs. */
#include "lto/job.h"
#include "fuzz.h"

static bool is_inside(struct bytes part, struct bytes whole)
{
    return part.size == 0 || (part.data >= whole.data && part.data <= whole.data + whole.size &&
                              part.size <= (size_t)(whole.data + whole.size - part.data));
}

/* What was read, written again and read again, is the same. */
static void check_job(const struct lto_job *job, struct bytes inputs)
{
    struct arena arena = {0};
    struct text words;
    struct lto_job again;
    struct job_input *list = arena_zalloc(&arena, job->input_count, sizeof *list);

    for (size_t i = 0; i < job->input_count; i++) {
        if (!is_inside(job->inputs[i].data, inputs))
            abort();
        list[i] = (struct job_input){
            .offset =
                job->inputs[i].data.size ? (size_t)(job->inputs[i].data.data - inputs.data) : 0,
            .size = job->inputs[i].data.size,
            .is_fatbin = job->inputs[i].is_fatbin,
        };
    }
    words = job_write(&arena, job->library, job->options,
                      &(struct job_inputs){list, job->input_count, job->is_llvm});
    if (!job_read(&again, &arena, "again", text_bytes(words), inputs) ||
        again.option_count != job->option_count || again.input_count != job->input_count ||
        strcmp(again.library, job->library) != 0 || again.is_llvm != job->is_llvm)
        abort();
    for (size_t i = 0; i < job->option_count; i++)
        if (strcmp(again.options[i], job->options[i]) != 0)
            abort();
    arena_free(&arena);
}

static void fuzz(struct bytes rest)
{
    const uint8_t *end = rest.size ? memmem(rest.data, rest.size, "\0", 2) : NULL;
    struct bytes words = {rest.data, end ? (size_t)(end + 1 - rest.data) : rest.size};
    struct bytes inputs = {rest.data + words.size, rest.size - words.size};
    struct lto_job job;
    struct arena arena = {0};

    words.data = fuzz_copy(words);
    inputs.data = fuzz_copy(inputs);
    if (job_read(&job, &arena, "a.job", words, inputs))
        check_job(&job, inputs);
    arena_free(&arena);
}
