/* edit_distance.h: how far a misspelt word is from a known one, for "did you mean". */
#pragma once

#include "base/text.h"

/* Longer words are not compared: no option or keyword is as long. */
#define EDIT_DISTANCE_LONGEST 48u

/* How many bytes must be inserted, deleted, changed, or swapped with the next one, to turn `from`
 * into `to`. SIZE_MAX when it is more than `most`, or either has more than EDIT_DISTANCE_LONGEST.
 */
size_t edit_distance(struct text from, struct text to, size_t most);
