/* batch.h: what runs and plans share: the files that a batch's jobs read. */
#pragma once

#include "distribute/distribute.h"

/* Writes the inputs and the facts of all jobs. */
enum link_code batch_write_inputs(const struct distribute_batch *batch);

/* Writes `text`, malloc'ed, and frees it. NULL is a failure that was reported. */
enum link_code batch_write_text(const char *path, char *text);
