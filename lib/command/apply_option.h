/* apply_option.h: enters one option or operand of the command line into the request. */
#pragma once

#include "command/option_table.h"
#include "command/options.h"

/* Notes the operand `name`, a file or what -l names; it must live as long as `options`. */
void apply_option_operand(struct options *options, const char *name, bool is_library);

/* Notes the option of `row`, with its value or NULL, which must live as long as `options`. False,
 * and an error in nvlink's words, when the value is wrong. */
bool apply_option(struct options *options, const struct option_row *row, const char *value);

/* Appends `word`, which must live as long as `options`, to a list in its arena. */
void apply_option_word(struct options *options, struct word_list *list, const char *word);
