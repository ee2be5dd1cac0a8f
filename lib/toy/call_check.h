/* call_check.h: calls against the prototypes of what they call. */
#pragma once

#include <stdbool.h>

#include "ptx/module.h"
#include "toy/language/body.h"
#include "toy/scope.h"

/* Compares the arguments of each direct call in the body with the parameters of the function, and
 * sees that each indirect call says what it calls. False, and errors with their lines. */
bool call_check(const struct body *body, const struct scope *scope,
                const struct ptx_module *module);
