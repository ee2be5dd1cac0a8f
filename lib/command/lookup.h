/* lookup.h: options that are one word each, looked up in the option table: those of a link that is
 * made by calls, which must not touch the state of the process that getopt keeps. Also the messages
 * for words that are no options, which the command says, too. */
#pragma once

#include "command/option_table.h"
#include "command/options.h"

/* Adds a word, which is copied: "-name" or "-name=value", with one or two dashes, a letter with its
 * value joined ("-lNAME"), or an operand. False, reported, for anything else: a value cannot be the
 * next word, and no file of options is read. */
bool lookup_add(struct options *options, const char *word);

/* Report what is wrong with `word`, in nvlink's words; they return false. */
bool lookup_unknown(const char *word);
bool lookup_missing(const char *word, const struct option_row *row);
bool lookup_unwanted(const char *word);
