/* compound.c: the names, as ptxas 13.0 prints them in its messages (measured: it takes the words of
 * a name in no other order). */
#include "toy/language/compound.h"

#include <stdbool.h>
#include <string.h>

#include "toy/language/opcode.h"

/* Most words of a name behind its opcode. */
#define MOST_WORDS 4

static const struct name {
    const char *opcode;
    const char *words[MOST_WORDS + 1];
} names[] = {
    {"bar", {"arrive"}},
    {"bar", {"cta"}},
    {"bar", {"cta", "arrive"}},
    {"bar", {"cta", "red"}},
    {"bar", {"red"}},
    {"bar", {"warp"}},
    {"barrier", {"arrive"}},
    {"barrier", {"cluster", "arrive"}},
    {"barrier", {"cluster", "wait"}},
    {"barrier", {"cta"}},
    {"barrier", {"cta", "arrive"}},
    {"barrier", {"cta", "red"}},
    {"barrier", {"red"}},
    {"brx", {"idx"}},
    {"clusterlaunchcontrol", {"query_cancel"}},
    {"clusterlaunchcontrol", {"try_cancel", "async"}},
    {"cp", {"async"}},
    {"cp", {"async", "bulk"}},
    {"cp", {"async", "bulk", "commit_group"}},
    {"cp", {"async", "bulk", "prefetch"}},
    {"cp", {"async", "bulk", "prefetch", "tensor"}},
    {"cp", {"async", "bulk", "tensor"}},
    {"cp", {"async", "bulk", "wait_group"}},
    {"cp", {"async", "commit_group"}},
    {"cp", {"async", "mbarrier", "arrive"}},
    {"cp", {"async", "wait_all"}},
    {"cp", {"async", "wait_group"}},
    {"cp", {"reduce", "async", "bulk"}},
    {"cp", {"reduce", "async", "bulk", "tensor"}},
    {"createpolicy", {"cvt"}},
    {"createpolicy", {"fractional"}},
    {"createpolicy", {"range"}},
    {"cvt", {"pack"}},
    {"cvta", {"to"}},
    {"div", {"full"}},
    {"dp2a", {"hi"}},
    {"dp2a", {"lo"}},
    {"fence", {"proxy"}},
    {"mad", {"hi"}},
    {"mad", {"lo"}},
    {"mad", {"wide"}},
    {"mad24", {"hi"}},
    {"mad24", {"lo"}},
    {"madc", {"hi"}},
    {"madc", {"lo"}},
    {"mbarrier", {"arrive"}},
    {"mbarrier", {"arrive", "expect_tx"}},
    {"mbarrier", {"arrive_drop"}},
    {"mbarrier", {"arrive_drop", "expect_tx"}},
    {"mbarrier", {"complete_tx"}},
    {"mbarrier", {"expect_tx"}},
    {"mbarrier", {"init"}},
    {"mbarrier", {"inval"}},
    {"mbarrier", {"pending_count"}},
    {"mbarrier", {"test_wait"}},
    {"mbarrier", {"test_wait", "parity"}},
    {"mbarrier", {"try_wait"}},
    {"mbarrier", {"try_wait", "parity"}},
    {"membar", {"proxy"}},
    {"mul", {"hi"}},
    {"mul", {"lo"}},
    {"mul", {"wide"}},
    {"mul24", {"hi"}},
    {"mul24", {"lo"}},
    {"multimem", {"ld_reduce"}},
    {"multimem", {"red"}},
    {"multimem", {"st"}},
    {"pmevent", {"mask"}},
    {"red", {"async"}},
    {"setmaxnreg", {"dec"}},
    {"setmaxnreg", {"inc"}},
    {"shf", {"l"}},
    {"shf", {"r"}},
    {"st", {"async"}},
    {"st", {"bulk"}},
    {"suld", {"b"}},
    {"sured", {"b"}},
    {"sured", {"p"}},
    {"sust", {"b"}},
    {"sust", {"p"}},
    {"tcgen05", {"alloc"}},
    {"tcgen05", {"commit"}},
    {"tcgen05", {"cp"}},
    {"tcgen05", {"dealloc"}},
    {"tcgen05", {"fence"}},
    {"tcgen05", {"ld"}},
    {"tcgen05", {"mma"}},
    {"tcgen05", {"mma", "ws"}},
    {"tcgen05", {"relinquish_alloc_permit"}},
    {"tcgen05", {"shift"}},
    {"tcgen05", {"st"}},
    {"tcgen05", {"wait"}},
    {"tensormap", {"cp_fenceproxy"}},
    {"tensormap", {"replace"}},
    {"tex", {"base"}},
    {"tex", {"grad"}},
    {"tex", {"level"}},
    {"txq", {"level"}},
    {"wgmma", {"commit_group"}},
    {"wgmma", {"fence"}},
    {"wgmma", {"mma_async"}},
    {"wgmma", {"wait_group"}},
    {"wmma", {"load", "a"}},
    {"wmma", {"load", "b"}},
    {"wmma", {"load", "c"}},
    {"wmma", {"mma"}},
    {"wmma", {"store", "d"}},
};

static bool has_word(const uint16_t *modifiers, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(modifier_name(modifiers[i]), word) == 0)
            return true;
    return false;
}

/* The number of words of the name when the modifiers have all of them, in any order; else 0. */
static size_t words_of(const struct name *name, const uint16_t *modifiers, size_t count)
{
    size_t words = 0;

    for (; name->words[words]; words++)
        if (!has_word(modifiers, count, name->words[words]))
            return 0;
    return words;
}

const char *compound_misplaced(uint16_t opcode, const uint16_t *modifiers, size_t count)
{
    const char *own = opcode_get(opcode)->name;
    const struct name *longest = NULL;
    size_t most = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t words =
            strcmp(names[i].opcode, own) == 0 ? words_of(&names[i], modifiers, count) : 0;

        if (words > most) {
            most = words;
            longest = &names[i];
        }
    }
    for (size_t i = 0; i < most; i++)
        if (strcmp(modifier_name(modifiers[i]), longest->words[i]) != 0)
            return longest->words[i];
    return NULL;
}
