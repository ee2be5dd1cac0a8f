/* batch.h: what runs and plans share: the files that a batch's jobs read. */
#pragma once

#include "distribute/distribute.h"

/* Writes the inputs and the facts of all jobs. */
enum link_code batch_write_inputs(const struct distribute_batch *batch);
