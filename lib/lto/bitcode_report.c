/* bitcode_report.c: what becomes of children, as messages. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_list.h"
#include "diag/diag.h"
#include "input/bitcode.h"
#include "lto/bitcode_steps.h"
#include "lto/report.h"

static const struct member *member_of(const struct bitcode_compilation *compilation, size_t part,
                                      uint32_t input)
{
    size_t first = compilation->firsts[part], end = compilation->firsts[part + 1];

    return compilation->members[first + input < end ? first + input : first];
}

const char *bitcode_name_part(const struct bitcode_compilation *compilation, size_t part,
                              struct arena *arena)
{
    size_t first = compilation->firsts[part], end = compilation->firsts[part + 1];
    struct name_list names = {0};

    for (size_t i = first; i < end; i++)
        name_list_add(&names, compilation->members[i]->name);
    return names.count == 1 ? compilation->members[first]->name
                            : name_list_text("bitcode.ptx", &names, arena);
}

/* Which modules the child was working on when it failed. */
static const char *describe_work(struct bitcode_compilation *compilation, size_t part)
{
    const struct lto_answer *answer = &compilation->run.list[part].answer;
    const struct member *member = member_of(compilation, part, answer->failed_input);
    bool is_program = compilation->request->is_linked && answer->step != LTO_STEP_ADD;

    if (answer->step == LTO_STEP_LOAD || answer->step == LTO_STEP_CREATE)
        return "before it read any module";
    if (answer->step == LTO_STEP_ADD)
        return arena_printf(&compilation->run.arena, "at '%s'", member->name);
    if (is_program && compilation->run.inputs.count > 1)
        return arena_printf(&compilation->run.arena,
                            "while it compiled '%s' and %zu more modules as one",
                            compilation->members[0]->name, compilation->run.inputs.count - 1);
    return arena_printf(&compilation->run.arena, "while it compiled '%s'", member->name);
}

/* LLVM reads what older versions wrote. True when that is why it failed. */
static bool report_newer(struct bitcode_compilation *compilation, size_t part)
{
    const struct lto_answer *answer = &compilation->run.list[part].answer;
    const struct member *member = member_of(compilation, part, answer->failed_input);
    struct bitcode bitcode;
    unsigned producer;

    if (answer->step != LTO_STEP_ADD ||
        !bitcode_read(&bitcode, member->name, member->entry.payload))
        return false;
    producer =
        (unsigned)strtoul(bitcode.producer + strcspn(bitcode.producer, "0123456789"), NULL, 10);
    if (producer <= answer->major)
        return false;
    diag_fatal("'%s' was written by %s, which libLLVM %u.%u '%s' cannot read", member->name,
               bitcode.producer, answer->major, answer->minor, compilation->request->link->library);
    diag_note("Install libLLVM %u (Debian: apt-get install libllvm%u), or name it with --llvm=",
              producer, producer);
    return true;
}

void bitcode_report_failed(struct bitcode_compilation *compilation, size_t index)
{
    const struct part *part = &compilation->run.list[index];
    const char *work = describe_work(compilation, index);

    if (part->result.end != EXEC_CANCELLED && lto_report_end(&compilation->run, part, work) &&
        !report_newer(compilation, index))
        diag_fatal("libLLVM %u.%u '%s' failed %s", part->answer.major, part->answer.minor,
                   compilation->run.link->library, work);
}

/* Parts of a program are all made of all its members. */
static const char *name_event(struct bitcode_compilation *compilation, size_t index)
{
    return compilation->is_parted ? arena_printf(&compilation->run.arena, "bitcode-%zu.ptx", index)
                                  : bitcode_name_part(compilation, index, &compilation->run.arena);
}

void bitcode_report_part(struct bitcode_compilation *compilation, size_t index)
{
    const struct part *part = &compilation->run.list[index];
    const struct lto_answer *answer = &part->answer;
    const char *name = name_event(compilation, index);

    lto_report_logs(&compilation->run, part);
    diag_verbose("libLLVM %u.%u '%s' makes %zu bytes of %s, peak %" PRIu64 " MiB", answer->major,
                 answer->minor, compilation->run.link->library, answer->ptx.size, name,
                 part->result.peak >> 20);
    lto_report_event(part, name);
}
