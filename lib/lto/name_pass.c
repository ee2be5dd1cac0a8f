/* name_pass.c: one more job, whose answer is read for names. */
#include "lto/lto_steps.h"

#include <string.h>

#include "base/buffer.h"
#include "base/context.h"
#include "diag/diag.h"
#include "lto/answer.h"
#include "lto/lto_cache.h"
#include "pool/child_tokens.h"

struct pass {
    struct parts_run run;
    struct part part;
    struct buffer job;
};

static void free_pass(void *argument)
{
    struct pass *pass = argument;

    parts_free(&pass->run);
    buffer_free(&pass->job);
}

static void make_job(struct pass *pass, struct arena *arena, const struct lto_request *request,
                     const struct job_inputs *inputs, const struct cache_key *common)
{
    struct option_request fast = *request->options;
    struct lto_request wanted = *request;
    const char *const *options;
    size_t count;

    fast.ofast_compile = "max";
    wanted.options = &fast;
    count = lto_options(&options, arena, &wanted, false, NULL);
    pass->run.child_threads = child_tokens_threads(options);
    job_write(&pass->job, request->library, options, count, inputs);
    pass->part.job = buffer_view(&pass->job);
    if (request->cache)
        pass->part.key = lto_cache_key(common, options, count);
}

bool name_pass_run(struct lto_kernels *kernels, struct arena *arena,
                   const struct lto_request *request, const struct job_inputs *inputs,
                   struct parts_run *run, const struct cache_key *common)
{
    struct pass pass = {.part = {.answer = -1}};
    struct lto_answer answer = {0};
    const char *speed = request->options->ofast_compile;
    bool ok;

    if (speed && strcmp(speed, "max") == 0)
        return false;
    run->is_repeated = true;
    pass.run = *run;
    pass.run.list = &pass.part;
    pass.run.count = pass.run.threads = 1;
    pass.run.distribution = NULL;
    CONTEXT_DEFER(free_pass, &pass);
    make_job(&pass, arena, request, inputs, common);
    parts_run(&pass.run);
    ok = pass.part.succeeded && answer_read(pass.part.answer, arena, &answer) &&
         lto_kernels_read(kernels, arena, request, answer.ptx);
    if (ok)
        diag_verbose("The kernels of the LTO-IR are known from a compilation with -Ofc=max");
    return ok;
}
