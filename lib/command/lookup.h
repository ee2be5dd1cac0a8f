/* lookup.h: looks up options of one word each in the option table: for links of the library, which
 * must not touch getopt's process-wide state. Also the messages about wrong words, which the
 * command uses, too. */
#pragma once

#include "command/option_table.h"
#include "command/options.h"

/* Adds a word, which is copied: "-name" or "-name=value", with one or two dashes, a letter joined
 * with its value ("-lNAME"), or an operand. False, reported, for anything else: a value cannot be
 * the next word, and option files are not read. */
bool lookup_add(struct options *options, const char *word);

/* Report what is wrong with `word`, in nvlink's words; they return false. */
bool lookup_unknown(const char *word);
bool lookup_missing(const char *word, const struct option_row *row);
bool lookup_unwanted(const char *word);
