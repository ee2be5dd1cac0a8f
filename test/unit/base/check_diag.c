/* check_diag.c: the forms of messages, and what is counted instead of shown. */
#include "base/diag.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/context.h"
#include "suite.h"

static struct diag_sink sink;

static void collect(void)
{
    struct context *context = context_get();

    sink = (struct diag_sink){0};
    context->sink = &sink;
}

static void forget(void)
{
    struct context *context = context_get();

    context->sink = NULL;
    context->tally = NULL;
    context->format = DIAG_FORM_NVLINK;
    context->color = false;
    context->report_arch = NULL;
    context->error_count = 0;
    diag_sink_free(&sink);
}

static void expect(const char *text)
{
    char *said = strndup(sink.text.data ? sink.text.data : "", sink.text.size);

    ck_assert_str_eq(said, text);
    free(said);
}

static const struct diag_place place = {
    .file = "a\n.ptx", .line = 3, .column = 2, .source_line = {"\tld;", 4}};

START_TEST(the_three_forms_of_a_message_at_a_place)
{
    diag_at(DIAG_ERROR, &place, "no '%s'", "\x1b[m");
    expect("minilink error   : a\\n.ptx:3:2: no '\\x1b[m'\n    \tld;\n    \t^\n");
    diag_sink_free(&sink);
    context_get()->format = DIAG_FORM_GNU;
    diag_at(DIAG_ERROR, &place, "no '%s'", "\x1b[m");
    diag_note("why");
    expect("a\\n.ptx:3:2: error: no '\\x1b[m'\n    \tld;\n    \t^\nminilink: note: why\n");
    diag_sink_free(&sink);
    context_get()->format = DIAG_FORM_JSON;
    diag_at(DIAG_ERROR, &place, "no '%s'", "\x1b[m");
    expect("{\"program\":\"minilink\",\"severity\":\"error\",\"text\":\"no "
           "'\\\\x1b[m'\",\"file\":\"a\\\\n."
           "ptx\",\"line\":3,\"column\":2,\"source\":\"\\tld;\"}\n");
}
END_TEST

START_TEST(every_line_of_json_is_an_object)
{
    struct context *context = context_get();
    char *text;

    context->format = DIAG_FORM_JSON;
    context->report_arch = "sm_90";
    diag_info("\"quoted\" \xff \xe4\xbd\xa0");
    diag_warning("w");
    diag_error("e");
    diag_note("n");
    diag_fatal("f");
    ck_assert(diag_text(TEXT("two\nlines")));
    text = sink.text.data;
    for (size_t at = 0, count = 0; count < 7; count++) {
        static const char *const severities[] = {"info",  "warning", "error", "note",
                                                 "fatal", "text",    "text"};
        char *end = memchr(text + at, '\n', sink.text.size - at);
        json_t *object = json_loadb(text + at, (size_t)(end - text) - at, 0, NULL);

        ck_assert_ptr_nonnull(object);
        ck_assert_str_eq(json_string_value(json_object_get(object, "severity")), severities[count]);
        ck_assert(json_is_string(json_object_get(object, "text")));
        ck_assert(!json_object_get(object, "target") == (count == 3 || count >= 5));
        json_decref(object);
        at = (size_t)(end - text) + 1;
        ck_assert((at == sink.text.size) == (count == 6));
    }
}
END_TEST

START_TEST(colours_stand_around_the_severity_and_the_place_only)
{
    context_get()->color = true;
    diag_warning("text");
    diag_at(DIAG_NOTE, &place, "there");
    expect("minilink \033[1;35mwarning \033[m: text\n"
           "minilink \033[1;36mnote    \033[m: \033[1ma\\n.ptx:3:2:\033[m there\n"
           "    \tld;\n    \t\033[1;32m^\033[m\n");
}
END_TEST

/* What the function prints on standard error. */
static void print(void (*function)(struct diag_tally *), struct diag_tally tally, const char *text)
{
    char said[4096] = "";
    int ends[2], kept = dup(STDERR_FILENO);
    struct context *context = context_get();
    ssize_t size;

    ck_assert_int_eq(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    context->sink = NULL;
    context->tally = &tally;
    function(&tally);
    diag_tally_end(&tally);
    diag_tally_free(&tally);
    context->tally = NULL;
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

START_TEST(errors_beyond_the_limit_are_counted_and_their_notes_not_shown)
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
END_TEST

static void report_warnings(struct diag_tally *tally)
{
    (void)tally;
    for (int i = 1; i <= 5; i++) {
        diag_warning("'%d' of %d is odd", i, i * 1000);
        diag_note("note %d", i);
    }
    diag_warning("'x' of 7 is even");
}

START_TEST(warnings_that_differ_in_names_and_numbers_are_folded)
{
    print(
        report_warnings, (struct diag_tally){.folds = true},
        "minilink warning : '1' of 1000 is odd\nminilink note    : note 1\n"
        "minilink warning : '2' of 2000 is odd\nminilink note    : note 2\n"
        "minilink warning : '3' of 3000 is odd\nminilink note    : note 3\n"
        "minilink warning : 'x' of 7 is even\n"
        "minilink note    : 2 more warnings such as \"'4' of 4000 is odd\" are not shown; -v shows "
        "all\n");
}
END_TEST

/* What workers have reported is counted when it is printed, in its order. */
static void replay(struct diag_tally *tally)
{
    struct diag_sink outer = {0}, inner = {0};
    struct context *context = context_get();

    (void)tally;
    context->sink = &inner;
    report_errors(tally);
    context->sink = &outer;
    diag_error("before");
    diag_replay(&inner);
    context->sink = NULL;
    diag_replay(&outer);
}

START_TEST(replayed_errors_are_counted_too)
{
    print(replay, (struct diag_tally){.error_limit = 2},
          "minilink error   : before\n"
          "minilink error   : error 1\nminilink note    : note 1\n"
          "minilink fatal   : the end\nminilink note    : of it\n"
          "minilink note    : 3 more errors are not shown; --error-limit=0 shows all\n");
}
END_TEST

Suite *check_suite(void)
{
    Suite *suite = suite_create("diag");
    TCase *tests = tcase_create("diag");

    tcase_add_checked_fixture(tests, collect, forget);
    tcase_add_test(tests, the_three_forms_of_a_message_at_a_place);
    tcase_add_test(tests, every_line_of_json_is_an_object);
    tcase_add_test(tests, colours_stand_around_the_severity_and_the_place_only);
    tcase_add_test(tests, errors_beyond_the_limit_are_counted_and_their_notes_not_shown);
    tcase_add_test(tests, warnings_that_differ_in_names_and_numbers_are_folded);
    tcase_add_test(tests, replayed_errors_are_counted_too);
    suite_add_tcase(suite, tests);
    return suite;
}
