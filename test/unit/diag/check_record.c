/* Tests of what was said and is said again: in the form of who says it, and never anything else. */

#include "diag/diag.h"
#include "diag/diag.h"
#include "suite.h"

static struct diag_record record;

void tear_down(void)
{
    buffer_free(&record.bytes);
}

static enum link_code say_all(void *unused)
{
    const struct diag_place place = {
        .file = "a.o", .line = 3, .column = 5, .source_line = TEXT("mov.b32 a, b;")};
    const struct diag_place file = {.file = "lib.a(b.o)"};

    (void)unused;
    diag_info("an info with a \n newline");
    diag_warning("a warning");
    diag_note("of it");
    diag_caution("a caution");
    diag_verbose("not shown");
    diag_summary("nor this");
    diag_at(DIAG_WARNING, &place, "there");
    diag_at(DIAG_INFO, &file, "%s", "");
    return LINK_OK;
}

static enum link_code play(void *bytes)
{
    return diag_record_play(*(const struct bytes *)bytes) ? LINK_OK : LINK_FAILED;
}

/* Runs function(argument) with messages in `sink`. */
static enum link_code collect(enum link_code (*function)(void *), void *argument,
                              struct diag_sink *sink)
{
    return diag_collect(function, argument, diag_state_get(), sink);
}

/* What is recorded is what is printed: standard error goes to nowhere meanwhile. */
static void record_all(void)
{
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
    diag_state_get()->record = &record;
    say_all(NULL);
    diag_state_get()->record = NULL;
    diag_warning("not recorded");
}

TEST_LOOP(all_is_said_again_in_the_form_that_is_wanted, 3)
{
    static const enum diag_format formats[] = {DIAG_FORM_NVLINK, DIAG_FORM_GNU, DIAG_FORM_JSON};
    OWNED(diag_sink) said = {0}, again = {0};
    struct bytes bytes;

    record_all();
    ck_assert(!record.is_incomplete);
    diag_state_get()->format = formats[_i];
    ck_assert_int_eq(collect(say_all, NULL, &said), LINK_OK);
    bytes = buffer_bytes(&record.bytes);
    ck_assert_int_eq(collect(play, &bytes, &again), LINK_OK);
    ck_assert_uint_gt(said.text.size, 100);
    ck_assert(text_equal(buffer_view(&said.text), buffer_view(&again.text)));
    ck_assert_uint_eq(again.message_count, said.message_count);
}

/* It was shown once, so its link's flags are those of this one; a caution is one still. */
TEST(what_was_shown_is_shown_and_does_not_rise)
{
    struct diag_state *state = diag_state_get();
    OWNED(diag_sink) said = {0}, again = {0};
    struct bytes bytes;

    record_all();
    collect(say_all, NULL, &said);
    state->suppress_infos = state->suppress_warnings = state->warnings_are_errors = true;
    bytes = buffer_bytes(&record.bytes);
    ck_assert_int_eq(collect(play, &bytes, &again), LINK_OK);
    ck_assert(text_equal(buffer_view(&said.text), buffer_view(&again.text)));
    ck_assert_uint_eq(again.errors, 0);
    ck_assert(state->suppress_infos && state->suppress_warnings);
}

TEST(what_is_suppressed_is_not_recorded)
{
    size_t size;

    record_all();
    size = record.bytes.size;
    buffer_free(&record.bytes);
    diag_state_get()->suppress_warnings = diag_state_get()->suppress_infos = true;
    record_all();
    ck_assert_uint_eq(record.bytes.size, 0);
    diag_state_get()->suppress_warnings = false;
    record_all();
    ck_assert(record.bytes.size > 0 && record.bytes.size < size);
}

/* Messages that wait in a sink have a form already when they are printed. */
TEST(what_has_a_form_already_is_no_record)
{
    struct diag_sink sink = {0};

    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
    diag_state_get()->record = &record;
    collect(say_all, NULL, &sink);
    ck_assert(!record.is_incomplete && record.bytes.size == 0);
    diag_replay(&sink);
    ck_assert(record.is_incomplete);
    record.is_incomplete = false;
    ck_assert(diag_text(TEXT("a table\n")));
    ck_assert(record.is_incomplete);
}

TEST(bytes_that_are_no_record_say_nothing)
{
    struct bytes bytes;

    record_all();
    for (size_t size = 0; size < record.bytes.size; size++) {
        OWNED(diag_sink) sink = {0};
        FREED char *copy = memcpy(malloc(size + 1), record.bytes.data, size);

        bytes = (struct bytes){(const uint8_t *)copy, size};
        if (collect(play, &bytes, &sink) != LINK_OK)
            ck_assert_uint_eq(sink.message_count, 0);
    }
    for (size_t at = 0; at < record.bytes.size; at++) {
        OWNED(diag_sink) sink = {0};

        record.bytes.data[at] = (char)~record.bytes.data[at];
        bytes = buffer_bytes(&record.bytes);
        collect(play, &bytes, &sink);
        ck_assert_uint_eq(sink.errors, 0); /* nothing that is kept was one */
        record.bytes.data[at] = (char)~record.bytes.data[at];
    }
}
