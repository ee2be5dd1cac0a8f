/* suggestions.h: messages about wrong options, and notes that help to correct them. */
#pragma once

#include "command/option_table.h"

/* After a message about an option's value: notes what the option takes. */
void suggestions_value(const struct option_row *row);

/* Report what is wrong with `word`, in nvlink's words, with such notes; they return false. */
bool suggestions_unknown(const char *word);
bool suggestions_missing(const char *word, const struct option_row *row);
bool suggestions_unwanted(const char *word);
