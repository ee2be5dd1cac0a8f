/* report.h: what is said about the functions of a chunk when they are done. */
#pragma once

#include "toy/unit.h"

/* What ptxas prints under -v. */
void report_use(const struct unit *unit);

/* The warnings that the switches ask for. */
void report_warnings(const struct unit *unit);
