/* check_diag.c: the forms of messages, and what is counted instead of shown. */
#include "diag/diag.h"

#include <jansson.h>
#include <sys/mman.h>
#include <unistd.h>

#include "messages.h"
#include "suite.h"

void set_up(void)
{
    messages_catch();
}

static const struct diag_place place = {
    .file = "a\n.ptx", .line = 3, .column = 2, .source_line = {"\tld;", 4}};

TEST(the_three_forms_of_a_message_at_a_place)
{
    diag_at(DIAG_ERROR, &place, "no '%s'", "\x1b[m");
    messages_expect("minilink error   : a\\n.ptx:3:2: no '\\x1b[m'\n    \tld;\n    \t^\n");
    messages_catch();
    diag_state_get()->format = DIAG_FORM_GNU;
    diag_at(DIAG_ERROR, &place, "no '%s'", "\x1b[m");
    diag_note("why");
    messages_expect("a\\n.ptx:3:2: error: no '\\x1b[m'\n    \tld;\n    \t^\nminilink: note: why\n");
    messages_catch();
    diag_state_get()->format = DIAG_FORM_JSON;
    diag_at(DIAG_ERROR, &place, "no '%s'", "\x1b[m");
    messages_expect("{\"program\":\"minilink\",\"severity\":\"error\",\"text\":\"no "
                    "'\\\\x1b[m'\",\"file\":\"a\\\\n."
                    "ptx\",\"line\":3,\"column\":2,\"source\":\"\\tld;\"}\n");
}

TEST(each_severity_has_its_mark)
{
    diag_state_get()->annotate = true;
    diag_note("n");
    diag_info("i");
    diag_warning("w");
    diag_error("e");
    diag_fatal("f");
    messages_expect("@O@minilink note    : n\n@I@minilink info    : i\n@W@minilink warning : w\n"
                    "@E@minilink error   : e\n@E@minilink fatal   : f\n");
}

TEST(every_line_of_json_is_an_object)
{
    struct diag_state *state = diag_state_get();
    char *text;

    state->format = DIAG_FORM_JSON;
    state->report_arch = "sm_90";
    diag_info("\"quoted\" \xff \xe4\xbd\xa0");
    diag_warning("w");
    diag_error("e");
    diag_note("n");
    diag_fatal("f");
    ck_assert(diag_text(TEXT("two\nlines")));
    text = messages.text.data;
    for (size_t at = 0, count = 0; count < 7; count++) {
        static const char *const severities[] = {"info",  "warning", "error", "note",
                                                 "fatal", "text",    "text"};
        char *end = memchr(text + at, '\n', messages.text.size - at);
        json_t *object = json_loadb(text + at, (size_t)(end - text) - at, 0, NULL);

        ck_assert_ptr_nonnull(object);
        ck_assert_str_eq(json_string_value(json_object_get(object, "severity")), severities[count]);
        ck_assert(json_is_string(json_object_get(object, "text")));
        ck_assert(!json_object_get(object, "target") == (count == 3 || count >= 5));
        json_decref(object);
        at = (size_t)(end - text) + 1;
        ck_assert((at == messages.text.size) == (count == 6));
    }
}

TEST(colours_stand_around_the_severity_and_the_place_only)
{
    diag_state_get()->color = true;
    diag_warning("text");
    diag_at(DIAG_NOTE, &place, "there");
    messages_expect("minilink \033[1;35mwarning \033[m: text\n"
                    "minilink \033[1;36mnote    \033[m: \033[1ma\\n.ptx:3:2:\033[m there\n"
                    "    \tld;\n    \t\033[1;32m^\033[m\n");
}

/* What the function prints on standard error. */
static void print(void (*function)(struct diag_tally *), struct diag_tally tally, const char *text)
{
    char said[4096] = "";
    int ends[2], kept = dup(STDERR_FILENO);
    struct diag_state *state = diag_state_get();
    ssize_t size;

    ck_assert_int_eq(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    state->sink = NULL;
    state->tally = &tally;
    function(&tally);
    diag_tally_end(&tally);
    diag_tally_free(&tally);
    state->tally = NULL;
    dup2(kept, STDERR_FILENO);
    close(kept);
    size = read(ends[0], said, sizeof said - 1);
    close(ends[0]);
    ck_assert_int_ge((int)size, 0);
    ck_assert_str_eq(said, text);
}

static void report_errors(struct diag_tally *tally)
{
    (void)tally;
    for (int i = 1; i <= 4; i++) {
        diag_error("error %d", i);
        diag_note("note %d", i);
    }
    diag_fatal("the end");
    diag_note("of it");
}

TEST(errors_beyond_the_limit_are_counted_and_their_notes_not_shown)
{
    print(report_errors, (struct diag_tally){.error_limit = 2},
          "minilink error   : error 1\nminilink note    : note 1\n"
          "minilink error   : error 2\nminilink note    : note 2\n"
          "minilink fatal   : the end\nminilink note    : of it\n"
          "minilink note    : 2 more errors are not shown; --error-limit=0 shows all\n");
    ck_assert_uint_eq(diag_error_count(), 5);
    print(report_errors, (struct diag_tally){.error_limit = 0},
          "minilink error   : error 1\nminilink note    : note 1\n"
          "minilink error   : error 2\nminilink note    : note 2\n"
          "minilink error   : error 3\nminilink note    : note 3\n"
          "minilink error   : error 4\nminilink note    : note 4\n"
          "minilink fatal   : the end\nminilink note    : of it\n");
}

static void report_warnings(struct diag_tally *tally)
{
    (void)tally;
    for (int i = 1; i <= 5; i++) {
        diag_warning("'%d' of %d is odd", i, i * 1000);
        diag_note("note %d", i);
    }
    diag_warning("'x' of 7 is even");
}

static enum link_code collect_warnings(void *tally)
{
    report_warnings(tally);
    return LINK_OK;
}

static void replay_warnings(struct diag_tally *tally)
{
    struct diag_sink sink = {0};

    diag_collect(collect_warnings, tally, diag_state_get(), &sink);
    diag_replay(&sink);
}

/* Told at once, or by a worker. */
TEST_LOOP(warnings_that_differ_in_names_and_numbers_are_folded, 2)
{
    print(
        _i ? replay_warnings : report_warnings, (struct diag_tally){.folds = true},
        "minilink warning : '1' of 1000 is odd\nminilink note    : note 1\n"
        "minilink warning : '2' of 2000 is odd\nminilink note    : note 2\n"
        "minilink warning : '3' of 3000 is odd\nminilink note    : note 3\n"
        "minilink warning : 'x' of 7 is even\n"
        "minilink note    : 2 more warnings such as \"'4' of 4000 is odd\" are not shown; -v shows "
        "all\n");
}

static void note_message(void *said, int severity, struct text text)
{
    if (text.size > 0)
        buffer_printf(said, "%d: %.*s", severity, TEXT_ARG(text));
}

/* As a library has messages: those of a worker, one by one, and nothing of what is not shown. */
TEST(a_writer_gets_each_message)
{
    struct diag_state *state = diag_state_get();
    struct diag_tally tally = {.folds = true};
    OWNED(buffer) said = {0};
    const struct diag_writer writer = {note_message, &said};

    state->sink = NULL;
    state->writer = &writer;
    state->tally = &tally;
    replay_warnings(&tally);
    diag_tally_end(&tally);
    diag_tally_free(&tally);
    state->tally = NULL;
    state->writer = NULL;
    buffer_char(&said, '\0');
    ck_assert_str_eq(said.data,
                     "3: minilink warning : '1' of 1000 is odd\n1: minilink note    : note 1\n"
                     "3: minilink warning : '2' of 2000 is odd\n1: minilink note    : note 2\n"
                     "3: minilink warning : '3' of 3000 is odd\n1: minilink note    : note 3\n"
                     "3: minilink warning : 'x' of 7 is even\n"
                     "1: minilink note    : 2 more warnings such as \"'4' of 4000 is odd\" are not "
                     "shown; -v shows all\n");
}

/* What workers have reported is counted when it is printed, in its order. */
static void replay(struct diag_tally *tally)
{
    struct diag_sink outer = {0}, inner = {0};
    struct diag_state *state = diag_state_get();

    (void)tally;
    state->sink = &inner;
    report_errors(tally);
    state->sink = &outer;
    diag_error("before");
    diag_replay(&inner);
    state->sink = NULL;
    diag_replay(&outer);
}

TEST(replayed_errors_are_counted_too)
{
    print(replay, (struct diag_tally){.error_limit = 2},
          "minilink error   : before\n"
          "minilink error   : error 1\nminilink note    : note 1\n"
          "minilink fatal   : the end\nminilink note    : of it\n"
          "minilink note    : 3 more errors are not shown; --error-limit=0 shows all\n");
}

/* Three pages, the first of which cannot be read, with the rest in the last: memrchr() may read
 * some more bytes of the text than it looks at. */
static struct text unreadable_beginning(const char *rest)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(pages, MAP_FAILED);
    strcpy(pages + 2 * page, rest);
    ck_assert_int_eq(mprotect(pages, page, PROT_NONE), 0);
    return (struct text){pages, 2 * page + strlen(rest)};
}

TEST(a_place_has_the_line_the_column_and_the_source_of_its_byte)
{
    const struct text text = TEXT("one\ntwo\r\nthree");
    static const struct {
        size_t offset;
        uint32_t line, column;
        const char *source;
    } cases[] = {{0, 1, 1, "one"},   {3, 1, 4, "one"},    {4, 2, 1, "two"},
                 {9, 3, 1, "three"}, {14, 3, 6, "three"}, {99, 3, 6, "three"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t known = 0; known < 2; known++) {
            struct diag_place at = known ? diag_place_behind("f", text, cases[i].offset, 4, 2)
                                         : diag_place_of("f", text, cases[i].offset);
            struct diag_place found = diag_place_find(&at);

            ck_assert_uint_eq(found.line, cases[i].line);
            ck_assert_uint_eq(found.column, cases[i].column);
            ck_assert(text_equal(found.source_line, text_of(cases[i].source)));
        }
}

TEST(columns_of_very_long_lines_are_not_counted)
{
    const size_t size = 200000;
    FREED char *long_line = malloc(size);
    struct diag_place at, found;

    memset(long_line, 'x', size);
    long_line[0] = '\n';
    at = diag_place_of("f", (struct text){long_line, size}, size - 1);
    found = diag_place_find(&at);
    ck_assert_uint_eq(found.line, 2);
    ck_assert_uint_eq(found.column, 0);
    ck_assert_uint_eq(found.source_line.size, 0);
    at = diag_place_of("f", (struct text){long_line, size}, 1000);
    found = diag_place_find(&at);
    ck_assert_uint_eq(found.column, 1000);
    ck_assert_uint_le(found.source_line.size, 70000);
}

TEST(lines_in_front_of_a_known_one_are_not_read)
{
    struct text text = unreadable_beginning("7\n8\nbad");
    size_t known = text.size - strlen("7\n8\nbad");
    struct diag_place at = diag_place_behind("f", text, text.size - 3, known, 7);

    diag_at(DIAG_ERROR, &at, "is here");
    messages_expect("minilink error   : f:9:1: is here\n    bad\n    ^\n");
}

static void report_unreadable(struct diag_tally *tally)
{
    struct text text = unreadable_beginning("end");
    struct diag_place at = diag_place_of("f", text, text.size);

    (void)tally;
    diag_error("first");
    diag_at(DIAG_ERROR, &at, "second");
}

TEST(the_place_of_an_error_that_is_not_shown_is_not_looked_up)
{
    print(report_unreadable, (struct diag_tally){.error_limit = 1},
          "minilink error   : first\n"
          "minilink note    : 1 more errors are not shown; --error-limit=0 shows all\n");
}

static void replay_unreadable(struct diag_tally *tally)
{
    struct diag_sink outer = {0}, inner = {0};
    struct diag_state *state = diag_state_get();

    state->error_limit = 1;
    state->sink = &inner;
    report_unreadable(tally);
    diag_note("of the second");
    diag_fatal("the end");
    state->sink = &outer;
    diag_replay(&inner);
    ck_assert_uint_eq(outer.errors, 3);
    state->sink = NULL;
    diag_replay(&outer);
}

TEST(nor_is_it_where_messages_are_kept)
{
    print(replay_unreadable, (struct diag_tally){.error_limit = 1},
          "minilink error   : first\nminilink fatal   : the end\n"
          "minilink note    : 1 more errors are not shown; --error-limit=0 shows all\n");
}

TEST(only_refusals_are_a_refusal)
{
    struct diag_state *state = diag_state_get();

    state->error_count = state->refusal_count = 0;
    ck_assert(!diag_is_refusal());
    messages_catch();
    diag_warning("a");
    diag_refusal("b");
    ck_assert(diag_is_refusal());
    {
        DIAG_SILENCE();
        diag_refusal("not counted");
    }
    diag_refusal("c");
    ck_assert(diag_is_refusal());
    diag_error("d");
    ck_assert(!diag_is_refusal());
    messages_expect("minilink warning : a\nminilink error   : b\nminilink error   : c\n"
                    "minilink error   : d\n");
}
