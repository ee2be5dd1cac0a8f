/* access.h: which registers an instruction reads and writes, wherever among its operands they
 * stand. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "toy/language/body.h"

/* One place in an instruction that names a register. A write that may leave the old value, or a
 * part of it, counts as a read too: under a guard, of one component, or of an accumulator. So a
 * register is dead before an instruction that writes it and does not read it. */
struct register_access {
    uint32_t *reg; /* in the instruction: index in body.registers */
    bool is_read;
    bool is_written;
};

/* The accesses of one instruction; reused from one to the next. Start with {0}. */
struct register_accesses {
    struct register_access *list; /* in the body's arena */
    size_t count;
    size_t capacity;
};

/* Fills `accesses` with those of `instruction`, the guard's last. */
void access_collect(const struct body *body, struct instruction *instruction,
                    struct register_accesses *accesses);
