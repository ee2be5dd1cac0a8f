/* consensus.c: one state machine per option, then one rule per option for what a difference means.
 *
 * Each option has two consensuses: over all members, as in nvlink, and over the members whose
 * LTO-IR is linked. Only among the latter can a difference that changes code do harm: the others
 * are linked through the PTX beside their LTO-IR. */
#include "options/consensus.h"

#include <stdlib.h>

#include "diag/diag.h"

/* Shared by the checks. */
struct reach {
    struct agreement *agreement;
    const struct members *members;
    const struct option_request *request;
    struct consensus linked[EMBEDDED_COUNT]; /* over the members whose LTO-IR is linked */
};

void consensus_add(struct consensus *consensus, bool found, int32_t value)
{
    /* minilink-internals(7), Value consensus: after a member without the option, with the first
     * value or the same, with another. */
    static const uint8_t next[][3] = {
        [CONSENSUS_NONE] = {CONSENSUS_ABSENT, CONSENSUS_PRESENT},
        [CONSENSUS_ABSENT] = {CONSENSUS_ABSENT, CONSENSUS_MIXED},
        [CONSENSUS_PRESENT] = {CONSENSUS_MIXED, CONSENSUS_PRESENT, CONSENSUS_CONFLICT},
        [CONSENSUS_MIXED] = {CONSENSUS_MIXED, CONSENSUS_MIXED, CONSENSUS_CONFLICT},
        [CONSENSUS_CONFLICT] = {CONSENSUS_CONFLICT, CONSENSUS_CONFLICT, CONSENSUS_CONFLICT},
    };

    if (found && consensus->state <= CONSENSUS_ABSENT)
        consensus->value = value;
    consensus->state = next[consensus->state][found ? 1 + (value != consensus->value) : 0];
}

/* Adds the members list[from..to), which are one group: one fatbin. */
static void add_reached_group(struct reach *reach, size_t from, size_t to)
{
    const struct member *list = reach->members->list;
    bool has_ptx = false;

    for (size_t i = from; i < to; i++)
        has_ptx |= list[i].role == MEMBER_PTX;
    for (size_t i = from; i < to; i++) {
        if (!consensus_has(&list[i]))
            continue;
        for (int option = 0; option < EMBEDDED_COUNT; option++) {
            int32_t value = 0;
            bool found = embedded_find(list[i].entry.options, (enum embedded_option)option, &value);

            consensus_add(&reach->agreement->embedded[option], found, value);
            if (reach->request->lto && !has_ptx)
                consensus_add(&reach->linked[option], found, value);
        }
    }
}

/* One note per member: "a.o(1): -split-compile 2", "b.o(2): no -split-compile". */
static void note_members(const struct reach *reach, enum embedded_option option)
{
    struct text spelling = text_of(embedded_table[option].spelling);
    struct text bare = {spelling.data, strcspn(spelling.data, " =")};

    for (size_t i = 0; i < reach->members->count; i++) {
        const struct member *member = &reach->members->list[i];
        int32_t value;

        if (!consensus_has(member))
            continue;
        if (!embedded_find(member->entry.options, option, &value))
            diag_note("%s: no %.*s", member->name, TEXT_ARG(bare));
        else if (bare.size == spelling.size)
            diag_note("%s: %.*s", member->name, TEXT_ARG(bare));
        else
            diag_note("%s: %.*s%d", member->name, TEXT_ARG(spelling), (int)value);
    }
}

/* nvlink's words for two values. Always returns false. */
static bool report_conflict(const struct reach *reach, enum embedded_option option)
{
    diag_fatal("Cicc option values for '%s' do not match", embedded_table[option].name);
    note_members(reach, option);
    return false;
}

/* Without -lto each PTX has the option among its stored ones, and nvlink 13.5 says nothing. */
static void check_line_info(struct reach *reach)
{
    struct agreement *agreement = reach->agreement;
    const struct consensus *consensus = &agreement->embedded[EMBEDDED_LINE_INFO];

    agreement->line_info =
        reach->request->line_info || (reach->request->lto && consensus_has_one_value(consensus));
    if (consensus->state != CONSENSUS_MIXED || !reach->request->lto)
        return;
    diag_info("Some objects do not have '-lineinfo' specified but others do; will build everything "
              "with '-lineinfo'");
    note_members(reach, EMBEDDED_LINE_INFO);
}

/* Two values are an error among members whose LTO-IR is linked. Others are linked through their
 * PTX, which has the option among those that are stored with it. */
static bool check_values(const struct reach *reach, enum embedded_option option)
{
    if (reach->linked[option].state == CONSENSUS_CONFLICT)
        return report_conflict(reach, option);
    if (reach->agreement->embedded[option].state == CONSENSUS_CONFLICT) {
        diag_info("Cicc option values for '%s' do not match; each object keeps the value it was "
                  "compiled with",
                  embedded_table[option].name);
        note_members(reach, option);
    }
    return true;
}

/* Differences in maxreg that the command line does not settle. */
static bool settle_maxreg(struct reach *reach)
{
    const struct consensus *consensus = &reach->agreement->embedded[EMBEDDED_MAXREG];
    const struct consensus *linked = &reach->linked[EMBEDDED_MAXREG];

    if (!check_values(reach, EMBEDDED_MAXREG))
        return false;
    if (consensus_has_one_value(linked) && linked->value > 0)
        reach->agreement->maxrregcount = linked->value;
    if (consensus->state != CONSENSUS_CONFLICT && linked->state == CONSENSUS_MIXED) {
        diag_info("Some objects do not have '-maxrregcount' specified but others do; will build "
                  "everything with '-maxrregcount=%d'",
                  (int)linked->value);
        note_members(reach, EMBEDDED_MAXREG);
    }
    return true;
}

/* Measured: the command line's -maxrregcount, unless 0, silences messages on differences, too. */
static bool check_maxreg(struct reach *reach)
{
    const struct consensus *consensus = &reach->agreement->embedded[EMBEDDED_MAXREG];
    int32_t wanted = reach->request->maxrregcount;

    if (!reach->request->has_maxrregcount || wanted <= 0)
        return settle_maxreg(reach);
    reach->agreement->maxrregcount = wanted;
    if (diag_state_get()->verbose && consensus->state >= CONSENSUS_PRESENT &&
        (consensus->state != CONSENSUS_PRESENT || consensus->value != wanted)) {
        diag_verbose("the command line's '-maxrregcount=%d' is used for all objects", (int)wanted);
        note_members(reach, EMBEDDED_MAXREG);
    }
    return true;
}

/* -w hides the warning that -Werror would make an error, as it does for all other warnings. */
static bool is_strict(void)
{
    const struct diag_state *state = diag_state_get();

    return state->warnings_are_errors && !state->suppress_warnings;
}

static bool check_split_compile(struct reach *reach)
{
    const struct option_request *request = reach->request;
    struct agreement *agreement = reach->agreement;
    const struct consensus *consensus = &agreement->embedded[EMBEDDED_SPLIT_COMPILE];
    int32_t wanted = request->has_split_compile ? request->split_compile : 1;

    agreement->split_compile = wanted;
    if (consensus_has_one_value(consensus)) {
        agreement->split_compile = consensus->value;
        if (diag_state_get()->verbose && request->has_split_compile && consensus->value != wanted) {
            diag_verbose("the objects' '-split-compile=%d' is used instead of the command line's "
                         "'-split-compile=%d'",
                         (int)consensus->value, (int)wanted);
            note_members(reach, EMBEDDED_SPLIT_COMPILE);
        }
    }
    if (consensus->state != CONSENSUS_CONFLICT)
        return true;
    if (is_strict())
        return report_conflict(reach, EMBEDDED_SPLIT_COMPILE);
    diag_warning("Cicc option values for '-split-compile' do not match; using '-split-compile=%d'",
                 (int)wanted);
    note_members(reach, EMBEDDED_SPLIT_COMPILE);
    return true;
}

/* minilink-internals(7), Option forwarding; an info in nvlink, even for equal values. */
static void check_clash(struct reach *reach)
{
    const struct option_request *request = reach->request;
    struct agreement *agreement = reach->agreement;

    agreement->split_compile_extended =
        request->has_split_compile_extended ? request->split_compile_extended : 1;
    if (agreement->split_compile_extended == 1 || agreement->split_compile == 1)
        return;
    agreement->split_compile = 1;
    diag_info("Incompatible options '-split-compile' and '-split-compile-extended', using "
              "'-split-compile-extended'");
}

bool consensus_reach(struct agreement *agreement, const struct members *members,
                     const struct option_request *request)
{
    struct reach reach = {.agreement = agreement, .members = members, .request = request};
    bool agreed = true;

    for (size_t at = 0, end; at < members->count; at = end) {
        end = select_group_end(members, at);
        add_reached_group(&reach, at, end);
    }
    agreement->debug = request->debug;
    check_line_info(&reach);
    agreed &= check_maxreg(&reach);
    for (int option = EMBEDDED_FTZ; option <= EMBEDDED_FMAD; option++)
        agreed &= check_values(&reach, (enum embedded_option)option);
    agreed &= check_split_compile(&reach);
    check_clash(&reach);
    return agreed;
}

/* The strings of embedded options come from nvcc's command line for cicc ("-split-compile 2 -ftz=0
 * -prec_div=1 ") and are not split into words by nvlink: whatever follows the option's spelling is
 * its number, and what precedes it does not matter, so "x-split-compile 2" counts too. */

const struct embedded_row embedded_table[EMBEDDED_COUNT] = {
    [EMBEDDED_LINE_INFO] = {"-lineinfo", "-generate-line-info", false},
    [EMBEDDED_MAXREG] = {"-maxrregcount", "-maxreg ", true},
    [EMBEDDED_FTZ] = {"-ftz", "-ftz=", true},
    [EMBEDDED_PREC_DIV] = {"-prec-div", "-prec_div=", true},
    [EMBEDDED_PREC_SQRT] = {"-prec-sqrt", "-prec_sqrt=", true},
    [EMBEDDED_FMAD] = {"-fmad", "-fmad=", true},
    [EMBEDDED_SPLIT_COMPILE] = {"-split-compile", "-split-compile ", true},
};

/* As atoi(), on a NUL-terminated copy. */
static int32_t read_embedded_number(struct text text)
{
    char *copy = memory_copy_string(text.data, text.size);
    long value = strtol(copy, NULL, 10);

    free(copy);
    return (int32_t)value;
}

bool embedded_find(struct text options, enum embedded_option option, int32_t *value)
{
    struct text wanted = text_of(embedded_table[option].spelling);
    const char *end, *found;

    if (options.size == 0)
        return false;
    end = memchr(options.data, '\0', options.size);
    if (end)
        options.size = (size_t)(end - options.data);
    found = memmem(options.data, options.size, wanted.data, wanted.size);
    if (!found)
        return false;
    found += wanted.size;
    *value = 1;
    if (embedded_table[option].has_value)
        *value = read_embedded_number(
            (struct text){found, options.size - (size_t)(found - options.data)});
    return true;
}
