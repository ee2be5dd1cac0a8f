/* runs_on.c: searches the rows of runs_on.def. */
#include "facts/runs_on.h"

#include <stddef.h>
#include <stdint.h>

#include "facts/targets.h"

enum row_kind {
    ROW_RUNS_ON,
    ROW_RENAMED,
    ROW_FINALIZED,
    ROW_ACCELERATED_ON_PLAIN,
    ROW_UNKNOWN_IN_FATBINS,
    ROW_LIBRARY_LEAVES_ENTRY,
    ROW_LIBRARY_LEAVES_CUBIN,
    ROW_TOO_OLD,
};

static const struct row {
    enum row_kind kind;
    uint16_t target, code; /* 0 where a row names none */
    struct toolkit_range toolkits;
} rows[] = {
#define ROW(kind, target, code, first, last) {ROW_##kind, target, code, {first, last}},
#include "facts/runs_on.def"
#undef ROW
};

static bool has_row(enum row_kind kind, unsigned target, unsigned code,
                    const struct toolkit_facts *toolkit)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == kind && rows[i].target == target && rows[i].code == code &&
            toolkit_is_in(toolkit, rows[i].toolkits))
            return true;
    return false;
}

unsigned runs_on_number(unsigned sm, const struct toolkit_facts *toolkit)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == ROW_RENAMED && rows[i].code == sm &&
            toolkit_is_in(toolkit, rows[i].toolkits))
            return rows[i].target;
    return sm;
}

bool runs_on_accelerated_only(struct arch target, struct arch code,
                              const struct toolkit_facts *toolkit)
{
    return code.suffix == 'a' && target.suffix != 'a' &&
           !has_row(ROW_ACCELERATED_ON_PLAIN, 0, 0, toolkit);
}

bool runs_on_is_unknown(struct arch code, const struct toolkit_facts *toolkit)
{
    return has_row(ROW_UNKNOWN_IN_FATBINS, 0, code.sm, toolkit);
}

bool runs_on_finalized(struct arch target, struct arch code, const struct toolkit_facts *toolkit)
{
    return has_row(ROW_FINALIZED, target.sm, code.sm, toolkit);
}

bool runs_on_sass(struct arch target, struct arch code, const struct toolkit_facts *toolkit)
{
    if (runs_on_accelerated_only(target, code, toolkit))
        return false;
    if (code.sm == target.sm || has_row(ROW_RENAMED, target.sm, code.sm, toolkit))
        return true;
    return code.suffix != 'a' && (has_row(ROW_RUNS_ON, target.sm, code.sm, toolkit) ||
                                  runs_on_finalized(target, code, toolkit));
}

bool runs_on_ptx(struct arch target, struct arch code, const struct toolkit_facts *toolkit)
{
    if (code.sm > target.sm)
        return false;
    if (code.suffix == 'a')
        return target.suffix == 'a' &&
               (code.sm == target.sm || has_row(ROW_RENAMED, target.sm, code.sm, toolkit));
    return code.suffix != 'f' || targets_find(code.sm)->family == targets_find(target.sm)->family;
}

bool runs_on_library_leaves(struct arch target, struct arch code, bool is_entry,
                            const struct toolkit_facts *toolkit)
{
    return (code.sm != target.sm || (code.suffix == 'a' && target.suffix != 'a')) &&
           has_row(is_entry ? ROW_LIBRARY_LEAVES_ENTRY : ROW_LIBRARY_LEAVES_CUBIN, target.sm,
                   code.sm, toolkit);
}

bool runs_on_made_by(unsigned sm, unsigned maker)
{
    return !has_row(ROW_TOO_OLD, 0, sm, &(struct toolkit_facts){.version = (uint16_t)maker});
}
