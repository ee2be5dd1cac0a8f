/* nvjitlink.h: NVIDIA's libnvJitLink through its public C interface (nvJitLink.h of the toolkit).
 *
 * The only place that knows that interface. nvjitlink_run() is meant to be run in a process of its
 * own (child.h): the library is large and not ours; it may crash, end the process, or print. Its
 * answer goes to a file (answer.h). */
#pragma once

#include <stdint.h>

#include "lto/job.h"

/* What the library is told an input's name is, by its index: each as long as any other, since the
 * order in which libnvvm 13.0 puts private strings depends on where it finds memory (measured). */
#define NVJITLINK_INPUT_NAME      "input-%08zu"
#define NVJITLINK_INPUT_NAME_SIZE 15 /* with the NUL, for the first hundred million */

/* Does the job. The result is that of answer_write(). Raises LINK_NO_MEMORY when memory runs out on
 * our side of the library, or in loading it. */
int nvjitlink_run(const struct lto_job *job);

/* The name of an nvJitLinkResult, as the header explains it; never NULL. */
const char *nvjitlink_code_text(int32_t code);
