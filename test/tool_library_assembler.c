/* tool_library_assembler: an assembler of the caller's, which links itself.
 *
 *     tool_library_assembler     3> REPORT
 */
#include "library/answers.h"
#include "library/process.h"

/* What the caller's assembler is asked, and what it answers with. */
struct asked {
    int calls;
    int answer;
    const char *log;
};

/* Assembles by a link of its own. */
static int assemble(void *state, const struct minilink_job *job, struct minilink_result *result)
{
    struct asked *asked = state;
    struct minilink *link = begin(job->mode == MINILINK_MODE_WHOLE ? "-arch=sm_90" : "-r");
    const void *cubin;

    asked->calls++;
    result->log = asked->log ? strdup(asked->log) : NULL;
    is("a link in a link", add_text(link, job->ptx, "inner"), MINILINK_OK);
    is("is complete", minilink_complete(link), MINILINK_OK);
    cubin = minilink_cubin(link, &result->cubin_size);
    result->cubin = malloc(result->cubin_size);
    if (cubin && result->cubin)
        memcpy(result->cubin, cubin, result->cubin_size);
    minilink_destroy(&link);
    return asked->answer;
}

static struct minilink *begin_asking(struct asked *asked)
{
    /* Gone when the link is completed, as it is copied. */
    struct minilink_assembler assembler = {MINILINK_ASSEMBLER_ABI, "ours", "1", assemble, asked};
    struct minilink *link = begin("-arch=sm_90");

    is("an assembler", minilink_set_assembler(link, &assembler), MINILINK_OK);
    assembler.abi++;
    is("of another time", minilink_set_assembler(link, &assembler), MINILINK_USAGE);
    assembler = (struct minilink_assembler){MINILINK_ASSEMBLER_ABI, NULL, "1", assemble, NULL};
    is("without a name", minilink_set_assembler(link, &assembler), MINILINK_USAGE);
    assembler = (struct minilink_assembler){MINILINK_ASSEMBLER_ABI, "ours", NULL, assemble, NULL};
    is("without a version", minilink_set_assembler(link, &assembler), MINILINK_USAGE);
    assembler = (struct minilink_assembler){MINILINK_ASSEMBLER_ABI, "ours", "1", NULL, NULL};
    is("without a function", minilink_set_assembler(link, &assembler), MINILINK_USAGE);
    is("add", add_text(link, KERNEL_PTX, "k"), MINILINK_OK);
    return link;
}

static void try_assembler(void)
{
    struct asked asked = {.answer = MINILINK_OK};
    struct minilink *link = begin_asking(&asked);

    is("our assembler", minilink_complete(link), MINILINK_OK);
    check(asked.calls == 1, "it is called %d times", asked.calls);
    check(minilink_kernel_count(link) == 1, "it makes no kernel");
    minilink_destroy(&link);

    asked = (struct asked){.answer = MINILINK_WARNED, .log = "ptxas warning : much ado\n"};
    link = begin_asking(&asked);
    is("a warning", minilink_complete(link), MINILINK_OK);
    check(strstr(minilink_info_log(link, NULL), "much ado"), "is not in the log");
    check(*minilink_error_log(link, NULL) == 0, "a warning is an error");
    minilink_destroy(&link);

    asked = (struct asked){.answer = MINILINK_FAILED, .log = "4:1: error: about nothing\n"};
    link = begin_asking(&asked);
    is("an error", minilink_complete(link), MINILINK_FAILED);
    says(link, "about nothing");
    says(link, "k:4");
    has_no_result(link, "an error");
    minilink_destroy(&link);

    asked = (struct asked){.answer = MINILINK_NO_MEMORY};
    link = begin_asking(&asked);
    complete(&link, "an assembler without memory", MINILINK_NO_MEMORY, NULL);
    asked = (struct asked){.answer = MINILINK_ENVIRONMENT, .log = "no room\n"};
    link = begin_asking(&asked);
    complete(&link, "an assembler without room", MINILINK_ENVIRONMENT, "no room");
    asked = (struct asked){.answer = MINILINK_USAGE, .log = "no such option\n"};
    link = begin_asking(&asked);
    complete(&link, "an assembler of other options", MINILINK_USAGE, "no such option");
    asked = (struct asked){.answer = 99};
    link = begin_asking(&asked);
    check(minilink_complete(link) != MINILINK_OK, "99 is a success");
    check(*minilink_error_log(link, NULL), "99 is no word");
    minilink_destroy(&link);
}

int main(void)
{
    tally_begin();
    process_begin();
    try_assembler();
    process_check("it");
    return tally_end();
}
