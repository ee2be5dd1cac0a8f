/* reproduce.h: the command line's words for a link that is run again elsewhere. */
#pragma once

#include "command/options.h"

/* Makes the request's reproduce_words of the options that were given, but for those that name this
 * machine's programs and folders or ask for other files than the output. */
void reproduce_words(struct options *options);
