/* budget.c: register limits from directives and options.
 *
 * Measured on ptxas: .maxnreg has precedence, then the number of blocks that must fit on a
 * multiprocessor with its 65536 registers (whole warps, rounded down to a multiple of 8), and
 * -maxrregcount only applies to functions without either. No limit is below 24. Options for launch
 * bounds apply to kernels without such directives; values that are not numbers, and a number of
 * blocks without a number of threads, are silently ignored. */
#include "toy/phases.h"

#include "diag/diag.h"
#include "facts/targets.h"
#include "ptx/lexer.h"

#define REGISTERS_PER_SM 65536u
#define WARP             32u

static uint32_t clamp(const struct ptx_item *function, uint32_t registers)
{
    if (registers < BUDGET_LEAST) {
        diag_warning(
            "For entry %.*s adjusting per thread register count of %u to lower bound of %u",
            TEXT_ARG(function->name), registers, BUDGET_LEAST);
        return BUDGET_LEAST;
    }
    return registers > BUDGET_MOST ? BUDGET_MOST : registers;
}

/* Registers per thread if `blocks` blocks of `threads` threads must fit. */
static uint32_t from_threads(const struct ptx_item *function, uint64_t threads, uint32_t sm)
{
    uint64_t blocks = function->function.performance.minnctapersm, most = targets_find(sm)->threads;
    if (threads > most)
        return BUDGET_MOST;
    if (blocks && blocks * threads > most) {
        diag_warning("Value of threads per SM for entry %.*s is out of range. .minnctapersm will "
                     "be ignored",
                     TEXT_ARG(function->name));
        blocks = 0;
    }
    uint64_t warps = (threads + WARP - 1) / WARP * (blocks ? blocks : 1);
    uint64_t registers = REGISTERS_PER_SM / (warps * WARP) / 8 * 8;
    return clamp(function, registers > BUDGET_MOST ? BUDGET_MOST : (uint32_t)registers);
}

uint32_t budget_of(const struct ptx_item *function, uint32_t sm, uint32_t option)
{
    const struct ptx_performance *performance = &function->function.performance;
    uint64_t threads = ptx_promised_threads(performance);
    if (performance->maxnreg)
        return clamp(function, performance->maxnreg);
    if (performance->minnctapersm && !threads)
        diag_warning(".minnctapersm of '%.*s' is ignored when neither .maxntid nor .reqntid is "
                     "specified",
                     TEXT_ARG(function->name));
    if (threads)
        return from_threads(function, threads, sm);
    if (option == 0 || option > BUDGET_MOST)
        return BUDGET_MOST;
    return option < BUDGET_LEAST ? BUDGET_LEAST : option;
}

static uint32_t dimension_of(struct text text)
{
    uint64_t value;
    bool is_number = lexer_integer(text, &value) && value <= UINT32_MAX;
    return is_number ? (uint32_t)value : 0;
}

void budget_override(struct ptx_performance *performance, const struct switches *switches)
{
    bool overrides = switches->override_directives;
    struct text list = switches->maxntid, word;
    if (text_take_part(&list, &word) && dimension_of(word) &&
        (overrides || !ptx_promised_threads(performance)))
        for (size_t i = 0; i < 3; i++) {
            uint32_t dimension = i == 0 || text_take_part(&list, &word) ? dimension_of(word) : 1;
            performance->maxntid[i] = dimension ? dimension : 1;
        }
    if (switches->minnctapersm > 0 && ptx_promised_threads(performance) &&
        (overrides || !performance->minnctapersm))
        performance->minnctapersm = (uint32_t)switches->minnctapersm;
    if (overrides && switches->maxrregcount != SWITCH_NOT_GIVEN)
        performance->maxnreg = (uint32_t)switches->maxrregcount;
}
