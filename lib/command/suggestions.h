/* suggestions.h: notes that help to correct a command line. */
#pragma once

#include "command/option_table.h"

/* After a message about an option's value: notes what the option takes. */
void suggestions_value(const struct option_row *row);

/* After a message about an unknown option, `name` without its first dash and value: notes which
 * options may be meant. */
void suggestions_name(const char *name);
