/* report.h: what is said about the functions of a chunk when they are done. */
#ifndef MINILINK_BUILTIN_REPORT_H
#define MINILINK_BUILTIN_REPORT_H

#include "assembler/builtin/unit.h"

/* What ptxas prints under -v. */
void report_use(const struct unit *unit);

/* The warnings that the switches ask for. */
void report_warnings(const struct unit *unit);

#endif
