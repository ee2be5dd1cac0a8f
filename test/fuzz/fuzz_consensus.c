/* fuzz_consensus.c: members with option strings, brought to one set. Six bytes choose the command
 * line; each line of the rest is a member, whose first character chooses its kind, role and fatbin.
 * What is forwarded must be words, and the same when asked again. */
#include "options/consensus.h"
#include "fuzz.h"

#define MOST_MEMBERS 32

static struct option_request request_of(struct bytes *rest)
{
    static const char *const levels[] = {NULL, "0", "min", "mid", "max", NULL, NULL, NULL};
    uint8_t has = fuzz_byte(rest), more = fuzz_byte(rest);

    return (struct option_request){
        .has_split_compile = has & 1,
        .has_split_compile_extended = has & 2,
        .has_maxrregcount = has & 4,
        .line_info = has & 8,
        .debug = has & 16,
        .lto = has & 64,
        .ofast_compile = levels[more & 7],
        .split_compile = has & 1 ? fuzz_byte(rest) : 1,
        .split_compile_extended = has & 2 ? fuzz_byte(rest) * 0x101010 : 1,
        .maxrregcount = has & 4 ? fuzz_byte(rest) * 257 : 0,
    };
}

static struct member member_of(struct text line)
{
    static const uint16_t kinds[] = {FATBIN_NVVM, FATBIN_NVVM, FATBIN_PTX, FATBIN_ELF};
    uint8_t choice = line.size ? (uint8_t)line.data[0] : 0;
    struct member member = {.name = "a.o(1)", .file = "a.o", .object_name = "a.o"};

    member.entry.kind = kinds[choice & 3];
    member.role = (enum member_role)((choice >> 2) % (MEMBER_LTO + 1));
    member.group = choice >> 5;
    if (line.size)
        member.entry.options = (struct text){line.data + 1, line.size - 1};
    return member;
}

static bool reach(struct agreement *agreement, const struct members *members,
                  const struct option_request *request, uint64_t *errors)
{
    bool agreed = consensus_reach(agreement, members, request);

    *errors = fuzz_errors();
    return agreed;
}

static struct word_list forward(struct arena *arena, const struct agreement *agreement,
                                const struct option_request *request)
{
    struct word_list words = {.arena = arena};

    forward_split(&words, agreement, 8);
    forward_agreed(&words, agreement, request);
    forward_arithmetic(&words, agreement, (const char *const[]){NULL});
    return words;
}

static void check(const struct agreement *first, const struct agreement *second,
                  const struct option_request *request)
{
    struct arena arena = {0};
    struct word_list words = forward(&arena, first, request);
    struct word_list again = forward(&arena, second, request);

    if (words.count != again.count || first->split_compile != second->split_compile ||
        first->maxrregcount != second->maxrregcount)
        abort();
    for (size_t i = 0; i < words.count; i++)
        if (words.list[i][0] != '-' || strcmp(words.list[i], again.list[i]) != 0)
            abort();
    arena_free(&arena);
}

static void fuzz(struct bytes rest)
{
    struct option_request request = request_of(&rest);
    struct diag_state *state = diag_state_get();
    uint8_t flags = fuzz_byte(&rest);
    struct member list[MOST_MEMBERS];
    struct members members = {.list = list};
    struct agreement first = {0}, second = {0};
    uint64_t errors, again;
    struct text line;
    bool agreed;

    while (members.count < MOST_MEMBERS && fuzz_line(&rest, &line))
        list[members.count++] = member_of(line);
    state->verbose = flags & 1;
    state->warnings_are_errors = flags & 2;
    state->suppress_warnings = flags & 4;
    agreed = reach(&first, &members, &request, &errors);
    if (agreed != reach(&second, &members, &request, &again) || errors != again ||
        (!agreed && errors == 0))
        abort();
    check(&first, &second, &request);
}
