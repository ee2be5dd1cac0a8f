/* check_chunk_cache.c: chunks that are in the cache: which are assembled again, and that nobody
 * sees from cubins and messages which were not. */
#include <stdatomic.h>

#include "assemble/assemble.h"
#include "files.h"
#include "messages.h"
#include "split/internal.h"
#include "suite.h"

static char folder[64];
static struct cache_request cache_request;
static struct cache *cache;
static atomic_int calls;

/* The texts of chunks say what the assembler shall do with them: "warn", "name", "elsewhere",
 * "fail", "report"; all else becomes a cubin without a word. */
static int fake_assemble(void *state, const struct minilink_job *job,
                         struct minilink_result *result)
{
    char log[128] = "";

    (void)state;
    atomic_fetch_add(&calls, 1);
    if (strcmp(job->ptx, "warn") == 0)
        snprintf(log, sizeof log, "3:1: warning: careful\nptxas info    : so there\n");
    else if (strcmp(job->ptx, "name") == 0)
        snprintf(log, sizeof log, "%s:4:1: warning: named\n%s:5:1: warning: again\n", job->name,
                 job->name);
    else if (strcmp(job->ptx, "elsewhere") == 0)
        snprintf(log, sizeof log, "6:1: warning: in %s\n", job->name);
    else if (strcmp(job->ptx, "report") == 0)
        diag_warning("from within");
    if (*log)
        result->log = strdup(log);
    if (strcmp(job->ptx, "fail") == 0)
        return MINILINK_FAILED;
    result->cubin_size =
        (size_t)asprintf((char **)&result->cubin, "cubin of %s for %s", job->ptx, job->arch);
    return MINILINK_OK;
}

static struct assembler fake = {
    .table = {MINILINK_ASSEMBLER_ABI, "fake", "1", fake_assemble, NULL}};
static struct assemble_request request;
static const char *const *stored; /* every chunk's own options */

void set_up(void)
{
    strcpy(folder, "/tmp/check_chunk_cache.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    cache_request = (struct cache_request){.folder = folder, .policy = cache_policy_default};
    cache = cache_open(&cache_request, NULL);
    stored = NULL;
    request = (struct assemble_request){.assembler = &fake,
                                        .arch = {90, 'a'},
                                        .threads = 4,
                                        .limits.jobserver = JOBSERVER_OFF,
                                        .cache = cache};
}

void tear_down(void)
{
    cache_close(cache);
    files_remove_folder(folder);
}

#define MOST 8

/* Assembles chunks of these texts, up to NULL, each from line 100 * (its index + 1) of "a.o" on.
 * Returns how often the assembler was called. What was said is caught, and in *result what
 * assemble_chunks() returned. */
static int assemble(const char *const *texts, struct cubins *cubins, int *result)
{
    struct chunk list[MOST] = {0};
    struct line_range ranges[MOST];
    struct chunk_origins origins[MOST];
    struct chunks chunks = {.list = list, .origins = origins};

    for (; texts[chunks.count]; chunks.count++) {
        uint32_t index = (uint32_t)chunks.count;

        list[index] = (struct chunk){.index = index,
                                     .text = text_of(texts[index]),
                                     .weight = 1,
                                     .options = stored,
                                     .first_function = "work"};
        ranges[index] = (struct line_range){1, 99, 100 * (index + 1) + 1, "a.o"};
        origins[index] = (struct chunk_origins){&ranges[index], 1};
    }
    atomic_store(&calls, 0);
    messages_catch();
    *result = (int)assemble_chunks(cubins, &chunks, &request);
    return atomic_load(&calls);
}
#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static uint64_t hits(void)
{
    return cache_statistics(cache)->kinds[CACHE_CHUNK].hits;
}

/* The same, where all goes well and the cubins are the right ones. */
static int calls_for(const char *const *texts)
{
    OWNED(cubins) cubins = {0};
    uint64_t before = hits();
    int result, count = assemble(texts, &cubins, &result);

    ck_assert_int_eq(result, LINK_OK);
    for (size_t i = 0; i < cubins.count; i++) {
        char expected[64];
        int size = snprintf(expected, sizeof expected, "cubin of %s for sm_%u%.1s", texts[i],
                            request.arch.sm, &request.arch.suffix);

        ck_assert_uint_eq(cubins.list[i].size, (size_t)size);
        ck_assert_mem_eq(cubins.list[i].data, expected, (size_t)size);
    }
    ck_assert_uint_eq(hits() - before + (size_t)count,
                      request.cache ? cubins.count : (size_t)count);
    return count;
}

TEST(what_was_assembled_once_is_not_assembled_again)
{
    ck_assert_int_eq(calls_for(TEXTS("a", "b", "c")), 3);
    ck_assert_int_eq(calls_for(TEXTS("a", "b", "c")), 0);
    ck_assert_int_eq(calls_for(TEXTS("c", "a")), 0);
    ck_assert_int_eq(calls_for(TEXTS("a", "b2", "c")), 1);
    ck_assert_int_eq(calls_for(TEXTS("b2", "b", "d", "a")), 1);
    ck_assert_int_eq(calls_for(TEXTS("a", "b", "c", "d")), 0);
    request.cache = NULL;
    ck_assert_int_eq(calls_for(TEXTS("a", "b")), 2);
}

TEST(threads_do_not_count_and_are_told_alike)
{
    struct cubins cubins = {0};
    int result;

    assemble(TEXTS("a", "b", "c"), &cubins, &result);
    ck_assert_uint_eq(cubins.threads, 3);
    cubins_free(&cubins);
    assemble(TEXTS("a", "b", "c"), &cubins, &result);
    ck_assert_uint_eq(cubins.threads, 3);
    ck_assert_uint_eq(hits(), 3);
    cubins_free(&cubins);
    request.threads = 1;
    request.limits.threads = 5;
    request.keep_going = true;
    ck_assert_int_eq(calls_for(TEXTS("a", "b", "c")), 0);
}

TEST(whatever_the_cubin_depends_on_counts)
{
    const struct assemble_request before = request;
    struct assemble_request changes[10];

    for (int i = 0; i < COUNT(changes); i++)
        changes[i] = before;
    changes[0].arch.sm = 80;
    changes[1].arch.suffix = 0;
    changes[2].mode = MINILINK_MODE_WHOLE;
    changes[3].debug = true;
    changes[4].line_info = true;
    changes[5].maxrregcount = 32;
    changes[6].identity.bytes[15] = 1;
    changes[7].options = TEXTS("-O1", "-v");
    changes[8].options = TEXTS("-v", "-O1");
    changes[9].options = TEXTS("-O1-v");
    ck_assert_int_eq(calls_for(TEXTS("a")), 1);
    for (int i = 0; i < COUNT(changes); i++) {
        request = changes[i];
        ck_assert_msg(calls_for(TEXTS("a")) == 1, "change %d does not count", i);
        ck_assert_int_eq(calls_for(TEXTS("a")), 0);
    }
    request = before;
    ck_assert_int_eq(calls_for(TEXTS("a")), 0);
}

/* Words of the chunk are not the same as words of the command line, which come last. */
TEST(options_of_the_chunk_count)
{
    const char *const *const own[] = {TEXTS("-O1"), TEXTS("-O1", "-v"), TEXTS("-v", "-O1")};

    request.options = TEXTS("-O1");
    ck_assert_int_eq(calls_for(TEXTS("a", "b")), 2);
    for (int i = 0; i < COUNT(own); i++) {
        stored = own[i];
        ck_assert_int_eq(calls_for(TEXTS("a", "b")), 2);
        ck_assert_int_eq(calls_for(TEXTS("a", "b")), 0);
    }
    stored = TEXTS("-O1");
    ck_assert_int_eq(calls_for(TEXTS("a")), 0);
    stored = NULL;
    ck_assert_int_eq(calls_for(TEXTS("a")), 0);
}

/* The lines are those of the chunk that says it now. */
TEST(messages_are_said_again)
{
    static const char first[] = "minilink warning : a.o:103:1: careful\n"
                                "minilink info    : so there\n";

    ck_assert_int_eq(calls_for(TEXTS("warn", "a")), 2);
    messages_expect(first);
    ck_assert_int_eq(calls_for(TEXTS("warn", "a")), 0);
    messages_expect(first);
    ck_assert_int_eq(calls_for(TEXTS("a", "warn")), 0);
    messages_expect("minilink warning : a.o:203:1: careful\n"
                    "minilink info    : so there\n");
}

/* -w, -Werror and the form are this link's, not that of the link that has kept it. */
TEST(messages_are_said_as_this_link_wants_them)
{
    struct cubins cubins = {0};
    int result;

    diag_state_get()->suppress_warnings = true;
    ck_assert_int_eq(calls_for(TEXTS("warn")), 1);
    messages_expect("minilink info    : so there\n");
    diag_state_get()->suppress_warnings = false;
    diag_state_get()->format = DIAG_FORM_GNU;
    ck_assert_int_eq(calls_for(TEXTS("warn")), 0);
    messages_expect("a.o:103:1: warning: careful\n"
                    "minilink: info: so there\n");
    diag_state_get()->format = DIAG_FORM_NVLINK;
    diag_state_get()->warnings_are_errors = true;
    ck_assert_int_eq(assemble(TEXTS("warn"), &cubins, &result), 0);
    ck_assert_int_eq(result, LINK_FAILED);
}

TEST(a_chunks_name_is_that_of_the_link_that_says_it)
{
    ck_assert_int_eq(calls_for(TEXTS("name")), 1);
    messages_expect("minilink warning : a.o:104:1: named\n"
                    "minilink warning : a.o:105:1: again\n");
    ck_assert_int_eq(calls_for(TEXTS("a", "name")), 1);
    messages_expect("minilink warning : a.o:204:1: named\n"
                    "minilink warning : a.o:205:1: again\n");
    /* One that says its name within a message is not kept. */
    ck_assert_int_eq(calls_for(TEXTS("elsewhere")), 1);
    ck_assert_int_eq(calls_for(TEXTS("elsewhere")), 1);
    ck_assert_int_eq(calls_for(TEXTS("report")), 1);
    ck_assert_int_eq(calls_for(TEXTS("report")), 1);
}

/* Those of the same link that went well are. */
TEST(failures_are_never_kept)
{
    struct cubins cubins = {0};
    int result;

    request.threads = 1;
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(assemble(TEXTS("a", "fail"), &cubins, &result), i == 0 ? 2 : 1);
        ck_assert_int_eq(result, LINK_FAILED);
    }
    ck_assert_int_eq(calls_for(TEXTS("a")), 0);
}

/* What assembler_identity_find() says, which ends in a key that is compared. */
static struct assembler assembler;
static bool identify(const char *const *options, struct cache_key *identity)
{
    messages_catch();
    return assembler_identity_find(identity, &assembler, options, cache);
}

static bool same(const struct cache_key *a, const struct cache_key *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

TEST(a_plugin_is_its_name_and_version)
{
    struct cache_key one, other;

    assembler = (struct assembler){.table = fake.table, .library = &assembler};
    ck_assert(identify(NULL, &one) && identify(NULL, &other) && same(&one, &other));
    assembler.table.version = "2";
    ck_assert(identify(NULL, &other) && !same(&one, &other));
    assembler.table.version = "1";
    assembler.table.name = "another";
    ck_assert(identify(NULL, &other) && !same(&one, &other));
    assembler.table.version = "";
    ck_assert(!identify(NULL, &other));
    messages_expect_part("the assembler 'another' declares no version");
}

TEST(ptxas_is_its_contents_and_its_environment)
{
    char path[96], moved[96];
    struct cache_key one, other;

    snprintf(path, sizeof path, "%s/ptxas", folder);
    snprintf(moved, sizeof moved, "%s/moved", folder);
    files_save(path, "one", 3);
    assembler = (struct assembler){.table = {.name = "ptxas", .version = "13"},
                                   .ptxas = {.path = path, .version = (char[]){"13"}}};
    ck_assert(identify(NULL, &one));
    ck_assert_int_eq(rename(path, moved), 0);
    assembler.ptxas.path = moved;
    ck_assert(identify(NULL, &other) && same(&one, &other));
    files_save(moved, "two", 3);
    ck_assert(identify(NULL, &other) && !same(&one, &other));
    files_save(moved, "one", 3);
    ck_assert(identify(NULL, &other) && same(&one, &other));
    assembler.ptxas.version = (char[]){"12"};
    ck_assert(identify(NULL, &other) && !same(&one, &other));
    assembler.ptxas.version = (char[]){"13"};
    setenv("CAN_FINALIZE_DEBUG", "1", 1);
    ck_assert(identify(NULL, &other) && !same(&one, &other));
    ck_assert(identify(NULL, &one));
    setenv("FINALIZER_USE_LEGACY_ELF_BUILDER", "1", 1); /* ptxas 13.5 writes other bytes then */
    ck_assert(identify(NULL, &other) && !same(&one, &other));
}

TEST(a_ptxas_of_nvidias_is_its_file_alone)
{
    char path[96];
    struct cache_key one, other;

    snprintf(path, sizeof path, "%s/ptxas", folder);
    files_save(path, "before Cuda compilation tools, release 13.0", 43);
    assembler = (struct assembler){.table = {.name = "ptxas"},
                                   .ptxas = {.path = path, .version = (char[]){"13"}}};
    ck_assert(identify(NULL, &one));
    assembler.ptxas.version = (char[]){"12"};
    ck_assert(identify(NULL, &other) && same(&one, &other));
    assembler.ptxas.version = NULL; /* it is not asked, and could not be run */
    ck_assert(identify(NULL, &other) && same(&one, &other));
    files_save(path, "a script", 8);
    ck_assert(!identify(NULL, &other));
    messages_expect("");
}

TEST_LOOP(what_cannot_be_part_of_a_key_is_told, 8)
{
    static const struct {
        const char *const options[3];
        bool counts;
    } rows[] = {{{"-O1"}, true},
                {{"-optf=x"}, false},
                {{"-optf", "x"}, false},
                {{"--options-file=x"}, false},
                {{"--optf=x"}, false},
                {{"@x"}, false},
                {{"-O1", "-optf=x"}, false},
                {{"--optimize=x"}, true}};
    struct cache_key key;

    assembler = (struct assembler){.table = fake.table, .library = &assembler};
    ck_assert(identify(rows[_i].options, &key) == rows[_i].counts);
    ck_assert((*messages_said() != '\0') == !rows[_i].counts);
    assembler = (struct assembler){.ptxas = {.path = folder}};
    ck_assert(!identify(NULL, &key));
    assembler = (struct assembler){.table = fake.table}; /* a program that can be read */
    ck_assert(identify(NULL, &key));
}
