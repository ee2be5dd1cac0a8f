/* result.h: what a job has left behind, looked at before it is believed. */
#pragma once

#include "distribute/distribute.h"

/* Reads the job's outputs, and sets its end with all that belongs to it. */
void result_take(struct distribute_batch *batch, struct distribute_job *job);
