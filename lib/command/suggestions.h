/* suggestions.h: notes that help to mend a command line. */
#pragma once

#include "command/option_table.h"

/* Behind a message about an option's value: what the option takes. */
void suggestions_value(const struct option_row *row);

/* Behind a message about an unknown option, without its first dash and value: which may be meant.
 */
void suggestions_name(const char *name);
