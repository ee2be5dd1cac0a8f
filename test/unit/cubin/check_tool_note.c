/* check_tool_note.c: records of .note.nv.tkinfo, and what is left of the files that they name. */
#include "cubin/contents.h"
#include "suite.h"

static const struct {
    const char *output, *command, *wanted_output, *wanted;
} notes[] = {
    {"63", "62 -g  -o 63 -arch sm_90 -m 64 -c  ", "elf.o", "-g  -arch sm_90 -m 64 -c  "},
    {"a.cubin", "a.ptx -g -o a.cubin", "elf.o", "-g "},
    {"63", "-g -arch sm_90", "elf.o", "-g -arch sm_90"},
    {"63", "62", "elf.o", "62"},
    {"", "62 -o 63 -arch sm_90", "", "62 -o 63 -arch sm_90"}, /* without -g it names no files */
};

TEST_LOOP(a_record_forgets_its_files, COUNT(notes))
{
    OWNED(buffer) first = {0};
    OWNED(buffer) second = {0};
    OWNED(buffer) command = {0};
    struct tool_note note = {text_of(notes[_i].output),
                             TEXT("ptxas"),
                             TEXT("release"),
                             TEXT("build"),
                             text_of(notes[_i].command),
                             129};
    struct bytes rest;

    tool_note_put(&first, &note);
    tool_note_put(&first, &note);
    ck_assert_uint_eq(first.size % 4, 0);
    rest = buffer_bytes(&first);
    for (int i = 0; i < 2; i++) {
        ck_assert(tool_note_next(&rest, &note));
        ck_assert(text_equal(note.command, text_of(notes[_i].command)));
        ck_assert(text_equal(note.build, TEXT("build")));
        ck_assert_uint_eq(note.version, 129);
    }
    ck_assert_uint_eq(rest.size, 0);
    tool_note_forget_files(&note, &command);
    tool_note_put(&second, &note);
    rest = buffer_bytes(&second);
    ck_assert(tool_note_next(&rest, &note));
    ck_assert(text_equal(note.output, text_of(notes[_i].wanted_output)));
    ck_assert(text_equal(note.command, text_of(notes[_i].wanted)));
    ck_assert(text_equal(note.tool, TEXT("ptxas")) && text_equal(note.release, TEXT("release")));
}

TEST(damaged_records_are_none)
{
    OWNED(buffer) whole = {0};
    struct tool_note note = {TEXT("o"), TEXT("t"), TEXT("r"), TEXT("b"), TEXT("c"), 0};
    struct bytes rest;

    tool_note_put(&whole, &note);
    for (size_t size = 0; size < whole.size; size++) { /* cut off */
        FREED uint8_t *copy = malloc(size + 1);

        memcpy(copy, whole.data, size);
        rest = (struct bytes){copy, size};
        ck_assert(!tool_note_next(&rest, &note));
        ck_assert_uint_eq(rest.size, size);
    }
    for (size_t at = 24; at < 24 + 24; at++) { /* texts that lie elsewhere */
        whole.data[at] = (char)0xff;
        rest = buffer_bytes(&whole);
        if (tool_note_next(&rest, &note))
            ck_assert_uint_le(note.command.size + note.output.size, whole.size);
    }
}
