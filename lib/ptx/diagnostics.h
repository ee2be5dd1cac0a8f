/* diagnostics.h: what is wrong between modules, and for each message what helps to mend it: who
 * refers to what is missing, where, and what is almost it; both definitions; both prototypes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ptx/program.h"
#include "ptx/symbol.h"

enum fault_kind { FAULT_UNDEFINED, FAULT_PROTOTYPE };

struct program_fault {
    enum fault_kind kind;
    uint32_t module; /* which refers to the symbol */
    const struct program_entry *entry;
};

/* Reports them in nvlink's words and in this order, each with its notes, as long as there is
 * diag_room(). References must be known (live.c). `members` is the request's. */
void diagnostics_report(const struct program *program, const struct program_fault *faults,
                        size_t count, const struct members *members);

/* Reports that a function is a kernel (.entry) for one of two modules only. */
void diagnostics_report_kernel(const struct program *program, const struct ptx_item *first,
                               uint32_t first_module, const struct ptx_item *second,
                               uint32_t second_module);

/* Reports that `second` of module `second_module` defines again what `first` does. */
void diagnostics_report_again(const struct program *program, const struct ptx_item *first,
                              uint32_t first_module, const struct ptx_item *second,
                              uint32_t second_module);
