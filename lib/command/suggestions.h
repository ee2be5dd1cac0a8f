/* suggestions.h: notes that help to mend a command line. */
#ifndef MINILINK_COMMAND_SUGGESTIONS_H
#define MINILINK_COMMAND_SUGGESTIONS_H

#include "command/option_table.h"

/* Behind a message about an option's value: what the option takes. */
void suggestions_value(const struct option_row *row);

/* Behind a message about an unknown option, without its first dash and value: which may be meant.
 */
void suggestions_name(const char *name);

#endif
